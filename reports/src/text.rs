//! A run as text: what was run, the picture, the verdicts with their evidence, and how to run it again.
//!
//! For a reader who knows the debate about locks and has never seen this tool. Pure: text out of data; the last line
//! is always the one to paste.

use std::collections::BTreeMap;

use doublehold_history::{
    Evidence, Header, History, Overall, Predicate, RunOutcome, Verdict, Verdicts, losses,
};
use doublehold_scenarios::report::{Judgement, Report};
use doublehold_scenarios::scenario::Expected;
use doublehold_text::{clean, duration, list};

use crate::ShownRun;
use crate::layout::{align_left, to_ascii, wrap};
use crate::picture::{picture, picture_of_history};
use crate::style::{Paint, Style};

/// How much evidence is shown for one predicate.
const MAX_EVIDENCE: usize = 3;

/// Everything `run` prints. `replay` is the command that shows the same run again.
pub fn render_run<'a>(run: impl Into<ShownRun<'a>>, replay: &str, style: &Style) -> String {
    let told: ShownRun<'a> = run.into();
    let report = told.report;
    let mut text = headline(report, style);
    text.push('\n');
    text.push_str(&picture(told, style));
    text.push('\n');
    let header = report.history.header();
    // A run that is shown for what separates two locks is not held against an expectation.
    let expect = report.told.is_none().then_some(&report.scenario.expect);
    text.push_str(&verdicts(&Judged { verdicts: &report.verdicts, header, expect }, style));
    text.push('\n');
    text.push_str(&notes(report, style));
    if expect.is_some() {
        text.push_str(&conclusion(report, style));
    }
    text.push_str(&format!("replay: {}\n", clean(replay)));
    if style.unicode { text } else { to_ascii(&text) }
}

/// The lanes and the numbered events of a run, without its verdicts: for a second run beside one that has them.
pub fn render_lanes<'a>(run: impl Into<ShownRun<'a>>, style: &Style) -> String {
    let text = picture(run, style);
    if style.unicode { text } else { to_ascii(&text) }
}

/// Everything `judge` prints of a history that somebody recorded. Its conclusion is about the predicates that were
/// asked for, or about all.
pub fn history(history: &History, verdicts_of_it: &Verdicts, asked: &[Predicate], style: &Style) -> String {
    let header = history.header();
    let title = format!(
        "{}: a history of {} and {} events, {} of true time",
        clean(&header.scenario),
        match header.clients.len() {
            1 => "1 client".to_owned(),
            clients => format!("{clients} clients"),
        },
        history.events().len(),
        duration(history.end().0),
    );
    let mut text = wrap(&title, "", "  ", style.width);
    text.push('\n');
    text.push_str(&picture_of_history(history, verdicts_of_it, style));
    text.push('\n');
    text.push_str(&verdicts(&Judged { verdicts: verdicts_of_it, header, expect: None }, style));
    let (sentence, paint) = match verdicts_of_it.overall(history, asked) {
        Overall::Holds => ("nothing is violated", Paint::Good),
        Overall::Violated => ("VIOLATED: the events above prove it", Paint::Bad),
        Overall::Inconclusive => {
            ("INCONCLUSIVE: nothing is violated, and not all of it was decided", Paint::Unsure)
        }
    };
    let asked: Vec<&str> = asked.iter().map(|predicate| predicate.as_str()).collect();
    let about = if asked.is_empty() { String::new() } else { format!("asked about {}: ", list(&asked)) };
    text.push_str(&format!("\n{}\n", style.paint(&format!("{about}{sentence}"), paint)));
    if style.unicode { text } else { to_ascii(&text) }
}

fn headline(report: &Report, style: &Style) -> String {
    let scenario = &report.scenario;
    let name = clean(&scenario.name);
    let mut text = wrap(&format!("{name}: {}", scenario.claim), "", "  ", style.width);
    // Painted after wrapping: colour codes have no width. A name that does not fit on the line stays plain.
    if text.starts_with(&name) {
        text.replace_range(..name.len(), &style.paint(&name, Paint::Strong));
    }
    if !scenario.source.is_empty() {
        text.push_str(&style.paint(&wrap(&scenario.source, "  ", "  ", style.width), Paint::Dim));
    }
    if !scenario.id.is_empty() {
        let label = format!("id: {}", scenario.id);
        text.push_str(&style.paint(&wrap(&label, "  ", "  ", style.width), Paint::Dim));
    }
    if !scenario.story.is_empty() {
        text.push('\n');
        text.push_str(&wrap(&scenario.story, "  ", "  ", style.width));
    }
    text.push_str(&changes(report, style));
    text.push('\n');
    let run = format!(
        "seed {}, engine {}: {} of true time, {} events, trace {}{}",
        report.seed,
        report.engine,
        duration(report.ended.0),
        report.events,
        report.trace_hash,
        how_it_ended(report),
    );
    text.push_str(&wrap(&run, "  ", "  ", style.width));
    text
}

