//! The `sim` engine: a scenario as a world of the simulation kernel.
//!
//! Hosts are added in the scenario's order, so that a fault's host numbers are the world's. Nothing here decides
//! anything: what happens is the scenario's, the locks' and the seed's business.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock};

use doublehold_history::{Bounds, EventKind, Header, History, RunOutcome, TrueNs, judge};
use doublehold_lockimpl::{NodeName, Registry};
use doublehold_sim::{
    Budget, Host, HostId, HostSpec, LinkSpec, Outcome, PlannedFault, Run, Seed, SimTime, Struck, WallTime,
    World,
};
use doublehold_sim_redis::core::CoreConfig;
use doublehold_sim_redis::{NodeConfig, Operator, SimMachine};

use super::env::{REDIS_PORT, SimEnv};
use super::program::Program;
use super::recorder::{NodeObserver, Recorded, Recorder};
use super::{Driver, Engine, Keep, Signal, resource};
use crate::cast::Cast;
use crate::fault::{Fault, Nature};
use crate::format::words;
use crate::report::{FaultReport, Report};
use crate::scenario::{ClientSetup, HostIndex, HostSetup, Limits, LinkSetup, Persistence, Role, Scenario};

/// Runs scenarios in the simulation kernel, in virtual time.
#[derive(Clone, Copy, Debug, Default)]
pub struct SimEngine;

/// The same for many runs: locks speak to their nodes through a lean connection of ours in place of redis-rs'.
///
/// Verdicts are those of [`SimEngine`], at less than half the cost; traces, and their hashes, are others. So a run that is to
/// be shown or replayed is one of [`SimEngine`].
#[derive(Clone, Copy, Debug, Default)]
pub struct LeanEngine;

/// What every host's wall clock shows when the world begins, give or take its offset: 2026-01-01 00:00:00 UTC. Any date
/// would do; a plausible one keeps readings readable and Redis' millisecond timestamps as long as they really are.
const EPOCH: i64 = 1_767_225_600_000_000_000;

/// The locks that a scenario can name, made once: a run looks its lock up.
static LOCKS: LazyLock<Arc<Registry<SimEnv>>> = LazyLock::new(|| Arc::new(Registry::builtin()));

impl Engine for SimEngine {
    fn name(&self) -> &'static str {
        Sim(Driver::RedisRs).name()
    }

    fn run(&self, scenario: &Scenario, seed: u64, keep: Keep) -> Report {
        Sim(Driver::RedisRs).run(scenario, seed, keep)
    }
}

impl Engine for LeanEngine {
    fn name(&self) -> &'static str {
        Sim(Driver::Lean).name()
    }

    fn run(&self, scenario: &Scenario, seed: u64, keep: Keep) -> Report {
        Sim(Driver::Lean).run(scenario, seed, keep)
    }
}

/// What both are.
struct Sim(Driver);

impl Engine for Sim {
    fn name(&self) -> &'static str {
        match self.0 {
            Driver::RedisRs => "sim",
            Driver::Lean => "sim, lean connections",
        }
    }

    fn run(&self, scenario: &Scenario, seed: u64, keep: Keep) -> Report {
        let mut world = match keep {
            Keep::History => World::new(Seed(seed), link(&scenario.link)),
            Keep::Trace => World::traced(Seed(seed), link(&scenario.link)),
        };
        let cast = scenario.cast();
        let recorder = recorder(scenario, &cast, seed, &world);
        populate(&mut world, scenario, &cast, &recorder, self.0);
        for (from, to, plan) in &scenario.links {
            world.set_link(cast.in_world(*from), cast.in_world(*to), link(plan));
        }
        for fault in plan(scenario, &cast) {
            world.plan(fault);
        }
        let Limits { events, time, memory, .. } = scenario.limits;
        let run = world.run(Budget { events, time, memory });
        let Recorded { mut history, keys, votes, mut notes } = recorder.close();
        notes.extend(limit_met(&scenario.limits, &run));
        let faults = fault_reports(scenario, &cast, &run.faults);
        close_history(&mut history, scenario, &run);
        Report {
            scenario: scenario.clone(),
            seed,
            engine: self.name(),
            outcome: run.outcome,
            verdicts: judge(&history),
            history,
            faults,
            keys,
            votes,
            ended: TrueNs(run.ended.0),
            events: run.events,
            messages: run.messages,
            trace_hash: run.hash,
            replays: None,
            trace: matches!(keep, Keep::Trace).then(|| world.take_trace()),
            notes,
        }
    }
}

