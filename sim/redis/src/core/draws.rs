//! What Redis draws at random: which member, which field. The core has no randomness, so each draw is computed from how
//! many there were before it, and the same commands on the same data draw the same.

use super::Core;
use super::scan_order;

impl Core {
    /// A number below `count`, which must not be 0.
    pub(crate) fn draw(&mut self, count: usize) -> usize {
        self.draws += 1;
        (scan_order::place(&self.draws.to_le_bytes()) % count as u64) as usize
    }

    /// Some of the numbers below `count`, each at most once, in their order.
    pub(crate) fn draw_distinct(&mut self, count: usize, wanted: usize) -> Vec<usize> {
        let mut left: Vec<usize> = (0..count).collect();
        let mut drawn: Vec<usize> = (0..wanted.min(count))
            .map(|_| {
                let place = self.draw(left.len());
                left.swap_remove(place)
            })
            .collect();
        drawn.sort_unstable();
        drawn
    }
}