/// What was set beside the file; nothing for a scenario as it was written.
fn changes(report: &Report, style: &Style) -> String {
    let sets = &report.scenario.sets;
    if sets.is_empty() {
        return String::new();
    }
    let lines = sets.iter().map(|set| wrap(set, "  set: ", "       ", style.width));
    let warning = "what is said above was written without that, and may no longer fit";
    let text: String = lines.chain([wrap(warning, "  ", "  ", style.width)]).collect();
    "\n".to_owned() + &style.paint(text.trim_end(), Paint::Unsure) + "\n"
}

/// Nothing for a run that completed.
fn how_it_ended(report: &Report) -> &'static str {
    match report.history.outcome() {
        Some(RunOutcome::Completed) | None => "",
        Some(RunOutcome::Stalled) => "; the world stalled with work unfinished",
        Some(RunOutcome::EventBudget) => "; the budget of events ran out",
        Some(RunOutcome::TimeBudget) => "; the budget of true time ran out",
        Some(RunOutcome::MemoryBudget) => "; the budget of memory ran out",
        Some(RunOutcome::Halted) => "; it was ended there",
    }
}

/// What the table of verdicts is made from.
struct Judged<'a> {
    verdicts: &'a Verdicts,
    header: &'a Header,
    /// What was to come out; `None` if nobody can have expected anything.
    expect: Option<&'a BTreeMap<Predicate, Expected>>,
}

fn verdicts(judged: &Judged<'_>, style: &Style) -> String {
    let meaning = if has_room(style) { "violated means" } else { "" };
    let rule = if style.width < Style::MIN_WIDTH { "    " } else { "rule                " };
    let expected = if judged.expect.is_some() { align_left("expected", 20) } else { String::new() };
    let head = format!("  {rule}{}{expected}{meaning}", align_left("came out", 14));
    let mut text = style.paint(head.trim_end(), Paint::Dim) + "\n";
    let mut previous = None;
    for (predicate, verdict) in judged.verdicts.iter() {
        text.push_str(&verdict_line(judged, predicate, verdict, style));
        // One reason for doubt often covers all six: it is given once.
        if verdict.doubt().is_none() || previous != Some(verdict) {
            text.push_str(&evidence(judged.header, verdict, style));
        }
        previous = Some(verdict);
    }
    let mut shown =
        judged.verdicts.iter().flat_map(|(_, verdict)| verdict.evidence().iter().take(MAX_EVIDENCE));
    if shown.any(names_grants) {
        let words = "a grant has the number of its acquire call in the run; refused calls are counted, too";
        text.push_str(&style.paint(&wrap(words, "  ", "  ", style.width), Paint::Dim));
    }
    text
}

/// Whether its words tell grants by their numbers, and not by when they were given.
fn names_grants(evidence: &Evidence) -> bool {
    matches!(evidence, Evidence::Cycle(_) | Evidence::LostWrite(_) | Evidence::WrongKey(_))
}

/// Whether the table has room for a column that says what a violation means.
fn has_room(style: &Style) -> bool {
    style.width >= Style::DEFAULT_WIDTH
}

