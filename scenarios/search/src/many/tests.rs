//! The tally of many runs, against a plain loop over the same seeds: in blocks of any size, on any number of threads,
//! with violations, panics, refusals and undecided runs sown at random, and wherever the search stops.

use std::hint::spin_loop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use doublehold_scenarios::report::Report;
use doublehold_scenarios::{Engine, SimEngine, catalog};
use proptest::prelude::*;

use super::*;

/// The runs that a seed may come to: real ones, each of another kind.
static RUNS: LazyLock<Vec<Summary>> = LazyLock::new(|| {
    let of = |name: &str, sets: &[(&str, &str)]| {
        let sets: Vec<_> = sets.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let scenario = catalog::load(name, &sets).expect("in the catalogue");
        SimEngine.prepare(&scenario).expect("it can be run").judge(1)
    };
    let cut = r#"[{kind = "cut", from = ["c1", "c2", "c3"], to = "A", both_ways = true, at = "0s"}]"#;
    let quiet = of("quiet", &[]);
    let panicked = Summary { panicked: Some("the year is wrong".to_owned()), ..quiet.clone() };
    vec![
        quiet,
        panicked,
        of("clock-jump", &[]),
        of("lease-pause", &[]),
        of("quiet", &[("limits.events", "100")]),
        of("quiet", &[("limits.time", "10ms")]),
        of("quiet", &[("faults", cut)]),
    ]
});

/// Runs that come to what their seed's digest says, after as long as it says.
struct Sown {
    salt: u64,
}

