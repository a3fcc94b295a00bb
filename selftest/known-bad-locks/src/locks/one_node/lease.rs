//! A lease as a client counts it: from before the request was sent, on its monotonic clock, less what is given up for
//! clocks that run at different rates.

use std::time::Duration;

use doublehold::check::{Clock, Deadline, Drift, Env, MonotonicTime, Refusal, SimEnv};

/// A lease that is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lease {
    started: MonotonicTime,
    allowed: Duration,
}

impl Lease {
    /// Reads the clock: to be called before anything is sent.
    pub(super) async fn start(env: &SimEnv, ttl: Duration) -> Lease {
        let allowed = ttl.saturating_sub(Drift::default().allowance(ttl));
        Lease { started: env.monotonic().await, allowed }
    }

    /// Instant from which on it is not to be believed.
    pub(super) fn valid_until(self) -> MonotonicTime {
        self.started.saturating_add(self.allowed)
    }

    pub(super) fn deadline(self) -> Option<Deadline> {
        Some(Deadline::Monotonic(self.valid_until()))
    }

    /// Why a grant is refused that came just now, if it came too late.
    pub(super) async fn too_late(self, env: &SimEnv) -> Option<Refusal> {
        let now = env.monotonic().await;
        let elapsed = Duration::from_nanos(now.0.saturating_sub(self.started.0));
        let refusal = Refusal::TooLate { elapsed, allowed: self.allowed, clock: Clock::Monotonic };
        (now >= self.valid_until()).then_some(refusal)
    }
}
