//! ZooKeeper: sessions that heartbeats keep alive, nodes that go with their session, and watches that fire once.
//!
//! A session ends when the service has heard nothing of it for its timeout, rounded up to the next tick, whatever its
//! client believes. Any request is a heartbeat. A session survives its connection, and it survives a restart of the
//! service, which counts its timeout anew.
//!
//! [`ZooKeeperRules::lock_delay`] is not ZooKeeper's: Chubby and Consul have it. Locks of a session stay taken for so
//! long after it has expired.
//!
//! Not modelled: ACLs, data that changes, versions, quotas, multi, observers, and everything inside the group.
//!
//! Sources: ZooKeeper 3.8, `SessionTrackerImpl`, `ExpiryQueue`, `DataTree`; the ZooKeeper Programmer's Guide.

mod messages;
mod tree;

use std::collections::BTreeMap;
use std::time::Duration;

pub use messages::{Answer, Request, SessionId, WatchKind, ZooKeeperError};
use tree::Tree;

use crate::service::{EVENT, Outbox, SESSION_ENDED, Service, ServiceConnection, ServiceKind};

/// The length of a tick where nobody sets another: that of the sample configuration.
pub const TICK: Duration = Duration::from_secs(2);

/// The settings of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZooKeeperRules {
    /// The time between two looks at the sessions (`tickTime`). A timeout is at least two of them, and at most twenty.
    pub tick: Duration,
    /// For how long what an expired session held stays taken.
    pub lock_delay: Duration,
}

impl Default for ZooKeeperRules {
    fn default() -> Self {
        Self { tick: TICK, lock_delay: Duration::ZERO }
    }
}

impl ZooKeeperRules {
    /// Returns the timeout that a client gets which asks for this one.
    pub fn negotiate(&self, wanted: Duration) -> Duration {
        wanted.clamp(self.tick * 2, self.tick * 20)
    }

    /// Returns the tick at which a session ends that is heard of now: the first that lies after the timeout.
    fn expiry(&self, now: Duration, timeout: Duration) -> Duration {
        let tick = self.tick.as_nanos().max(1);
        let ticks = (now + timeout).as_nanos() / tick + 1;
        Duration::from_nanos(u64::try_from(ticks * tick).unwrap_or(u64::MAX))
    }
}

/// The service.
#[derive(Debug)]
pub struct ZooKeeper {
    rules: ZooKeeperRules,
    sessions: BTreeMap<SessionId, Session>,
    connections: BTreeMap<ServiceConnection, SessionId>,
    next_session: u64,
    tree: Tree,
    /// The sessions whose nodes go later, and when.
    delayed: Vec<(Duration, SessionId)>,
}

#[derive(Debug)]
struct Session {
    timeout: Duration,
    expires: Duration,
    connection: Option<ServiceConnection>,
}

impl ZooKeeper {
    /// An empty service.
    pub fn new(rules: ZooKeeperRules) -> ZooKeeper {
        ZooKeeper {
            rules,
            sessions: BTreeMap::new(),
            connections: BTreeMap::new(),
            next_session: 1,
            tree: Tree::default(),
            delayed: Vec::new(),
        }
    }

    /// Returns the sessions that are alive.
    pub fn sessions(&self) -> impl Iterator<Item = SessionId> {
        self.sessions.keys().copied()
    }

    /// Returns the paths of all nodes, each with the session that it goes with.
    pub fn nodes(&self) -> impl Iterator<Item = (&str, Option<SessionId>)> {
        self.tree.nodes()
    }

    fn connect(
        &mut self,
        from: ServiceConnection,
        session: Option<SessionId>,
        timeout: Duration,
        now: Duration,
        out: &mut Outbox<Answer>,
    ) -> Answer {
        let id = match session {
            None => {
                let id = SessionId(self.next_session);
                self.next_session += 1;
                let timeout = self.rules.negotiate(timeout);
                self.sessions.insert(id, Session { timeout, expires: now, connection: None });
                id
            }
            Some(id) if self.sessions.contains_key(&id) => id,
            Some(_) => return Answer::Expired,
        };
        let session = self.sessions.get_mut(&id).expect("it was looked up or made");
        session.expires = self.rules.expiry(now, session.timeout);
        if let Some(before) = session.connection.replace(from).filter(|before| *before != from) {
            // The client has another connection: this one is of no use to it.
            self.connections.remove(&before);
            self.tree.forget_watches(before);
            out.close(before);
        }
        self.connections.insert(from, id);
        Answer::Connected { session: id, timeout: session.timeout }
    }

