//! A scenario prepared once and run from many seeds, by whatever executes it.
//!
//! Everything that is the same in every run is made once and shared; a run gets a world, a recorder and a store of its
//! own, and leaves nothing behind. Nothing here decides anything: what happens is the scenario's, the locks' and the
//! seed's business.
//!
//! Decision: "The engine draws random faults before the run and writes them into the scenario"
//! (docs/decisions/scenarios.md).

use std::sync::Arc;

use doublehold_history::{Header, TrueNs, Verdicts, figures, judge};
use doublehold_sim::{Keep, PlannedFault, Record, Seed, SimTime};

use super::check::{PrepareError, check};
use super::closing::{close_history, fault_reports, faults_over, hits, left_out, limit_met, outcome};
use super::executor::{Executed, Executor, Orders};
use super::header::header;
use super::signal::Signal;
use super::steps::steps;
use super::tokio_timers::outside_runtimes;
use super::{Detailed, Futures, Prepared, Searchable, Stepped, detail};
use crate::detail::Detail;
use crate::format::reachable::commands;
use crate::model::cast::Cast;
use crate::model::fault::{Fault, Nature};
use crate::model::host::UnknownHost;
use crate::model::scenario::{ClientSetup, RestartClock, Role, Scenario};
use crate::model::sentinels::doubts;
use crate::model::when::Nth;
use crate::report::{Grants, Judgement, Report, Summary, TraceHash};
use crate::run::clocks;
use crate::run::recorder::Recorded;
use crate::weather::Climate;

/// A scenario ready to be run in simulated worlds.
pub struct PreparedSim {
    engine: &'static str,
    scenario: Arc<Scenario>,
    cast: Arc<Cast>,
    executor: Arc<dyn Executor>,
    /// Complete but for the seed.
    header: Header,
    /// The commands that a file may name, if the lock says which it sends.
    commands: Option<Vec<&'static str>>,
    /// The faults in the scenario's order, and after them the starts of clients.
    faults: Vec<PlannedFault>,
    /// The law of random faults.
    climate: Option<Climate>,
}

/// A run that is over, and judged.
struct Done {
    executed: Executed,
    verdicts: Verdicts,
}

impl Prepared for PreparedSim {
    type Record = Record;

    fn judge(&self, seed: impl Into<Seed>) -> Summary {
        self.judge_run(seed.into(), None)
    }

    fn run(&self, seed: impl Into<Seed>) -> Report {
        self.report_run(seed.into(), Keep::Hash).0
    }

    fn run_traced(&self, seed: impl Into<Seed>) -> (Report, Vec<Record>) {
        self.report_run(seed.into(), Keep::Events)
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
            executor: self.executor.clone(),
            cast: self.cast.clone(),
            header: self.header.clone(),
            commands: self.commands.clone(),
            faults: plan(&scenario, &self.cast)?,
            scenario,
            climate: None,
        })
    }

    fn with_scenario(&self, scenario: &Scenario) -> Result<PreparedSim, PrepareError> {
        check(scenario)?;
        PreparedSim::calm(self.engine, scenario, |scenario, cast| self.executor.with_scenario(scenario, cast))
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
        self.judge_run(seed.into(), Some((SimTime(from.0), future)))
    }
}

impl Detailed for PreparedSim {
    fn run_with_detail(&self, seed: impl Into<Seed>) -> (Report, Vec<Record>, Detail) {
        self.detail_run(seed.into())
    }
}

impl PreparedSim {
    /// A checked scenario, ready to be run by the executor that `executor` makes for it. What its random faults are
    /// drawn from is `climate`'s to say, of the scenario without weather.
    pub(in crate::run) fn new(
        engine: &'static str,
        scenario: &Scenario,
        executor: impl FnOnce(&Scenario, &Arc<Cast>) -> Arc<dyn Executor>,
        climate: impl FnOnce(&PreparedSim) -> Result<Option<Climate>, PrepareError>,
    ) -> Result<PreparedSim, PrepareError> {
        let calm = PreparedSim::calm(engine, scenario, executor)?;
        let climate = climate(&calm)?;
        Ok(PreparedSim { climate, ..calm })
    }

    /// Without what random faults are drawn from.
    fn calm(
        engine: &'static str,
        scenario: &Scenario,
        executor: impl FnOnce(&Scenario, &Arc<Cast>) -> Arc<dyn Executor>,
    ) -> Result<PreparedSim, PrepareError> {
        let scenario = Arc::new(with_restarts(scenario.clone()));
        let cast = Arc::new(scenario.cast());
        let executor = executor(&scenario, &cast);
        let facts = executor.lock().facts(&scenario.lock.switches);
        let faults = plan(&scenario, &cast)?;
        let limits = executor.cannot(&scenario, &cast, &faults);
        if !limits.is_empty() {
            return Err(PrepareError::CannotExpress { engine, limits });
        }
        Ok(PreparedSim {
            engine,
            executor,
            header: header(&scenario, &cast),
            commands: commands(&scenario.clients, &facts),
            faults,
            cast,
            scenario,
            climate: None,
        })
    }

    /// The run from this seed, with its random faults among the others; `None` without weather.
    fn draw_weather(&self, seed: Seed) -> Option<PreparedSim> {
        Some(self.with_drawn(self.climate.as_ref()?.draw(seed)))
    }

