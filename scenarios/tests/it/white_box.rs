//! White-box rules over every lock of ours, library or not: in calm weather, with pauses, and in runs whose verdict is
//! known.

use std::num::NonZeroU32;
use std::time::Duration;

use doublehold_lockimpl::{Descriptor, Nodes, Ratio, descriptors};
use doublehold_scenarios::build::World;
use doublehold_scenarios::fault::{Effect, Fault, Names};
use doublehold_scenarios::report::white_box::{Rule, RuleVerdict, ask};
use doublehold_scenarios::scenario::{DelayLaw, RatePpb, Scenario};
use doublehold_scenarios::when::{Event, Mark, When};
use doublehold_scenarios::{Engine, LeanEngine, Prepared, Report, SimEngine};

/// A world in which a lock does all that it has to, for leases of 10 s.
fn world(lock: &Descriptor, locks: &[Descriptor], work: &str) -> Scenario {
    let world = World::new(lock.name);
    let world = match lock.nodes {
        Nodes::One => world.nodes(["A"]),
        Nodes::Replicated => world.nodes(["M", "R1"]).master("M"),
        Nodes::Independent => world.nodes(["A", "B", "C"]),
    };
    let world = world.clients(3, ["acquire", work, "release"]).rounds(3).ttl(Duration::from_secs(10));
    let world = world.with(|scenario| {
        let retry = DelayLaw::Uniform { min: Duration::from_millis(20), max: Duration::from_millis(400) };
        scenario.clients.iter_mut().for_each(|client| client.retry = retry.clone());
    });
    world.scenario(lock.name, locks.to_vec()).unwrap_or_else(|error| panic!("{}: {error}", lock.name))
}

/// What a rule is broken by: the lock, the rule, and why that is true.
type Exception = (&'static str, Rule, &'static str);

const EXCEPTIONS: &[Exception] = &[
    ("setnx-getset", Rule::LeftKey, "the end of its key is in its value, which no node knows"),
    ("redis-plus-plus-tx", Rule::LeftKey, "a refused attempt leaves what it has won for a lease"),
];

/// Asks all rules of three runs, and returns the first sentence about each rule that is broken.
fn broken(scenario: &Scenario) -> Vec<(Rule, String)> {
    let prepared = LeanEngine.prepare(scenario).expect("it was checked");
    let reports: Vec<Report> = (1..=3).map(|seed| prepared.run(seed)).collect();
    let first = |rule: Rule| {
        reports.iter().find_map(|report| match ask(rule, report) {
            RuleVerdict::Broken(breaches) => Some((rule, breaches[0].words.clone())),
            _ => None,
        })
    };
    Rule::ALL.into_iter().filter_map(first).collect()
}

/// The same world, in which c1 stops for 12 s when it has its first grant.
fn with_pause(scenario: &Scenario) -> Scenario {
    let pause = Fault {
        effect: Effect::Pause { hosts: Names(vec!["c1".to_owned()]) },
        at: When::from(Event::Mark { client: "c1".to_owned(), mark: Mark::Grant }),
        lasting: Some(Duration::from_secs(12)),
        each: false,
        optional: true,
    };
    let mut paused = scenario.clone();
    paused.faults.push(pause);
    paused
}

#[test]
fn no_lock_of_ours_breaks_a_rule_in_calm_weather_or_by_a_pause_but_those_that_are_named() {
    let locks = descriptors();
    let mut unlike = Vec::new();
    let mut seen = Vec::new();
    for lock in &locks {
        for work in ["work 1ms..400ms", "work 9s..14s"] {
            let calm = world(lock, &locks, work);
            for (weather, scenario) in [("calm", calm.clone()), ("a pause", with_pause(&calm))] {
                for (rule, words) in broken(&scenario) {
                    let is_named = EXCEPTIONS.iter().any(|(name, of, _)| (*name, *of) == (lock.name, rule));
                    seen.push((lock.name, rule));
                    if !is_named {
                        unlike.push(format!("{}, {work}, {weather}: {rule}: {words}", lock.name));
                    }
                }
            }
        }
    }
    assert!(unlike.is_empty(), "{unlike:#?}");
    for (name, rule, _) in EXCEPTIONS {
        assert!(seen.contains(&(*name, *rule)), "{name} does not break {rule} any more");
    }
}

