//! Rare-event estimates against closed forms: what a sweep says of worlds in which the rate is known. How often its
//! interval is right is for `cargo bench -p doublehold-sweeps --bench coverage` to say; here is one estimate of each
//! world.

mod ends;
mod estimate;
mod worlds;

use doublehold_scenarios::Seed;
use doublehold_statistics::Confidence;
use doublehold_sweeps::sweep::BATCH;

use self::estimate::{asked, asked_but, estimate};
use self::worlds::{LONG, above, pause_two_lines, uniform_integral, worlds};

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

/// Two lines of one kind, of which the rare one does all harm. By kind one in 31 of the runs with a pause has it, so
/// that a dozen of 1,500 do harm; by line 1,500 runs have it.
#[test]
fn strata_by_line_and_by_kind_estimate_one_rate() {
    let [by_line, by_kind] = ["by = \"line\"", "by = \"kind\""].map(|by| {
        let asked = asked_but("pause-two-lines", ("by = \"line\"", by));
        let said = estimate(&asked, Seed(7), Confidence::P99);
        assert_eq!(said.quiet, 0);
        (said.runs, said.per_run.unwrap_or_else(|refusal| panic!("{by}: {refusal}")))
    });
    assert_eq!((by_line.0, by_kind.0), (3 * 1_500, 2 * 1_500));
    let [one, other] = [by_line.1, by_kind.1].map(|rate| rate.interval);
    for interval in [one, other] {
        assert!(interval.contains(pause_two_lines()), "{interval:?} and {:e}", pause_two_lines());
    }
    assert!(one.contains(by_kind.1.value) || other.contains(by_line.1.value), "{one:?} and {other:?}");
    assert!(1.5 * one.width() < other.width(), "{one:?} and {other:?}");
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

/// Values of `erfc(z / √2) / 2` to 40 digits (mpmath), on both sides of where its series and its fraction meet.
#[test]
fn the_tail_is_that_of_a_normal() {
    let known = [
        (-1.0, 0.841_344_746_068_542_9),
        (0.0, 0.5),
        (1.0, 0.158_655_253_931_457_05),
        (2.9, 1.865_813_300_384_037_7e-3),
        (3.1, 9.676_032_132_183_559e-4),
        (4.5, 3.397_673_124_730_060_4e-6),
        (6.0, 9.865_876_450_376_98e-10),
    ];
    for (z, expected) in known {
        assert!((above(z) / expected - 1.0).abs() < 1e-10, "{z}: {:e}", above(z));
    }
}
