//! A scenario as meant: everything checked, every text a value.
//!
//! A file is first read as typed and then turned into this, once; nothing after it has to doubt a name or a unit.
//! Written as a file again ([`Scenario::to_toml`]) it reads as the same scenario. Hosts have names here; what number
//! a name has in a world is the business of [`Cast`].
//!
//! Random faults are here as what they are drawn from; a run's report has the scenario with those that were drawn.
//!
//! Decision: "A scenario may have several locks, all of one kind" (docs/decisions/locks.md).

use std::collections::BTreeMap;
use std::time::Duration;

use doublehold_history::{LockId, ObjectId, Predicate, ResourceRules};
use doublehold_lockimpl::Switches;
/// How long something takes, how fast a clock runs, how likely a loss is: plain values, the same for every engine.
pub use doublehold_sim::{DelayLaw, Probability, RatePpb};

use super::cast::Cast;
use super::fault::Fault;
pub use super::host::{HostIndex, HostSetup, Role};
use super::sentinels::SentinelsSetup;
use super::service::{DatabaseSetup, ServiceSetup};
use super::weather::Weather;
use super::when::When;
use crate::Seed;

/// A scenario, ready to be run from a seed.
///
/// Serializes as its file does, see [`Scenario::to_toml`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// Its name, unique in the catalogue; a file's name without the ending.
    pub name: String,
    /// A label of the user's own, such as the number of a ticket; empty if none.
    pub id: String,
    /// The claim of the debate it tests, in words a reader of the blog posts knows.
    pub claim: String,
    /// Who makes the claim, and where.
    pub source: String,
    /// What happens, in one or two sentences.
    pub story: String,
    /// The seed of the run that its expectation is of; 1 if nothing is said.
    pub seed: Option<Seed>,
    /// What was set beside the file, as `lock.ttl=5s`: claim, story and expectation were written without it.
    pub sets: Vec<String>,
    /// What it should show. A predicate that is not named is reported and not compared.
    pub expect: BTreeMap<Predicate, Expected>,
    /// All hosts: nodes first, then Sentinels, the resource and clients, and each process before its threads. An index
    /// into this list is a [`HostIndex`].
    pub hosts: Vec<HostSetup>,
    /// The lock under test.
    pub lock: LockSetup,
    /// How the Redis nodes are set up.
    pub nodes: NodesSetup,
    /// The service that they are, where they are not Redis.
    pub service: Option<ServiceSetup>,
    /// The Sentinels that watch them, if there are any.
    pub sentinels: Option<SentinelsSetup>,
    /// What the lock protects.
    pub resource: ResourceSetup,
    /// What each client does.
    pub clients: Vec<ClientSetup>,
    /// Delay and loss where nothing else is said.
    pub link: LinkSetup,
    /// Delay and loss of single directions.
    pub links: Vec<(HostIndex, HostIndex, LinkSetup)>,
    /// The faults, in file order.
    pub faults: Vec<Fault>,
    /// Random faults beside them, drawn anew from each seed.
    pub weather: Option<Weather>,
    /// When the run must end, and what counts as waiting too long.
    pub limits: Limits,
}

impl Scenario {
    /// The seed to run it from where nobody asks for another.
    pub fn own_seed(&self) -> Seed {
        self.seed.unwrap_or(Seed(1))
    }

    /// Returns the node that another one can be promoted in place of: the master of replicas, or the primary of a
    /// database that has a standby.
    pub fn primary(&self) -> Option<HostIndex> {
        let Some(ServiceSetup::Database(DatabaseSetup { standby: Some(standby), .. })) = self.service else {
            return self.nodes.master;
        };
        let nodes = (0..self.hosts.len()).filter(|host| self.hosts[*host].role == Role::Node);
        nodes.map(HostIndex).find(|node| *node != standby.host)
    }

    /// The process that a host is a thread of; `None` of one that is no thread.
    pub fn process_of(&self, host: HostIndex) -> Option<HostIndex> {
        match self.hosts.get(host.0)?.role {
            Role::Thread(process) => Some(process),
            Role::Node | Role::Sentinel | Role::Resource | Role::Client => None,
        }
    }

    /// The standby of its database, if it has one.
    pub fn standby(&self) -> Option<HostIndex> {
        Some(self.service?.standby()?.host)
    }

    /// How long a grant of the client on this host lasts.
    pub fn ttl_of(&self, client: HostIndex) -> Duration {
        let own = self.clients.iter().find(|setup| setup.host == client).and_then(|setup| setup.ttl);
        own.unwrap_or(self.lock.ttl)
    }

    /// Who is who among its hosts.
    pub fn cast(&self) -> Cast {
        Cast::new(self.hosts.iter().map(|host| (host.name.as_str(), host.role)))
    }
}

