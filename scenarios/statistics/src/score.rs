//! The score interval of a weighted sum of independent proportions. Needs weights and runs above zero.
//!
//! At each rate the shares are the likeliest with that weighted sum. By Lagrange there is one number, here `slope`,
//! for which each of them is the root of `a p² - (1 + a) p + hits / runs = 0` with `a = slope w / n`; the rate falls
//! as it grows. So the ends are searched over that number, and each rate comes with its shares.

use super::{Interval, Proportion};

/// A stratum that was run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weighted {
    pub(super) weight: f64,
    pub(super) part: Proportion,
}

/// Far more halvings or doublings than it takes to get from one to what a float holds.
const MOST_STEPS: usize = 400;

/// The weighted sum of the shares, and its interval at `z` deviations.
pub(super) fn interval(strata: &[Weighted], z: f64) -> (f64, Interval) {
    let per_run = |stratum: &Weighted| stratum.weight / stratum.part.runs() as f64;
    let heaviest = strata.iter().map(per_run).fold(0.0, f64::max);
    // The number that is searched is the `a` of the stratum with the largest weight per run, whose ratio here is one.
    let ratio = |stratum: &Weighted| per_run(stratum) / heaviest;
    let value = sum(strata, |stratum| (0.0, 1.0, stratum)).0;
    let most: f64 = strata.iter().map(|stratum| stratum.weight).sum();
    // Below the estimate `a` is positive.
    let below = |a: f64| sum(strata, |stratum| (a * ratio(stratum), 1.0 + a * ratio(stratum), stratum));
    let is_low = |a: f64| {
        let (rate, variance) = below(a);
        value - rate > z * variance.sqrt()
    };
    // Above it `1 + a` is what is searched, since the shares of silent strata are as small as that is.
    let above = |less: f64| {
        sum(strata, |stratum| {
            let ratio = ratio(stratum);
            ((less - 1.0) * ratio, (1.0 - ratio) + less * ratio, stratum)
        })
    };
    let is_high = |less: f64| {
        let (rate, variance) = above(less);
        rate - value > z * variance.sqrt()
    };
    let all = strata.iter().all(|stratum| stratum.part.hits() == stratum.part.runs());
    let none = strata.iter().all(|stratum| stratum.part.hits() == 0);
    let low = if none { 0.0 } else { below(edge(0.0, 1.0, is_low)).0 };
    let high = if all { most } else { above(edge(1.0, -1.0, is_high)).0 };
    (value, Interval { low, high })
}

/// The weighted sum of the likeliest shares, and its variance; `at` gives `a` and `1 + a` for each stratum.
fn sum<'a>(strata: &'a [Weighted], at: impl Fn(&'a Weighted) -> (f64, f64, &'a Weighted)) -> (f64, f64) {
    strata.iter().map(at).fold((0.0, 0.0), |(rate, variance), (a, one_and_a, stratum)| {
        let share = likeliest(a, one_and_a, stratum.part);
        let own = stratum.weight * stratum.weight * share * (1.0 - share) / stratum.part.runs() as f64;
        (rate + stratum.weight * share, variance + own)
    })
}

/// The root between zero and one, in the form that does not cancel.
fn likeliest(a: f64, one_and_a: f64, part: Proportion) -> f64 {
    let seen = part.hits() as f64 / part.runs() as f64;
    let root = (one_and_a * one_and_a - 4.0 * a * seen).max(0.0).sqrt();
    if one_and_a > 0.0 { 2.0 * seen / (one_and_a + root) } else { (one_and_a - root) / (2.0 * a) }
}

/// Where something becomes true on the way from `start`, where it is not, in steps that double from `step` on.
fn edge(start: f64, step: f64, is_past: impl Fn(f64) -> bool) -> f64 {
    let (mut inside, mut outside, mut step) = (start, start + step, step);
    for _ in 0..MOST_STEPS {
        if is_past(outside) {
            break;
        }
        step *= 2.0;
        (inside, outside) = (outside, outside + step);
    }
    for _ in 0..MOST_STEPS {
        let middle = 0.5 * (inside + outside);
        if middle == inside || middle == outside {
            break;
        }
        if is_past(middle) { outside = middle } else { inside = middle }
    }
    outside
}
