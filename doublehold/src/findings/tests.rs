//! What is told of a search, against the same worked out from its counts: over random tallies of few runs and many, of
//! one predicate and all of them, with panics, refusals, undecided runs, faults that never struck and stated bounds.
//!
//! Not compared: rates (`rates` has tests of its own) and how lines are wrapped.

use std::time::Duration;

use doublehold_diagnosis::counterexample::counterexample;
use doublehold_scenarios::report::Hit;
use doublehold_scenarios::scenario::Scenario;
use doublehold_scenarios::{LeanEngine, catalog};
use doublehold_search::shrink::{Effort, Size};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::*;

/// Wide enough that no line is wrapped.
const WIDTH: usize = 2_000;
const FIRST: u64 = 7;
const RUNS: [u64; 8] = [0, 1, 2, 99, 100, 101, 300, 12_000];
const KINDS: [&str; 3] = ["crash", "cut", "pause"];

/// How often a predicate came to what, in so many runs; first seeds are some way into them.
fn counts(runs: u64) -> impl Strategy<Value = Count> {
    let some = select(vec![0, 0, 0, 0, 1, 2, 3, 120]);
    (some.clone(), some, 0..5_u64).prop_map(move |(violated, inconclusive, at)| {
        let violated = violated.min(runs);
        let inconclusive = inconclusive.min(runs - violated);
        Count {
            holds: runs - violated - inconclusive,
            not_seen: None,
            violated,
            inconclusive,
            first: (violated > 0).then_some(Seed(FIRST + at)),
            unsaid: (inconclusive > 0).then(|| (Seed(FIRST + at), format!("reason {at}"))),
        }
    })
}

/// Tallies of any number of runs.
pub(crate) fn tallies() -> impl Strategy<Value = Tally> {
    select(RUNS.to_vec()).prop_flat_map(|runs| {
        let all = proptest::collection::vec(counts(runs), Predicate::ALL.len());
        let hits = proptest::collection::vec((select(KINDS.to_vec()), 0..3_u64), 0..6);
        (all, hits, 0..3_u64, any::<bool>(), select(vec![0_u64, 0, 0, 1, 4])).prop_map(
            move |(counts, hits, grants, says_why, panics)| {
                let mut coverage = Coverage::default();
                hits.into_iter().for_each(|(kind, struck)| {
                    coverage.add(&Hit { kind, place: StruckAt::Time, struck, first: None })
                });
                Tally {
                    runs,
                    predicates: Predicate::ALL.into_iter().zip(counts).filter(|_| runs > 0).collect(),
                    panicked: (panics > 0 && runs > 0).then_some((Seed(FIRST + 3), panics)),
                    grants,
                    refused: says_why.then(|| (Seed(FIRST), "taken".to_owned())),
                    coverage,
                }
            },
        )
    })
}

fn bounds() -> impl Strategy<Value = Option<WaitBound>> {
    let time = || proptest::option::of(Just(Duration::from_secs(60)));
    (time(), time(), any::<bool>()).prop_map(|(obtain_within, obtain_free_within, after_faults)| {
        let mut scenario: Scenario = catalog::load("quiet", &[]).expect("in the catalogue");
        scenario.limits.obtain_within = obtain_within;
        scenario.limits.obtain_free_within = obtain_free_within;
        scenario.limits.after_faults = after_faults;
        let bound = WaitBound::from_scenario(&scenario, StatedBy::Scenario);
        let stated =
            WaitBound { obtain_within, obtain_free_within, after_faults, stated_by: StatedBy::Scenario };
        match (obtain_within, obtain_free_within) {
            (None, None) => assert_eq!(bound, None),
            _ => assert_eq!(bound, Some(stated)),
        }
        bound
    })
}

fn findings() -> impl Strategy<Value = Findings> {
    let asked = subsequence(Predicate::ALL.to_vec(), 1..=Predicate::ALL.len());
    (tallies(), asked, bounds(), subsequence(KINDS.to_vec(), 0..=3)).prop_map(
        |(tally, asked, bound, kinds)| Findings {
            title: "a search".to_owned(),
            first: Seed(FIRST),
            part: None,
            tally,
            asked,
            skipped: Vec::new(),
            bound,
            kinds,
            idle: Vec::new(),
            found: Vec::new(),
            nondeterminism: None,
            rules: RuleFindings::default(),
            command: "doublehold check it".to_owned(),
        },
    )
}

