//! One's own lock, checked: run in a world from many seeds, and reported with counts, a picture and a plan.
//!
//! The door for a crate of one's own, which needs this package alone: everything a lock, a world and a test name is
//! re-exported here.
//!
//! ```
//! use std::time::Duration;
//!
//! use doublehold::check::{Client, Existing, Guard, MultiplexedConnection, Predicate, Wanted, World, check};
//!
//! /// A lock as it may stand in a service today: it is given back by a plain `DEL`.
//! struct Held {
//!     redis: MultiplexedConnection,
//!     key: String,
//!     token: String,
//! }
//!
//! type Taken = redis::RedisResult<Option<Held>>;
//!
//! async fn take(mut redis: MultiplexedConnection, client: Client, wanted: Wanted) -> Taken {
//!     let (key, token) = (wanted.resource, client.token());
//!     let mut set = redis::cmd("SET");
//!     set.arg(&key).arg(&token).arg("NX").arg("PX").arg(wanted.ttl.as_millis() as u64);
//!     let set: Option<String> = set.query_async(&mut redis).await?;
//!     Ok(set.map(|_| Held { redis, key, token }))
//! }
//!
//! impl Guard for Held {
//!     fn token(&self) -> Vec<u8> {
//!         self.token.clone().into()
//!     }
//!     async fn release(mut self) -> redis::RedisResult<bool> {
//!         redis::cmd("DEL").arg(&self.key).query_async(&mut self.redis).await
//!     }
//! }
//!
//! // Work that takes longer than the lease: by the time c1 gives the lock back, c2 has it.
//! let world = World::new("long work")
//!     .nodes(["A"])
//!     .clients(2, ["acquire", "work 8s..14s", "release"])
//!     .ttl(Duration::from_secs(10));
//! let checked = check(&world, Existing::on_one_node("mine", take)).seeds(1..=50).no_files().run()?;
//! assert!(checked.count(Predicate::WR).violated > 0, "{checked}");
//! # Ok::<(), doublehold::check::CheckError>(())
//! ```
//!
//! Decision: "You test your own lock in a crate of your own" (docs/decisions/locks.md).

mod beside;
mod checked;
mod endless;
mod error;
mod kept;
pub(crate) mod names;
mod seeds;
#[cfg(test)]
mod tests;
mod white_box;

use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fs, thread};

pub use doublehold_beside::BesideOutcome;
use doublehold_diagnosis::Explained;
use doublehold_diagnosis::counterexample::{counterexample, explain_in_time};
pub use doublehold_history::{FencingCheck, Predicate};
pub use doublehold_lockimpl::{
    Acquired, BootTime, BoxLock, Choice, Clock, ConfigError, Deadline, DeadlinePassed, Descriptor, Doubt,
    Drift, Env, ErrorReply, Existing, Extended, Facts, Form, Grant, Guard, Lock, LockConfig, LockKind,
    MonotonicTime, NodeName, Nodes, Ratio, RedisRs, Refusal, Registry, Released, Sends, Switches, Task,
    Timing, Token, WallTime, Wanted,
};
pub use doublehold_scenarios::build::World;
pub use doublehold_scenarios::fault::{Effect, Fault, Names, Way};
use doublehold_scenarios::plan::Plan;
pub use doublehold_scenarios::report::white_box::Rule;
pub use doublehold_scenarios::scenario::{DelayLaw, HostIndex, Persistence, Probability, RatePpb, Step};
pub use doublehold_scenarios::weather::{RandomFault, Sign, Weather, preset};
pub use doublehold_scenarios::when::{Event, Mark, When};
use doublehold_scenarios::{Futures, OwnLocks, Prepared, Searchable, Stepped, TakesLocks, builtin_locks};
pub use doublehold_scenarios::{PrepareError, Report, Scenario, ScenarioError, Seed, SimEnv};
pub use doublehold_search::many::{Count, Tally};
use doublehold_search::many::{Many, run_many};
use doublehold_search::panic_hook::QuietPanics;
pub use doublehold_search::shrink::{Effort, KeepNodes, ShrinkError, Shrunk, Target};
pub use redis::aio::MultiplexedConnection;

