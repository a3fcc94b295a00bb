//! Existing code before its first call: its switches, and whose randomness it draws from.

use super::*;
use crate::ConfigError;

/// Before the first call: the way out is in the message, and a scenario is read long before it is run.
#[test]
fn switches_that_the_code_does_not_have_are_refused_when_it_is_built() {
    let built = |switches: &Switches, nodes: &[&str]| {
        let nodes = nodes.iter().map(|name| NodeName::new(name)).collect();
        Existing::on_one_node("mine", taken).build(World::with_nodes(&NODES), nodes, switches).map(drop)
    };
    assert!(built(&Switches::new(), &NODES).is_ok());
    assert!(matches!(built(&Switches::new(), &[]), Err(ConfigError::NoNodes)));
    let refused =
        built(&Switches::new().with("watchdog", true), &NODES).expect_err("there is no such switch");
    assert!(refused.to_string().contains("watchdog"), "{refused}");
}

#[test]
fn code_under_test_draws_from_its_world() {
    let (world, same) = (World::with_nodes(&NODES), World::with_nodes(&NODES));
    let client = Client::new(world, Vec::new(), Switches::new());
    let (mut drawn, mut expected) = ([0; 9], [0; 9]);
    client.random(&mut drawn);
    Env::random(&same, &mut expected);
    assert_eq!(drawn, expected);
    assert_ne!(drawn, [0; 9]);
}
