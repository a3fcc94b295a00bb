//! Which events matter, in words: the numbered list under the picture.
//!
//! Every event worth a sentence is collected with a [`Rank`]; the most important [`MAX`] are told, in order of time.
//! Events that no verdict turns on come last, so a run with a double hold tells of the double hold, and a quiet run
//! tells who took turns.

mod claims;
mod faults;
mod keys;
mod writes;

use doublehold_history::TrueNs;
use doublehold_scenarios::scenario::HostIndex;

use super::facts::Facts;

/// How many events are told.
const MAX: usize = 14;

/// How much an event matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// A violation, or what caused it.
    Proof,
    /// What leads up to it.
    Cause,
    /// What follows from it.
    Effect,
    /// Life as usual.
    Routine,
    /// Somebody waits in line.
    Waiting,
}

/// The order of what happened at one instant: a cause before what it brings about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Turn {
    /// A fault was over, so that what it held up could go on.
    Over,
    /// A client or the resource did something, which faults wait for.
    Deed,
    /// A fault struck.
    Fault,
    /// What it brought about by itself.
    Outcome,
}

/// An event, told.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) at: TrueNs,
    pub(super) rank: Rank,
    turn: Turn,
    /// Whose lane it belongs to.
    pub(super) host: Option<HostIndex>,
    /// A sentence without a full stop.
    pub(super) words: String,
    /// An acquire call that came to nothing: marked in the lane.
    pub(super) refusal: bool,
}

impl Told {
    fn new(at: TrueNs, rank: Rank, host: Option<HostIndex>, words: String) -> Told {
        Told { at, rank, turn: Turn::Deed, host, words, refusal: false }
    }

    fn taking(self, turn: Turn) -> Told {
        Told { turn, ..self }
    }
}

/// The events that matter, in order of time, and how many others there were.
pub(super) struct Story {
    pub(super) told: Vec<Told>,
    pub(super) untold: usize,
}

/// Every event worth a sentence, in order of time.
pub(super) fn everything(facts: &Facts<'_>) -> Vec<Told> {
    let mut told = faults::tell(facts);
    told.extend(claims::tell(facts));
    told.extend(writes::tell(facts));
    told.extend(keys::tell(facts));
    told.sort_by_key(|told| (told.at, told.turn));
    told
}

/// Picks the events that matter.
pub(super) fn tell(facts: &Facts<'_>) -> Story {
    let mut told = everything(facts);
    let all = told.len();
    // Where something is at stake, what happens to everybody else is in the way.
    if told.iter().any(|told| told.rank <= Rank::Cause) && facts.has_evidence() {
        told.retain(|told| told.rank != Rank::Routine);
    }
    told.sort_by_key(|told| (told.rank, told.at));
    told.truncate(MAX);
    told.sort_by_key(|told| (told.at, told.turn));
    let untold = all - told.len();
    Story { told, untold }
}
