//! A holder's key that was gone from nodes which then granted the lock to another: what became of it, in order.
//!
//! It tells only what happened, to whose key, and where. The cause is for runs made without it to show.

use doublehold_history::{CallId, Claim, ClockKind, EventKind, KeyOp, LockId, Overlap, Predicate, TrueNs};
use doublehold_scenarios::fault::{Effect, Nature};
use doublehold_scenarios::report::{KeyEnd, KeyOrigin, KeySpan};
use doublehold_scenarios::scenario::HostIndex;
use doublehold_text::{clean, duration};

use super::{expiry_time, lived_its_time, nodes};
use crate::picture::facts::Facts;

/// A key of the first holder that a node no longer had when it granted the lock to the second.
#[derive(Clone, Copy)]
struct LostKey<'a> {
    key: &'a KeySpan,
    at: TrueNs,
    how: KeyEnd,
}

/// The first holder's key was gone from nodes that then granted the lock to the second: on each of them in its way.
pub(super) fn explain_lost_keys(
    facts: &Facts<'_>,
    overlap: &Overlap,
    first: &Claim,
    second: &Claim,
) -> Option<String> {
    let granting = facts.nodes_of(second.grant).into_iter();
    let lost: Vec<LostKey<'_>> =
        granting.filter_map(|node| lost_on(facts, node, first.grant, second.grant)).collect();
    let holder = facts.client(first.client);
    let ways = [
        explain_deleted(facts, &lost, &holder),
        explain_own_delete(facts, &lost, &holder),
        explain_overwritten(facts, &lost, overlap),
        explain_forgotten(facts, &lost, &holder),
        explain_taken(facts, &lost, &holder, KeyEnd::Flushed, "flushed"),
        explain_taken(facts, &lost, &holder, KeyEnd::Evicted, "evicted"),
        too_soon(facts, &lost, &holder),
        ran_out(facts, &lost, first),
    ];
    let ways: Vec<String> = ways.into_iter().flatten().collect();
    (!ways.is_empty()).then(|| format!("{}, and {}", ways.join(", "), granted_by(facts, second)))
}

/// The first holder's key on a node, if it was gone when the node granted the lock to the second.
fn lost_on<'a>(facts: &Facts<'a>, node: HostIndex, first: CallId, second: CallId) -> Option<LostKey<'a>> {
    let taken = facts.keys_of(second).iter().find(|key| key.node == node)?.from;
    let key = facts.keys_of(first).iter().rev().find(|key| key.node == node && key.from <= taken)?;
    let (at, how) = key.until.filter(|(at, _)| *at <= taken)?;
    Some(LostKey { key, at, how })
}

/// By nodes on which it expired before its time.
fn too_soon(facts: &Facts<'_>, lost: &[LostKey<'_>], holder: &str) -> Option<String> {
    let is_early = |it: &&LostKey<'_>| it.how == KeyEnd::Expired && !lived_its_time(facts, it.key, it.at);
    let nodes = nodes_where(facts, lost, is_early)?;
    Some(format!("{holder}'s key expired on {nodes} before its time"))
}

/// By nodes that died.
fn explain_forgotten(facts: &Facts<'_>, lost: &[LostKey<'_>], holder: &str) -> Option<String> {
    let nodes = nodes_where(facts, lost, |it| it.how == KeyEnd::Forgotten)?;
    Some(format!("{nodes} forgot {holder}'s key"))
}

/// By nobody of a lock: an operator, or a node that needed the memory.
fn explain_taken(
    facts: &Facts<'_>,
    lost: &[LostKey<'_>],
    holder: &str,
    how: KeyEnd,
    word: &str,
) -> Option<String> {
    let nodes = nodes_where(facts, lost, |it| it.how == how)?;
    Some(format!("{holder}'s key was {word} from {nodes}"))
}

/// By its own holder, before it called release: in an extension that came to nothing, or by what it sent to clean up
/// after an earlier attempt of the same call.
fn explain_own_delete(facts: &Facts<'_>, lost: &[LostKey<'_>], holder: &str) -> Option<String> {
    let is_own = |it: &&LostKey<'_>| {
        it.how == KeyEnd::Deleted
            && !is_released(facts, it.key.grant, it.at)
            && released_by(facts, it).any(|by| by == it.key.grant)
    };
    let by = |wanted: Sent| move |it: &&LostKey<'_>| is_own(it) && Sent::new(facts, it) == wanted;
    let did = |wanted: Sent, words: &str| {
        Some(format!("{holder}{words} deleted its own key on {}", nodes_where(facts, lost, by(wanted))?))
    };
    did(Sent::Extending, "'s extension")
        .or_else(|| did(Sent::Asking, "'s late clean-up of an earlier attempt"))
        .or_else(|| did(Sent::Holding, ""))
}

