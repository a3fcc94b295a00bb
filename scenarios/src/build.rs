//! A scenario made in Rust: a world to try one's own lock in, without a file.
//!
//! What is not said is what a file's reader takes for it, and what is said is checked as a file is: [`World::scenario`]
//! reads the least scenario there is, changes it, and has the result checked.

mod family;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use doublehold_lockimpl::{Descriptor, Nodes};
use doublehold_sim::DelayLaw;
use toml::{Table, Value};

use crate::error::ScenarioError;
use crate::format::Source;
use crate::model::fault::Fault;
use crate::model::scenario::Scenario;
use crate::model::service::ServiceSetup;
pub use family::Abilities;

/// Nodes, clients and what happens to them. The lock comes later, so that two locks can be tried in one world.
///
/// ```
/// use doublehold_scenarios::{build::World, fault::Fault, when::{Mark, When}};
/// use std::time::Duration;
///
/// let pause = Fault::pause("c1").at(When::event("c1", Mark::Check)).lasting(Duration::from_secs(12));
/// let world = World::new("pause before the write")
///     .nodes(["A"])
///     .clients(2, ["acquire", "read", "check", "write", "release"])
///     .fault(pause);
/// let scenario = world.scenario("single", doublehold_lockimpl::descriptors())?;
/// assert_eq!(scenario.faults[0].to_string(), "c1 pauses for 12 s, at c1's check");
/// # Ok::<(), doublehold_scenarios::ScenarioError>(())
/// ```
#[derive(Clone)]
pub struct World {
    name: String,
    nodes: Vec<String>,
    locks: Vec<String>,
    clients: Vec<(String, Vec<String>)>,
    master: Option<String>,
    service: Option<Box<ServiceSetup>>,
    weather: Option<String>,
    changes: Vec<Change>,
    /// Whether it stands for a whole family of worlds.
    is_family: bool,
}

type Change = Arc<dyn Fn(&mut Scenario) + Send + Sync>;

impl World {
    /// A world without nodes and clients. The name is for reports and files.
    pub fn new(name: impl Into<String>) -> World {
        World {
            name: name.into(),
            nodes: Vec::new(),
            locks: Vec::new(),
            clients: Vec::new(),
            master: None,
            service: None,
            weather: None,
            changes: Vec::new(),
            is_family: false,
        }
    }

    /// A family of worlds, in which a lock is used as people use locks: programs, leases, clients and networks differ
    /// from member to member. A check beside a reference draws its worlds from it; all else that is said of it (nodes,
    /// [`World::with`]) is said of each member. A switch that is set there is your lock's: the reference keeps its own.
    ///
    /// ```
    /// use doublehold_scenarios::build::{Abilities, World};
    ///
    /// let locks = doublehold_lockimpl::descriptors();
    /// let single = locks.iter().find(|lock| lock.name == "single").unwrap();
    /// let can = Abilities { extends: true, fences: false };
    /// let member = |number| World::family().member(number, single, can).scenario("single", locks.clone());
    /// assert_eq!(member(0)?.clients.len(), 2);
    /// assert_ne!(member(1)?.clients, member(2)?.clients);
    /// # Ok::<(), doublehold_scenarios::ScenarioError>(())
    /// ```
    pub fn family() -> World {
        World { is_family: true, ..World::new("family") }
    }

    /// Whether it stands for a whole family.
    pub fn is_family(&self) -> bool {
        self.is_family
    }

    /// The member of this family that a number stands for, for a lock that can do this; itself if it is no family.
    #[must_use]
    pub fn member(&self, number: u64, lock: &Descriptor, can: Abilities) -> World {
        if !self.is_family {
            return self.clone();
        }
        let drawn = family::member(number, lock.nodes, can);
        let named = !self.nodes.is_empty() || self.service.is_some();
        World {
            service: self.service.clone(),
            nodes: if named { self.nodes.clone() } else { drawn.nodes },
            master: if named { self.master.clone() } else { drawn.master },
            weather: self.weather.clone(),
            changes: [drawn.changes, self.changes.clone()].concat(),
            ..drawn
        }
    }

