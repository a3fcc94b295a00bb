//! What faults did in many runs: how often each kind was drawn, how often it struck, and at which steps of the
//! protocol.
//!
//! A search that found nothing has shown as much as its faults have touched. What is counted is where a fault was told
//! to strike; a fault that was placed at a random time counts as such, whatever happened at that time.

use std::collections::BTreeMap;

use doublehold_scenarios::report::{Hit, StruckAt};

/// What the faults of one kind did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KindCoverage {
    /// How many there were.
    pub drawn: u64,
    /// How often they struck.
    pub struck: u64,
    /// Where they struck, and how often.
    pub at: BTreeMap<StruckAt, u64>,
}

/// What faults of each kind did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    kinds: BTreeMap<&'static str, KindCoverage>,
}

impl Coverage {
    /// Counts a fault.
    pub fn add(&mut self, hit: &Hit) {
        let of_kind = self.kinds.entry(hit.kind).or_default();
        of_kind.drawn += 1;
        of_kind.struck += hit.struck;
        if hit.struck > 0 {
            *of_kind.at.entry(hit.place).or_default() += hit.struck;
        }
    }

    /// Sets the count of a kind.
    pub fn set(&mut self, kind: &'static str, count: KindCoverage) {
        self.kinds.insert(kind, count);
    }

    /// Adds another count.
    pub fn merge(&mut self, other: &Coverage) {
        for (kind, theirs) in &other.kinds {
            let ours = self.kinds.entry(kind).or_default();
            ours.drawn += theirs.drawn;
            ours.struck += theirs.struck;
            theirs.at.iter().for_each(|(place, count)| *ours.at.entry(*place).or_default() += count);
        }
    }

    /// Coverage of a kind: what its faults did.
    pub fn kind(&self, kind: &str) -> KindCoverage {
        self.kinds.get(kind).cloned().unwrap_or_default()
    }

    /// Every kind of which there was a fault, in alphabetical order.
    pub fn kinds(&self) -> impl Iterator<Item = (&'static str, &KindCoverage)> {
        self.kinds.iter().map(|(kind, of_kind)| (*kind, of_kind))
    }
}
