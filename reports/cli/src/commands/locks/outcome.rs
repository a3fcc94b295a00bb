//! What came of a scenario when it was run a few times, in words for people who know none of ours.

use doublehold_history::{Evidence, Predicate, Verdict, WaitEnd};
use doublehold_scenarios::{Engine, Report, SimEngine, catalog};
use doublehold_text::{duration, list};

use crate::error::CliError;

/// Few, since each row of a page is so many runs: what is wrong with a library shows in all of them.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=5;

/// The runs of one scenario.
pub(super) struct Outcome(Vec<Report>);

/// A wait that was longer than its scenario allows.
pub(super) struct Wait {
    /// Its length in nanoseconds.
    pub(super) ns: u64,
    allowed_ns: u64,
    /// It ended with the lock.
    pub(super) obtained: bool,
}

impl Wait {
    fn new(ns: u64, allowed_ns: u64, end: WaitEnd) -> Self {
        Self { ns, allowed_ns, obtained: end == WaitEnd::Obtained }
    }

    /// The longer of two, obtained if both were.
    fn and(self, other: Self) -> Self {
        let obtained = self.obtained && other.obtained;
        let longer = if other.ns > self.ns { other } else { self };
        Self { obtained, ..longer }
    }

    fn words(&self) -> String {
        let vain = if self.obtained { "" } else { " in vain," };
        format!(
            "somebody waits{vain} for {}, where {} are allowed",
            duration(self.ns),
            duration(self.allowed_ns)
        )
    }
}

impl Outcome {
    pub(super) fn simulate(scenario: &str, sets: &[(&str, &str)]) -> Result<Outcome, CliError> {
        let sets: Vec<(String, String)> =
            sets.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let scenario = catalog::load(scenario, &sets)?;
        Ok(Outcome(SEEDS.map(|seed| SimEngine.run(&scenario, seed)).collect()))
    }

    /// The longest time for which two held the lock at once, of all runs; 0 if no two did.
    pub(super) fn overlap(&self) -> u64 {
        self.0.iter().map(longest_overlap).max().unwrap_or(0)
    }

    /// Counts the double holds of the run in which they lasted longest in all, and says for how many nanoseconds.
    pub(super) fn overlaps(&self) -> Option<(usize, u64)> {
        let of_run = |run: &Report| (overlaps(run).count(), overlaps(run).sum::<u64>());
        self.0.iter().map(of_run).max_by_key(|(_, all)| *all).filter(|(count, _)| *count > 0)
    }

    /// The longest wait for a lock that nobody claimed, of all runs, or else the longest of those for any lock; nothing
    /// if nobody waited too long.
    pub(super) fn longest_wait(&self) -> Option<Wait> {
        let free = self.evidence(Predicate::LV).filter_map(|evidence| match evidence {
            Evidence::Waited(wait) => Some(Wait::new(wait.to.since(wait.from), wait.bound_ns, wait.end)),
            _ => None,
        });
        let any = self.evidence(Predicate::LV).filter_map(|evidence| match evidence {
            Evidence::LongWait(wait) => Some(Wait::new(wait.to.since(wait.from), wait.bound_ns, wait.end)),
            _ => None,
        });
        free.reduce(Wait::and).or_else(|| any.reduce(Wait::and))
    }

    fn evidence(&self, predicate: Predicate) -> impl Iterator<Item = &Evidence> {
        self.0.iter().flat_map(move |run| run.verdicts.get(predicate).evidence())
    }

    /// What happened, and in brackets the predicates that say so.
    pub(super) fn words(&self) -> String {
        let violated: Vec<Predicate> =
            Predicate::ALL.into_iter().filter(|predicate| self.count(*predicate) > 0).collect();
        if violated.is_empty() {
            return "nothing goes wrong".to_owned();
        }
        let phrases: Vec<String> = violated.iter().filter_map(|predicate| self.phrase(*predicate)).collect();
        let harmless = violated.iter().all(|it| matches!(it, Predicate::P1 | Predicate::P2));
        let but = if harmless { ", but nothing is written late and no data is lost" } else { "" };
        let codes: Vec<String> = violated.iter().map(|predicate| self.code(*predicate)).collect();
        format!("{}{but} ({})", list(&phrases), list(&codes))
    }

    /// Nothing for P2: it is P1 with less, and its code is enough.
    fn phrase(&self, predicate: Predicate) -> Option<String> {
        Some(match predicate {
            Predicate::P1 => match self.overlaps() {
                Some((count, all)) if count > 1 => {
                    format!("two hold the lock at once {count} times, for {} in all", duration(all))
                }
                _ => format!("two hold the lock at once for {}", duration(self.overlap())),
            },
            Predicate::P2 => return None,
            Predicate::P3 => "a write is applied too late".to_owned(),
            Predicate::P4 => "data is lost".to_owned(),
            Predicate::WR => "the key of another grant is changed".to_owned(),
            Predicate::LV => {
                self.longest_wait().map_or_else(|| "somebody waits too long".to_owned(), |wait| wait.words())
            }
        })
    }

    fn code(&self, predicate: Predicate) -> String {
        match self.count(predicate) {
            all if all == self.0.len() => predicate.to_string(),
            some => format!("{predicate} in {some} of {} runs", self.0.len()),
        }
    }

    fn count(&self, predicate: Predicate) -> usize {
        let is_violated = |run: &&Report| matches!(run.verdicts.get(predicate), Verdict::Violated(_));
        self.0.iter().filter(is_violated).count()
    }
}

fn longest_overlap(run: &Report) -> u64 {
    overlaps(run).max().unwrap_or(0)
}

fn overlaps(run: &Report) -> impl Iterator<Item = u64> {
    let length = |evidence: &Evidence| match evidence {
        Evidence::Overlap(overlap) => Some(overlap.to.since(overlap.from)),
        _ => None,
    };
    run.verdicts.get(Predicate::P1).evidence().iter().filter_map(length)
}
