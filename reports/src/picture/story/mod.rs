//! Which events matter, in words: the numbered list under the picture.
//!
//! Every event worth a sentence is collected with a [`Rank`]; the most important [`MAX`] are shown, in order of time.
//! Events that no verdict turns on come last, so a run with a double hold shows the double hold, and a quiet run
//! shows who took turns.

mod claims;
mod failovers;
mod faults;
mod keys;
mod writes;

use doublehold_history::{LockId, TrueNs};
use doublehold_scenarios::scenario::HostIndex;

use super::facts::Facts;

/// How many events are shown, if no more than half of them are grants that decide a verdict.
const MAX: usize = 14;
/// How many are shown at most: there are signs for no more.
const LIMIT: usize = 20;

/// How much an event matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// A grant that decides a verdict.
    Decides,
    /// A violation, or what caused it.
    Proof,
    /// What leads up to it.
    Cause,
    /// What follows from it.
    Effect,
    /// Life as usual.
    Routine,
    /// Somebody waits in line.
    Queueing,
}

/// The order of what happened at one instant: a cause before what it brings about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// A fault was over, so that what it held up could go on.
    FaultEnds,
    /// A client or the resource did something, which faults wait for.
    Action,
    /// A fault struck.
    FaultStrikes,
    /// What it brought about by itself.
    Consequence,
}

/// An event that is worth a sentence.
#[derive(Clone, Debug)]
pub(super) struct StoryEvent {
    pub(super) at: TrueNs,
    pub(super) rank: Rank,
    phase: Phase,
    /// Whose lane it belongs to.
    pub(super) host: Option<HostIndex>,
    /// A sentence without a full stop.
    pub(super) words: String,
    /// An acquire call that came to nothing: marked in the lane.
    pub(super) refused: Option<LockId>,
}

impl StoryEvent {
    fn new(at: TrueNs, rank: Rank, host: Option<HostIndex>, words: String) -> StoryEvent {
        StoryEvent { at, rank, phase: Phase::Action, host, words, refused: None }
    }

    /// Whether no verdict turns on it.
    fn is_lesser(&self) -> bool {
        self.rank >= Rank::Routine
    }

    fn with_phase(self, phase: Phase) -> StoryEvent {
        StoryEvent { phase, ..self }
    }
}

/// The events that matter, in order of time, and how many others there were.
pub(super) struct Story {
    pub(super) events: Vec<StoryEvent>,
    /// Others like them.
    pub(super) omitted: usize,
    /// Others that no verdict turns on.
    pub(super) lesser: usize,
}

/// Every event worth a sentence, in order of time.
pub(super) fn all_events(facts: &Facts<'_>) -> Vec<StoryEvent> {
    let mut events = faults::events(facts);
    events.extend(failovers::events(facts));
    events.extend(claims::events(facts));
    events.extend(writes::events(facts));
    events.extend(keys::events(facts));
    events.sort_by_key(|event| (event.at, event.phase));
    events
}

/// Picks the events that matter.
pub(super) fn select(facts: &Facts<'_>) -> Story {
    let mut events = all_events(facts);
    let all = events.len();
    let lesser = events.iter().filter(|event| event.is_lesser()).count();
    // Where something is at stake, what happens to everybody else is in the way.
    if facts.has_evidence() && events.iter().any(|event| event.rank <= Rank::Cause) {
        events.retain(|event| event.rank != Rank::Routine);
    }
    // Of one instant, what came first comes first, however much each matters.
    let mut events: Vec<(usize, StoryEvent)> = events.into_iter().enumerate().collect();
    events.sort_by_key(|(place, event)| (event.rank, *place));
    events.truncate((MAX / 2 + facts.deciding()).clamp(MAX, LIMIT));
    events.sort_by_key(|(place, _)| *place);
    let events: Vec<StoryEvent> = events.into_iter().map(|(_, event)| event).collect();
    let lesser = lesser - events.iter().filter(|event| event.is_lesser()).count();
    let omitted = all - events.len() - lesser;
    Story { events, omitted, lesser }
}
