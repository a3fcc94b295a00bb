//! Why the first violation came about, in one sentence, as far as the run shows it.
//!
//! Each rule names a way in which a lock is lost and the facts that prove it: when a key ended on a node, and what was
//! done to that node or that client then. Where no rule finds its facts there is no sentence: a guess would be worse
//! than none. Whether the run would have gone well otherwise is not asked; running it again without the fault shows
//! that.

use doublehold_history::words::{clean, duration, list, signed_duration};
use doublehold_history::{
    CallId, Claim, EventKind, Evidence, KeyOp, LockId, Overlap, Predicate, StaleWrite, TrueNs, WrongKey,
};
use doublehold_scenarios::fault::{Effect, Nature};
use doublehold_scenarios::report::{KeyEnd, KeySpan};
use doublehold_scenarios::scenario::{HostIndex, Role};

use super::facts::Facts;

/// The sentence for the first predicate that is violated, in the order in which they are reported. Of several locks it
/// begins with the one it is about.
pub(super) fn sentence(facts: &Facts<'_>) -> Option<String> {
    let mut violated = facts
        .run
        .verdicts
        .iter()
        .filter_map(|(predicate, verdict)| Some((predicate, verdict.evidence().first()?)));
    let (lock, words) = match violated.next()? {
        (Predicate::P1 | Predicate::P2, Evidence::Overlap(it)) => (it.lock, double_hold(facts, it)?),
        (_, Evidence::StaleWrite(it)) => (it.lock, late_write(facts, it)?),
        (_, Evidence::WrongKey(it)) => (it.lock, wrong_key(facts, it)?),
        (_, Evidence::Waited(it)) => (it.lock, left_behind(facts, it.lock, it.from, it.to)?),
        (_, Evidence::LongWait(it)) => (it.lock, left_behind(facts, it.lock, it.from, it.to)?),
        _ => return None,
    };
    Some(if facts.has_several_locks() { format!("{}: {words}", facts.the_lock(lock)) } else { words })
}

fn double_hold(facts: &Facts<'_>, overlap: &Overlap) -> Option<String> {
    let [first, second] = overlap.grants.map(|grant| facts.claim(grant));
    let (first, second) = (first?, second?);
    expired_before_the_grant(facts, second)
        .or_else(|| lost_before(facts, first, second))
        .or_else(|| promoted_without_it(facts, first, second))
}

/// The later holder's keys were gone when it learnt of its grant.
fn expired_before_the_grant(facts: &Facts<'_>, claim: &Claim) -> Option<String> {
    let keys = facts.keys_of(claim.grant).iter().filter(|key| key.from <= claim.span.from);
    let ends: Vec<(&KeySpan, TrueNs)> = keys.map(|key| Some((*key, expired(key)?))).collect::<Option<_>>()?;
    let host = facts.host_of(claim.client)?;
    let stop = ends
        .iter()
        .map(|(_, at)| facts.faults.stopped(host, *at))
        .reduce(|a, b| a.filter(|a| Some(*a) == b))??;
    if ends.iter().any(|(_, at)| *at > claim.span.from) {
        return None;
    }
    let (name, nodes) = (facts.client(claim.client), nodes(facts, ends.iter().map(|(key, _)| key.node)));
    Some(format!(
        "{name} was granted the lock when its key had expired on {nodes}, because it was {stop} meanwhile"
    ))
}

/// The first holder's key was gone from nodes that then granted the lock to the second.
fn lost_before(facts: &Facts<'_>, first: &Claim, second: &Claim) -> Option<String> {
    let lost: Vec<(&KeySpan, TrueNs, KeyEnd)> = facts
        .nodes_of(second.grant)
        .into_iter()
        .filter_map(|node| lost_on(facts, node, first.grant, second.grant))
        .collect();
    let of = |wanted: fn(&Facts<'_>, &(&KeySpan, TrueNs, KeyEnd)) -> bool| {
        lost.iter().filter(|it| wanted(facts, it)).copied().collect::<Vec<_>>()
    };
    let (holder, later) = (facts.client(first.client), granted_by(facts, second));
    let stepped = of(|facts, (key, at, how)| *how == KeyEnd::Expired && step(facts, key, *at).is_some());
    if let Some((key, at, _)) = stepped.first() {
        let by = step(facts, key, *at)?;
        // Of several clocks, those that were stepped as far.
        let alike = stepped.iter().filter(|(key, at, _)| step(facts, key, *at).as_ref() == Some(&by));
        let nodes = nodes(facts, alike.clone().map(|it| it.0.node));
        let its = if alike.count() == 1 { "its clock was" } else { "their clocks were" };
        return Some(format!("{nodes} forgot {holder}'s key because {its} stepped by {by}, and {later}"));
    }
    let forgotten =
        of(|facts, (key, at, how)| *how == KeyEnd::Forgotten && death(facts, key.node, *at).is_some());
    if let Some((key, at, _)) = forgotten.first() {
        let did = death(facts, key.node, *at)?;
        let alike = forgotten.iter().filter(|(key, at, _)| death(facts, key.node, *at) == Some(did));
        let nodes = nodes(facts, alike.clone().map(|it| it.0.node));
        let it = if alike.count() == 1 { "it" } else { "they" };
        return Some(format!("{nodes} forgot {holder}'s key because {it} {did}, and {later}"));
    }
    let deleted = of(|_, (_, _, how)| *how == KeyEnd::Deleted);
    if let Some((key, at, _)) = deleted.first() {
        let (who, node) = (released_by(facts, key, *at)?, facts.host(key.node));
        return Some(format!("{who}'s release deleted {holder}'s key on {node}, and {later}"));
    }
    let set_by_second =
        |node, at| facts.keys_of(second.grant).iter().any(|key| key.node == node && key.from == at);
    let overwritten =
        lost.iter().filter(|(key, at, how)| *how == KeyEnd::Overwritten && set_by_second(key.node, *at));
    if overwritten.clone().next().is_some() {
        let nodes = nodes(facts, overwritten.map(|it| it.0.node));
        return Some(format!(
            "{} overwrote {holder}'s key on {nodes}, and so was granted the lock",
            facts.client(second.client)
        ));
    }
    let expired = of(|facts, (key, at, how)| *how == KeyEnd::Expired && lived_its_time(facts, key, *at));
    let last = expired.iter().map(|(_, at, _)| *at).max()?;
    let (nodes, meanwhile) =
        (nodes(facts, expired.iter().map(|it| it.0.node)), meanwhile(facts, first, last)?);
    Some(format!("{holder}'s key expired on {nodes} while {meanwhile}, and {later}"))
}

