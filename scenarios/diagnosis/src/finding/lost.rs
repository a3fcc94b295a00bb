//! A holder's key that was gone from nodes which then granted the lock to another: each way in which it went.

use doublehold_history::{CallId, Claim, ClockKind, EventKind, LockId, Overlap, TrueNs};
use doublehold_scenarios::fault::{Effect, Nature};
use doublehold_scenarios::report::{KeyEnd, KeyOrigin, KeySpan};
use doublehold_scenarios::scenario::HostIndex;

use super::others::lived_its_time;
use super::{KeyLost, Loss, LossKind, Meanwhile, PromotedWithout, deleted, in_order};
use crate::RunFacts;

/// A key of the first holder that a node no longer had when it granted the lock to the second.
#[derive(Clone, Copy)]
pub(super) struct LostSpan<'a> {
    pub(super) key: &'a KeySpan,
    pub(super) at: TrueNs,
    pub(super) how: KeyEnd,
}

/// The first holder's key was gone from nodes that then granted the lock to the second: on each of them in its way.
pub(super) fn lost_keys(
    facts: &RunFacts<'_>,
    overlap: &Overlap,
    first: &Claim,
    second: &Claim,
) -> Option<KeyLost> {
    let granted_by = facts.nodes_of(second.grant);
    let lost: Vec<LostSpan<'_>> =
        granted_by.iter().filter_map(|node| lost_on(facts, *node, first.grant, second.grant)).collect();
    let is_early = |it: &&LostSpan<'_>| !lived_its_time(facts, it.key, it.at);
    let ended = |how: KeyEnd, kind: LossKind| loss_where(&lost, |it| it.how == how, kind);
    let others = [
        deleted::by_its_holder(facts, &lost),
        overwritten(facts, &lost, overlap),
        ended(KeyEnd::Forgotten, LossKind::Forgotten),
        ended(KeyEnd::Flushed, LossKind::Flushed),
        ended(KeyEnd::Evicted, LossKind::Evicted),
        loss_where(&lost, |it| it.how == KeyEnd::Expired && is_early(it), LossKind::ExpiredEarly),
        ran_out(facts, &lost, first),
        session_ended(facts, &lost, first),
    ];
    let mut losses = deleted::by_another(facts, &lost);
    losses.extend(others.into_iter().flatten());
    let lost = |losses| KeyLost {
        holder: first.client,
        losses,
        next: second.client,
        granted_by: if facts.has_several_nodes() { granted_by } else { Vec::new() },
        freed: None,
    };
    (!losses.is_empty()).then(|| lost(losses))
}

/// The first holder's key on a node, if it was gone when the node granted the lock to the second.
fn lost_on<'a>(facts: &RunFacts<'a>, node: HostIndex, first: CallId, second: CallId) -> Option<LostSpan<'a>> {
    let taken = facts.keys_of(second).iter().find(|key| key.node == node)?.from;
    let key = facts.keys_of(first).iter().rev().find(|key| key.node == node && key.from <= taken)?;
    let (at, how) = key.until.filter(|(at, _)| *at <= taken)?;
    Some(LostSpan { key, at, how })
}

/// The nodes on which a key was lost in some way, and the way; `None` if there are none.
pub(super) fn loss_where<'a>(
    lost: &'a [LostSpan<'a>],
    is: impl Fn(&&LostSpan<'a>) -> bool,
    how: LossKind,
) -> Option<Loss> {
    let nodes = in_order(lost.iter().filter(is).map(|it| it.key.node));
    (!nodes.is_empty()).then_some(Loss { nodes, how })
}

/// By the second holder itself.
fn overwritten(facts: &RunFacts<'_>, lost: &[LostSpan<'_>], overlap: &Overlap) -> Option<Loss> {
    let of_second = facts.keys_of(overlap.grants[1]);
    let is_by_second = |it: &&LostSpan<'_>| {
        it.how == KeyEnd::Overwritten
            && of_second.iter().any(|key| key.node == it.key.node && key.from == it.at)
    };
    loss_where(lost, is_by_second, LossKind::Overwritten { ahead_ns: ahead_ns(facts, overlap) })
}

/// By how much the second holder's wall clock was ahead of the first one's, if by the one the first one's lease was
/// over and by the other it was not.
fn ahead_ns(facts: &RunFacts<'_>, overlap: &Overlap) -> Option<u64> {
    let deadline = facts.run.history.events().iter().find_map(|event| match event.what {
        EventKind::Granted { grant, deadline, .. } if grant == overlap.grants[0] => deadline,
        _ => None,
    });
    let ends = deadline.filter(|it| it.clock == ClockKind::Wall)?.reading_ns;
    let [one, other] = overlap.clocks.map(|clocks| clocks.from.map(|reading| reading.wall_ns));
    let (one, other) = (one?, other?);
    (one < ends && ends <= other).then(|| other.abs_diff(one))
}

