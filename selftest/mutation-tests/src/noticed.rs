//! `noticed.tsv`: what noticed each fault when all of them were last tried. Whoever tries a few asks those tests first.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};

/// In place of a test's name: the fault does not compile.
const NOT_BUILT: &str = "does not compile";

/// The compiler or the test that noticed a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Hint {
    /// The compiler.
    NotBuilt,
    /// A test, by its name, that takes so many seconds at most with all faults off.
    Test { name: String, seconds: u64 },
}

impl Hint {
    /// A test that takes so long.
    pub(crate) fn test(name: &str, takes: Duration) -> Hint {
        Hint::Test { name: name.to_owned(), seconds: takes.as_secs() + 1 }
    }
}

/// The list, by names of faults; empty if there is none.
///
/// # Errors
///
/// If the file is there and cannot be read.
pub(crate) fn read_hints(root: &Path) -> Result<BTreeMap<String, Hint>> {
    let path = root.join("selftest/mutation-tests/noticed.tsv");
    if !path.exists() {
        return Ok(BTreeMap::new());
    }
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let hint = |line: &str| {
        let mut columns = line.splitn(3, '\t');
        let (name, seconds, fault) = (columns.next()?, columns.next()?, columns.next()?);
        let hint = match seconds.parse() {
            Ok(seconds) => Hint::Test { name: name.to_owned(), seconds },
            Err(_) => Hint::NotBuilt,
        };
        Some((fault.to_owned(), hint))
    };
    Ok(text.lines().filter_map(hint).collect())
}

/// Writes the list.
///
/// # Errors
///
/// If it cannot be written.
pub(crate) fn write(root: &Path, hints: &BTreeMap<String, Hint>) -> Result<()> {
    let line = |(fault, hint): (&String, &Hint)| match hint {
        Hint::NotBuilt => format!("{NOT_BUILT}\t-\t{fault}\n"),
        Hint::Test { name, seconds } => format!("{name}\t{seconds}\t{fault}\n"),
    };
    let lines: String = hints.iter().map(line).collect();
    let path = root.join("selftest/mutation-tests/noticed.tsv");
    fs::write(&path, lines).with_context(|| format!("cannot write {}", path.display()))
}
