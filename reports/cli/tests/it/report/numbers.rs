//! Differences are what `statistics` says of the counts. All other numbers: `figures`.

use doublehold_history::Predicate;
use doublehold_statistics::{Confidence, Paired, Scale, rate_words};

use crate::kit::Folder;
use crate::report::made::{batch, header};

/// The order of columns.
const COLUMNS: [Predicate; 6] =
    [Predicate::P1, Predicate::P2, Predicate::P4, Predicate::LV, Predicate::P3, Predicate::WR];

/// How many of 500 runs of a design violate a predicate, and how many are undecided.
fn counts(design: u64, predicate: Predicate) -> (u64, u64) {
    let place = COLUMNS.iter().position(|it| *it == predicate).expect("a column") as u64;
    (design * 7 + place * 3, if place == 3 { 0 } else { design * place })
}

/// The cells of a Markdown table below a line that begins so: words only.
pub(crate) fn table(markdown: &str, after: &str) -> Vec<Vec<String>> {
    let rest = &markdown[markdown.find(after).unwrap_or_else(|| panic!("no `{after}` in {markdown}"))..];
    let lines =
        rest.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let cells = |line: &str| -> Vec<String> {
        let plain = line.replace("**", "").replace('`', "");
        plain.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect()
    };
    lines.skip(2).map(cells).collect()
}

fn made() -> Folder {
    let folder = Folder::new();
    let batches: Vec<_> = (0..3).map(|design| batch(design, 500, |it| counts(design, it))).collect();
    folder.records(&header(&["a", "b", "c"], &[], 500), &batches);
    folder.page();
    folder
}

/// A rate as a cell of the table has it: the number, and the interval below.
fn in_a_cell(words: &str) -> String {
    words.replace(" (", "<br>").trim_end_matches(')').to_owned()
}

#[test]
fn differences_are_those_of_the_pairs() {
    let folder = made();
    let markdown = folder.read("report.md");
    let rows = table(&markdown, "Which designs are told apart, and by how much");
    // The first runs violate: of 500 pairs of c and a, 14 are violated with c only.
    let paired = Paired { both: 0, only_first: 14, only_second: 0, neither: 486 };
    let interval = paired.interval(Confidence::P95).expect("there are pairs");
    assert!(interval.low > 0.0);
    let words = rate_words(paired.difference().expect("there are pairs"), interval, Scale::Share);
    assert_eq!(rows[1][..3], ["c".to_owned(), "a".to_owned(), format!("higher<br>+{}", in_a_cell(&words))]);
    // Seven seeds on one side are not enough among eighteen comparisons, and fourteen are.
    let letters =
        |row: usize| table(&markdown, "## All rates")[row][1].rsplit("<br>").next().map(str::to_owned);
    assert_eq!([0, 1, 2].map(letters), ["a", "ab", "b"].map(|it| Some(it.to_owned())));
}
