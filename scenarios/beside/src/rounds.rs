//! Rounds of pairs: each is planned from what the rounds before came to, and handed out in blocks.
//!
//! Assumes that all of a round is known before the next one is planned: the plan must not depend on which thread was
//! fast.

use std::ops::ControlFlow;

use doublehold_history::Predicate;
use doublehold_scenarios::Seed;
use doublehold_scenarios::pool::Foreman;

use crate::beside::{CountedPairs, PairBudget};
use crate::count::Counts;
use crate::survey::Survey;

/// How many pairs a thread makes at a time.
const BLOCK: u64 = 8;
/// The pairs of a condition in the first round.
const FIRST_ROUND: u64 = 8;
/// The most pairs of a condition in one round, for one in which only the first lock broke something four times as many.
const ROUND_MAX: u64 = 64;

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
        let share = (FIRST_ROUND << round.saturating_sub(1).min(3)).min(ROUND_MAX);
        let mut left = self.budget.pairs.map_or(u64::MAX, |pairs| pairs.saturating_sub(self.counted.pairs));
        for place in self.survey.cheapest_first() {
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

    /// More pairs where the locks were told apart, fewer where both runs of all pairs were the same: such a condition
    /// does not exercise what differs.
    fn weigh(&self, place: usize, share: u64) -> u64 {
        let Counts { pairs, same, .. } = self.counted.conditions[place];
        if self.tells_apart(place) {
            4 * share
        } else if pairs > 0 && same == pairs {
            share.div_ceil(4)
        } else {
            share
        }
    }

    /// Whether only the first lock broke something in this condition that the reference keeps there.
    fn tells_apart(&self, place: usize) -> bool {
        Predicate::ALL.into_iter().any(|predicate| {
            let table = self.counted.conditions[place].of(predicate).decided;
            self.survey.keeps(place, predicate) && table.only_first > table.only_second
        })
    }
}
