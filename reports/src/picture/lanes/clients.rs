//! A client's lane: waiting as dots, its claim as a bar that fades when its own deadline has passed, writes as letters.

use std::collections::BTreeMap;

use doublehold_history::{CallId, Claim, ClientId, EventKind, TrueNs};
use doublehold_scenarios::scenario::HostIndex;

use super::pen::Pen;
use crate::picture::facts::Facts;
use crate::picture::legend::Sign;
use crate::picture::story::Story;
use crate::style::Paint;

/// What one client did.
pub(super) struct ClientLane {
    pub(super) host: HostIndex,
    /// When it waited for the lock, and the acquire call that ended the wait.
    waits: Vec<(TrueNs, TrueNs, Option<CallId>)>,
    claims: Vec<Claim>,
    writes: Vec<(TrueNs, Sign, CallId)>,
    /// When each write was sent, and when it arrived.
    journeys: Vec<(TrueNs, TrueNs, CallId)>,
}

/// Every client's lane, in the scenario's order.
pub(super) fn gather(facts: &Facts<'_>) -> Vec<ClientLane> {
    let mut lanes: Vec<Gathering> = facts.run.clients.iter().map(|host| Gathering::new(*host)).collect();
    let place = |client: ClientId| usize::try_from(client.0).unwrap_or(usize::MAX);
    for claim in &facts.claims {
        if let Some(lane) = lanes.get_mut(place(claim.client)) {
            lane.lane.claims.push(claim.clone());
        }
    }
    for event in facts.run.history.events() {
        if let Some(lane) = event.what.client().and_then(|client| lanes.get_mut(place(client))) {
            lane.see(event.at, &event.what, facts);
        }
    }
    lanes.into_iter().map(|lane| lane.finish(facts.run.ended)).collect()
}

/// A lane as far as the history has been read.
struct Gathering {
    lane: ClientLane,
    waiting: Option<TrueNs>,
    sent: BTreeMap<CallId, TrueNs>,
}

impl Gathering {
    fn new(host: HostIndex) -> Gathering {
        let lane = ClientLane {
            host,
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
            EventKind::WriteSent { grant, .. } => {
                self.sent.insert(*grant, at);
            }
            EventKind::WriteApplied { grant, version, .. } => {
                let sign =
                    if facts.stale(*grant, *version).is_some() { Sign::WroteLate } else { Sign::Wrote };
                self.arrived(at, sign, *grant);
            }
            EventKind::WriteRefused { grant, .. } => self.arrived(at, Sign::WriteRefused, *grant),
            _ => {}
        }
    }

    fn arrived(&mut self, at: TrueNs, sign: Sign, grant: CallId) {
        self.lane.writes.push((at, sign, grant));
        self.lane.journeys.extend(self.sent.remove(&grant).map(|sent| (sent, at, grant)));
    }

    /// Waits that did not end, and writes that never arrived, go on until the run ends.
    fn finish(mut self, ended: TrueNs) -> ClientLane {
        self.lane.waits.extend(self.waiting.map(|since| (since, ended, None)));
        self.lane.journeys.extend(self.sent.iter().map(|(grant, sent)| (*sent, ended, *grant)));
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
        pen.row(&facts.label(self.host), paint);
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
        for event in story.events.iter().filter(|event| event.refusal && event.host == Some(self.host)) {
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
