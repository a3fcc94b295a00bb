//! The hosts of a simulated world: a node, resource or client on each, made ready once and added to the world of each
//! run.
//!
//! Hosts are added in the scenario's order, so that a fault's host numbers are the world's. A thread is no host: it
//! runs on its process's.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use doublehold_history::{ClientId, NodeId};
use doublehold_lockimpl::{LockKind, MasterGroup, NodeName, Nodes};
use doublehold_sim::{Boot, BoxFuture, DelayLaw, Host, HostId, HostSpec, LinkSpec, WallTime, WorldLike};
use doublehold_sim_redis::{NodeConfig, Operator, SimMachine};
use doublehold_sim_sentinel::{Address, Listener, SENTINEL_PORT, SentinelConfig, SentinelEvent, run_on_host};

use super::asked_lock::AskedNode;
use super::env::{REDIS_PORT, SimEnv};
use super::service;
use super::sim_stage::{NodeObserver, serve_resource};
use super::standby::DatabaseName;
use super::supervisor::Supervisor;
use super::threads::{self, Starts, ThreadJob};
use super::tokio_timers::Fired;
use crate::model::cast::{Cast, Member};
use crate::model::scenario::{
    HostIndex, HostSetup, KnownScripts, LinkSetup, ResourceSetup, RestartClock, Role, Scenario,
};
use crate::model::sentinels::Knowledge;
use crate::model::service::ServiceSetup;
use crate::run::Driver;
use crate::run::client::program::{Job, Program};
use crate::run::client::resource::Store;
use crate::run::recorder::Recorder;

/// What every host's wall clock shows when the world begins, give or take its offset: 2026-01-01 00:00:00 UTC. Any date
/// would do; a plausible one keeps readings readable and Redis' millisecond timestamps as long as they really are.
pub(in crate::run) const EPOCH: i64 = 1_767_225_600_000_000_000;

/// The hosts of a scenario, ready to be added to a world.
pub(in crate::run) struct Hosts {
    cast: Arc<Cast>,
    driver: Driver,
    names: Arc<BTreeMap<String, HostId>>,
    /// What counts until a node that died may run again, and how long.
    restarts: (RestartClock, Duration),
    /// The node that a resource asks whose a lock is, where it does.
    asked: AskedNode,
    /// The primary and the standby of a database that has one.
    databases: Option<(HostId, HostId)>,
    hosts: Vec<(HostIndex, HostSpec, Process)>,
}

/// What runs on a host.
enum Process {
    Node { node: NodeId, config: Box<NodeConfig>, command_time: DelayLaw },
    Service { node: NodeId, setup: ServiceSetup, resource: ResourceSetup },
    Sentinel(Box<SentinelConfig>),
    Resource(ResourceSetup),
    Client { client: ClientId, program: Arc<Program<SimEnv>> },
    Threads(Vec<(ClientId, Arc<Program<SimEnv>>)>),
}

impl Hosts {
    /// The hosts of a scenario, whose locks are of this kind and speak to nodes through `driver`.
    pub(in crate::run) fn new(
        scenario: &Scenario,
        cast: &Arc<Cast>,
        kind: &Arc<dyn LockKind<SimEnv>>,
        driver: Driver,
    ) -> Hosts {
        let machines = scenario.hosts.iter().zip((0..).map(HostIndex));
        let machines = machines.filter(|(_, index)| !cast.is_thread(*index));
        let hosts = machines
            .map(|(host, index)| (index, spec(scenario, host), process(scenario, cast, kind, index)))
            .collect();
        let restarts = (scenario.nodes.restart_clock, scenario.nodes.restart_after);
        let node = cast.nodes().next().map(|node| cast.world_id(node));
        let asked = AskedNode { node, keys: scenario.lock.names.clone().into() };
        let names = Arc::new(cast.names());
        let databases = scenario.standby().and_then(|standby| {
            let primary = cast.nodes().find(|node| *node != standby)?;
            Some((cast.world_id(primary), cast.world_id(standby)))
        });
        Hosts { cast: cast.clone(), driver, names, restarts, asked, databases, hosts }
    }

    /// Lets nodes run every script in Lua.
    pub(in crate::run) fn run_scripts_in_lua(&mut self) {
        for (_, _, process) in &mut self.hosts {
            if let Process::Node { config, .. } = process {
                config.core.native_scripts = false;
            }
        }
    }

