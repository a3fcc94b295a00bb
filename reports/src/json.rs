//! Runs, lists and traces as JSON, for other programs.
//!
//! Field names are part of the interface: they may be added to, and are not changed; `reports/JSON.md` explains each.
//! Times are true time in nanoseconds and end in `_ns`; names of hosts stand where the program has numbers. Seeds and
//! digests use all of their 64 bits and are texts: many readers of JSON keep 53.

mod causes;
mod finding;
mod white_box;

use std::collections::BTreeMap;
use std::io::{self, Write};

use doublehold_history::{
    EventKind, Evidence, Header, Heard, History, LostLock, Overall, Predicate, RunOutcome, Verdict, Verdicts,
    losses,
};
use doublehold_scenarios::catalog::Entry;
use doublehold_scenarios::report::Replay;
use doublehold_scenarios::report::{FaultReport, Judgement, Report};
use doublehold_scenarios::scenario::{Expected, HostIndex, Scenario};
use serde::Serialize;

use crate::ShownRun;
use crate::picture::{Account, account};
use crate::text::violated_unstated;

/// How many sentences of evidence are given for one predicate.
const MAX_WORDS: usize = 20;

/// The whole of `run --format json`.
#[derive(Serialize)]
struct Run<'a> {
    scenario: &'a str,
    /// The user's own label, if the scenario has one.
    #[serde(skip_serializing_if = "str::is_empty")]
    id: &'a str,
    claim: &'a str,
    source: &'a str,
    story: &'a str,
    /// What was set beside the file, which claim and story were written without.
    sets: &'a [String],
    story_may_not_fit: bool,
    seed: String,
    engine: &'a str,
    as_expected: bool,
    judgement: &'static str,
    outcome: &'static str,
    verdicts: BTreeMap<&'static str, &'static str>,
    expect: BTreeMap<&'static str, &'static str>,
    /// What is violated and not in `expect`.
    violated_unstated: Vec<&'static str>,
    evidence: BTreeMap<&'static str, Because>,
    overlaps: Vec<Overlap>,
    /// The clients that lost a lock to another, and the time at which their own code heard of that.
    lost_locks: Vec<Lost>,
    faults: Vec<Fault<'a>>,
    /// The steps that clients left out because they gave up.
    left_out: Vec<LeftOut<'a>>,
    /// The cause of the first violation in one sentence, if runs without it have shown that.
    why: Option<String>,
    /// The events of the first violation in one sentence, if its cause is not known.
    what_happened: Option<String>,
    /// How the lock was lost, as data.
    finding: Option<finding::Finding>,
    /// The results of runs without each possible cause, if such runs were made.
    causes: Option<causes::Causes>,
    /// The verdicts of white-box rules.
    white_box: BTreeMap<&'static str, white_box::Rule>,
    notes: &'a [String],
    trace_hash: String,
    /// Of a replay: whether the plan came to the same digest.
    #[serde(skip_serializing_if = "Option::is_none")]
    same_run: Option<bool>,
    /// Of the replay of a plan under other hash rules: whether it came to the same verdicts. Of another: false if not.
    #[serde(skip_serializing_if = "Option::is_none")]
    same_verdicts: Option<bool>,
    events: u64,
    messages: u64,
    true_time_ns: u64,
    replay: &'a str,
}

/// Why a predicate does not hold.
#[derive(Serialize)]
struct Because {
    /// How many pieces of evidence there are.
    count: usize,
    /// The first of them as sentences, or why nothing could be decided.
    words: Vec<String>,
}

#[derive(Serialize)]
struct Overlap {
    predicate: &'static str,
    clients: [String; 2],
    lock: String,
    from_ns: u64,
    to_ns: u64,
    open_ended: bool,
}

#[derive(Serialize)]
struct Lost {
    client: String,
    lock: String,
    grant: u64,
    next_client: String,
    next_at_ns: u64,
    heard: Vec<News>,
}

#[derive(Serialize)]
struct News {
    word: String,
    at_ns: u64,
    /// From the next grant on: negative if it came in time.
    after_next_ns: i64,
}

fn losses_of(history: &History) -> Vec<Lost> {
    let header = history.header();
    let lost = |loss: LostLock| {
        let news = |heard: &Heard| News {
            word: heard.word.clone(),
            at_ns: heard.at.0,
            after_next_ns: loss.after_next_ns(heard),
        };
        Lost {
            client: header.client(loss.client),
            lock: header.lock(loss.lock),
            grant: loss.grant.0,
            next_client: header.client(loss.next_client),
            next_at_ns: loss.next_at.0,
            heard: loss.heard.iter().map(news).collect(),
        }
    };
    losses(history).into_iter().map(lost).collect()
}

#[derive(Serialize)]
struct LeftOut<'a> {
    client: String,
    lock: String,
    at_ns: u64,
    steps: &'a [String],
}

