//! Where a search puts what it finds. All of it is tried before the first run: a search of an hour must not end with a
//! folder that cannot be written. What can be written is written also where something else cannot be.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use doublehold::beside::{BesideFindings, ShownExample};
use doublehold::findings::name_of;
use doublehold::findings::{Findings, ReplayHints};
use doublehold_beside::FUTURES;
use doublehold_diagnosis::counterexample::Counterexample;
use doublehold_scenarios::catalog;
use doublehold_scenarios::plan::Plan;
use doublehold_scenarios::report::Report;
use doublehold_search::shrink::Target;
use doublehold_sweeps::records::opening::ELSEWHERE;
use doublehold_sweeps::sweep::Shard;
use doublehold_text::clean;
use doublehold_text::shell;
use quick_junit::SerializeError;
use same_file::is_same_file;

use super::part::{ends_in_file_word, file_word};
use super::{Arguments, beside, junit};
use crate::engine::EngineChoice;
use crate::error::CliError;
use crate::folder::Folder;
use crate::output::OutputFile;
use crate::scenario_file;

pub(super) struct Destination {
    folder: Folder,
    subject: String,
    junit: Option<OutputFile>,
    markdown: Option<PathBuf>,
}

impl Destination {
    pub(super) fn open(arguments: &Arguments) -> Result<Destination, CliError> {
        let stem = Path::new(&arguments.subject)
            .file_stem()
            .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let place = Destination {
            folder: Folder::open("counterexamples", &arguments.out)?,
            subject: subject(stem, arguments.part.shard),
            junit: arguments
                .junit
                .as_ref()
                .map(|path| OutputFile::create("the JUnit result", path))
                .transpose()?,
            markdown: arguments.markdown.as_ref().map(PathBuf::from),
        };
        if let Some(path) = &place.markdown {
            writable(path).map_err(|source| output_error("the Markdown summary", path, source))?;
        }
        place.refuse_one_for_two(arguments)?;
        Ok(place)
    }

    /// Refuses to write both results to one file, or one over what is searched.
    fn refuse_one_for_two(&self, arguments: &Arguments) -> Result<(), CliError> {
        let refused =
            |problem: String| Err(CliError::Usage { problem, hint: "name another file".to_owned() });
        if let (Some(junit), Some(markdown)) = (&self.junit, &arguments.markdown)
            && junit.is_file_at(markdown)
        {
            return refused(format!("`--junit` and `--markdown` are both `{}`", clean(markdown)));
        }
        let read = [catalog::file_of(&arguments.subject), arguments.weather.clone()];
        for input in read.into_iter().flatten() {
            let is_input = |file: &PathBuf| is_same_file(file, &input).unwrap_or(false);
            if self.junit.as_ref().is_some_and(|junit| junit.is_file_at(&input))
                || self.markdown.as_ref().is_some_and(is_input)
            {
                return refused(format!(
                    "a result cannot be written over `{}`, which is read",
                    clean(&input)
                ));
            }
        }
        Ok(())
    }

