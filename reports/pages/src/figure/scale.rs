//! A stretch of true time on a stretch of paper, and where its ticks are. To scale: nothing is left out of the middle.

use doublehold_history::TrueNs;

/// From true time to places on paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    pub(super) from: TrueNs,
    pub(super) to: TrueNs,
    pub(super) left: f64,
    pub(super) width: f64,
}

/// Ticks are at least this far apart, which is what the longest of their labels takes.
const TICK_APART: f64 = 96.0;

impl Scale {
    /// Where an instant is: also beyond the edges, if it is outside.
    pub(super) fn x(&self, at: TrueNs) -> f64 {
        let span = self.span() as f64;
        let offset = if at >= self.from { at.since(self.from) as f64 } else { -(self.from.since(at) as f64) };
        self.left + offset / span * self.width
    }

    /// The same, at the nearer edge for what is outside.
    pub(super) fn inside(&self, at: TrueNs) -> f64 {
        self.x(at.clamp(self.from, self.to))
    }

    pub(super) fn right_edge(&self) -> f64 {
        self.left + self.width
    }

    /// How much time it shows; at least a nanosecond, to be divided by.
    pub(super) fn span(&self) -> u64 {
        self.to.since(self.from).max(1)
    }

    /// Whether a stretch of time has any part in it.
    pub(super) fn shows(&self, from: TrueNs, to: TrueNs) -> bool {
        from <= self.to && self.from <= to
    }

    /// Round instants with their labels.
    pub(super) fn ticks(&self) -> Vec<(TrueNs, String)> {
        let most = (self.width / TICK_APART).max(1.0);
        let step = round_step((self.span() as f64 / most).ceil() as u64);
        let first = self.from.0.div_ceil(step) * step;
        let steps = (0..).map(|tick| first + tick * step).take_while(|at| *at <= self.to.0);
        steps.map(|at| (TrueNs(at), label(at, step))).collect()
    }
}

/// The next of 1, 2, 5, 10, 20, 50 …
fn round_step(least: u64) -> u64 {
    let mut power = 1_u64;
    loop {
        for digit in [1, 2, 5] {
            if digit * power >= least || power > u64::MAX / 100 {
                return digit * power;
            }
        }
        power *= 10;
    }
}

/// Seconds, with as many decimals as tell one tick from the next.
fn label(at: u64, step: u64) -> String {
    let decimals = (0..=9).find(|decimals| step.is_multiple_of(10_u64.pow(9 - decimals))).unwrap_or(9);
    if decimals == 0 {
        return format!("{} s", at / 1_000_000_000);
    }
    let digits = format!("{:09}", at % 1_000_000_000);
    format!("{}.{} s", at / 1_000_000_000, &digits[..decimals as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(from: u64, to: u64) -> Vec<String> {
        let scale = Scale { from: TrueNs(from), to: TrueNs(to), left: 0.0, width: 500.0 };
        scale.ticks().into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_and_tell_each_other_apart() {
        assert_eq!(labels(0, 40_000_000_000), ["0 s", "10 s", "20 s", "30 s", "40 s"]);
        assert_eq!(labels(12_030_900_000, 12_032_000_000), ["12.0310 s", "12.0315 s", "12.0320 s"]);
        assert_eq!(labels(0, 0), ["0.000000000 s"]);
        assert_eq!(labels(5, 9), ["5", "6", "7", "8", "9"].map(|ns| format!("0.00000000{ns} s")));
    }

    #[test]
    fn time_is_to_scale() {
        let scale = Scale { from: TrueNs(100), to: TrueNs(200), left: 10.0, width: 50.0 };
        assert_eq!([100, 150, 200, 50].map(|at| scale.x(TrueNs(at))), [10.0, 35.0, 60.0, -15.0]);
        assert_eq!(scale.inside(TrueNs(0)), 10.0);
    }
}
