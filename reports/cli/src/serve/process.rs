//! The process of one host: it is booted, serves its port, and ends; with faults it can crash and begin again.

use std::time::Duration;

use doublehold_sim_redis::core::Peer;
use doublehold_sim_redis::{Machine, Node};
use doublehold_sim_sentinel::SentinelProcess;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use super::control::Orders;
use super::either::{Either, first};
use super::server::{Boot, Place};
use super::weather::host::{Order, ToDo};
use super::weather::machine::ServedMachine;
use super::weather::moments::Happened;
use crate::output;

/// How long to wait before accepting again when the system is out of something (file descriptors, mostly).
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// What fits between two ends in this process before one of them waits.
const DUPLEX_BYTES: usize = 64 << 10;

/// A server that runs on a port, and answers there.
#[derive(Clone)]
pub(super) enum Server {
    Node(Node<ServedMachine>),
    Sentinel(SentinelProcess<ServedMachine>),
}

impl Server {
    async fn serve(self, machine: &ServedMachine, stream: TcpStream, address: String, place: Option<&Place>) {
        let connection = Connection::new(place);
        let peer = connection.peer;
        let stream = machine.accept(stream, peer);
        match self {
            Server::Node(node) => node.serve(stream, peer, address).await,
            Server::Sentinel(sentinel) => sentinel.serve(stream, peer, address).await,
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

/// A connection while it is served. The task that serves it may be aborted, as in a crash: then it ends as well.
struct Connection<'a> {
    peer: Peer,
    place: Option<&'a Place>,
}

impl Connection<'_> {
    fn new(place: Option<&Place>) -> Connection<'_> {
        let peer = place.map(|place| place.control.links.next_connection()).unwrap_or_default();
        Connection { peer, place }
    }
}

impl Drop for Connection<'_> {
    fn drop(&mut self) {
        let Some(Place { control, .. }) = self.place else { return };
        if let Some(client) = control.links.end(self.peer) {
            control.record.note_gone(&client);
        }
    }
}

/// One process of a host, and whoever connects to it.
pub(super) struct Process {
    pub(super) server: Server,
    pub(super) machine: ServedMachine,
    accepting: tokio::task::JoinHandle<()>,
}

/// How a process ended.
enum End {
    /// It shut down by itself.
    Closed,
    /// The program is to stop.
    Stopped,
    /// It was told to crash.
    Crashed(oneshot::Sender<Result<(), String>>),
}

impl Process {
    pub(super) fn start(
        server: Server,
        machine: ServedMachine,
        listener: TcpListener,
        place: Option<Place>,
    ) -> Process {
        let accepting = tokio::spawn(accept(server.clone(), machine.clone(), listener, place));
        Process { server, machine, accepting }
    }

    /// Ends what it has started, where it stands, and its port.
    async fn end_at_once(self) {
        self.accepting.abort();
        // The listener is gone only when the task is: nobody is to connect and then be left alone.
        let _cancelled = self.accepting.await;
        self.machine.end_tasks().await;
    }

    /// Answers what has arrived, then ends.
    async fn end_in_order(self) {
        self.accepting.abort();
        let _cancelled = self.accepting.await;
        self.server.drain();
        self.server.closed().await;
    }

    async fn until_its_end(&self, orders: Option<&mut Orders>, stopped: &mut oneshot::Receiver<()>) -> End {
        let ordered = async {
            let Some(orders) = orders else { return std::future::pending().await };
            loop {
                match orders.recv().await {
                    Some(Order { what: ToDo::Crash, done }) => return done,
                    Some(order) => self.obey(order),
                    None => return std::future::pending().await,
                }
            }
        };
        match first(first(self.server.closed(), stopped), ordered).await {
            Either::Left(Either::Left(())) => End::Closed,
            Either::Left(Either::Right(_)) => End::Stopped,
            Either::Right(done) => End::Crashed(done),
        }
    }

    /// Does what takes its time beside whatever else it is told.
    fn obey(&self, Order { what, done }: Order) {
        let refuse = |done: oneshot::Sender<_>, why: &str| {
            // Whoever asked may have gone.
            let _ = done.send(Err(why.to_owned()));
        };
        match (what, &self.server) {
            (ToDo::Restart, _) => refuse(done, "it is up: only one that is down can be started"),
            (ToDo::Send { bytes, peer }, Server::Node(node)) => {
                let node = node.clone();
                self.machine.spawn(async move {
                    let _ = done.send(send_into(node, &bytes, peer).await);
                });
            }
            (ToDo::Evict { volatile_only }, Server::Node(node)) => {
                let node = node.clone();
                self.machine.spawn(async move {
                    node.evict(volatile_only).await;
                    let _ = done.send(Ok(()));
                });
            }
            _ => refuse(done, "it is a Sentinel, which has no data"),
        }
    }
}

