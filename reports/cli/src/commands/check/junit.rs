//! A search as JUnit XML, which CI systems show: a test case for each predicate that was asked about, and one for the
//! lock's own panics. A message says what, why, and how to see it again, since many systems show nothing else.

use doublehold::findings::{Findings, Gap, causes, name_of, words_of};
use doublehold_render::style::Style;
use doublehold_scenarios::Seed;
use doublehold_scenarios::report::white_box::Rule;
use doublehold_search::shrink::Target;
use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};

pub(super) fn xml(findings: &Findings) -> Result<String, SerializeError> {
    let mut suite = TestSuite::new(findings.title.clone());
    let targets = findings.asked.iter().map(|predicate| Target::Violates(*predicate));
    // Neither a failure, since nobody asked, nor silence, which a green case would be.
    if let Some(not_asked) = findings.not_asked() {
        suite.set_system_out(not_asked);
    }
    suite.add_test_cases(targets.chain([Target::Panics]).map(|target| case(findings, target)));
    suite.add_test_cases(findings.rules.asked.iter().map(|rule| rule_case(findings, *rule)));
    suite.add_test_cases(findings.skipped.iter().map(|predicate| {
        let mut status = TestCaseStatus::skipped();
        status.set_message(findings.skipped_words(*predicate).unwrap_or_default());
        named(Target::Violates(*predicate), status)
    }));
    let mut report = Report::new("doublehold check");
    report.add_test_suite(suite);
    report.to_string()
}

fn case(findings: &Findings, target: Target) -> TestCase {
    let status = match findings.first_of(target) {
        Some(first) => failure(findings, target, first),
        None => match &findings.gaps_of(target)[..] {
            [] => TestCaseStatus::success(),
            gaps => {
                let gaps: Vec<String> = gaps.iter().map(Gap::to_string).collect();
                let mut status = TestCaseStatus::skipped();
                status.set_message(format!("inconclusive: {}", gaps.join("; ")));
                status
            }
        },
    };
    named(target, status)
}

/// A white-box rule that was asked for.
fn rule_case(findings: &Findings, rule: Rule) -> TestCase {
    let count = findings.rules.tally.count(rule);
    let mut status = match (count.broken, count.holds) {
        (1.., _) => TestCaseStatus::non_success(NonSuccessKind::Failure),
        (0, 1..) => TestCaseStatus::success(),
        (0, 0) => TestCaseStatus::skipped(),
    };
    status.set_message(findings.rules.line(rule));
    classified(rule.as_str(), status)
}

pub(super) fn named(target: Target, status: TestCaseStatus) -> TestCase {
    classified(&name_of(target), status)
}

pub(super) fn classified(name: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(name, status);
    case.set_classname("doublehold.check");
    case
}