/// Its time was up, and the holder did not notice, or did not care.
fn ran_out(facts: &RunFacts<'_>, lost: &[LostSpan<'_>], first: &Claim) -> Option<Loss> {
    let is_up = |it: &&LostSpan<'_>| it.how == KeyEnd::Expired && lived_its_time(facts, it.key, it.at);
    let last = lost.iter().filter(is_up).map(|it| it.at).max()?;
    loss_where(lost, is_up, LossKind::Expired { meanwhile: meanwhile(facts, first, last)? })
}

/// Its session ended at the service, and the holder did not notice, or did not care.
fn session_ended(facts: &RunFacts<'_>, lost: &[LostSpan<'_>], first: &Claim) -> Option<Loss> {
    let has_ended = |it: &&LostSpan<'_>| it.how == KeyEnd::SessionEnded;
    let last = lost.iter().filter(has_ended).map(|it| it.at).max()?;
    loss_where(lost, has_ended, LossKind::SessionEnded { meanwhile: meanwhile(facts, first, last)? })
}

/// Of a failover: the node that grants was promoted while another had the first holder's key, and never had it. Where
/// there were two masters before that key was set, the promotion left nothing behind.
pub(super) fn promoted_without(
    facts: &RunFacts<'_>,
    first: &Claim,
    second: &Claim,
) -> Option<PromotedWithout> {
    let granting = facts.nodes_of(second.grant);
    let [node] = granting.as_slice() else { return None };
    let had = facts.keys_of(first.grant).iter().any(|key| key.node == *node);
    let promotions = facts.run.faults.iter().filter(|it| matches!(it.fault.effect, Effect::Promote { .. }));
    let promoted = promotions.filter(|it| it.hosts.contains(node)).filter_map(|it| it.from);
    let set = facts.keys_of(first.grant).iter().map(|key| key.from).min()?;
    let promoted = promoted.filter(|at| !had && set <= *at && *at <= second.span.from).max()?;
    let died = facts.keys_of(first.grant).iter().find_map(|key| {
        let how = death(facts, key.node, |at| key.from <= at && at <= promoted)?;
        (key.origin == KeyOrigin::Executed).then_some((key.node, how))
    });
    Some(PromotedWithout { holder: first.client, died, node: *node, next: second.client, freed: None })
}

/// The thing that took a node's memory first, at such an instant.
fn death(facts: &RunFacts<'_>, node: HostIndex, when: impl Fn(TrueNs) -> bool) -> Option<&'static str> {
    let deaths = facts.run.faults.iter().filter(|fault| {
        let kills = fault.fault.effect.kind().nature == Nature::Death;
        kills && fault.hosts.contains(&node) && fault.from.is_some_and(&when)
    });
    let fault = deaths.min_by_key(|fault| fault.from)?;
    Some(if matches!(fault.fault.effect, Effect::Crash { .. }) { "crashed" } else { "lost power" })
}

/// What kept a client from noticing, or from caring, that its key was gone.
pub(super) fn meanwhile(facts: &RunFacts<'_>, holder: &Claim, at: TrueNs) -> Option<Meanwhile> {
    let of_grant = || facts.run.history.events().iter().filter(|it| it.what.call() == Some(holder.grant));
    let last = |wanted: fn(&EventKind) -> bool| {
        of_grant().rfind(|it| it.at <= at && wanted(&it.what)).map(|it| &it.what)
    };
    let in_release = matches!(last(is_of_release), Some(EventKind::ReleaseCalled { .. }));
    if let Some(state) = facts.host_of(holder.client).and_then(|host| facts.faults.stop_word(host, at)) {
        return Some(Meanwhile::Stopped { state, in_release });
    }
    if in_release {
        return Some(Meanwhile::Releasing);
    }
    if !facts.is_claimed(holder.grant, at) {
        return None;
    }
    if let Some(wanted) = waited_for(facts, holder, at) {
        return Some(Meanwhile::WaitedFor(wanted));
    }
    let is_writing = matches!(last(is_of_write), Some(EventKind::WriteSent { .. }));
    Some(if is_writing { Meanwhile::Writing } else { Meanwhile::Working })
}

fn is_of_release(what: &EventKind) -> bool {
    matches!(what, EventKind::ReleaseCalled { .. } | EventKind::ReleaseReturned { .. })
}

fn is_of_write(what: &EventKind) -> bool {
    use EventKind::{WriteApplied, WriteLost, WriteRefused, WriteSent};
    matches!(what, WriteSent { .. } | WriteApplied { .. } | WriteRefused { .. } | WriteLost { .. })
}

/// Another lock that a holder was waiting for at an instant. A refused call may be made again, so it ends no wait.
fn waited_for(facts: &RunFacts<'_>, holder: &Claim, at: TrueNs) -> Option<LockId> {
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
