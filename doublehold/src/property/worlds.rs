//! Worlds to try a lock in, drawn within bounds: how many take part, how long leases are, what the network and the
//! disks do; with switches of the lock and random faults, whole scenarios.
//!
//! Only what a file could say comes out: what does not go together is drawn again.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use doublehold_lockimpl::{Descriptor, LockKind, Nodes, Switches};
use doublehold_scenarios::build::World;
use doublehold_scenarios::scenario::{DelayLaw, Persistence, Scenario};
use doublehold_scenarios::weather::Weather;
use doublehold_scenarios::{ScenarioError, SimEnv};
use proptest::prelude::*;
use proptest::sample::select;

use super::{switches, weathers};

/// Names of nodes. A lock on more of them is no other lock.
const NODES: [&str; 9] = ["A", "B", "C", "D", "E", "F", "G", "H", "I"];

/// What a world is made of, as numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// How many nodes there are.
    pub nodes: usize,
    /// Whether the others replicate the first of them.
    pub replicated: bool,
    /// How many clients there are.
    pub clients: usize,
    /// How often each does its program.
    pub rounds: u32,
    /// How long a grant lasts.
    pub ttl: Duration,
    /// What nodes keep on disk.
    pub persistence: Persistence,
    /// One-way delays.
    pub delay: DelayLaw,
}

impl Topology {
    /// The world. Whoever asks is to obtain the lock within a minute of the last fault.
    fn world(&self, name: &str, program: &[String]) -> World {
        let Topology { nodes, replicated, clients, rounds, ttl, persistence, delay } = self.clone();
        let world = World::new(name).nodes(NODES.into_iter().take(nodes));
        let world = if replicated { world.master(NODES[0]) } else { world };
        world.clients(clients, program.iter().map(String::as_str)).rounds(rounds).ttl(ttl).with(
            move |scenario| {
                scenario.nodes.persistence = persistence;
                scenario.link.delay = delay.clone();
                let (min, max) = (Duration::from_millis(500), Duration::from_millis(1500));
                scenario.clients.iter_mut().for_each(|client| client.retry = DelayLaw::Uniform { min, max });
                let limits = &mut scenario.limits;
                (limits.obtain_within, limits.after_faults) = (Some(Duration::from_secs(60)), true);
                limits.time = Duration::from_secs(600);
            },
        )
    }
}

/// What worlds are drawn from. A bound whose end lies before its beginning is its beginning.
#[derive(Clone)]
pub struct Worlds {
    lock: Descriptor,
    nodes: RangeInclusive<usize>,
    clients: RangeInclusive<usize>,
    rounds: RangeInclusive<u32>,
    ttl: RangeInclusive<Duration>,
    delays: RangeInclusive<Duration>,
    persistence: Vec<Persistence>,
    program: Vec<String>,
    weather: Vec<String>,
    change: Change,
}

type Change = Arc<dyn Fn(&mut Scenario) + Send + Sync>;

impl Worlds {
    /// Worlds for a lock: as many nodes as it runs on (1; a master and 1 or 2 replicas; 1 to 5), 2 or 3 clients
    /// with 1 or 2 rounds, leases of 2 s to 8 s, delays of up to 10 ms, any persistence, every switch. No random
    /// faults without [`Worlds::weather`].
    pub fn new(lock: &impl LockKind<SimEnv>) -> Worlds {
        Worlds::from_descriptor(lock.descriptor())
    }

    /// The same for a lock of which this is known.
    pub fn from_descriptor(lock: Descriptor) -> Worlds {
        let nodes = match lock.nodes {
            Nodes::One => 1..=1,
            Nodes::Replicated => 2..=3,
            Nodes::Independent => lock.least_nodes..=5,
        };
        let program = ["acquire", "read", "work 50ms..2s", "check", "write", "release"];
        Worlds {
            lock,
            nodes,
            clients: 2..=3,
            rounds: 1..=2,
            ttl: Duration::from_secs(2)..=Duration::from_secs(8),
            delays: Duration::from_micros(100)..=Duration::from_millis(10),
            persistence: vec![Persistence::Always, Persistence::Everysec, Persistence::None],
            program: program.map(str::to_owned).to_vec(),
            weather: Vec::new(),
            change: Arc::new(|_| {}),
        }
    }

    /// How many nodes, nine at most.
    #[must_use]
    pub fn nodes(self, nodes: RangeInclusive<usize>) -> Worlds {
        Worlds { nodes, ..self }
    }

    /// How many clients.
    #[must_use]
    pub fn clients(self, clients: RangeInclusive<usize>) -> Worlds {
        Worlds { clients, ..self }
    }

    /// How often each client does its program.
    #[must_use]
    pub fn rounds(self, rounds: RangeInclusive<u32>) -> Worlds {
        Worlds { rounds, ..self }
    }

