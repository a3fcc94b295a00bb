//! Simulated Redis nodes on real TCP ports of this machine, in real time: the node that runs in the simulator, for
//! redis-cli and client libraries to talk to.
//!
//! The nodes are independent of each other (REPLICAOF can tie them together), each on a thread of its own, so that one
//! that is busy with a script stops no other. They listen on the loopback interface only: they have neither passwords
//! nor TLS. When the program ends they keep nothing, but for the configuration files that CONFIG REWRITE writes where
//! they are given a folder.
//!
//! | | |
//! |---|---|
//! | how many connections the system allows | `files` |
//! | being asked to stop | `signals` |

mod files;
mod signals;
#[cfg(test)]
mod tests;

use std::future::{Future, poll_fn};
use std::io;
use std::net::Ipv4Addr;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::mpsc;
use std::task::Poll;
use std::time::{Duration, Instant};

use doublehold_sim_redis::core::{CoreConfig, Limits, OutputLimit, Peer, ScriptClock, ScriptLimit};
use doublehold_sim_redis::{BootError, Node, NodeConfig, TokioMachine};
pub(crate) use signals::Signals;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use crate::output;

/// How long to wait before accepting again when the system is out of something (file descriptors, mostly).
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How long clients have to take their replies when the program is asked to stop: Redis' `shutdown-timeout`.
const DRAIN_LIMIT: Duration = Duration::from_secs(10);

const MB: u64 = 1 << 20;

/// What is served.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// The first node's port.
    pub(crate) port: u16,
    /// How many nodes, on this port and those that follow.
    pub(crate) nodes: u16,
    /// What each node can be made to hold.
    pub(crate) limits: Limits,
    /// Whether REPLICAOF may name another machine.
    pub(crate) remote_masters: bool,
    /// Where each node has a folder, named as its port, for its configuration file.
    pub(crate) config_dir: Option<PathBuf>,
}

/// Limits under which strangers cannot exhaust this machine: Redis', and where Redis has none, some that no lock meets.
#[must_use]
pub(crate) fn limits() -> Limits {
    Limits {
        max_memory: 256 * MB,
        max_memory_clients: 256 * MB,
        output: OutputLimit { hard: 128 * MB, soft: 32 * MB, soft_time: Duration::from_secs(60) },
        ..Limits::default()
    }
}

