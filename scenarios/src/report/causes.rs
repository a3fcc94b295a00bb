//! The answer to the question after causes, as data that a report carries.
//!
//! It knows nothing of runs, so that a report, which every run makes, knows nothing of how runs are made again.

use doublehold_history::{CallId, ClientId, LockId, Predicate, TrueNs};

use crate::model::scenario::HostIndex;

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
    /// Each of these: it is gone without any one of them.
    Needed(Vec<Cause>),
    /// Any one of these would have been enough: it is gone without all of them, and there without all but one.
    Either(Vec<Cause>),
    /// Nothing that was tried removes it.
    Nothing,
    /// Runs like this one are too long to be made so often, or came out otherwise when made again.
    NotAsked,
}

/// Something without which it would not have come about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The thing.
    pub what: What,
    /// The same as a clause in the past tense: `c1 was paused for 20 s`.
    pub words: String,
    /// The counts of runs in which it comes about with and without it (of [`Found::Either`]: without all of them).
    pub shares: Shares,
}

/// A thing that can be taken away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// Faults, by their places in the report's scenario. Several if they are one event, such as a failover.
    Faults(Vec<usize>),
    /// That a client went on past its lease.
    Overrun(ClientId),
    /// That a host's clocks are wrong from the beginning.
    Clocks(HostIndex),
}

/// The futures and other seeds, of 20 each, in which it comes about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shares {
    /// Futures with the cause.
    pub futures_with: u64,
    /// Futures without it.
    pub futures_without: u64,
    /// Other seeds with the cause; not counted where no other seed does it without.
    pub seeds_with: Option<u64>,
    /// Other seeds without it.
    pub seeds_without: u64,
}

/// The first violation of a run: the first piece of evidence of the first predicate that is violated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The predicate that is violated.
    pub predicate: Predicate,
    /// The lock that it is about.
    pub lock: LockId,
    /// The clients that have part in it, in order of their numbers: both holders, the one whose write or command it
    /// was, or those who waited.
    pub clients: Vec<ClientId>,
    /// When it began.
    pub from: TrueNs,
    /// When it was over, or the same instant.
    pub to: TrueNs,
    /// The grants whose leases have to do with it, and whose they are.
    pub grants: Vec<(ClientId, CallId)>,
    /// The client that came second, and the number of its grants of the lock by then.
    pub second: Option<(ClientId, usize)>,
}

impl Shares {
    /// True if it is seldom without the cause.
    pub fn are_causal(self) -> bool {
        /// The least ratio of counts with the cause to counts without it.
        const TIMES: u64 = 6;
        let futures = self.futures_with >= TIMES * self.futures_without.max(1);
        futures && self.seeds_with.unwrap_or(u64::MAX) >= TIMES * self.seeds_without
    }
}
