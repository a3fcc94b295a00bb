//! The account of the first violation, in one sentence; or, if nothing is violated, of what a lock saw by itself.
//!
//! Each rule names a way in which a lock is lost and the facts that prove it, and gives **what happened, in order**:
//! when a key ended on a node, and what its holder did meanwhile. **The cause** is never read off one run: it is told,
//! with a `because`, only if the run was made again without it and the violation was gone
//! ([`doublehold_search::cause`]). If no rule finds its facts and no cause is known, there is no sentence: a guess
//! would be worse than none.

mod because;
mod late;
mod lost;

use doublehold_history::{
    EventKind, Evidence, KeyOp, LockId, Overlap, Predicate, StaleWrite, TrueNs, WrongKey,
};
use doublehold_scenarios::report::{KeyEnd, KeyOrigin, KeySpan};
use doublehold_scenarios::scenario::{HostIndex, Role};
use doublehold_text::{clean, duration, list};
use serde::Serialize;

use super::facts::Facts;

/// The sentence that is told of a run before all else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Account {
    /// True if it says what the violation came from. If not, it only says what happened.
    pub is_cause: bool,
    /// The sentence, without a full stop.
    pub words: String,
}

impl Account {
    /// The word or two that stand before it.
    pub fn label(&self) -> &'static str {
        if self.is_cause { "why" } else { "what happened" }
    }

    /// The sentence, if it says what the violation came from.
    pub fn cause(self) -> Option<String> {
        self.is_cause.then_some(self.words)
    }

    /// The sentence, if it only says what happened.
    pub fn order(self) -> Option<String> {
        (!self.is_cause).then_some(self.words)
    }
}

/// The first thing that happened, and what followed from it.
struct Happened {
    first: String,
    then: String,
}

/// The account of the first predicate that is violated, in the order in which they are reported; where none is, of a
/// lock that saw by itself that its grant came too late. Of several locks it begins with the one it is about.
pub(super) fn account(facts: &Facts<'_>) -> Option<Account> {
    let violated =
        facts.run.verdicts.iter().find_map(|(predicate, it)| Some((predicate, it.evidence().first()?)));
    let Some((predicate, evidence)) = violated else {
        let (lock, words) = late::late_refusal(facts)?;
        return Some(Account { is_cause: false, words: prefix_with_lock(facts, lock, words) });
    };
    let (lock, happened) = find_cause(facts, evidence)?;
    let because = because::clause(facts, predicate, evidence);
    let is_cause = because.is_some();
    let Happened { first, then } = match happened {
        Some(happened) => happened,
        None if is_cause => Happened { first: violation(facts, evidence)?, then: String::new() },
        None => return None,
    };
    let because = because.map_or(String::new(), |because| format!(", because {because}"));
    Some(Account { is_cause, words: prefix_with_lock(facts, lock, format!("{first}{because}{then}")) })
}

fn prefix_with_lock(facts: &Facts<'_>, lock: LockId, words: String) -> String {
    if facts.has_several_locks() { format!("{}: {words}", facts.the_lock(lock)) } else { words }
}

/// The lock that a piece of evidence is about, and how the violation came about, as far as the run shows it.
fn find_cause(facts: &Facts<'_>, evidence: &Evidence) -> Option<(LockId, Option<Happened>)> {
    let alone = |first: Option<String>| first.map(|first| Happened { first, then: String::new() });
    Some(match evidence {
        Evidence::Overlap(it) => (it.lock, double_hold(facts, it)),
        Evidence::StaleWrite(it) => (it.lock, alone(late_write(facts, it))),
        Evidence::WrongKey(it) => (it.lock, alone(wrong_key(facts, it))),
        Evidence::Waited(it) => (it.lock, alone(left_behind(facts, it.lock, it.from, it.to))),
        Evidence::LongWait(it) => (it.lock, alone(left_behind(facts, it.lock, it.from, it.to))),
        Evidence::Cycle(_) | Evidence::Omitted { .. } => return None,
    })
}

