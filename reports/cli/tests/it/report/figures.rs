//! Each number of `cells.json`, `cells.csv` and the tables of the page, worked out from the runs themselves: rates,
//! letters, grants, hours, waits, recoveries and overlaps of designs at points in strata,.

use std::collections::BTreeMap;

use doublehold_history::Predicate;
use doublehold_pages::page::{Material, pages};
use doublehold_statistics::{
    Confidence, Estimate, Interval, PartlyDecided, Reason, Scale, Unsupported, estimate_words, rate_words,
};
use doublehold_sweeps::results::Results;
use serde_json::Value;

use crate::kit::Folder;
use crate::report::answers::{
    assert_answer, assert_differences, assert_overlaps, assert_rows, assert_strata,
};
use crate::report::case::{COLUMNS, Case, Counted, NAMES, Rate};
use crate::report::drawn::{Drawn, Letter, Part, Run};
use crate::report::example;
use crate::report::numbers::table;
use crate::report::ranks::{Apart, near};

fn optional(value: &Value, expected: Option<f64>) -> bool {
    expected.map_or(value.is_null(), |expected| near(value, expected))
}

/// Asserts what a cell's file says of a rate.
fn assert_rate(case: &Case, cell: u64, predicate: Predicate, told: &Value) {
    let letters = case.letters(cell, predicate);
    let many = |wanted: Letter| Some(letters.iter().filter(|it| **it == wanted).count() as u64);
    assert_eq!((told["violated"].as_u64(), told["undecided"].as_u64()), (many('v'), many('?')));
    let decided = letters.iter().filter(|it| **it != '?').count() as u64;
    assert_eq!(told["decided"].as_u64(), Some(decided));
    let rate = case.rate(cell, predicate);
    let (value, plain) = (rate.as_ref().ok().map(|it| it.value), rate.as_ref().ok().map(|it| it.plain_runs));
    let (low, high) = match rate {
        Ok(it) => (Some(it.interval.low), Some(it.interval.high)),
        Err(Unsupported { reason: Reason::Undecided { interval, .. }, at_most }) => {
            (Some(interval.low), at_most)
        }
        Err(Unsupported { at_most, .. }) => (at_most.map(|_| 0.0), at_most),
    };
    let pairs = [("rate", value), ("low", low), ("high", high), ("plain_runs", plain)];
    for (field, expected) in pairs {
        assert!(
            optional(&told[field], expected),
            "{predicate} of {cell}: {field}: {expected:?} is not in {told}"
        );
    }
    assert_eq!(told["why"].as_str(), rate.err().map(|it| it.to_string()).as_deref());
}

/// Lengths with what each counts for: the file's quantiles are of the buckets that these are in, one part in 32 wide.
fn assert_spread(told: &Value, lengths: &mut [(f64, f64)], what: &str) {
    lengths.sort_by(|one, other| one.0.total_cmp(&other.0));
    assert_eq!(told["count"].as_u64(), Some(lengths.len() as u64), "{what}");
    let mass: f64 = lengths.iter().map(|it| it.1).sum();
    let squares: f64 = lengths.iter().map(|it| it.1 * it.1).sum();
    let mean = lengths.iter().map(|it| it.0 * it.1).sum::<f64>() / mass;
    let effective = if squares > 0.0 { mass * mass / squares } else { 0.0 };
    let longest = lengths.last().map(|it| it.0);
    assert!(
        optional(&told["longest_s"], longest) && optional(&told["mean_s"], longest.map(|_| mean)),
        "{what}: {told}"
    );
    let quantile = |share: f64, fewest: f64| {
        let mut below = 0.0;
        let reached = lengths.iter().find(|it| {
            below += it.1;
            below >= mass * share * (1.0 - 1e-9)
        });
        reached.filter(|_| effective >= fewest * (1.0 - 1e-9)).map(|it| it.0)
    };
    for (field, expected) in [("median_s", quantile(0.5, 6.0)), ("p99_s", quantile(0.99, 100.0))] {
        let is_near = |value: f64| told[field].as_f64().is_some_and(|it| (it / value - 1.0).abs() < 0.035);
        let is_so = expected.map_or(told[field].is_null(), is_near);
        assert!(is_so, "{what}: {field} of {effective} is {expected:?}: {told}");
    }
    let error = (effective > 1.0 + 1e-9).then(|| {
        let off: f64 = lengths.iter().map(|it| (it.0 - mean).powi(2) * it.1 * it.1).sum();
        1.96 * (off / (mass * mass) * effective / (effective - 1.0)).sqrt()
    });
    // Each length is off by half of its bucket's width.
    let off = longest.unwrap_or(0.0) / 32.0 * 1.96 / (effective - 1.0).max(1e-9).sqrt();
    let is_near = |value: f64| told["mean_error_s"].as_f64().is_some_and(|it| (it - value).abs() <= off);
    assert!(error.map_or(told["mean_error_s"].is_null(), is_near), "{what}: {error:?}: {told}");
}

