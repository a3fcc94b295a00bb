//! Shrinking: whatever violates is made as small as it can be, and what is left is looked at by brute force that knows
//! nothing of how the shrinker proposes its changes.
//!
//! Of the catalogue a few scenarios are taken, since a debug build runs slowly; `cargo test --release -p
//! doublehold-search --test it shrink -- --ignored --nocapture` takes all of them, and prints how many replays and how
//! long each took.

mod brute;
mod noise;
mod own;
mod quorum;
mod searched;

use std::time::{Duration, Instant};

use doublehold_history::{Predicate, RunOutcome};
use doublehold_scenarios::build::World;
use doublehold_scenarios::fault::Fault;
use doublehold_scenarios::when::{Event, Mark, Nth, When};
use doublehold_scenarios::{Engine, LeanEngine, Prepared, Scenario, Seed, SimEngine, catalog};
use doublehold_search::shrink::{Case, Effort, KeepNodes, ShrinkError, Shrunk, Size, Target, shrink};

/// Ways in which a lock is lost; Redlock's others are in `quorum.rs`.
const SAMPLE: [&str; 6] = [
    "crash-restart/none/power-loss/too-early",
    "lease-pause/redlock",
    "failover-before-replication",
    "suspend-in-flight",
    "setnx-then-expire",
    // Needs no fault at all.
    "setnx-expire-in-multi",
];

fn load(name: &str) -> Scenario {
    catalog::load(name, &[]).unwrap_or_else(|error| panic!("{error}"))
}

fn shrunk(scenario: &Scenario, seed: u64, target: Target, effort: Effort) -> Shrunk {
    let case = Case { scenario, seed: Seed(seed), target };
    shrink(&LeanEngine, &case, &effort).unwrap_or_else(|error| panic!("{}: {error}", scenario.name))
}

/// What the run from a seed shows first.
fn target(scenario: &Scenario, seed: u64) -> Option<Target> {
    Target::find_in(&LeanEngine.prepare(scenario).expect("a file can be run").judge(seed))
}

/// Shrinks the scenario as it is and among noise, and looks at what is left of both.
fn is_minimal_and_without_noise(name: &str, noises: u64) -> Option<String> {
    let scenario = load(name);
    let target = target(&scenario, 1)?;
    let bare = is_minimal(&scenario, 1, target);
    assert!(bare.others.0 >= 90, "{name}: at {:?} other seeds", bare.others);
    let mut line = format!("{name}: {target}: {}", words(&bare));
    for noise in 0..noises {
        let noisy = noise::violating(&scenario, target, Seed(noise))?;
        let shrunk = is_minimal(&noisy, 1, target);
        assert!(shrunk.others.0 >= 90, "{name}, noise {noise}: at {:?} other seeds", shrunk.others);
        let (left, most) = (shrunk.after.faults, bare.after.faults);
        let text = shrunk.scenario.to_toml();
        assert!(
            left <= most,
            "{name}, noise {noise}: {left} faults are left, and without noise {most}\n{text}"
        );
        line += &format!("\n    {}", words(&shrunk));
    }
    Some(line)
}

#[expect(clippy::disallowed_methods, reason = "how long it takes is printed, and decides nothing")]
fn is_minimal(scenario: &Scenario, seed: u64, target: Target) -> Shrunk {
    let start = Instant::now();
    let effort = Effort { nodes: KeepNodes::None, ..Effort::default() };
    let shrunk = shrunk(scenario, seed, target, effort);
    note(start.elapsed());
    let name = &scenario.name;
    let end = brute::outcome(scenario, Seed(seed));
    assert!(shrunk.is_minimal, "{name}");
    assert!(brute::violates(&shrunk.scenario, shrunk.seed, target, end), "{name}: {target}");
    let superfluous = brute::superfluous(&shrunk, false);
    assert_eq!(superfluous, Vec::<String>::new(), "{name}\n{}", shrunk.scenario.to_toml());
    assert!(shrunk.scenario.faults.iter().all(|fault| !fault.optional), "{name}");
    assert_eq!(brute::wrong_ends(&shrunk), Vec::<String>::new(), "{name}\n{}", shrunk.scenario.to_toml());
    shrunk
}

thread_local! {
    static TIMES: std::cell::RefCell<Vec<Duration>> = const { std::cell::RefCell::new(Vec::new()) };
}

fn note(took: Duration) {
    TIMES.with_borrow_mut(|times| times.push(took));
}

fn words(shrunk: &Shrunk) -> String {
    let Shrunk { before, after, replays, others, .. } = shrunk;
    let size = |size: &Size| {
        let Size { faults, clients, steps, nodes } = size;
        format!("{faults} faults, {clients} clients, {steps} steps, {nodes} nodes")
    };
    format!(
        "{} -> {}; {replays} replays, at {} of {} other seeds",
        size(before),
        size(after),
        others.0,
        others.1
    )
}

