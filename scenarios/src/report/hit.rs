//! What became of one fault of a run.

use doublehold_history::TrueNs;

use crate::model::when::{StepKind, When};

/// One fault of a run, and how often it struck.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The word of its kind.
    pub kind: &'static str,
    /// Where it was to strike.
    pub place: StruckAt,
    /// How often it did.
    pub struck: u64,
    /// When it first did.
    pub first: Option<TrueNs>,
}

/// Where a fault strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StruckAt {
    /// At a time.
    Time,
    /// At a step, or some time after it.
    Step(StepKind),
}

impl StruckAt {
    /// The place of a moment.
    pub fn from_when(when: &When) -> StruckAt {
        match when {
            When::At(_) => StruckAt::Time,
            When::On { events, .. } => {
                events.last().map_or(StruckAt::Time, |nth| StruckAt::Step(nth.event.step()))
            }
        }
    }

    /// The place with this name.
    pub fn from_word(word: &str) -> Option<StruckAt> {
        let all = [StruckAt::Time].into_iter().chain(StepKind::all().map(StruckAt::Step));
        all.into_iter().find(|place| place.as_str() == word)
    }

    /// What the heading of a table calls it.
    pub fn as_str(self) -> &'static str {
        match self {
            StruckAt::Time => "any time",
            StruckAt::Step(step) => step.as_str(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::model::when::{Event, Mark};

    #[test]
    fn every_place_has_a_name_of_its_own() {
        let events = [
            Event::executed("SET"),
            Event::mark("c1", Mark::Grant),
            Event::ClockRead { host: "A".to_owned() },
            Event::Timer { client: "c1".to_owned() },
            Event::Boot { host: "A".to_owned() },
            Event::Sent { from: "A".to_owned(), to: "B".to_owned() },
            Event::Received { by: "A".to_owned(), from: "B".to_owned() },
        ];
        let steps = events.iter().map(Event::step).chain(StepKind::all());
        for place in steps.map(StruckAt::Step).chain([StruckAt::Time]) {
            assert_eq!(StruckAt::from_word(place.as_str()), Some(place));
        }
        assert_eq!(StruckAt::from_word("nowhere"), None);
    }

    #[test]
    fn a_fault_strikes_where_the_last_event_that_it_waits_for_is() {
        let granted = When::event("c1", Mark::Grant);
        assert_eq!(StruckAt::from_when(&granted), StruckAt::Step(StepKind::Mark(Mark::Grant)));
        let boot = granted.then(Event::Boot { host: "A".to_owned() }, 1);
        assert_eq!(StruckAt::from_when(&boot), StruckAt::Step(StepKind::Boot));
        assert_eq!(StruckAt::from_when(&When::from(Duration::ZERO)), StruckAt::Time);
    }
}
