//! A Redis node as the software of a host of turmoil's: clocks, disk and randomness are those of [`Hosts`], tasks,
//! timers and connections turmoil's.

use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use doublehold_sim_redis::core::{Peer, WallMicros};
use doublehold_sim_redis::{Machine, Node};
use turmoil::net::{TcpListener, TcpStream};

use crate::NodeConfig;
use crate::hosts::{HostState, Hosts};

/// A host of turmoil's as a node sees it.
#[derive(Clone)]
struct NodeHost {
    hosts: Hosts,
    name: Arc<str>,
}

/// A function that boots the node, as [`turmoil::Sim::host`] wants it.
pub(crate) fn software(
    hosts: Hosts,
    name: &str,
    port: u16,
    config: NodeConfig,
) -> impl Fn() -> Pin<Box<dyn Future<Output = turmoil::Result>>> + 'static {
    let machine = NodeHost { hosts, name: name.into() };
    move || Box::pin(serve_node(machine.clone(), port, config.clone()))
}

async fn serve_node(machine: NodeHost, port: u16, config: NodeConfig) -> turmoil::Result {
    let any = match turmoil::lookup(&*machine.name) {
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    let listener = TcpListener::bind((any, port)).await?;
    let node = Node::boot(machine, config)?;
    let accepting = tokio::spawn(accept(node.clone(), listener));
    node.closed().await;
    accepting.abort();
    Ok(())
}

async fn accept(node: Node<NodeHost>, listener: TcpListener) {
    for connection in 0.. {
        // An error is one connection's, which is gone.
        let Ok((stream, address)) = listener.accept().await else { continue };
        tokio::spawn(node.serve(stream, Peer { host: 0, connection }, address.to_string()));
    }
}

impl NodeHost {
    fn with_host<T>(&self, act: impl FnOnce(&mut HostState) -> T) -> T {
        self.hosts.with_host(&self.name, act)
    }
}

impl Machine for NodeHost {
    type Stream = TcpStream;

    fn wall(&self) -> WallMicros {
        let now = self.monotonic();
        WallMicros(self.with_host(|host| host.wall_us(now)))
    }

    fn monotonic(&self) -> Duration {
        turmoil::sim_elapsed().expect("a node runs on a host of turmoil's")
    }

    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send {
        tokio::time::sleep(duration)
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        tokio::spawn(task);
    }

    async fn connect(&self, host: &str, port: u16) -> io::Result<TcpStream> {
        TcpStream::connect((host, port)).await
    }

    fn random(&self, buf: &mut [u8]) {
        self.with_host(|host| host.random.fill(buf));
    }

    fn append(&self, file: &str, bytes: &[u8]) {
        self.with_host(|host| host.disk.append(file, bytes));
    }

    async fn fsync(&self, file: &str) -> io::Result<()> {
        self.with_host(|host| {
            let covered = host.disk.len(file);
            host.disk.sync(file, covered);
        });
        Ok(())
    }

    fn read(&self, file: &str) -> io::Result<Vec<u8>> {
        Ok(self.with_host(|host| host.disk.read(file)))
    }

    fn truncate(&self, file: &str, len: u64) {
        self.with_host(|host| host.disk.truncate(file, usize::try_from(len).unwrap_or(usize::MAX)));
    }

    fn replace(&self, file: &str, bytes: &[u8]) {
        self.with_host(|host| host.disk.replace(file, bytes));
    }
}
