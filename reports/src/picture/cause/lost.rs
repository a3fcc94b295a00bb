//! A holder's key that was gone from nodes which then granted the lock to another: what became of it.

use doublehold_history::words::{clean, duration, signed_duration};
use doublehold_history::{CallId, Claim, ClockKind, EventKind, KeyOp, LockId, Overlap, Predicate, TrueNs};
use doublehold_scenarios::fault::{Effect, Nature};
use doublehold_scenarios::report::{KeyEnd, KeyOrigin, KeySpan};
use doublehold_scenarios::scenario::HostIndex;

use super::{expired, lived_its_time, nodes};
use crate::picture::facts::Facts;

/// A key of the first holder that a node no longer had when it granted the lock to the second.
#[derive(Clone, Copy)]
struct Lost<'a> {
    key: &'a KeySpan,
    at: TrueNs,
    how: KeyEnd,
}

/// The first holder's key was gone from nodes that then granted the lock to the second.
pub(super) fn before_the_next_grant(
    facts: &Facts<'_>,
    overlap: &Overlap,
    first: &Claim,
    second: &Claim,
) -> Option<String> {
    let granting = facts.nodes_of(second.grant).into_iter();
    let lost: Vec<Lost<'_>> =
        granting.filter_map(|node| lost_on(facts, node, first.grant, second.grant)).collect();
    let (holder, later) = (facts.client(first.client), granted_by(facts, second));
    stepped(facts, &lost, &holder, &later)
        .or_else(|| forgotten(facts, &lost, &holder, &later))
        .or_else(|| cleaned_up(facts, &lost, &holder, &later))
        .or_else(|| deleted(facts, &lost, &holder, &later))
        .or_else(|| overwritten(facts, &lost, overlap))
        .or_else(|| ran_out(facts, &lost, first, &later))
}

/// The first holder's key on a node, if it was gone when the node granted the lock to the second.
fn lost_on<'a>(facts: &Facts<'a>, node: HostIndex, first: CallId, second: CallId) -> Option<Lost<'a>> {
    let taken = facts.keys_of(second).iter().find(|key| key.node == node)?.from;
    let key = facts.keys_of(first).iter().rev().find(|key| key.node == node && key.from <= taken)?;
    let (at, how) = key.until.filter(|(at, _)| *at <= taken)?;
    Some(Lost { key, at, how })
}

/// By nodes whose clocks were stepped. Of several, those that were stepped as far.
fn stepped(facts: &Facts<'_>, lost: &[Lost<'_>], holder: &str, later: &str) -> Option<String> {
    let by = |it: &Lost<'_>| if it.how == KeyEnd::Expired { step(facts, it.key, it.at) } else { None };
    let first = lost.iter().find_map(by)?;
    let alike: Vec<&Lost<'_>> = lost.iter().filter(|it| by(it).as_ref() == Some(&first)).collect();
    let nodes = nodes(facts, alike.iter().map(|it| it.key.node));
    let its = if alike.len() == 1 { "its clock was" } else { "their clocks were" };
    Some(format!("{nodes} forgot {holder}'s key because {its} stepped by {first}, and {later}"))
}

/// By nodes that died.
fn forgotten(facts: &Facts<'_>, lost: &[Lost<'_>], holder: &str, later: &str) -> Option<String> {
    let did = |it: &Lost<'_>| {
        if it.how == KeyEnd::Forgotten { death(facts, it.key.node, |at| at == it.at) } else { None }
    };
    let first = lost.iter().find_map(did)?;
    let alike: Vec<&Lost<'_>> = lost.iter().filter(|it| did(it) == Some(first)).collect();
    let nodes = nodes(facts, alike.iter().map(|it| it.key.node));
    let they = if alike.len() == 1 { "it" } else { "they" };
    Some(format!("{nodes} forgot {holder}'s key because {they} {first}, and {later}"))
}

/// By its own holder, before it called release: what it sent to clean up after an earlier attempt of the same call.
fn cleaned_up(facts: &Facts<'_>, lost: &[Lost<'_>], holder: &str, later: &str) -> Option<String> {
    let events = || facts.run.history.events().iter();
    let is_released = |grant: CallId, at: TrueNs| {
        let of_grant =
            |what: &EventKind| matches!(what, EventKind::ReleaseCalled { grant: it, .. } if *it == grant);
        events().any(|event| event.at <= at && of_grant(&event.what))
    };
    let by_itself = |it: &&Lost<'_>| {
        let own = |what: &EventKind| match what {
            EventKind::KeyTouched { by, held, op: KeyOp::Release, .. } => by == held && *held == it.key.grant,
            _ => false,
        };
        it.how == KeyEnd::Deleted
            && !is_released(it.key.grant, it.at)
            && events().any(|event| event.at == it.at && own(&event.what))
    };
    let hosts: Vec<HostIndex> = lost.iter().filter(by_itself).map(|it| it.key.node).collect();
    let nodes = (!hosts.is_empty()).then(|| nodes(facts, hosts.into_iter()))?;
    Some(format!(
        "{holder}'s late clean-up of an earlier attempt deleted its own key on {nodes}, and {later}"
    ))
}

