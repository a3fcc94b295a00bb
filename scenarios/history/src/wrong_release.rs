//! WR wrong release: a release or an extension changed a key that held another grant's token.
//!
//! Assumes that the recorder knows which call sent the command and which grant's token the key held; where it did not,
//! nothing holds. Nor does anything hold where nobody watched nodes, as in most systems in production. Two grants that
//! share one token are still two grants: a release that matched by accident is wrong.

use std::collections::HashMap;

use crate::event::{CallId, ClientId, EventKind};
use crate::history::History;
use crate::verdict::{Evidence, Findings, Predicate, Verdict, WrongKey};

/// WR: a release or extension changed a key that held another grant's token.
///
/// Inconclusive if none is known to have done so, and somebody changed a key whom nobody can name or nobody watched.
pub fn wrong_release(history: &History) -> Verdict {
    // Mostly there is nothing to find, and then nobody needs to know whose grants they are.
    let mut grants = None;
    let mut findings = Findings::new(Predicate::WR);
    for (place, event) in history.events().iter().enumerate() {
        let EventKind::KeyTouched { client, node, lock, by, held, op } = event.what else { continue };
        if by == held {
            continue;
        }
        let grants = grants.get_or_insert_with(|| Grants::from_history(history));
        let held_client = grants.owners.get(&held).copied();
        let by_granted = grants.granted.contains_key(&by);
        let was_granted = grants.granted.get(&by).is_some_and(|granted| *granted < place);
        let wrong =
            WrongKey { at: event.at, node, lock, op, client, by, by_granted, was_granted, held, held_client };
        if findings.push(Evidence::WrongKey(wrong)).is_break() {
            break;
        }
    }
    match findings.into_verdict() {
        Verdict::Holds => match unattributed_change(history) {
            Some(why) => Verdict::Inconclusive(why),
            None if is_watched(history) => Verdict::Holds,
            None => Verdict::Inconclusive(UNWATCHED.to_owned()),
        },
        verdict => verdict,
    }
}

const UNWATCHED: &str = "nobody watched the keys of nodes: clients of `doublehold serve` need names, by CLIENT \
                         SETNAME, and a lock that is a string; a record of your own needs `key_touched` whenever a \
                         release or an extension changes a key, and say `\"keys_watched\":true` in the header";

/// Whether somebody watched nodes: the header says so, or, in a history older than that field, a key was seen.
pub(crate) fn is_watched(history: &History) -> bool {
    let is_of_a_key =
        |what: &EventKind| matches!(what, EventKind::KeyTouched { .. } | EventKind::Unattributed { .. });
    history.header().keys_watched || history.events().iter().any(|event| is_of_a_key(&event.what))
}

fn unattributed_change(history: &History) -> Option<String> {
    history.events().iter().find_map(|event| match &event.what {
        EventKind::Unattributed { why, .. } => Some(why.clone()),
        _ => None,
    })
}

/// Whose calls there were, and which of them were granted: at which place in the history.
struct Grants {
    owners: HashMap<CallId, ClientId>,
    granted: HashMap<CallId, usize>,
}

impl Grants {
    fn from_history(history: &History) -> Self {
        let events = || history.events().iter().map(|event| &event.what);
        let granted = events().enumerate().filter_map(|(place, what)| match what {
            EventKind::Granted { grant, .. } => Some((*grant, place)),
            _ => None,
        });
        let owners = events().filter_map(|what| Some((what.call()?, what.client()?)));
        Self { owners: owners.collect(), granted: granted.collect() }
    }
}
