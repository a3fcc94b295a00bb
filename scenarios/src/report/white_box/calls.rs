//! The calls of a run as rules ask of them: whose each is, when it was granted, and when its client was done with it.

use std::collections::BTreeMap;

use doublehold_history::{CallId, ClientId, EventKind, History, LockId, ReleaseOutcome, TrueNs};

/// A call of acquire, through its whole life.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) client: ClientId,
    pub(super) lock: LockId,
    pub(super) granted: Option<TrueNs>,
    pub(super) release_called: Option<TrueNs>,
    /// When the lock told that the grant is lost.
    pub(super) lost: Option<TrueNs>,
    pub(super) done: Option<Done>,
}

/// The end of a call: its client will not use its token again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Done {
    pub(super) at: TrueNs,
    pub(super) how: DoneHow,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DoneHow {
    /// Acquire did not return a grant.
    NotGranted,
    /// Release returned, and the lock knows what it did.
    Released,
    /// Release returned, and a reply was lost.
    ReleaseUnknown,
    /// The client's process died.
    Died,
}

/// The calls of a history, by their ids.
pub(super) fn calls(history: &History) -> BTreeMap<CallId, Call> {
    let mut calls: BTreeMap<CallId, Call> = BTreeMap::new();
    for event in history.events() {
        let at = event.at;
        match &event.what {
            EventKind::AcquireStarted { client, call, lock } => {
                let (client, lock) = (*client, *lock);
                calls.entry(*call).or_insert(Call {
                    client,
                    lock,
                    granted: None,
                    release_called: None,
                    lost: None,
                    done: None,
                });
            }
            EventKind::Died { client } | EventKind::Restarted { client } => {
                let theirs = calls.values_mut().filter(|call| call.client == *client && call.done.is_none());
                theirs.for_each(|call| call.done = Some(Done { at, how: DoneHow::Died }));
            }
            what => {
                if let Some(call) = what.call().and_then(|id| calls.get_mut(&id)) {
                    call.see(at, what);
                }
            }
        }
    }
    calls
}

impl Call {
    fn see(&mut self, at: TrueNs, what: &EventKind) {
        match what {
            EventKind::Granted { .. } => self.granted = self.granted.or(Some(at)),
            EventKind::Refused { .. } | EventKind::AcquireUnknown { .. } => {
                self.end(at, DoneHow::NotGranted);
            }
            EventKind::ExpiryNoticed { .. } => self.lost = self.lost.or(Some(at)),
            EventKind::ReleaseCalled { .. } => self.release_called = self.release_called.or(Some(at)),
            EventKind::ReleaseReturned { outcome, .. } => {
                let unknown = *outcome == ReleaseOutcome::Unknown;
                self.end(at, if unknown { DoneHow::ReleaseUnknown } else { DoneHow::Released });
            }
            _ => {}
        }
    }

    fn end(&mut self, at: TrueNs, how: DoneHow) {
        self.done.get_or_insert(Done { at, how });
    }
}
