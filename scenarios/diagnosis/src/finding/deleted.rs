//! A holder's key that a command deleted: its own holder's before the release, or one that was meant for another key.

use doublehold_history::{CallId, ClientId, EventKind, KeyOp, TrueNs};
use doublehold_scenarios::report::KeyEnd;

use super::lost::{LostSpan, loss_where, meanwhile};
use super::{Deletion, HolderCall, Loss, LossKind, MeantFor, expiry_time};
use crate::RunFacts;

/// By commands that were meant for another key, mostly releases of clients whose own key was gone: each such deletion,
/// with the nodes on which it came about in the same way.
pub(super) fn by_another(facts: &RunFacts<'_>, lost: &[LostSpan<'_>]) -> Vec<Loss> {
    let mut losses: Vec<Loss> = Vec::new();
    for it in lost {
        let Some(deletion) = deletion_by_another(facts, it) else { continue };
        let how = LossKind::DeletedByAnother(deletion);
        match losses.iter_mut().find(|loss| loss.how == how) {
            Some(loss) => loss.nodes.push(it.key.node),
            None => losses.push(Loss { nodes: vec![it.key.node], how }),
        }
    }
    losses
}

/// The deletion of one key by a call for another.
fn deletion_by_another(facts: &RunFacts<'_>, it: &LostSpan<'_>) -> Option<Deletion> {
    if it.how != KeyEnd::Deleted {
        return None;
    }
    let (by, client) = deleted_by(facts, it).find(|(by, _)| *by != it.key.grant)?;
    let own = facts.keys_of(by).iter().filter(|key| key.node == it.key.node);
    let own_expired = own.filter_map(|key| expiry_time(key)).find(|at| *at <= it.at);
    let own_expired = own_expired.and_then(|at| meanwhile(facts, facts.claim(by)?, at));
    Some(Deletion { by: client, meant: meant_for(facts, (by, client), it.key.grant, it.at), own_expired })
}

/// What a call's command was meant for that changed another grant's key at an instant. A call that is granted later
/// had no grant then.
pub(super) fn meant_for(
    facts: &RunFacts<'_>,
    (by, client): (CallId, ClientId),
    held: CallId,
    at: TrueNs,
) -> MeantFor {
    let is_granted = facts.claim(by).is_some_and(|claim| claim.span.from <= at);
    match facts.claim(held) {
        _ if !is_granted => MeantFor::NoGrant,
        Some(claim) if claim.client == client && by < held => MeantFor::EarlierGrant,
        Some(claim) if claim.client == client => MeantFor::LaterGrant,
        _ => MeantFor::OwnGrant,
    }
}

/// By its own holder, before it called release: in an extension that came to nothing, or by what it sent to clean up
/// after an earlier attempt of the same call.
pub(super) fn by_its_holder(facts: &RunFacts<'_>, lost: &[LostSpan<'_>]) -> Option<Loss> {
    let is_own = |it: &&LostSpan<'_>| {
        it.how == KeyEnd::Deleted
            && !is_released(facts, it.key.grant, it.at)
            && deleted_by(facts, it).any(|(by, _)| by == it.key.grant)
    };
    let in_call = |wanted: HolderCall| {
        let is = |it: &&LostSpan<'_>| is_own(it) && call_of(facts, it) == wanted;
        loss_where(lost, is, LossKind::DeletedByHolder(wanted))
    };
    in_call(HolderCall::Extending)
        .or_else(|| in_call(HolderCall::Asking))
        .or_else(|| in_call(HolderCall::Holding))
}

/// The call that a holder was in when its key was lost. Before its first extension began, nothing but its acquire had
/// sent anything.
fn call_of(facts: &RunFacts<'_>, it: &LostSpan<'_>) -> HolderCall {
    let began = facts.run.extends.and_then(|all| all.get(&it.key.grant)).map_or(&[][..], Vec::as_slice);
    let Some(last) = began.iter().rev().find(|began| **began <= it.at) else { return HolderCall::Asking };
    let is_over = facts.run.history.events().iter().any(|event| {
        let answered = match event.what {
            EventKind::Extended { grant, .. } | EventKind::ExtendFailed { grant, .. } => {
                grant == it.key.grant
            }
            _ => false,
        };
        answered && (*last..it.at).contains(&event.at)
    });
    if is_over { HolderCall::Holding } else { HolderCall::Extending }
}

/// True if a grant's holder had called release by an instant.
fn is_released(facts: &RunFacts<'_>, grant: CallId, at: TrueNs) -> bool {
    let of_grant =
        |what: &EventKind| matches!(what, EventKind::ReleaseCalled { grant: it, .. } if *it == grant);
    facts.run.history.events().iter().any(|event| event.at <= at && of_grant(&event.what))
}

/// The calls that deleted a key on its node when it was lost, and whose they were.
fn deleted_by(facts: &RunFacts<'_>, it: &LostSpan<'_>) -> impl Iterator<Item = (CallId, ClientId)> {
    let (at, held, host) = (it.at, it.key.grant, it.key.node);
    facts.run.history.events().iter().filter_map(move |event| match event.what {
        EventKind::KeyTouched { client, by, held: touched, node, op: KeyOp::Release, .. }
            if event.at == at && touched == held && facts.is_node(host, node) =>
        {
            Some((by, client))
        }
        _ => None,
    })
}
