//! WR wrong release: a release or an extension changed a key that held another grant's token.
//!
//! Assumes that the recorder knows which grant's token a key held. Two grants that share one token are still
//! two grants: a release that matched by accident is wrong.

use std::collections::HashMap;

use crate::event::{ClientId, GrantId, What};
use crate::history::History;
use crate::verdict::{Evidence, Findings, Predicate, Verdict, WrongKey};

/// WR: a release or extension changed a key that held another grant's token.
pub fn wrong_release(history: &History) -> Verdict {
    // Mostly there is nothing to find, and then nobody needs to know whose grants they are.
    let mut owners = None;
    let mut findings = Findings::new(Predicate::WR);
    for event in history.events() {
        let What::KeyTouched { client, node, lock, by, held, op } = event.what else { continue };
        if by == held {
            continue;
        }
        let held_client = owners.get_or_insert_with(|| owners_in(history)).get(&held).copied();
        let wrong = WrongKey { at: event.at, node, lock, op, client, by, held, held_client };
        if findings.push(Evidence::WrongKey(wrong)).is_break() {
            break;
        }
    }
    findings.into_verdict()
}

fn owners_in(history: &History) -> HashMap<GrantId, ClientId> {
    let events = history.events().iter();
    events.filter_map(|event| Some((event.what.grant()?, event.what.client()?))).collect()
}
