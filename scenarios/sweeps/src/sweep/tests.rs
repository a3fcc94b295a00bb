//! What a sweep counts, against plain loops: each field of a batch over random runs, and each batch of small studies
//! over runs that are made one by one from their seeds, as examples are.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use doublehold_history::{Evidence, Figures, Predicate, Verdict, WorkCounts};
use doublehold_scenarios::catalog;
use doublehold_scenarios::report::{Grants, Summary};
use doublehold_scenarios::report::{Hit, StruckAt};
use doublehold_scenarios::{Engine, LeanEngine, Prepared};
use doublehold_scenarios::{Seed, SimEngine};
use doublehold_sim::Stream;

use super::*;
use crate::study::CellId;

/// Runs that violate, hold and leave open different predicates, one and several times.
static RUNS: LazyLock<Vec<Summary>> = LazyLock::new(|| {
    let of = |name: &str, sets: &[(&str, &str)]| {
        let sets: Vec<_> = sets.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let scenario = catalog::load(name, &sets).expect("in the catalogue");
        SimEngine.prepare(&scenario).expect("it can be run").judge(1)
    };
    vec![
        of("quiet", &[]),
        of("clock-jump", &[]),
        of("lease-pause", &[]),
        of("clock-jump", &[("clients.0.rounds", "3"), ("clients.1.rounds", "3")]),
        of("quiet", &[("limits.events", "100")]),
        of("lease-pause", &[("limits.time", "3s")]),
    ]
});

/// A run of one of these kinds with figures, faults and an end of its own.
fn random(stream: &mut Stream) -> Summary {
    let run = &RUNS[stream.below(RUNS.len() as u64) as usize];
    let length = |stream: &mut Stream| stream.next_u64() >> (20 + stream.below(44));
    let lengths = |stream: &mut Stream| (0..stream.below(4)).map(|_| length(stream)).collect();
    let told = |stream: &mut Stream| {
        let ns = i64::try_from(stream.below(1 << 40)).expect("it fits") - (1 << 39);
        (stream.below(3) > 0).then_some(ns)
    };
    let hit = |stream: &mut Stream| Hit {
        kind: ["pause", "crash", "cut"][stream.below(3) as usize],
        place: StruckAt::Time,
        struck: stream.below(3),
        first: None,
    };
    let figures = Figures {
        obtained_ns: lengths(stream),
        missed: stream.below(3),
        recovered_ns: lengths(stream),
        operated_ns: length(stream),
        work: WorkCounts { applied: stream.below(9), refused: stream.below(3), given_up: stream.below(3) },
        told_ns: (0..stream.below(4)).map(|_| told(stream)).collect(),
    };
    let count = stream.next_u64() >> (20 + stream.below(44));
    Summary {
        grants: Grants { count, refusal: None },
        figures,
        faults: (0..stream.below(4)).map(|_| hit(stream)).collect(),
        panicked: (stream.below(5) == 0).then(|| "the year is wrong".to_owned()),
        ..run.clone()
    }
}

fn sums(numbers: impl Iterator<Item = u64> + Clone) -> Sums {
    let squares: u128 = numbers.clone().map(|number| u128::from(number).pow(2)).sum();
    Sums { sum: numbers.sum(), squares: u64::try_from(squares).unwrap_or(u64::MAX) }
}

fn durations(ns: &[u64]) -> Durations {
    let mut buckets = BTreeMap::new();
    for us in ns.iter().map(|ns| ns / 1_000) {
        // As a text: five digits stay, and zeros take the place of the others.
        let digits = format!("{us:b}");
        let kept: String = digits.chars().enumerate().map(|(at, it)| if at < 5 { it } else { '0' }).collect();
        *buckets.entry(u64::from_str_radix(&kept, 2).expect("a number")).or_default() += 1;
    }
    let max_ns = ns.iter().copied().max().unwrap_or(0);
    Durations { count: ns.len() as u64, sum_us: ns.iter().map(|ns| ns / 1_000).sum(), max_ns, buckets }
}

