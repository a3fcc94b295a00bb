//! Rounds of pairs: each is planned from what the rounds before came to, and handed out in blocks.
//!
//! When the pairs that were asked for are made, and some predicate speaks against the first lock in a few of them, half
//! as many again are made in the conditions in which it does. A bug that needs a lost reply is met in one of a thousand
//! pairs there, and nowhere else.
//!
//! Assumes that all of a round is known before the next one is planned: the plan must not depend on which thread was
//! fast.

use std::ops::ControlFlow;

use doublehold_history::Predicate;
use doublehold_scenarios::Seed;
use doublehold_scenarios::pool::Foreman;
use doublehold_statistics::Paired;

use crate::beside::{CountedPairs, PairBudget};
use crate::count::{Counts, sum};
use crate::survey::Survey;

/// How many pairs a thread makes at a time.
const BLOCK: u64 = 8;
/// The pairs of a condition in the first round.
const FIRST_ROUND: u64 = 8;
/// The most pairs of a condition in one round, for one in which only the first lock broke something four times as many.
const ROUND_MAX: u64 = 64;

/// Number of pairs that is enough: a rule that only the first lock breaks in so many needs no more.
pub const PAIRS_ENOUGH: u64 = 20;

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
        let left = |pairs: u64| pairs.saturating_sub(self.counted.pairs);
        let mut left = self.budget.pairs.map_or(u64::MAX, left);
        let mut places = self.survey.cheapest_first();
        if left == 0 && self.is_open() {
            // Half as many again, where only the first lock broke something.
            left =
                self.budget.pairs.map_or(0, |pairs| (pairs + pairs / 2).saturating_sub(self.counted.pairs));
            places.retain(|place| self.tells_apart(*place));
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

    /// True if some predicate or rule speaks against the first lock, and a few more pairs may say for certain.
    fn is_open(&self) -> bool {
        Predicate::ALL.into_iter().any(|predicate| {
            let kept =
                (0..self.counted.conditions.len()).filter(|place| self.survey.keeps(*place, predicate));
            let table = sum(kept.map(|place| self.counted.conditions[place].of(predicate))).decided;
            speaks(&table)
        }) || self.counted.inside().rules.values().any(speaks)
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

/// True if pairs speak against the first lock, and are too few to say it for certain.
fn speaks(table: &Paired) -> bool {
    (2..PAIRS_ENOUGH).contains(&table.only_first) && table.only_first > 3 * table.only_second
}