/// What a predicate should come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// No violation.
    Holds,
    /// At least one violation.
    Violated,
    /// Nothing happens that the predicate is about.
    NotSeen,
}

impl Expected {
    /// The word scenario files and reports use.
    pub fn as_str(self) -> &'static str {
        match self {
            Expected::Holds => "holds",
            Expected::Violated => "violated",
            Expected::NotSeen => "not-seen",
        }
    }
}

/// The lock under test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockSetup {
    /// The names of the locks of this kind that there are, each also its key on the nodes. Never empty; a [`LockId`] is
    /// an index into this list.
    pub names: Vec<String>,
    /// How long each grant lasts.
    pub ttl: Duration,
    /// The kind of lock, by its name.
    pub algorithm: String,
    /// Every switch of it that means something, also where nothing was said.
    pub switches: Switches,
}

/// How the Redis nodes are set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodesSetup {
    /// Which Redis they are.
    pub version: NodeVersion,
    /// What survives a restart.
    pub persistence: Persistence,
    /// How often a snapshot is taken under [`Persistence::Rdb`], in whole seconds: by the node's wall clock, once
    /// anything was written.
    pub snapshot_interval: Duration,
    /// How long an fsync takes.
    pub fsync_time: DelayLaw,
    /// How long a command keeps a node busy; zero costs nothing.
    pub command_time: PerNode<DelayLaw>,
    /// The node all others replicate; `None` if each stands alone.
    pub master: Option<HostIndex>,
    /// Which scripts they know when the run begins.
    pub scripts: KnownScripts,
    /// Which events of keys they tell to who has subscribed to them, in the letters of `notify-keyspace-events`.
    pub key_events: String,
    /// For how long a node whose process or power was lost stays away at least: the delayed restart that Redlock's
    /// page asks for. What never comes back stays away.
    pub restart_after: Duration,
    /// What that is counted by.
    pub restart_clock: RestartClock,
    /// How many replicas must be in touch with a master for it to take writes (`min-replicas-to-write`); 0: it takes
    /// them alone.
    pub min_replicas_to_write: u32,
    /// For how long a replica may have been silent for that, in whole seconds.
    pub min_replicas_max_lag: Duration,
    /// The rank of a replica among those that Sentinels may promote (`replica-priority`): the lowest comes first, and 0
    /// never.
    pub replica_priority: PerNode<u32>,
    /// True if a replica that has lost its master answers as if it had not (`replica-serve-stale-data`).
    pub replica_serve_stale_data: bool,
}

/// A value of each node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerNode<T> {
    /// The value of a node that has none of its own.
    pub others: T,
    /// The values of single nodes, each unlike that of the others.
    pub own: BTreeMap<HostIndex, T>,
}

impl<T> PerNode<T> {
    /// The same value for all nodes.
    pub fn of_all(value: T) -> PerNode<T> {
        PerNode { others: value, own: BTreeMap::new() }
    }

    /// The value of this node.
    pub fn of(&self, node: HostIndex) -> &T {
        self.own.get(&node).unwrap_or(&self.others)
    }

    /// The value of the others, and then that of each single node.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        [&mut self.others].into_iter().chain(self.own.values_mut())
    }
}

/// What counts how long a node that died has stayed away.
///
/// With a clock of its machine, it is a service there that starts the node no sooner: the machine is back when its
/// fault says so, and nothing listens on it until then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestartClock {
    /// True time: nobody can have that.
    True,
    /// The machine's wall clock, from what it showed when the node died. That is known after a power loss as well: it
    /// is in a file.
    Wall,
    /// The machine's monotonic clock, from what it showed when the node died. A power loss resets it, so after one it
    /// counts from when the machine is on again.
    Monotonic,
}

/// A release of Redis. A node of a later one knows further commands, and differs in nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeVersion {
    /// 7.0.15.
    V7_0,
    /// 8.4.0: with WAITAOF, DELEX, DIGEST, and SET's comparisons.
    V8_4,
}

/// Which scripts a node knows when the run begins. A restart forgets them all, as Redis does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownScripts {
    /// None: the first EVALSHA of each is refused, and the script is loaded then.
    Unknown,
    /// Those that the lock may send, as on a node that has served it before.
    Loaded,
}

/// A node's persistence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Persistence {
    /// None: a restart is empty.
    None,
    /// Append-only file, fsynced once a second.
    Everysec,
    /// Append-only file, fsynced before each reply to a write.
    Always,
    /// Snapshots now and then, see [`NodesSetup::snapshot_interval`]: a restart finds the last.
    Rdb,
}

