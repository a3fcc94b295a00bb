//! White-box rules in words: which are broken, in how many runs, and by what first. They decide a search only where
//! somebody asked for them by name.

use std::collections::BTreeMap;

use doublehold_scenarios::report::white_box::Rule;
use doublehold_search::rules::{RuleCount, RuleTally};
use doublehold_text::{clean, group_digits};
use serde::Serialize;

/// The results of white-box rules beside a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleFindings {
    /// The counts of all rules.
    pub tally: RuleTally,
    /// The rules that were asked for by name.
    pub asked: Vec<Rule>,
}

impl RuleFindings {
    /// The rules that were asked for and are broken.
    pub fn broken(&self) -> impl Iterator<Item = Rule> {
        self.asked.iter().copied().filter(|rule| self.tally.count(*rule).broken > 0)
    }

    /// The rules that were asked for and could be judged in no run, each with the reason.
    pub fn never_judged(&self) -> impl Iterator<Item = (Rule, &'static str)> {
        let reason = |rule: &Rule| match self.tally.count(*rule) {
            RuleCount { holds: 0, broken: 0, why_off, .. } => Some((*rule, why_off.unwrap_or(NO_RUN))),
            _ => None,
        };
        self.asked.iter().filter_map(reason)
    }

    /// A line for each rule that is broken or was asked for, under a line that says of how many runs of all they were
    /// asked; none where there is nothing to say.
    pub fn lines(&self, runs: u64) -> Vec<String> {
        let is_told = |rule: &Rule| self.asked.contains(rule) || self.tally.count(*rule).broken > 0;
        let told: Vec<Rule> = Rule::ALL.into_iter().filter(is_told).collect();
        if told.is_empty() {
            return Vec::new();
        }
        let (some, all) = (group_digits(self.tally.runs), group_digits(runs));
        let mut lines = vec![format!("white-box rules, asked of {some} of {all} runs:")];
        lines.extend(told.into_iter().map(|rule| self.line(rule)));
        lines
    }

    /// `margin: broken in 3 of 200, first from seed 7: …`.
    pub fn line(&self, rule: Rule) -> String {
        let RuleCount { holds, broken, first, off, why_off } = self.tally.count(rule);
        let runs = group_digits(holds + broken + off);
        let not_asked = if self.asked.contains(&rule) { "" } else { ", not asked" };
        match (first, why_off) {
            (Some((seed, words)), _) => {
                let (broken, words) = (group_digits(broken), clean(&words));
                format!("{rule}{not_asked}: broken in {broken} of {runs}, first from seed {seed}: {words}")
            }
            (None, why) if holds == 0 => format!("{rule}: off: {}", why.unwrap_or(NO_RUN)),
            (None, _) => format!("{rule}: holds in {} of {runs}: {}", group_digits(holds), rule.meaning()),
        }
    }

    /// The same for programs.
    pub(super) fn json(&self) -> BTreeMap<&'static str, JsonRule> {
        Rule::ALL.map(|rule| (rule.as_str(), self.json_of(rule))).into()
    }

    fn json_of(&self, rule: Rule) -> JsonRule {
        let RuleCount { holds, broken, first, off, why_off } = self.tally.count(rule);
        let (first_broken, words) = first.map(|(seed, words)| (seed.to_string(), words)).unzip();
        JsonRule { is_asked: self.asked.contains(&rule), holds, broken, first_broken, words, off, why_off }
    }
}

const NO_RUN: &str = "no run was asked";

/// The counts of one rule.
#[derive(Serialize)]
pub(super) struct JsonRule {
    is_asked: bool,
    holds: u64,
    broken: u64,
    first_broken: Option<String>,
    words: Option<String>,
    off: u64,
    why_off: Option<&'static str>,
}
