//! How the lock was lost, as JSON: the finding's kind, and the clients and nodes that it is about.

use doublehold_diagnosis::finding::{self, HolderCall, LossKind, WrongChange};
use doublehold_diagnosis::{RunFacts, Timeline};
use doublehold_history::ClientId;
use doublehold_scenarios::report::Report;
use doublehold_scenarios::scenario::HostIndex;
use serde::Serialize;

/// How the lock was lost.
#[derive(Serialize)]
pub(super) struct Finding {
    kind: &'static str,
    lock: String,
    /// Who held the lock first, or whose key it was.
    holder: Option<String>,
    /// Who was granted it next, or who did it.
    client: Option<String>,
    /// Each way in which a key was lost, with its nodes.
    losses: Vec<Loss>,
}

/// A way in which a key was lost.
#[derive(Serialize)]
struct Loss {
    kind: &'static str,
    nodes: Vec<String>,
}

impl Finding {
    /// The finding of a run, if there is one.
    pub(super) fn of(report: &Report) -> Option<Finding> {
        let (lock, found) = finding::find(&RunFacts::new(Timeline::from_run(report)))?;
        let (header, scenario) = (report.history.header(), &report.scenario);
        let client = |id: ClientId| Some(header.client(id));
        let host = |host: HostIndex| scenario.hosts.get(host.0).map(|host| host.name.clone());
        let loss = |kind, nodes: &[HostIndex]| Loss {
            kind,
            nodes: nodes.iter().filter_map(|node| host(*node)).collect(),
        };
        let (kind, holder, client, losses) = match &found {
            finding::Finding::KeyLost(it) => {
                let losses = it.losses.iter().map(|it| loss(loss_kind(&it.how), &it.nodes));
                ("key-lost", client(it.holder), client(it.next), losses.collect())
            }
            finding::Finding::GrantedLate(it) => {
                ("granted-late", None, client(it.client), vec![loss("expired-before-the-grant", &it.nodes)])
            }
            finding::Finding::PromotedWithout(it) => {
                ("promoted-without", client(it.holder), client(it.next), vec![loss("never-had", &[it.node])])
            }
            finding::Finding::WroteLate { client: by, next, .. } => {
                ("wrote-late", client(*by), client(*next), Vec::new())
            }
            finding::Finding::ChangedWrongKey(it) => {
                (change_kind(&it.change), client(it.holder), client(it.client), Vec::new())
            }
            finding::Finding::LeftBehind(it) => {
                ("left-behind", host(it.client), None, vec![loss("stays", &it.nodes)])
            }
            finding::Finding::RefusedLate { client: by, .. } => {
                ("refused-late", None, client(*by), Vec::new())
            }
        };
        Some(Finding { kind, lock: header.lock(lock), holder, client, losses })
    }
}

fn loss_kind(how: &LossKind) -> &'static str {
    match how {
        LossKind::ExpiredEarly => "expired-early",
        LossKind::Expired { .. } => "expired",
        LossKind::Forgotten => "forgotten",
        LossKind::Flushed => "flushed",
        LossKind::Evicted => "evicted",
        LossKind::SessionEnded { .. } => "session-ended",
        LossKind::Overwritten { .. } => "overwritten",
        LossKind::DeletedByHolder(HolderCall::Asking) => "cleaned-up-late",
        LossKind::DeletedByHolder(HolderCall::Extending) => "deleted-by-extension",
        LossKind::DeletedByHolder(HolderCall::Holding) => "deleted-by-holder",
        LossKind::DeletedByAnother(_) => "deleted-by-another",
    }
}

fn change_kind(change: &WrongChange) -> &'static str {
    match change {
        WrongChange::DeletedAfterOwnExpired => "deleted-after-own-expired",
        WrongChange::DeletedOwn(_) => "deleted-own-key",
        WrongChange::CleanedUp => "cleaned-up-ungranted",
        WrongChange::MovedExpiry(_) => "moved-expiry-ungranted",
    }
}
