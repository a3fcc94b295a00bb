//! A sorted set: members by their scores, those of equal scores by their bytes.
//!
//! The order is a vector: a rank is a place in it, and adding to one of a million members moves 32 MB. Redis' skip list
//! would not; no lock has so many.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;

use super::ELEMENT_BYTES;

/// Redis keeps a sorted set as a listpack up to this many members …
const LIST_MAX_MEMBERS: usize = 128;
/// … and up to this length of each.
const LIST_MAX_BYTES: usize = 64;

/// A key's sorted set. No score is NaN.
#[derive(Clone, Debug, Default)]
pub(crate) struct SortedSet {
    scores: BTreeMap<Vec<u8>, f64>,
    order: Vec<(f64, Vec<u8>)>,
    size: u64,
    /// It has outgrown a listpack; it never turns back.
    is_skiplist: bool,
}

impl PartialEq for SortedSet {
    fn eq(&self, other: &SortedSet) -> bool {
        self.order == other.order
    }
}

impl Eq for SortedSet {}

fn member_size(member: &[u8]) -> u64 {
    (2 * (member.len() + ELEMENT_BYTES) + size_of::<f64>()) as u64
}

/// A listpack holds whole numbers as such, and there is no -0 among those.
fn drop_sign(score: f64) -> f64 {
    if score == 0.0 { 0.0 } else { score }
}

impl SortedSet {
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    /// Bytes it takes, about.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// The name OBJECT ENCODING has for it.
    pub(crate) fn encoding(&self) -> &'static str {
        if self.is_skiplist { "skiplist" } else { "listpack" }
    }

    pub(crate) fn score(&self, member: &[u8]) -> Option<f64> {
        self.scores.get(member).copied()
    }

    /// One that is no listpack whatever it holds, as Redis puts results together.
    pub(crate) fn new_unpacked() -> SortedSet {
        SortedSet { is_skiplist: true, ..SortedSet::default() }
    }

    /// It is no listpack any more.
    pub(crate) fn unpack(&mut self) {
        self.is_skiplist = true;
    }

    /// The same as a listpack, if it fits one: so Redis stores results.
    pub(crate) fn into_packed(mut self) -> SortedSet {
        let fits = self.order.len() <= LIST_MAX_MEMBERS
            && self.order.iter().all(|(_, member)| member.len() <= LIST_MAX_BYTES);
        if fits {
            self.is_skiplist = false;
            self.order.iter_mut().for_each(|(score, _)| *score = drop_sign(*score));
            self.scores.values_mut().for_each(|score| *score = drop_sign(*score));
        }
        self
    }

    /// How many members come before this one.
    pub(crate) fn rank(&self, member: &[u8]) -> Option<usize> {
        let score = self.score(member)?;
        self.place(score, member).ok()
    }

    /// Members with their scores, lowest first.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (&[u8], f64)> + ExactSizeIterator {
        self.order.iter().map(|(score, member)| (member.as_slice(), *score))
    }

    /// The same, of some ranks, all of which must be there.
    pub(crate) fn ranks(
        &self,
        ranks: Range<usize>,
    ) -> impl DoubleEndedIterator<Item = (&[u8], f64)> + ExactSizeIterator {
        self.order[ranks].iter().map(|(score, member)| (member.as_slice(), *score))
    }

    /// How many members have scores for which this holds; it must hold for all below the first for which it does not.
    pub(crate) fn count_while(&self, holds: impl Fn(f64) -> bool) -> usize {
        self.order.partition_point(|(score, _)| holds(*score))
    }

    /// Gives a member a score; the one it had, if it was there.
    pub(crate) fn insert(&mut self, member: &[u8], score: f64) -> Option<f64> {
        self.is_skiplist |= self.order.len() == LIST_MAX_MEMBERS && !self.scores.contains_key(member)
            || member.len() > LIST_MAX_BYTES;
        let score = if self.is_skiplist { score } else { drop_sign(score) };
        let had = self.score(member);
        if let Some(had) = had
            && let Ok(place) = self.place(had, member)
        {
            let (_, name) = self.order.remove(place);
            let place = self.place(score, member).unwrap_or_else(|place| place);
            self.order.insert(place, (score, name));
        } else {
            let place = self.place(score, member).unwrap_or_else(|place| place);
            self.order.insert(place, (score, member.to_vec()));
            self.size += member_size(member);
        }
        self.scores.insert(member.to_vec(), score);
        had
    }

    /// Removes a member; false if there was none.
    pub(crate) fn remove(&mut self, member: &[u8]) -> bool {
        let Some(rank) = self.rank(member) else { return false };
        self.remove_ranks(rank..rank + 1) == 1
    }

    /// Removes the members of some ranks, all of which must be there; how many they are.
    pub(crate) fn remove_ranks(&mut self, ranks: Range<usize>) -> usize {
        let count = ranks.len();
        for (_, member) in self.order.drain(ranks) {
            self.size -= member_size(&member);
            self.scores.remove(&member);
        }
        count
    }

    fn place(&self, score: f64, member: &[u8]) -> Result<usize, usize> {
        self.order.binary_search_by(|(other_score, other)| {
            other_score
                .partial_cmp(&score)
                .unwrap_or(Ordering::Equal)
                .then_with(|| other.as_slice().cmp(member))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_in_order_of_score_and_then_of_bytes_whatever_was_done() {
        let mut set = SortedSet::default();
        for (member, score) in [("b", 1.0), ("a", 1.0), ("c", -1.0), ("d", f64::INFINITY), ("c", 2.0)] {
            set.insert(member.as_bytes(), score);
        }
        let members =
            |set: &SortedSet| set.iter().map(|(member, _)| member.to_vec()).collect::<Vec<_>>().concat();
        assert_eq!(members(&set), b"abcd");
        assert_eq!((set.rank(b"c"), set.score(b"c"), set.rank(b"x")), (Some(2), Some(2.0), None));
        assert_eq!(set.count_while(|score| score < 2.0), 2);
        assert!(set.remove(b"a") && !set.remove(b"a"));
        assert_eq!(set.remove_ranks(1..3), 2);
        assert_eq!((members(&set), set.size()), (b"b".to_vec(), member_size(b"b")));
    }

    #[test]
    fn a_listpack_ends_with_one_member_too_many_or_too_long() {
        let mut set = SortedSet::default();
        for number in 0..128_i32 {
            set.insert(&number.to_be_bytes(), 0.0);
        }
        assert_eq!(set.encoding(), "listpack");
        set.insert(b"one more", 0.0);
        set.remove(b"one more");
        assert_eq!(set.encoding(), "skiplist");
        let mut long = SortedSet::default();
        long.insert(&[b'x'; 65], 0.0);
        assert_eq!(long.encoding(), "skiplist");
    }
}
