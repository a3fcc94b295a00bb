//! What a property came to, as data and as the text of a failing test.

use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};

use doublehold_diagnosis::Explained;
use doublehold_diagnosis::counterexample::Counterexample;
use doublehold_history::Predicate;
use doublehold_scenarios::Report;
use doublehold_search::many::Tally;
use doublehold_search::shrink::{Shrunk, Target};
use doublehold_statistics::PartlyDecided;
use doublehold_text::group_digits;
use doublehold_text::list;

use crate::findings::{self, ReplayHints, partly_decided};
use crate::regressions::Written;
use doublehold_render::style::Style;
use doublehold_render::text;

/// A property that was tried. Prints as what was tried and what broke it.
#[derive(Clone, Debug)]
pub struct Tested {
    /// The property's name.
    pub name: String,
    /// The lock's name.
    pub lock: &'static str,
    /// What was to hold.
    pub asked: Vec<Predicate>,
    /// How many regressions there are.
    pub replayed: u64,
    /// How many cases were to be drawn, and from which seed.
    pub draws: (u64, u64),
    /// What all runs came to, up to the one that broke the property and some more. Their seeds are the numbers of
    /// cases, counted from 1, regressions first.
    pub tally: Tally,
    /// What broke it.
    pub broken: Option<Broken>,
}

/// A run that breaks a property.
#[derive(Clone, Debug)]
pub struct Broken {
    /// By what.
    pub target: Target,
    /// The number of the case that was drawn; `None` for a regression.
    pub case: Option<u64>,
    /// The run, shrunk.
    pub report: Report,
    /// What was taken away; `None` for a regression.
    pub shrunk: Option<Shrunk>,
    /// The run's plan, if there is one.
    pub plan: Option<PathBuf>,
    text: String,
}

impl Broken {
    /// By a regression.
    pub(super) fn from_regression(target: Target, path: &Path, run: Explained) -> Broken {
        let path_shown = path.display();
        let replay = "run this test again: it replays the plan before anything is drawn";
        let picture = text::render_run(&run, replay, &Style::UNICODE);
        let report = run.report;
        let hash = report.trace_hash.to_string();
        let same = report.replays.as_ref().map(|it| format!("  {}\n", it.words(&hash))).unwrap_or_default();
        let text = format!("{target}, as in the regression\n  file: {path_shown}\n{same}\n{picture}");
        Broken { target, case: None, report, shrunk: None, plan: Some(path.to_owned()), text }
    }

    /// By a case that was drawn.
    pub(super) fn from_case(case: u64, example: Counterexample, plan: Option<Written>) -> Broken {
        let words = findings::words_of(&example, &ReplayHints::default(), Style::DEFAULT_WIDTH);
        let (kept, replay) = match &plan {
            None => (String::new(), "run this test again: the same cases are drawn"),
            Some(Ok(path)) => (
                format!("  file: {} (keep it: every run of the property replays it first)\n", path.display()),
                "run this test again: it replays the plan before anything is drawn",
            ),
            Some(Err((path, cause))) => (
                format!("  the plan cannot be written to {}: {cause}\n", path.display()),
                "run this test again: the same cases are drawn",
            ),
        };
        let picture = text::render_run(&example.run, replay, &Style::UNICODE);
        let text = format!("case {case}: {words}{kept}\n{picture}");
        let Counterexample { target, shrunk, run, .. } = example;
        Broken {
            target,
            case: Some(case),
            report: run.report,
            shrunk: Some(shrunk),
            plan: plan.and_then(Result::ok),
            text,
        }
    }
}

impl Tested {
    /// True if nothing broke it, the lock was granted at least once, and each predicate was decided in 99 of 100 cases
    /// and seen in one: a property that could seldom say anything does not pass.
    pub fn holds(&self) -> bool {
        self.broken.is_none() && self.gaps().is_empty()
    }

    /// Why nothing found would not mean that nothing is there.
    fn gaps(&self) -> Vec<String> {
        let mut gaps = Vec::new();
        if self.tally.grants == 0 {
            let refused = self.tally.refused.as_ref();
            let why = refused.map(|(case, why)| format!("; the last refusal, in case {case}: {why}"));
            gaps.push(format!("no call was ever granted the lock{}", why.unwrap_or_default()));
        }
        gaps.extend(self.asked.iter().filter_map(|predicate| self.undecided_gap(*predicate)));
        gaps
    }
}

impl Tested {
    /// That too many cases did not decide a predicate, and why the first did not.
    fn undecided_gap(&self, predicate: Predicate) -> Option<String> {
        if let Some(why) = self.tally.never_seen(predicate) {
            return Some(format!("{predicate} was never seen: {why}"));
        }
        let count = self.tally.count(predicate);
        let (is_nearly_all, (case, why)) = (partly_decided(&count).is_nearly_all(), count.unsaid?);
        let so_often = match count.holds + count.violated {
            0 => "was never decided".to_owned(),
            _ => format!(
                "was not decided in {} of {} cases, and a pass leaves at most 1 in {} undecided",
                group_digits(count.inconclusive),
                group_digits(self.tally.runs),
                PartlyDecided::RUNS_PER_UNDECIDED,
            ),
        };
        (!is_nearly_all).then(|| format!("{predicate} {so_often}; in case {case}: {why}"))
    }
}

impl fmt::Display for Tested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tested { name, lock, asked, replayed, draws: (cases, seed), .. } = self;
        let asked: Vec<&str> = asked.iter().map(|predicate| predicate.as_str()).collect();
        let plans = if *replayed == 1 { "1 regression" } else { &format!("{replayed} regressions") };
        let cases = group_digits(*cases);
        writeln!(
            f,
            "{name}: {} of the lock `{lock}`, {plans}, cases: {cases}, drawn from {seed}\n",
            list(&asked)
        )?;
        if let Some(broken) = &self.broken {
            return f.write_str(&broken.text);
        }
        let gaps = self.gaps();
        if gaps.is_empty() {
            return writeln!(f, "nothing found, in {} grants", group_digits(self.tally.grants));
        }
        let mut text = "nothing was broken, and not everything was seen:\n".to_owned();
        gaps.iter().try_for_each(|gap| writeln!(text, "  {gap}"))?;
        f.write_str(&text)
    }
}
