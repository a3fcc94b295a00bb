//! An exact test for the difference of two shares of independent runs. Pure arithmetic.
//!
//! Fisher's test: given the hits in both together, the chance that they fall to the two as unevenly as they did, or
//! more so. To ask that the intervals of both do not meet is easier, and demands far more than they say.

use super::{Proportion, binomial};

/// Shares whose tables are as likely as the one seen count as less likely: they differ by rounding alone.
const TIE: f64 = 1.0 + 1e-9;

/// The p-value of Fisher's exact test (R. A. Fisher, 1935): how likely it is that two shares of one truth lie as far
/// apart as these, or farther. It is 1 if either was never tried.
///
/// ```
/// use doublehold_statistics::{Proportion, chance_of_difference};
///
/// // The lady tasting tea, who told three of four cups of each kind.
/// let chance = chance_of_difference(Proportion::new(3, 4), Proportion::new(1, 4));
/// assert!((chance - 34.0 / 70.0).abs() < 1e-12);
/// ```
pub fn chance_of_difference(one: Proportion, other: Proportion) -> f64 {
    let (hits, of) = (one.hits() + other.hits(), one.runs() + other.runs());
    if one.runs() == 0 || other.runs() == 0 || hits == 0 || hits == of {
        return 1.0;
    }
    // Of a hypergeometric term any probability gives the same; this one is where none of the three is small.
    let share = hits as f64 / of as f64;
    let all = binomial::term(hits, of, share);
    let term = |mine: u64| {
        binomial::term(mine, one.runs(), share) * binomial::term(hits - mine, other.runs(), share) / all
    };
    let seen = term(one.hits()) * TIE;
    let possible = hits.saturating_sub(other.runs())..=hits.min(one.runs());
    possible.map(term).filter(|chance| *chance <= seen).sum::<f64>().min(1.0)
}
