//! What a page says of a point in words, from the runs: its answer, which designs differ, and what each stratum shows.

use std::collections::BTreeMap;

use doublehold_history::Predicate;
use doublehold_statistics::{Reason, Scale, Unsupported, bound_words, range_words, rate_words};

use crate::report::case::{COLUMNS, Case, NAMES, RANKED, Rate, many};
use crate::report::numbers::table;
use crate::report::ranks::Apart;

/// A number before its interval.
fn first(words: &str) -> &str {
    words.split(" (").next().unwrap_or(words)
}

fn runs(count: usize) -> String {
    if count == 1 { "1 run".to_owned() } else { format!("{count} runs") }
}

/// A rate as the answer has it.
fn words(case: &Case, cell: u64, predicate: Predicate, scale: Scale) -> String {
    let letters = case.letters(cell, predicate);
    let are = |wanted: char| letters.iter().filter(|it| **it == wanted).count();
    let (violated, undecided) = (are('v'), are('?'));
    let none = format!("none in {}", runs(letters.len() - undecided));
    match case.rate(cell, predicate) {
        Ok(it) => format!("{} of runs", first(&rate_words(it.value, it.interval, scale))),
        Err(Unsupported { reason: Reason::Undecided { range, interval }, .. }) => {
            let range = range_words(range, interval, scale);
            format!("{} of runs, as {undecided} are undecided", first(&range))
        }
        Err(Unsupported { at_most: Some(bound), .. }) => {
            let bound = bound_words(bound, scale);
            match (violated > 0, case.is_divided(), undecided > 0) {
                (true, ..) => format!("{bound} of runs"),
                (_, true, _) => format!("not seen, {bound} of runs"),
                (_, _, true) => format!("{none}, and {undecided} undecided, so {bound}"),
                _ => format!("{none}, so {bound}"),
            }
        }
        Err(_) => "no run decided it".to_owned(),
    }
}

/// The sentence about one predicate: the designs by rank.
fn sentence(
    case: &Case,
    cells: &[u64],
    predicate: Predicate,
    (apart, scale): (&BTreeMap<u64, Apart>, Scale),
) -> String {
    let mut ranks: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for cell in cells {
        if let Some(rank) = case.rank(*cell, predicate, apart) {
            ranks.entry(rank).or_default().push(*cell);
        }
    }
    let known: Vec<u64> = ranks.values().flatten().copied().collect();
    let rates: Vec<Rate> = known.iter().map(|cell| case.rate(*cell, predicate)).collect();
    let is_silent = |cell: &u64| !case.letters(*cell, predicate).contains(&'v');
    let name =
        |cell: &u64| format!("`{}` ({})", NAMES[case.design(*cell)], words(case, *cell, predicate, scale));
    let list = |cells: &[u64]| {
        let names: Vec<String> = cells.iter().map(name).collect();
        let (last, others) = names.split_last().expect("there is one");
        if others.is_empty() { last.clone() } else { format!("{} and {last}", others.join(", ")) }
    };
    match known[..] {
        [] => return "no run decided it.".to_owned(),
        [one] => return format!("{}.", words(case, one, predicate, scale)),
        _ if known.iter().all(is_silent) => {
            let highest = rates.iter().filter_map(|rate| rate.as_ref().err()?.at_most).fold(0.0, f64::max);
            return format!("seen with no design; {} of runs.", bound_words(highest, Scale::Share));
        }
        _ => {}
    }
    if ranks.len() == 1 {
        let no = if rates.iter().all(Result::is_err) { "no rate can be stated, and no" } else { "no" };
        return format!("{no} two designs are told apart: {}.", list(&known));
    }
    let of_rank = |(rank, cells): (&u64, &Vec<u64>)| {
        let not_apart = if cells.len() > 1 { ", not told apart" } else { "" };
        format!("rank {rank}{not_apart}: {}", list(cells))
    };
    ranks.iter().map(of_rank).collect::<Vec<_>>().join("; ") + "."
}

/// Asserts the answer at a point, where the page has one: below the line with its value, if there are several.
pub(crate) fn assert_answer(case: &Case, point: u64, markdown: &str, apart: &BTreeMap<u64, Apart>) {
    let cells = case.cells_at(point);
    let value = &case.drawn.header.axes[0].values[point as usize];
    let from = markdown.find(&format!("> With `lock.ttl = {value}`")).unwrap_or(0);
    if cells.iter().all(|cell| case.parts(*cell).is_empty()) {
        return;
    }
    for predicate in RANKED {
        let rates: Vec<Rate> = cells.iter().map(|cell| case.rate(*cell, predicate)).collect();
        let expected =
            sentence(case, &cells, predicate, (apart, case.scale(&rates, 1.0, (Scale::Share, 1e-4))));
        let start = format!("> **{}, {}:** ", predicate.as_str(), predicate.name());
        let told = markdown[from..].lines().find_map(|line| line.strip_prefix(&start));
        assert_eq!(told, Some(expected.as_str()), "{predicate} at {value}");
    }
}

