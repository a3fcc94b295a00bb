//! The table of engines, as two pages have it: `BLESS=1` writes it anew.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use doublehold_scenarios::format::vocabulary;
use doublehold_turmoil_engine::table::{engines, rows};

use crate::pages::{ENGINES, write_or_compare};

/// A row for each word, and below them the reasons.
fn table() -> String {
    let [sim, turmoil] = engines().map(|(name, _)| name);
    let mut text = format!("| | | `{sim}` | `{turmoil}` |\n|---|---|---|---|\n");
    for row in rows() {
        let [sim, turmoil] =
            row.limits.map(|limit| limit.map_or("yes".to_owned(), |why| format!("no: {why}")));
        writeln!(text, "| {} | `{}` | {sim} | {turmoil} |", row.sort, row.word)
            .expect("a text can be written to");
    }
    text
}

#[test]
fn two_pages_say_what_each_engine_can_do() {
    for page in [ENGINES, "scenarios/FORMAT.md"] {
        write_or_compare(page, &[("engines", &table())]);
    }
}

#[test]
fn every_kind_of_fault_has_a_row() {
    let of_faults = |path: &str| path == "faults.kind";
    let kinds = vocabulary().into_iter().filter(|key| of_faults(&key.path)).filter_map(|key| key.word);
    let kinds: BTreeSet<String> = kinds.collect();
    let listed = rows().into_iter().filter(|row| row.sort == "fault").map(|row| row.word.to_owned());
    assert!(kinds.len() > 10);
    assert_eq!(listed.collect::<BTreeSet<String>>(), kinds);
}
