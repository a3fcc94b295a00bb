//! Rates per grant and per hour: what they come to where the mean is exact, and how often they hold the truth.

use doublehold_sim::{Seed, Stream};
use doublehold_statistics::{
    Confidence, Estimate, Exposure, Interval, MeanPerRun, Proportion, Reason, Stratified, Unsupported,
};

use crate::statistics::assert_near;

fn of(values: &[u64]) -> MeanPerRun {
    let sum = values.iter().map(|value| u128::from(*value)).sum();
    let sum_of_squares = values.iter().map(|value| u128::from(*value).pow(2)).sum();
    MeanPerRun { runs: values.len() as u64, sum, sum_of_squares }
}

fn per_run(hits: u64, of: u64) -> Result<Estimate, Unsupported> {
    Stratified::from_proportion(Proportion::new(hits, of)).estimate(Confidence::P95)
}

fn rate(exposure: &Exposure, per_run: Result<Estimate, Unsupported>) -> Result<Estimate, Unsupported> {
    exposure.rate(per_run, Confidence::P95)
}

#[test]
fn an_exact_mean_divides_the_rate_and_its_ends() {
    let plain = per_run(20, 1_000).expect("there are violations enough");
    for (runs, value, unit, divisor) in [(1_000, 8, 1.0, 8.0), (50, 1_800_000, 3.6e6, 0.5)] {
        let exposure = Exposure { strata: vec![(1.0, of(&vec![value; runs]))], unit };
        let got = rate(&exposure, Ok(plain)).expect("there are violations enough");
        assert_near(got.value, plain.value / divisor, "value");
        assert_near(got.interval.low, plain.interval.low / divisor, "low");
        assert_near(got.interval.high, plain.interval.high / divisor, "high");
        assert_eq!(got.plain_runs, plain.plain_runs);
    }
}

/// The formula as Donner and Zou (2012) have it, which cancels and is therefore not computed so.
#[test]
fn the_interval_is_movers_for_ratios() {
    let plain = per_run(20, 100).expect("there are violations enough");
    let grants = Exposure { strata: vec![(1.0, of(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 20]))], unit: 1.0 };
    let (mean, Interval { low: l2, high: u2 }) = grants.mean(Confidence::P95).expect("it is covered");
    let (t1, l1, u1) = (plain.value, plain.interval.low, plain.interval.high);
    let product = t1 * mean;
    let low = (product - (product * product - l1 * u2 * (2.0 * t1 - l1) * (2.0 * mean - u2)).sqrt())
        / (u2 * (2.0 * mean - u2));
    let high = (product + (product * product - u1 * l2 * (2.0 * t1 - u1) * (2.0 * mean - l2)).sqrt())
        / (l2 * (2.0 * mean - l2));
    let got = rate(&grants, Ok(plain)).expect("there are violations enough");
    assert_near(got.interval.low, low, "low");
    assert_near(got.interval.high, high, "high");
    let exact = plain.interval.width() / plain.value;
    assert!(got.interval.width() / got.value > exact, "an uncertain mean widens");
}

/// `numpy.mean` and `numpy.std(ddof=1) / sqrt(10)`.
#[test]
fn the_mean_has_its_standard_error() {
    let grants = Exposure { strata: vec![(1.0, of(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 20]))], unit: 1.0 };
    let (mean, interval) = grants.mean(Confidence::P95).expect("it is covered");
    assert_near(mean, 6.5, "mean");
    assert_near((interval.high - mean) / 1.959_963_984_540_054, 1.707825127659933, "standard error");
    // Two halves of all runs with such a sample each are as sure as twice the runs.
    let half = grants.strata[0].1;
    let halves = Exposure { strata: vec![(0.5, half), (0.5, half)], unit: 1.0 };
    let (mean, interval) = halves.mean(Confidence::P95).expect("it is covered");
    let error = (interval.high - mean) / 1.959_963_984_540_054;
    assert_near(error, 1.707825127659933 / 2.0_f64.sqrt(), "standard error of two strata");
}

#[test]
fn strata_count_by_their_weight_and_must_be_nearly_all() {
    let (quiet, faulty) = (of(&[10, 10, 10]), of(&[4, 4]));
    let exposure = |strata: &[(f64, MeanPerRun)]| Exposure { strata: strata.to_vec(), unit: 1.0 };
    let (mean, _) = exposure(&[(0.75, quiet), (0.25, faulty)]).mean(Confidence::P95).expect("it is covered");
    assert_near(mean, 8.5, "weighted");
    let (mean, _) = exposure(&[(0.995, quiet)]).mean(Confidence::P95).expect("it is covered");
    assert_near(mean, 10.0, "the rest is taken to be alike");
    assert_eq!(exposure(&[(0.25, faulty)]).mean(Confidence::P95), None);
    assert_eq!(exposure(&[(0.75, quiet), (0.25, of(&[4]))]).mean(Confidence::P95), None);
}

#[test]
fn without_a_mean_above_zero_there_is_no_rate() {
    let plain = per_run(20, 1_000);
    for grants in [of(&[0, 0, 0]), of(&[0, 0, 0, 1]), of(&[])] {
        let refused = rate(&Exposure { strata: vec![(1.0, grants)], unit: 1.0 }, plain).expect_err("no rate");
        assert_eq!(refused, Unsupported { reason: Reason::NoExposure, at_most: None });
    }
}

#[test]
fn what_is_refused_per_run_is_refused_per_grant_with_its_bound() {
    let ten = Exposure { strata: vec![(1.0, of(&[10; 100]))], unit: 1.0 };
    let refused = rate(&ten, per_run(0, 5_000)).expect_err("nothing was seen");
    let bound = Proportion::new(0, 5_000).upper_bound(Confidence::P95).expect("there are runs");
    assert_eq!(refused.reason, Reason::NoneSeen { runs: 5_000, undecided: 0 });
    assert_near(refused.at_most.expect("there are runs"), bound / 10.0, "per grant");
    // There may be fewer grants than were seen.
    let about = Exposure { strata: vec![(1.0, of(&[5, 10, 15]))], unit: 1.0 };
    let refused = rate(&about, per_run(0, 5_000)).expect_err("nothing was seen");
    let least = about.mean(Confidence::P95).expect("it is covered").1.low;
    assert_near(refused.at_most.expect("there are runs"), bound / least, "per grant");
}

#[test]
fn a_rate_per_grant_holds_the_truth_in_93_to_97_of_100() {
    // One to nineteen grants a run, ten on average, and a violation in one of 50 runs.
    let mut held = 0;
    for repetition in 0..1_000 {
        let mut stream = Stream::new(Seed(repetition), "per grant");
        let grants: Vec<u64> = (0..1_000).map(|_| 1 + stream.below(19)).collect();
        let hits = (0..1_000).filter(|_| stream.below(50) == 0).count();
        let exposure = Exposure { strata: vec![(1.0, of(&grants))], unit: 1.0 };
        let got = rate(&exposure, per_run(hits as u64, 1_000)).expect("there are violations enough");
        held += u64::from(got.interval.contains(0.002));
    }
    assert!((930..=970).contains(&held), "{held} of 1,000");
}
