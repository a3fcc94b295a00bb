//! What one process' connections and background tasks share: the core, its file, its links, and who waits for what.
//!
//! Locked for moments only, never while time passes. Whoever keeps the node busy for longer holds its turn.

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::config::{NodeConfig, Persistence};
use crate::config_file;
use crate::core::{Core, Peer, Session, WallMicros};
use crate::machine::{Machine, TICK};
use crate::persistence::{self, Aof};
use crate::replication::{Links, Patience, RefusedReplicas};
use crate::snapshots;
use crate::wait::{Wakers, first};

/// One process, shared by its connections and background tasks.
pub(crate) struct Shared<M: Machine> {
    pub(crate) machine: M,
    pub(crate) config: NodeConfig,
    /// Held by whoever keeps the node busy while time passes. First come, first served.
    pub(crate) turn: tokio::sync::Mutex<()>,
    state: Mutex<State>,
    /// Set once, under the lock.
    closed: AtomicBool,
    draining: AtomicBool,
    /// How often connections that did not ask were pushed to or ended.
    news: AtomicU64,
    booted: Duration,
}

/// What changes. Locked for moments only, never while time passes.
pub(crate) struct State {
    pub(crate) core: Core,
    pub(crate) aof: Option<Aof>,
    pub(crate) links: Links,
    /// Connections whose request waits for a script that is overrunning.
    pub(crate) held: Wakers,
    /// Whose request waits for the end of a pause.
    paused: Wakers,
    pub(crate) expiry: ExpiryTimer,
    /// Who waits for the next write.
    pub(crate) written: Wakers,
    pub(crate) refused: RefusedReplicas,
    propagated: Vec<u8>,
    last_session: u64,
    held_by_clients: u64,
    connections: BTreeMap<u64, Waker>,
    watchers: Wakers,
}

/// When the next background expiry is due, so that an idle node has one timer and not ten per second.
pub(crate) struct ExpiryTimer {
    pub(crate) armed_ms: i64,
    pub(crate) rearm: Wakers,
}

impl<M: Machine> Shared<M> {
    pub(crate) fn new(machine: M, config: NodeConfig, core: Core) -> Shared<M> {
        let state = State {
            core,
            aof: Aof::open(config.persistence, machine.wall()),
            links: Links::new(config.repl_backlog_bytes),
            held: Wakers::default(),
            paused: Wakers::default(),
            expiry: ExpiryTimer { armed_ms: i64::MAX, rearm: Wakers::default() },
            written: Wakers::default(),
            refused: RefusedReplicas::default(),
            propagated: Vec::new(),
            last_session: 0,
            held_by_clients: 0,
            connections: BTreeMap::new(),
            watchers: Wakers::default(),
        };
        let booted = machine.monotonic();
        Shared {
            machine,
            config,
            turn: tokio::sync::Mutex::new(()),
            state: Mutex::new(state),
            closed: AtomicBool::new(false),
            draining: AtomicBool::new(false),
            news: AtomicU64::new(0),
            booted,
        }
    }

    /// The state. A panic elsewhere is our bug, and no reason to hide the state from whoever looks into it.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts background work that ends with the node.
    pub(crate) fn spawn(self: &Arc<Self>, work: impl Future<Output = ()> + Send + 'static) {
        let shared = Arc::clone(self);
        self.machine.spawn(async move {
            first(poll_fn(|cx| shared.poll_closed(cx)), work).await;
        });
    }

