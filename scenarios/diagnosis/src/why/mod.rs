//! Why a run came out as it did: how likely it was to, as it went along, and what would have changed it.
//!
//! **As it went along.** From points of the run many futures are made: the same past, everything random drawn anew
//! after it, and none of the faults that had not struck by then. The share of futures that still come out the same is
//! what had been decided by that point. If it jumps, the events in between are the cause.
//!
//! **What would have changed it.** The whole run is made again without one fault, without one client, or with one thing
//! about the lock, the nodes or the resource changed. If the run from its own seed violates no more, that proves
//! little: a change that only makes a request take longer moves everything, and the fault misses its moment. So such a
//! change is tried again in [`TRIALS`] runs with faults moved by a little and from other seeds (`moves.rs` says how),
//! and so is the scenario as it is.
//!
//! All are questions to runs, not to a model: an answer is a count of runs, and whoever prints it does the arithmetic
//! on what it is worth. Results from the run's own seed go through one engine, and the many through another. A cause
//! that two things share (either would have done) is not removed by any single change; then nothing listed removes it.
//!
//! Decision: "In `why`, a future has only the faults that had already struck" (docs/decisions/search.md).

mod changes;
mod events;
mod moves;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::time::Duration;

pub use changes::{Caveat, Change};
use doublehold_history::{Predicate, TrueNs, Verdict};
use doublehold_scenarios::Seed;
use doublehold_scenarios::model::fault::Fault;
use doublehold_scenarios::model::scenario::Scenario;
use doublehold_scenarios::pool::each;
use doublehold_scenarios::report::{Report, Summary};
use doublehold_scenarios::{Engine, Futures, PrepareError, Prepared, Searchable};
use moves::Trial;

use doublehold_search::shrink::Target;

/// How many futures each point has.
pub const FUTURES: u64 = 100;
/// In how many runs a change is tried that the run's own seed does not survive. No violation in so many is a bound of
/// 1.5 % at 95 %, and a dozen such changes take about a second.
pub const TRIALS: u64 = 200;

/// What was found out about one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    /// What the run does.
    pub target: Target,
    /// From the beginning to the end of the run.
    pub points: Vec<Point>,
    /// The counts of the scenario as it is, in the runs that changes are tried in.
    pub as_it_is: TrialCounts,
    /// What was changed, and what came of it.
    pub changes: Vec<TriedChange>,
}

/// A point of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// True time.
    pub at: TrueNs,
    /// What happened since the point before.
    pub happened: Vec<String>,
    /// How many of [`FUTURES`] futures came out the same.
    pub same: u64,
}

/// A change, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriedChange {
    /// What was changed.
    pub what: String,
    /// The reason why the answer may mean something else than it seems to, if there is one.
    pub caveat: Option<Caveat>,
    /// The result of the change.
    pub came: ChangeOutcome,
}

/// The result of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeOutcome {
    /// The run from its own seed still does it.
    Still,
    /// It does not, and nobody is granted the lock in it any more, which prevents everything.
    NoLock,
    /// It does not, and this is what the runs came to in which the change was tried again.
    Gone(TrialCounts),
}

/// Of [`TRIALS`] runs, with faults moved by a little and from other seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrialCounts {
    /// The number of runs that do it.
    pub violated: u64,
    /// Of how many nobody can say.
    pub undecided: u64,
    /// In how many nobody is granted the lock.
    pub without_grant: u64,
    /// In how many of the same trials the scenario as it is does it, and this one as well.
    pub both: u64,
}

/// Why there is nothing to tell.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WhyError {
    /// The run violates nothing.
    #[error("the run of `{name}` from seed {seed} violates nothing that was asked about")]
    NothingViolated {
        /// The scenario.
        name: String,
        /// The seed.
        seed: Seed,
    },
    /// The scenario cannot be run.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
}

