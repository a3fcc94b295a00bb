//! A node on a simulated host: the machine under it, and its process from boot to shutdown.
//!
//! The process listens, serves every connection, and does what an operator tells it by signal (`promote`,
//! `replicate NAME`). It is started again by the kernel after a crash, on the disk the crash left.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use doublehold_sim::{ClockKind, DelayLaw, Host, HostId, Incoming, SimStream};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::core::{Peer, WallMicros};
use crate::machine::Machine;
use crate::node::{BootError, Node, NodeConfig};

/// A simulated host as a node sees it.
#[derive(Clone)]
pub struct SimMachine {
    host: Host,
    /// Which host each name means, for replication.
    names: Arc<BTreeMap<String, HostId>>,
    command_time: DelayLaw,
}

impl SimMachine {
    /// The machine of `host`. `names` says which host a master's name means; `command_time` is how long each command
    /// keeps the node busy.
    pub fn new(host: Host, names: Arc<BTreeMap<String, HostId>>, command_time: DelayLaw) -> SimMachine {
        SimMachine { host, names, command_time }
    }

    /// Runs a node on this machine until it shuts down.
    ///
    /// # Errors
    /// When the node cannot boot from what the disk holds.
    pub async fn run(self, port: u16, config: NodeConfig) -> Result<(), BootError> {
        let host = self.host.clone();
        let incoming = host.listen(port);
        let node = Node::boot(self, config)?;
        host.spawn(accept(host.clone(), node.clone(), incoming));
        host.spawn(obey(host.clone(), port));
        node.closed().await;
        Ok(())
    }
}

async fn accept(host: Host, node: Node<SimMachine>, mut incoming: Incoming) {
    loop {
        let stream = incoming.accept().await;
        let (node, peer) = (node.clone(), stream.peer());
        host.spawn(async move {
            let address = format!("host{}:0", peer.0);
            node.serve(stream, Peer(peer.0), address).await;
        });
    }
}

/// Does what an operator tells this machine by signal, as the operator would: with a client on the machine itself.
async fn obey(host: Host, port: u16) {
    loop {
        let signal = host.signal().await;
        let command = match signal.split_once(' ') {
            Some(("replicate", master)) => format!("REPLICAOF {master} {port}\r\n"),
            None if signal == "promote" => "REPLICAOF NO ONE\r\n".to_owned(),
            _ => continue, // Not for a node; signals have no way to answer.
        };
        // A node that is shutting down refuses; the operator finds out like everybody else.
        let _refused = type_in(&host, port, &command).await;
    }
}

async fn type_in(host: &Host, port: u16, command: &str) -> io::Result<()> {
    let mut stream = host.connect(host.id(), port).await?;
    stream.write_all(command.as_bytes()).await?;
    // Closing before the reply is there would reset the connection.
    stream.read_u8().await?;
    Ok(())
}

impl Machine for SimMachine {
    type Stream = SimStream;

    fn wall(&self) -> WallMicros {
        WallMicros(self.host.clocks().wall.0.div_euclid(1000))
    }

    fn monotonic(&self) -> Duration {
        Duration::from_nanos(self.host.clocks().monotonic.0)
    }

    async fn sleep(&self, duration: Duration) {
        self.host.sleep(duration).await;
    }

    async fn wall_reaches(&self, when: WallMicros) {
        let reading = when.0.saturating_mul(1000);
        self.host.clock_reaches(self.host.id(), ClockKind::Wall, reading).await;
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.host.spawn(task);
    }

    async fn connect(&self, host: &str, port: u16) -> io::Result<SimStream> {
        let unknown = || io::Error::new(io::ErrorKind::NotFound, format!("no host is named `{host}`"));
        let to = *self.names.get(host).ok_or_else(unknown)?;
        Ok(self.host.connect(to, port).await?)
    }

    fn random(&self, buf: &mut [u8]) {
        self.host.random(buf);
    }

    fn append(&self, file: &str, bytes: &[u8]) {
        self.host.append(file, bytes);
    }

    async fn fsync(&self, file: &str) -> io::Result<()> {
        self.host.fsync(file).await;
        Ok(())
    }

    fn read(&self, file: &str) -> io::Result<Vec<u8>> {
        Ok(self.host.read_file(file))
    }

    fn truncate(&self, file: &str, len: u64) {
        self.host.truncate(file, usize::try_from(len).unwrap_or(usize::MAX));
    }

    fn replace(&self, file: &str, bytes: &[u8]) {
        self.host.replace(file, bytes);
    }

    fn command_time(&self, _command: &[u8]) -> Option<Duration> {
        match &self.command_time {
            DelayLaw::Fixed(Duration::ZERO) => None,
            law => Some(self.host.draw(law)),
        }
    }
}