    /// The node's turn to do one thing.
    pub(crate) async fn take_turn(&self) -> tokio::sync::MutexGuard<'_, ()> {
        match self.turn.try_lock() {
            Ok(turn) => turn,
            Err(_) => self.turn.lock().await,
        }
    }

    /// Hands what was written since the last call to the file and to the replicas. Must be called before the lock is
    /// let go after any command.
    pub(crate) fn settle(&self, state: &mut State) {
        let State { core, aof, links, propagated, .. } = state;
        propagated.clear();
        let for_replicas_only = core.take_for_replicas_only();
        if core.take_propagated(propagated) {
            if let Some(aof) = aof {
                append_without(aof, &self.machine, propagated, &for_replicas_only);
            }
            let patience = self.patience(core);
            links.feed(core.replication_mut(), propagated, patience);
        }
        if let Some(aof) = aof {
            aof.note_offset(core.replication().offset);
        }
        // Not only after what was propagated: a node with neither file nor replica propagates nothing.
        state.arm_expiry();
        state.written.wake();
        self.announce(state);
    }

    /// Wakes the connections that were pushed to or killed.
    pub(crate) fn announce(&self, state: &mut State) {
        state.core.end_turn();
        let news = state.core.take_news();
        if news.is_empty() {
            return;
        }
        self.news.fetch_add(1, Ordering::AcqRel);
        for session in news {
            if state.core.is_killed(session) {
                state.links.drop_replica(state.core.replication_mut(), session);
            }
            if let Some(waker) = state.connections.get(&session) {
                waker.wake_by_ref();
            }
        }
    }

    /// How often [`announce`](Self::announce) had something to say: a connection that remembers another number looks.
    pub(crate) fn news(&self) -> u64 {
        self.news.load(Ordering::Acquire)
    }

    /// How long replicas may be behind now.
    pub(crate) fn patience(&self, core: &Core) -> Patience {
        Patience { limit: core.config().limits.replica_output, now: self.machine.monotonic() }
    }

    /// Brings up to date what INFO and the write checks read about replicas.
    pub(crate) fn refresh_links(&self, state: &mut State) {
        let State { core, links, aof, .. } = state;
        core.replication_mut().fsynced = aof.as_ref().map(Aof::durable_offset);
        let max_lag = u64::from(core.config().min_replicas_max_lag);
        links.refresh(core.replication_mut(), (self.booted, self.machine.monotonic()), max_lag);
    }

    /// Ends the process: connections close, [`Node::closed`] ends.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        self.closed.store(true, Ordering::Release);
        state.links.stop();
        state.watchers.wake();
        state.held.wake();
        state.paused.wake();
        std::mem::take(&mut state.connections).into_values().for_each(Waker::wake);
    }

    pub(crate) fn drain(&self) {
        self.draining.store(true, Ordering::Release);
        let mut state = self.lock();
        std::mem::take(&mut state.connections).into_values().for_each(Waker::wake);
        drop(state);
        self.close_if_drained();
    }

    /// Whether connections end as soon as nothing of them is left to be answered.
    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }

    /// A connection ended, perhaps the last one of a node that drains. Replicas stay until then: they are to have what
    /// was answered last.
    pub(crate) fn close_if_drained(&self) {
        let state = self.lock();
        let clients = state.core.connected_clients().saturating_sub(state.links.replicas() as u64);
        drop(state);
        if self.is_draining() && clients == 0 {
            self.close();
        }
    }

    /// SHUTDOWN: everything written goes to the file and is fsynced, whatever the policy; a node that takes snapshots
    /// takes one if it is to save.
    pub(crate) async fn shut_down(&self, save: bool) {
        let has_file = {
            let mut state = self.lock();
            self.settle(&mut state);
            state.aof.as_mut().map(|aof| aof.write_postponed(&self.machine)).is_some()
        };
        if has_file {
            // Whether the disk keeps its promise or not, the process ends here.
            let _ = self.machine.fsync(persistence::AOF_FILE).await;
        }
        if save && self.config.persistence == Persistence::Rdb {
            let _ = snapshots::take(self).await;
        }
        self.close();
    }

    /// CONFIG REWRITE: role and settings go to the configuration file, durably. The node does nothing else meanwhile.
    pub(crate) async fn rewrite_config(&self) {
        let text = config_file::text(&self.lock().core, &self.config.core);
        self.machine.replace(config_file::NAME, text.as_bytes());
        if self.machine.fsync(config_file::NAME).await.is_err() {
            self.close();
        }
    }

    /// Ends when CLIENT PAUSE, if there is one, is over or lifted.
    pub(crate) async fn pause_is_over(&self) {
        let Some(until) = self.lock().core.paused_until() else { return };
        first(poll_fn(|cx| self.lock().poll_unpaused(cx)), self.machine.wall_reaches(until)).await;
    }

    /// Whether the process has ended.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Ready when the process has ended.
    pub(crate) fn poll_closed(&self, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if self.is_closed() {
            return Poll::Ready(());
        }
        state.watchers.register(cx);
        Poll::Pending
    }

    pub(crate) fn next_tick_delay(&self) -> Duration {
        let age = self.machine.monotonic().saturating_sub(self.booted).as_nanos();
        let into_tick = (age % TICK.as_nanos()) as u64;
        TICK - Duration::from_nanos(into_tick)
    }
}

