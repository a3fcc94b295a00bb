//! Your lock beside a reference: what only yours does.
//!
//! Every lock that expires is overtaken by a long pause, and a check that says so of yours has said nothing of yours. A
//! *reference* is a lock that you would accept: the repaired form, the version in production, or one of ours. Both run
//! from the same seeds, in the same worlds, under the same faults, and each rule is asked where the reference keeps it.
//!
//! [`Check::beside`](crate::check::Check::beside) is the door for your own lock. This module has what that and the
//! program share: the search ([`search`]), and its result in words ([`BesideFindings`]).
//!
//! Does not prove that a lock is right: the reference may have the same bug.

mod json;
mod kept;
#[cfg(test)]
mod tests;
mod text;

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use doublehold_beside::{
    Beside, BesideComparison, BesideError, BesideExample, BesideOutcome, CountedPairs, Difference,
    FUTURES_MIN, Inside, LockSide, PAIRS_ENOUGH, PairBudget, Survey, WeatherKinds,
};
use doublehold_diagnosis::Explained;
use doublehold_diagnosis::counterexample::explain_in_time;
use doublehold_history::Predicate;
use doublehold_scenarios::{Engine, Futures, Prepared as _, Report, Seed, Stepped};

use crate::findings::ReplayHints;

/// How long examples may be looked for, once pairs are counted.
const EXAMPLES: Duration = Duration::from_secs(25);
/// How many predicates get an example.
const EXAMPLES_MAX: usize = 3;

/// What to compare, and how long.
#[derive(Clone, Debug)]
pub struct Question {
    /// The predicates to compare.
    pub asked: Vec<Predicate>,
    /// The predicates that the reference must keep without faults.
    pub calm: Vec<Predicate>,
    /// How many pairs to make at most.
    pub pairs: Option<u64>,
    /// How long to make them, in real time; the survey counts.
    pub lasting: Option<Duration>,
    /// The number of threads.
    pub jobs: NonZeroUsize,
    /// How long no run may end, in real time.
    pub patience: Duration,
    /// The first seed.
    pub first: Seed,
    /// Whether to go on when something is told apart.
    pub keeps_going: bool,
    /// Where what the reference keeps is written, and known from; nowhere if it is to be found anew.
    pub folder: Option<PathBuf>,
}

