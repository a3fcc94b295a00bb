//! The same plan gives the same run: alone, after others, on another thread, and as pinned in a golden file.
//!
//! Golden files hold the head of a trace and the hash of the whole, and the faults that seeds draw of weathers. They
//! change when the kernel, the node, a lock or a weather does something else than before; read the difference, then
//! write them anew with `BLESS=1 cargo test -p doublehold-scenarios --test it determinism`.

use std::fmt::Write as _;
use std::path::Path;
use std::thread;

use doublehold_scenarios::report::TraceHash;
use doublehold_scenarios::scenario::Scenario;
use doublehold_scenarios::weather::preset;
use doublehold_scenarios::{Engine, LeanEngine, Prepared, Searchable, Seed, SimEngine, catalog};
use doublehold_sim::Event;

fn load(name: &str) -> Scenario {
    catalog::load(name, &[]).expect("the catalogue has it")
}

fn hash(name: &str, seed: u64) -> TraceHash {
    SimEngine.run(&load(name), seed).trace_hash
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the claim is about threads")]
fn a_run_is_the_same_alone_after_a_hundred_others_and_on_another_thread() {
    for name in [
        "lease-pause/redlock",
        "fencing-33-34",
        "failover-before-replication",
        "crash-restart/everysec/power-loss/at-once",
    ] {
        let alone = thread::spawn(move || hash(name, 7)).join().expect("no run panics");
        for other in 0..100 {
            hash("quiet", 1000 + other);
        }
        assert_eq!(hash(name, 7), alone, "{name} differs after a hundred other runs");
        let elsewhere = thread::spawn(move || hash(name, 7)).join().expect("no run panics");
        assert_eq!(elsewhere, alone, "{name} differs on another thread");
    }
}

#[test]
fn keeping_the_trace_changes_nothing() {
    let (report, trace) = SimEngine.prepare(&load("clock-jump")).expect("it can be run").run_traced(7);
    assert_eq!(report.trace_hash, hash("clock-jump", 7));
    assert_eq!(trace.len() as u64, report.events);
}

#[test]
fn another_seed_is_another_run() {
    assert_ne!(hash("clock-jump", 7), hash("clock-jump", 8));
}

#[test]
fn pinned_runs_are_as_they_were() {
    for (name, seed) in [("clock-jump", 1), ("lease-pause", 2), ("failover-before-replication", 3)] {
        compare(name, seed);
    }
}

/// A seed that is told to somebody draws the same faults in the next version, which no law of what is drawn can say.
#[test]
fn pinned_draws_are_as_they_were() {
    let mut actual = String::new();
    for weather in ["cloud", "field", "hostile"] {
        let scenario = catalog::load("quiet/replicated", &[]).expect("in the catalogue");
        let scenario = Scenario { weather: Some(preset(weather).expect("it is one").weather), ..scenario };
        let prepared = LeanEngine.prepare(&scenario).expect("it can be run");
        let climate = prepared.climate().expect("it has weather");
        let one_of_each = climate.kinds().into_iter().map(|kind| (kind.to_owned(), 1)).collect();
        for seed in 1..=3 {
            let drawn = [
                ("", climate.draw(Seed(seed))),
                (" one of each", climate.draw_just(Seed(seed), &one_of_each)),
            ];
            for (how, faults) in drawn {
                writeln!(actual, "{weather} --seed {seed}{how}").expect("a string takes everything");
                for fault in faults {
                    writeln!(actual, "  {fault}").expect("a string takes everything");
                }
            }
        }
    }
    compare_with("weather.txt", &actual);
}

/// How many events of a trace are pinned word for word: connecting, the first commands, the first replies.
const HEAD: usize = 60;

fn with_names(text: String, scenario: &Scenario) -> String {
    let numbered = scenario.hosts.iter().enumerate();
    numbered.fold(text, |text, (index, host)| text.replace(&format!("HostId({})", index + 1), &host.name))
}

fn compare(name: &str, seed: u64) {
    let (report, trace) = SimEngine.prepare(&load(name)).expect("it can be run").run_traced(seed);
    let mut actual =
        format!("{name} --seed {seed}: trace hash {}, {} events\n", report.trace_hash, report.events);
    // Which task took a step says little to a reader; the hash covers it.
    let events = trace.iter().filter(|record| !matches!(record.event, Event::Ran { .. }));
    for record in events.take(HEAD) {
        let event = with_names(format!("{:?}", record.event), &report.scenario);
        writeln!(actual, "{} {event}", record.at).expect("a string takes everything");
    }
    compare_with(&format!("{name}.{seed}.txt"), &actual);
}

fn compare_with(file: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(file);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, actual).expect("the golden folder is there");
        return;
    }
    let pinned = std::fs::read_to_string(&path).expect("pinned with BLESS=1");
    let differs = pinned.lines().zip(actual.lines()).find(|(pinned, actual)| pinned != actual);
    assert!(pinned == actual, "{file} is not as pinned; the first difference:\n{differs:#?}");
}
