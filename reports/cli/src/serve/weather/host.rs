//! One served host, a node or a Sentinel: what faults do to its machine, and how its process is told to end and begin.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use doublehold_sim_redis::core::{Peer, WallMicros};
use tokio::sync::{Notify, mpsc, oneshot};

use super::clocks::Clocks;
use super::gate::Gate;

/// What the thread of a host is told to do, and where it says that it is done.
pub(crate) struct Order {
    pub(crate) what: ToDo,
    pub(crate) done: oneshot::Sender<Result<(), String>>,
}

/// What can be done to a host's process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ToDo {
    /// Ends at once; what is in its files stays.
    Crash,
    /// Begins again, with what its files hold.
    Restart,
    /// Begins again, with nothing in its files.
    BeginAnew,
    /// Executes requests, given as bytes, that come over a connection of their own. It counts as this peer's.
    Send { bytes: Vec<u8>, peer: Peer },
    /// Evicts all keys, or all that have a lifetime.
    Evict { volatile_only: bool },
}

/// A served host.
pub(crate) struct Host {
    /// Its name in scenarios: `A`, `S1`.
    pub(crate) name: String,
    pub(crate) port: u16,
    /// Its place among nodes; none for what is no node.
    pub(crate) node: Option<usize>,
    pub(crate) stop: Arc<Gate>,
    began: Instant,
    clocks: Mutex<Clocks>,
    /// Whoever sleeps counts anew.
    clocks_changed: Notify,
    slower_ns: AtomicU64,
    /// Lets a busy host go on.
    slowness_changed: Notify,
    is_up: AtomicBool,
    refuses_writes: AtomicBool,
    /// True once it was made a master.
    was_promoted: AtomicBool,
    /// Until when it is stopped, on this machine's monotonic clock.
    stopped_until: Mutex<Option<Duration>>,
    orders: mpsc::UnboundedSender<Order>,
}

impl Host {
    /// A host that is up, and the orders that its thread is to obey.
    pub(crate) fn new(
        (name, port, node): (String, u16, Option<usize>),
        began: Instant,
    ) -> (Host, mpsc::UnboundedReceiver<Order>) {
        let (orders, to_obey) = mpsc::unbounded_channel();
        let host = Host {
            name,
            port,
            node,
            stop: Arc::default(),
            began,
            clocks: Mutex::default(),
            clocks_changed: Notify::new(),
            slower_ns: AtomicU64::new(0),
            slowness_changed: Notify::new(),
            is_up: AtomicBool::new(true),
            refuses_writes: AtomicBool::new(false),
            was_promoted: AtomicBool::new(false),
            stopped_until: Mutex::default(),
            orders,
        };
        (host, to_obey)
    }

    /// Whether it is a node, and not a Sentinel.
    pub(crate) fn is_node(&self) -> bool {
        self.node.is_some()
    }

    fn clocks(&self) -> MutexGuard<'_, Clocks> {
        self.clocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change_clocks(&self, change: impl FnOnce(&mut Clocks, Duration)) {
        change(&mut self.clocks(), self.began.elapsed());
        self.clocks_changed.notify_waiters();
    }

    pub(crate) fn step_clock(&self, by_us: i64) {
        self.change_clocks(|clocks, _| clocks.step(by_us));
    }

    pub(crate) fn drift_clocks(&self, rate_ppm: i64) {
        self.change_clocks(|clocks, now| clocks.drift(rate_ppm, now));
    }

    /// Lets every command take so much longer.
    pub(crate) fn slow_down(&self, by: Duration) {
        let by = u64::try_from(by.as_nanos()).unwrap_or(u64::MAX);
        self.slower_ns.store(by, Ordering::Release);
        self.slowness_changed.notify_waiters();
    }

    pub(crate) fn slowness(&self) -> Option<Duration> {
        match self.slower_ns.load(Ordering::Acquire) {
            0 => None,
            ns => Some(Duration::from_nanos(ns)),
        }
    }

    /// Is busy with a command for so long, or until its slowness changes.
    pub(crate) async fn be_busy(&self, duration: Duration) {
        let changed = self.slowness_changed.notified();
        // It may have changed since the command began.
        if self.slowness() == Some(duration) {
            crate::serve::either::first(self.sleep(duration), changed).await;
        }
    }

