//! Each number on the page is what `statistics` says of the counts.

use doublehold::statistics::{
    Confidence, Exposure, MeanPerRun, Paired, PartlyDecided, Proportion, Scale, Stratified, range_words,
    rate_words,
};
use doublehold_history::Predicate;

use crate::made::{Folder, batch, header};

/// The order of columns.
const COLUMNS: [Predicate; 6] =
    [Predicate::P2, Predicate::P1, Predicate::P4, Predicate::P3, Predicate::WR, Predicate::LV];

/// How many of 500 runs of a design violate a predicate, and how many are undecided.
fn counts(design: u64, predicate: Predicate) -> (u64, u64) {
    let place = COLUMNS.iter().position(|it| *it == predicate).expect("a column") as u64;
    (design * 7 + place * 3, design * place)
}

/// The cells of a Markdown table below a line that begins so: words only.
fn table(markdown: &str, after: &str) -> Vec<Vec<String>> {
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
fn rates_and_intervals_are_those_of_the_counts() {
    let folder = made();
    let markdown = folder.read("report.md");
    let rows = table(&markdown, "## Ranking");
    assert_eq!(rows.len(), 3);
    for (design, row) in (0..3).zip(&rows) {
        assert_eq!(
            row[1].split("<br>").next(),
            Some(["a", "b", "c"][design as usize]),
            "fewer violations come first"
        );
        for (predicate, cell) in COLUMNS.iter().zip(&row[2..8]) {
            let (violated, undecided) = counts(design, *predicate);
            let runs = PartlyDecided::new(violated, undecided, 500);
            let part = runs.decided();
            let (range, interval) = runs.range().zip(runs.wilson(Confidence::P95)).expect("there were runs");
            let expected = if violated == 0 {
                let bound = runs.at_most(Confidence::P95).expect("there were runs");
                format!("0 of {}<br>{}", part.of(), doublehold::statistics::bound_words(bound, Scale::Share))
            } else if undecided * 10 > violated {
                in_a_cell(&range_words(range, interval, Scale::Share))
            } else {
                in_a_cell(&rate_words(part.estimate().expect("there were runs"), interval, Scale::Share))
            };
            let undecided = if undecided > 0 { format!("<br>{undecided} undecided") } else { String::new() };
            assert_eq!(*cell, expected + &undecided, "{predicate} of {design}");
        }
    }
    let rate = |violated: u64| {
        let part = Proportion::new(violated, 500);
        part.exact(Confidence::P95).expect("there were runs")
    };
    let (low, high) = (rate(7).low, rate(7).high);
    let exact = rate_words(0.014, doublehold::statistics::Interval { low, high }, Scale::Share);
    let exact = exact.split_once(" (").expect("an interval").1.trim_end_matches(')').to_owned();
    let title = format!("7 of 500 runs that decided violated it; exact interval {exact}");
    assert!(folder.read("report.html").contains(&title), "{title}");
}

#[test]
fn rates_per_grant_and_per_hour_are_those_of_the_counts() {
    let folder = made();
    let markdown = folder.read("report.md");
    let part = Proportion::new(14, 500);
    let per_run = Stratified::plain(part).estimate(Confidence::P95);
    for (heading, sum, unit, many) in [
        ("#### Per million granted calls", 6, 1.0, 1e6),
        ("#### Per 1,000 hours of operation", 9_000, 3.6e6, 1e3),
    ] {
        let mean = MeanPerRun { runs: 500, sum: 500 * sum, sum_of_squares: 500 * sum * sum };
        let rate =
            Exposure { strata: vec![(1.0, mean)], unit }.rate(per_run, Confidence::P95).expect("a rate");
        let interval = doublehold::statistics::Interval {
            low: rate.interval.low * many,
            high: rate.interval.high * many,
        };
        let expected = in_a_cell(&rate_words(rate.value * many, interval, Scale::Number));
        // Design c violates P2 in 14 runs.
        assert_eq!(table(&markdown, heading)[2][1], expected, "{heading}");
    }
}

#[test]
fn differences_are_those_of_the_pairs() {
    let folder = made();
    let markdown = folder.read("report.md");
    let rows = table(&markdown, "### Which designs are told apart");
    // The first runs violate: of 500 pairs of c and a, 14 are violated with c only.
    let paired = Paired { both: 0, only_first: 14, only_second: 0, neither: 486 };
    let interval = paired.interval(Confidence::P95).expect("there are pairs");
    assert!(interval.low > 0.0);
    let words = rate_words(paired.difference().expect("there are pairs"), interval, Scale::Share);
    assert_eq!(rows[1][..3], ["c".to_owned(), "a".to_owned(), format!("higher<br>+{}", in_a_cell(&words))]);
    let told = markdown.lines().find(|line| line.contains("P2, valid overlap:")).expect("a sentence");
    // Seven seeds on one side are not enough among eighteen comparisons, and fourteen are.
    let sentence = "rank 1, not told apart: `a` (none in 500 runs, so at most 0.6 %) and `b` (1.4 % of runs); rank 2: \
                    `c` (2.8 % of runs).";
    assert!(told.contains(sentence), "{told}");
}

#[test]
fn exports_have_every_cell_with_the_same_numbers() {
    let folder = made();
    let json: serde_json::Value = serde_json::from_str(&folder.read("cells.json")).expect("JSON");
    let cells = json["studies"][0]["cells"].as_array().expect("cells");
    assert_eq!(cells.len(), 3);
    let rate = &cells[2]["rates"]["P2"];
    let interval = Proportion::new(14, 500).wilson(Confidence::P95).expect("there were runs");
    let near = |value: &serde_json::Value, expected: f64| {
        let value = value.as_f64().expect("a number");
        assert!((value - expected).abs() <= expected * 1e-8, "{value} and {expected}");
    };
    assert_eq!((rate["violated"].as_u64(), rate["decided"].as_u64()), (Some(14), Some(500)));
    near(&rate["rate"], 0.028);
    near(&rate["low"], interval.low);
    near(&rate["high"], interval.high);
    near(&cells[2]["grants_per_run"], 6.0);
    near(&cells[2]["hours_per_run"], 0.0025);
    let csv = folder.read("cells.csv");
    let mut lines = csv.lines();
    let heading: Vec<&str> = lines.next().expect("a heading").split(',').collect();
    let last: Vec<&str> = lines.last().expect("a cell").split(',').collect();
    assert_eq!(heading.len(), last.len());
    let column = |name: &str| last[heading.iter().position(|it| *it == name).expect("a column")];
    assert_eq!((column("design"), column("P2_violated"), column("P2_rate")), ("c", "14", "0.028"));
}