#[test]
fn nothing_can_go_of_what_is_left_and_no_noise_is_left() {
    for (noise, name) in SAMPLE.iter().enumerate() {
        let scenario = load(name);
        assert!(target(&scenario, 1).is_some(), "{name}");
        // Half of them are shrunk among noise.
        is_minimal_and_without_noise(name, noise as u64 % 2);
    }
}

#[test]
#[ignore = "takes long in a debug build"]
#[expect(clippy::print_stdout, reason = "the distribution of sizes, replays and times is what it is run for")]
fn nothing_can_go_of_what_is_left_of_the_catalogue_and_no_noise_is_left() {
    for entry in catalog::entries().expect("the catalogue is right") {
        if let Some(line) = is_minimal_and_without_noise(&entry.name, 5) {
            println!("{line}");
        }
    }
    print_times();
}

#[expect(clippy::print_stdout, reason = "the distribution is what is asked for")]
fn print_times() {
    let mut times = TIMES.take();
    times.sort();
    let at = |part: usize| times[(times.len() - 1) * part / 100];
    println!("{} shrunk: median {:?}, 90 % within {:?}, longest {:?}", times.len(), at(50), at(90), at(100));
}

#[test]
fn nothing_can_go_of_what_is_left_of_weather() {
    let found = searched::found("setnx-getset", "hostile", 50);
    assert!(found.len() >= 5, "{found:?}");
    // A violation that takes a race as well as a fault comes from some seeds only.
    let steady = found.iter().filter(|(_, shrunk)| shrunk.others.0 >= 90).count();
    assert!(steady * 5 >= found.len() * 4, "{found:?}");
}

#[test]
#[ignore = "takes long in a debug build"]
#[expect(clippy::print_stdout, reason = "what is left of each is what it is run for")]
fn nothing_can_go_of_what_is_left_of_what_a_search_finds() {
    for lock in doublehold_lockimpl::descriptors() {
        for preset in ["cloud", "hostile"] {
            let found = searched::found(lock.name, preset, 2_000);
            found.iter().for_each(|(line, _)| println!("{line}"));
        }
    }
    print_times();
}

#[test]
fn the_same_input_comes_to_the_same_result_and_redis_rs_to_a_like_one() {
    let scenario = load("lease-pause");
    let target = Target::Violates(Predicate::P1);
    let first = shrunk(&scenario, 7, target, Effort::default());
    assert_eq!(first, shrunk(&scenario, 7, target, Effort::default()));
    let case = Case { scenario: &scenario, seed: Seed(7), target };
    let real = shrink(&SimEngine, &case, &Effort::default()).expect("it violates");
    assert_eq!((real.after, &real.scenario.faults), (first.after, &first.scenario.faults));
}

#[test]
fn what_is_left_is_a_file_that_reads_as_itself_and_shows_what_it_expects() {
    let result = shrunk(&load("clock-jump"), 1, Target::Violates(Predicate::P2), Effort::default());
    let file = doublehold_scenarios::format::Source {
        name: result.scenario.name.clone(),
        text: result.scenario.to_toml(),
        ..Default::default()
    };
    assert_eq!(file.read().expect("a file"), result.scenario);
    let run = SimEngine.run(&result.scenario, result.seed);
    assert_eq!(run.judgement(), doublehold_scenarios::report::Judgement::AsExpected);
    assert_eq!(
        result.scenario.story,
        "c2 starts at c1's grant. The link from c1 to D and E is cut, at the beginning. C has its wall clock stepped by \
         +10 s, at c1's grant."
    );
}

#[test]
fn a_fault_at_a_time_is_bound_to_the_step_at_which_it_struck() {
    let mut scenario = load("lease-pause");
    let run = LeanEngine.run(&scenario, 1);
    let struck = run.faults[0].from.expect("it struck");
    // While c1 works, 7.654321 ms before its check.
    scenario.faults[0].at = When::At(Duration::from_nanos(struck.0 - 7_654_321));
    let result = shrunk(&scenario, 1, Target::Violates(Predicate::P1), Effort::default());
    let [pause] = &result.scenario.faults[..] else { panic!("{:?}", result.scenario.faults) };
    assert!(matches!(pause.at, When::On { after: Duration::ZERO, .. }), "{pause}");
    assert_eq!(result.others, (100, 100));
}

#[test]
fn the_range_of_a_pause_that_violates_is_the_lease_and_more() {
    let result = shrunk(&load("lease-pause"), 1, Target::Violates(Predicate::P1), Effort::default());
    let window = result.windows.iter().find(|window| window.key == "faults.0.for").expect("the pause lasts");
    let s = Duration::from_secs;
    assert!(window.loses_below && (s(9)..s(11)).contains(&window.from), "{window}");
    assert!(!window.loses_above && window.to >= s(60), "{window}");
    assert!(window.to_string().ends_with(" s (longest tried)"), "{window}");
}

