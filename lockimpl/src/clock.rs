//! The three clocks a client can read, and the time rules of the locks that depend on them: how
//! long a lease may be believed, and on which clock. Pure arithmetic once the readings are taken.
//!
//! Assumes that every reading comes from one host. Does not model error bars: a reading is a number,
//! and it is the drift allowance that pays for what the number may be worth.

use std::fmt;
use std::num::NonZeroU32;
use std::time::Duration;

use crate::env::Env;
use crate::form::{Choice, Form, word_of};
use crate::lock::Refusal;
use crate::switch::Unfit;
use crate::times::{BootTime, Deadline, MonotonicTime, WallTime};

/// Which of its clocks a client measures a lease with.
///
/// | clock | stepped back while acquiring | machine suspended while acquiring |
/// |---|---|---|
/// | wall | accepts an expired lock | refuses it |
/// | monotonic | refuses it | accepts an expired lock |
/// | boot | refuses it | refuses it |
///
/// A timeout per request changes the second column only by luck: it waits on the monotonic clock, too.
/// And no clock that stands still during a suspension notices one while the lock is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// What several libraries use. antirez asks for a monotonic clock instead.
    Wall,
    /// What antirez asks for, and what `std::time::Instant` reads on Linux.
    #[default]
    Monotonic,
    /// What a client needs whose machine may be suspended or its VM snapshotted.
    Boot,
}

impl Choice for Clock {
    const WORDS: &'static [(&'static str, Self)] =
        &[("wall", Self::Wall), ("monotonic", Self::Monotonic), ("boot", Self::Boot)];
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(word_of(*self))
    }
}

impl Clock {
    async fn read<E: Env>(self, env: &E) -> i128 {
        match self {
            Self::Wall => env.wall().await.0.into(),
            Self::Monotonic => env.monotonic().await.0.into(),
            Self::Boot => env.boot().await.0.into(),
        }
    }

    /// The moment that lies so far ahead.
    pub(crate) async fn after<E: Env>(self, env: &E, ahead: Duration) -> Deadline {
        self.deadline(self.read(env).await.saturating_add(nanos(ahead)))
    }

    fn deadline(self, at: i128) -> Deadline {
        let unsigned = u64::try_from(at.max(0)).unwrap_or(u64::MAX);
        match self {
            Self::Wall => {
                let limit = if at < 0 { i64::MIN } else { i64::MAX };
                Deadline::Wall(WallTime(i64::try_from(at).unwrap_or(limit)))
            }
            Self::Monotonic => Deadline::Monotonic(MonotonicTime(unsigned)),
            Self::Boot => Deadline::Boot(BootTime(unsigned)),
        }
    }
}

impl Deadline {
    /// The clock this deadline is a reading of.
    pub fn clock(self) -> Clock {
        match self {
            Self::Wall(_) => Clock::Wall,
            Self::Monotonic(_) => Clock::Monotonic,
            Self::Boot(_) => Clock::Boot,
        }
    }

    /// Reads the deadline's clock: has the moment come? True at the deadline itself.
    ///
    /// The answer is already old when it arrives: a pause may strike between the reading and its
    /// use, which is why asking just before a write makes a stale write rarer and never impossible.
    pub async fn has_passed<E: Env>(self, env: &E) -> bool {
        self.clock().read(env).await >= self.nanos()
    }

    fn nanos(self) -> i128 {
        match self {
            Self::Wall(at) => at.0.into(),
            Self::Monotonic(at) => at.0.into(),
            Self::Boot(at) => at.0.into(),
        }
    }
}

/// An exact fraction: no float decides whether a lock is granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio {
    /// The part.
    pub numerator: u32,
    /// The whole.
    pub denominator: NonZeroU32,
}

/// The time between two renewals of a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RenewEvery {
    /// Always as often.
    Fixed(Duration),
    /// So much of the ttl: most libraries take a third, a half or two thirds.
    Share(Ratio),
}

impl RenewEvery {
    /// Its length for a lease of `ttl`.
    pub fn of(self, ttl: Duration) -> Duration {
        match self {
            Self::Fixed(interval) => interval,
            Self::Share(Ratio { numerator, denominator }) => {
                let nanos = ttl.as_nanos() * u128::from(numerator) / u128::from(denominator.get());
                Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
            }
        }
    }
}

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

fn nanos(duration: Duration) -> i128 {
    i128::try_from(duration.as_nanos()).unwrap_or(i128::MAX)
}

/// What is below zero is nothing.
fn duration(nanos: i128) -> Duration {
    Duration::from_nanos(u64::try_from(nanos.max(0)).unwrap_or(u64::MAX))
}
