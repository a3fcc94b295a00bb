//! Writes down what happens while the run goes on, with true time and clock readings no client could know.
//!
//! Everything enters here: what client programs do, what the resource applies, what nodes do to lock keys, and what
//! the world's observer sees (a deadline passing on a stopped client's clock, a key expiring that nobody asks for).
//!
//! A change of a lock's key is written down with the call that sent the command. Whose key it was is found when the
//! record is closed: a lock may say what marks its keys after the fact. What is not known is written down as such.

mod account;
mod acting;
mod announcements;
mod entries;
mod owners;
mod panics;
mod watches;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use doublehold_history::{
    CallId, ClientId, Deadline, EventKind, Header, History, LockId, NodeId, Reading, TrueNs,
};
use doublehold_sim_redis::core::KeyChange;

use self::account::Account;
use self::entries::{Entries, Entry};
use crate::model::cast::Cast;
use crate::model::scenario::HostIndex;
use crate::report::{Announcement, KeyOrigin, KeySpan, Leases};
use crate::run::client::{ledger::Ledger, stage::Witness};
use crate::run::keys::attribution::{Attribution, ConnectionNumber, Mark, Moment, Sender};
use crate::run::keys::claimants::{Claimants, boundary};
use crate::run::keys::key_effects::{KeyCommand, KeyJudge};
use crate::run::keys::key_lanes::{Circumstances, KeyLanes, Known};
use crate::run::keys::lock_keys::LockKeys;
use crate::run::memory_budget;

/// A handle to the run's one record. Clones write to the same.
#[derive(Clone)]
pub(crate) struct Recorder {
    witness: Arc<dyn Witness>,
    cast: Arc<Cast>,
    record: Arc<Mutex<Record>>,
    pub(crate) ledger: Ledger, // of writes to replicas
}

struct Record {
    /// Hears how much is recorded.
    witness: Arc<dyn Witness>,
    header: Header,
    cast: Arc<Cast>,
    entries: Entries,
    next_grant: u64,
    attribution: Attribution,
    claimants: Claimants,
    lanes: KeyLanes,
    keys: LockKeys,
    /// What white-box rules ask of a run, if anybody will.
    account: Option<Box<Account>>,
    /// The nodes whose yes each grant was given on, where several were asked.
    votes: BTreeMap<CallId, Vec<HostIndex>>,
    /// When each grant's extensions began.
    extends: BTreeMap<CallId, Vec<TrueNs>>,
    /// The place in its client's program of the step at which each call was given up.
    gave_up_at: BTreeMap<CallId, usize>,
    announcements: Vec<Announcement>,
    notes: Vec<String>,
    /// What the code under test said when it panicked.
    panicked: Option<String>,
    /// It panicked for want of tokio's timers.
    needs_timers: bool,
    closed: bool,
}

/// A client's request, as the node that executes it sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    /// Whose host it came from; `None` of a process with several threads, where the call says whose it is.
    pub(crate) client: Option<ClientId>,
    /// The connection it came on.
    pub(crate) connection: ConnectionNumber,
    /// Which request of the connection it is, counted from 0.
    pub(crate) request: u64,
}

/// What was recorded of a run.
pub(crate) struct Recorded {
    pub(crate) history: History,
    pub(crate) votes: BTreeMap<CallId, Vec<HostIndex>>,
    pub(crate) extends: BTreeMap<CallId, Vec<TrueNs>>,
    pub(crate) gave_up_at: BTreeMap<CallId, usize>,
    pub(crate) announcements: Vec<Announcement>,
    pub(crate) notes: Vec<String>,
    pub(crate) panicked: Option<String>,
    pub(crate) needs_timers: bool,
}

impl Recorder {
    pub(crate) fn new(witness: Arc<dyn Witness>, header: Header, cast: Arc<Cast>) -> Recorder {
        let record = Record {
            witness: witness.clone(),
            header,
            cast: cast.clone(),
            entries: Entries::default(),
            next_grant: 1,
            attribution: Attribution::default(),
            claimants: Claimants::default(),
            lanes: KeyLanes::default(),
            keys: LockKeys::default(),
            account: None,
            votes: BTreeMap::new(),
            extends: BTreeMap::new(),
            gave_up_at: BTreeMap::new(),
            announcements: Vec::new(),
            notes: Vec::new(),
            panicked: None,
            needs_timers: false,
            closed: false,
        };
        Recorder { witness, cast, record: Arc::new(Mutex::new(record)), ledger: Ledger::default() }
    }

