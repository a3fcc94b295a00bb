//! One connection, as the core sees it: selected database, protocol, transaction.

use std::collections::BTreeSet;

use super::command::CommandSpec;
use super::{Origin, Peer, WallMicros};
use crate::resp::{OwnedArgs, Protocol};

/// One connection's state. The id must be unique among the connections of one [`Core`](super::Core).
#[derive(Debug, Default)]
pub struct Session {
    pub(crate) id: u64,
    /// On whose behalf its commands are executed.
    pub(crate) origin: Origin,
    pub(crate) addr: String,
    pub(crate) connected_at: WallMicros,
    pub(crate) name: Vec<u8>,
    pub(crate) protocol: Protocol,
    pub(crate) db: usize,
    /// Replication offset after this connection's last command that was executed: what WAIT waits for.
    pub(crate) offset: u64,
    pub(crate) listening_port: Option<u16>,
    pub(crate) announced_ip: Option<String>,
    /// As a replica it takes a data set as commands.
    pub(crate) reads_commands: bool,
    pub(crate) kind: SessionKind,
    /// What it says is a data set being loaded: not shown to who monitors.
    pub(crate) is_loading: bool,
    pub(crate) replies: ReplyMode,
    pub(crate) no_evict: bool,
    /// It is shown every command.
    pub(crate) is_monitor: bool,
    /// It has subscribed to something: in RESP2 little else is allowed then.
    pub(crate) is_subscribed: bool,
    /// The memory that its subscriptions take.
    pub(crate) subscribed_bytes: usize,
    /// What it sent last, if that was a command.
    pub(crate) last_command: Option<&'static CommandSpec>,
    /// The transaction between MULTI and EXEC.
    pub(crate) multi: Option<Transaction>,
    /// Keys watched, as (database, key): the databases hold the other end.
    pub(crate) watching: BTreeSet<(usize, Vec<u8>)>,
    /// What that takes, at both ends.
    pub(crate) watched_bytes: usize,
    /// A transaction is being executed: nothing in it waits.
    pub(crate) denies_blocking: bool,
}

/// Who speaks on a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SessionKind {
    /// An ordinary client.
    #[default]
    Client,
    /// A running script's own commands.
    Script,
    /// The stream of a master or an AOF: obeyed without checks, never answered.
    Master,
}

/// CLIENT REPLY.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ReplyMode {
    #[default]
    On,
    Off,
    /// CLIENT REPLY SKIP has been executed.
    SkipNext,
    Skip,
}

/// Commands queued since MULTI.
#[derive(Debug, Default)]
pub(crate) struct Transaction {
    pub(crate) queue: Vec<Queued>,
    /// A command was refused while queueing: EXEC will abort.
    pub(crate) aborted: bool,
    /// One of them is not for a replica without its master that must not serve stale data.
    pub(crate) needs_fresh: bool,
    /// One of them writes.
    pub(crate) writes: bool,
    /// One of them writes, or goes to replicas without writing.
    pub(crate) may_replicate: bool,
    /// One of them can make the data larger.
    pub(crate) grows: bool,
    /// Bytes held by the queue.
    pub(crate) size: usize,
}

/// One queued command.
#[derive(Debug)]
pub(crate) struct Queued {
    pub(crate) spec: &'static CommandSpec,
    pub(crate) args: OwnedArgs,
}

impl Session {
    /// A fresh connection from `addr` (`ip:port`), opened at `connected_at`.
    pub fn new(id: u64, peer: Peer, addr: String, connected_at: WallMicros) -> Session {
        Session { id, origin: Origin::Client { peer, request: 0 }, addr, connected_at, ..Session::default() }
    }

    /// The session for [`Core::apply`](super::Core::apply) of a master's stream.
    pub fn master_link(id: u64) -> Session {
        Session { id, origin: Origin::Master, kind: SessionKind::Master, ..Session::default() }
    }

    /// The session for [`Core::apply`](super::Core::apply) of an append-only file.
    pub fn loading() -> Session {
        Session { origin: Origin::File, kind: SessionKind::Master, is_loading: true, ..Session::default() }
    }

    /// The id given at [`new`](Self::new).
    pub fn id(&self) -> u64 {
        self.id
    }

    /// On whose behalf its commands are executed.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// The other end, as given at [`new`](Self::new); unknown, if it is no client's.
    pub(crate) fn peer(&self) -> Peer {
        match self.origin {
            Origin::Client { peer, .. } => peer,
            Origin::Master | Origin::File | Origin::Node => Peer::default(),
        }
    }

    /// The address given at [`new`](Self::new).
    pub(crate) fn addr(&self) -> &str {
        &self.addr
    }

    /// The request under way is done: what comes next is the next one.
    pub(crate) fn request_done(&mut self) {
        if let Origin::Client { request, .. } = &mut self.origin {
            *request += 1;
        }
    }

    /// The port it announced with `REPLCONF listening-port`.
    pub(crate) fn listening_port(&self) -> Option<u16> {
        self.listening_port
    }

    /// The address it announced with `REPLCONF ip-address`.
    pub(crate) fn announced_ip(&self) -> Option<&str> {
        self.announced_ip.as_deref()
    }

    /// The database that is selected (a master's stream goes on in it after a reconnection).
    pub(crate) fn selected_db(&self) -> usize {
        self.db
    }

    /// Whether replies are sent: CLIENT REPLY may have turned them off.
    pub(crate) fn is_answered(&self) -> bool {
        !matches!(self.replies, ReplyMode::Off | ReplyMode::Skip)
    }

    /// A request is over: what CLIENT REPLY SKIP said of one is over with it.
    pub(crate) fn step_replies(&mut self) {
        self.replies = match self.replies {
            ReplyMode::SkipNext => ReplyMode::Skip,
            ReplyMode::Skip => ReplyMode::On,
            other => other,
        };
    }

    /// True between MULTI and EXEC.
    pub(crate) fn is_in_transaction(&self) -> bool {
        self.multi.is_some()
    }

    /// Bytes it holds besides its buffers: what is queued, what is watched and what it has subscribed to.
    pub(crate) fn memory(&self) -> usize {
        let queued = self.multi.as_ref().map_or(0, |multi| multi.size);
        queued + self.watched_bytes + self.subscribed_bytes + self.name.len()
    }

    /// True if it has subscribed to something.
    pub(crate) fn is_subscribed(&self) -> bool {
        self.is_subscribed
    }

    pub(crate) fn abort_transaction(&mut self) {
        if let Some(multi) = &mut self.multi {
            multi.aborted = true;
        }
    }
}
