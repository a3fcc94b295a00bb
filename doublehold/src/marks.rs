//! Reach marks: places in a lock's code that a check has to come to, or it has shown nothing about them.
//!
//! A lock's code says [`reached`] where it is in a state that is hard to come by, such as a retry that meets its own
//! key. A check counts in how many runs each mark was reached. A mark that it expects and that no run reached is told,
//! and such a check does not pass: its world, weather or program never leads there.
//!
//! Assumes that a run stays on one thread, as all runs do. Counts runs and not times: a mark in a loop counts once.
//! Does not know of marks that are in no code that ran: such a name may be mistyped, and one like it is told.
//!
//! Decision: "A mark that no run reached fails its check" (docs/decisions/locks.md).

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use doublehold_scenarios::report::Summary;
use doublehold_scenarios::{Prepared, Report, Seed};
use doublehold_text::suggest::closest;
use doublehold_text::{clean, group_digits};

/// How many different marks of a run are counted: names that are made of numbers would have no end.
const MOST: usize = 1_000;

thread_local! {
    /// The marks of the run that is under way on this thread, while a check counts them.
    static REACHED: RefCell<Option<BTreeSet<String>>> = const { RefCell::new(None) };
}

/// Says that code of a lock came to this place. A check counts in how many runs it did ([`Check::reaches`]); outside of
/// a check it does nothing.
///
/// ```
/// # let (found, token) = ("2a", "2a");
/// if found == token {
///     doublehold::reached("a retry met its own key");
/// }
/// ```
///
/// [`Check::reaches`]: crate::check::Check::reaches
pub fn reached(mark: &str) {
    // A thread that is at its end counts nothing.
    let _counted = REACHED.try_with(|reached| {
        if let Some(marks) = &mut *reached.borrow_mut()
            && !marks.contains(mark)
            && marks.len() < MOST
        {
            marks.insert(mark.to_owned());
        }
    });
}

/// The marks that many runs reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// How often each was, by name.
    pub reached: BTreeMap<String, Reached>,
    /// The marks that the check expects.
    pub expected: Vec<String>,
}

/// How often a mark was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reached {
    /// In how many runs.
    pub runs: u64,
    /// From the first seed of these.
    pub first: Seed,
}

impl Marks {
    /// The marks that are expected, and that no run reached.
    pub fn missing(&self) -> impl Iterator<Item = &str> {
        let expected = self.expected.iter().map(String::as_str);
        expected.filter(|mark| !self.reached.contains_key(*mark))
    }

    /// Lines about each mark, and about each that is missing with the way out.
    pub(crate) fn lines(&self, runs: u64) -> Vec<String> {
        let of = group_digits(runs);
        let line = |(mark, it): (&String, &Reached)| {
            let (mark, runs) = (clean(mark), group_digits(it.runs));
            format!("reached in {runs} of {of} runs, first from seed {}: {mark}", it.first)
        };
        let missing = self.missing().map(|mark| self.missing_line(mark));
        self.reached.iter().map(line).chain(missing).collect()
    }

    fn missing_line(&self, mark: &str) -> String {
        let known: Vec<&str> = self.reached.keys().map(String::as_str).collect();
        // Marks are sentences, and one that is alike may well be another: the hint comes before the way out.
        let hint = closest(mark, &known).map(|known| format!("did you mean `{}`? If not, ", clean(known)));
        let (mark, hint) = (clean(mark), hint.unwrap_or_default());
        format!("never reached, so nothing is shown about it: {mark}; {hint}{WAY_OUT}")
    }
}

const WAY_OUT: &str = "let a program, a fault or the weather of the world lead there, make more runs, or look whether the \
                       lock's code says `doublehold::reached` with this name";

/// Runs as its scenario does, and counts the marks of runs that are judged.
pub(crate) struct Marked<P> {
    prepared: Arc<P>,
    reached: Mutex<BTreeMap<String, Reached>>,
}

