//! A scenario as meant: everything checked, every name resolved to an index, every text a value.
//!
//! A file is first read as typed and then turned into this, once; nothing after it has to
//! doubt a name or a unit. Hosts are named here and numbered only by the engine that runs them.
//!
//! Not modelled: random faults. A scenario lists the faults it is about.

use std::collections::BTreeMap;
use std::time::Duration;

use doublehold_history::{Predicate, ResourceRules};
use doublehold_lockimpl::Switches;
use doublehold_sim::{DelayLaw, Fault, PlannedFault, Probability, RatePpb};

/// A scenario, ready to be run from a seed.
#[derive(Clone, Debug)]
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
    /// What was set beside the file, as `lock.ttl=5s`: claim, story and expectation were written without it.
    pub sets: Vec<String>,
    /// What it should show. A predicate that is not named is reported and not compared.
    pub expect: BTreeMap<Predicate, Expected>,
    /// All hosts: nodes first, then the resource, then clients. An index into this list is a [`HostIndex`].
    pub hosts: Vec<HostSetup>,
    /// The lock under test.
    pub lock: LockSetup,
    /// How the Redis nodes are set up.
    pub nodes: NodesSetup,
    /// What the lock protects.
    pub resource: ResourceSetup,
    /// What each client does.
    pub clients: Vec<ClientSetup>,
    /// Delay and loss where nothing else is said.
    pub link: LinkSetup,
    /// Delay and loss of single directions.
    pub links: Vec<(HostIndex, HostIndex, LinkSetup)>,
    /// The faults, in file order.
    pub faults: Vec<FaultSetup>,
    /// When the run must end, and what counts as waiting too long.
    pub limits: Limits,
    /// The whole scenario as TOML, with its variant and all changes applied: what a plan carries.
    pub resolved: String,
}

/// What a predicate should come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// No violation.
    Holds,
    /// At least one violation.
    Violated,
}

impl Expected {
    /// The word scenario files and reports use.
    pub fn as_str(self) -> &'static str {
        match self {
            Expected::Holds => "holds",
            Expected::Violated => "violated",
        }
    }
}

/// A host, by its place in [`Scenario::hosts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostIndex(pub usize);

impl HostIndex {
    /// The number the simulated world gives this host: the world's own observer is number zero.
    pub fn in_world(self) -> doublehold_sim::HostId {
        doublehold_sim::HostId(self.0 as u32 + 1)
    }
}

/// A host and its clocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostSetup {
    /// Its name.
    pub name: String,
    /// What it is there for.
    pub role: Role,
    /// How far its wall clock is ahead of true time (negative: behind), in nanoseconds.
    pub wall_offset_ns: i64,
    /// How fast its three clocks run.
    pub drift: RatePpb,
}

/// What a host is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Runs Redis.
    Node,
    /// Guards the data the lock protects.
    Resource,
    /// Runs lock code.
    Client,
}

/// The lock under test.
#[derive(Clone, Debug)]
pub struct LockSetup {
    /// Its name, which is also its key on the nodes.
    pub name: String,
    /// How long each grant lasts.
    pub ttl: Duration,
    /// The kind of lock, by its name.
    pub algorithm: String,
    /// Every switch of it that means something, also where nothing was said.
    pub switches: Switches,
}

/// How the Redis nodes are set up.
#[derive(Clone, Debug)]
pub struct NodesSetup {
    /// What survives a restart.
    pub persistence: Persistence,
    /// How long an fsync takes.
    pub fsync_time: DelayLaw,
    /// How long a command keeps a node busy; zero costs nothing.
    pub command_time: DelayLaw,
    /// The node all others replicate; `None` if each stands alone.
    pub master: Option<HostIndex>,
    /// Whether well-known scripts run without Lua. Only a test that compares says no.
    pub native_scripts: bool,
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
}

/// What the lock protects: a host that reads and writes one object for its clients.
#[derive(Clone, Debug)]
pub struct ResourceSetup {
    /// Its host.
    pub host: HostIndex,
    /// The object's name.
    pub object: String,
    /// How it treats fencing numbers and versions.
    pub rules: ResourceRules,
}

/// What one client does.
#[derive(Clone, Debug)]
pub struct ClientSetup {
    /// Its host.
    pub host: HostIndex,
    /// Whether its program waits for [`START_SIGNAL`] (planned as a fault of [`FaultKind::Start`]), or begins at once.
    pub waits_for_start: bool,
    /// Its program.
    pub program: Vec<Step>,
    /// How often it runs the program. A process that is restarted begins with the first round again, also after its last.
    pub rounds: u32,
    /// How long it waits after a refusal before it asks again.
    pub retry: DelayLaw,
    /// After how long without success it gives up, on its monotonic clock.
    pub give_up_after: Duration,
}

/// One step of a client's program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Ask for the lock until it is granted.
    Acquire,
    /// Ask once; without a grant the round is over.
    Try,
    /// Read the object.
    Read,
    /// Be busy for a while.
    Work(DelayLaw),
    /// Look whether the lease has expired by the client's own clock; if so, stop here without writing.
    Check,
    /// Write the object: one more than what was read, or a blind write if nothing was.
    Write,
    /// Extend the lease.
    Extend,
    /// Release the lock.
    Release,
}

/// The quality of one direction of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkSetup {
    /// One-way delay.
    pub delay: DelayLaw,
    /// Chance that a transmission is lost.
    pub loss: Probability,
}

/// A fault as the file names it, and what the kernel is to do.
#[derive(Clone, Debug)]
pub struct FaultSetup {
    /// In words, for reports: "c1 pauses for 12 s".
    pub words: String,
    /// When, in words: "at c1's check".
    pub when: String,
    /// The hosts it strikes, for the picture's lanes.
    pub hosts: Vec<HostIndex>,
    /// What kind of thing happens, for the picture.
    pub kind: FaultKind,
    /// What the kernel does, and when. Hosts are numbered by [`HostIndex::in_world`].
    pub planned: PlannedFault,
    /// Whether the scenario still says something if it never strikes, or is not over when the run ends.
    pub optional: bool,
}

/// The kinds of faults a file can name, as lanes show them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Not a fault: the scenario's hand that starts a client. Never drawn, never counted.
    Start,
    /// A wall clock was stepped.
    ClockStep,
    /// A host's clocks changed their rate.
    ClockDrift,
    /// A clock stands still.
    ClockFreeze,
    /// A process is paused.
    Pause,
    /// A machine is suspended.
    Suspend,
    /// A process crashed.
    Crash,
    /// A machine lost power.
    PowerLoss,
    /// A direction is cut.
    Cut,
    /// A direction is slow.
    Slow,
    /// One message is late.
    PacketDelay,
    /// A direction loses transmissions.
    Loss,
    /// A disk lies, is remembered or rolled back.
    Disk,
    /// A replica is made master.
    Promote,
    /// A node is made to follow another.
    Follow,
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
}

/// The name of the fault that starts a client's program, delivered as a signal to its host.
pub const START_SIGNAL: &str = "start";

impl FaultSetup {
    /// The concrete faults, in the order in which they strike.
    pub fn faults(&self) -> &[Fault] {
        &self.planned.faults
    }
}
