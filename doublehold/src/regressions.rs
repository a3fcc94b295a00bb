//! The plans of runs that once broke a property, or a check that was to hold: a folder for each, in which every `.plan`
//! counts and is replayed before anything else.
//!
//! Assumes that the folder is under version control. Does not model a plan that means nothing any more: it is deleted.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use doublehold_lockimpl::Descriptor;
use doublehold_scenarios::plan::Plan;
use doublehold_scenarios::{Report, ScenarioError};
use doublehold_search::shrink::Target;

use crate::check::names::join_names;
use crate::findings::name_of;

/// Where plans go, in the folder in which tests run: that of the package.
const FOLDER: &str = "doublehold-regressions";

/// The folder of what has these names.
pub(crate) fn folder<'a>(names: impl IntoIterator<Item = &'a str>) -> PathBuf {
    Path::new(FOLDER).join(join_names(names))
}

/// Why the plans of a folder cannot be replayed.
#[derive(Debug)]
pub(crate) enum Unreadable {
    Folder { folder: PathBuf, source: io::Error },
    Plan(ScenarioError),
}

/// All plans of the folder, by their names. No folder is none.
pub(crate) fn read_plans(folder: &Path, locks: &[Descriptor]) -> Result<Vec<(PathBuf, Plan)>, Unreadable> {
    let failed = |source| Unreadable::Folder { folder: folder.to_owned(), source };
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|ending| ending == "plan") {
            paths.push(path);
        }
    }
    paths.sort();
    let plan = |path: PathBuf| match Plan::read_with(&path.to_string_lossy(), locks.to_vec()) {
        Ok(plan) => Ok((path, plan)),
        Err(error) => Err(Unreadable::Plan(error)),
    };
    paths.into_iter().map(plan).collect()
}

/// A plan that was written, or where it was to go and why it is not there: what was found must not be lost for it.
pub(crate) type Written = Result<PathBuf, (PathBuf, String)>;

/// Writes a run's plan. The same run has the same name.
pub(crate) fn write_plan(folder: &Path, target: Target, report: &Report) -> Written {
    let path = folder.join(format!("{}-{}.plan", name_of(target), report.trace_hash));
    let text = Plan::from_report(report).to_toml().map_err(|error| error.to_string());
    let written = text.and_then(|text| {
        fs::create_dir_all(folder).and_then(|()| fs::write(&path, text)).map_err(|error| error.to_string())
    });
    match written {
        Ok(()) => Ok(path),
        Err(cause) => Err((path, cause)),
    }
}
