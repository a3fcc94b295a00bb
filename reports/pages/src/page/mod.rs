//! The report of a sweep: one page from its records.
//!
//! A pure function of records and examples: it runs nothing, reads no clock, and the same records give the same bytes.
//!
//! # Map, in reading order
//!
//! - `rates`: from sums to rates with intervals; `distribution`: of durations; `news`: what work comes to, and when
//!   holders hear that they lost the lock
//! - `model`: all of a sweep's cells, and which are told apart; `measure`: in which unit rates are told
//! - `document`: what a page is made of; `html` and `markdown` write it
//! - `answer`: the answer in words; `factors`, `effects`: what designs differ in, and what that does
//! - `change`, `guesses`, `sliders`: what would change it; `causes`, `effective`: which faults rates come from, and
//!   how often these come
//! - `sure`, `assumptions`, `tables`, `lock_table`, `differences`, `strata`, `pictures`, `examples`, `reproduce`: the
//!   rest of it
//! - `drift`: where a formula says that leases end
//! - `world`: a scenario's file in a few words; `parameter`: what the values of an axis are; `outcome`: rules in words
//! - `exports`: all cells for other programs

mod answer;
mod assumptions;
mod causes;
mod change;
mod differences;
mod distribution;
mod document;
mod drift;
mod effective;
mod effects;
mod examples;
mod exports;
mod factors;
mod guesses;
mod html;
mod lock_table;
mod markdown;
mod measure;
mod model;
mod news;
mod notes;
mod outcome;
mod parameter;
mod pictures;
mod rates;
mod reproduce;
mod rounding;
mod sliders;
mod strata;
mod sure;
mod tables;
mod world;

use doublehold_render::layout::{align_left, widths, wrap};
use doublehold_sweeps::records::Example;
use doublehold_sweeps::results::Results;
use doublehold_text::several;

use self::document::{Block, Document, Line};
use self::model::PageModel;
use self::outcome::ASKED;

