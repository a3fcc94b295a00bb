//! What became of one fault of a run.

use crate::model::when::{StepKind, When};

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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::model::when::{Event, Mark};

    #[test]
    fn a_fault_strikes_where_the_last_event_that_it_waits_for_is() {
        let granted = When::event("c1", Mark::Grant);
        assert_eq!(Place::of(&granted), Place::Step(StepKind::Mark(Mark::Grant)));
        let boot = granted.then(Event::Boot { host: "A".to_owned() }, 1);
        assert_eq!(Place::of(&boot), Place::Step(StepKind::Boot));
        assert_eq!(Place::of(&When::from(Duration::ZERO)), Place::Time);
    }
}
