//! Asynchronous replication: one history of bytes, written by a master, followed by its replicas.
//!
//! Reading order: this file (what a node remembers about its links, and what a change of role does), `backlog` (the
//! history), `attached` (the replicas), `master` (the sending end), `refused` (who cannot be a replica), `replica` (the
//! receiving end) and its `handshake`.
//!
//! The protocol is Redis': PING, REPLCONF, PSYNC, then the stream of commands one way and REPLCONF ACK the other. A
//! node keeps the id it followed before its promotion, so that the other replicas and its old master can go on with the
//! part of the history they share (PSYNC2).
//!
//! Not modelled: the payload of a full resynchronisation is the data set as commands where Redis sends an RDB file, and
//! it is taken in an instant, with neither fork nor `repl-diskless-sync-delay`; SYNC (the old protocol), a FAILOVER
//! that goes through, AUTH of replicas, `repl-backlog-ttl`. Time limits are measured on the
//! monotonic clock (Redis: wall).

mod attached;
mod backlog;
mod handshake;
mod master;
mod refused;
mod replica;

pub(crate) use master::{SyncRequest, ask_for_acknowledgements, serve_replica};
pub(crate) use refused::RefusedReplicas;

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use attached::Attached;
use backlog::Backlog;

use crate::core::{LinkState, OutputLimit, Replication, ReplicationId, Role, Session};
use crate::machine::Machine;
use crate::resp::reply;
use crate::shared::{Shared, State, random_id};
use crate::wait::Wakers;

/// What a node remembers about its links, beside what the core reports.
#[derive(Debug)]
pub(crate) struct Links {
    backlog: Backlog,
    /// Replicas that are served now, in the order they came.
    attached: Vec<Attached>,
    pinging: bool,
    /// How often it was looked which replicas are good: the seconds since the process started.
    looks: u64,
    /// WAITing clients.
    waiting: Wakers,
    /// Whose replies wait for the stream to be on its way.
    handing_on: Wakers,
    demotions: u64,
    upstream: Upstream,
}

/// How far behind a replica may be now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    pub(crate) limit: OutputLimit,
    /// On the monotonic clock.
    pub(crate) now: Duration,
}

/// The link to this node's master.
#[derive(Debug, Default)]
struct Upstream {
    target: Option<(String, u16)>,
    /// Each change of role begins a new one; the task of an older one ends.
    generation: u64,
    stopped: Wakers,
    /// Whether the node's id and offset name a history it may ask to go on with.
    may_continue: bool,
    /// The database selected in the stream.
    session: Session,
}

impl Links {
    /// No links.
    pub(crate) fn new(backlog_bytes: usize) -> Links {
        Links {
            backlog: Backlog::new(backlog_bytes),
            attached: Vec::new(),
            pinging: false,
            looks: 0,
            waiting: Wakers::default(),
            handing_on: Wakers::default(),
            demotions: 0,
            upstream: Upstream::default(),
        }
    }

    /// Sends propagated bytes, by which `Replication::offset` has moved already.
    pub(crate) fn feed(&mut self, replication: &mut Replication, bytes: &[u8], patience: Patience) {
        if !replication.counting {
            return;
        }
        self.drop_laggards(replication, patience);
        let slowest = self.attached.iter().map(|replica| replica.position).min();
        self.backlog.resize(replication.backlog_size);
        self.backlog.append(bytes, slowest);
        self.report_backlog(replication);
        self.attached.iter_mut().for_each(Attached::wake);
    }

    /// Writes into the stream what no client asked for (PING, GETACK). Everything propagated must be fed before.
    fn feed_own(&mut self, replication: &mut Replication, bytes: &[u8], patience: Patience) {
        replication.offset += bytes.len() as u64;
        self.feed(replication, bytes, patience);
    }

    /// Begins a history at the current offset: a backlog exists from here on.
    fn begin_history(&mut self, replication: &mut Replication) {
        replication.counting = true;
        self.backlog.restart_at(replication.offset);
        self.report_backlog(replication);
    }

    fn report_backlog(&self, replication: &mut Replication) {
        replication.backlog_first = self.backlog.start() + 1;
        replication.backlog_len = self.backlog.len();
    }

