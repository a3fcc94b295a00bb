//! An account of what clients believed: a recording client's side of a [`History`], for
//! [`judge`](doublehold_history::judge).
//!
//! A process says when it asks for a lock, holds it and gives it back; the notebook adds the true time, which no
//! process knows, and when each deadline passed. Reads and writes of what a lock protects are recorded as they are
//! ([`Notebook::record`]).
//!
//! Decision: "A belief that is reported after its deadline ends at the report" (docs/decisions/engines.md).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use doublehold_history::{
    CallId, ClientId, ClockKind, Deadline, EventKind, Header, History, LockId, Reading, ReleaseOutcome,
    RunOutcome, TrueNs,
};
use tokio::time::Instant;

use crate::process::Guest;

/// An account of what the clients of one simulation say that they do. Clones are handles to the same.
///
/// ```
/// use doublehold_turmoil::{Guests, Notebook};
/// use doublehold_history::{Predicate, ReleaseOutcome, judge};
///
/// let notebook = Notebook::new("one after the other", 7, &["a"], &["stock"]);
/// let (guests, notes) = (Guests::new(7), notebook.clone());
/// let mut sim = turmoil::Builder::new().rng_seed(7).build();
/// sim.client("a", guests.process("a", |guest| async move {
///     let holding = notes.asks(&guest, "stock").is_granted("token of a", None);
///     holding.gives_back();
///     holding.gave_back(ReleaseOutcome::Released);
///     Ok(())
/// }));
/// guests.run(&mut sim).expect("nothing fails");
/// let history = notebook.history(sim.elapsed());
/// assert_eq!(judge(&history).get(Predicate::P1).as_str(), "holds");
/// ```
#[derive(Clone)]
pub struct Notebook(Arc<Mutex<Notes>>);

struct Notes {
    history: History,
    calls: u64,
    /// The client of each grant, and the time at which its deadline passes.
    deadlines: BTreeMap<CallId, (ClientId, TrueNs)>,
}

/// A client that has asked for a lock.
pub struct Asking {
    book: Notebook,
    guest: Guest,
    client: ClientId,
    call: CallId,
    lock: LockId,
}

/// A client that believes to hold a lock.
pub struct Holding {
    book: Notebook,
    guest: Guest,
    client: ClientId,
    grant: CallId,
}

impl Notebook {
    /// An empty notebook. Clients are named as their hosts are.
    pub fn new(test: &str, seed: u64, clients: &[&str], locks: &[&str]) -> Notebook {
        let history = History::new(Header::new(test, seed, clients, locks));
        Notebook(Arc::new(Mutex::new(Notes { history, calls: 0, deadlines: BTreeMap::new() })))
    }

    /// A client is about to ask for a lock.
    ///
    /// # Panics
    /// If the notebook was not told of this client or of this lock.
    pub fn asks(&self, guest: &Guest, lock: &str) -> Asking {
        let (client, lock, call) = {
            let mut notes = self.lock();
            let header = notes.history.header();
            let client = ClientId(place(&header.clients, guest.name(), "client"));
            let lock = LockId(place(&header.locks, lock, "lock"));
            notes.calls += 1;
            (client, lock, CallId(notes.calls))
        };
        self.record(guest, EventKind::AcquireStarted { client, call, lock });
        Asking { book: self.clone(), guest: guest.clone(), client, call, lock }
    }

    /// Writes down what a process does now, as the judge reads it.
    pub fn record(&self, guest: &Guest, what: EventKind) {
        self.lock().history.push(true_ns(guest.true_time()), what);
    }

    /// Everything so far, as the history of a simulation that came to its end at `end`.
    pub fn history(&self, end: Duration) -> History {
        let notes = self.lock();
        let end = true_ns(end);
        let mut history = notes.history.clone();
        for (&grant, &(client, passes)) in &notes.deadlines {
            if passes <= end {
                history.push(passes, EventKind::DeadlinePassed { client, grant });
            }
        }
        history.push(end, EventKind::RunEnded { outcome: RunOutcome::Completed });
        history
    }

    fn lock(&self) -> MutexGuard<'_, Notes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A grant's deadline is now another.
    fn set_deadline(
        &self,
        guest: &Guest,
        client: ClientId,
        grant: CallId,
        until: Option<Instant>,
    ) -> Option<Deadline> {
        let now = true_ns(guest.true_time());
        let mut notes = self.lock();
        if let Some((client, passes)) = notes.deadlines.remove(&grant)
            && passes <= now
        {
            notes.history.push(passes, EventKind::DeadlinePassed { client, grant });
        }
        let reading = true_ns(guest.time_of(until?));
        // One that has passed already is over as soon as it is written down, and not before.
        notes.deadlines.insert(grant, (client, reading.max(now)));
        let reading_ns = i64::try_from(reading.0).unwrap_or(i64::MAX);
        Some(Deadline { clock: ClockKind::Monotonic, reading_ns })
    }
}

impl Asking {
    /// The lock was granted, and the client believes in it: until the instant its code has computed, if it computes
    /// one.
    pub fn is_granted(self, token: &str, until: Option<Instant>) -> Holding {
        let Asking { book, guest, client, call: grant, lock } = self;
        let deadline = book.set_deadline(&guest, client, grant, until);
        let token = token.bytes().map(|byte| format!("{byte:02x}")).collect();
        let reading = reading(&guest);
        book.record(
            &guest,
            EventKind::Granted {
                client,
                grant,
                lock,
                token,
                fencing: None,
                deadline,
                reading: Some(reading),
                within: None,
            },
        );
        Holding { book, guest, client, grant }
    }

    /// The lock was not granted. The client may ask again.
    pub fn is_refused(self, why: &str) {
        let what = EventKind::Refused { client: self.client, call: self.call, why: why.to_owned() };
        self.book.record(&self.guest, what);
    }

    /// The client will not ask again.
    pub fn gives_up(self) {
        self.book.record(&self.guest, EventKind::GaveUp { client: self.client, call: self.call });
    }
}

impl Holding {
    /// The lease was extended: the client's code believes in it until then.
    pub fn is_extended(&self, until: Option<Instant>) {
        let Holding { book, guest, client, grant } = self;
        let deadline = book.set_deadline(guest, *client, *grant, until);
        book.record(guest, EventKind::Extended { client: *client, grant: *grant, deadline });
    }

    /// The client's own code looked, and found its lease over: from here on it does not believe in it.
    pub fn is_over(&self) {
        let Holding { book, guest, client, grant } = self;
        book.record(guest, EventKind::ExpiryNoticed { client: *client, grant: *grant });
    }

    /// The client is about to give the lock back: from here on it does not believe in it.
    pub fn gives_back(&self) {
        let Holding { book, guest, client, grant } = self;
        book.record(guest, EventKind::ReleaseCalled { client: *client, grant: *grant });
    }

    /// Giving it back came to this.
    pub fn gave_back(self, outcome: ReleaseOutcome) {
        let Holding { book, guest, client, grant } = self;
        book.record(&guest, EventKind::ReleaseReturned { client, grant, outcome });
    }
}

fn place(names: &[String], name: &str, kind: &str) -> u32 {
    let place = names.iter().position(|known| known == name);
    let place =
        place.unwrap_or_else(|| panic!("the notebook knows no {kind} `{name}`: name it in `Notebook::new`"));
    place as u32
}

fn reading(guest: &Guest) -> Reading {
    let now = true_ns(guest.true_time()).0;
    Reading { wall_ns: guest.wall_us().saturating_mul(1000), monotonic_ns: now, boot_ns: now }
}

fn true_ns(time: Duration) -> TrueNs {
    TrueNs(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}
