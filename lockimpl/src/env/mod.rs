//! What a lock needs from the machine it runs on, and nothing else: clocks, sleep, random bytes and
//! connections. The same lock runs on a simulated host and, through `TokioEnv`, on a real one.
//!
//! In reading order, after [`Env`] itself:
//!
//! | file | holds |
//! |---|---|
//! | `times` | the readings of three clocks, and deadlines |
//! | `clock` | [`Clock`]: the one that a lock measures with |
//! | `jitter` | a length of time drawn at random |
//! | `push` | [`Push`]: what a node says that nobody asked for |
//! | `process_state` | [`ProcessState`]: what a library keeps once in a process |
//! | `redis_config` | how redis-rs is set up, on whatever stream |
//! | `tokio_env` | the environment of a real machine (feature `tokio`) |
//! | `null_env` | an environment that nobody is ever in |
//!
//! Says nothing about how time passes or who else runs on the machine.

pub(crate) mod clock;
pub(crate) mod jitter;
pub(crate) mod null_env;
mod process_state;
mod push;
mod redis_config;
mod times;
#[cfg(feature = "tokio")]
mod tokio_env;

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::{fmt, io};

use futures_util::future::{AbortHandle, abortable};
use redis::RedisResult;
use redis::aio::{ConnectionLike, MultiplexedConnection};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::config::MasterDiscovery;
pub use clock::Clock;
pub use process_state::ProcessState;
pub use push::{Push, Pushes};
pub use redis_config::{
    CONNECT_LIMIT, RESPONSE_LIMIT, connection_config, connection_info, default_config, listening_config,
    listening_info,
};
pub use times::{BootTime, Deadline, MonotonicTime, WallTime};
#[cfg(feature = "tokio")]
pub use tokio_env::TokioEnv;

/// The name of a node. What it means is the environment's business: a host of the simulated world,
/// a `redis://` address on a real machine.
///
/// It can also be the name of a master that has to be asked for, see [`NodeName::of_master`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeName {
    name: Arc<str>,
    group: Option<Arc<MasterGroup>>,
}

/// Nodes of which one is the master, and those who know which.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MasterGroup {
    /// The nodes, the first master first.
    pub nodes: Vec<NodeName>,
    /// The Sentinels, in the order in which a driver is told of them.
    pub sentinels: Vec<NodeName>,
    /// The way to the master; `None`: as the driver of the lock goes.
    pub discovery: Option<MasterDiscovery>,
}

impl NodeName {
    /// Names a node.
    pub fn new(name: &str) -> Self {
        Self { name: name.into(), group: None }
    }

    /// Names the master of a group, as Sentinels know it: whichever node that is when somebody connects.
    pub fn of_master(name: &str, group: MasterGroup) -> Self {
        Self { name: name.into(), group: Some(Arc::new(group)) }
    }

    /// The name as given.
    pub fn as_str(&self) -> &str {
        &self.name
    }

    /// The group whose master it is, if it is not a node by itself.
    pub fn group(&self) -> Option<&MasterGroup> {
        self.group.as_deref()
    }
}

impl From<&str> for NodeName {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

impl fmt::Display for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// The deadline of a [race](Env::race) came before its operation was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the deadline passed first")]
pub struct DeadlinePassed;

/// The machine under a lock.
///
/// **What a pause means.** A pause (garbage collection, SIGSTOP, a page fault) stops the code
/// between any two steps, also between reading a clock and using what it read, and stops nothing
/// else: clocks run, replies arrive and wait unread. When the code resumes, everything is late at
/// once: every timer is due and every reply is there. A lock must expect to find both, and
/// [`race`](Env::race) says which it sees first. This is why every clock read is awaited: each is a
/// step at which an implementation may stop.
pub trait Env: Clone + Send + Sync + 'static {
    /// A connection to a node. Requests on one connection are executed in the order sent; a request
    /// whose future is dropped is not recalled, and its late reply is discarded.
    type Conn: ConnectionLike + Clone + Send + Sync + 'static;

    /// A byte stream to a host that need not run Redis.
    type Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static;

    /// Reads the wall clock.
    fn wall(&self) -> impl Future<Output = WallTime> + Send;

    /// Reads the monotonic clock.
    fn monotonic(&self) -> impl Future<Output = MonotonicTime> + Send;

    /// Reads the boot clock.
    fn boot(&self) -> impl Future<Output = BootTime> + Send;

    /// Waits until the monotonic clock reads `at` or later; at once if it does already.
    fn sleep_until(&self, at: MonotonicTime) -> impl Future<Output = ()> + Send;

    /// Fills `bytes` with random bytes, unpredictable to other clients: tokens are made of them.
    fn random(&self, bytes: &mut [u8]);

    /// A lock says that keys with this value, or fields of a hash with this name, are its own: set for the acquire call
    /// under way. Said in that call, before the key is set or after. For whoever watches nodes from outside and wants
    /// to know whose key was changed; nothing on a real machine.
    fn marks(&self, value: &[u8]) {
        let _ = value;
    }

    /// A lock whose key is a claim whatever it holds, such as a counter, says so before it touches the key: whoever
    /// makes the key has the lock, until it is gone or counted down to nothing. As [`marks`](Env::marks), for the
    /// acquire call under way.
    fn marks_key(&self, key: &[u8]) {
        let _ = key;
    }

    /// A lock whose key is not called as its resource says so, before it touches the key. Nothing on a real machine.
    fn names_key(&self, resource: &str, key: &[u8]) {
        let _ = (resource, key);
    }

