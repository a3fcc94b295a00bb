//! A client's lane: waiting as dots, its claim as a bar that fades when its own deadline has passed, writes as letters.

use std::collections::BTreeMap;

use doublehold_history::{CallId, Claim, ClientId, EventKind, LockId, ObjectId, TrueNs};
use doublehold_scenarios::scenario::HostIndex;

use super::pen::Pen;
use crate::picture::facts::Facts;
use crate::picture::legend::Sign;
use crate::picture::story::{Story, StoryEvent};
use crate::style::Paint;

/// What one client did with one lock.
pub(super) struct ClientLane {
    host: HostIndex,
    lock: LockId,
    /// When it waited for the lock, and the acquire call that ended the wait.
    waits: Vec<(TrueNs, TrueNs, Option<CallId>)>,
    claims: Vec<Claim>,
    writes: Vec<(TrueNs, Sign, CallId)>,
    /// When each write was sent, and when it arrived.
    journeys: Vec<(TrueNs, TrueNs, CallId)>,
}

/// Every client's lanes, in the scenario's order, each with one for every lock.
pub(super) fn gather(facts: &Facts<'_>) -> Vec<Vec<ClientLane>> {
    let of_client = |host: &HostIndex| facts.locks().map(|lock| Gathering::new(*host, lock)).collect();
    let mut lanes: Vec<Vec<Gathering>> = facts.run.clients.iter().map(of_client).collect();
    let place = |client: ClientId| usize::try_from(client.0).unwrap_or(usize::MAX);
    for claim in &facts.claims {
        let lanes = lanes.get_mut(place(claim.client));
        if let Some(lane) = lanes.and_then(|lanes| lanes.get_mut(claim.lock.0 as usize)) {
            lane.lane.claims.push(claim.clone());
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
    let finished =
        |lanes: Vec<Gathering>| lanes.into_iter().map(|lane| lane.finish(facts.run.ended)).collect();
    lanes.into_iter().map(finished).collect()
}

/// A lane as far as the history has been read.
struct Gathering {
    lane: ClientLane,
    waiting: Option<TrueNs>,
    sent: BTreeMap<(CallId, ObjectId), TrueNs>,
}

impl Gathering {
    fn new(host: HostIndex, lock: LockId) -> Gathering {
        let lane = ClientLane {
            host,
            lock,
            waits: Vec::new(),
            claims: Vec::new(),
            writes: Vec::new(),
            journeys: Vec::new(),
        };
        Gathering { lane, waiting: None, sent: BTreeMap::new() }
    }

    fn see(&mut self, at: TrueNs, what: &EventKind, facts: &Facts<'_>) {
        match what {
            EventKind::AcquireStarted { .. } => {
                self.waiting.get_or_insert(at);
            }
            EventKind::Granted { .. }
            | EventKind::GaveUp { .. }
            | EventKind::Died { .. }
            | EventKind::Restarted { .. } => {
                self.lane.waits.extend(self.waiting.take().map(|since| (since, at, what.call())));
            }
            EventKind::WriteSent { grant, object, .. } => {
                self.sent.insert((*grant, *object), at);
            }
            EventKind::WriteApplied { grant, object, version, .. } => {
                let sign =
                    if facts.stale(*grant, *version).is_some() { Sign::WroteLate } else { Sign::Wrote };
                self.arrived(at, sign, *grant, *object);
            }
            EventKind::WriteRefused { grant, object, .. } => {
                self.arrived(at, Sign::WriteRefused, *grant, *object);
            }
            _ => {}
        }
    }

    fn arrived(&mut self, at: TrueNs, sign: Sign, grant: CallId, object: ObjectId) {
        self.lane.writes.push((at, sign, grant));
        self.lane.journeys.extend(self.sent.remove(&(grant, object)).map(|sent| (sent, at, grant)));
    }

    /// Waits that did not end, and writes that never arrived, go on until the run ends.
    fn finish(mut self, ended: TrueNs) -> ClientLane {
        self.lane.waits.extend(self.waiting.map(|since| (since, ended, None)));
        self.lane.journeys.extend(self.sent.iter().map(|((grant, _), sent)| (*sent, ended, *grant)));
        self.lane
    }
}

impl ClientLane {
    /// Every instant at which something that matters begins or ends.
    pub(super) fn moments(&self, facts: &Facts<'_>) -> Vec<TrueNs> {
        let waits = self.waits.iter().filter(|(_, _, grant)| grant.is_none_or(|grant| facts.matters(grant)));
        let mut moments: Vec<TrueNs> = waits.flat_map(|&(from, to, _)| [from, to]).collect();
        let claims = || self.claims.iter().filter(|claim| facts.matters(claim.grant));
        moments.extend(claims().flat_map(|claim| [claim.span.from, claim.span.to]));
        moments.extend(claims().flat_map(|claim| claim.valid.iter().map(|span| span.to)));
        moments.extend(self.writes.iter().filter(|(_, _, grant)| facts.matters(*grant)).map(|(at, ..)| *at));
        moments.extend(
            self.journeys.iter().filter(|(_, _, grant)| facts.matters(*grant)).map(|(from, ..)| *from),
        );
        moments
    }

    pub(super) fn draw(&self, pen: &mut Pen<'_>, facts: &Facts<'_>, story: &Story, place: usize) {
        let paint = Paint::Client(place);
        pen.row(&facts.label_for(&facts.label(self.host), self.lock), paint);
        for &(from, to, _) in &self.waits {
            pen.fill(from, to, Sign::Asks, Paint::Dim);
        }
        for claim in &self.claims {
            // What no valid span covers is past the deadline. A claim given back at once was never late.
            let late = claim.valid.as_slice() != [claim.span] && !claim.span.is_empty();
            let sign = if late { Sign::Overdue } else { Sign::Holds };
            pen.fill(claim.span.from, claim.span.to, sign, paint);
            for span in &claim.valid {
                pen.fill(span.from, span.to, Sign::Holds, paint);
            }
        }
        let refused = |event: &&StoryEvent| event.refused == Some(self.lock) && event.host == Some(self.host);
        for event in story.events.iter().filter(refused) {
            pen.fill(event.at, event.at, Sign::Refused, paint);
        }
        for &(sent, arrived, _) in &self.journeys {
            if pen.column(arrived) > pen.column(sent) + 1 {
                pen.fill(sent, sent, Sign::Sent, paint);
            }
        }
        for &(at, sign, _) in &self.writes {
            let paint = if sign == Sign::Wrote { Paint::Strong } else { Paint::Bad };
            pen.fill(at, at, sign, paint);
        }
    }
}
