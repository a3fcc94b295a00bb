//! Failovers as events: what Sentinels agreed on, and what became of the old master.
//!
//! Of each step the first Sentinel's word counts, but for the new master: clients ask different Sentinels, and the last
//! to hear of it tells the old address until then.

use std::collections::BTreeSet;

use doublehold_scenarios::report::Announcement;
use doublehold_text::clean;

use super::{Rank, StoryEvent};
use crate::picture::facts::Facts;

pub(super) fn events(facts: &Facts<'_>) -> Vec<StoryEvent> {
    let (mut events, mut said) = (Vec::new(), BTreeSet::new());
    for it in facts.run.announcements {
        let Some((rank, words)) = words(it, &facts.host(it.by)) else { continue };
        // Each Sentinel says the same of one failover; of a new one the words are others.
        if said.insert(words.clone()) {
            events.push(StoryEvent::new(it.at, rank, Some(it.by), clean(&words)));
        }
    }
    events
}

fn words(it: &Announcement, by: &str) -> Option<(Rank, String)> {
    let said: Vec<&str> = it.text.split(' ').collect();
    Some(match (it.kind, &said[..]) {
        ("+odown", ["master", _, node, ..]) => {
            (Rank::Cause, format!("{by} finds {node} down, as a quorum of Sentinels does"))
        }
        ("+promoted-slave", ["slave", _, node, ..]) => {
            (Rank::Proof, format!("{node} is promoted by {by}, and is a master"))
        }
        ("+switch-master", [_, from, _, to, _]) => {
            (Rank::Cause, format!("{by} tells clients {to} instead of {from}"))
        }
        ("+convert-to-slave", ["slave", _, node, _, "@", _, master, _]) => {
            (Rank::Cause, format!("{by} makes {node} follow {master}; its clients are disconnected"))
        }
        ("-failover-abort-no-good-slave", ["master", _, node, _]) => {
            (Rank::Cause, format!("{by} finds no replica of {node} to promote, and gives up"))
        }
        ("-failover-abort-not-elected", ["master", _, node, _]) => {
            (Rank::Cause, format!("{by} is not elected to fail {node} over, and gives up"))
        }
        ("+tilt", _) => (Rank::Cause, format!("{by} finds its clock odd, and does nothing for 30 s")),
        _ => return None,
    })
}
