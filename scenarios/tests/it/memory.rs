//! What a run takes of a process's memory, beside what `limits.memory` counts: each run in a process of its own, whose
//! peak the system tells.
//!
//! Assumes Linux; elsewhere nothing is measured. Does not model what drawing and explaining a run take.

use std::process::Command;

use doublehold_scenarios::format::Source;
use doublehold_scenarios::{Engine, SimEngine};

/// One thread's re-entrant lock on three nodes, of which every reply comes too late: each call counts it up once more.
const COUNTED_UP: &str = r#"
    claim = "a lock is counted up by calls that never learn of it"
    lock = { algorithm = "multi-lock", ttl = "30s", request_timeout = "5325us", transport_retries = 3 }
    nodes = { names = ["A", "B", "C"], persistence = "always" }
    [[clients]]
    name = "c1"
    program = ["acquire", "release"]
    retry = "45ms"
"#;

/// A re-entrant lock that is taken over and over by one who never gives it back.
const NEVER_RELEASED: &str = r#"
    claim = "a lock is taken again and never given back"
    lock = { algorithm = "multi-lock", ttl = "30s" }
    nodes = { names = ["A", "B", "C"] }
    network = { delay = "1ms" }
    [[clients]]
    name = "c1"
    program = ["acquire", "work 12ms"]
    rounds = 1000
    retry = "0ms"
    [[clients]]
    name = "c2"
    program = ["acquire", "release"]
    retry = "1ms"
"#;

/// A client that asks without a pause for a job that another holds for an hour.
const IMPATIENT: &str = r#"
    claim = "a client is refused hundreds of thousands of times"
    lock = { algorithm = "job", ttl = "1h" }
    nodes = { names = ["A"] }
    [[clients]]
    name = "c1"
    program = ["acquire", "work 1h", "release"]
    [[clients]]
    name = "c2"
    program = ["acquire", "release"]
    start = "c1's grant"
    retry = "0ms"
"#;

/// A holder that takes its lock again and again, of which each grant rests on a key that it found on a node.
const FOUND: &str = r#"
    claim = "each grant finds a key that an earlier one took"
    lock = { algorithm = "redisson-redlock", ttl = "100h" }
    nodes = { names = ["A", "B", "C"] }
    faults = [{ kind = "cut", from = "c1", to = "A", at = "c1's grant" }]
    [[clients]]
    name = "c1"
    program = ["acquire"]
    rounds = 100_000
    give_up_after = "10h"
"#;

/// What a child makes a run of, and the limits that it sets.
const SCENARIO: &str = "MEMORY_TEST_SCENARIO";
const LIMITS: &str = "MEMORY_TEST_LIMITS";
/// What the child says before its number.
const PEAK: &str = "peak kB:";

/// Makes the run that the environment names, and says how much memory the process had at most.
#[test]
#[expect(clippy::print_stdout, reason = "the parent reads it")]
fn the_child_of_a_memory_test_makes_its_run() {
    let (Ok(text), Ok(limits)) = (std::env::var(SCENARIO), std::env::var(LIMITS)) else { return };
    let text = format!("{text}\n[limits]\n{limits}\n");
    let source = Source { name: "memory".into(), file: "memory.toml".into(), text, ..Source::default() };
    let scenario = source.read().unwrap_or_else(|error| panic!("{error}"));
    let report = SimEngine.run(&scenario, 1);
    println!("\n{PEAK} {} {}", peak_kb().unwrap_or(0), report.events);
}

/// The peak of a process that makes this run, in kB, and the run's events; nothing where the system does not say.
fn peak_of(scenario: &str, limits: &str) -> Option<(u64, u64)> {
    peak_kb()?;
    let child = Command::new(std::env::current_exe().expect("a test is a file"))
        .args(["--exact", "memory::the_child_of_a_memory_test_makes_its_run", "--nocapture"])
        .env(SCENARIO, scenario)
        .env(LIMITS, limits)
        .output()
        .expect("a test can be run");
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));
    let said = String::from_utf8(child.stdout).expect("a text");
    let mut numbers = said.lines().find_map(|line| line.strip_prefix(PEAK)).expect(&said).split_whitespace();
    let mut number = || numbers.next().and_then(|word| word.parse().ok()).expect("a number");
    Some((number(), number()))
}

fn peak_kb() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.split_whitespace().next()?.parse().ok()
}

#[test]
fn a_run_takes_no_more_memory_than_its_limit_and_what_a_process_takes_anyway() {
    for scenario in [COUNTED_UP, NEVER_RELEASED, IMPATIENT] {
        for limit in [16, 64] {
            let limits = format!("time = \"1h\"\nevents = 10_000_000\nmemory = \"{limit}MiB\"");
            let Some((peak, events)) = peak_of(scenario, &limits) else { return };
            assert!(peak < (limit + 50) * 1024, "{peak} kB of {limit} MiB, {events} events:{scenario}");
        }
    }
}

#[test]
fn what_a_grant_found_counts_as_memory() {
    let limits = "time = \"1000h\"\nevents = 10_000_000\nmemory = \"256MiB\"";
    let Some((peak, events)) = peak_of(FOUND, limits) else { return };
    assert!(peak < (256 + 50) * 1024, "{peak} kB of 256 MiB, {events} events");
}

#[test]
fn memory_grows_with_events_and_not_with_their_square() {
    let few = peak_of(COUNTED_UP, "time = \"1h\"\nevents = 100_000");
    let many = peak_of(COUNTED_UP, "time = \"1h\"\nevents = 400_000");
    let Some(((few, _), (many, events))) = few.zip(many) else { return };
    assert!(events > 250_000, "{events} events");
    // Four times the events; a square would be sixteen times what grows.
    assert!(many < 4 * few, "{few} and {many} kB");
}
