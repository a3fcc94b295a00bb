//! A node on a simulated host, the operator beside it, and what else a machine can run.

mod stream;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use doublehold_sim::{
    Budget, DelayLaw, Fault, HostId, HostSpec, LinkSpec, Outcome, PlannedFault, Seed, SimStream, SimTime,
    Trigger, World,
};
use doublehold_sim_redis::core::Peer;
use doublehold_sim_redis::process::{self, Process};
use doublehold_sim_redis::{NodeConfig, Operator, SimMachine};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

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

/// Answers each byte with the next one, and hears no signals.
#[derive(Clone)]
struct Successor;

impl Process for Successor {
    type Unknown = std::convert::Infallible;

    async fn serve(self, mut stream: SimStream, _: Peer, _: String) {
        while let Ok(byte) = stream.read_u8().await {
            stream.write_u8(byte.wrapping_add(1)).await.expect("the other end reads");
        }
    }

    async fn closed(&self) {
        std::future::pending().await
    }

    async fn obey(self) -> Self::Unknown {
        std::future::pending().await
    }
}

#[test]
fn a_machine_runs_something_else_beside_its_node() {
    let mut world = World::new(Seed(1), LinkSpec::lossless(DelayLaw::Fixed(Duration::from_millis(1))));
    let node = world.add_host(HostSpec::new("A"), move |host| {
        let machine = SimMachine::new(host.clone(), Arc::default(), DelayLaw::Fixed(Duration::ZERO));
        let other = host.clone();
        host.spawn(async move {
            let incoming = other.listen(PORT + 1);
            let Ok(()) = process::run(&other, incoming, Successor).await;
        });
        async move { machine.run(PORT, NodeConfig::default(), Operator::default()).await.expect("it boots") }
    });
    let heard = Arc::new(Mutex::new((String::new(), 0)));
    let told = heard.clone();
    world.add_host(HostSpec::new("c").essential(), move |host| {
        let told = told.clone();
        async move {
            let mut redis = BufReader::new(host.connect(node, PORT).await.expect("the node listens"));
            let mut other = host.connect(node, PORT + 1).await.expect("the other listens");
            redis.write_all(b"PING\r\n").await.expect("it is sent");
            other.write_u8(41).await.expect("it is sent");
            let mut reply = String::new();
            redis.read_line(&mut reply).await.expect("it answers");
            let byte = other.read_u8().await.expect("it answers");
            *told.lock().expect("nobody panics") = (reply, byte);
        }
    });
    assert_eq!(world.run(Budget::default()).outcome, Outcome::Completed);
    assert_eq!(*heard.lock().expect("nobody panics"), ("+PONG\r\n".to_owned(), 42));
}

#[test]
fn a_signal_that_is_no_order_ends_the_node_and_is_named() {
    assert_eq!(told("promote plain"), None, "an order, and the node goes on");
    let ended = told("promte plain A").expect("it ended");
    assert!(ended.contains("`promte plain A`"), "{ended}");
    for order in ["promote plain A B", "follow plain B"] {
        let ended = told(order).expect("it ended");
        assert_eq!(ended, format!("a node was told `{order}`, and there is no `B`"));
    }
}
