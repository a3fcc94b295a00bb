//! Where a node has a lock's key from: a client's command, its master, or its own file. Only the first is a vote.

use doublehold_history::Predicate;
use doublehold_scenarios::report::{KeyOrigin, KeySpan};
use doublehold_scenarios::{Engine, Report, SimEngine, format::Source};

fn run(text: &str) -> Report {
    let source =
        Source { name: "keys".into(), file: "keys.toml".into(), text: text.into(), ..Source::default() };
    SimEngine.run(&source.read().unwrap_or_else(|error| panic!("{error}")), 1)
}

/// Node and origin of each key, in the order in which they began.
fn origins(report: &Report) -> Vec<(&str, KeyOrigin)> {
    let of = |key: &KeySpan| (report.scenario.hosts[key.node.0].name.as_str(), key.origin);
    report.keys.iter().map(of).collect()
}

const RESTART: &str = r#"
    claim = "a node that keeps a file has its keys again after a restart"
    lock = { algorithm = "single", ttl = "30s" }
    nodes = { names = ["A"], persistence = "always" }
    clients = [{ name = "c1", program = ["acquire", "work 20s", "release"] }]
"#;

#[test]
fn a_key_that_a_restarted_node_loaded_was_not_granted_by_it_again() {
    let crash = r#"faults = [{ kind = "crash", host = "A", for = "5s", at = "1s after c1's grant" }]"#;
    let report = run(&format!("{RESTART}{crash}"));
    assert_eq!(origins(&report), [("A", KeyOrigin::Executed), ("A", KeyOrigin::Loaded)]);
}

#[test]
fn a_key_that_a_replica_received_was_not_granted_by_it() {
    let report = run(r#"
        claim = "a replica has its master's keys"
        lock = { algorithm = "replicated", ttl = "30s" }
        nodes = { names = ["M", "R1"], master = "M" }
        clients = [{ name = "c1", program = ["acquire", "work 1s", "release"] }]
    "#);
    assert_eq!(origins(&report), [("M", KeyOrigin::Executed), ("R1", KeyOrigin::Replicated)]);
}

/// A scenario whose pause waits for a second SET on A, which only loading could be taken for.
#[test]
fn a_set_that_a_node_loads_from_its_file_is_not_executed() {
    let faults = r#"faults = [
        { kind = "crash", host = "A", for = "5s", at = "1s after c1's grant" },
        { kind = "pause", host = "c1", for = "1s", at = "the 1st SET executed on A after A's boot after c1's grant" },
    ]"#;
    let report = run(&format!("{RESTART}{faults}"));
    assert_eq!(report.faults[1].from, None, "the node loaded a SET and executed none");
    assert_eq!(report.verdicts.get(Predicate::P1).as_str(), "inconclusive");
}

#[test]
fn a_set_that_a_replica_receives_from_its_master_is_not_executed() {
    let report = run(r#"
        claim = "replication is no execution"
        lock = { algorithm = "replicated", ttl = "30s" }
        nodes = { names = ["M", "R1"], master = "M" }
        clients = [{ name = "c1", program = ["acquire", "work 1s", "release"] }]
        faults = [{ kind = "pause", host = "R1", for = "1s", at = "SET executed on R1" }]
    "#);
    assert_eq!(report.faults[0].from, None, "c1 asked M and nobody asked R1");
}

/// R keeps c2's key beyond its lease, since a replica waits for its master to say that a key is gone; the cut makes the
/// extensions come late. Then R is the master, and c1 deletes what is there.
#[test]
fn a_wrong_release_is_seen_also_of_a_key_that_a_replica_kept_beyond_its_lease() {
    let extends = r#""work 1s", "extend", "#.repeat(18);
    let report = run(&format!(
        r#"
        claim = "a plain DEL frees another's lock"
        lock = {{ algorithm = "replicated", ttl = "3s", release = "plain-delete", elapsed_check = false }}
        nodes = {{ names = ["A", "R"], master = "A" }}
        clients = [
            {{ name = "c1", program = ["acquire", "work 20s", "release"] }},
            {{ name = "c2", start = "5s", on_lost_lock = "go-on", program = ["acquire", {extends} "release"] }},
        ]
        faults = [
            {{ kind = "cut", from = "A", to = "R", both_ways = true, at = "7s", for = "5s" }},
            {{ kind = "promote", host = "R", at = "17s" }},
        ]
        "#
    ));
    assert_eq!(report.verdicts.get(Predicate::WR).as_str(), "violated");
}
