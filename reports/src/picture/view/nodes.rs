//! Whose key of a lock each node held.

use doublehold_scenarios::report::KeySpan;
use doublehold_scenarios::scenario::Role;

use super::lanes::{KeyBar, NodeLane};
use crate::picture::facts::Facts;

/// Every node's lanes, in the scenario's order, each with one for every lock.
pub(super) fn lanes(facts: &Facts<'_>) -> Vec<NodeLane> {
    let mut lanes = Vec::new();
    for host in facts.hosts(Role::Node) {
        for lock in facts.locks() {
            let keys = facts.keys_on(host).iter().filter(|key| key.lock == lock && lasts(key));
            let label = facts.label_for(&facts.host(host), lock);
            lanes.push(NodeLane { host, lock, label, keys: keys.map(|key| bar(key)).collect() });
        }
    }
    lanes
}

/// A node that loads a key whose time was up meanwhile drops it in the same instant.
fn lasts(key: &KeySpan) -> bool {
    key.until.is_none_or(|(until, _)| until > key.from)
}

fn bar(key: &KeySpan) -> KeyBar {
    KeyBar { grant: key.grant, client: key.client, origin: key.origin, from: key.from, until: key.until }
}
