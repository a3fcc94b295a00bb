//! What clients tell of their locks, and what they read and write under them, written down as a history.
//!
//! A client tells before it asks for the lock and before it gives it back, and after it was granted it; it goes on when
//! it has its reply. So what is written down of a claim is a part of it, and two claims that overlap here did overlap.
//! Instants are this process' monotonic clock. They are as exact as the longest round trip of a probe was.
//!
//! Not known here: what a client does between two words, the lock's token, and the moment at which a client died.

mod call;
mod data;
mod keys;
mod probe;
mod refusals;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use call::{Before, Call, Calls};
use data::Data;
use doublehold_history::{
    CallId, ClientId, ClockKind, Deadline, EventKind, Header, History, LockId, NodeId, Reading,
    ReleaseOutcome, RunOutcome, TrueNs,
};
use doublehold_sim_redis::core::KeyChange;
use doublehold_text::suggest;
use keys::{Changer, Keys};
pub(super) use probe::probe;
use refusals::{gone_without_a_word, granted_without_a_word};

/// The name of a lock that nobody named.
pub(super) const THE_LOCK: &str = "lock";

/// Events that are kept: more than any test makes.
const MOST_EVENTS: usize = 1_000_000;

/// Everything that was told since the record began.
pub(super) struct Record {
    began: Instant,
    book: Mutex<Book>,
}

#[derive(Default)]
struct Book {
    name: Option<String>,
    /// When it began, after the first record.
    from_ns: u64,
    error_ns: u64,
    clients: Vec<String>,
    locks: Vec<String>,
    calls: Calls,
    data: Data,
    keys: Keys,
    events: Vec<(TrueNs, EventKind)>,
    /// Clients whose last connection has ended, and that have told nothing since.
    gone: BTreeMap<ClientId, TrueNs>,
}

/// What a client tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Statement {
    Asks,
    Granted { lease: Option<Duration>, fence: Option<u64> },
    Extended { lease: Option<Duration> },
    Refused,
    Releases,
    Released(ReleaseOutcome),
    Lost,
    Died,
}