const NO_DRIFT: Ratio = Ratio { numerator: 0, denominator: NonZeroU32::MIN };
const ONE_PERCENT: Ratio = Ratio { numerator: 1, denominator: NonZeroU32::new(100).unwrap() };

/// The lock `single` in its usual world. It computes a deadline, from this moment on, and allows for these drifts of
/// clocks.
fn single(from: &'static str, drift: Ratio, weather: Option<&str>) -> Scenario {
    let locks = descriptors();
    let lock = locks.iter().find(|lock| lock.name == "single").expect("it is one of ours");
    let world = World::usual(lock).with(move |scenario| {
        let switches = scenario.lock.switches.clone().with("elapsed_check", true).with("deadline_from", from);
        let switches = switches.with("drift_ratio", drift).with("drift_constant", Duration::ZERO);
        scenario.lock.switches = switches;
    });
    let world = weather.into_iter().fold(world, |world, weather| world.weather(weather));
    world.scenario("single", locks).expect("it makes sense")
}

#[test]
fn a_deadline_that_counts_from_the_reply_lies_beyond_the_key_in_every_calm_run() {
    let run = |from| SimEngine.run(&single(from, NO_DRIFT, None), 1);
    let reply = run("reply");
    let RuleVerdict::Broken(breaches) = ask(Rule::Margin, &reply) else {
        panic!("{:?}", ask(Rule::Margin, &reply));
    };
    assert_eq!(breaches.len(), 6, "each grant: {breaches:?}");
    assert!(breaches.iter().any(|it| reply.ended < it.at), "also of keys that outlive the run: {breaches:?}");
    assert_eq!(ask(Rule::Margin, &run("send")), RuleVerdict::Holds);
}

/// In 4 s of A's clock, which is 1 % fast, 40 ms less of true time pass than by c1's.
#[test]
fn a_drift_that_the_scenario_states_counts_to_the_millisecond_also_beyond_the_end_of_a_run() {
    let mut scenario = single("send", NO_DRIFT, None);
    scenario.hosts[0].drift = RatePpb(10_000_000);
    let run = SimEngine.run(&scenario, 1);
    let RuleVerdict::Broken(breaches) = ask(Rule::Margin, &run) else {
        panic!("{:?}", ask(Rule::Margin, &run));
    };
    assert_eq!(breaches.len(), 6, "{breaches:?}");
    assert!(breaches.iter().any(|it| run.ended < it.at), "{breaches:?}");
    for breach in breaches {
        let beyond = breach.until.expect("it has an end").since(breach.at);
        // The key was set a few milliseconds after the request was sent, and lasts a part of one longer.
        assert!((32_000_000..40_000_000).contains(&beyond), "{breach:?}");
    }
}

/// What a lock gives up for drifting clocks hides a reply that is a little late. One that is very late shows.
#[test]
fn an_allowance_for_clocks_hides_it_until_a_reply_is_late() {
    let broken = |from| {
        let weather = Some("no-clock-faults-no-amnesia");
        let prepared = LeanEngine.prepare(&single(from, ONE_PERCENT, weather)).expect("it was checked");
        (1..=200).filter(|seed| ask(Rule::Margin, &prepared.run(*seed)).as_str() == "broken").count()
    };
    assert_eq!(ask(Rule::Margin, &SimEngine.run(&single("reply", ONE_PERCENT, None), 1)), RuleVerdict::Holds);
    assert!(broken("reply") > 2);
    assert_eq!(broken("send"), 0);
}
