//! Weather: what a seed makes of it is a scenario like any other, and touches nothing but what it strikes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use doublehold_scenarios::fault::{Effect, Fault};
use doublehold_scenarios::format::Source;
use doublehold_scenarios::scenario::{DelayLaw, Probability};
use doublehold_scenarios::weather::{Weather, preset, presets};
use doublehold_scenarios::when::When;
use doublehold_scenarios::{Engine, LeanEngine, Prepared, Scenario, SimEngine, catalog};

fn under(weather: &str, name: &str) -> Scenario {
    let scenario = catalog::load(name, &[]).unwrap();
    Scenario { weather: Some(preset(weather).unwrap().weather), ..scenario }.checked().unwrap()
}

/// The faults that many seeds draw.
fn drawn(scenario: &Scenario, seeds: u64) -> Vec<Vec<Fault>> {
    let prepared = SimEngine.prepare(scenario).unwrap();
    let climate = prepared.climate().expect("it has weather");
    (1..=seeds).map(|seed| climate.draw(seed.into())).collect()
}

#[test]
fn a_run_under_weather_is_that_of_the_scenario_with_its_faults_written_out() {
    for name in ["quiet/redlock", "quiet/replicated", "quiet"] {
        let scenario = under("hostile", name);
        let prepared = SimEngine.prepare(&scenario).unwrap();
        let mut faults = 0;
        for seed in 1..=40 {
            let report = prepared.run(seed);
            assert_eq!(report.scenario.weather, None);
            faults += report.scenario.faults.len();
            let written = report.scenario.checked().unwrap_or_else(|error| panic!("{name}, {seed}: {error}"));
            let again = SimEngine.run(&written, seed);
            assert_eq!(again.trace_hash, report.trace_hash, "{name}, seed {seed}");
            assert_eq!(prepared.judge(seed).trace_hash, report.trace_hash, "{name}, seed {seed}");
        }
        assert!(faults > 100, "{faults} faults in 40 runs of {name}");
    }
}

#[test]
fn a_weather_in_which_nothing_happens_changes_no_run() {
    let calm = catalog::load("quiet/redlock", &[]).unwrap();
    let scenario = under("calm", "quiet/redlock");
    for seed in 1..=5 {
        assert_eq!(SimEngine.run(&calm, seed).trace_hash, SimEngine.run(&scenario, seed).trace_hash);
    }
}

#[test]
fn a_seed_means_the_same_faults_whatever_carries_requests() {
    let scenario = under("cloud", "quiet/redlock");
    let lean = LeanEngine.prepare(&scenario).unwrap();
    let faults: Vec<_> = (1..=20).map(|seed| lean.climate().unwrap().draw(seed.into())).collect();
    assert_eq!(drawn(&scenario, 20), faults);
}

#[test]
fn a_line_more_changes_nothing_about_the_others() {
    let scenario = under("cloud", "quiet/redlock");
    let mut more = scenario.clone();
    let extra = preset("pauses-only").unwrap().weather.faults[0].clone();
    more.weather.as_mut().unwrap().faults.push(extra);
    let (fewer, more) = (drawn(&scenario, 50), drawn(&more, 50));
    assert!(fewer.iter().zip(&more).all(|(fewer, more)| more.starts_with(fewer)));
    assert!(fewer.iter().zip(&more).any(|(fewer, more)| more.len() > fewer.len()));
}

#[test]
fn a_line_that_is_left_out_changes_nothing_about_the_others() {
    let scenario = under("hostile", "quiet/redlock");
    for word in ["pause", "crash", "cut"] {
        let mut fewer = scenario.clone();
        fewer.weather.as_mut().unwrap().faults.retain(|line| line.effect.kind().word != word);
        let (all, fewer) = (drawn(&scenario, 50), drawn(&fewer, 50));
        assert!(all.concat().len() > fewer.concat().len() + 5, "{word}");
        let rest = all.into_iter().map(|mut faults| {
            faults.retain(|fault| fault.effect.kind().word != word);
            faults
        });
        assert!(rest.eq(fewer), "without {word}");
    }
}