/// The call that a holder was in when it sent a command that deleted its own key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sent {
    /// It asked for the lock: nothing else had sent anything yet.
    Asking,
    /// It extended its lease.
    Extending,
    /// One or the other, or something that its lock does by itself.
    Holding,
}

impl Sent {
    fn new(facts: &Facts<'_>, it: &LostKey<'_>) -> Sent {
        let began = facts.run.extends.and_then(|all| all.get(&it.key.grant)).map_or(&[][..], Vec::as_slice);
        let Some(last) = began.iter().rev().find(|began| **began <= it.at) else { return Sent::Asking };
        let is_over = facts.run.history.events().iter().any(|event| {
            let answered = match event.what {
                EventKind::Extended { grant, .. } | EventKind::ExtendFailed { grant, .. } => {
                    grant == it.key.grant
                }
                _ => false,
            };
            answered && (*last..it.at).contains(&event.at)
        });
        if is_over { Sent::Holding } else { Sent::Extending }
    }
}

/// True if a grant's holder had called release by an instant.
fn is_released(facts: &Facts<'_>, grant: CallId, at: TrueNs) -> bool {
    let of_grant =
        |what: &EventKind| matches!(what, EventKind::ReleaseCalled { grant: it, .. } if *it == grant);
    facts.run.history.events().iter().any(|event| event.at <= at && of_grant(&event.what))
}

/// The calls that deleted a key on its node when it was lost.
fn released_by(facts: &Facts<'_>, it: &LostKey<'_>) -> impl Iterator<Item = CallId> {
    let (at, held, on) = (it.at, it.key.grant, facts.host(it.key.node));
    facts.run.history.events().iter().filter_map(move |event| match event.what {
        EventKind::KeyTouched { by, held: touched, node, op: KeyOp::Release, .. }
            if event.at == at && touched == held && clean(&facts.run.history.header().node(node)) == on =>
        {
            Some(by)
        }
        _ => None,
    })
}

/// The nodes on which a key was lost in some way; `None` if there are none.
fn nodes_where<'a>(
    facts: &Facts<'_>,
    lost: &'a [LostKey<'a>],
    is: impl Fn(&&LostKey<'a>) -> bool,
) -> Option<String> {
    let hosts: Vec<HostIndex> = lost.iter().filter(is).map(|it| it.key.node).collect();
    (!hosts.is_empty()).then(|| nodes(facts, hosts.into_iter()))
}

/// By a release that was meant for another key, mostly the releasing client's own, which was gone.
fn explain_deleted(facts: &Facts<'_>, lost: &[LostKey<'_>], holder: &str) -> Option<String> {
    let (it, by) = lost.iter().filter(|it| it.how == KeyEnd::Deleted).find_map(|it| {
        let by = released_by(facts, it).find(|by| *by != it.key.grant)?;
        Some((it, facts.claim(by)?))
    })?;
    let (who, node) = (facts.client(by.client), facts.host(it.key.node));
    let own = facts.keys_of(by.grant).iter().filter(|key| key.node == it.key.node);
    let own_gone = own.filter_map(|key| expiry_time(key)).find(|at| *at <= it.at);
    let (own, then) = match own_gone.and_then(|at| meanwhile(facts, by, at)) {
        Some(meanwhile) => (format!("{who}'s key expired on {node} while {meanwhile}; "), "then "),
        None => (String::new(), ""),
    };
    let (release, whose) = release_of(facts, by, it.key.grant, holder);
    Some(format!("{own}{who}'s {release} {then}deleted {whose} on {node}"))
}

