//! The view model of a run: everything that a drawing shows, as plain data with exact instants, and nothing that it
//! would have to compute from the run.
//!
//! The text picture and the figures are drawn from it: the lanes ([`Lanes`]) are the same data, and so are the
//! sentences. Written as JSON it is what a figure's HTML form draws from. Names and words are clean: no drawing shows
//! a character that acts on a terminal. Escaping for a format is the drawing's business.
//!
//! Decision: "Text, figure and page share one view model and have three drawings" (docs/decisions/pictures.md).

mod clients;
mod clocks;
mod events;
mod evidence;
mod faults;
mod lanes;
mod messages;
mod nodes;
mod overlaps;

pub use clocks::{ClockSeries, ClockStretch};
use doublehold_diagnosis::keys_in;
use doublehold_history::{History, LockId, Predicate, TrueNs, Verdicts};
use doublehold_scenarios::detail::{Detail, HostClocks, Message};
use doublehold_scenarios::scenario::{HostIndex, Role};
use doublehold_text::clean;
pub use events::EventLine;
pub use evidence::EvidenceLine;
pub use lanes::{
    ClaimBar, ClientLane, DeadlineMark, FaultSpan, KeyBar, Lanes, NodeLane, OverlapSpan, Wait, WriteFate,
    WriteMark,
};
use serde::Serialize;

use super::account::{self, Account};
use super::facts::Facts;
use super::story;
use crate::ShownRun;

/// A run as it is drawn.
#[derive(Clone, Debug, Serialize)]
pub struct View {
    /// The scenario's name.
    pub scenario: String,
    /// The claim that it is about.
    pub claim: String,
    /// The seed, as text: it uses all of its 64 bits. Empty for what no seed repeats.
    pub seed: String,
    /// The digest of the run's trace.
    pub trace_hash: String,
    /// What each predicate came to.
    pub verdicts: Vec<VerdictLine>,
    /// When the run ended.
    pub ended: TrueNs,
    /// Every host, in the scenario's order: where others name a host, its place in this list.
    pub hosts: Vec<HostLine>,
    /// What has a beginning and an end.
    #[serde(flatten)]
    pub lanes: Lanes,
    /// The account of the first violation: what happened, and what it came from if that is known.
    pub account: Option<Account>,
    /// The numbered sentences, as under the text picture, and in the same order.
    pub story: Vec<StoryLine>,
    /// What they leave out, in words; empty if nothing.
    pub left_out: String,
    /// Everything that the history tells, in order.
    pub events: Vec<EventLine>,
    /// What proves the violations.
    pub evidence: Vec<EvidenceLine>,
    /// Every message with its words; empty if the run kept none.
    pub messages: Vec<Message>,
    /// Of each message the lock that it is about, if it is about one; empty where there is one lock.
    pub message_locks: Vec<Option<LockId>>,
    /// What a wall clock that is right shows when the world begins, in milliseconds since the Unix epoch.
    pub epoch_ms: i64,
    /// The clocks of each host, in the scenario's order; empty if the run kept none.
    pub clocks: Vec<ClockSeries>,
}

/// A predicate and what it came to.
#[derive(Clone, Debug, Serialize)]
pub struct VerdictLine {
    /// `P1`.
    pub predicate: Predicate,
    /// `claim overlap`.
    pub name: &'static str,
    /// `holds`, `violated` or `inconclusive`.
    pub verdict: &'static str,
}

/// A host.
#[derive(Clone, Debug, Serialize)]
pub struct HostLine {
    /// Its name.
    pub name: String,
    /// What it is there for.
    pub role: Role,
    /// What stands for a client in the lanes of nodes.
    pub sign: Option<char>,
}

/// A numbered sentence.
#[derive(Clone, Debug, Serialize)]
pub struct StoryLine {
    /// When.
    pub at: TrueNs,
    /// Whose lane it belongs to.
    pub host: Option<HostIndex>,
    /// Whether a verdict turns on it.
    pub proves: bool,
    /// What, without a full stop.
    pub words: String,
}

