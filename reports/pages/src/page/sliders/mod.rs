//! Sliders over the rates of faults, for who has the page open: the strata as JSON, and a script that reckons with
//! them as the page itself does.
//!
//! The script is ours, and the page's policy lets none run but one with its hash. The JSON has names from a file, which
//! the script only ever sets as text. Without scripts there is a sentence in their place.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use doublehold_statistics::Part;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::causes;
use super::effective;
use super::measure::Measure;
use super::model::PageModel;
use super::outcome::{self, ASKED};
use super::rates::Figures;
use crate::figure::inert;

const RECKON: &str = include_str!("reckon.js");
const USE: &str = include_str!("use.js");

/// The data of the script.
#[derive(Serialize)]
struct Data {
    unit: &'static str,
    /// The factor from a rate per grant to the page's unit.
    scale: f64,
    rules: Vec<&'static str>,
    causes: Vec<CauseData>,
    /// The faults of each stratum: a cause's number, and how many.
    strata: Vec<Vec<(usize, u32)>>,
    designs: Vec<DesignData>,
}

#[derive(Serialize)]
struct CauseData {
    number: usize,
    words: String,
    /// The mean time between two, over all hosts of the first design that has any.
    every_s: f64,
    /// False if it has a share of hardly any rate: then there is no slider.
    is_felt: bool,
}

#[derive(Serialize)]
struct DesignData {
    name: String,
    /// The mean number of each cause in a run.
    means: Vec<f64>,
    /// The weight of all runs that have more faults than any stratum.
    beyond: f64,
    rows: Vec<RowData>,
}

#[derive(Serialize)]
struct RowData {
    stratum: usize,
    weight: f64,
    runs: u64,
    /// Grants in a run, on average.
    grants: f64,
    /// Of each rule how many runs violate it, and how many are undecided; nothing where it cannot be violated.
    rules: Vec<Option<(u64, u64)>>,
}

/// The script of all pages.
pub(super) fn script() -> String {
    format!("(() => {{\n{RECKON}\n{USE}}})();\n")
}

/// The name of the script in the page's policy.
pub(super) fn script_hash() -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(script())))
}

/// The data that the script needs of a point, as JSON; nothing where runs are not divided.
pub(super) fn data(model: &PageModel<'_>, point: u64) -> Option<String> {
    let cells: Vec<&Figures> = model.at(point).filter(|cell| cell.runs > 0).collect();
    if !model.results.is_divided() || cells.is_empty() {
        return None;
    }
    let header = &model.results.header;
    let names = header.causes();
    let number = |name: &String| names.iter().position(|known| *known == name);
    let (unit, scale) = match model.measure {
        Measure::Runs => ("runs", 1.0),
        Measure::Grants => ("grants", 1.0),
        Measure::Months(usage) => ("months", usage.grants_per_month() * usage.busy),
    };
    let cause = |(number, name): (usize, &&String)| CauseData {
        number,
        words: causes::words(name),
        every_s: effective::mean_seconds(model, &cells, name).unwrap_or(0.0),
        is_felt: cells.iter().any(|cell| is_felt(model, cell, name)),
    };
    let faults = |faults: &std::collections::BTreeMap<String, u32>| {
        faults.iter().filter_map(|(name, count)| Some((number(name)?, *count))).collect()
    };
    let data = Data {
        unit,
        scale,
        rules: ASKED.map(outcome::heading).into(),
        causes: names.iter().enumerate().map(cause).collect(),
        strata: header.strata.iter().map(faults).collect(),
        designs: cells.iter().map(|cell| design(model, cell)).collect(),
    };
    serde_json::to_string(&data).ok().map(|json| inert(&json))
}

fn is_felt(model: &PageModel<'_>, cell: &Figures, cause: &str) -> bool {
    const SMALLEST: f64 = 0.005;
    let shares = |predicate| causes::shares(model.results, cell, predicate);
    let of_cause =
        |(names, share): &(Vec<String>, f64)| if names.iter().any(|it| it == cause) { *share } else { 0.0 };
    ASKED.iter().any(|it| shares(*it).iter().map(of_cause).sum::<f64>() >= SMALLEST)
}

fn design(model: &PageModel<'_>, figures: &Figures) -> DesignData {
    let header = &model.results.header;
    let cell = &model.results.cells[&figures.cell];
    let means = cell.mean_faults(header);
    let rows = cell.strata.iter().map(|(number, row)| RowData {
        stratum: *number as usize,
        weight: row.weight(),
        runs: row.runs,
        grants: if row.runs > 1 { row.grants.sum as f64 / row.runs as f64 } else { 0.0 },
        rules: ASKED
            .map(|it| match cell.part(header, row, it) {
                Part::Impossible => None,
                Part::Counted(part) => Some((part.as_if_misses().hits(), part.undecided_runs())),
            })
            .into(),
    });
    DesignData {
        name: model.name(figures.design).to_owned(),
        means: header.causes().into_iter().map(|name| means.get(name).copied().unwrap_or(0.0)).collect(),
        beyond: cell.strata.values().find_map(|row| row.beyond).unwrap_or(0.0),
        rows: rows.filter(|row| row.weight > 0.0).collect(),
    }
}
