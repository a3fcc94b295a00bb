//! Writes the history while the run goes on, with true time and clock readings no client could know.
//!
//! Everything enters here: what client programs do, what the resource applies, what nodes do to lock keys, and what
//! the world's observer sees (a deadline passing on a stopped client's clock, a key expiring that nobody asks for).
//!
//! A change of a lock's key is written down with the call that sent the command and the grant whose key it was. Where
//! either is not known, that is written down.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use doublehold_history::{
    CallId, ClientId, ClockKind, Deadline, EventKind, History, KeyOp, LockId, NodeId, Reading, TrueNs,
};
use doublehold_sim_redis::core::{KeyChange, Stored};

use super::attribution::{Attribution, ConnectionNumber};
use super::kept;
use super::stage::Witness;
use crate::cast::Cast;
use crate::report::{KeyEnd, KeyOrigin, KeySpan};
use crate::scenario::HostIndex;

/// The one lock of a scenario.
pub(crate) const LOCK: LockId = LockId(0);

/// How many claimants' clocks are read when a claim begins or ends: 496 pairs of them can overlap, and each is listed with
/// its times on both clocks. What is listed after these has true time alone.
const CLAIMANTS_READ: usize = 32;

/// A handle to the run's one record. Clones write to the same.
#[derive(Clone)]
pub(crate) struct Recorder {
    witness: Arc<dyn Witness>,
    cast: Arc<Cast>,
    record: Arc<Mutex<Record>>,
}

struct Record {
    /// Hears how much is recorded.
    witness: Arc<dyn Witness>,
    history: History,
    cast: Arc<Cast>,
    lock_key: Vec<u8>,
    next_grant: u64,
    attribution: Attribution,
    /// Grants that claim the lock, with their holder, in the order granted: their clocks are evidence.
    claims: Vec<(CallId, ClientId)>,
    /// The latest deadline of each grant: an older one passing means nothing.
    deadlines: BTreeMap<CallId, Deadline>,
    keys: Vec<KeySpan>,
    /// The nodes whose yes each grant was given on, where several were asked.
    votes: BTreeMap<CallId, Vec<HostIndex>>,
    /// The open span of each node that holds the key.
    held: BTreeMap<NodeId, usize>,
    /// When each span's key expires by its node's clock, in milliseconds, as last set.
    expiries: BTreeMap<usize, i64>,
    notes: Vec<String>,
    /// What the code under test said when it panicked.
    panicked: Option<String>,
    closed: bool,
}

/// A client's request, as the node that executes it sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    /// Whose host it came from, if that is a client's.
    pub(crate) client: Option<ClientId>,
    /// The connection it came on.
    pub(crate) connection: ConnectionNumber,
    /// Which request of the connection it is, counted from 0.
    pub(crate) request: u64,
}

/// What was recorded of a run.
pub(crate) struct Recorded {
    pub(crate) history: History,
    pub(crate) keys: Vec<KeySpan>,
    pub(crate) votes: BTreeMap<CallId, Vec<HostIndex>>,
    pub(crate) notes: Vec<String>,
    pub(crate) panicked: Option<String>,
}

impl Recorder {
    pub(crate) fn new(
        witness: Arc<dyn Witness>,
        history: History,
        cast: Arc<Cast>,
        lock_key: &str,
    ) -> Recorder {
        let record = Record {
            witness: witness.clone(),
            history,
            cast: cast.clone(),
            lock_key: lock_key.as_bytes().to_vec(),
            next_grant: 1,
            attribution: Attribution::default(),
            claims: Vec::new(),
            deadlines: BTreeMap::new(),
            keys: Vec::new(),
            votes: BTreeMap::new(),
            held: BTreeMap::new(),
            expiries: BTreeMap::new(),
            notes: Vec::new(),
            panicked: None,
            closed: false,
        };
        Recorder { witness, cast, record: Arc::new(Mutex::new(record)) }
    }