impl View {
    /// What there is to draw of a run; messages and clocks only with its detail.
    ///
    /// ```
    /// use doublehold_render::picture::view::View;
    /// use doublehold_scenarios::{Detailed, Engine, SimEngine, catalog};
    ///
    /// let paused = SimEngine.prepare(&catalog::load("lease-pause", &[])?)?;
    /// let (report, _, detail) = paused.run_with_detail(7);
    /// let view = View::from_run(&report, Some(detail));
    /// assert_eq!(view.lanes.overlaps[0].words, "c1 and c2 both hold: 1.008 s");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_run<'a>(run: impl Into<ShownRun<'a>>, detail: Option<Detail>) -> View {
        let told: ShownRun<'a> = run.into();
        let (report, facts) = (told.report, Facts::from_run(told));
        let detail = detail.unwrap_or_default();
        // A thread has its process's.
        let is_machine = |clocks: &HostClocks| report.scenario.process_of(clocks.host).is_none();
        let clocks: Vec<HostClocks> = detail.clocks.iter().filter(|it| is_machine(it)).cloned().collect();
        View {
            claim: clean(&report.scenario.claim),
            trace_hash: report.trace_hash.to_string(),
            message_locks: messages::locks(&detail.messages, &report.scenario),
            messages: messages::clean_messages(detail.messages),
            epoch_ms: detail.epoch_ns / 1_000_000,
            clocks: clocks::series(&clocks, detail.epoch_ns),
            ..View::from_facts(&facts)
        }
    }

    /// What there is to draw of a history: the clients' lanes, the double holds and the events.
    pub fn from_history(history: &History, verdicts: &Verdicts) -> View {
        View::from_facts(&Facts::from_history(history, verdicts, &keys_in(history)))
    }

    /// The run's name, and its seed if it has one.
    pub fn title(&self) -> String {
        if self.seed.is_empty() {
            self.scenario.clone()
        } else {
            format!("{}, seed {}", self.scenario, self.seed)
        }
    }

    /// What a history has, too: no claim, no messages and no clocks.
    fn from_facts(facts: &Facts<'_>) -> View {
        let story = story::select(facts);
        let events = events::lines(facts);
        let header = facts.run.history.header();
        let verdict = |(predicate, verdict): (Predicate, &doublehold_history::Verdict)| VerdictLine {
            predicate,
            name: predicate.name(),
            verdict: verdict.as_str(),
        };
        View {
            scenario: clean(&header.scenario),
            claim: String::new(),
            seed: if header.seed == 0 { String::new() } else { header.seed.to_string() },
            trace_hash: String::new(),
            verdicts: facts.run.verdicts.iter().map(verdict).collect(),
            ended: facts.run.ended,
            hosts: hosts(facts),
            lanes: Lanes::new(facts),
            account: account::account(facts),
            story: story_lines(&story),
            left_out: super::left_out(&story),
            evidence: evidence::lines(facts, &events),
            events,
            message_locks: Vec::new(),
            messages: Vec::new(),
            epoch_ms: 0,
            clocks: Vec::new(),
        }
    }
}

fn hosts(facts: &Facts<'_>) -> Vec<HostLine> {
    let line = |(index, (_, role)): (usize, &(&str, Role))| {
        let host = HostIndex(index);
        let sign = facts.run.clients.contains(&host).then(|| facts.signs.sign_at(facts.place_of(host)));
        HostLine { name: facts.host(host), role: *role, sign }
    };
    facts.run.hosts.iter().enumerate().map(line).collect()
}

fn story_lines(story: &story::Story) -> Vec<StoryLine> {
    let line = |event: &story::StoryEvent| StoryLine {
        at: event.at,
        host: event.host,
        proves: event.rank <= story::Rank::Proof,
        words: event.words.clone(),
    };
    story.events.iter().map(line).collect()
}
