//! The causes of a violation, as JSON.

use doublehold_diagnosis::{Cause, Found, What};
use doublehold_scenarios::Scenario;
use serde::Serialize;

use crate::picture::cause_words;

/// The results of the runs that were made without each thing.
#[derive(Serialize)]
pub(super) struct Causes {
    found: &'static str,
    causes: Vec<One>,
    /// The number of the causes with the role `enough` that is.
    enough: Option<usize>,
    tried: usize,
    runs: u64,
}

/// One cause.
#[derive(Serialize)]
struct One {
    kind: &'static str,
    words: String,
    /// `needed`: it is gone without it; `enough`: some of these are; `chance`: needed here, and seldom elsewhere.
    role: &'static str,
    /// The number of other runs that had the violation.
    others_with: u64,
    /// The number of these in which it was gone without the cause.
    others_gone: u64,
}

impl Causes {
    pub(super) fn new(causes: &doublehold_diagnosis::Causes, scenario: &Scenario) -> Causes {
        let none: (&[Cause], _, &[Cause]) = (&[], None, &[]);
        let (found, (needed, any, chance)) = match &causes.found {
            Found::Known { needed, any, chance } => {
                let found = if needed.is_empty() { "either" } else { "needed" };
                (found, (needed.as_slice(), any.as_ref(), chance.as_slice()))
            }
            Found::Nothing => ("nothing", none),
            Found::NotAsked => ("not-asked", none),
        };
        let one = |cause: &Cause, role| One {
            kind: kind(&cause.what),
            words: cause_words(scenario, cause),
            role,
            others_with: cause.repeats.had,
            others_gone: cause.repeats.gone,
        };
        let of = |causes: &[Cause], role| causes.iter().map(|cause| one(cause, role)).collect::<Vec<One>>();
        let some = any.map_or(Vec::new(), |any| of(&any.of, "enough"));
        Causes {
            found,
            causes: [of(needed, "needed"), some, of(chance, "chance")].into_iter().flatten().collect(),
            enough: any.map(|any| any.count),
            tried: causes.tried,
            runs: causes.runs,
        }
    }
}

fn kind(what: &What) -> &'static str {
    match what {
        What::Fault(_) => "fault",
        What::Failover(_) => "failover",
        What::Overrun(..) => "overrun",
        What::Clocks(_) => "clocks",
        What::Promotion(_) => "promotion",
    }
}
