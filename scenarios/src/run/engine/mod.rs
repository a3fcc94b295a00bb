//! The seam between what asks for runs and what executes them.
//!
//! An [`Engine`] prepares a scenario, and what is [`Prepared`] runs from a seed. Searches ask for more, each for a
//! trait of its own, so that an engine which lacks something lacks that trait and nothing else: other faults or another
//! scenario of the same lock ([`Searchable`]: sweeps, and the random faults of a check), the steps at which faults can
//! strike ([`Stepped`]: `explore`, and the shrinker, which binds faults to events), another future of the same past
//! ([`Futures`]: `why`, and causes), what a picture shows besides ([`Detailed`]), locks of the caller's own
//! ([`TakesLocks`]: a check in somebody's own crate).
//!
//! Decision: "Each ability of an engine is a trait (`Searchable`, `Stepped`, `Futures`, `Detailed`, `TakesLocks`)"
//! (docs/decisions/crates.md).

mod asked_lock;
pub(in crate::run) mod calls;
pub(in crate::run) mod check;
pub(in crate::run) mod closing;
pub(in crate::run) mod detail;
pub(in crate::run) mod drivers;
pub(in crate::run) mod env;
pub(in crate::run) mod executor;
pub(in crate::run) mod header;
pub(in crate::run) mod limits;
pub(in crate::run) mod lower;
pub(in crate::run) mod prepared;
mod service;
pub(in crate::run) mod signal;
pub(in crate::run) mod sim;
pub(in crate::run) mod sim_stage;
mod standby;
pub(in crate::run) mod steps;
mod supervisor;
mod threads;
mod tokio_timers;
pub(in crate::run) mod world;

use doublehold_history::TrueNs;
use doublehold_lockimpl::{Descriptor, Registry};
use serde::Serialize;

use self::env::SimEnv;
use crate::Seed;
use crate::detail::Detail;
use crate::model::fault::{Effect, Fault};
use crate::model::host::UnknownHost;
use crate::model::scenario::Scenario;
use crate::model::when::Nth;
use crate::report::{Report, Summary};
use crate::run::PrepareError;
use crate::weather::Climate;

/// Something that can execute scenarios.
pub trait Engine {
    /// A scenario it is ready to run.
    type Prepared: Prepared;

    /// Its name in reports.
    fn name(&self) -> &'static str;

    /// The locks that its scenarios can name.
    fn locks(&self) -> Vec<Descriptor>;

    /// Does once what is the same in every run of a scenario.
    ///
    /// # Errors
    ///
    /// If the scenario cannot be run. One that was read from a file can.
    fn prepare(&self, scenario: &Scenario) -> Result<Self::Prepared, PrepareError>;

    /// Prepares a scenario and runs it from one seed.
    ///
    /// # Panics
    ///
    /// If the scenario cannot be run, see [`Engine::prepare`].
    fn run(&self, scenario: &Scenario, seed: impl Into<Seed>) -> Report {
        match self.prepare(scenario) {
            Ok(prepared) => prepared.run(seed),
            Err(error) => panic!("the scenario `{}` cannot be run: {error}", scenario.name),
        }
    }
}

/// An engine that runs locks of the caller's own, as [`OwnLocks`](super::OwnLocks) does.
pub trait TakesLocks: Engine + Send + Sync + 'static {
    /// The engine that knows these locks: [`builtin_locks`](super::builtin_locks), to which yours are added.
    fn from_locks(locks: Registry<SimEnv>) -> Self;
}

/// An engine that says what its worlds cannot express.
pub trait Limited: Engine {
    /// The reason why no fault of this kind can be done, if there is one.
    fn limit_of(&self, effect: &Effect) -> Option<&'static str>;

    /// The reason why no link can lose what it carries, if there is one.
    fn limit_of_loss(&self) -> Option<&'static str>;
}

