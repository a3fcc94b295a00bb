//! Acquire calls as clients tell of them: who asked for what, what came of it, and how long a grant is good.

use std::collections::BTreeMap;
use std::time::Duration;

use doublehold_history::{CallId, ClientId, LockId, TrueNs};

/// One acquire call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) id: CallId,
    pub(super) client: ClientId,
    pub(super) lock: LockId,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Asked,
    Held,
    Released,
}

/// A lease from when it was told until its end.
#[derive(Clone, Copy, Debug)]
struct Lease {
    from: TrueNs,
    to: TrueNs,
}

/// All calls.
#[derive(Debug, Default)]
pub(super) struct Calls {
    count: u64,
    /// Those that are not over.
    open: BTreeMap<CallId, Call>,
    /// The leases of each grant, in the order in which they were told.
    leases: BTreeMap<CallId, (ClientId, Vec<Option<Lease>>)>,
    last: BTreeMap<ClientId, Call>,
    last_granted: BTreeMap<ClientId, Call>,
    /// Those of which their clients know that they have the lock no more, until they ask for it again.
    lost: Vec<Call>,
}

/// The stage of a call that keeps its client from asking for the lock again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// It has asked, and nobody has told what came of it.
    Asked,
    /// It holds it.
    Held,
}

impl Calls {
    /// A new call.
    ///
    /// # Errors
    /// When its last call for this lock is not over.
    pub(super) fn ask(&mut self, client: ClientId, lock: LockId) -> Result<CallId, Before> {
        if self.asked_by(client).any(|call| call.lock == lock) {
            return Err(Before::Asked);
        }
        if self.held_by(client).any(|call| call.lock == lock) {
            return Err(Before::Held);
        }
        // Whoever asks again has its answer to the release before.
        self.open.retain(|_, call| (call.client, call.lock, call.stage) != (client, lock, Stage::Released));
        self.lost.retain(|call| (call.client, call.lock) != (client, lock));
        self.count += 1;
        let call = Call { id: CallId(self.count), client, lock, stage: Stage::Asked };
        self.open.insert(call.id, call);
        self.last.insert(client, call);
        Ok(call.id)
    }

    /// It was granted, or extended, for so long.
    pub(super) fn grant(&mut self, id: CallId, at: TrueNs, lease: Option<Duration>) {
        let Some(call) = self.open.get_mut(&id) else { return };
        call.stage = Stage::Held;
        let call = *call;
        self.last_granted.insert(call.client, call);
        let ns = |lease: Duration| u64::try_from(lease.as_nanos()).unwrap_or(u64::MAX);
        let lease = lease.map(|lease| Lease { from: at, to: TrueNs(at.0.saturating_add(ns(lease))) });
        self.leases.entry(id).or_insert_with(|| (call.client, Vec::new())).1.push(lease);
    }

    pub(super) fn release(&mut self, id: CallId) {
        if let Some(call) = self.open.get_mut(&id) {
            call.stage = Stage::Released;
        }
    }

    pub(super) fn end(&mut self, id: CallId) {
        self.open.remove(&id);
    }

    pub(super) fn lose(&mut self, id: CallId) {
        self.lost.extend(self.open.remove(&id));
    }

    pub(super) fn lost_by(&self, client: ClientId) -> impl Iterator<Item = Call> {
        self.lost.iter().filter(move |call| call.client == client).copied()
    }

    pub(super) fn die(&mut self, client: ClientId) {
        self.open.retain(|_, call| call.client != client);
    }

    pub(super) fn asked_by(&self, client: ClientId) -> impl Iterator<Item = Call> + use<> {
        self.at_stage(client, Stage::Asked)
    }

    /// True while nobody has told what came of a call.
    pub(super) fn is_asked(&self, id: CallId) -> bool {
        self.open.get(&id).is_some_and(|call| call.stage == Stage::Asked)
    }

    pub(super) fn held_by(&self, client: ClientId) -> impl Iterator<Item = Call> + use<> {
        self.at_stage(client, Stage::Held)
    }

    pub(super) fn released_by(&self, client: ClientId) -> impl Iterator<Item = Call> + use<> {
        self.at_stage(client, Stage::Released)
    }

    fn at_stage(&self, client: ClientId, stage: Stage) -> impl Iterator<Item = Call> + use<> {
        let is_it = |call: &&Call| call.client == client && call.stage == stage;
        self.open.values().filter(is_it).copied().collect::<Vec<_>>().into_iter()
    }

    /// The calls that a command of a client may belong to: those that are not over, or else its last one.
    pub(super) fn of_command(&self, client: ClientId) -> Vec<Call> {
        let open: Vec<Call> = self.open.values().filter(|call| call.client == client).copied().collect();
        if open.is_empty() { self.last.get(&client).copied().into_iter().collect() } else { open }
    }

    /// The grant that a client has, or had last.
    pub(super) fn last_granted(&self, client: ClientId) -> Option<Call> {
        self.last_granted.get(&client).copied()
    }

    /// The ends of leases up to `end`, but for those that an extension came before.
    pub(super) fn deadlines_passed_by(&self, end: TrueNs) -> Vec<(TrueNs, ClientId, CallId)> {
        let mut passed = Vec::new();
        for (&grant, (client, leases)) in &self.leases {
            for (place, lease) in leases.iter().enumerate() {
                let Some(lease) = lease else { continue };
                let next = leases.get(place + 1).copied().flatten().map_or(end, |next| next.from);
                if lease.to <= end && lease.to <= next {
                    passed.push((lease.to, *client, grant));
                }
            }
        }
        passed
    }
}
