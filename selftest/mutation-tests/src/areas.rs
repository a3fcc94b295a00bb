//! The areas of `areas.toml`: which files faults are planted in, and which tests are asked about them; the faults that
//! people have written down beside those made by rule; and the survivors that have a reason.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::fault::{self, Fault, change};
use crate::operators;

/// A part of the code that is judged for itself.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Area {
    /// As a table calls it.
    pub(crate) name: String,
    /// Of the faults that are made by rule, one in so many is tried: enough to know a share, and not a day's work.
    one_in: u64,
    /// The files in which faults are planted.
    files: Vec<String>,
    /// The test binaries that are asked: `doublehold-scenarios:lib`, `doublehold-cli:it`.
    pub(crate) tests: Vec<String>,
    /// Of the tests `it`, which have a module for each subject, those that are asked where no hint says which.
    #[serde(default)]
    pub(crate) modules: Vec<String>,
}

impl Area {
    /// True if a module of `it` is asked.
    pub(crate) fn has(&self, module: &str) -> bool {
        self.modules.is_empty() || self.modules.iter().any(|known| known == module)
    }
}

/// A fault that a person wrote down, because no rule would make it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    file: String,
    /// An expression or a statement, once in its file.
    was: String,
    is: String,
}

/// A fault that no test notices, and why that is so.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Survivor {
    /// The fault's name, as it is printed.
    fault: String,
    /// True if no run, page or message could be another.
    #[serde(default)]
    pub(crate) changes_nothing: bool,
    /// The reason.
    pub(crate) why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Areas {
    area: Vec<Area>,
    /// The beginnings of paths when the faults of their files were chosen, by those of today.
    #[serde(default)]
    formerly: BTreeMap<String, String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Lists {
    fault: Vec<Listed>,
    survivor: Vec<Survivor>,
}

/// The areas whose names begin so; all of them if nothing is asked for.
///
/// # Errors
///
/// If a name is that of no area.
pub(crate) fn areas(root: &Path, asked: &[String]) -> Result<Vec<Area>> {
    let all = read_toml::<Areas>(&root.join("selftest/mutation-tests/areas.toml"))?.area;
    for name in asked {
        let names: Vec<&str> = all.iter().map(|area| area.name.as_str()).collect();
        let is_one = names.iter().any(|area| area.starts_with(name.as_str()));
        ensure!(is_one, "no area begins with `{name}`; there are: {}", names.join("; "));
    }
    let is_asked =
        |area: &Area| asked.is_empty() || asked.iter().any(|name| area.name.starts_with(name.as_str()));
    Ok(all.into_iter().filter(is_asked).collect())
}

/// The faults of an area, in the order of its files; all that there are instead of one in so many.
///
/// # Errors
///
/// If a file cannot be read, or a fault that was written down is no longer there.
pub(crate) fn faults(root: &Path, area: &Area, all: bool) -> Result<Vec<Fault>> {
    let listed = read_toml::<Lists>(&root.join("selftest/mutation-tests/faults.toml"))?.fault;
    let formerly = read_toml::<Areas>(&root.join("selftest/mutation-tests/areas.toml"))?.formerly;
    let (mut faults, mut written) = (Vec::new(), BTreeSet::new());
    for file in &area.files {
        let text = fs::read_to_string(root.join(file)).with_context(|| format!("cannot read `{file}`"))?;
        let made = operators::faults(file, &text).with_context(|| format!("`{file}` is not Rust"))?;
        for listed in listed.iter().filter(|listed| listed.file == *file) {
            written.insert(faults.len());
            faults.push(locate_fault(listed, &text, &made)?);
        }
        faults.extend(made);
    }
    fault::number(&mut faults);
    let is_tried = |(number, fault): &(usize, Fault)| {
        all || written.contains(number) || as_chosen(fault, &formerly).digest().is_multiple_of(area.one_in)
    };
    Ok(faults.into_iter().enumerate().filter(is_tried).map(|(_, fault)| fault).collect())
}

/// The fault as it was called when those that are tried were chosen: a file that moves keeps them.
fn as_chosen(fault: &Fault, formerly: &BTreeMap<String, String>) -> Fault {
    let beginnings = formerly.iter().filter(|(now, _)| fault.file.starts_with(now.as_str()));
    let longest = beginnings.max_by_key(|(now, _)| now.len());
    let file = longest.map(|(now, then)| fault.file.replacen(now.as_str(), then, 1));
    Fault { file: file.unwrap_or_else(|| fault.file.clone()), ..fault.clone() }
}

/// The reasons by the names of faults.
///
/// # Errors
///
/// If the list cannot be read.
pub(crate) fn survivors(root: &Path) -> Result<BTreeMap<String, Survivor>> {
    let list = read_toml::<Lists>(&root.join("selftest/mutation-tests/survivors.toml"))?.survivor;
    Ok(list.into_iter().map(|survivor| (survivor.fault.clone(), survivor)).collect())
}

fn locate_fault(listed: &Listed, text: &str, made: &[Fault]) -> Result<Fault> {
    let Listed { file, was, is } = listed;
    let places: Vec<usize> = text.match_indices(was.as_str()).map(|(at, _)| at).collect();
    ensure!(
        places.len() == 1,
        "`{was}` is {} times in `{file}`, not once: see selftest/mutation-tests/faults.toml",
        places.len()
    );
    let (start, end) = (places[0], places[0] + was.len());
    // The function is that of the fault made by rule before it, or the first after it.
    let (before, after): (Vec<&Fault>, Vec<&Fault>) = made.iter().partition(|made| made.range.start <= start);
    let near = before.last().or(after.first()).map_or_else(String::new, |made| made.function.clone());
    Ok(Fault {
        file: file.clone(),
        function: near,
        line: text[..start].lines().count().max(1),
        range: start..end,
        text: is.clone(),
        is_statement: was.ends_with([';', '}']),
        change: change(was, is),
    })
}

fn read_toml<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    toml::from_str(&text).with_context(|| format!("cannot read {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_moves_keeps_the_faults_that_are_tried() {
        let fault = |file: &str| {
            let text = "fn a() -> bool { 1 > 2 && 3 < 4 }";
            operators::faults(file, text).expect("Rust").remove(0)
        };
        let formerly = [("new/", "old/"), ("new/inner/", "other/")];
        let formerly = formerly.map(|(now, then)| (now.to_owned(), then.to_owned())).into();
        for (now, then) in [("new/a.rs", "old/a.rs"), ("new/inner/a.rs", "other/a.rs"), ("a.rs", "a.rs")] {
            assert_eq!(as_chosen(&fault(now), &formerly).digest(), fault(then).digest(), "{now}");
        }
    }
}