    /// A client is about to call acquire: the call's id. The call lasts until [`Recorder::leave`].
    pub(crate) fn begin(&self, client: ClientId) -> CallId {
        let mut record = self.lock();
        let grant = CallId(record.next_grant);
        record.next_grant += 1;
        record.attribution.enter(client, grant);
        let started = EventKind::AcquireStarted { client, call: grant, lock: LOCK };
        record.push(self.now(), started);
        grant
    }

    /// A client is about to call the lock for a grant it has: until [`Recorder::leave`].
    pub(crate) fn enter(&self, client: ClientId, grant: CallId) {
        self.lock().attribution.enter(client, grant);
    }

    /// The client's call to the lock has returned.
    pub(crate) fn leave(&self, client: ClientId) {
        self.lock().attribution.leave(client);
    }

    /// The call to the lock that a client is in.
    pub(crate) fn call_of(&self, client: ClientId) -> Option<CallId> {
        self.lock().attribution.call_of(client)
    }

    /// Puts a client into a call, or into none. The call it was in.
    pub(crate) fn set_call(&self, client: ClientId, call: Option<CallId>) -> Option<CallId> {
        let mut record = self.lock();
        let before = record.attribution.call_of(client);
        match call {
            Some(call) => record.attribution.enter(client, call),
            None => record.attribution.leave(client),
        }
        before
    }

    /// Requests were written to a connection, each by this call.
    pub(crate) fn sent(&self, connection: ConnectionNumber, calls: &[Option<CallId>]) {
        self.witness.keeps(kept::requests(calls.len()));
        self.lock().attribution.sent(connection, calls);
    }

    /// A lock says that keys with this value are those of the call its client is in.
    pub(crate) fn marks(&self, client: ClientId, value: &[u8]) {
        self.lock().attribution.mark(client, value);
    }

    /// Writes what `what` makes of the client's id.
    pub(crate) fn note(&self, client: ClientId, what: impl FnOnce(ClientId) -> EventKind) {
        let mut record = self.lock();
        let what = what(client);
        let (starts, ends) = boundary(&what);
        if let Some(grant) = starts {
            record.claims.push((grant, client));
        }
        if starts.is_some() || ends.is_some() {
            self.read_claimants(&mut record, client);
        }
        if let Some(grant) = ends {
            record.claims.retain(|(claimed, _)| *claimed != grant);
        }
        record.push(self.now(), what);
    }

    /// The client's process is gone, with whatever it held.
    pub(crate) fn died(&self, client: ClientId) {
        let mut record = self.lock();
        self.read_claimants(&mut record, client);
        record.claims.retain(|(_, holder)| *holder != client);
        record.attribution.leave(client);
        let died = EventKind::Died { client };
        record.push(self.now(), died);
    }

    /// A lock says which nodes' yes it counted in the call its client is in.
    pub(crate) fn voted(&self, client: ClientId, nodes: Vec<HostIndex>) {
        let mut record = self.lock();
        if let Some(grant) = record.attribution.call_of(client) {
            record.votes.insert(grant, nodes);
        }
    }

    /// Watches a grant's deadline on its client's clock, also while the client is stopped.
    pub(crate) fn watch_deadline(&self, client: ClientId, grant: CallId, deadline: Deadline) {
        self.lock().deadlines.insert(grant, deadline);
        let (recorder, host) = (self.clone(), self.cast.client(client));
        let passes = move || {
            let mut record = recorder.lock();
            // After the release nobody believes in the grant any more, and its deadline means nothing.
            let claimed = record.claims.iter().any(|(claimed, _)| *claimed == grant);
            if claimed && record.deadlines.get(&grant) == Some(&deadline) {
                recorder.read_claimants(&mut record, client);
                let passed = EventKind::DeadlinePassed { client, grant };
                record.push(recorder.now(), passed);
            }
        };
        self.witness.when(host, deadline.clock, deadline.reading_ns, Box::new(passes));
    }

