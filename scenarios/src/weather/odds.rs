//! The odds that a line of a weather strikes: slots of equal length, each hit by itself with the same chance.
//!
//! The number of hits is binomial, and its weights are known exactly: strata rely on that. A slot is hit once at most,
//! so there are as many slots as make two in one unlikely: 32, or the power of two at which a slot's chance is a
//! sixteenth or less. A run has no more faults of a line than there are slots, which is at least sixteen times the
//! mean.
//!
//! A hit costs one draw, below a threshold or not: so the same draws hit at a higher rate wherever they hit at a lower
//! one. The threshold is the chance in parts of 2^64, rounded down: of one fault in a hundred years, in a window of
//! 20 s, less than a billionth is lost.
//!
//! Decision: "Faults strike exactly by the law that reports print" (docs/decisions/scenarios.md).
//! Decision: "The random draws of a weather line depend only on what the line is" (docs/decisions/scenarios.md).

use std::time::Duration;

use doublehold_sim::Stream;

/// Of lines that strike seldom. More would cost draws and change nothing that anybody could count.
const SLOTS_LEAST: u32 = 32;
/// The number of slots for each fault that is expected.
const SLOTS_FOR_ONE: u128 = 16;
/// A limit on time and memory: files refuse rates by which a run could come near it.
const SLOTS_MOST: u32 = 1 << 24;

/// The chance of each of a number of slots.
#[derive(Clone, Debug)]
pub(super) struct Odds {
    slots: u32,
    /// A slot's chance, in parts of the second number.
    chance: (u128, u128),
    /// A slot is hit by a draw of 64 bits that is smaller.
    threshold: u64,
}

impl Odds {
    /// So many targets are struck once in `every` each, for as long as the window is.
    pub(super) fn new(targets: usize, window: Duration, every: Duration) -> Odds {
        let (mut mean, mut of) = (targets as u128 * window.as_nanos(), every.as_nanos().max(1));
        // So that no product below overflows. Windows and rates that are in use are far from it.
        while mean.max(of) > 1 << 96 {
            (mean, of) = (mean >> 1, (of >> 1).max(1));
        }
        let wanted = (mean * SLOTS_FOR_ONE).div_ceil(of).next_power_of_two();
        let slots = u32::try_from(wanted).unwrap_or(SLOTS_MOST).clamp(SLOTS_LEAST, SLOTS_MOST);
        let of = of * u128::from(slots);
        let mean = mean.min(of / 2);
        Odds { slots, chance: (mean, of), threshold: ratio_q64(mean, of) }
    }

    /// The number of slots.
    pub(super) fn slots(&self) -> u32 {
        self.slots
    }

    /// Draws for the next slot; true if it is hit.
    pub(super) fn is_hit(&self, stream: &mut Stream) -> bool {
        stream.next_u64() < self.threshold
    }

    /// The beginnings of a slot and of the next one, in microseconds.
    pub(super) fn bounds_us(&self, slot: u32, window: Duration) -> (u64, u64) {
        let whole = window.as_micros();
        let begin =
            |slot: u32| u64::try_from(whole * u128::from(slot) / u128::from(self.slots)).unwrap_or(u64::MAX);
        (begin(slot), begin(slot + 1))
    }

    /// The probability of each number of hits, from none on, as many numbers as `length`.
    ///
    /// Computed from the likeliest number outwards, then divided by the sum: from none on, all would be zero if the
    /// probability of none is below the smallest number there is. Not by `powi`, which need not come to the same in
    /// every build: the runs that a stratum gets follow from it.
    pub(super) fn chances_of_hits(&self, length: usize) -> Vec<f64> {
        let slots = self.slots as usize;
        let (hits, of) = self.chance;
        let odds = hits as f64 / (of - hits) as f64;
        let likeliest = ((slots as u128 + 1) * hits / of) as usize;
        let up = |hits: usize| odds * (slots - hits) as f64 / (hits as f64 + 1.0);
        let mut chances = vec![0.0; slots + 1];
        chances[likeliest] = 1.0;
        for hits in likeliest..slots {
            chances[hits + 1] = chances[hits] * up(hits);
        }
        for hits in (0..likeliest).rev() {
            chances[hits] = chances[hits + 1] / up(hits);
        }
        let sum: f64 = chances.iter().rev().sum();
        chances.truncate(length);
        chances.iter_mut().for_each(|chance| *chance /= sum);
        chances
    }

    /// The odds of a hit of one slot, added up over this line's slots, times 2^64.
    fn weight(&self) -> u128 {
        let (hits, of) = self.chance;
        u128::from(ratio_q64(hits, of - hits)) * u128::from(self.slots)
    }
}

/// `part / whole` in units of 2^-64, rounded down; `part` is smaller.
fn ratio_q64(part: u128, whole: u128) -> u64 {
    let (mut ratio, mut rest) = (0, part);
    for _ in 0..64 {
        (ratio, rest) = (ratio << 1, rest << 1);
        if rest >= whole {
            (ratio, rest) = (ratio | 1, rest - whole);
        }
    }
    ratio
}

/// So many different slots, as a line's number and a slot's, as likely as where each slot is hit by itself: by their
/// odds, drawn anew where one comes twice.
pub(super) fn distinct(lines: &[&Odds], count: u32, stream: &mut Stream) -> Vec<(usize, u32)> {
    let mut weights: Vec<u128> = lines.iter().map(|line| line.weight()).collect();
    while weights.iter().sum::<u128>() > u128::from(u64::MAX) {
        weights.iter_mut().for_each(|weight| *weight >>= 1);
    }
    let total = weights.iter().sum::<u128>() as u64;
    let slots: u64 = lines.iter().map(|line| u64::from(line.slots)).sum();
    if total == 0 || u64::from(count) > slots {
        return Vec::new();
    }
    loop {
        let mut drawn: Vec<(usize, u32)> = (0..count)
            .map(|_| {
                let mut place = u128::from(stream.below(total));
                let mut line = 0;
                while place >= weights[line] {
                    place -= weights[line];
                    line += 1;
                }
                (line, stream.below(lines[line].slots.into()) as u32)
            })
            .collect();
        drawn.sort_unstable();
        if drawn.windows(2).all(|pair| pair[0] != pair[1]) {
            return drawn;
        }
    }
}

/// The chances of sums, from those of the two parts, up to a length.
pub fn convolve(one: &[f64], other: &[f64], length: usize) -> Vec<f64> {
    let mut sums = vec![0.0; length];
    for (i, a) in one.iter().enumerate().filter(|(_, a)| **a != 0.0) {
        for (j, b) in other.iter().enumerate().take(length.saturating_sub(i)) {
            sums[i + j] += a * b;
        }
    }
    sums
}

#[cfg(test)]
mod tests;