/// From which rate to which a design goes over the grid.
fn range(case: &Case, design: usize, predicate: Predicate) -> String {
    let cells: Vec<u64> =
        case.drawn.parts.keys().copied().filter(|cell| case.design(*cell) == design).collect();
    let (mut values, mut bounds) = (Vec::new(), Vec::new());
    for cell in cells {
        match case.rate(cell, predicate) {
            Ok(it) => values.push((it.value, cell)),
            Err(it) if !case.letters(cell, predicate).contains(&'v') => {
                values.extend(it.at_most.map(|_| (0.0, cell)))
            }
            Err(it) => bounds.extend(it.at_most),
        }
    }
    values.sort_by(|one, other| one.0.total_cmp(&other.0));
    let of = |(_, cell): (f64, u64)| words(case, cell, predicate, Scale::Share);
    let points = |count: usize| if count == 1 { "1 point".to_owned() } else { format!("{count} points") };
    let mut parts = Vec::new();
    match (values.first().copied(), values.last().copied()) {
        (None, _) if bounds.is_empty() => return "decided nowhere".to_owned(),
        (_, Some((0.0, _))) if bounds.is_empty() => return "seen nowhere".to_owned(),
        (_, Some((0.0, _))) => parts.push(format!("not seen at {}", points(values.len()))),
        (Some((0.0, _)), Some(high)) => parts.push(format!("from not seen to {}", of(high))),
        (Some(low), Some(high)) if low.0 < high.0 => {
            parts.push(format!("from {} to {}", of(low).trim_end_matches(" of runs"), of(high)));
        }
        (_, Some(high)) => parts.push(of(high)),
        (_, None) => {}
    }
    if !bounds.is_empty() {
        let highest = bounds.iter().copied().fold(0.0, f64::max);
        let bound = bound_words(highest, Scale::Share);
        parts.push(format!("without a number at {} ({bound} there)", points(bounds.len())));
    }
    parts.join(", ")
}

/// Asserts the answer over a grid of more points than have tables: the designs by the number of points at which each
/// has rank 1.
pub(crate) fn assert_over_grid(case: &Case, markdown: &str) {
    let points = case.points();
    let apart = case.apart_by_intervals(&points, &RANKED);
    for predicate in RANKED {
        let firsts = |design: usize| {
            let at = |point: &&u64| {
                case.rank(**point * case.drawn.designs as u64 + design as u64, predicate, &apart) == Some(1)
            };
            points.iter().filter(at).count()
        };
        let mut order: Vec<usize> = (0..case.drawn.designs).collect();
        order.sort_by_key(|design| (usize::MAX - firsts(*design), *design));
        let of = |design: &usize| {
            let rank = format!(", rank 1 at {} of {} points", firsts(*design), points.len());
            let rank = if case.drawn.designs > 1 { rank } else { String::new() };
            format!("`{}` {}{rank}", NAMES[*design], range(case, *design, predicate))
        };
        let expected = order.iter().map(of).collect::<Vec<_>>().join("; ") + ".";
        let start = format!("> **{}, {}:** ", predicate.as_str(), predicate.name());
        assert_eq!(markdown.lines().find_map(|line| line.strip_prefix(&start)), Some(expected.as_str()));
    }
}

/// Asserts the ranking that a terminal shows of each point: the rank by P2, and the design.
pub(crate) fn assert_rows(case: &Case, order: &[u64], shown: &str, apart: &BTreeMap<u64, Apart>) {
    let lines = shown.lines().skip_while(|line| !line.trim_start().starts_with("P2 rank")).skip(1);
    for (line, cell) in lines.zip(order) {
        let rank = case.rank(*cell, Predicate::P2, apart).map_or("–".to_owned(), |rank| rank.to_string());
        let words: Vec<&str> = line.split_whitespace().take(2).collect();
        assert_eq!(words, [rank.as_str(), NAMES[case.design(*cell)]]);
    }
}

/// Asserts which designs a point's table tells apart, each against the first row of the ranking.
pub(crate) fn assert_differences(case: &Case, order: &[u64], markdown: &str, apart: &BTreeMap<u64, Apart>) {
    let (best, others) = order.split_first().expect("there are designs");
    if others.is_empty() {
        return;
    }
    let point = best / case.drawn.designs as u64;
    let rows = table(markdown, "### Which designs are told apart");
    assert_eq!(rows.len(), others.len());
    for (row, cell) in rows.iter().zip(others) {
        let designs = (case.design(*cell), case.design(*best));
        assert_eq!(row[..2], [NAMES[designs.0], NAMES[designs.1]].map(str::to_owned));
        for (column, predicate) in (2..).zip(COLUMNS) {
            let is_known = |cell: u64| case.rank(cell, predicate, apart).is_some();
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
            match case.is_granted(cell, stratum) {
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
    let rows = table(markdown, "#### Waiting for the lock, and how long two held it");
    for (row, cell) in rows.iter().zip(order) {
        for (entry, predicate) in row[3..5].iter().zip([Predicate::P2, Predicate::P1]) {
            let is_any = case.letters(*cell, predicate).contains(&'v');
            let is_told = entry.contains("longest ") && entry.split("<br>").count() > 1;
            assert!(if is_any { is_told } else { entry == "none" }, "{predicate} of {cell}: {entry}");
        }
    }
}