/// One line of pauses of clients, in every run and at times.
fn pauses(clients: u32, every: Duration, law: &DelayLaw) -> Scenario {
    let client = |n| format!("[[clients]]\nname = \"c{n}\"\nprogram = [\"acquire\", \"release\"]\n");
    let clients: String = (1..=clients).map(client).collect();
    let lock = "lock = { algorithm = \"single\", ttl = \"2s\" }\nnodes = { names = [\"A\"] }\n";
    let text = format!("claim = \"x\"\n{lock}{clients}");
    let scenario =
        Source { name: "x".into(), file: "x.toml".into(), text, ..Source::default() }.read().unwrap();
    let mut weather = preset("pauses-only").unwrap().weather;
    weather.faults.truncate(1);
    weather.faults[0].every = every;
    weather.faults[0].lasting = Some(law.clone());
    let weather = Weather { swarm: false, at_steps: Probability::NEVER, ..weather };
    Scenario { weather: Some(weather), ..scenario }.checked().unwrap()
}

fn log_normal(median_ms: u64) -> DelayLaw {
    DelayLaw::LogNormal { median: Duration::from_millis(median_ms), sigma_milli: 1_000 }
}

#[test]
fn a_line_that_comes_more_often_strikes_wherever_it_struck_before() {
    let every = |seconds| drawn(&pauses(3, Duration::from_secs(seconds), &log_normal(3_000)), 500);
    let (often, seldom) = (every(40), every(240));
    assert!(seldom.iter().zip(&often).all(|(few, many)| few.iter().all(|fault| many.contains(fault))));
    assert!(often.concat().len() > 4 * seldom.concat().len() && !seldom.concat().is_empty());
}

#[test]
fn a_line_that_lasts_longer_strikes_when_and_whom_it_struck_before() {
    let median = |ms| drawn(&pauses(3, Duration::from_secs(20), &log_normal(ms)), 200).concat();
    let (short, long) = (median(1_000), median(3_000));
    assert_eq!(short.len(), long.len());
    for (short, long) in short.iter().zip(&long) {
        assert_eq!((&short.at, &short.effect), (&long.at, &long.effect));
        let ratio = long.lasting.unwrap().as_secs_f64() / short.lasting.unwrap().as_secs_f64();
        assert!((ratio - 3.0).abs() < 0.1 || short.lasting < Some(Duration::from_millis(100)), "{ratio}");
    }
}

#[test]
fn as_many_faults_strike_as_are_stated_however_many_hosts_there_are() {
    for (clients, seconds) in [(10_u32, 40), (64, 40), (100, 40), (100, 1)] {
        let law = DelayLaw::Fixed(Duration::from_millis(1));
        let runs = if seconds == 1 { 20 } else { 400 };
        let drawn = drawn(&pauses(clients, Duration::from_secs(seconds), &law), runs);
        let (runs, expected) = (runs as f64, f64::from(clients) * 20.0 / seconds as f64);
        let counts: Vec<f64> = drawn.iter().map(|faults| faults.len() as f64).collect();
        let mean = counts.iter().sum::<f64>() / runs;
        // Five deviations of a mean of Poisson numbers.
        assert!((mean - expected).abs() < 5.0 * (expected / runs).sqrt(), "{clients}: {mean} of {expected}");
        // Slots are hit once at most, which takes a sixteenth or less from the spread of a Poisson number.
        let spread = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / (runs - 1.0) / expected;
        assert!((0.5..1.6).contains(&spread), "{clients}: {spread}");
    }
}