/// The marked runs, a binary digit for each up to the last, four to a hexadecimal digit.
fn digits(runs: &[bool]) -> String {
    let Some(last) = runs.iter().rposition(|it| *it) else { return String::new() };
    let bit = |place: usize| u32::from(runs.get(place).copied().unwrap_or(false));
    let digit = |at: usize| (4 * at..4 * at + 4).fold(0, |value, place| 2 * value + bit(place));
    (0..=last / 4).map(|at| char::from_digit(digit(at), 16).expect("four bits")).collect()
}

fn predicate(runs: &[Summary], of: Predicate) -> PredicateCount {
    let verdicts = || runs.iter().map(|run| run.verdicts.get(of));
    let violated: Vec<bool> = verdicts().map(|it| matches!(it, Verdict::Violated(_))).collect();
    let undecided: Vec<bool> = verdicts().map(|it| matches!(it, Verdict::Inconclusive(_))).collect();
    let pieces = |verdict: &Verdict| match verdict {
        Verdict::Violated(evidence) => evidence.len() as u64,
        _ => 0,
    };
    let many = |of: &[bool]| of.iter().filter(|it| **it).count() as u64;
    PredicateCount {
        violated: many(&violated),
        undecided: many(&undecided),
        incidents: sums(verdicts().map(pieces)),
        violations: digits(&violated),
        doubts: digits(&undecided),
        seeds: Vec::new(),
    }
}

/// The same counted field by field, each over all runs.
fn counted(runs: &[Summary], place: Batch) -> Batch {
    let all = |of: fn(&Summary) -> &Vec<u64>| -> Vec<u64> { runs.iter().flat_map(of).copied().collect() };
    let mut overlaps: BTreeMap<Predicate, Vec<u64>> = BTreeMap::new();
    let violated = runs.iter().flat_map(|run| run.verdicts.iter());
    for (predicate, verdict) in violated {
        let Verdict::Violated(evidence) = verdict else { continue };
        for piece in evidence {
            if let Evidence::Overlap(overlap) = piece {
                overlaps.entry(predicate).or_default().push(overlap.to.0 - overlap.from.0);
            }
        }
    }
    let mut faults = BTreeMap::new();
    for hit in runs.iter().flat_map(|run| &run.faults) {
        (0..hit.struck).for_each(|_| *faults.entry(hit.kind.to_owned()).or_default() += 1);
    }
    let told: Vec<i64> = runs.iter().flat_map(|run| run.figures.told_ns.iter().flatten()).copied().collect();
    let counted = if runs.is_empty() { &[][..] } else { &Predicate::ALL[..] };
    Batch {
        runs: runs.len() as u64,
        predicates: counted.iter().map(|it| (*it, predicate(runs, *it))).collect(),
        grants: sums(runs.iter().map(|run| run.grants.count)),
        operated_ms: sums(
            runs.iter().map(|run| Duration::from_nanos(run.figures.operated_ns).as_millis() as u64),
        ),
        obtained: durations(&all(|run| &run.figures.obtained_ns)),
        missed: runs.iter().map(|run| run.figures.missed).sum(),
        recovered: durations(&all(|run| &run.figures.recovered_ns)),
        applied: sums(runs.iter().map(|run| run.figures.work.applied)),
        refused: sums(runs.iter().map(|run| run.figures.work.refused)),
        given_up: sums(runs.iter().map(|run| run.figures.work.given_up)),
        told_before: durations(&told.iter().filter(|ns| **ns < 0).map(|ns| (-ns) as u64).collect::<Vec<_>>()),
        told_after: durations(&told.iter().filter(|ns| **ns >= 0).map(|ns| *ns as u64).collect::<Vec<_>>()),
        never_told: runs.iter().flat_map(|run| &run.figures.told_ns).filter(|told| told.is_none()).count()
            as u64,
        overlaps: overlaps.into_iter().map(|(predicate, ns)| (predicate, durations(&ns))).collect(),
        faults,
        panicked: runs.iter().filter(|run| run.panicked.is_some()).count() as u64,
        // All others are named too, so that a new count is not forgotten here.
        cell: place.cell,
        stratum: place.stratum,
        batch: place.batch,
        weight: place.weight,
        beyond: place.beyond,
        planned: place.planned,
        seed: place.seed,
    }
}

