//! The program as tests start it, what it answered, and folders for its files.
//!
//! The environment is the same wherever tests run: UTF-8, no terminal, no width of one, and nothing that makes a sweep
//! a part of a larger job. A test that needs something else sets it on the command.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use snapbox::{IntoData, assert_data_eq};
use tempfile::TempDir;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_doublehold");

/// Variables of whoever runs the tests that change what the program says or does.
const UNSET: [&str; 14] = [
    "NO_COLOR",
    "COLUMNS",
    "LC_ALL",
    "LC_CTYPE",
    "TERM",
    "SLURM_ARRAY_TASK_ID",
    "SLURM_ARRAY_TASK_COUNT",
    "JOB_COMPLETION_INDEX",
    "JOB_COMPLETIONS",
    "AWS_BATCH_JOB_ARRAY_INDEX",
    "SGE_TASK_ID",
    "PBS_ARRAY_INDEX",
    "PBS_ARRAYID",
    "LSB_JOBINDEX",
];

/// Any program in that environment; it has nothing to read.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for variable in UNSET {
        command.env_remove(variable);
    }
    command.env("LANG", "C.UTF-8").stdin(Stdio::null());
    command
}

pub(crate) fn doublehold(arguments: &[&str]) -> Command {
    let mut command = command(PROGRAM);
    command.args(arguments);
    command
}

/// A line for a shell, in which `$0` is the program, and `$1` the first of the arguments.
pub(crate) fn shell(line: &str, arguments: &[&str]) -> Command {
    let mut command = command("sh");
    command.args(["-c", line, PROGRAM]).args(arguments);
    command
}

/// The output of a program, and its end.
#[derive(Debug)]
pub(crate) struct Answer {
    /// None if a signal ended it.
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Answer {
    fn from(output: Output) -> Answer {
        let text = |bytes| String::from_utf8(bytes).expect("it says only UTF-8");
        Answer { status: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

/// The ways in which tests run a command.
pub(crate) trait Ask {
    /// Runs it to its end, whatever that is.
    fn answer(&mut self) -> Answer;

    /// Runs it and expects this status.
    fn ends(&mut self, status: i32) -> Answer;

    /// Runs it and expects this status and silence on standard error; returns standard output.
    fn prints(&mut self, status: i32) -> String;

    /// Runs it and expects refusal: status 2, and nothing on standard output; returns standard error.
    fn refused(&mut self) -> String;
}

impl Ask for Command {
    #[track_caller]
    fn answer(&mut self) -> Answer {
        self.output().expect("the program starts").into()
    }

    #[track_caller]
    fn ends(&mut self, status: i32) -> Answer {
        let answer = self.answer();
        let arguments: Vec<&OsStr> = self.get_args().collect();
        assert_eq!(answer.status, Some(status), "{arguments:?}: {}{}", answer.stdout, answer.stderr);
        answer
    }

    #[track_caller]
    fn prints(&mut self, status: i32) -> String {
        let answer = self.ends(status);
        assert_eq!(answer.stderr, "", "{:?}", self.get_args().collect::<Vec<_>>());
        answer.stdout
    }

    #[track_caller]
    fn refused(&mut self) -> String {
        let answer = self.ends(2);
        assert_eq!(answer.stdout, "", "{:?}", self.get_args().collect::<Vec<_>>());
        answer.stderr
    }
}

#[track_caller]
pub(crate) fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// A text in one line, however it was wrapped.
pub(crate) fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The end of what a run prints: its verdicts, and how it came out.
#[track_caller]
pub(crate) fn verdicts(run: &str) -> &str {
    &run[run.find("  rule  ").unwrap_or_else(|| panic!("no table of rules: {run}"))..]
}

/// The last paragraph of what a run prints: how it came out, and the command that repeats it.
pub(crate) fn conclusion(run: &str) -> &str {
    run.rsplit("\n\n").next().unwrap_or(run)
}

/// Asserts that a text is the one that stands in the test, to the letter: nothing in that is a pattern.
#[track_caller]
pub(crate) fn assert_text(text: impl IntoData, expected: impl IntoData) {
    assert_data_eq!(text, expected.into_data().raw());
}

/// A folder of one test, gone when it ends.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a temporary directory"))
    }

    pub(crate) fn at(&self) -> &Path {
        self.0.path()
    }

    /// The absolute path of a name in it.
    pub(crate) fn path(&self, name: &str) -> String {
        self.at().join(name).to_str().expect("a path in UTF-8").to_owned()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.at().join(name).exists()
    }

    /// Writes a file; returns its path.
    #[track_caller]
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap_or_else(|error| panic!("{path}: {error}"));
        path
    }

    #[track_caller]
    pub(crate) fn read(&self, name: &str) -> String {
        let path = self.path(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// The names of all that is in it, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        self.names_in(".")
    }

    /// The names of all that is in a folder of it, in order.
    pub(crate) fn names_in(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.at().join(folder)).expect("the folder is there");
        let name = |entry: std::io::Result<std::fs::DirEntry>| entry.expect("an entry").file_name();
        let mut names: Vec<String> =
            entries.map(|entry| name(entry).to_str().expect("a name in UTF-8").to_owned()).collect();
        names.sort();
        names
    }

    /// The program, started in it.
    pub(crate) fn doublehold(&self, arguments: &[&str]) -> Command {
        let mut command = doublehold(arguments);
        command.current_dir(self.at());
        command
    }

    /// A text without what is another each time: the path of the folder, the program's version, and how long something
    /// is expected to take.
    pub(crate) fn hidden(&self, text: &str) -> String {
        let text = text
            .replace(self.at().to_str().expect("a path in UTF-8"), "[FOLDER]")
            .replace(concat!("doublehold ", env!("CARGO_PKG_VERSION")), "doublehold [VERSION]");
        let untimed = |line: &str| match line.split_once(": about ") {
            Some((what, time)) if time.contains(" a second") => format!("{what}: about [TIME]\n"),
            _ => line.to_owned(),
        };
        text.split_inclusive('\n').map(untimed).collect()
    }

    /// Commands that are refused, each with what is said to it.
    #[track_caller]
    pub(crate) fn refusals<'a>(&self, commands: &[impl AsRef<[&'a str]>]) -> String {
        let mut said = Vec::new();
        for arguments in commands.iter().map(AsRef::as_ref) {
            let line = shlex::try_join(arguments.iter().copied()).expect("no zero in it");
            said.push(format!("$ doublehold {line}\n{}", self.doublehold(arguments).refused()));
        }
        self.hidden(&said.join("\n"))
    }
}
