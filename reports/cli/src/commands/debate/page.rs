//! The debate as a page of Markdown, for a reader who knows the two posts and nothing of us: `docs/debate.md`.
//!
//! Everything that a run can change is written from the runs; the rest stands here or beside the claims.

use doublehold_debate::{AuthorTally, CaseOutcome, ClaimRow, DebateCase, Paragraph, Post, posts, tallies};
use doublehold_history::Predicate;
use doublehold_scenarios::topics::{TOPICS, Topic};
use doublehold_text::capital;

use super::sentences::{
    about, command, confirmation_words, finding_words, measurement_words, prediction_words,
};
use super::text::cell;
use crate::error::CliError;

/// The beginning of the page: all that a reader has to know first.
const HEAD: &str = include_str!("head.md");

pub(super) fn page(rows: &[ClaimRow<'_>]) -> Result<String, CliError> {
    let mut text = HEAD.to_owned();
    for post in posts()? {
        text += &render_post(&post, rows);
    }
    text += &statement_counts(rows);
    text += &wrong_predictions(rows);
    text += "\n## Every claim\n";
    for topic in TOPICS.iter().filter(|topic| rows.iter().any(|row| row.claim.topic == *topic)) {
        text += &render_topic(topic, rows);
    }
    text += &not_yet(rows);
    Ok(text)
}

/// Statements confirmed and refuted, by author and predicate.
fn statement_counts(rows: &[ClaimRow<'_>]) -> String {
    let mut text = "\n## Statements, counted\n\nConfirmed/refuted. A statement is what somebody says of one predicate \
                    in one setup, so who was tried in many setups\ncounts often: this is no score. `ours` follows \
                    from what others say, and nobody has said it.\n\n"
        .to_owned();
    let heads: Vec<&str> = Predicate::ALL.iter().map(|predicate| predicate.as_str()).collect();
    text += &format!("| | {} | not yet |\n|---|{}--:|\n", heads.join(" | "), "--:|".repeat(heads.len()));
    for tally in tallies(rows) {
        text += &line_of(&tally);
    }
    text
}

fn line_of(tally: &AuthorTally) -> String {
    let cells: Vec<String> = Predicate::ALL.iter().map(|predicate| cell(tally, *predicate)).collect();
    let not_yet = if tally.not_yet > 0 { tally.not_yet.to_string() } else { String::new() };
    format!("| {} | {} | {not_yet} |\n", tally.who, cells.join(" | "))
}

/// A post, paragraph by paragraph.
fn render_post(post: &Post, rows: &[ClaimRow<'_>]) -> String {
    let mut text = format!("\n## {}\n\n<{}>\n", post.title, post.link);
    for Paragraph { says, claims, so } in &post.parts {
        text += &format!("\n> {says}\n\n");
        for row in claims.iter().filter_map(|id| rows.iter().find(|row| row.claim.id == *id)) {
            text += &briefly(row);
        }
        text += &format!("\n{so}\n");
    }
    text
}

/// A command that is longer is looked up further below.
const SHORT_BYTES: usize = 110;

/// A claim in a line: when it is right, or what came out of its one case; and a command that shows it.
fn briefly(row: &ClaimRow<'_>) -> String {
    let head = format!("- {} *{}* ({})", link(row), row.claim.text, row.claim.who.join(", "));
    let Some(outcome) = telling(row) else { return format!("{head}: not run yet\n") };
    let found = when(row).map_or_else(|| measurement_words(outcome), str::to_owned);
    let confirmed = confirmation_words(row).map(|it| format!(" {}.", capital(&it))).unwrap_or_default();
    let command = command(outcome.case);
    let command = if command.len() > SHORT_BYTES { String::new() } else { format!(" `{command}`") };
    format!("{head}: {found}.{confirmed}{command}\n")
}

/// The sentence that says when a claim of several cases is right.
fn when<'a>(row: &ClaimRow<'a>) -> Option<&'a str> {
    row.claim.finding.as_ref().and_then(|finding| finding.when.as_deref())
}

/// The case that says most of a claim: one that its author speaks of, as the catalogue has it, if there is one.
fn telling<'a>(row: &'a ClaimRow<'_>) -> Option<&'a CaseOutcome<'a>> {
    let is_said =
        |outcome: &&CaseOutcome<'_>| matches!(outcome.case, DebateCase::Run(run) if !run.says.is_empty());
    let said = || row.outcomes.iter().filter(is_said);
    said()
        .find(|outcome| outcome.case.setup().sets().is_empty())
        .or_else(|| said().next())
        .or(row.outcomes.first())
}