    /// A client is about to call acquire: the call's id. The call lasts until [`Recorder::leave`].
    pub(crate) fn begin(&self, client: ClientId, lock: LockId) -> CallId {
        let mut record = self.lock();
        let grant = CallId(record.next_grant);
        record.next_grant += 1;
        record.attribution.begin(client, grant, lock);
        record.claimants.ask(grant, client);
        let started = EventKind::AcquireStarted { client, call: grant, lock };
        record.push(self.now(), started);
        grant
    }

    /// A client is about to call the lock for a grant it has: until [`Recorder::leave`].
    pub(crate) fn enter(&self, client: ClientId, grant: CallId) {
        self.lock().attribution.enter(client, grant);
    }

    /// A client is about to extend a grant: as [`Recorder::enter`].
    pub(crate) fn extend(&self, client: ClientId, grant: CallId) {
        self.enter(client, grant);
        self.lock().extends.entry(grant).or_default().push(self.now());
    }

    /// A lease is about to be renewed beside its holder: that of the task's call, unless it was given back.
    pub(crate) fn renewing(&self, client: ClientId) {
        let mut record = self.lock();
        let (now, call) = (self.now(), record.attribution.call_of(client));
        if let (Some(account), Some(call)) = (&mut record.account, call) {
            account.note_renewal(now, call);
        }
        if let Some(grant) = record.renewed_grant(client) {
            record.extends.entry(grant).or_default().push(self.now());
        }
    }

    /// What the renewal came to.
    pub(crate) fn record_renewal(&self, client: ClientId, came_to: Result<Option<Deadline>, String>) {
        let Some(grant) = self.lock().renewed_grant(client) else { return };
        match came_to {
            Ok(deadline) => self.record_extension(client, grant, deadline),
            Err(why) => self.note(client, |client| EventKind::ExtendFailed { client, grant, why }),
        }
    }

    /// Writes down that a lease was extended, and until when.
    pub(crate) fn record_extension(&self, client: ClientId, grant: CallId, deadline: Option<Deadline>) {
        self.note(client, |client| EventKind::Extended { client, grant, deadline });
        if let Some(deadline) = deadline {
            self.watch_deadline(client, grant, deadline);
        }
    }

    /// A client asks no more in the call, which is about the step at this place of its program.
    pub(crate) fn give_up(&self, client: ClientId, call: CallId, place: usize) {
        self.lock().gave_up_at.insert(call, place);
        self.note(client, |client| EventKind::GaveUp { client, call });
    }

    /// Requests may be sent twice.
    pub(crate) fn expect_copies(&self) {
        self.lock().attribution.expect_copies();
    }

    /// A lock says that keys with this value, or fields with this name, are its client's call's.
    pub(crate) fn marks(&self, client: ClientId, value: &[u8]) {
        let mut record = self.lock();
        let moment = record.moment();
        record.attribution.mark(moment, client, Mark::Value(value.to_vec()));
    }

    /// A lock says that a key is a claim whatever it holds: that of the call that makes it, if it says so.
    pub(crate) fn marks_key(&self, client: ClientId, key: &[u8]) {
        let mut record = self.lock();
        let moment = record.moment();
        record.attribution.mark(moment, client, Mark::Key(key.to_vec()));
        record.keys.take_as_claim(key);
    }

    /// A call is granted its lock with this token, by which one of several that it marked keys with is known again.
    pub(crate) fn record_token(&self, grant: CallId, token: &[u8]) {
        self.lock().attribution.record_token(grant, token);
    }

    /// The key of the lock `resource` is called `key`.
    pub(crate) fn names_key(&self, resource: &str, key: &[u8]) {
        let mut guard = self.lock();
        let record = &mut *guard;
        if let Some(shared) = record.keys.name(&record.header, resource, key) {
            record.push(self.now(), shared);
        }
    }

