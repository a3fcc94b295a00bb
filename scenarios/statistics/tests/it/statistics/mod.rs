//! The statistics of sweeps against tables, identities and experiments.

mod experiment;
mod exposures;
mod family;
mod pairs;
mod proportions;
mod strata;
mod tables;
mod undecided;
mod words;

/// That two numbers agree to nine digits.
#[track_caller]
pub(crate) fn assert_near(got: f64, expected: f64, what: &str) {
    let is_near = got == expected || (got - expected).abs() <= 1e-9 * expected.abs();
    assert!(is_near, "{what}: {got:e}, and not {expected:e}");
}
