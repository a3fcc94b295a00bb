//! W on the simulation kernel, three times: plain bytes that come back, and the Redis node behind either driver. The
//! first two once more in the second engine's world.
//!
//! What the plain bytes cost is the kernel's (events, tasks, streams, the trace hash); what W costs beside them is the
//! driver's, RESP's and the node's. A client asks as a Redlock does: it makes a round's command once, and hands it to
//! each connection itself.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use doublehold_lockimpl::{connection_config, connection_info};
use doublehold_scenarios::LeanConnection;
use doublehold_sim::{
    Budget, DelayLaw, Host, HostId, HostSpec, Keep, LinkSpec, Outcome, Seed, SimStream, World, WorldLike,
};
use doublehold_sim_redis::{NodeConfig, Operator, SimMachine};
use doublehold_sim_turmoil::TurmoilWorld;
use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::{Cmd, Value};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::{Done, MESSAGES};

const PORT: u16 = 6379;
const ECHOED: &[u8; 20] = b"twenty bytes of echo";

/// Without Redis: the kernel alone.
pub(crate) fn bare(seed: u64) -> Done {
    run::<World, _, _>(seed, echo_back, ask_plainly)
}

/// The same in the second engine's world, on turmoil's newer network.
pub(crate) fn on_turmoil_net(seed: u64) -> Done {
    run::<TurmoilWorld, _, _>(seed, echo_back, ask_plainly)
}

/// Through redis-rs' multiplexed connection, to the node.
pub(crate) fn redis_rs<W: WorldLike>(seed: u64) -> Done {
    run::<W, _, _>(seed, serve_redis, |host, nodes| async move {
        let mut connections = Vec::new();
        for stream in connect(&host, nodes).await {
            let (connection, driver) =
                MultiplexedConnection::new_with_config(&connection_info(), stream, connection_config())
                    .await
                    .expect("nothing is sent to connect");
            host.spawn(driver);
            connections.push(connection);
        }
        ask_redis(host, connections).await;
    })
}

/// Through the lean connection, to the node.
pub(crate) fn lean(seed: u64) -> Done {
    run::<World, _, _>(seed, serve_redis, |host, nodes| async move {
        let streams = connect(&host, nodes).await;
        let connections =
            streams.into_iter().map(|stream| LeanConnection::new(stream, host.clone())).collect();
        ask_redis(host, connections).await;
    })
}

/// 5 nodes that `serve` and 3 clients that `ask` them.
fn run<W, S, A>(
    seed: u64,
    serve: impl Fn(Host) -> S + Copy + 'static,
    ask: impl Fn(Host, Vec<HostId>) -> A + Copy + 'static,
) -> Done
where
    W: WorldLike,
    S: Future<Output = ()> + Send + 'static,
    A: Future<Output = ()> + Send + 'static,
{
    let delay = DelayLaw::Uniform { min: Duration::from_millis(1), max: Duration::from_millis(5) };
    let mut world = W::build(Seed(seed), LinkSpec::lossless(delay), Keep::Hash);
    let nodes: Vec<HostId> =
        (0..5).map(|node| world.add_host(HostSpec::new(format!("n{node}")), serve)).collect();
    for client in 0..3 {
        let nodes = nodes.clone();
        world.add_host(HostSpec::new(format!("c{client}")).essential(), move |host| ask(host, nodes.clone()));
    }
    let run = world.run(Budget::default());
    assert_eq!(run.outcome, Outcome::Completed);
    assert_eq!(run.messages, MESSAGES, "W, and nothing else");
    Done { simulated: Duration::from_nanos(run.ended.0), messages: run.messages }
}

async fn connect(host: &Host, nodes: Vec<HostId>) -> Vec<SimStream> {
    let mut streams = Vec::new();
    for node in nodes {
        streams.push(host.connect(node, PORT).await.expect("the node listens"));
    }
    streams
}

async fn serve_redis(host: Host) {
    let machine = SimMachine::new(host, Arc::new(BTreeMap::new()), DelayLaw::Fixed(Duration::ZERO));
    machine.run(PORT, NodeConfig::default(), Operator::default()).await.expect("an empty disk boots");
}

async fn ask_redis<C: ConnectionLike>(host: Host, mut connections: Vec<C>) {
    for _ in 0..10 {
        let mut echo = Cmd::with_capacity(2, 64);
        echo.arg("ECHO").arg(ECHOED);
        for connection in &mut connections {
            let reply = connection.req_packed_command(&echo).await;
            assert!(matches!(reply, Ok(Value::BulkString(answer)) if answer == ECHOED));
        }
        host.sleep(Duration::from_millis(900)).await;
    }
}

async fn echo_back(host: Host) {
    let mut incoming = host.listen(PORT);
    loop {
        let mut stream = incoming.accept().await;
        host.spawn(async move {
            let mut buffer = [0; 64];
            while let Ok(count @ 1..) = stream.read(&mut buffer).await {
                if stream.write_all(&buffer[..count]).await.is_err() {
                    break;
                }
            }
        });
    }
}

async fn ask_plainly(host: Host, nodes: Vec<HostId>) {
    let mut streams = connect(&host, nodes).await;
    for _ in 0..10 {
        for stream in &mut streams {
            stream.write_all(ECHOED).await.expect("the node is there");
            let mut answer = [0; 20];
            stream.read_exact(&mut answer).await.expect("the node answers");
            assert_eq!(&answer, ECHOED);
        }
        host.sleep(Duration::from_millis(900)).await;
    }
}
