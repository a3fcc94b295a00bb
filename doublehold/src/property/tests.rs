//! What is drawn, against what may be: every value that the words beside a strategy allow comes up, and no other does;
//! and a case is what its number and the seed make it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use doublehold_lockimpl::{Descriptor, Kind, Switch, Switches, Value, descriptors};
use doublehold_scenarios::scenario::{DelayLaw, Persistence, Probability};
use doublehold_scenarios::weather::{RandomFault, Weather, preset};
use doublehold_scenarios::{Engine, SimEngine, catalog};
use doublehold_search::many::Count;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::*;

/// So many draws of a strategy, the same each time.
fn drawn<T: std::fmt::Debug>(strategy: &impl Strategy<Value = T>, count: usize) -> Vec<T> {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let config = Config { failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, rng);
    (0..count).map(|_| strategy.new_tree(&mut runner).expect("nothing is refused").current()).collect()
}

fn in_parts(of: Duration) -> BTreeSet<Duration> {
    [1, 2, 4].map(|parts| of / parts).into()
}

/// The times of a law, each a part of the line's own.
fn times(law: &Option<DelayLaw>) -> Vec<Duration> {
    match law {
        None => Vec::new(),
        Some(DelayLaw::Fixed(it) | DelayLaw::LogNormal { median: it, .. }) => vec![*it],
        Some(DelayLaw::Uniform { min, max }) => vec![*min, *max],
        Some(DelayLaw::Quantiles(all)) => all.to_vec(),
    }
}

/// Compares what was drawn of one law with its parts.
fn check_parts(of: &Option<DelayLaw>, drawn: &[&Option<DelayLaw>]) {
    for (place, time) in times(of).into_iter().enumerate() {
        let seen: BTreeSet<Duration> = drawn.iter().map(|law| times(law)[place]).collect();
        assert_eq!(seen, in_parts(time), "{of:?}");
    }
    let shape = |law: &Option<DelayLaw>| law.as_ref().map(std::mem::discriminant);
    assert!(drawn.iter().all(|law| shape(law) == shape(of)), "{of:?}");
}

#[test]
fn of_each_line_of_a_preset_every_mildness_is_drawn_and_no_other() {
    for names in [&["cloud"][..], &["hostile", "pauses-only"], &["pauses-only", "pauses-only"]] {
        let presets = names.iter().map(|name| preset(name).expect("it is there").weather);
        let presets: Vec<Weather> = presets.collect();
        let all = drawn(&weathers(names).expect("they are there"), 600);
        let windows: BTreeSet<Duration> = presets.iter().map(|it| it.window).collect();
        assert_eq!(all.iter().map(|it| it.window).collect::<BTreeSet<_>>(), windows);
        assert_eq!(all.iter().map(|it| it.swarm).collect::<BTreeSet<_>>().len(), 2);
        for share in [Probability::NEVER, Probability::HALF, Probability::new(1, 1).expect("a chance")] {
            let count = all.iter().filter(|it| it.at_steps == share).count();
            assert!((150..250).contains(&count), "{share:?}: {count}");
        }
        let mut lines: Vec<&RandomFault> = presets.iter().flat_map(|weather| &weather.faults).collect();
        if names[0] == names[names.len() - 1] {
            lines.dedup();
            lines.truncate(presets[0].faults.len());
        }
        for line in lines {
            let is_of = |it: &&RandomFault| {
                let same = (&it.effect, &it.source, it.sign) == (&line.effect, &line.source, line.sign);
                let (was, is) = (times(&line.lasting), times(&it.lasting));
                same && was.len() == is.len()
            };
            let of_line: Vec<Option<&RandomFault>> =
                all.iter().map(|weather| weather.faults.iter().find(is_of)).collect();
            let there: Vec<&RandomFault> = of_line.iter().copied().flatten().collect();
            assert!((200..400).contains(&there.len()), "as often as not: {} of {line:?}", there.len());
            let often = |window: &Duration| [1, 2, 4, 8].map(|it| (line.every * it / 4).max(*window / 16));
            let expected: BTreeSet<Duration> = windows.iter().flat_map(often).collect();
            assert_eq!(there.iter().map(|it| it.every).collect::<BTreeSet<_>>(), expected, "{line:?}");
            check_parts(&line.lasting, &there.iter().map(|it| &it.lasting).collect::<Vec<_>>());
            check_parts(&line.by, &there.iter().map(|it| &it.by).collect::<Vec<_>>());
        }
    }
    assert!(weathers(&["clod"]).expect_err("there is none").to_string().contains("did you mean `cloud`?"));
}

