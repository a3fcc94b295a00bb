//! The causes of a violation, as JSON.

use doublehold_scenarios::report::{Cause, Found};
use doublehold_search::cause::OTHERS;
use serde::Serialize;

/// The results of the runs that were made without each thing.
#[derive(Serialize)]
pub(super) struct Causes<'a> {
    found: &'static str,
    causes: Vec<One<'a>>,
    /// The number of other futures, and of other seeds, in which each was tried.
    of: u64,
    tried: usize,
    runs: u64,
}

/// One cause.
#[derive(Serialize)]
struct One<'a> {
    words: &'a str,
    futures_with: u64,
    futures_without: u64,
    seeds_with: Option<u64>,
    seeds_without: u64,
}

impl<'a> Causes<'a> {
    pub(super) fn new(causes: &'a doublehold_scenarios::report::Causes) -> Causes<'a> {
        let (found, list): (_, &[Cause]) = match &causes.found {
            Found::Needed(causes) => ("needed", causes),
            Found::Either(causes) => ("either", causes),
            Found::Nothing => ("nothing", &[]),
            Found::NotAsked => ("not-asked", &[]),
        };
        let one = |cause: &'a Cause| One {
            words: &cause.words,
            futures_with: cause.shares.futures_with,
            futures_without: cause.shares.futures_without,
            seeds_with: cause.shares.seeds_with,
            seeds_without: cause.shares.seeds_without,
        };
        Causes {
            found,
            causes: list.iter().map(one).collect(),
            of: OTHERS,
            tried: causes.tried,
            runs: causes.runs,
        }
    }
}
