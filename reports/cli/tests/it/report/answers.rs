//! The words of a page, from the runs: its answer, which designs differ, and what each stratum shows.

use std::collections::BTreeMap;

use doublehold_history::Predicate;
use doublehold_statistics::{Interval, Reason, Scale, Unsupported, bound_words, rate_words};

use crate::report::case::{ASKED, COLUMNS, Case, NAMES, many};
use crate::report::numbers::table;
use crate::report::ranks::Apart;

/// Two digits of a share of runs.
fn two_digits(value: f64) -> String {
    let words = rate_words(value, Interval { low: value * 0.9, high: value * 1.1 }, Scale::Share);
    words.split(" (").next().expect("a number").to_owned()
}

/// A rate over cells as the answer has it; the clause of a rule alone where it has no line of its own.
enum Sentence {
    Line(String),
    TooSeldom(f64),
    NotSeen(f64),
}

fn told(case: &Case, cells: &[u64], predicate: Predicate) -> Sentence {
    let clause = match predicate {
        Predicate::P1 => "two clients believe they hold the lock",
        Predicate::P2 => "another client gets the lock before its holder's deadline",
        Predicate::P4 => "data is damaged",
        _ => "somebody waits too long",
    };
    let (mut values, mut bounds, mut is_seen, mut is_unknown) = (Vec::new(), Vec::new(), false, false);
    for cell in cells {
        is_seen |= case.letters(*cell, predicate).contains(&'v');
        match case.rate(*cell, predicate) {
            Ok(it) => values.push(it.value),
            Err(Unsupported { at_most: Some(bound), reason }) => {
                is_seen |= !matches!(reason, Reason::NoneSeen { .. });
                bounds.push(bound);
            }
            Err(_) => is_unknown = true,
        }
    }
    values.sort_by(f64::total_cmp);
    let bound = bounds.iter().copied().fold(0.0, f64::max);
    match (values.first(), values.last()) {
        (Some(low), Some(high)) if values.len() == cells.len() => {
            let (low, high) = (two_digits(*low), two_digits(*high));
            let span = if low == high { high } else { format!("{} to {high}", low.trim_end_matches(" %")) };
            Sentence::Line(format!("{clause} in {span} of runs"))
        }
        (_, Some(high)) => {
            let seen = if bound > *high { " (as seen)" } else { "" };
            Sentence::Line(format!("{clause} in up to {} of runs{seen}", two_digits(*high)))
        }
        _ if is_unknown => Sentence::Line(format!("{clause} at a rate that nobody knows")),
        _ if is_seen => Sentence::TooSeldom(bound),
        _ => Sentence::NotSeen(bound),
    }
}

/// The words about a design that is told apart as higher than all others, in a study of one point and more than two
/// designs.
fn outlier(case: &Case, cells: &[u64], predicate: Predicate, apart: &Apart) -> Option<String> {
    let is_above = |one: u64, other: u64| {
        let pair = (predicate, case.design(other), case.design(one));
        apart.contains(&pair) && case.is_known(one, predicate) && case.is_known(other, predicate)
    };
    let worst =
        *cells.iter().find(|one| cells.iter().all(|other| *one == other || is_above(**one, *other)))?;
    let value = |cell: u64| case.rate(cell, predicate).ok().map(|it| it.value);
    let next =
        cells.iter().filter(|cell| **cell != worst).filter_map(|cell| value(*cell)).fold(0.0, f64::max);
    let name = NAMES[case.design(worst)];
    (cells.len() > 2 && next > 0.0).then_some(())?;
    let (highest, next) = (two_digits(value(worst)?), two_digits(next));
    Some(format!("in {highest} of runs with `{name}` (others: up to {next} of runs)"))
}

