//! `why` names what decided a run, and what would have changed it: against worlds whose probabilities are known.

use std::num::NonZeroUsize;
use std::sync::OnceLock;

use doublehold_diagnosis::why::{
    Caveat, ChangeOutcome, FUTURES, Point, TRIALS, TrialCounts, TriedChange, Why, WhyError, why,
};
use doublehold_history::{EventKind, Predicate};
use doublehold_scenarios::format::Source;
use doublehold_scenarios::report::Report;
use doublehold_scenarios::{Engine, LeanEngine, Prepared, Scenario, Seed, catalog};
use doublehold_search::shrink::Target;

fn of(scenario: &Scenario, seed: u64, predicate: Option<Predicate>, jobs: usize) -> Result<Why, WhyError> {
    let jobs = NonZeroUsize::new(jobs).unwrap();
    why((&LeanEngine, &LeanEngine), scenario, Seed(seed), predicate.map(Target::Violates), jobs)
}

fn why_of(name: &str, predicate: Option<Predicate>, jobs: usize) -> Result<Why, WhyError> {
    of(&catalog::load(name, &[]).unwrap(), 1, predicate, jobs)
}

fn read(text: &str) -> Scenario {
    let source = Source { name: "x".to_owned(), text: text.to_owned(), ..Source::default() };
    source.read().unwrap_or_else(|error| panic!("{error}"))
}

fn change<'a>(why: &'a Why, what: &str) -> &'a TriedChange {
    let found = why.changes.iter().find(|change| change.what.contains(what));
    found.unwrap_or_else(|| panic!("no `{what}` in {:#?}", why.changes))
}

fn tried(why: &Why, what: &str) -> TrialCounts {
    match change(why, what).came {
        ChangeOutcome::Gone(tried) => tried,
        ref other => panic!("{what}: {other:?}"),
    }
}

/// Within four standard deviations of so many times this probability.
fn is_near(count: u64, of: u64, probability: f64) -> bool {
    let (expected, spread) =
        (of as f64 * probability, (of as f64 * probability * (1.0 - probability)).sqrt());
    (count as f64 - expected).abs() <= 4.0 * spread
}

#[test]
fn of_a_clock_jump_the_step_decides_and_each_of_its_conditions_is_named() {
    // Who cannot have the lock, as with a quorum of four, asks for minutes in each of hundreds of runs.
    let impatient = ["clients.0.give_up_after", "clients.1.give_up_after"];
    let impatient = impatient.map(|key| (key.to_owned(), "10s".to_owned()));
    let why = of(&catalog::load("clock-jump", &impatient).unwrap(), 1, None, 2).unwrap();
    assert_eq!(why.target, Target::Violates(Predicate::P2));
    let step = why.points.iter().position(|point| point.same == FUTURES).unwrap();
    assert!(why.points[..step].iter().all(|point| point.same == 0), "{:#?}", why.points);
    assert!(
        why.points[step]
            .happened
            .iter()
            .any(|what| what.starts_with("C has its wall clock stepped by +10 s")),
        "{:#?}",
        why.points
    );
    assert!(why.as_it_is.violated > TRIALS / 4, "{:?}", why.as_it_is);
    for gone in ["without: C has its wall clock", "without: the link", "without the client c2"] {
        assert_eq!(tried(&why, gone).violated, 0, "{gone}");
    }
    for still in ["lock.jitter", "persistence = always", "lock.release = plain-delete"] {
        assert_eq!(change(&why, still).came, ChangeOutcome::Still, "{still}");
    }
}

#[test]
fn of_a_pause_before_the_write_the_pause_decides() {
    let why = why_of("lease-pause", Some(Predicate::P3), 1).unwrap();
    let pause = |point: &Point| point.happened.iter().any(|what| what.contains("c1 pauses for 20 s"));
    let pause = why.points.iter().position(pause).unwrap();
    assert!(
        why.points[pause - 1].same < FUTURES / 4 && why.points[pause].same > FUTURES / 2,
        "{:#?}",
        why.points
    );
}

#[test]
fn a_run_that_violates_nothing_has_no_why() {
    let error = why_of("quiet", None, 1).unwrap_err();
    assert!(matches!(error, WhyError::NothingViolated { seed: Seed(1), .. }), "{error}");
    let error = why_of("lease-pause", Some(Predicate::P2), 1).unwrap_err();
    assert!(matches!(error, WhyError::NothingViolated { .. }), "{error}");
}

#[test]
fn the_number_of_threads_changes_nothing() {
    assert_eq!(failover_by(1), *failover());
}

/// c1 overruns its lease nine times in ten, and c2 one time in five.
const TWO_CHANCES: &str = r#"
claim = "two overlap if one of two clients works for longer than the lease"
lock = { algorithm = "single", ttl = "10s" }
nodes = { names = ["A"] }
[[clients]]
name = "c1"
program = ["acquire", "work 9s..19s", "release"]
[[clients]]
name = "c2"
program = ["acquire", "work 0s..12500ms", "release"]
start = "c1's grant"
retry = "100ms"
[[clients]]
name = "c3"
program = ["acquire", "release"]
start = "c2's grant"
retry = "100ms"
"#;