#[derive(Serialize)]
struct Fault<'a> {
    words: String,
    when: String,
    kind: &'static str,
    hosts: Vec<&'a str>,
    fired: bool,
    from_ns: Option<u64>,
    until_ns: Option<u64>,
}

/// A run as one JSON object. `replay` is the command that shows the same run again.
///
/// # Errors
///
/// None in practice: everything in a report can be written as JSON.
pub fn render_run<'a>(run: impl Into<ShownRun<'a>>, replay: &'a str) -> serde_json::Result<String> {
    pretty(&as_run(run.into(), replay))
}

/// Several runs as one JSON array, each with the command that shows it again.
///
/// # Errors
///
/// None in practice, as with [`render_run`].
pub fn runs(runs: &[(ShownRun<'_>, &str)]) -> serde_json::Result<String> {
    pretty(&runs.iter().map(|(told, replay)| as_run(*told, replay)).collect::<Vec<_>>())
}

fn as_run<'a>(told: ShownRun<'a>, replay: &'a str) -> Run<'a> {
    let (report, account) = (told.report, account(told));
    let scenario = &report.scenario;
    let judgement = report.judgement();
    Run {
        scenario: &scenario.name,
        id: &scenario.id,
        claim: &scenario.claim,
        source: &scenario.source,
        story: &scenario.story,
        sets: &scenario.sets,
        story_may_not_fit: !scenario.sets.is_empty(),
        seed: report.seed.to_string(),
        engine: report.engine,
        as_expected: judgement == Judgement::AsExpected,
        judgement: judgement_word(judgement),
        outcome: outcome_word(report.history.outcome()),
        verdicts: verdict_words(&report.verdicts),
        expect: expectation(&scenario.expect),
        violated_unstated: violated_unstated(report),
        evidence: evidence(&report.verdicts, report.history.header()),
        overlaps: overlaps(&report.verdicts, report.history.header()),
        lost_locks: losses_of(&report.history),
        faults: report.faults.iter().map(|it| fault(it, scenario)).collect(),
        left_out: left_out(report),
        why: account.clone().and_then(Account::cause),
        what_happened: account.and_then(Account::order),
        finding: finding::Finding::of(report),
        causes: told.causes.map(|causes| causes::Causes::new(causes, scenario)),
        white_box: white_box::rules(report),
        notes: &report.notes,
        trace_hash: report.trace_hash.to_string(),
        same_run: report.is_same_run(),
        same_verdicts: report.replays.as_ref().and_then(Replay::are_same_verdicts),
        events: report.events,
        messages: report.messages,
        true_time_ns: report.ended.0,
        replay,
    }
}

fn left_out(report: &Report) -> Vec<LeftOut<'_>> {
    let header = report.history.header();
    let mut asked = BTreeMap::new();
    let mut left_out = Vec::new();
    for event in report.history.events() {
        match event.what {
            EventKind::AcquireStarted { client, lock, .. } => drop(asked.insert(client, lock)),
            EventKind::GaveUp { client, call } => {
                let steps = report.left_out.get(&call).filter(|steps| !steps.is_empty());
                left_out.extend(steps.zip(asked.get(&client)).map(|(steps, lock)| LeftOut {
                    client: header.client(client),
                    lock: header.lock(*lock),
                    at_ns: event.at.0,
                    steps,
                }));
            }
            _ => {}
        }
    }
    left_out
}

fn verdict_words(verdicts: &Verdicts) -> BTreeMap<&'static str, &'static str> {
    verdicts.iter().map(|(predicate, verdict)| (predicate.as_str(), verdict.as_str())).collect()
}

/// The whole of `judge --format json`.
#[derive(Serialize)]
struct Judged<'a> {
    scenario: &'a str,
    seed: String,
    judgement: &'static str,
    outcome: &'static str,
    verdicts: BTreeMap<&'static str, &'static str>,
    evidence: BTreeMap<&'static str, Because>,
    overlaps: Vec<Overlap>,
    lost_locks: Vec<Lost>,
    events: usize,
    true_time_ns: u64,
}

/// The verdicts on a history as one JSON object. Its judgement is about the predicates that were asked for, or about
/// all.
///
/// # Errors
///
/// None in practice, as with [`render_run`].
pub fn history(history: &History, verdicts: &Verdicts, asked: &[Predicate]) -> serde_json::Result<String> {
    let header = history.header();
    pretty(&Judged {
        scenario: &header.scenario,
        seed: header.seed.to_string(),
        judgement: match verdicts.overall(history, asked) {
            Overall::Holds => "holds",
            Overall::Violated => "violated",
            Overall::Inconclusive => "inconclusive",
        },
        outcome: outcome_word(history.outcome()),
        verdicts: verdict_words(verdicts),
        evidence: evidence(verdicts, header),
        overlaps: overlaps(verdicts, header),
        lost_locks: losses_of(history),
        events: history.events().len(),
        true_time_ns: history.end().0,
    })
}