#[test]
fn of_no_preset_comes_no_fault_within_twenty_seconds() {
    let all = drawn(&weathers(&[]).expect("nothing is asked for"), 20);
    assert!(all.iter().all(|it| it.faults.is_empty() && it.window == Duration::from_secs(20)));
}

/// The whole milliseconds that a length of time may be, where it is not zero.
fn lengths(switch: &Switch) -> (Duration, Duration) {
    match switch.default {
        Some(Value::Duration(default)) if !default.is_zero() => {
            (Duration::from_millis((default.as_millis() as u64 / 8).max(1)), default * 4)
        }
        _ => (Duration::from_millis(1), Duration::from_secs(2)),
    }
}

fn check_switch(lock: &Descriptor, switch: &Switch, nodes: usize, values: &BTreeSet<String>, all: &[&Value]) {
    let about = format!("{} of {} on {nodes}: {values:?}", switch.name, lock.name);
    let words = switch.words.iter().map(|word| (*word).to_owned());
    assert!(words.clone().all(|word| values.contains(&word)), "{about}");
    match switch.kind {
        None => assert!(values.iter().all(|value| switch.words.contains(&value.as_str())), "{about}"),
        Some(Kind::Flag) => assert!(values.contains("true") && values.contains("false"), "{about}"),
        Some(Kind::Number { least, most }) => {
            let most = most.resolve(nodes).min(least + 10).max(least);
            let numbers = (least..=most).map(|it| it.to_string());
            let default = switch.default.iter().map(ToString::to_string);
            assert_eq!(*values, words.chain(numbers).chain(default).collect(), "{about}");
        }
        Some(Kind::Ratio) => {
            let tenths = |it: &Value| matches!(it, Value::Ratio(it) if it.denominator.get() == 1_000);
            let of = all.iter().filter(|it| tenths(it)).filter_map(|it| match it {
                Value::Ratio(it) => Some(it.numerator),
                _ => None,
            });
            let of: BTreeSet<u32> = of.collect();
            assert!(of.last() <= Some(&100) && of.len() > 80, "{about}");
        }
        Some(Kind::Interval) => {
            let third = values.contains("1/3") && values.contains("none");
            assert!(
                third && all.iter().any(|it| matches!(it, Value::Duration(it) if !it.is_zero())),
                "{about}"
            );
        }
        Some(kind @ (Kind::Duration | Kind::PositiveDuration)) => {
            let (least, most) = lengths(switch);
            let times = all.iter().filter_map(|it| match it {
                Value::Duration(it) => Some(*it),
                _ => None,
            });
            let times: BTreeSet<Duration> = times.collect();
            let has_zero = times.contains(&Duration::ZERO);
            let is_default_zero = switch.default == Some(Value::Duration(Duration::ZERO));
            assert_eq!(has_zero, kind == Kind::Duration || is_default_zero, "{about}");
            let above: Vec<&Duration> = times.iter().filter(|it| !it.is_zero()).collect();
            assert!(above.iter().all(|it| (least..=most).contains(*it)), "{about}");
            let (first, last) = (above[0], above[above.len() - 1]);
            assert!(*first < least + most / 16 && *last > most - most / 16, "{about}");
        }
    }
}