fn number(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        _ => format!("{},{:03}", number / 1_000, number % 1_000),
    }
}

fn runs(runs: u64) -> String {
    format!("{} run{}", number(runs), if runs == 1 { "" } else { "s" })
}

/// The gaps, by how they begin.
fn gaps(of: &Findings) -> Vec<String> {
    let tally = &of.tally;
    if tally.runs == 0 {
        return vec!["not a single run was made".to_owned()];
    }
    let mut gaps = Vec::new();
    if tally.grants == 0 {
        let why = tally.refused.as_ref().map(|_| "; the last refusal, from seed 7: taken");
        gaps.push(format!("no call was ever granted the lock{}", why.unwrap_or("")));
    }
    let silent: Vec<&str> =
        of.kinds.iter().copied().filter(|kind| tally.coverage.kind(kind).struck == 0).collect();
    if !silent.is_empty() {
        gaps.push(format!("of the weather's faults, {} never struck", list(&silent)));
    }
    for predicate in &of.asked {
        let Count { holds, violated, inconclusive, unsaid, .. } = &tally.predicates[predicate];
        if inconclusive * 100 > tally.runs {
            let (seed, why) = unsaid.clone().expect("an undecided run has a reason");
            let so_often = match holds + violated {
                0 => format!("{predicate} was never decided"),
                _ => format!(
                    "{predicate} was not decided in {} of {}, and a pass leaves at most 1 in 100 undecided",
                    number(*inconclusive),
                    runs(tally.runs)
                ),
            };
            gaps.push(format!(
                "{so_often}; from seed {seed}: {why}; that run again: doublehold check it --seed {seed} --runs 1"
            ));
        }
    }
    gaps
}

/// The sentence at the end.
fn answer(of: &Findings) -> String {
    let tally = &of.tally;
    let names = |of: &[Predicate]| {
        let names: Vec<&str> = of.iter().map(|it| it.as_str()).collect();
        list(&names)
    };
    let violated: Vec<Predicate> =
        of.asked.iter().copied().filter(|predicate| tally.count(*predicate).violated > 0).collect();
    if !violated.is_empty() {
        return format!("VIOLATED: {}", names(&violated));
    }
    if tally.panicked.is_some() {
        return "PANICKED: the lock's own code".to_owned();
    }
    if !gaps(of).is_empty() {
        return "INCONCLUSIVE: nothing was found, and not everything was tried".to_owned();
    }
    let (s, is) = if of.asked.len() == 1 { ("s", "is") } else { ("", "are") };
    let undecided =
        of.asked.iter().map(|it| tally.count(*it).inconclusive).max().expect("something is asked");
    match (undecided, tally.runs) {
        (0, 1) => format!("nothing found: {} hold{s} in the run", names(&of.asked)),
        (0, all) => format!("nothing found: {} hold{s} in all {}", names(&of.asked), runs(all)),
        (some, all) => format!(
            "nothing found: {} {is} never violated in {}, and not decided in {some} of them",
            names(&of.asked),
            runs(all)
        ),
    }
}

/// The line about what is violated and was not asked about.
fn not_asked(of: &Findings) -> Option<String> {
    let mut told = Vec::new();
    for predicate in Predicate::ALL.into_iter().filter(|it| !of.asked.contains(it)) {
        let Count { violated, first, .. } = of.tally.count(predicate);
        if let Some(first) = first {
            let times = if violated == 1 { "once".to_owned() } else { format!("{violated} times") };
            told.push(format!("{predicate} ({times}, first from seed {first})"));
        }
    }
    let told: Vec<&str> = told.iter().map(String::as_str).collect();
    (!told.is_empty())
        .then(|| format!("not asked about, and violated in {}: {}", runs(of.tally.runs), list(&told)))
}