/// What the kernel is to do: the faults in file order, and after them the starts of clients.
fn plan(scenario: &Scenario, cast: &Cast) -> Vec<PlannedFault> {
    let start = |client: &ClientSetup| {
        let when = client.start.as_ref()?;
        let faults = vec![Signal::Start.to(cast.in_world(client.host))];
        Some(when.trigger(cast).map(|trigger| PlannedFault { trigger, faults, lasting: None }))
    };
    let faults = scenario.faults.iter().map(|fault| fault.planned(cast));
    let planned = faults.chain(scenario.clients.iter().filter_map(start));
    planned.collect::<Result<_, _>>().expect("a checked scenario names only its own hosts")
}

fn link(plan: &LinkSetup) -> LinkSpec {
    LinkSpec { delay: plan.delay.clone(), loss: plan.loss }
}

fn recorder(scenario: &Scenario, cast: &Cast, seed: u64, world: &World) -> Recorder {
    let names =
        |role| scenario.hosts.iter().filter(|host| host.role == role).map(|host| host.name.clone()).collect();
    let header = Header {
        version: Header::VERSION,
        scenario: scenario.name.clone(),
        seed,
        clients: names(Role::Client),
        nodes: names(Role::Node),
        locks: vec![scenario.lock.name.clone()],
        objects: vec![scenario.resource.object.clone()],
        bounds: Bounds {
            obtain_within_ns: scenario.limits.obtain_within.map(whole_ns),
            obtain_free_within_ns: scenario.limits.obtain_free_within.map(whole_ns),
        },
    };
    Recorder::new(world.observer(), History::new(header), cast.clone(), &scenario.lock.name)
}

