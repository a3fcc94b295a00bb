//! What a node knows of all its connections, for CLIENT LIST and CLIENT KILL: brought up to date after each of their
//! commands.
//!
//! Not modelled: sizes of buffers, but for the request of who asks; file descriptors.

use super::session::SessionKind;
use super::state::{Client, Tracked};
use super::subscriptions::Counts;
use super::{Next, Session, WallMicros};
use crate::resp::Protocol;

impl Client {
    pub(crate) fn new(session: &Session) -> Client {
        Client {
            addr: session.addr.clone(),
            connected_at: session.connected_at,
            seen_at: session.connected_at,
            name: session.name.clone(),
            db: session.db,
            protocol: session.protocol,
            queued: None,
            no_evict: session.no_evict,
            is_replica: false,
            is_monitor: false,
            is_answered: true,
            outbox: Vec::new(),
            last_command: None,
        }
    }

    /// What the command did to the connection. Called for every one: must be cheap.
    pub(crate) fn note_command(&mut self, session: &Session, now: WallMicros, next: &Next) {
        self.seen_at = now;
        self.last_command = session.last_command.map(|command| command.full_name);
        self.db = session.db;
        self.protocol = session.protocol;
        self.queued = session.multi.as_ref().map(|multi| multi.queue.len());
        self.no_evict = session.no_evict;
        self.is_monitor = session.is_monitor;
        self.is_answered = session.is_answered();
        self.is_replica |= matches!(next, Next::Psync { .. } | Next::Sync);
        // Looked at first, because most have no name: comparing two empty vectors reads nothing at an address where
        // nothing is, which takes some processors a hundred times as long as it looks.
        let has_name = !self.name.is_empty() || !session.name.is_empty();
        if has_name && self.name != session.name {
            self.name.clone_from(&session.name);
        }
    }

    /// The same connection while one of its commands is being executed.
    pub(crate) fn during(&self, session: &Session, now: WallMicros) -> Client {
        let mut client = self.clone();
        client.note_command(session, now, &Next::Reply);
        // An EXEC under way still counts what it executes.
        client.queued = self.queued;
        client
    }

    pub(crate) fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// Which kind of client it is, with these subscriptions.
    pub(crate) fn kind(&self, subscriptions: Counts) -> ClientKind {
        match subscriptions.all() {
            _ if self.is_replica => ClientKind::Replica,
            0 => ClientKind::Normal,
            _ => ClientKind::Pubsub,
        }
    }

    /// Whether CLIENT KILL means it. `port` is the node's own.
    pub(crate) fn matches(&self, id: u64, port: u16, subscriptions: Counts, wanted: &Wanted<'_>) -> bool {
        let addr = |wanted: Option<&[u8]>, addr: &str| wanted.is_none_or(|wanted| wanted == addr.as_bytes());
        wanted.id.is_none_or(|wanted| wanted == id)
            && addr(wanted.addr, &self.addr)
            && addr(wanted.laddr, &own_addr(port))
            && wanted.kind.is_none_or(|kind| kind == self.kind(subscriptions))
    }

    /// Its line in CLIENT LIST.
    pub(crate) fn line(&self, id: u64, now: WallMicros, port: u16, seen: &Circumstances<'_>) -> String {
        let Circumstances { is_dirty, is_blocked, subscriptions, tracked, held } = *seen;
        let Counts { channels, patterns, shard_channels } = subscriptions;
        let seconds = |since: WallMicros| (now.0.saturating_sub(since.0)).max(0) / 1_000_000;
        let flags = [
            (self.is_replica, 'S'),
            (self.is_monitor, 'O'),
            (subscriptions.all() > 0, 'P'),
            (self.queued.is_some(), 'x'),
            (is_blocked, 'b'),
            (is_dirty, 'd'),
            (tracked.is_some(), 't'),
            (tracked.is_some_and(|tracked| tracked.is_broken), 'R'),
            (tracked.is_some_and(|tracked| tracked.options.bcast), 'B'),
            (self.no_evict, 'e'),
        ];
        let mut flags: String =
            flags.iter().filter(|(is_set, _)| *is_set).map(|(_, letter)| letter).collect();
        if flags.is_empty() {
            flags.push('N');
        }
        format!(
            "id={id} addr={} laddr={} fd=8 name={} age={} idle={} flags={flags} db={} sub={channels} psub={patterns} \
             ssub={shard_channels} multi={} qbuf={} qbuf-free=0 argv-mem={} multi-mem=0 rbs=1024 rbp=0 obl=0 oll=0 \
             omem=0 tot-mem=0 events=r cmd={} user=default redir={} resp={}\n",
            self.addr,
            own_addr(port),
            String::from_utf8_lossy(&self.name),
            seconds(self.connected_at),
            seconds(self.seen_at),
            self.db,
            self.queued.map_or(-1, |queued| queued as i64),
            held.request,
            held.arguments,
            self.last_command.unwrap_or("NULL"),
            tracked.map_or(-1, |tracked| tracked.redirect as i64),
            if self.protocol == Protocol::Two { 2 } else { 3 },
        )
    }
}

/// What others know of a connection, for its line.
pub(crate) struct Circumstances<'a> {
    /// Its next EXEC will fail.
    pub(crate) is_dirty: bool,
    /// It waits.
    pub(crate) is_blocked: bool,
    pub(crate) subscriptions: Counts,
    pub(crate) tracked: Option<&'a Tracked>,
    pub(crate) held: RequestBytes,
}

/// What a connection holds of the request under way, in bytes: as it came, and its arguments.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RequestBytes {
    pub(crate) request: usize,
    pub(crate) arguments: usize,
}

/// Where a connection came in: the node has one address.
fn own_addr(port: u16) -> String {
    format!("127.0.0.1:{port}")
}

/// What the connections have in common that CLIENT KILL is to end.
#[derive(Clone, Copy, Default)]
pub(crate) struct Wanted<'a> {
    pub(crate) id: Option<u64>,
    pub(crate) addr: Option<&'a [u8]>,
    pub(crate) laddr: Option<&'a [u8]>,
    pub(crate) kind: Option<ClientKind>,
}

/// The kinds of clients that CLIENT LIST and CLIENT KILL tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClientKind {
    Normal,
    Replica,
    /// It has subscribed to something.
    Pubsub,
}

impl super::Core {
    /// Notes what a connection's command did to it. A master's stream is no client.
    pub(crate) fn note_client(&mut self, session: &Session, now: WallMicros, next: &Next) {
        if session.kind == SessionKind::Client
            && let Some(client) = self.clients.get_mut(&session.id)
        {
            client.note_command(session, now, next);
        }
    }
}
