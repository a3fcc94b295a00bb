//! What pairs came to: for each predicate whether only the first lock broke it, only the second, both or neither.

use std::collections::BTreeMap;

use doublehold_history::{Predicate, Verdict};
use doublehold_scenarios::Seed;
use doublehold_scenarios::report::Report;
use doublehold_statistics::PartlyPaired;

use crate::inside::Inside;

/// The pairs of one condition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// How many there were.
    pub pairs: u64,
    /// In how many both runs were the same, byte by byte.
    pub same: u64,
    /// In how many the first lock's code panicked, and the second's did not.
    pub only_mine_panicked: u64,
    /// What each predicate came to.
    pub predicates: BTreeMap<Predicate, PartlyPaired>,
    /// The first seeds in which only the first lock broke a predicate.
    pub only_mine: BTreeMap<Predicate, Vec<Seed>>,
    /// Rules, steps and replies that were seen inside both locks.
    pub inside: Inside,
}

/// As many seeds of one condition as are kept to be looked at.
const SEEDS_MAX: usize = 8;

impl Counts {
    pub(crate) fn add(&mut self, mine: &Report, theirs: &Report) {
        self.pairs += 1;
        self.same += u64::from(mine.trace_hash == theirs.trace_hash && mine.verdicts == theirs.verdicts);
        self.inside.add(mine, theirs);
        self.only_mine_panicked += u64::from(mine.panicked.is_some() && theirs.panicked.is_none());
        for predicate in Predicate::ALL {
            let decided = |run: &Report| is_violated(run.verdicts.get(predicate));
            let (first, second) = (decided(mine), decided(theirs));
            *cell(self.predicates.entry(predicate).or_default(), first, second) += 1;
            if (first, second) == (Some(true), Some(false)) {
                let seeds = self.only_mine.entry(predicate).or_default();
                seeds.push(mine.seed);
                seeds.truncate(SEEDS_MAX);
            }
        }
    }

    pub(crate) fn merge(&mut self, later: Counts) {
        self.pairs += later.pairs;
        self.same += later.same;
        self.only_mine_panicked += later.only_mine_panicked;
        for (predicate, theirs) in later.predicates {
            add_table(self.predicates.entry(predicate).or_default(), &theirs);
        }
        self.inside.merge(later.inside);
        for (predicate, theirs) in later.only_mine {
            let seeds = self.only_mine.entry(predicate).or_default();
            seeds.extend(theirs);
            seeds.truncate(SEEDS_MAX);
        }
    }

    /// The table of a predicate.
    pub fn of(&self, predicate: Predicate) -> PartlyPaired {
        self.predicates.get(&predicate).copied().unwrap_or_default()
    }
}

/// Counts of all pairs so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountedPairs {
    /// By the place of the condition.
    pub conditions: Vec<Counts>,
    /// The number of pairs.
    pub pairs: u64,
    /// The number of rounds that were begun: as often as somebody looked.
    pub rounds: u32,
}

impl CountedPairs {
    /// Sums up the rules, steps and replies that were seen inside both locks.
    pub fn inside(&self) -> Inside {
        let mut inside = Inside::default();
        self.conditions.iter().for_each(|counts| inside.merge(counts.inside.clone()));
        inside
    }
}

/// The sum of several tables.
pub(crate) fn sum(tables: impl Iterator<Item = PartlyPaired>) -> PartlyPaired {
    tables.fold(PartlyPaired::default(), |mut sum, table| {
        add_table(&mut sum, &table);
        sum
    })
}

/// Whether a verdict is a violation; `None` if nobody can say.
pub(crate) fn is_violated(verdict: &Verdict) -> Option<bool> {
    match verdict {
        Verdict::Violated(_) => Some(true),
        Verdict::Holds | Verdict::NotSeen(_) => Some(false),
        Verdict::Inconclusive(_) => None,
    }
}

fn cell(table: &mut PartlyPaired, mine: Option<bool>, theirs: Option<bool>) -> &mut u64 {
    match (mine, theirs) {
        (Some(true), Some(true)) => &mut table.decided.both,
        (Some(true), Some(false)) => &mut table.decided.only_first,
        (Some(false), Some(true)) => &mut table.decided.only_second,
        (Some(false), Some(false)) => &mut table.decided.neither,
        (Some(true), None) => &mut table.violated_undecided,
        (Some(false), None) => &mut table.held_undecided,
        (None, Some(true)) => &mut table.undecided_violated,
        (None, Some(false)) => &mut table.undecided_held,
        (None, None) => &mut table.both_undecided,
    }
}

fn add_table(sum: &mut PartlyPaired, more: &PartlyPaired) {
    let PartlyPaired {
        decided,
        violated_undecided,
        held_undecided,
        undecided_violated,
        undecided_held,
        both_undecided,
    } = more;
    sum.decided.both += decided.both;
    sum.decided.only_first += decided.only_first;
    sum.decided.only_second += decided.only_second;
    sum.decided.neither += decided.neither;
    sum.violated_undecided += violated_undecided;
    sum.held_undecided += held_undecided;
    sum.undecided_violated += undecided_violated;
    sum.undecided_held += undecided_held;
    sum.both_undecided += both_undecided;
}