fn judgement_word(judgement: Judgement) -> &'static str {
    match judgement {
        Judgement::AsExpected => "as-expected",
        Judgement::Contradicted => "contradicted",
        Judgement::Inconclusive => "inconclusive",
    }
}

fn outcome_word(outcome: Option<RunOutcome>) -> &'static str {
    match outcome {
        Some(RunOutcome::Completed) => "completed",
        Some(RunOutcome::Stalled) => "stalled",
        Some(RunOutcome::EventBudget) => "event-budget",
        Some(RunOutcome::TimeBudget) => "time-budget",
        Some(RunOutcome::MemoryBudget) => "memory-budget",
        Some(RunOutcome::Halted) => "halted",
        None => "unknown",
    }
}

fn expectation(expect: &BTreeMap<Predicate, Expected>) -> BTreeMap<&'static str, &'static str> {
    expect.iter().map(|(predicate, expected)| (predicate.as_str(), expected.as_str())).collect()
}

fn evidence(verdicts: &Verdicts, header: &Header) -> BTreeMap<&'static str, Because> {
    let because = |verdict: &Verdict| match verdict {
        Verdict::Holds => None,
        Verdict::Violated(evidence) => {
            let words = evidence.iter().take(MAX_WORDS).map(|it| it.sentence(header));
            Some(Because { count: evidence.len(), words: words.collect() })
        }
        Verdict::Inconclusive(why) => Some(Because { count: 0, words: vec![why.clone()] }),
        Verdict::NotSeen(why) => Some(Because { count: 0, words: vec![(*why).to_owned()] }),
    };
    verdicts.iter().filter_map(|(predicate, verdict)| Some((predicate.as_str(), because(verdict)?))).collect()
}

fn overlaps(verdicts: &Verdicts, header: &Header) -> Vec<Overlap> {
    let evidence = verdicts.iter().flat_map(|(_, verdict)| verdict.evidence());
    evidence
        .filter_map(|evidence| match evidence {
            Evidence::Overlap(it) => Some(Overlap {
                predicate: it.predicate.as_str(),
                clients: it.clients.map(|client| header.client(client)),
                lock: header.lock(it.lock),
                from_ns: it.from.0,
                to_ns: it.to.0,
                open_ended: it.open_ended,
            }),
            _ => None,
        })
        .collect()
}

fn fault<'a>(fault: &'a FaultReport, scenario: &'a Scenario) -> Fault<'a> {
    let name = |host: &HostIndex| scenario.hosts.get(host.0).map(|plan| plan.name.as_str());
    Fault {
        words: fault.fault.words(),
        when: fault.fault.moment(),
        kind: fault.fault.effect.kind().word,
        hosts: fault.hosts.iter().filter_map(name).collect(),
        fired: fault.from.is_some(),
        from_ns: fault.from.map(|at| at.0),
        until_ns: fault.until.map(|at| at.0),
    }
}

/// One line of the catalogue.
#[derive(Serialize)]
struct Listed<'a> {
    name: &'a str,
    /// Absent for a file of one's own.
    topic: Option<&'a str>,
    claim: &'a str,
    source: &'a str,
    story: &'a str,
    expect: BTreeMap<&'static str, &'static str>,
}

/// The catalogue as a JSON array.
///
/// # Errors
///
/// None in practice, as with [`render_run`].
pub fn list(entries: &[Entry]) -> serde_json::Result<String> {
    let listed = entries.iter().map(|entry| Listed {
        name: &entry.name,
        topic: (!entry.topic.is_empty()).then_some(entry.topic),
        claim: &entry.claim,
        source: &entry.source,
        story: &entry.story,
        expect: expectation(&entry.expect),
    });
    pretty(&listed.collect::<Vec<_>>())
}

/// As people read it, with the end of a line.
pub fn pretty(value: &impl Serialize) -> serde_json::Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

/// The first line of a trace file: what the numbers of the other lines mean.
#[derive(Serialize)]
struct TraceHeader<'a> {
    trace: u32,
    scenario: &'a str,
    seed: String,
    trace_hash: String,
    /// By number; number zero is the world's own observer.
    hosts: Vec<&'a str>,
}

/// Writes a run's trace as lines of JSON: a header, then one line for each event.
///
/// # Errors
///
/// If the output cannot be written.
pub fn write_trace(report: &Report, trace: &[impl Serialize], mut output: impl Write) -> io::Result<()> {
    let hosts = std::iter::once("world").chain(report.scenario.hosts.iter().map(|host| host.name.as_str()));
    let header = TraceHeader {
        trace: 1,
        scenario: &report.scenario.name,
        seed: report.seed.to_string(),
        trace_hash: report.trace_hash.to_string(),
        hosts: hosts.collect(),
    };
    serde_json::to_writer(&mut output, &header)?;
    output.write_all(b"\n")?;
    for record in trace {
        serde_json::to_writer(&mut output, record)?;
        output.write_all(b"\n")?;
    }
    output.flush()
}
