//! Writes as events: sent long before they arrive, applied, applied too late, refused.

use std::collections::BTreeMap;

use doublehold_history::{CallId, ClientId, EventKind, KeyOp, ObjectId, TrueNs};
use doublehold_text::{clean, duration};

use super::{Rank, StoryEvent};
use crate::picture::facts::Facts;

/// A write that is on its way for longer than this has two events: when it is sent and when it arrives.
const LONG_WAY_NS: u64 = 1_000_000_000;

pub(super) fn events(facts: &Facts<'_>) -> Vec<StoryEvent> {
    let mut events = Vec::new();
    let mut sent: BTreeMap<(CallId, ObjectId), TrueNs> = BTreeMap::new();
    for event in facts.run.history.events() {
        let at = event.at;
        match &event.what {
            EventKind::WriteSent { grant, object, .. } => {
                sent.insert((*grant, *object), at);
            }
            EventKind::WriteApplied { client, grant, object, version, based_on, .. } => {
                let of = facts.object_phrase(*object);
                events.extend(long_way(facts, *client, &of, sent.remove(&(*grant, *object)), at));
                events.push(applied_write(facts, at, *client, *grant, &of, *version, *based_on));
            }
            EventKind::WriteRefused { client, grant, object, why, .. } => {
                let of = facts.object_phrase(*object);
                events.extend(long_way(facts, *client, &of, sent.remove(&(*grant, *object)), at));
                let words =
                    format!("the resource refuses {}'s write{of}: {}", facts.client(*client), clean(why));
                events.push(StoryEvent::new(at, Rank::Proof, facts.host_of(*client), words));
            }
            EventKind::WriteLost { client, grant, object, version, acknowledged: true } => {
                let of = facts.object_phrase(*object);
                events.extend(long_way(facts, *client, &of, sent.remove(&(*grant, *object)), at));
                let name = facts.client(*client);
                let words = format!(
                    "lost write: the resource does not have {name}'s committed version {version}{of}"
                );
                events.push(StoryEvent::new(at, Rank::Proof, facts.host_of(*client), words));
            }
            EventKind::KeyTouched { client, by, held, node, op, .. } if by != held => {
                let node = clean(&facts.run.history.header().node(*node));
                let words = touch_words(facts, at, *client, *by, *held, *op);
                let words = format!("{words}{} on {node}", facts.lock_phrase(*held));
                events.push(StoryEvent::new(at, Rank::Proof, facts.host_of(*client), words));
            }
            _ => {}
        }
    }
    events
}

/// What a call did to the key of another: before its grant, it is an attempt.
fn touch_words(
    facts: &Facts<'_>,
    at: TrueNs,
    client: ClientId,
    by: CallId,
    held: CallId,
    op: KeyOp,
) -> String {
    let name = facts.client(client);
    let granted = facts.claim(by).is_some_and(|claim| claim.span.from <= at);
    // An extension may also have counted down, or put a token of its own there.
    let (what, did) = match op {
        KeyOp::Release if granted => ("release", "deletes"),
        KeyOp::Release => ("clean-up", "deletes"),
        KeyOp::Extend if granted => ("extension", "changes"),
        KeyOp::Extend => ("attempt", "moves the expiry of"),
    };
    match holder(facts, held) {
        Some(holder) if holder == name => {
            let which = if by < held { "an earlier" } else { "a later" };
            let of = match (op, granted) {
                (_, true) => format!(" of {which} grant"),
                (KeyOp::Release, false) => format!(" of {which} attempt"),
                (KeyOp::Extend, false) => String::new(),
            };
            format!("{name}'s {what}{of} {did} its own key")
        }
        holder => {
            let whose = holder.map_or("another grant's".to_owned(), |holder| format!("{holder}'s"));
            let after = if (op, granted) == (KeyOp::Release, false) { " after an attempt" } else { "" };
            format!("{name}'s {what}{after} {did} {whose} key")
        }
    }
}

/// Whose key it is: a client's that was granted the lock, or one's that set it and has not heard of it.
fn holder(facts: &Facts<'_>, held: CallId) -> Option<String> {
    let claimed = facts.claim(held).map(|claim| facts.client(claim.client));
    claimed.or_else(|| facts.keys_of(held).first().map(|key| facts.host(key.client)))
}

fn long_way(
    facts: &Facts<'_>,
    client: ClientId,
    of: &str,
    sent: Option<TrueNs>,
    arrived: TrueNs,
) -> Option<StoryEvent> {
    let sent = sent.filter(|sent| arrived.since(*sent) >= LONG_WAY_NS)?;
    let words = format!(
        "{} sends its write{of}, which is on its way for {}",
        facts.client(client),
        duration(arrived.since(sent))
    );
    Some(StoryEvent::new(sent, Rank::Cause, facts.host_of(client), words))
}

fn applied_write(
    facts: &Facts<'_>,
    at: TrueNs,
    client: ClientId,
    grant: CallId,
    of: &str,
    version: u64,
    based_on: Option<u64>,
) -> StoryEvent {
    let name = facts.client(client);
    let mut words = match facts.stale(grant, version) {
        Some(stale) => {
            let (later, lock) = (facts.client(stale.later_client), facts.the_lock(stale.lock));
            format!(
                "late write: the resource applies {name}'s version {version}{of}, {} after {later} was granted {lock}",
                duration(at.since(stale.later_granted_at))
            )
        }
        None => format!("the resource applies {name}'s version {version}{of}"),
    };
    if let Some(based_on) = based_on.filter(|based_on| based_on + 1 != version) {
        words.push_str(&format!(", computed from version {based_on}"));
    }
    let rank = match (facts.stale(grant, version), facts.is_involved(grant)) {
        (Some(_), _) => Rank::Proof,
        (None, true) => Rank::Cause,
        (None, false) => Rank::Routine,
    };
    StoryEvent::new(at, rank, facts.host_of(client), words)
}
