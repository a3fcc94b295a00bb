//! Every fault that each kind has at every step of a run, against a list of the rules written out: in worlds of one
//! node, of a quorum and of replicas, and with clients whose leases are longer or shorter than the lock's.

use std::collections::BTreeSet;

use doublehold_scenarios::catalog;
use doublehold_scenarios::{Engine, LeanEngine, PreparedSim, Stepped};

use super::*;

/// Both ends of a message, or of the connection that a command came by: where it happens, and the other.
fn ends(event: &Event) -> (String, Option<String>) {
    match event {
        Event::Sent { from, to } => (from.clone(), Some(to.clone())),
        Event::Received { by, from } => (by.clone(), Some(from.clone())),
        Event::Executed { node, client, .. } => (node.clone().expect("a node"), client.clone()),
        Event::Mark { client, .. } | Event::Timer { client } => (client.clone(), None),
        Event::ClockRead { host } | Event::Boot { host } => (host.clone(), None),
    }
}

fn has_replica(scenario: &Scenario) -> bool {
    scenario.nodes.master.is_some() || scenario.name.starts_with("database-failover")
}

/// Those to whom a host sends messages: clients to servers and back, and nodes to each other where they replicate.
fn peers(host: &str, scenario: &Scenario) -> Vec<String> {
    let role = |name: &str| scenario.hosts.iter().find(|it| it.name == name).expect("a host").role;
    let talks = |other: &str| match (role(host), role(other)) {
        (Role::Client, other) => other != Role::Client,
        (_, Role::Client) => true,
        (Role::Node, Role::Node) => has_replica(scenario) && host != other,
        _ => false,
    };
    scenario.hosts.iter().map(|it| it.name.clone()).filter(|other| talks(other)).collect()
}

/// What each kind does at a step, with these lengths: shorter and longer than every lease.
fn by_hand(kind: &str, event: &Event, scenario: &Scenario, within: Duration, beyond: Duration) -> Vec<Fault> {
    let (host, other) = ends(event);
    let link = other.filter(|other| *other != host);
    let is_node = |name: &str| scenario.hosts.iter().any(|it| it.name == name && it.role == Role::Node);
    let is_client = |name: &str| scenario.hosts.iter().any(|it| it.name == name && it.role == Role::Client);
    let one = || host.as_str();
    let ns = beyond.as_nanos() as i64;
    let is_boot = matches!(event, Event::Boot { .. });
    match (kind, link) {
        ("pause", _) => vec![Fault::pause(one()).lasting(within), Fault::pause(one()).lasting(beyond)],
        ("suspend", _) => vec![Fault::suspend(one()).lasting(within), Fault::suspend(one()).lasting(beyond)],
        ("crash", _) => [Duration::ZERO, beyond].map(|it| Fault::crash(one()).lasting(it)).into(),
        ("power-loss", _) => [Duration::ZERO, beyond].map(|it| Fault::power_loss(one()).lasting(it)).into(),
        ("clock-step", _) => vec![Fault::clock_step(one(), ns), Fault::clock_step(one(), -ns)],
        ("clock-freeze", _) => [ClockKind::Wall, ClockKind::Monotonic]
            .map(|clock| Fault::clock_freeze(one(), clock).lasting(beyond))
            .into(),
        ("cut", Some(other)) => vec![Fault::cut(Way::between(one(), other)).lasting(beyond)],
        ("packet-delay", Some(other)) if matches!(event, Event::Sent { .. }) => {
            vec![Fault::packet_delay(one(), other, beyond)]
        }
        ("packet-delay", _) if is_boot => {
            peers(&host, scenario).into_iter().map(|to| Fault::packet_delay(one(), to, beyond)).collect()
        }
        ("duplicate", Some(other)) if matches!(event, Event::Sent { .. }) && is_client(&host) => {
            vec![Fault::duplicate(one(), other, beyond)]
        }
        ("duplicate", _) if is_boot && is_client(&host) => {
            peers(&host, scenario).into_iter().map(|to| Fault::duplicate(one(), to, beyond)).collect()
        }
        ("reset-connections", Some(other)) => {
            vec![Fault::new(Effect::ResetConnections { from: one().into(), to: other.into() })]
        }
        ("slow-node", _) if is_node(&host) => {
            vec![Fault::slow_node(one(), DelayLaw::Fixed(within)).lasting(beyond)]
        }
        ("flush", _) if is_node(&host) && !is_boot => {
            vec![Fault::new(Effect::Flush { hosts: one().into() })]
        }
        ("evict", _) if is_node(&host) && !is_boot => {
            vec![Fault::new(Effect::Evict { hosts: one().into(), volatile_only: true })]
        }
        ("promote", _) if is_node(&host) && !is_boot => {
            let nodes = scenario.hosts.iter().map(|it| it.name.as_str()).filter(|name| is_node(name));
            // The first node of each of these worlds is the master, or the primary.
            nodes.skip(1).filter(|_| has_replica(scenario)).map(Fault::promote).collect()
        }
        _ => Vec::new(),
    }
}