#[test]
fn of_each_switch_every_value_that_it_may_have_is_drawn_and_no_other() {
    for lock in descriptors() {
        for nodes in [1, 5] {
            let all = drawn(&switches(&lock, nodes), 600);
            let mut seen: BTreeMap<&str, (BTreeSet<String>, Vec<&Value>)> = BTreeMap::new();
            for (name, value) in all.iter().flat_map(|chosen| chosen.iter()) {
                let (values, all) = seen.entry(name).or_default();
                values.insert(value.to_string());
                all.push(value);
            }
            for switch in lock.switches.iter() {
                let (values, of_it) = &seen[switch.name];
                check_switch(&lock, switch, nodes, values, of_it);
                let lacks = all.iter().filter(|chosen| chosen.get(switch.name).is_none()).count();
                let is_always = switch.default.is_some() && switch.needs.is_none();
                assert_eq!(lacks == 0, is_always, "{} of {}", switch.name, lock.name);
                if let Some(needs) = switch.needs {
                    let without = |chosen: &&Switches| chosen.get(needs).is_none();
                    let alone = all.iter().filter(without).any(|chosen| chosen.get(switch.name).is_some());
                    assert!(!alone, "{} of {} without {needs}", switch.name, lock.name);
                }
            }
            assert_eq!(seen.len(), lock.switches.len(), "{}", lock.name);
        }
    }
}

#[test]
fn of_each_number_of_a_world_every_value_is_drawn_and_no_other() {
    let lock = |name: &str| descriptors().into_iter().find(|lock| lock.name == name).expect("it is there");
    let worlds = Worlds::from_descriptor(lock("redlock"))
        .nodes(2..=12)
        .clients(1..=4)
        .rounds(3..=5)
        .ttl(Duration::from_millis(900)..=Duration::from_millis(3_100))
        .delays(Duration::from_micros(3)..=Duration::from_micros(5))
        .persistence([Persistence::Always, Persistence::None]);
    let all = drawn(&worlds.topologies(), 600);
    let seen = |of: fn(&Topology) -> u64| all.iter().map(of).collect::<BTreeSet<u64>>();
    assert_eq!(seen(|it| it.nodes as u64), (2..=9).collect(), "nine at most");
    assert_eq!(seen(|it| it.clients as u64), (1..=4).collect());
    assert_eq!(seen(|it| it.rounds.into()), (3..=5).collect());
    let ttls = seen(|it| u64::try_from(it.ttl.as_nanos()).expect("short"));
    assert!(ttls.iter().all(|ttl| (900..=3_100).contains(&(ttl / 1_000_000)) && ttl % 1_000_000 == 0));
    let seconds = all.iter().filter(|it| it.ttl.subsec_nanos() == 0).count();
    assert!((250..350).contains(&seconds), "half are whole seconds: {seconds}");
    assert!(*ttls.first().expect("some") < 950_000_000 && *ttls.last().expect("some") > 3_050_000_000);
    let delays: BTreeSet<String> = all.iter().map(|it| format!("{:?}", it.delay)).collect();
    assert_eq!(delays.len(), 6, "3 to 5 µs, fixed or between two of them: {delays:?}");
    let kept: BTreeSet<String> = all.iter().map(|it| format!("{:?}", it.persistence)).collect();
    assert_eq!(kept, ["Always", "None"].map(str::to_owned).into());
    assert!(all.iter().all(|it| !it.replicated));
    let replicated = Worlds::from_descriptor(lock("replicated")).topologies();
    assert!(drawn(&replicated, 20).iter().all(|it| it.replicated));
}

fn known(name: &str) -> Descriptor {
    descriptors().into_iter().find(|lock| lock.name == name).expect("it is there")
}

