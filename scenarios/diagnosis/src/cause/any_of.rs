//! Things of which any one, or any so many, would have been enough: none is necessary by itself.
//!
//! All are taken away, and as many put back as can be. Without the rest it is gone, and with any one of the rest it is
//! there. If the rest is part of several that do the same to different hosts (clocks of five nodes that run fast), then
//! every choice of so many of these is tried: any `k` of them are enough if it is there with each `k` of them, and gone
//! with each `k - 1`.

use doublehold_scenarios::Futures;

use super::CauseSearch;
use super::answer::AnyOf;
use super::trial::{TrialOutcome, TrialResult};

/// The most things of which it is said that any one of them would have been enough.
const EITHER_MAX: usize = 4;
/// The most things that do the same, of which every choice is tried: 35 choices of three or four.
const ALIKE_MAX: usize = 7;

impl<P: Futures> CauseSearch<'_, P> {
    /// Any of these of which some are enough.
    pub(super) fn find_any_of(&mut self, places: &[usize]) -> Option<AnyOf> {
        // Parts of a failover are tried with it, and not against it.
        let is_in_whole = |part: &usize| {
            places.iter().any(|whole| self.candidates[*whole].includes(&self.candidates[*part]))
        };
        let mut left: Vec<usize> = places.iter().copied().filter(|place| !is_in_whole(place)).collect();
        if left.len() < 2 || !self.is_gone_without(&left) {
            return None;
        }
        left.sort_by_key(|place| (self.candidates[*place].is_near, self.candidates[*place].began));
        for place in left.clone() {
            let fewer: Vec<usize> = left.iter().copied().filter(|it| *it != place).collect();
            if !fewer.is_empty() && self.is_gone_without(&fewer) {
                left = fewer;
            }
        }
        self.find_k_of_n(places, &left).or_else(|| self.find_each_enough(left))
    }

    /// Each of these alone, if it is enough.
    fn find_each_enough(&mut self, mut left: Vec<usize>) -> Option<AnyOf> {
        let each_is_enough = left.iter().all(|place| {
            let others: Vec<usize> = left.iter().copied().filter(|it| it != place).collect();
            self.is_there_without(&others)
        });
        if !(2..=EITHER_MAX).contains(&left.len()) || !each_is_enough {
            return None;
        }
        left.sort_by_key(|place| self.candidates[*place].began);
        self.confirm(1, &left, &left)
    }

    /// Any so many of all that do the same as these, if any so many are enough.
    fn find_k_of_n(&mut self, places: &[usize], cut: &[usize]) -> Option<AnyOf> {
        let deed = &self.candidates[*cut.first()?].deed;
        let alike: Vec<usize> =
            places.iter().copied().filter(|place| self.candidates[*place].deed == *deed).collect();
        let all_alike = cut.iter().all(|place| alike.contains(place));
        if !all_alike || alike.len() == cut.len() || alike.len() > ALIKE_MAX {
            return None;
        }
        let count = alike.len() - cut.len() + 1;
        let without = |kept: u32| -> Vec<usize> {
            let is_gone = |place: &usize| kept >> place & 1 == 0;
            (0..alike.len()).filter(is_gone).map(|place| alike[place]).collect()
        };
        let choices =
            |size: usize| (0_u32..1 << alike.len()).filter(move |it| it.count_ones() as usize == size);
        let are_enough = choices(count).all(|kept| self.is_there_without(&without(kept)));
        let are_needed = are_enough && choices(count - 1).all(|kept| self.is_gone_without(&without(kept)));
        if are_needed { self.confirm(count, &alike, cut) } else { None }
    }

    fn confirm(&mut self, count: usize, of: &[usize], cut: &[usize]) -> Option<AnyOf> {
        let here: TrialResult = self.trials.run_without(&self.whats(cut));
        let repeats = self.repeats(cut, &here);
        let causes = || of.iter().map(|place| self.as_cause(*place, repeats)).collect();
        repeats.are_causal().then(|| AnyOf { count, of: causes() })
    }

    fn is_gone_without(&mut self, places: &[usize]) -> bool {
        self.trials.run_without(&self.whats(places)).outcome == TrialOutcome::Gone
    }

    fn is_there_without(&mut self, places: &[usize]) -> bool {
        self.trials.run_without(&self.whats(places)).outcome == TrialOutcome::Stays
    }
}
