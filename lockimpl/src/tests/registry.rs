//! Locks by name: what is refused, and what every kind of lock keeps to, also those that are added later.

use std::time::Duration;

use super::fake::{World, ms};
use crate::{
    Acquired, BoxLock, ConfigError, Env, Extended, Facts, Kind, Lock, LockConfig, NodeName, Nodes,
    RedlockConfig, Registry, Released, SingleConfig, Switches, Timing, Value, descriptors,
};

const NODES: [&str; 5] = ["a", "b", "c", "d", "e"];
const TTL: Duration = Duration::from_secs(10);

fn build(world: &World, lock: &str, nodes: usize, chosen: &Switches) -> Result<BoxLock, ConfigError> {
    let nodes = NODES[..nodes].iter().map(|name| NodeName::new(name)).collect();
    Registry::builtin().build(lock, world.clone(), nodes, chosen)
}

#[test]
fn what_cannot_work_is_refused_with_the_way_out() {
    let refused = |lock: &str, nodes: usize, chosen: Switches| {
        build(&World::default(), lock, nodes, &chosen).err().map_or(String::new(), |error| error.to_string())
    };
    let nothing = Switches::new;
    assert_eq!(refused("redlock", 5, nothing()), "");
    assert_eq!(refused("redlock", 0, nothing()), "the lock has no nodes: name at least one");
    assert_eq!(refused("replicated", 0, nothing()), "the lock has no nodes: name at least one");
    assert_eq!(
        refused("single", 2, nothing()),
        "the `single` lock needs exactly one node, not 2: name one, or use `replicated` or `redlock`"
    );
    assert_eq!(
        refused("redlock", 5, nothing().with("quorum", 6_u64)),
        "a `quorum` of 6 makes no sense with 5 nodes: use 1 to 5"
    );
    assert_eq!(
        refused("redlock", 5, nothing().with("subset", 6_u64)),
        "a `subset` of 6 makes no sense with 5 nodes: use 1 to 5"
    );
    assert_eq!(
        refused("redlock", 5, nothing().with("tries", 0_u64)),
        "the switch `tries` cannot be `0`: use 1 to 1000"
    );
    assert_eq!(
        refused("redlock", 5, nothing().with("quorum", 0_u64)),
        "the switch `quorum` cannot be `0`: use majority, half-of-others, more-than-majority or 1 to the number of nodes"
    );
    assert_eq!(
        refused("single", 1, nothing().with("request_timeout", Duration::ZERO)),
        "the switch `request_timeout` cannot be `0s`: use a duration above zero or none"
    );
    assert_eq!(
        refused("single", 1, nothing().with("clock", "sundial")),
        "the switch `clock` cannot be `sundial`: use wall, monotonic or boot"
    );
    let unknown = refused("single", 1, nothing().with("tries", 3_u64));
    assert!(unknown.starts_with("there is no switch `tries`: the lock takes `elapsed_check`, "), "{unknown}");
    assert_eq!(
        refused("singel", 1, nothing()),
        "there is no lock `singel`: `doublehold locks` lists those there are"
    );
}

#[test]
fn a_switch_that_is_chosen_is_in_the_configuration_and_the_others_are_as_published() {
    let chosen = Switches::new().with("request_timeout", "none").with("fencing", true);
    let config = SingleConfig::from_switches(&chosen).expect("both are switches of the lock");
    assert_eq!(config, SingleConfig { request_timeout: None, fencing: true, ..SingleConfig::default() });
    let config = RedlockConfig::from_switches(&Switches::new()).expect("nothing is chosen");
    assert_eq!(
        (config.timing, config.retry.tries, config.node_timeout),
        (Timing::checked(), 3, Some(ms(50)))
    );
}

#[test]
fn a_kind_that_is_added_takes_the_place_of_one_with_its_name() {
    struct Impostor;
    impl<E: Env> crate::LockKind<E> for Impostor {
        fn descriptor(&self) -> crate::Descriptor {
            crate::Descriptor::from_config::<()>("single", "another", "nobody", Nodes::Independent)
        }
        fn build(&self, _: E, nodes: Vec<NodeName>, _: &Switches) -> Result<BoxLock, ConfigError> {
            Err(ConfigError::NotOneNode { lock: "single", nodes: nodes.len() })
        }
    }
    let registry = Registry::<World>::builtin().with(Impostor);
    assert_eq!(registry.descriptors().len(), descriptors().len());
    assert_eq!(registry.descriptors().last().map(|last| last.meaning), Some("another"));
}

/// As many nodes as a kind of lock wants.
fn nodes_of(wanted: Nodes) -> usize {
    if wanted == Nodes::One { 1 } else { 5 }
}

/// The commands that reached any node.
fn commands(world: &World) -> Vec<String> {
    let state = world.state();
    let log = state.nodes.values().flat_map(|node| &node.log);
    log.filter_map(|(_, words)| words.split(' ').next().map(str::to_owned)).collect()
}

