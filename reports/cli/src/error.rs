//! What can go wrong on the command line. Everything here ends the program with status 2.

use std::io;

use doublehold_scenarios::PrepareError;
use doublehold_scenarios::error::ScenarioError;
use thiserror::Error;

/// Why a command could not be executed.
#[derive(Debug, Error)]
pub(crate) enum CliError {
    /// The scenario or plan cannot be used.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The scenario cannot be run.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// The history cannot be judged.
    #[error(
        "cannot read history `{file}`: {cause}\nhint: name a file that `run --history` wrote; scenarios/history/HISTORY.md describes each line"
    )]
    History {
        /// The file as it was named.
        file: String,
        /// What is wrong, and where.
        cause: String,
    },
    /// Runs do not come back.
    #[error("{0}\nhint: this is a bug of a lock, or of ours: `run --seed N` shows one of them")]
    Stuck(#[from] doublehold_scenarios::pool::Stuck),
    /// A study cannot be swept.
    #[error(transparent)]
    Sweep(#[from] doublehold_sweeps::sweep::SweepError),
    /// The records of a sweep cannot be used.
    #[error(transparent)]
    Records(#[from] doublehold_sweeps::records::RecordsError),
    /// Placements cannot be searched as asked.
    #[error(transparent)]
    Explore(#[from] doublehold_search::explore::ExploreError),
    /// What a search found cannot be made smaller.
    #[error(transparent)]
    Shrink(#[from] doublehold_search::shrink::ShrinkError),
    /// Two locks cannot be compared.
    #[error(transparent)]
    Beside(#[from] doublehold_beside::BesideError),
    /// No claim of the debate is named so.
    #[error(transparent)]
    Claim(#[from] doublehold_debate::UnknownClaim),
    /// A file of claims that comes with the program is wrong.
    #[error("{0}\nhint: this is a bug of ours: the file is part of the program")]
    Claims(#[from] doublehold_debate::BadClaims),
    /// A case of a claim cannot be run.
    #[error("{0}\nhint: this is a bug of ours: the claim and its scenario are part of the program")]
    Case(#[from] doublehold_debate::BadCase),
    /// An argument that no parser could refuse by itself.
    #[error("{problem}\nhint: {hint}")]
    Usage {
        /// What is wrong.
        problem: String,
        /// The way out.
        hint: String,
    },
    /// An output file cannot be created or written.
    #[error("cannot write {what} to `{path}`: {source}\nhint: {hint}")]
    Output {
        /// The trace, the history, the plan.
        what: &'static str,
        /// The file as it was named.
        path: String,
        /// What the system said.
        source: io::Error,
        /// The way out.
        hint: &'static str,
    },
    /// Standard output cannot be written, for another reason than that nobody reads it any more.
    #[error("cannot write to standard output: {0}")]
    Stdout(io::Error),
    /// A process of our own could not be started or did not answer as it should.
    #[error("cannot compare with a second process: {0}")]
    SecondProcess(String),
    /// The system has no threads left for a comparison.
    #[error(
        "cannot compare with another thread: {0}\nhint: allow more processes (`ulimit -u`, a container's limit of pids)"
    )]
    Thread(#[source] io::Error),
    /// The nodes cannot be served.
    #[error(transparent)]
    Serve(#[from] crate::serve::error::ServeError),
    /// The system has no threads or files left for a server.
    #[error("cannot start serving: {0}")]
    Runtime(io::Error),
    /// A result cannot be written as JSON or TOML.
    #[error("cannot write the result: {0}")]
    Format(String),
}

impl From<serde_json::Error> for CliError {
    fn from(error: serde_json::Error) -> CliError {
        CliError::Format(error.to_string())
    }
}