/// How far a search is.
#[derive(Debug)]
pub enum Stage<'a> {
    /// The reference runs by itself.
    Surveying,
    /// Pairs are made.
    Counting(&'a CountedPairs),
    /// An example is made small.
    Example(Predicate, Option<&'a BesideExample>),
}

/// What a search came to.
#[derive(Debug)]
pub struct SearchedPairs {
    /// Where the reference keeps what.
    pub survey: Survey,
    /// How long it took to find out, in real time.
    pub survey_took: Duration,
    /// What pairs came to.
    pub counted: CountedPairs,
    /// What was seen inside both locks.
    pub inside: Inside,
    /// All of it, compared.
    pub comparison: BesideComparison,
    /// What only the first lock does, the first of them to be shown first.
    pub examples: Vec<BesideExample>,
}

/// Compares two locks: surveys the reference, counts pairs, and makes examples through the engines of `real`.
///
/// `tell` is told of each step, and ends the search by breaking. What was found until then is the result.
///
/// # Errors
///
/// If the reference breaks without faults what it must keep, or a lock's code does not come back.
pub fn search<A, B, R, S>(
    beside: &Beside<A, B>,
    real: (&R, &LockSide<S>),
    question: &Question,
    mut tell: impl FnMut(Stage<'_>) -> ControlFlow<()>,
) -> Result<SearchedPairs, BesideError>
where
    A: Engine<Prepared: Stepped> + Send + Sync + 'static,
    B: Engine<Prepared: Stepped> + Send + Sync + 'static,
    R: Engine<Prepared: Stepped>,
    S: Engine<Prepared: Stepped>,
{
    let began = Instant::now();
    let Question { jobs, patience, pairs, first, .. } = *question;
    let budget = PairBudget { jobs, patience, pairs, first };
    beside.refuse_broken_in_calm(&question.calm)?;
    let _ = tell(Stage::Surveying);
    let survey = kept::survey(beside, &budget, question.folder.as_deref())?;
    let survey_took = began.elapsed();
    let compare = |counted: &CountedPairs, shown: &[Predicate]| {
        BesideComparison::new(&survey, counted, &question.asked, shown)
    };
    let mut looked = 0;
    let mut is_stopped = false;
    let counted = beside.count(&survey, &budget, |counted| {
        is_stopped = tell(Stage::Counting(counted)).is_break();
        // However long the survey took, pairs have half of the time.
        let is_late =
            question.lasting.is_some_and(|lasting| began.elapsed() >= lasting.max(survey_took + lasting / 2));
        // Only whole rounds are looked at: each look costs some of the certainty.
        let is_round_over = counted.rounds > looked && !question.keeps_going;
        looked = counted.rounds;
        let is_enough = is_round_over && is_told(&compare(counted, &[]));
        if is_stopped || is_late || is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    let examples = if is_stopped {
        Vec::new()
    } else {
        examples(beside, real, (&survey, &counted), &compare(&counted, &[]), &mut tell)?
    };
    let convincing = examples.iter().filter(|example| example.convinces());
    let shown: Vec<Predicate> = convincing.map(|example| example.wanted.predicate).collect();
    let inside = counted.inside();
    let comparison = compare(&counted, &shown);
    Ok(SearchedPairs { survey, survey_took, counted, inside, comparison, examples })
}

/// Whether something is worse, in so many pairs that there is one to show.
fn is_told(comparison: &BesideComparison) -> bool {
    let worse = comparison.worse();
    let is_enough = |it: &Predicate| {
        comparison.rows.iter().any(|row| row.predicate == *it && row.kept.decided.only_first >= PAIRS_ENOUGH)
    };
    worse.iter().any(is_enough)
}

/// Examples that convince, of what is worse and of what may be.
fn examples<A, B, R, S>(
    beside: &Beside<A, B>,
    real: (&R, &LockSide<S>),
    counted: (&Survey, &CountedPairs),
    comparison: &BesideComparison,
    tell: &mut impl FnMut(Stage<'_>) -> ControlFlow<()>,
) -> Result<Vec<BesideExample>, BesideError>
where
    A: Engine<Prepared: Stepped> + Send + Sync + 'static,
    B: Engine<Prepared: Stepped> + Send + Sync + 'static,
    R: Engine<Prepared: Stepped>,
    S: Engine<Prepared: Stepped>,
{
    let began = Instant::now();
    let mut examples: Vec<BesideExample> = Vec::new();
    let predicates: Vec<Predicate> = comparison.to_show().into_iter().take(EXAMPLES_MAX).collect();
    let each = EXAMPLES / predicates.len().max(1) as u32;
    for (predicate, until) in predicates.into_iter().zip((1..).map(|turns| turns * each)) {
        // One that is hard to make small leaves time to the others.
        let mut is_over = || {
            let best = examples.first();
            began.elapsed() >= until || tell(Stage::Example(predicate, best)).is_break()
        };
        if is_over() {
            continue;
        }
        let found = beside.example(real, counted, predicate, is_over)?;
        // What is worse is shown as well as it can be; what only may be worse has to convince.
        let is_worse = comparison.worse().contains(&predicate);
        examples.extend(found.filter(|example| is_worse || example.convinces()));
    }
    // The one that convinces is shown first; of several the one that was looked for first.
    examples.sort_by_key(|example| std::cmp::Reverse(example.separates.min(FUTURES_MIN)));
    Ok(examples)
}

/// The result of a comparison, for people and for CI. Pure: text out of data.
#[derive(Debug)]
pub struct BesideFindings {
    /// The first lock, as reports call it.
    pub mine: String,
    /// The reference.
    pub theirs: String,
    /// The worlds, in words: `160 worlds of the family`.
    pub worlds: String,
    /// What pairs came to.
    pub comparison: BesideComparison,
    /// For each predicate: in how many conditions the reference keeps it, of how many, and under which faults.
    pub kept: Vec<(Predicate, usize, usize, WeatherKinds)>,
    /// How many runs it took to find that out; none if it was known.
    pub survey_runs: u64,
    /// Things about the locks that a reader may not expect.
    pub notes: Vec<String>,
    /// What was seen inside both locks.
    pub inside: Inside,
    /// What only the first lock does, the first to be shown first.
    pub examples: Vec<ShownExample>,
    /// The command that asks the same.
    pub command: String,
}

/// An example, run with both locks.
#[derive(Debug)]
pub struct ShownExample {
    /// The example.
    pub example: BesideExample,
    /// Its run with the first lock, and what caused it.
    pub mine: Explained,
    /// Its run with the reference.
    pub theirs: Report,
    /// Where it can be seen again.
    pub hints: ReplayHints,
}

impl ShownExample {
    /// Runs an example with both locks, each prepared for its scenario, and finds out what separates them.
    pub fn from_runs(
        example: BesideExample,
        mine: impl Futures,
        theirs: impl Futures,
        patience: Duration,
    ) -> ShownExample {
        let seed = example.shrunk.seed;
        let difference = Difference::new(mine, theirs, example.wanted.predicate);
        let (report, theirs) = (difference.run(seed), difference.run_theirs(seed));
        let mine = explain_in_time(Arc::new(difference), report, patience);
        ShownExample { example, mine, theirs, hints: ReplayHints::default() }
    }
}

impl BesideFindings {
    /// The whole in one word.
    pub fn outcome(&self) -> BesideOutcome {
        self.comparison.outcome()
    }
}

/// In how many conditions the reference keeps each predicate, and under which faults.
pub fn kept_conditions<A, B>(
    beside: &Beside<A, B>,
    survey: &Survey,
    asked: &[Predicate],
) -> Vec<(Predicate, usize, usize, WeatherKinds)>
where
    A: Engine<Prepared: Stepped> + Send + Sync + 'static,
    B: Engine<Prepared: Stepped> + Send + Sync + 'static,
{
    let of = |predicate: &Predicate| {
        let kept = survey.places().filter(|place| survey.keeps(*place, *predicate)).count();
        (*predicate, kept, survey.places().count(), survey.kinds(beside.conditions(), *predicate))
    };
    asked.iter().map(of).collect()
}
