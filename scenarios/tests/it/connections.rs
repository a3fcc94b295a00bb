//! What a run makes of connections that outlive a process, or a machine's memory of them.

use doublehold_history::Predicate;
use doublehold_scenarios::format::Source;
use doublehold_scenarios::{Engine, Report, SimEngine};

const NOBODY_ELSE: &str = r#"
    claim = "one client and one node"
    nodes = { names = ["A"] }
    limits = { time = "1h", obtain_free_within = "30s" }
"#;

fn run(text: &str) -> Report {
    let source = Source { name: "x".into(), file: "x.toml".into(), text: text.into(), ..Source::default() };
    SimEngine.run(&source.read().unwrap_or_else(|error| panic!("{error}")), 1)
}

fn verdict(report: &Report, predicate: Predicate) -> &'static str {
    report.verdicts.get(predicate).as_str()
}

#[test]
fn a_write_that_a_cut_holds_back_lands_although_its_client_was_killed() {
    let report = run(r#"
        claim = "the kernel of a killed client delivers what it sent"
        lock = { algorithm = "single", ttl = "10s", elapsed_check = true }
        nodes = { names = ["A"] }
        faults = [
            { kind = "cut", from = "c1", to = "resource", for = "30s", at = "c1's write" },
            { kind = "crash", host = "c1", at = "2s after c1's write" },
        ]
        [[clients]]
        name = "c1"
        program = ["acquire", "read", "work 1s", "check", "write", "release"]
        [[clients]]
        name = "c2"
        program = ["acquire", "read", "work 2s", "check", "write", "release"]
        start = "c1's grant"
    "#);
    assert_eq!(verdict(&report, Predicate::P3), "violated");
    assert_eq!(verdict(&report, Predicate::P1), "holds", "a dead client claims nothing");
}

#[test]
fn a_client_that_keeps_its_connection_learns_of_a_restart_behind_a_cut() {
    let report = run(&format!(
        r#"{NOBODY_ELSE}
        lock = {{ algorithm = "single", ttl = "10s", request_timeout = "1s", on_timeout = "keep" }}
        faults = [
            {{ kind = "cut", from = "A", to = "c1", for = "100ms", at = "490ms after c1's grant" }},
            {{ kind = "crash", host = "A", for = "0s", at = "500ms after c1's grant" }},
        ]
        clients = [{{ name = "c1", program = ["acquire", "work 2s", "release"], rounds = 2 }}]
        "#
    ));
    assert_eq!((verdict(&report, Predicate::P1), verdict(&report, Predicate::LV)), ("holds", "holds"));
}

#[test]
fn a_client_that_slept_through_its_nodes_restart_is_not_left_waiting() {
    let report = run(&format!(
        r#"{NOBODY_ELSE}
        lock = {{ algorithm = "single", ttl = "10s", request_timeout = "none" }}
        faults = [
            {{ kind = "suspend", host = "c1", for = "3s", at = "1s after c1's grant" }},
            {{ kind = "crash", host = "A", for = "0s", at = "2s after c1's grant" }},
        ]
        clients = [{{ name = "c1", program = ["acquire", "work 2s", "release"] }}]
        "#
    ));
    assert_eq!((verdict(&report, Predicate::P1), verdict(&report, Predicate::LV)), ("holds", "holds"));
}

#[test]
fn a_release_sent_into_a_cut_shorter_than_its_delay_is_held() {
    // The release leaves at 1.3 s with the cut, and again three round trips later.
    let ends = |cut: &str| {
        run(&format!(
            r#"{NOBODY_ELSE}
            lock = {{ algorithm = "single", ttl = "10s", request_timeout = "none" }}
            network = {{ delay = "50ms" }}
            faults = [{cut}]
            clients = [{{ name = "c1", program = ["acquire", "work 1s", "release"] }}]
            "#
        ))
        .ended
        .0
    };
    let cut = r#"{ kind = "cut", from = "c1", to = "A", for = "49ms", at = "c1's release" }"#;
    let held_for = ends(cut) - ends("");
    assert!((100_000_000..=300_000_000).contains(&held_for), "{held_for} ns");
}
