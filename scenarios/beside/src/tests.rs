//! Parts of a comparison by themselves: words from counts made by hand, and the futures of an example.

use std::collections::BTreeSet;
use std::time::Duration;

use doublehold_diagnosis::cause::causes;
use doublehold_history::{Predicate, TrueNs, Verdict};
use doublehold_lockimpl::Switches;
use doublehold_scenarios::format::Source;
use doublehold_scenarios::report::white_box::Rule;
use doublehold_scenarios::report::{Hit, Summary};
use doublehold_scenarios::{Engine as _, LeanEngine, Prepared as _, Report, Scenario, Seed};
use doublehold_search::shrink::{Shrunk, Size, Target};
use doublehold_statistics::{Paired, PartlyPaired};

use crate::comparison::{BesideComparison, BesideOutcome, RuleFound};
use crate::count::{CountedPairs, Counts};
use crate::difference::Difference;
use crate::example::{FUTURES, separated_futures};
use crate::masked::{Masked, WantedBreach};
use crate::sides::LockSide;
use crate::survey::Survey;

/// Counts of two conditions, the first of which is one in which the reference keeps all predicates and the second
/// one in which it keeps none: for a predicate (only mine, only theirs, both) in each, of so many pairs.
struct ByHand {
    pairs: u64,
    same: u64,
    rounds: u32,
    counts: Vec<(Predicate, [u64; 3], [u64; 3])>,
}

impl ByHand {
    fn new(counts: &[(Predicate, [u64; 3], [u64; 3])]) -> ByHand {
        ByHand { pairs: 4_000, same: 0, rounds: 3, counts: counts.to_vec() }
    }

    fn counted(&self) -> CountedPairs {
        let mut conditions = vec![Counts { pairs: self.pairs, same: self.same, ..Counts::default() }; 2];
        for predicate in Predicate::ALL {
            let found = self.counts.iter().find(|(it, ..)| *it == predicate);
            let (kept, rest) = found.map_or(([0; 3], [0; 3]), |(_, kept, rest)| (*kept, *rest));
            for (counts, [only_first, only_second, both]) in conditions.iter_mut().zip([kept, rest]) {
                let neither = self.pairs - only_first - only_second - both;
                let decided = Paired { both, only_first, only_second, neither };
                counts.predicates.insert(predicate, PartlyPaired { decided, ..PartlyPaired::default() });
            }
        }
        CountedPairs { conditions, pairs: 2 * self.pairs, rounds: self.rounds }
    }

    fn compare(&self) -> BesideComparison {
        let survey = survey();
        BesideComparison::new(&survey, &self.counted(), &Predicate::ALL, &[])
    }

    fn found(&self, predicate: Predicate) -> RuleFound {
        self.compare().rows.iter().find(|row| row.predicate == predicate).expect("all are asked").found
    }
}

/// A survey that kept all predicates in the first condition and none in the second.
fn survey() -> Survey {
    let kept = [(0, Predicate::ALL.into_iter().collect()), (1, BTreeSet::new())];
    Survey::from_parts(kept.into(), [(0, 1), (1, 1)].into())
}

const NONE: [u64; 3] = [0; 3];

#[test]
fn what_only_the_first_lock_breaks_is_worse() {
    let by_hand = ByHand::new(&[(Predicate::P2, [30, 0, 0], NONE)]);
    assert_eq!(by_hand.found(Predicate::P2), RuleFound::Worse);
    assert_eq!(
        (by_hand.compare().outcome(), by_hand.compare().worse()),
        (BesideOutcome::Worse, vec![Predicate::P2])
    );
    let by_hand = ByHand::new(&[(Predicate::P2, NONE, [60, 5, 700])]);
    assert_eq!(by_hand.found(Predicate::P2), RuleFound::Worse, "also where the reference breaks it");
}