/// Asserts what a cell's file says besides rates.
fn assert_cell(case: &Case, cell: u64, told: &Value) {
    let parts = case.parts(cell);
    let runs: u64 = parts.iter().map(|(_, part)| part.runs.len() as u64).sum();
    let panicked = parts.iter().flat_map(|(_, part)| &part.runs).filter(|run| run.is_panicked).count() as u64;
    assert_eq!((told["runs"].as_u64(), told["panicked"].as_u64()), (Some(runs), Some(panicked)));
    let hours = case.mean(cell, |run| run.operated_ms).map(|ms| ms / 3_600_000.0);
    assert!(optional(&told["grants_per_run"], case.mean(cell, |run| run.grants)), "{told}");
    assert!(optional(&told["hours_per_run"], hours), "{told}");
    let lengths = |of: &dyn Fn(&Run) -> Vec<u64>| -> Vec<(f64, f64)> {
        let of_part = |(_, part): &(u64, &Part)| {
            let each = part.weight / part.runs.len() as f64;
            part.runs.iter().flat_map(of).map(|ms| (ms as f64 / 1e3, each)).collect::<Vec<_>>()
        };
        parts.iter().flat_map(of_part).collect()
    };
    assert_spread(&told["time_to_acquire"], &mut lengths(&|run| run.obtained_ms.clone()), "waits");
    assert_spread(&told["recovery"], &mut lengths(&|run| run.recovered_ms.clone()), "deaths");
    let work: [(&str, Counted); 3] =
        [("applied", |run| run.work[0]), ("refused", |run| run.work[1]), ("given_up", |run| run.work[2])];
    for (name, of) in work {
        let mean = case.mean(cell, of);
        assert!(optional(&told["work"][format!("{name}_per_run")], mean), "{name}: {told}");
    }
    let lost = &told["lost_locks"];
    let (mut before, mut after) =
        (lengths(&|run| run.told(|ms| ms < 0)), lengths(&|run| run.told(|ms| ms > 0)));
    let never = lengths(&|run| run.told_ms.iter().filter(|told| told.is_none()).map(|_| 0).collect());
    let weigh = |lengths: &[(f64, f64)]| lengths.iter().map(|it| it.1).sum::<f64>();
    let sides = [weigh(&before), weigh(&after), weigh(&never)];
    let all: f64 = sides.iter().sum();
    for (name, part) in ["heard_before", "heard_after", "never_heard"].into_iter().zip(sides) {
        assert!(optional(&lost[name], (all > 0.0).then(|| part / all)), "{name}: {lost}");
    }
    assert_eq!(lost["lost"].as_u64(), Some((before.len() + after.len() + never.len()) as u64));
    assert_spread(&lost["before"], &mut before, "heard before");
    assert_spread(&lost["after"], &mut after, "heard after");
    for predicate in [Predicate::P1, Predicate::P2] {
        let mut all = lengths(&|run| run.overlaps_ms.get(&predicate).cloned().unwrap_or_default());
        match &told["overlaps"][predicate.as_str()] {
            Value::Null => assert!(all.is_empty()),
            told => assert_spread(told, &mut all, "overlaps"),
        }
    }
    let (mut obtained, mut waited, mut waits) = (0.0, 0.0, 0);
    for (_, part) in &parts {
        let with: u64 = part.runs.iter().map(|run| run.obtained_ms.len() as u64).sum();
        let all = with + part.runs.iter().map(|run| run.missed).sum::<u64>();
        obtained += part.weight * with as f64 / part.runs.len() as f64;
        waited += part.weight * all as f64 / part.runs.len() as f64;
        waits += all;
    }
    assert_eq!(told["waits"].as_u64(), Some(waits));
    assert!(optional(&told["available"], (waited > 0.0).then(|| obtained / waited)), "{told}");
}

/// A rate in so many units, as an entry of a table has it.
fn entry(rate: &Rate, many: f64, scale: Scale) -> String {
    let times = |it: Interval| Interval { low: it.low * many, high: it.high * many };
    let scaled = match *rate {
        Ok(it) => Ok(Estimate { value: it.value * many, interval: times(it.interval), ..it }),
        Err(Unsupported { reason: Reason::Undecided { range, interval }, at_most }) => {
            let reason = Reason::Undecided { range: times(range), interval: times(interval) };
            Err(Unsupported { reason, at_most })
        }
        Err(it) => Err(Unsupported { at_most: it.at_most.map(|bound| bound * many), ..it }),
    };
    estimate_words(&scaled, scale).replace(" (", "<br>").trim_end_matches(')').to_owned()
}

