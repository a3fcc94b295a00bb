//! A client's lane: waiting as dots, its claim as a bar that fades when its own deadline has passed, writes as letters.

use std::collections::BTreeMap;

use doublehold_history::{CallId, Claim, ClientId, EventKind, TrueNs};
use doublehold_scenarios::scenario::HostIndex;

use super::Used;
use crate::picture::axis::Axis;
use crate::picture::canvas::Canvas;
use crate::picture::facts::Facts;
use crate::picture::legend::Sign;
use crate::picture::story::Story;
use crate::style::{Paint, Style};

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
    let clients = facts.report.scenario.clients.iter().zip(0..);
    clients.map(|(plan, id)| gather_one(facts, plan.host, ClientId(id))).collect()
}

fn gather_one(facts: &Facts<'_>, host: HostIndex, client: ClientId) -> ClientLane {
    let claims = facts.claims.iter().filter(|claim| claim.client == client).cloned().collect();
    let mut lane = ClientLane { host, waits: Vec::new(), claims, writes: Vec::new(), journeys: Vec::new() };
    let (mut waiting, mut sent) = (None, BTreeMap::new());
    let of_client = facts.report.history.events().iter().filter(|event| event.what.client() == Some(client));
    for event in of_client {
        match &event.what {
            EventKind::AcquireStarted { .. } => {
                waiting.get_or_insert(event.at);
            }
            EventKind::Granted { .. }
            | EventKind::GaveUp { .. }
            | EventKind::Died { .. }
            | EventKind::Restarted { .. } => {
                lane.waits.extend(waiting.take().map(|since| (since, event.at, event.what.call())));
            }
            EventKind::WriteSent { grant, .. } => {
                sent.insert(*grant, event.at);
            }
            EventKind::WriteApplied { grant, version, .. } => {
                let sign =
                    if facts.stale(*grant, *version).is_some() { Sign::WroteLate } else { Sign::Wrote };
                lane.arrived(event.at, sign, *grant, sent.remove(grant));
            }
            EventKind::WriteRefused { grant, .. } => {
                lane.arrived(event.at, Sign::WriteRefused, *grant, sent.remove(grant));
            }
            _ => {}
        }
    }
    lane.waits.extend(waiting.map(|since| (since, facts.report.ended, None)));
    lane.lost(sent, facts);
    lane
}

impl ClientLane {
    fn arrived(&mut self, at: TrueNs, sign: Sign, grant: CallId, sent: Option<TrueNs>) {
        self.writes.push((at, sign, grant));
        self.journeys.extend(sent.map(|sent| (sent, at, grant)));
    }

    /// Writes that never arrived are on their way until the run ends.
    fn lost(&mut self, sent: BTreeMap<CallId, TrueNs>, facts: &Facts<'_>) {
        self.journeys.extend(sent.iter().map(|(grant, sent)| (*sent, facts.report.ended, *grant)));
    }

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

    #[expect(
        clippy::too_many_arguments,
        reason = "the canvas, what to draw on it, and where: none of them is optional"
    )]
    pub(super) fn draw(
        &self,
        canvas: &mut Canvas,
        axis: &Axis,
        story: &Story,
        number: usize,
        facts: &Facts<'_>,
        style: &Style,
        used: &mut Used,
    ) {
        let paint = Paint::Client(number);
        let row = canvas.row(&facts.host(self.host), paint);
        let mut fill = |from, to, sign: Sign, paint| {
            used.insert(sign);
            row.fill(axis.column(from), axis.column(to), sign.glyph(style), paint);
        };
        for &(from, to, _) in &self.waits {
            fill(from, to, Sign::Asks, Paint::Dim);
        }
        for claim in &self.claims {
            // What no valid span covers is past the deadline. A claim given back at once was never late.
            let late = claim.valid.as_slice() != [claim.span] && !claim.span.is_empty();
            fill(claim.span.from, claim.span.to, if late { Sign::Overdue } else { Sign::Holds }, paint);
            for span in &claim.valid {
                fill(span.from, span.to, Sign::Holds, paint);
            }
        }
        for event in story.events.iter().filter(|event| event.refusal && event.host == Some(self.host)) {
            fill(event.at, event.at, Sign::Refused, paint);
        }
        for &(sent, arrived, _) in &self.journeys {
            if axis.column(arrived) > axis.column(sent) + 1 {
                fill(sent, sent, Sign::Sent, paint);
            }
        }
        for &(at, sign, _) in &self.writes {
            let paint = if sign == Sign::Wrote { Paint::Strong } else { Paint::Bad };
            fill(at, at, sign, paint);
        }
    }
}