/// The first holder's key on a node, if it was gone when the node granted the lock to the second.
fn lost_on<'a>(
    facts: &Facts<'a>,
    node: HostIndex,
    first: CallId,
    second: CallId,
) -> Option<(&'a KeySpan, TrueNs, KeyEnd)> {
    let taken = facts.keys_of(second).iter().find(|key| key.node == node)?.from;
    let before = facts.keys_of(first).iter().rev().find(|key| key.node == node && key.from <= taken)?;
    let (at, how) = before.until.filter(|(at, _)| *at <= taken)?;
    Some((before, at, how))
}

/// Of a failover: the node that grants was promoted, and never had the first holder's key.
fn promoted_without_it(facts: &Facts<'_>, first: &Claim, second: &Claim) -> Option<String> {
    let granting = facts.nodes_of(second.grant);
    let [node] = granting.as_slice() else { return None };
    let had = facts.keys_of(first.grant).iter().any(|key| key.node == *node);
    let mut faults = facts
        .run
        .faults
        .iter()
        .filter(|it| matches!(it.fault.effect, Effect::Promote { .. }) && it.hosts.contains(node));
    let promoted = faults.any(|fault| fault.from.is_some_and(|at| at <= second.span.from));
    let (name, holder) = (facts.host(*node), facts.client(first.client));
    (promoted && !had).then(|| {
        format!(
            "{name} was promoted without {holder}'s key, and granted the lock to {}",
            facts.client(second.client)
        )
    })
}

/// What kept a holder from noticing, or from caring, that its key was gone.
fn meanwhile(facts: &Facts<'_>, holder: &Claim, at: TrueNs) -> Option<String> {
    let name = facts.client(holder.client);
    if let Some(stopped) = facts.host_of(holder.client).and_then(|host| facts.faults.stopped(host, at)) {
        return Some(format!("{name} was {stopped}"));
    }
    if !facts.is_claimed(holder.grant, at) {
        return None;
    }
    let of_grant =
        || facts.run.history.events().iter().filter(|event| event.what.call() == Some(holder.grant));
    let sent =
        of_grant().find(|event| matches!(event.what, EventKind::WriteSent { .. })).map(|event| event.at);
    let arrived = of_grant()
        .find(|event| matches!(event.what, EventKind::WriteApplied { .. } | EventKind::WriteRefused { .. }));
    let on_its_way = sent.is_some_and(|sent| sent <= at) && arrived.is_none_or(|event| at < event.at);
    Some(if on_its_way {
        format!("{name}'s write was on its way")
    } else {
        format!("{name} was still at work")
    })
}

fn late_write(facts: &Facts<'_>, write: &StaleWrite) -> Option<String> {
    let of_grant = facts.run.history.events().iter().filter(|event| event.what.call() == Some(write.grant));
    let mut sent =
        of_grant.filter(|event| matches!(event.what, EventKind::WriteSent { .. }) && event.at <= write.at);
    let sent = sent.next_back().filter(|sent| sent.at < write.later_granted_at)?;
    let (name, later, long) =
        (facts.client(write.client), facts.client(write.later_client), duration(write.at.since(sent.at)));
    Some(format!("{name}'s write was on its way for {long}, and {later} was granted the lock meanwhile"))
}