pub use self::beside::{BesideCheck, CheckedBeside};
pub use self::checked::{BadRun, Checked};
pub use self::error::CheckError;
pub use self::kept::Kept;
use self::seeds::AskedFor;
pub use self::white_box::WhiteBox;
use crate::findings::{self, ReplayHints};
use crate::marks::Marked;
pub use crate::nondeterminism::Nondeterminism;
use crate::nondeterminism::{self, Watched};
use crate::regressions;
use doublehold_render::style::Style;
use doublehold_render::text;

/// A client's machine in the simulated world.
pub type Client = doublehold_lockimpl::Client<SimEnv>;

/// How long the machine may be busy without any run coming to its end.
const PATIENCE: Duration = Duration::from_secs(60);

/// Begins a check of `lock` in `world`: of 1,000 seeds, if [`Check::seeds`] says nothing else.
pub fn check(world: &World, lock: impl LockKind<SimEnv>) -> Check {
    check_on(world, lock)
}

/// Begins the same check on another engine than the kernel: `check_on::<Other>(&world, lock)`.
pub fn check_on<E: TakesLocks>(world: &World, lock: impl LockKind<SimEnv>) -> Check<E> {
    let name = lock.descriptor().name;
    let locks = builtin_locks().with(lock);
    Check {
        engine: PhantomData,
        world: world.clone(),
        lock: name,
        locks,
        seeds: Seed(1)..=Seed(1000),
        looking_for: Predicate::ALL.to_vec(),
        files: Some(Path::new("target").join("doublehold")),
        regressions: Some(regressions::folder(names_of(world.name(), name).iter().map(String::as_str))),
        patience: PATIENCE,
        effort: Effort::default(),
        rules: Vec::new(),
        marks: Vec::new(),
    }
}

/// Runs again what a check wrote down, with the lock it is about.
///
/// [`Report::replays`] says whether it was the same run. It is none any more once the lock's code has changed.
///
/// # Errors
///
/// If the file is no plan, or one of another lock.
pub fn replay(plan: impl AsRef<Path>, lock: impl LockKind<SimEnv>) -> Result<Report, CheckError> {
    replay_on::<OwnLocks>(plan, lock)
}

/// Runs it again on another engine than the kernel.
///
/// # Errors
///
/// If the file is no plan, or one of another lock or engine.
pub fn replay_on<E>(plan: impl AsRef<Path>, lock: impl LockKind<SimEnv>) -> Result<Report, CheckError>
where
    E: TakesLocks<Prepared: Searchable + Futures>,
{
    let locks = builtin_locks().with(lock);
    let plan = Plan::read_with(&plan.as_ref().to_string_lossy(), locks.descriptors())?;
    let engine = E::from_locks(locks);
    if engine.name() != plan.engine {
        return Err(CheckError::OtherEngine { of: plan.engine, is: engine.name() });
    }
    let prepared = QuietPanics::new(engine.prepare(&plan.scenario)?);
    let report = prepared.run(plan.seed);
    let replays = Some(plan.compare_replay(&report));
    Ok(Report { replays, ..report })
}

/// A check that has not run yet.
#[derive(Clone, Debug)]
#[must_use = "nothing is checked until it is run"]
pub struct Check<E: TakesLocks = OwnLocks> {
    engine: PhantomData<fn() -> E>,
    world: World,
    lock: &'static str,
    locks: Registry<SimEnv>,
    seeds: RangeInclusive<Seed>,
    looking_for: Vec<Predicate>,
    files: Option<PathBuf>,
    regressions: Option<PathBuf>,
    patience: Duration,
    effort: Effort,
    rules: Vec<Rule>,
    marks: Vec<String>,
}

