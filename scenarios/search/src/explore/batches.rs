//! Every placement, once, in one order: smaller sets first, and of one size by where the first fault strikes.
//!
//! The next fault of a set goes to a step of the run that has the set so far, at or after the step of the last. So each
//! batch is of one set and of some of the faults that may strike next. What may strike next is found by running the set
//! so far with its trace kept: one such run for thousands of placements.

use doublehold_scenarios::Stepped;

use super::Exploration;
use super::place::Place;

/// How many placements are handed out at once: enough that asking for them costs nothing, and few enough that an
/// interrupted search stops within a second.
const SIZE: usize = 64;

/// Placements that differ in their last fault.
pub(super) struct Batch {
    /// The faults that all of them have.
    pub(super) prefix: Vec<Place>,
    /// The last fault of each.
    pub(super) last: Vec<Place>,
}

/// All batches, in order.
pub(super) struct Batches<'a, P> {
    exploration: &'a Exploration<P>,
    /// How many faults the sets have that are listed now.
    faults: usize,
    /// For each fault but the last what may strike and which of it is chosen; for the last one what is left to list.
    open: Vec<Open>,
}

struct Open {
    places: Vec<Place>,
    next: usize,
}

impl<'a, P: Stepped> Batches<'a, P> {
    pub(super) fn new(exploration: &'a Exploration<P>) -> Batches<'a, P> {
        Batches { exploration, faults: 0, open: Vec::new() }
    }

    /// The faults that are chosen: one of each list.
    fn chosen_places(&self) -> Vec<Place> {
        self.open.iter().map(|open| open.places[open.next - 1].clone()).collect()
    }

    fn open(&mut self, prefix: &[Place]) {
        self.open.push(Open { places: self.exploration.next_places(prefix), next: 0 });
    }

    fn batch(&mut self) -> Option<Batch> {
        let open = self.open.last_mut()?;
        let last: Vec<Place> = open.places.iter().skip(open.next).take(SIZE).cloned().collect();
        if last.is_empty() {
            return None;
        }
        open.next += last.len();
        let leaves = self.open.pop()?;
        let prefix = self.chosen_places();
        self.open.push(leaves);
        Some(Batch { prefix, last })
    }
}

impl<P: Stepped> Iterator for Batches<'_, P> {
    type Item = Batch;

    fn next(&mut self) -> Option<Batch> {
        loop {
            if self.open.is_empty() {
                if self.faults == self.exploration.faults {
                    return None;
                }
                self.faults += 1;
                self.open(&[]);
            }
            if self.open.len() == self.faults {
                match self.batch() {
                    Some(batch) => return Some(batch),
                    None => drop(self.open.pop()),
                }
                continue;
            }
            let choices = self.open.last_mut().expect("it is not empty");
            if choices.next == choices.places.len() {
                self.open.pop();
                continue;
            }
            choices.next += 1;
            let prefix = self.chosen_places();
            self.open(&prefix);
        }
    }
}
