//! W on the simulation kernel alone: the same hosts, connections, messages and sleeps, and plain bytes that come back.
//!
//! What this costs is the kernel's (events, tasks, streams, the trace hash); what W costs beside it is redis-rs', RESP's
//! and the node's.

use std::time::Duration;

use doublehold_sim::{Budget, DelayLaw, Host, HostId, HostSpec, LinkSpec, Outcome, Seed, World};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::{Done, MESSAGES};

const PORT: u16 = 6379;
const ECHOED: &[u8; 20] = b"twenty bytes of echo";

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
    assert_eq!(run.messages, MESSAGES, "W, and nothing else");
    Done { simulated: Duration::from_nanos(run.ended.0), messages: MESSAGES }
}

async fn serve(host: Host) {
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

async fn ask(host: Host, nodes: Vec<HostId>) {
    let mut streams = Vec::new();
    for node in nodes {
        streams.push(host.connect(node, PORT).await.expect("the node listens"));
    }
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
