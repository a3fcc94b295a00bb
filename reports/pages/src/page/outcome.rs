//! The meaning of each rule for somebody who has never seen one of its names: a clause, and a few words for a heading.

use doublehold_history::Predicate;

/// The rules that readers ask about, most asked first. A late write and a wrong release are in the tables: either is
/// no harm yet.
pub(crate) const ASKED: [Predicate; 4] = [Predicate::P1, Predicate::P2, Predicate::P4, Predicate::LV];

/// A clause about one event: `two clients believe they hold the lock`.
pub(crate) fn clause(predicate: Predicate) -> &'static str {
    match predicate {
        Predicate::P1 => "two clients believe they hold the lock",
        Predicate::P2 => "another client gets the lock before its holder's deadline",
        Predicate::P3 => "a late write is applied",
        Predicate::P4 => "data is damaged",
        Predicate::WR => "a lock of somebody else is released",
        Predicate::LV => "somebody waits too long",
    }
}

/// A few words: `two believe`.
pub(crate) fn heading(predicate: Predicate) -> &'static str {
    match predicate {
        Predicate::P1 => "two believe they hold it",
        Predicate::P2 => "given away before a deadline",
        Predicate::P3 => "late write applied",
        Predicate::P4 => "data damaged",
        Predicate::WR => "lock of another released",
        Predicate::LV => "waited too long",
    }
}
