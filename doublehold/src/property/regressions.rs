//! The plans of runs that once broke a property: a folder for each property, in which every `.plan` counts.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use doublehold_lockimpl::Descriptor;
use doublehold_scenarios::Report;
use doublehold_scenarios::plan::Plan;
use doublehold_search::shrink::Target;

use super::PropertyError;
use crate::findings::name_of;

/// All plans of the folder, by their names. No folder is none.
pub(super) fn read_plans(folder: &Path, locks: &[Descriptor]) -> Result<Vec<(PathBuf, Plan)>, PropertyError> {
    let failed = |source| PropertyError::Folder { folder: folder.to_owned(), source };
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
        Err(error) => Err(PropertyError::Regression(error)),
    };
    paths.into_iter().map(plan).collect()
}

/// A plan that was written, or where it was to go and why it is not there: what was found must not be lost for it.
pub(super) type Written = Result<PathBuf, (PathBuf, String)>;

/// Writes a run's plan. The same run has the same name.
pub(super) fn write_plan(folder: &Path, target: Target, report: &Report) -> Written {
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