/// As the words beside it say.
#[test]
fn a_world_is_small_unless_told_otherwise() {
    for (name, nodes) in [("single", 1..=1), ("replicated", 2..=3), ("redlock", 1..=5)] {
        let all = drawn(&Worlds::from_descriptor(known(name)).topologies(), 400);
        let seen = |of: fn(&Topology) -> u64| all.iter().map(of).collect::<BTreeSet<u64>>();
        assert_eq!(seen(|it| it.nodes as u64), nodes.collect(), "{name}");
        assert_eq!(seen(|it| it.clients as u64), (2..=3).collect(), "{name}");
        assert_eq!(seen(|it| it.rounds.into()), (1..=2).collect(), "{name}");
        let kept: BTreeSet<String> = all.iter().map(|it| format!("{:?}", it.persistence)).collect();
        assert_eq!(kept.len(), 3, "{name}: {kept:?}");
        // Nearly from end to end, and not beyond.
        let assert_spans = |all: BTreeSet<Duration>, from: Duration, to: Duration| {
            let (first, last) = (*all.first().expect("some"), *all.last().expect("some"));
            assert!(from <= first && first < from + to / 10, "{name}: {first:?}");
            assert!(last <= to && to - to / 10 < last, "{name}: {last:?}");
        };
        let second = Duration::from_secs(1);
        assert_spans(all.iter().map(|it| it.ttl).collect(), 2 * second, 8 * second);
        let delays = all.iter().flat_map(|it| times(&Some(it.delay.clone()))).collect();
        assert_spans(delays, Duration::from_micros(100), Duration::from_millis(10));
    }
}

/// A lock of the user's own that has the name of one of ours: its switches are known, and ours are not.
#[test]
fn what_is_drawn_is_in_the_scenario() {
    let mut lock = known("single");
    let own = Switch {
        name: "own",
        ..known("redlock").switches.iter().find(|it| it.name == "jitter").expect("a flag").clone()
    };
    lock.switches = lock.switches.iter().cloned().chain([own]).collect();
    let (first, second) = (Duration::from_secs(1), Duration::from_secs(2));
    let worlds = Worlds::from_descriptor(lock).ttl(second..=Duration::ZERO).weather(["cloud"]);
    let worlds =
        worlds.with(|scenario| scenario.limits.events = 1).with(|scenario| scenario.limits.events += 7);
    let all = drawn(&worlds.scenarios().expect("a bound is at least its beginning"), 200);
    let distinct = |of: &dyn Fn(&Scenario) -> String| all.iter().map(of).collect::<BTreeSet<String>>();
    assert!(all.iter().all(|it| it.lock.ttl == second && it.limits.events == 8), "in turn, and to the last");
    assert_eq!(distinct(&|it| format!("{:?}", it.nodes.persistence)).len(), 3);
    assert!(distinct(&|it| format!("{:?}", it.link.delay)).len() > 100);
    assert_eq!(distinct(&|it| format!("{:?}", it.lock.switches.get("own"))).len(), 2);
    assert!(all.iter().any(|it| it.weather.as_ref().is_some_and(|weather| !weather.faults.is_empty())));
    let retry = DelayLaw::Uniform { min: first / 2, max: first * 3 / 2 };
    for scenario in &all {
        let limits = &scenario.limits;
        let minutes = |minutes: u32| 60 * minutes * first;
        assert_eq!(
            (limits.obtain_within, limits.after_faults, limits.time),
            (Some(minutes(1)), true, minutes(10))
        );
        assert!(scenario.clients.iter().all(|client| client.retry == retry));
    }
}

