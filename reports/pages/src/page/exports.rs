//! All cells for other programs: a line of CSV each, and JSON. `reports/JSON.md` says what each field is.
//!
//! Numbers are rounded to nine digits: the last digits of logarithms differ between machines, and files do not.

use std::collections::BTreeMap;

use doublehold_history::Predicate;
use serde::Serialize;

use super::rates::{Figures, Rate};
use super::sheet::Sheet;
use super::spread::Spread;

/// The version of both formats.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Export<'a> {
    report: u32,
    studies: Vec<StudyExport<'a>>,
}

#[derive(Serialize)]
struct StudyExport<'a> {
    study: &'a str,
    question: &'a str,
    program: &'a str,
    is_torn: bool,
    is_partial: bool,
    runs: u64,
    planned_runs: u64,
    cells: Vec<CellExport<'a>>,
}

#[derive(Serialize)]
struct CellExport<'a> {
    cell: u64,
    design: &'a str,
    at: BTreeMap<&'a str, &'a str>,
    runs: u64,
    panicked: u64,
    grants_per_run: Option<f64>,
    hours_per_run: Option<f64>,
    waits: u64,
    available: Option<f64>,
    time_to_acquire: SpreadExport,
    recovery: SpreadExport,
    overlaps: BTreeMap<Predicate, SpreadExport>,
    rates: BTreeMap<Predicate, RateExport>,
}

#[derive(Serialize)]
struct SpreadExport {
    count: u64,
    mean_s: Option<f64>,
    mean_error_s: Option<f64>,
    median_s: Option<f64>,
    p99_s: Option<f64>,
    longest_s: Option<f64>,
}

#[derive(Serialize)]
struct RateExport {
    violated: u64,
    decided: u64,
    undecided: u64,
    rate: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    plain_runs: Option<f64>,
    rank: Option<usize>,
    why: Option<String>,
}

pub(crate) fn json(sheets: &[Sheet<'_>]) -> serde_json::Result<String> {
    let export = Export { report: VERSION, studies: sheets.iter().map(study).collect() };
    Ok(serde_json::to_string(&export)? + "\n")
}

fn study<'a>(sheet: &'a Sheet<'_>) -> StudyExport<'a> {
    let header = &sheet.results.header;
    StudyExport {
        study: &header.study,
        question: &header.question,
        program: &header.program,
        is_torn: sheet.results.is_torn,
        is_partial: header.partial.is_some(),
        runs: sheet.results.runs(),
        planned_runs: sheet.results.planned_runs(),
        cells: sheet.cells.values().map(|figures| cell(sheet, figures)).collect(),
    }
}

fn cell<'a>(sheet: &'a Sheet<'_>, figures: &'a Figures) -> CellExport<'a> {
    let axes = sheet.results.header.axes.iter().zip(&figures.place);
    CellExport {
        cell: figures.cell,
        design: sheet.name(figures.design),
        at: axes.map(|(axis, place)| (axis.key.as_str(), axis.values[*place].as_str())).collect(),
        runs: figures.runs,
        panicked: figures.panicked,
        grants_per_run: figures.mean_grants().map(rounded),
        hours_per_run: figures.mean_hours().map(rounded),
        waits: figures.available.map_or(0, |(_, waits)| waits),
        available: figures.available.map(|(share, _)| rounded(share)),
        time_to_acquire: spread(&figures.obtained),
        recovery: spread(&figures.recovered),
        overlaps: figures.overlaps.iter().map(|(predicate, it)| (*predicate, spread(it))).collect(),
        rates: figures
            .rates
            .iter()
            .map(|(predicate, it)| (*predicate, rate(it, sheet.rank(figures, *predicate))))
            .collect(),
    }
}

fn spread(spread: &Spread) -> SpreadExport {
    SpreadExport {
        count: spread.count,
        mean_s: spread.mean().map(rounded),
        mean_error_s: spread.mean_error().map(rounded),
        median_s: spread.quantile(0.5).map(rounded),
        p99_s: spread.quantile(0.99).map(rounded),
        longest_s: (spread.count > 0).then(|| rounded(spread.longest)),
    }
}

fn rate(rate: &Rate, rank: Option<usize>) -> RateExport {
    let estimate = rate.per_run.as_ref().ok();
    RateExport {
        violated: rate.violated,
        decided: rate.decided,
        undecided: rate.undecided,
        rate: estimate.map(|it| rounded(it.value)),
        low: rate.high().map(|_| rounded(rate.low())),
        high: rate.high().map(rounded),
        plain_runs: estimate.map(|it| rounded(it.plain_runs)),
        rank,
        why: rate.per_run.as_ref().err().map(ToString::to_string),
    }
}

