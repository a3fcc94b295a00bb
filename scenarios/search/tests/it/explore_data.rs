//! Faults that take a node's keys while it runs: `explore` places them at each step of a node, and finds what no crash
//! shows where keys outlive one.

use std::num::NonZeroUsize;
use std::time::Duration;

use doublehold_history::Predicate;
use doublehold_scenarios::Scenario;
use doublehold_scenarios::build::World;
use doublehold_scenarios::scenario::{DelayLaw, Persistence};
use doublehold_scenarios::when::When;
use doublehold_search::explore::{Exploration, Explored};
use doublehold_search::shrink::Target;

/// c1 works for a second, and c2 asks once meanwhile. The node keeps everything on its disk before it answers.
fn kept_on_disk(lock: &str) -> Scenario {
    let world = World::new("kept on disk").nodes(["A"]).clients(2, ["try", "work 1s", "release"]);
    let world = world.ttl(Duration::from_secs(4)).with(|scenario| {
        scenario.link.delay = DelayLaw::Fixed(Duration::from_millis(1));
        scenario.nodes.persistence = Persistence::Always;
        scenario.clients[1].start = Some(When::from(Duration::from_millis(500)));
    });
    world.scenario(lock, doublehold_lockimpl::descriptors()).expect("a scenario")
}

/// The placements of one fault of a kind after which two hold the lock, in words.
fn double_holds(lock: &str, kind: &str) -> Vec<String> {
    let exploration = Exploration::new(&kept_on_disk(lock), &[kind], 1, 1).expect("it can be searched");
    let jobs = NonZeroUsize::new(2).expect("not zero");
    let found: Explored = exploration.run(exploration.begin(), jobs, || false, |_, _| ());
    assert!(found.complete && found.placements() > 0);
    let minimal = found.findings.get(&Target::Violates(Predicate::P2)).map(|it| it.minimal.values());
    let examples = minimal.into_iter().flatten().flat_map(|it| exploration.faults_of(&it.examples[0]));
    examples.map(|fault| fault.to_string()).collect()
}

#[test]
fn a_flush_or_an_eviction_lets_two_hold_a_lock_that_every_crash_leaves_alone() {
    let after_the_grant = |what: &str| {
        ["at A's message from c1", "at the 1st SET executed for c1 on A", "at A's message to c1"]
            .map(|at| format!("A {what}, {at}"))
    };
    let evicts = "evicts every key that has a lifetime";
    assert_eq!(double_holds("single", "crash"), [""; 0]);
    assert_eq!(double_holds("single", "flush"), after_the_grant("is flushed"));
    assert_eq!(double_holds("single", "evict"), after_the_grant(evicts));
    // A key without a lifetime is evicted nowhere.
    assert!(!double_holds("setnx", "flush").is_empty());
    assert_eq!(double_holds("setnx", "evict"), [""; 0]);
}
