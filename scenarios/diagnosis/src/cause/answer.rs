//! The answer to the question after causes, as data.

use doublehold_history::{ClientId, TrueNs};
use doublehold_scenarios::scenario::HostIndex;

use crate::Violation;

/// The answer about a run's first violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Causes {
    /// The violation that is asked about.
    pub told: Violation,
    /// The outcome of the search for its causes.
    pub found: Found,
    /// The number of candidates that were tried.
    pub tried: usize,
    /// The number of runs that were made for the answer.
    pub runs: u64,
}

/// An outcome of the search for causes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// There are causes. At least one of the first two parts is not empty.
    Known {
        /// Each of these is necessary: it is gone without any one of them.
        needed: Vec<Cause>,
        /// Besides, some of these are enough.
        any: Option<AnyOf>,
        /// Without any one of these it is gone here, and in about half of the other runs that had it: by their timing.
        chance: Vec<Cause>,
    },
    /// Nothing that was tried removes it.
    Nothing,
    /// Runs like this one are too long to be made so often, or came out otherwise when made again.
    NotAsked,
}

/// Causes of which any so many are enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnyOf {
    /// The number that is enough: 1, if each alone is.
    pub count: usize,
    /// All of them.
    pub of: Vec<Cause>,
}

/// Something without which it would not have come about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The thing.
    pub what: What,
    /// When it began to matter.
    pub began: TrueNs,
    /// True if another candidate differs from it only in its moment, so that words need the moment.
    pub has_twin: bool,
    /// What became of it in other runs ([`AnyOf`]: without just so many that the rest is not enough).
    pub repeats: Repeats,
}

/// A thing that can be taken away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A fault, by its places in the report's scenario: several, if they are the same in everything.
    Fault(Vec<usize>),
    /// A failover as a whole: deaths of nodes and the changes of roles that answered them, by their places.
    Failover(Vec<usize>),
    /// A client that went on past its lease.
    Overrun(ClientId, Overran),
    /// A host's clocks, wrong from the beginning.
    Clocks(HostIndex),
    /// A promotion that Sentinels decided: of this replica, in the run that is asked about.
    Promotion(HostIndex),
}

/// What a client did past its lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overran {
    /// It worked on.
    Worked,
    /// It held on, and was stopped for a part of that time.
    Held,
    /// It went by a deadline of its own that was still to come.
    ByDeadline,
    /// What it had sent arrived when its lease was over.
    Sent,
}

/// Other runs that had the violation, and in how many of these it was gone without the cause. They may be few: where
/// the violation is rare, a cause may rest on one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repeats {
    /// Runs that had it with everything.
    pub had: u64,
    /// The number of these in which it was gone without the cause.
    pub gone: u64,
}

impl Repeats {
    /// True if some run had it, and it was gone in at least three quarters of those that had.
    pub fn are_causal(self) -> bool {
        self.had > 0 && self.gone * 4 >= self.had * 3
    }

    /// True if some run had it, and it was gone in at least two fifths of those that had.
    pub fn are_at_least_chance(self) -> bool {
        self.had > 0 && self.gone * 5 >= self.had * 2
    }
}