impl<E: TakesLocks> Check<E> {
    /// The seeds to run from, by their numbers.
    pub fn seeds(self, seeds: RangeInclusive<u64>) -> Check<E> {
        Check { seeds: Seed(*seeds.start())..=Seed(*seeds.end()), ..self }
    }

    /// What a bad run has to violate to be shown; anything if nothing is said. All is counted in any case.
    pub fn looking_for(self, predicates: &[Predicate]) -> Check<E> {
        Check { looking_for: predicates.to_vec(), ..self }
    }

    /// The white-box rules without which the check does not pass. All are asked in any case, of a fifth of the runs and
    /// of 200 at most, and what is broken is shown.
    pub fn looking_for_rules(self, rules: &[Rule]) -> Check<E> {
        Check { rules: rules.to_vec(), ..self }
    }

    /// The marks that some run has to reach ([`crate::reached`]). A check that never came there has shown nothing about
    /// them, and does not pass.
    pub fn reaches(self, marks: &[&str]) -> Check<E> {
        Check { marks: marks.iter().map(|mark| (*mark).to_owned()).collect(), ..self }
    }

    /// Where picture and plan of the first bad run go: `target/doublehold` unless this says otherwise. The files are
    /// named after the test, the world, the lock and the seed, long names cut; checks that share all four overwrite
    /// each other's, so give worlds of one test different names, or folders.
    pub fn files(self, folder: impl Into<PathBuf>) -> Check<E> {
        Check { files: Some(folder.into()), ..self }
    }

    /// Writes no files, and keeps no plans.
    pub fn no_files(self) -> Check<E> {
        Check { files: None, regressions: None, ..self }
    }

    /// Where plans are kept: that of a violation goes there if [`Checked::assert_holds`] fails for it, and whatever
    /// `.plan` is there is replayed before any seed. Put it under version control. Unless this says otherwise it is
    /// `doublehold-regressions/` in the package, and in it a folder named after the test, the world and the lock.
    pub fn regressions(self, folder: impl Into<PathBuf>) -> Check<E> {
        Check { regressions: Some(folder.into()), ..self }
    }

    /// Replays no plans and keeps none.
    pub fn no_regressions(self) -> Check<E> {
        Check { regressions: None, ..self }
    }

    /// How long no run may end, in real time, until it is said that the lock's code does not come back. A minute.
    pub fn patience(self, patience: Duration) -> Check<E> {
        Check { patience, ..self }
    }

    /// Sets the effort of shrinking what is found in weather: its limit of runs, and the nodes that may go. Nodes of a
    /// lock that takes a quorum of them stay unless this says otherwise.
    pub fn effort(self, effort: Effort) -> Check<E> {
        Check { effort, ..self }
    }
}

