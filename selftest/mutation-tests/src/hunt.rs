//! The search for a test that notices a fault.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::Result;

use crate::compile::Binary;
use crate::fault::Fault;
use crate::noticed::Hint;
use crate::suite::{self, Test};
use crate::threads::each;

/// After so many faults it is said how far the search is.
const TELL_EACH: usize = 50;

/// The outcome of a fault.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// It does not compile.
    NotBuilt,
    /// A test fails because of it.
    Noticed { by: String, takes: Duration },
    /// None of so many tests does.
    Survived { asked: usize },
}

/// Switches each of these faults on for the tests that come by it, quickest first; `asks` tells whether a
/// binary is asked about a fault, or one of its tests.
///
/// # Errors
///
/// If a test cannot be started, or fails with all faults off.
pub(crate) fn hunt(
    faults: &[Fault],
    left: &[usize],
    binaries: &[Binary],
    asks: impl Fn(usize, &Binary, Option<&str>) -> bool + Sync,
    folder: &Path,
) -> Result<BTreeMap<usize, Outcome>> {
    let is_asked = |binary: &&Binary| left.iter().any(|number| asks(*number, binary, None));
    let binaries: Vec<Binary> = binaries.iter().filter(is_asked).cloned().collect();
    eprintln!(
        "running each test of {} binaries by itself, to learn which faults it comes by",
        binaries.len()
    );
    let mut tests = suite::suite(&binaries, &folder.join("come-by"), |binary, test| {
        left.iter().any(|number| asks(*number, binary, Some(test)))
    })?;
    tests.sort_by_key(|test| test.takes);
    eprintln!("switching on {} faults, one at a time, for {} tests", left.len(), tests.len());
    let ended = AtomicUsize::new(0);
    let found = each(left, |_, number| {
        let may =
            |test: &&Test| test.comes_by.contains(number) && asks(*number, &test.binary, Some(&test.name));
        let outcome = first_of(tests.iter().filter(may), *number)?;
        let ended = ended.fetch_add(1, Ordering::Relaxed) + 1;
        if let Outcome::Survived { asked } = outcome {
            eprintln!("survives {asked} tests: {}", faults[*number]);
        }
        if ended.is_multiple_of(TELL_EACH) {
            eprintln!("{ended} of {}", left.len());
        }
        Ok((*number, outcome))
    })?;
    Ok(found.into_iter().collect())
}

/// The faults that are noticed by the test that did when they were last tried.
///
/// # Errors
///
/// If a test cannot be started.
pub(crate) fn retry_remembered(
    faults: &[Fault],
    tried: &[usize],
    binaries: &[Binary],
    asks: impl Fn(usize, &Binary, Option<&str>) -> bool,
    hints: &BTreeMap<String, Hint>,
) -> Result<BTreeMap<usize, Outcome>> {
    let hint = |number: &usize| hints.get(&faults[*number].name());
    let wanted: Vec<&Hint> = tried.iter().filter_map(hint).collect();
    let tests = suite::find_tests(binaries, &wanted)?;
    let test_of = |number: &usize| {
        let Hint::Test { name, .. } = hint(number)? else { return None };
        let is_it = |test: &&Test| test.display_name() == *name && asks(*number, &test.binary, None);
        Some((*number, tests.iter().find(is_it)?))
    };
    let known: Vec<(usize, &Test)> = tried.iter().filter_map(test_of).collect();
    let found = each(&known, |_, (number, test)| Ok((*number, first_of([*test].into_iter(), *number)?)))?;
    Ok(found.into_iter().filter(|(_, outcome)| matches!(outcome, Outcome::Noticed { .. })).collect())
}

fn first_of<'a>(tests: impl Iterator<Item = &'a Test>, fault: usize) -> Result<Outcome> {
    let mut asked = 0;
    for test in tests {
        if test.notices(fault)? {
            return Ok(Outcome::Noticed { by: test.display_name(), takes: test.takes });
        }
        asked += 1;
    }
    Ok(Outcome::Survived { asked })
}