fn rounded(value: f64) -> f64 {
    format!("{value:.8e}").parse().unwrap_or(value)
}

/// A line for each cell. Several studies have the columns of all their axes.
pub(crate) fn csv(sheets: &[Sheet<'_>]) -> Result<String, csv::Error> {
    let mut axes: Vec<&str> = Vec::new();
    for axis in sheets.iter().flat_map(|sheet| &sheet.results.header.axes) {
        if !axes.contains(&axis.key.as_str()) {
            axes.push(&axis.key);
        }
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(heading(&axes).iter().map(String::as_str).map(inert))?;
    for sheet in sheets {
        for figures in sheet.cells.values() {
            writer.write_record(record(sheet, figures, &axes).iter().map(String::as_str).map(inert))?;
        }
    }
    let bytes = writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A text that no spreadsheet takes for a formula: an apostrophe before it makes it a text. Numbers stay as they are.
fn inert(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<f64>().is_err();
    if is_formula { format!("'{text}") } else { text.to_owned() }
}

fn heading(axes: &[&str]) -> Vec<String> {
    let first = ["study", "cell", "design"].map(str::to_owned).into_iter();
    let axes = axes.iter().map(|axis| (*axis).to_owned());
    let whole = [
        "runs",
        "panicked",
        "grants_per_run",
        "hours_per_run",
        "waits",
        "available",
        "acquire_median_s",
        "acquire_p99_s",
        "recovery_mean_s",
        "recovery_mean_error_s",
    ];
    let rates = Predicate::ALL.into_iter().flat_map(|predicate| {
        ["violated", "undecided", "rate", "low", "high", "rank"].map(|what| format!("{predicate}_{what}"))
    });
    let overlaps = [Predicate::P1, Predicate::P2].into_iter().flat_map(|predicate| {
        ["median_s", "p99_s", "longest_s"].map(|what| format!("{predicate}_overlap_{what}"))
    });
    first.chain(axes).chain(whole.map(str::to_owned)).chain(rates).chain(overlaps).collect()
}

fn record(sheet: &Sheet<'_>, figures: &Figures, axes: &[&str]) -> Vec<String> {
    let header = &sheet.results.header;
    let cell = cell(sheet, figures);
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    let mut record = vec![header.study.clone(), figures.cell.to_string(), cell.design.to_owned()];
    record
        .extend(axes.iter().map(|axis| cell.at.get(axis).map_or(String::new(), |value| (*value).to_owned())));
    record.extend([figures.runs, figures.panicked].map(|count| count.to_string()));
    record.extend([cell.grants_per_run, cell.hours_per_run].map(number));
    record.push(cell.waits.to_string());
    let (acquire, recovery) = (&cell.time_to_acquire, &cell.recovery);
    record.extend(
        [cell.available, acquire.median_s, acquire.p99_s, recovery.mean_s, recovery.mean_error_s].map(number),
    );
    for predicate in Predicate::ALL {
        let rate = rate(&figures.rate(predicate), sheet.rank(figures, predicate));
        record.extend([rate.violated, rate.undecided].map(|count| count.to_string()));
        record.extend([rate.rate, rate.low, rate.high].map(number));
        record.push(rate.rank.map_or(String::new(), |rank| rank.to_string()));
    }
    for predicate in [Predicate::P1, Predicate::P2] {
        let overlap = cell.overlaps.get(&predicate);
        record.extend(
            [
                overlap.and_then(|it| it.median_s),
                overlap.and_then(|it| it.p99_s),
                overlap.and_then(|it| it.longest_s),
            ]
            .map(number),
        );
    }
    record
}

#[cfg(test)]
mod tests {
    use super::inert;

    #[test]
    fn a_spreadsheet_takes_no_text_for_a_formula() {
        for formula in ["=HYPERLINK(\"http://x/\")", "+1+1", "-1ms", "@SUM(A1)", "\t=1", "\r=1"] {
            assert_eq!(inert(formula), format!("'{formula}"));
        }
        for plain in ["", "-5", "+0.5", "1e-9", "-2.5e-7", "plain", "a=b", "2s"] {
            assert_eq!(inert(plain), plain);
        }
    }
}
