//! Strata: runs by how many faults of each line of the weather they have, so that what is rare can be told from few
//! runs.
//!
//! With the rates of a fleet almost every run sees no fault at all, and counting runs shows nothing. But how likely a
//! run is to have just one pause is known exactly from the weather; what only runs can tell is how likely *such a run*
//! is to go wrong. So each stratum is run by itself, and the rate is the sum of these shares, each times its exact
//! weight. What has more faults than any stratum is not run: its weight stands beside the result, which may be higher
//! by as much.
//!
//! Each stratum gets some runs, since one that is all but impossible can be all that goes wrong. What a study pays
//! beyond that is shared out by weight: where no run of any stratum shows anything, the rate may still be as high as
//! about three times the largest weight per run, and no other division makes that smaller.
//!
//! A part of the weather is named by a word: the name of a line, or a kind, which means all of its lines together. All
//! words are looked up in one way ([`LineName::is_meant_by`]), so that records of both sorts are read alike.
//!
//! Assumes that faults strike at times, each line by itself. Weathers that place faults at steps of the protocol have
//! no such weights.
//!
//! Decision: "Rare faults are estimated by stratified sampling" (docs/decisions/sweeps.md).
//! Decision: "Runs are divided among strata by weight, not by results so far" (docs/decisions/sweeps.md).
//! Decision: "Strata are told apart by the lines of the weather" (docs/decisions/sweeps.md).

use std::collections::BTreeMap;

use doublehold_scenarios::weather::{Climate, LineName, Weather, convolve};
use doublehold_sim::Probability;

/// How runs are divided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strata {
    /// The words for what runs are told apart by: lines or kinds. Together they mean each line of the weather once.
    pub words: Vec<String>,
    /// How many faults a run has at most.
    pub faults: u32,
    /// Whether it is taken for granted that nothing goes wrong without a fault. It is tried all the same.
    pub quiet_holds: bool,
    /// How many runs more each cell gets, shared out by weight.
    pub by_weight: u64,
}

impl Strata {
    /// How many there are.
    pub fn count(&self) -> u64 {
        count(self.words.len(), self.faults)
    }

    /// All of them, by how many faults each word counts: none at first, then one of the first word.
    pub fn all(&self) -> Vec<BTreeMap<String, u32>> {
        let mut all = vec![BTreeMap::new()];
        let mut last = all.clone();
        for _ in 0..self.faults {
            let mut next: Vec<BTreeMap<String, u32>> = Vec::new();
            for fewer in &last {
                // In the order of words, so that each comes once.
                let from = fewer.keys().filter_map(|word| self.words.iter().position(|it| it == word)).max();
                for word in &self.words[from.unwrap_or(0)..] {
                    let mut more = fewer.clone();
                    *more.entry(word.clone()).or_default() += 1;
                    next.push(more);
                }
            }
            all.extend(next.iter().cloned());
            last = next;
        }
        all
    }

    /// Why runs under a weather cannot be divided so, and the way out.
    pub(super) fn refusal(&self, weather: &Weather) -> Option<(String, &'static str)> {
        let names = LineName::of_faults(&weather.faults);
        let is_known = |name: &LineName| self.words.iter().any(|word| name.is_meant_by(word));
        if let Some(line) = names.iter().position(|name| !is_known(name)) {
            let kind = names[line].kind();
            let is_split = self.words.iter().any(|word| kind_of(word) == kind);
            let missing = if is_split { names[line].to_string() } else { kind.to_owned() };
            let cause = format!("the weather has `{missing}`, and `strata.kinds` does not");
            return Some((cause, "name it there, or take it out of the weather"));
        }
        if weather.swarm || weather.at_steps != Probability::NEVER {
            let cause = "strata have weights only where faults strike at times, and every line in every run";
            return Some((
                cause.to_owned(),
                "leave `weather.swarm` and `weather.at_steps` as they are in a study",
            ));
        }
        None
    }

    /// The number of runs of each stratum of a cell, at least so many each. A stratum that cannot come is not run. Of
    /// the runs that are shared out, the stratum without a fault gets none if it is taken to hold.
    pub(super) fn runs(&self, climate: Option<&Climate>, least: u64) -> Vec<u64> {
        let strata = self.all();
        let shared = |stratum: &BTreeMap<String, u32>| match self.weight(climate, stratum) {
            _ if stratum.is_empty() && self.quiet_holds => 0.0,
            weight => weight,
        };
        let whole: f64 = strata.iter().map(shared).sum();
        let runs = |stratum| match self.weight(climate, stratum) {
            0.0 => 0,
            _ if whole == 0.0 => least,
            _ => least + (self.by_weight as f64 * shared(stratum) / whole) as u64,
        };
        strata.iter().map(runs).collect()
    }

    /// How likely a run is to be in a stratum. Without weather all are in the first, which has no faults.
    pub fn weight(&self, climate: Option<&Climate>, stratum: &BTreeMap<String, u32>) -> f64 {
        let Some(climate) = climate else { return if stratum.is_empty() { 1.0 } else { 0.0 } };
        let chances = self.words.iter().map(|word| {
            let wanted = stratum.get(word).copied().unwrap_or(0) as usize;
            climate.chances_of(word, wanted + 1)[wanted]
        });
        chances.product()
    }

    /// How likely a run is to have more faults than any stratum. Added up from the small end: one minus all weights
    /// would leave nothing but rounding.
    pub fn beyond(&self, climate: Option<&Climate>) -> f64 {
        let Some(climate) = climate else { return 0.0 };
        let length = climate.max_faults() + 1;
        let mut all = vec![1.0];
        for word in &self.words {
            all = convolve(&all, &climate.chances_of(word, length), length);
        }
        all.iter().skip(self.faults as usize + 1).rev().sum()
    }
}

/// The kind of the lines that a word means.
pub(super) fn kind_of(word: &str) -> &str {
    word.split('[').next().unwrap_or(word)
}

/// The number of ways to have at most so many faults of so many words. All of them may be too many to be listed.
pub(super) fn count(words: usize, faults: u32) -> u64 {
    let words = words as u128;
    // Each step is a binomial coefficient, so that each division leaves nothing.
    let all = (1..=u128::from(faults)).fold(1, |all, fault| all * (words + fault) / fault);
    u64::try_from(all).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::Strata;

    fn strata(words: &[&str], faults: u32) -> Strata {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        Strata { words, faults, quiet_holds: false, by_weight: 0 }
    }

    #[test]
    fn as_many_are_counted_as_there_are() {
        for faults in 1..=6 {
            for words in [&["a"][..], &["a", "b"], &["a", "b", "c", "d", "e"]] {
                let strata = strata(words, faults);
                assert_eq!(strata.count(), strata.all().len() as u64, "{words:?}, {faults}");
            }
        }
    }

    #[test]
    fn strata_are_all_ways_to_have_a_few_faults() {
        let strata = strata(&["a", "b"], 2);
        let words = |it: &std::collections::BTreeMap<String, u32>| {
            it.iter().map(|(kind, count)| format!("{count}{kind}")).collect::<Vec<_>>().join(" ")
        };
        let all: Vec<String> = strata.all().iter().map(words).collect();
        assert_eq!(all, ["", "1a", "1b", "2a", "1a 1b", "2b"]);
    }
}