fn wrong_key(facts: &Facts<'_>, it: &WrongKey) -> Option<String> {
    if !it.by_granted {
        let (name, holder) = (facts.client(it.client), facts.client(it.held_client?));
        let node = clean(&facts.run.history.header().node(it.node));
        let did = match it.op {
            KeyOp::Release => "cleaned up after an attempt that was not granted, and deleted",
            KeyOp::Extend => "was not granted the lock, and moved the expiry of",
        };
        return Some(format!("{name} {did} {holder}'s key on {node}"));
    }
    let node = facts.run.history.header().node(it.node);
    let own = facts.keys_of(it.by).iter().filter(|key| facts.host(key.node) == clean(&node));
    let gone = own.filter_map(|key| expired(key)).any(|at| at <= it.at);
    let (name, holder) = (facts.client(it.client), facts.client(it.held_client?));
    (gone && it.op == KeyOp::Release).then(|| {
        format!(
            "{name}'s release deleted {holder}'s key on {}, because {name}'s own had expired there",
            clean(&node)
        )
    })
}

/// Somebody waited for a key that a dead client left behind.
fn left_behind(facts: &Facts<'_>, lock: LockId, from: TrueNs, to: TrueNs) -> Option<String> {
    let stayed = |key: &&KeySpan| {
        key.lock == lock && key.from <= from && key.until.is_none_or(|(until, _)| to <= until)
    };
    let keys: Vec<&KeySpan> = facts.run.keys.iter().filter(stayed).collect();
    let events = facts.run.history.events().iter();
    let dead = |host: HostIndex| {
        events.clone().any(|event| match event.what {
            EventKind::Died { client } => facts.host_of(client) == Some(host) && event.at <= to,
            _ => false,
        })
    };
    let client = keys.first()?.client;
    let nodes_in_all = facts.run.hosts.iter().filter(|(_, role)| *role == Role::Node).count();
    // On fewer, it keeps nobody waiting.
    let on_most = keys.len() * 2 > nodes_in_all;
    let whose = on_most && keys.iter().all(|key| key.client == client) && dead(client);
    let (name, nodes) = (facts.host(client), nodes(facts, keys.iter().map(|key| key.node)));
    whose.then(|| format!("{name}'s process is gone, and its key stays on {nodes}"))
}

/// By how much a node's clock was stepped while it held a key that then expired before its time.
fn step(facts: &Facts<'_>, key: &KeySpan, until: TrueNs) -> Option<String> {
    let of_node = facts.run.faults.iter().filter(|fault| fault.hosts.contains(&key.node));
    let within = of_node.filter(|fault| fault.from.is_some_and(|at| key.from <= at && at <= until));
    let mut steps = within.filter_map(|it| match it.fault.effect {
        Effect::ClockStep { by_ns, .. } => Some(by_ns),
        _ => None,
    });
    let by_ns = steps.next()?;
    (by_ns > 0 && !lived_its_time(facts, key, until)).then(|| signed_duration(by_ns))
}

/// Whether a key was there for about as long as it was to be: clocks that drift may be a tenth off.
fn lived_its_time(facts: &Facts<'_>, key: &KeySpan, until: TrueNs) -> bool {
    let lived = u128::from(until.since(key.from));
    facts.run.leases.get(&key.client).is_some_and(|lease| lived + lived / 10 >= lease.as_nanos())
}

/// What took a node's memory at an instant.
fn death(facts: &Facts<'_>, node: HostIndex, at: TrueNs) -> Option<&'static str> {
    let fault = facts.run.faults.iter().find(|fault| {
        let kills = fault.fault.effect.kind().nature == Nature::Death;
        kills && fault.hosts.contains(&node) && fault.from == Some(at)
    })?;
    Some(if matches!(fault.fault.effect, Effect::Crash { .. }) { "crashed" } else { "lost power" })
}

/// Who deleted a key of somebody else's grant.
fn released_by(facts: &Facts<'_>, key: &KeySpan, at: TrueNs) -> Option<String> {
    facts.run.history.events().iter().find_map(|event| match event.what {
        EventKind::KeyTouched { client, by, held, op: KeyOp::Release, .. }
            if event.at == at && held == key.grant && by != held =>
        {
            Some(facts.client(client))
        }
        _ => None,
    })
}

fn expired(key: &KeySpan) -> Option<TrueNs> {
    key.until.filter(|(_, how)| *how == KeyEnd::Expired).map(|(at, _)| at)
}

/// `c2 was granted the lock by C, D and E`.
fn granted_by(facts: &Facts<'_>, claim: &Claim) -> String {
    let name = facts.client(claim.client);
    if facts.has_several_nodes() {
        format!("{name} was granted the lock by {}", nodes(facts, facts.nodes_of(claim.grant).into_iter()))
    } else {
        format!("{name} was granted the lock")
    }
}

fn nodes(facts: &Facts<'_>, hosts: impl Iterator<Item = HostIndex>) -> String {
    let mut hosts: Vec<HostIndex> = hosts.collect();
    hosts.sort_unstable();
    hosts.dedup();
    list(&hosts.into_iter().map(|host| facts.host(host)).collect::<Vec<_>>())
}