/// The steps of a run, one of each sort at each place: later ones differ in their number only.
fn steps(prepared: &PreparedSim) -> Vec<Nth> {
    let mut seen = BTreeSet::new();
    let mut steps = prepared.steps(doublehold_scenarios::Seed(1));
    steps.retain(|step| seen.insert(step.event.clone()));
    steps
}

#[test]
fn every_kind_strikes_at_every_step_as_its_rule_says() {
    let worlds =
        ["quiet", "quiet/redlock", "quiet/replicated", "failover-before-replication", "database-failover"];
    let ttls = [[None, None], [Some(30), None], [None, Some(3)], [Some(7), Some(41)], [None, None]];
    for (world, ttls) in worlds.into_iter().zip(ttls) {
        let mut scenario = catalog::load(world, &[]).unwrap();
        scenario.faults.clear();
        scenario.lock.ttl = Duration::from_secs(11);
        for (client, ttl) in scenario.clients.iter_mut().zip(ttls) {
            client.ttl = ttl.map(Duration::from_secs);
        }
        let longest = ttls.into_iter().flatten().max().unwrap_or(11).max(11);
        let (within, beyond) = (Duration::from_millis(longest * 500), Duration::from_secs(longest + 2));
        let mut steps = steps(&LeanEngine.prepare(&scenario).unwrap());
        // What a node tells itself crosses no network.
        let node = scenario.hosts[0].name.clone();
        steps.push(Nth { event: Event::Sent { from: node.clone(), to: node }, nth: 1 });
        assert!(steps.len() > 15, "{}", steps.len());
        let mut all = vec![Vec::new(); steps.len()];
        // A service is never slow by commands, flushed or full.
        let is_placed =
            |word: &&str| scenario.service.is_none() || !["slow-node", "flush", "evict"].contains(word);
        let words: Vec<&str> = Kinds::words().into_iter().filter(is_placed).collect();
        for kind in words.iter().copied() {
            let kinds = Kinds::parse(&[kind], &scenario).unwrap();
            let mut strikes = false;
            for (step, all) in steps.iter().zip(&mut all) {
                let at = When::On { events: vec![step.clone()], after: Duration::ZERO };
                let expected: Vec<Fault> = by_hand(kind, &step.event, &scenario, within, beyond)
                    .into_iter()
                    .map(|fault| fault.at(at.clone()).optional())
                    .collect();
                assert_eq!(kinds.at(step), expected, "{kind} at {step} in {world}");
                strikes |= !expected.is_empty();
                all.extend(expected);
            }
            assert_eq!(kinds.find_idle(&steps), (!strikes).then_some(kind), "{world}");
            assert_eq!(Kinds::applicable_words(&scenario).contains(&kind), strikes, "{kind} in {world}");
        }
        // Of several kinds those of each, in the table's order whatever the order of their names.
        let reversed: Vec<&str> = words.into_iter().rev().collect();
        let kinds = Kinds::parse(&reversed, &scenario).unwrap();
        assert_eq!(steps.iter().map(|step| kinds.at(step)).collect::<Vec<_>>(), all, "{world}");
    }
}

#[test]
fn magnitudes_are_said_in_words() {
    let scenario = catalog::load("failover-before-replication", &[]).unwrap();
    assert_eq!(
        Kinds::parse(&Kinds::words(), &scenario).unwrap().descriptions(),
        [
            "pause (for 5 s or 12 s)",
            "suspend (for 5 s or 12 s)",
            "crash (restarting at once or after 12 s)",
            "power-loss (restarting at once or after 12 s)",
            "clock-step (by +12 s or -12 s)",
            "clock-freeze (wall or monotonic, for 12 s)",
            "cut (both ways, for 12 s)",
            "packet-delay (of the next message, by 12 s)",
            "duplicate (of the next request, 12 s later)",
            "reset-connections",
            "slow-node (by 5 s a command, for 12 s)",
            "flush",
            "evict (of every key that has a lifetime)",
            "promote (of R1 or R2)",
        ]
    );
}
