//! W on the simulation kernel, through redis-rs' multiplexed connection and the Redis node.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use doublehold_lockimpl::{connection_config, connection_info};
use doublehold_sim::{Budget, DelayLaw, Host, HostId, HostSpec, LinkSpec, Outcome, Seed, World};
use doublehold_sim_redis::{NodeConfig, Operator, SimMachine};
use redis::aio::MultiplexedConnection;

use crate::{Done, MESSAGES};

const PORT: u16 = 6379;
const ECHOED: &[u8] = b"twenty bytes of echo";

pub(crate) fn run(seed: u64) -> Done {
    let delay = DelayLaw::Uniform { min: Duration::from_millis(1), max: Duration::from_millis(5) };
    let mut world = World::new(Seed(seed), LinkSpec::lossless(delay));
    let nodes: Vec<HostId> =
        (0..5).map(|node| world.add_host(HostSpec::new(format!("n{node}")), serve)).collect();
    for client in 0..3 {
        let nodes = nodes.clone();
        world.add_host(HostSpec::new(format!("c{client}")).essential(), move |host| ask(host, nodes.clone()));
    }
    let run = world.run(Budget::default());
    assert_eq!(run.outcome, Outcome::Completed);
    Done { simulated: Duration::from_nanos(run.ended.0), messages: MESSAGES }
}

async fn serve(host: Host) {
    let machine = SimMachine::new(host, Arc::new(BTreeMap::new()), DelayLaw::Fixed(Duration::ZERO));
    machine.run(PORT, NodeConfig::default(), Operator::default()).await.expect("an empty disk boots");
}

async fn ask(host: Host, nodes: Vec<HostId>) {
    let mut connections = Vec::new();
    for node in nodes {
        let stream = host.connect(node, PORT).await.expect("the node listens");
        let (connection, driver) =
            MultiplexedConnection::new_with_config(&connection_info(), stream, connection_config())
                .await
                .expect("nothing is sent to connect");
        host.spawn(driver);
        connections.push(connection);
    }
    for _ in 0..10 {
        for connection in &mut connections {
            let echo = redis::cmd("ECHO").arg(ECHOED).query_async(connection).await;
            assert!(matches!(echo, Ok(redis::Value::BulkString(answer)) if answer == ECHOED));
        }
        host.sleep(Duration::from_millis(900)).await;
    }
}
