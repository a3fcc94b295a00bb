//! The violation whose causes are asked for: the piece of evidence that a picture tells.

use doublehold_history::{
    CallId, ClientId, EventKind, Evidence, History, LockId, Predicate, TrueNs, Verdict, Verdicts,
};

use super::{Report, Violation};

/// The time before and after it within which the same counts as the same violation.
const NEAR_NS: u64 = 100_000_000;

/// A piece of evidence as a matter of clients and times.
struct Instance {
    lock: LockId,
    clients: Vec<ClientId>,
    from: TrueNs,
    to: TrueNs,
    grants: Vec<(ClientId, CallId)>,
    second: Option<(ClientId, CallId)>,
}

impl Violation {
    /// The first violation of a run; `None` if there is none, or it has no moment.
    pub fn find_first(report: &Report) -> Option<Violation> {
        let violated = report
            .verdicts
            .iter()
            .find_map(|(predicate, verdict)| Some((predicate, verdict.evidence().first()?)));
        let (predicate, evidence) = violated?;
        let Instance { lock, clients, from, to, grants, second } = Instance::from_evidence(evidence)?;
        let second = second.map(|(client, grant)| (client, nth(&report.history, client, lock, grant)));
        Some(Violation { predicate, lock, clients, from, to, grants, second })
    }

    /// True if this piece of evidence is the one that is told.
    pub fn is_of(&self, predicate: Predicate, evidence: &Evidence) -> bool {
        let same = |it: Instance| {
            it.lock == self.lock && it.clients == self.clients && it.from == self.from && it.to == self.to
        };
        predicate == self.predicate && Instance::from_evidence(evidence).is_some_and(same)
    }

    /// True if the same happens around that time: to the same clients in any order (P1, P2), or to one of them
    /// (others).
    pub fn is_in(&self, verdicts: &Verdicts) -> bool {
        self.any(verdicts, self.from.0.saturating_sub(NEAR_NS), |it| self.is_of_the_same(it))
    }

    /// The same with the same client first: in another run the other may come first, for reasons of its own.
    pub fn is_in_with_roles(&self, verdicts: &Verdicts) -> bool {
        let first = |grants: &[(ClientId, CallId)]| grants.first().map(|(client, _)| *client);
        self.any(verdicts, self.from.0.saturating_sub(NEAR_NS), |it| {
            self.is_of_the_same(it) && first(&it.grants) == first(&self.grants)
        })
    }

    /// True if the same happens to one of those clients, with whomever, from an instant on until it was over.
    pub fn is_in_since(&self, verdicts: &Verdicts, since: TrueNs) -> bool {
        self.any(verdicts, since.0.min(self.from.0.saturating_sub(NEAR_NS)), |it| self.shares(it))
    }

    fn is_of_the_same(&self, it: &Instance) -> bool {
        let whole = self.predicate == Predicate::P1 || self.predicate == Predicate::P2;
        if whole { it.clients == self.clients } else { self.shares(it) }
    }

    fn shares(&self, it: &Instance) -> bool {
        it.clients.iter().any(|client| self.clients.contains(client))
    }

    fn any(&self, verdicts: &Verdicts, since: u64, is_it: impl Fn(&Instance) -> bool) -> bool {
        let Verdict::Violated(evidence) = verdicts.get(self.predicate) else { return false };
        evidence.iter().any(|it| match Instance::from_evidence(it) {
            Some(it) => {
                it.lock == self.lock && is_it(&it) && since <= it.to.0 && it.from.0 <= self.ends_at().0
            }
            // The evidence that was left out may be it.
            None => matches!(it, Evidence::Omitted { .. }),
        })
    }

    /// From when on nothing counts as the same any more.
    pub fn ends_at(&self) -> TrueNs {
        TrueNs(self.to.0.saturating_add(NEAR_NS))
    }
}

impl Instance {
    /// `None` for what has no moment.
    fn from_evidence(evidence: &Evidence) -> Option<Instance> {
        let of_one = |lock, (client, grant), at, second| Instance {
            lock,
            clients: vec![client],
            from: at,
            to: at,
            grants: vec![(client, grant)],
            second,
        };
        let waits = |lock, clients: Vec<ClientId>, from, to| Instance {
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
                Instance {
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
            Evidence::Cycle(_) | Evidence::Omitted { .. } => return None,
        })
    }
}

/// The place of a grant among a client's grants of a lock, from 1; the number of these if it is not among them.
pub fn nth(history: &History, client: ClientId, lock: LockId, grant: CallId) -> usize {
    let grants = grants(history, client, lock);
    grants.iter().position(|it| *it == grant).map_or(grants.len(), |place| place + 1)
}

/// A client's grants of a lock, in order.
pub fn grants(history: &History, of: ClientId, wanted: LockId) -> Vec<CallId> {
    let grant = |what: &EventKind| match *what {
        EventKind::Granted { client, grant, lock, .. } if client == of && lock == wanted => Some(grant),
        _ => None,
    };
    history.events().iter().filter_map(|event| grant(&event.what)).collect()
}
