//! Failovers of real Sentinels, and the same ones simulated: each run's configuration and fault from many seeds.
//!
//! `scenarios/tests/failovers.json` holds what 30 runs of redis-server and redis-sentinel 7.0.15 came to, with three
//! clients that take turns. A run's file says nothing of the place in its period at which each timer stood when the
//! fault struck, so that one run is one draw: a simulated failover is compared with the range of all measured ones.
//!
//! `BLESS=1` writes `docs/failover.md` anew.

mod measured;
mod page;
mod simulated;

use self::measured::{Measured, STEPS};
use self::simulated::{Simulated, simulate};

/// Seeds of each configuration. `.ci/deep` takes ten times as many.
fn seeds() -> u64 {
    std::env::var("FAILOVER_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(10)
}

/// A run of which measured double holds are forced by two groups of clients that cannot see each other.
const FORCED: [u32; 7] = [31, 40, 65, 67, 81, 83, 84];

fn all() -> Vec<(Measured, Vec<Simulated>)> {
    let of = |run: Measured| {
        let runs = (1..=seeds()).map(|seed| simulate(&run, seed)).collect();
        (run, runs)
    };
    measured::read().into_iter().map(of).collect()
}

#[test]
fn simulated_failovers_take_the_time_of_real_ones() {
    let all = all();
    let mut wrong = Vec::new();
    for (run, runs) in &all {
        println!(
            "run {} {} {}: {} {:.2} first {:?} last {:?} window {:?}",
            run.run,
            run.fault,
            run.driver,
            run.double_holds,
            run.together_s,
            run.first_grant_of_majority_s,
            run.last_grant_of_old_master_s,
            run.window_s
        );
        for it in runs.iter().take(6) {
            println!(
                "   {} {} {:.2} first {:?} last {:?}  {:?}",
                it.seed,
                it.double_holds,
                it.together_s,
                it.first_grant_of_majority_s,
                it.last_grant_of_old_master_s,
                it.moments
            );
        }
    }
    for step in STEPS {
        let (mut within, mut of) = (0, 0);
        for (run, runs) in &all {
            let Some((least, most)) = step.range(run) else { continue };
            let times = runs.iter().filter_map(|it| (step.time)(&it.moments, run));
            for time in times {
                of += 1;
                within += usize::from((least..=most).contains(&time));
            }
        }
        println!("{:50} {within} of {of}", step.name);
        if within * 100 < of * 80 {
            wrong.push(format!("{}: {within} of {of} within the range", step.name));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn double_holds_of_two_groups_are_as_many_and_as_long() {
    let mut wrong = Vec::new();
    for (run, runs) in all().iter().filter(|(run, _)| FORCED.contains(&run.run)) {
        let far = |measured: f64, simulated: f64| (simulated - measured).abs() > measured / 5.0;
        for it in runs {
            println!("run {} seed {}: {} {:.2}", run.run, it.seed, it.double_holds, it.together_s);
            if far(run.double_holds as f64, it.double_holds as f64) || far(run.together_s, it.together_s) {
                wrong.push(format!(
                    "run {}, seed {}: {} and {:.2} s",
                    run.run, it.seed, it.double_holds, it.together_s
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
