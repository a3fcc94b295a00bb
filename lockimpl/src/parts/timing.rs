//! The time rules of the locks that count on clocks: how long a lease may be believed, what is given up for clocks that
//! drift, and which reply comes too late. Pure arithmetic once the readings are taken.
//!
//! Assumes that every reading comes from one host. The drift allowance pays for what a reading may be worth.

use std::num::NonZeroU32;
use std::time::Duration;

use crate::config::{Form, Ratio, Unfit};
use crate::env::clock::nanos;
use crate::env::{Clock, Deadline, Env};
use crate::lock::Refusal;

/// What is taken off a lease because the client's clock and the nodes' clocks may run at different
/// rates: `ttl * ratio + constant`.
///
/// The published text says "a few milliseconds"; the reference implementation and most libraries
/// use 1 % and 2 ms, the default here. It pays for 1 % of rate error, not for the 10 % that antirez
/// calls harmless: a client 10 % slow beside nodes 10 % fast needs 2/11.
///
/// ```
/// use doublehold_lockimpl::Drift;
/// use std::time::Duration;
///
/// assert_eq!(Drift::default().allowance(Duration::from_secs(10)), Duration::from_millis(102));
/// assert_eq!(Drift::NONE.allowance(Duration::from_secs(10)), Duration::ZERO);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drift {
    /// The share of the lease, for rates that differ.
    pub ratio: Ratio,
    /// A fixed amount, for the nodes' expiry granularity of 1 ms and the client's own.
    pub constant: Duration,
}

impl Drift {
    /// Trust all clocks to run at one rate.
    pub const NONE: Self =
        Self { ratio: Ratio { numerator: 0, denominator: NonZeroU32::MIN }, constant: Duration::ZERO };

    /// What is taken off a lease of `ttl`, rounded up to a nanosecond.
    pub fn allowance(&self, ttl: Duration) -> Duration {
        let share = ttl
            .as_nanos()
            .saturating_mul(self.ratio.numerator.into())
            .div_ceil(u128::from(self.ratio.denominator.get()));
        Duration::from_nanos(u64::try_from(share).unwrap_or(u64::MAX)).saturating_add(self.constant)
    }
}

impl Default for Drift {
    fn default() -> Self {
        let denominator = NonZeroU32::MIN.saturating_add(99);
        Self { ratio: Ratio { numerator: 1, denominator }, constant: Duration::from_millis(2) }
    }
}

/// How a lock decides that a lease is still worth having when the last reply is in.
///
/// With T1 read right before the first request and T2 right after the last reply, a lock is
/// granted only if `T2 - T1 < ttl - drift`, and its deadline is `T1 + ttl - drift`. The elapsed time
/// is signed: a wall clock stepped back between the two makes it negative, the check passes, and the
/// deadline lies further ahead than the lease is long. That is how a wall clock loses a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Refuse a lock whose replies came too late. Kleppmann's pause while replies are in flight
    /// works against locks without this check and against no other; he conceded it. antirez: every
    /// lock that expires should have it.
    pub elapsed_check: bool,
    /// Without the check, still hand out the deadline, past or not, for the caller to look at
    /// (node-redlock does). Has no effect while `elapsed_check` is on.
    pub unchecked_deadline: bool,
    /// The clock that measures T1, T2 and the deadline.
    pub clock: Clock,
    /// What is taken off the lease for clocks that run at different rates.
    pub drift: Drift,
}

impl Timing {
    /// As Redlock is published: checked.
    pub fn checked() -> Self {
        Self {
            elapsed_check: true,
            unchecked_deadline: false,
            clock: Clock::default(),
            drift: Drift::default(),
        }
    }

    /// As the single-node lock is published: any OK is a grant, and nobody knows for how long.
    pub fn unchecked() -> Self {
        Self { elapsed_check: false, ..Self::checked() }
    }

