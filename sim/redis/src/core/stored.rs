//! Lists, sets, sorted sets and streams as an observer sees them: to be looked at, not to be changed.

use std::borrow::Cow;
use std::fmt;

use super::values::{EntryId, List, Set, SortedSet, Stream};

/// A list's elements, in their order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Elements<'a>(pub(crate) &'a List);

impl<'a> Elements<'a> {
    /// The elements from the left.
    pub fn iter(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        self.0.iter()
    }
}

/// A set's members, equal to another's in any order.
#[derive(Clone, Copy)]
pub struct Members<'a>(pub(crate) &'a Set);

impl<'a> Members<'a> {
    /// The members, in no order that means anything.
    pub fn iter(&self) -> impl Iterator<Item = Cow<'a, [u8]>> + use<'a> {
        self.0.iter()
    }
}

impl PartialEq for Members<'_> {
    fn eq(&self, other: &Members<'_>) -> bool {
        self.0.len() == other.0.len() && self.0.iter().all(|member| other.0.contains(&member))
    }
}

impl Eq for Members<'_> {}

/// A sorted set's members with their scores.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Scores<'a>(pub(crate) &'a SortedSet);

impl<'a> Scores<'a> {
    /// Members and their scores, lowest first.
    pub fn iter(&self) -> impl Iterator<Item = (&'a [u8], f64)> + use<'a> {
        self.0.iter()
    }
}

/// A stream's entries, in order of their ids.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Entries<'a>(pub(crate) &'a Stream);

/// One entry of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamEntry<'a> {
    /// Its id.
    pub id: EntryId,
    /// Names and values, in the order in which they came. A name may come twice.
    pub pairs: &'a [(Vec<u8>, Vec<u8>)],
}

impl<'a> Entries<'a> {
    /// The highest id that the stream ever had.
    pub fn last_id(&self) -> EntryId {
        self.0.last_id()
    }

    /// The entries, the first one first.
    pub fn iter(&self) -> impl Iterator<Item = StreamEntry<'a>> + use<'a> {
        let stream = self.0;
        stream.range(EntryId::ZERO, EntryId::MAX).map(|(id, pairs)| StreamEntry { id, pairs })
    }
}

fn text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

impl fmt::Debug for Elements<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(text)).finish()
    }
}

impl fmt::Debug for Members<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(|member| text(&member).into_owned())).finish()
    }
}

impl fmt::Debug for Scores<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter().map(|(member, score)| (text(member), score))).finish()
    }
}

impl fmt::Debug for Entries<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.iter().map(|StreamEntry { id, pairs }| {
            let pairs = pairs.iter().map(|(name, value)| (text(name), text(value)));
            (id.to_string(), pairs.collect::<Vec<_>>())
        });
        f.debug_map().entries(shown).finish()
    }
}
