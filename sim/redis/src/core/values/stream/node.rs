//! A node of a stream: some of its entries, one after the other, as Redis keeps them in one listpack.
//!
//! Here it is a row of entries that knows how many bytes the listpack would have. Entries that are removed stay in
//! their places, as in Redis, and count towards what a node can hold; only their fields are gone.

use super::id::EntryId;
use crate::resp::integer;

/// What an entry holds: names and values, in the order in which they came. A name may come twice.
pub(crate) type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

/// `stream-node-max-entries`, which nobody can change here.
const MAX_ENTRIES: usize = 100;
/// `stream-node-max-bytes`, likewise.
const MAX_BYTES: usize = 4096;
/// What a name or a value takes besides its bytes, about.
const ELEMENT_BYTES: usize = 24;
/// What a listpack without elements takes.
const EMPTY_BYTES: usize = 7;

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) id: EntryId,
    /// `None`: it was removed.
    pub(super) pairs: Option<Pairs>,
}

/// Entries that share a node. There is always one, removed or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    /// What it began with: entries with the same names do not repeat them.
    first: EntryId,
    names: Vec<Vec<u8>>,
    pub(super) items: Vec<Item>,
    /// How many entries were not removed.
    pub(super) live: usize,
    /// The length of the listpack.
    bytes: usize,
}

/// Bytes that pairs take, about.
pub(super) fn size_of_pairs(pairs: &Pairs) -> u64 {
    let fields = pairs.iter().map(|(name, value)| name.len() + value.len() + 2 * ELEMENT_BYTES);
    (fields.sum::<usize>() + size_of::<Item>()) as u64
}

impl Node {
    pub(super) fn new(id: EntryId, pairs: Pairs) -> Node {
        let names: Vec<Vec<u8>> = pairs.iter().map(|(name, _)| name.clone()).collect();
        // The counts of entries and of removed ones, then the names between their number and a zero.
        let bytes = EMPTY_BYTES
            + 3 * integer_bytes(0)
            + integer_bytes(names.len() as i64)
            + names.iter().map(|name| string_bytes(name)).sum::<usize>();
        let mut node = Node { first: id, names, items: Vec::new(), live: 0, bytes };
        node.push(id, pairs);
        node
    }

    /// Whether one more entry fits.
    pub(super) fn has_room_for(&self, pairs: &Pairs) -> bool {
        let added: usize = pairs.iter().map(|(name, value)| name.len() + value.len()).sum();
        self.bytes + added < MAX_BYTES && self.items.len() < MAX_ENTRIES
    }

    pub(super) fn push(&mut self, id: EntryId, pairs: Pairs) {
        let same_names = pairs.iter().map(|(name, _)| name).eq(self.names.iter());
        let count = pairs.len();
        let values: usize = pairs.iter().map(|(_, value)| string_bytes(value)).sum();
        // Flags, the difference to the first id, the values, and how many elements these are.
        self.bytes += integer_bytes(0)
            + integer_bytes(id.ms.wrapping_sub(self.first.ms) as i64)
            + integer_bytes(id.sequence.wrapping_sub(self.first.sequence) as i64)
            + values;
        if same_names {
            self.bytes += integer_bytes(count as i64 + 3);
        } else {
            self.bytes += integer_bytes(count as i64)
                + pairs.iter().map(|(name, _)| string_bytes(name)).sum::<usize>()
                + integer_bytes(2 * count as i64 + 4);
        }
        self.live += 1;
        self.items.push(Item { id, pairs: Some(pairs) });
    }

    /// The id of its last entry, removed or not.
    pub(super) fn last(&self) -> EntryId {
        self.items.last().map_or(self.first, |item| item.id)
    }

    /// Removes an entry's fields and hands them out; `None` if it is not there.
    pub(super) fn remove(&mut self, id: EntryId) -> Option<Pairs> {
        let place = self.items.binary_search_by_key(&id, |item| item.id).ok()?;
        let pairs = self.items[place].pairs.take()?;
        self.live -= 1;
        Some(pairs)
    }
}

/// What a number takes in a listpack, with what is needed to pass it from behind.
fn integer_bytes(number: i64) -> usize {
    let bytes = match number {
        0..=127 => 1,
        -4096..=4095 => 2,
        -32_768..=32_767 => 3,
        -8_388_608..=8_388_607 => 4,
        -2_147_483_648..=2_147_483_647 => 5,
        _ => 9,
    };
    bytes + 1
}

/// The same for a string, which a listpack keeps as a number if it is one.
fn string_bytes(text: &[u8]) -> usize {
    if let Some(number) = integer::parse(text) {
        return integer_bytes(number);
    }
    let bytes = text.len()
        + match text.len() {
            0..64 => 1,
            64..4096 => 2,
            _ => 5,
        };
    let passing = match bytes {
        0..=127 => 1,
        128..16_383 => 2,
        16_383..2_097_151 => 3,
        2_097_151..268_435_455 => 4,
        _ => 5,
    };
    bytes + passing
}