    /// Writes what `what` makes of the client's id.
    pub(crate) fn note(&self, client: ClientId, what: impl FnOnce(ClientId) -> EventKind) {
        let mut record = self.lock();
        let what = what(client);
        let (starts, ends) = boundary(&what);
        if let Some(grant) = starts {
            record.record_grant(grant, client);
        }
        if matches!(what, EventKind::Refused { .. } | EventKind::AcquireUnknown { .. }) {
            record.claimants.record_refusal(client);
        }
        if starts.is_some() || ends.is_some() {
            self.read_claimants(&mut record, client);
        }
        if let Some(grant) = ends {
            record.claimants.end(grant);
        }
        record.push(self.now(), what);
    }

    /// The client's process is gone, with whatever it held.
    pub(crate) fn record_death(&self, client: ClientId) {
        let mut record = self.lock();
        self.read_claimants(&mut record, client);
        record.claimants.record_death(client);
        record.attribution.leave(client);
        let died = EventKind::Died { client };
        record.push(self.now(), died);
    }

    /// A lock says which nodes' yes it counted in the call its client is in.
    pub(crate) fn record_votes(&self, client: ClientId, nodes: Vec<HostIndex>) {
        let mut record = self.lock();
        if let Some(grant) = record.attribution.call_of(client) {
            record.votes.insert(grant, nodes);
        }
    }

    /// Something without which the run shows nothing: what holds becomes inconclusive.
    pub(crate) fn inconclusive(&self, why: String) {
        let now = self.now();
        self.lock().push(now, EventKind::Inconclusive { why: why.clone() });
        self.remark(why);
    }

    /// The grants by which a client still claims a lock, in the order granted.
    pub(crate) fn claims(&self, client: ClientId) -> Vec<CallId> {
        self.lock().claimants.of(client)
    }

    /// Notes what a reader must know that no verdict says.
    pub(crate) fn remark(&self, note: String) {
        self.lock().notes.push(note);
    }

    /// The node's process is gone, and its keys with it.
    pub(crate) fn forget_node(&self, node: NodeId) {
        let now = self.now();
        let mut record = self.lock();
        if !record.closed {
            record.lanes.forget_node(node, now);
        }
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
        if let Some(account) = &mut record.account {
            account.close(self.now(), |host| self.witness.reading(host));
        }
        let entries = std::mem::take(&mut record.entries);
        let mut history = History::with_capacity(record.header.clone(), entries.len());
        for (at, entry) in entries {
            record.meaning(entry).into_iter().for_each(|what| history.push(at, what));
        }
        let rests = |call| record.lanes.rests(call, &record.attribution);
        if let Some(what) = record.keys.find_unseen(&history, rests) {
            history.push(self.now(), what);
        }
        Recorded {
            history,
            votes: std::mem::take(&mut record.votes),
            extends: std::mem::take(&mut record.extends),
            gave_up_at: std::mem::take(&mut record.gave_up_at),
            announcements: std::mem::take(&mut record.announcements),
            notes: std::mem::take(&mut record.notes),
            panicked: record.panicked.take(),
            needs_timers: record.needs_timers,
        }
    }

    /// What the lock's keys held on each node, to be drawn: a run that is only judged need not know.
    pub(crate) fn spans(&self) -> Vec<KeySpan> {
        let record = self.lock();
        record.lanes.spans(&record.attribution, &record.cast)
    }

    /// What white-box rules ask of a run that keeps an account.
    pub(crate) fn leases(&self) -> Leases {
        let record = self.lock();
        let account = record.account.as_ref();
        account
            .map(|account| account.leases(&record.lanes, &record.attribution, &record.cast))
            .unwrap_or_default()
    }

    /// The clocks of `client` and of those who claim at a moment that begins or ends a claim of `client`.
    fn read_claimants(&self, record: &mut Record, client: ClientId) {
        for holder in record.claimants.to_read(client) {
            let reading = self.witness.reading(self.cast.client(holder));
            record.push(self.now(), EventKind::Clocks { client: holder, reading });
        }
    }