fn verdict_line(judged: &Judged<'_>, predicate: Predicate, verdict: &Verdict, style: &Style) -> String {
    let expected = judged.expect.and_then(|expect| expect.get(&predicate));
    let (compared, compared_paint) = match (expected, verdict) {
        (None, Verdict::Violated(_)) if judged.expect.is_some_and(|expect| !expect.is_empty()) => {
            ("NOT STATED".to_owned(), Paint::Unsure)
        }
        (None, _) => ("not stated".to_owned(), Paint::Dim),
        (Some(Expected::NotSeen), Verdict::NotSeen(_)) => {
            (Expected::NotSeen.as_str().to_owned(), Paint::Good)
        }
        (Some(expected), Verdict::Inconclusive(_) | Verdict::NotSeen(_)) => {
            (format!("{}, undecided", expected.as_str()), Paint::Unsure)
        }
        (Some(Expected::Holds), Verdict::Holds) | (Some(Expected::Violated), Verdict::Violated(_)) => {
            (verdict.as_str().to_owned(), Paint::Good)
        }
        (Some(expected), _) => (format!("{}, NOT SO", expected.as_str()), Paint::Bad),
    };
    let paint = match verdict {
        Verdict::Holds => Paint::Good,
        Verdict::Violated(_) => Paint::Bad,
        Verdict::Inconclusive(_) | Verdict::NotSeen(_) => Paint::Unsure,
    };
    // Padded before painting: colour codes have no width.
    let name = if style.width < Style::MIN_WIDTH {
        format!("{predicate}  ")
    } else {
        format!("{predicate}  {}", align_left(predicate.name(), 16))
    };
    let compared = style.paint(&align_left(&compared, 20), compared_paint);
    let came_out = style.paint(&align_left(verdict.as_str(), 14), paint);
    let compared = if judged.expect.is_some() { compared } else { String::new() };
    let meaning =
        if has_room(style) { style.paint(short_meaning(predicate), Paint::Dim) } else { String::new() };
    let line = format!("  {name}{came_out}{compared}{meaning}");
    line.trim_end().to_owned() + "\n"
}

/// `P1 violated; P2 hold; not stated: WR violated`: what the scenario states comes first, since nothing was expected of
/// the rest.
pub fn verdicts_in_short(report: &Report) -> String {
    let expect = &report.scenario.expect;
    let named = |stated: bool, wanted: &str, verb: &str| {
        let of = report.verdicts.iter().filter(|(predicate, _)| expect.contains_key(predicate) == stated);
        let of = of.filter(|(_, verdict)| verdict.as_str() == wanted);
        let names: Vec<&str> = of.map(|(predicate, _)| predicate.as_str()).collect();
        (!names.is_empty()).then(|| format!("{} {verb}", names.join(" ")))
    };
    let all = |stated| {
        let words = [("violated", "violated"), ("holds", "hold"), ("inconclusive", "inconclusive")];
        words.iter().filter_map(|(wanted, verb)| named(stated, wanted, verb)).collect::<Vec<_>>().join("; ")
    };
    match (all(true), all(false)) {
        (stated, rest) if rest.is_empty() => stated,
        (stated, rest) if stated.is_empty() => rest,
        (stated, rest) => format!("{stated}; not stated: {rest}"),
    }
}

/// The predicates that are violated and of which the scenario states nothing: neither expected nor unexpected.
pub fn violated_unstated(report: &Report) -> Vec<&'static str> {
    let unstated = report.verdicts.iter().filter(|(it, _)| !report.scenario.expect.contains_key(it));
    let violated = unstated.filter(|(_, verdict)| matches!(verdict, Verdict::Violated(_)));
    violated.map(|(predicate, _)| predicate.as_str()).collect()
}

/// What a violation means, in the few words a table has room for.
fn short_meaning(predicate: Predicate) -> &'static str {
    match predicate {
        Predicate::P1 => "two clients both believed they held the lock",
        Predicate::P2 => "as P1, before either's own deadline",
        Predicate::P3 => "a write was applied after a later grant",
        Predicate::P4 => "the data is what no turn-taking would leave",
        Predicate::WR => "a command changed another grant's key",
        Predicate::LV => "a wait was longer than its bound",
    }
}

fn evidence(header: &Header, verdict: &Verdict, style: &Style) -> String {
    let line = |words: &str| wrap(words, "        ", "        ", style.width);
    match verdict {
        Verdict::Holds => String::new(),
        Verdict::Inconclusive(why) => line(why),
        Verdict::NotSeen(why) => line(why),
        Verdict::Violated(evidence) => {
            let shown = evidence.iter().take(MAX_EVIDENCE);
            let mut text: String = shown.map(|it| line(&it.sentence(header))).collect();
            if evidence.len() > MAX_EVIDENCE {
                let more = evidence.len() - MAX_EVIDENCE;
                let at_least = if evidence.iter().any(|it| matches!(it, Evidence::Omitted { .. })) {
                    "at least "
                } else {
                    ""
                };
                text.push_str(&line(&format!("and {at_least}{more} more")));
            }
            text
        }
    }
}

