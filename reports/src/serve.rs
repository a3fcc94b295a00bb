//! Simulated Redis nodes on real TCP ports of this machine, in real time: the node that runs in the simulator, for
//! redis-cli and client libraries to talk to.
//!
//! The nodes are independent of each other (REPLICAOF can tie them together) and listen on the loopback interface only:
//! they have neither passwords nor TLS. They keep nothing when the program ends.
//!
//! Not modelled: a disk. The machine's files live in memory.

use doublehold_sim_redis::core::{CoreConfig, Peer, ScriptClock, ScriptLimit, WallMicros};
use doublehold_sim_redis::{BootError, Machine, Node, NodeConfig};
use std::collections::BTreeMap;
use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::Ipv4Addr;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// How long to wait before accepting again when the system is out of something (file descriptors, mostly).
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Why no node was started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
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
    /// A node did not start.
    #[error(transparent)]
    Boot(#[from] BootError),
}

/// Serves `nodes` nodes on the loopback ports `port` and following, until every one of them was told to SHUTDOWN. Calls
/// `ready` once all of them accept connections. Must run inside a tokio runtime.
///
/// # Errors
/// When the ports do not exist or one is taken; then no node serves anybody.
pub async fn serve(port: u16, nodes: u16, ready: impl FnOnce(RangeInclusive<u16>)) -> Result<(), ServeError> {
    let ports = ports(port, nodes)?;
    let mut listeners = Vec::new();
    for port in ports.clone() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await;
        listeners.push((port, listener.map_err(|source| ServeError::Bind { port, source })?));
    }
    let mut running = JoinSet::new();
    for (port, listener) in listeners {
        let core = CoreConfig { port, script_limit: script_limit(), ..CoreConfig::default() };
        let node = Node::boot(TokioMachine::new(), NodeConfig { core, ..NodeConfig::default() })?;
        running.spawn(serve_node(node, listener));
    }
    ready(ports);
    while running.join_next().await.is_some() {}
    Ok(())
}

fn ports(port: u16, nodes: u16) -> Result<RangeInclusive<u16>, ServeError> {
    let more = nodes.checked_sub(1).ok_or(ServeError::NoNodes)?;
    match port.checked_add(more) {
        Some(last) if port > 0 => Ok(port..=last),
        _ => Err(ServeError::PortsOutOfRange { port, nodes }),
    }
}

/// A script has the time that `busy-reply-threshold` gives it, as a user would see it on a Redis.
fn script_limit() -> ScriptLimit {
    let began = Instant::now();
    ScriptLimit::Time(ScriptClock::new(move || began.elapsed()))
}