    /// Ends every replica's link: they come back and learn what changed.
    fn drop_replicas(&mut self, replication: &mut Replication) {
        self.attached.drain(..).for_each(|mut replica| replica.wake());
        self.report_replicas(replication);
    }

    /// The process ends.
    pub(crate) fn stop(&mut self) {
        self.upstream.generation += 1;
        self.upstream.stopped.wake();
        self.waiting.wake();
        self.attached.drain(..).for_each(|mut replica| replica.wake());
    }

    /// How many replicas are served now.
    pub(crate) fn replicas(&self) -> usize {
        self.attached.len()
    }

    /// How often this node became a replica; a client that WAITs across a demotion is unblocked with an error.
    pub(crate) fn demotions(&self) -> u64 {
        self.demotions
    }

    /// Wakes the current task when a replica comes, goes or acknowledges.
    pub(crate) fn register(&mut self, cx: &Context<'_>) {
        self.waiting.register(cx);
    }

    fn set_link(&self, replication: &mut Replication, link: LinkState) {
        if let Some((host, port)) = &self.upstream.target {
            replication.role = Role::Replica { host: host.clone(), port: *port, link };
            if link == LinkState::Connected {
                replication.link_down_since = None;
            }
        }
    }
}

/// REPLICAOF, after the core has accepted it: `None` promotes the node, an address makes it that master's replica.
pub(crate) fn follow<M: Machine>(shared: &Arc<Shared<M>>, state: &mut State, target: Option<(String, u16)>) {
    match target {
        None => promote(shared, state),
        Some(target) if state.links.upstream.target.as_ref() == Some(&target) => {}
        Some(target) => {
            if state.links.upstream.target.is_none() {
                demote(state);
            }
            start_following(shared, state, target);
        }
    }
}

/// `replicaof` in the configuration: a process that has just started has no history to go on with.
pub(crate) fn follow_from_boot<M: Machine>(
    shared: &Arc<Shared<M>>,
    state: &mut State,
    host: String,
    port: u16,
) {
    start_following(shared, state, (host, port));
}

fn start_following<M: Machine>(shared: &Arc<Shared<M>>, state: &mut State, target: (String, u16)) {
    let links = &mut state.links;
    links.upstream.target = Some(target);
    links.upstream.generation += 1;
    links.upstream.stopped.wake();
    links.set_link(state.core.replication_mut(), LinkState::Connect);
    let generation = links.upstream.generation;
    shared.spawn(replica::keep_following(Arc::clone(shared), generation));
}

/// A master becomes a replica. Its own history is what it asks its new master to go on with: if that master has
/// followed it to the end, nothing is transferred.
fn demote(state: &mut State) {
    let State { core, links, .. } = state;
    let replication = core.replication_mut();
    if !replication.counting {
        links.begin_history(replication);
    }
    links.upstream.may_continue = true;
    links.upstream.session = Session::master_link(0);
    links.demotions += 1;
    links.waiting.wake();
    core.disconnect_blocked();
}

/// A replica becomes a master: a new history begins, whose past is shared with whoever followed the same master.
fn promote<M: Machine>(shared: &Shared<M>, state: &mut State) {
    let State { core, links, .. } = state;
    if links.upstream.target.take().is_none() {
        return;
    }
    links.upstream.generation += 1;
    links.upstream.stopped.wake();
    let replication = core.replication_mut();
    replication.role = Role::Master;
    shift_id(replication, ReplicationId(random_id(&shared.machine)));
    links.drop_replicas(replication);
    core.propagate_select_again();
}

/// The history goes on under a new id; up to here it is also the old one.
fn shift_id(replication: &mut Replication, id: ReplicationId) {
    replication.second_id = Some(replication.id);
    replication.second_offset = replication.offset as i64 + 1;
    replication.id = id;
}

/// Appends one command as the wire has it.
fn command(out: &mut Vec<u8>, words: &[&str]) {
    reply::command(out, words.iter().map(|word| word.as_bytes()));
}

fn poll_stopped<M: Machine>(shared: &Shared<M>, generation: u64, cx: &Context<'_>) -> Poll<()> {
    let upstream = &mut shared.lock().links.upstream;
    if upstream.generation != generation {
        return Poll::Ready(());
    }
    upstream.stopped.register(cx);
    Poll::Pending
}
