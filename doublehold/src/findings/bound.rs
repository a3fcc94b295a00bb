//! The bound by which LV judges waits, and its source. Without one a search has no verdict on LV, as a run has none.
//!
//! Decision: "A search sets no wait bound of its own" (docs/decisions/search.md).

use std::time::Duration;

use doublehold_scenarios::Scenario;
use doublehold_scenarios::scenario::Limits;
use doublehold_text::exact_duration;

/// Within which time the lock is to be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitBound {
    /// By whoever asks, whoever holds it meanwhile.
    pub obtain_within: Option<Duration>,
    /// By whoever asks while nobody claims it.
    pub obtain_free_within: Option<Duration>,
    /// True if waits count from the last fault on.
    pub after_faults: bool,
    /// The source of the bound.
    pub stated_by: StatedBy,
}

/// A source of a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatedBy {
    /// The user, by `--obtain-within`.
    Command,
    /// The world that a lock is tried in where nobody says another.
    UsualWorld,
    /// The scenario's own `limits`.
    Scenario,
}

impl StatedBy {
    /// A word for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            StatedBy::Command => "command",
            StatedBy::UsualWorld => "usual-world",
            StatedBy::Scenario => "scenario",
        }
    }
}

impl WaitBound {
    /// The bound that a scenario states, if it states one.
    pub fn from_scenario(scenario: &Scenario, stated_by: StatedBy) -> Option<WaitBound> {
        let Limits { obtain_within, obtain_free_within, after_faults, .. } = scenario.limits;
        let is_stated = obtain_within.is_some() || obtain_free_within.is_some();
        is_stated.then_some(WaitBound { obtain_within, obtain_free_within, after_faults, stated_by })
    }

    /// `LV: who asks is to have the lock within 60 s, counted from the last fault (the usual world's bound)`.
    pub(super) fn words(&self) -> String {
        let within = self.obtain_within.map(|it| format!("who asks within {}", exact_duration(it)));
        let free = self
            .obtain_free_within
            .map(|it| format!("who asks for a lock that nobody claims within {}", exact_duration(it)));
        let bounds: Vec<String> = within.into_iter().chain(free).collect();
        let from = if self.after_faults { ", counted from the last fault" } else { "" };
        let by = match self.stated_by {
            StatedBy::Command => "as `--obtain-within` says",
            StatedBy::UsualWorld => "the bound of a lock's usual world",
            StatedBy::Scenario => "the scenario's bound",
        };
        format!("LV: the lock goes to {}{from} ({by})", bounds.join(", and to "))
    }
}

/// The remark about a search without a bound.
pub(super) const UNBOUNDED: &str =
    "LV: no bound stated, so that no wait is too long; `--obtain-within 60s` states one";
