//! A stream: entries in order of their ids, which are added at the end and mostly removed from the beginning.
//!
//! Redis keeps entries in nodes, and trimming that may be inexact (`~`) drops whole nodes only. So does this: which
//! entries are left is the same here.
//!
//! Not modelled: consumer groups, and the figures that only XINFO shows (entries ever added, the highest id that was
//! removed).

mod id;
mod node;

use std::collections::VecDeque;

pub use id::EntryId;
pub(crate) use node::Pairs;
use node::{Node, size_of_pairs};

/// A key's stream. It may be empty: a stream stays when its last entry goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stream {
    /// In order of their ids.
    nodes: VecDeque<Node>,
    len: usize,
    size: u64,
    last_id: EntryId,
}

/// What trimming leaves.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kept {
    /// So many entries, the last ones.
    Last(u64),
    /// Those with this id and the higher ones.
    From(EntryId),
}

/// How a stream is trimmed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trim {
    pub(crate) kept: Kept,
    /// Only whole nodes go.
    pub(crate) is_inexact: bool,
    /// How many entries may go at most; `None` means all.
    pub(crate) limit: Option<usize>,
}

impl Stream {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Bytes it takes, about.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// The highest id that it ever had.
    pub(crate) fn last_id(&self) -> EntryId {
        self.last_id
    }

    pub(crate) fn set_last_id(&mut self, id: EntryId) {
        self.last_id = id;
    }

    /// The id of its last entry.
    pub(crate) fn top(&self) -> Option<EntryId> {
        self.range(EntryId::ZERO, EntryId::MAX).next_back().map(|(id, _)| id)
    }

    /// The id of the first entry that it still has a place for, be it removed.
    pub(crate) fn first_place(&self) -> Option<EntryId> {
        self.nodes.front().and_then(|node| node.items.first()).map(|item| item.id)
    }

    /// Adds an entry at the end. Its id must be higher than all that it ever had.
    pub(crate) fn append(&mut self, id: EntryId, pairs: Pairs) {
        self.size += size_of_pairs(&pairs);
        self.len += 1;
        self.last_id = id;
        match self.nodes.back_mut().filter(|node| node.has_room_for(&pairs)) {
            Some(node) => node.push(id, pairs),
            None => self.nodes.push_back(Node::new(id, pairs)),
        }
    }

    /// Removes an entry; false if there is none of this id.
    pub(crate) fn remove(&mut self, id: EntryId) -> bool {
        let place = self.nodes.partition_point(|node| node.last() < id);
        let Some(node) = self.nodes.get_mut(place) else { return false };
        let Some(pairs) = node.remove(id) else { return false };
        self.size -= size_of_pairs(&pairs);
        self.len -= 1;
        if node.live == 0 {
            self.nodes.remove(place);
        }
        true
    }

    /// Removes entries from the beginning; how many.
    pub(crate) fn trim(&mut self, trim: &Trim) -> usize {
        let before = self.len;
        while let Some(node) = self.nodes.front() {
            let (live, removed) = (node.live, before - self.len);
            let is_short = matches!(trim.kept, Kept::Last(count) if self.len as u64 <= count);
            if is_short || trim.limit.is_some_and(|limit| removed + live > limit) {
                break;
            }
            let goes_whole = match trim.kept {
                Kept::Last(count) => (self.len - live) as u64 >= count,
                Kept::From(lowest) => node.last() < lowest,
            };
            if !goes_whole {
                if !trim.is_inexact {
                    self.trim_first_node(trim.kept);
                }
                break;
            }
            let pairs = node.items.iter().filter_map(|item| item.pairs.as_ref());
            self.size -= pairs.map(size_of_pairs).sum::<u64>();
            self.len -= live;
            self.nodes.pop_front();
        }
        before - self.len
    }

