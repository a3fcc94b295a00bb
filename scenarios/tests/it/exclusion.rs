//! Every lock, library or not, with ten clients and no fault: a thousand grants, and nothing goes wrong.
//!
//! What breaks without a fault is named below, and has to break: whoever mends it takes it off the list.

use std::time::Duration;

use doublehold_history::Predicate;
use doublehold_lockimpl::{Descriptor, Nodes, descriptors};
use doublehold_scenarios::build::World;
use doublehold_scenarios::scenario::{DelayLaw, Scenario};
use doublehold_scenarios::{Engine, LeanEngine, Prepared};

const CLIENTS: usize = 10;
const ROUNDS: u32 = 100;
const PROGRAM: [&str; 6] = ["acquire", "read", "work 1ms..20ms", "check", "write", "release"];

/// A lock, what it violates without a fault, and why it does.
type Exception = (&'static str, &'static [Predicate], &'static str);

const EXCEPTIONS: &[Exception] = &[
    ("setnx-expire-multi", &[Predicate::WR], "who is refused has set the holder's lease anew, too"),
    (
        "setnx-getset",
        &[Predicate::WR],
        "who finds no key after a refusal puts its own over that of whoever was granted meanwhile",
    ),
    (
        "set-ex",
        &[Predicate::P1, Predicate::P2, Predicate::P3, Predicate::P4],
        "who asks at the same moment is granted, too",
    ),
    (
        "redis-plus-plus-tx",
        &[Predicate::LV],
        "what a refused attempt has won stays for a lease, and keeps everybody else out",
    ),
];

/// Clients that ask all the time for a lock that is held for moments of its lease.
fn crowded(lock: &Descriptor, locks: &[Descriptor]) -> Scenario {
    let world = World::new(lock.name);
    let world = match lock.nodes {
        Nodes::One => world.nodes(["A"]),
        Nodes::Replicated => world.nodes(["M", "R1"]).master("M"),
        Nodes::Independent => world.nodes(["A", "B", "C"]),
    };
    let world = world.clients(CLIENTS, PROGRAM).rounds(ROUNDS).ttl(Duration::from_secs(10));
    let world = world.obtain_within(Duration::from_secs(600)).with(|scenario| {
        let retry = DelayLaw::Uniform { min: Duration::from_millis(20), max: Duration::from_millis(400) };
        scenario.clients.iter_mut().for_each(|client| client.retry = retry.clone());
        scenario.limits.time = Duration::from_secs(24 * 3600);
    });
    world.scenario(lock.name, locks.to_vec()).unwrap_or_else(|error| panic!("{}: {error}", lock.name))
}

#[test]
fn no_lock_is_broken_without_a_fault_but_those_that_are_named() {
    let locks = descriptors();
    let mut unlike = Vec::new();
    for lock in &locks {
        let name = lock.name;
        let run = LeanEngine.prepare(&crowded(lock, &locks)).expect("it was checked").judge(1);
        assert_eq!(run.panicked, None, "{name}");
        let of = |word: &str| -> Vec<Predicate> {
            Predicate::ALL.into_iter().filter(|it| run.verdicts.get(*it).as_str() == word).collect()
        };
        let exception = EXCEPTIONS.iter().find(|(of, ..)| *of == name);
        let violated = of("violated");
        if violated != exception.map_or(&[][..], |(_, violated, _)| violated) {
            unlike.push(format!("{name} violates {violated:?}, and it is said: {exception:?}"));
        }
        // Who breaks nothing has also done all that was asked, and nothing is left open.
        if exception.is_none() {
            let asked = u64::try_from(CLIENTS).expect("a few") * u64::from(ROUNDS);
            assert_eq!((run.grants.count, of("inconclusive")), (asked, Vec::new()), "{name}");
        }
    }
    assert!(unlike.is_empty(), "{unlike:#?}");
    for (name, ..) in EXCEPTIONS {
        assert!(locks.iter().any(|lock| lock.name == *name), "there is no lock `{name}` any more");
    }
}
