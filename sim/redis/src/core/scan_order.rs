//! The order in which SCAN and HSCAN go through names: by a place that is computed from the name alone.
//!
//! A cursor is the place of the first name that was not returned yet. Names keep their places whatever is added or
//! removed meanwhile, so a name that is there all the time is passed exactly once, and a round ends. Redis' cursors are
//! other numbers, with the same promises. Names at the same place come together, or a cursor could not tell them apart.
//!
//! Decision: "A SCAN cursor is the place of the next key" (docs/decisions/redis.md).

use std::collections::BTreeSet;

/// Places have this many bits: a cursor then is an exact number even where numbers are doubles.
const PLACE_BITS: u32 = 48;

/// Where a name comes in the round; never 0, which as a cursor is the beginning and the end.
pub(crate) fn place(name: &[u8]) -> u64 {
    // FNV-1a, and the end of SplitMix64 so that names which differ in their last byte are far apart.
    let hash = name.iter().fold(0xCBF2_9CE4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    });
    let mixed = (hash ^ (hash >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((mixed ^ (mixed >> 31)) >> (u64::BITS - PLACE_BITS)).max(1)
}

/// Names by their places, kept up to date by their owner.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScanOrder(BTreeSet<(u64, Vec<u8>)>);

impl ScanOrder {
    pub(crate) fn from_names<'a>(names: impl Iterator<Item = &'a [u8]>) -> ScanOrder {
        ScanOrder(names.map(|name| (place(name), name.to_vec())).collect())
    }

    pub(crate) fn insert(&mut self, name: &[u8]) {
        self.0.insert((place(name), name.to_vec()));
    }

    pub(crate) fn remove(&mut self, name: &[u8]) {
        self.0.remove(&(place(name), name.to_vec()));
    }

    /// At least `count` names from the cursor on, if there are so many, and the next cursor; 0 at the end.
    pub(crate) fn page(&self, cursor: u64, count: usize) -> (Vec<&[u8]>, u64) {
        let mut rest = self.0.range((cursor, Vec::new())..).peekable();
        let mut names = Vec::new();
        let mut last = 0;
        while let Some((place, name)) = rest.next_if(|(place, _)| names.len() < count || *place == last) {
            names.push(name.as_slice());
            last = *place;
        }
        (names, rest.peek().map_or(0, |(place, _)| *place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_passes_every_name_once_whatever_the_count() {
        let names: Vec<Vec<u8>> = (0..500).map(|n| format!("lock:{n}").into_bytes()).collect();
        let order = ScanOrder::from_names(names.iter().map(Vec::as_slice));
        for count in [1, 2, 7, 100, 500, 10_000] {
            let (mut seen, mut cursor, mut calls) = (Vec::new(), 0, 0);
            loop {
                let (page, next) = order.page(cursor, count);
                seen.extend(page.into_iter().map(<[u8]>::to_vec));
                (cursor, calls) = (next, calls + 1);
                if next == 0 {
                    break;
                }
            }
            seen.sort();
            let mut expected = names.clone();
            expected.sort();
            assert_eq!(seen, expected, "count {count}");
            assert!(calls <= 500 / count + 1, "count {count}: {calls} calls");
        }
    }

    #[test]
    fn names_at_one_place_come_together() {
        let order = ScanOrder([(5, b"a".to_vec()), (5, b"b".to_vec()), (9, b"c".to_vec())].into());
        assert_eq!(order.page(0, 1), (vec![b"a".as_slice(), b"b"], 9));
        assert_eq!(order.page(9, 1), (vec![b"c".as_slice()], 0));
    }
}