/// The locks that run on nodes of this small world. It has no other services.
fn on_redis() -> impl Iterator<Item = crate::Descriptor> {
    descriptors().into_iter().filter(|descriptor| descriptor.service.is_none())
}

#[test]
fn every_lock_says_what_marks_its_keys_before_it_sets_them() {
    for descriptor in on_redis() {
        let world = World::with_nodes(&NODES);
        let mut lock = build(&world, descriptor.name, nodes_of(descriptor.nodes), &Switches::new())
            .expect("a lock as published can be built");
        let Acquired::Granted(grant) = world.run(lock.acquire("stock", TTL)) else {
            panic!("{}: nobody else asks", descriptor.name)
        };
        let marks = world.state().marks.clone();
        if world.state().marked_keys == [b"stock".to_vec()] {
            // Whoever makes the key has the lock, whatever is in it.
            continue;
        }
        // Who looks for the lock by taking it has another key meanwhile.
        assert!(marks.contains(&grant.token.as_bytes().to_vec()), "{}: {marks:?}", descriptor.name);
        assert!(marks.len() <= 2, "{}: {marks:?}", descriptor.name);
    }
}

/// The lock as published, and with each switch set to each of its other words, turned, or there at all.
fn ways_to_set(descriptor: &crate::Descriptor) -> Vec<Switches> {
    let mut ways = vec![Switches::new()];
    for switch in descriptor.switches.iter() {
        let one = |value: Value| Switches::new().with(switch.name, value);
        ways.extend(switch.words.iter().map(|word| one((*word).into())));
        match (&switch.default, switch.kind) {
            (Some(Value::Flag(default)), _) => ways.push(one((!default).into())),
            (None, Some(Kind::Number { least, .. })) => ways.push(one(least.into())),
            _ => {}
        }
    }
    ways
}

/// What makes a lock none: nobody is ever granted it, or two threads of one process are.
const NO_LOCK: [(&str, &str); 4] = [
    ("script", "does-not-compile"),
    ("script", "fails-halfway"),
    ("script", "read-as-text"),
    ("local", "object"),
];

fn is_no_lock(chosen: &Switches) -> bool {
    NO_LOCK.iter().any(|(switch, word)| chosen.get(switch) == Some(&Value::from(*word)))
}

#[test]
fn what_a_descriptor_says_of_its_lock_is_true_however_a_switch_is_set() {
    for descriptor in on_redis() {
        for chosen in ways_to_set(&descriptor).into_iter().filter(|chosen| !is_no_lock(chosen)) {
            let world = World::with_nodes(&NODES);
            NODES.iter().for_each(|name| world.node(name, |node| node.acknowledging = 4));
            let facts = descriptor.facts(&chosen);
            let mut lock =
                build(&world, descriptor.name, nodes_of(descriptor.nodes), &chosen).expect("it can be built");
            let Acquired::Granted(mut grant) = world.run(lock.acquire("stock", TTL)) else {
                panic!("{}: nobody else asks", descriptor.name)
            };
            let came = (grant.deadline.is_some(), grant.fencing.is_some());
            assert_eq!(came, (facts.deadline, facts.fencing), "{} with {chosen:?}", descriptor.name);
            let extended = world.run(lock.extend(&mut grant, TTL));
            let extends = matches!(extended, Extended::Extended { .. });
            assert_eq!(extends, facts.extends, "{} with {chosen:?}: {extended:?}", descriptor.name);
            assert_eq!(world.run(lock.release(&grant)), Released::Released, "{}", descriptor.name);
            // Some locks have more to say where somebody's lease is over.
            world.run(lock.acquire("stock", TTL));
            let mut other =
                build(&world, descriptor.name, nodes_of(descriptor.nodes), &chosen).expect("as above");
            if descriptor.nodes == crate::Nodes::One {
                // Some look whose key it is that refuses them.
                world.run(other.acquire("stock", TTL));
            }
            if facts.waits {
                let waited = world.run(other.acquire_within("stock", TTL, TTL / 2));
                assert!(matches!(waited, Acquired::Refused(_)), "{} with {chosen:?}", descriptor.name);
            }
            // Some leave a lock alone for a while after its end.
            world.sleep(TTL * 10);
            world.run(other.acquire("stock", TTL));
            sends_what_it_says(&world, &facts, descriptor.name);
        }
    }
}

fn sends_what_it_says(world: &World, facts: &Facts, lock: &str) {
    let sends = facts.sends.clone().expect("the locks of this crate know what they send");
    let mut said = [sends.to_hold, sends.to_extend].concat();
    let mut sent = commands(world);
    sent.sort();
    sent.dedup();
    said.sort_unstable();
    said.dedup();
    assert_eq!(sent, said, "{lock}");
}