/// Runs a host's processes, one after the other, until the program is to stop. Without faults there is only one.
pub(super) async fn run(
    boot: Boot,
    mut process: Process,
    mut orders: Option<Orders>,
    mut stopped: oneshot::Receiver<()>,
) {
    loop {
        if let Server::Node(node) = &process.server {
            tokio::spawn(tell_of_refused_replicas(node.clone(), boot.port));
        }
        let end = process.until_its_end(orders.as_mut(), &mut stopped).await;
        if let End::Stopped = end {
            return process.end_in_order().await;
        }
        let Some((orders, place)) = orders.as_mut().zip(boot.place.as_ref()) else {
            return process.accepting.abort();
        };
        process.end_at_once().await;
        place.host.set_up(false);
        // It begins with the settings that it had at first.
        place.host.note_refuses_writes(false);
        if let Some(node) = place.host.node {
            place.control.record.note_end(node);
        }
        if let End::Crashed(done) = end {
            let _ = done.send(Ok(()));
        }
        match first(started_again(&boot, orders), &mut stopped).await {
            Either::Left(again) => process = again,
            Either::Right(_) => return,
        }
        place.host.set_up(true);
        place.control.happened(Happened::Booted { host: &place.host.name });
    }
}

/// The next process, once it was told to begin and could.
async fn started_again(boot: &Boot, orders: &mut Orders) -> Process {
    while let Some(Order { what, done }) = orders.recv().await {
        if what == ToDo::BeginAnew {
            boot.forget();
        } else if what != ToDo::Restart {
            let _ = done.send(Err("it is down: `DOUBLEHOLD RESTART` it first".to_owned()));
            continue;
        }
        match start_again(boot).await {
            Ok(process) => {
                let _ = done.send(Ok(()));
                return process;
            }
            Err(problem) => {
                let _ = done.send(Err(problem));
            }
        }
    }
    std::future::pending().await
}

async fn start_again(boot: &Boot) -> Result<Process, String> {
    let listener = TcpListener::bind((boot.options.listen, boot.port)).await;
    let listener = listener.map_err(|error| format!("port {} is taken: {error}", boot.port))?;
    let server = boot.boot().map_err(|error| error.to_string())?;
    Ok(Process::start(server, boot.machine.clone(), listener, boot.place.clone()))
}

async fn accept(server: Server, machine: ServedMachine, listener: TcpListener, place: Option<Place>) {
    loop {
        let Ok((stream, address)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        // Only speed depends on it.
        let _ = stream.set_nodelay(true);
        let (server, of_task, place) = (server.clone(), machine.clone(), place.clone());
        machine
            .spawn(async move { server.serve(&of_task, stream, address.to_string(), place.as_ref()).await });
    }
}

/// Sends bytes to a node over a connection of its own, and waits until all is answered.
async fn send_into(node: Node<ServedMachine>, bytes: &[u8], peer: Peer) -> Result<(), String> {
    let (near, far) = tokio::io::duplex(DUPLEX_BYTES);
    let serving = node.serve(far, peer, "127.0.0.1:0".to_owned());
    let asking = async move {
        let (mut reads, mut writes) = tokio::io::split(near);
        let mut replies = Vec::new();
        writes.write_all(bytes).await?;
        writes.write_all(b"QUIT\r\n").await?;
        reads.read_to_end(&mut replies).await?;
        Ok::<_, std::io::Error>(replies)
    };
    let ((), replies) = tokio::join!(serving, asking);
    let replies = replies.map_err(|error| error.to_string())?;
    let replies = String::from_utf8_lossy(&replies);
    let refusal = replies.split("\r\n").find_map(|line| line.strip_prefix('-'));
    refusal.map_or(Ok(()), |refusal| Err(refusal.to_owned()))
}

/// A Redis that cannot follow a node tries again each second: that is said once.
async fn tell_of_refused_replicas(node: Node<ServedMachine>, port: u16) {
    loop {
        let redis = node.refused_replica().await;
        output::inform(&format!(
            "warning: the Redis at {redis} cannot follow the node on port {port}, which sends its data as commands and not \
             as RDB; send it `REPLICAOF NO ONE`, and let another node of `doublehold serve` follow"
        ));
    }
}