/// Asks why the run of a scenario from a seed does what it does: `target`, or the gravest thing it violates. The run
/// itself goes through `engine`, the many runs that a change is tried in through `many`.
///
/// # Errors
///
/// If the run does not do it, or cannot be made.
///
/// ```
/// use doublehold_scenarios::{LeanEngine, Seed, SimEngine, catalog};
/// use doublehold_diagnosis::why::why;
///
/// let scenario = catalog::load("clock-jump", &[])?;
/// let threads = std::thread::available_parallelism()?;
/// let why = why((&SimEngine, &LeanEngine), &scenario, Seed(1), None, threads)?;
/// let step = why.points.iter().position(|point| point.happened.join("").contains("wall clock stepped by +10 s"));
/// let step = step.expect("it struck");
/// assert_eq!((why.points[step - 1].same, why.points[step].same), (0, 100));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn why<E, M>(
    (engine, many): (&E, &M),
    scenario: &Scenario,
    seed: Seed,
    target: Option<Target>,
    jobs: NonZeroUsize,
) -> Result<Why, WhyError>
where
    E: Engine<Prepared: Futures> + Sync,
    M: Engine<Prepared: Searchable> + Sync,
{
    let report = engine.prepare(scenario)?.run(seed);
    let prepared = engine.prepare(&report.scenario)?;
    let run = prepared.judge(seed);
    let shown = target.map_or_else(|| Target::find_in(&run), |target| target.is_in(&run).then_some(target));
    let nothing = || WhyError::NothingViolated { name: scenario.name.clone(), seed };
    let target = shown.ok_or_else(nothing)?;
    let points = points(&prepared, &report, target, jobs);
    let asked = Question::new(many, &report, target)?;
    let all = changes::all(&asked.scenario, target, &engine.locks());
    // A change that could not be written in a file makes no sense here, and is left out.
    let all: Vec<Change> = all.into_iter().filter_map(|change| check_change(change, engine)).collect();
    let own = each(&all, jobs, |change| Some(engine.prepare(&change.scenario).ok()?.judge(seed)));
    let as_it_is = asked.outcomes(&asked.scenario, jobs)?;
    let changed = |(change, run): (Change, Option<Summary>)| {
        let came = asked.try_change(&change, &run?, &as_it_is, jobs)?;
        Some(TriedChange { what: change.what, caveat: change.caveat, came })
    };
    let changes = all.into_iter().zip(own).filter_map(changed).collect();
    Ok(Why { target, points, as_it_is: TrialCounts::from_outcomes(&as_it_is, &as_it_is), changes })
}

fn check_change<E: Engine>(change: Change, engine: &E) -> Option<Change> {
    let scenario = change.scenario.validate_with(engine.locks()).ok()?;
    Some(Change { scenario, ..change })
}

/// The points of a run, and how many of their futures come out the same.
fn points(prepared: &impl Futures, report: &Report, target: Target, jobs: NonZeroUsize) -> Vec<Point> {
    let moments = events::moments(report);
    let same = each(&moments, jobs, |moment| {
        let struck = faults_by(report, moment);
        let past = prepared.with_faults(struck).expect("the faults are the scenario's");
        let future = |future: Seed| past.judge_future(report.seed, moment.future_start(), future);
        seeds(FUTURES).filter(|seed| target.is_in(&future(*seed))).count() as u64
    });
    let point =
        |(moment, same): (events::Moment, u64)| Point { at: moment.at, happened: moment.happened, same };
    moments.into_iter().zip(same).map(point).collect()
}

/// The question and the trials in which changes are tried.
struct Question<'a, M> {
    many: &'a M,
    target: Target,
    /// The scenario that was run, without expectations, and with faults that may miss their moment: a change or a move
    /// makes some miss it, and a run would then be undecided for that alone.
    scenario: Scenario,
    trials: Vec<Trial>,
    /// The longest that a client of a trial waits for the lock, unless waiting is what is asked about.
    patience: Option<Duration>,
}

/// The result of one trial.
struct Outcome {
    violated: bool,
    undecided: bool,
    granted: bool,
}

impl<'a, M: Engine<Prepared: Searchable> + Sync> Question<'a, M> {
    fn new(many: &'a M, report: &Report, target: Target) -> Result<Self, WhyError> {
        let faults: Vec<Fault> = report.scenario.faults.iter().cloned().map(Fault::optional).collect();
        let trials = moves::trials(report, &faults, seeds(TRIALS));
        let is_about_waits = target == Target::Violates(Predicate::LV);
        let patience = (!is_about_waits).then(|| moves::patience(report));
        let scenario = Scenario { faults, expect: BTreeMap::new(), ..Scenario::clone(&report.scenario) };
        Ok(Question { many, target, scenario, trials, patience })
    }

    /// The result of a change whose own run is `own`; `None` if it cannot be run.
    fn try_change(
        &self,
        change: &Change,
        own: &Summary,
        as_it_is: &[Outcome],
        jobs: NonZeroUsize,
    ) -> Option<ChangeOutcome> {
        if self.target.is_in(own) {
            return Some(ChangeOutcome::Still);
        }
        if own.grants.count == 0 {
            return Some(ChangeOutcome::NoLock);
        }
        let outcomes = self.outcomes(&change.scenario, jobs).ok()?;
        Some(ChangeOutcome::Gone(TrialCounts::from_outcomes(&outcomes, as_it_is)))
    }