/// By a release that was meant for another key, mostly the releasing client's own, which was gone.
fn deleted(facts: &Facts<'_>, lost: &[Lost<'_>], holder: &str, later: &str) -> Option<String> {
    let it = lost.iter().find(|it| it.how == KeyEnd::Deleted)?;
    let by = facts.run.history.events().iter().find_map(|event| match event.what {
        EventKind::KeyTouched { by, held, op: KeyOp::Release, .. }
            if event.at == it.at && held == it.key.grant && by != held =>
        {
            facts.claim(by)
        }
        _ => None,
    })?;
    let (who, node, release) = (facts.client(by.client), facts.host(it.key.node), facts.run.release);
    let own = facts.keys_of(by.grant).iter().filter(|key| key.node == it.key.node);
    let own_gone = own.filter_map(|key| expired(key)).find(|at| *at <= it.at);
    let (own, then) = match own_gone.and_then(|at| meanwhile(facts, by, at)) {
        Some(meanwhile) => (format!("{who}'s key expired on {node} while {meanwhile}; "), "then "),
        None => (String::new(), ""),
    };
    Some(format!("{own}{who}'s {release} {then}deleted {holder}'s key on {node}, and {later}"))
}

/// By the second holder itself.
fn overwritten(facts: &Facts<'_>, lost: &[Lost<'_>], overlap: &Overlap) -> Option<String> {
    let (of_second, [holder, taker]) =
        (facts.keys_of(overlap.grants[1]), overlap.clients.map(|client| facts.client(client)));
    let by_second = |it: &&Lost<'_>| of_second.iter().any(|key| key.node == it.key.node && key.from == it.at);
    let overwritten = lost.iter().filter(|it| it.how == KeyEnd::Overwritten).filter(by_second);
    let hosts: Vec<HostIndex> = overwritten.map(|it| it.key.node).collect();
    if hosts.is_empty() {
        return None;
    }
    let ahead = ahead(facts, overlap)
        .map_or(String::new(), |by| format!(", whose wall clock was {by} ahead of {holder}'s,"));
    let nodes = nodes(facts, hosts.into_iter());
    Some(format!("{taker}{ahead} overwrote {holder}'s key on {nodes}, and so was granted the lock"))
}

/// By how much the second holder's wall clock was ahead of the first one's, if by the one the first one's lease was
/// over and by the other it was not.
fn ahead(facts: &Facts<'_>, overlap: &Overlap) -> Option<String> {
    let deadline = facts.run.history.events().iter().find_map(|event| match event.what {
        EventKind::Granted { grant, deadline, .. } if grant == overlap.grants[0] => deadline,
        _ => None,
    });
    let ends = deadline.filter(|it| it.clock == ClockKind::Wall)?.reading_ns;
    let [one, other] = overlap.clocks.map(|clocks| clocks.from.map(|reading| reading.wall_ns));
    let (one, other) = (one?, other?);
    (one < ends && ends <= other).then(|| duration(other.abs_diff(one)))
}

/// Its time was up, and the holder did not notice, or did not care.
fn ran_out(facts: &Facts<'_>, lost: &[Lost<'_>], first: &Claim, later: &str) -> Option<String> {
    let expired = lost.iter().filter(|it| it.how == KeyEnd::Expired && lived_its_time(facts, it.key, it.at));
    let last = expired.clone().map(|it| it.at).max()?;
    let (holder, nodes) = (facts.client(first.client), nodes(facts, expired.map(|it| it.key.node)));
    Some(format!("{holder}'s key expired on {nodes} while {}, and {later}", meanwhile(facts, first, last)?))
}