/// A rate per run as the ranking has it, up to what stands below it.
fn ranked_entry(case: &Case, cell: u64, predicate: Predicate, (rate, scale): (&Rate, Scale)) -> String {
    let letters = case.letters(cell, predicate);
    let decided = letters.iter().filter(|it| **it != '?').count();
    let violated = letters.iter().filter(|it| **it == 'v').count();
    let words = entry(rate, 1.0, scale);
    let counted = format!("{violated} of {decided}");
    match rate {
        Err(Unsupported { reason: Reason::NoneSeen { .. }, .. }) if case.is_divided() => {
            format!("not seen<br>{words}")
        }
        Err(Unsupported { reason: Reason::NoneSeen { .. }, .. }) => format!("{counted}<br>{words}"),
        Err(Unsupported { reason: Reason::Undecided { .. }, .. }) | Ok(_) => words,
        Err(Unsupported { at_most: Some(_), .. }) => format!("{words}<br>no number"),
        Err(_) => "not decided".to_owned(),
    }
}

/// The exact interval, which is told where one points at a rate; nothing where there is none.
fn exact(case: &Case, cell: u64, predicate: Predicate) -> String {
    let Some(it) = case.rate(cell, predicate).ok().filter(|_| !case.is_divided()) else {
        return String::new();
    };
    let letters = case.letters(cell, predicate);
    let are = |wanted: Letter| letters.iter().filter(|it| **it == wanted).count() as u64;
    let runs = PartlyDecided::new(are('v'), are('?'), letters.len() as u64);
    let words = rate_words(it.value, runs.exact(Confidence::P95).expect("there are runs"), Scale::Share);
    let interval = words.split_once(" (").expect("an interval").1.trim_end_matches(')');
    format!(
        "{} of {} runs that decided violated it; exact interval {interval}",
        are('v'),
        runs.decided_part().runs()
    )
}

/// Asserts the rates of the designs at a point, those per run and those per grant.
fn assert_tables(case: &Case, point: u64, (markdown, html): (&str, &str)) {
    let cells = case.cells_at(point);
    let names: Vec<&str> = cells.iter().map(|cell| NAMES[case.design(*cell)]).collect();
    let named = |rows: &[Vec<String>]| rows.iter().map(|row| row[0].clone()).collect::<Vec<_>>();
    let (first, by_run) =
        (table(markdown, "### With"), table(markdown, "Shares of runs, as they were counted"));
    assert_eq!(
        (named(&first), named(&by_run)),
        (names.iter().map(|it| (*it).to_owned()).collect(), named(&first))
    );
    for (column, predicate) in (1..).zip(COLUMNS) {
        let rates: Vec<_> = cells.iter().map(|cell| case.rate(*cell, predicate)).collect();
        let scale = case.scale(&rates, 1.0, (Scale::Share, 1e-4));
        for (place, (cell, rate)) in cells.iter().zip(&rates).enumerate() {
            let expected = ranked_entry(case, *cell, predicate, (rate, scale));
            let rest = by_run[place][column].strip_prefix(&expected);
            let is_so = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("<br>"));
            assert!(is_so, "{predicate} of {cell}: {expected} and not {}", by_run[place][column]);
            assert!(html.contains(&exact(case, *cell, predicate)), "{predicate} of {cell}");
            let told = match rate {
                Err(Unsupported { at_most: None, .. }) => "unknown".to_owned(),
                rate => entry(rate, 1.0, scale),
            };
            assert!(
                first[place][column].starts_with(&told),
                "{predicate} of {cell}: {}",
                first[place][column]
            );
        }
    }
    let rows = table(markdown, "Per million granted calls");
    assert_eq!(named(&rows), named(&first));
    for (column, predicate) in (1..).zip(COLUMNS) {
        let unit: (Counted, f64) = (|run| run.grants, 1.0);
        let rates: Vec<_> = cells.iter().map(|cell| case.per_unit(*cell, predicate, unit)).collect();
        let scale = case.scale(&rates, 1e6, (Scale::Number, 1e-3));
        for (row, rate) in rows.iter().zip(&rates) {
            assert_eq!(row[column], entry(rate, 1e6, scale), "per million grants: {predicate} of {}", row[0]);
        }
    }
}