    /// The scenario with clients that give up before long. Where delays outlast a lock's timeouts, or a cut lasts, they
    /// would ask in vain for minutes, which took most of the time of a question.
    fn limit_patience(&self, scenario: &Scenario) -> Scenario {
        let mut hurried = scenario.clone();
        if let Some(patience) = self.patience {
            hurried.clients.iter_mut().for_each(|it| it.give_up_after = it.give_up_after.min(patience));
        }
        hurried
    }

    fn outcomes(&self, scenario: &Scenario, jobs: NonZeroUsize) -> Result<Vec<Outcome>, PrepareError> {
        let scenario = &self.limit_patience(scenario);
        let prepared = self.many.prepare(scenario)?;
        let undecided = |run: &Summary| match self.target {
            Target::Violates(predicate) => matches!(run.verdicts.get(predicate), Verdict::Inconclusive(_)),
            Target::Panics => false,
        };
        let outcome = |trial: &Trial| {
            // Of the scenario and not of its preparation, in which deaths last as long as `restart_after` says.
            let tried = trial.apply(scenario);
            let run = match tried.links == scenario.links {
                true => prepared
                    .with_faults(tried.faults)
                    .expect("a move leaves hosts as they are")
                    .judge(trial.seed),
                false => self.many.prepare(&tried)?.judge(trial.seed),
            };
            Ok(Outcome {
                violated: self.target.is_in(&run),
                undecided: undecided(&run),
                granted: run.grants.count > 0,
            })
        };
        each(&self.trials, jobs, outcome).into_iter().collect()
    }
}

impl TrialCounts {
    fn from_outcomes(outcomes: &[Outcome], as_it_is: &[Outcome]) -> TrialCounts {
        let count = |is: fn(&Outcome) -> bool| outcomes.iter().filter(|outcome| is(outcome)).count() as u64;
        let pairs = outcomes.iter().zip(as_it_is);
        TrialCounts {
            violated: count(|it| it.violated),
            undecided: count(|it| it.undecided),
            without_grant: count(|it| !it.granted),
            both: pairs.filter(|(it, was)| it.violated && was.violated).count() as u64,
        }
    }
}

/// Seeds far from those that people begin with, whose past they would repeat.
fn seeds(count: u64) -> impl Iterator<Item = Seed> {
    (1..=count).map(|number| Seed(1_000_000 + number))
}

/// The faults that had struck by a moment.
fn faults_by(report: &Report, moment: &events::Moment) -> Vec<Fault> {
    let had_struck = |fault: &&Fault| {
        let from = moves::first_strike(report, fault);
        from.is_some_and(|from| if moment.faults_included { from <= moment.at } else { from < moment.at })
    };
    report.scenario.faults.iter().filter(had_struck).cloned().collect()
}

#[cfg(test)]
mod tests {

    use doublehold_scenarios::LeanEngine;
    use doublehold_scenarios::catalog;
    use doublehold_scenarios::report::Grants;

    use super::*;
    use doublehold_search::shrink::remove_client;

    #[test]
    fn clients_of_trials_give_up_before_long_unless_waiting_is_asked_about() {
        let report = LeanEngine.run(&catalog::load("clock-jump", &[]).unwrap(), 1);
        let waits = |scenario: &Scenario| -> Vec<Duration> {
            scenario.clients.iter().map(|client| client.give_up_after).collect()
        };
        let own = waits(&report.scenario);
        let hurried = |predicate| {
            let asked = Question::new(&LeanEngine, &report, Target::Violates(predicate)).unwrap();
            waits(&asked.limit_patience(&report.scenario))
        };
        assert!(own.iter().all(|wait| *wait > moves::patience(&report)), "{own:?}");
        assert_eq!(hurried(Predicate::P2), vec![moves::patience(&report); own.len()]);
        assert_eq!(hurried(Predicate::LV), own);
    }

