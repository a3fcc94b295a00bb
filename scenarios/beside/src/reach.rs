//! What neither lock met in a sample of runs: the steps and the replies that a difference may need to show.

use std::collections::BTreeSet;

use doublehold_history::{EventKind, History, ReleaseOutcome};

/// Something that happens to a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Met {
    Refusal,
    NoAnswer,
    Extension,
    LostExtension,
    ExpiryNoticed,
    ReleaseOfALostLock,
    ReleaseWithoutAnswer,
    Death,
    GivenUp,
    RefusedWrite,
}

const ALL: [(Met, &str); 10] = [
    (Met::Refusal, "a call that was refused"),
    (Met::NoAnswer, "a call without an answer"),
    (Met::Extension, "an extension"),
    (Met::LostExtension, "an extension of a lock that was lost"),
    (Met::ExpiryNoticed, "a deadline that its holder saw passed"),
    (Met::ReleaseOfALostLock, "a release of a lock that was lost"),
    (Met::ReleaseWithoutAnswer, "a release without an answer"),
    (Met::Death, "a client that died"),
    (Met::GivenUp, "a client that gave up"),
    (Met::RefusedWrite, "a write that the resource refused"),
];

/// What happened in a run.
pub(crate) fn met(history: &History) -> BTreeSet<Met> {
    let met = |event: &EventKind| match event {
        EventKind::Refused { .. } => Some(Met::Refusal),
        EventKind::AcquireUnknown { .. } => Some(Met::NoAnswer),
        EventKind::Extended { .. } => Some(Met::Extension),
        EventKind::ExtendFailed { .. } => Some(Met::LostExtension),
        EventKind::ExpiryNoticed { .. } => Some(Met::ExpiryNoticed),
        EventKind::ReleaseReturned { outcome: ReleaseOutcome::NotOwner, .. } => Some(Met::ReleaseOfALostLock),
        EventKind::ReleaseReturned { outcome: ReleaseOutcome::Unknown { .. }, .. } => {
            Some(Met::ReleaseWithoutAnswer)
        }
        EventKind::Died { .. } => Some(Met::Death),
        EventKind::GaveUp { .. } => Some(Met::GivenUp),
        EventKind::WriteRefused { .. } => Some(Met::RefusedWrite),
        _ => None,
    };
    history.events().iter().filter_map(|event| met(&event.what)).collect()
}

/// Everything that is not among these, in words.
pub(crate) fn unmet(met: &BTreeSet<Met>) -> Vec<&'static str> {
    ALL.into_iter().filter(|(it, _)| !met.contains(it)).map(|(_, words)| words).collect()
}
