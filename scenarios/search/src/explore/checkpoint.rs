//! A search that was interrupted, as a file: what it found, and where to go on.
//!
//! One JSON object. It carries what the search was asked for, so that nothing else is gone on with, and the hash of the
//! run without faults, which is another if the program has changed. Of the whole space nothing needs to be kept: it is
//! listed again, and what was tried is passed over.

use std::collections::BTreeMap;

use doublehold_history::Predicate;
use doublehold_scenarios::{Engine, LeanEngine, Stepped};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Exploration;
use super::findings::{Explored, MinimalPlacements, UndecidedRuns, Violations, group};
use super::place::Place;
use crate::shrink::Target;

/// The version of this format.
const FORMAT: u32 = 1;

/// The engine of files that name none: they are older than the second one.
fn first_engine() -> String {
    LeanEngine.name().to_owned()
}

/// A text that is not what a search of this kind has kept.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ResumeError {
    /// Nothing that could be gone on with.
    #[error("it is no interrupted search: {0}")]
    Unreadable(String),
    /// Another search.
    #[error("it is of another search: {what} {was}, and {is} was asked for")]
    OfAnother {
        /// Of what both have one.
        what: &'static str,
        /// The file's.
        was: String,
        /// This search's.
        is: String,
    },
}

#[derive(Serialize, Deserialize)]
struct Kept {
    explore: u32,
    #[serde(default = "first_engine")]
    engine: String,
    scenario: String,
    seed: u64,
    faults: usize,
    kinds: Vec<String>,
    fault_free: String,
    batches: u64,
    tried: Vec<u64>,
    findings: Vec<KeptFinding>,
    unsaid: Vec<(Predicate, u64, Vec<Place>)>,
    /// Sixteen digits each, in order.
    seen: String,
}

#[derive(Serialize, Deserialize)]
struct KeptFinding {
    finding: String,
    runs: u64,
    minimal: Vec<(u64, Vec<Vec<Place>>)>,
    sets: Vec<Vec<Place>>,
}

impl<P: Stepped> Exploration<P> {
    /// What was found so far, as the text of a file.
    ///
    /// # Errors
    ///
    /// If it cannot be written as JSON, which cannot happen.
    pub fn to_checkpoint(&self, found: &Explored) -> serde_json::Result<String> {
        let of = |(finding, it): (&Target, &Violations)| KeptFinding {
            finding: finding.to_string(),
            runs: it.runs,
            minimal: it.minimal.values().map(|it| (it.count, it.examples.clone())).collect(),
            sets: it.sets.iter().cloned().collect(),
        };
        let unsaid =
            |(predicate, it): (&Predicate, &UndecidedRuns)| (*predicate, it.runs, it.example.clone());
        serde_json::to_string(&Kept {
            batches: found.batches,
            tried: found.tried.clone(),
            findings: found.findings.iter().map(of).collect(),
            unsaid: found.unsaid.iter().map(unsaid).collect(),
            seen: found.seen.iter().map(|hash| format!("{hash:016x}")).collect(),
            ..self.question()
        })
    }

    /// What a file says was found, to go on from there.
    ///
    /// # Errors
    ///
    /// If it is no such file, or one of another search.
    pub fn resume(&self, text: &str) -> Result<Explored, ResumeError> {
        let unreadable = |error: serde_json::Error| ResumeError::Unreadable(error.to_string());
        let kept: Kept = serde_json::from_str(text).map_err(unreadable)?;
        self.check_same_search(&kept)?;
        let damaged = || ResumeError::Unreadable("it was changed since it was written".to_owned());
        self.restore(kept).ok_or_else(damaged)
    }

    /// This search, with nothing found.
    fn question(&self) -> Kept {
        Kept {
            explore: FORMAT,
            engine: self.engine.to_owned(),
            scenario: self.scenario().to_toml(),
            seed: self.seed.0,
            faults: self.faults,
            kinds: self.kinds.chosen_words().into_iter().map(str::to_owned).collect(),
            fault_free: self.prepared.judge(self.seed).trace_hash.to_string(),
            batches: 0,
            tried: Vec::new(),
            findings: Vec::new(),
            unsaid: Vec::new(),
            seen: String::new(),
        }
    }

    fn check_same_search(&self, kept: &Kept) -> Result<(), ResumeError> {
        let own = self.question();
        let of_another = |what, was: String, is: String| {
            if was == is { Ok(()) } else { Err(ResumeError::OfAnother { what, was, is }) }
        };
        of_another("its format is", kept.explore.to_string(), own.explore.to_string())?;
        let [was, is] = [&kept.engine, &own.engine].map(|name| format!("`{name}`"));
        of_another("its engine is", was, is)?;
        of_another("its number of faults is", kept.faults.to_string(), own.faults.to_string())?;
        of_another("its kinds are", kept.kinds.join(","), own.kinds.join(","))?;
        of_another("its seed is", kept.seed.to_string(), own.seed.to_string())?;
        if kept.scenario != own.scenario {
            let (was, is) = ("another one".to_owned(), format!("`{}`", self.scenario().name));
            return Err(ResumeError::OfAnother { what: "its scenario is", was, is });
        }
        of_another("its run without faults has the hash", kept.fault_free.clone(), own.fault_free)
    }

    /// `None` if something in it is no part of this search.
    fn restore(&self, kept: Kept) -> Option<Explored> {
        let are_known = |places: &[Place]| places.iter().all(|place| place.fault(&self.kinds).is_some());
        let hash = |at: usize| u64::from_str_radix(kept.seen.get(at..at + 16)?, 16).ok();
        let seen = (0..kept.seen.len()).step_by(16).map(hash).collect::<Option<_>>()?;
        let mut findings = BTreeMap::new();
        for KeptFinding { finding, runs, minimal, sets } in kept.findings {
            let finding = Target::ALL.into_iter().find(|known| known.to_string() == finding)?;
            let mut groups = BTreeMap::new();
            for (count, examples) in minimal {
                if !examples.iter().all(|example| are_known(example)) {
                    return None;
                }
                groups.insert(group(examples.first()?, &self.kinds), MinimalPlacements { count, examples });
            }
            let sets = sets.into_iter().collect();
            findings.insert(finding, Violations { runs, minimal: groups, sets });
        }
        let mut unsaid = BTreeMap::new();
        for (predicate, runs, example) in kept.unsaid {
            if !are_known(&example) {
                return None;
            }
            unsaid.insert(predicate, UndecidedRuns { runs, example });
        }
        let Kept { batches, tried, .. } = kept;
        Some(Explored { complete: false, tried, findings, unsaid, seen, batches })
    }
}
