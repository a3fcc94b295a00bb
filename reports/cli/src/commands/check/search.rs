//! The runs of a search: made, counted, and watched for what reaches into them from outside, until there are enough.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use doublehold::findings::RuleFindings;
use doublehold::nondeterminism::{Nondeterminism, Watched};
use doublehold_history::Predicate;
use doublehold_scenarios::{PreparedSim, Seed};
use doublehold_search::many::{Many, Tally, run_many};
use doublehold_search::rules::{RuleTally, ask_many, asked_of};
use doublehold_text::several;

use super::part::Runs;
use super::{Arguments, LAST};
use crate::error::CliError;
use crate::output;
use crate::progress::{bar, speed};
use crate::stopping::Stopping;

/// How long no run may end until it is said that the program does not come back.
const PATIENCE: Duration = Duration::from_secs(60);

/// What runs came to, and the sign that something from outside reached into them.
#[derive(Default)]
pub(super) struct Counted {
    pub(super) tally: Tally,
    pub(super) nondeterminism: Option<Nondeterminism>,
}

/// Makes the runs.
pub(super) fn search(
    (arguments, runs): (&Arguments, Runs),
    prepared: &Arc<Watched<PreparedSim>>,
    asked: &[Predicate],
    stopping: &Stopping,
) -> Result<Counted, CliError> {
    let Runs { first, count } = runs;
    let last = count.map_or(LAST, |count| first.0 + (count - 1));
    let many = Many { seeds: first..=Seed(last), jobs: arguments.search.jobs.count(), patience: PATIENCE };
    let began = Instant::now();
    let lasting = arguments.lasting.unwrap_or(Duration::from_secs(60));
    let keeps_going = arguments.keep_going || arguments.part.shard.is_some();
    let bar = bar(count.unwrap_or(lasting.as_secs()), "{msg}");
    let tally = run_many(prepared, &many, |tally| {
        let passed = began.elapsed();
        bar.set_position(count.map_or(passed.as_secs(), |_| tally.runs));
        let rate = tally.runs as f64 / passed.as_secs_f64().max(0.001);
        bar.set_message(format!("{}, {rate:.0}/s", several(tally.runs, "run")));
        let is_late = count.is_none() && passed >= lasting;
        let all_found = asked.iter().all(|predicate| tally.count(*predicate).first.is_some());
        let is_enough = all_found && !keeps_going;
        if is_late || is_enough || stopping.signal_status().is_some() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    bar.finish_and_clear();
    let tally = tally?;
    output::inform(&speed(tally.runs, "run", began.elapsed(), many.jobs));
    let nondeterminism = prepared.detect(tally.runs, PATIENCE)?;
    Ok(Counted { tally, nondeterminism })
}

/// Asks white-box rules of the first of so many runs, which were made from this seed on.
pub(super) fn ask_rules(
    arguments: &Arguments,
    prepared: &Arc<Watched<PreparedSim>>,
    (first, runs): (Seed, u64),
) -> Result<RuleFindings, CliError> {
    let mut asked = arguments.rule.clone();
    asked.sort_unstable();
    asked.dedup();
    let tally = match asked_of(runs) {
        0 => RuleTally::default(),
        runs => {
            let seeds = first..=Seed(first.0.saturating_add(runs - 1));
            let jobs = arguments.search.jobs.count();
            ask_many(prepared, &Many { seeds, jobs, patience: PATIENCE })?
        }
    };
    Ok(RuleFindings { tally, asked })
}
