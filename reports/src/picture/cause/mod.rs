//! Why the first violation came about, in one sentence, as far as the run shows it; or, where nothing is violated, what
//! a lock saw by itself.
//!
//! Each rule names a way in which a lock is lost and the facts that prove it: when a key ended on a node, and what was
//! done to that node or that client then. Where no rule finds its facts there is no sentence: a guess would be worse
//! than none. Whether the run would have gone well otherwise is not asked; running it again without the fault shows
//! that.

mod late;
mod lost;

use doublehold_history::words::{clean, duration, list};
use doublehold_history::{
    EventKind, Evidence, KeyOp, LockId, Overlap, Predicate, StaleWrite, TrueNs, WrongKey,
};
use doublehold_scenarios::report::{KeyEnd, KeySpan};
use doublehold_scenarios::scenario::{HostIndex, Role};

use super::facts::Facts;

/// The sentence for the first predicate that is violated, in the order in which they are reported; where none is, for
/// a lock that saw by itself that its grant came too late. Of several locks it begins with the one it is about.
pub(super) fn sentence(facts: &Facts<'_>) -> Option<String> {
    let mut violated = facts
        .run
        .verdicts
        .iter()
        .filter_map(|(predicate, verdict)| Some((predicate, verdict.evidence().first()?)));
    let (lock, words) = match violated.next() {
        None => late::refused(facts)?,
        Some((Predicate::P1 | Predicate::P2, Evidence::Overlap(it))) => (it.lock, double_hold(facts, it)?),
        Some((_, Evidence::StaleWrite(it))) => (it.lock, late_write(facts, it)?),
        Some((_, Evidence::WrongKey(it))) => (it.lock, wrong_key(facts, it)?),
        Some((_, Evidence::Waited(it))) => (it.lock, left_behind(facts, it.lock, it.from, it.to)?),
        Some((_, Evidence::LongWait(it))) => (it.lock, left_behind(facts, it.lock, it.from, it.to)?),
        Some(_) => return None,
    };
    Some(if facts.has_several_locks() { format!("{}: {words}", facts.the_lock(lock)) } else { words })
}

fn double_hold(facts: &Facts<'_>, overlap: &Overlap) -> Option<String> {
    let [first, second] = overlap.grants.map(|grant| facts.claim(grant));
    let (first, second) = (first?, second?);
    let how = late::expired_before_the_grant(facts, second)
        .or_else(|| lost::before_the_next_grant(facts, overlap, first, second))
        .or_else(|| lost::with_its_node(facts, first, second))?;
    Some(how + &lost::freed_in_turn(facts, first, second).unwrap_or_default())
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
        let stays = it.op == KeyOp::Extend && !facts.is_claimed(it.held, it.at);
        let stays = if stays { kept_others_out(facts, it.lock) } else { None };
        let stays = stays.map_or(String::new(), |words| format!("; {words}"));
        return Some(format!("{name} {did} {holder}'s key on {node}{stays}"));
    }
    let node = facts.run.history.header().node(it.node);
    let own = facts.keys_of(it.by).iter().filter(|key| facts.host(key.node) == clean(&node));
    let gone = own.filter_map(|key| expired(key)).any(|at| at <= it.at);
    let (name, holder) = (facts.client(it.client), facts.client(it.held_client?));
    (gone && it.op == KeyOp::Release).then(|| {
        format!(
            "{name}'s {} deleted {holder}'s key on {}, because {name}'s own had expired there",
            facts.run.release,
            clean(&node)
        )
    })
}

/// That a dead client's key kept somebody waiting for too long.
fn kept_others_out(facts: &Facts<'_>, lock: LockId) -> Option<String> {
    facts.run.verdicts.get(Predicate::LV).evidence().iter().find_map(|wait| match wait {
        Evidence::Waited(it) if it.lock == lock => left_behind(facts, lock, it.from, it.to),
        Evidence::LongWait(it) if it.lock == lock => left_behind(facts, lock, it.from, it.to),
        _ => None,
    })
}

/// Somebody waited for a key that a dead client left behind.
fn left_behind(facts: &Facts<'_>, lock: LockId, from: TrueNs, to: TrueNs) -> Option<String> {
    let stayed = |key: &&KeySpan| {
        key.lock == lock && key.from <= from && key.until.is_none_or(|(until, _)| to <= until)
    };
    let keys: Vec<&KeySpan> = facts.run.keys.iter().filter(stayed).collect();
    let events = facts.run.history.events().iter();
    // One that died before it took the key is another process by now, and may still have it.
    let dead = |host: HostIndex, since: TrueNs| {
        events.clone().any(|event| match event.what {
            EventKind::Died { client } => {
                facts.host_of(client) == Some(host) && since <= event.at && event.at <= to
            }
            _ => false,
        })
    };
    let client = keys.first()?.client;
    let nodes_in_all = facts.run.hosts.iter().filter(|(_, role)| *role == Role::Node).count();
    // On fewer, it keeps nobody waiting.
    let on_most = keys.len() * 2 > nodes_in_all;
    let whose = on_most && keys.iter().all(|key| key.client == client && dead(client, key.from));
    let (name, nodes) = (facts.host(client), nodes(facts, keys.iter().map(|key| key.node)));
    let outlives = |key: &&KeySpan| lived_its_time(facts, key, to);
    let long = if keys.iter().all(outlives) { " for longer than its lease" } else { "" };
    whose.then(|| format!("{name}'s process is gone, and its key stays on {nodes}{long}"))
}

/// Whether a key was there for about as long as it was to be: clocks that drift may be a tenth off.
fn lived_its_time(facts: &Facts<'_>, key: &KeySpan, until: TrueNs) -> bool {
    let lived = u128::from(until.since(key.from));
    facts.run.leases.get(&key.client).is_some_and(|lease| lived + lived / 10 >= lease.as_nanos())
}

fn expired(key: &KeySpan) -> Option<TrueNs> {
    key.until.filter(|(_, how)| *how == KeyEnd::Expired).map(|(at, _)| at)
}

fn nodes(facts: &Facts<'_>, hosts: impl Iterator<Item = HostIndex>) -> String {
    let mut hosts: Vec<HostIndex> = hosts.collect();
    hosts.sort_unstable();
    hosts.dedup();
    list(&hosts.into_iter().map(|host| facts.host(host)).collect::<Vec<_>>())
}
