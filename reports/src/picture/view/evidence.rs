//! Each piece of evidence with the events that prove it.

use std::collections::BTreeSet;

use doublehold_history::{CallId, ClientId, Evidence, Predicate, TrueNs};
use doublehold_scenarios::scenario::HostIndex;
use doublehold_text::clean;
use serde::Serialize;

use super::events::EventLine;
use crate::picture::facts::{Facts, MAX_EVIDENCE, grants_in};

/// A piece of evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EvidenceLine {
    /// What it violates.
    pub predicate: Predicate,
    /// The evidence as a sentence.
    pub words: String,
    /// When what it proves began.
    pub from: TrueNs,
    /// When it was over, or the same instant.
    pub to: TrueNs,
    /// The clients that have part in it.
    pub hosts: Vec<HostIndex>,
    /// The events that prove it, by their places among all.
    pub events: Vec<usize>,
}

pub(super) fn lines(facts: &Facts<'_>, events: &[EventLine]) -> Vec<EvidenceLine> {
    let header = facts.run.history.header();
    let mut lines = Vec::new();
    for (predicate, verdict) in facts.run.verdicts.iter() {
        for evidence in verdict.evidence().iter().take(MAX_EVIDENCE) {
            let proof = proof(evidence, events, facts);
            let at = |place: Option<&usize>| place.map_or(TrueNs(0), |place| events[*place].at);
            let (from, to) = span(evidence).unwrap_or((at(proof.first()), at(proof.last())));
            let hosts: BTreeSet<HostIndex> = proof.iter().filter_map(|place| events[*place].host).collect();
            let words = clean(&evidence.sentence(header));
            let hosts = hosts.into_iter().collect();
            lines.push(EvidenceLine { predicate, words, from, to, hosts, events: proof });
        }
    }
    lines
}

/// When it was; `None` for what only its events can tell.
fn span(evidence: &Evidence) -> Option<(TrueNs, TrueNs)> {
    match evidence {
        Evidence::Overlap(it) => Some((it.from, it.to)),
        Evidence::StaleWrite(it) => Some((it.later_granted_at, it.at)),
        Evidence::LostWrite(it) => Some((it.at, it.at)),
        Evidence::WrongKey(it) => Some((it.at, it.at)),
        Evidence::Waited(it) => Some((it.from, it.to)),
        Evidence::LongWait(it) => Some((it.from, it.to)),
        Evidence::Cycle(_) | Evidence::Omitted { .. } => None,
    }
}

/// The events of the grants that it names, up to the end of what it proves; of a wait, those of whoever waited.
fn proof(evidence: &Evidence, events: &[EventLine], facts: &Facts<'_>) -> Vec<usize> {
    let grants: BTreeSet<CallId> = grants_in(evidence).into_iter().collect();
    let waiting: BTreeSet<HostIndex> =
        waiting_clients(evidence).into_iter().filter_map(|client| facts.host_of(client)).collect();
    let (first, last) = span(evidence).unwrap_or((TrueNs(0), facts.run.ended));
    let proves = |event: &EventLine| {
        let of_grant = event.call.is_some_and(|call| grants.contains(&call));
        let of_wait = event.host.is_some_and(|host| waiting.contains(&host)) && first <= event.at;
        event.at <= last && (of_grant || of_wait)
    };
    events.iter().enumerate().filter(|(_, event)| proves(event)).map(|(place, _)| place).collect()
}

fn waiting_clients(evidence: &Evidence) -> Vec<ClientId> {
    match evidence {
        Evidence::Waited(it) => it.clients.clone(),
        Evidence::LongWait(it) => vec![it.client],
        _ => Vec::new(),
    }
}