/// A scenario that an engine is ready to run. The same seed gives the same run, whatever ran before, in whatever
/// order and on whatever thread; several threads may share one preparation.
///
/// ```
/// use doublehold_scenarios::{Engine, Prepared, SimEngine, catalog};
///
/// let quiet = SimEngine.prepare(&catalog::load("quiet", &[])?)?;
/// for seed in 1..=3 {
///     assert_eq!(quiet.judge(seed).trace_hash, quiet.run(seed).trace_hash);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Prepared: Send + Sync {
    /// One event of the engine's own account of a run.
    type Record: Serialize;

    /// Runs from a seed, and keeps the verdicts only.
    fn judge(&self, seed: impl Into<Seed>) -> Summary;

    /// Runs from a seed, and reports what happened.
    fn run(&self, seed: impl Into<Seed>) -> Report;

    /// Runs from a seed, and keeps every event as well.
    fn run_traced(&self, seed: impl Into<Seed>) -> (Report, Vec<Self::Record>);
}

/// A preparation that can be changed, and that knows what random faults are drawn from.
pub trait Searchable: Prepared + Sized + 'static {
    /// The scenario that is run.
    fn scenario(&self) -> &Scenario;

    /// The law of the random faults, if the scenario has weather.
    fn climate(&self) -> Option<&Climate>;

    /// The same with other faults in place of the scenario's, random ones included, and everything else shared: a
    /// search makes thousands of these a second.
    ///
    /// # Errors
    ///
    /// If a fault names a host that the scenario does not have. A moment that cannot come is no error: a fault that
    /// never strikes is reported as such.
    ///
    /// ```
    /// use doublehold_history::Predicate;
    /// use doublehold_scenarios::{Engine, Prepared, Searchable, SimEngine, catalog};
    ///
    /// let paused = SimEngine.prepare(&catalog::load("lease-pause", &[])?)?;
    /// assert_eq!(paused.judge(1).verdicts.get(Predicate::P1).as_str(), "violated");
    /// assert_eq!(paused.with_faults(vec![])?.judge(1).verdicts.get(Predicate::P1).as_str(), "holds");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn with_faults(&self, faults: Vec<Fault>) -> Result<Self, UnknownHost>;

    /// Another scenario of the same lock, over the same connections. Of one with weather the random faults are not
    /// drawn.
    ///
    /// # Errors
    ///
    /// If the scenario cannot be run.
    fn with_scenario(&self, scenario: &Scenario) -> Result<Self, PrepareError>;

    /// Judges the run from this seed with faults that were drawn otherwise, in place of the weather's.
    ///
    /// # Panics
    ///
    /// If a fault names a host that the scenario does not have, which none that its climate draws does.
    fn judge_among(&self, seed: Seed, drawn: Vec<Fault>) -> Summary {
        let faults = [&self.scenario().faults[..], &drawn].concat();
        self.with_faults(faults).expect("random faults strike hosts that there are").judge(seed)
    }
}

/// A preparation that knows the steps of its runs.
pub trait Stepped: Searchable {
    /// The steps of the run from a seed with the true time of each, in the order in which it came by them.
    fn timed_steps(&self, seed: impl Into<Seed>) -> Vec<(TrueNs, Nth)>;

    /// The same without times: where faults can strike.
    fn steps(&self, seed: impl Into<Seed>) -> Vec<Nth> {
        self.timed_steps(seed).into_iter().map(|(_, step)| step).collect()
    }
}

/// A preparation whose runs can go on otherwise.
pub trait Futures: Searchable {
    /// Judges the run from a seed in which everything random is drawn from another seed from some true time on: the
    /// same past, and another future. What the scenario says, its faults included, goes on as planned.
    fn judge_future(&self, seed: impl Into<Seed>, from: TrueNs, future: Seed) -> Summary;
}

/// A preparation whose runs can be drawn with their messages and clocks.
pub trait Detailed: Prepared {
    /// Runs from a seed, and keeps every event and what a picture needs besides.
    fn run_with_detail(&self, seed: impl Into<Seed>) -> (Report, Vec<Self::Record>, Detail);
}
