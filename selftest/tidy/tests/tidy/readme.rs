//! The README: short, in the order in which a stranger asks, and with the rules before their first use.

use std::fs;

use super::root;

/// More lines or words are not read.
const MOST: (usize, usize) = (150, 1_500);
const RULES: [&str; 6] = ["P1", "P2", "P3", "P4", "WR", "LV"];
/// The headings, in the order of a stranger's questions.
const HEADINGS: [&str; 8] = [
    "## Install",
    "## What a run says",
    "## Is my library safe?",
    "## Is my own lock safe?",
    "## In CI",
    "## For a design review",
    "## Who was right, Kleppmann or antirez?",
    "## What is real and what is simulated",
];

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns everything that is wrong with a README.
fn faults(text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let (lines, words) = (text.lines().count(), text.split_whitespace().count());
    if lines > MOST.0 || words > MOST.1 {
        faults.push(format!("{lines} lines and {words} words are more than {} and {}", MOST.0, MOST.1));
    }
    let headings: Vec<&str> = text.lines().filter(|line| line.starts_with("## ")).collect();
    if headings != HEADINGS {
        faults.push(format!("the headings are {headings:?}, not {HEADINGS:?}"));
    }
    // Pictures may have a rule's name; prose uses it only where the table has explained it.
    let prose: Vec<&str> = text.split("```").step_by(2).collect();
    let prose = prose.concat();
    let before = prose.split("| rule |").next().unwrap_or_default();
    let words =
        |text: &str| text.split(|c: char| !c.is_alphanumeric()).map(str::to_owned).collect::<Vec<_>>();
    faults.extend(
        words(before)
            .into_iter()
            .filter(|it| RULES.contains(&it.as_str()))
            .map(|it| format!("{it} comes too soon")),
    );
    let named = words(&prose);
    faults.extend(
        RULES
            .iter()
            .filter(|rule| !named.contains(&(**rule).to_owned()))
            .map(|it| format!("nothing of {it}")),
    );
    faults
}

#[test]
fn the_readme_is_short_and_explains_the_rules_first() {
    assert_eq!(faults(&read("README.md")), [] as [String; 0]);
}

#[test]
fn a_readme_that_uses_a_rule_too_soon_or_goes_on_too_long_is_found() {
    let good = read("README.md");
    let soon = good.replacen("\n\n## Install", " It looks for P4.\n\n## Install", 1);
    assert_eq!(faults(&soon), ["P4 comes too soon"]);
    let long = format!("{good}{}", "more\n".repeat(MOST.0));
    assert!(faults(&long).concat().contains("are more than 150 and 1500"), "{:?}", faults(&long));
    let other = good.replacen("## In CI", "## CI", 1);
    assert!(faults(&other).concat().contains("the headings are"));
}

#[test]
fn the_address_of_the_repository_is_the_same_for_crates_and_for_ci() {
    let manifest: toml::Table = read("Cargo.toml").parse().expect("TOML");
    let address = manifest["workspace"]["package"]["repository"].as_str().expect("an address");
    assert!(read("README.md").contains(&format!("DOUBLEHOLD: {address} ")), "{address}");
}
