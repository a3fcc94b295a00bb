//! One Redis process: the command core, its file, its replication links and its background work on one machine.
//!
//! [`Node::boot`] is the process' start and may be called again on the same machine after a crash; [`Node::serve`] is
//! one client's connection. Nothing here runs while nothing is due: an idle node has no timer but its next key's expiry
//! and, with replicas or a master, the replication heartbeat.
//!
//! Not modelled: `timeout`, AUTH and TLS, and Redis' other background work (rehashing, defragmentation).

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite};

use crate::config::{BootError, NodeConfig, Persistence};
use crate::config_file;
use crate::core::{Core, Peer, ReplicationId, WallMicros};
use crate::machine::Machine;
use crate::persistence;
use crate::replication;
use crate::server;
use crate::shared::{Shared, random_id};
use crate::snapshots;
use crate::wait::{First, first};

/// A running node. Clones are handles to the same process.
pub struct Node<M: Machine> {
    pub(crate) shared: Arc<Shared<M>>,
}

impl<M: Machine> Clone for Node<M> {
    fn clone(&self) -> Node<M> {
        Node { shared: Arc::clone(&self.shared) }
    }
}

impl<M: Machine> Node<M> {
    /// Starts a process: reads its configuration file, loads the file of its data, drops keys that have expired by the
    /// machine's wall clock, and starts the background work.
    ///
    /// # Errors
    /// When a file cannot be read, `redis.conf` holds what CONFIG REWRITE never writes, or the file of its data is
    /// damaged in a way that no crash causes.
    pub fn boot(machine: M, mut config: NodeConfig) -> Result<Node<M>, BootError> {
        let is_rdb = config.persistence == Persistence::Rdb;
        config.core.append_only = !is_rdb && config.persistence != Persistence::None;
        config.core.save_seconds = is_rdb.then_some(config.snapshot_interval.as_secs());
        config.core.append_fsync = config.persistence.append_fsync();
        config.core.repl_backlog_bytes = config.repl_backlog_bytes as u64;
        config.core.repl_ping_period = config.repl_ping_period;
        let mut started = config.core.clone();
        if started.config_file
            && let Some(written) = config_file::read(&machine, &mut started)?
        {
            config.replica_of = written;
        }
        let backlog_size = started.repl_backlog_bytes;
        let mut core = Core::new(started, random_id(&machine), ReplicationId(random_id(&machine)));
        if let Some(file) = config.persistence.file() {
            persistence::load(&machine, &mut core, file)?;
            core.drop_expired(machine.wall());
        }
        core.replication_mut().backlog_size = backlog_size;
        let node = Node { shared: Arc::new(Shared::new(machine, config, core)) };
        node.start_background();
        Ok(node)
    }

    /// Serves one client until either side closes. `peer` is handed to the observer, `addr` (`ip:port`) is what CLIENT
    /// LIST shows. A replica's connection is served here too, once it has sent PSYNC.
    pub fn serve<S>(&self, stream: S, peer: Peer, addr: String) -> impl Future<Output = ()> + Send + use<M, S>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send,
    {
        server::serve(Arc::clone(&self.shared), stream, peer, addr)
    }

    /// Ends when the node has shut down (SHUTDOWN, or a disk that failed): stop accepting connections.
    pub async fn closed(&self) {
        poll_fn(|cx| self.shared.poll_closed(cx)).await;
    }

    /// Ends when a Redis asked to be this node's replica and was refused, with its address: once for each address.
    pub async fn refused_replica(&self) -> String {
        poll_fn(|cx| self.shared.lock().refused.poll_next(cx)).await
    }

    /// Ends the process in order: connections are answered what has arrived of them and closed, then the node closes.
    /// Stop accepting connections before. A client that does not read its replies can hold this up for as long as it
    /// likes.
    pub fn drain(&self) {
        self.shared.drain();
    }

    /// Looks at the node's memory, between two commands.
    pub(crate) fn inspect<R>(&self, look: impl FnOnce(&Core) -> R) -> R {
        look(&self.shared.lock().core)
    }

    /// Has the node evict every key, or every key that has a lifetime, between two commands; see [`Core::evict`].
    pub async fn evict(&self, volatile_only: bool) {
        poll_fn(|cx| self.shared.lock().poll_script_ended(cx)).await;
        let _turn = self.shared.take_turn().await;
        let mut state = self.shared.lock();
        state.core.evict(volatile_only);
        self.shared.settle(&mut state);
    }

    /// Publishes a message of the node's own, to its subscribers and to nobody else's.
    pub fn publish(&self, channel: &str, message: &str) {
        let mut state = self.shared.lock();
        state.core.tell_subscribers(channel.as_bytes(), message.as_bytes());
        self.shared.announce(&mut state);
    }

    fn start_background(&self) {
        let (shared, config) = (&self.shared, &self.shared.config);
        if matches!(config.persistence, Persistence::AofEverysec | Persistence::AofAlways) {
            shared.spawn(persistence::keep_synced(Arc::clone(shared), config.persistence));
        }
        if config.persistence == Persistence::Rdb {
            shared.spawn(snapshots::keep_taking(Arc::clone(shared), config.snapshot_interval));
        }
        shared.spawn(expire_keys(Arc::clone(shared)));
        if let Some((host, port)) = config.replica_of.clone() {
            replication::follow_from_boot(shared, &mut shared.lock(), host, port);
        }
    }
}

/// Deletes expired keys in the background, as Redis' timer does every 100 ms: a key goes at the first tick after its
/// expiry. Ticks at which nothing can expire are skipped.
async fn expire_keys<M: Machine>(shared: Arc<Shared<M>>) {
    loop {
        let due_ms = poll_fn(|cx| poll_next_expiry(&shared, cx)).await;
        // A key is gone when the clock's millisecond is past its own.
        let due = WallMicros(due_ms.saturating_add(1).saturating_mul(1000));
        let earlier = poll_fn(|cx| {
            let mut state = shared.lock();
            if state.next_expiry_ms() < due_ms {
                return Poll::Ready(());
            }
            state.expiry.rearm.register(cx);
            Poll::Pending
        });
        if let First::Right(()) = first(shared.machine.wall_reaches(due), earlier).await {
            continue;
        }
        shared.machine.sleep(shared.next_tick_delay()).await;
        let _turn = shared.take_turn().await;
        let mut state = shared.lock();
        if !state.core.replication().is_replica() && !state.core.script_is_overrunning() {
            state.core.expire_cycle(shared.machine.wall());
            shared.settle(&mut state);
        }
    }
}

fn poll_next_expiry<M: Machine>(shared: &Shared<M>, cx: &Context<'_>) -> Poll<i64> {
    let mut state = shared.lock();
    let due = state.next_expiry_ms();
    state.expiry.armed_ms = due;
    if due < i64::MAX {
        return Poll::Ready(due);
    }
    state.expiry.rearm.register(cx);
    Poll::Pending
}