#[test]
fn what_only_the_reference_breaks_is_better_and_both_together_are_mixed() {
    let by_hand = ByHand::new(&[(Predicate::P2, NONE, [0, 30, 100])]);
    assert_eq!(
        (by_hand.found(Predicate::P2), by_hand.compare().outcome()),
        (RuleFound::Better, BesideOutcome::Better)
    );
    let by_hand = ByHand::new(&[(Predicate::P2, NONE, [0, 30, 100]), (Predicate::WR, [30, 0, 0], NONE)]);
    assert_eq!(by_hand.compare().outcome(), BesideOutcome::Mixed);
    assert_eq!(by_hand.compare().worse(), [Predicate::WR]);
}

#[test]
fn no_worse_needs_pairs_and_says_how_much_is_left() {
    let few = ByHand { pairs: 150, ..ByHand::new(&[]) };
    assert_eq!(
        (few.found(Predicate::P1), few.compare().outcome()),
        (RuleFound::NotToldApart, BesideOutcome::NotToldApart)
    );
    let many = ByHand::new(&[(Predicate::P1, [2, 1, 0], NONE)]);
    let RuleFound::NoWorse(at_most) = many.found(Predicate::P1) else {
        panic!("{:?}", many.found(Predicate::P1))
    };
    assert!((0.0005..0.0025).contains(&at_most), "{at_most}");
    assert_eq!(many.compare().outcome(), BesideOutcome::NoWorse);
    // One is left open: the whole cannot be called no worse.
    let open = ByHand::new(&[(Predicate::P1, [60, 40, 0], NONE)]);
    assert_eq!(
        (open.found(Predicate::P1), open.found(Predicate::WR).as_str()),
        (RuleFound::NotToldApart, "no worse")
    );
    assert_eq!(open.compare().outcome(), BesideOutcome::NotToldApart);
}

#[test]
fn each_look_makes_it_harder_to_tell_two_locks_apart() {
    let told = |rounds| {
        let by_hand = ByHand { rounds, ..ByHand::new(&[(Predicate::P1, [16, 0, 0], NONE)]) };
        by_hand.found(Predicate::P1) == RuleFound::Worse
    };
    // 16 to 0 comes by chance twice in 2^16; fifteen questions share one in a thousand, and round r gets 1/(r(r+1)).
    assert_eq!([1, 2, 3].map(told), [true, false, false]);
}

#[test]
fn pairs_that_are_all_the_same_never_reached_what_differs() {
    let same = ByHand { same: 4_000, ..ByHand::new(&[]) };
    assert_eq!(same.compare().outcome(), BesideOutcome::NeverReached);
    let same = ByHand { same: 3_999, ..ByHand::new(&[]) };
    assert_eq!(same.compare().outcome(), BesideOutcome::NoWorse);
}

/// A survey that takes all the time leaves none for pairs.
#[test]
fn no_pair_at_all_says_nothing() {
    let survey = survey();
    let none = CountedPairs { conditions: vec![Counts::default(); 2], ..CountedPairs::default() };
    let compared = BesideComparison::new(&survey, &none, &Predicate::ALL, &[]);
    assert_eq!(compared.outcome(), BesideOutcome::NotToldApart);
    assert!(compared.rows.iter().all(|row| row.found == RuleFound::NotToldApart), "{compared:?}");
}

#[test]
fn an_example_that_convinces_and_a_panic_are_worse() {
    let survey = survey();
    let with = |mine, theirs| ByHand::new(&[(Predicate::P2, [mine, theirs, 0], NONE)]).counted();
    let mut counted = with(6, 0);
    let of = |counted: &CountedPairs, shown: &[Predicate]| {
        BesideComparison::new(&survey, counted, &Predicate::ALL, shown).outcome()
    };
    assert_eq!(of(&counted, &[]), BesideOutcome::NoWorse);
    assert_eq!(of(&counted, &[Predicate::P2]), BesideOutcome::Worse);
    assert_eq!(of(&with(5, 0), &[Predicate::P2]), BesideOutcome::NoWorse, "pairs must say the same");
    assert_eq!(of(&with(29, 13), &[Predicate::P2]), BesideOutcome::NoWorse, "and say it nearly all");
    assert_eq!(of(&with(29, 9), &[Predicate::P2]), BesideOutcome::Worse);
    counted.conditions[1].only_mine_panicked = 1;
    assert_eq!(of(&counted, &[]), BesideOutcome::Worse);
}