    /// The world that a lock is tried in where nobody says another: as many nodes as it is made for, and three clients
    /// that each take two turns at changing what it protects. Whoever asks must obtain the lock within a minute of the
    /// last fault.
    ///
    /// The lease is 4 s and the work 50 ms to 1.5 s: a lease must be overtaken by what goes wrong, not by slow work.
    /// Whoever is refused asks again after 1 to 3 s, since runs in which clients ask all the time are long and no
    /// richer.
    ///
    /// ```
    /// use doublehold_scenarios::build::World;
    ///
    /// let locks = doublehold_lockimpl::descriptors();
    /// let redlock = locks.iter().find(|lock| lock.name == "redlock").unwrap();
    /// let scenario = World::usual(redlock).weather("cloud").scenario("redlock", locks.clone())?;
    /// assert_eq!((scenario.clients.len(), scenario.hosts.len()), (3, 5 + 1 + 3));
    /// # Ok::<(), doublehold_scenarios::ScenarioError>(())
    /// ```
    pub fn usual(lock: &Descriptor) -> World {
        let world = World::new(lock.name);
        let world = match lock.nodes {
            Nodes::One => world.nodes(["A"]),
            Nodes::Replicated => world.nodes(["M", "R1", "R2"]).master("M"),
            Nodes::Independent => world.nodes(["A", "B", "C", "D", "E"]),
        };
        let program = ["acquire", "read", "work 50ms..1500ms", "check", "write", "release"];
        world.clients(3, program).rounds(2).ttl(Duration::from_secs(4)).with(|scenario| {
            let retry = DelayLaw::Uniform { min: Duration::from_secs(1), max: Duration::from_secs(3) };
            scenario.clients.iter_mut().for_each(|client| client.retry = retry.clone());
            let limits = &mut scenario.limits;
            (limits.obtain_within, limits.after_faults) = (Some(Duration::from_secs(60)), true);
            limits.time = Duration::from_secs(3600);
        })
    }