/// Asserts the answer: how often each thing happens, over all cells with runs of a study that is shown as one point or
/// as a grid, and which designs are never told apart as worse.
pub(crate) fn assert_answer(case: &Case, markdown: &str, apart: &BTreeMap<u64, Apart>) {
    let answer: Vec<&str> = markdown
        .lines()
        .skip_while(|line| !line.starts_with("In simulated runs, over "))
        .skip(1)
        .take_while(|line| !line.starts_with("*Picture"))
        .filter(|line| !line.is_empty())
        .collect();
    let shown = case.shown();
    let cells: Vec<u64> = case.drawn.parts.keys().copied().collect();
    if cells.is_empty() {
        return;
    }
    let has_bound = |words: &str, bound: f64| {
        let expected = format!(": {} of runs", bound_words(bound, Scale::Share));
        answer.iter().any(|line| line.contains(words) && line.contains(&expected))
    };
    let (mut seldom, mut never) = (0.0_f64, 0.0_f64);
    for predicate in ASKED {
        match told(case, &cells, predicate) {
            Sentence::Line(line) => {
                let one = case.points().len() == 1;
                let outlier = one.then(|| outlier(case, &cells, predicate, &apart[&shown[0]])).flatten();
                let line = match outlier {
                    Some(words) => {
                        let (clause, _) = line.split_once(" in ").expect("a share");
                        format!("{clause} {words}")
                    }
                    None => line,
                };
                let is_told = answer.iter().any(|it| it.trim_end_matches([';', '.']) == format!("- {line}"));
                assert!(is_told, "`{line}` is not in {answer:#?}");
            }
            Sentence::TooSeldom(bound) => seldom = seldom.max(bound),
            Sentence::NotSeen(bound) => never = never.max(bound),
        }
    }
    assert!(seldom == 0.0 || has_bound("was seen too seldom", seldom), "{seldom}: {answer:#?}");
    assert!(never == 0.0 || has_bound("was not seen", never), "{never}: {answer:#?}");
    match case.points()[..] {
        [_] => assert_named(case, &cells, &answer, &apart[&shown[0]]),
        _ => assert_frontier(case, &cells, &answer),
    }
}

/// Asserts at how many points of a grid nothing was seen of what is seen first.
fn assert_frontier(case: &Case, cells: &[u64], answer: &[&str]) {
    let is_seen = |cell: u64, predicate: Predicate| case.letters(cell, predicate).contains(&'v');
    let counted = |it: Predicate| cells.iter().filter(|cell| is_seen(**cell, it)).count();
    let Some(predicate) = ASKED.into_iter().find(|it| (1..cells.len()).contains(&counted(*it))) else {
        return;
    };
    for (design, name) in NAMES.iter().enumerate().take(case.drawn.designs.min(3)) {
        let own: Vec<u64> = cells.iter().copied().filter(|cell| case.design(*cell) == design).collect();
        let silent = own.iter().filter(|cell| !is_seen(**cell, predicate)).count();
        let expected = format!("{silent} with `{name}`");
        assert!(answer.iter().any(|line| line.contains(&expected)), "{expected}: {answer:#?}");
    }
}

/// Asserts that a design is called worse by no rule only where that is so, and everything of it is known.
fn assert_named(case: &Case, cells: &[u64], answer: &[&str], apart: &Apart) {
    let told = |start: &str| answer.iter().any(|line| line.starts_with(start));
    if case.drawn.designs < 2 {
        assert!(told("There is one design"), "{answer:#?}");
        return;
    }
    if apart.is_empty() {
        assert!(told("No two designs are told apart."), "{answer:#?}");
        return;
    }
    let is_sure = |cell: u64| {
        COLUMNS.iter().all(|it| {
            let is_open =
                matches!(case.rate(cell, *it), Err(Unsupported { reason: Reason::Undecided { .. }, .. }));
            case.is_known(cell, *it) && !is_open
        })
    };
    let is_worse = |design: usize| apart.iter().any(|(_, _, higher)| *higher == design);
    let never_worse: Vec<&str> = cells
        .iter()
        .filter(|cell| is_sure(**cell) && !is_worse(case.design(**cell)))
        .map(|cell| NAMES[case.design(*cell)])
        .collect();
    let line = answer.iter().find_map(|line| line.strip_prefix("Worse by no rule: "));
    let named: Vec<&str> = line.into_iter().flat_map(|line| line.split('`').skip(1).step_by(2)).collect();
    let first: Vec<&str> = never_worse.iter().copied().take(3).collect();
    assert_eq!(named, first, "{answer:#?}");
    let worse = cells.iter().filter(|cell| is_worse(case.design(**cell))).count();
    let expected = match (never_worse.is_empty(), worse == cells.len()) {
        (true, true) => format!("Each of {} designs is worse than another by some rule.", cells.len()),
        (true, false) => format!("Of {} designs {worse} are worse than another by some rule;", cells.len()),
        (false, _) => "Worse by no rule: ".to_owned(),
    };
    assert!(told(&expected), "{expected}: {answer:#?}");
}