/// The heading of a claim further below.
fn link(row: &ClaimRow<'_>) -> String {
    format!("[{}](#{})", row.claim.id, row.claim.id.to_lowercase())
}

/// The predictions that the runs refuted.
fn wrong_predictions(rows: &[ClaimRow<'_>]) -> String {
    let mut text = "\n## Where the prediction was wrong\n\nEvery verdict was predicted by reasoning before it was run. These came out \
                    otherwise:\n\n"
        .to_owned();
    for row in rows.iter().filter(|row| row.as_expected() == Some(false)) {
        let found = row.claim.note.as_deref().unwrap_or("nobody has found out why yet");
        text += &format!("- {} *{}.* {found}\n", link(row), row.claim.text);
        for outcome in row.outcomes.iter().filter(|outcome| !outcome.as_expected()) {
            let about = match about(outcome.case) {
                about if about.is_empty() => "as the scenario is: ".to_owned(),
                about => about,
            };
            text += &format!(
                "  - {about}predicted {}; came out: {}\n",
                prediction_words(outcome.case),
                measurement_words(outcome)
            );
        }
    }
    text
}

fn render_topic(topic: &Topic, rows: &[ClaimRow<'_>]) -> String {
    let mut text = format!("\n### {}\n\n{}\n", topic.name, topic.line);
    for row in rows.iter().filter(|row| row.claim.topic == topic) {
        text += &render_claim(row);
    }
    text
}

/// A claim with all its cases.
fn render_claim(row: &ClaimRow<'_>) -> String {
    let claim = row.claim;
    let confirmed = confirmation_words(row).map(|it| format!(" **{}**.", capital(&it))).unwrap_or_default();
    let mut text = format!(
        "\n#### {}\n\n{}. *{}: {}.*{confirmed}\n",
        claim.id,
        claim.text,
        claim.who.join(", "),
        claim.source
    );
    if let Some(finding) = &claim.finding {
        text += &format!("\n{}\n", finding_words(finding));
    }
    match &claim.cases {
        Err(not_yet) => text += &format!("\nNot run yet: {}: {}.\n", not_yet.missing.as_str(), not_yet.needs),
        Ok(_) => {
            text += "\n| run | predicted | came out |\n|---|---|---|\n";
            text.extend(row.outcomes.iter().map(line));
        }
    }
    if let Some(note) = &claim.note {
        text += &format!("\n{note}\n");
    }
    text
}

fn line(outcome: &CaseOutcome<'_>) -> String {
    let case: &DebateCase = outcome.case;
    let about = about(case);
    let found = format!("{} ({} seeds)", measurement_words(outcome), case.seeds());
    let found = if outcome.as_expected() { found } else { format!("**{found}**") };
    format!("| {about}`{}` | {} | {found} |\n", command(case).replace('|', "\\|"), prediction_words(case))
}

/// The claims that could not be run, with what each would take.
fn not_yet(rows: &[ClaimRow<'_>]) -> String {
    let mut text = "\n## Not run yet\n\n| claim | takes | |\n|---|---|---|\n".to_owned();
    for row in rows {
        if let Err(not_yet) = &row.claim.cases {
            text += &format!("| {} | {} | {} |\n", link(row), not_yet.missing.as_str(), not_yet.needs);
        }
    }
    text
}
