//! Random histories: valid (they could be read from a file), small, and dense in ties, so that few of them
//! are boring. True time is a handful of instants; the naive checks look at each cell `[t, t + 1)` by itself.

use doublehold_history::{
    Bounds, CallId, ClientId, ClockKind, Deadline, Event, EventKind, Header, History, KeyOp, LockId, NodeId,
    ObjectId, Reading, ReleaseOutcome, RunOutcome, TrueNs,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// The last instant of a random history.
pub(crate) const END: u64 = 14;
/// How many acquire calls a random history may have.
pub(crate) const GRANTS: u64 = 9;
const CLIENTS: u64 = 3;
const LOCKS: u64 = 2;
const OBJECTS: u64 = 2;

/// So many cases, the same ones every time unless `PROPTEST_RNG_SEED` asks for others. A failure prints the
/// whole shrunk history, which is worth more than its seed in a file.
pub(crate) fn cases(cases: u32) -> ProptestConfig {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) };
    match config.rng_seed {
        RngSeed::Random => ProptestConfig { rng_seed: RngSeed::Fixed(20_160_208), ..config },
        RngSeed::Fixed(_) => config,
    }
}

pub(crate) fn client_of(grant: CallId) -> ClientId {
    ClientId((grant.0 % CLIENTS) as u32)
}

pub(crate) fn lock_of(grant: CallId) -> LockId {
    LockId((grant.0 / CLIENTS % LOCKS) as u32)
}

/// What one event is made from. `pick` says what kind it is, the rest what is in it, if that makes sense.
#[derive(Clone, Debug)]
struct Raw {
    at: u64,
    pick: u8,
    grant: u64,
    object: u32,
    other: u64,
    flag: bool,
}

prop_compose! {
    fn raw()(at in 0..END, pick in 0..100u8, grant in 0..GRANTS, object in 0..OBJECTS as u32, other in 0..8u64, flag: bool)
        -> Raw { Raw { at, pick, grant, object, other, flag } }
}

/// Histories about everything, of up to `events` events, with and without bounds, ended in any way.
pub(crate) fn histories(events: usize) -> impl Strategy<Value = History> {
    let outcome = prop::sample::select(vec![
        None,
        Some(RunOutcome::Completed),
        Some(RunOutcome::Stalled),
        Some(RunOutcome::TimeBudget),
        Some(RunOutcome::MemoryBudget),
    ]);
    let bound = || prop::option::of(0..6u64);
    let counted_from = prop_oneof![Just(0), 0..=END];
    let bounds = (bound(), bound(), counted_from).prop_map(
        |(obtain_within_ns, obtain_free_within_ns, counted_from_ns)| Bounds {
            obtain_within_ns,
            obtain_free_within_ns,
            counted_from_ns,
        },
    );
    (prop::collection::vec(raw(), 0..events), outcome, bounds).prop_map(|(mut raws, outcome, bounds)| {
        raws.sort_by_key(|raw| raw.at);
        let mut builder = Builder::new(bounds);
        for raw in &raws {
            let what = builder.make(raw);
            builder.history.push(TrueNs(raw.at), what);
        }
        if let Some(outcome) = outcome {
            builder.history.push(TrueNs(END), EventKind::RunEnded { outcome });
        }
        builder.history
    })
}

struct Builder {
    history: History,
    started: Vec<CallId>,
    granted: Vec<CallId>,
    versions: [u64; OBJECTS as usize],
    /// What each grant last read of each object.
    read: [[Option<u64>; OBJECTS as usize]; GRANTS as usize],
}

impl Builder {
    fn new(bounds: Bounds) -> Self {
        let mut header = Header::new("random", 1, &["c1", "c2", "c3"], &["stock", "till"]);
        header.nodes = vec!["A".to_owned()];
        header.keys_watched = bounds == Bounds::default();
        header.objects = vec!["x".to_owned(), "y".to_owned()];
        header.bounds = bounds;
        Self {
            history: History::new(header),
            started: Vec::new(),
            granted: Vec::new(),
            versions: [0; OBJECTS as usize],
            read: [[None; OBJECTS as usize]; GRANTS as usize],
        }
    }

