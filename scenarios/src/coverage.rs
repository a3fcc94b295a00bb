//! What faults did in many runs: how often each kind was drawn, how often it struck, and at which steps of the
//! protocol.
//!
//! A search that found nothing has shown as much as its faults have touched. What is counted is where a fault was told
//! to strike; a fault that was placed at a random time counts as such, whatever happened at that time.

use std::collections::BTreeMap;

use crate::steps::StepKind;
use crate::when::When;

/// One fault of a run, and how often it struck.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The word of its kind.
    pub kind: &'static str,
    /// Where it was to strike.
    pub place: Place,
    /// How often it did.
    pub struck: u64,
}

/// Where a fault strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// At a time.
    Time,
    /// At a step, or some time after it.
    Step(StepKind),
}

impl Place {
    /// The place of a moment.
    pub fn of(when: &When) -> Place {
        match when {
            When::At(_) => Place::Time,
            When::On { events, .. } => events.last().map_or(Place::Time, |nth| Place::Step(nth.event.step())),
        }
    }

    /// What the heading of a table calls it.
    pub fn as_str(self) -> &'static str {
        match self {
            Place::Time => "any time",
            Place::Step(step) => step.as_str(),
        }
    }
}

/// What the faults of one kind did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OfKind {
    /// How many there were.
    pub drawn: u64,
    /// How often they struck.
    pub struck: u64,
    /// Where they struck, and how often.
    pub at: BTreeMap<Place, u64>,
}

/// What faults of each kind did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    kinds: BTreeMap<&'static str, OfKind>,
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

    /// Adds another count.
    pub fn merge(&mut self, other: &Coverage) {
        for (kind, theirs) in &other.kinds {
            let ours = self.kinds.entry(kind).or_default();
            ours.drawn += theirs.drawn;
            ours.struck += theirs.struck;
            theirs.at.iter().for_each(|(place, count)| *ours.at.entry(*place).or_default() += count);
        }
    }

    /// What the faults of a kind did.
    pub fn of(&self, kind: &str) -> OfKind {
        self.kinds.get(kind).cloned().unwrap_or_default()
    }

    /// Every kind of which there was a fault, in alphabetical order.
    pub fn kinds(&self) -> impl Iterator<Item = (&'static str, &OfKind)> {
        self.kinds.iter().map(|(kind, of_kind)| (*kind, of_kind))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::when::{Event, Mark};

    #[test]
    fn a_fault_strikes_where_the_last_event_that_it_waits_for_is() {
        let granted = When::event("c1", Mark::Grant);
        assert_eq!(Place::of(&granted), Place::Step(StepKind::Mark(Mark::Grant)));
        let boot = granted.then(Event::Boot { host: "A".to_owned() }, 1);
        assert_eq!(Place::of(&boot), Place::Step(StepKind::Boot));
        assert_eq!(Place::of(&When::from(Duration::ZERO)), Place::Time);
    }
}
