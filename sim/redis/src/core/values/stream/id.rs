//! The id of an entry of a stream: a time and a number among those of that time.

use std::fmt;

/// The id of an entry of a stream. Entries are in order of their ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct EntryId {
    /// Milliseconds since the epoch, if a node gave the id.
    pub ms: u64,
    /// Its number among the ids of this millisecond.
    pub sequence: u64,
}

impl EntryId {
    /// No entry has this id: the first that one can have is the next.
    pub(crate) const ZERO: EntryId = EntryId { ms: 0, sequence: 0 };
    pub(crate) const MAX: EntryId = EntryId { ms: u64::MAX, sequence: u64::MAX };

    /// The next id; `None` after the last that there is.
    pub(crate) fn next(self) -> Option<EntryId> {
        match self.sequence.checked_add(1) {
            Some(sequence) => Some(EntryId { sequence, ..self }),
            None => Some(EntryId { ms: self.ms.checked_add(1)?, sequence: 0 }),
        }
    }

    /// The id before it; `None` before the first.
    pub(crate) fn previous(self) -> Option<EntryId> {
        match self.sequence.checked_sub(1) {
            Some(sequence) => Some(EntryId { sequence, ..self }),
            None => Some(EntryId { ms: self.ms.checked_sub(1)?, sequence: u64::MAX }),
        }
    }

    /// The id as clients are told it.
    pub(crate) fn text(self) -> Vec<u8> {
        self.to_string().into_bytes()
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.ms, self.sequence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_follow_one_another_across_milliseconds_and_end() {
        let id = |ms, sequence| EntryId { ms, sequence };
        for (first, second) in [(id(0, 0), id(0, 1)), (id(4, u64::MAX), id(5, 0)), (id(5, 8), id(5, 9))] {
            assert_eq!((first.next(), second.previous()), (Some(second), Some(first)));
        }
        assert_eq!((EntryId::ZERO.previous(), EntryId::MAX.next()), (None, None));
        assert_eq!(id(7, 12).to_string(), "7-12");
    }
}