impl<P> Marked<P> {
    pub(crate) fn new(prepared: Arc<P>) -> Marked<P> {
        Marked { prepared, reached: Mutex::default() }
    }

    /// The marks so far, beside those that are expected.
    pub(crate) fn marks(&self, expected: &[String]) -> Marks {
        let reached = self.reached.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Marks { reached, expected: expected.to_vec() }
    }

    /// Counts and the first seed do not depend on the order in which threads come here.
    fn count(&self, seed: Seed, marks: BTreeSet<String>) {
        if marks.is_empty() {
            return; // nearly always
        }
        let mut reached = self.reached.lock().unwrap_or_else(PoisonError::into_inner);
        for mark in marks {
            let it = reached.entry(mark).or_insert(Reached { runs: 0, first: seed });
            it.runs += 1;
            it.first = it.first.min(seed);
        }
    }
}

impl<P: Prepared> Prepared for Marked<P> {
    type Record = P::Record;

    fn judge(&self, seed: impl Into<Seed>) -> Summary {
        let counting = Counting(REACHED.replace(Some(BTreeSet::new())));
        let run = self.prepared.judge(seed);
        let marks = REACHED.take().unwrap_or_default();
        drop(counting);
        self.count(run.seed, marks);
        run
    }

    fn run(&self, seed: impl Into<Seed>) -> Report {
        self.prepared.run(seed)
    }

    fn run_traced(&self, seed: impl Into<Seed>) -> (Report, Vec<P::Record>) {
        self.prepared.run_traced(seed)
    }
}

/// The marks that were counted on this thread before; they are again when this is dropped.
struct Counting(Option<BTreeSet<String>>);

impl Drop for Counting {
    fn drop(&mut self) {
        REACHED.set(self.0.take());
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;
    use std::ops::ControlFlow;
    use std::time::Duration;

    use doublehold_scenarios::build::World;
    use doublehold_scenarios::{Engine, LeanEngine, PreparedSim};
    use doublehold_search::many::{Many, run_many};

    use super::*;

    /// Reaches marks that its seed decides.
    struct Reaching(PreparedSim);

    impl Prepared for Reaching {
        type Record = <PreparedSim as Prepared>::Record;

        fn judge(&self, seed: impl Into<Seed>) -> Summary {
            let seed = seed.into();
            (0..3).filter(|_| seed.0.is_multiple_of(3)).for_each(|_| reached("by three"));
            (0..2_000).filter(|_| seed.0 == 40).for_each(|number| reached(&number.to_string()));
            self.0.judge(seed)
        }

        fn run(&self, seed: impl Into<Seed>) -> Report {
            self.0.run(seed)
        }

        fn run_traced(&self, seed: impl Into<Seed>) -> (Report, Vec<Self::Record>) {
            self.0.run_traced(seed)
        }
    }

    fn marks_on(jobs: usize) -> Marks {
        let world = World::new("any").nodes(["A"]).clients(1, ["acquire", "release"]);
        let scenario = world.scenario("single", doublehold_lockimpl::descriptors()).expect("it makes sense");
        let prepared = LeanEngine.prepare(&scenario).expect("it can be run");
        let marked = Arc::new(Marked::new(Arc::new(Reaching(prepared))));
        let jobs = NonZeroUsize::new(jobs).expect("some");
        let many = Many { jobs, ..Many::new(Seed(1)..=Seed(100), Duration::from_secs(60)) };
        run_many(&marked, &many, |_| ControlFlow::Continue(())).expect("all come back");
        reached("after the runs");
        marked.marks(&[])
    }

    #[test]
    fn a_mark_counts_once_a_run_on_any_number_of_threads() {
        let marks = marks_on(1);
        assert_eq!(marks.reached["by three"], Reached { runs: 33, first: Seed(3) });
        assert_eq!(marks.reached.len(), 1 + MOST, "names that are numbers have an end");
        assert!(!marks.reached.contains_key("after the runs"));
        assert_eq!(marks, marks_on(3));
    }
}
