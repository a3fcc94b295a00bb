//! Two locks in the same worlds, from the same seeds, under the same faults: what only one of them does.
//!
//! A lock under faults breaks rules that every lock breaks: whoever pauses for longer than its lease is overtaken. A
//! team that is told so about its own lock learns nothing of it. Beside a reference (a repaired form, the previous
//! version, a lock of ours) the same run shows what *only its* lock does.
//!
//! # Map, in reading order
//!
//! - [`LockSide`]: one of the two locks
//! - [`Condition`]: a world with the weather over it, drawn from a number
//! - [`Survey`]: the conditions in which the reference keeps a predicate
//! - [`Beside`]: runs pairs, and counts
//! - [`BesideComparison`]: from counts to one word
//! - [`BesideExample`]: the least run that only the first lock breaks, and that goes so in other futures, too
//! - [`Difference`]: both locks in that plan, for whoever asks what separates them
//!
//! Nothing here prints, and nothing draws pictures.

mod beside;
mod comparison;
mod condition;
mod count;
mod difference;
mod example;
mod inside;
mod kept;
mod masked;
mod pair;
mod rounds;
mod sides;
mod survey;
#[cfg(test)]
mod tests;

use doublehold_scenarios::pool::Stuck;
use doublehold_scenarios::{PrepareError, ScenarioError};
use doublehold_search::shrink::ShrinkError;
use thiserror::Error;

pub use beside::{Beside, LeftOut, PairWorlds, Weathers};
pub use comparison::{BesideComparison, BesideOutcome, ComparedRule, RuleFound};
pub use condition::Condition;
pub use count::{CountedPairs, Counts};
pub use difference::Difference;
pub use example::{BesideExample, FUTURES, FUTURES_MIN, NeedsGroup};
pub use inside::Inside;
pub use masked::WantedBreach;
pub use rounds::{PAIRS_ENOUGH, PairBudget};
pub use sides::{LockSide, LockTrial};
pub use survey::{Survey, WeatherKinds};

/// Why two locks cannot be compared.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BesideError {
    /// An engine that lacks the lock.
    #[error("there is no lock `{0}`: `doublehold locks` lists those there are")]
    NoSuchLock(String),
    /// The locks run on different nodes.
    #[error(
        "`{mine}` runs on {my_nodes} and `{theirs}` on {their_nodes}: no world fits both\nhint: name a reference that runs on the same nodes"
    )]
    OtherNodes {
        /// The first lock.
        mine: String,
        /// Its nodes, in words.
        my_nodes: &'static str,
        /// The reference.
        theirs: String,
        /// Its nodes, in words.
        their_nodes: &'static str,
    },
    /// The program extends, and one of the locks cannot.
    #[error(
        "the program has the step `extend`, and `{lock}` cannot extend its lease\nhint: leave the step out, or name a lock that can"
    )]
    CannotExtend {
        /// The lock.
        lock: String,
    },
    /// The reference breaks a rule without any fault.
    #[error(
        "the reference `{lock}` breaks {predicate} even without faults, in `{world}`: nothing can be held against it\nhint: name a reference that keeps {predicate}, or leave {predicate} out of what is asked"
    )]
    BrokenInCalm {
        /// The reference.
        lock: String,
        /// What it breaks.
        predicate: doublehold_history::Predicate,
        /// Where.
        world: String,
    },
    /// No world was left.
    #[error("no world is left in which both locks can run: {0}")]
    NoWorld(String),
    /// A scenario is refused.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A scenario cannot be run.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// An example cannot be made small.
    #[error(transparent)]
    Shrink(#[from] ShrinkError),
    /// The code of a lock does not come back.
    #[error(transparent)]
    Stuck(#[from] Stuck),
}