impl Record {
    pub(super) fn new(began: Instant) -> Record {
        Record { began, book: Mutex::default() }
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now_ns(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Writes down what a client tells. `lock` is only needed where it might mean two.
    ///
    /// # Errors
    /// When it cannot be true after what was told before, in words.
    pub(super) fn tell(&self, client: &str, lock: Option<&str>, told: Statement) -> Result<(), String> {
        let mut book = self.book();
        let at = TrueNs(self.now_ns().saturating_sub(book.from_ns));
        book.tell(at, client, lock, told)
    }

    /// Reads a key of the resource, for a client.
    ///
    /// # Errors
    /// When the client was never granted a lock.
    pub(super) fn read(&self, client: &str, key: &str) -> Result<Option<Vec<u8>>, String> {
        let mut book = self.book();
        let at = TrueNs(self.now_ns().saturating_sub(book.from_ns));
        let call = book.call_of_work(client)?;
        let (event, value) = book.data.read(call, key);
        book.push(at, event);
        Ok(value)
    }

    /// Writes a key of the resource, for a client.
    ///
    /// # Errors
    /// When the client was never granted a lock.
    pub(super) fn write(
        &self,
        client: &str,
        key: &str,
        value: &[u8],
        fence: Option<u64>,
    ) -> Result<(), String> {
        let mut book = self.book();
        let at = TrueNs(self.now_ns().saturating_sub(book.from_ns));
        let call = book.call_of_work(client)?;
        for event in book.data.write(call, key, value, fence) {
            book.push(at, event);
        }
        Ok(())
    }

    /// A client has closed its last connection. If it holds a lock and tells nothing more, it leaves the lock there; if
    /// anybody is granted it later, that is a doubt.
    pub(super) fn note_gone(&self, client: &str) {
        let mut book = self.book();
        let at = TrueNs(self.now_ns().saturating_sub(book.from_ns));
        if let Some(place) = book.clients.iter().position(|known| known == client) {
            book.gone.insert(ClientId(u32::try_from(place).unwrap_or(u32::MAX)), at);
        }
    }

    /// A fault struck: a sentence, and the node by its place among nodes.
    pub(super) fn note_fault(&self, what: String, node: Option<usize>) {
        let mut book = self.book();
        let at = TrueNs(self.now_ns().saturating_sub(book.from_ns));
        let node = node.and_then(|place| u32::try_from(place).ok()).map(NodeId);
        book.push(at, EventKind::Struck { what, node });
    }

    /// A node changed a key, for a client or for itself.
    pub(super) fn note_key(&self, node: NodeId, client: Option<Option<&str>>, change: &KeyChange<'_>) {
        let mut book = self.book();
        let at = TrueNs(self.now_ns().saturating_sub(book.from_ns));
        let Book { clients, calls, keys, .. } = &mut *book;
        let known = |name: &str| clients.iter().position(|known| known == name);
        let changer = match client {
            Some(Some(name)) => match known(name).and_then(|place| u32::try_from(place).ok()) {
                Some(place) => Changer::Client(ClientId(place)),
                None => Changer::Silent(name),
            },
            Some(None) => Changer::Nameless,
            None => Changer::Node,
        };
        for event in keys.change(calls, node, changer, change) {
            book.push(at, event);
        }
    }

    /// A node's process has ended.
    pub(super) fn note_end(&self, node: usize) {
        let mut book = self.book();
        let at = TrueNs(self.now_ns().saturating_sub(book.from_ns));
        for event in book.keys.forget(NodeId(u32::try_from(node).unwrap_or(u32::MAX))) {
            book.push(at, event);
        }
    }

    /// A probe took so long to this program and back.
    pub(super) fn note_round_trip(&self, time: Duration) {
        let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let mut book = self.book();
        // What is slow before anybody tells anything, such as a machine that starts clients, makes no word late.
        if !book.clients.is_empty() {
            book.error_ns = book.error_ns.max(ns);
        }
    }

    /// Begins a new record, of a test of this name.
    pub(super) fn begin_anew(&self, name: Option<String>) {
        *self.book() = Book { name, from_ns: self.now_ns(), ..Book::default() };
    }

    /// The name of the test whose record it is, if it has one.
    pub(super) fn name(&self) -> Option<String> {
        self.book().name.clone()
    }

    /// Whether nobody told anything.
    pub(super) fn is_empty(&self) -> bool {
        self.book().clients.is_empty()
    }

    /// The history so far. Of the header only clients, locks, objects and errors are filled in here. `doubts` are
    /// reasons for which nothing is to be said to hold.
    pub(super) fn history(&self, header: Header, doubts: Vec<String>) -> History {
        let book = self.book();
        let now = TrueNs(self.now_ns().saturating_sub(book.from_ns));
        book.history(header, now, doubts)
    }
}

impl Book {
    fn tell(&mut self, at: TrueNs, client: &str, lock: Option<&str>, told: Statement) -> Result<(), String> {
        if self.events.len() >= MOST_EVENTS {
            return Err(format!(
                "the record is full, with {MOST_EVENTS} events: `DOUBLEHOLD RESET` begins a new one"
            ));
        }
        // Nobody gets a lane who has only told what cannot be.
        let id = ClientId(place_in(&self.clients, client));
        self.gone.remove(&id);
        match told {
            Statement::Asks => {
                place_of(&mut self.clients, client);
                let lock = LockId(place_of(&mut self.locks, lock.unwrap_or(THE_LOCK)));
                let call = self.calls.ask(id, lock).map_err(|before| match before {
                    Before::Asked => self.still_asks(client, lock),
                    Before::Held => self.still_holds(client, lock),
                })?;
                self.push(at, EventKind::AcquireStarted { client: id, call, lock });
            }
            Statement::Granted { lease, fence } => {
                let call = self.the_call(client, id, lock, &told, Calls::asked_by)?;
                self.calls.grant(call.id, at, lease);
                self.push(at, granted(call, at, lease, fence));
            }
            Statement::Refused => {
                let call = self.the_call(client, id, lock, &told, Calls::asked_by)?;
                self.calls.end(call.id);
                let (client, call) = (id, call.id);
                self.push(at, EventKind::Refused { client, call, why: "not granted".to_owned() });
                self.push(at, EventKind::GaveUp { client, call });
            }
            Statement::Extended { lease } => {
                let grant = self.the_call(client, id, lock, &told, Calls::held_by)?.id;
                self.calls.grant(grant, at, lease);
                let deadline = lease.map(|lease| deadline(at, lease));
                self.push(at, EventKind::Extended { client: id, grant, deadline });
            }
            Statement::Lost | Statement::Releases | Statement::Released(_) if self.has_lost(id, lock) => {}
            Statement::Lost => {
                let grant = self.the_call(client, id, lock, &told, Calls::held_by)?.id;
                self.calls.lose(grant);
                self.push(at, EventKind::ExpiryNoticed { client: id, grant });
            }
            Statement::Releases => {
                let grant = self.the_call(client, id, lock, &told, Calls::held_by)?.id;
                self.calls.release(grant);
                self.push(at, EventKind::ReleaseCalled { client: id, grant });
            }
            Statement::Released(outcome) => {
                let grant = self.the_call(client, id, lock, &told, Calls::released_by)?.id;
                self.calls.end(grant);
                self.push(at, EventKind::ReleaseReturned { client: id, grant, outcome });
            }
            Statement::Died if self.clients.iter().all(|known| known != client) => {
                return Err(format!("{client} has told nothing so far: nothing ends with it"));
            }
            Statement::Died => {
                self.calls.die(id);
                self.push(at, EventKind::Died { client: id });
            }
        }
        Ok(())
    }

    fn push(&mut self, at: TrueNs, event: EventKind) {
        self.events.push((at, event));
    }

    /// The one call of a client that a word can mean.
    fn the_call<I: Iterator<Item = Call>>(
        &self,
        client: &str,
        id: ClientId,
        lock: Option<&str>,
        told: &Statement,
        candidates: impl FnOnce(&Calls, ClientId) -> I,
    ) -> Result<Call, String> {
        let of_lock = |it: &Call| lock.is_none_or(|lock| self.lock_name(it.lock) == lock);
        let found: Vec<Call> = candidates(&self.calls, id).filter(of_lock).collect();
        match found.as_slice() {
            [call] => Ok(*call),
            [] => Err(self.misses(client, lock, told)),
            several => {
                let names: Vec<&str> = several.iter().map(|it| self.lock_name(it.lock)).collect();
                let names = suggest::list(&names);
                Err(format!("{client} might mean {names}: name the lock at the end"))
            }
        }
    }

    fn lock_name(&self, lock: LockId) -> &str {
        usize::try_from(lock.0).ok().and_then(|place| self.locks.get(place)).map_or(THE_LOCK, String::as_str)
    }

    fn client_name(&self, client: ClientId) -> &str {
        usize::try_from(client.0)
            .ok()
            .and_then(|place| self.clients.get(place))
            .map_or("somebody", String::as_str)
    }

    /// True if a client has told that a lock is lost, and holds none: it may clean up, or hear of it twice.
    fn has_lost(&self, client: ClientId, lock: Option<&str>) -> bool {
        let of_lock = |it: &Call| lock.is_none_or(|lock| self.lock_name(it.lock) == lock);
        let mut has = self.calls.held_by(client).chain(self.calls.released_by(client));
        self.calls.lost_by(client).any(|call| of_lock(&call)) && !has.any(|call| of_lock(&call))
    }

    /// The call under which a client reads and writes: what it holds, or held last.
    fn call_of_work(&self, client: &str) -> Result<Call, String> {
        let id = ClientId(place_in(&self.clients, client));
        let call = self.calls.last_granted(id);
        call.ok_or_else(|| {
            format!("{client} was never granted a lock: what it reads and writes counts under a grant")
        })
    }

    fn history(&self, mut header: Header, end: TrueNs, doubts: Vec<String>) -> History {
        header.clients.clone_from(&self.clients);
        header.locks.clone_from(&self.locks);
        header.objects = self.data.names();
        header.error_ns = self.error_ns;
        header.keys_watched = self.keys.is_any_seen();
        let nodes = header.nodes.len();
        let mut history = History::with_capacity(header, self.events.len() + 2);
        for (at, event) in &self.events {
            history.push(*at, event.clone());
        }
        for (at, client, grant) in self.calls.deadlines_passed_by(end) {
            history.push(at, EventKind::DeadlinePassed { client, grant });
        }
        for event in self.events_without_keys() {
            history.push(end, event);
        }
        for (&client, &at) in &self.gone {
            let held: Vec<Call> = self.calls.held_by(client).collect();
            for call in &held {
                history.push(at, EventKind::Abandoned { client, grant: call.id });
            }
            if !held.is_empty() && self.anybody_acts_after(at) {
                history.push(
                    end,
                    EventKind::Inconclusive { why: gone_without_a_word(self.client_name(client)) },
                );
            }
        }
        for it in self.keys.held_by_most(nodes).filter(|it| self.calls.is_asked(it.grant)) {
            let why = granted_without_a_word(self.client_name(it.client));
            history.push(end, EventKind::Inconclusive { why });
        }
        for why in doubts {
            history.push(end, EventKind::Inconclusive { why });
        }
        history.push(end, EventKind::RunEnded { outcome: RunOutcome::Completed });
        history
    }
}

impl Book {
    /// Whether it may matter that nobody knows what somebody believes from this moment on.
    fn anybody_acts_after(&self, moment: TrueNs) -> bool {
        let acts =
            |event: &EventKind| matches!(event, EventKind::Granted { .. } | EventKind::WriteApplied { .. });
        self.events.iter().any(|(at, event)| *at > moment && acts(event))
    }

    /// For each client, a lock of which nobody saw a key when it was granted, where anybody saw any.
    fn events_without_keys(&self) -> impl Iterator<Item = EventKind> {
        let unseen = self.events.iter().filter_map(|(_, event)| match event {
            EventKind::Granted { client, grant, lock, .. }
                if self.keys.is_any_seen() && !self.keys.is_seen(*grant) =>
            {
                Some((*client, *lock))
            }
            _ => None,
        });
        unseen.collect::<BTreeMap<_, _>>().into_iter().map(|(client, lock)| {
            let client = self.client_name(client);
            let why = format!(
                "{client} was granted `{}`, and no connection of that name set a string meanwhile: name its connections by \
                 CLIENT SETNAME or `DOUBLEHOLD IAM`",
                self.lock_name(lock)
            );
            EventKind::Unattributed { node: None, lock, why }
        })
    }
}

/// The place of a name, or the place that it would get.
fn place_in(names: &[String], name: &str) -> u32 {
    let place = names.iter().position(|known| known == name).unwrap_or(names.len());
    u32::try_from(place).unwrap_or(u32::MAX)
}

/// The place of a name, which gets one if it has none.
fn place_of(names: &mut Vec<String>, name: &str) -> u32 {
    let place = place_in(names, name);
    if names.iter().all(|known| known != name) {
        names.push(name.to_owned());
    }
    place
}

fn granted(call: Call, at: TrueNs, lease: Option<Duration>, fencing: Option<u64>) -> EventKind {
    let Call { id: grant, client, lock, .. } = call;
    let wall_ns = i64::try_from(at.0).unwrap_or(i64::MAX);
    EventKind::Granted {
        client,
        grant,
        lock,
        token: token(grant),
        fencing,
        deadline: lease.map(|lease| deadline(at, lease)),
        reading: Some(Reading { wall_ns, monotonic_ns: at.0, boot_ns: at.0 }),
        within: None,
    }
}

/// Stands for the lock's own token, which nobody tells.
fn token(grant: CallId) -> String {
    format!("{:02x}", grant.0)
}

fn deadline(at: TrueNs, lease: Duration) -> Deadline {
    let reading_ns = i64::try_from(u128::from(at.0) + lease.as_nanos()).unwrap_or(i64::MAX);
    Deadline { clock: ClockKind::Monotonic, reading_ns }
}
