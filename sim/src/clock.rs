//! One host's three clocks, as pure arithmetic over true time: no executor, no randomness.
//!
//! | clock | rate error | steps | while the machine is suspended |
//! |---|---|---|---|
//! | wall | yes | yes, both ways | keeps the right time |
//! | monotonic | yes | no | **stands still** |
//! | boot | yes | no | runs |
//!
//! A virtual machine that is suspended from outside does not know: all three stand still then ([`Clocks::stand`]), and
//! somebody sets the wall clock right afterwards.
//!
//! A rate error moves all three clocks alike, because on Linux they share one oscillator and NTP slews them together.
//! Between two changes a clock is a straight line, so every reading, and the true time at which a reading will be
//! reached, is exact to the nanosecond. A change starts a new line at the floor of the old reading: each change can
//! cost one clock at most one nanosecond.
//!
//! Not modelled: leap seconds, clocks that differ between the cores of one machine, and reading a clock taking time.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::time::{BootTime, MonotonicTime, SimTime, WallTime};

/// Which of a host's clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClockKind {
    /// `CLOCK_REALTIME`: can be stepped.
    Wall,
    /// `CLOCK_MONOTONIC`: never stepped, stands still while suspended.
    Monotonic,
    /// `CLOCK_BOOTTIME`: never stepped, runs while suspended.
    Boot,
}

impl ClockKind {
    /// The clock's name as scenario files write it.
    pub fn name(self) -> &'static str {
        match self {
            ClockKind::Wall => "wall",
            ClockKind::Monotonic => "monotonic",
            ClockKind::Boot => "boot",
        }
    }
}

/// A rate error in parts per billion: `100_000_000` runs 10 % fast. Above minus one billion, so clocks never run back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RatePpb(pub i64);

/// One billion: a rate of exactly one, in parts per billion.
const ONE: i64 = 1_000_000_000;

impl RatePpb {
    /// The slowest clock that still moves: half a rate of nothing would make every deadline unreachable.
    pub const SLOWEST: RatePpb = RatePpb(-ONE / 2);
    /// The fastest clock: ten times true time, far beyond any real oscillator.
    pub const FASTEST: RatePpb = RatePpb(9 * ONE);
}

/// The smallest ratio that means it exactly, as scenario files write it: `-1/100`.
impl fmt::Display for RatePpb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let size = self.0.unsigned_abs();
        // A ratio is read as whole billionths, rounded to zero: the first numerator that is not too small is the one.
        let numerator = |denominator: u64| (size * denominator).div_ceil(ONE.unsigned_abs());
        let exact = |denominator: &u64| numerator(*denominator) * ONE.unsigned_abs() / denominator == size;
        let denominator = (1..=10_000).find(exact).unwrap_or(ONE.unsigned_abs());
        write!(f, "{sign}{}/{denominator}", numerator(denominator))
    }
}

/// What all three clocks show at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Readings {
    /// The wall clock.
    pub wall: WallTime,
    /// The monotonic clock.
    pub monotonic: MonotonicTime,
    /// The boot clock.
    pub boot: BootTime,
}

/// The three clocks of a host.
///
/// ```
/// use doublehold_sim::{Clocks, SimTime, WallTime};
/// use std::time::Duration;
///
/// let mut clocks = Clocks::new(WallTime(0));
/// let noon = SimTime::ZERO.after(Duration::from_secs(60));
/// clocks.step(noon, 10_000_000_000); // an administrator sets the wall clock ten seconds ahead
/// assert_eq!(clocks.read(noon).wall.0, 70_000_000_000);
/// assert_eq!(clocks.read(noon).monotonic.0, 60_000_000_000); // a step never moves the monotonic clock
/// ```
#[derive(Clone, Debug)]
pub struct Clocks {
    /// Where the current straight lines begin.
    anchor: SimTime,
    at_anchor: Readings,
    /// The sum of all rate errors asked for. Not kept within bounds here, so that taking one back leaves the others.
    rate_asked: i128,
    /// How many freezes hold each clock, by [`ClockKind`]. Counted, so that overlapping freezes compose.
    frozen: [u32; 3],
    suspended: bool,
    /// How many suspensions hold it of which the machine does not know. All clocks stand still.
    unnoticed: u32,
    /// How far the wall clock is behind because of those.
    owed_ns: i64,
}

impl Clocks {
    /// Clocks that run true, on a machine that booted at the world's first instant with this wall time.
    pub fn new(wall: WallTime) -> Clocks {
        let at_anchor = Readings { wall, monotonic: MonotonicTime(0), boot: BootTime(0) };
        Clocks {
            anchor: SimTime::ZERO,
            at_anchor,
            rate_asked: 0,
            frozen: [0; 3],
            suspended: false,
            unnoticed: 0,
            owed_ns: 0,
        }
    }

    /// What the clocks show at `now`, which must not be before the last change.
    pub fn read(&self, now: SimTime) -> Readings {
        let elapsed = self.elapsed(now);
        Readings {
            wall: WallTime(self.value_after(elapsed, ClockKind::Wall)),
            monotonic: MonotonicTime(self.value_after(elapsed, ClockKind::Monotonic) as u64),
            boot: BootTime(self.value_after(elapsed, ClockKind::Boot) as u64),
        }
    }

    /// What one clock shows at `now`, as plain nanoseconds.
    pub fn value(&self, clock: ClockKind, now: SimTime) -> i64 {
        self.value_after(self.elapsed(now), clock)
    }

