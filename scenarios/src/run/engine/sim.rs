//! The `sim` engine: a scenario as a world of the simulation kernel, prepared once and run from many seeds.
//!
//! What is the same in every run is made once and shared; a run gets a world, a recorder and a store of its own, and
//! leaves nothing behind. Nothing here decides anything: what happens is the scenario's, the locks' and the seed's
//! business.

use std::sync::{Arc, LazyLock};

use doublehold_history::{Header, TrueNs, Verdicts, figures, judge};
use doublehold_lockimpl::{Descriptor, LockKind, Registry};
use doublehold_sim::{Budget, PlannedFault, Record, Run, Seed, SimTime, World};

use super::check::{PrepareError, check};
use super::closing::{close_history, fault_reports, faults_over, hits, limit_met, outcome};
use super::env::SimEnv;
use super::header::header;
use super::on_sim::SimWitness;
use super::signal::Signal;
use super::steps::steps;
use super::world::{Hosts, link};
use super::{Detailed, Engine, Futures, Prepared, Searchable, Stepped, TakesLocks, detail};
use crate::detail::Detail;
use crate::format::possible::commands;
use crate::model::cast::Cast;
use crate::model::fault::{Fault, Nature};
use crate::model::host::UnknownHost;
use crate::model::scenario::{ClientSetup, Limits, Role, Scenario};
use crate::model::when::Nth;
use crate::report::{Grants, Judgement, Report, Summary, TraceHash};
use crate::run::Driver;
use crate::run::clocks;
use crate::run::recorder::{Recorded, Recorder};
use crate::weather::{Climate, Weather};

/// Runs scenarios in the simulation kernel, in virtual time.
#[derive(Clone, Copy, Debug, Default)]
pub struct SimEngine;

/// The same for many runs: locks speak to their nodes through a lean connection of ours in place of redis-rs'.
///
/// Verdicts are those of [`SimEngine`], at less than half the cost; traces, and their hashes, are others. So a run
/// that is to be shown or replayed is one of [`SimEngine`].
#[derive(Clone, Copy, Debug, Default)]
pub struct LeanEngine;

/// The seed of the run whose steps random faults are placed at. Any would do.
const SURVEYED: Seed = Seed(1);

/// The locks that a scenario can name.
static LOCKS: LazyLock<Registry<SimEnv>> = LazyLock::new(Registry::builtin);

impl Engine for SimEngine {
    type Prepared = PreparedSim;

    fn name(&self) -> &'static str {
        "sim"
    }

    fn locks(&self) -> Vec<Descriptor> {
        LOCKS.descriptors()
    }

    fn prepare(&self, scenario: &Scenario) -> Result<PreparedSim, PrepareError> {
        PreparedSim::new(self.name(), Driver::RedisRs, &LOCKS, scenario)
    }
}

impl Engine for LeanEngine {
    type Prepared = PreparedSim;

    fn name(&self) -> &'static str {
        "sim, lean connections"
    }

    fn locks(&self) -> Vec<Descriptor> {
        LOCKS.descriptors()
    }

    fn prepare(&self, scenario: &Scenario) -> Result<PreparedSim, PrepareError> {
        PreparedSim::new(self.name(), Driver::Lean, &LOCKS, scenario)
    }
}

/// [`SimEngine`] for scenarios that name locks of the caller's own.
///
/// ```
/// use doublehold_lockimpl::Registry;
/// use doublehold_scenarios::{Engine, OwnLocks, catalog};
///
/// // Here goes `.with(…)` of a lock kind of one's own.
/// let engine = OwnLocks(Registry::builtin());
/// assert!(engine.prepare(&catalog::load("quiet", &[])?).is_ok());
/// # Ok::<(), doublehold_scenarios::ScenarioError>(())
/// ```
#[derive(Clone, Debug)]
pub struct OwnLocks(pub Registry<SimEnv>);

impl TakesLocks for OwnLocks {
    type Env = SimEnv;

    fn of(locks: Registry<SimEnv>) -> OwnLocks {
        OwnLocks(locks)
    }
}

