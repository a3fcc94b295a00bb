//! White-box rules: what a lock may not do even where nobody was harmed, asked of a finished run.
//!
//! A predicate needs an unlucky moment: two clients that hold at once. A rule sees the mistake itself, in nearly every
//! run: a deadline that lies after the end of its key, a key that nobody will use again, a command that was sent too
//! late. So rules stand beside the predicates, and no run is violated by one.
//!
//! Pure functions of a [`Report`]. Each says that the rule holds, that it is broken with the evidence, or that it is
//! off with the reason: a lock that computes no deadline has none that could be too late.
//!
//! Assumes that rules are about locks and not about the world. What a fault did is not held against a lock: each rule
//! says which faults excuse what.
//!
//! ```
//! use doublehold_scenarios::report::white_box::{Rule, ask};
//! use doublehold_scenarios::{Engine, SimEngine, catalog};
//!
//! let report = SimEngine.run(&catalog::load("deadline-from-the-reply", &[])?, 1);
//! assert_eq!(ask(Rule::Margin, &report).as_str(), "broken");
//! # Ok::<(), doublehold_scenarios::ScenarioError>(())
//! ```
//!
//! Decision: "White-box rules stand beside the predicates" (docs/decisions/locks.md).

mod calls;
mod late_command;
mod left_key;
mod margin;
#[cfg(test)]
mod tests;

use std::fmt;

use doublehold_history::{CallId, TrueNs};

use super::Report;
use crate::model::fault::{Effect, Nature};
use crate::model::scenario::HostIndex;

/// A rule about what a lock does inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// No deadline of a grant lies after the end of the keys on which the grant rests.
    Margin,
    /// No key is left with a token that nobody will use again.
    LeftKey,
    /// No command is sent for a grant that is over.
    LateCommand,
}

/// The result of a rule in one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleVerdict {
    /// Nothing breaks it, and something could have.
    Holds,
    /// These break it, in order of time.
    Broken(Vec<Breach>),
    /// Nothing in the run could be judged by it, and why.
    Off(&'static str),
}

/// One thing that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// When it began.
    pub at: TrueNs,
    /// Until when it lasts; `None`: for ever, or no length.
    pub until: Option<TrueNs>,
    /// The name of the client.
    pub client: String,
    /// The call that it is about.
    pub call: CallId,
    /// The node, where there is one.
    pub node: Option<HostIndex>,
    /// The same as a sentence.
    pub words: String,
}

impl Rule {
    /// All rules, in the order in which they are listed.
    pub const ALL: [Rule; 3] = [Rule::Margin, Rule::LeftKey, Rule::LateCommand];

    /// The word by which people ask for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Rule::Margin => "margin",
            Rule::LeftKey => "left-key",
            Rule::LateCommand => "late-command",
        }
    }

    /// The rule as a sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            Rule::Margin => "no deadline lies after the end of the keys that it rests on",
            Rule::LeftKey => "no key is left with a token that nobody will use again",
            Rule::LateCommand => "no command is sent for a grant that is over",
        }
    }
}

const TOO_MUCH: &str = "more happened in the run than rules look at: let less happen";

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl RuleVerdict {
    /// The verdict in a word.
    pub fn as_str(&self) -> &'static str {
        match self {
            RuleVerdict::Holds => "holds",
            RuleVerdict::Broken(_) => "broken",
            RuleVerdict::Off(_) => "off",
        }
    }

    /// From what was found: `judged` is false if there was nothing to look at.
    fn new(mut broken: Vec<Breach>, judged: bool, why_off: &'static str) -> RuleVerdict {
        broken.sort_by_key(|breach| breach.at);
        match (broken.is_empty(), judged) {
            (false, _) => RuleVerdict::Broken(broken),
            (true, true) => RuleVerdict::Holds,
            (true, false) => RuleVerdict::Off(why_off),
        }
    }
}

/// Asks a rule of a run.
pub fn ask(rule: Rule, report: &Report) -> RuleVerdict {
    if report.leases.is_cut_short {
        return RuleVerdict::Off(TOO_MUCH);
    }
    match rule {
        Rule::Margin => margin::ask(report),
        Rule::LeftKey => left_key::ask(report),
        Rule::LateCommand => late_command::ask(report),
    }
}

/// Asks all rules of a run, in the order of [`Rule::ALL`].
pub fn ask_all(report: &Report) -> [(Rule, RuleVerdict); 3] {
    Rule::ALL.map(|rule| (rule, ask(rule, report)))
}

/// Whether a fault changed how a host's clocks run, by then: leases are about clocks that run on.
fn was_clock_struck(report: &Report, host: HostIndex, by: TrueNs) -> bool {
    let mut struck =
        report.faults.iter().filter(|it| it.hosts.contains(&host) && it.from.is_some_and(|from| from <= by));
    struck.any(|it| {
        let of_clocks = matches!(it.fault.effect.kind().nature, Nature::Clock | Nature::ClockOnce);
        of_clocks || matches!(it.fault.effect, Effect::Suspend { .. } | Effect::PowerLoss { .. })
    })
}

/// Whether any fault had struck anything by then.
fn was_struck(report: &Report, by: TrueNs) -> bool {
    report.faults.iter().any(|it| it.from.is_some_and(|from| from <= by))
}

fn host_name(report: &Report, host: HostIndex) -> &str {
    &report.scenario.hosts[host.0].name
}
