//! Hosts on tokio's paused clock: time jumps to the next timer, so an hour costs nothing and delays are exact to the
//! millisecond. Connections are in-memory pipes that can be cut; a disk keeps written and durable bytes apart.

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use doublehold_sim_redis::core::{Peer, WallMicros};
use doublehold_sim_redis::{Machine, Node, NodeConfig, Persistence};
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// 2024-01-01, where every wall clock starts.
pub(crate) const START_MS: i64 = 1_704_067_200_000;

/// What a pipe holds in flight in each direction.
const PIPE_BYTES: usize = 64 << 10;

#[derive(Default)]
struct File {
    written: Vec<u8>,
    durable: Vec<u8>,
}

#[derive(Default)]
struct HostState {
    node: Option<Node<Host>>,
    /// A test that plays this host's server itself.
    impostor: Option<mpsc::UnboundedSender<Client>>,
    tasks: Vec<AbortHandle>,
    links: Vec<AbortHandle>,
    unreachable: bool,
    files: BTreeMap<String, File>,
    fsync_time: Duration,
    fsyncs: usize,
    sleeps: usize,
    wall_offset_ms: i64,
    drawn: u8,
    command_time: Duration,
}

/// Several hosts that can reach each other by name.
#[derive(Clone)]
pub(crate) struct World {
    hosts: Arc<Mutex<BTreeMap<String, Host>>>,
    began: Instant,
}

/// One host: the machine of at most one node.
#[derive(Clone)]
pub(crate) struct Host {
    name: String,
    world: World,
    state: Arc<Mutex<HostState>>,
}

impl World {
    /// Since the world began.
    pub(crate) fn elapsed_ms(&self) -> u64 {
        self.began.elapsed().as_millis() as u64
    }

    pub(crate) fn new() -> World {
        World { hosts: Arc::default(), began: Instant::now() }
    }

    pub(crate) fn host(&self, name: &str) -> Host {
        let mut hosts = self.hosts.lock().expect("no test panics while it holds this");
        let new = || Host { name: name.to_owned(), world: self.clone(), state: Arc::default() };
        hosts.entry(name.to_owned()).or_insert_with(new).clone()
    }
}

/// Lets `ms` milliseconds pass.
pub(crate) async fn pass(ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}

/// Waits at most a second, so that a test fails where it would hang.
pub(crate) async fn soon<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(1), work).await.expect("within a second")
}

impl Host {
    /// Starts a node with redis.conf's settings but `persistence`.
    pub(crate) fn boot(&self, persistence: Persistence) -> Node<Host> {
        self.boot_with(NodeConfig { persistence, ..NodeConfig::default() })
    }

    pub(crate) fn boot_with(&self, mut config: NodeConfig) -> Node<Host> {
        // A port of its own, so that ROLE shows who is who.
        config.core.port = 7000 + u16::from(*self.name.as_bytes().last().expect("a host has a name"));
        let node = Node::boot(self.clone(), config).expect("the file is whole");
        self.state().node = Some(node.clone());
        node
    }

    /// The process ends: its tasks stop where they are, its connections with them; the disk keeps what was written.
    pub(crate) fn crash(&self) {
        self.cut_links();
        let (node, tasks) = {
            let mut state = self.state();
            (state.node.take(), std::mem::take(&mut state.tasks))
        };
        tasks.iter().for_each(AbortHandle::abort);
        drop(node);
    }

    /// As a crash, and what was not fsynced is gone.
    pub(crate) fn lose_power(&self) {
        self.crash();
        self.state().files.values_mut().for_each(|file| file.written.clone_from(&file.durable));
    }

    /// Ends every connection to this host.
    pub(crate) fn cut_links(&self) {
        self.state().links.drain(..).for_each(|link| link.abort());
    }

    pub(crate) fn set_unreachable(&self, unreachable: bool) {
        self.state().unreachable = unreachable;
    }

    pub(crate) fn set_fsync_time(&self, time: Duration) {
        self.state().fsync_time = time;
    }

    pub(crate) fn set_command_time(&self, time: Duration) {
        self.state().command_time = time;
    }

    pub(crate) fn step_wall(&self, ms: i64) {
        self.state().wall_offset_ms += ms;
    }

