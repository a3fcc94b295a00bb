//! One server on its thread: a node or a Sentinel, from its start to its end.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use doublehold_sim_redis::core::{CoreConfig, Peer, ScriptClock, ScriptLimit};
use doublehold_sim_redis::{BootError, Node, NodeConfig, TokioMachine};
use doublehold_sim_sentinel::{SentinelConfig, SentinelProcess};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use super::either::first;
use super::error::ServeError;
use super::layout::Duty;
use super::options::Options;
use crate::output;

/// How long to wait before accepting again when the system is out of something (file descriptors, mostly).
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A server on its thread.
pub(super) struct Served {
    /// Makes it drain.
    pub(super) stop: oneshot::Sender<()>,
    /// Comes when it has shut down.
    pub(super) end: oneshot::Receiver<()>,
}

/// A server that runs on a port, and answers there.
#[derive(Clone)]
enum Server {
    Node(Node<TokioMachine>),
    Sentinel(SentinelProcess<TokioMachine>),
}

impl Server {
    async fn serve(self, stream: TcpStream, address: String) {
        match self {
            Server::Node(node) => node.serve(stream, Peer::default(), address).await,
            Server::Sentinel(sentinel) => sentinel.serve(stream, Peer::default(), address).await,
        }
    }

    async fn closed(&self) {
        match self {
            Server::Node(node) => node.closed().await,
            Server::Sentinel(sentinel) => sentinel.closed().await,
        }
    }

    fn drain(&self) {
        match self {
            Server::Node(node) => node.drain(),
            Server::Sentinel(sentinel) => sentinel.drain(),
        }
    }
}

/// Starts a server on a thread of its own.
pub(super) fn start(
    options: &Options,
    port: u16,
    duty: Duty,
    listener: std::net::TcpListener,
) -> Result<Served, ServeError> {
    let (stop, stopped) = oneshot::channel();
    let (ended, end) = oneshot::channel();
    let (tell, booted) = mpsc::channel();
    let options = options.clone();
    // A runtime is made and dropped on the server's own thread: it must not be dropped where another one is running.
    let work = move || {
        let (runtime, server, listener) = match boot(options, port, duty, listener) {
            Ok(server) => server,
            Err(error) => return tell.send(Err(error)).unwrap_or_default(),
        };
        tell.send(Ok(())).unwrap_or_default();
        run(&runtime, server, (port, listener), stopped);
        // Nobody waits any more where the program ends at once.
        let _ = ended.send(());
    };
    let thread = std::thread::Builder::new().name(format!("port {port}"));
    thread.spawn(work).map_err(ServeError::Thread)?;
    booted.recv().unwrap_or_else(|_| Err(ServeError::Thread(io::Error::other("its thread has ended"))))?;
    Ok(Served { stop, end })
}

fn boot(
    options: Options,
    port: u16,
    duty: Duty,
    listener: std::net::TcpListener,
) -> Result<(Runtime, Server, TcpListener), ServeError> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(ServeError::Thread)?;
    let (server, listener) = {
        let _inside = runtime.enter();
        let server = match duty {
            Duty::Node { replica_of } => boot_node(options, port, replica_of)?,
            Duty::Sentinel(config) => boot_sentinel(options, port, *config)?,
        };
        (server, TcpListener::from_std(listener).map_err(ServeError::Thread)?)
    };
    Ok((runtime, server, listener))
}

fn boot_node(options: Options, port: u16, replica_of: Option<(String, u16)>) -> Result<Server, ServeError> {
    let machine = machine(&options, port, "redis.conf")?;
    let Options { limits, remote_masters, config_dir, .. } = options;
    let (script_limit, config_file) = (script_limit(), config_dir.is_some());
    let core =
        CoreConfig { port, config_file, limits, remote_masters, script_limit, ..CoreConfig::default() };
    let node = Node::boot(machine, NodeConfig { core, replica_of, ..NodeConfig::default() });
    node.map(Server::Node).map_err(|source| not_started("node", port, source))
}

fn boot_sentinel(options: Options, port: u16, config: SentinelConfig) -> Result<Server, ServeError> {
    let machine = machine(&options, port, "sentinel.conf")?;
    let sentinel = SentinelProcess::boot(machine, SentinelConfig { limits: options.limits, ..config }, None);
    sentinel.map(Server::Sentinel).map_err(|source| not_started("Sentinel", port, source))
}

fn not_started(what: &'static str, port: u16, source: BootError) -> ServeError {
    ServeError::Boot { what, port, source }
}

fn machine(options: &Options, port: u16, file: &'static str) -> Result<TokioMachine, ServeError> {
    let machine = TokioMachine::new(options.remote_masters);
    match &options.config_dir {
        Some(folder) => Ok(machine.with_config_in(folder_of(port, file, folder)?)),
        None => Ok(machine),
    }
}

/// A server's folder, which is made if it is not there. That it can be written to is known before anybody is served: a
/// node whose disk fails at a CONFIG REWRITE ends.
fn folder_of(port: u16, file: &'static str, config_dir: &Path) -> Result<PathBuf, ServeError> {
    let path = config_dir.join(port.to_string());
    match std::fs::create_dir_all(&path).and_then(|()| tempfile::tempfile_in(&path)) {
        Ok(_written_to) => Ok(path),
        Err(source) => Err(ServeError::ConfigDir { path, file, source }),
    }
}

/// A script has the time that `busy-reply-threshold` gives it, as a user would see it on a Redis.
fn script_limit() -> ScriptLimit {
    let began = Instant::now();
    ScriptLimit::Time(ScriptClock::new(move || began.elapsed()))
}

/// One server, until it shuts down or has drained.
fn run(
    runtime: &Runtime,
    server: Server,
    (port, listener): (u16, TcpListener),
    stopped: oneshot::Receiver<()>,
) {
    runtime.block_on(async {
        let accepting = tokio::spawn(accept(server.clone(), listener));
        if let Server::Node(node) = &server {
            tokio::spawn(tell_of_refused_replicas(node.clone(), port));
        }
        if first(server.closed(), stopped).await.is_left() {
            return accepting.abort();
        }
        accepting.abort();
        // The listener is gone only when the task is: nobody is to connect and then be left alone.
        let _cancelled = accepting.await;
        server.drain();
        server.closed().await;
    });
}

async fn accept(server: Server, listener: TcpListener) {
    loop {
        let Ok((stream, address)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        // Only speed depends on it.
        let _ = stream.set_nodelay(true);
        let server = server.clone();
        tokio::spawn(async move { server.serve(stream, address.to_string()).await });
    }
}

/// A Redis that cannot follow a node tries again each second: that is said once.
async fn tell_of_refused_replicas(node: Node<TokioMachine>, port: u16) {
    loop {
        let redis = node.refused_replica().await;
        output::inform(&format!(
            "warning: the Redis at {redis} cannot follow the node on port {port}, which sends its data as commands and not \
             as RDB; send it `REPLICAOF NO ONE`, and let another node of `doublehold serve` follow"
        ));
    }
}
