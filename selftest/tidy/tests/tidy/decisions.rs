//! Decisions and the code that they govern find one another: `Decision: "Heading" (docs/decisions/page.md)` in the head
//! of a file.

use std::collections::BTreeSet;
use std::fs;

use super::{files, root};

/// A heading and its page.
type Decision = (String, String);

/// Returns the headings of the pages of decisions.
fn headings(files: &[String]) -> BTreeSet<Decision> {
    let pages = files.iter().filter(|file| file.starts_with("docs/decisions/"));
    pages
        .flat_map(|page| {
            let text = fs::read_to_string(root().join(page)).expect("a page");
            let headings: Vec<String> =
                text.lines().filter_map(|line| line.strip_prefix("## ")).map(str::to_owned).collect();
            headings.into_iter().map(|heading| (heading, page.clone()))
        })
        .collect()
}

/// Returns the decisions that a text names. A link may go on in the next line of its comment.
fn links(text: &str) -> Vec<Decision> {
    let comments: Vec<&str> = text
        .lines()
        .map(str::trim_start)
        .filter_map(|line| line.strip_prefix("//!").or_else(|| line.strip_prefix('#')))
        .map(str::trim)
        .collect();
    let text = comments.join(" ");
    let links = text.split("Decision: \"").skip(1);
    links
        .filter_map(|rest| {
            let (heading, rest) = rest.split_once("\" (")?;
            let (page, _) = rest.split_once(')')?;
            Some((heading.to_owned(), page.to_owned()))
        })
        .collect()
}

#[test]
fn each_decision_is_named_by_code_that_it_governs_and_each_name_is_a_decision() {
    let files = files();
    let headings = headings(&files);
    assert!(headings.len() > 100, "only {} decisions", headings.len());
    let mut named = BTreeSet::new();
    let code = [".rs", ".toml", ".ci/run"];
    for file in files.iter().filter(|file| code.iter().any(|end| file.ends_with(end))) {
        // This file has links as examples.
        if file.ends_with("tidy/decisions.rs") {
            continue;
        }
        for link in links(&fs::read_to_string(root().join(file)).expect("text")) {
            assert!(headings.contains(&link), "{file} names {link:?}, which is no heading there");
            named.insert(link);
        }
    }
    let unnamed: Vec<&Decision> = headings.difference(&named).collect();
    assert!(unnamed.is_empty(), "no file names these: {unnamed:#?}");
}

#[test]
fn a_link_over_two_lines_is_read() {
    let text = "//! For it.\n//!\n//! Decision: \"A cut\n//! holds\" (docs/decisions/world.md).\n\nuse it;\n";
    assert_eq!(links(text), [("A cut holds".to_owned(), "docs/decisions/world.md".to_owned())]);
    assert!(links("use it;").is_empty());
}