    /// Executes a request of a session that is alive.
    fn execute(&mut self, session: SessionId, from: ServiceConnection, request: Request) -> Answer {
        match request {
            Request::Connect { .. } | Request::Ping => Answer::Pong,
            Request::Create { path, data, ephemeral, sequential } => {
                self.tree.create(&path, data, ephemeral.then_some(session), sequential)
            }
            Request::Delete { path } => self.tree.delete(&path),
            Request::Children { path, watch } => self.tree.children(&path, watch.then_some(from)),
            Request::Data { path, watch } => self.tree.data(&path, watch.then_some(from)),
            Request::Exists { path, watch } => self.tree.exists(&path, watch.then_some(from)),
            Request::CloseSession => {
                self.tree.delete_of(session);
                Answer::Closed
            }
        }
    }

    /// Ends sessions, and lets nobody hear anything on their connections any more.
    fn expire(&mut self, over: &[SessionId], out: &mut Outbox<Answer>) {
        for session in over.iter().filter_map(|id| self.sessions.remove(id)) {
            if let Some(connection) = session.connection {
                self.connections.remove(&connection);
                self.tree.forget_watches(connection);
                out.close(connection);
            }
        }
    }

    fn settle(&mut self, cause: &'static str, out: &mut Outbox<Answer>) {
        for (to, kind, path) in self.tree.take_fired() {
            out.answer(to, EVENT, Answer::Fired { kind, path });
        }
        self.tree.take_changes(cause, &mut out.changes);
    }
}

impl Service for ZooKeeper {
    const KIND: ServiceKind = ServiceKind::ZooKeeper;

    type Request = Request;
    type Answer = Answer;

    fn word(request: &Request) -> &'static str {
        request.word()
    }

    fn receive(
        &mut self,
        from: ServiceConnection,
        number: u32,
        request: Request,
        now: Duration,
        out: &mut Outbox<Answer>,
    ) {
        let word = request.word();
        if let Request::Connect { session, timeout } = request {
            let answer = self.connect(from, session, timeout, now, out);
            let is_over = answer == Answer::Expired;
            out.answer(from, number, answer);
            if is_over {
                out.close(from);
            }
            return;
        }
        // Of a session that is over the connection was closed; what it sent before it knew comes to nothing.
        let Some(&id) = self.connections.get(&from) else { return };
        let ends = matches!(request, Request::CloseSession);
        let answer = self.execute(id, from, request);
        if ends {
            self.sessions.remove(&id);
            self.connections.remove(&from);
            self.tree.forget_watches(from);
        } else if let Some(session) = self.sessions.get_mut(&id) {
            session.expires = self.rules.expiry(now, session.timeout);
        }
        // Watches fire before the answer to whoever made them fire, as ZooKeeper promises.
        self.settle(word, out);
        out.answer(from, number, answer);
    }

    fn disconnect(&mut self, connection: ServiceConnection, _: Duration, _: &mut Outbox<Answer>) {
        self.tree.forget_watches(connection);
        if let Some(session) = self.connections.remove(&connection).and_then(|id| self.sessions.get_mut(&id))
        {
            session.connection = None;
        }
    }

    fn advance(&mut self, now: Duration, out: &mut Outbox<Answer>) {
        let over = |(id, session): (&SessionId, &Session)| (session.expires <= now).then_some(*id);
        let over: Vec<SessionId> = self.sessions.iter().filter_map(over).collect();
        self.expire(&over, out);
        if self.rules.lock_delay.is_zero() {
            over.into_iter().for_each(|id| self.tree.delete_of(id));
        } else {
            self.delayed.extend(over.into_iter().map(|id| (now + self.rules.lock_delay, id)));
        }
        let due = |(at, id): &(Duration, SessionId)| (*at <= now).then_some(*id);
        let due: Vec<SessionId> = self.delayed.iter().filter_map(due).collect();
        self.delayed.retain(|(at, _)| *at > now);
        due.into_iter().for_each(|id| self.tree.delete_of(id));
        self.settle(SESSION_ENDED, out);
    }

    fn next_due(&self) -> Option<Duration> {
        let expiries = self.sessions.values().map(|session| session.expires);
        expiries.chain(self.delayed.iter().map(|(at, _)| *at)).min()
    }

    fn restart(&mut self, now: Duration, _: &mut Outbox<Answer>) {
        self.connections.clear();
        self.tree.forget_all_watches();
        for session in self.sessions.values_mut() {
            session.connection = None;
            session.expires = self.rules.expiry(now, session.timeout);
        }
        // The clock may be another: what is delayed is delayed anew, so that it is never shorter.
        self.delayed.iter_mut().for_each(|(at, _)| *at = now + self.rules.lock_delay);
    }
}
