//! A wait without end in the lock's code: told with the lock and the call, and within seconds.
//!
//! A run whose lock asks again and again ends by the world's limit of events, which takes a second where code is not
//! optimised, and a thousand of them say no more than the first. So the first two are made before all others, and if
//! both use up their limits the check ends there.
//!
//! Assumes that code awaits something. What never does is not ended by any limit, but by
//! [`Check::patience`](super::Check::patience). Does not tell a wait in an extension, whose beginning is in no history.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use doublehold_history::{ClientId, EventKind, RunOutcome, TrueNs};
use doublehold_scenarios::pool::Stuck;
use doublehold_scenarios::{Prepared, Report, Seed};
use doublehold_search::many::Tally;
use doublehold_text as words;

use crate::nondeterminism::run_with_patience;

/// How many runs have to use up their limits. One may have met a rare fault.
const RUNS: u64 = 2;

/// The first runs, if each used up what costs real time.
///
/// # Errors
///
/// If one does not come back for so long.
pub(super) fn first_runs<P: Prepared + 'static>(
    prepared: &Arc<P>,
    seeds: &RangeInclusive<Seed>,
    patience: Duration,
) -> Result<Option<Tally>, Stuck> {
    let first = seeds.start().0;
    if seeds.end().0.saturating_sub(first) < RUNS {
        return Ok(None);
    }
    let prepared = prepared.clone();
    run_with_patience(patience, move |begins| {
        let mut tally = Tally::default();
        for seed in (first..first + RUNS).map(Seed) {
            begins(seed);
            let run = prepared.judge(seed);
            if !matches!(run.outcome, RunOutcome::EventBudget | RunOutcome::MemoryBudget) {
                return None;
            }
            tally.add(&run);
        }
        Some(tally)
    })
}

/// The first run that left something undecided, which may be one that did not end.
pub(super) fn first_undecided(tally: &Tally) -> Option<Seed> {
    tally.predicates.values().filter_map(|count| Some(count.unsaid.as_ref()?.0)).min()
}

/// What a run says of a wait without end: in which calls of the lock which clients were, and what ended the run.
pub(super) fn waits(lock: &str, report: &Report) -> Option<String> {
    let events = report.history.events();
    let outcome = events.iter().find_map(|event| match &event.what {
        EventKind::RunEnded { outcome } => Some(*outcome),
        _ => None,
    })?;
    let why = match outcome {
        RunOutcome::EventBudget => {
            let events = words::group_digits(report.scenario.limits.events);
            format!("the run had used up `limits.events`, which is {events}")
        }
        RunOutcome::TimeBudget => {
            let time = words::exact_duration(report.scenario.limits.time);
            format!("the run had used up `limits.time`, which is {time}")
        }
        RunOutcome::MemoryBudget => "the run had used up `limits.memory`".to_owned(),
        RunOutcome::Stalled => "nothing was left that could end it".to_owned(),
        RunOutcome::Completed | RunOutcome::Halted => return None,
    };
    let calls: Vec<String> = calls_at_the_end(report)
        .into_iter()
        .map(|(client, (call, since))| {
            let host = report.scenario.clients[client.0 as usize].host;
            let name = &report.scenario.hosts[host.0].name;
            format!("{name} in its {call}, called at {}", words::duration(since.0))
        })
        .collect();
    if calls.is_empty() {
        return None;
    }
    let (seed, ended) = (report.seed, words::duration(report.ended.0));
    Some(format!(
        "the lock `{lock}` waits without end: when the run from seed {seed} was ended at {ended}, since {why}, {} had \
         not come back; a loop that a real clock is to end has no end in a run: take the time from its client",
        words::list(&calls),
    ))
}

/// The calls of the lock that clients were in, and since when.
fn calls_at_the_end(report: &Report) -> BTreeMap<ClientId, (&'static str, TrueNs)> {
    let mut calls = BTreeMap::new();
    for event in report.history.events() {
        match &event.what {
            EventKind::AcquireStarted { client, .. } => {
                calls.insert(*client, ("acquire", event.at));
            }
            EventKind::ReleaseCalled { client, .. } => {
                calls.insert(*client, ("release", event.at));
            }
            EventKind::Granted { client, .. }
            | EventKind::Refused { client, .. }
            | EventKind::AcquireUnknown { client, .. }
            | EventKind::ReleaseReturned { client, .. }
            | EventKind::Died { client }
            | EventKind::Restarted { client } => {
                calls.remove(client);
            }
            _ => {}
        }
    }
    calls
}
