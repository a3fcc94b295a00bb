//! A copy of the project with all faults in it, each behind a switch that the environment sets: one build tries them
//! all.
//!
//! A fault on an expression makes it `(if crate::planted::on(7) { fault } else { as it was })`. Faults within the
//! expression go into the second branch only, since one is switched on at a time.
//!
//! Decision: "Our tests are judged by planted faults, all of them in one build" (docs/decisions/search.md).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::fault::Fault;

/// A module for each crate that has faults.
const SWITCH: &str = include_str!("switch.rs.txt");

/// The copy.
pub(crate) struct Tree {
    /// The folder it is in.
    pub(crate) root: PathBuf,
    /// Where each fault is in the files as they now are: its number, the bytes of what stands there instead, and those
    /// of the whole switch.
    pub(crate) planted: BTreeMap<String, Vec<Planted>>,
}

/// A fault's place in a file of the copy.
pub(crate) struct Planted {
    pub(crate) number: usize,
    pub(crate) branch: Range<usize>,
    pub(crate) whole: Range<usize>,
}

/// Copies the project's files and plants the faults that have a number in `chosen`.
///
/// # Errors
///
/// If a file cannot be copied, or two faults share a part of their texts.
pub(crate) fn plant(from: &Path, to: &Path, faults: &[Fault], chosen: &BTreeSet<usize>) -> Result<Tree> {
    let files = files(from)?;
    let mut planted = BTreeMap::new();
    let mut crates = BTreeSet::new();
    for file in &files {
        let here: Vec<usize> =
            chosen.iter().copied().filter(|number| faults[*number].file == *file).collect();
        if !here.is_empty() {
            let top = file.split_once("/src/").map(|(top, _)| top).context("faults are planted in `src`")?;
            crates.insert(format!("{top}/src/lib.rs"));
        }
    }
    for file in &files {
        let source = from.join(file);
        let Ok(bytes) = fs::read(&source) else { continue };
        let mut bytes = bytes;
        let here: Vec<usize> =
            chosen.iter().copied().filter(|number| faults[*number].file == *file).collect();
        if !here.is_empty() {
            let text = String::from_utf8(bytes)?;
            let mut writer = Writer { faults, text: &text, out: String::new(), planted: Vec::new() };
            writer.write(0..text.len(), &here)?;
            planted.insert(file.clone(), writer.planted);
            bytes = writer.out.into_bytes();
        }
        if crates.contains(file) {
            bytes.extend(SWITCH.replace("COUNT", &faults.len().to_string()).bytes());
        }
        let is_as_it_was = here.is_empty() && !crates.contains(file);
        write_file(&to.join(file), &bytes, is_as_it_was.then_some(&source))?;
    }
    clear(to, &files.iter().map(|file| to.join(file)).collect())?;
    Ok(Tree { root: to.to_owned(), planted })
}

/// Everything under version control, and what is new and not ignored.
fn files(root: &Path) -> Result<Vec<String>> {
    let mut git = Command::new("git");
    git.current_dir(root).args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let listed = git.output().context("cannot run git")?;
    ensure!(listed.status.success(), "git does not list the files of {}", root.display());
    let names = listed.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names.map(|name| Ok(String::from_utf8(name.to_vec())?)).collect()
}

/// Takes away what an earlier copy left, but for what tests wrote to `target`.
fn clear(folder: &Path, known: &BTreeSet<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() && !path.ends_with("target") {
            clear(&path, known)?;
        } else if !path.is_dir() && !known.contains(&path) {
            fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
    }
    Ok(())
}

/// Writes a file unless it is as it was: cargo builds anew by the times of files. So a new one that has no faults, and
/// never had any, also takes the time of the project's, `of`: what somebody built of that will do.
fn write_file(path: &Path, bytes: &[u8], of: Option<&Path>) -> Result<()> {
    let is_new = !path.exists();
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    if let Some(of) = of.filter(|_| is_new) {
        fs::File::options().write(true).open(path)?.set_modified(fs::metadata(of)?.modified()?)?;
    }
    Ok(())
}

struct Writer<'a> {
    faults: &'a [Fault],
    text: &'a str,
    out: String,
    planted: Vec<Planted>,
}

impl Writer<'_> {
    /// Writes a piece of the text with these faults, all of which lie in it.
    fn write(&mut self, piece: Range<usize>, faults: &[usize]) -> Result<()> {
        let mut faults = faults.to_vec();
        faults.sort_by_key(|number| {
            let range = &self.faults[*number].range;
            (range.start, usize::MAX - range.end, *number)
        });
        let mut at = piece.start;
        let mut rest = faults.as_slice();
        while let [outer, ..] = rest {
            let range = self.faults[*outer].range.clone();
            let within =
                rest.iter().take_while(|number| self.faults[**number].range.start < range.end).count();
            let (inner, after) = rest.split_at(within);
            self.out.push_str(&self.text[at..range.start]);
            self.switch(range.clone(), inner)?;
            (at, rest) = (range.end, after);
        }
        self.out.push_str(&self.text[at..piece.end]);
        Ok(())
    }

    /// Writes the switches of all faults of one piece, and the piece with those within it as what they leave.
    fn switch(&mut self, piece: Range<usize>, faults: &[usize]) -> Result<()> {
        let of_it = |number: &&usize| self.faults[**number].range == piece;
        let here: Vec<usize> = faults.iter().filter(of_it).copied().collect();
        let within: Vec<usize> = faults.iter().filter(|number| !of_it(number)).copied().collect();
        for number in &within {
            let fault = &self.faults[*number];
            ensure!(
                fault.range.end <= piece.end,
                "{fault}: begins within another fault and ends outside of it"
            );
        }
        let is_statement = here.iter().any(|number| self.faults[*number].is_statement);
        let begin = self.out.len();
        self.out.push_str(if is_statement { "" } else { "(" });
        for number in &here {
            self.out.push_str(&format!("if crate::planted::on({number}) {{ "));
            let from = self.out.len();
            self.out.push_str(&self.faults[*number].text);
            let branch = from..self.out.len();
            self.planted.push(Planted { number: *number, branch, whole: begin..begin });
            self.out.push_str(" } else ");
        }
        self.out.push_str("{ ");
        self.write(piece, &within)?;
        self.out.push_str(if is_statement { " }" } else { " })" });
        let whole = begin..self.out.len();
        for planted in self.planted.iter_mut().filter(|planted| here.contains(&planted.number)) {
            planted.whole = whole.clone();
        }
        Ok(())
    }
}
