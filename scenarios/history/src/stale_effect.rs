//! P3 stale effect: the resource applied a write of a grant after a later grant of the same lock existed.
//!
//! *Later* and *after* are true time, and the order of recording within one instant. A grant exists once
//! acquire returned. Grants count, not clients: a late packet of a client's own earlier grant is stale too, and
//! so is a late write of a lock that was properly released. A grant that is within another is of the same hold: it
//! makes nothing of that stale, and has its place in the order.
//!
//! A write under a grant that was never granted has no place in the order of grants and is left to P4.

use std::collections::HashMap;

use crate::event::{CallId, ClientId, EventKind, LockId, TrueNs};
use crate::history::History;
use crate::verdict::{Evidence, Findings, Predicate, StaleWrite, Verdict};

/// P3: the resource applied a write of a grant after a later grant existed.
pub fn stale_effect(history: &History) -> Verdict {
    let mut grants = Grants::default();
    let mut findings = Findings::new(Predicate::P3);
    for event in history.events() {
        match event.what {
            EventKind::Granted { client, grant, lock, within, .. } => {
                grants.add(GrantRecord { at: event.at, client, grant }, lock, within)
            }
            EventKind::WriteApplied { client, grant, object, version, .. } => {
                let Some((lock, given, later)) = grants.grant_and_successor(grant) else { continue };
                let stale = StaleWrite {
                    lock,
                    object,
                    version,
                    at: event.at,
                    client,
                    grant,
                    granted_at: given.at,
                    later_client: later.client,
                    later_grant: later.grant,
                    later_granted_at: later.at,
                };
                if findings.push(Evidence::StaleWrite(stale)).is_break() {
                    break;
                }
            }
            _ => {}
        }
    }
    findings.into_verdict()
}

/// The grants so far, in order, for each lock.
#[derive(Default)]
struct Grants {
    of_lock: HashMap<LockId, Vec<GrantRecord>>,
    place: HashMap<CallId, (LockId, usize)>,
}

#[derive(Clone, Copy)]
struct GrantRecord {
    at: TrueNs,
    client: ClientId,
    grant: CallId,
}

impl Grants {
    fn add(&mut self, given: GrantRecord, lock: LockId, within: Option<CallId>) {
        if self.place.contains_key(&given.grant) {
            return;
        }
        if let Some(&hold) = within.and_then(|outer| self.place.get(&outer)) {
            self.place.insert(given.grant, hold);
            return;
        }
        let order = self.of_lock.entry(lock).or_default();
        self.place.insert(given.grant, (lock, order.len()));
        order.push(given);
    }

    /// The grant and the one right after it, if there is one already.
    fn grant_and_successor(&self, grant: CallId) -> Option<(LockId, GrantRecord, GrantRecord)> {
        let &(lock, place) = self.place.get(&grant)?;
        let order = self.of_lock.get(&lock)?;
        Some((lock, *order.get(place)?, *order.get(place + 1)?))
    }
}