#[test]
fn a_shrink_that_may_make_few_replays_says_that_it_was_cut_short() {
    let target = Target::Violates(Predicate::P1);
    let with = |replays_max| {
        let effort = Effort { replays_max, ..Effort::default() };
        let result = shrunk(&load("lease-pause/redlock"), 1, target, effort);
        assert!(result.replays <= replays_max, "{} of {replays_max}", result.replays);
        result
    };
    (0..4).for_each(|more| drop(with(Effort::REPLAYS_MIN + 33 * more)));
    assert_eq!(with(Effort::REPLAYS_MIN).after, with(Effort::REPLAYS_MIN).before);
    let result = with(200);
    assert!(!result.is_minimal);
    assert!(brute::violates(&result.scenario, result.seed, target, RunOutcome::Completed));
    assert!(result.after.steps < result.before.steps, "{:?}", result.after);
}

/// Work that outlasts the lease in about half of the runs, and is left so, since nothing else may be tried.
#[test]
fn the_other_seeds_that_show_it_too_are_counted() {
    let world = World::new("luck")
        .nodes(["A"])
        .clients(2, ["acquire", "work 500ms..1500ms", "release"])
        .ttl(Duration::from_secs(1));
    let scenario = world.scenario("single", doublehold_lockimpl::descriptors()).expect("a world");
    let (seed, target) =
        (1..).find_map(|seed| Some((seed, target(&scenario, seed)?))).expect("half of them show it");
    let effort = Effort { replays_max: Effort::REPLAYS_MIN, ..Effort::default() };
    let result = shrunk(&scenario, seed, target, effort);
    let prepared = LeanEngine.prepare(&scenario).expect("it can be run");
    let shows = |other: &u64| brute::shows(&prepared.judge(*other), target, RunOutcome::Completed);
    let showing = (seed + 1..=seed + 100).filter(shows).count() as u64;
    assert_eq!(result.others, (showing, 100));
    assert!((20..80).contains(&showing), "{showing}");
}

#[test]
fn a_run_that_shows_nothing_is_refused() {
    let scenario = load("quiet");
    let case = Case { scenario: &scenario, seed: Seed(1), target: Target::Violates(Predicate::P2) };
    let error = shrink(&LeanEngine, &case, &Effort::default()).expect_err("nothing is violated");
    assert!(matches!(error, ShrinkError::NoExample { .. }));
    assert_eq!(
        error.to_string(),
        "the run of `quiet` from seed 1 is no example: it does not show that P2 is violated"
    );
}

/// A step of a clock that waits for a client of another lock is still needed, so it comes at the time at which it came.
#[test]
fn a_client_goes_although_a_fault_waits_for_it() {
    let step = Fault::clock_step("A", 10_000_000_000).at(When::event("c3", Mark::Acquire));
    let world = World::new("waits").nodes(["A"]).locks(["stock", "orders"]).fault(step);
    let world = world
        .client("c1", ["acquire stock", "work 5s", "release stock"])
        .client("c2", ["acquire stock", "release stock"])
        .client("c3", ["acquire orders", "release orders"])
        .with(|scenario| {
            scenario.clients[1].start = Some(When::event("c1", Mark::Grant));
            scenario.clients[2].start = Some(When::from(Duration::from_millis(300)));
        });
    let scenario = world.scenario("single", doublehold_lockimpl::descriptors()).expect("a world");
    let result = shrunk(&scenario, 1, Target::Violates(Predicate::P1), Effort::default());
    assert_eq!((result.after.clients, result.after.faults), (2, 1), "{}", result.scenario.to_toml());
    assert_eq!(result.scenario.faults[0].to_string(), "A has its wall clock stepped by +10 s, at c1's grant");
}

#[test]
fn locks_and_objects_that_nobody_uses_go() {
    let program = [
        "acquire orders",
        "read orders",
        "acquire stock",
        "read stock",
        "work 1s",
        "write stock",
        "release stock",
        "release orders",
    ];
    let pause = Fault::pause("c1").at(Duration::from_millis(500)).lasting(Duration::from_secs(17));
    let world = World::new("two locks").nodes(["A"]).locks(["orders", "stock"]).fault(pause);
    let world = world.client("c1", program).client("c2", ["acquire stock", "write stock", "release stock"]);
    let second = Event::mark("c1", Mark::Grant);
    let world = world.with(move |scenario| {
        scenario.clients[1].start =
            Some(When::On { events: vec![Nth { event: second.clone(), nth: 2 }], after: Duration::ZERO });
    });
    let scenario = world.scenario("single", doublehold_lockimpl::descriptors()).expect("a world");
    let left = shrunk(&scenario, 1, Target::Violates(Predicate::P3), Effort::default()).scenario;
    assert_eq!(left.lock.names, ["stock"], "{}", left.to_toml());
    assert_eq!(left.resource.objects.len(), 1);
    assert!(brute::violates(&left, Seed(1), Target::Violates(Predicate::P3), RunOutcome::Completed));
}