/// Asserts that two designs of a point share a letter unless they are told apart.
fn assert_letters(case: &Case, point: u64, told: &[Value], apart: &BTreeMap<u64, Apart>) {
    let cells = case.cells_at(point);
    let letters = |cell: u64, predicate: Predicate| -> Option<String> {
        let of_cell = told.iter().find(|it| it["cell"].as_u64() == Some(cell)).expect("a line");
        of_cell["rates"][predicate.as_str()]["letters"].as_str().map(str::to_owned)
    };
    for predicate in Predicate::ALL {
        let known: Vec<u64> = cells.iter().copied().filter(|cell| case.is_known(*cell, predicate)).collect();
        for cell in &cells {
            let has = letters(*cell, predicate).is_some();
            assert_eq!(has, known.contains(cell) && known.len() > 1, "{predicate} of {cell}");
        }
        for (one, other) in known.iter().flat_map(|one| known.iter().map(move |other| (*one, *other))) {
            let Some((first, second)) = letters(one, predicate).zip(letters(other, predicate)) else {
                continue;
            };
            let designs = (case.design(one), case.design(other));
            let is_apart = apart[&point]
                .iter()
                .any(|(of, low, high)| *of == predicate && [(*low, *high), (*high, *low)].contains(&designs));
            let shares = first.chars().any(|letter| second.contains(letter));
            assert_eq!(shares, !is_apart, "{predicate} of {one} and {other}: {first} and {second}");
        }
    }
}

/// The part of a page that is about one point.
fn about<'a>(markdown: &'a str, value: &str) -> &'a str {
    let at = markdown.find(&format!("### With `lock.ttl = {value}`"));
    &markdown[at.unwrap_or_else(|| panic!("nothing about {value} in {markdown}"))..]
}

/// Asserts that a line of `cells.csv` has the numbers of `cells.json`.
fn assert_line(heading: &csv::StringRecord, line: &csv::StringRecord, told: &Value) {
    let whole = ["cell", "runs", "panicked", "grants_per_run", "hours_per_run", "waits", "available"];
    let mut pairs: Vec<(String, &Value)> = whole.iter().map(|key| ((*key).to_owned(), &told[*key])).collect();
    let (acquire, recovery) = (&told["time_to_acquire"], &told["recovery"]);
    pairs.extend(["median_s", "p99_s"].map(|key| (format!("acquire_{key}"), &acquire[key])));
    pairs.extend(["mean_s", "mean_error_s"].map(|key| (format!("recovery_{key}"), &recovery[key])));
    let of_work = ["applied_per_run", "refused_per_run", "given_up_per_run"];
    pairs.extend(of_work.map(|key| (key.to_owned(), &told["work"][key])));
    let of_news = ["lost", "heard_before", "heard_after", "never_heard"];
    pairs.extend(of_news.map(|key| (key.to_owned(), &told["lost_locks"][key])));
    for (predicate, rate) in told["rates"].as_object().expect("rates") {
        let keys = ["violated", "undecided", "rate", "low", "high"];
        pairs.extend(keys.map(|key| (format!("{predicate}_{key}"), &rate[key])));
    }
    for predicate in ["P1", "P2"] {
        let keys = ["median_s", "p99_s", "longest_s"];
        pairs.extend(
            keys.map(|key| (format!("{predicate}_overlap_{key}"), &told["overlaps"][predicate][key])),
        );
    }
    assert_eq!(heading.len(), line.len());
    // The study, the design, the axis and the letters of each predicate are texts.
    assert_eq!(heading.len(), pairs.len() + 3 + Predicate::ALL.len());
    for predicate in Predicate::ALL {
        let at = heading.iter().position(|it| it == format!("{predicate}_letters")).expect("a column");
        assert_eq!(&line[at], told["rates"][predicate.as_str()]["letters"].as_str().unwrap_or_default());
    }
    let texts = ["design", "lock.ttl"].map(|key| heading.iter().position(|it| it == key).map(|at| &line[at]));
    assert_eq!(texts, [told["design"].as_str(), told["at"]["lock.ttl"].as_str()]);
    for (key, value) in pairs {
        let at = heading.iter().position(|it| it == key).unwrap_or_else(|| panic!("no column {key}"));
        assert_eq!(line[at].parse::<f64>().ok(), value.as_f64(), "{key}");
    }
}

/// What was met, lest the records show too little.
#[derive(Default)]
struct Met {
    /// Designs that are told apart.
    apart: usize,
    /// Rates with a stratum that is taken to hold.
    granted: u32,
    /// Rates without a number.
    unstated: u32,
}