impl Sown {
    fn digest(&self, seed: Seed) -> u64 {
        // SplitMix64: neighbours have nothing in common.
        let mut digest = (seed.0 ^ self.salt).wrapping_add(0x9e37_79b9_7f4a_7c15);
        digest = (digest ^ (digest >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        digest = (digest ^ (digest >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        digest ^ (digest >> 31)
    }
}

impl Prepared for Sown {
    type Record = ();

    fn judge(&self, seed: impl Into<Seed>) -> Summary {
        let seed = seed.into();
        let digest = self.digest(seed);
        (0..digest % 2_000).for_each(|_| spin_loop());
        // Most runs are quiet ones, so that first seeds are not all in the first block.
        let kinds = RUNS.len() as u64 * 6;
        let run = RUNS.get((digest >> 32) as usize % kinds as usize).unwrap_or(&RUNS[0]);
        Summary { seed, ..run.clone() }
    }

    fn run(&self, _: impl Into<Seed>) -> Report {
        unreachable!("a tally needs verdicts only")
    }

    fn run_traced(&self, _: impl Into<Seed>) -> (Report, Vec<()>) {
        unreachable!("a tally needs verdicts only")
    }
}

/// The same by a loop, counted the slow way.
fn plain(sown: &Sown, seeds: impl Iterator<Item = u64>) -> Tally {
    let runs: Vec<Summary> = seeds.map(|seed| sown.judge(seed)).collect();
    let of = |predicate: Predicate| {
        let seeds = |word: &str| -> Vec<&Summary> {
            runs.iter().filter(|run| run.verdicts.get(predicate).as_str() == word).collect()
        };
        let not_seen = runs.iter().filter_map(|run| match run.verdicts.get(predicate) {
            Verdict::NotSeen(why) => Some(*why),
            _ => None,
        });
        let not_seen: Vec<&'static str> = not_seen.collect();
        let mut doubtful = runs.iter().filter_map(|run| match run.verdicts.get(predicate) {
            Verdict::Inconclusive(why) => Some((run.seed, why.clone())),
            _ => None,
        });
        let undecided = doubtful.clone().count() as u64;
        let unsaid = doubtful.next();
        Count {
            holds: (seeds("holds").len() + not_seen.len()) as u64,
            not_seen: not_seen.first().map(|why| (not_seen.len() as u64, (*why).to_owned())),
            violated: seeds("violated").len() as u64,
            inconclusive: undecided,
            first: seeds("violated").first().map(|run| run.seed),
            unsaid,
        }
    };
    let panics: Vec<Seed> = runs.iter().filter(|run| run.panicked.is_some()).map(|run| run.seed).collect();
    let mut coverage = Coverage::default();
    runs.iter().flat_map(|run| &run.faults).for_each(|hit| coverage.add(hit));
    let counted = if runs.is_empty() { &[][..] } else { &Predicate::ALL[..] };
    Tally {
        runs: runs.len() as u64,
        predicates: counted.iter().map(|predicate| (*predicate, of(*predicate))).collect(),
        panicked: panics.first().map(|first| (*first, panics.len() as u64)),
        grants: runs.iter().map(|run| run.grants.count).sum(),
        refused: runs.iter().find_map(|run| Some((run.seed, run.grants.refusal.clone()?))),
        coverage,
    }
}

/// True if a search may end: so many of something were counted.
fn is_enough(tally: &Tally, violated: u64, panicked: u64) -> bool {
    let panics = tally.panicked.map_or(0, |(_, count)| count);
    tally.count(Predicate::P1).violated >= violated || panics >= panicked
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn many_runs_add_up_to_what_a_loop_counts(
        salt in any::<u64>(),
        first in prop_oneof![0..1_000_u64, (u64::MAX - 300)..u64::MAX],
        runs in 1..250_u64,
        size in 1..70_u64,
        jobs in 1..6_usize,
        violated in 1..20_u64,
        panicked in 1..20_u64,
    ) {
        let sown = Arc::new(Sown { salt });
        let last = first.saturating_add(runs - 1);
        let jobs = NonZeroUsize::new(jobs).expect("at least one");
        let many = Many { seeds: Seed(first)..=Seed(last), jobs, patience: Duration::from_secs(60) };
        let all = run_in_blocks(&sown, &many, size, |_| ControlFlow::Continue(())).expect("all come back");
        prop_assert_eq!(&all, &plain(&sown, first..=last));
        let goes_wrong = |seed: &u64| {
            let run = sown.judge(*seed);
            run.panicked.is_some() || run.verdicts.iter().any(|(_, it)| matches!(it, Verdict::Violated(_)))
        };
        prop_assert_eq!(all.first(), (first..=last).find(goes_wrong).map(Seed));

        let some = run_in_blocks(&sown, &many, size, |tally| match is_enough(tally, violated, panicked) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        });
        // All seeds up to the end of the first block after which it was enough.
        let ends = (1..=runs.div_ceil(size)).map(|blocks| first.saturating_add(blocks * size - 1).min(last));
        let mut tallies = ends.map(|end| plain(&sown, first..=end));
        let expected = tallies.find(|tally| is_enough(tally, violated, panicked)).unwrap_or(all);
        prop_assert_eq!(some.expect("all come back"), expected);
    }
}

/// The sown runs are of all kinds, or the property above would say little.
#[test]
fn the_sown_runs_have_everything_that_is_counted() {
    let tally = plain(&Sown { salt: 1 }, 1..=400);
    let p1 = tally.count(Predicate::P1);
    assert!(p1.holds > 0 && p1.violated > 0 && p1.inconclusive > 0, "{tally:?}");
    assert!(tally.count(Predicate::P2).violated != p1.violated && tally.panicked.is_some(), "{tally:?}");
    assert!(tally.refused.is_some() && tally.coverage.kinds().count() > 1, "{tally:?}");
}

/// Runs that take a while, one of which panics where nothing catches it: a mistake of this program's own.
struct Broken {
    at: u64,
    begun: AtomicU64,
}

impl Prepared for Broken {
    type Record = ();

    fn judge(&self, seed: impl Into<Seed>) -> Summary {
        let seed = seed.into();
        self.begun.fetch_add(1, Ordering::Relaxed);
        assert_ne!(seed.0, self.at, "planted");
        (0..20_000).for_each(|_| spin_loop());
        Summary { seed, ..RUNS[0].clone() }
    }

    fn run(&self, _: impl Into<Seed>) -> Report {
        unreachable!("a tally needs verdicts only")
    }

    fn run_traced(&self, _: impl Into<Seed>) -> (Report, Vec<()>) {
        unreachable!("a tally needs verdicts only")
    }
}

#[test]
fn a_panic_of_the_program_itself_is_told_at_once() {
    let seeds = 20_000;
    for at in [1, 40, 100] {
        let broken = Arc::new(Broken { at, begun: AtomicU64::new(0) });
        let jobs = NonZeroUsize::new(3).expect("three");
        let many = Many { seeds: Seed(1)..=Seed(seeds), jobs, patience: Duration::from_secs(60) };
        let panic = catch_unwind(AssertUnwindSafe(|| {
            run_in_blocks(&broken, &many, 8, |_| ControlFlow::Continue(()))
        }));
        let panic = panic.expect_err("it is handed on");
        assert!(panic.downcast_ref::<String>().is_some_and(|it| it.contains("planted")));
        let begun = broken.begun.load(Ordering::Relaxed);
        assert!(begun < seeds / 2, "{begun} of {seeds} runs");
    }
}

/// What nobody waits for any more ends by itself, and does not go on to the last seed there is.
#[test]
fn threads_end_when_nobody_wants_more() {
    let runs = Arc::new(Broken { at: 0, begun: AtomicU64::new(0) });
    let jobs = NonZeroUsize::new(3).expect("three");
    let many = Many { seeds: Seed(1)..=Seed(u64::MAX), jobs, patience: Duration::from_secs(60) };
    let after_one_block = |tally: &Tally| match tally.runs {
        0 => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    };
    let tally = run_in_blocks(&runs, &many, 8, after_one_block).expect("all come back");
    assert_eq!(tally.runs, 8);
    // Each thread has one of its own.
    for _ in 0..10_000_000 {
        if Arc::strong_count(&runs) == 1 {
            return;
        }
        thread::yield_now();
    }
    panic!("{} runs were begun, and threads go on", runs.begun.load(Ordering::Relaxed));
}