    fn value_after(&self, elapsed: i64, clock: ClockKind) -> i64 {
        self.base(clock).saturating_add(if self.runs(clock) { elapsed } else { 0 })
    }

    /// How far a clock that runs has come since the last change.
    fn elapsed(&self, now: SimTime) -> i64 {
        debug_assert!(now >= self.anchor, "a clock was read before its last change");
        self.scale_elapsed(now.0 - self.anchor.0)
    }

    /// The first true time, not before `now`, at which `clock` shows at least `reading`.
    /// `None` if it stands still short of it.
    pub fn reaches(&self, clock: ClockKind, reading: i64, now: SimTime) -> Option<SimTime> {
        if self.value(clock, now) >= reading {
            return Some(now);
        }
        if !self.runs(clock) {
            return None;
        }
        // Not before the base, or it would have been reached.
        let gap = reading.abs_diff(self.base(clock));
        if self.rate_asked == 0 {
            return self.anchor.0.checked_add(gap).map(SimTime);
        }
        // floor(d × rate) ≥ gap exactly when d ≥ gap ÷ rate, so rounding up gives the first such nanosecond.
        let rate = (ONE + self.rate()) as u128;
        let elapsed = (u128::from(gap) * ONE as u128).div_ceil(rate);
        u64::try_from(elapsed).ok().and_then(|e| self.anchor.0.checked_add(e)).map(SimTime)
    }

    /// Steps the wall clock by a signed number of nanoseconds, as an administrator or NTP does.
    pub fn step(&mut self, now: SimTime, by_ns: i64) {
        debug_assert!(now >= self.anchor, "a clock was stepped before its last change");
        // The lines only shift: a new anchor would round the other two clocks.
        self.at_anchor.wall.0 = self.at_anchor.wall.0.saturating_add(by_ns);
    }

    /// Adds to the rate error of all three clocks, from `now` on. What they run at stays between
    /// [`RatePpb::SLOWEST`] and [`RatePpb::FASTEST`].
    pub fn change_rate(&mut self, now: SimTime, by: RatePpb) {
        self.rebase(now);
        self.rate_asked += i128::from(by.0);
    }

    /// Stops one clock where it is. Freezes count: it runs again when each has been thawed.
    pub fn freeze(&mut self, now: SimTime, clock: ClockKind) {
        self.rebase(now);
        self.frozen[clock as usize] += 1;
    }

    /// Undoes one freeze. The clock goes on from where it stopped.
    pub fn thaw(&mut self, now: SimTime, clock: ClockKind) {
        self.rebase(now);
        self.frozen[clock as usize] = self.frozen[clock as usize].saturating_sub(1);
    }

    /// The machine suspends (or wakes): the monotonic clock stands still in between, the other two do not notice.
    pub fn set_suspended(&mut self, now: SimTime, suspended: bool) {
        self.rebase(now);
        self.suspended = suspended;
    }

    /// The machine is suspended from outside and does not know: all three clocks stand still. Counted, as freezes are.
    pub fn stand(&mut self, now: SimTime) {
        self.rebase(now);
        self.unnoticed += 1;
    }

    /// Undoes one [`Clocks::stand`]. The wall clock is behind by what it missed, until [`Clocks::resync`].
    pub fn go_on(&mut self, now: SimTime) {
        self.rebase(now);
        self.unnoticed = self.unnoticed.saturating_sub(1);
    }

    /// Sets the wall clock ahead by what it missed while the machine stood and did not know. How far that was, in
    /// nanoseconds.
    pub fn resync(&mut self, now: SimTime) -> i64 {
        self.rebase(now);
        let owed = std::mem::take(&mut self.owed_ns);
        self.at_anchor.wall.0 = self.at_anchor.wall.0.saturating_add(owed);
        owed
    }

    /// The machine was switched on: monotonic and boot start at zero, the wall clock kept going on its battery.
    pub fn power_on(&mut self, now: SimTime) {
        self.resync(now);
        (self.suspended, self.unnoticed) = (false, 0);
        self.at_anchor.monotonic = MonotonicTime(0);
        self.at_anchor.boot = BootTime(0);
    }

    fn runs(&self, clock: ClockKind) -> bool {
        self.frozen[clock as usize] == 0
            && self.unnoticed == 0
            && !(clock == ClockKind::Monotonic && self.suspended)
    }

    fn base(&self, clock: ClockKind) -> i64 {
        match clock {
            ClockKind::Wall => self.at_anchor.wall.0,
            ClockKind::Monotonic => self.at_anchor.monotonic.0 as i64,
            ClockKind::Boot => self.at_anchor.boot.0 as i64,
        }
    }

    fn rate(&self) -> i64 {
        let (slowest, fastest) = (RatePpb::SLOWEST.0, RatePpb::FASTEST.0);
        self.rate_asked.clamp(slowest.into(), fastest.into()) as i64
    }

    fn scale_elapsed(&self, elapsed: u64) -> i64 {
        if self.rate_asked == 0 {
            return i64::try_from(elapsed).unwrap_or(i64::MAX);
        }
        let scaled = u128::from(elapsed) * (ONE + self.rate()) as u128 / ONE as u128;
        i64::try_from(scaled).unwrap_or(i64::MAX)
    }

    fn rebase(&mut self, now: SimTime) {
        if self.unnoticed > 0 && self.frozen[ClockKind::Wall as usize] == 0 {
            let missed = i64::try_from(now.0 - self.anchor.0).unwrap_or(i64::MAX);
            self.owed_ns = self.owed_ns.saturating_add(missed);
        }
        self.at_anchor = self.read(now);
        self.anchor = now;
    }
}
