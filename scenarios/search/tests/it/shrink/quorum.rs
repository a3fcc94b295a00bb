//! What theory says of Redlock (Kleppmann): with N nodes and a quorum of q, a holder of k nodes is overtaken by exactly
//! k - (N - q) lost keys. The other client has the N - k nodes that the holder does not have, and q of them all.

use std::time::Duration;

use doublehold_history::Predicate;
use doublehold_scenarios::build::World;
use doublehold_scenarios::fault::{Effect, Fault, Names, Way};
use doublehold_scenarios::scenario::Scenario;
use doublehold_scenarios::when::{Mark, When};
use doublehold_scenarios::{Engine, LeanEngine};
use doublehold_search::shrink::{Effort, Target};

use crate::shrink::{brute, shrunk};

const NAMES: [&str; 5] = ["A", "B", "C", "D", "E"];

/// A holder of k nodes, all of which lose their keys, among faults that do not matter.
fn world(nodes: usize, holders: usize, lose: &Fault) -> Scenario {
    let grant = When::event("c1", Mark::Grant);
    let ms = Duration::from_millis;
    let mut world = World::new("quorum")
        .nodes(NAMES[..nodes].iter().copied())
        .client("c1", ["acquire", "read", "work 5s", "check", "write", "release"])
        .client("c2", ["acquire", "work 1s", "release"])
        .with(|scenario| scenario.clients[1].start = Some(When::event("c1", Mark::Grant)))
        .fault(Fault::pause("c2").at(ms(700)).lasting(ms(20)).optional())
        .fault(Fault::clock_step("c1", 1_000_000).at(grant.clone()).optional());
    if holders < nodes {
        world = world
            .fault(Fault::cut(Way::from_to("c1", NAMES[holders..nodes].iter().copied().collect::<Names>())));
    }
    world = world
        .fault(lose.clone().at(grant))
        .fault(Fault::slow(Way::between("c1", "A"), ms(1)).at(ms(300)).lasting(ms(400)).optional());
    world.scenario("redlock", doublehold_lockimpl::descriptors()).expect("a world")
}

fn as_theory_says(lose: impl Fn(Vec<&str>) -> Fault) {
    for nodes in [3, 5] {
        let quorum = nodes / 2 + 1;
        for holders in quorum..=nodes {
            let scenario = world(nodes, holders, &lose(NAMES[..nodes].to_vec()));
            let target = Target::Violates(Predicate::P2);
            let result = shrunk(&scenario, 1, target, Effort::default());
            let report = LeanEngine.run(&result.scenario, result.seed);
            let held = report.votes.values().next().expect("a grant").len();
            let lost: usize = result
                .scenario
                .faults
                .iter()
                .map(|fault| match &fault.effect {
                    Effect::ClockStep { hosts, .. } | Effect::PowerLoss { hosts, .. } => hosts.0.len(),
                    _ => 0,
                })
                .sum();
            let text = result.scenario.to_toml();
            assert_eq!((result.after.nodes, held), (nodes, holders), "{text}");
            assert_eq!(lost, holders - (nodes - quorum), "{holders} of {nodes}\n{text}");
            let cuts = usize::from(holders < nodes);
            assert_eq!(result.after.faults, 1 + cuts, "{holders} of {nodes}\n{text}");
            assert_eq!(brute::superfluous(&result, true), Vec::<String>::new(), "{text}");
        }
    }
}

#[test]
fn as_many_clocks_jump_as_theory_says() {
    as_theory_says(|hosts| Fault::clock_step(hosts.into_iter().collect::<Names>(), 10_000_000_000));
}

#[test]
fn as_many_nodes_forget_as_theory_says() {
    as_theory_says(|hosts| Fault::power_loss(hosts.into_iter().collect::<Names>()).lasting(Duration::ZERO));
}