/// One node, until it shuts down.
async fn serve_node(node: Node<TokioMachine>, listener: TcpListener) {
    let accepting = tokio::spawn(accept(node.clone(), listener));
    node.closed().await;
    accepting.abort();
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

/// This machine: its clocks, its network through tokio, and files in memory.
#[derive(Clone)]
struct TokioMachine {
    began: Instant,
    files: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
}

impl TokioMachine {
    fn new() -> TokioMachine {
        TokioMachine { began: Instant::now(), files: Arc::default() }
    }

    fn files(&self) -> MutexGuard<'_, BTreeMap<String, Vec<u8>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Machine for TokioMachine {
    type Stream = TcpStream;

    fn wall(&self) -> WallMicros {
        let micros = |duration: Duration| i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
        WallMicros(match SystemTime::now().duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => micros(since),
            Err(before) => -micros(before.duration()),
        })
    }

    fn monotonic(&self) -> Duration {
        self.began.elapsed()
    }

    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send {
        tokio::time::sleep(duration)
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        tokio::spawn(task);
    }

    async fn connect(&self, host: &str, port: u16) -> io::Result<TcpStream> {
        let stream = TcpStream::connect((host, port)).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    fn random(&self, buf: &mut [u8]) {
        // Ids must be different, not secret: the keys of std's hasher come from the operating system.
        let source = RandomState::new();
        for (index, chunk) in buf.chunks_mut(8).enumerate() {
            chunk.copy_from_slice(&source.hash_one(index).to_le_bytes()[..chunk.len()]);
        }
    }

    fn append(&self, file: &str, bytes: &[u8]) {
        self.files().entry(file.to_owned()).or_default().extend_from_slice(bytes);
    }

    async fn fsync(&self, _file: &str) -> io::Result<()> {
        Ok(())
    }

    fn read(&self, file: &str) -> io::Result<Vec<u8>> {
        Ok(self.files().get(file).cloned().unwrap_or_default())
    }

    fn truncate(&self, file: &str, len: u64) {
        if let Some(bytes) = self.files().get_mut(file) {
            bytes.truncate(usize::try_from(len).unwrap_or(usize::MAX));
        }
    }

    fn replace(&self, file: &str, bytes: &[u8]) {
        self.files().insert(file.to_owned(), bytes.to_vec());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::sync::oneshot;

    /// A run of free ports: what the system gives out, and its neighbours if they are free too.
    fn free_ports(count: u16) -> u16 {
        loop {
            let bind = |port| std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port));
            let first = bind(0).expect("a free port").local_addr().expect("it is bound").port();
            if first.checked_add(count).is_some_and(|end| (first..end).all(|port| bind(port).is_ok())) {
                return first;
            }
        }
    }

    async fn started(nodes: u16) -> (u16, tokio::task::JoinHandle<Result<(), ServeError>>) {
        let port = free_ports(nodes);
        let (tell, told) = oneshot::channel();
        let serving = tokio::spawn(serve(port, nodes, move |ports| {
            tell.send(ports).expect("the test waits for it");
        }));
        assert_eq!(told.await.expect("the ports were free"), port..=port + nodes - 1);
        (port, serving)
    }

    async fn ask(port: u16, request: &str) -> String {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.expect("a node listens");
        stream.write_all(format!("{request}\r\nQUIT\r\n").as_bytes()).await.expect("it reads");
        let mut reply = String::new();
        stream.read_to_string(&mut reply).await.expect("it answers and closes");
        reply.strip_suffix("+OK\r\n").unwrap_or(&reply).to_owned()
    }

    /// Asks without a QUIT behind it, and reads one line.
    async fn ask_kept(port: u16, request: &str) -> String {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.expect("a node listens");
        stream.write_all(format!("{request}\r\n").as_bytes()).await.expect("it reads");
        let mut reply = vec![0; 1024];
        let length = stream.read(&mut reply).await.expect("it answers");
        String::from_utf8_lossy(&reply[..length]).into_owned()
    }

    #[tokio::test]
    async fn independent_nodes_answer_on_consecutive_ports_until_shutdown() {
        let (port, serving) = started(2).await;
        assert_eq!(ask(port, "SET k v").await, "+OK\r\n");
        assert_eq!(ask(port, "GET k").await, "$1\r\nv\r\n");
        assert_eq!(ask(port + 1, "GET k").await, "$-1\r\n");
        assert_eq!(ask(port, "SHUTDOWN").await, "");
        assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.is_err(), "it stopped listening");
        assert_eq!(ask(port + 1, "SHUTDOWN").await, "");
        serving.await.expect("no panic").expect("an orderly end");
    }

    #[tokio::test]
    async fn one_node_replicates_another_over_tcp() {
        let (port, serving) = started(2).await;
        assert_eq!(ask(port, "SET k v").await, "+OK\r\n");
        assert_eq!(ask(port + 1, &format!("REPLICAOF 127.0.0.1 {port}")).await, "+OK\r\n");
        // WAIT comes back when the replica has caught up.
        assert_eq!(ask(port, "SET l w\r\nWAIT 1 10000").await, "+OK\r\n:1\r\n");
        assert_eq!(ask(port + 1, "GET k\r\nGET l").await, "$1\r\nv\r\n$1\r\nw\r\n");
        serving.abort();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_script_has_the_time_of_the_busy_reply_threshold_and_keeps_no_other_node_waiting() {
        let (port, serving) = started(2).await;
        assert_eq!(ask(port, "CONFIG SET busy-reply-threshold 60000").await, "+OK\r\n");
        let ends = "EVAL \"local n = 0 for i = 1, 101000000 do n = n + 1 end return n\" 0";
        assert_eq!(ask(port, ends).await, ":101000000\r\n", "more instructions than a simulated node gives");
        assert_eq!(ask(port, "CONFIG SET busy-reply-threshold 300").await, "+OK\r\n");
        let began = Instant::now();
        let endless = tokio::spawn(ask_kept(port, "EVAL \"while true do end\" 0"));
        let other = ask(port + 1, "PING").await;
        assert_eq!((other.as_str(), began.elapsed() < Duration::from_millis(300)), ("+PONG\r\n", true));
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert!(ask(port, "GET k").await.starts_with("-BUSY "), "its own node's clients are told");
        assert_eq!(ask(port, "SCRIPT KILL").await, "+OK\r\n");
        let killed = endless.await.expect("no panic");
        assert!(killed.starts_with("-ERR Script killed by user with SCRIPT KILL"), "{killed}");
        serving.abort();
    }

    #[tokio::test]
    async fn a_taken_port_is_named() {
        let taken = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = taken.local_addr().expect("it is bound").port();
        let error = serve(port, 1, |_| panic!("it is not ready")).await.expect_err("the port is taken");
        assert!(matches!(error, ServeError::Bind { port: named, .. } if named == port), "{error}");
    }

    #[test]
    fn a_range_of_ports_that_does_not_exist_is_refused() {
        assert!(matches!(ports(7000, 0), Err(ServeError::NoNodes)));
        assert!(matches!(ports(65_535, 2), Err(ServeError::PortsOutOfRange { .. })));
        assert!(matches!(ports(0, 1), Err(ServeError::PortsOutOfRange { .. })));
        assert_eq!(ports(65_535, 1).expect("the last port"), 65_535..=65_535);
    }
}
