//! `noticed.tsv`: what noticed each fault when all of them were last tried. Whoever tries a few asks those tests first.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// In place of a test's name: the fault does not compile.
pub(crate) const NOT_BUILT: &str = "does not compile";

/// The list, by names of faults; empty if there is none.
///
/// # Errors
///
/// If the file is there and cannot be read.
pub(crate) fn read(root: &Path) -> Result<BTreeMap<String, String>> {
    let path = root.join("planted/noticed.tsv");
    if !path.exists() {
        return Ok(BTreeMap::new());
    }
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let lines = text.lines().filter_map(|line| line.split_once('\t'));
    Ok(lines.map(|(by, fault)| (fault.to_owned(), by.to_owned())).collect())
}

/// Writes the list.
///
/// # Errors
///
/// If it cannot be written.
pub(crate) fn write(root: &Path, noticed: &BTreeMap<String, String>) -> Result<()> {
    let lines: Vec<String> = noticed.iter().map(|(fault, by)| format!("{by}\t{fault}\n")).collect();
    let path = root.join("planted/noticed.tsv");
    fs::write(&path, lines.concat()).with_context(|| format!("cannot write {}", path.display()))
}
