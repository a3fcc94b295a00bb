//! Keys as events: a node no longer holds the key of a client that still believes in its grant, or has it again.

use doublehold_history::TrueNs;
use doublehold_scenarios::report::{KeyEnd, KeyOrigin, KeySpan};
use doublehold_text::list;

use super::{Phase, Rank, StoryEvent};
use crate::picture::facts::Facts;

/// Keys of one grant that end in one way within this time are one event.
const TOGETHER_NS: u64 = 100_000_000;

pub(super) fn events(facts: &Facts<'_>) -> Vec<StoryEvent> {
    let mut lost: Vec<(TrueNs, KeyEnd, &KeySpan)> =
        facts.run.keys.iter().filter_map(|key| lost_key(facts, key)).collect();
    lost.sort_by_key(|&(at, how, key)| (key.grant, how as u8, at, key.node));
    let together = |a: &(TrueNs, KeyEnd, &KeySpan), b: &(TrueNs, KeyEnd, &KeySpan)| {
        a.2.grant == b.2.grant && a.1 == b.1 && b.0.since(a.0) <= TOGETHER_NS
    };
    let mut events: Vec<StoryEvent> = lost.chunk_by(together).map(|keys| one_event(facts, keys)).collect();
    events.extend(facts.run.keys.iter().filter_map(|key| again(facts, key)));
    events
}

/// A key that a restarted node has again from its file, while its client claims the lock.
fn again(facts: &Facts<'_>, key: &KeySpan) -> Option<StoryEvent> {
    // One that had expired meanwhile is dropped in the same instant.
    let stays = key.origin == KeyOrigin::Loaded && key.until.is_none_or(|(until, _)| until > key.from);
    if !stays || !facts.is_claimed(key.grant, key.from) {
        return None;
    }
    let (node, client) = (facts.host(key.node), facts.host(key.client));
    let rank = if facts.is_involved(key.grant) { Rank::Cause } else { Rank::Routine };
    let of = facts.lock_phrase(key.grant);
    let words = format!("{node} has {client}'s key{of} again, from its file");
    Some(StoryEvent::new(key.from, rank, Some(key.node), words).with_phase(Phase::Consequence))
}

/// A key that was gone while its client still claimed the lock, and not by that client's doing.
fn lost_key<'a>(facts: &Facts<'_>, key: &'a KeySpan) -> Option<(TrueNs, KeyEnd, &'a KeySpan)> {
    let (at, how) = key.until?;
    (how != KeyEnd::Deleted && facts.is_claimed(key.grant, at)).then_some((at, how, key))
}

fn one_event(facts: &Facts<'_>, keys: &[(TrueNs, KeyEnd, &KeySpan)]) -> StoryEvent {
    let (at, how, first) = keys[0];
    let mut nodes: Vec<String> = keys.iter().map(|(_, _, key)| facts.host(key.node)).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let (nodes, client, of) = (list(&nodes), facts.host(first.client), facts.lock_phrase(first.grant));
    let words = match how {
        KeyEnd::Expired => format!("{client}'s key{of} expires on {nodes}"),
        KeyEnd::Overwritten => format!("{client}'s key{of} is overwritten on {nodes}"),
        KeyEnd::Flushed => format!("{client}'s key{of} is flushed from {nodes}"),
        KeyEnd::Evicted => format!("{client}'s key{of} is evicted from {nodes}"),
        KeyEnd::SessionEnded => format!("{client}'s session ends on {nodes}"),
        KeyEnd::Forgotten | KeyEnd::Deleted => {
            format!("{client}'s key{of} is gone from {nodes}'s memory")
        }
    };
    let rank = if facts.is_involved(first.grant) { Rank::Cause } else { Rank::Routine };
    StoryEvent::new(at, rank, Some(first.node), words).with_phase(Phase::Consequence)
}
