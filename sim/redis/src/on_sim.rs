//! A node on a simulated host: the machine under it, and its process from boot to shutdown.
//!
//! The process serves every connection; beside it, on the same machine, an [`Operator`] does what it is ordered. Both
//! are started again by the world after a crash, on the disk the crash left. What else a machine may run is in
//! `process`.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use doublehold_sim::{BoxFuture, DelayLaw, Host, HostId, SimStream, WallTime};

use crate::config::{BootError, NodeConfig};
use crate::core::{Peer, WallMicros};
use crate::machine::Machine;
use crate::node::Node;
use crate::operator::{Desk, Operator, UnknownOrder};
use crate::process::{self, Process};

/// Why a node on a simulated host does not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// It did not start.
    #[error(transparent)]
    Boot(#[from] BootError),
    /// It was told something that is no order.
    #[error(transparent)]
    UnknownOrder(#[from] UnknownOrder),
}

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

    /// Runs a node on this machine until it shuts down, and the machine's operator with it: `operator` is the same at
    /// each start of the machine.
    ///
    /// # Errors
    /// When the node cannot boot from what the disk holds, or gets a signal that is no [`Order`](crate::Order).
    pub fn run(
        self,
        port: u16,
        config: NodeConfig,
        operator: Operator,
    ) -> BoxFuture<'static, Result<(), RunError>> {
        // An object, so that the code of nodes is compiled in this crate and in no other.
        Box::pin(async move {
            let (host, names) = (self.host.clone(), self.names.clone());
            let incoming = host.listen(port);
            let node = Node::boot(self, config)?;
            let desk = Desk { operator, host: host.clone(), node, names, port };
            process::run(&host, incoming, desk).await.map_err(RunError::from)
        })
    }
}

/// A node, and the operator beside it.
impl Process for Desk {
    type Unknown = UnknownOrder;

    fn serve(self, stream: SimStream, peer: Peer, address: String) -> impl Future<Output = ()> + Send {
        self.node.serve(stream, peer, address)
    }

    async fn closed(&self) {
        self.node.closed().await;
    }

    async fn obey(self) -> UnknownOrder {
        Desk::obey(self).await
    }
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
        self.host.wall_reaches(WallTime(when.0.saturating_mul(1000))).await;
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
        let own = match &self.command_time {
            DelayLaw::Fixed(Duration::ZERO) => None,
            law => Some(self.host.draw(law)),
        };
        match self.host.slowness() {
            Duration::ZERO => own,
            slower => Some(own.unwrap_or_default().saturating_add(slower)),
        }
    }
}
