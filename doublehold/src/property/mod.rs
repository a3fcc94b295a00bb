//! Properties of one's own lock, tested with proptest: in drawn worlds, under drawn weathers, with drawn switches.
//!
//! ```no_run
//! use doublehold::check::{LockKind, Predicate, ScenarioError, SimEnv};
//! use doublehold::property::{Property, Worlds};
//!
//! # fn test(my_lock: impl LockKind<SimEnv>) -> Result<(), ScenarioError> {
//! let worlds = Worlds::new(&my_lock).clients(2..=3).weather(["pauses-only"]);
//! Property::new("frees its own lock only", my_lock).holds(&[Predicate::WR]).check(worlds.scenarios()?);
//! # Ok(())
//! # }
//! ```
//!
//! A scenario is drawn for each case, and a seed to run it from. The first case that breaks the property is handed to
//! [`shrink`](doublehold_search::shrink), which knows what may go from a scenario; proptest's own shrinking is
//! off.
//!
//! **A regression file is a plan.** The shrunk run is written to `doublehold-regressions/NAME/`, in the folder
//! where tests run, which is the package's: put it under version control, as one does with `proptest-regressions`.
//! Every later run of the property replays the plans in its folder before anything is drawn, and fails while one
//! of them still breaks it. A plan from elsewhere (of [`check`](mod@crate::check)) that is put there is replayed
//! as well. One that breaks nothing any more passes, and guards the repair.
//!
//! **The same cases every time**, so that CI fails because of a change and of nothing else. The variable
//! `DOUBLEHOLD_RNG_SEED` set to a number draws others, `DOUBLEHOLD_CASES` says how many, whatever the code says: a
//! job at night may set both. Another version of proptest may draw other cases; plans stay what they are.
//!
//! What a lock's own configuration is must be its switches, or it would be in no plan:
//! [`Existing::with_config`](crate::check::Existing::with_config).
//!
//! Not here: choosing cases by what earlier ones have covered.
//!
//! Decision: "The regression of a property is a plan, and its cases are the same every time"
//! (docs/decisions/search.md).

mod cases;
mod draws;
mod switches;
mod tested;
#[cfg(test)]
mod tests;
mod weathers;
mod worlds;

use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use doublehold_diagnosis::counterexample::{counterexample, explain_in_time};
use doublehold_history::Predicate;
use doublehold_lockimpl::{LockKind, Registry};
use doublehold_scenarios::plan::Plan;
use doublehold_scenarios::pool::Stuck;
use doublehold_scenarios::{
    Futures, OwnLocks, PrepareError, Prepared, Scenario, ScenarioError, Seed, SimEnv, Stepped, TakesLocks,
    builtin_locks,
};
use doublehold_search::many::{Many, Tally, run_many};
use doublehold_search::panic_hook::QuietPanics;
use doublehold_search::shrink::{Effort, ShrinkError, Target};
pub use proptest;
use proptest::prelude::*;
pub use switches::switches;
pub use tested::{Broken, Tested};
pub use weathers::weathers;
pub use worlds::{Topology, Worlds};

use self::cases::{Case, Cases};
use self::draws::Draws;
use crate::nondeterminism::{self, Nondeterminism, Watched};
use crate::regressions::{self, Unreadable};

/// How many cases there are if nobody says, as with proptest.
const CASES: u64 = 256;
/// How long the machine may be busy without any case coming to its end.
const PATIENCE: Duration = Duration::from_secs(60);

/// Something that is to hold in all scenarios of a kind.
#[derive(Clone, Debug)]
#[must_use = "nothing is tried until it is checked"]
pub struct Property<E: TakesLocks = OwnLocks> {
    engine: PhantomData<fn() -> E>,
    name: String,
    lock: &'static str,
    locks: Registry<SimEnv>,
    /// `None` if nobody has named any: then all, and of those at the end what a case showed something of.
    holds: Option<Vec<Predicate>>,
    cases: u64,
    regressions: Option<PathBuf>,
    patience: Duration,
}

impl Property {
    /// A property of `lock`. Its regressions are in a folder of this name, so that no two should share one.
    pub fn new(name: impl Into<String>, lock: impl LockKind<SimEnv>) -> Property {
        Property::new_on(name, lock)
    }
}

impl<E: TakesLocks> Property<E> {
    /// The same on another engine than the kernel: `Property::<Other>::new_on(…)`.
    pub fn new_on(name: impl Into<String>, lock: impl LockKind<SimEnv>) -> Property<E> {
        let (name, descriptor) = (name.into(), lock.descriptor());
        let regressions = regressions::folder([name.as_str()]);
        Property {
            engine: PhantomData,
            name,
            lock: descriptor.name,
            locks: builtin_locks().with(lock),
            holds: None,
            cases: CASES,
            regressions: Some(regressions),
            patience: PATIENCE,
        }
    }