    /// Something without which the run shows nothing: what holds becomes inconclusive.
    pub(crate) fn inconclusive(&self, why: String) {
        let now = self.now();
        self.lock().push(now, EventKind::Inconclusive { why: why.clone() });
        self.remark(why);
    }

    /// The code under test panicked, and the run is to end: what it shows is that.
    pub(crate) fn panicked(&self, why: String) {
        self.lock().panicked = Some(why.clone());
        self.inconclusive(why);
    }

    /// Whether the client still claims a lock.
    pub(crate) fn claims(&self, client: ClientId) -> bool {
        self.lock().claims.iter().any(|(_, holder)| *holder == client)
    }

    /// Something a reader must know that no verdict says.
    pub(crate) fn remark(&self, note: String) {
        self.lock().notes.push(note);
    }

    /// The node's process is gone, and its keys with it.
    pub(crate) fn forgotten(&self, node: NodeId) {
        let now = self.now();
        self.lock().end_key(node, now, KeyEnd::Forgotten);
    }

    /// What a client's clocks show.
    pub(crate) fn reading(&self, client: ClientId) -> Reading {
        self.witness.reading(self.cast.client(client))
    }

    fn now(&self) -> TrueNs {
        self.witness.now()
    }

    /// Ends the record. Whatever is written after this (tasks being dropped) is not part of the run.
    pub(crate) fn close(&self) -> Recorded {
        let mut record = self.lock();
        record.closed = true;
        record.held.clear();
        let empty = History::new(record.history.header().clone());
        Recorded {
            history: std::mem::replace(&mut record.history, empty),
            keys: std::mem::take(&mut record.keys),
            votes: std::mem::take(&mut record.votes),
            notes: std::mem::take(&mut record.notes),
            panicked: record.panicked.take(),
        }
    }

    /// The clocks of `client` and of those who claim at a moment that begins or ends a claim of `client`.
    ///
    /// Of as many as a reader compares: a boundary would otherwise cost as much as there are claims, and the history of
    /// a thousand who hold at once two million readings. The evidence listed first is of those granted first.
    fn read_claimants(&self, record: &mut Record, client: ClientId) {
        let first = record.claims.iter().take(CLAIMANTS_READ).map(|(_, holder)| *holder);
        let mut holders: Vec<ClientId> = first.chain([client]).collect();
        holders.sort_unstable();
        holders.dedup();
        for holder in holders {
            let reading = self.witness.reading(self.cast.client(holder));
            record.push(self.now(), EventKind::Clocks { client: holder, reading });
        }
    }