/// Of a tally of many cases: the first that broke anything that was to hold, and the gravest thing in it.
#[test]
fn a_property_is_broken_by_the_first_case_and_the_gravest_of_it() {
    let property = |holds: &[Predicate]| {
        let lock = doublehold_lockimpl::Existing::on_one_node("mine", async |_, _, _| Ok(None::<Nothing>));
        Property::new("a name / of its own", lock).holds(holds)
    };
    let count = |first: u64| Count { violated: 1, first: Some(Seed(first)), ..Count::default() };
    let tally = |panicked: Option<u64>| Tally {
        predicates: [(Predicate::P1, count(5)), (Predicate::P2, count(3)), (Predicate::WR, count(2))].into(),
        panicked: panicked.map(|first| (Seed(first), 1)),
        ..Tally::default()
    };
    let first = |holds: &[Predicate], panicked| property(holds).first(&tally(panicked)).map(|it| it.0);
    assert_eq!(first(&[Predicate::P1, Predicate::P2], Some(9)), Some(3));
    assert_eq!(first(&[Predicate::P2, Predicate::P1], None), Some(3));
    assert_eq!(first(&[Predicate::P1], Some(4)), Some(4));
    assert_eq!((first(&[Predicate::P4], None), first(&[], Some(1))), (None, Some(1)));
    let all = property(&Predicate::ALL);
    assert_eq!(all.target(|_| true), Some(Target::ALL[0]));
    for shown in Target::ALL {
        assert_eq!(all.target(|target| target == shown), Some(shown));
        let at_least = Target::ALL.iter().position(|target| *target == shown).expect("it is one");
        let rest = &Target::ALL[at_least..];
        assert_eq!(all.target(|target| rest.contains(&target)), Some(shown));
    }
    let not_asked = property(&[Predicate::P2]).target(|target| target == Target::Violates(Predicate::P1));
    assert_eq!(not_asked, None);
    let folder = property(&[]).regressions.expect("of its own name, if nothing is said");
    assert_eq!(folder, Path::new("doublehold-regressions/a-name-=2f=-of-its-own"));
    assert_eq!(property(&[]).no_regressions().regressions, None);
}

/// A guard that nobody is ever granted.
struct Nothing;

impl doublehold_lockimpl::Guard for Nothing {
    fn token(&self) -> Vec<u8> {
        Vec::new()
    }

    async fn release(self) -> redis::RedisResult<bool> {
        Ok(false)
    }
}

/// The seeds of cases that are drawn from a seed.
fn cases(cases: u64, seed: u64) -> Vec<Seed> {
    let scenario = catalog::load("quiet", &[]).expect("in the catalogue");
    let mut drawn = Vec::new();
    let draws = draws::Draws { cases, seed };
    draws.add_to(&mut drawn, &Just(scenario), &descriptors()).expect("it is accepted");
    drawn.iter().map(|case| case.seed).collect()
}

#[test]
fn a_case_is_what_its_number_and_the_seed_make_it() {
    let few = cases(10, 0);
    assert_eq!(few, cases(30, 0)[..10]);
    let all: BTreeSet<Seed> =
        [0, 1, 1 << 40, u64::MAX].into_iter().flat_map(|seed| cases(10, seed)).collect();
    assert_eq!(all.len(), 40, "another seed draws others, and so does another number");
    assert!(all.iter().all(|seed| (1..=999_999).contains(&seed.0)));
}

#[test]
fn each_run_has_a_file_of_its_own_also_if_two_have_one_seed() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().join("made/when/needed");
    let run = |name: &str| SimEngine.run(&catalog::load(name, &[]).expect("in the catalogue"), 1);
    let target = Target::Violates(Predicate::P2);
    let reports = [run("clock-jump"), run("lease-pause")];
    let write = |report| regressions::write_plan(&folder, target, report).expect("there is room");
    let mut paths: Vec<PathBuf> = reports.iter().map(write).collect();
    assert_eq!(write(&reports[0]), paths[0], "the same run has the same name");
    for other in ["notes.txt", "notes"] {
        std::fs::write(folder.join(other), "not a plan").expect("there is room");
    }
    let read = regressions::read_plans(&folder, &descriptors()).expect("they were written");
    for (report, path) in reports.iter().zip(&paths) {
        let plan = read.iter().find(|(of, _)| of == path).map(|(_, plan)| plan);
        assert_eq!(plan, Some(&Plan::from_report(report)), "{}", path.display());
    }
    paths.sort();
    assert_eq!(read.into_iter().map(|(path, _)| path).collect::<Vec<_>>(), paths);
    assert_eq!(
        regressions::read_plans(&folder.join("not there"), &descriptors()).map(|it| it.len()).ok(),
        Some(0)
    );
}
