//! Notes of a run that white-box rules ask: the deadlines that locks computed, the ends that keys were given, and the
//! requests that were sent. Kept for reports alone: a run that is only judged pays nothing for it.
//!
//! A deadline for which its client never waited, and the end of a key that was deleted before, have a moment in true
//! time all the same. Where the run came to it, it is known. Where the run ended earlier, it is computed at the rate at
//! which the host's clock had run since it was read first.
//!
//! Assumes for that that no fault struck the clock: whoever asks looks at the run's faults. Not counted as memory of
//! the run, which would end elsewhere than where it is only judged: so there is a bound of its own.

use std::collections::BTreeMap;
use std::sync::Arc;

use doublehold_history::{CallId, ClockKind, Deadline, Reading, TrueNs};

use super::watches::gone_at;
use crate::model::cast::Cast;
use crate::model::scenario::HostIndex;
use crate::report::{KeyLease, LeasedKey, Leases, SentRequest, StatedDeadline};
use crate::run::keys::attribution::{Attribution, ConnectionNumber, LockMark};
use crate::run::keys::key_lanes::{KeyLanes, Stretch};

/// How many notes are kept. A run of the usual worlds has a few hundred, and ten thousand take a megabyte.
const MOST: usize = 10_000;

/// What was written down.
#[derive(Default)]
pub(super) struct Account {
    notes: usize,
    deadlines: Vec<DeadlineNote>,
    expiries: BTreeMap<Stretch, (HostIndex, Vec<ExpiryNote>)>,
    sent: Vec<(TrueNs, ConnectionNumber, CallId)>,
    renewals: Vec<(TrueNs, CallId)>,
    /// The node at the end of each connection, once a request that came on it changed a key.
    nodes: BTreeMap<ConnectionNumber, HostIndex>,
    /// The first and the last reading of each host's clocks.
    readings: BTreeMap<HostIndex, Readings>,
}

struct DeadlineNote {
    client: HostIndex,
    grant: CallId,
    deadline: Deadline,
    stated: TrueNs,
    passed: Option<TrueNs>,
}

/// From when on a key was to end, at which time of its node's clock.
struct ExpiryNote {
    from: TrueNs,
    expires_at_ms: Option<i64>,
    time_up: Option<TrueNs>,
}

#[derive(Clone, Copy)]
struct Readings {
    first: (TrueNs, Reading),
    last: (TrueNs, Reading),
}

impl Account {
    /// A lock computed a deadline. The number of the note.
    pub(super) fn note_deadline(
        &mut self,
        (client, grant): (HostIndex, CallId),
        deadline: Deadline,
        now: TrueNs,
        reading: impl FnOnce() -> Reading,
    ) -> Option<usize> {
        self.take_note(1)?;
        self.read_first(client, now, reading);
        self.deadlines.push(DeadlineNote { client, grant, deadline, stated: now, passed: None });
        Some(self.deadlines.len() - 1)
    }

    /// The deadline of this note passed on its client's clock, whether or not anybody still believed in it.
    pub(super) fn note_passed(&mut self, note: usize, now: TrueNs) {
        self.deadlines[note].passed = Some(now);
    }

    /// A key is to end at this time of its node's clock from now on; `None`: never.
    pub(super) fn note_expiries(
        &mut self,
        keys: &[Stretch],
        node: HostIndex,
        expires_at_ms: Option<i64>,
        now: TrueNs,
        reading: impl FnOnce() -> Reading,
    ) {
        if self.take_note(keys.len()).is_none() {
            return;
        }
        self.read_first(node, now, reading);
        for key in keys {
            let (_, notes) = self.expiries.entry(*key).or_insert_with(|| (node, Vec::new()));
            notes.push(ExpiryNote { from: now, expires_at_ms, time_up: None });
        }
    }

    /// The time of a key is up by its node's clock, whether or not it is still there.
    pub(super) fn note_time_up(&mut self, key: Stretch, expires_at_ms: i64, now: TrueNs) {
        let notes = self.expiries.get_mut(&key).into_iter().flat_map(|(_, notes)| notes);
        let is_it = |it: &&mut ExpiryNote| it.expires_at_ms == Some(expires_at_ms) && it.time_up.is_none();
        notes.filter(is_it).for_each(|it| it.time_up = Some(now));
    }