/// Writes the records of a case and its example, and compares the files of its report.
fn assert_report(case: &Case, met: &mut Met) {
    let folder = Folder::new();
    folder.records(&case.drawn.header, &case.drawn.batches);
    if let Some(design) = case.refuted {
        let mut example = example(design as u64, NAMES[design]);
        example.size.to.insert("faults".to_owned(), 0);
        folder.examples(&[example]);
    }
    let output = folder.report(&[]);
    assert_eq!(output.status, Some(0), "{}", output.stderr);
    let json: Value = serde_json::from_str(&folder.read("cells.json")).expect("JSON");
    let (apart, shown, designs) = (case.apart(), case.shown(), case.drawn.designs as u64);
    met.apart += apart.values().map(Apart::len).sum::<usize>();
    let cells = json["studies"][0]["cells"].as_array().expect("cells");
    let has_line = |cell: &u64| case.drawn.parts.contains_key(cell) || shown.contains(&(cell / designs));
    let expected = (0..case.drawn.points * designs).filter(has_line);
    assert!(cells.iter().filter_map(|it| it["cell"].as_u64()).eq(expected), "the cells that have lines");
    let mut reader = csv::Reader::from_path(folder.path("cells.csv")).expect("it was written");
    let heading = reader.headers().expect("a heading").clone();
    let lines: Vec<csv::StringRecord> = reader.records().map(|line| line.expect("a line")).collect();
    assert_eq!(lines.len(), cells.len());
    for (told, line) in cells.iter().zip(&lines) {
        let cell = told["cell"].as_u64().expect("a number");
        assert_eq!(told["design"], NAMES[case.design(cell)]);
        assert_cell(case, cell, told);
        assert_line(&heading, line, told);
        for predicate in Predicate::ALL {
            let rate = &told["rates"][predicate.as_str()];
            assert_rate(case, cell, predicate, rate);
            met.unstated += u32::from(rate["rate"].is_null());
            met.granted += u32::from(case.is_granted(cell, 0, predicate));
        }
    }
    let (markdown, html) = (folder.read("report.md"), folder.read("report.html"));
    for point in shown {
        let value = &case.drawn.header.axes[0].values[point as usize];
        let about = about(&markdown, value);
        let order = case.cells_at(point);
        assert_tables(case, point, (about, &html));
        assert_letters(case, point, cells, &apart);
        assert_differences(case, &order, about, &apart);
        assert_overlaps(case, &order, about);
        let terminal = &output.stdout;
        let from = terminal.find(&format!("with lock.ttl = {value}\n")).unwrap_or(0);
        assert_rows(case, &order, &terminal[from..]);
        if case.is_divided() {
            order.iter().for_each(|cell| assert_strata(case, *cell, about));
        }
    }
    assert_answer(case, &markdown, &apart);
}

#[test]
fn every_number_of_a_report_is_that_of_its_runs() {
    let mut met = Met::default();
    for seed in 0..10 {
        assert_report(&Case { drawn: Drawn::of(seed, 1), refuted: None }, &mut met);
    }
    assert!(met.apart > 30 && met.unstated > 40, "{} apart, {} unstated", met.apart, met.unstated);
}

#[test]
fn every_number_of_a_divided_report_is_that_of_its_runs() {
    let mut met = Met::default();
    for seed in 0..10 {
        let drawn = Drawn::of(100 + seed, 2 + seed / 4);
        let is_refuted = drawn.header.quiet_holds && seed % 2 == 0;
        assert_report(&Case { refuted: is_refuted.then_some(drawn.designs - 1), drawn }, &mut met);
    }
    let Met { apart, granted, unstated } = met;
    assert!(
        apart > 30 && granted > 40 && unstated > 40,
        "{apart} apart, {granted} granted, {unstated} unstated"
    );
}

/// Each sentence of the answer, over many more records than the rest is compared for.
#[test]
fn the_answer_of_a_thousand_records_is_that_of_their_runs() {
    let (mut apart, mut shown) = (0, 0);
    for seed in 0..1_000 {
        let drawn = Drawn::of(1_000 + seed, 1 + seed % 3);
        let case = Case { drawn, refuted: None };
        let folder = Folder::new();
        folder.records(&case.drawn.header, &case.drawn.batches);
        let results =
            Results::read_file(&folder.at().join("runs.jsonl")).expect("they are as a sweep writes them");
        let material = Material { place: String::new(), results, examples: Vec::new() };
        let markdown = pages(&[material], 80).expect("a page").markdown;
        let pairs = case.apart();
        assert_answer(&case, &markdown, &pairs);
        apart += pairs.values().map(Apart::len).sum::<usize>();
        shown += usize::from(markdown.contains("Worse by no rule"));
    }
    assert!(apart > 1_000 && shown > 50, "{apart} pairs are told apart, {shown} answers name designs");
}
