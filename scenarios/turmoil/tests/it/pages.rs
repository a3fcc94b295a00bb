//! Tables that tests write into pages: `BLESS=1` writes them anew, and otherwise they are compared.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The page of the two engines.
pub(crate) const ENGINES: &str = "docs/engines.md";

fn path(page: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page)
}

pub(crate) fn read(page: &str) -> String {
    fs::read_to_string(path(page)).expect("the page is there")
}

/// Writes these tables between the marks of their names, if that was asked for, and else compares them with what stands
/// there.
#[track_caller]
pub(crate) fn write_or_compare(page: &str, tables: &[(&str, &str)]) {
    // Tests write at the same time.
    static WRITES: Mutex<()> = Mutex::new(());
    let _one = WRITES.lock().unwrap_or_else(PoisonError::into_inner);
    let before = read(page);
    let now = tables.iter().fold(before.clone(), |text, (name, table)| with(&text, name, table));
    if std::env::var_os("BLESS").is_some() {
        fs::write(path(page), now).expect("the page can be written");
        return;
    }
    let differs = before.lines().zip(now.lines()).find(|(before, now)| before != now);
    assert!(before == now, "{page}: write it anew with BLESS=1, and read what changed, first {differs:#?}");
}

/// The text with another table between the marks of this name.
fn with(text: &str, name: &str, table: &str) -> String {
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
    let (before, rest) = text.split_once(&begin).expect("the page has the mark");
    let (_, after) = rest.split_once(&end).expect("the page has the mark's end");
    format!("{before}{begin}{table}{end}{after}")
}
