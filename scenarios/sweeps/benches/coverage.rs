//! How often the 95 % interval of a rare-event estimate holds the truth, in worlds where the truth is known: each is
//! swept a thousand times from fresh seeds, and the intervals are compared with the closed form.
//!
//! ```sh
//! cargo bench -p doublehold-sweeps --bench coverage
//! ```
//!
//! Ends with status 1 if an interval holds the truth in less than 93 or more than 97 of 100 repetitions, or if the mean
//! of the estimates is off by more than four standard errors. Seeds are the same every time, and so is the table.
//!
//! What is right is counted as in the tests of statistics: an interval that holds the truth; where no number is given,
//! a bound that is no lower.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(clippy::disallowed_methods, reason = "what is measured is real time")]

#[path = "../tests/it/closed_forms/estimate.rs"]
mod estimate;
#[path = "../tests/it/closed_forms/worlds.rs"]
#[expect(dead_code, reason = "what only tests look at")]
mod worlds;

use std::time::Instant;

use doublehold_scenarios::Seed;
use doublehold_scenarios::pool::{cores, each};
use doublehold_statistics::{Confidence, Estimate, Unsupported};

use self::estimate::{Said, asked, estimate};
use self::worlds::{World, worlds};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const REPETITIONS: u64 = 1_000;
/// More than any study here has runs in a stratum, so that no two repetitions have a seed in common. Seeds of strata
/// are a billion apart.
const SEEDS_EACH: u64 = 1_000;

fn main() {
    println!("{REPETITIONS} repetitions each, 95 % intervals\n");
    println!(
        "{:<35} {:>9} {:>9} {:>9} {:>6} {:>9} {:>9} {:>8} {:>9} {:>5} {:>5} {:>6}",
        "world",
        "per run",
        "mean",
        "per grant",
        "SE off",
        "right/run",
        "right/gr.",
        "refused",
        "plain",
        "runs",
        "seen",
        "s"
    );
    let results: Vec<bool> = worlds().iter().map(is_right).collect();
    if results.contains(&false) {
        println!("\nsome are wrong");
        std::process::exit(1);
    }
}

/// Sweeps a world again and again, on all cores.
fn repeated(world: &World) -> Vec<Said> {
    let asked = asked(world.study);
    let repetitions: Vec<u64> = (0..REPETITIONS).collect();
    each(&repetitions, cores(), |repetition| {
        estimate(&asked, Seed(1 + repetition * SEEDS_EACH), Confidence::P95)
    })
}

/// Prints a world's line, and says whether it is as it should be.
fn is_right(world: &World) -> bool {
    let began = Instant::now();
    let said = repeated(world);
    assert!(said.iter().all(|it| it.runs <= SEEDS_EACH), "repetitions have seeds in common");
    let count = said.len() as f64;
    let share = |is: &dyn Fn(&Said) -> bool| said.iter().filter(|it| is(it)).count() as f64 / count;
    let per_run = share(&|it| is_covered(&it.per_run, world.per_run));
    let per_grant = share(&|it| is_covered(&it.per_grant, world.per_run / world.grants));
    let refused = share(&|it| it.per_run.is_err());
    let mean = said.iter().map(|it| it.sum).sum::<f64>() / count;
    let squares = said.iter().map(|it| (it.sum - mean).powi(2)).sum::<f64>();
    let off = (mean - world.per_run) / (squares / (count - 1.0) / count).sqrt();
    let mut plain: Vec<f64> = said.iter().filter_map(|it| it.per_run.ok()).map(|it| it.plain_runs).collect();
    plain.sort_by(f64::total_cmp);
    println!(
        "{:<35} {:>9.3e} {:>9.3e} {:>9.3e} {:>6.1} {:>7.1} % {:>7.1} % {:>6.1} % {:>9.1e} {:>5} {:>5.1} {:>6.1}",
        world.name,
        world.per_run,
        mean,
        world.per_run / world.grants,
        off,
        per_run * 100.0,
        per_grant * 100.0,
        refused * 100.0,
        plain.get(plain.len() / 2).copied().unwrap_or(0.0),
        said.first().map_or(0, |it| it.runs),
        said.iter().map(|it| it.violated).sum::<u64>() as f64 / count,
        began.elapsed().as_secs_f64(),
    );
    let is_sound = said.iter().all(|it| it.quiet == 0 && it.undecided == 0);
    is_sound && off.abs() <= 4.0 && [per_run, per_grant].iter().all(|it| (0.93..=0.97).contains(it))
}

fn is_covered(said: &Result<Estimate, Unsupported>, truth: f64) -> bool {
    match said {
        Ok(rate) => rate.interval.contains(truth),
        Err(refusal) => refusal.at_most.is_some_and(|bound| bound >= truth),
    }
}