impl Engine for OwnLocks {
    type Prepared = PreparedSim;

    fn name(&self) -> &'static str {
        "sim"
    }

    fn locks(&self) -> Vec<Descriptor> {
        self.0.descriptors()
    }

    fn prepare(&self, scenario: &Scenario) -> Result<PreparedSim, PrepareError> {
        PreparedSim::new(self.name(), Driver::RedisRs, &self.0, scenario)
    }
}

/// A scenario ready to be run in the simulation kernel.
pub struct PreparedSim {
    engine: &'static str,
    scenario: Arc<Scenario>,
    cast: Arc<Cast>,
    /// The builder of the lock, and the carrier of its requests.
    kind: Arc<dyn LockKind<SimEnv>>,
    driver: Driver,
    /// Complete but for the seed.
    header: Header,
    hosts: Arc<Hosts>,
    /// The commands that a file may name, if the lock says which it sends.
    commands: Option<Vec<&'static str>>,
    /// The faults in the scenario's order, and after them the starts of clients.
    faults: Vec<PlannedFault>,
    /// What random faults are drawn from.
    climate: Option<Climate>,
}

/// A run that is over.
struct Done {
    run: Run,
    recorder: Recorder,
    recorded: Recorded,
    verdicts: Verdicts,
}

impl Prepared for PreparedSim {
    type Record = Record;

    fn judge(&self, seed: impl Into<Seed>) -> Summary {
        let seed = seed.into();
        if let Some(drawn) = self.drawn(seed) {
            return drawn.judge(seed);
        }
        let done = self.execute(seed, &mut World::new(seed, self.link()));
        self.summary(seed, done)
    }

    fn run(&self, seed: impl Into<Seed>) -> Report {
        let seed = seed.into();
        if let Some(drawn) = self.drawn(seed) {
            return drawn.run(seed);
        }
        let done = self.execute(seed, &mut World::new(seed, self.link()));
        self.report(seed, done)
    }

    fn run_traced(&self, seed: impl Into<Seed>) -> (Report, Vec<Record>) {
        let seed = seed.into();
        if let Some(drawn) = self.drawn(seed) {
            return drawn.run_traced(seed);
        }
        let mut world = World::traced(seed, self.link());
        let done = self.execute(seed, &mut world);
        (self.report(seed, done), world.take_trace())
    }
}

impl Searchable for PreparedSim {
    fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    fn climate(&self) -> Option<&Climate> {
        self.climate.as_ref()
    }

    fn with_faults(&self, faults: Vec<Fault>) -> Result<PreparedSim, UnknownHost> {
        let scenario = Scenario { faults, weather: None, ..Scenario::clone(&self.scenario) };
        let scenario = Arc::new(with_restarts(scenario));
        Ok(PreparedSim {
            engine: self.engine,
            kind: self.kind.clone(),
            driver: self.driver,
            cast: self.cast.clone(),
            header: self.header.clone(),
            hosts: self.hosts.clone(),
            commands: self.commands.clone(),
            faults: plan(&scenario, &self.cast)?,
            scenario,
            climate: None,
        })
    }

    fn of_scenario(&self, scenario: &Scenario) -> Result<PreparedSim, PrepareError> {
        check(scenario)?;
        PreparedSim::calm(self.engine, self.driver, &self.kind, scenario)
    }
}

impl Stepped for PreparedSim {
    fn timed_steps(&self, seed: impl Into<Seed>) -> Vec<(TrueNs, Nth)> {
        let (_, trace) = self.run_traced(seed);
        let is_sent = |command: &str| self.commands.as_ref().is_none_or(|sent| sent.contains(&command));
        steps(&trace, &self.cast, is_sent)
    }
}

impl Futures for PreparedSim {
    fn judge_future(&self, seed: impl Into<Seed>, from: TrueNs, future: Seed) -> Summary {
        let seed = seed.into();
        if let Some(drawn) = self.drawn(seed) {
            return drawn.judge_future(seed, from, future);
        }
        let mut world = World::new(seed, self.link());
        world.reseed_at(SimTime(from.0), future);
        let done = self.execute(seed, &mut world);
        self.summary(seed, done)
    }
}