/// With the counterexample where there is one, and otherwise with the run that showed it.
fn failure(findings: &Findings, target: Target, first: Seed) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    match findings.found.iter().find(|(example, _)| example.target == target) {
        Some((example, shown)) => {
            let causes = causes(&example.shrunk.scenario.faults).join("; ");
            let replay = &shown.replay;
            status.set_message(format!("{target}, first from seed {first}: {causes}; replay: {replay}"));
            status.set_description(words_of(example, shown, Style::DEFAULT_WIDTH));
        }
        None => {
            let again = findings.one_run(first);
            status.set_message(format!(
                "{target}, first from seed {first}, and was not shrunk; again: {again}"
            ));
        }
    }
    status
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use doublehold::findings::{Conclusion, RuleFindings};
    use doublehold::nondeterminism::Nondeterminism;
    use doublehold_history::Predicate;
    use doublehold_search::many::{Count, Tally};

    use super::*;

    fn findings(tally: Tally) -> Findings {
        Findings {
            title: "a lock".to_owned(),
            first: Seed(1),
            part: None,
            tally: Tally { runs: 32, grants: 64, ..tally },
            asked: vec![Predicate::P1, Predicate::P2, Predicate::P3],
            skipped: Vec::new(),
            bound: None,
            nondeterminism: None,
            rules: RuleFindings::default(),
            kinds: Vec::new(),
            idle: Vec::new(),
            found: Vec::new(),
            command: "doublehold check a".to_owned(),
        }
    }

    /// The part of the XML about one case.
    fn of<'a>(xml: &'a str, name: &str) -> &'a str {
        let (_, case) = xml.split_once(&format!("<testcase name=\"{name}\"")).expect("a case");
        case.split("<testcase").next().expect("a part")
    }

    #[test]
    fn a_case_that_was_never_decided_is_skipped_for_its_own_reason_and_no_other() {
        let why = |why: &str| Some((Seed(4), format!("the run used up its budget of {why}")));
        let never = |what| Count { inconclusive: 32, unsaid: why(what), ..Count::default() };
        let holds = Count { holds: 32, ..Count::default() };
        let predicates =
            [(Predicate::P1, never("events")), (Predicate::P2, never("true time")), (Predicate::P3, holds)];
        let tally = Tally { predicates: BTreeMap::from(predicates), ..Tally::default() };
        let xml = xml(&findings(tally)).expect("XML");
        let (p1, p2) = (of(&xml, "P1"), of(&xml, "P2"));
        assert!(
            p1.contains("<skipped") && p1.contains("(raise `limits.events`, or let less happen)"),
            "{xml}"
        );
        assert!(p1.contains("that run again: doublehold check a --seed 4 --runs 1"), "{xml}");
        assert!(!p1.contains("P2") && !p1.contains("true time") && p2.contains("`limits.time`"), "{xml}");
        assert!(!of(&xml, "P3").contains("skipped") && !of(&xml, "panic").contains("skipped"), "{xml}");
    }

    #[test]
    fn a_pass_leaves_few_runs_undecided_and_says_how_many() {
        let with = |inconclusive: u64| {
            let unsaid = Some((Seed(7), "the run used up its budget of events".to_owned()));
            let count = Count { holds: 400 - inconclusive, inconclusive, unsaid, ..Count::default() };
            let predicates = BTreeMap::from([(Predicate::P2, count)]);
            let tally = Tally { predicates, ..Tally::default() };
            let mut findings = Findings { asked: vec![Predicate::P2], ..findings(tally) };
            findings.tally.runs = 400;
            findings
        };
        let (few, many) = (with(4), with(5));
        assert_eq!((few.outcome(), many.outcome()), (Conclusion::Nothing, Conclusion::Inconclusive));
        let said = "nothing found: P2 is never violated in 400 runs, and not decided in 4 of them\n";
        assert_eq!(few.conclusion(100), said);
        assert!(!xml(&few).expect("XML").contains("<skipped"));
        assert!(
            xml(&many)
                .expect("XML")
                .contains("P2 was not decided in 5 of 400 runs, and a pass leaves at most")
        );
    }

    /// A search of a lock that reaches out of the simulation does not pass, whatever it counted.
    #[test]
    fn what_reaches_in_from_outside_is_no_pass() {
        let holds = Count { holds: 32, ..Count::default() };
        let all = Predicate::ALL.map(|predicate| (predicate, holds.clone()));
        let tally = Tally { predicates: BTreeMap::from(all), ..Tally::default() };
        let green = findings(tally.clone());
        let waits = Findings { nondeterminism: Some(Nondeterminism::Waits(Seed(9))), ..findings(tally) };
        assert_eq!((green.outcome(), waits.outcome()), (Conclusion::Nothing, Conclusion::Inconclusive));
        let xml = xml(&waits).expect("XML");
        assert!(of(&xml, "P2").contains("inconclusive: the lock&apos;s code waits in real time: "), "{xml}");
        assert!(
            waits.conclusion(100).contains("the lock's code waits in real time"),
            "{}",
            waits.conclusion(100)
        );
    }

    #[test]
    fn a_panic_is_a_failure_also_where_no_predicate_was_decided() {
        let unsaid = Some((Seed(1), "the lock panicked".to_owned()));
        let never = Count { inconclusive: 32, unsaid, ..Count::default() };
        let tally = Tally {
            predicates: BTreeMap::from([(Predicate::P1, never)]),
            panicked: Some((Seed(3), 8)),
            ..Tally::default()
        };
        let xml = xml(&findings(tally)).expect("XML");
        let said =
            "<failure message=\"the lock panics, first from seed 3, and was not shrunk; again: doublehold";
        assert!(of(&xml, "panic").contains(said), "{xml}");
        assert!(xml.contains("failures=\"1\"") && xml.contains("skipped=\"1\""), "{xml}");
    }
}