/// The line about waits.
fn waits(bound: Option<&WaitBound>) -> String {
    let Some(WaitBound { obtain_within, obtain_free_within, after_faults, .. }) = bound else {
        return "LV: no bound stated, so that no wait is too long; `--obtain-within 60s` states one"
            .to_owned();
    };
    let to = match (obtain_within, obtain_free_within) {
        (Some(_), None) => "who asks within 60 s",
        (None, Some(_)) => "who asks for a lock that nobody claims within 60 s",
        _ => "who asks within 60 s, and to who asks for a lock that nobody claims within 60 s",
    };
    let from = if *after_faults { ", counted from the last fault" } else { "" };
    format!("LV: the lock goes to {to}{from} (the scenario's bound)")
}

fn is_line(text: &str, line: &str) -> bool {
    text.lines().any(|it| it.trim() == line)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn findings_tell_what_was_counted(findings in findings()) {
        let (text, markdown, tally) = (findings.text(WIDTH), findings.markdown(), &findings.tally);
        let shown: Vec<String> = findings.gaps().iter().map(Gap::to_string).collect();
        let expected = gaps(&findings);
        prop_assert_eq!(shown.len(), expected.len(), "{:?}", shown);
        for (shown, expected) in shown.iter().zip(&expected) {
            prop_assert!(shown.starts_with(expected.as_str()), "{} / {}", shown, expected);
        }
        let seeds = match tally.runs {
            0 | 1 => format!("seed {FIRST}"),
            all => format!("seeds {FIRST} to {}", FIRST + all - 1),
        };
        let grants = if tally.grants == 1 { "1 grant".to_owned() } else { format!("{} grants", tally.grants) };
        let mut lines = vec![format!("{}, {seeds}, {grants}", runs(tally.runs)), answer(&findings)];
        lines.extend(not_asked(&findings));
        lines.push(waits(findings.bound.as_ref()));
        for line in &lines {
            prop_assert!(is_line(&text, line) && is_line(&markdown, line), "{}\n{}\n{}", line, text, markdown);
        }
        for predicate in &findings.asked {
            if let Some((seed, why)) = tally.count(*predicate).unsaid {
                let line = format!("inconclusive, first from seed {seed}: {why}");
                prop_assert!(is_line(&text, &line), "{}\n{}", line, text);
            }
        }
        for target in Target::ALL {
            let (first, asks) = match target {
                Target::Panics => (tally.panicked.map(|(seed, _)| seed), Vec::new()),
                Target::Violates(it) => (tally.count(it).first, vec![it]),
            };
            prop_assert_eq!(findings.first_of(target), first);
            let alone = Findings { asked: asks, tally: tally.clone(), kinds: findings.kinds.clone(), ..of_nothing() };
            prop_assert_eq!(findings.gaps_of(target).len(), gaps(&alone).len());
        }
    }
}

/// A search without runs.
fn of_nothing() -> Findings {
    Findings {
        title: String::new(),
        first: Seed(FIRST),
        part: None,
        tally: Tally::default(),
        asked: Vec::new(),
        skipped: Vec::new(),
        bound: None,
        kinds: Vec::new(),
        idle: Vec::new(),
        found: Vec::new(),
        nondeterminism: None,
        rules: RuleFindings::default(),
        command: String::new(),
    }
}

/// The table of where faults struck has a column for each place, and a row for each kind of the weather and each other.
#[test]
fn coverage_has_a_row_a_kind_and_a_column_a_place() {
    let mut tally = Tally { runs: 3, ..Tally::default() };
    let step = StruckAt::Step(doublehold_scenarios::when::StepKind::Send);
    for (kind, place, struck) in [("pause", StruckAt::Time, 2), ("pause", step, 3), ("cut", step, 0)] {
        tally.coverage.add(&Hit { kind, place, struck, first: None });
    }
    let findings = Findings { tally, kinds: vec!["crash"], idle: vec!["promote"], ..of_nothing() };
    let text = findings.text(WIDTH);
    let table: Vec<Vec<&str>> = text
        .lines()
        .skip_while(|line| !line.starts_with("where faults struck"))
        .skip(2)
        .take(4)
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(table[0][..3], ["kind", "drawn", "struck"], "{text}");
    assert_eq!(table[0][3..].join(" "), format!("any time {}", step.as_str()), "{text}");
    assert_eq!(table[1], ["crash", "0", "0", "-", "-"]);
    assert_eq!(table[2], ["cut", "1", "0", "-", "-"]);
    assert_eq!(table[3], ["pause", "2", "5", "2", "3"]);
    assert!(text.contains("\nof the weather strike nobody here: promote\n"), "{text}");
}