fn notes(report: &Report, style: &Style) -> String {
    let mut text = lost_locks(report, style);
    text.push_str(&remarks(report, style));
    text
}

/// Names those who lost a lock of a service, and when their code heard of that: what their library says decides there.
fn lost_locks(report: &Report, style: &Style) -> String {
    if report.scenario.service.is_none() {
        return String::new();
    }
    let losses = losses(&report.history);
    let sentences = losses.iter().take(MAX_EVIDENCE).map(|loss| loss.sentence(report.history.header()));
    let mut text: String = sentences.map(|loss| wrap(&loss, "lost: ", "      ", style.width)).collect();
    if let more @ 1.. = losses.len().saturating_sub(MAX_EVIDENCE) {
        text.push_str(&format!("      and {more} more\n"));
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

fn remarks(report: &Report, style: &Style) -> String {
    let never = report.faults.iter().filter(|fault| fault.from.is_none());
    let never = never.map(|fault| format!("this fault never struck: {}", fault.fault));
    let notes: Vec<String> = never.chain(report.notes.iter().cloned()).collect();
    let mut text: String = notes.iter().map(|note| wrap(note, "note: ", "      ", style.width)).collect();
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

/// Whether the run showed what its scenario says it shows, and what it showed besides.
fn conclusion(report: &Report, style: &Style) -> String {
    let unstated = violated_unstated(report);
    let (mut sentence, mut paint) = compare_expectation(report, !unstated.is_empty());
    if !unstated.is_empty() {
        let besides = if report.scenario.expect.is_empty() { "" } else { "NOT STATED, and " };
        sentence.push_str(&format!("; {besides}violated: {}", list(&unstated)));
        paint = if paint == Paint::Good { Paint::Unsure } else { paint };
    }
    style.paint(wrap(&sentence, "", "  ", style.width).trim_end(), paint) + "\n"
}

/// How what came out compares with what is stated. Where `more` is violated, nothing is said of the run as a whole.
fn compare_expectation(report: &Report, more: bool) -> (String, Paint) {
    let expect = &report.scenario.expect;
    match report.judgement() {
        _ if report.is_same_run() == Some(false) => (
            "what is said above is of another run than the plan, and nothing is compared".to_owned(),
            Paint::Bad,
        ),
        Judgement::AsExpected if expect.is_empty() => {
            ("the scenario states no expectation: nothing to compare".to_owned(), Paint::Unsure)
        }
        Judgement::AsExpected if more => {
            let stated: Vec<&str> = expect.keys().map(|predicate| predicate.as_str()).collect();
            (format!("as expected in what is stated, {}", list(&stated)), Paint::Good)
        }
        Judgement::AsExpected if !report.scenario.sets.is_empty() => (
            "as expected: the verdicts are those the file expects, with what was set, too".to_owned(),
            Paint::Good,
        ),
        Judgement::AsExpected => {
            ("as expected: this run shows what the scenario says it shows".to_owned(), Paint::Good)
        }
        Judgement::Contradicted => {
            (format!("NOT AS EXPECTED: {}", contradictions(report).join("; ")), Paint::Bad)
        }
        Judgement::Inconclusive => (
            "INCONCLUSIVE: nothing contradicts the expectation, and not all of it was decided".to_owned(),
            Paint::Unsure,
        ),
    }
}

/// `P2 is violated and was to hold`, for each verdict that contradicts.
fn contradictions(report: &Report) -> Vec<String> {
    let compared = report
        .scenario
        .expect
        .iter()
        .map(|(predicate, expected)| (predicate, expected, report.verdicts.get(*predicate)));
    compared
        .filter_map(|(predicate, expected, verdict)| match (expected, verdict) {
            (Expected::Holds, Verdict::Violated(_)) => {
                Some(format!("{predicate} was to hold and is violated"))
            }
            (Expected::Violated, Verdict::Holds) => Some(format!("{predicate} was to be violated and holds")),
            (Expected::NotSeen, Verdict::Holds | Verdict::Violated(_)) => {
                Some(format!("{predicate} was not to be seen, and came out as {}", verdict.as_str()))
            }
            _ => None,
        })
        .collect()
}
