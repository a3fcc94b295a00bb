//! From a seed that a search found to a counterexample that can be sent: confirmed, shrunk, run again.
//!
//! A search goes through lean connections, which are twice as fast. What it finds is looked for again through redis-rs,
//! which is what is claimed to be real, and shrunk there. Where redis-rs' other timing loses the violation, it is
//! shrunk as it was found, and the result is looked for through redis-rs from other seeds; if that fails too, the
//! reader is told.
//!
//! Decision: "A violation that a search finds is confirmed through redis-rs" (docs/decisions/search.md).

use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use doublehold_scenarios::report::Report;
use doublehold_scenarios::{Engine, Futures, Prepared, Scenario, Seed, Stepped};
use doublehold_search::panic_hook;
use doublehold_search::shrink::{Case, Effort, ShrinkError, Shrunk, Target, shrink};

use crate::cause::{Explained, causes};

/// The time that the runs for the causes of a violation may take in all. Then code under test is taken to hang.
const PATIENCE: Duration = Duration::from_secs(60);
/// From how many seeds the shrunk scenario is tried where the first run shows nothing through redis-rs.
const OTHER_SEEDS: u64 = 200;

/// A violation, made as small as it gets.
#[derive(Debug)]
pub struct Counterexample {
    /// What is shown.
    pub target: Target,
    /// The seed under which the search found it.
    pub first: Seed,
    /// The least scenario that shows it.
    pub shrunk: Shrunk,
    /// The run of that scenario.
    pub run: Explained,
    /// Whether the run went through redis-rs.
    pub is_real: bool,
}

/// Makes a counterexample of what `search` found from a seed. `real` is what is to confirm it.
///
/// # Errors
///
/// If the run from this seed does not show the target, or cannot be made.
pub fn counterexample<E, R>(
    search: &E,
    real: &R,
    (scenario, first, target): (&Scenario, Seed, Target),
    effort: &Effort,
) -> Result<Counterexample, ShrinkError>
where
    E: Engine<Prepared: Stepped + Futures>,
    R: Engine<Prepared: Stepped + Futures>,
{
    let found = search.prepare(scenario)?.run(first);
    let case = Case { scenario: &found.scenario, seed: first, target };
    if target.is_in(&real.prepare(&found.scenario)?.judge(first)) {
        let shrunk = shrink(real, &case, effort)?;
        let run = run_explained(real.prepare(&shrunk.scenario)?, shrunk.seed);
        return Ok(Counterexample { target, first, shrunk, run, is_real: true });
    }
    let mut shrunk = shrink(search, &case, effort)?;
    let prepared = real.prepare(&shrunk.scenario)?;
    let mut seeds = (1..=OTHER_SEEDS).map(Seed);
    let confirmed = seeds.find(|seed| target.is_in(&prepared.judge(*seed)));
    // The file says from which seed it shows what it expects.
    shrunk.scenario.seed = confirmed.or(shrunk.scenario.seed);
    let run = match confirmed {
        Some(seed) => run_explained(real.prepare(&shrunk.scenario)?, seed),
        None => run_explained(search.prepare(&shrunk.scenario)?, shrunk.seed),
    };
    shrunk.seed = run.report.seed;
    Ok(Counterexample { target, first, shrunk, run, is_real: confirmed.is_some() })
}

/// A run with what it came from.
fn run_explained(prepared: impl Futures, seed: Seed) -> Explained {
    let report = prepared.run(seed);
    explain_in_time(Arc::new(prepared), report, PATIENCE)
}

/// A run with what its first violation came from. Code under test may do in a run without a fault what it did in no
/// other, such as never come back: after so long it is given up, its thread left behind, and nothing is said of causes.
#[expect(clippy::disallowed_methods, reason = "a thread that runs worlds, and runs in none")]
pub fn explain_in_time(prepared: Arc<impl Futures>, report: Report, patience: Duration) -> Explained {
    let (tell, told) = mpsc::sync_channel(1);
    let report = Arc::new(report);
    let (asked, check) = (report.clone(), panic_hook::current_check());
    let worker = thread::Builder::new().spawn(move || {
        let found = check.hush(|| causes(&*prepared, &asked));
        drop(asked);
        // Nobody listens any more where it took too long.
        tell.send(found).unwrap_or_default();
    });
    let causes = worker.ok().and_then(|_| told.recv_timeout(patience).ok()).flatten();
    // Copied only where the thread is left behind: the history of a long run is as large as its limit.
    Explained { report: Arc::unwrap_or_clone(report), causes }
}