#[test]
fn a_white_box_rule_that_only_the_first_lock_breaks_is_worse() {
    let survey = survey();
    let broken_by = |[only_first, only_second]: [u64; 2]| {
        let mut counted = ByHand::new(&[]).counted();
        let pairs = Paired { only_first, only_second, neither: 100, ..Paired::default() };
        counted.conditions[0].inside.rules.insert(Rule::LateCommand, pairs);
        let compared = BesideComparison::new(&survey, &counted, &Predicate::ALL, &[]);
        (compared.outcome(), compared.broken)
    };
    assert_eq!(broken_by([30, 0]), (BesideOutcome::Worse, vec![Rule::LateCommand]));
    assert_eq!(broken_by([5, 0]), (BesideOutcome::NoWorse, Vec::new()), "five may be chance");
    assert_eq!(
        broken_by([0, 30]),
        (BesideOutcome::NoWorse, Vec::new()),
        "the reference's mistakes make mine no better"
    );
}

/// c1 pauses while it holds the lock, for longer than what is left of its lease in half of all runs: as long as
/// its work took.
const LUCK: &str = r#"
claim = "luck"
lock = { algorithm = "single", ttl = "1s", release = "plain-delete" }
nodes = { names = ["A"] }
network = { delay = "1ms" }
[[clients]]
name = "c1"
program = ["acquire", "work 1ms..1s", "release"]
retry = "50ms"
[[clients]]
name = "c2"
program = ["acquire", "work 900ms", "release"]
start = "10ms"
retry = "20ms"
[[faults]]
kind = "pause"
host = "c1"
at = "c1's release"
for = "500ms"
"#;

fn read(text: String) -> Scenario {
    let (name, file) = ("luck".to_owned(), "luck".to_owned());
    Source { name, file, text, ..Source::default() }.read().expect("it is a scenario")
}

fn in_futures(scenario: Scenario, seed: Seed) -> u64 {
    let (lock, title) = ("single".to_owned(), "single".to_owned());
    let reference = LockSide { engine: LeanEngine, lock, switches: Switches::new(), title };
    let wanted = WantedBreach { predicate: Predicate::WR, overlap: Duration::ZERO, apart: None };
    let masked = Masked { mine: &LeanEngine, theirs: &reference, wanted };
    let size = Size::measure(&scenario);
    let shrunk = Shrunk {
        scenario,
        seed,
        target: Target::Violates(Predicate::WR),
        replays: 0,
        is_minimal: false,
        keeps_nodes: false,
        before: size,
        after: size,
        windows: Vec::new(),
        others: (0, 0),
    };
    separated_futures(&masked, &shrunk).expect("it can be run")
}

/// Copies of the first run would all do what it does.
#[test]
fn the_futures_of_an_example_are_other_runs() {
    let scenario = read(LUCK.to_owned());
    let prepared = LeanEngine.prepare(&scenario).expect("it can be run");
    let breaks = |seed: &Seed| Target::Violates(Predicate::WR).is_in(&prepared.judge(*seed));
    let seeds: Vec<Seed> = (1..=40).map(Seed).collect();
    let broken: Vec<Seed> = seeds.iter().copied().filter(breaks).collect();
    let whole = seeds.iter().copied().find(|seed| !breaks(seed)).expect("it takes luck");
    assert!((10..=30).contains(&broken.len()), "about half: {broken:?}");
    for seed in [broken[0], whole] {
        let separates = in_futures(scenario.clone(), seed);
        assert!((3..=FUTURES - 3).contains(&separates), "{separates} from seed {seed}");
    }
}