impl<E: TakesLocks<Prepared: Stepped + Futures>> Check<E> {
    /// Runs every seed. In a world with weather the bad run that is shown is shrunk before: what it did not need is
    /// gone, faults and clients first, and its plan is a scenario of its own. Of panics at one place in the lock's code
    /// the first is shown; the result counts them.
    ///
    /// Variables say from outside what is run: `DOUBLEHOLD_SEED=77` that one seed alone, as the last line of what a
    /// check prints says; `DOUBLEHOLD_SEEDS=5000` so many, and `DOUBLEHOLD_SEEDS=1..=5000` these; `DOUBLEHOLD_TIME=60s`
    /// seeds until so much real time has passed, in each check. Set one of them.
    ///
    /// # Errors
    ///
    /// If the world makes no sense, the lock's code does not come back, or a file cannot be written. If something from
    /// outside reaches into runs, such as real time, since then no count means anything: a few runs are made twice
    /// for that, no run may wait, and a little world with a lease of 100 ms is run with and without real time that
    /// passes, which takes 0.2 s, or 0.5 s with a lock that extends (with one that counts in whole seconds ten times as
    /// long). Not seen is a real clock that is compared with a lease of the lock's own, whatever the world says, or
    /// where one client that takes the lock, works, extends and gives back does not come. A mistake of the lock is not
    /// an error: it is in the result.
    pub fn run(self) -> Result<Checked, CheckError> {
        self.refuse_family()?;
        let scenario = self.world.scenario(self.lock, self.locks.descriptors())?;
        let asked = AskedFor::from_environment()?;
        let seeds = asked.seeds(&self.seeds);
        // Whoever wants to see one run wants to see nothing else.
        let mut kept = if asked.one().is_some() { Kept::default() } else { Kept::replay(&self)? };
        let quiet = QuietPanics::new(E::from_locks(self.locks.clone()).prepare(&scenario)?);
        let watched = Arc::new(Watched::new(quiet, *seeds.start()));
        if let Some(tally) = endless::first_runs(&watched, &seeds, self.patience)? {
            return Ok(self.endless(watched.inner(), &seeds, tally, kept));
        }
        let many = Many::new(seeds.clone(), self.patience);
        let marked = Arc::new(Marked::new(watched.clone()));
        let tally = run_many(&marked, &many, asked.until())?;
        let seeds = seeds::first_of(&seeds, tally.runs);
        let prepared = watched.inner();
        let outside = watched.detect(tally.runs, self.patience)?;
        let real_time =
            || prepared.hush(|_| nondeterminism::real_time::<E>(&self.locks, &scenario, self.patience));
        outside.or_else(real_time).map_or(Ok(()), Err)?;
        let white_box =
            self.white_box(&watched, &marked, (*seeds.start(), tally.runs), asked.one().is_some())?;
        let undecided = endless::first_undecided(&tally);
        let endless = undecided.and_then(|seed| endless::waits(self.lock, &prepared.run(seed)));
        if scenario.weather.is_some()
            && asked.one().is_none()
            && let Some((target, seed)) = self.gravest(&tally)
        {
            let bad = prepared.hush(|_| self.counterexample(&scenario, seed, target))?;
            kept.found(&bad.report, |target| Some(prepared.run(self.first(&tally, target)?)));
            let world = self.world.name().to_owned();
            let bad = Some(bad);
            return Ok(Checked { world, lock: self.lock, seeds, tally, bad, white_box, endless, kept });
        }
        let first = Target::ALL.into_iter().filter_map(|target| self.first(&tally, target)).min();
        let shown = first.or(asked.one());
        let explained = |seed| {
            let report = prepared.run(seed);
            prepared.hush(|_| explain_in_time(prepared.share_prepared(), report, self.patience))
        };
        let bad = shown.map(|seed| self.bad_run(explained(seed))).transpose()?;
        if let Some(bad) = &bad
            && (prepared.judge(bad.report.seed).trace_hash != bad.report.trace_hash
                || first == Some(bad.report.seed) && !is_bad(&bad.report))
        {
            return Err(Nondeterminism::OtherRun(bad.report.seed).into());
        }
        if let Some(bad) = &bad {
            kept.found(&bad.report, |target| Some(prepared.run(self.first(&tally, target)?)));
        }
        let world = self.world.name().to_owned();
        Ok(Checked { world, lock: self.lock, seeds, tally, bad, white_box, endless, kept })
    }

    /// The result of a check whose first runs did not end.
    fn endless(
        &self,
        prepared: &impl Prepared,
        seeds: &RangeInclusive<Seed>,
        tally: Tally,
        kept: Kept,
    ) -> Checked {
        let run = seeds::first_of(seeds, tally.runs);
        let first = *run.start();
        let waits = endless::waits(self.lock, &prepared.run(first));
        let waits = waits.unwrap_or_else(|| format!("the run from seed {first} used up its limits"));
        let endless = Some(format!(
            "{waits}\n\n  no more seeds were run, since each of these used up the limits of its world\n\nreplay: {}",
            replay_line(first)
        ));
        Checked {
            world: self.world.name().to_owned(),
            lock: self.lock,
            seeds: run,
            tally,
            bad: None,
            white_box: WhiteBox::default(),
            endless,
            kept,
        }
    }

