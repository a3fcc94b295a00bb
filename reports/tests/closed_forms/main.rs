//! Rare-event estimates against closed forms: what a sweep says of worlds in which the rate is known. How often its
//! interval is right is for `cargo bench -p doublehold --bench coverage` to say; here is one estimate of each world.

mod ends;
mod estimate;
mod worlds;

use doublehold::statistics::Confidence;
use doublehold_scenarios::Seed;
use doublehold_scenarios::sweep::BATCH;

use self::estimate::{asked, estimate};
use self::worlds::{LONG, above, uniform_integral, worlds};

#[test]
fn an_estimate_of_each_world_holds_the_truth() {
    for world in worlds() {
        let said = estimate(&asked(world.study), Seed(7), Confidence::P99);
        assert_eq!((said.quiet, said.undecided), (0, 0), "{}: without a fault all goes well", world.name);
        let per_run = said.per_run.unwrap_or_else(|refusal| panic!("{}: {refusal}", world.name));
        assert!((per_run.value / said.sum - 1.0).abs() < 1e-12, "{}: {:e}", world.name, said.sum);
        let per_grant = said.per_grant.unwrap_or_else(|refusal| panic!("{}: {refusal}", world.name));
        for (rate, truth, of) in
            [(per_run, world.per_run, "run"), (per_grant, world.per_run / world.grants, "grant")]
        {
            let (low, high) = (rate.interval.low, rate.interval.high);
            assert!(
                rate.interval.contains(truth),
                "{}: {truth:e} per {of} is not in {low:e} to {high:e}, from {} violations in {} runs",
                world.name,
                said.violated,
                said.runs,
            );
        }
    }
}

/// `estimate` looks at the seeds of every batch. Here strata have more than one.
#[test]
fn no_two_batches_of_a_cell_have_a_seed_in_common() {
    let mut asked = asked("pause-uniform");
    asked.study.runs = BATCH + 1;
    assert_eq!(estimate(&asked, Seed(7), Confidence::P99).runs, 2 * (BATCH + 1));
}

#[test]
fn the_sum_over_pauses_is_the_integral() {
    let (sum, integral) = (LONG.violated(|ms| 1.0 - ms as f64 / 10_000.0), uniform_integral());
    assert!((sum - integral).abs() < 1e-4, "{sum} and {integral}");
}

/// Half are above the middle, and nothing is above six. One deviation up it is 0.160671: the normal distribution's
/// 0.158655 and Edgeworth's term for the lighter tails, `0.1 / 24 (3 z - z^3) φ(z)`.
#[test]
fn the_tail_of_twelve_uniforms_is_that_of_a_normal_but_for_the_far_end() {
    assert!((above(0.0) - 0.5).abs() < 1e-12);
    assert!(above(6.0) == 0.0 && above(-6.0) == 1.0);
    assert!((above(1.0) - 0.160_671).abs() < 1e-4, "{}", above(1.0));
    // The last unit is one term: x^12 / 12!.
    assert!((above(5.5) - 0.5_f64.powi(12) / 479_001_600.0).abs() < 1e-18);
}
