//! The binomial distribution where it is needed exactly: its terms, its tails, and the probability at which a tail
//! has a given size.
//!
//! Right to ten digits for up to 10¹² runs and probabilities down to 10⁻¹². `statrs` was tried for this and is not:
//! the logarithms of its gamma functions cancel (its bound for 5 of 10⁶ is wrong in the fifth digit), and its search
//! does not end for 5 of 10⁹. Here a term is Loader's saddle-point form, in which nothing large cancels (C. Loader,
//! "Fast and accurate computation of binomial probabilities", 2000), and a tail is the sum of its terms, all of them
//! positive.

/// The terms of a tail beyond this share of the sum so far are below what a float holds.
const NEGLIGIBLE: f64 = 1e-17;

/// Newton's method doubles its digits with each step once it is near; from Wilson's bound it takes five or six.
const MOST_STEPS: usize = 200;

/// The probability of exactly `hits` hits in `of` runs, each of which is one with `probability`.
pub(super) fn term(hits: u64, of: u64, probability: f64) -> f64 {
    let (k, n) = (hits as f64, of as f64);
    if hits == 0 {
        return (n * (-probability).ln_1p()).exp();
    }
    if hits == of {
        return (n * probability.ln()).exp();
    }
    let misses = n - k;
    // How far the hits, and the misses, are from what is expected.
    let far = k - n * probability;
    let ln = stirling_error(of)
        - stirling_error(hits)
        - stirling_error(of - hits)
        - deviance(k, far)
        - deviance(misses, -far);
    ln.exp() * (n / (std::f64::consts::TAU * k * misses)).sqrt()
}

/// `seen · ln(seen / expected)`, where `expected = seen - far`. Loader also takes `far` off; that of the hits and
/// that of the misses cancel.
fn deviance(seen: f64, far: f64) -> f64 {
    -seen * (-far / seen).ln_1p()
}

/// What Stirling's formula for `ln n!` lacks.
fn stirling_error(n: u64) -> f64 {
    let x = n as f64;
    if n < 16 {
        let factorial: f64 = (2..=n).map(|factor| factor as f64).product();
        return factorial.ln() - ((x + 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln());
    }
    let square = x * x;
    (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / 1680.0 / square) / square) / square) / x
}

/// The probability of at most `hits` hits, over the term at `hits`. Needs `hits` to be no more than is expected: only
/// then do the terms fall.
fn lower_tail_over_term(hits: u64, of: u64, probability: f64) -> f64 {
    let odds = (1.0 - probability) / probability;
    let misses = (of - hits) as f64;
    sum((0..hits).map(|step| (hits - step) as f64 / (misses + step as f64 + 1.0) * odds))
}

/// The same of at least `hits` hits, which are no less than is expected.
fn upper_tail_over_term(hits: u64, of: u64, probability: f64) -> f64 {
    let odds = probability / (1.0 - probability);
    let hit = hits as f64;
    sum((0..of - hits).map(|step| (of - hits - step) as f64 / (hit + step as f64 + 1.0) * odds))
}

/// One, and the products of the first, the first two, ... ratios.
fn sum(ratios: impl Iterator<Item = f64>) -> f64 {
    let (mut term, mut sum) = (1.0, 1.0);
    for ratio in ratios {
        term *= ratio;
        if term < NEGLIGIBLE * sum {
            break;
        }
        sum += term;
    }
    sum
}

/// The probability of at most `hits` heads of so many coins. Needs `hits` to be no more than half of them.
pub(super) fn lower_tail(hits: u64, of: u64) -> f64 {
    term(hits, of, 0.5) * lower_tail_over_term(hits, of, 0.5)
}

/// The probability at which at most `hits` hits are as rare as `tail`. Needs some runs without a hit; `near` is a
/// first guess above `hits / of`.
pub(super) fn high_end(hits: u64, of: u64, tail: f64, near: f64) -> f64 {
    if hits == 0 {
        return -(tail.ln() / of as f64).exp_m1();
    }
    let misses = (of - hits) as f64;
    newton(near, tail, |probability| {
        let over = lower_tail_over_term(hits, of, probability);
        let slope = -misses * probability / ((1.0 - probability) * over);
        (term(hits, of, probability) * over, slope)
    })
}

/// The probability at which at least `hits` hits are as rare as `tail`. Needs a hit; `near` is a first guess below
/// `hits / of`.
pub(super) fn low_end(hits: u64, of: u64, tail: f64, near: f64) -> f64 {
    if hits == of {
        return (tail.ln() / of as f64).exp();
    }
    let hit = hits as f64;
    newton(near, tail, |probability| {
        let over = upper_tail_over_term(hits, of, probability);
        (term(hits, of, probability) * over, hit / over)
    })
}

/// Where the logarithm of a tail is that of `tail`. `at` gives the tail and the slope of its logarithm over that of
/// the probability. Both tails are log-concave, so that each step after the first comes from the same side and none
/// passes the root.
fn newton(near: f64, tail: f64, at: impl Fn(f64) -> (f64, f64)) -> f64 {
    let mut probability = near;
    for _ in 0..MOST_STEPS {
        let (size, slope) = at(probability);
        let step = (tail.ln() - size.ln()) / slope;
        // The first step can pass one, where there is no probability.
        let next = (probability * step.exp()).min(0.5 * (1.0 + probability));
        if (next - probability).abs() <= 1e-15 * probability {
            return next;
        }
        probability = next;
    }
    probability
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hits, runs, probability, and the term: made by a script with mpmath 1.3, which agrees with scipy's
    /// `binom.pmf`.
    const TERMS: [(u64, u64, f64, f64); 12] = [
        (0, 10, 0.1, 0.3486784401),
        (3, 10, 0.1, 0.057395628000000004),
        (10, 10, 0.9, 0.3486784401000001),
        (15, 30, 0.5, 0.14446444809436798),
        (16, 40, 0.3, 0.05183377510298279),
        (7, 1_000_000, 1e-05, 0.09007913563743797),
        (0, 1_000_000_000_000, 1e-12, 0.36787944117125837),
        (5, 1_000_000_000_000, 5e-12, 0.17546736976828936),
        (9, 1_000_000_000_000, 5e-12, 0.03626557741551681),
        (500_000, 1_000_000, 0.499, 0.00010798147410298377),
        (500_000_000_000, 1_000_000_000_000, 0.5, 7.978845608026659e-07),
        (1_000_000, 1_000_000_000_000, 1.002e-06, 5.4134832654645496e-05),
    ];

    #[test]
    fn the_terms_sum_to_one() {
        for of in [1, 2, 15, 16, 17, 60, 1_000] {
            for probability in [1e-12, 0.001, 0.2, 0.5, 0.9] {
                let all: f64 = (0..=of).map(|hits| term(hits, of, probability)).sum();
                assert!((all - 1.0).abs() < 1e-12, "{of} runs at {probability}: {all}");
            }
        }
    }

    #[test]
    fn a_term_is_the_tabulated_one() {
        for (hits, of, probability, expected) in TERMS {
            let got = term(hits, of, probability);
            assert!((got / expected - 1.0).abs() < 1e-9, "{hits} of {of} at {probability}: {got:e}");
        }
    }
}