    /// What reports call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Adds nodes that run Redis, independent of each other.
    #[must_use]
    pub fn nodes<'a>(mut self, names: impl IntoIterator<Item = &'a str>) -> World {
        self.nodes.extend(names.into_iter().map(str::to_owned));
        self
    }

    /// The node that all others replicate; without it each stands alone.
    #[must_use]
    pub fn master(self, name: impl Into<String>) -> World {
        World { master: Some(name.into()), ..self }
    }

    /// Puts a service in place of the Redis nodes, for a lock that runs on it: a `ServiceKind` as it is where nobody
    /// sets anything, or the settings of one. It is one host, called `zookeeper`, `etcd` or `database` unless
    /// [`nodes`](World::nodes) names it.
    ///
    /// ```
    /// use doublehold_lockimpl::ServiceKind;
    /// use doublehold_scenarios::build::World;
    /// use doublehold_scenarios::fault::{Fault, Way};
    ///
    /// let world = World::new("cut off")
    ///     .service(ServiceKind::Etcd)
    ///     .clients(2, ["acquire", "read", "work 15s", "write", "release"])
    ///     .fault(Fault::cut(Way::between("c1", "etcd")));
    /// let scenario = world.scenario("etcd-mutex", doublehold_lockimpl::descriptors())?;
    /// assert_eq!(scenario.hosts[0].name, "etcd");
    /// # Ok::<(), doublehold_scenarios::ScenarioError>(())
    /// ```
    #[must_use]
    pub fn service(self, setup: impl Into<ServiceSetup>) -> World {
        World { service: Some(Box::new(setup.into())), ..self }
    }

    /// Random faults beside those that are listed: a preset of [`crate::weather`], by its name. For weather of one's
    /// own set [`Scenario::weather`] through [`World::with`].
    #[must_use]
    pub fn weather(self, preset: impl Into<String>) -> World {
        World { weather: Some(preset.into()), ..self }
    }

    /// The names of the locks, where there is not just one: steps then say which, as in `acquire stock`.
    ///
    /// ```
    /// # use doublehold_scenarios::build::World;
    /// let world = World::new("two locks").locks(["stock", "orders"]).nodes(["A"]).client(
    ///     "c1",
    ///     ["acquire stock", "acquire orders", "write orders", "release orders", "release stock"],
    /// );
    /// ```
    #[must_use]
    pub fn locks<'a>(mut self, names: impl IntoIterator<Item = &'a str>) -> World {
        self.locks.extend(names.into_iter().map(str::to_owned));
        self
    }

    /// Adds a client that does these steps once, in the words of scenario files: `acquire`, `try`, `read`,
    /// `work 1s..3s`, `check`, `write`, `extend`, `release`.
    #[must_use]
    pub fn client<'a>(mut self, name: &str, program: impl IntoIterator<Item = &'a str>) -> World {
        let program = program.into_iter().map(str::to_owned).collect();
        self.clients.push((name.to_owned(), program));
        self
    }

    /// Adds clients named `c1`, `c2` and so on, that all do these steps.
    #[must_use]
    pub fn clients<'a>(self, count: usize, program: impl IntoIterator<Item = &'a str>) -> World {
        let program: Vec<&str> = program.into_iter().collect();
        (1..=count).fold(self, |world, number| world.client(&format!("c{number}"), program.iter().copied()))
    }

    /// How often each client does its steps.
    #[must_use]
    pub fn rounds(self, rounds: u32) -> World {
        self.with(move |scenario| scenario.clients.iter_mut().for_each(|client| client.rounds = rounds))
    }

    /// How long a grant lasts; 10 s if nothing is said.
    #[must_use]
    pub fn ttl(self, ttl: Duration) -> World {
        self.with(move |scenario| scenario.lock.ttl = ttl)
    }

    /// Whoever asks for the lock must obtain it within this, whoever holds it meanwhile. LV judges waits only where a
    /// bound is stated; without one it is inconclusive.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use doublehold_scenarios::{Engine, SimEngine, build::World};
    ///
    /// let world = World::new("in turn").nodes(["A"]).clients(3, ["acquire", "work 1s", "release"]);
    /// let world = world.obtain_within(Duration::from_millis(1500));
    /// let scenario = world.scenario("single", doublehold_lockimpl::descriptors())?;
    /// let verdicts = SimEngine.run(&scenario, 1).verdicts;
    /// assert_eq!(verdicts.get(doublehold_history::Predicate::LV).as_str(), "violated"); // the third waits for 2 s
    /// # Ok::<(), doublehold_scenarios::ScenarioError>(())
    /// ```
    #[must_use]
    pub fn obtain_within(self, bound: Duration) -> World {
        self.with(move |scenario| scenario.limits.obtain_within = Some(bound))
    }

    /// A lock that nobody claims must be obtained by a waiting client within this: suits locks that are held for long.
    #[must_use]
    pub fn obtain_free_within(self, bound: Duration) -> World {
        self.with(move |scenario| scenario.limits.obtain_free_within = Some(bound))
    }

    /// Adds a fault. Without [`Fault::at`] it strikes at the beginning.
    #[must_use]
    pub fn fault(self, fault: Fault) -> World {
        self.with(move |scenario| scenario.faults.push(fault.clone()))
    }

    /// Changes anything else: clocks, links, disks, what the resource checks, limits, expectations.
    ///
    /// ```
    /// # use doublehold_scenarios::{build::World, scenario::DelayLaw};
    /// # use std::time::Duration;
    /// let slow = DelayLaw::Fixed(Duration::from_millis(40));
    /// let world = World::new("far away").with(move |scenario| scenario.link.delay = slow.clone());
    /// ```
    #[must_use]
    pub fn with(mut self, change: impl Fn(&mut Scenario) + Send + Sync + 'static) -> World {
        self.changes.push(Arc::new(change));
        self
    }

    /// The scenario in which this lock runs in this world. `locks` are the locks that there are.
    ///
    /// # Errors
    ///
    /// What a file that says the same would be refused for. Keys in messages are a file's, which are the names of the
    /// fields of [`Scenario`]: `faults.0` is the first fault.
    pub fn scenario(&self, lock: &str, locks: Vec<Descriptor>) -> Result<Scenario, ScenarioError> {
        if self.is_family
            && let Some(known) = locks.iter().find(|known| known.name == lock)
        {
            let plain = Abilities { extends: false, fences: false };
            return self.member(0, known, plain).scenario(lock, locks.clone());
        }
        let (name, text) = (self.name.clone(), self.minimal_table(lock).to_string());
        // A change may set the switch that makes the lock fit the program. What does not fit is refused below.
        let fitting = |known: &Descriptor| {
            let plain = Descriptor::from_config::<()>(known.name, known.meaning, known.source, known.nodes);
            match known.service {
                Some(service) => plain.on_service(service),
                None => plain,
            }
        };
        let fitting = locks.iter().map(fitting).collect();
        let source = Source { file: name.clone(), name, text, locks: fitting, ..Source::default() };
        let mut scenario = source.read().map_err(ScenarioError::made_in_rust)?;
        // Not read from text: with its own settings the lease of ten seconds might be refused, which a change sets.
        scenario.service = self.service.as_deref().copied().or(scenario.service);
        self.changes.iter().for_each(|change| change(&mut scenario));
        scenario.validate_with(locks)
    }

    /// As little as a file can say.
    fn minimal_table(&self, lock: &str) -> Table {
        let table = |fields: &[(&str, Value)]| {
            Value::Table(fields.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
        };
        let texts = |texts: &[String]| Value::from(texts.to_vec());
        let client = |(name, program): &(String, Vec<String>)| {
            table(&[("name", name.as_str().into()), ("program", texts(program))])
        };
        let mut setup = vec![("algorithm", lock.into()), ("ttl", "10s".into())];
        if !self.locks.is_empty() {
            setup.push(("name", texts(&self.locks)));
        }
        let claim = format!("what {lock} does in this world");
        let names = match &self.service {
            Some(service) if self.nodes.is_empty() => texts(&[service.kind().as_str().to_owned()]),
            _ => texts(&self.nodes),
        };
        let mut nodes = vec![("names", names)];
        nodes.extend(self.master.as_deref().map(|master| ("master", master.into())));
        let weather = self.weather.as_deref().map(|preset| table(&[("preset", preset.into())]));
        let weather = weather.map(|weather| ("weather".to_owned(), weather));
        let file = [
            ("claim".to_owned(), claim.into()),
            ("lock".to_owned(), table(&setup)),
            ("nodes".to_owned(), table(&nodes)),
            ("clients".to_owned(), Value::Array(self.clients.iter().map(client).collect())),
        ];
        file.into_iter().chain(weather).collect()
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").field("name", &self.name).field("nodes", &self.nodes).finish_non_exhaustive()
    }
}
