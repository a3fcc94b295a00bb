//! The executor of a prepared scenario's runs: worlds of one kind, hidden behind an object.
//!
//! Everything around a run (seeds, weather, verdicts, reports) is the same code for every simulator and is
//! compiled once; what differs is called once a run, so a call through an object costs nothing. Only what builds a
//! world and runs it is compiled for each kind of world, where that kind is named; what runs on its hosts is the
//! same code.
//!
//! Decision: "A run is executed by an object, with one call for each run" (docs/decisions/engines.md).

use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::env::SimEnv;
use super::limits::{Limit, find_limits};
use super::sim_stage::SimWitness;
use super::tokio_timers::TokioTimers;
use super::world::{Hosts, link};
use crate::model::cast::Cast;
use crate::model::scenario::{Limits, Scenario};
use crate::run::Driver;
use crate::run::recorder::{Recorded, Recorder};
use doublehold_history::Header;
use doublehold_lockimpl::{Descriptor, LockKind};
use doublehold_sim::{
    Budget, Capture, Fault, Keep, LinkSpec, PlannedFault, Record, Run, Seed, SimTime, WorldLike,
};

/// What is said of code that spawns where nothing runs.
const SPAWNED: &str = "the lock panicked: it starts a task with `tokio::spawn`, which belongs to no simulated process: \
                       start it with `Client::spawn`, or `Env::spawn` in a lock over an environment";

/// Executes the runs of one scenario.
pub(in crate::run) trait Executor: Send + Sync {
    /// Executes one run.
    fn execute(&self, orders: Orders<'_>) -> Executed;

    /// Executes another scenario of the same lock, over the same connections.
    fn with_scenario(&self, scenario: &Scenario, cast: &Arc<Cast>) -> Arc<dyn Executor>;

    /// The lock.
    fn lock(&self) -> Descriptor;

    /// Everything that its worlds cannot express of a scenario with these faults, each with the reason.
    fn cannot(&self, scenario: &Scenario, cast: &Cast, faults: &[PlannedFault]) -> Vec<Limit>;

    /// Lets nodes run every script in Lua.
    fn run_scripts_in_lua(&mut self);
}

/// The ingredients of one run.
pub(in crate::run) struct Orders<'a> {
    pub(in crate::run) scenario: &'a Scenario,
    pub(in crate::run) cast: &'a Arc<Cast>,
    pub(in crate::run) seed: Seed,
    pub(in crate::run) header: Header,
    pub(in crate::run) faults: &'a [PlannedFault],
    pub(in crate::run) keep: Keep,
    /// Whether somebody may ask white-box rules of the run.
    pub(in crate::run) accounts: bool,
    /// The time from which everything random is drawn from another seed.
    pub(in crate::run) future: Option<(SimTime, Seed)>,
}

/// A run that is over and not judged.
pub(in crate::run) struct Executed {
    pub(in crate::run) run: Run,
    pub(in crate::run) recorder: Recorder,
    pub(in crate::run) recorded: Recorded,
    pub(in crate::run) trace: Vec<Record>,
    pub(in crate::run) capture: Capture,
}

/// Executes runs in worlds of type `W`.
pub(in crate::run) struct InWorlds<W: WorldLike> {
    /// The builder of the lock, and the carrier of its requests.
    kind: Arc<dyn LockKind<SimEnv>>,
    driver: Driver,
    hosts: Hosts,
    /// The lock's code needs tokio's timers: its kind says so, or a run has shown it.
    needs_timers: Arc<AtomicBool>,
    world: PhantomData<fn() -> W>,
}

impl<W: WorldLike> InWorlds<W> {
    /// For a lock of this kind, which speaks to nodes through `driver`.
    pub(in crate::run) fn new(
        kind: Arc<dyn LockKind<SimEnv>>,
        driver: Driver,
        scenario: &Scenario,
        cast: &Arc<Cast>,
    ) -> InWorlds<W> {
        let hosts = Hosts::new(scenario, cast, &kind, driver);
        let needs_timers = Arc::new(AtomicBool::new(kind.awaits_tokio()));
        InWorlds { kind, driver, hosts, needs_timers, world: PhantomData }
    }

    /// Executes one run, with tokio's timers or without.
    fn execute_with(&self, orders: &Orders<'_>, timers: Option<Rc<TokioTimers>>) -> Executed {
        let Orders { scenario, cast, seed, header, faults, keep, accounts, future } = orders;
        let links: LinkSpec = link(&scenario.link);
        let mut world = W::build(*seed, links, *keep);
        if let Some((from, future)) = future {
            world.reseed_at(*from, *future);
        }
        let witness = Arc::new(SimWitness::new(world.observer(), Arc::clone(cast)));
        let recorder = Recorder::new(witness, header.clone(), Arc::clone(cast));
        if faults.iter().flat_map(|planned| &planned.faults).any(|it| matches!(it, Fault::CopyNext { .. })) {
            recorder.expect_copies();
        }
        if *accounts {
            recorder.keep_account();
        }
        let fired = timers.as_ref().map(|timers| timers.fired()).unwrap_or_default();
        let jobs = self.hosts.populate(&mut world, &recorder, &fired);
        for (from, to, quality) in &scenario.links {
            world.set_link(cast.world_id(*from), cast.world_id(*to), link(quality));
        }
        faults.iter().for_each(|fault| world.plan(fault.clone()));
        let Limits { events, time, memory, .. } = scenario.limits;
        let entered = timers.as_ref().map(|timers| {
            world.set_external_timers(timers.clone());
            timers.enter()
        });
        let run = world.run(Budget { events, time, memory });
        drop(entered);
        if timers.is_some_and(|timers| timers.has_spawned()) {
            recorder.record_panic(SPAWNED.to_owned());
        }
        jobs.iter().for_each(|job| job.close());
        let recorded = recorder.close();
        Executed { run, recorder, recorded, trace: world.take_trace(), capture: world.take_capture() }
    }
}

impl<W: WorldLike> Executor for InWorlds<W> {
    fn execute(&self, orders: Orders<'_>) -> Executed {
        if !W::TAKES_TIMERS {
            return self.execute_with(&orders, None);
        }
        if self.needs_timers.load(Ordering::Relaxed) {
            return self.execute_with(&orders, Some(TokioTimers::new()));
        }
        let executed = self.execute_with(&orders, None);
        // Asked for in vain, such a timer is a panic. So nobody pays for timers that nobody needs, and a run in which
        // nobody asks is the same with and without them.
        if !executed.recorded.needs_timers {
            return executed;
        }
        self.needs_timers.store(true, Ordering::Relaxed);
        self.execute_with(&orders, Some(TokioTimers::new()))
    }

    fn with_scenario(&self, scenario: &Scenario, cast: &Arc<Cast>) -> Arc<dyn Executor> {
        let needs_timers = self.needs_timers.clone();
        Arc::new(InWorlds::<W> {
            needs_timers,
            ..InWorlds::new(self.kind.clone(), self.driver, scenario, cast)
        })
    }

    fn lock(&self) -> Descriptor {
        self.kind.descriptor()
    }

    fn cannot(&self, scenario: &Scenario, cast: &Cast, faults: &[PlannedFault]) -> Vec<Limit> {
        find_limits::<W>(scenario, cast, faults)
    }

    fn run_scripts_in_lua(&mut self) {
        self.hosts.run_scripts_in_lua();
    }
}
