//! Libraries as settings of an engine: what is fixed, what is open, and how a choice reaches the lock.

use std::time::Duration;

use super::fake::{World, ms};
use crate::locks::single::Single;
use crate::registry::ProfileKind;
use crate::{Acquired, BoxLock, ConfigError, Lock, NodeName, Profile, Registry, Switches, Value};

static HASTY: Profile = Profile {
    name: "hasty",
    also: &[],
    library: "Hasty",
    language: "Rust",
    version: "1.0.0",
    files: "src/lib.rs",
    read_on: "2026-11-25",
    newest: None,
    meaning: "the lock on one node, in a hurry",
    ttl: None,
    fixed: || Switches::new().with("elapsed_check", true).with("request_timeout", ms(5)),
    open: &["request_timeout", "release"],
    flaws: &[],
    left_out: &[],
};

fn build(world: &World, chosen: &Switches) -> Result<BoxLock, ConfigError> {
    let registry = Registry::empty().with(ProfileKind(&HASTY, Single));
    registry.build("hasty", world.clone(), vec![NodeName::new("a")], chosen)
}

#[test]
fn a_profile_shows_its_open_switches_at_the_librarys_defaults() {
    let registry = Registry::<World>::empty().with(ProfileKind(&HASTY, Single));
    let [hasty] = &registry.descriptors()[..] else { panic!("one lock") };
    let shown: Vec<(&str, Option<Value>)> =
        hasty.switches.iter().map(|switch| (switch.name, switch.default.clone())).collect();
    let (timeout, release) = (Some(ms(5).into()), Some("compare-and-delete".into()));
    assert_eq!(shown, [("request_timeout", timeout), ("release", release)]);
    assert_eq!((hasty.name, hasty.profile.map(|(_, engine)| engine)), ("hasty", Some("single")));
    // With the check, which is fixed, a grant has a deadline.
    assert!(hasty.facts(&Switches::new()).deadline);
}

#[test]
fn a_switch_that_a_library_fixes_is_refused_with_the_kind_that_has_it_open() {
    let refused = build(&World::default(), &Switches::new().with("elapsed_check", false)).err();
    assert_eq!(
        refused.map(|error| error.to_string()).as_deref(),
        Some("`hasty` is the library as it is, and fixes `elapsed_check`: use `single`, which has it open")
    );
}

#[test]
fn what_is_fixed_and_what_is_chosen_both_reach_the_engine() {
    let takes = |chosen: &Switches| {
        let world = World::with_nodes(&["a"]);
        world.node("a", |node| node.request_delay = ms(8));
        let mut lock = build(&world, chosen).expect("a lock");
        world.run(lock.acquire("stock", Duration::from_secs(10)))
    };
    assert!(matches!(takes(&Switches::new()), Acquired::Unknown(_)), "5 ms are the library's timeout");
    let Acquired::Granted(grant) = takes(&Switches::new().with("request_timeout", ms(50))) else {
        panic!("50 ms are enough")
    };
    assert!(grant.deadline.is_some(), "the check is fixed");
}