#[test]
fn a_batch_counts_of_its_runs_what_a_loop_counts() {
    for seed in 0..60 {
        let mut stream = Stream::new(Seed(seed), "batches");
        let runs: Vec<Summary> = (0..stream.below(40)).map(|_| random(&mut stream)).collect();
        let mut batch = Batch { cell: 3, seed: 7, ..Batch::default() };
        runs.iter().for_each(|run| batch.add(run));
        assert_eq!(batch, counted(&runs, Batch { cell: 3, seed: 7, ..Batch::default() }), "from seed {seed}");
        for (predicate, count) in &batch.predicates {
            let of = |word: &str| -> Vec<u64> {
                (0..)
                    .zip(&runs)
                    .filter(|(_, run)| run.verdicts.get(*predicate).as_str() == word)
                    .map(|it| it.0)
                    .collect()
            };
            assert_eq!(count.violating().collect::<Vec<_>>(), of("violated"));
            assert_eq!(count.doubtful().collect::<Vec<_>>(), of("inconclusive"));
        }
    }
    let of = |predicate| RUNS.iter().map(move |run| run.verdicts.get(predicate).as_str());
    assert!(of(Predicate::P1).ne(of(Predicate::P2)) && of(Predicate::P1).any(|it| it == "inconclusive"));
    let pieces = |run: &Summary| match run.verdicts.get(Predicate::P1) {
        Verdict::Violated(evidence) => evidence.len(),
        _ => 0,
    };
    assert!(RUNS.iter().any(|run| pieces(run) > 1), "a run with several overlaps");
}

/// Two designs, of which one has no weather, at two points; two kinds of faults, of which a cell may have either.
const STRATA: &str = r#"
question = "?"
seed = "7000"
runs = 3
strata = { faults = 1 }
[weather]
for = "20s"
[[weather.faults]]
kind = "pause"
host = "clients"
every = "30s"
for = "3s"
[[weather.faults]]
kind = "crash"
host = "nodes"
every = "1m"
for = "1s"
[set]
"clients.rounds" = 1
[[designs]]
name = "one"
lock = "single"
[[designs]]
name = "two"
lock = "single"
weather = "none"
[grid]
"lock.ttl" = ["1s", "4s"]
"#;

/// One design, of whose second stratum there are two batches, the second of them short.
const BATCHES: &str = r#"
question = "?"
runs = 2
strata = { by = "kind", faults = 1, quiet = "holds", by_weight = 503 }
weather = "pauses-only"
[set]
"clients.rounds" = 1
"clients.count" = 2
"lock.ttl" = "1s"
[[designs]]
name = "one"
lock = "single"
"#;

/// The batches that a sweep tells of on so many threads, until it is told to end.
fn swept(study: &Arc<Study>, jobs: usize, most: usize) -> Vec<Batch> {
    swept_until(study, |_| false, jobs, most)
}

