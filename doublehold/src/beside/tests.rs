//! The last sentence of a comparison, for outcomes that were made by hand.

use doublehold_beside::{BesideComparison, ComparedRule, Inside, RuleFound};
use doublehold_history::Predicate;
use doublehold_scenarios::report::white_box::Rule;
use doublehold_statistics::PartlyPaired;

use super::BesideFindings;

fn answer(lv: RuleFound, only_mine_panicked: u64, broken: Vec<Rule>) -> String {
    let row = |predicate, found| ComparedRule {
        predicate,
        found,
        kept: PartlyPaired::default(),
        rest: PartlyPaired::default(),
    };
    let rows = vec![row(Predicate::P1, RuleFound::Better), row(Predicate::LV, lv)];
    let findings = BesideFindings {
        mine: String::new(),
        theirs: String::new(),
        worlds: String::new(),
        comparison: BesideComparison { rows, pairs: 40, same: 0, only_mine_panicked, broken },
        kept: Vec::new(),
        survey_runs: 0,
        notes: Vec::new(),
        inside: Inside::default(),
        examples: Vec::new(),
        command: String::new(),
    };
    findings.answer()
}

#[test]
fn a_mixed_outcome_names_what_is_worse_and_what_is_better() {
    let better = "the reference breaks P1 more often than mine";
    assert_eq!(
        answer(RuleFound::Worse, 3, vec![Rule::Margin]),
        format!("MIXED: mine breaks LV where the reference does not; {better}")
    );
    assert_eq!(
        answer(RuleFound::NotToldApart, 3, vec![Rule::Margin]),
        format!("MIXED: only mine panics, in 3 of 40 pairs; {better}")
    );
    assert_eq!(
        answer(RuleFound::NotToldApart, 0, vec![Rule::LeftKey, Rule::LateCommand]),
        format!("MIXED: mine breaks left-key and late-command where the reference does not; {better}")
    );
    assert_eq!(answer(RuleFound::NotToldApart, 0, Vec::new()), format!("better: {better}"));
}
