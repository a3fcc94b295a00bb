//! What came of a scenario when it was run a few times, in words for people who know none of ours.

use doublehold_history::{Evidence, Predicate, Verdict, WaitEnd};
use doublehold_scenarios::{Engine, Report, SimEngine, catalog};
use doublehold_words::{duration, list};

use crate::error::CliError;

/// Few, since each row of a page is so many runs: what is wrong with a library shows in all of them.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=5;

/// The runs of one scenario.
pub(super) struct Outcome(Vec<Report>);

impl Outcome {
    pub(super) fn of(scenario: &str, sets: &[(&str, &str)]) -> Result<Outcome, CliError> {
        let sets: Vec<(String, String)> =
            sets.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let scenario = catalog::load(scenario, &sets)?;
        Ok(Outcome(SEEDS.map(|seed| SimEngine.run(&scenario, seed)).collect()))
    }

    /// The longest time for which two held the lock at once, of all runs; 0 if no two did.
    pub(super) fn overlap(&self) -> u64 {
        self.0.iter().map(longest_overlap).max().unwrap_or(0)
    }

    /// The longest time for which somebody waited for a lock that nobody claimed, of all runs, and whether each wait
    /// ended with the lock; nothing if nobody waited too long.
    pub(super) fn waited(&self) -> Option<(u64, bool)> {
        let waits = self.0.iter().flat_map(|run| run.verdicts.get(Predicate::LV).evidence());
        let waits = waits.filter_map(|evidence| match evidence {
            Evidence::Waited(wait) => Some((wait.to.since(wait.from), wait.end == WaitEnd::Obtained)),
            _ => None,
        });
        waits.reduce(|one, other| (one.0.max(other.0), one.1 && other.1))
    }

    /// What happened, and in brackets the predicates that say so.
    pub(super) fn told(&self) -> String {
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
            Predicate::P1 => format!("two hold the lock at once for {}", duration(self.overlap())),
            Predicate::P2 => return None,
            Predicate::P3 => "a write is applied too late".to_owned(),
            Predicate::P4 => "data is lost".to_owned(),
            Predicate::WR => "one gives back or renews another's lock".to_owned(),
            Predicate::LV => match self.waited() {
                Some((waited, true)) => format!("somebody waits for {}", duration(waited)),
                Some((waited, false)) => format!("somebody waits in vain, for {}", duration(waited)),
                None => "somebody waits too long".to_owned(),
            },
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
    let length = |evidence: &Evidence| match evidence {
        Evidence::Overlap(overlap) => Some(overlap.to.since(overlap.from)),
        _ => None,
    };
    run.verdicts.get(Predicate::P1).evidence().iter().filter_map(length).max().unwrap_or(0)
}
