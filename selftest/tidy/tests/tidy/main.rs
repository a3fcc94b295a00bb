//! The house style, as far as a machine can keep it: every source file of the workspace is read as text.
//!
//! Each rule is a function from a file to what is wrong with it, and has a test that plants a violation. Where the code
//! does not keep a rule yet, `allowed` says how often it may break it; those numbers may only get smaller.

mod allowed;
mod decisions;
mod documents;
mod features;
mod readme;
mod rules;
mod walls;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A source file: its path from the workspace's root, with `/`, and its text.
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    /// Code that ships, and no test, benchmark or example.
    pub(crate) fn is_shipped(&self) -> bool {
        self.path.contains("/src/") && !self.path.split('/').any(|part| part == "tests" || part == "tests.rs")
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("the package is in the workspace")
        .to_owned()
}

/// Every file of the workspace, in the order of paths, but for what is built and what git keeps.
fn files() -> Vec<String> {
    let (mut found, mut folders) = (Vec::new(), vec![root()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the workspace") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                folders.extend(
                    (!["target", ".git", "corpus", "artifacts"].contains(&name.as_str())).then_some(path),
                );
            } else {
                let relative = path.strip_prefix(root()).expect("it is in the workspace");
                found.push(relative.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    found.sort();
    found
}

fn sources() -> Vec<Source> {
    let paths = files().into_iter().filter(|path| path.ends_with(".rs"));
    paths.map(|path| Source { text: fs::read_to_string(root().join(&path)).expect("text"), path }).collect()
}

/// The package that a file belongs to, by its folder.
fn package(path: &str) -> &'static str {
    let folders = [
        "selftest/fuzz",
        "doublehold",
        "lockimpl",
        "turmoil",
        "selftest/known-bad-locks",
        "selftest/mutation-tests",
        "reports/cli",
        "reports/pages",
        "reports",
        "scenarios/history",
        "scenarios/search",
        "scenarios/statistics",
        "scenarios/sweeps",
        "scenarios/turmoil",
        "scenarios/text",
        "scenarios",
        "sim/redis",
        "scenarios/turmoil/world",
        "sim",
    ];
    folders.into_iter().find(|folder| path.starts_with(&format!("{folder}/"))).unwrap_or("the workspace")
}

#[expect(
    clippy::print_stdout,
    reason = "a number that could be smaller is no failure, and worth a line with --nocapture"
)]
fn hint(words: &str) {
    println!("{words}");
}

/// Applies a rule to every file. A package may break it as often as `allowed` says.
fn keep(rule: fn(&Source) -> Vec<String>, allowed: &[(&str, usize)]) {
    let mut wrong: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let sources = sources();
    assert!(sources.len() > 200, "the workspace has more than {} files", sources.len());
    for source in &sources {
        let found = rule(source).into_iter().map(|what| format!("{}: {what}", source.path));
        wrong.entry(package(&source.path)).or_default().extend(found);
    }
    let many = |package: &str| allowed.iter().find(|(of, _)| *of == package).map_or(0, |(_, many)| *many);
    let mut too_many = String::new();
    for (package, found) in &wrong {
        if found.len() > many(package) {
            too_many += &format!("{package} may have {}:\n{}\n", many(package), found.join("\n"));
        } else if found.len() < many(package) {
            hint(&format!("{package} has only {} of {}: say so in allowed.rs", found.len(), many(package)));
        }
    }
    assert!(too_many.is_empty(), "{too_many}");
}

#[test]
fn every_file_opens_with_what_it_is_for() {
    keep(rules::header, &[]);
}

#[test]
fn no_line_is_wider_than_120_columns() {
    keep(rules::width, allowed::WIDE);
}

#[test]
fn imports_begin_with_the_standard_library() {
    keep(rules::imports, allowed::IMPORTS);
}

#[test]
fn what_can_fail_says_when() {
    keep(rules::errors_sections, allowed::ERRORS_SECTIONS);
}

#[test]
fn functions_are_short() {
    keep(rules::long_functions, allowed::LONG_FUNCTIONS);
}

#[test]
fn files_are_short() {
    keep(rules::long_file, allowed::LONG_FILES);
}

#[test]
fn names_are_plain_words() {
    keep(rules::poetry, allowed::POETRY);
}

#[test]
fn a_public_type_has_a_name_of_its_own() {
    let twice = rules::shared_names(&sources());
    let unexplained: Vec<String> = twice
        .iter()
        .filter(|(name, _)| !allowed::SHARED_NAMES.iter().any(|(known, _)| known == name))
        .map(|(name, crates)| format!("{name} is public in {}", crates.join(" and ")))
        .collect();
    assert!(unexplained.is_empty(), "{}", unexplained.join("\n"));
}

#[test]
fn files_that_import_one_another_are_few() {
    let found = walls::circles(&sources());
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn rooms_do_not_name_what_they_must_not_know() {
    let broken = walls::nevers(&sources());
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Documents whose paths must lead somewhere, beside the decisions.
const DOCUMENTS: [&str; 8] = [
    "ARCHITECTURE.md",
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "docs/changing.md",
    "docs/performance.md",
    "docs/searching.md",
    "selftest/README.md",
];

#[test]
fn each_kind_of_addition_names_the_files_that_it_touches() {
    let text = fs::read_to_string(root().join("docs/changing.md")).expect("a page");
    let parts: Vec<&str> = text.split("\n## ").skip(1).collect();
    assert!(parts.len() > 25, "only {} kinds of addition", parts.len());
    for part in parts {
        let heading = part.lines().next().unwrap_or_default();
        assert!(
            part.contains(".rs`") || part.contains(".toml`") || part.contains("/`"),
            "{heading} names no file"
        );
        assert!(part.contains("Example"), "{heading} has no example");
    }
}

#[test]
fn documents_name_files_that_there_are() {
    let files = files();
    let decisions = files.iter().filter(|file| file.starts_with("docs/decisions/")).map(String::as_str);
    assert!(decisions.clone().count() > 0, "decisions have pages");
    for document in DOCUMENTS.into_iter().chain(decisions) {
        let text = fs::read_to_string(root().join(document)).expect("a document");
        let missing = documents::missing(&text, &files);
        assert!(missing.is_empty(), "{document} names {missing:?}");
    }
}

#[test]
fn the_lock_that_a_page_shows_is_the_one_that_is_tested() {
    let read = |path: &str| fs::read_to_string(root().join(path)).expect("a file");
    let (page, example) = (read("docs/services.md"), read("examples/own-lock/tests/on_etcd.rs"));
    let shown: Vec<&str> =
        page.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(shown.len(), 2);
    for code in shown {
        assert!(example.contains(code), "docs/services.md shows what is not in the example:\n{code}");
    }
}
