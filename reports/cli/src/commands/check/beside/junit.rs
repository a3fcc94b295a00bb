//! A comparison as JUnit XML: a test case for each predicate, and one for each other thing that makes it fail, so
//! that the file fails where the exit status does.

use doublehold::beside::BesideFindings;
use doublehold::findings::causes;
use doublehold_beside::{BesideOutcome, ComparedRule, RuleFound};
use doublehold_scenarios::report::white_box::Rule;
use doublehold_search::shrink::Target;
use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};

use super::super::junit::{classified, named};

pub(in super::super) fn xml(findings: &BesideFindings) -> Result<String, SerializeError> {
    let mut suite = TestSuite::new(format!("{}, beside {}", findings.mine, findings.theirs));
    suite.add_test_cases(findings.comparison.rows.iter().map(|row| predicate_case(findings, row)));
    suite.add_test_cases(findings.comparison.broken.iter().map(|rule| rule_case(findings, *rule)));
    suite.add_test_cases(panic_case(findings));
    let mut report = Report::new("doublehold check");
    report.add_test_suite(suite);
    report.to_string()
}

fn predicate_case(findings: &BesideFindings, row: &ComparedRule) -> TestCase {
    let is_never = findings.outcome() == BesideOutcome::NeverReached;
    let status = match row.found {
        RuleFound::Worse => failure(message(findings, row)),
        RuleFound::Better | RuleFound::NoWorse(_) if !is_never => TestCaseStatus::success(),
        found => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(if is_never { findings.answer() } else { found.as_str().to_owned() });
            status
        }
    };
    named(Target::Violates(row.predicate), status)
}

/// A white-box rule that only the first lock breaks.
fn rule_case(findings: &BesideFindings, rule: Rule) -> TestCase {
    let pairs = findings.inside.rules.get(&rule).copied().unwrap_or_default();
    let breach = findings.inside.breaches.get(&rule).map_or(String::new(), |words| format!(": {words}"));
    let (mine, all) = (pairs.only_first, pairs.pairs());
    let message =
        format!("{rule} is broken by mine and kept by the reference in {mine} of {all} pairs{breach}");
    classified(rule.as_str(), failure(message))
}

fn panic_case(findings: &BesideFindings) -> Option<TestCase> {
    let (panicked, all) = (findings.comparison.only_mine_panicked, findings.comparison.pairs);
    let message = format!("mine panics, and the reference does not, in {panicked} of {all} pairs");
    (panicked > 0).then(|| named(Target::Panics, failure(message)))
}

fn failure(message: String) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_message(message);
    status
}

/// `P2 is violated by mine and kept by the reference in 131 of 22,936 pairs: c2 pauses for 1 s, …; replay: …`.
fn message(findings: &BesideFindings, row: &ComparedRule) -> String {
    let counts = row.kept.decided;
    let mut message = format!(
        "{} is violated by mine and kept by the reference in {} of {} pairs",
        row.predicate,
        counts.only_first,
        counts.pairs()
    );
    let shown = findings.examples.iter().find(|shown| shown.example.wanted.predicate == row.predicate);
    if let Some(shown) = shown {
        let causes = causes(&shown.example.shrunk.scenario.faults).join("; ");
        message += &format!(": {causes}; replay: {}", shown.hints.replay);
    }
    message
}
