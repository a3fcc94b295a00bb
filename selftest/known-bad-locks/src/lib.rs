//! Locks with one known bug each: what libraries really got wrong, as small variants of correct locks.
//!
//! They measure the testbed. A check that cannot tell a lock with a bug from the same lock without it is worth nothing,
//! so each has a control: the same code with no flaw set. A world that breaks a known-bad lock and leaves its control
//! whole has found the bug.
//!
//! A bug that a library has today is that library, as the program has it, and its control the library with one switch
//! set otherwise. Each of the rest is one branch at one place of its family's code, next to a comment that says what is
//! wrong. Nothing here ships, and nothing that ships knows of it.
//!
//! | module | what it holds |
//! |---|---|
//! | [`BadLock`] | a lock with a bug, where it came from, what it breaks, and the worlds that show it |
//! | `kind` | [`Kind`]: a lock as a check takes it, made of a function |
//! | [`worlds`], [`weathers`] | where known-bad locks are tried, and what goes wrong there |
//! | `search` | from seed to seed under weather, up to the first that shows the bug |
//! | `locks` | the known-bad locks, by what they run on |
//! | [`harmless`] | a lock without a known bug, and variants that no check may call worse |
//!
//! Decision: "The known-bad locks depend on `doublehold`, as a user's crate does" (docs/decisions/crates.md).

pub mod harmless;
mod kind;
mod locks;
mod node;
mod search;
pub mod weathers;
pub mod worlds;

use doublehold::check::{Predicate, World};

pub use kind::Kind;
pub use search::{Discovery, SearchError};

/// A lock with one bug.
#[derive(Clone, Debug)]
pub struct BadLock {
    /// What it is called, like a lock: `quorum-of-those-reached`.
    pub name: &'static str,
    /// Where the bug was: `redlock-py#6`, a commit, or `S` where the library's source shows it today.
    pub source: &'static str,
    /// What is wrong, in one sentence.
    pub what: &'static str,
    /// What it violates, and its control does not in the same worlds. The first is what a check is to find.
    pub breaks: &'static [Predicate],
    /// The lock with the bug.
    pub lock: Kind,
    /// The same lock without it.
    pub control: Kind,
    /// Where it is searched for: programs and nodes that can show it, and no faults.
    pub world: World,
    /// The weather that brings the faults there, by its name among [`weathers`]: one in which the control breaks
    /// nothing of [`BadLock::breaks`].
    pub weather: &'static str,
    /// The world and the faults that show it.
    pub shown: World,
    /// Why no check finds it, if none does. Then `shown` shows nothing either.
    pub survives: Option<&'static str>,
}

/// All of them, in the order in which tables show them.
pub fn all() -> Vec<BadLock> {
    let rest = [locks::one_node::bad_locks(), locks::quorum::bad_locks(), locks::replicated::bad_locks()];
    [canary()].into_iter().chain(rest.into_iter().flatten()).collect()
}

/// The one that must be found in every run of a test suite: `SET` without `NX`.
pub fn canary() -> BadLock {
    locks::canary::bad_lock()
}
