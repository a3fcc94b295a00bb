//! A service: a state machine that takes requests, ends what has had its time, and sends answers.

use std::fmt::Display;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A connection of a client, by a number that whoever runs the service gives it. None is used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ServiceConnection(pub u64);

/// A kind of service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceKind {
    /// ZooKeeper.
    ZooKeeper,
    /// etcd.
    Etcd,
    /// A database such as PostgreSQL.
    Database,
}

impl ServiceKind {
    /// All kinds.
    pub const ALL: [ServiceKind; 3] = [ServiceKind::ZooKeeper, ServiceKind::Etcd, ServiceKind::Database];

    /// The word that scenario files use.
    pub fn as_str(self) -> &'static str {
        match self {
            ServiceKind::ZooKeeper => "zookeeper",
            ServiceKind::Etcd => "etcd",
            ServiceKind::Database => "database",
        }
    }

    /// The port that it listens on.
    pub fn port(self) -> u16 {
        match self {
            ServiceKind::ZooKeeper => 2181,
            ServiceKind::Etcd => 2379,
            ServiceKind::Database => 5432,
        }
    }
}

/// The number of a message that answers no request.
pub const EVENT: u32 = 0;
/// The cause of an owner's change that nobody asked for: the session or lease is over.
pub const SESSION_ENDED: &str = "SESSION ENDED";

/// A service. Times are readings of its monotonic clock: the time since some fixed moment.
pub trait Service: Send + 'static {
    /// Its kind.
    const KIND: ServiceKind;

    /// A request of a client.
    type Request: Serialize + DeserializeOwned + Display + Send;
    /// A message of the service, in answer or unasked.
    type Answer: Serialize + DeserializeOwned + Display + Send;

    /// The word for a request, in capitals: faults can wait for it.
    fn word(request: &Self::Request) -> &'static str;

    /// Executes a request. Its answer, now or later, carries the request's `number`.
    fn receive(
        &mut self,
        from: ServiceConnection,
        number: u32,
        request: Self::Request,
        now: Duration,
        out: &mut Outbox<Self::Answer>,
    );

    /// Hears that a connection is gone.
    fn disconnect(&mut self, connection: ServiceConnection, now: Duration, out: &mut Outbox<Self::Answer>);

    /// Ends what has had its time.
    fn advance(&mut self, now: Duration, out: &mut Outbox<Self::Answer>);

    /// The next time at which [`advance`](Service::advance) has something to do.
    fn next_due(&self) -> Option<Duration>;

    /// A message that means nothing, for probes; `None` of a service without any.
    fn probe() -> Option<Self::Answer> {
        None
    }

    /// The probes by which the machine finds out that the other end of a connection is gone.
    fn keepalive(&self) -> Option<Keepalive> {
        None
    }

    /// Starts again after the process was killed, with what survives that. All connections are gone, and the clock may
    /// have begun anew.
    fn restart(&mut self, now: Duration, out: &mut Outbox<Self::Answer>);
}

/// The probes of connections on which nothing comes (`tcp_keepalives_idle`, `_interval` and `_count`). The other
/// machine answers, also while its process is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keepalive {
    /// The silence before the first probe.
    pub idle: Duration,
    /// The time between two probes.
    pub interval: Duration,
    /// The probes without an answer after which the connection is given up.
    pub count: u32,
}

impl Keepalive {
    /// Returns the time from the first probe that is not answered until the connection is given up.
    pub fn gives_up_after(&self) -> Duration {
        self.interval.saturating_mul(self.count)
    }
}

/// The messages that a service has to send, and the changes of the locks that it keeps.
#[derive(Debug)]
pub struct Outbox<A> {
    /// Messages in the order in which they leave.
    pub sent: Vec<(ServiceConnection, Outgoing<A>)>,
    /// The locks that have another owner now.
    pub changes: Vec<OwnerChange>,
}

/// A message, or the end of its connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outgoing<A> {
    /// A message: in answer to the request of this number, or [`EVENT`].
    Say(u32, A),
    /// Nothing more is said.
    Close,
}

/// A lock has another owner by the service's own state, whoever believes what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerChange {
    /// The name of the lock.
    pub lock: String,
    /// The value that the owner before had written there; `None` if nobody had it.
    pub before: Option<Vec<u8>>,
    /// The value that the owner has written there now; `None` if nobody has it.
    pub after: Option<Vec<u8>>,
    /// The request that did it, or [`SESSION_ENDED`].
    pub cause: &'static str,
}

impl<A> Default for Outbox<A> {
    fn default() -> Self {
        Self { sent: Vec::new(), changes: Vec::new() }
    }
}

impl<A> Outbox<A> {
    pub(crate) fn answer(&mut self, to: ServiceConnection, number: u32, answer: A) {
        self.sent.push((to, Outgoing::Say(number, answer)));
    }

    pub(crate) fn close(&mut self, connection: ServiceConnection) {
        self.sent.push((connection, Outgoing::Close));
    }
}