/// Its parts in their order, and what is doubtful only where it is.
#[test]
fn a_counterexample_is_told_with_what_is_doubtful_about_it() {
    let scenario = catalog::load("lease-pause", &[]).expect("in the catalogue");
    let (effort, target) =
        (Effort { replays_max: 300, ..Effort::default() }, Target::Violates(Predicate::P1));
    let mut example =
        counterexample(&LeanEngine, &LeanEngine, (&scenario, Seed(1), target), &effort).expect("it violates");
    (example.shrunk.is_minimal, example.shrunk.others) = (true, (50, 100));
    let Size { faults, clients, steps, nodes } = example.shrunk.before;
    assert_eq!((faults, clients, nodes), (1, 2, 1), "or the words below are others");
    let shown = ReplayHints {
        files: vec!["a.toml".to_owned()],
        run: "run a".to_owned(),
        replay: "replay b".to_owned(),
    };
    let words = |example: &Counterexample, shown: &ReplayHints| -> Vec<String> {
        words_of(example, shown, WIDTH).lines().map(str::to_owned).collect()
    };
    let sure = words(&example, &shown);
    assert_eq!(sure[0], "P1 is violated, first from seed 1");
    assert_eq!(sure[1], format!("  shrunk from 1 fault, 2 clients, {steps} steps, 1 node"));
    let (after, runs) = (example.shrunk.after.steps, example.shrunk.replays);
    assert_eq!(sure[2], format!("      to     1 fault, 2 clients, {after} steps, 1 node, in {runs} runs"));
    assert_eq!(sure[3], format!("  - {}", example.shrunk.scenario.faults[0]));
    let windows = example.shrunk.windows.iter().map(|window| format!("  the same happens with {window}"));
    assert!(
        !example.shrunk.windows.is_empty() && sure[4..].iter().zip(windows).all(|(told, is)| *told == is)
    );
    let last = [
        "  the same happens from 50 of 100 other seeds",
        "  file: a.toml",
        "  run it: run a",
        "  replay: replay b",
    ];
    assert_eq!(sure[sure.len() - 4..], last);
    assert_eq!(sure.len(), 4 + example.shrunk.windows.len() + 4);
    // Each of what is doubtful is a line more, and what is not there is none.
    let lines_more = |doubtful: &Counterexample| {
        let told = words(doubtful, &shown);
        told.into_iter().filter(|line| !sure.contains(line)).collect::<Vec<_>>()
    };
    example.shrunk.is_minimal = false;
    assert_eq!(lines_more(&example), ["  not minimal: there were not enough runs to try every change"]);
    (example.shrunk.is_minimal, example.shrunk.others) = (true, (49, 100));
    let luck = "mostly luck of seed 1: from another its scenario may show nothing";
    assert_eq!(lines_more(&example), ["  the same happens from 49 of 100 other seeds", &format!("  {luck}")]);
    (example.is_real, example.shrunk.others) = (false, (50, 100));
    assert!(matches!(&lines_more(&example)[..], [line] if line.contains("and not through redis-rs")));
    assert_eq!(words(&example, &ReplayHints::default()).len(), sure.len() + 1 - 3);

    let told = format!("\n\n{}\n", words_of(&example, &shown, WIDTH));
    let findings = Findings { found: vec![(example, shown)], ..of_nothing() };
    let text = findings.text(WIDTH);
    assert!(text.contains(&told) && text.ends_with(&format!("\n\n{}", findings.conclusion(WIDTH))), "{text}");
}
