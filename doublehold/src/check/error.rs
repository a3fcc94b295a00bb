//! The reasons why a check could not be made.
//!
//! Assumes that a mistake of the lock is none of them: that is a result.

use std::io;
use std::path::PathBuf;

use doublehold_beside::BesideError;
use doublehold_scenarios::pool::Stuck;
use doublehold_scenarios::{PrepareError, ScenarioError};
use doublehold_search::shrink::ShrinkError;

use crate::nondeterminism::Nondeterminism;
use crate::regressions::Unreadable;

/// Why a check could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The world says something that makes no sense.
    #[error(transparent)]
    World(#[from] ScenarioError),
    /// The scenario cannot be run.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// A plan of another engine, whose events no other has.
    #[error("the plan is of a run on the engine `{of}`, and this is `{is}`: name that engine in `replay_on`")]
    OtherEngine {
        /// The plan's.
        of: String,
        /// The one that was to replay it.
        is: &'static str,
    },
    /// Runs do not come back.
    #[error(transparent)]
    Stuck(#[from] Stuck),
    /// A file cannot be written.
    #[error("cannot write `{}`: {source}; `Check::files` names another folder", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A plan among the regressions cannot be read.
    #[error("{0}\nhint: delete it if the lock has changed so that it cannot mean anything any more")]
    Regression(#[source] ScenarioError),
    /// The folder of regressions cannot be read.
    #[error(
        "cannot read the regressions in `{}`: {source}; `Check::regressions` names another folder",
        folder.display()
    )]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A plan cannot be written as text.
    #[error("cannot write the plan: {0}")]
    Plan(String),
    /// Something from outside the simulation reaches into runs.
    #[error(transparent)]
    Nondeterminism(#[from] Nondeterminism),
    /// A family of worlds without a reference: in most of its members every lock breaks something.
    #[error(
        "a family of worlds is for a lock beside a reference: say `.beside(reference)`, or `.beside_ours()` for the lock of ours on the same nodes, before `.run()`"
    )]
    FamilyAlone,
    /// A comparison was asked for white-box rules or marks.
    #[error(
        "a comparison asks all white-box rules by itself and counts no marks: leave out `.looking_for_rules` and \
         `.reaches`, or ask them in a check without a reference"
    )]
    AskedBeside,
    /// Two locks cannot be compared.
    #[error(transparent)]
    Beside(#[from] BesideError),
    /// A bad run cannot be shrunk.
    #[error(transparent)]
    Shrink(ShrinkError),
    /// A variable says nonsense.
    #[error("the variable {name} is `{value}`: set it to {takes}, or unset it")]
    Variable {
        /// Its name.
        name: &'static str,
        /// What it is.
        value: String,
        /// What it may be.
        takes: &'static str,
    },
    /// Two variables say what is to be run.
    #[error("the variables {one} and {other} are both set: unset one of them")]
    TwoVariables {
        /// The first.
        one: &'static str,
        /// The second.
        other: &'static str,
    },
}

impl From<Unreadable> for CheckError {
    fn from(unreadable: Unreadable) -> CheckError {
        match unreadable {
            Unreadable::Folder { folder, source } => CheckError::Folder { folder, source },
            Unreadable::Plan(error) => CheckError::Regression(error),
        }
    }
}