    pub(crate) fn fsyncs(&self) -> usize {
        self.state().fsyncs
    }

    /// How many timers were started so far.
    pub(crate) fn sleeps(&self) -> usize {
        self.state().sleeps
    }

    /// The append-only file as a new process would read it.
    pub(crate) fn aof(&self) -> String {
        self.file("appendonly.aof")
    }

    pub(crate) fn file(&self, name: &str) -> String {
        let state = self.state();
        let bytes = state.files.get(name).map(|file| file.written.clone()).unwrap_or_default();
        String::from_utf8(bytes).expect("the tests write text")
    }

    pub(crate) fn write_aof(&self, bytes: &[u8]) {
        self.write_file("appendonly.aof", bytes);
    }

    pub(crate) fn write_file(&self, name: &str, bytes: &[u8]) {
        self.state().files.insert(name.into(), File { written: bytes.to_vec(), durable: bytes.to_vec() });
    }

    /// A client's connection to this host's node.
    pub(crate) async fn client(&self) -> Client {
        let stream = self.open(&self.name).expect("the node is up");
        Client { stream: BufReader::new(stream) }
    }

    /// Connections to this host from now on come to the test, which answers them by hand.
    pub(crate) fn impersonate(&self) -> mpsc::UnboundedReceiver<Client> {
        let (connections, accepted) = mpsc::unbounded_channel();
        self.state().impostor = Some(connections);
        accepted
    }

    fn open(&self, to: &str) -> io::Result<DuplexStream> {
        let target = self.world.host(to);
        if let Some(impostor) = &target.state().impostor {
            let (near, far) = tokio::io::duplex(PIPE_BYTES);
            impostor
                .send(Client { stream: BufReader::new(far) })
                .map_err(|_| io::ErrorKind::ConnectionRefused)?;
            return Ok(near);
        }
        let node = {
            let target = target.state();
            target.node.clone().filter(|_| !target.unreachable).ok_or(io::ErrorKind::ConnectionRefused)?
        };
        // Two pipes with a pump between them: when the pump stops, both ends see the connection end.
        let (near, mut pump_near) = tokio::io::duplex(PIPE_BYTES);
        let (far, mut pump_far) = tokio::io::duplex(PIPE_BYTES);
        let pump = tokio::spawn(async move {
            let _ = tokio::io::copy_bidirectional(&mut pump_near, &mut pump_far).await;
        });
        let address = format!("{}:{}", self.name, 40_000);
        let serving = tokio::spawn(async move { node.serve(far, Peer::default(), address).await });
        target.state().links.push(pump.abort_handle());
        target.state().tasks.push(serving.abort_handle());
        Ok(near)
    }

    fn state(&self) -> MutexGuard<'_, HostState> {
        self.state.lock().expect("no test panics while it holds this")
    }
}

impl Machine for Host {
    type Stream = DuplexStream;

    fn wall(&self) -> WallMicros {
        let offset = self.state().wall_offset_ms;
        WallMicros((START_MS + offset) * 1000 + self.monotonic().as_micros() as i64)
    }

    fn monotonic(&self) -> Duration {
        self.world.began.elapsed()
    }

    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send {
        self.state().sleeps += 1;
        tokio::time::sleep(duration)
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let task = tokio::spawn(task).abort_handle();
        self.state().tasks.push(task);
    }

