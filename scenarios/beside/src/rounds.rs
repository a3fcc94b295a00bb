//! Rounds of pairs: each is planned from what the rounds before came to, and handed out in blocks.
//!
//! A bug that needs a lost reply is met in one of a thousand pairs in some conditions, and nowhere else. So while a
//! predicate or a white-box rule speaks against the first lock, and too few pairs do, every second round is of the
//! conditions in which they did. When the pairs that were asked for are made, half as many again are made there.
//!
//! Assumes that all of a round is known before the next one is planned: the plan must not depend on which thread was
//! fast.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::time::Duration;

use doublehold_history::Predicate;
use doublehold_scenarios::Seed;
use doublehold_scenarios::pool::Foreman;
use doublehold_scenarios::report::white_box::Rule;
use doublehold_statistics::Paired;

use crate::comparison::{is_certain, is_one_sided};
use crate::count::{CountedPairs, Counts};
use crate::survey::Survey;

/// How many pairs a thread makes at a time.
const BLOCK: u64 = 8;
/// The pairs of a condition in the first round.
const FIRST_ROUND: u64 = 8;
/// The most pairs of a condition in one round of all.
const ROUND_MAX: u64 = 64;
/// So many times as many pairs are made in a condition in which only the first lock broke something.
const TELLING: u64 = 4;

/// Number of pairs that is enough: a rule that only the first lock breaks in so many needs no more.
pub const PAIRS_ENOUGH: u64 = 20;

/// Threads, patience and pairs of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct PairBudget {
    /// The number of threads.
    pub jobs: NonZeroUsize,
    /// Real time after which a run that has not ended is given up.
    pub patience: Duration,
    /// The most pairs to make; `None`: until told to stop.
    pub pairs: Option<u64>,
    /// The first seed.
    pub first: Seed,
}

/// Pairs of one condition, from a seed on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub(crate) place: usize,
    pub(crate) first: Seed,
    pub(crate) count: u64,
}

/// Hands out blocks, round after round.
pub(crate) struct Rounds<'a, U> {
    survey: &'a Survey,
    budget: PairBudget,
    pub(crate) counted: CountedPairs,
    /// The blocks of this round that are not handed out yet, the next one last.
    plan: Vec<Block>,
    /// How many blocks are handed out and not told of.
    waiting: u64,
    until: U,
}

impl<U: FnMut(&CountedPairs) -> ControlFlow<()>> Foreman for Rounds<'_, U> {
    type Piece = Block;
    type Done = (usize, Counts);

    fn next(&mut self) -> Option<Block> {
        // A round is planned when all of the one before is known.
        if self.plan.is_empty() && self.waiting == 0 {
            self.plan_round();
        }
        let block = self.plan.pop()?;
        self.waiting += 1;
        Some(block)
    }

    fn receive(&mut self, (place, counts): (usize, Counts)) -> ControlFlow<()> {
        self.waiting -= 1;
        self.counted.pairs += counts.pairs;
        self.counted.conditions[place].merge(counts);
        ControlFlow::Continue(())
    }

    fn goes_on(&mut self, _: u64) -> ControlFlow<()> {
        (self.until)(&self.counted)
    }
}

impl<'a, U> Rounds<'a, U> {
    pub(crate) fn new(survey: &'a Survey, budget: PairBudget, conditions: usize, until: U) -> Rounds<'a, U> {
        let conditions = vec![Counts::default(); conditions];
        let counted = CountedPairs { conditions, ..CountedPairs::default() };
        Rounds { survey, budget, counted, plan: Vec::new(), waiting: 0, until }
    }

    fn plan_round(&mut self) {
        let round = self.counted.rounds;
        let until = |pairs: u64| pairs.saturating_sub(self.counted.pairs);
        let mut left = self.budget.pairs.map_or(u64::MAX, until);
        let mut places = self.survey.cheapest_first();
        let mut share = (FIRST_ROUND << round.saturating_sub(1).min(3)).min(ROUND_MAX);
        let open = if left == 0 || round % 2 == 1 { self.open_places(&places) } else { Vec::new() };
        if !open.is_empty() {
            if left == 0 {
                // Half as many again.
                left = self.budget.pairs.map_or(0, |pairs| until(pairs + pairs / 2));
            }
            // Half as many pairs as in a round of all conditions.
            share *= (places.len() as u64 / open.len() as u64 / TELLING / 2).max(1);
            places = open;
        }
        for place in places {
            let pairs = self.weigh(place, self.survey.share(place, share)).min(left);
            left -= pairs;
            let made = self.counted.conditions[place].pairs;
            for block in 0..pairs.div_ceil(BLOCK) {
                let count = BLOCK.min(pairs - block * BLOCK);
                let first = Seed(self.budget.first.0.wrapping_add(made + block * BLOCK));
                self.plan.push(Block { place, first, count });
            }
        }
        self.plan.reverse();
        self.counted.rounds += u32::from(!self.plan.is_empty());
    }

    /// The conditions in which something speaks against the first lock that more pairs may say for certain.
    fn open_places(&self, places: &[usize]) -> Vec<usize> {
        let is_open = |question: &usize| {
            let mut sum = Paired::default();
            for table in places.iter().map(|place| self.tables(*place)[*question]) {
                sum.only_first += table.only_first;
                sum.only_second += table.only_second;
            }
            let is_enough = sum.only_first >= PAIRS_ENOUGH && is_certain(&sum, self.counted.rounds);
            sum.only_first >= 2 && is_one_sided(&sum) && !is_enough
        };
        let open: Vec<usize> = (0..Predicate::ALL.len() + Rule::ALL.len()).filter(is_open).collect();
        let speaks = |place: &usize| {
            let tables = self.tables(*place);
            open.iter().any(|question| tables[*question].only_first > tables[*question].only_second)
        };
        places.iter().copied().filter(speaks).collect()
    }

    /// Returns the pairs of a condition for each predicate, as far as the reference keeps it there, and for each
    /// white-box rule.
    fn tables(&self, place: usize) -> Vec<Paired> {
        let counts = &self.counted.conditions[place];
        let of = |predicate: Predicate| match self.survey.keeps(place, predicate) {
            true => counts.of(predicate).decided,
            false => Paired::default(),
        };
        let by_rule = |rule| counts.inside.rules.get(&rule).copied().unwrap_or_default();
        Predicate::ALL.into_iter().map(of).chain(Rule::ALL.into_iter().map(by_rule)).collect()
    }

    /// More pairs where the locks were told apart, fewer where both runs of all pairs were the same: such a condition
    /// does not exercise what differs.
    fn weigh(&self, place: usize, share: u64) -> u64 {
        let Counts { pairs, same, .. } = self.counted.conditions[place];
        if self.tells_apart(place) {
            TELLING * share
        } else if pairs > 0 && same == pairs {
            share.div_ceil(4)
        } else {
            share
        }
    }

    /// True if only the first lock broke something in this condition: a predicate that the reference keeps there, or a
    /// white-box rule.
    fn tells_apart(&self, place: usize) -> bool {
        let counts = &self.counted.conditions[place];
        Predicate::ALL.into_iter().any(|predicate| {
            let table = counts.of(predicate).decided;
            self.survey.keeps(place, predicate) && table.only_first > table.only_second
        }) || counts.inside.rules.values().any(|table| table.only_first > table.only_second)
    }
}
