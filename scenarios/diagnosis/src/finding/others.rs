//! Late writes, keys changed by the wrong client, and keys that keep others out.

use doublehold_history::{EventKind, Evidence, KeyOp, LockId, Predicate, StaleWrite, TrueNs, WrongKey};
use doublehold_scenarios::report::{KeyOrigin, KeySpan};
use doublehold_scenarios::scenario::{HostIndex, Role};

use super::deleted::meant_for;
use super::{ChangedWrongKey, Finding, LeftBehind, WrongChange, expiry_time, in_order};
use crate::RunFacts;

/// A write that was sent before the next grant.
pub(super) fn late_write(facts: &RunFacts<'_>, write: &StaleWrite) -> Option<Finding> {
    let of_grant = facts.run.history.events().iter().filter(|event| event.what.call() == Some(write.grant));
    let mut sent =
        of_grant.filter(|event| matches!(event.what, EventKind::WriteSent { .. }) && event.at <= write.at);
    let sent = sent.next_back().filter(|sent| sent.at < write.later_granted_at)?;
    Some(Finding::WroteLate {
        client: write.client,
        next: write.later_client,
        on_its_way_ns: write.at.since(sent.at),
    })
}

pub(super) fn wrong_key(facts: &RunFacts<'_>, it: &WrongKey) -> Option<ChangedWrongKey> {
    let holder = it.held_client?;
    let changed = |change| ChangedWrongKey { client: it.client, holder, node: it.node, change };
    match it.op {
        KeyOp::Release if !it.was_granted => return Some(changed(WrongChange::CleanedUp)),
        KeyOp::Extend if !it.by_granted => {
            let is_held = facts.is_claimed(it.held, it.at);
            let keeps_out = if is_held { None } else { kept_others_out(facts, it.lock) };
            return Some(changed(WrongChange::MovedExpiry(keeps_out)));
        }
        KeyOp::Release | KeyOp::Extend => {}
    }
    if holder == it.client && it.op == KeyOp::Release {
        // Of an attempt that was never granted there is no telling which came first.
        facts.claim(it.held)?;
        return Some(changed(WrongChange::DeletedOwn(meant_for(facts, (it.by, it.client), it.held, it.at))));
    }
    let own = facts.keys_of(it.by).iter().filter(|key| facts.is_node(key.node, it.node));
    let gone = own.filter_map(|key| expiry_time(key)).any(|at| at <= it.at);
    (gone && it.op == KeyOp::Release).then(|| changed(WrongChange::DeletedAfterOwnExpired))
}

/// A dead client's key that kept somebody waiting for too long.
fn kept_others_out(facts: &RunFacts<'_>, lock: LockId) -> Option<LeftBehind> {
    facts.run.verdicts.get(Predicate::LV).evidence().iter().find_map(|wait| match wait {
        Evidence::Waited(it) if it.lock == lock => left_behind(facts, lock, it.from, it.to),
        Evidence::LongWait(it) if it.lock == lock => left_behind(facts, lock, it.from, it.to),
        _ => None,
    })
}

/// Somebody waited for a key that a client left behind which is dead, or done with the lock.
pub(super) fn left_behind(
    facts: &RunFacts<'_>,
    lock: LockId,
    from: TrueNs,
    to: TrueNs,
) -> Option<LeftBehind> {
    let stayed = |key: &&KeySpan| {
        key.lock == lock && key.from <= from && key.until.is_none_or(|(until, _)| to <= until)
    };
    let keys: Vec<&KeySpan> = facts.run.keys.iter().filter(stayed).collect();
    let events = facts.run.history.events().iter();
    // One that died before it took the key is another process by now, and may still have it.
    let gone = |host: HostIndex, since: TrueNs| {
        events.clone().find_map(|event| {
            let (client, is_abandoned) = match event.what {
                EventKind::Died { client } => (client, false),
                EventKind::Abandoned { client, .. } => (client, true),
                _ => return None,
            };
            let is_it = facts.host_of(client) == Some(host) && since <= event.at && event.at <= to;
            is_it.then_some(is_abandoned)
        })
    };
    let client = keys.first()?.client;
    let nodes_in_all = facts.run.hosts.iter().filter(|(_, role)| *role == Role::Node).count();
    // On fewer, it keeps nobody waiting.
    let on_most = keys.len() * 2 > nodes_in_all;
    let is_left = on_most && keys.iter().all(|key| key.client == client && gone(client, key.from).is_some());
    is_left.then(|| LeftBehind {
        client,
        is_abandoned: gone(client, keys[0].from).unwrap_or_default(),
        nodes: in_order(keys.iter().map(|key| key.node)),
        outlives_lease: keys.iter().all(|key| outlives(facts, key, to)),
    })
}

/// True if a key was there for about as long as it was to be, as far as that is known: clocks that drift may be a tenth
/// off.
pub(super) fn lived_its_time(facts: &RunFacts<'_>, key: &KeySpan, until: TrueNs) -> bool {
    let lived = u128::from(until.since(set_at(facts, key)));
    facts.run.leases.get(&key.client).is_none_or(|lease| lived + lived / 10 >= lease.as_nanos())
}

/// True if a key is there after its lease is over, by true time: so long after it was set, or its holder extended it.
fn outlives(facts: &RunFacts<'_>, key: &KeySpan, until: TrueNs) -> bool {
    let extended = facts.run.history.events().iter().filter(|event| {
        event.at <= until && matches!(event.what, EventKind::Extended { grant, .. } if grant == key.grant)
    });
    let set = extended.map(|event| event.at).fold(set_at(facts, key), TrueNs::max);
    facts.run.leases.get(&key.client).is_some_and(|lease| u128::from(until.since(set)) > lease.as_nanos())
}

/// The moment at which a key was set. A node that has it from its file, or from its master, has the end with it, which
/// says nothing of when the node came by it.
fn set_at(facts: &RunFacts<'_>, key: &KeySpan) -> TrueNs {
    let of_grant = facts.keys_of(key.grant).iter().filter(|it| it.origin == KeyOrigin::Executed);
    let set = of_grant.map(|it| it.from).filter(|from| *from <= key.from).max();
    if key.origin == KeyOrigin::Executed { key.from } else { set.unwrap_or(key.from) }
}
