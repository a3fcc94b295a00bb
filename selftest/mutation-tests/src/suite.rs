//! The tests of a planted tree, each by itself: how long it takes, and which faults it comes by.
//!
//! A fault can be noticed only by a test that comes by it, and is best looked for by the quickest of those.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use wait_timeout::ChildExt;

use crate::compile::Binary;
use crate::noticed::Hint;
use crate::threads::each;

/// A test that takes longer is not asked: nobody would wait for it, times all faults.
const TOO_LONG: Duration = Duration::from_secs(20);

/// One test function.
#[derive(Clone, Debug)]
pub(crate) struct Test {
    pub(crate) binary: Binary,
    pub(crate) name: String,
    /// How long it takes with all faults off.
    pub(crate) takes: Duration,
    /// The faults whose places it comes by.
    pub(crate) comes_by: BTreeSet<usize>,
}

/// What a test said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TestOutcome {
    Passed,
    Failed,
    /// It was ended after as long as it may take.
    TookTooLong,
}

impl Test {
    /// Name as a person would call it: `doublehold-cli:it report::what_it_says`.
    pub(crate) fn display_name(&self) -> String {
        format!("{} {}", self.binary.name, self.name)
    }

    /// Runs it with a fault on.
    ///
    /// # Errors
    ///
    /// If it cannot be started.
    pub(crate) fn notices(&self, fault: usize) -> Result<bool> {
        let patience = self.takes * 4 + Duration::from_secs(5);
        let said = run_test(&self.binary, &self.name, ("PLANTED_ON", &fault.to_string()), patience)?;
        Ok(said != TestOutcome::Passed)
    }
}

/// All tests of these binaries that are asked, after each was run once with all faults off; those that take too
/// long are left out.
///
/// # Errors
///
/// If a test fails though no fault is on, or cannot be started.
pub(crate) fn suite(
    binaries: &[Binary],
    folder: &Path,
    is_asked: impl Fn(&Binary, &str) -> bool,
) -> Result<Vec<Test>> {
    fs::create_dir_all(folder)?;
    let mut named = Vec::new();
    for binary in binaries {
        let asked = names(binary)?.into_iter().filter(|name| is_asked(binary, name));
        named.extend(asked.map(|name| (binary.clone(), name)));
    }
    let tests = each(&named, |number, (binary, name)| {
        let path = folder.join(number.to_string());
        let _ = fs::remove_file(&path);
        let begun = Instant::now();
        let said = run_test(binary, name, ("PLANTED_COME_BY", &path.display().to_string()), TOO_LONG)?;
        let takes = begun.elapsed();
        ensure!(said != TestOutcome::Failed, "`{name}` of {} fails with all faults off", binary.name);
        let comes_by = fs::read_to_string(&path).unwrap_or_default();
        let comes_by = comes_by.lines().filter_map(|line| line.parse().ok()).collect();
        let test = Test { binary: binary.clone(), name: name.clone(), takes, comes_by };
        Ok((said == TestOutcome::Passed).then_some(test))
    })?;
    Ok(tests.into_iter().flatten().collect())
}

/// Finds the tests that these hints name, without running them first: the faults they come by are not
/// known.
///
/// # Errors
///
/// If a binary does not list its tests.
pub(crate) fn find_tests(binaries: &[Binary], hints: &[&Hint]) -> Result<Vec<Test>> {
    let mut found = Vec::new();
    for binary in binaries {
        for name in names(binary)? {
            let mut test = Test { binary: binary.clone(), name, takes: TOO_LONG, comes_by: BTreeSet::new() };
            let called = test.display_name();
            let hinted = hints.iter().find_map(|hint| match hint {
                Hint::Test { name, seconds } if *name == called => Some(Duration::from_secs(*seconds)),
                _ => None,
            });
            if let Some(takes) = hinted {
                test.takes = takes;
                found.push(test);
            }
        }
    }
    Ok(found)
}

fn names(binary: &Binary) -> Result<Vec<String>> {
    let listed =
        Command::new(&binary.path).current_dir(&binary.folder).args(["--list", "--format", "terse"]).output();
    let listed =
        String::from_utf8(listed.with_context(|| format!("cannot run {}", binary.path.display()))?.stdout)?;
    let ignored = Command::new(&binary.path)
        .current_dir(&binary.folder)
        .args(["--list", "--format", "terse", "--ignored"])
        .output()?;
    let ignored = String::from_utf8(ignored.stdout)?;
    let ignored: BTreeSet<&str> = ignored.lines().collect();
    let tests = listed.lines().filter(|line| !ignored.contains(line));
    Ok(tests.filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
}

fn run_test(
    binary: &Binary,
    test: &str,
    (name, value): (&str, &str),
    patience: Duration,
) -> Result<TestOutcome> {
    let mut command = Command::new(&binary.path);
    command.current_dir(&binary.folder).env(name, value).env("CARGO_MANIFEST_DIR", &binary.folder);
    // A fault may be on the way to a new golden file or to a regression, which would be there for the next.
    command.env_remove("UPDATE_GOLDEN").env_remove("BLESS");
    // With a group of its own, what a test started ends with it.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.args([test, "--exact", "--test-threads", "1"]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    match child.wait_timeout(patience)? {
        Some(status) if status.success() => Ok(TestOutcome::Passed),
        Some(_) => Ok(TestOutcome::Failed),
        None => {
            let group = format!("-{}", child.id());
            Command::new("kill").args(["-9", "--", &group]).status().context("cannot run kill")?;
            child.wait()?;
            Ok(TestOutcome::TookTooLong)
        }
    }
}
