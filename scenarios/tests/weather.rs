//! Weather: what a seed makes of it is a scenario like any other, and touches nothing but what it strikes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use doublehold_scenarios::fault::{Effect, Fault};
use doublehold_scenarios::scenario::DelayLaw;
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
fn faults_come_as_often_as_stated_and_are_over_with_the_window() {
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
    let mut at_steps = 0;
    for fault in drawn.iter().flatten() {
        *of_hosts.entry(fault.effect.hosts().to_string()).or_insert(0.0) += 1.0;
        match fault.at {
            When::At(at) => {
                let lasting = fault.lasting.unwrap();
                assert!(at + lasting <= window, "{fault}");
                assert!(lasting <= Duration::from_secs(3), "{fault}");
            }
            When::On { .. } => at_steps += 1,
        }
    }
    assert!((f64::from(at_steps) / count - 0.5).abs() < 0.03, "{at_steps} of {count} at steps");
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