/// Of a failover: the node that grants was promoted, and never had the first holder's key.
pub(super) fn with_its_node(facts: &Facts<'_>, first: &Claim, second: &Claim) -> Option<String> {
    let granting = facts.nodes_of(second.grant);
    let [node] = granting.as_slice() else { return None };
    let had = facts.keys_of(first.grant).iter().any(|key| key.node == *node);
    let promotions = facts.run.faults.iter().filter(|it| matches!(it.fault.effect, Effect::Promote { .. }));
    let promoted = promotions.filter(|it| it.hosts.contains(node)).find_map(|it| it.from);
    let promoted = promoted.filter(|at| !had && *at <= second.span.from)?;
    let (name, holder, later) = (facts.host(*node), facts.client(first.client), facts.client(second.client));
    let died = facts.keys_of(first.grant).iter().find_map(|key| {
        let how = death(facts, key.node, |at| key.from <= at && at <= promoted)?;
        (key.origin == KeyOrigin::Executed).then(|| (facts.host(key.node), how))
    });
    let died = died.map_or(String::new(), |(master, how)| format!("{master} {how}, "));
    Some(format!("{died}{name} was promoted without {holder}'s key, and granted the lock to {later}"))
}

/// What the first holder did to the second one's key when it gave the lock back, and who came in by that.
pub(super) fn freed_in_turn(facts: &Facts<'_>, first: &Claim, second: &Claim) -> Option<String> {
    let (node, at) = facts.run.history.events().iter().find_map(|event| match event.what {
        EventKind::KeyTouched { by, held, node, op: KeyOp::Release, .. }
            if by == first.grant && held == second.grant =>
        {
            Some((node, event.at))
        }
        _ => None,
    })?;
    let (who, holder, release) = (facts.client(first.client), facts.client(second.client), facts.run.release);
    let node = clean(&facts.run.history.header().node(node));
    let let_in = facts.overlaps(Predicate::P1).find(|it| it.grants[0] == second.grant && it.from > at);
    let let_in = let_in
        .map_or(String::new(), |it| format!(", and {} was granted the lock", facts.client(it.clients[1])));
    Some(format!("; {who}'s {release} then deleted {holder}'s key on {node}{let_in}"))
}

/// What kept a client from noticing, or from caring, that its key was gone.
fn meanwhile(facts: &Facts<'_>, holder: &Claim, at: TrueNs) -> Option<String> {
    let name = facts.client(holder.client);
    let of_grant =
        || facts.run.history.events().iter().filter(|event| event.what.call() == Some(holder.grant));
    let first = |wanted: fn(&EventKind) -> bool| of_grant().find(|it| wanted(&it.what)).map(|it| it.at);
    let called = first(|what| matches!(what, EventKind::ReleaseCalled { .. }));
    let returned = first(|what| matches!(what, EventKind::ReleaseReturned { .. }));
    let releasing =
        called.is_some_and(|called| called <= at) && returned.is_none_or(|returned| at < returned);
    if let Some(stopped) = facts.host_of(holder.client).and_then(|host| facts.faults.stopped(host, at)) {
        let within = if releasing { " in its release" } else { "" };
        return Some(format!("{name} was {stopped}{within}"));
    }
    if releasing {
        return Some(format!("{name}'s release was under way"));
    }
    if !facts.is_claimed(holder.grant, at) {
        return None;
    }
    if let Some(wanted) = waited_for(facts, holder, at) {
        return Some(format!("{name} waited for {}", facts.the_lock(wanted)));
    }
    let sent = first(|what| matches!(what, EventKind::WriteSent { .. }));
    let arrived =
        first(|what| matches!(what, EventKind::WriteApplied { .. } | EventKind::WriteRefused { .. }));
    let on_its_way = sent.is_some_and(|sent| sent <= at) && arrived.is_none_or(|arrived| at < arrived);
    Some(if on_its_way {
        format!("{name}'s write was on its way")
    } else {
        format!("{name} was still at work")
    })
}

/// Another lock that a holder was waiting for at an instant. A refused call may be made again, so it ends no wait.
fn waited_for(facts: &Facts<'_>, holder: &Claim, at: TrueNs) -> Option<LockId> {
    let before = facts.run.history.events().iter().take_while(|event| event.at <= at);
    let of_client = before.filter(|event| event.what.client() == Some(holder.client));
    of_client.fold(None, |wanted, event| match event.what {
        EventKind::AcquireStarted { lock, .. } => Some(lock).filter(|lock| *lock != holder.lock),
        EventKind::Refused { .. } | EventKind::AcquireUnknown { .. } | EventKind::DeadlinePassed { .. } => {
            wanted
        }
        EventKind::Clocks { .. } => wanted,
        _ => None,
    })
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

/// What took a node's memory at such an instant.
fn death(facts: &Facts<'_>, node: HostIndex, when: impl Fn(TrueNs) -> bool) -> Option<&'static str> {
    let fault = facts.run.faults.iter().find(|fault| {
        let kills = fault.fault.effect.kind().nature == Nature::Death;
        kills && fault.hosts.contains(&node) && fault.from.is_some_and(&when)
    })?;
    Some(if matches!(fault.fault.effect, Effect::Crash { .. }) { "crashed" } else { "lost power" })
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
