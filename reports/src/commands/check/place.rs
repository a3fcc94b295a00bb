//! Where a search puts what it finds. All of it is tried before the first run: a search of an hour must not end with a
//! folder that cannot be written.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use doublehold_history::words::clean;
use doublehold_scenarios::plan::Plan;

use super::{Arguments, junit};
use crate::error::CliError;
use crate::findings::name_of;
use crate::findings::{Findings, Shown};
use crate::found::Counterexample;
use crate::opening::ELSEWHERE;
use crate::{scenario_file, shell};

pub(super) struct Place {
    folder: PathBuf,
    /// The folder was made by this search, and goes again if nothing is put in it.
    fresh: bool,
    subject: String,
    junit: Option<PathBuf>,
    markdown: Option<PathBuf>,
}

impl Place {
    pub(super) fn open(arguments: &Arguments) -> Result<Place, CliError> {
        let folder = PathBuf::from(&arguments.out);
        let fresh = !folder.exists();
        let tried = fs::create_dir_all(&folder).and_then(|()| try_to_write(&folder));
        if let Err(source) = tried {
            return Err(failed("counterexamples", &folder, source));
        }
        let file = |what, path: &Option<String>| {
            let path = path.as_ref().map(PathBuf::from);
            path.map(|path| {
                writable(&path).map(|()| path.clone()).map_err(|source| failed(what, &path, source))
            })
            .transpose()
        };
        let stem = Path::new(&arguments.subject)
            .file_stem()
            .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        Ok(Place {
            subject: if stem.is_empty() { "check".to_owned() } else { stem },
            fresh,
            junit: file("the JUnit result", &arguments.junit)?,
            markdown: file("the Markdown summary", &arguments.markdown)?,
            folder,
        })
    }

    /// Writes a counterexample: as a scenario, as a plan, as a history, and as a picture.
    pub(super) fn write(
        &self,
        example: &Counterexample,
        picture: impl FnOnce(&str) -> String,
    ) -> Result<Shown, CliError> {
        let stem = format!("{}-{}", self.subject, name_of(example.target));
        let at = |ending: &str| self.folder.join(format!("{stem}.{ending}"));
        let plan =
            Plan::of(&example.report).to_toml().map_err(|error| CliError::Format(error.to_string()))?;
        let mut history = Vec::new();
        example
            .report
            .history
            .write_jsonl(&mut history)
            .map_err(|source| failed("the history", &at("history.jsonl"), source))?;
        let shown_by = at("plan").to_string_lossy().into_owned();
        let replay = shell::line(["doublehold", "replay", &shown_by]);
        let scenario_at = at("toml").to_string_lossy().into_owned();
        let scenario = scenario_file::text(&about(example, &scenario_at), &example.shrunk.scenario);
        let results: [(&str, &'static str, Vec<u8>); 4] = [
            ("toml", "the scenario", scenario.into_bytes()),
            ("plan", "the plan", plan.into_bytes()),
            ("history.jsonl", "the history", history),
            ("txt", "the picture", picture(&replay).into_bytes()),
        ];
        let run = scenario_file::command(&scenario_at, example.shrunk.seed);
        let mut shown = Shown { files: Vec::new(), run, replay };
        for (ending, what, bytes) in results {
            let path = at(ending);
            fs::write(&path, bytes).map_err(|source| failed(what, &path, source))?;
            shown.files.push(path.to_string_lossy().into_owned());
        }
        Ok(shown)
    }

    /// Writes what CI is to read, and leaves no empty folder behind.
    pub(super) fn keep(self, findings: &Findings) -> Result<(), CliError> {
        if let Some(path) = &self.junit {
            let xml = junit::xml(findings).map_err(|error| CliError::Format(error.to_string()))?;
            fs::write(path, xml).map_err(|source| failed("the JUnit result", path, source))?;
        }
        if let Some(path) = &self.markdown {
            // Appended, as CI systems want of a job's summary page.
            let mut options = OpenOptions::new();
            let file = options.create(true).append(true).open(path);
            let written = file.and_then(|mut file| file.write_all(findings.markdown().as_bytes()));
            written.map_err(|source| failed("the Markdown summary", path, source))?;
        }
        Ok(())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.fresh {
            // Fails where there is something in it, and that is meant.
            let _ignored = fs::remove_dir(&self.folder);
        }
    }
}

/// What the file of a scenario says of it.
fn about(example: &Counterexample, path: &str) -> String {
    let Counterexample { target, first, shrunk, .. } = example;
    let (same, of) = shrunk.others;
    let run_it = clean(&scenario_file::run_it(path, shrunk.seed, Some(shrunk.others)));
    format!(
        "{target}, found by `doublehold check` from seed {first}, and shrunk\n\
         {same} of {of} other seeds do the same\n{run_it}"
    )
}

fn try_to_write(folder: &Path) -> io::Result<()> {
    tempfile::Builder::new().prefix(".doublehold-").tempfile_in(folder).map(drop)
}

/// Whether a file can be written, without changing what is in it or leaving one behind.
fn writable(path: &Path) -> io::Result<()> {
    let fresh = !path.exists();
    OpenOptions::new().create(true).append(true).open(path)?;
    if fresh { fs::remove_file(path) } else { Ok(()) }
}

fn failed(what: &'static str, path: &Path, source: io::Error) -> CliError {
    CliError::Output { what, path: clean(&path.to_string_lossy()), source, hint: ELSEWHERE }
}
