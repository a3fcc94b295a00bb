//! Waits that a search counts: those that go on after the last fault, told in an order in which a rare cause is seen.

use std::num::NonZeroUsize;
use std::time::Duration;

use doublehold_history::Predicate;
use doublehold_scenarios::build::World;
use doublehold_scenarios::scenario::{DelayLaw, Scenario};
use doublehold_search::explore::{Exploration, Explored, Kinds};
use doublehold_search::shrink::Target;

/// c1 is alone. A lease lasts an hour, and so do faults; its driver sends again what it has no reply to.
fn alone(retries: u64) -> Scenario {
    let world = World::new("alone").nodes(["A"]).client("c1", ["acquire", "work 50ms", "release"]);
    let world = world.ttl(Duration::from_secs(3600));
    let world = world.obtain_within(Duration::from_secs(60)).with(move |scenario| {
        scenario.lock.switches.set("transport_retries", retries);
        scenario.link.delay = DelayLaw::Fixed(Duration::from_millis(1));
        scenario.limits.time = Duration::from_secs(4 * 3600);
        assert!(!scenario.limits.after_faults);
    });
    world.scenario("single", doublehold_lockimpl::descriptors()).expect("a scenario")
}

fn explored(scenario: &Scenario) -> (Exploration, Explored) {
    let exploration = Exploration::new(scenario, &Kinds::words()[..13], 1, 1).expect("it can be searched");
    let found = exploration.run(exploration.begin(), NonZeroUsize::MIN, || false, |_, _| ());
    assert!(found.complete);
    (exploration, found)
}

/// The kinds of placements that break LV, as they are told.
fn told(found: &Explored) -> Vec<(&'static str, &'static str)> {
    let ranked = found.findings.get(&Target::Violates(Predicate::LV)).map(|it| it.ranked());
    ranked.into_iter().flatten().map(|(group, _)| group[0]).collect()
}

#[test]
fn a_wait_that_ends_with_its_fault_breaks_nothing() {
    let (exploration, found) = explored(&alone(0));
    assert!(exploration.kinds().descriptions().iter().any(|it| it.contains("after 3602 s")));
    // Who dies with the lock keeps it from itself, for an hour after the fault.
    let kinds: Vec<&str> = told(&found).into_iter().map(|(kind, _)| kind).collect();
    assert!(kinds.contains(&"crash"), "{kinds:?}");
    let lasting = ["pause", "suspend", "cut", "slow-node", "packet-delay"];
    assert!(!kinds.iter().any(|kind| lasting.contains(kind)), "{kinds:?}");
    // Not even where it is the node that is down.
    let violations = &found.findings[&Target::Violates(Predicate::LV)];
    let examples = violations.minimal.values().flat_map(|it| &it.examples);
    let faults: Vec<String> =
        examples.flat_map(|it| exploration.faults_of(it)).map(|fault| fault.to_string()).collect();
    assert!(faults.iter().all(|fault| !fault.starts_with("A ")), "{faults:#?}");
}

#[test]
fn a_reply_that_is_lost_with_its_connection_is_among_the_first_three_kinds() {
    let (exploration, found) = explored(&alone(3));
    let told = told(&found);
    let lost = told.iter().take(3).find(|(kind, _)| *kind == "reset-connections");
    assert!(lost.is_some(), "{told:?}");
    let violations = &found.findings[&Target::Violates(Predicate::LV)];
    let examples = violations.minimal.values().flat_map(|it| &it.examples);
    let faults: Vec<String> =
        examples.flat_map(|it| exploration.faults_of(it)).map(|fault| fault.to_string()).collect();
    let at_the_set = "the connections between A and c1 are reset, at the 1st SET executed for c1 on A";
    assert!(faults.iter().any(|fault| fault == at_the_set), "{faults:#?}");
}