    async fn connect(&self, host: &str, _port: u16) -> io::Result<DuplexStream> {
        if self.state().unreachable {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        self.open(host)
    }

    fn random(&self, buf: &mut [u8]) {
        let mut state = self.state();
        state.drawn += 1;
        buf.fill(state.drawn);
        buf[0] = *self.name.as_bytes().last().expect("a host has a name");
    }

    fn append(&self, file: &str, bytes: &[u8]) {
        self.state().files.entry(file.to_owned()).or_default().written.extend_from_slice(bytes);
    }

    async fn fsync(&self, file: &str) -> io::Result<()> {
        let (covered, time) = {
            let state = self.state();
            (state.files.get(file).map_or(0, |file| file.written.len()), state.fsync_time)
        };
        tokio::time::sleep(time).await;
        let mut state = self.state();
        state.fsyncs += 1;
        if let Some(file) = state.files.get_mut(file) {
            file.durable = file.written[..covered].to_vec();
        }
        Ok(())
    }

    fn read(&self, file: &str) -> io::Result<Vec<u8>> {
        Ok(self.state().files.get(file).map(|file| file.written.clone()).unwrap_or_default())
    }

    fn truncate(&self, file: &str, len: u64) {
        self.state().files.entry(file.to_owned()).or_default().written.truncate(len as usize);
    }

    fn replace(&self, file: &str, bytes: &[u8]) {
        self.state().files.entry(file.to_owned()).or_default().written = bytes.to_vec();
    }

    fn command_time(&self, _command: &[u8]) -> Option<Duration> {
        let time = self.state().command_time;
        (!time.is_zero()).then_some(time)
    }
}

/// A client that sends lines and reads replies as text.
pub(crate) struct Client {
    stream: BufReader<DuplexStream>,
}

impl Client {
    /// Sends an inline command and returns its reply.
    pub(crate) async fn ask(&mut self, command: &str) -> String {
        self.send(command).await;
        self.reply().await
    }

    pub(crate) async fn send(&mut self, command: &str) {
        self.send_raw(format!("{command}\r\n").as_bytes()).await;
    }

    pub(crate) async fn send_raw(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.expect("the connection is open");
    }

    /// Sends as much as the other end takes within `ms`.
    pub(crate) async fn try_send_raw(&mut self, bytes: &[u8], ms: u64) {
        let all = tokio::time::timeout(Duration::from_millis(ms), self.stream.write_all(bytes)).await;
        all.unwrap_or(Ok(())).expect("the connection is open");
    }

    /// The same, for as long as the other end does not close.
    pub(crate) async fn flood(&mut self, bytes: &[u8], ms: u64) {
        // What it took, or that it took no more, shows in what it does next.
        let _ = tokio::time::timeout(Duration::from_millis(ms), self.stream.write_all(bytes)).await;
    }

    /// One reply: text of a status, error or bulk string, digits of an integer, `nil`, arrays in brackets; `closed` at
    /// the end of the connection. Panics if two hours pass without one, so that a test fails where it would hang.
    pub(crate) async fn reply(&mut self) -> String {
        let reply = tokio::time::timeout(Duration::from_secs(7200), self.read_reply()).await;
        reply.expect("a reply within two hours")
    }

    async fn read_reply(&mut self) -> String {
        let Some(line) = self.line().await else { return "closed".to_owned() };
        let (kind, rest) = line.split_at(1);
        match kind {
            "$" | "*" if rest == "-1" => "nil".to_owned(),
            "$" => {
                let mut bytes = vec![0; rest.parse::<usize>().expect("a length") + 2];
                self.stream.read_exact(&mut bytes).await.expect("the rest of the bulk string");
                bytes.truncate(bytes.len() - 2);
                String::from_utf8(bytes).expect("the tests write text")
            }
            "*" => {
                let mut items = Vec::new();
                for _ in 0..rest.parse().expect("a length") {
                    items.push(Box::pin(self.read_reply()).await);
                }
                format!("[{}]", items.join(" "))
            }
            _ => rest.to_owned(),
        }
    }

    /// The next `len` bytes as they come.
    pub(crate) async fn raw(&mut self, len: usize) -> String {
        let mut bytes = vec![0; len];
        self.stream.read_exact(&mut bytes).await.expect("the connection is open");
        String::from_utf8(bytes).expect("the tests write text")
    }

    /// Whether nothing has been answered within `ms`.
    pub(crate) async fn is_silent_for(&mut self, ms: u64) -> bool {
        tokio::time::timeout(Duration::from_millis(ms), self.stream.read_u8()).await.is_err()
    }

    async fn line(&mut self) -> Option<String> {
        let mut line = Vec::new();
        loop {
            match self.stream.read_u8().await {
                Ok(b'\n') => break,
                Ok(byte) => line.push(byte),
                Err(_) => return None,
            }
        }
        line.pop();
        Some(String::from_utf8(line).expect("the tests write text"))
    }
}

/// One field of INFO.
pub(crate) async fn info(client: &mut Client, field: &str) -> String {
    let text = client.ask("INFO clients replication").await;
    let value = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    value.unwrap_or_default().to_owned()
}
