//! How each host's clocks ran, counted from the world's beginning.

use doublehold_history::{Reading, TrueNs};
use doublehold_scenarios::detail::HostClocks;
use doublehold_scenarios::scenario::HostIndex;
use serde::Serialize;

/// The clocks of one host.
#[derive(Clone, Debug, Serialize)]
pub struct ClockSeries {
    /// Whose.
    pub host: HostIndex,
    /// Straight lines, in order. A step lies between the end of one and the beginning of the next.
    pub lines: Vec<ClockStretch>,
}

/// A stretch of time in which clocks ran evenly: what each showed first and last, in nanoseconds. A wall clock's is
/// counted from what a right one shows when the world begins, so that the difference to true time is its offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ClockStretch {
    /// Its first instant.
    pub from: TrueNs,
    /// Its last.
    pub to: TrueNs,
    /// The wall clock.
    pub wall: [i64; 2],
    /// The monotonic clock.
    pub monotonic: [i64; 2],
    /// The boot clock.
    pub boot: [i64; 2],
}

impl ClockStretch {
    /// How far the wall clock was ahead of true time first and last; negative if it was behind.
    pub fn wall_offsets(&self) -> [i64; 2] {
        offsets(self.wall, [self.from, self.to])
    }

    /// The same of the monotonic clock.
    pub fn monotonic_offsets(&self) -> [i64; 2] {
        offsets(self.monotonic, [self.from, self.to])
    }
}

fn offsets(shown: [i64; 2], at: [TrueNs; 2]) -> [i64; 2] {
    [0, 1].map(|end| shown[end].saturating_sub(to_signed(at[end].0)))
}

fn to_signed(nanoseconds: u64) -> i64 {
    i64::try_from(nanoseconds).unwrap_or(i64::MAX)
}

pub(super) fn series(clocks: &[HostClocks], epoch_ns: i64) -> Vec<ClockSeries> {
    let both = |first: Reading, last: Reading, of: fn(Reading) -> i64| [of(first), of(last)];
    let of_host = |clocks: &HostClocks| ClockSeries {
        host: clocks.host,
        lines: clocks
            .lines
            .iter()
            .map(|line| ClockStretch {
                from: line.from,
                to: line.to,
                wall: both(line.first, line.last, |it| it.wall_ns).map(|ns| ns.saturating_sub(epoch_ns)),
                monotonic: both(line.first, line.last, |it| to_signed(it.monotonic_ns)),
                boot: both(line.first, line.last, |it| to_signed(it.boot_ns)),
            })
            .collect(),
    };
    clocks.iter().map(of_host).collect()
}