/// What a call sent that deleted another grant's key, and whose key that was: the client's own, if both are its.
pub(super) fn release_of(facts: &Facts<'_>, by: &Claim, held: CallId, holder: &str) -> (String, String) {
    let release = facts.run.release;
    match facts.claim(held) {
        Some(claim) if claim.client == by.client && by.grant < held => {
            (format!("late {release} of an earlier grant"), "its own key".to_owned())
        }
        Some(claim) if claim.client == by.client => {
            (format!("{release} of a later grant"), "its own key".to_owned())
        }
        _ => (release.to_owned(), format!("{holder}'s key")),
    }
}

/// By the second holder itself.
fn explain_overwritten(facts: &Facts<'_>, lost: &[LostKey<'_>], overlap: &Overlap) -> Option<String> {
    let (of_second, [holder, taker]) =
        (facts.keys_of(overlap.grants[1]), overlap.clients.map(|client| facts.client(client)));
    let nodes = nodes_where(facts, lost, |it| {
        it.how == KeyEnd::Overwritten
            && of_second.iter().any(|key| key.node == it.key.node && key.from == it.at)
    })?;
    let ahead = ahead(facts, overlap)
        .map_or(String::new(), |by| format!(", whose wall clock was {by} ahead of {holder}'s,"));
    Some(format!("{taker}{ahead} overwrote {holder}'s key on {nodes}"))
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
fn ran_out(facts: &Facts<'_>, lost: &[LostKey<'_>], first: &Claim) -> Option<String> {
    let is_up = |it: &&LostKey<'_>| it.how == KeyEnd::Expired && lived_its_time(facts, it.key, it.at);
    let last = lost.iter().filter(is_up).map(|it| it.at).max()?;
    let (holder, nodes) = (facts.client(first.client), nodes_where(facts, lost, is_up)?);
    Some(format!("{holder}'s key expired on {nodes} while {}", meanwhile(facts, first, last)?))
}

/// Of a failover: the node that grants was promoted while another had the first holder's key, and never had it. Where
/// there were two masters before that key was set, the promotion left nothing behind.
pub(super) fn with_its_node(facts: &Facts<'_>, first: &Claim, second: &Claim) -> Option<String> {
    let granting = facts.nodes_of(second.grant);
    let [node] = granting.as_slice() else { return None };
    let had = facts.keys_of(first.grant).iter().any(|key| key.node == *node);
    let promotions = facts.run.faults.iter().filter(|it| matches!(it.fault.effect, Effect::Promote { .. }));
    let promoted = promotions.filter(|it| it.hosts.contains(node)).filter_map(|it| it.from);
    let set = facts.keys_of(first.grant).iter().map(|key| key.from).min()?;
    let promoted = promoted.filter(|at| !had && set <= *at && *at <= second.span.from).max()?;
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
    let of_grant = || facts.run.history.events().iter().filter(|it| it.what.call() == Some(holder.grant));
    let last = |wanted: fn(&EventKind) -> bool| {
        of_grant().rfind(|it| it.at <= at && wanted(&it.what)).map(|it| &it.what)
    };
    let releasing = matches!(last(is_of_release), Some(EventKind::ReleaseCalled { .. }));
    if let Some(stopped) = facts.host_of(holder.client).and_then(|host| facts.faults.stop_word(host, at)) {
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
    let on_its_way = matches!(last(is_of_write), Some(EventKind::WriteSent { .. }));
    Some(if on_its_way {
        format!("{name}'s write was on its way")
    } else {
        format!("{name} was still at work")
    })
}

fn is_of_release(what: &EventKind) -> bool {
    matches!(what, EventKind::ReleaseCalled { .. } | EventKind::ReleaseReturned { .. })
}

fn is_of_write(what: &EventKind) -> bool {
    use EventKind::{WriteApplied, WriteRefused, WriteSent};
    matches!(what, WriteSent { .. } | WriteApplied { .. } | WriteRefused { .. })
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

/// The thing that took a node's memory first, at such an instant.
fn death(facts: &Facts<'_>, node: HostIndex, when: impl Fn(TrueNs) -> bool) -> Option<&'static str> {
    let deaths = facts.run.faults.iter().filter(|fault| {
        let kills = fault.fault.effect.kind().nature == Nature::Death;
        kills && fault.hosts.contains(&node) && fault.from.is_some_and(&when)
    });
    let fault = deaths.min_by_key(|fault| fault.from)?;
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