/// A report that cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// Its table.
    #[error(transparent)]
    Csv(#[from] csv::Error),
    /// Its numbers.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// One folder's records.
pub struct Material {
    /// The folder as it was named.
    pub place: String,
    /// The sums of its records.
    pub results: Results,
    /// Its examples.
    pub examples: Vec<Example>,
}

/// A report, in all its forms.
pub struct Pages {
    /// As a page.
    pub html: String,
    /// As text with marks.
    pub markdown: String,
    /// Every cell as a line of a table.
    pub csv: String,
    /// The same for programs.
    pub json: String,
    /// Every plot, by its name.
    pub plots: Vec<(String, String)>,
    /// The oddities of the records.
    pub notes: Vec<String>,
    /// The lines that a terminal shows of it.
    pub summary: String,
}

/// Makes the report of one or more sweeps. Its lines for a terminal are at most so wide.
///
/// # Errors
///
/// If a number cannot be written, which no record can bring about.
pub fn pages(materials: &[Material], width: usize) -> Result<Pages, PageError> {
    let model = |(part, it): (usize, _)| {
        let Material { results, examples, .. }: &Material = it;
        PageModel::new(part, results, examples)
    };
    let models: Vec<PageModel<'_>> = materials.iter().enumerate().map(model).collect();
    let mut document = Document::default();
    let mut notes = Vec::new();
    for (material, model) in materials.iter().zip(&models) {
        let of_part = notes::notes(material);
        document.blocks.extend(part(model, &of_part));
        notes.extend(of_part);
    }
    document.blocks.extend(reproduce::reproduce(&models));
    document.title = match &models[..] {
        [one] => one.results.header.question.clone(),
        _ => several(models.len() as u64, "study").replace("studys", "studies"),
    };
    let plots = document.figures().into_iter().flat_map(plots_of).collect();
    Ok(Pages {
        html: html::html(&document),
        markdown: markdown::markdown(&document),
        csv: exports::csv(&models)?,
        json: exports::json(&models)?,
        plots,
        notes,
        summary: models.iter().map(|model| summary(model, width)).collect::<Vec<_>>().join("\n"),
    })
}

/// The pictures of a figure by their names.
fn plots_of(figure: &document::Figure) -> Vec<(String, String)> {
    let panels = figure.panels.iter();
    panels.map(|(end, svg)| (format!("{}-{end}", figure.name), svg.clone())).collect()
}

fn part(model: &PageModel<'_>, notes: &[String]) -> Vec<Block> {
    let point = model.points_shown()[0];
    let is_grid = model.points.len() > 1;
    let mut blocks = vec![Block::heading(1, model.results.header.question.clone())];
    if !notes.is_empty() {
        blocks.push(Block::Note(notes.iter().map(Line::from_text).collect()));
    }
    blocks.push(answer::answer(model));
    let of_grid = is_grid.then(|| pictures::first_grid_picture(model)).flatten();
    blocks.push(of_grid.unwrap_or_else(|| pictures::first_picture(model, point)));
    if !is_grid {
        blocks.extend(lock_table::lock_table(model, point));
        blocks.push(news::table(model, point));
    }
    blocks.push(contents(model));
    blocks.extend(change::change(model, point));
    blocks.extend(sure::sure(model));
    if model.part == 0 {
        blocks.extend(reproduce::not_modelled());
    }
    blocks.push(Block::anchored("All rates", anchor(model, "rates")));
    for point in model.points_shown() {
        blocks.extend(heading(model, *point));
        blocks.extend(tables::tables(model, *point));
        blocks.extend(is_grid.then(|| news::table(model, *point)));
        blocks.extend(differences::differences(model, *point));
        blocks.extend(strata::strata(model, *point));
        blocks.push(pictures::folded(model, *point, is_grid));
    }
    let grid = pictures::grid_pictures(model);
    if !grid.is_empty() {
        let words = if is_grid { "Pictures of the whole grid" } else { "Safety against recovery" };
        blocks.push(Block::details(Line::from_text(words), grid));
    }
    blocks.push(Block::anchored("What was assumed", anchor(model, "assumed")));
    blocks.extend(assumptions::assumptions(model));
    blocks.extend(examples::examples(model));
    blocks
}

/// The name of a place of a part, for links.
fn anchor(model: &PageModel<'_>, place: &str) -> String {
    format!("{place}-{}", model.part + 1)
}

fn contents(model: &PageModel<'_>) -> Block {
    let mut places =
        vec![("What would change it", "change"), ("How sure this is", "sure"), ("All rates", "rates")];
    places.push(("What was assumed", "assumed"));
    if !model.examples.is_empty() {
        places.push(("Examples", "examples"));
    }
    let mut links: Vec<(String, String)> =
        places.into_iter().map(|(words, place)| (words.to_owned(), anchor(model, place))).collect();
    links.insert(2, ("What was not modelled".to_owned(), "not-modelled".to_owned()));
    links.push(("How to make these numbers again".to_owned(), "reproduce".to_owned()));
    Block::Contents(links)
}

/// The values of a point of a grid.
fn heading(model: &PageModel<'_>, point: u64) -> Option<Block> {
    let values = model.values_in_code(point);
    let line = Line::from_text("With ").then(values.clone());
    (!values.0.is_empty()).then_some(Block::Heading { order: 3, line, id: None })
}

/// The question, the answer and the rates in columns; where these are too wide, a design at a time.
fn summary(model: &PageModel<'_>, width: usize) -> String {
    let mut text = wrap(&model.results.header.question, "", "", width) + "\n";
    if let Block::Answer { lead, outcomes, sentences } = answer::answer(model) {
        text += &wrap(&lead.with_backticks(), "", "", width);
        outcomes.iter().for_each(|line| text += &wrap(&line.with_backticks(), "- ", "  ", width));
        sentences.iter().for_each(|line| text += &wrap(&line.with_backticks(), "", "", width));
    }
    for point in model.points_shown() {
        let values = model.values(*point);
        text += "\n";
        if !values.is_empty() {
            text += &wrap(&format!("with {}", doublehold_text::list(&values)), "", "", width);
        }
        text += &lay_out(&tables::rows(model, *point), width);
    }
    let rules = ASKED.map(|it| format!("{}: {}", it.as_str(), outcome::heading(it)));
    text += &wrap(
        &format!("{}. Designs that share a letter are not told apart.", rules.join("; ")),
        "  ",
        "  ",
        width,
    );
    if model.points_shown().len() < model.points.len() {
        text += &format!("and {} more points of the grid\n", model.points.len() - model.points_shown().len());
    }
    text
}

fn lay_out(rows: &[Vec<String>], width: usize) -> String {
    let widths = widths(rows);
    if widths.iter().map(|column| column + 2).sum::<usize>() > width {
        return lay_out_below(rows, width);
    }
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| align_left(cell, *width));
        format!("  {}", cells.collect::<Vec<_>>().join("  ")).trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

/// Each design with its rates below it, one a line.
fn lay_out_below(rows: &[Vec<String>], width: usize) -> String {
    let Some((head, rows)) = rows.split_first() else { return String::new() };
    let mut text = String::new();
    for row in rows {
        text += &wrap(&row[0], "  ", "  ", width);
        for (name, cell) in head.iter().zip(row).skip(1) {
            text += &wrap(&format!("{name}: {cell}"), "    ", "      ", width);
        }
    }
    text
}