    /// The gravest of what is looked for, and the first seed that shows it.
    fn gravest(&self, tally: &Tally) -> Option<(Target, Seed)> {
        Target::ALL.into_iter().find_map(|target| Some((target, self.first(tally, target)?)))
    }

    /// The first seed that shows this, if it is looked for.
    fn first(&self, tally: &Tally, target: Target) -> Option<Seed> {
        match target {
            Target::Panics => tally.panicked.map(|(seed, _)| seed),
            Target::Violates(predicate) if self.looking_for.contains(&predicate) => {
                tally.count(predicate).first
            }
            Target::Violates(_) => None,
        }
    }

    fn counterexample(&self, scenario: &Scenario, seed: Seed, target: Target) -> Result<BadRun, CheckError> {
        let engine = E::from_locks(self.locks.clone());
        let example = counterexample(&engine, &engine, (scenario, seed, target), &self.effort);
        let example = example.map_err(|error| match error {
            ShrinkError::NoExample { seed, .. } => Nondeterminism::OtherRun(seed).into(),
            other => CheckError::Shrink(other),
        })?;
        let words = findings::words_of(&example, &ReplayHints::default(), Style::DEFAULT_WIDTH);
        let BadRun { report, text, files, .. } = self.bad_run(example.run)?;
        Ok(BadRun { report, text: format!("{words}\n{text}"), files, shrunk: Some(example.shrunk) })
    }

    /// `test.world.lock.seed`: tests run at the same time, and may give the same names to different things.
    fn stem(&self, seed: Seed) -> String {
        let names = names_of(self.world.name(), self.lock);
        format!("{}.{seed}", names::join_names(names.iter().map(String::as_str)))
    }

    fn bad_run(&self, run: Explained) -> Result<BadRun, CheckError> {
        let replay = replay_line(run.report.seed);
        let text = text::render_run(&run, &replay, &Style::UNICODE);
        let report = run.report;
        let mut files = Vec::new();
        if let Some(folder) = &self.files {
            let stem = folder.join(self.stem(report.seed));
            let plan =
                Plan::from_report(&report).to_toml().map_err(|error| CheckError::Plan(error.to_string()))?;
            for (ending, text) in [("txt", &text), ("plan", &plan)] {
                // A seed stands after the last dot of the stem, so `with_extension` would take it off.
                let mut path = stem.clone().into_os_string();
                path.push(format!(".{ending}"));
                files.push(write(Path::new(&path), text)?);
            }
        }
        Ok(BadRun { report, text, files, shrunk: None })
    }
}

fn write(path: &Path, text: &str) -> Result<PathBuf, CheckError> {
    let failed = |source| CheckError::File { path: path.to_owned(), source };
    path.parent().map_or(Ok(()), fs::create_dir_all).map_err(failed)?;
    fs::write(path, text).map_err(failed)?;
    Ok(path.to_owned())
}

/// Whether a run shows anything bad: that of the first bad seed does, unless it was another run the second time.
fn is_bad(report: &Report) -> bool {
    report.panicked.is_some() || report.verdicts.iter().any(|(_, verdict)| verdict.as_str() == "violated")
}

/// The names of a check's files: those of its test, its world and its lock.
fn names_of(world: &str, lock: &str) -> Vec<String> {
    let test = test().unwrap_or_default();
    let modules = test.split("::").filter(|name| !name.is_empty());
    modules.chain([world, lock]).map(str::to_owned).collect()
}

/// The test that asks. Tests run on threads that are named after them.
fn test() -> Option<String> {
    thread::current().name().filter(|name| *name != "main").map(str::to_owned)
}

/// How to see one run again.
fn replay_line(seed: Seed) -> String {
    let setting = seeds::setting(seed);
    match test() {
        Some(test) => format!("{setting} cargo test {test} -- --nocapture"),
        None => format!("run this program again with {setting}"),
    }
}