    /// Ends what lasts: it goes on, at its speed, with the right time.
    pub(crate) fn recover(&self) {
        self.change_clocks(Clocks::set_right);
        self.slow_down(Duration::ZERO);
        *self.stopped() = None;
        self.stop.open();
    }

    fn stopped(&self) -> MutexGuard<'_, Option<Duration>> {
        self.stopped_until.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops it from now on for so long, whatever it was told before. Zero lets it go on.
    pub(crate) fn pause(self: &Arc<Self>, duration: Duration) {
        *self.stopped() = Some(self.began.elapsed().saturating_add(duration));
        self.stop.close();
        let host = Arc::clone(self);
        tokio::spawn(async move {
            while let Some(missing) = host.missing_pause() {
                tokio::time::sleep(missing).await;
            }
        });
    }

    /// The rest of its pause. At its end the host goes on.
    fn missing_pause(&self) -> Option<Duration> {
        let mut stopped = self.stopped();
        let missing = stopped.as_ref()?.saturating_sub(self.began.elapsed());
        if !missing.is_zero() {
            return Some(missing);
        }
        *stopped = None;
        self.stop.open();
        None
    }

    pub(crate) fn wall(&self, wall: WallMicros) -> WallMicros {
        self.clocks().wall(wall, self.began.elapsed())
    }

    pub(crate) fn monotonic(&self) -> Duration {
        self.clocks().monotonic(self.began.elapsed())
    }

    /// Ends when its monotonic clock has advanced so far, and it is not stopped.
    pub(crate) async fn sleep(&self, duration: Duration) {
        let until = self.monotonic().saturating_add(duration);
        loop {
            let changed = self.clocks_changed.notified();
            let missing = until.saturating_sub(self.monotonic());
            if missing.is_zero() {
                break;
            }
            let missing = self.clocks().true_time_of(missing);
            crate::serve::either::first(tokio::time::sleep(missing), changed).await;
        }
        self.stop.opened().await;
    }

    pub(crate) fn is_up(&self) -> bool {
        self.is_up.load(Ordering::Acquire)
    }

    pub(crate) fn set_up(&self, is_up: bool) {
        self.is_up.store(is_up, Ordering::Release);
    }

    pub(crate) fn refuses_writes(&self) -> bool {
        self.refuses_writes.load(Ordering::Acquire)
    }

    pub(crate) fn note_refuses_writes(&self, refuses: bool) {
        self.refuses_writes.store(refuses, Ordering::Release);
    }

    pub(crate) fn note_promoted(&self) {
        self.was_promoted.store(true, Ordering::Release);
    }

    /// Returns true if it was made a master since the last call.
    pub(crate) fn take_promoted(&self) -> bool {
        self.was_promoted.swap(false, Ordering::AcqRel)
    }

    /// Has its thread do something, and waits until it is done.
    pub(crate) async fn order(&self, what: ToDo) -> Result<(), String> {
        let (done, told) = oneshot::channel();
        let gone = || format!("{} is gone for good: it was told to stop", self.name);
        self.orders.send(Order { what, done }).map_err(|_| gone())?;
        let done = told.await.unwrap_or_else(|_| Err(gone()));
        done.map_err(|problem| format!("{}: {problem}", self.name))
    }

    /// What is wrong with it, in words; nothing if it is as it began.
    pub(crate) fn state(&self) -> Vec<String> {
        let (clocks, now) = (*self.clocks(), self.began.elapsed());
        let mut wrong = Vec::new();
        if !self.is_up() {
            wrong.push("down".to_owned());
        }
        if self.refuses_writes() {
            wrong.push("refuses writes".to_owned());
        }
        if let Some(until) = *self.stopped() {
            let rest = until.saturating_sub(now);
            wrong.push(format!("paused for {} more", doublehold_text::exact_duration(round(rest))));
        }
        if !clocks.are_right() {
            let ahead = clocks.ahead_us(now).saturating_mul(1_000);
            wrong.push(format!("its clock is {} off", doublehold_text::signed_duration(ahead)));
        }
        if clocks.rate_ppm() != 0 {
            wrong.push(format!("its clocks run {} ppm fast", clocks.rate_ppm()));
        }
        if let Some(by) = self.slowness() {
            wrong.push(format!("each command takes {} longer", doublehold_text::exact_duration(by)));
        }
        wrong
    }
}

fn round(duration: Duration) -> Duration {
    Duration::from_millis(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}