    /// Adds every host with its process, in the scenario's order. What the clients do is to be closed with the run.
    /// Once a timer of tokio's has `fired`, drivers read what has arrived before the code of a lock runs.
    pub(in crate::run) fn populate(
        &self,
        world: &mut impl WorldLike,
        recorder: &Recorder,
        fired: &Fired,
    ) -> Vec<Arc<Job<SimEnv>>> {
        let mut jobs = Vec::new();
        let database = self.databases.map(|(primary, standby)| DatabaseName::new(primary, standby));
        for (index, spec, process) in &self.hosts {
            let (spec, recorder) = (spec.clone(), recorder.clone());
            let reach = Reach { database: database.clone(), fired: fired.clone() };
            let (spec, boot) = match process {
                Process::Node { node, config, command_time } => {
                    (spec, self.node(*node, config, command_time, recorder))
                }
                Process::Service { node, setup, resource } => {
                    let own = self.cast.world_id(*index);
                    let standby_of = database.clone().filter(|name| name.is_standby(own));
                    let cast = self.cast.clone();
                    (spec, self.service(service::boot(*setup, resource, *node, standby_of, cast, recorder)))
                }
                Process::Sentinel(config) => (spec, self.sentinel(*index, config, recorder)),
                Process::Resource(setup) => (spec, self.resource(setup, recorder)),
                Process::Client { client, program } => {
                    let job = Arc::new(Job::new(program.clone(), recorder.clone()));
                    jobs.push(job.clone());
                    (spec.essential(), self.client(*client, job, recorder, reach))
                }
                Process::Threads(threads) => {
                    let job = |(client, program): &(ClientId, Arc<Program<SimEnv>>)| {
                        (*client, Arc::new(Job::new(program.clone(), recorder.clone())))
                    };
                    let threads: Vec<ThreadJob> = threads.iter().map(job).collect();
                    jobs.extend(threads.iter().map(|(_, job)| job.clone()));
                    (spec.essential(), self.threads(threads, recorder, reach))
                }
            };
            let added = world.add_boxed_host(spec, boot);
            debug_assert_eq!(added, self.cast.world_id(*index), "the cast's numbers are the world's");
        }
        jobs
    }

    fn node(&self, node: NodeId, config: &NodeConfig, command_time: &DelayLaw, recorder: Recorder) -> Boot {
        let (cast, names) = (self.cast.clone(), self.names.clone());
        let (config, command_time, operator) =
            (NodeConfig::clone(config), command_time.clone(), Operator::default());
        let supervisor = Supervisor::new(self.restarts);
        Rc::new(move |host: Host| {
            let machine = SimMachine::new(host.clone(), names.clone(), command_time.clone());
            let observer = NodeObserver::new(host.clone(), node, cast.clone(), recorder.clone());
            let mut config = config.clone();
            config.core.observer = Some(Arc::new(observer));
            if host.restarts() > 0 {
                // What was loaded was in the memory of the process before.
                config.core.scripts = Arc::default();
            }
            let operator = operator.clone();
            let life = NodeLife {
                node,
                recorder: recorder.clone(),
                supervisor: supervisor.clone(),
                host: host.clone(),
            };
            let (recorder, supervisor) = (recorder.clone(), supervisor.clone());
            Box::pin(async move {
                let _life = life;
                supervisor.allow(&host).await;
                if let Err(error) = machine.run(REDIS_PORT, config, operator).await {
                    recorder.inconclusive(format!("{} does not run: {error}", host.name()));
                }
            })
        })
    }

    fn service(&self, process: Box<dyn Fn(Host) -> BoxFuture<'static, ()>>) -> Boot {
        let supervisor = Supervisor::new(self.restarts);
        Rc::new(move |host: Host| {
            let (life, supervisor) = (supervisor.clone(), supervisor.clone());
            let process = process(host.clone());
            Box::pin(async move {
                let _life = ServiceLife { supervisor: life, host: host.clone() };
                supervisor.allow(&host).await;
                process.await;
            })
        })
    }

    fn sentinel(&self, index: HostIndex, config: &SentinelConfig, recorder: Recorder) -> Boot {
        let (names, config) = (self.names.clone(), config.clone());
        Rc::new(move |host: Host| {
            let listener = Arc::new(SentinelListener { sentinel: index, recorder: recorder.clone() });
            let running = run_on_host(host.clone(), names.clone(), config.clone(), Some(listener));
            let recorder = recorder.clone();
            Box::pin(async move {
                if let Err(error) = running.await {
                    recorder.inconclusive(format!("{} does not run: {error}", host.name()));
                }
            })
        })
    }

