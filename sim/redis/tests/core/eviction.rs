//! Keys that a node gives up for want of memory.

use std::sync::{Arc, Mutex};

use doublehold_sim_redis::core::{CoreConfig, KeyChange, Observer, Origin};

use crate::support::{Node, change_text};

#[derive(Default)]
struct Changes(Mutex<Vec<String>>);

impl Observer for Changes {
    fn changed(&self, origin: Origin, change: &KeyChange<'_>) {
        assert!(change.command != "EVICTED" || origin == Origin::Node, "nobody's command");
        self.0.lock().unwrap().push(change_text(change));
    }
}

/// A lock, and a counter that lives for ever.
fn filled(config: CoreConfig) -> Node {
    let mut node = Node::with(config);
    let mut client = node.client();
    node.ask(&mut client, &["SET", "stock", "token", "PX", "5000"]);
    node.ask(&mut client, &["INCR", "stock:fencing"]);
    node.propagated();
    node
}

#[test]
fn only_keys_with_a_lifetime_go_or_all_do_each_with_a_del_of_its_own() {
    for (volatile_only, gone) in [(true, vec!["stock"]), (false, vec!["stock", "stock:fencing"])] {
        let changes = Arc::new(Changes::default());
        let mut node =
            filled(CoreConfig { observer: Some(Arc::clone(&changes) as _), ..CoreConfig::default() });
        changes.0.lock().unwrap().clear();
        node.core.evict(volatile_only);
        let mut client = node.client();
        assert_eq!(node.ask(&mut client, &["DBSIZE"]), format!(":{}|", 2 - gone.len()));
        assert_eq!(node.propagated(), gone.iter().map(|key| format!("DEL {key}")).collect::<Vec<_>>());
        let told = changes.0.lock().unwrap().clone();
        let values = ["token", "1"];
        let expected =
            gone.iter().zip(values).map(|(key, value)| format!("EVICTED {key} {value} -> - until ever"));
        assert_eq!(told, expected.collect::<Vec<_>>());
        let stats = node.ask(&mut client, &["INFO", "stats"]);
        assert!(stats.contains(&format!("evicted_keys:{}|", gone.len())), "{stats}");
    }
}

#[test]
fn a_replica_evicts_nothing_by_itself() {
    let mut node = filled(CoreConfig::default());
    node.become_replica();
    node.core.evict(false);
    assert_eq!(node.propagated(), [""; 0]);
    let mut client = node.client();
    assert_eq!(node.ask(&mut client, &["DBSIZE"]), ":2|");
}

#[test]
fn an_evicted_key_that_is_watched_fails_the_transaction() {
    let mut node = filled(CoreConfig::default());
    let (mut watcher, mut other) = (node.client(), node.client());
    node.ask(&mut watcher, &["WATCH", "stock"]);
    node.ask(&mut other, &["WATCH", "another"]);
    node.core.evict(true);
    for (session, replies) in [(&mut watcher, "*-1|"), (&mut other, "*1|+PONG|")] {
        node.ask(session, &["MULTI"]);
        node.ask(session, &["PING"]);
        assert_eq!(node.ask(session, &["EXEC"]), replies);
    }
}