impl Detailed for PreparedSim {
    fn run_with_detail(&self, seed: impl Into<Seed>) -> (Report, Vec<Record>, Detail) {
        let seed = seed.into();
        if let Some(drawn) = self.drawn(seed) {
            return drawn.run_with_detail(seed);
        }
        let mut world = World::captured(seed, self.link());
        let done = self.execute(seed, &mut world);
        let (trace, captured, ended) = (world.take_trace(), world.take_capture(), done.run.ended);
        let report = self.report(seed, done);
        let detail = detail::detail(&self.scenario, &self.cast, &trace, &captured, ended);
        (report, trace, detail)
    }
}

impl PreparedSim {
    fn new(
        engine: &'static str,
        driver: Driver,
        locks: &Registry<SimEnv>,
        scenario: &Scenario,
    ) -> Result<PreparedSim, PrepareError> {
        check(scenario)?;
        let kind = lock_kind(locks, scenario)?;
        let calm = PreparedSim::calm(engine, driver, kind, scenario)?;
        let weather = calm.scenario.weather.as_ref();
        let climate = weather.map(|weather| climate(weather, locks, &calm.scenario)).transpose()?;
        Ok(PreparedSim { climate, ..calm })
    }

    /// Without what random faults are drawn from.
    fn calm(
        engine: &'static str,
        driver: Driver,
        kind: &Arc<dyn LockKind<SimEnv>>,
        scenario: &Scenario,
    ) -> Result<PreparedSim, PrepareError> {
        let scenario = Arc::new(with_restarts(scenario.clone()));
        let cast = Arc::new(scenario.cast());
        let facts = kind.descriptor().facts(&scenario.lock.switches);
        Ok(PreparedSim {
            engine,
            kind: kind.clone(),
            driver,
            header: header(&scenario),
            hosts: Arc::new(Hosts::of(&scenario, &cast, kind, driver)),
            commands: commands(&scenario.clients, &facts),
            faults: plan(&scenario, &cast)?,
            cast,
            scenario,
            climate: None,
        })
    }

    /// The run from this seed, with its random faults among the others; `None` without weather.
    fn drawn(&self, seed: Seed) -> Option<PreparedSim> {
        Some(self.among(self.climate.as_ref()?.draw(seed)))
    }

    /// The same with faults that were drawn, in place of the weather.
    fn among(&self, drawn: Vec<Fault>) -> PreparedSim {
        let faults = [&self.scenario.faults[..], &drawn].concat();
        self.with_faults(faults).expect("random faults strike hosts that there are")
    }

    /// The same with every script run in Lua, also those that nodes know without it: for tests that compare. It
    /// changes no run, so no scenario says it.
    ///
    /// # Panics
    ///
    /// If it was shared already, by [`PreparedSim::with_faults`].
    #[must_use]
    pub fn with_lua(mut self) -> PreparedSim {
        let hosts = Arc::get_mut(&mut self.hosts).expect("a preparation that is not shared yet");
        hosts.run_scripts_in_lua();
        self
    }

    fn link(&self) -> doublehold_sim::LinkSpec {
        link(&self.scenario.link)
    }

    fn execute(&self, seed: Seed, world: &mut World) -> Done {
        let header = Header { seed: seed.0, ..self.header.clone() };
        let witness = Arc::new(SimWitness::new(world.observer(), self.cast.clone()));
        let recorder = Recorder::new(witness, header, self.cast.clone());
        let jobs = self.hosts.populate(world, &recorder);
        for (from, to, quality) in &self.scenario.links {
            world.set_link(self.cast.in_world(*from), self.cast.in_world(*to), link(quality));
        }
        self.faults.iter().for_each(|fault| world.plan(fault.clone()));
        let Limits { events, time, memory, .. } = self.scenario.limits;
        let run = world.run(Budget { events, time, memory });
        jobs.iter().for_each(|job| job.close());
        let mut recorded = recorder.close();
        close_history(&mut recorded.history, &self.scenario, &run);
        if self.scenario.limits.after_faults {
            recorded.history.count_waits_from(faults_over(&self.scenario.faults, &run));
        }
        let verdicts = judge(&recorded.history);
        Done { run, recorder, recorded, verdicts }
    }