/// The violation itself, where no more is known of how it came to it.
fn violation(facts: &Facts<'_>, evidence: &Evidence) -> Option<String> {
    Some(match evidence {
        Evidence::Overlap(it) => {
            let [one, other] = it.clients.map(|client| facts.client(client));
            format!("{other} was granted the lock while {one} held it")
        }
        Evidence::StaleWrite(it) => {
            let [name, later] = [it.client, it.later_client].map(|client| facts.client(client));
            format!("{name}'s write was applied after {later} was granted the lock")
        }
        Evidence::WrongKey(it) => {
            let node = clean(&facts.run.history.header().node(it.node));
            format!("{} changed another grant's key on {node}", facts.client(it.client))
        }
        Evidence::Waited(it) => {
            let names: Vec<String> = it.clients.iter().map(|client| facts.client(*client)).collect();
            format!("{} waited too long", list(&names))
        }
        Evidence::LongWait(it) => format!("{} waited too long", facts.client(it.client)),
        Evidence::Cycle(_) | Evidence::Omitted { .. } => return None,
    })
}

fn double_hold(facts: &Facts<'_>, overlap: &Overlap) -> Option<Happened> {
    let [first, second] = overlap.grants.map(|grant| facts.claim(grant));
    let (first, second) = (first?, second?);
    let how = late::expired_before_the_grant(facts, second)
        .or_else(|| lost::explain_lost_keys(facts, overlap, first, second))
        .or_else(|| lost::with_its_node(facts, first, second))?;
    Some(Happened { first: how, then: lost::freed_in_turn(facts, first, second).unwrap_or_default() })
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
    if it.held_client == Some(it.client) && it.op == KeyOp::Release {
        // Of an attempt that was never granted there is no telling which came first.
        facts.claim(it.held)?;
        let (release, whose) = lost::release_of(facts, facts.claim(it.by)?, it.held, "");
        return Some(format!("{}'s {release} deleted {whose} on {}", facts.client(it.client), clean(&node)));
    }
    let own = facts.keys_of(it.by).iter().filter(|key| facts.host(key.node) == clean(&node));
    let gone = own.filter_map(|key| expiry_time(key)).any(|at| at <= it.at);
    let (name, holder) = (facts.client(it.client), facts.client(it.held_client?));
    (gone && it.op == KeyOp::Release).then(|| {
        format!(
            "{name}'s own key had expired on {node}, and its {} deleted {holder}'s key there",
            facts.run.release,
            node = clean(&node),
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
    let long =
        if keys.iter().all(|key| outlives(facts, key, to)) { " for longer than its lease" } else { "" };
    whose.then(|| format!("{name}'s process is gone, and its key stays on {nodes}{long}"))
}

/// Whether a key was there for about as long as it was to be: clocks that drift may be a tenth off.
fn lived_its_time(facts: &Facts<'_>, key: &KeySpan, until: TrueNs) -> bool {
    let lived = u128::from(until.since(set_at(facts, key)));
    facts.run.leases.get(&key.client).is_some_and(|lease| lived + lived / 10 >= lease.as_nanos())
}

/// True if a key is there after its lease is over, by true time: so long after it was set, or its holder extended it.
fn outlives(facts: &Facts<'_>, key: &KeySpan, until: TrueNs) -> bool {
    let extended = facts.run.history.events().iter().filter(|event| {
        event.at <= until && matches!(event.what, EventKind::Extended { grant, .. } if grant == key.grant)
    });
    let set = extended.map(|event| event.at).fold(set_at(facts, key), TrueNs::max);
    facts.run.leases.get(&key.client).is_some_and(|lease| u128::from(until.since(set)) > lease.as_nanos())
}

/// The moment at which a key was set. A node that has it from its file, or from its master, has the end with it, which
/// says nothing of when the node came by it.
fn set_at(facts: &Facts<'_>, key: &KeySpan) -> TrueNs {
    let of_grant = facts.keys_of(key.grant).iter().filter(|it| it.origin == KeyOrigin::Executed);
    let set = of_grant.map(|it| it.from).filter(|from| *from <= key.from).max();
    if key.origin == KeyOrigin::Executed { key.from } else { set.unwrap_or(key.from) }
}

fn expiry_time(key: &KeySpan) -> Option<TrueNs> {
    key.until.filter(|(_, how)| *how == KeyEnd::Expired).map(|(at, _)| at)
}

fn nodes(facts: &Facts<'_>, hosts: impl Iterator<Item = HostIndex>) -> String {
    let mut hosts: Vec<HostIndex> = hosts.collect();
    hosts.sort_unstable();
    hosts.dedup();
    list(&hosts.into_iter().map(|host| facts.host(host)).collect::<Vec<_>>())
}