/// Asserts that a terminal shows the designs of each point in the order of the study.
pub(crate) fn assert_rows(case: &Case, order: &[u64], shown: &str) {
    let lines: Vec<&str> =
        shown.lines().skip_while(|line| !line.trim_start().starts_with("design")).collect();
    for (line, cell) in lines.iter().skip(1).zip(order) {
        assert_eq!(line.split_whitespace().next(), Some(NAMES[case.design(*cell)]), "{shown}");
    }
}

/// Asserts which designs a point's table tells apart, each against the first one.
pub(crate) fn assert_differences(case: &Case, order: &[u64], markdown: &str, apart: &BTreeMap<u64, Apart>) {
    let (best, others) = order.split_first().expect("there are designs");
    if others.is_empty() {
        return;
    }
    let point = best / case.drawn.designs as u64;
    let rows = table(markdown, "Which designs are told apart, and by how much");
    assert_eq!(rows.len(), others.len());
    for (row, cell) in rows.iter().zip(others) {
        let designs = (case.design(*cell), case.design(*best));
        assert_eq!(row[..2], [NAMES[designs.0], NAMES[designs.1]].map(str::to_owned));
        for (column, predicate) in (2..).zip(COLUMNS) {
            let is_known = |cell: u64| case.is_known(cell, predicate);
            let is_lower = |one: usize, other: usize| apart[&point].contains(&(predicate, one, other));
            let expected = match designs {
                _ if !is_known(*cell) || !is_known(*best) => "nothing to compare",
                (one, other) if is_lower(one, other) => "lower",
                (one, other) if is_lower(other, one) => "higher",
                _ => "not told apart",
            };
            let lines: Vec<&str> = row[column].split("<br>").collect();
            assert_eq!(lines[0], expected, "{predicate} of {designs:?}");
            assert!(
                lines.len() == 1 || !case.is_divided(),
                "runs that weigh differently are no pairs: {lines:?}"
            );
        }
    }
}

/// Asserts what is told of each stratum of a cell: how many of its runs violate a predicate, of how many that decided.
pub(crate) fn assert_strata(case: &Case, cell: u64, markdown: &str) {
    let summary = format!("<summary>The strata of {}</summary>", NAMES[case.design(cell)]);
    let rows = table(markdown, &summary);
    let parts: BTreeMap<u64, _> = case.parts(cell).into_iter().collect();
    let has_rest = parts.contains_key(&0);
    assert_eq!(rows.len(), case.drawn.header.strata.len() + usize::from(has_rest));
    for (stratum, row) in (0..).zip(&rows) {
        let Some(part) = parts.get(&stratum) else {
            assert!(row[3..].iter().all(|entry| entry == "not run") && row[2] == "0", "{row:?}");
            continue;
        };
        assert_eq!(row[2], part.runs.len().to_string());
        for (entry, predicate) in row[3..].iter().zip(COLUMNS) {
            let (violated, undecided) = (many(part, predicate, 'v'), many(part, predicate, '?'));
            let decided = part.runs.len() as u64 - undecided;
            let lines: Vec<&str> = entry.split("<br>").collect();
            let expected = format!("{violated} of {decided}");
            let doubt = format!("{undecided} undecided");
            match case.is_granted(cell, stratum, predicate) {
                true => assert_eq!(lines, ["0, as taken for granted"]),
                false if decided == 0 => assert_eq!(lines, ["not decided"]),
                false if undecided > 0 => assert_eq!(lines[1..], [expected.as_str(), doubt.as_str()]),
                false => assert_eq!(lines[1..], [expected.as_str()]),
            }
        }
    }
}

/// Asserts that the longest overlap is told wherever there is one.
pub(crate) fn assert_overlaps(case: &Case, order: &[u64], markdown: &str) {
    let rows = table(markdown, "Waiting for the lock, and how long two held it");
    for (row, cell) in rows.iter().zip(order) {
        for (entry, predicate) in row[3..5].iter().zip([Predicate::P2, Predicate::P1]) {
            let is_any = case.letters(*cell, predicate).contains(&'v');
            let is_told = entry.contains("longest ") && entry.split("<br>").count() > 1;
            assert!(if is_any { is_told } else { entry == "none" }, "{predicate} of {cell}: {entry}");
        }
    }
}