    /// Removes entries from the first node, which stays.
    fn trim_first_node(&mut self, kept: Kept) {
        let Some(node) = self.nodes.front_mut() else { return };
        for item in &mut node.items {
            let stays = match kept {
                Kept::Last(count) => self.len as u64 <= count,
                Kept::From(lowest) => item.id >= lowest,
            };
            if stays {
                break;
            }
            if let Some(pairs) = item.pairs.take() {
                node.live -= 1;
                self.len -= 1;
                self.size -= size_of_pairs(&pairs);
            }
        }
    }

    /// Entries with ids from `first` to `last`.
    pub(crate) fn range(
        &self,
        first: EntryId,
        last: EntryId,
    ) -> impl DoubleEndedIterator<Item = (EntryId, &Pairs)> {
        let from = self.nodes.partition_point(|node| node.last() < first);
        let to = self.nodes.partition_point(|node| node.items[0].id <= last).max(from);
        let items = self.nodes.range(from..to).flat_map(|node| node.items.iter());
        items
            .filter(move |item| (first..=last).contains(&item.id))
            .filter_map(|item| Some((item.id, item.pairs.as_ref()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(ms: u64) -> EntryId {
        EntryId { ms, sequence: 0 }
    }

    fn stream(entries: u64) -> Stream {
        let mut stream = Stream::default();
        for ms in 1..=entries {
            stream.append(id(ms), vec![(b"field".to_vec(), ms.to_string().into_bytes())]);
        }
        stream
    }

    fn ids(stream: &Stream) -> Vec<u64> {
        stream.range(EntryId::ZERO, EntryId::MAX).map(|(id, _)| id.ms).collect()
    }

    #[test]
    fn inexact_trimming_takes_whole_nodes_and_exact_trimming_the_rest() {
        let inexactly = |kept| Trim { kept, is_inexact: true, limit: None };
        let exactly = |kept| Trim { kept, is_inexact: false, limit: None };
        for (trim, left) in [
            (inexactly(Kept::Last(50)), 50),
            (inexactly(Kept::Last(51)), 150),
            (inexactly(Kept::From(id(150))), 150),
            (inexactly(Kept::From(id(201))), 50),
            (exactly(Kept::Last(149)), 149),
            (exactly(Kept::From(id(150))), 101),
            (exactly(Kept::Last(0)), 0),
            (Trim { limit: Some(199), ..inexactly(Kept::Last(0)) }, 150),
        ] {
            let mut trimmed = stream(250);
            assert_eq!(trimmed.trim(&trim), 250 - left, "{trim:?}");
            assert_eq!(ids(&trimmed), (250 - left as u64 + 1..=250).collect::<Vec<_>>(), "{trim:?}");
            assert_eq!((trimmed.len(), trimmed.last_id()), (left, id(250)));
        }
    }

    #[test]
    fn the_size_is_that_of_the_entries_whatever_was_done() {
        let mut changed = stream(300);
        assert!(changed.remove(id(250)) && !changed.remove(id(250)) && !changed.remove(id(301)));
        changed.trim(&Trim { kept: Kept::Last(150), is_inexact: false, limit: None });
        assert_eq!((150..=298).filter(|ms| changed.remove(id(*ms))).count(), 148);
        assert_eq!(ids(&changed), [299, 300]);
        let entry = size_of_pairs(&vec![(b"field".to_vec(), b"300".to_vec())]);
        assert_eq!((changed.len(), changed.size(), changed.top()), (2, 2 * entry, Some(id(300))));
    }

    #[test]
    fn a_range_is_what_lies_within_it_and_was_not_removed() {
        let mut all = stream(250);
        all.remove(id(101));
        let within = |first, last| all.range(first, last).map(|(id, _)| id.ms).collect::<Vec<_>>();
        assert_eq!(within(id(99), id(103)), [99, 100, 102, 103]);
        assert_eq!(within(id(248), EntryId::MAX), [248, 249, 250]);
        assert_eq!(within(id(9), id(3)), Vec::<u64>::new());
        assert_eq!(all.range(id(100), id(102)).next_back().map(|(id, _)| id.ms), Some(102));
    }
}