    /// What each client does, in the words of [`World::client`].
    #[must_use]
    pub fn program<'a>(self, program: impl IntoIterator<Item = &'a str>) -> Worlds {
        Worlds { program: program.into_iter().map(str::to_owned).collect(), ..self }
    }

    /// How long a grant lasts, in whole milliseconds.
    #[must_use]
    pub fn ttl(self, ttl: RangeInclusive<Duration>) -> Worlds {
        Worlds { ttl, ..self }
    }

    /// One-way delays of the network, in whole microseconds.
    #[must_use]
    pub fn delays(self, delays: RangeInclusive<Duration>) -> Worlds {
        Worlds { delays, ..self }
    }

    /// What nodes may keep on disk.
    #[must_use]
    pub fn persistence(self, persistence: impl IntoIterator<Item = Persistence>) -> Worlds {
        Worlds { persistence: persistence.into_iter().collect(), ..self }
    }

    /// Random faults, as [`weathers`] draws them from these presets.
    #[must_use]
    pub fn weather<'a>(self, presets: impl IntoIterator<Item = &'a str>) -> Worlds {
        Worlds { weather: presets.into_iter().map(str::to_owned).collect(), ..self }
    }

    /// Changes every scenario that was drawn: sets a switch the property is not about, lists a fault, states a limit.
    ///
    /// ```
    /// # use doublehold::property::Worlds;
    /// # let lock = doublehold_lockimpl::descriptors().remove(0);
    /// let worlds = Worlds::from_descriptor(lock).with(|scenario| scenario.limits.events = 100_000);
    /// ```
    #[must_use]
    pub fn with(self, change: impl Fn(&mut Scenario) + Send + Sync + 'static) -> Worlds {
        let before = self.change;
        let change: Change = Arc::new(move |scenario: &mut Scenario| {
            before(scenario);
            change(scenario);
        });
        Worlds { change, ..self }
    }

    /// Their numbers alone.
    pub fn topologies(&self) -> BoxedStrategy<Topology> {
        let replicated = self.lock.nodes == Nodes::Replicated;
        let millis = |it: Duration| u64::try_from(it.as_millis()).unwrap_or(u64::MAX);
        let micros = |it: Duration| u64::try_from(it.as_micros()).unwrap_or(u64::MAX);
        let ttl = ttls(order_bounds(millis(*self.ttl.start())..=millis(*self.ttl.end())));
        let delays = order_bounds(micros(*self.delays.start())..=micros(*self.delays.end()));
        let persistence =
            if self.persistence.is_empty() { vec![Persistence::None] } else { self.persistence.clone() };
        let nodes = *self.nodes.start().min(&NODES.len())..=*self.nodes.end().min(&NODES.len());
        let hosts =
            (order_bounds(nodes), order_bounds(self.clients.clone()), order_bounds(self.rounds.clone()));
        let drawn = (hosts, ttl, select(persistence), delays.clone(), delays);
        let topology =
            drawn.prop_map(move |((nodes, clients, rounds), ttl, persistence, one, other)| Topology {
                nodes,
                replicated,
                clients,
                rounds,
                ttl: Duration::from_millis(ttl),
                persistence,
                delay: law(one.min(other), one.max(other)),
            });
        topology.no_shrink().boxed()
    }

    /// Whole scenarios: a world, the lock's switches, and random faults. All of them are accepted as a file would be.
    ///
    /// # Errors
    ///
    /// If nothing of this kind can be accepted: there is no such preset, or a step that nobody knows. What is
    /// refused is the least world there is, with the longest lease.
    pub fn scenarios(&self) -> Result<BoxedStrategy<Scenario>, ScenarioError> {
        let presets: Vec<&str> = self.weather.iter().map(String::as_str).collect();
        let weather =
            if presets.is_empty() { Just(None).boxed() } else { weathers(&presets)?.prop_map(Some).boxed() };
        self.scenario(&self.smallest_topology(), None, None)?;
        let (lock, worlds) = (self.lock.clone(), self.clone());
        let with_switches = self.topologies().prop_flat_map(move |topology| {
            let switches = switches(&lock, topology.nodes);
            (Just(topology), switches)
        });
        let drawn = (with_switches, weather);
        let scenarios = drawn
            .prop_filter_map("the scenario is refused", move |((topology, chosen), weather)| {
                worlds.scenario(&topology, Some(chosen), weather).ok()
            });
        Ok(scenarios.no_shrink().boxed())
    }

    fn scenario(
        &self,
        topology: &Topology,
        chosen: Option<Switches>,
        weather: Option<Weather>,
    ) -> Result<Scenario, ScenarioError> {
        let change = self.change.clone();
        let world = topology.world(self.lock.name, &self.program).with(move |scenario| {
            if let Some(chosen) = &chosen {
                scenario.lock.switches = chosen.clone();
            }
            scenario.weather = weather.clone();
            change(scenario);
        });
        world.scenario(self.lock.name, self.known_locks())
    }

    /// The locks that a scenario can name.
    fn known_locks(&self) -> Vec<Descriptor> {
        let mut known = doublehold_lockimpl::descriptors();
        known.retain(|lock| lock.name != self.lock.name);
        known.push(self.lock.clone());
        known
    }

    fn smallest_topology(&self) -> Topology {
        Topology {
            nodes: *self.nodes.start(),
            replicated: self.lock.nodes == Nodes::Replicated,
            clients: *self.clients.start(),
            rounds: *self.rounds.start(),
            ttl: *self.ttl.end().max(self.ttl.start()),
            persistence: Persistence::None,
            delay: DelayLaw::Fixed(*self.delays.start()),
        }
    }
}

/// Milliseconds. Half of them are whole seconds, where there is one: some locks take no other.
fn ttls(millis: RangeInclusive<u64>) -> BoxedStrategy<u64> {
    let seconds = millis.start().div_ceil(1_000)..=millis.end() / 1_000;
    if seconds.is_empty() {
        return millis.boxed();
    }
    prop_oneof![millis, seconds.prop_map(|seconds| seconds * 1_000)].boxed()
}

fn order_bounds<T: Clone + Ord>(range: RangeInclusive<T>) -> RangeInclusive<T> {
    let (start, end) = range.into_inner();
    let end = end.max(start.clone());
    start..=end
}

fn law(min: u64, max: u64) -> DelayLaw {
    let (min, max) = (Duration::from_micros(min), Duration::from_micros(max));
    if min == max { DelayLaw::Fixed(min) } else { DelayLaw::Uniform { min, max } }
}

impl fmt::Debug for Worlds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worlds")
            .field("lock", &self.lock.name)
            .field("weather", &self.weather)
            .finish_non_exhaustive()
    }
}
