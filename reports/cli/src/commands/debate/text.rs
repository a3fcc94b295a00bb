//! The table on a terminal: topic by topic, a paragraph for each claim and a line for each of its cases; then who was
//! confirmed on what.

use doublehold_debate::{AuthorTally, CaseOutcome, ClaimRow, tallies};
use doublehold_history::Predicate;
use doublehold_render::layout::{align_left, align_right, to_ascii, widest, wrap};
use doublehold_render::style::{Paint, Style};
use doublehold_scenarios::topics::{TOPICS, Topic};
use doublehold_text::several;

use super::sentences::{
    about, command, confirmation_words, finding_words, measurement_words, prediction_words,
};

const INDENT: &str = "      ";
const AS_PREDICTED: &str = "as predicted  ";
const OTHERWISE: &str = "OTHERWISE     ";
const NOT_YET: &str = "not yet       ";

pub(super) fn table(rows: &[ClaimRow<'_>], style: &Style) -> String {
    let of = |topic: &Topic| rows.iter().filter(|row| row.claim.topic.name == topic.name).collect::<Vec<_>>();
    let mut text = String::new();
    for (topic, rows) in TOPICS.iter().map(|topic| (topic, of(topic))).filter(|(_, rows)| !rows.is_empty()) {
        text += &format!("{}\n", style.paint(topic.name, Paint::Strong));
        text += &(wrap(topic.line, "", "", style.width) + "\n");
        for row in rows {
            text += &(paragraph(row, style) + "\n");
        }
    }
    text += &summary(rows, style);
    if style.unicode { text } else { to_ascii(&text) }
}

fn paragraph(row: &ClaimRow<'_>, style: &Style) -> String {
    let claim = row.claim;
    let mut text = wrap(&claim.text, &align_left(&claim.id, INDENT.len()), INDENT, style.width);
    let said = format!("{}: {}", claim.who.join(", "), claim.source);
    text += &style.paint(&wrap(&said, INDENT, INDENT, style.width), Paint::Dim);
    if let Some(finding) = &claim.finding {
        text += &wrap(&finding_words(finding), INDENT, INDENT, style.width);
    }
    for outcome in &row.outcomes {
        text += &case(outcome, style);
    }
    if let Err(not_yet) = &claim.cases {
        text +=
            &marked_paragraph(NOT_YET, &format!("{}: {}", not_yet.missing.as_str(), not_yet.needs), style);
    }
    if let Some(confirmed) = confirmation_words(row) {
        text += &wrap(&format!("{}: {confirmed}", claim.who.join(", ")), INDENT, INDENT, style.width);
    }
    if let Some(note) = &claim.note {
        text += &wrap(note, INDENT, INDENT, style.width);
    }
    text
}

fn case(outcome: &CaseOutcome<'_>, style: &Style) -> String {
    let about = about(outcome.case);
    let found = measurement_words(outcome);
    let runs = several(outcome.case.seeds(), "seed");
    let (mark, found) = match (outcome.as_expected(), outcome.case) {
        (true, doublehold_debate::DebateCase::Run(_)) => (AS_PREDICTED, format!("{about}{found} ({runs})")),
        (true, _) => {
            (AS_PREDICTED, format!("{about}{found}; predicted: {} ({runs})", prediction_words(outcome.case)))
        }
        (false, _) => {
            (OTHERWISE, format!("{about}{found}; predicted: {} ({runs})", prediction_words(outcome.case)))
        }
    };
    marked_paragraph(mark, &found, style) + &marked_paragraph("", &command(outcome.case), style)
}

/// A paragraph beside a mark.
fn marked_paragraph(mark: &str, text: &str, style: &Style) -> String {
    let margin = format!("{INDENT}{}", align_left(mark, AS_PREDICTED.len()));
    wrap(text, &margin, &" ".repeat(margin.len()), style.width)
}

/// Counts of the rows by their outcome, and of statements by their authors.
fn summary(rows: &[ClaimRow<'_>], style: &Style) -> String {
    let count = |wanted: Option<bool>| rows.iter().filter(|row| row.as_expected() == wanted).count() as u64;
    let mut text = format!(
        "{}: {} as predicted, {} otherwise, {} not yet\n\n",
        several(rows.len() as u64, "claim"),
        count(Some(true)),
        count(Some(false)),
        count(None)
    );
    text += "statements confirmed/refuted, by author and predicate\n";
    let tallies: Vec<AuthorTally> =
        tallies(rows).into_iter().filter(|tally| tally.statements() > 0).collect();
    let margin = widest(tallies.iter().map(|tally| tally.who.as_str())) + 2;
    let head: String = Predicate::ALL.iter().map(|predicate| align_right(predicate.as_str(), 7)).collect();
    text += &format!("{}{head}\n", align_left("", margin));
    for tally in &tallies {
        let cells: String =
            Predicate::ALL.iter().map(|predicate| align_right(&cell(tally, *predicate), 7)).collect();
        text += &format!("{}{}\n", align_left(&tally.who, margin), style.paint(&cells, Paint::Plain));
    }
    text + "\nP1 claim overlap   P2 valid overlap   P3 stale effect   P4 data anomaly   WR wrong release   LV liveness\n"
}

/// `3/1`, or nothing where nothing was said.
pub(super) fn cell(tally: &AuthorTally, predicate: Predicate) -> String {
    match tally.of.get(&predicate) {
        Some((confirmed, refuted)) if confirmed + refuted > 0 => format!("{confirmed}/{refuted}"),
        _ => String::new(),
    }
}
