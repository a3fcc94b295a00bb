//! The pause gate: on both engines a client stops at the same steps of a Redlock call, and goes on alike.
//!
//! Delays are fixed and the nodes are asked one after another, so that one task is ready at a time: the two histories
//! have to be the same, event by event and to the nanosecond, wherever the pause strikes and however long it lasts.

use std::time::Duration;

use doublehold_scenarios::fault::Fault;
use doublehold_scenarios::format::Source;
use doublehold_scenarios::when::{Nth, When};
use doublehold_scenarios::{Engine, Prepared, Scenario, Searchable, SimEngine, Stepped};
use doublehold_turmoil_engine::TurmoilEngine;

/// One call, and a second client that takes whatever the first one loses.
const CALL: &str = r#"
    claim = "one Redlock call"
    lock = { algorithm = "redlock", ttl = "4s", jitter = false }
    nodes = { names = ["A", "B", "C"] }
    network = { delay = "1ms" }
    limits = { time = "5m" }
    [[clients]]
    name = "c1"
    program = ["acquire", "read", "work 100ms", "check", "write", "release"]
    [[clients]]
    name = "c2"
    program = ["acquire", "read", "work 100ms", "check", "write", "release"]
    retry = "70ms"
    start = "37ms"
"#;

/// Shorter than the time a node is given, than the lease, and longer than it.
const LENGTHS: [Duration; 3] = [Duration::from_millis(10), Duration::from_secs(2), Duration::from_secs(6)];

fn call() -> Scenario {
    let (name, file, text) = ("call".into(), "call.toml".into(), CALL.into());
    let source = Source { name, file, text, ..Source::default() };
    source.read().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_pause_at_any_step_of_a_call_comes_to_the_same_on_both_engines() {
    let scenario = call();
    let (sim, turmoil) = (SimEngine.prepare(&scenario), TurmoilEngine.prepare(&scenario));
    let (sim, turmoil) = (sim.expect("it can be run"), turmoil.expect("it can be run"));
    let steps: Vec<Nth> = sim.steps(1).into_iter().filter(|step| step.event.host() == Some("c1")).collect();
    assert!(steps.len() >= 30, "a call has many steps: {}", steps.len());
    let mut stopped = 0;
    for step in &steps {
        for length in LENGTHS {
            let at = When::On { events: vec![step.clone()], after: Duration::ZERO };
            let pause = vec![Fault::pause("c1").at(at).lasting(length)];
            let runs =
                [&sim, &turmoil].map(|engine| engine.with_faults(pause.clone()).expect("c1 is there").run(1));
            let [first, second] = &runs;
            assert!(first.faults[0].from == second.faults[0].from, "{step:?}");
            stopped += usize::from(first.faults[0].from.is_some());
            assert_eq!(first.history.events(), second.history.events(), "{step:?}, {length:?}");
        }
    }
    assert_eq!(stopped, steps.len() * LENGTHS.len(), "every pause strikes");
}
