//! A node on a simulated host, and the operator beside it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use doublehold_sim::{
    Budget, DelayLaw, Fault, HostId, HostSpec, LinkSpec, Outcome, PlannedFault, Seed, SimTime, Trigger, World,
};
use doublehold_sim_redis::{NodeConfig, Operator, SimMachine};

const PORT: u16 = 6379;

/// What became of a node that got `signal` after a second, if it ended.
fn told(signal: &str) -> Option<String> {
    let mut world = World::new(Seed(1), LinkSpec::lossless(DelayLaw::Fixed(Duration::from_millis(1))));
    let (ended, operator) = (Arc::new(Mutex::new(None)), Operator::default());
    let names = Arc::new(BTreeMap::from([("A".to_owned(), HostId(1))]));
    let end = ended.clone();
    let node = world.add_host(HostSpec::new("A"), move |host| {
        let machine = SimMachine::new(host, names.clone(), DelayLaw::Fixed(Duration::ZERO));
        let (operator, end) = (operator.clone(), end.clone());
        async move {
            let result = machine.run(PORT, NodeConfig::default(), operator).await;
            *end.lock().expect("nobody panics") =
                Some(result.map_or_else(|e| e.to_string(), |()| "ended".into()));
        }
    });
    world.add_host(HostSpec::new("c").essential(), |host| async move {
        host.sleep(Duration::from_secs(5)).await;
    });
    world.plan(PlannedFault {
        trigger: Trigger::At(SimTime(1_000_000_000)),
        faults: vec![Fault::Signal { host: node, signal: signal.to_owned() }],
        lasting: None,
    });
    assert_eq!(world.run(Budget::default()).outcome, Outcome::Completed);
    ended.lock().expect("nobody panics").take()
}

#[test]
fn a_signal_that_is_no_order_ends_the_node_and_is_named() {
    assert_eq!(told("promote plain"), None, "an order, and the node goes on");
    let ended = told("promte plain A").expect("it ended");
    assert!(ended.contains("`promte plain A`"), "{ended}");
}