/// Faults of links, and how many go as they are written, the other way round, and both ways.
#[test]
fn what_is_directed_stays_directed() {
    let ways = |kind: &str, either_way: bool| {
        let text = format!("{kind}, from = 'c1', to = 'resource', every = '2s', either_way = {either_way}");
        let text = format!("{{ swarm = false, faults = [{{ {text} }}] }}").replace('\'', "\"");
        let scenario = catalog::load("quiet", &[("weather".to_owned(), text)]).unwrap();
        let mut found = [0; 3];
        for fault in drawn(&scenario, 100).concat() {
            let (from, both_ways) = match fault.effect {
                Effect::Cut { way } | Effect::Slow { way, .. } | Effect::Loss { way, .. } => {
                    (way.from, way.both_ways)
                }
                Effect::PacketDelay { from, .. } => (from, false),
                other => panic!("{other:?}"),
            };
            found[if both_ways { 2 } else { usize::from(from.to_string() != "c1") }] += 1;
        }
        let all: i32 = found.iter().sum();
        assert!(all > 800, "{all}");
        found.map(|count| (f64::from(count) / f64::from(all) * 20.0).round() as i32 * 5)
    };
    let links = ["kind = 'cut', for = '1s'", "kind = 'slow', by = '9ms', for = '1s'"];
    for kind in links.into_iter().chain(["kind = 'loss', probability = '1/3', for = '1s'"]) {
        assert_eq!(ways(kind, false), [100, 0, 0], "{kind}");
        assert_eq!(ways(kind, true), [25, 25, 50], "{kind}");
    }
    assert_eq!(ways("kind = 'packet-delay', by = '9s'", false), [100, 0, 0]);
    assert_eq!(ways("kind = 'packet-delay', by = '9s'", true), [50, 50, 0]);
}

#[test]
fn swarm_leaves_out_half_of_the_lines() {
    let kinds = |swarm| {
        let mut scenario = under("hostile", "quiet/redlock");
        scenario.weather = Some(Weather { swarm, ..scenario.weather.unwrap() });
        let words = |faults: &Vec<Fault>| {
            faults.iter().map(|fault| fault.effect.kind().word).collect::<BTreeSet<_>>()
        };
        drawn(&scenario, 400).iter().map(|faults| words(faults).len()).sum::<usize>()
    };
    let (some, all) = (kinds(true), kinds(false));
    assert!(some * 10 < all * 8, "{some} kinds with, {all} without");
}

#[test]
fn faults_come_as_often_as_stated_and_last_as_long() {
    let mut scenario = under("pauses-only", "quiet/redlock");
    let window = Duration::from_secs(16);
    let mut weather = Weather { swarm: false, window, ..scenario.weather.unwrap() };
    weather.faults.truncate(1);
    weather.faults[0].every = Duration::from_secs(8);
    weather.faults[0].lasting = Some(DelayLaw::Fixed(Duration::from_secs(3)));
    scenario.weather = Some(weather);
    let runs = 2_000;
    let drawn = drawn(&scenario, runs);
    // Three clients, each once in 8 s, for 16 s: six a run.
    let (count, mut of_hosts) = (drawn.iter().flatten().count() as f64, BTreeMap::new());
    assert!((count / runs as f64 - 6.0).abs() < 0.2, "{} a run", count / runs as f64);
    let (mut at_steps, mut late) = (0, 0);
    for fault in drawn.iter().flatten() {
        *of_hosts.entry(fault.effect.hosts().to_string()).or_insert(0.0) += 1.0;
        match fault.at {
            When::At(at) => {
                assert!(at < window, "{fault}");
                late += u32::from(at + fault.lasting.unwrap() > window);
            }
            When::On { .. } => at_steps += 1,
        }
        assert_eq!(fault.lasting, Some(Duration::from_secs(3)), "{fault}");
    }
    assert!((f64::from(at_steps) / count - 0.5).abs() < 0.03, "{at_steps} of {count} at steps");
    // Of those that begin in the last 3 s of 16.
    let share = f64::from(late) / (count - f64::from(at_steps));
    assert!((share - 3.0 / 16.0).abs() < 0.02, "{share}");
    assert_eq!(of_hosts.len(), 3);
    assert!(of_hosts.values().all(|count| (count / runs as f64 - 2.0).abs() < 0.15), "{of_hosts:?}");
}

