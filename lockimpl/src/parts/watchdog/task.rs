//! The watchdog itself, and the lock that starts one for each of its grants.
//!
//! It counts on the monotonic clock, which goes on while its process is paused: after a pause a renewal that came due
//! is sent at once. It dies with its process.
//!
//! Decision: "A watchdog renews the lease through a copy of its lock" (docs/decisions/locks.md).

use std::time::Duration;

use super::{RenewFrom, Renewal, StopOnRelease, ToldOnLoss};
use crate::env::{Env, MonotonicTime};
use crate::lock::{Acquired, Extended, Grant, Lock, Released, Watch};

/// A lock whose leases can be renewed by somebody beside its user.
pub(crate) trait Renewable: Lock + 'static {
    /// Another client of the same lock, over the same connections as long as these last.
    fn twin(&self) -> Self;
}

/// A lock with a watchdog for each of its grants.
pub(crate) struct WatchedLock<E, L> {
    env: E,
    renewal: Renewal,
    lock: L,
}

impl<E: Env, L: Renewable> WatchedLock<E, L> {
    pub(crate) fn new(env: E, renewal: Renewal, lock: L) -> Self {
        Self { env, renewal, lock }
    }

    /// Starts a watchdog for what was granted, in a call that began at `began`.
    async fn start_watchdog(&mut self, acquired: Acquired, ttl: Duration, began: MonotonicTime) -> Acquired {
        let Some(interval) = self.renewal.every else { return acquired };
        let Acquired::Granted(mut grant) = acquired else { return acquired };
        let now = self.env.monotonic().await;
        let counted = match self.renewal.from {
            // A call that took longer has asked more than once.
            RenewFrom::Send if now < began.saturating_add(ttl) => began,
            RenewFrom::Send | RenewFrom::Reply => now,
        };
        let watch = Watch::new(grant.deadline);
        let watchdog = Watchdog {
            env: self.env.clone(),
            lock: self.lock.twin(),
            renewal: self.renewal.clone(),
            interval: interval.interval(ttl),
            ttl,
            grant: grant.clone(),
            watch: watch.clone(),
            counted,
            ends: counted.saturating_add(ttl),
        };
        // In a box: its future takes eight kilobytes, and whoever spawns it moves it several times.
        watch.runs(self.env.spawn(Box::pin(watchdog.keep())));
        grant.watch = Some(watch);
        Acquired::Granted(grant)
    }
}

impl<E: Env, L: Renewable> Lock for WatchedLock<E, L> {
    async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        let began = self.env.monotonic().await;
        let acquired = self.lock.acquire(resource, ttl).await;
        self.start_watchdog(acquired, ttl, began).await
    }

    async fn acquire_within(&mut self, resource: &str, ttl: Duration, limit: Duration) -> Acquired {
        let began = self.env.monotonic().await;
        let acquired = self.lock.acquire_within(resource, ttl, limit).await;
        self.start_watchdog(acquired, ttl, began).await
    }

    /// By the holder itself, which does not put off what the watchdog does.
    async fn extend(&mut self, grant: &mut Grant, ttl: Duration) -> Extended {
        grant.deadline = grant.current_deadline();
        let extended = self.lock.extend(grant, ttl).await;
        if let (Some(watch), Extended::Extended { deadline }) = (&grant.watch, &extended) {
            watch.set_deadline(*deadline);
        }
        extended
    }

    async fn release(&mut self, grant: &Grant) -> Released {
        let Some(watch) = &grant.watch else { return self.lock.release(grant).await };
        if self.renewal.told == ToldOnLoss::AtRelease && watch.is_lost() {
            return Released::NotOwner;
        }
        if self.renewal.stop == StopOnRelease::Before {
            watch.stop();
        }
        let released = self.lock.release(grant).await;
        if self.renewal.stop == StopOnRelease::After || !matches!(released, Released::Unknown(_)) {
            watch.stop();
        }
        released
    }
}

/// What keeps one lease alive.
struct Watchdog<E, L> {
    env: E,
    lock: L,
    renewal: Renewal,
    interval: Duration,
    ttl: Duration,
    grant: Grant,
    watch: Watch,
    /// From when the next renewal is counted.
    counted: MonotonicTime,
    /// When the lease must have ended that was begun last.
    ends: MonotonicTime,
}

impl<E: Env, L: Lock> Watchdog<E, L> {
    async fn keep(mut self) {
        let mut left = self.renewal.cap;
        while left != Some(0) {
            let due = self.counted.saturating_add(self.interval);
            if self.tells_the_end() && self.ends <= due {
                break;
            }
            self.env.sleep_until(due).await;
            if self.renewal.told == ToldOnLoss::WhenDue && self.ends < self.env.monotonic().await {
                return self.lose();
            }
            match self.renew().await {
                Some(Extended::Extended { .. }) => left = left.map(|left| left - 1),
                Some(Extended::Unsupported) | None => break,
                Some(_) if self.renewal.told == ToldOnLoss::Flag => {
                    self.watch.flag();
                    if self.renewal.stops_on_error {
                        break;
                    }
                }
                Some(Extended::NotOwner | Extended::TooLate) => return self.lose(),
                Some(Extended::Unknown(_)) if !self.renewal.stops_on_error => {}
                Some(Extended::Unknown(_)) if self.tells_the_end() => break,
                Some(Extended::Unknown(_)) => return self.lose(),
            }
        }
        if self.tells_the_end() {
            self.env.sleep_until(self.ends).await;
            self.lose();
        }
    }

    /// Renews once. None: it was stopped meanwhile, or the lease has ended before the reply came, for a watchdog that
    /// tells so.
    async fn renew(&mut self) -> Option<Extended> {
        self.env.renewal_started().await;
        let sent = self.env.monotonic().await;
        self.grant.deadline = self.watch.deadline();
        let Self { env, lock, grant, ttl, ends, .. } = self;
        let extended = if self.renewal.told == ToldOnLoss::LeaseEnd {
            env.race(lock.extend(grant, *ttl), *ends).await.ok()?
        } else {
            lock.extend(grant, *ttl).await
        };
        self.counted = match self.renewal.from {
            RenewFrom::Send => sent,
            RenewFrom::Reply => self.env.monotonic().await,
        };
        // The holder may have given the lock back while this waited.
        if self.watch.is_stopped() {
            return None;
        }
        if let Extended::Extended { deadline } = &extended {
            self.ends = self.counted.saturating_add(self.ttl);
            self.watch.set_deadline(*deadline);
        }
        self.env.renewal_ended(extended.outcome()).await;
        Some(extended)
    }

    fn tells_the_end(&self) -> bool {
        self.renewal.told == ToldOnLoss::LeaseEnd
    }

    fn lose(&self) {
        let told = self.renewal.told;
        self.watch.lose(matches!(told, ToldOnLoss::Callback | ToldOnLoss::WhenDue | ToldOnLoss::LeaseEnd));
    }
}