/// Why no node was started, or not all was served to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum ServeError {
    /// There is nothing to serve.
    #[error("`--nodes` must be at least 1")]
    NoNodes,
    /// The range of ports does not exist.
    #[error(
        "{nodes} nodes from port {port} on do not fit into the ports 1 to 65535; choose a lower `--port` or fewer `--nodes`"
    )]
    PortsOutOfRange {
        /// The first port asked for.
        port: u16,
        /// How many nodes were asked for.
        nodes: u16,
    },
    /// Somebody else listens there, or the system does not allow it.
    #[error("cannot listen on 127.0.0.1:{port}: {source}; choose another `--port`")]
    Bind {
        /// The port that is taken.
        port: u16,
        /// What the system said.
        source: io::Error,
    },
    /// The system has no threads or files left for a node.
    #[error("cannot start a node: {0}; serve fewer `--nodes`, or allow more processes and files (`ulimit`)")]
    Thread(#[source] io::Error),
    /// There is no place for a node's configuration file.
    #[error("cannot write to `{}`, for a node's `redis.conf`: {source}; choose another `--config-dir`", path.display())]
    ConfigDir {
        /// The node's folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A node did not start.
    #[error("the node on port {port} did not start: {source}")]
    Boot {
        /// Its port, and the name of its folder.
        port: u16,
        /// What it said.
        source: BootError,
    },
    /// The program was asked to stop a second time.
    #[error("stopped before every client had its replies")]
    StoppedAtOnce,
}

/// Serves nodes until every one of them was told to SHUTDOWN, or the program is asked to stop: then no connection is
/// accepted any more, and what clients have sent is answered. Calls `ready` once all accept connections. Must run
/// inside a tokio runtime.
///
/// # Errors
/// When the ports do not exist or one is taken; then no node serves anybody. When the program is asked to stop twice.
pub(crate) async fn serve(
    options: Options,
    mut signals: Signals,
    ready: impl FnOnce(RangeInclusive<u16>),
) -> Result<(), ServeError> {
    let ports = ports(options.port, options.nodes)?;
    let mut listeners = Vec::new();
    for port in ports.clone() {
        listeners.push(bind(port).map_err(|source| ServeError::Bind { port, source })?);
    }
    let nodes: Vec<Served> = ports
        .clone()
        .zip(listeners)
        .map(|(port, listener)| start(&options, port, listener))
        .collect::<Result<_, _>>()?;
    ready(ports);
    let (stops, ends): (Vec<_>, Vec<_>) = nodes.into_iter().map(|node| (node.stop, node.end)).unzip();
    let mut all_ended = pin!(async {
        for end in ends {
            // A thread that is gone without a word has ended too.
            let _ = end.await;
        }
    });
    if first(all_ended.as_mut(), signals.next()).await.is_left() {
        return Ok(());
    }
    for stop in stops {
        // One that has shut down already needs not be told.
        let _ = stop.send(());
    }
    let patience = async { first(tokio::time::sleep(DRAIN_LIMIT), signals.next()).await };
    match first(all_ended, patience).await {
        Either::Right(Either::Right(_again)) => Err(ServeError::StoppedAtOnce),
        Either::Left(()) | Either::Right(Either::Left(())) => Ok(()),
    }
}

fn ports(port: u16, nodes: u16) -> Result<RangeInclusive<u16>, ServeError> {
    let more = nodes.checked_sub(1).ok_or(ServeError::NoNodes)?;
    match port.checked_add(more) {
        Some(last) if port > 0 => Ok(port..=last),
        _ => Err(ServeError::PortsOutOfRange { port, nodes }),
    }
}

fn bind(port: u16) -> io::Result<std::net::TcpListener> {
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// A node on its thread.
struct Served {
    /// Makes it drain.
    stop: oneshot::Sender<()>,
    /// Comes when it has shut down.
    end: oneshot::Receiver<()>,
}

fn start(options: &Options, port: u16, listener: std::net::TcpListener) -> Result<Served, ServeError> {
    let (stop, stopped) = oneshot::channel();
    let (ended, end) = oneshot::channel();
    let (tell, booted) = mpsc::channel();
    let options = options.clone();
    // A runtime is made and dropped on the node's own thread: it must not be dropped where another one is running.
    let work = move || {
        let (runtime, node, listener) = match boot(options, port, listener) {
            Ok(node) => node,
            Err(error) => return tell.send(Err(error)).unwrap_or_default(),
        };
        tell.send(Ok(())).unwrap_or_default();
        run_node(&runtime, node, (port, listener), stopped);
        // Nobody waits any more where the program ends at once.
        let _ = ended.send(());
    };
    let thread = std::thread::Builder::new().name(format!("node {port}"));
    thread.spawn(work).map_err(ServeError::Thread)?;
    booted.recv().unwrap_or_else(|_| Err(ServeError::Thread(io::Error::other("its thread has ended"))))?;
    Ok(Served { stop, end })
}

fn boot(
    options: Options,
    port: u16,
    listener: std::net::TcpListener,
) -> Result<(Runtime, Node<TokioMachine>, TcpListener), ServeError> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(ServeError::Thread)?;
    let (node, listener) = {
        let _inside = runtime.enter();
        let Options { limits, remote_masters, config_dir, .. } = options;
        let (script_limit, config_file) = (script_limit(), config_dir.is_some());
        let core =
            CoreConfig { port, config_file, limits, remote_masters, script_limit, ..CoreConfig::default() };
        let machine = match config_dir {
            Some(folder) => TokioMachine::new(remote_masters).with_config_in(folder_of(port, &folder)?),
            None => TokioMachine::new(remote_masters),
        };
        let node = Node::boot(machine, NodeConfig { core, ..NodeConfig::default() });
        let node = node.map_err(|source| ServeError::Boot { port, source })?;
        (node, TcpListener::from_std(listener).map_err(ServeError::Thread)?)
    };
    Ok((runtime, node, listener))
}

/// A node's folder, which is made if it is not there. That it can be written to is known before anybody is served: a
/// node whose disk fails at a CONFIG REWRITE ends.
fn folder_of(port: u16, config_dir: &Path) -> Result<PathBuf, ServeError> {
    let path = config_dir.join(port.to_string());
    match std::fs::create_dir_all(&path).and_then(|()| tempfile::tempfile_in(&path)) {
        Ok(_written_to) => Ok(path),
        Err(source) => Err(ServeError::ConfigDir { path, source }),
    }
}

/// A script has the time that `busy-reply-threshold` gives it, as a user would see it on a Redis.
fn script_limit() -> ScriptLimit {
    let began = Instant::now();
    ScriptLimit::Time(ScriptClock::new(move || began.elapsed()))
}

/// One node, until it shuts down or has drained.
fn run_node(
    runtime: &Runtime,
    node: Node<TokioMachine>,
    (port, listener): (u16, TcpListener),
    stopped: oneshot::Receiver<()>,
) {
    runtime.block_on(async {
        let accepting = tokio::spawn(accept(node.clone(), listener));
        tokio::spawn(tell_of_refused_replicas(node.clone(), port));
        if first(node.closed(), stopped).await.is_left() {
            return accepting.abort();
        }
        accepting.abort();
        // The listener is gone only when the task is: nobody is to connect and then be left alone.
        let _cancelled = accepting.await;
        node.drain();
        node.closed().await;
    });
}

async fn accept(node: Node<TokioMachine>, listener: TcpListener) {
    loop {
        let Ok((stream, address)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        // Only speed depends on it.
        let _ = stream.set_nodelay(true);
        let node = node.clone();
        tokio::spawn(async move { node.serve(stream, Peer::default(), address.to_string()).await });
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

/// The one of two things that happened.
enum Either<A, B> {
    Left(A),
    Right(B),
}

impl<A, B> Either<A, B> {
    fn is_left(&self) -> bool {
        matches!(self, Either::Left(_))
    }
}

/// Waits for the first of two futures, `left` before `right` where both are ready.
async fn first<A: Future, B: Future>(left: A, right: B) -> Either<A::Output, B::Output> {
    let (mut left, mut right) = (pin!(left), pin!(right));
    poll_fn(|cx| match left.as_mut().poll(cx) {
        Poll::Ready(value) => Poll::Ready(Either::Left(value)),
        Poll::Pending => right.as_mut().poll(cx).map(Either::Right),
    })
    .await
}
