//! The test's own randomness: SplitMix64, so that a printed seed gives the same scripts on every machine and with every
//! version of every crate.

/// A stream of numbers from a seed.
pub(crate) struct Random(u64);

impl Random {
    /// The stream of script number `index` of a run: independent of the scripts before it, so that one can be run
    /// alone.
    pub(crate) fn of_script(seed: u64, index: u64) -> Random {
        let mut random = Random(seed);
        let mixed = random.next();
        Random(mixed ^ index.wrapping_mul(0xD134_2543_DE82_EF95))
    }

    /// The next 64 bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which must not be 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// Whether something happens that happens in `percent` of 100 cases.
    pub(crate) fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of `items`, which must not be empty.
    pub(crate) fn pick<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> &'a T {
        items[self.below(items.len())]
    }

    /// One of `items` by weight; the weights must not all be 0.
    pub(crate) fn weighted<'a, T>(&mut self, items: &'a [(usize, T)]) -> &'a T {
        let mut left = self.below(items.iter().map(|(weight, _)| weight).sum());
        for (weight, item) in items {
            if left < *weight {
                return item;
            }
            left -= weight;
        }
        unreachable!("the number drawn is below the sum of the weights")
    }
}