    /// The same with faults that were drawn, in place of the weather.
    fn with_drawn(&self, drawn: Vec<Fault>) -> PreparedSim {
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
        let executor = Arc::get_mut(&mut self.executor).expect("a preparation that is not shared yet");
        executor.run_scripts_in_lua();
        self
    }

    fn judge_run(&self, seed: Seed, future: Option<(SimTime, Seed)>) -> Summary {
        if let Some(drawn) = self.draw_weather(seed) {
            return drawn.judge_run(seed, future);
        }
        outside_runtimes(|| self.summary(seed, self.execute(seed, Keep::Hash, false, future)))
    }

    fn report_run(&self, seed: Seed, keep: Keep) -> (Report, Vec<Record>) {
        if let Some(drawn) = self.draw_weather(seed) {
            return drawn.report_run(seed, keep);
        }
        outside_runtimes(|| {
            let mut done = self.execute(seed, keep, true, None);
            let trace = std::mem::take(&mut done.executed.trace);
            (self.report(seed, done), trace)
        })
    }

    fn detail_run(&self, seed: Seed) -> (Report, Vec<Record>, Detail) {
        if let Some(drawn) = self.draw_weather(seed) {
            return drawn.detail_run(seed);
        }
        outside_runtimes(|| {
            let mut done = self.execute(seed, Keep::Everything, true, None);
            let (ended, trace) = (done.executed.run.ended, std::mem::take(&mut done.executed.trace));
            let Executed { capture, recorder, .. } = &done.executed;
            let detail = detail::detail(&self.scenario, (&self.cast, recorder), &trace, capture, ended);
            (self.report(seed, done), trace, detail)
        })
    }

    fn execute(&self, seed: Seed, keep: Keep, accounts: bool, future: Option<(SimTime, Seed)>) -> Done {
        let mut executed = self.executor.execute(Orders {
            scenario: &self.scenario,
            cast: &self.cast,
            seed,
            header: Header { seed: seed.0, ..self.header.clone() },
            faults: &self.faults,
            keep,
            accounts,
            future,
        });
        let Executed { run, recorded, .. } = &mut executed;
        close_history(&mut recorded.history, &self.scenario, run);
        if self.scenario.limits.after_faults {
            recorded.history.count_waits_from(faults_over(&self.scenario.faults, run));
        }
        let verdicts = judge(&recorded.history);
        Done { executed, verdicts }
    }

    fn summary(&self, seed: Seed, done: Done) -> Summary {
        let Done { executed: Executed { run, recorded, .. }, verdicts } = done;
        let outcome = outcome(run.outcome);
        Summary {
            seed,
            outcome,
            judgement: Judgement::compare(&self.scenario.expect, Some(outcome), &verdicts),
            verdicts,
            grants: Grants::from_history(&recorded.history),
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
        let Done { executed: Executed { run, recorder, recorded, .. }, verdicts } = done;
        let Recorded { history, votes, extends, gave_up_at, announcements, mut notes, panicked, .. } =
            recorded;
        notes.extend(limit_met(&self.scenario.limits, &run));
        notes.extend(doubts(&self.scenario));
        Report {
            scenario: self.scenario.clone(),
            seed,
            engine: self.engine,
            verdicts,
            told: None,
            left_out: left_out(&self.scenario, &history, &gave_up_at),
            history,
            faults: fault_reports(&self.scenario, &self.cast, &run.faults),
            keys: recorder.spans(),
            leases: recorder.leases(),
            votes,
            extends,
            ended: clocks::true_time(run.ended),
            events: run.events,
            messages: run.messages,
            trace_hash: TraceHash(run.hash.0),
            replays: None,
            announcements,
            notes,
            panicked,
        }
    }
}

/// The plan for the world: the faults in file order, and after them the starts of clients.
fn plan(scenario: &Scenario, cast: &Cast) -> Result<Vec<PlannedFault>, UnknownHost> {
    let start = |client: &ClientSetup| {
        let when = client.start.as_ref()?;
        let signal = match cast.is_thread(client.host) {
            true => Signal::StartOf(cast.name(client.host).to_owned()),
            false => Signal::Start,
        };
        let faults = vec![signal.fault_for(cast.world_id(cast.machine(client.host)))];
        Some(when.trigger(cast).map(|trigger| PlannedFault { trigger, faults, lasting: None }))
    };
    let faults = scenario.faults.iter().map(|fault| fault.to_planned(cast));
    faults.chain(scenario.clients.iter().filter_map(start)).collect()
}

/// The scenario in which no node comes back sooner than it says by true time. What a clock of the machine counts, its
/// supervisor sees to.
fn with_restarts(mut scenario: Scenario) -> Scenario {
    if scenario.nodes.restart_clock != RestartClock::True {
        return scenario;
    }
    let Scenario { hosts, faults, nodes, .. } = &mut scenario;
    let is_node = |name: &String| hosts.iter().any(|host| host.role == Role::Node && host.name == *name);
    for fault in faults.iter_mut().filter(|fault| fault.effect.kind().nature == Nature::Death) {
        if fault.effect.hosts().0.iter().any(is_node) {
            fault.lasting = fault.lasting.map(|lasting| lasting.max(nodes.restart_after));
        }
    }
    scenario
}
