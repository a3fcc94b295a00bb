//! White-box rules in words: which are broken, in how many runs, and by what first.

use doublehold_scenarios::report::white_box::Rule;
use doublehold_search::rules::{RuleCount, RuleTally};
use doublehold_text::{clean, group_digits};

/// A line for each rule that is broken or was asked for by name, under a line that says of how many runs of all they
/// were asked; none where there is nothing to say.
pub(crate) fn rule_lines(tally: &RuleTally, runs: u64, asked: &[Rule]) -> Vec<String> {
    let is_told = |rule: &Rule| asked.contains(rule) || tally.count(*rule).broken > 0;
    let told: Vec<Rule> = Rule::ALL.into_iter().filter(is_told).collect();
    if told.is_empty() {
        return Vec::new();
    }
    let (some, all) = (group_digits(tally.runs), group_digits(runs));
    let mut lines = vec![format!("white-box rules, asked of {some} of {all} runs:")];
    lines.extend(told.into_iter().map(|rule| line(rule, &tally.count(rule), asked.contains(&rule))));
    lines
}

fn line(rule: Rule, count: &RuleCount, is_asked: bool) -> String {
    let RuleCount { holds, broken, first, off, why_off } = count;
    let runs = group_digits(holds + broken + off);
    let not_asked = if is_asked { "" } else { ", not asked" };
    match (first, why_off) {
        (Some((seed, words)), _) => {
            let broken = group_digits(*broken);
            let words = clean(words);
            format!("{rule}{not_asked}: broken in {broken} of {runs}, first from seed {seed}: {words}")
        }
        (None, Some(why)) if *holds == 0 => format!("{rule}: off: {why}"),
        (None, _) => format!("{rule}: holds in {} of {runs}: {}", group_digits(*holds), rule.meaning()),
    }
}
