//! The verdicts on a history for CI: JUnit XML, with a test case for each predicate, and Markdown. An inconclusive
//! one is skipped, with the reason: a green case would be a pass of what nobody saw.

use doublehold_history::{History, Overall, Predicate, Verdict, Verdicts, judge};
use doublehold_text::clean;
use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};

/// How many sentences of evidence are given for one predicate.
const MAX_EVIDENCE: usize = 3;

/// A history with its verdicts, and the predicates that somebody asked for; none: all.
pub(super) struct Judged<'a> {
    pub(super) history: &'a History,
    pub(super) verdicts: Verdicts,
    pub(super) asked: &'a [Predicate],
}

/// A suite for each history.
pub(super) fn junit(judged: &[Judged<'_>]) -> Result<String, SerializeError> {
    let mut report = Report::new("doublehold judge");
    for it in judged {
        report.add_test_suite(it.suite());
    }
    report.to_string()
}

impl<'a> Judged<'a> {
    pub(super) fn new(history: &'a History, asked: &'a [Predicate]) -> Judged<'a> {
        Judged { history, verdicts: judge(history), asked }
    }

    pub(super) fn overall(&self) -> Overall {
        self.verdicts.overall(self.history, self.asked)
    }

    fn asked_verdicts(&self) -> impl Iterator<Item = (Predicate, &Verdict)> {
        let is_asked = |predicate: &Predicate| self.asked.is_empty() || self.asked.contains(predicate);
        self.verdicts.iter().filter(move |(predicate, _)| is_asked(predicate))
    }

    fn name(&self) -> String {
        clean(&self.history.header().scenario)
    }

    /// The reason of a verdict that does not hold: its evidence, or why it is inconclusive.
    fn reason(&self, verdict: &Verdict) -> String {
        let evidence = verdict.evidence();
        let shown = evidence.iter().take(MAX_EVIDENCE).map(|it| it.sentence(self.history.header()));
        let more = evidence.len().saturating_sub(MAX_EVIDENCE);
        let more = (more > 0).then(|| format!("and {more} more"));
        let doubt = verdict.doubt().map(str::to_owned);
        clean(&shown.chain(more).chain(doubt).collect::<Vec<_>>().join("; "))
    }

    fn suite(&self) -> TestSuite {
        let mut suite = TestSuite::new(self.name());
        suite.add_test_cases(self.asked_verdicts().map(|(predicate, verdict)| {
            let mut status = match verdict {
                Verdict::Holds => TestCaseStatus::success(),
                Verdict::Violated(_) => TestCaseStatus::non_success(NonSuccessKind::Failure),
                Verdict::Inconclusive(_) | Verdict::NotSeen(_) => TestCaseStatus::skipped(),
            };
            if !matches!(verdict, Verdict::Holds) {
                status.set_message(format!("{}: {}", verdict.as_str(), self.reason(verdict)));
            }
            let mut case = TestCase::new(predicate.as_str(), status);
            case.set_classname("doublehold.judge");
            case
        }));
        suite
    }

    pub(super) fn markdown(&self) -> String {
        let row = |(predicate, verdict): (Predicate, &Verdict)| {
            let came_out = match verdict.doubt() {
                Some(_) => "skipped",
                None => verdict.as_str(),
            };
            let reason = self.reason(verdict).replace('|', "\\|").replace('<', "&lt;");
            format!("| {predicate} {} | {came_out} | {reason} |\n", predicate.name())
        };
        let rows: String = self.asked_verdicts().map(row).collect();
        format!("### {}\n\n| rule | came out | because |\n| --- | --- | --- |\n{rows}", self.name())
    }
}
