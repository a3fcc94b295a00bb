//! Surveys that are kept: what a reference keeps where is found once, and known from then on.
//!
//! A survey depends on the reference and on the conditions, and not on the lock beside it: its faults strike at
//! steps of the reference, and its seeds are never those of a comparison. Its key has all of that in it: the
//! program's version, every condition with the reference in it, and what the reference did in some runs, which
//! tells a lock from a changed one of the same name.
//!
//! Assumes that a change of a lock shows in one of these runs: one that sends, waits or draws anything else there does.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{ControlFlow, Range};

use doublehold_history::Predicate;
use doublehold_scenarios::pool::{Crew, Foreman, Hand, run_in_order};
use doublehold_scenarios::report::TraceHash;
use doublehold_scenarios::{Engine, Scenario, Seed, Stepped};
use doublehold_search::panic_hook;
use doublehold_sim::parts::digest;
use serde::{Deserialize, Serialize};

use crate::BesideError;
use crate::beside::{Beside, survey_seeds};
use crate::rounds::PairBudget;
use crate::survey::Survey;

/// The version of what is written.
const VERSION: u32 = 1;
/// In how many runs it is looked at what the reference does.
const RUNS: usize = 40;

/// A survey, as it is written.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Written {
    survey: u32,
    key: String,
    kept: BTreeMap<usize, BTreeSet<Predicate>>,
    events: BTreeMap<usize, u64>,
}

impl Survey {
    /// The survey as JSON, under its key.
    ///
    /// # Errors
    ///
    /// None in practice: everything in it can be written as JSON.
    pub fn to_json(&self, key: &str) -> serde_json::Result<String> {
        let (kept, events) = self.parts();
        let written =
            Written { survey: VERSION, key: key.to_owned(), kept: kept.clone(), events: events.clone() };
        serde_json::to_string(&written).map(|text| text + "\n")
    }

    /// Reads a survey of so many conditions; none if it is not one with this key. It took no runs.
    pub fn from_json(text: &str, key: &str, conditions: usize) -> Option<Survey> {
        let Written { survey, key: written, kept, events } = serde_json::from_str(text).ok()?;
        let is_place = |place: &usize| *place < conditions;
        let fits = kept.keys().all(is_place) && kept.keys().eq(events.keys());
        (survey == VERSION && written == key && fits).then(|| Survey::from_parts(kept, events))
    }
}

impl<A, B> Beside<A, B>
where
    A: Engine<Prepared: Stepped> + Send + Sync + 'static,
    B: Engine<Prepared: Stepped> + Send + Sync + 'static,
{
    /// Everything that a survey here depends on, in 16 hexadecimal digits.
    ///
    /// # Errors
    ///
    /// If the reference is refused in a condition, or its code does not come back.
    pub fn survey_key(&self, budget: &PairBudget) -> Result<String, BesideError> {
        let mut text =
            format!("{VERSION} {} {}", env!("CARGO_PKG_VERSION"), doublehold_sim::TraceHash::RULES);
        text += &format!(" {}", survey_seeds(budget).start);
        for condition in self.conditions() {
            let scenario =
                Scenario { weather: Some(condition.weather.clone()), ..condition.scenario.clone() };
            text += &self.shared().theirs.in_place_of(&scenario)?.to_toml();
        }
        for hash in self.fingerprint(budget)? {
            text += &format!(" {hash}");
        }
        Ok(format!("{:016x}", digest(text.as_bytes())))
    }

    /// The hashes of some runs of the reference, in as many conditions as there are.
    fn fingerprint(&self, budget: &PairBudget) -> Result<Vec<TraceHash>, BesideError> {
        let (shared, conditions) = (self.shared().clone(), self.conditions().len());
        let first = survey_seeds(budget).start;
        let check = panic_hook::current_check();
        let work = move |hand: &Hand<'_>, run: usize| {
            check.clone().hush(|| {
                let seed = Seed(first + (run / conditions) as u64);
                hand.begins(seed);
                let pair = shared.pair(run % conditions)?;
                Some(pair.judge_theirs(seed, pair.survey_faults(seed)).trace_hash)
            })
        };
        let mut hashes = Hashes { next: 0..RUNS, hashes: Vec::new() };
        run_in_order(Crew { jobs: budget.jobs, ahead: 4 }, budget.patience, &mut hashes, work)?;
        Ok(hashes.hashes)
    }
}

/// Hands out the runs, and takes their hashes in order.
struct Hashes {
    next: Range<usize>,
    hashes: Vec<TraceHash>,
}

impl Foreman for Hashes {
    type Piece = usize;
    type Done = Option<TraceHash>;

    fn next(&mut self) -> Option<usize> {
        self.next.next()
    }

    fn receive(&mut self, hash: Self::Done) -> ControlFlow<()> {
        self.hashes.extend(hash);
        ControlFlow::Continue(())
    }
}