fn swept_until(
    study: &Arc<Study>,
    is_enough: impl Fn(Counted) -> bool + Send + 'static,
    jobs: usize,
    most: usize,
) -> Vec<Batch> {
    let effort = SweepEffort {
        jobs: NonZeroUsize::new(jobs).expect("at least one"),
        patience: Duration::from_secs(60),
    };
    let (mut batches, mut begun) = (Vec::new(), 0);
    sweep(&Arc::new(LeanEngine), study, Order::from_study(study, Shard::WHOLE, is_enough), &effort, |told| {
        match told {
            SweepEvent::Batch(batch) => batches.push(batch.clone()),
            SweepEvent::Tick(runs) => {
                assert!(runs >= begun, "{begun} runs were begun, and then {runs}");
                begun = runs;
            }
        }
        if batches.len() == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
    .expect("they can be run");
    let made: u64 = batches.iter().map(|batch| batch.runs).sum();
    assert!(most < usize::MAX || begun <= made, "{begun} runs were begun, and {made} were made");
    batches
}

/// The runs of a batch, made from their seeds: few of them each on its own, from the scenario of its cell with the
/// faults of its seed written out.
fn one_by_one(study: &Study, place: Batch, runs: u64) -> Batch {
    let first = study.seed.0 + 1_000_000_000 * place.stratum + 500 * place.batch;
    let stratum = &study.strata.as_ref().expect("it is divided").all()[place.stratum as usize];
    let cell =
        LeanEngine.prepare(&study.scenario(CellId(place.cell)).expect("a cell")).expect("it can be run");
    let run = |seed: u64| {
        let scenario =
            study.run_of(&LeanEngine, CellId(place.cell), place.stratum, Seed(seed)).expect("a run");
        LeanEngine.prepare(&scenario).expect("it can be run").judge(seed)
    };
    let among = |seed: u64| {
        let drawn = cell.climate().expect("it has weather").draw_just(Seed(seed), stratum);
        cell.judge_among(Seed(seed), drawn)
    };
    let seeds = first..first + runs;
    let runs: Vec<Summary> = if runs < 100 { seeds.map(run).collect() } else { seeds.map(among).collect() };
    counted(&runs, Batch { seed: first, ..place })
}

#[test]
fn the_batches_of_a_sweep_are_the_runs_of_their_seeds() {
    for (text, expected) in [
        (STRATA, (0..12).map(|at| (at / 3, at % 3, 0)).collect::<Vec<_>>()),
        (BATCHES, vec![(0, 0, 0), (0, 1, 0), (0, 1, 1)]),
    ] {
        let study = Arc::new(Study::parse("small", "small.toml", text).expect("a study"));
        let batches = swept(&study, 3, usize::MAX);
        let places: Vec<_> = batches.iter().map(|it| (it.cell, it.stratum, it.batch)).collect();
        assert_eq!(places, expected);
        let strata = study.strata.as_ref().expect("it has some");
        for batch in &batches {
            let cell = study.scenario(CellId(batch.cell)).expect("a cell");
            let prepared = LeanEngine.prepare(&cell).expect("it can be run");
            let weight = strata.weight(prepared.climate(), &strata.all()[batch.stratum as usize]);
            let planned = if text == STRATA && weight > 0.0 { 3 } else { 0 };
            let planned = if text == BATCHES { [2, 505][batch.stratum as usize] } else { planned };
            let place = Batch {
                cell: batch.cell,
                stratum: batch.stratum,
                batch: batch.batch,
                weight: Some(weight),
                beyond: (batch.stratum == 0).then(|| strata.beyond(prepared.climate())),
                planned: Some(planned),
                ..Batch::default()
            };
            assert_eq!(*batch, one_by_one(&study, place, (planned - 500 * batch.batch).min(500)));
        }
        assert!(
            batches.iter().any(|it| !it.faults.is_empty())
                && batches.iter().all(|it| it.grants.sum > 0 || it.runs == 0)
        );
        let some = swept(&study, 1, batches.len() - 1);
        assert_eq!(some, batches[..batches.len() - 1], "it ends after the batch at which it was told to");
    }
}

#[test]
fn no_two_batches_of_a_cell_begin_with_one_seed() {
    let study = Study::parse("small", "small.toml", STRATA).expect("a study");
    for (stratum, batch) in (0..3).flat_map(|stratum| (0..9).map(move |batch| (stratum, batch))) {
        let unit = Unit { place: 0, cell: CellId(2), stratum, batch, runs: 500, of: 4_500 };
        assert_eq!(study.first_seed(unit).0, 7_000 + 1_000_000_000 * stratum + 500 * batch);
    }
}

/// A client that works for just two seconds and a half: so long a run is, as long as the ways take besides.
#[test]
fn a_run_operates_for_as_long_as_its_client_works() {
    let text = "question = \"?\"\nruns = 4\n[set]\n\"clients.count\" = 1\n\"clients.rounds\" = 1\n\"clients.work\" = \"2500ms\"\n\
                \"network.delay\" = \"100us\"\n[[designs]]\nname = \"one\"\nlock = \"single\"\n";
    let study = Arc::new(Study::parse("known", "known.toml", text).expect("a study"));
    let [batch] = &swept(&study, 1, usize::MAX)[..] else { panic!("it has one batch") };
    let each = batch.operated_ms.sum / 4;
    assert!((2_500..2_600).contains(&each), "{each} ms");
    assert_eq!((batch.runs, batch.grants.sum, batch.obtained.count, batch.missed), (4, 4, 4, 0));
}

/// A round is of four batches of 500 runs; the next begins when all of it was told of, on however many threads.
#[test]
fn a_precise_sweep_goes_on_by_rounds_until_it_is_enough() {
    let text = "question = \"?\"\nruns = 2_050\nprecision = { predicate = \"P2\", width = \"1/1000\" }\n\
                [set]\n\"clients.count\" = 1\n\"clients.rounds\" = 1\n[[designs]]\nname = \"one\"\nlock = \"single\"\n";
    let study = Arc::new(Study::parse("precise", "precise.toml", text).expect("a study"));
    let all = swept(&study, 3, usize::MAX);
    let told: Vec<_> = all.iter().map(|batch| (batch.batch, batch.runs)).collect();
    assert_eq!(told, [(0, 500), (1, 500), (2, 500), (3, 500), (4, 50)]);
    assert_eq!(swept(&study, 1, usize::MAX), all);
    assert_eq!(swept_until(&study, |counted| counted.runs >= 1_500, 2, usize::MAX), all[..4]);
}

/// The second round is one batch of the only cell that goes on: nothing else is under way while it is waited for.
#[test]
fn of_a_precise_sweep_the_cells_that_have_enough_end_alone() {
    let text = "question = \"?\"\nruns = 2_500\nprecision = { predicate = \"P1\", width = \"1/1000\" }\n\
                [set]\n\"clients.count\" = 2\n\"clients.rounds\" = 1\n\
                [[designs]]\nname = \"one\"\nlock = \"single\"\n[grid]\n\"lock.ttl\" = [\"10s\", \"20ms\"]\n";
    let study = Arc::new(Study::parse("precise", "precise.toml", text).expect("a study"));
    let all = swept_until(&study, |counted| counted.violated == 0, 3, usize::MAX);
    let told: Vec<_> = all.iter().map(|batch| (batch.cell, batch.batch, batch.runs)).collect();
    let first: Vec<_> = (0..2).flat_map(|cell| (0..4).map(move |batch| (cell, batch, 500))).collect();
    assert_eq!(told, [&first[..], &[(1, 4, 500)]].concat());
}

#[test]
fn a_header_says_what_its_study_does() {
    let header = |text: &str| {
        let study = Study::parse("small", "small.toml", text).expect("a study");
        StudyHeader::new(&LeanEngine, &study, Shard::WHOLE).expect("it can be run")
    };
    let plain =
        BATCHES.replace("strata = { by = \"kind\", faults = 1, quiet = \"holds\", by_weight = 503 }", "");
    assert!(header(BATCHES).quiet_holds && !header(&plain).quiet_holds);
    let last = |text| header(text).last_seed().map(|last| last - header(text).seed);
    assert_eq!((last(BATCHES), last(&plain)), (Some(1_000_000_000 + 505), Some(2)));
}
