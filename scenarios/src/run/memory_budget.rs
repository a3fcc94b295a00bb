//! What the record of a run takes, in counted bytes: it grows with every event, and `limits.memory` bounds it.
//!
//! Counted by what is recorded, not by what an allocator gave, so that a run meets its limit at the same event in any
//! build and on any machine.

use doublehold_history::{CallId, EventKind};

/// An event of the history, without its texts.
pub(super) const EVENT: usize = 144;
/// What the recorder remembers of one call of acquire: how its keys are marked, who voted for it, its deadline.
const CALL: usize = 128;
/// A stretch of time in which a node held a key, and when it would expire.
const KEY: usize = 96;
/// What one call has of a key that several calls took, and two fifths more: an allocator rounds long lists up.
const SHARE: usize = 56;
/// Which call sent a request.
const REQUEST: usize = 24;

/// What remembering the senders of so many requests takes.
pub(super) fn requests(count: usize) -> u64 {
    (REQUEST * count) as u64
}

/// What so many stretches of keys take.
pub(super) fn stretches(count: usize) -> u64 {
    (KEY * count) as u64
}

/// What so many shares of keys take, and so many of their calls that are kept beside what was done to a key.
pub(super) fn shares(count: usize, live: usize) -> u64 {
    (SHARE * count + size_of::<CallId>() * live) as u64
}

/// What recording this takes.
pub(super) fn bytes(what: &EventKind) -> u64 {
    let more = match what {
        EventKind::AcquireStarted { .. } => CALL,
        EventKind::Granted { token, .. } => token.len(),
        EventKind::Refused { why, .. }
        | EventKind::AcquireUnknown { why, .. }
        | EventKind::ExtendFailed { why, .. }
        | EventKind::WriteRefused { why, .. }
        | EventKind::Inconclusive { why }
        | EventKind::Struck { what: why, .. } => why.len(),
        _ => 0,
    };
    (EVENT + more) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::KeySpan;

    #[test]
    fn what_is_counted_is_about_what_it_takes() {
        // A size may differ between compilers, so only the order of it is compared.
        let is_about = |counted: usize, size: usize| (size..=3 * size).contains(&(counted * 2));
        assert!(is_about(EVENT, size_of::<doublehold_history::Event>()));
        assert!(is_about(SHARE, size_of::<crate::run::keys::ownership::Share>()));
        assert!(is_about(KEY, size_of::<KeySpan>() + size_of::<(usize, i64)>()));
    }
}