    /// The predicates that are to hold. If none are named, these are all that a case shows something of; one that is
    /// named has to be seen. A panic of the lock breaks the property in any case.
    pub fn holds(self, predicates: &[Predicate]) -> Property<E> {
        Property { holds: Some(predicates.to_vec()), ..self }
    }

    /// How many cases are drawn, 256 if nothing is said. The variable `DOUBLEHOLD_CASES` overrides it.
    pub fn cases(self, cases: u64) -> Property<E> {
        Property { cases, ..self }
    }

    /// The folder whose plans are replayed first, and to which the plan of what is found goes.
    pub fn regressions(self, folder: impl Into<PathBuf>) -> Property<E> {
        Property { regressions: Some(folder.into()), ..self }
    }

    /// Replays no plans and writes none.
    pub fn no_regressions(self) -> Property<E> {
        Property { regressions: None, ..self }
    }

    /// How long no case may end, in real time, until it is said that the lock's code does not come back. A minute.
    pub fn patience(self, patience: Duration) -> Property<E> {
        Property { patience, ..self }
    }
}

impl<E: TakesLocks<Prepared: Stepped + Futures>> Property<E> {
    /// For tests: goes on if the property [holds](Tested::holds).
    ///
    /// # Panics
    ///
    /// If it does not, or cannot be tried, with everything there is to say: the shrunk faults, the picture, the
    /// path of the plan.
    #[track_caller]
    pub fn check(self, scenarios: impl Strategy<Value = Scenario>) {
        let tried = self.run(scenarios).unwrap_or_else(|error| panic!("{error}"));
        assert!(tried.holds(), "{tried}");
    }

    /// Replays the regressions, then draws cases, until one breaks the property.
    ///
    /// # Errors
    ///
    /// If nothing can be drawn or run. What the lock does wrong is no error: it is in the result.
    pub fn run(self, scenarios: impl Strategy<Value = Scenario>) -> Result<Tested, PropertyError> {
        let draws = Draws::asked_for(self.cases)?;
        let plans = self
            .regressions
            .as_deref()
            .map(|folder| regressions::read_plans(folder, &self.locks.descriptors()));
        let plans = plans.transpose()?.unwrap_or_default();
        let engine = E::from_locks(self.locks.clone());
        let replayed = plans.len() as u64;
        let mut cases: Vec<Case> = plans.iter().map(|(_, plan)| Case::from_plan(plan)).collect();
        draws.add_to(&mut cases, &scenarios, &self.locks.descriptors())?;
        let last = Seed(cases.len() as u64);
        let watched = Watched::new(
            QuietPanics::new(Cases { engine: E::from_locks(self.locks.clone()), cases }),
            Seed(1),
        );
        let watched = Arc::new(watched);
        let tally =
            run_many(&watched, &Many::new(Seed(1)..=last, self.patience), |tally| match self.first(tally) {
                Some(_) => ControlFlow::Break(()),
                None => ControlFlow::Continue(()),
            });
        let cases = watched.inner();
        let stuck = |stuck: Stuck| PropertyError::Stuck {
            cases: stuck.seeds.iter().map(|number| number.0.saturating_sub(replayed)).collect(),
            patience: stuck.patience,
        };
        let tally = tally.map_err(stuck)?;
        let outside = watched.detect(tally.runs, self.patience).map_err(stuck)?;
        let real_time = || {
            cases.hush(|all| {
                nondeterminism::real_time::<E>(&self.locks, &all.case(Seed(1)).scenario, self.patience)
            })
        };
        if let Some(outside) = outside.or_else(real_time) {
            let of_case = |number: Seed| cases.hush(|all| all.case(number).seed);
            return Err(outside.with_seeds(of_case).into());
        }
        let broken = match self.first(&tally) {
            None => None,
            Some(number) => match plans.get(number.0 as usize - 1) {
                Some((path, plan)) => Some(cases.hush(|_| self.still_broken(&engine, path, plan))?),
                None => Some(self.shrink_case(&engine, cases, number, number.0 - replayed)?),
            },
        };
        let mut asked = self.predicates().to_vec();
        // Of what nobody named, only what was seen counts.
        if self.holds.is_none() && tally.grants > 0 {
            asked.retain(|predicate| tally.never_seen(*predicate).is_none());
        }
        let Property { name, lock, .. } = self;
        Ok(Tested { name, lock, asked, replayed, draws: (draws.cases, draws.seed), tally, broken })
    }

    /// The predicates that are looked for in each case.
    fn predicates(&self) -> &[Predicate] {
        self.holds.as_deref().unwrap_or(&Predicate::ALL)
    }

    /// The first case that breaks it.
    fn first(&self, tally: &Tally) -> Option<Seed> {
        let violated = self.predicates().iter().filter_map(|predicate| tally.count(*predicate).first);
        violated.chain(tally.panicked.map(|(first, _)| first)).min()
    }