impl State {
    /// A connection or link begins.
    pub(crate) fn open_session(&mut self, peer: Peer, addr: String, now: WallMicros) -> Session {
        self.last_session += 1;
        let session = Session::new(self.last_session, peer, addr, now);
        self.core.note_connected(&session);
        session
    }

    /// A connection holds so many bytes more, or less, than it said last. Whether it may.
    pub(crate) fn hold(&mut self, more: i64) -> bool {
        self.held_by_clients = self.held_by_clients.saturating_add_signed(more);
        self.core.set_client_memory(self.held_by_clients);
        let limit = self.core.config().limits.client_memory();
        more <= 0 || limit == 0 || self.held_by_clients <= limit
    }

    /// A connection ended.
    pub(crate) fn end_session(&mut self, session: &mut Session) {
        self.connections.remove(&session.id());
        self.core.note_disconnected(session);
    }

    /// Wakes connection `session` when the node closes, or has something for it.
    pub(crate) fn wake_on_news(&mut self, session: u64, waker: &Waker) {
        self.connections.insert(session, waker.clone());
    }

    /// Whether this node's file covers `offset`, and how many replicas' do.
    pub(crate) fn files_at(&self, offset: u64) -> (bool, usize) {
        let is_local = self.aof.as_ref().is_some_and(|aof| aof.durable_offset() >= offset);
        (is_local, self.links.count_in_files(offset))
    }

    /// Ready with [`files_at`](Self::files_at) once these are as many as `wanted`; with `None` if the node was demoted
    /// since `demotions` was read.
    pub(crate) fn poll_files(
        &mut self,
        (local, replicas): (bool, usize),
        offset: u64,
        demotions: u64,
        cx: &Context<'_>,
    ) -> Poll<Option<(bool, usize)>> {
        if self.links.demotions() != demotions {
            return Poll::Ready(None);
        }
        let files = self.files_at(offset);
        if files.1 >= replicas && (files.0 || !local) {
            return Poll::Ready(Some(files));
        }
        self.links.register(cx);
        if let Some(aof) = &mut self.aof {
            aof.register(cx);
        }
        Poll::Pending
    }

    /// Lets held requests go on when the script they wait for has ended.
    pub(crate) fn release_held(&mut self) {
        if !self.core.script_is_overrunning() {
            self.held.wake();
        }
    }

    /// Lets paused requests go on when the pause was lifted.
    pub(crate) fn release_paused(&mut self) {
        if self.core.paused_until().is_none() {
            self.paused.wake();
        }
    }

    fn poll_unpaused(&mut self, cx: &Context<'_>) -> Poll<()> {
        if self.core.paused_until().is_none() {
            return Poll::Ready(());
        }
        self.paused.register(cx);
        Poll::Pending
    }

    /// Ready when no script is overrunning.
    pub(crate) fn poll_script_ended(&mut self, cx: &Context<'_>) -> Poll<()> {
        if !self.core.script_is_overrunning() {
            return Poll::Ready(());
        }
        self.held.register(cx);
        Poll::Pending
    }

    /// Makes background expiry look again: a key may expire earlier than it thinks, or the role changed.
    pub(crate) fn arm_expiry(&mut self) {
        if self.next_expiry_ms() < self.expiry.armed_ms {
            self.expiry.rearm.wake();
        }
    }

    /// Replicas wait for their master's DEL.
    pub(crate) fn next_expiry_ms(&self) -> i64 {
        if self.core.replication().is_replica() {
            return i64::MAX;
        }
        let due = self.core.next_expiry_ms().unwrap_or(i64::MAX);
        // Nothing expires while clients are paused.
        self.core.paused_until().map_or(due, |until| due.max(until.millis()))
    }
}

/// Appends all but what lies in these places.
fn append_without<M: Machine>(aof: &mut Aof, machine: &M, bytes: &[u8], places: &[Range<usize>]) {
    let mut from = 0;
    for place in places {
        append_some(aof, machine, &bytes[from..place.start]);
        from = place.end;
    }
    append_some(aof, machine, &bytes[from..]);
}

fn append_some<M: Machine>(aof: &mut Aof, machine: &M, bytes: &[u8]) {
    if !bytes.is_empty() {
        aof.append(machine, bytes);
    }
}

pub(crate) fn random_id<M: Machine>(machine: &M) -> [u8; 20] {
    let mut id = [0; 20];
    machine.random(&mut id);
    id
}
