//! Hints for a user who gave a name to the wrong command: scenarios are run, plans replayed, histories judged, studies
//! swept; locks are checked, in a weather.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use doublehold_scenarios::catalog;
use doublehold_scenarios::plan::Plan;
use doublehold_scenarios::weather;
use doublehold_sweeps::study::Study;
use doublehold_text::{every, shell, shorten};

use crate::error::CliError;

/// What can be under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InputKind {
    Scenario,
    Plan,
    History,
    Study,
    Lock,
    Weather,
}

impl InputKind {
    const ALL: [InputKind; 6] = every!(InputKind: Scenario, Plan, History, Study, Lock, Weather);

    fn is_under(self, name: &str) -> bool {
        match self {
            // All of it is read: the names of its variants are found in any file of TOML.
            InputKind::Scenario => catalog::load(name, &[]).is_ok(),
            InputKind::Plan => Plan::read(name).is_ok(),
            InputKind::History => begins_as_history(name),
            InputKind::Study => Study::load(name).is_ok(),
            InputKind::Lock => doublehold_lockimpl::descriptors().iter().any(|lock| lock.name == name),
            InputKind::Weather => weather::load(name).is_ok(),
        }
    }

    fn noun(self) -> &'static str {
        match self {
            InputKind::Scenario => "scenario",
            InputKind::Plan => "plan",
            InputKind::History => "history",
            InputKind::Study => "study",
            InputKind::Lock => "lock",
            InputKind::Weather => "weather",
        }
    }

    /// The command for it.
    fn way_out(self, name: &str) -> String {
        let command = |words: &[&str]| shell::line(["doublehold"].iter().chain(words).copied());
        match self {
            InputKind::Scenario => format!("run it: `{}`", command(&["run", name])),
            InputKind::Plan => format!("replay it: `{}`", command(&["replay", name])),
            InputKind::History => format!("judge it: `{}`", command(&["judge", name])),
            InputKind::Study => format!("sweep it: `{}`", command(&["sweep", name])),
            InputKind::Lock => format!(
                "try it under random faults: `{}`; a scenario of it to copy: `{}`",
                command(&["check", name]),
                command(&["locks", name])
            ),
            InputKind::Weather => {
                format!(
                    "let it strike a lock or a scenario: `{}`",
                    command(&["check", "redlock", "--weather", name])
                )
            }
        }
    }
}

/// Why a name cannot be used as one kind of thing, if it is another. One that is both is what was wanted, and what is
/// wrong is something else: many a library's lock has a scenario of its name.
pub(crate) fn other_kind(name: &str, wanted: InputKind) -> Option<CliError> {
    if wanted.is_under(name) {
        return None;
    }
    let kind = InputKind::ALL.into_iter().find(|kind| *kind != wanted && kind.is_under(name))?;
    Some(CliError::Usage {
        problem: format!("`{}` is a {}, not a {}", shorten(name), kind.noun(), wanted.noun()),
        hint: kind.way_out(name),
    })
}

/// Why a word is no command, if it names something that a command takes.
pub(crate) fn no_command(word: &str) -> Option<CliError> {
    let kind = InputKind::ALL.into_iter().find(|kind| kind.is_under(word))?;
    Some(CliError::Usage {
        problem: format!("`{}` is a {}, not a command", shorten(word), kind.noun()),
        hint: kind.way_out(word),
    })
}

/// Whether a file's first line is a history's header. No more is read, and nothing but a file is opened: a pipe would
/// wait.
fn begins_as_history(path: &str) -> bool {
    if !Path::new(path).is_file() {
        return false;
    }
    let Ok(file) = File::open(path) else { return false };
    let mut line = Vec::new();
    let mut start = BufReader::new(std::io::Read::take(file, 1 << 20));
    let read = start.read_until(b'\n', &mut line).is_ok();
    let header: Result<serde_json::Value, _> = serde_json::from_slice(&line);
    read && header.is_ok_and(|header| header.get("version").is_some() && header.get("clients").is_some())
}
