//! All cells for other programs: a line of CSV each, and JSON. `reports/JSON.md` says what each field is.

use std::collections::BTreeMap;

use doublehold_history::Predicate;
use serde::{Serialize, Serializer};

use super::distribution::Distribution;
use super::model::PageModel;
use super::news::{News, mean};
use super::rates::{Figures, Rate};
use super::rounding::round_value;

/// The version of both formats.
const VERSION: u32 = 2;

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
    engine: &'a str,
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
    #[serde(flatten)]
    figures: &'a Figures,
    rates: BTreeMap<Predicate, RateExport>,
}

#[derive(Serialize)]
struct DistributionExport {
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
    letters: Option<String>,
    why: Option<String>,
}

pub(crate) fn json(models: &[PageModel<'_>]) -> serde_json::Result<String> {
    let export = Export { report: VERSION, studies: models.iter().map(study).collect() };
    Ok(serde_json::to_string(&export)? + "\n")
}

fn study<'a>(model: &'a PageModel<'_>) -> StudyExport<'a> {
    let header = &model.results.header;
    StudyExport {
        study: &header.study,
        question: &header.question,
        program: &header.program,
        engine: &header.engine,
        is_torn: model.results.is_torn,
        is_partial: header.partial.is_some(),
        runs: model.results.runs(),
        planned_runs: model.results.planned_runs(),
        cells: model.cells.values().map(|figures| cell(model, figures)).collect(),
    }
}

fn cell<'a>(model: &'a PageModel<'_>, figures: &'a Figures) -> CellExport<'a> {
    let axes = model.results.header.axes.iter().zip(&figures.place);
    let rates = figures.rates.iter();
    CellExport {
        cell: figures.cell,
        design: model.name(figures.design),
        at: axes.map(|(axis, place)| (axis.key.as_str(), axis.values[*place].as_str())).collect(),
        figures,
        rates: rates.map(|(of, it)| (*of, rate(it, letters(model, figures, *of)))).collect(),
    }
}

impl Serialize for Distribution {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let spread = DistributionExport {
            count: self.count,
            mean_s: self.mean().map(round_value),
            mean_error_s: self.mean_error().map(round_value),
            median_s: self.quantile(0.5).map(round_value),
            p99_s: self.quantile(0.99).map(round_value),
            longest_s: (self.count > 0).then(|| round_value(self.longest)),
        };
        spread.serialize(serializer)
    }
}

/// The letters of a cell, which has none at a point without tables.
fn letters(model: &PageModel<'_>, figures: &Figures, predicate: Predicate) -> Option<String> {
    let point = figures.cell / model.results.header.designs.len().max(1) as u64;
    let of_point = model.points_shown().contains(&point).then(|| model.letters(point, predicate));
    let place = model.at(point).position(|cell| cell.cell == figures.cell);
    of_point.zip(place).and_then(|(letters, place)| letters[place].clone())
}

fn rate(rate: &Rate, letters: Option<String>) -> RateExport {
    let estimate = rate.per_run.as_ref().ok();
    RateExport {
        violated: rate.violated,
        decided: rate.decided,
        undecided: rate.undecided,
        rate: estimate.map(|it| round_value(it.value)),
        low: rate.high().map(|_| round_value(rate.low())),
        high: rate.high().map(round_value),
        plain_runs: estimate.map(|it| round_value(it.plain_runs)),
        letters,
        why: rate.per_run.as_ref().err().map(ToString::to_string),
    }
}

/// The lost locks of a cell, as its file has them.
#[derive(Serialize)]
struct NewsExport<'a> {
    lost: u64,
    heard_before: Option<f64>,
    heard_after: Option<f64>,
    never_heard: Option<f64>,
    before: &'a Distribution,
    after: &'a Distribution,
}

impl Serialize for News {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let news = NewsExport {
            lost: self.lost,
            heard_before: self.share_before().map(round_value),
            heard_after: self.share_after().map(round_value),
            never_heard: self.share_never().map(round_value),
            before: &self.before,
            after: &self.after,
        };
        news.serialize(serializer)
    }
}

