//! How a command ended, and the status that says so.

use std::process::ExitCode;

/// How a command ended, the worst last. A panic is status 101, which Rust does by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Everything came out as expected.
    AsExpected,
    /// Not decided.
    Inconclusive,
    /// A verdict contradicts the expectation, or a run that should be the same is not.
    Contradicted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::AsExpected => 0,
            Exit::Contradicted => 1,
            Exit::Inconclusive => 3,
        })
    }
}
