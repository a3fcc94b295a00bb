//! The table of engines, as two pages have it: `BLESS=1` writes it anew.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use doublehold_scenarios::format::vocabulary;
use doublehold_turmoil::table::{engines, rows};

const PAGES: [&str; 2] = ["../../docs/engines.md", "../FORMAT.md"];
const BEGIN: &str = "<!-- engines -->\n";
const END: &str = "<!-- end of engines -->";

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
    for page in PAGES {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
        let text = std::fs::read_to_string(&path).expect("the page is there");
        let (before, rest) = text.split_once(BEGIN).expect("the table has a beginning");
        let (listed, after) = rest.split_once(END).expect("and an end");
        if std::env::var_os("BLESS").is_some() {
            let written = format!("{before}{BEGIN}{}{END}{after}", table());
            std::fs::write(&path, written).expect("the page can be written");
        } else {
            assert_eq!(listed, table(), "{page}: write it anew with BLESS=1");
        }
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