/// What the locks protect: a host that reads and writes objects for its clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceSetup {
    /// Its host.
    pub host: HostIndex,
    /// The objects, in alphabetical order. Never empty; an [`ObjectId`] is an index into this list.
    pub objects: Vec<ObjectSetup>,
    /// True if clients reach it through the session that holds the lock: it is a table of the database that keeps the
    /// lock, and its host serves nobody.
    pub in_session: bool,
    /// How it treats fencing numbers and versions.
    pub rules: ResourceRules,
    /// The replicas that the data are on: all hosts of this role. `None`: on one.
    pub replicas: Option<ReplicasSetup>,
}

/// Replicas without a leader: a client asks all of them, and goes on once so many have answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplicasSetup {
    /// The number of replicas.
    pub count: usize,
    /// The number of answers that a write waits for.
    pub write_quorum: usize,
    /// The number of answers of which a read takes the newest.
    pub read_quorum: usize,
    /// The number of answers that a step `prepare` waits for.
    pub prepare_quorum: usize,
    /// True if a reader sees to it that what it read is on as many replicas as a write.
    pub read_repair: bool,
}

/// One of the things that locks protect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectSetup {
    /// Its name.
    pub name: String,
    /// The lock that whoever reads or writes it is to hold.
    pub lock: LockId,
}

/// What one client does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientSetup {
    /// Its host, or the thread that it is.
    pub host: HostIndex,
    /// When its program begins; `None`: at once.
    pub start: Option<When>,
    /// Its program.
    pub program: Vec<Step>,
    /// How long each of its grants lasts, if not as long as [`LockSetup::ttl`] says.
    pub ttl: Option<Duration>,
    /// How often it runs the program. A process that is restarted begins with the first round again, also after its
    /// last.
    pub rounds: u32,
    /// How long it waits after a refusal before it asks again.
    pub retry: DelayLaw,
    /// After how long without success it gives up, on its monotonic clock.
    pub give_up_after: Duration,
    /// What it does when an extension says that it does not hold the lock any more.
    pub on_lost_lock: OnLostLock,
}

/// What a client does that learns from an extension that it does not hold the lock any more.
///
/// Only that stops it. An extension that came too late, and one of which nobody knows, leave the lease its old
/// deadline: what that is worth is for a check to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnLostLock {
    /// What it does after a failed check: only the release is left.
    Stop,
    /// It works on as if nothing was.
    GoOn,
}

/// One step of a client's program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Ask for a lock until it is granted.
    Acquire(LockId),
    /// Ask once, or for so long; without a grant the round is over.
    Try(LockId, Option<Duration>),
    /// Read an object.
    Read(ObjectId),
    /// Be busy for a while.
    Work(DelayLaw),
    /// Look whether the lease has expired by the client's own clock; if so, stop here without writing.
    Check(LockId),
    /// Let the grant show itself to the resource: it gets a number of it, leaves its marker there, or is seen.
    Prepare(LockId),
    /// Write an object: one more than what was read, or a blind write if nothing was.
    Write(ObjectId),
    /// Extend a lease.
    Extend(LockId),
    /// Release a lock.
    Release(LockId),
}

impl Step {
    /// Its length, if it states one.
    pub fn law(&self) -> Option<&DelayLaw> {
        match self {
            Step::Work(law) => Some(law),
            Step::Acquire(_) | Step::Try(..) | Step::Extend(_) | Step::Release(_) => None,
            Step::Read(_) | Step::Check(_) | Step::Write(_) | Step::Prepare(_) => None,
        }
    }

    /// The same, to be changed.
    pub fn law_mut(&mut self) -> Option<&mut DelayLaw> {
        match self {
            Step::Work(law) => Some(law),
            Step::Acquire(_) | Step::Try(..) | Step::Extend(_) | Step::Release(_) => None,
            Step::Read(_) | Step::Check(_) | Step::Write(_) | Step::Prepare(_) => None,
        }
    }
}

/// The quality of one direction of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkSetup {
    /// One-way delay.
    pub delay: DelayLaw,
    /// Chance that a transmission is lost.
    pub loss: Probability,
}

/// When a run ends, whatever happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// True time.
    pub time: Duration,
    /// Kernel events.
    pub events: u64,
    /// Counted bytes of what a run records and has yet to deal with.
    pub memory: u64,
    /// Whoever asks for the lock must obtain it within this, whoever holds it meanwhile; `None`: nothing is stated.
    pub obtain_within: Option<Duration>,
    /// A lock nobody claims must be obtained by a waiting client within this; `None`: nothing is stated.
    pub obtain_free_within: Option<Duration>,
    /// Whether waits count from the end of the last fault only: what is asked is that the world recovers.
    pub after_faults: bool,
}
