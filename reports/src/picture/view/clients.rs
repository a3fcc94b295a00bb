//! What each client did with each lock, gathered from the history.

use std::collections::BTreeMap;

use doublehold_history::{CallId, Claim, ClientId, Deadline, EventKind, LockId, ObjectId, TrueNs};
use doublehold_scenarios::scenario::HostIndex;

use super::lanes::{ClaimBar, ClientLane, DeadlineMark, Wait, WriteFate, WriteMark};
use crate::picture::facts::Facts;

/// Every client's lanes, in the scenario's order, each with one for every lock.
pub(super) fn lanes(facts: &Facts<'_>) -> Vec<ClientLane> {
    let of_client = |host: &HostIndex| facts.locks().map(|lock| Gathering::new(*host, lock, facts)).collect();
    let mut lanes: Vec<Vec<Gathering>> = facts.run.clients.iter().map(of_client).collect();
    let place = |client: ClientId| usize::try_from(client.0).unwrap_or(usize::MAX);
    for claim in &facts.claims {
        let lanes = lanes.get_mut(place(claim.client));
        if let Some(lane) = lanes.and_then(|lanes| lanes.get_mut(claim.lock.0 as usize)) {
            lane.claims.insert(claim.grant, lane.lane.claims.len());
            lane.lane.claims.push(bar(claim));
        }
    }
    for event in facts.run.history.events() {
        let Some(lanes) = event.what.client().and_then(|client| lanes.get_mut(place(client))) else {
            continue;
        };
        match event.what.call().map(|call| facts.lock_of(call)) {
            Some(lock) => {
                lanes
                    .iter_mut()
                    .filter(|it| it.lane.lock == lock)
                    .for_each(|lane| lane.see(event.at, &event.what, facts));
            }
            // The end of a process is the end of all its waits.
            None => lanes.iter_mut().for_each(|lane| lane.see(event.at, &event.what, facts)),
        }
    }
    lanes.into_iter().flatten().map(|lane| lane.finish(facts.run.ended)).collect()
}

/// `14.020 s on c1's monotonic clock`.
pub(super) fn deadline_words(deadline: Deadline, client: &str) -> String {
    let reading = deadline.clock.format_reading(deadline.reading_ns.into());
    format!("{reading} on {client}'s {} clock", deadline.clock.as_str())
}

fn bar(claim: &Claim) -> ClaimBar {
    ClaimBar {
        grant: claim.grant,
        from: claim.span.from,
        to: claim.span.to,
        open_ended: claim.span.open_ended,
        valid: claim.valid.iter().map(|span| (span.from, span.to)).collect(),
        deadlines: Vec::new(),
    }
}

/// A lane as far as the history has been read.
struct Gathering {
    lane: ClientLane,
    /// Where each grant's claim is in the lane.
    claims: BTreeMap<CallId, usize>,
    waiting: Option<TrueNs>,
    sent: BTreeMap<(CallId, ObjectId), TrueNs>,
}

impl Gathering {
    fn new(host: HostIndex, lock: LockId, facts: &Facts<'_>) -> Gathering {
        let lane = ClientLane {
            host,
            lock,
            label: facts.label_for(&facts.label(host), lock),
            waits: Vec::new(),
            refusals: Vec::new(),
            claims: Vec::new(),
            writes: Vec::new(),
        };
        Gathering { lane, claims: BTreeMap::new(), waiting: None, sent: BTreeMap::new() }
    }

    fn see(&mut self, at: TrueNs, what: &EventKind, facts: &Facts<'_>) {
        match what {
            EventKind::AcquireStarted { .. } => {
                self.waiting.get_or_insert(at);
            }
            EventKind::Refused { .. } | EventKind::AcquireUnknown { .. } => self.lane.refusals.push(at),
            EventKind::Granted { .. }
            | EventKind::GaveUp { .. }
            | EventKind::Died { .. }
            | EventKind::Restarted { .. } => {
                let waited = self.waiting.take();
                self.lane.waits.extend(waited.map(|from| Wait { from, to: at, call: what.call() }));
                if let EventKind::Granted { grant, deadline, .. } = what {
                    self.deadline(at, *grant, *deadline, facts);
                }
            }
            EventKind::Extended { grant, deadline, .. } => self.deadline(at, *grant, *deadline, facts),
            EventKind::DeadlinePassed { grant, .. } => {
                let claim = self.claim(*grant);
                claim.and_then(|it| it.deadlines.last_mut()).into_iter().for_each(|it| it.passed = Some(at));
            }
            EventKind::WriteSent { grant, object, .. } => {
                self.sent.insert((*grant, *object), at);
            }
            EventKind::WriteApplied { grant, object, version, .. } => {
                let late = facts.stale(*grant, *version).is_some();
                self.record_arrival(
                    at,
                    if late { WriteFate::Late } else { WriteFate::Applied },
                    *grant,
                    *object,
                );
            }
            EventKind::WriteRefused { grant, object, .. } => {
                self.record_arrival(at, WriteFate::Refused, *grant, *object);
            }
            EventKind::WriteLost { grant, object, acknowledged: true, .. } => {
                self.record_arrival(at, WriteFate::Lost, *grant, *object);
            }
            _ => {}
        }
    }

    fn claim(&mut self, grant: CallId) -> Option<&mut ClaimBar> {
        self.claims.get(&grant).map(|place| &mut self.lane.claims[*place])
    }

    fn deadline(&mut self, set: TrueNs, grant: CallId, deadline: Option<Deadline>, facts: &Facts<'_>) {
        let host = self.lane.host;
        if let (Some(claim), Some(deadline)) = (self.claim(grant), deadline) {
            let words = deadline_words(deadline, &facts.host(host));
            claim.deadlines.push(DeadlineMark { set, deadline, words, passed: None });
        }
    }

    fn record_arrival(&mut self, at: TrueNs, fate: WriteFate, grant: CallId, object: ObjectId) {
        let sent = self.sent.remove(&(grant, object));
        self.lane.writes.push(WriteMark { grant, sent, arrived: Some(at), fate });
    }

    /// Waits that did not end go on until the run ends.
    fn finish(mut self, ended: TrueNs) -> ClientLane {
        self.lane.waits.extend(self.waiting.map(|from| Wait { from, to: ended, call: None }));
        let under_way = |((grant, _), sent): (&(CallId, ObjectId), &TrueNs)| WriteMark {
            grant: *grant,
            sent: Some(*sent),
            arrived: None,
            fate: WriteFate::UnderWay,
        };
        self.lane.writes.extend(self.sent.iter().map(under_way));
        self.lane
    }
}