    /// A node changed a key: on behalf of this request, if a client's command did it.
    pub(crate) fn changed(
        &self,
        node: NodeId,
        origin: KeyOrigin,
        sent: Option<Sent>,
        change: &KeyChange<'_>,
    ) {
        let now = self.now();
        let mut record = self.lock();
        let (before, after) = (text(change.before), text(change.after));
        if change.key != record.lock_key || before.or(after).is_none() {
            return;
        }
        let touched = record.touched(node, sent, change);
        let span = match (before, after) {
            (Some(held), Some(token)) if held == token => record.held.get(&node).copied(),
            (before, Some(token)) => {
                if before.is_some() {
                    record.end_key(node, now, KeyEnd::Overwritten);
                }
                let set_by = sent.and_then(|it| record.attribution.sender(it.connection, it.request));
                record.begin_key(node, now, token, set_by, origin)
            }
            (_, None) => {
                let expired = change.command == "EXPIRED";
                record.end_key(node, now, if expired { KeyEnd::Expired } else { KeyEnd::Deleted });
                None
            }
        };
        if let Some(what) = touched {
            record.push(now, what);
        }
        if let Some((span, expires_at_ms)) = span.zip(change.after.and_then(|after| after.expires_at_ms)) {
            record.expiries.insert(span, expires_at_ms);
            drop(record);
            self.watch_expiry(node, span, expires_at_ms);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the key's end when its time is up by the node's clock, if it still holds this token then.
    fn watch_expiry(&self, node: NodeId, span: usize, expires_at_ms: i64) {
        let (recorder, host) = (self.clone(), self.cast.node(node));
        // Gone when `now > when`, and Redis counts whole milliseconds.
        let gone_at = expires_at_ms.saturating_add(1).saturating_mul(1_000_000);
        let expires = move || {
            let now = recorder.now();
            let mut record = recorder.lock();
            if record.held.get(&node) == Some(&span) && record.expiries.get(&span) == Some(&expires_at_ms) {
                record.end_key(node, now, KeyEnd::Expired);
            }
        };
        self.witness.when(host, ClockKind::Wall, gone_at, Box::new(expires));
    }
}

impl Record {
    fn push(&mut self, at: TrueNs, what: EventKind) {
        if !self.closed {
            self.witness.keeps(kept::bytes(&what));
            self.history.push(at, what);
        }
    }

    fn begin_key(
        &mut self,
        node: NodeId,
        at: TrueNs,
        token: &[u8],
        set_by: Option<CallId>,
        origin: KeyOrigin,
    ) -> Option<usize> {
        let (client, grant) = self.attribution.owner(token, set_by)?;
        self.witness.keeps(kept::KEY);
        let (on, client) = (self.cast.node(node), self.cast.client(client));
        self.keys.push(KeySpan { node: on, grant, client, origin, from: at, until: None });
        self.held.insert(node, self.keys.len() - 1);
        Some(self.keys.len() - 1)
    }

    fn end_key(&mut self, node: NodeId, at: TrueNs, how: KeyEnd) {
        if let Some(span) = self.held.remove(&node) {
            self.keys[span].until = Some((at, how));
        }
    }

    /// What a client's command did to a key that was there, if that is anybody's business.
    fn touched(&self, node: NodeId, sent: Option<Sent>, change: &KeyChange<'_>) -> Option<EventKind> {
        let (Some(Sent { client, connection, request }), Some(before)) = (sent, text(change.before)) else {
            return None;
        };
        let after = text(change.after);
        let sender = self.attribution.sender(connection, request);
        let is_known = |value: &[u8]| self.attribution.is_mark(value);
        // Whose the key is was settled when it was set; the value alone may tell no owner.
        let held = self.held.get(&node).map(|span| self.keys[*span].grant);
        let held = held.or_else(|| self.attribution.owner(before, None).map(|(_, grant)| grant));
        let held = held.filter(|_| after.is_none_or(is_known));
        let op = match after {
            None => Some(KeyOp::Release),
            Some(after) if after == before => Some(KeyOp::Extend),
            // Another grant's claim took its place, which is neither.
            Some(_) => None,
        };
        let lock = LOCK;
        let why = match (client.zip(sender), held) {
            (Some((client, by)), Some(held)) => {
                return op.map(|op| EventKind::KeyTouched { client, node, lock, by, held, op });
            }
            (Some(_), None) if is_known(before) && after.is_none_or(is_known) => {
                "it held a value that several calls mark their keys with"
            }
            (Some(_), None) => "it holds or held a value that no lock had said it marks its keys with",
            (None, _) => "no call of a lock sent the command",
        };
        let name = self.history.header().node(node);
        let why = format!("{} changed the lock's key on {name}, and {why}", change.command);
        Some(EventKind::Unattributed { node, lock, why })
    }
}

/// The value of a string; what lock keys of other types hold is not recorded.
fn text(stored: Option<Stored<'_>>) -> Option<&[u8]> {
    stored.and_then(|stored| stored.as_string())
}

/// Which grant starts to be claimed, and which ends, by this event.
fn boundary(what: &EventKind) -> (Option<CallId>, Option<CallId>) {
    match what {
        EventKind::Granted { grant, .. } => (Some(*grant), None),
        EventKind::ReleaseCalled { grant, .. } | EventKind::ExpiryNoticed { grant, .. } => {
            (None, Some(*grant))
        }
        _ => (None, None),
    }
}