/// A line for each cell. Several studies have the columns of all their axes.
pub(crate) fn csv(models: &[PageModel<'_>]) -> Result<String, csv::Error> {
    let mut axes: Vec<&str> = Vec::new();
    for axis in models.iter().flat_map(|model| &model.results.header.axes) {
        if !axes.contains(&axis.key.as_str()) {
            axes.push(&axis.key);
        }
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(heading(&axes).iter().map(String::as_str).map(inert))?;
    for model in models {
        for figures in model.cells.values() {
            writer.write_record(record(model, figures, &axes).iter().map(String::as_str).map(inert))?;
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

/// A column of numbers: the end of its name, and where its number is. The number is empty where nothing is known.
type Column<T> = (&'static str, fn(&T) -> Option<f64>);

const OF_CELL: [Column<Figures>; 17] = [
    ("runs", |it| Some(it.runs as f64)),
    ("panicked", |it| Some(it.panicked as f64)),
    ("grants_per_run", |it| it.mean_grants().map(round_value)),
    ("hours_per_run", |it| it.mean_hours().map(round_value)),
    ("waits", |it| Some(it.waits as f64)),
    ("available", |it| it.available.map(round_value)),
    ("acquire_median_s", |it| it.obtained.quantile(0.5).map(round_value)),
    ("acquire_p99_s", |it| it.obtained.quantile(0.99).map(round_value)),
    ("recovery_mean_s", |it| it.recovered.mean().map(round_value)),
    ("recovery_mean_error_s", |it| it.recovered.mean_error().map(round_value)),
    ("applied_per_run", |it| mean(&it.work.applied).map(round_value)),
    ("refused_per_run", |it| mean(&it.work.refused).map(round_value)),
    ("given_up_per_run", |it| mean(&it.work.given_up).map(round_value)),
    ("lost", |it| Some(it.news.lost as f64)),
    ("heard_before", |it| it.news.share_before().map(round_value)),
    ("heard_after", |it| it.news.share_after().map(round_value)),
    ("never_heard", |it| it.news.share_never().map(round_value)),
];

/// Of each predicate.
const OF_RATE: [Column<RateExport>; 5] = [
    ("violated", |it| Some(it.violated as f64)),
    ("undecided", |it| Some(it.undecided as f64)),
    ("rate", |it| it.rate),
    ("low", |it| it.low),
    ("high", |it| it.high),
];

/// Of how long two clients held the lock.
const OF_OVERLAPS: [Column<Distribution>; 3] = [
    ("overlap_median_s", |it| it.quantile(0.5).map(round_value)),
    ("overlap_p99_s", |it| it.quantile(0.99).map(round_value)),
    ("overlap_longest_s", |it| (it.count > 0).then(|| round_value(it.longest))),
];

/// The predicates that overlaps violate.
const OVERLAPPING: [Predicate; 2] = [Predicate::P1, Predicate::P2];

fn heading(axes: &[&str]) -> Vec<String> {
    let first = ["study", "cell", "design"].into_iter().chain(axes.iter().copied());
    let whole = OF_CELL.map(|(name, _)| name);
    let of_rate = || OF_RATE.into_iter().map(|(name, _)| name).chain(["letters"]);
    let rates = Predicate::ALL.into_iter().flat_map(|of| of_rate().map(move |name| format!("{of}_{name}")));
    let overlaps = OVERLAPPING.into_iter().flat_map(|of| OF_OVERLAPS.map(|(name, _)| format!("{of}_{name}")));
    first.chain(whole).map(str::to_owned).chain(rates).chain(overlaps).collect()
}

fn record(model: &PageModel<'_>, figures: &Figures, axes: &[&str]) -> Vec<String> {
    let cell = cell(model, figures);
    let at = axes.iter().map(|axis| cell.at.get(axis).map_or(String::new(), |value| (*value).to_owned()));
    let whole = OF_CELL.map(|(_, of)| of(figures));
    let text = |number: Option<f64>| number.map_or(String::new(), |number| number.to_string());
    let rates = Predicate::ALL.into_iter().flat_map(|it| {
        let rate = cell.rates.get(&it);
        let letters = rate.and_then(|rate| rate.letters.clone()).unwrap_or_default();
        OF_RATE.into_iter().map(move |(_, of)| text(rate.and_then(of))).chain([letters])
    });
    let overlaps = OVERLAPPING.into_iter().flat_map(|it| {
        let overlaps = figures.overlaps.get(&it);
        OF_OVERLAPS.map(|(_, of)| overlaps.and_then(of))
    });
    let numbers = whole.into_iter().map(text).chain(rates).chain(overlaps.map(text));
    let first = [model.results.header.study.clone(), figures.cell.to_string(), cell.design.to_owned()];
    first.into_iter().chain(at).chain(numbers).collect()
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