    fn resource(&self, setup: &ResourceSetup, recorder: Recorder) -> Boot {
        let (cast, store, asked) = (self.cast.clone(), Store::new(setup), self.asked.clone());
        Rc::new(move |host| {
            let (cast, store, asked) = (cast.clone(), store.clone(), asked.clone());
            Box::pin(serve_resource(host, cast, store, asked, recorder.clone()))
        })
    }

    fn client(&self, client: ClientId, job: Arc<Job<SimEnv>>, recorder: Recorder, reach: Reach) -> Boot {
        let (cast, driver) = (self.cast.clone(), self.driver);
        Rc::new(move |host| {
            let env = SimEnv::new(host, client, cast.clone(), recorder.clone(), driver);
            let env = env.with_fired(reach.fired.clone()).with_database(reach.database.clone());
            let job = job.clone();
            Box::pin(async move {
                job.run(env).await;
            })
        })
    }

    fn threads(&self, threads: Vec<ThreadJob>, recorder: Recorder, reach: Reach) -> Boot {
        let (cast, driver, starts) = (self.cast.clone(), self.driver, Starts::default());
        let first = threads.first().map_or(ClientId(0), |(client, _)| *client);
        Rc::new(move |host| {
            let process = SimEnv::new(host, first, cast.clone(), recorder.clone(), driver);
            let process = process.with_starts(starts.clone()).with_fired(reach.fired.clone());
            let process = process.with_database(reach.database.clone());
            Box::pin(threads::run_threads(process, threads.clone(), recorder.clone()))
        })
    }
}

/// The parts of a run that the environment of each client has.
struct Reach {
    database: Option<DatabaseName>,
    fired: Fired,
}

/// The kernel's words for the quality of a link.
pub(in crate::run) fn link(setup: &LinkSetup) -> LinkSpec {
    LinkSpec { delay: setup.delay.clone(), loss: setup.loss }
}

fn spec(scenario: &Scenario, host: &HostSetup) -> HostSpec {
    let wall = WallTime(EPOCH.saturating_add(host.wall_offset_ns));
    let spec = HostSpec { wall, rate: host.drift, ..HostSpec::new(&host.name) };
    match host.role {
        Role::Node | Role::Sentinel => HostSpec { fsync_time: scenario.nodes.fsync_time.clone(), ..spec },
        Role::Resource | Role::Client | Role::Thread(_) => spec,
    }
}

fn process(scenario: &Scenario, cast: &Cast, kind: &Arc<dyn LockKind<SimEnv>>, index: HostIndex) -> Process {
    let of = |host, client| Arc::new(program(scenario, host, client, kind.clone()));
    match (cast.member(index), scenario.service) {
        (Member::Node(node), Some(setup)) => {
            Process::Service { node, setup, resource: scenario.resource.clone() }
        }
        (Member::Node(node), None) => Process::Node {
            node,
            config: Box::new(node_config(scenario, kind, index)),
            command_time: scenario.nodes.command_time.of(index).clone(),
        },
        (Member::Sentinel(_), _) => Process::Sentinel(Box::new(sentinel_config(scenario, index))),
        (Member::Resource, _) => Process::Resource(scenario.resource.clone()),
        (Member::Client(client), _) => Process::Client { client, program: of(index, client) },
        (Member::Process, _) => {
            let client = |thread| match cast.member(thread) {
                Member::Client(client) => Some((client, of(thread, client))),
                Member::Process | Member::Node(_) | Member::Sentinel(_) | Member::Resource => None,
            };
            Process::Threads(cast.threads(index).filter_map(client).collect())
        }
    }
}

fn node_config(scenario: &Scenario, kind: &Arc<dyn LockKind<SimEnv>>, index: HostIndex) -> NodeConfig {
    let mut config = scenario.node_config(index);
    if let KnownScripts::Loaded = scenario.nodes.scripts {
        config.core.scripts = kind.descriptor().scripts;
    }
    config
}

/// The name by which Sentinels and clients know the master.
const MASTER_NAME: &str = "mymaster";