/// When a client is granted the lock, and when it calls release.
fn turn(report: &Report, of: &str) -> (u64, u64) {
    let header = report.history.header();
    let (mut granted, mut released) = (u64::MAX, u64::MAX);
    for event in report.history.events() {
        match &event.what {
            EventKind::Granted { client, .. } if header.client(*client) == of => granted = event.at.0,
            EventKind::ReleaseCalled { client, .. } if header.client(*client) == of => released = event.at.0,
            _ => {}
        }
    }
    (granted, released)
}

/// The true shares are 0.92 at first, 0.2 once c1 has drawn a short work (at the instant of its grant), and 1 once c2
/// has drawn a long one.
#[test]
fn a_share_that_falls_and_rises_again_is_told_as_it_is() {
    let scenario = read(TWO_CHANCES);
    let prepared = LeanEngine.prepare(&scenario).expect("it can be run");
    let is_of_c2 = |seed: &u64| {
        let report = prepared.run(Seed(*seed));
        let ([c1, c2], c3) = (["c1", "c2"].map(|client| turn(&report, client)), turn(&report, "c3"));
        c1.1 < c2.0 && c3.0 < c2.1
    };
    let seed = (1..500).find(is_of_c2).expect("one of fifty");
    let why = of(&scenario, seed, Some(Predicate::P1), 2).unwrap();
    let after = |what: &str| {
        let happened = |point: &&Point| point.happened.iter().any(|it| it.contains(what));
        why.points.iter().find(happened).unwrap_or_else(|| panic!("{what}")).same
    };
    let shares =
        [after("the run begins"), after("c1 is granted"), after("c1 calls release"), after("c2 is granted")];
    assert!(is_near(shares[0], FUTURES, 0.92), "{shares:?}");
    assert!(is_near(shares[1], FUTURES, 0.2) && is_near(shares[2], FUTURES, 0.2), "{shares:?}");
    assert_eq!(shares[3], FUTURES, "what was drawn at the instant itself is past");
    assert!(
        is_near(why.as_it_is.violated, TRIALS, 0.92),
        "without faults, trials are other seeds: {:?}",
        why.as_it_is
    );
    assert_eq!(change(&why, "lock.ttl = 5s").came, ChangeOutcome::Still);
    assert_eq!(tried(&why, "lock.ttl = 20s"), TrialCounts::default());
    // c1 alone is left of the two chances: with c3 to wait in its place.
    assert!(is_near(tried(&why, "without the client c3").violated, TRIALS, 0.9), "{:#?}", why.changes);
}

/// A failover while the replica that is promoted has answered and does not have the key yet: a window of 2 ms.
const FAILOVER: &str = r#"
claim = "a lock that one replica knows of is lost when the other is promoted"
lock = { algorithm = "replicated", ttl = "30s", wait_replicas = 1 }
nodes = { names = ["m", "r1"], master = "m", persistence = "none" }
network = { delay = "1ms" }
[[clients]]
name = "c1"
program = ["acquire", "work 200ms", "release"]
[[clients]]
name = "c2"
program = ["acquire", "release"]
start = "c1's acquire"
retry = "100ms"
[[faults]]
kind = "promote"
host = "r1"
at = "8100us"
optional = true
"#;

/// Asked once for all tests: it is some thousand runs.
fn failover() -> &'static Why {
    static WHY: OnceLock<Why> = OnceLock::new();
    WHY.get_or_init(|| failover_by(2))
}

fn failover_by(jobs: usize) -> Why {
    let why = |seed| of(&read(FAILOVER), seed, Some(Predicate::P2), jobs).ok();
    (1..200).find_map(why).expect("some seed has it in this order")
}

/// An fsync before each answer takes a millisecond, and the promotion comes too early.
#[test]
fn a_change_that_only_makes_an_answer_later_moves_the_moment_and_is_no_remedy() {
    let why = failover();
    assert_eq!(tried(why, "without: r1 is promoted").violated, 0);
    assert!(why.as_it_is.violated > TRIALS / 10, "{:?}", why.as_it_is);
    let later = tried(why, "with nodes.persistence = always");
    assert!(later.violated > 0, "{later:?} of {:?}", why.as_it_is);
    let of_no_consequence = change(why, "with lock.fencing = true");
    assert_eq!(of_no_consequence.caveat, Some(Caveat::UncheckedNumbers));
    let of_data = change(why, "with lock.fencing = true, resource.fencing");
    assert_eq!(of_data.caveat, Some(Caveat::GuardsData), "it is about who holds the lock");
    assert_eq!(change(why, "elapsed_check = true").caveat, Some(Caveat::NewDeadline));
    assert_eq!(change(why, "with lock.ttl = 15s").caveat, None);
}
