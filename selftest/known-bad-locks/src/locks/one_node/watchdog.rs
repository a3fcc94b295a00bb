//! A task that keeps a lease alive while its holder works.
//!
//! It renews every third of a lease, again sooner after an error, and not for ever: a holder that is stuck is to lose
//! its lock at some time. It ends when it is told to, or when the lock is lost.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use doublehold::check::{Env, MonotonicTime, Task};

use super::Way;
use super::lease::Lease;
use crate::node::{Silence, millis};

/// How often a lease is renewed at most: for work of up to four leases.
const RENEWALS: u32 = 12;

/// How a watchdog goes about it.
#[derive(Clone, Copy, Debug)]
pub(super) struct WatchdogOptions {
    /// How long it waits before each renewal.
    pub(super) interval: Duration,
    /// How often it renews; `None`: for ever.
    pub(super) most: Option<u32>,
    /// What it does when a renewal was not answered.
    pub(super) on_error: OnError,
}

/// What a watchdog does when a renewal was not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnError {
    TriesAgain,
    /// It ends, and gives the lock back.
    Releases,
}

impl WatchdogOptions {
    /// As it should be.
    pub(super) fn correct(ttl: Duration) -> WatchdogOptions {
        WatchdogOptions { interval: ttl / 3, most: Some(RENEWALS), on_error: OnError::TriesAgain }
    }
}

/// What is kept alive: a key, and the scripts that renew it and delete it.
#[derive(Clone, Debug)]
pub(super) struct Hold {
    pub(super) key: String,
    pub(super) token: Vec<u8>,
    pub(super) ttl: Duration,
    pub(super) renew: &'static str,
    pub(super) release: &'static str,
}

/// What the watchdog knows of its lock.
#[derive(Clone, Debug)]
pub(super) struct Watched(Arc<Mutex<State>>);

#[derive(Clone, Copy, Debug)]
struct State {
    until: MonotonicTime,
    lost: bool,
    failed: bool,
}

impl Watched {
    fn new(until: MonotonicTime) -> Watched {
        Watched(Arc::new(Mutex::new(State { until, lost: false, failed: false })))
    }

    /// End of the lease that was renewed last.
    pub(super) fn lease_end(&self) -> MonotonicTime {
        self.state().until
    }

    /// A renewal found that it is lost.
    pub(super) fn is_lost(&self) -> bool {
        self.state().lost
    }

    /// A renewal was not answered.
    pub(super) fn has_failed(&self) -> bool {
        self.state().failed
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A watchdog at work.
#[derive(Clone, Debug)]
pub(super) struct Watchdog {
    task: Task,
    pub(super) watched: Watched,
}

impl Watchdog {
    /// Starts one. The lease lasts until `until` so far.
    pub(super) fn start(way: &Way, hold: Hold, until: MonotonicTime, habits: WatchdogOptions) -> Watchdog {
        let watched = Watched::new(until);
        let task = way.env.spawn(keep(way.clone(), hold, habits, watched.clone()));
        Watchdog { task, watched }
    }

    /// Ends it.
    pub(super) fn stop(&self) {
        self.task.abort();
    }
}

async fn keep(way: Way, hold: Hold, habits: WatchdogOptions, watched: Watched) {
    let mut node = way.node();
    let (mut pause, mut left) = (habits.interval, habits.most);
    while left != Some(0) {
        way.sleep(pause).await;
        let lease = Lease::start(&way.env, hold.ttl).await;
        let ttl = millis(hold.ttl).to_string();
        pause = match node.run_script(hold.renew, &hold.key, &[&hold.token, ttl.as_bytes()]).await {
            Ok(redis::Value::Int(1..)) => {
                watched.state().until = lease.valid_until();
                left = left.map(|left| left - 1);
                habits.interval
            }
            Err(Silence::Unsent | Silence::Lost) => {
                watched.state().failed = true;
                match habits.on_error {
                    OnError::TriesAgain => habits.interval / 4,
                    OnError::Releases => {
                        let _ignored = node.run_script(hold.release, &hold.key, &[&hold.token]).await;
                        return;
                    }
                }
            }
            Ok(_) | Err(Silence::Error(_)) => {
                watched.state().lost = true;
                return;
            }
        };
    }
}
