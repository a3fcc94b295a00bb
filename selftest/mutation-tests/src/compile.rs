//! Builds the tests of a planted tree, and finds the faults that do not compile.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::tree::Tree;

/// The packages that ask for all features: what has no faults in it is the same in every build, and stays built.
const ALL_FEATURES: [&str; 2] = ["--package=doublehold", "--package=doublehold-cli"];

/// A test binary.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Binary {
    /// As areas call it: `doublehold-cli:it`.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    /// The folder of its package, in which cargo runs it.
    pub(crate) folder: PathBuf,
}

/// The outcome of a build.
pub(crate) enum Built {
    /// All of the test binaries that are wanted.
    Tests(Vec<Binary>),
    /// The faults because of which there are none.
    Broken(BTreeSet<usize>),
}

#[derive(Deserialize)]
struct Line {
    reason: String,
    manifest_path: Option<PathBuf>,
    target: Option<Target>,
    executable: Option<PathBuf>,
    message: Option<Message>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Message {
    level: String,
    #[serde(default)]
    spans: Vec<Span>,
    #[serde(default)]
    children: Vec<Message>,
    rendered: Option<String>,
}

#[derive(Deserialize)]
struct Span {
    file_name: String,
    byte_start: usize,
    byte_end: usize,
    is_primary: bool,
}

/// Builds these test binaries: `package:lib` or `package:NAME`.
///
/// # Errors
///
/// If cargo does not run, or the code does not compile for another reason than a fault.
pub(crate) fn build(tree: &Tree, target: &Path, tests: &BTreeSet<&str>) -> Result<Built> {
    if tests.is_empty() {
        return Ok(Built::Tests(Vec::new()));
    }
    let mut cargo = Command::new("cargo");
    cargo.current_dir(&tree.root).env("CARGO_TARGET_DIR", target);
    // Nobody debugs these.
    cargo.env("CARGO_PROFILE_DEV_DEBUG", "0");
    cargo.args(["test", "--no-run", "--locked", "--message-format=json"]).args(ALL_FEATURES);
    let mut options = BTreeSet::new();
    for name in tests {
        let (package, target) =
            name.split_once(':').with_context(|| format!("`{name}` is not `package:target`"))?;
        options.insert(format!("--package={package}"));
        options.insert(if target == "lib" { "--lib".to_owned() } else { format!("--test={target}") });
    }
    cargo.args(options);
    let output = cargo.output().context("cannot run cargo")?;
    let (mut binaries, mut errors) = (Vec::new(), Vec::new());
    for line in output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let line: Line = serde_json::from_slice(line)?;
        match (line.reason.as_str(), line.message) {
            ("compiler-message", Some(message)) if message.level == "error" => errors.push(message),
            ("compiler-artifact", _) => {
                binaries.extend(binary(line.target, line.manifest_path, line.executable))
            }
            _ => {}
        }
    }
    if output.status.success() {
        binaries.retain(|binary| tests.contains(binary.name.as_str()));
        return Ok(Built::Tests(binaries));
    }
    let broken: BTreeSet<usize> = errors.iter().flat_map(|error| blame_faults(tree, error)).collect();
    if broken.is_empty() {
        let mut told: Vec<String> = errors.into_iter().filter_map(|error| error.rendered).collect();
        told.push(String::from_utf8_lossy(&output.stderr).into_owned());
        bail!("the copy does not compile, and no fault is to blame:\n{}", told.join("\n"));
    }
    Ok(Built::Broken(broken))
}

fn binary(target: Option<Target>, manifest: Option<PathBuf>, path: Option<PathBuf>) -> Option<Binary> {
    let (target, folder, path) = (target?, manifest?.parent()?.to_owned(), path?);
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).ok()?;
    let manifest: toml::Table = manifest.parse().ok()?;
    let package = manifest.get("package")?.get("name")?.as_str()?;
    let of = if target.kind.iter().any(|kind| kind == "test") { target.name.as_str() } else { "lib" };
    Some(Binary { name: format!("{package}:{of}"), path, folder })
}

/// The faults in whose text an error is; if it is in none, those in whose switches it is; if in none of these, those
/// between the first place and the last that it names: switches make borrows longer.
fn blame_faults(tree: &Tree, error: &Message) -> BTreeSet<usize> {
    let mut spans: Vec<&Span> = error.spans.iter().collect();
    spans.extend(error.children.iter().flat_map(|child| &child.spans));
    spans.sort_by_key(|span| !span.is_primary);
    let planted = |file: &str| tree.planted.get(file).into_iter().flatten();
    let of = |span: &Span, is_branch: bool| -> BTreeSet<usize> {
        let touches = planted(&span.file_name).filter(|planted| {
            let range = if is_branch { &planted.branch } else { &planted.whole };
            range.start <= span.byte_start && span.byte_end <= range.end
        });
        touches.map(|planted| planted.number).collect()
    };
    let found =
        [true, false].into_iter().flat_map(|is_branch| spans.iter().map(move |span| of(span, is_branch)));
    let found = found.into_iter().find(|faults| !faults.is_empty());
    found.unwrap_or_else(|| {
        let Some(file) = spans.first().map(|span| span.file_name.as_str()) else { return BTreeSet::new() };
        let here = spans.iter().filter(|span| span.file_name == file);
        let from = here.clone().map(|span| span.byte_start).min().unwrap_or(0);
        let to = here.map(|span| span.byte_end).max().unwrap_or(0);
        let between = planted(file).filter(|planted| from <= planted.whole.start && planted.whole.end <= to);
        between.map(|planted| planted.number).collect()
    })
}