fn whole_ns(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Adds every host with its process, in the scenario's order.
fn populate(world: &mut World, scenario: &Scenario, cast: &Cast, recorder: &Recorder, driver: Driver) {
    let names = Arc::new(cast.names());
    for (index, plan) in scenario.hosts.iter().enumerate() {
        let added = match plan.role {
            Role::Node => add_node(world, scenario, HostIndex(index), names.clone(), recorder.clone()),
            Role::Resource => add_resource(world, scenario, plan, recorder.clone()),
            Role::Client => {
                add_client(world, scenario, HostIndex(index), names.clone(), recorder.clone(), driver)
            }
        };
        debug_assert_eq!(added, cast.in_world(HostIndex(index)), "the cast's numbers are the world's");
    }
}

fn spec(plan: &HostSetup) -> HostSpec {
    let wall = WallTime(EPOCH.saturating_add(plan.wall_offset_ns));
    HostSpec { wall, rate: plan.drift, ..HostSpec::new(&plan.name) }
}

fn add_node(
    world: &mut World,
    scenario: &Scenario,
    index: HostIndex,
    names: Arc<BTreeMap<String, HostId>>,
    recorder: Recorder,
) -> HostId {
    let spec = HostSpec { fsync_time: scenario.nodes.fsync_time.clone(), ..spec(&scenario.hosts[index.0]) };
    let command_time = scenario.nodes.command_time.clone();
    let config = node_config(scenario, index);
    let operator = Operator::default();
    world.add_host(spec, move |host| {
        let machine = SimMachine::new(host.clone(), names.clone(), command_time.clone());
        let observer = NodeObserver::new(host.clone(), recorder.clone());
        let mut config = config.clone();
        config.core.observer = Some(Arc::new(observer));
        let operator = operator.clone();
        let (life, recorder) = (NodeLife { node: host.id(), recorder: recorder.clone() }, recorder.clone());
        async move {
            let _life = life;
            if let Err(error) = machine.run(REDIS_PORT, config, operator).await {
                recorder.inconclusive(format!("{} does not run: {error}", host.name()));
            }
        }
    })
}

fn node_config(scenario: &Scenario, index: HostIndex) -> NodeConfig {
    let persistence = match scenario.nodes.persistence {
        Persistence::None => doublehold_sim_redis::Persistence::None,
        Persistence::Everysec => doublehold_sim_redis::Persistence::AofEverysec,
        Persistence::Always => doublehold_sim_redis::Persistence::AofAlways,
    };
    let master = scenario.nodes.master.filter(|master| *master != index);
    let replica_of = master.map(|master| (scenario.hosts[master.0].name.clone(), REDIS_PORT));
    let native_scripts = scenario.nodes.native_scripts;
    let core = CoreConfig { port: REDIS_PORT, config_file: true, native_scripts, ..CoreConfig::default() };
    NodeConfig { core, persistence, replica_of, ..NodeConfig::default() }
}

/// Tells the recorder when a node's process is gone, and its memory with it.
struct NodeLife {
    node: HostId,
    recorder: Recorder,
}

impl Drop for NodeLife {
    fn drop(&mut self) {
        self.recorder.forgotten(self.node);
    }
}

fn add_resource(world: &mut World, scenario: &Scenario, plan: &HostSetup, recorder: Recorder) -> HostId {
    let store = resource::Store::new(scenario.resource.rules);
    world.add_host(spec(plan), move |host| resource::serve(host, store.clone(), recorder.clone()))
}

fn add_client(
    world: &mut World,
    scenario: &Scenario,
    index: HostIndex,
    names: Arc<BTreeMap<String, HostId>>,
    recorder: Recorder,
    driver: Driver,
) -> HostId {
    let plan = scenario.clients.iter().find(|client| client.host == index);
    let plan = plan.expect("every client host has a program").clone();
    let nodes = scenario.hosts.iter().filter(|host| host.role == Role::Node);
    let program = Arc::new(Program {
        plan,
        lock: scenario.lock.clone(),
        locks: LOCKS.clone(),
        nodes: nodes.map(|host| NodeName::new(&host.name)).collect(),
        resource: names[&scenario.hosts[scenario.resource.host.0].name],
        recorder: recorder.clone(),
        started: AtomicBool::new(false),
    });
    world.add_host(spec(&scenario.hosts[index.0]).essential(), move |host: Host| {
        let env = SimEnv::new(host.clone(), names.clone(), recorder.clone(), driver);
        program.clone().run(host, env)
    })
}

fn fault_reports(scenario: &Scenario, cast: &Cast, struck: &[Struck]) -> Vec<FaultReport> {
    let report = |(fault, struck): (&Fault, &Struck)| {
        let named = fault.effect.hosts();
        let mut hosts: Vec<HostIndex> = named.0.iter().filter_map(|name| cast.host(name).ok()).collect();
        if matches!(fault.effect.kind().nature, Nature::Link | Nature::Message) {
            hosts.sort_unstable();
        }
        let at = |at: Option<SimTime>| at.map(|at| TrueNs(at.0));
        FaultReport { fault: fault.clone(), hosts, from: at(struck.from), until: at(struck.until) }
    };
    scenario.faults.iter().zip(struck).map(report).collect()
}

/// Which limit ended the run, and the way out.
fn limit_met(limits: &Limits, run: &Run) -> Option<String> {
    let (key, value) = match run.outcome {
        Outcome::Completed | Outcome::Stalled | Outcome::Halted => return None,
        Outcome::EventBudget => ("events", limits.events.to_string()),
        Outcome::TimeBudget => ("time", words::duration(limits.time)),
        Outcome::MemoryBudget => ("memory", words::bytes(limits.memory)),
    };
    // Steps of code count towards `limits.events` as well, where they do not show in the trace.
    let after = match run.outcome {
        Outcome::EventBudget => String::new(),
        _ => format!(", after {} events", run.events),
    };
    Some(format!("the run met `limits.{key}`, which is {value}{after}: raise it, or let less happen"))
}

/// Writes what only the end of the run can tell: which faults never struck or were never over, and how the run ended.
fn close_history(history: &mut History, scenario: &Scenario, run: &Run) {
    let ended = TrueNs(run.ended.0);
    let faults = scenario
        .faults
        .iter()
        .map(|fault| (fault.words(), fault.at.words(), fault.lasting.is_some(), fault.optional));
    let starts = scenario.clients.iter().filter_map(|client| {
        let words = format!("{} starts", scenario.hosts[client.host.0].name);
        Some((words, client.start.as_ref()?.words(), false, false))
    });
    for ((words, when, lasts, optional), struck) in faults.chain(starts).zip(&run.faults) {
        let what = match (struck.from, struck.until) {
            _ if optional => continue,
            (None, _) => "never fired",
            (Some(_), None) if lasts => "was not over when the run ended",
            (Some(_), _) => continue,
        };
        let why = format!("the fault `{words} {when}` {what}");
        history.push(ended, EventKind::Inconclusive { why });
    }
    let outcome = match run.outcome {
        Outcome::Completed => RunOutcome::Completed,
        Outcome::Stalled => RunOutcome::Stalled,
        Outcome::EventBudget => RunOutcome::EventBudget,
        Outcome::TimeBudget => RunOutcome::TimeBudget,
        Outcome::MemoryBudget => RunOutcome::MemoryBudget,
        Outcome::Halted => RunOutcome::Halted,
    };
    history.push(ended, EventKind::RunEnded { outcome });
}