#[test]
fn every_preset_reads_as_it_was_written_and_gives_its_reasons() {
    for preset in presets().unwrap() {
        assert!(!preset.about.is_empty(), "{}", preset.name);
        for line in &preset.weather.faults {
            assert!(
                !line.source.is_empty(),
                "{}: a {} without a source",
                preset.name,
                line.effect.kind().word
            );
        }
        let scenario = under(preset.name, "quiet/replicated");
        assert_eq!(scenario.weather, Some(preset.weather.clone()), "{}", preset.name);
        assert_eq!(scenario.checked().unwrap(), scenario);
    }
}

#[test]
fn an_assumption_is_kept() {
    let kinds = |weather| {
        let drawn = drawn(&under(weather, "quiet/replicated"), 500);
        let words = drawn.iter().flatten().map(|fault| fault.effect.kind().word.to_owned());
        words.collect::<BTreeSet<_>>()
    };
    let clocks = ["clock-step", "clock-drift", "clock-freeze", "suspend"];
    let (hostile, right, both) =
        (kinds("hostile"), kinds("no-clock-faults"), kinds("no-clock-faults-no-amnesia"));
    for word in clocks {
        assert!(hostile.contains(word) && !right.contains(word) && !both.contains(word), "{word}");
    }
    let of_nodes = drawn(&under("no-amnesia", "quiet/redlock"), 500);
    let deaths =
        of_nodes.iter().flatten().filter(|fault| ["crash", "power-loss"].contains(&fault.effect.kind().word));
    assert!(deaths.clone().count() > 50);
    for fault in deaths {
        assert!(fault.effect.hosts().0.iter().all(|host| host.starts_with('c')), "{fault}");
    }
    assert!(hostile.contains("fsync-lies") && !both.contains("fsync-lies"));
}

/// A weather's file knows no hosts, so that what it names may be somebody whom the fault cannot strike.
#[test]
fn roles_and_disks_are_those_of_nodes_and_roles_of_nodes_that_replicate() {
    let with = |name: &str, kind: &str, host: &str| {
        let mut scenario = under("hostile", name);
        let lines = &mut scenario.weather.as_mut().unwrap().faults;
        lines.retain(|line| line.effect.kind().word == kind);
        for line in lines.iter_mut() {
            match &mut line.effect {
                Effect::Promote { host: hosts, .. } | Effect::FsyncLies { hosts } => {
                    *hosts = [host, "c1"].into()
                }
                other => panic!("{other:?}"),
            }
        }
        let climate = SimEngine.prepare(&scenario).unwrap().climate().cloned().expect("it has weather");
        let drawn = (1..=100).flat_map(|seed| climate.draw(seed.into()));
        let hosts: BTreeSet<String> = drawn.flat_map(|fault| fault.effect.hosts().0).collect();
        (hosts.into_iter().collect::<Vec<_>>(), climate.idle().to_vec())
    };
    let of = |hosts: &[&str]| hosts.iter().map(|&host| host.to_owned()).collect::<Vec<_>>();
    assert_eq!(with("quiet/replicated", "promote", "nodes"), (of(&["M", "R1", "R2"]), vec![]));
    assert_eq!(with("quiet/single", "promote", "nodes"), (vec![], vec!["promote"]));
    assert_eq!(with("quiet/single", "fsync-lies", "nodes"), (of(&["A"]), vec![]));
    // In a scenario the hosts are known.
    for keys in ["host = 'c1'", "host = 'replicas', tell = 'c1'", "host = 'replicas', tell = 'clients'"] {
        let line = format!("{{ faults = [{{ kind = 'promote', every = '2s', {keys} }}] }}");
        let refused =
            catalog::load("quiet/replicated", &[("weather".to_owned(), line)]).unwrap_err().to_string();
        assert!(refused.contains("a `promote` strikes nodes"), "{refused}");
    }
}