    #[test]
    fn of_the_faults_of_an_instant_those_have_struck_that_the_moment_includes() {
        let report = LeanEngine.run(&catalog::load("clock-jump", &[]).unwrap(), 1);
        let (cut, step) = (&report.scenario.faults[0], &report.scenario.faults[1]);
        let at = moves::first_strike(&report, step).expect("it strikes");
        let by = |at: u64, faults_included: bool| {
            let moment = events::Moment { at: TrueNs(at), faults_included, happened: Vec::new() };
            faults_by(&report, &moment)
        };
        assert_eq!(by(0, false), []);
        assert_eq!(by(at.0 - 1, true), std::slice::from_ref(cut));
        assert_eq!(by(at.0, false), std::slice::from_ref(cut));
        assert_eq!(by(at.0, true), [cut.clone(), step.clone()]);
        assert_eq!(by(at.0 + 1, false), [cut.clone(), step.clone()]);
        let mut never = report.clone();
        never.faults.iter_mut().filter(|it| it.fault == *cut).for_each(|it| it.from = None);
        let moment = events::Moment { at, faults_included: true, happened: Vec::new() };
        assert_eq!(faults_by(&never, &moment), std::slice::from_ref(step));
    }

    #[test]
    fn trials_are_counted_one_by_one_and_with_those_of_the_scenario_as_it_is() {
        let outcome = |it: [u8; 3]| {
            let [violated, undecided, granted] = it.map(|it| it == 1);
            Outcome { violated, undecided, granted }
        };
        let was = [[1, 0, 1], [1, 0, 1], [0, 0, 1], [0, 1, 0], [1, 0, 1]].map(outcome);
        let is = [[1, 0, 1], [0, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]].map(outcome);
        let expected = TrialCounts { violated: 2, undecided: 2, without_grant: 3, both: 1 };
        assert_eq!(TrialCounts::from_outcomes(&is, &was), expected);
    }

    /// Each trial prepared and run by itself, of a client that is granted the lock once at most; it never panics, which
    /// is known of every run.
    #[test]
    fn outcomes_are_those_of_each_trial() {
        let report = LeanEngine.run(&catalog::load("lease-pause", &[]).unwrap(), 1);
        for target in [Target::Violates(Predicate::LV), Target::Panics] {
            let asked = Question::new(&LeanEngine, &report, target).unwrap();
            let mut alone =
                remove_client(&asked.scenario, report.scenario.clients[1].host).expect("no thread");
            // Shorter than a run is: in most nobody can say when the lock is obtained again.
            alone.limits.time = Duration::from_secs(11);
            let outcomes = asked.outcomes(&alone, NonZeroUsize::MIN).unwrap();
            let (mut once, mut open) = (0, 0);
            for (trial, outcome) in asked.trials.iter().zip(&outcomes) {
                let tried = trial.apply(&asked.limit_patience(&alone));
                let run = LeanEngine.prepare(&tried).unwrap().judge(trial.seed);
                let is_undecided =
                    |predicate| matches!(run.verdicts.get(predicate), Verdict::Inconclusive(_));
                let is_open = target != Target::Panics && is_undecided(Predicate::LV);
                let expected = (target.is_in(&run), is_open, run.grants.count > 0);
                assert_eq!((outcome.violated, outcome.undecided, outcome.granted), expected);
                once += u32::from(run.grants.count == 1);
                open += u32::from(is_undecided(Predicate::LV));
            }
            assert!(once > 10 && open > 10, "{once} and {open} of {}", outcomes.len());
        }
    }

    #[test]
    fn a_run_that_does_it_still_does_it_and_one_in_which_nobody_has_the_lock_proves_nothing() {
        let prepared = LeanEngine.prepare(&catalog::load("clock-jump", &[]).unwrap()).unwrap();
        let (report, run) = (prepared.run(1), prepared.judge(1));
        let change =
            Change { what: String::new(), scenario: Scenario::clone(&report.scenario), caveat: None };
        let asked = |predicate| Question::new(&LeanEngine, &report, Target::Violates(predicate)).unwrap();
        let jobs = NonZeroUsize::MIN;
        assert_eq!(asked(Predicate::P2).try_change(&change, &run, &[], jobs), Some(ChangeOutcome::Still));
        let nobody = Summary { grants: Grants { count: 0, refusal: None }, ..run };
        assert_eq!(asked(Predicate::WR).try_change(&change, &nobody, &[], jobs), Some(ChangeOutcome::NoLock));
        let scenario = asked(Predicate::P2).scenario;
        assert!(scenario.expect.is_empty() && scenario.faults.iter().all(|fault| fault.optional));
        assert!(!report.scenario.faults.iter().any(|fault| fault.optional), "or this says nothing");
    }
}
