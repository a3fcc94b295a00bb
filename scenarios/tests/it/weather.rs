//! Weather: what a seed makes of it is a scenario like any other, and touches nothing but what it strikes. The law of
//! what is drawn has its tests beside the code (`src/weather/tests.rs`).

use std::collections::BTreeSet;
use std::time::Duration;

use doublehold_scenarios::fault::Fault;
use doublehold_scenarios::format::Source;
use doublehold_scenarios::scenario::{DelayLaw, Probability};
use doublehold_scenarios::weather::{Weather, preset, presets};
use doublehold_scenarios::{Engine, LeanEngine, Prepared, Scenario, Searchable, SimEngine, catalog};

fn under(weather: &str, name: &str) -> Scenario {
    let scenario = catalog::load(name, &[]).unwrap();
    Scenario { weather: Some(preset(weather).unwrap().weather), ..scenario }.validate().unwrap()
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
            let written =
                report.scenario.validate().unwrap_or_else(|error| panic!("{name}, {seed}: {error}"));
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
    Scenario { weather: Some(weather), ..scenario }.validate().unwrap()
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
fn every_file_of_the_folder_is_a_preset() {
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/weather")).unwrap();
    let files: BTreeSet<String> =
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    let listed = presets().unwrap().iter().map(|preset| format!("{}.toml", preset.name)).collect();
    assert_eq!(files, listed);
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
        assert_eq!(scenario.validate().unwrap(), scenario);
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

#[test]
fn a_promotion_of_what_is_no_node_is_refused_where_hosts_are_known() {
    for keys in ["host = 'c1'", "host = 'replicas', tell = 'c1'", "host = 'replicas', tell = 'clients'"] {
        let line = format!("{{ faults = [{{ kind = 'promote', every = '2s', {keys} }}] }}");
        let refused =
            catalog::load("quiet/replicated", &[("weather".to_owned(), line)]).unwrap_err().to_string();
        assert!(refused.contains("a `promote` strikes nodes"), "{refused}");
    }
}