    fn summary(&self, seed: Seed, done: Done) -> Summary {
        let Done { run, recorded, verdicts, .. } = done;
        let outcome = outcome(run.outcome);
        Summary {
            seed,
            outcome,
            judgement: Judgement::of(&self.scenario.expect, Some(outcome), &verdicts),
            verdicts,
            grants: Grants::of(&recorded.history),
            figures: figures(&recorded.history),
            faults: hits(&self.scenario.faults, &run.faults),
            ended: clocks::true_time(run.ended),
            events: run.events,
            messages: run.messages,
            trace_hash: TraceHash(run.hash.0),
            panicked: recorded.panicked,
        }
    }

    fn report(&self, seed: Seed, done: Done) -> Report {
        let Done { run, recorder, recorded, verdicts } = done;
        let Recorded { history, votes, extends, mut notes, panicked } = recorded;
        notes.extend(limit_met(&self.scenario.limits, &run));
        Report {
            scenario: self.scenario.clone(),
            seed,
            engine: self.engine,
            verdicts,
            history,
            faults: fault_reports(&self.scenario, &self.cast, &run.faults),
            keys: recorder.spans(),
            votes,
            extends,
            ended: clocks::true_time(run.ended),
            events: run.events,
            messages: run.messages,
            trace_hash: TraceHash(run.hash.0),
            replays: None,
            notes,
            panicked,
            causes: None,
        }
    }
}

/// What the kernel is to do: the faults in file order, and after them the starts of clients.
fn plan(scenario: &Scenario, cast: &Cast) -> Result<Vec<PlannedFault>, UnknownHost> {
    let start = |client: &ClientSetup| {
        let when = client.start.as_ref()?;
        let faults = vec![Signal::Start.to(cast.in_world(client.host))];
        Some(when.trigger(cast).map(|trigger| PlannedFault { trigger, faults, lasting: None }))
    };
    let faults = scenario.faults.iter().map(|fault| fault.planned(cast));
    faults.chain(scenario.clients.iter().filter_map(start)).collect()
}

/// The scenario in which no node comes back sooner than it says.
fn with_restarts(mut scenario: Scenario) -> Scenario {
    let Scenario { hosts, faults, nodes, .. } = &mut scenario;
    let is_node = |name: &String| hosts.iter().any(|host| host.role == Role::Node && host.name == *name);
    for fault in faults.iter_mut().filter(|fault| fault.effect.kind().nature == Nature::Death) {
        if fault.effect.hosts().0.iter().any(is_node) {
            fault.lasting = fault.lasting.map(|lasting| lasting.max(nodes.restart_after));
        }
    }
    scenario
}

/// A scenario's weather over it. Its steps are those of a run through redis-rs whatever carries requests otherwise, so
/// that a seed means the same faults everywhere.
fn climate(
    weather: &Weather,
    locks: &Registry<SimEnv>,
    scenario: &Scenario,
) -> Result<Climate, PrepareError> {
    let calm = Scenario { weather: None, ..scenario.clone() };
    let steps = PreparedSim::new("sim", Driver::RedisRs, locks, &calm)?.steps(SURVEYED);
    Ok(Climate::over(weather, scenario, &steps))
}

/// What builds the scenario's lock.
fn lock_kind<'a>(
    locks: &'a Registry<SimEnv>,
    scenario: &Scenario,
) -> Result<&'a Arc<dyn LockKind<SimEnv>>, PrepareError> {
    let name = &scenario.lock.algorithm;
    locks.get(name).ok_or_else(|| PrepareError::NoSuchLock(name.clone()))
}