    fn make(&mut self, raw: &Raw) -> EventKind {
        let grant = CallId(raw.grant);
        let client = client_of(grant);
        if raw.pick < 5 {
            return if raw.flag { EventKind::Died { client } } else { EventKind::Restarted { client } };
        }
        if raw.pick < 10 {
            return EventKind::Clocks { client, reading: reading(raw.other) };
        }
        if !self.started.contains(&grant) {
            self.started.push(grant);
            return EventKind::AcquireStarted { client, call: grant, lock: lock_of(grant) };
        }
        let why = "because".to_owned();
        match raw.pick {
            // Not always: a deadline may pass, or a client give up, before the grant.
            10..40 if !self.granted.contains(&grant) && raw.other < 6 => self.grant(raw, grant),
            10..13 => EventKind::Refused { client, call: grant, why },
            13..16 => EventKind::AcquireUnknown { client, call: grant, why },
            16..24 => EventKind::DeadlinePassed { client, grant },
            24..28 => EventKind::ExpiryNoticed { client, grant },
            28..36 => EventKind::Extended { client, grant, deadline: deadline(raw) },
            36..38 => EventKind::ExtendFailed { client, grant, why },
            38..48 => EventKind::ReleaseCalled { client, grant },
            48..50 => EventKind::Abandoned { client, grant },
            50..52 => EventKind::ReleaseReturned { client, grant, outcome: ReleaseOutcome::NotOwner },
            52..57 => EventKind::GaveUp { client, call: grant },
            57..61 => self.touch(raw, grant),
            61 => EventKind::Unattributed { node: Some(NodeId(0)), lock: lock_of(grant), why },
            _ => self.data(raw, grant),
        }
    }

    fn grant(&mut self, raw: &Raw, grant: CallId) -> EventKind {
        self.granted.push(grant);
        EventKind::Granted {
            client: client_of(grant),
            grant,
            lock: lock_of(grant),
            token: format!("{:02x}", grant.0),
            fencing: raw.flag.then_some(raw.other),
            deadline: deadline(raw),
            reading: Some(reading(raw.at)),
            within: None,
        }
    }

    fn touch(&self, raw: &Raw, by: CallId) -> EventKind {
        let held = self.started[raw.other as usize % self.started.len()];
        let op = if raw.flag { KeyOp::Release } else { KeyOp::Extend };
        EventKind::KeyTouched { client: client_of(by), node: NodeId(0), lock: lock_of(by), by, held, op }
    }

    fn data(&mut self, raw: &Raw, grant: CallId) -> EventKind {
        let (client, object, slot) = (client_of(grant), ObjectId(raw.object), raw.object as usize);
        // Sometimes blind, and sometimes based on what the client read under its grant before or after this one.
        let reader = if raw.other == 2 { (raw.grant + CLIENTS) % GRANTS } else { raw.grant };
        let read = self.read[reader as usize][slot];
        let based_on = if raw.other == 0 { None } else { read };
        match raw.pick {
            62..78 => {
                // Mostly the current version, sometimes an old one, as a stale replica would answer.
                let version =
                    if raw.other == 1 { self.versions[slot].saturating_sub(1) } else { self.versions[slot] };
                self.read[raw.grant as usize][slot] = Some(version);
                EventKind::ReadDone { client, grant, object, version, value: raw.other }
            }
            78..84 => EventKind::WriteSent { client, grant, object, based_on },
            84..97 => {
                self.versions[slot] += 1;
                let version = self.versions[slot];
                EventKind::WriteApplied {
                    client,
                    grant,
                    object,
                    version,
                    based_on,
                    value: raw.other,
                    fencing: None,
                }
            }
            _ => {
                let why = "stale".to_owned();
                EventKind::WriteRefused {
                    client,
                    grant,
                    object,
                    why,
                    fencing: Some(1),
                    highest_seen: Some(2),
                }
            }
        }
    }
}

fn deadline(raw: &Raw) -> Option<Deadline> {
    let clocks = [ClockKind::Wall, ClockKind::Monotonic, ClockKind::Boot];
    let clock = *clocks.get(raw.other as usize)?;
    // Sometimes already past when acquire returns.
    Some(Deadline { clock, reading_ns: if raw.flag { raw.at as i64 } else { END as i64 } })
}

fn reading(at: u64) -> Reading {
    Reading { wall_ns: at as i64 - 2, monotonic_ns: at, boot_ns: at + 2 }
}

/// The event that granted this grant, with its place.
pub(crate) fn granted(events: &[Event], grant: CallId) -> Option<(usize, TrueNs)> {
    events.iter().enumerate().find_map(|(place, event)| match event.what {
        EventKind::Granted { grant: this, .. } if this == grant => Some((place, event.at)),
        _ => None,
    })
}

/// The place of the event that ended this grant's claim, if one did.
pub(crate) fn claim_end(events: &[Event], grant: CallId) -> Option<usize> {
    let (start, _) = granted(events, grant)?;
    (start + 1..events.len()).find(|&place| match events[place].what {
        EventKind::ReleaseCalled { grant: this, .. }
        | EventKind::ExpiryNoticed { grant: this, .. }
        | EventKind::Abandoned { grant: this, .. } => this == grant,
        EventKind::Died { client } | EventKind::Restarted { client } => client == client_of(grant),
        _ => false,
    })
}

/// Whether the claim covers the cell `[t, t + 1)`.
pub(crate) fn claims_cell(history: &History, grant: CallId, t: u64) -> bool {
    let events = history.events();
    let Some((_, from)) = granted(events, grant) else { return false };
    let to = claim_end(events, grant).map_or(history.end(), |place| events[place].at);
    from.0 <= t && t < to.0
}