fn sentinel_config(scenario: &Scenario, index: HostIndex) -> SentinelConfig {
    let setup = scenario.sentinels.as_ref().expect("there are no Sentinels without their table");
    let master = scenario.nodes.master.expect("Sentinels watch a master, which was checked");
    let name = |host: HostIndex| scenario.hosts[host.0].name.as_str();
    let of_role = |role: Role| {
        let hosts = scenario.hosts.iter().zip((0..).map(HostIndex));
        hosts.filter(move |(host, _)| host.role == role).map(|(_, index)| index)
    };
    let own = |host: HostIndex| Address::new(name(host), SENTINEL_PORT);
    let run_id = |host: HostIndex| format!("{:040x}", host.0 + 1);
    let mut config = SentinelConfig::new(own(index), Address::new(name(master), REDIS_PORT));
    config.master_name = MASTER_NAME.to_owned();
    config.quorum = setup.quorum;
    config.down_after = setup.down_after;
    config.failover_timeout = setup.failover_timeout;
    config.parallel_syncs = setup.parallel_syncs;
    config.id = Some(run_id(index));
    if setup.knowledge == Knowledge::All {
        let replicas = of_role(Role::Node).filter(|node| *node != master);
        config.known_replicas = replicas.map(|node| Address::new(name(node), REDIS_PORT)).collect();
        config.known_sentinels = of_role(Role::Sentinel).map(|other| (own(other), run_id(other))).collect();
    }
    config
}

/// The nodes that a client's lock is told of: each by itself, or the master of them all, whichever that is.
fn node_names(scenario: &Scenario, kind: &Arc<dyn LockKind<SimEnv>>) -> Vec<NodeName> {
    let of_role = |role: Role| {
        let hosts = scenario.hosts.iter().filter(move |host| host.role == role);
        hosts.map(|host| NodeName::new(&host.name)).collect::<Vec<_>>()
    };
    let mut nodes = of_role(Role::Node);
    if let Some(standby) = scenario.standby() {
        // Clients have one name for both.
        nodes.retain(|node| node.as_str() != scenario.hosts[standby.0].name);
    }
    let Some(master) = scenario.nodes.master else { return nodes };
    if scenario.sentinels.is_none() && kind.descriptor().nodes == Nodes::Replicated {
        return nodes;
    }
    nodes.sort_by_key(|node| node.as_str() != scenario.hosts[master.0].name);
    let discovery = scenario.sentinels.as_ref().and_then(|setup| setup.discovery);
    let group = MasterGroup { nodes, sentinels: of_role(Role::Sentinel), discovery };
    vec![NodeName::of_master(MASTER_NAME, group)]
}

fn program(
    scenario: &Scenario,
    host: HostIndex,
    client: ClientId,
    kind: Arc<dyn LockKind<SimEnv>>,
) -> Program<SimEnv> {
    let plan = scenario.clients.iter().find(|client| client.host == host);
    let plan = plan.expect("every client has a program, which was checked").clone();
    let nodes = node_names(scenario, &kind);
    let resources = scenario.hosts.iter().filter(|host| host.role == Role::Resource);
    Program {
        client,
        name: scenario.hosts[host.0].name.clone(),
        plan,
        lock: scenario.lock.clone(),
        objects: scenario.resource.objects.clone(),
        rules: scenario.resource.rules,
        waits: kind.descriptor().facts(&scenario.lock.switches).waits,
        kind,
        nodes,
        resources: resources.map(|host| host.name.clone()).collect(),
        replicas: scenario.resource.replicas,
        in_session: scenario.resource.in_session,
        is_thread: scenario.process_of(host).is_some(),
    }
}

/// Tells the recorder what a Sentinel announces.
struct SentinelListener {
    sentinel: HostIndex,
    recorder: Recorder,
}

impl Listener for SentinelListener {
    fn announced(&self, event: &SentinelEvent) {
        self.recorder.note_announcement(self.sentinel, event.kind, &event.text);
    }
}

/// Tells the machine's supervisor when a service's process is gone. What it knew is not.
struct ServiceLife {
    supervisor: Supervisor,
    host: Host,
}

impl Drop for ServiceLife {
    fn drop(&mut self) {
        self.supervisor.note_death(&self.host);
    }
}

/// Tells the recorder and the machine's supervisor when a node's process is gone, and its memory with it.
struct NodeLife {
    node: NodeId,
    recorder: Recorder,
    supervisor: Supervisor,
    host: Host,
}

impl Drop for NodeLife {
    fn drop(&mut self) {
        self.supervisor.note_death(&self.host);
        self.recorder.forget_node(self.node);
    }
}
