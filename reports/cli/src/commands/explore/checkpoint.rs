//! The files of a search: what it keeps to go on from, and the scenarios of what it found. Both places are tried before
//! the first run.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;

use doublehold::findings::name_of;
use doublehold_scenarios::{Scenario, Seed};
use doublehold_search::explore::{Exploration, Explored};
use doublehold_search::shrink::Target;
use doublehold_sweeps::records::opening::ELSEWHERE;
use doublehold_text::clean;

use crate::engine::EngineChoice;
use crate::error::CliError;
use crate::folder::Folder;
use crate::output::OutputFile;
use crate::scenario_file;

/// More than any search keeps that ends in a day.
const KEPT_MAX_BYTES: u64 = 4 << 30;
/// How many files of earlier searches one may meet before it is told to name its own.
const NAMES: u32 = 1_000;

/// Where a search keeps what it found so far.
pub(super) struct Checkpoint {
    /// Named by the user.
    file: Option<String>,
    /// What is in it.
    text: Option<String>,
}

impl Checkpoint {
    /// Reads the file if it is there; otherwise sees whether it can be.
    pub(super) fn open(file: Option<&str>) -> Result<Checkpoint, CliError> {
        let Some(path) = file else { return Ok(Checkpoint { file: None, text: None }) };
        let text = if Path::new(path).exists() {
            Some(read_file(path)?)
        } else {
            let folder = Path::new(path).parent().filter(|it| !it.as_os_str().is_empty());
            try_to_write(folder.unwrap_or(Path::new(".")))
                .map_err(|source| output_error("the search", Path::new(path), source))?;
            None
        };
        Ok(Checkpoint { file: Some(path.to_owned()), text })
    }

    /// Whether the user named a file.
    pub(super) fn is_named(&self) -> bool {
        self.file.is_some()
    }

    /// What was found before, or nothing.
    pub(super) fn resume_or_begin(&self, exploration: &Exploration) -> Result<Explored, CliError> {
        let Some(text) = &self.text else { return Ok(exploration.begin()) };
        exploration.resume(text).map_err(|error| unusable(self.file.as_deref().unwrap_or_default(), &error))
    }

    /// Writes what was found, if somebody named a file or there is more to find; returns where.
    pub(super) fn keep(
        &self,
        exploration: &Exploration,
        found: &Explored,
    ) -> Result<Option<String>, CliError> {
        let path = match &self.file {
            Some(path) => path.clone(),
            None if found.complete => return Ok(None),
            None => fresh(&exploration.scenario().name)?,
        };
        let text = exploration.to_checkpoint(found)?;
        OutputFile::create("the search", &path)?.write(|output| output.write_all(text.as_bytes()))?.keep()?;
        Ok(Some(path))
    }
}

fn read_file(path: &str) -> Result<String, CliError> {
    let unreadable = |error: &dyn std::fmt::Display| unusable(path, error);
    let file = fs::metadata(path).map_err(|error| unreadable(&error))?;
    if !file.is_file() || file.len() > KEPT_MAX_BYTES {
        return Err(unreadable(&"it is no file that a search has written"));
    }
    let text = fs::read_to_string(path).map_err(|error| unreadable(&error))?;
    if text.trim().is_empty() { Err(unreadable(&"it is empty")) } else { Ok(text) }
}

fn unusable(path: &str, why: &dyn std::fmt::Display) -> CliError {
    CliError::Usage {
        problem: format!("cannot go on with `{}`: {}", clean(path), clean(&why.to_string())),
        hint: "name a file that this search wrote when it was stopped, or one that is not there yet"
            .to_owned(),
    }
}

/// A file of its own in the current directory, for a search that is stopped before anybody named one.
fn fresh(name: &str) -> Result<String, CliError> {
    let letter = |letter: char| if letter.is_alphanumeric() { letter } else { '-' };
    let stem: String = name.chars().map(letter).collect();
    let path = |number| match number {
        1 => format!("{stem}.explore.json"),
        _ => format!("{stem}-{number}.explore.json"),
    };
    let is_free = |path: &String| OpenOptions::new().write(true).create_new(true).open(path);
    for path in (1..NAMES).map(path) {
        match is_free(&path) {
            Ok(_) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(output_error("the search", Path::new(&path), source)),
        }
    }
    let source = io::Error::other("there are too many of earlier searches");
    Err(output_error("the search", Path::new(&path(1)), source))
}

/// Where the scenarios of minimal placements go.
pub(super) struct Scenarios(Folder);

impl Scenarios {
    pub(super) fn open(path: &str) -> Result<Scenarios, CliError> {
        Folder::open("scenarios", path).map(Scenarios)
    }

    /// Writes a scenario; returns its path.
    pub(super) fn write(
        &self,
        scenario: &Scenario,
        seed: Seed,
        engine: EngineChoice,
    ) -> Result<String, CliError> {
        let name = format!("{}.toml", scenario.name);
        let path = self.0.file(&name);
        let text = scenario_file::text(&clean(&scenario_file::run_it(&path, seed, engine, None)), scenario);
        self.0.create("a scenario", &name)?.write(|output| output.write_all(text.as_bytes()))?.keep()?;
        Ok(path)
    }

    /// Says which files in the folder are of earlier searches.
    pub(super) fn tell_of_others(&self, written: &[&str]) {
        let is_target = |name: &str| {
            Target::ALL.into_iter().any(|target| name.starts_with(&format!("{}-", name_of(target))))
        };
        self.0.tell_of_others(written, |name| name.ends_with(".toml") && is_target(name));
    }
}

fn try_to_write(folder: &Path) -> io::Result<()> {
    tempfile::Builder::new().prefix(".doublehold-").tempfile_in(folder).map(drop)
}

fn output_error(what: &'static str, path: &Path, source: io::Error) -> CliError {
    CliError::Output { what, path: clean(&path.to_string_lossy()), source, hint: ELSEWHERE }
}
