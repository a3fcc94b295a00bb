//! Locks that wait by themselves, without a fault: ten clients exclude each other, and each comes to its turn.

use doublehold_history::{EventKind, Predicate};
use doublehold_scenarios::format::Source;
use doublehold_scenarios::scenario::Scenario;
use doublehold_scenarios::{Engine, SimEngine};

/// Ten clients, 30 turns each.
fn busy(lock: &str) -> Scenario {
    let program = r#"["acquire", "read", "work 5ms..50ms", "write", "release"]"#;
    let clients: Vec<String> = (1..=10)
        .map(|number| format!("{{ name = \"c{number}\", program = {program}, rounds = 30 }}"))
        .collect();
    let text = format!(
        r#"
        claim = "ten clients take turns"
        lock = {{ ttl = "30s", {lock} }}
        nodes = {{ names = ["A"], notify_keyspace_events = "KA" }}
        clients = [{}]
        limits = {{ time = "1h", obtain_free_within = "1s" }}
        "#,
        clients.join(", ")
    );
    let source = Source { name: "busy".into(), file: "busy".into(), text, ..Source::default() };
    source.read().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn ten_clients_that_wait_exclude_each_other_and_come_to_all_their_turns() {
    let locks = [
        r#"algorithm = "single", wake = "poll""#,
        r#"algorithm = "single", wake = "pubsub", poll = "none""#,
        r#"algorithm = "single", wake = "list", poll = "none""#,
        r#"algorithm = "single", wake = "keyspace", poll = "none""#,
        r#"algorithm = "single", wake = "tracking", poll = "none""#,
        r#"algorithm = "list""#,
        r#"algorithm = "python-redis-lock""#,
    ];
    for lock in locks {
        let report = SimEngine.run(&busy(lock), 1);
        for predicate in Predicate::ALL {
            assert_eq!(report.verdicts.get(predicate).as_str(), "holds", "{lock}: {predicate}");
        }
        let granted = |what: &EventKind| matches!(what, EventKind::Granted { .. });
        let grants = report.history.events().iter().filter(|event| granted(&event.what)).count();
        assert_eq!(grants, 300, "{lock}");
    }
}
