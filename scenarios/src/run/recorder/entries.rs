//! What is written down of a run, in the order it is, until the record is closed.
//!
//! In pieces: nothing is copied as they grow, and each is freed once it is read, so that the history that is made of
//! them stands beside one piece and not beside all.

use doublehold_history::{EventKind, TrueNs};

use crate::run::keys::key_effects::KeyCommand;

/// What was written down.
pub(super) enum Entry {
    Event(EventKind),
    /// A client's command did something to claims that were there: what that means is known when the record is closed.
    Touched(KeyCommand),
}

/// Entries of a piece: more than most runs have.
const PIECE: usize = 4096;

#[derive(Default)]
pub(super) struct Entries {
    pieces: Vec<Vec<(TrueNs, Entry)>>,
    count: usize,
}

impl Entries {
    pub(super) fn push(&mut self, at: TrueNs, entry: Entry) {
        match self.pieces.last_mut() {
            Some(piece) if piece.len() < PIECE => piece.push((at, entry)),
            last => {
                // The first one grows with the run, since most runs are short.
                let mut piece = if last.is_some() { Vec::with_capacity(PIECE) } else { Vec::new() };
                piece.push((at, entry));
                self.pieces.push(piece);
            }
        }
        self.count += 1;
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }
}

impl IntoIterator for Entries {
    type Item = (TrueNs, Entry);
    type IntoIter = std::iter::Flatten<std::vec::IntoIter<Vec<(TrueNs, Entry)>>>;

    fn into_iter(self) -> Self::IntoIter {
        self.pieces.into_iter().flatten()
    }
}
