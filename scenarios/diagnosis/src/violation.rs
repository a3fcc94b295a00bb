//! The violation whose causes are asked for: the first piece of evidence, which a picture tells.

use doublehold_history::{
    CallId, ClientId, EventKind, Evidence, History, LockId, Predicate, TrueNs, Verdict, Verdicts,
};
use doublehold_scenarios::report::Report;

/// The time before and after it within which the same counts as the same violation.
const NEAR_NS: u64 = 100_000_000;

/// The violation of a run that is told: the first piece of evidence of the first predicate that is violated, or of the
/// one that the report says to tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The predicate that is violated.
    pub predicate: Predicate,
    /// The lock that it is about.
    pub lock: LockId,
    /// The clients that have part in it, in order of their numbers: both holders, the one whose write or command it
    /// was, or those who waited.
    pub clients: Vec<ClientId>,
    /// When it began.
    pub from: TrueNs,
    /// When it was over, or the same instant.
    pub to: TrueNs,
    /// The grants whose leases have to do with it, and whose they are.
    pub grants: Vec<(ClientId, CallId)>,
    /// The client that came second, and its grant.
    pub second: Option<(ClientId, CallId)>,
}

impl Violation {
    /// The violation of a run that is told; `None` if there is none, or it has no moment.
    pub fn find_first(report: &Report) -> Option<Violation> {
        let (predicate, evidence) = report.verdicts.first_evidence(report.told)?;
        Violation::from_evidence(predicate, evidence)
    }

    /// True if this piece of evidence is the one that is told.
    pub fn is_of(&self, predicate: Predicate, evidence: &Evidence) -> bool {
        Violation::from_evidence(predicate, evidence).as_ref() == Some(self)
    }

    /// True if the same happens around that time: to the same clients in any order (P1, P2), or to one of them
    /// (others).
    pub(crate) fn is_in(&self, verdicts: &Verdicts) -> bool {
        let Verdict::Violated(evidence) = verdicts.get(self.predicate) else { return false };
        let is_near =
            |it: &Violation| self.from.0.saturating_sub(NEAR_NS) <= it.to.0 && it.from <= self.ends_at();
        evidence.iter().any(|it| match Violation::from_evidence(self.predicate, it) {
            Some(it) => self.is_same(&it) && is_near(&it),
            // The evidence that was left out may be it.
            None => matches!(it, Evidence::Omitted { .. }),
        })
    }

    /// The same in another run, at any time: with the same client first, since in another run the other may come first
    /// for reasons of its own. Of several the one nearest in time.
    pub(crate) fn find_same(&self, verdicts: &Verdicts) -> Option<Violation> {
        let first = |it: &Violation| it.grants.first().map(|(client, _)| *client);
        let same = verdicts.get(self.predicate).evidence().iter();
        let same = same.filter_map(|it| Violation::from_evidence(self.predicate, it));
        same.filter(|it| self.is_same(it) && first(it) == first(self))
            .min_by_key(|it| it.from.0.abs_diff(self.from.0))
    }

    /// From when on nothing counts as the same any more.
    pub(crate) fn ends_at(&self) -> TrueNs {
        TrueNs(self.to.0.saturating_add(NEAR_NS))
    }

    /// The moment after which nothing can have caused it: a double hold begins at once, a wait is too long at its end.
    pub(crate) fn moment(&self) -> TrueNs {
        if self.second.is_some() { self.from } else { self.to }
    }

    fn is_same(&self, it: &Violation) -> bool {
        let is_of_both = matches!(self.predicate, Predicate::P1 | Predicate::P2);
        let clients = if is_of_both {
            it.clients == self.clients
        } else {
            it.clients.iter().any(|client| self.clients.contains(client))
        };
        it.lock == self.lock && clients
    }

    /// `None` for what has no moment.
    fn from_evidence(predicate: Predicate, evidence: &Evidence) -> Option<Violation> {
        let of_one = |lock, (client, grant), at, second| Violation {
            predicate,
            lock,
            clients: vec![client],
            from: at,
            to: at,
            grants: vec![(client, grant)],
            second,
        };
        let waits = |lock, clients: Vec<ClientId>, from, to| Violation {
            predicate,
            lock,
            clients,
            from,
            to,
            grants: Vec::new(),
            second: None,
        };
        Some(match evidence {
            Evidence::Overlap(it) => {
                let [one, other] = [0, 1].map(|place| (it.clients[place], it.grants[place]));
                let mut clients = it.clients.to_vec();
                clients.sort_unstable();
                Violation {
                    predicate,
                    lock: it.lock,
                    clients,
                    from: it.from,
                    to: it.to,
                    grants: vec![one, other],
                    second: Some(other),
                }
            }
            Evidence::StaleWrite(it) => {
                of_one(it.lock, (it.client, it.grant), it.at, Some((it.later_client, it.later_grant)))
            }
            Evidence::WrongKey(it) => {
                of_one(it.lock, (it.client, it.by), it.at, it.held_client.map(|client| (client, it.held)))
            }
            Evidence::Waited(it) => waits(it.lock, it.clients.clone(), it.from, it.to),
            Evidence::LongWait(it) => waits(it.lock, vec![it.client], it.from, it.to),
            Evidence::Cycle(_) | Evidence::LostWrite(_) | Evidence::Omitted { .. } => return None,
        })
    }
}

/// The place of a grant among a client's grants of a lock, from 1; the number of these if it is not among them.
pub(crate) fn nth(history: &History, client: ClientId, lock: LockId, grant: CallId) -> usize {
    let grants = grants(history, client, lock);
    grants.iter().position(|it| *it == grant).map_or(grants.len(), |place| place + 1)
}

/// A client's grants of a lock, in order.
pub(crate) fn grants(history: &History, of: ClientId, wanted: LockId) -> Vec<CallId> {
    let grant = |what: &EventKind| match *what {
        EventKind::Granted { client, grant, lock, .. } if client == of && lock == wanted => Some(grant),
        _ => None,
    };
    history.events().iter().filter_map(|event| grant(&event.what)).collect()
}

#[cfg(test)]
mod tests;