    /// A node changed a key: on behalf of this request, if a client's command did it.
    pub(crate) fn record_key_change(
        &self,
        node: NodeId,
        origin: KeyOrigin,
        sent: Option<Sent>,
        change: &KeyChange<'_>,
    ) {
        let mut guard = self.lock();
        let record = &mut *guard;
        let Some(lock) = record.keys.lock_of(&record.header, change.key).filter(|_| !record.closed) else {
            return;
        };
        let sent = sent.map(|sent| record.first_sent(sent));
        let sender = sent.and_then(|sent| record.attribution.sender(sent.connection, sent.request));
        let (at, database) = (self.now(), change.database);
        let client = sent.and_then(|sent| record.client_of(sent, sender));
        let moment = record.moment();
        let by = Circumstances { node, database, lock, origin, sender, client, at, moment };
        record.keys.record_change(lock, sender.map(|sender| sender.call));
        let whole = record.keys.is_claim(change.key);
        let known = Known { told: &record.attribution, claimants: &record.claimants, whole };
        let (touches, alive) = record.lanes.apply_change(by, change, known);
        let expires_at_ms = change.after.and_then(|after| after.expires_at_ms);
        if let Some(account) = &mut record.account {
            let host = self.cast.node(node);
            account.note_expiries(&alive, host, expires_at_ms, at, || self.witness.reading(host));
            sent.iter().for_each(|sent| account.note_node(sent.connection, host));
        }
        self.witness.keeps(record.lanes.growth());
        // What a node does by itself, or is told by its master or file, is nobody's doing.
        if sent.is_some() {
            let command = KeyCommand { touches, node, client, by: sender, command: change.command };
            record.record_touch(at, command);
        }
        drop(guard);
        if let Some(at) = expires_at_ms {
            alive.into_iter().for_each(|stretch| self.watch_expiry(node, stretch, at));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Record {
    /// The grant that a client's task renews, as long as anybody claims it.
    fn renewed_grant(&self, client: ClientId) -> Option<CallId> {
        self.attribution.call_of(client).filter(|grant| self.claimants.is_claimed(*grant))
    }

    /// The request as its client sent it, if this one is a copy.
    fn first_sent(&self, sent: Sent) -> Sent {
        if !self.attribution.may_be_copy(sent.connection) {
            return sent; // nearly always
        }
        let original = self.witness.copy_of(sent.connection).and_then(|(connection, bytes)| {
            Some((connection, self.attribution.request_after(connection, bytes)?))
        });
        original.map_or(sent, |(connection, first)| Sent {
            connection,
            request: first + sent.request,
            ..sent
        })
    }

    /// Whose request it is: its host's client, or the thread whose call it belongs to.
    fn client_of(&self, sent: Sent, sender: Option<Sender>) -> Option<ClientId> {
        sent.client.or_else(|| self.attribution.client_of(sender?.call))
    }

    /// How much is recorded so far.
    fn moment(&self) -> Moment {
        Moment(self.entries.len())
    }

    fn push(&mut self, at: TrueNs, what: EventKind) {
        if !self.closed {
            self.witness.keeps(memory_budget::bytes(&what));
            self.entries.push(at, Entry::Event(what));
        }
    }

    /// A call was granted what it asked for.
    fn record_grant(&mut self, grant: CallId, client: ClientId) {
        self.attribution.record_grant(grant);
        self.claimants.begin(grant, client);
        self.lanes.record_found(grant, (&self.attribution, &self.claimants));
    }

    fn record_touch(&mut self, at: TrueNs, mut touched: KeyCommand) {
        let meanings = self.meanings();
        touched.touches.retain(|touch| !meanings.is_settled(touch, touched.client.and(touched.by)));
        if !touched.touches.is_empty() {
            self.witness.keeps((memory_budget::EVENT * touched.touches.len()) as u64);
            self.entries.push(at, Entry::Touched(touched));
        }
    }

    /// What an entry means, now that all is told.
    fn meaning(&self, entry: Entry) -> Vec<EventKind> {
        match entry {
            Entry::Event(what) => vec![what],
            Entry::Touched(touched) => self.meanings().key_events(&touched),
        }
    }

    fn meanings(&self) -> KeyJudge<'_> {
        KeyJudge { told: &self.attribution, lanes: &self.lanes, header: &self.header }
    }
}