    /// The gravest thing by which a run breaks it.
    fn target(&self, shows: impl Fn(Target) -> bool) -> Option<Target> {
        let is_asked = |target: &Target| match target {
            Target::Panics => true,
            Target::Violates(predicate) => self.predicates().contains(predicate),
        };
        Target::ALL.into_iter().filter(is_asked).find(|target| shows(*target))
    }

    /// A regression that is still one.
    fn still_broken(&self, engine: &E, path: &Path, plan: &Plan) -> Result<Broken, PropertyError> {
        let prepared = engine.prepare(&plan.scenario)?;
        let run = prepared.judge(plan.seed);
        let target = self.target(|target| target.is_in(&run)).ok_or(Nondeterminism::OtherRun(plan.seed))?;
        let report = prepared.run(plan.seed);
        let mut run = explain_in_time(Arc::new(prepared), report, PATIENCE);
        run.report.replays = Some(plan.compare_replay(&run.report));
        Ok(Broken::from_regression(target, path, run))
    }

    /// A case that was drawn, made as small as it gets.
    fn shrink_case(
        &self,
        engine: &E,
        cases: &QuietPanics<Cases<E>>,
        number: Seed,
        drawn: u64,
    ) -> Result<Broken, PropertyError> {
        let run = cases.judge(number);
        cases.hush(|all| {
            let Case { scenario, seed } = all.case(number);
            let target = self.target(|target| target.is_in(&run)).ok_or(Nondeterminism::OtherRun(*seed))?;
            let example = counterexample(engine, engine, (scenario, *seed, target), &Effort::default());
            let example = example.map_err(|error| match error {
                ShrinkError::NoExample { seed, .. } => Nondeterminism::OtherRun(seed).into(),
                other => PropertyError::Shrink(other),
            })?;
            let plan = self
                .regressions
                .as_deref()
                .map(|folder| regressions::write_plan(folder, target, &example.run.report));
            Ok(Broken::from_case(drawn, example, plan))
        })
    }
}

/// Plans of runs that a lock makes of such scenarios: random faults are drawn, and written out.
///
/// For properties of plans themselves, in a `proptest!` of one's own.
pub fn plans(
    lock: impl LockKind<SimEnv>,
    scenarios: impl Strategy<Value = Scenario> + 'static,
) -> BoxedStrategy<Plan> {
    use doublehold_scenarios::Engine as _;
    let engine = OwnLocks(builtin_locks().with(lock));
    let plan = move |(scenario, seed)| Plan::from_report(&engine.run(&scenario, Seed(seed)));
    (scenarios, cases::seeds()).prop_map(plan).no_shrink().boxed()
}

/// Why a property could not be tried.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PropertyError {
    /// A variable is no number, or one that makes no sense.
    #[error("the variable {name} is `{value}`: set it to {takes}, or unset it")]
    Variable {
        /// Its name.
        name: &'static str,
        /// What it is.
        value: String,
        /// What it may be.
        takes: String,
    },
    /// No cases at all, or more than fit into memory.
    #[error("a property cannot have {cases} cases: use 1 to {}", draws::CASES_MAX)]
    Cases {
        /// How many were asked for.
        cases: u64,
    },
    /// The strategy gives nothing.
    #[error("case {case} cannot be drawn: {cause}; let the strategy refuse less")]
    Draw {
        /// Which case.
        case: u64,
        /// What proptest says.
        cause: String,
    },
    /// What the strategy gave makes no sense, or names another lock.
    #[error("case {case}: {source}")]
    Scenario {
        /// Which case.
        case: u64,
        /// What is wrong.
        source: ScenarioError,
    },
    /// A plan among the regressions cannot be read.
    #[error("{0}\nhint: delete it if the lock has changed so that it cannot mean anything any more")]
    Regression(#[source] ScenarioError),
    /// The folder of regressions cannot be read.
    #[error(
        "cannot read the regressions in `{}`: {source}; `Property::regressions` names another folder",
        folder.display()
    )]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A scenario cannot be run.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// Cases do not come back. Regressions are counted as case 0.
    #[error(
        "no case has ended for {patience:?}, and these have not come back: {cases:?}; the lock loops without ever \
         awaiting anything, or waits for another thread"
    )]
    Stuck {
        /// Which cases.
        cases: Vec<u64>,
        /// For how long nothing ended.
        patience: Duration,
    },
    /// Something from outside the simulation reaches into runs. Its seed is that of the run, not the case's number.
    #[error(transparent)]
    Nondeterminism(#[from] Nondeterminism),
    /// A bad run cannot be shrunk.
    #[error(transparent)]
    Shrink(ShrinkError),
}

impl From<Unreadable> for PropertyError {
    fn from(unreadable: Unreadable) -> PropertyError {
        match unreadable {
            Unreadable::Folder { folder, source } => PropertyError::Folder { folder, source },
            Unreadable::Plan(error) => PropertyError::Regression(error),
        }
    }
}