    /// A lock that asks several nodes says whose yes it counted for the grant that the acquire call under way comes to.
    /// A node whose yes came too late has the key as well, and did not vote. Nothing on a real machine.
    fn votes(&self, nodes: &[&NodeName]) {
        let _ = nodes;
    }

    /// The one value of this type in the process: what a library keeps in a static, shared by all threads of the
    /// process and gone with it. See [`ProcessState`](crate::ProcessState).
    fn process_state<T: Default + Send + Sync + 'static>(&self) -> Arc<T>;

    /// Starts a task beside the caller's code, such as a watchdog that renews a lease. What it sends belongs to the
    /// lock call it was started in, however long ago that call returned.
    ///
    /// The task ends by itself, with the process, or when it is [aborted](Task::abort): not when the handle is dropped.
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> Task;

    /// A lock is about to renew a lease beside its holder, in a task that was [started](Env::spawn) by the call that
    /// was granted it. For whoever watches; nothing on a real machine.
    fn renewal_started(&self) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }

    /// A renewal is over: the new deadline, if the lock computes one, or why it is not known to be kept. Not said of
    /// one whose holder has stopped it meanwhile.
    fn renewal_ended(&self, came_to: Result<Option<Deadline>, String>) -> impl Future<Output = ()> + Send {
        let _ = came_to;
        std::future::ready(())
    }

    /// A library says to its process that a lock is lost or may be, in its own word: `SUSPENDED`, `LOST`. For whoever
    /// watches; nothing on a real machine.
    fn notice_loss(&self, notice: &'static str) -> impl Future<Output = ()> + Send {
        let _ = notice;
        std::future::ready(())
    }

    /// A library takes back that a lock may be lost: `CONNECTED`. As [`notice_loss`](Env::notice_loss).
    fn notice_recovery(&self, notice: &'static str) -> impl Future<Output = ()> + Send {
        let _ = notice;
        std::future::ready(())
    }

    /// Opens a byte stream to a port of a host, which need not run Redis. Nobody knows what is sent on it: a command to
    /// a Redis node that goes this way belongs to no lock call.
    fn stream(&self, host: &str, port: u16) -> impl Future<Output = io::Result<Self::Stream>> + Send;

    /// Opens a new connection to `node`; see [`connection_config`](crate::connection_config).
    fn connect(&self, node: &NodeName) -> impl Future<Output = redis::RedisResult<Self::Conn>> + Send;

    /// Waits until the other side has ended `conn`, whether or not anybody uses it: a driver that reconnects by itself
    /// does not wait for the next request to find out. Never done where nobody says so.
    fn wait_closed(&self, conn: &Self::Conn) -> impl Future<Output = ()> + Send {
        let _ = conn;
        std::future::pending()
    }

    /// Opens a connection of its own to `node`, on which the node says things that nobody asked for: messages of
    /// channels, keys that are no longer as they were read. Commands on it are executed in the order sent, as on any
    /// other; one that waits at the node (`BLPOP`) holds up those behind it. See
    /// [`listening_config`](crate::listening_config).
    ///
    /// Whatever was said while no such connection stood is lost, and so is what was on its way when one broke.
    fn listen(
        &self,
        node: &NodeName,
    ) -> impl Future<Output = redis::RedisResult<(Self::Conn, Pushes)>> + Send;

    /// Runs `operation` until it is done or the monotonic clock reaches `deadline`.
    ///
    /// The operation is polled before the timer, as tokio's timeout does: after a pause, a reply that
    /// is already waiting wins over a deadline that has passed. Implementations keep that order.
    fn race<F>(
        &self,
        operation: F,
        deadline: MonotonicTime,
    ) -> impl Future<Output = Result<F::Output, DeadlinePassed>> + Send
    where
        F: Future + Send,
        F::Output: Send,
    {
        operation_first(operation, self.sleep_until(deadline))
    }
}

/// A machine on which redis-rs' own connection can be had, not only something like it.
pub trait RedisRs: Env {
    /// Opens a new connection to `node`, driven by redis-rs on this machine, with the limits that it has where nobody
    /// sets others: [`CONNECT_LIMIT`] and [`RESPONSE_LIMIT`].
    ///
    /// Which lock call a command belongs to is told from when redis-rs writes it: right after the code of that call, or
    /// of a task that the call spawned, has run. A command that leaves later, for want of room in the network, belongs
    /// to nobody, or is taken for that of the call whose code runs then.
    fn open_multiplexed(
        &self,
        node: &NodeName,
    ) -> impl Future<Output = RedisResult<MultiplexedConnection>> + Send;
}

/// A task that a lock [started](Env::spawn).
#[derive(Clone, Debug)]
pub struct Task(AbortHandle);

impl Task {
    /// Splits a task into the handle that a lock gets and the future that an environment runs.
    pub fn new<F: Future<Output = ()>>(task: F) -> (Self, impl Future<Output = ()>) {
        let (task, handle) = abortable(task);
        // Whether it was aborted is nobody's business.
        (Self(handle), async { task.await.unwrap_or_default() })
    }

    /// Ends the task where it waits. What it has sent is not recalled.
    pub fn abort(&self) {
        self.0.abort();
    }
}

async fn operation_first<F: Future>(
    operation: F,
    timer: impl Future<Output = ()>,
) -> Result<F::Output, DeadlinePassed> {
    let (mut operation, mut timer) = (pin!(operation), pin!(timer));
    poll_fn(|cx| {
        if let Poll::Ready(output) = operation.as_mut().poll(cx) {
            return Poll::Ready(Ok(output));
        }
        timer.as_mut().poll(cx).map(|()| Err(DeadlinePassed))
    })
    .await
}