/// c2 asks 1,005 ms after c1 did, whatever the delay. c1's DEL comes a little later than that where it takes 20 ms each
/// way, and before the lease is over where that is a third less.
#[test]
fn half_of_the_futures_have_other_delays() {
    let text = LUCK.replace("work 1ms..1s", "work 494ms").replace("delay = \"1ms\"", "delay = \"20ms\"");
    let scenario = read(text.replace("start = \"10ms\"", "start = \"1005ms\""));
    assert_eq!(in_futures(scenario, Seed(1)), FUTURES * 3 / 4, "it is gone in those that are faster");
}

/// c1 works beyond its lease, so that P1 is violated with either lock; only a plain DEL frees c2's lock.
const OVERRUN: &str = r#"
claim = "overrun"
lock = { algorithm = "single", ttl = "1s", release = "plain-delete" }
nodes = { names = ["A"] }
network = { delay = "1ms" }
[[clients]]
name = "c1"
program = ["acquire", "work 1500ms", "release"]
[[clients]]
name = "c2"
program = ["acquire", "work 900ms", "release"]
start = "10ms"
retry = "20ms"
"#;

#[test]
fn a_difference_is_about_what_only_the_first_lock_breaks() {
    let scenario = read(OVERRUN.to_owned());
    let (lock, title) = ("single".to_owned(), "single".to_owned());
    let reference = LockSide { engine: LeanEngine, lock, switches: Switches::new(), title };
    let theirs = reference.in_place_of(&scenario).expect("both have these steps");
    let prepared = |scenario: &Scenario| LeanEngine.prepare(scenario).expect("it can be run");
    let difference = |predicate| Difference::new(prepared(&scenario), prepared(&theirs), predicate);
    let is_broken = |run: &Report, predicate| matches!(run.verdicts.get(predicate), Verdict::Violated(_));

    let by_both = difference(Predicate::P1);
    assert!(is_broken(&prepared(&scenario).run(1), Predicate::P1), "the first lock breaks it");
    assert!(!is_broken(&by_both.run(1), Predicate::P1), "and so does the reference");
    assert_eq!(by_both.judge(1).verdicts, by_both.run(1).verdicts);

    let by_one = difference(Predicate::WR);
    let run = by_one.run(1);
    assert!(is_broken(&run, Predicate::WR) && is_broken(&run, Predicate::P1));
    let causes = causes(&by_one, &run).expect("it has a moment");
    assert_eq!(causes.told.predicate, Predicate::WR, "not the gravest, which both break");
}

#[test]
fn a_fault_that_strikes_the_reference_much_later_is_another_strain() {
    let text = LUCK.replace("work 1ms..1s", "work 700ms");
    let run = LeanEngine.prepare(&read(text)).expect("it can be run").judge(1);
    let holds = run.verdicts.clone().with(Predicate::WR, Verdict::Holds);
    let theirs = |later_ms: Option<u64>| {
        let first = later_ms.map(|ms| TrueNs(run.faults[0].first.expect("it strikes").0 + ms * 1_000_000));
        let hit = Hit { first, ..run.faults[0].clone() };
        Summary { verdicts: holds.clone(), faults: vec![hit], ..run.clone() }
    };
    let kept = |apart_ms: Option<u64>, later_ms| {
        let apart = apart_ms.map(Duration::from_millis);
        let wanted = WantedBreach { predicate: Predicate::WR, overlap: Duration::ZERO, apart };
        wanted.is_kept_in(&theirs(later_ms), &run)
    };
    assert!(kept(Some(100), Some(100)) && !kept(Some(100), Some(101)));
    assert!(kept(None, Some(5_000)) && !kept(None, None), "any time will do, but it has to strike");
}