    /// The folder that all goes to.
    pub(super) fn folder(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    /// Writes a counterexample: as a scenario, as a plan, as a history, and as a picture. Says what was written also
    /// where something cannot be.
    pub(super) fn write(
        &self,
        example: &Counterexample,
        picture: impl FnOnce(&str) -> String,
    ) -> (ReplayHints, Result<(), CliError>) {
        let stem = format!("{}-{}", self.subject, name_of(example.target));
        let name = |ending: &str| format!("{stem}.{ending}");
        let (scenario, plan) = (self.folder.file(&name("toml")), self.folder.file(&name("plan")));
        let replay = shell::line(["doublehold", "replay", &plan]);
        let mut files = Vec::new();
        let mut write = |what, ending: &str, text: Result<Vec<u8>, CliError>| {
            let (text, name) = (text?, name(ending));
            self.folder.create(what, &name)?.write(|output| output.write_all(&text))?.keep()?;
            files.push(self.folder.file(&name));
            Ok(())
        };
        let all = [
            write("the scenario", "toml", Ok(as_scenario(example, &scenario))),
            write("the plan", "plan", as_plan(example)),
            write("the history", "history.jsonl", as_history(example)),
            write("the picture", "txt", Ok(picture(&replay).into_bytes())),
        ];
        let is_there = |path: &String| files.contains(path);
        let run = scenario_file::command(&scenario, example.shrunk.seed, engine_of(example));
        let shown = ReplayHints {
            run: if is_there(&scenario) { run } else { String::new() },
            replay: if is_there(&plan) { replay } else { String::new() },
            files,
        };
        (shown, all.into_iter().collect())
    }

    /// Writes an example of what only one of two locks does: its scenario, the plans of both, and the picture.
    pub(super) fn write_beside(
        &self,
        shown: &ShownExample,
        picture: impl FnOnce(&str) -> String,
    ) -> (ReplayHints, Result<(), CliError>) {
        let example = &shown.example;
        let stem = format!("{}-only-{}", self.subject, example.wanted.predicate);
        let name = |ending: &str| format!("{stem}.{ending}");
        let (scenario, plan) = (self.folder.file(&name("toml")), self.folder.file(&name("plan")));
        let about = format!(
            "{} is violated by this lock, and kept by the reference beside it, in {} of {FUTURES} other futures",
            example.wanted.predicate, example.separates
        );
        let replay = shell::line(["doublehold", "replay", &plan]);
        let mut files = Vec::new();
        let mut write = |what, ending: &str, text: Result<Vec<u8>, CliError>| {
            let (text, name) = (text?, name(ending));
            self.folder.create(what, &name)?.write(|output| output.write_all(&text))?.keep()?;
            files.push(self.folder.file(&name));
            Ok(())
        };
        let all = [
            write(
                "the scenario",
                "toml",
                Ok(scenario_file::text(&about, &example.shrunk.scenario).into_bytes()),
            ),
            write("the plan", "plan", plan_of(&shown.mine.report)),
            write("the reference's plan", "reference.plan", plan_of(&shown.theirs)),
            write("the picture", "txt", Ok(picture(&replay).into_bytes())),
        ];
        let is_there = |path: &String| files.contains(path);
        let run = scenario_file::command(&scenario, example.shrunk.seed, EngineChoice::default());
        let shown = ReplayHints {
            run: if is_there(&scenario) { run } else { String::new() },
            replay: if is_there(&plan) { replay } else { String::new() },
            files,
        };
        (shown, all.into_iter().collect())
    }

    /// Writes what CI is to read of a comparison, each also where the other cannot be.
    pub(super) fn keep_beside(self, findings: &BesideFindings) -> Result<(), CliError> {
        self.keep_results(|| beside::junit::xml(findings), || findings.markdown())
    }

    /// Writes what CI is to read, each also where the other cannot be, and leaves no empty folder behind.
    pub(super) fn keep(self, findings: &Findings) -> Result<(), CliError> {
        let written = findings.found.iter().flat_map(|(_, shown)| &shown.files);
        self.folder.tell_of_others(&written.map(String::as_str).collect::<Vec<_>>(), is_ours);
        self.keep_results(|| junit::xml(findings), || findings.markdown())
    }

    fn keep_results(
        self,
        xml: impl FnOnce() -> Result<String, SerializeError>,
        markdown: impl FnOnce() -> String,
    ) -> Result<(), CliError> {
        let junit = self.junit.map_or(Ok(()), |file| {
            let xml = xml().map_err(|error| CliError::Format(error.to_string()))?;
            file.write(|output| output.write_all(xml.as_bytes()))?.keep()
        });
        let markdown = self.markdown.map_or(Ok(()), |path| {
            // Appended, as CI systems want of a job's summary page.
            let file = OpenOptions::new().create(true).append(true).open(&path);
            let written = file.and_then(|mut file| file.write_all(markdown().as_bytes()));
            written.map_err(|source| output_error("the Markdown summary", &path, source))
        });
        junit.and(markdown)
    }
}

/// How names of counterexamples begin: parts of one search may share a folder.
fn subject(stem: String, shard: Option<Shard>) -> String {
    let subject = if stem.is_empty() { "check".to_owned() } else { stem };
    shard.map_or(subject.clone(), |shard| format!("{subject}.{}", file_word(shard)))
}

/// Whether a file has a name that [`Place::write`] gives: `redlock-P2.plan`.
fn is_ours(name: &str) -> bool {
    let stem = ENDINGS.iter().find_map(|ending| name.strip_suffix(ending)?.strip_suffix('.'));
    // Those of parts say something about their sum.
    stem.and_then(|stem| stem.rsplit_once('-')).is_some_and(|(subject, target)| {
        Target::ALL.into_iter().any(|known| name_of(known) == target) && !ends_in_file_word(subject)
    })
}

const ENDINGS: [&str; 5] = ["toml", "reference.plan", "plan", "history.jsonl", "txt"];

fn as_scenario(example: &Counterexample, path: &str) -> Vec<u8> {
    scenario_file::text(&example_comment(example, path), &example.shrunk.scenario).into_bytes()
}

fn as_plan(example: &Counterexample) -> Result<Vec<u8>, CliError> {
    plan_of(&example.run.report)
}

fn plan_of(report: &Report) -> Result<Vec<u8>, CliError> {
    let plan = Plan::from_report(report).to_toml().map_err(|error| CliError::Format(error.to_string()))?;
    Ok(plan.into_bytes())
}

fn as_history(example: &Counterexample) -> Result<Vec<u8>, CliError> {
    let mut history = Vec::new();
    let written = example.run.report.history.write_jsonl(&mut history);
    written.map_err(|error| CliError::Format(error.to_string()))?;
    Ok(history)
}

/// The engine that found it, and will find it again.
fn engine_of(example: &Counterexample) -> EngineChoice {
    EngineChoice::from_name(example.run.report.engine).unwrap_or_default()
}

/// What the file of a scenario says of it.
fn example_comment(example: &Counterexample, path: &str) -> String {
    let Counterexample { target, first, shrunk, .. } = example;
    let (same, of) = shrunk.others;
    let run_it = clean(&scenario_file::run_it(path, shrunk.seed, engine_of(example), Some(shrunk.others)));
    format!(
        "{target}, found by `doublehold check` from seed {first}, and shrunk\n\
         {same} of {of} other seeds do the same\n{run_it}"
    )
}

/// Whether a file can be written, without changing what is in it or leaving one behind.
fn writable(path: &Path) -> io::Result<()> {
    let fresh = !path.exists();
    OpenOptions::new().create(true).append(true).open(path)?;
    if fresh { fs::remove_file(path) } else { Ok(()) }
}

fn output_error(what: &'static str, path: &Path, source: io::Error) -> CliError {
    CliError::Output { what, path: clean(&path.to_string_lossy()), source, hint: ELSEWHERE }
}
