//! The result of a check, for tests and for people.

use std::fmt::{self, Write as _};
use std::ops::RangeInclusive;
use std::path::PathBuf;

use doublehold_history::Predicate;
use doublehold_scenarios::{Report, Seed};
use doublehold_search::many::{Count, Tally};
use doublehold_search::shrink::Shrunk;
use doublehold_text::list;

use super::kept::Kept;
use super::white_box::WhiteBox;
use crate::findings::partly_decided;
use doublehold_render::layout::align_left;

/// The result of a check. Prints as counts and, if there was any, the first bad run.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The world's name.
    pub world: String,
    /// The lock's name.
    pub lock: &'static str,
    /// The seeds that were run.
    pub seeds: RangeInclusive<Seed>,
    /// The counts of each predicate.
    pub tally: Tally,
    /// The run from the first seed from which anything was violated, or the lock panicked.
    pub bad: Option<BadRun>,
    /// What the runs showed of the lock's inside.
    pub white_box: WhiteBox,
    /// What is to be said of a wait without end in the lock's code, if a run was ended in one.
    pub endless: Option<String>,
    /// The plans that were replayed first, and what would be kept of what was found.
    pub kept: Kept,
}

/// A run in which something was violated.
#[derive(Clone, Debug)]
pub struct BadRun {
    /// The run.
    pub report: Report,
    /// The same for people: picture, verdicts, evidence, and how to see it again.
    pub text: String,
    /// The files that hold this text, and the run's plan.
    pub files: Vec<PathBuf>,
    /// The shrinking that led here, in a world with weather.
    pub shrunk: Option<Shrunk>,
}

impl Checked {
    /// The counts of a predicate.
    pub fn count(&self, predicate: Predicate) -> Count {
        self.tally.count(predicate)
    }

    /// True if the lock was granted at least once and never panicked, none of these was ever violated, and each was
    /// decided in 99 of 100 runs and seen in one (P3 and P4: where a program reads or writes). A check that could
    /// seldom say anything does not pass, since the thing that keeps a run from being decided may be what would violate
    /// it. Nor does one that never reached a mark that it expects, one in which a rule that it looks for is broken or
    /// never judged, or one of which a plan that was [kept](Checked::assert_holds) still violates one of these.
    pub fn holds(&self, predicates: &[Predicate]) -> bool {
        let held = |predicate| {
            let count = self.count(predicate);
            matches!(count, Count { violated: 0, holds: 1.., .. })
                && partly_decided(&count).is_nearly_all()
                && self.tally.never_seen(predicate).is_none()
        };
        self.white_box.holds()
            && self.tally.grants > 0
            && self.tally.panicked.is_none()
            && self.kept.holds(predicates)
            && predicates.iter().all(|predicate| held(*predicate))
    }

    /// For tests: goes on if [`Checked::holds`]. If something of this was violated, the plan of the gravest is kept in
    /// [`Check::regressions`](super::Check::regressions), and each later run of the check replays it before any seed.
    ///
    /// # Panics
    ///
    /// If it does not, with everything there is to say.
    pub fn assert_holds(&self, predicates: &[Predicate]) {
        if self.holds(predicates) {
            return;
        }
        let names: Vec<&str> = predicates.iter().map(|predicate| predicate.as_str()).collect();
        let why = if self.white_box.holds() {
            format!("{} did not hold throughout, or was not decided in enough runs", list(&names))
        } else {
            "a mark was never reached, or a rule that was asked for does not hold".to_owned()
        };
        let kept = self.kept.keep(predicates);
        panic!("{why}\n\n{self}{kept}");
    }
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Checked { world, lock, seeds, tally, bad, white_box, endless, kept } = self;
        let runs = match (seeds.start(), seeds.end()) {
            (one, last) if one == last => format!("1 run, seed {one}"),
            (first, last) => format!("{} runs, seeds {first} to {last}", tally.runs),
        };
        writeln!(f, "{world}: the lock `{lock}`, {runs}\n")?;
        writeln!(f, "  rule                    holds  violated  inconclusive  first seed")?;
        let mut reasons: Vec<(Seed, String)> = Vec::new();
        for predicate in Predicate::ALL {
            let count = self.count(predicate);
            let rule = align_left(&format!("{predicate}  {}", predicate.name()), 20);
            let first = count.first.map_or("-".to_owned(), |seed| seed.to_string());
            let Count { holds, violated, inconclusive, unsaid, .. } = count;
            if let Some(reason) = unsaid.filter(|(_, why)| reasons.iter().all(|(_, known)| known != why)) {
                reasons.push(reason);
            }
            writeln!(f, "  {rule}{holds:>9}{violated:>10}{inconclusive:>14}{first:>12}")?;
        }
        for (seed, why) in reasons {
            writeln!(f, "\n  inconclusive, first from seed {seed}: {why}")?;
        }
        for (predicate, why) in Predicate::ALL.into_iter().filter_map(|it| Some((it, tally.never_seen(it)?)))
        {
            writeln!(f, "\n  {predicate} was never seen: {why}")?;
        }
        if let Some((first, panics)) = tally.panicked {
            writeln!(f, "\n  the lock panicked in {panics} of these runs, first from seed {first}")?;
        }
        if tally.grants == 0 {
            let why = tally
                .refused
                .as_ref()
                .map(|(seed, why)| format!("; the last refusal, from seed {seed}: {why}"));
            writeln!(f, "\n  no call was ever granted the lock{}", why.unwrap_or_default())?;
        }
        let inside = white_box.lines(tally.runs);
        inside.iter().try_for_each(|line| writeln!(f, "\n  {line}"))?;
        if let Some(endless) = endless {
            writeln!(f, "\n  {endless}")?;
        }
        write!(f, "{kept}")?;
        let Some(bad) = bad else { return Ok(()) };
        writeln!(f, "\n{}", bad.text)?;
        let mut files = String::new();
        bad.files.iter().try_for_each(|file| writeln!(files, "file: {}", file.display()))?;
        f.write_str(&files)
    }
}