    /// Asks for its switches; where nothing is chosen they are as `published`.
    pub(crate) fn choose(form: &mut Form<'_>, published: Self) -> Self {
        let Self { elapsed_check, unchecked_deadline, clock, drift } = published;
        Self {
            elapsed_check: form.flag(
                "elapsed_check",
                elapsed_check,
                "refuse a lock whose replies came too late, and compute a deadline",
            ),
            unchecked_deadline: form.flag(
                "unchecked_deadline",
                unchecked_deadline,
                "without the check, hand out the deadline all the same, past or not",
            ),
            clock: form.choice("clock", clock, "the client's clock that measures the lease"),
            drift: Drift {
                ratio: form.ratio(
                    "drift_ratio",
                    drift.ratio,
                    "the share of the ttl given up for clocks that run at different rates",
                ),
                constant: form.duration(
                    "drift_constant",
                    drift.constant,
                    "what is given up besides, whatever the ttl",
                ),
            },
        }
    }

    /// Whether a grant has a deadline.
    pub(crate) fn has_deadline(&self) -> bool {
        self.elapsed_check || self.unchecked_deadline
    }

    /// Why no lease of `ttl` is ever granted, if none is.
    pub(crate) fn unfit(&self, ttl: Duration) -> Option<Unfit> {
        (self.elapsed_check && self.drift.allowance(ttl) >= ttl).then(|| Unfit {
            cause: "the drift allowance is as long as `lock.ttl`, so that no lock is ever granted".to_owned(),
            hint: "use a longer `ttl`, or a smaller `drift_ratio` or `drift_constant`".to_owned(),
        })
    }

    /// Reads T1, unless nothing would be made of it.
    pub(crate) async fn start<E: Env>(&self, env: &E, ttl: Duration) -> Lease {
        let allowed = nanos(ttl).saturating_sub(nanos(self.drift.allowance(ttl)));
        let started = if self.has_deadline() { Some(self.clock.read(env).await) } else { None };
        Lease { timing: *self, ttl, allowed, started }
    }
}

/// A lease being asked for: T1 and how long after it the lease may be believed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lease {
    timing: Timing,
    ttl: Duration,
    allowed: i128,
    started: Option<i128>,
}

impl Lease {
    /// How long the nodes are asked to keep the key.
    pub(crate) fn ttl(&self) -> Duration {
        self.ttl
    }

    /// Reads T2 and refuses a grant whose last reply came when the lease had run out. Never, if nothing is checked.
    pub(crate) async fn grant_in_time<E: Env>(&self, env: &E) -> Result<(), Refusal> {
        match self.now(env).await {
            Some((started, now)) if now - started >= self.allowed => Err(Refusal::TooLate {
                elapsed: duration(now - started),
                allowed: duration(self.allowed),
                clock: self.timing.clock,
            }),
            _ => Ok(()),
        }
    }

    /// Reads T2 and says whether an extension came in time: before the new lease runs out and before the promise it
    /// extends (`held_until`) did. Always, if nothing is checked.
    pub(crate) async fn extended_in_time<E: Env>(&self, env: &E, held_until: Option<Deadline>) -> bool {
        let Some((started, now)) = self.now(env).await else { return true };
        let promise_kept = held_until.is_none_or(|deadline| now < deadline.nanos());
        now - started < self.allowed && promise_kept
    }

    /// T1 and T2, which is read now; none if nothing is checked.
    async fn now<E: Env>(&self, env: &E) -> Option<(i128, i128)> {
        let started = self.started.filter(|_| self.timing.elapsed_check)?;
        Some((started, self.timing.clock.read(env).await))
    }

    /// When the client must stop believing, if the lock computes that.
    pub(crate) fn deadline(&self) -> Option<Deadline> {
        self.started.map(|started| self.timing.clock.deadline(started.saturating_add(self.allowed)))
    }
}

/// What is below zero is nothing.
fn duration(nanos: i128) -> Duration {
    Duration::from_nanos(u64::try_from(nanos.max(0)).unwrap_or(u64::MAX))
}
