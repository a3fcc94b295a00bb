//! What can be wrong with a scenario, a plan or a name of one.
//!
//! Every message is one sentence that names the file, the place in it and the cause, and a second line with the way
//! out. Errors of the file system are kept as their source.

use std::fmt;
use std::io;

use thiserror::Error;

/// A scenario or plan that cannot be used.
///
/// Prints as `cannot read scenario NAME: PLACE: CAUSE` with `hint: …` on a line of its own.
#[derive(Debug, Error)]
pub enum ScenarioError {
    /// No scenario of the catalogue has this name, and it is no path of a file.
    #[error("unknown scenario `{name}`\nhint: {hint}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// Names that are close, or where to look.
        hint: String,
    },
    /// No weather has this name, and it is no path of a file.
    #[error("unknown weather `{name}`\nhint: {hint}")]
    UnknownWeather {
        /// What was asked for.
        name: String,
        /// Names that are close, or all of them.
        hint: String,
    },
    /// No study has this name, and it is no path of a file.
    #[error("unknown study `{name}`\nhint: {hint}")]
    UnknownStudy {
        /// What was asked for.
        name: String,
        /// Names that are close, or all of them.
        hint: String,
    },
    /// The file cannot be read at all.
    #[error("cannot read {what} `{file}`: {source}\nhint: name a file that exists and that you may read")]
    Unreadable {
        /// Scenario or plan.
        what: FileKind,
        /// The file as it was named.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// The file can be read and is nothing that could be a scenario or plan.
    #[error("cannot read {what} `{file}`: {cause}\nhint: {hint}")]
    NotText {
        /// Scenario or plan.
        what: FileKind,
        /// The file as it was named.
        file: String,
        /// Too large, empty, not UTF-8, no file.
        cause: String,
        /// The way out.
        hint: String,
    },
    /// Something in the file, or in a `--set`, is refused.
    #[error("cannot read {what} `{file}`: {place}: {cause}\nhint: {hint}")]
    Refused {
        /// Scenario or plan.
        what: FileKind,
        /// The file or catalogue name as it was named.
        file: String,
        /// Where.
        place: FilePlace,
        /// What is wrong.
        cause: String,
        /// The way out.
        hint: String,
    },
    /// Something in a scenario that was made in Rust is refused: no file, and no line of one.
    #[error("cannot use `{name}`: {cause}\nhint: {hint}")]
    Made {
        /// The world's or the scenario's name.
        name: String,
        /// What is wrong. Keys are those of scenario files, which are the names of the fields.
        cause: String,
        /// The way out.
        hint: String,
    },
    /// A plan of a format that only later versions know.
    #[error(
        "cannot replay plan `{file}`: it was written by {written_by} as plan format {format}, and this program reads formats up to {reads}\nhint: replay it with that version, or make the run again: `{again}`"
    )]
    LaterPlan {
        /// The file as it was named.
        file: String,
        /// What wrote it.
        written_by: String,
        /// Its format.
        format: u64,
        /// The latest format this program reads.
        reads: u64,
        /// The command that makes its run again, as far as the plan says.
        again: String,
    },
}

impl ScenarioError {
    /// The same of a scenario that was made in Rust. It was checked as a file that nobody wrote, so the line is left
    /// out, and what to add to a file becomes what to call.
    pub(crate) fn made_in_rust(self) -> ScenarioError {
        match self {
            ScenarioError::Refused { file, cause, hint, .. } => {
                let call = CALLS.iter().find(|(in_a_file, _)| hint.starts_with(in_a_file));
                let hint = call.map_or(hint.clone(), |(_, in_rust)| (*in_rust).to_owned());
                ScenarioError::Made { name: file, cause, hint }
            }
            other => other,
        }
    }
}

/// What to call in Rust where a file needs a line more.
const CALLS: [(&str, &str); 4] = [
    (
        "add `master = ",
        "say which, by its place: `.with(|scenario| scenario.nodes.master = Some(HostIndex(0)))`",
    ),
    ("add `for = ", "say how long: `.lasting(Duration::from_secs(12))`"),
    ("name at least one: `names = [\"A\"]`", "add one: `.nodes([\"A\"])`"),
    (
        "add a `[[clients]]` table with a name and a program",
        "add some: `.clients(2, [\"acquire\", \"work 1s\", \"release\"])`",
    ),
];

/// What a file was read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A scenario.
    Scenario,
    /// A plan.
    Plan,
    /// A weather.
    Weather,
    /// A study.
    Study,
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FileKind::Scenario => "scenario",
            FileKind::Plan => "plan",
            FileKind::Weather => "weather",
            FileKind::Study => "study",
        })
    }
}

/// Where something refused was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilePlace {
    /// A line of the file, counted from 1.
    Line(usize),
    /// A change asked for beside the file: `lock.ttl=5s`.
    Set(String),
}

impl fmt::Display for FilePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FilePlace::Line(line) => write!(f, "line {line}"),
            FilePlace::Set(set) => write!(f, "`--set {set}`"),
        }
    }
}
