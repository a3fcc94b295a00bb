//! The report of a sweep: one page from its records.
//!
//! A pure function of records and examples: it runs nothing, reads no clock, and the same records give the same bytes.
//!
//! # Map, in reading order
//!
//! - `rates`: from sums to rates with intervals; `distribution`: of durations
//! - `model`: all of a sweep's cells, which is best, which are told apart
//! - `document`: what a page is made of; `html` and `markdown` write it
//! - `answer`, `assumptions`, `ranking`, `differences`, `strata`, `pictures`, `examples`, `reproduce`: what the page
//!   says, from top to bottom
//! - `drift`: where a formula says that leases end
//! - `world`: a scenario's file in a few words; `parameter`: what the values of an axis are
//! - `exports`: all cells for other programs
//! - `numbers`: how numbers are written

mod answer;
mod assumptions;
mod differences;
mod distribution;
mod document;
mod drift;
mod examples;
mod exports;
mod html;
mod markdown;
mod model;
mod notes;
mod parameter;
mod pictures;
mod ranking;
mod rates;
mod reproduce;
mod rounding;
mod strata;
mod world;

use doublehold_render::layout::{align_left, widths};
use doublehold_sweeps::records::Example;
use doublehold_sweeps::results::Results;
use doublehold_text::several;

use self::document::{Block, Document, Line};
use self::model::PageModel;

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

/// Makes the report of one or more sweeps.
///
/// # Errors
///
/// If a number cannot be written, which no record can bring about.
pub fn pages(materials: &[Material]) -> Result<Pages, PageError> {
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
    document.blocks.extend(reproduce::not_modelled());
    document.blocks.extend(reproduce::reproduce(&models));
    document.title = match &models[..] {
        [one] => one.results.header.question.clone(),
        _ => several(models.len() as u64, "study").replace("studys", "studies"),
    };
    let plots = document.figures().map(|it| (it.name.clone(), it.svg.clone())).collect();
    Ok(Pages {
        html: html::html(&document),
        markdown: markdown::markdown(&document),
        csv: exports::csv(&models)?,
        json: exports::json(&models)?,
        plots,
        notes,
        summary: models.iter().map(summary).collect::<Vec<_>>().join("\n"),
    })
}

fn part(model: &PageModel<'_>, notes: &[String]) -> Vec<Block> {
    let mut blocks = vec![Block::heading(1, model.results.header.question.clone())];
    if !notes.is_empty() {
        blocks.push(Block::Note(notes.iter().map(Line::from_text).collect()));
    }
    blocks.extend(answer::answer(model));
    blocks.push(Block::heading(2, "Assumptions"));
    blocks.extend(assumptions::assumptions(model));
    for point in model.points_shown() {
        blocks.push(heading(model, *point));
        blocks.extend(ranking::ranking(model, *point));
        blocks.extend(differences::differences(model, *point));
        blocks.extend(strata::strata(model, *point));
        blocks.extend(pictures::point_pictures(model, *point));
    }
    let grid = pictures::grid_pictures(model);
    if !grid.is_empty() {
        let is_grid = model.results.header.axes.iter().any(|axis| axis.values.len() > 1);
        blocks.push(Block::heading(2, if is_grid { "The whole grid" } else { "Safety against recovery" }));
        blocks.extend(grid);
    }
    blocks.extend(examples::examples(model));
    blocks
}

fn heading(model: &PageModel<'_>, point: u64) -> Block {
    let values = model.values_in_code(point);
    let line = if values.0.is_empty() {
        Line::from_text("Ranking")
    } else {
        Line::from_text("Ranking with ").then(values)
    };
    Block::Heading { order: 2, line, id: None }
}

/// The question, and the ranking in columns.
fn summary(model: &PageModel<'_>) -> String {
    let mut text = format!("{}\n", doublehold_text::clean(&model.results.header.question));
    for point in model.points_shown() {
        let values = model.values(*point);
        if !values.is_empty() {
            text += &format!("\nwith {}\n", doublehold_text::list(&values));
        }
        text += &lay_out_columns(&ranking::rows(model, *point));
    }
    if model.points_shown().len() < model.points.len() {
        text += &format!("and {} more points of the grid\n", model.points.len() - model.points_shown().len());
    }
    text
}

fn lay_out_columns(rows: &[Vec<String>]) -> String {
    let widths = widths(rows);
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| align_left(cell, *width));
        format!("  {}", cells.collect::<Vec<_>>().join("  ")).trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}