    /// Requests were written to a connection, each by this call.
    pub(super) fn note_sent(&mut self, now: TrueNs, connection: ConnectionNumber, calls: &[Option<CallId>]) {
        if self.take_note(calls.len()).is_none() {
            return;
        }
        self.sent.extend(calls.iter().flatten().map(|call| (now, connection, *call)));
    }

    /// A connection leads to this node.
    pub(super) fn note_node(&mut self, connection: ConnectionNumber, node: HostIndex) {
        self.nodes.insert(connection, node);
    }

    /// A renewal begins beside the holder, also of a lease that was given back.
    pub(super) fn note_renewal(&mut self, now: TrueNs, call: CallId) {
        if self.take_note(1).is_some() {
            self.renewals.push((now, call));
        }
    }

    /// The run is over: what the clocks show that count.
    pub(super) fn close(&mut self, now: TrueNs, reading: impl Fn(HostIndex) -> Reading) {
        self.readings.iter_mut().for_each(|(host, readings)| readings.last = (now, reading(*host)));
    }

    /// What rules ask.
    pub(super) fn leases(&self, lanes: &KeyLanes, told: &Attribution, cast: &Cast) -> Leases {
        if self.is_full() {
            return Leases { is_cut_short: true, ..Leases::default() };
        }
        // Many keys may be marked alike, by many calls.
        let mut marked: BTreeMap<&LockMark, Arc<[CallId]>> = BTreeMap::new();
        let stated = |it: &DeadlineNote| StatedDeadline {
            client: it.client,
            grant: it.grant,
            stated: it.stated,
            passes: it.passed.unwrap_or_else(|| self.shows(it.client, it.deadline)),
        };
        let key = |(key, (node, notes)): (&Stretch, &(HostIndex, Vec<ExpiryNote>))| {
            let (span, mark) = (lanes.span(*key, told, cast)?, lanes.mark(*key));
            let calls = marked.entry(mark).or_insert_with(|| told.markers(mark).collect()).clone();
            let leases = notes.iter().map(|note| self.lease(*node, note)).collect();
            Some(LeasedKey { span, calls, leases })
        };
        let sent = |(at, connection, call): &(TrueNs, ConnectionNumber, CallId)| SentRequest {
            at: *at,
            call: *call,
            node: self.nodes.get(connection).copied(),
        };
        Leases {
            deadlines: self.deadlines.iter().map(stated).collect(),
            keys: self.expiries.iter().filter_map(key).collect(),
            sent: self.sent.iter().map(sent).collect(),
            renewals: self.renewals.clone(),
            is_cut_short: false,
        }
    }

    fn lease(&self, node: HostIndex, note: &ExpiryNote) -> KeyLease {
        let computed = |at| {
            let deadline = Deadline { clock: ClockKind::Wall, reading_ns: gone_at(at) };
            note.time_up.unwrap_or_else(|| self.shows(node, deadline))
        };
        KeyLease { from: note.from, ends: note.expires_at_ms.map(computed) }
    }

    /// The true time at which a host's clock shows this, at the rate at which it ran.
    fn shows(&self, host: HostIndex, deadline: Deadline) -> TrueNs {
        let Some(Readings { first, last }) = self.readings.get(&host) else { return TrueNs(u64::MAX) };
        let of = |reading: &Reading| reading.clock_ns(deadline.clock);
        let (passed, shown) = (i128::from(last.0.since(first.0)), of(&last.1) - of(&first.1));
        let left = i128::from(deadline.reading_ns) - of(&last.1);
        let left = if shown > 0 && shown != passed { left * passed / shown } else { left };
        TrueNs(u64::try_from(i128::from(last.0.0) + left).unwrap_or(if left < 0 { 0 } else { u64::MAX }))
    }

    /// Counts so many notes, if there is room for them. Once there is not, nothing that is asked has an answer.
    fn take_note(&mut self, count: usize) -> Option<()> {
        self.notes += count;
        (!self.is_full()).then_some(())
    }

    fn is_full(&self) -> bool {
        self.notes > MOST
    }

    fn read_first(&mut self, host: HostIndex, now: TrueNs, reading: impl FnOnce() -> Reading) {
        self.readings.entry(host).or_insert_with(|| {
            let first = (now, reading());
            Readings { first, last: first }
        });
    }
}
