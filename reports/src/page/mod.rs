//! The report of a sweep: one page from its records.
//!
//! A pure function of records and examples: it runs nothing, reads no clock, and the same records give the same bytes.
//!
//! # Map, in reading order
//!
//! - `rates`: from sums to rates with intervals; `spread`: distributions of durations
//! - `sheet`: all of a sweep's cells, which is best, which are told apart
//! - `document`: what a page is made of; `html` and `markdown` write it
//! - `answer`, `ranking`: what the page says
//! - `numbers`: how numbers are written

mod again;
mod answer;
mod assumptions;
mod differences;
mod document;
mod html;
mod markdown;
mod notes;
pub(crate) mod numbers;
mod parameter;
mod ranking;
mod rates;
mod sheet;
mod spread;
mod world;

use doublehold_history::Predicate;

use self::document::{Block, Document, Figure, Line};
use self::sheet::{COLUMNS, Sheet};
use crate::findings::several;
use crate::plots;
use crate::results::Results;

/// One folder's records.
pub(crate) struct Material {
    /// The folder as it was named.
    pub(crate) place: String,
    pub(crate) results: Results,
}

/// A report, in all its forms.
pub(crate) struct Pages {
    pub(crate) html: String,
    pub(crate) markdown: String,
    /// What is odd about the records.
    pub(crate) notes: Vec<String>,
    /// What a terminal shows of it.
    pub(crate) summary: String,
}

/// Makes the report of one or more sweeps.
pub(crate) fn pages(materials: &[Material]) -> Pages {
    let sheets: Vec<Sheet<'_>> = materials.iter().map(|it| Sheet::of(&it.results)).collect();
    let mut document = Document::default();
    let mut notes = Vec::new();
    for (material, sheet) in materials.iter().zip(&sheets) {
        let of_part = notes::notes(material, sheet);
        part(&mut document, sheet, &of_part);
        notes.extend(of_part);
    }
    document.blocks.extend(again::not_modelled());
    sheets.iter().for_each(|sheet| document.blocks.extend(again::again(sheet)));
    document.title = match &sheets[..] {
        [one] => one.results.header.question.clone(),
        _ => several(sheets.len() as u64, "study"),
    };
    let summary = sheets.iter().map(summary).collect();
    Pages { html: html::html(&document), markdown: markdown::markdown(&document), summary, notes }
}

fn part(document: &mut Document, sheet: &Sheet<'_>, notes: &[String]) {
    let header = &sheet.results.header;
    document.blocks.push(Block::heading(1, header.question.clone()));
    document.blocks.extend(notes.iter().map(|note| Block::Note(Line::of(note))));
    document.blocks.extend(answer::answer(sheet));
    document.blocks.push(Block::heading(2, "Assumptions"));
    document.blocks.extend(assumptions::assumptions(sheet));
    document.blocks.extend(curves(sheet));
    for point in sheet.shown() {
        document.blocks.push(Block::heading(2, "Ranking"));
        document.blocks.extend(ranking::ranking(sheet, *point));
        document.blocks.push(forest(sheet, *point));
        document.blocks.push(Block::heading(3, "Which designs are told apart"));
        document.blocks.extend(differences::differences(sheet, *point));
        document.blocks.extend(lengths(sheet, *point));
    }
}

/// Rates over the parameter, where there is one.
fn curves(sheet: &Sheet<'_>) -> Option<Block> {
    let [axis] = &sheet.results.header.axes[..] else { return None };
    let bars = |design: usize, predicate: Predicate| {
        let of_design = sheet.cells.values().filter(|cell| cell.design == design && cell.runs > 0);
        let rates = of_design.filter_map(|cell| Some((cell.place[0], bar(cell.rate(predicate))?)));
        plots::Course { design, rates: rates.collect() }
    };
    let designs: Vec<usize> =
        sheet.ranked(sheet.points[0]).iter().map(|cell| cell.design).take(LINES).collect();
    let panel = |predicate: Predicate| {
        let title = format!("{}, {}", predicate.as_str(), predicate.name());
        (title, designs.iter().map(|design| bars(*design, predicate)).collect())
    };
    let is_seen = |it: &Predicate| sheet.cells.values().any(|cell| cell.rate(*it).violated > 0);
    let plot = plots::Curves {
        parameter: axis.key.clone(),
        values: parameter::values(&axis.values),
        designs: designs.iter().map(|design| (*design, sheet.name(*design).to_owned())).collect(),
        panels: COLUMNS.into_iter().filter(is_seen).map(panel).collect(),
    };
    if plot.panels.is_empty() {
        return None;
    }
    let caption = Line::of("Rates by run over ").code(&axis.key).text(", with 95 % intervals.");
    Some(Block::Figure(Figure { name: "curves".to_owned(), svg: plots::curves(&plot), caption }))
}

fn bar(rate: &rates::Rate) -> Option<plots::Bar> {
    rate.value().zip(rate.high()).map(|(value, high)| plots::Bar { value, low: rate.low(), high })
}

/// More lines than this nobody can tell apart.
const LINES: usize = 10;

/// How long overlaps are, where there are any.
fn lengths(sheet: &Sheet<'_>, point: u64) -> Option<Block> {
    let cells = sheet.ranked(point);
    let of = |predicate: Predicate| {
        let some = cells.iter().filter_map(|cell| Some((cell.design, cell.overlaps.get(&predicate)?)));
        let distribution = |(design, spread): (usize, &spread::Spread)| plots::Distribution {
            design,
            count: spread.count,
            steps: spread.steps(),
        };
        (format!("{}, {}", predicate.as_str(), predicate.name()), some.map(distribution).collect::<Vec<_>>())
    };
    let panels: Vec<_> =
        [Predicate::P2, Predicate::P1].map(of).into_iter().filter(|(_, it)| !it.is_empty()).collect();
    if panels.is_empty() {
        return None;
    }
    let designs = cells.iter().map(|cell| (cell.design, sheet.name(cell.design).to_owned())).collect();
    let svg = plots::lengths(&plots::Lengths { designs, panels });
    let caption = Line::of(
        "How long overlaps are. A sign stands at each design's median. The bands hold the whole line 19 times in 20, \
         if overlaps came one by one; several of one run come together, so that they are rather too narrow.",
    );
    Some(Block::Figure(Figure { name: "lengths".to_owned(), svg, caption }))
}

fn forest(sheet: &Sheet<'_>, point: u64) -> Block {
    let cells = sheet.ranked(point);
    let panels = COLUMNS.map(|it| {
        let title = format!("{}, {}", it.as_str(), it.name());
        (title, cells.iter().map(|cell| bar(cell.rate(it))).collect())
    });
    let designs = cells.iter().map(|cell| (cell.design, sheet.name(cell.design).to_owned())).collect();
    let svg = plots::forest(&plots::Forest { designs, panels: panels.into() });
    let caption = Line::of(
        "Rates by run with their 95 % intervals. Where nothing was seen, an arrow ends at the bound.",
    );
    Block::Figure(Figure { name: "rates".to_owned(), svg, caption })
}

fn summary(sheet: &Sheet<'_>) -> String {
    let mut text = format!("{}\n", sheet.results.header.question);
    for point in sheet.shown() {
        for line in ranking::lines(sheet, *point) {
            text += &format!("  {}\n", line.join("  "));
        }
    }
    text
}
