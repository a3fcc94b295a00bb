//! A search as JUnit XML, which CI systems show: a test case for each predicate that was asked about, and one for the
//! lock's own panics.

use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};

use doublehold_scenarios::shrink::Target;

use crate::findings::Findings;
use crate::findings::name_of;

pub(super) fn xml(findings: &Findings) -> Result<String, SerializeError> {
    let mut suite = TestSuite::new(findings.title.clone());
    let targets = findings.asked.iter().map(|predicate| Target::Violates(*predicate));
    suite.add_test_cases(targets.chain([Target::Panics]).map(|target| case(findings, target)));
    let mut report = Report::new("doublehold check");
    report.add_test_suite(suite);
    report.to_string()
}

fn case(findings: &Findings, target: Target) -> TestCase {
    let found = findings.found.iter().find(|(example, _)| example.target == target);
    let gaps = findings.gaps();
    let status = match found {
        Some((example, shown)) => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            let faults: Vec<String> =
                example.shrunk.scenario.faults.iter().map(ToString::to_string).collect();
            status.set_message(format!("{target}: {}", faults.join("; ")));
            status.set_description(format!("first from seed {}\nreplay: {}", example.first, shown.replay));
            status
        }
        None if gaps.is_empty() => TestCaseStatus::success(),
        None => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(format!("inconclusive: {}", gaps.join("; ")));
            status
        }
    };
    let mut case = TestCase::new(name_of(target), status);
    case.set_classname("doublehold.check");
    case
}
