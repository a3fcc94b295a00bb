//! The node against a real Redis 7: generated scripts on both, and conversations recorded from a real one.
//!
//! The differential test needs `redis-server` 7.x on PATH; without it the test says so and passes, unless
//! `DOUBLEHOLD_REQUIRE_REDIS=1`. The transcripts in `tests/transcripts` are replayed everywhere.
//!
//! | variable | meaning |
//! |---|---|
//! | `DOUBLEHOLD_REQUIRE_REDIS=1` | no redis-server: fail |
//! | `DOUBLEHOLD_DIFF_SCRIPTS` | how many scripts, default 2,000 |
//! | `DOUBLEHOLD_DIFF_SEED` | their seed, default 1 |
//! | `DOUBLEHOLD_DIFF_FIRST` | the number of the first script, default 0 |
//! | `DOUBLEHOLD_DIFF_SHOW` | how many differences to find before it stops, default 3 |
//! | `DOUBLEHOLD_RECORD_TRANSCRIPTS=1` | write the replies of the real server into the transcripts |
//!
//! Not compared: persistence, replication between nodes (a real Redis sends RDB files), and scripts that never end.

mod client;
mod generate;
mod known;
mod ours;
mod random;
mod real;
mod replay;
mod resp;
mod run;
mod script;
mod shrink;
mod transcript;

use client::Answer;
use known::Known;
use real::RealRedis;
use run::{Difference, Outcome, Pair};
use script::Step;
use std::collections::BTreeSet;
use std::io::Write as _;

/// How many scripts may show a difference once only (the machine stood still for longer than a lifetime), or crash the
/// real server.
const UNSTABLE_LIMIT: usize = 5;

#[test]
fn replies_to_generated_scripts_equal_those_of_a_real_redis() {
    let real = match RealRedis::start() {
        Ok(real) => real,
        Err(why) => {
            let required = std::env::var("DOUBLEHOLD_REQUIRE_REDIS").is_ok_and(|value| value == "1");
            assert!(
                !required,
                "DOUBLEHOLD_REQUIRE_REDIS=1, and there is no real Redis to compare with: {why}"
            );
            say(&format!("SKIPPED: the node was NOT compared with a real Redis: {why}"));
            say("         install redis-server 7.x to run the differential test");
            return;
        }
    };
    let known = Known::read().expect("the list of known differences is well-formed");
    let version = real.version.clone();
    let pair = Pair::new(real, ours::start(), known);
    let plan = Plan::from_environment();
    let report = compare(pair, &plan);
    let Plan { seed, first, count, .. } = plan;
    say(&format!(
        "differential test: {} of {count} scripts ({} steps) from {first} with seed {seed} against Redis {}: {} differences",
        report.scripts,
        report.steps,
        version,
        report.differences.len(),
    ));
    assert!(report.unstable <= UNSTABLE_LIMIT, "{} scripts came to nothing: see above", report.unstable);
    assert!(report.differences.is_empty(), "\n{}", report.differences.join("\n"));
}

/// What the environment asks for.
struct Plan {
    seed: u64,
    first: u64,
    count: u64,
    show: usize,
}

impl Plan {
    fn from_environment() -> Plan {
        let number = |name: &str, default: u64| match std::env::var(name) {
            Ok(text) => text.parse().unwrap_or_else(|_| panic!("`{name}` must be a number, and is `{text}`")),
            Err(_) => default,
        };
        Plan {
            seed: number("DOUBLEHOLD_DIFF_SEED", 1),
            first: number("DOUBLEHOLD_DIFF_FIRST", 0),
            count: number("DOUBLEHOLD_DIFF_SCRIPTS", 2_000),
            show: number("DOUBLEHOLD_DIFF_SHOW", 3) as usize,
        }
    }
}

#[derive(Default)]
struct Report {
    scripts: u64,
    steps: usize,
    unstable: usize,
    /// Shrunk, as text.
    differences: Vec<String>,
}

fn compare(mut pair: Pair, plan: &Plan) -> Report {
    let mut report = Report::default();
    let mut seen = BTreeSet::new();
    for index in plan.first..plan.first + plan.count {
        let script = generate::script(plan.seed, index);
        report.scripts += 1;
        report.steps += script.len();
        let again = match pair.run(&script) {
            Outcome::Equal => continue,
            Outcome::RealCrashed => Outcome::RealCrashed,
            Outcome::Different(_) => pair.run(&script),
        };
        let Outcome::Different(again) = again else {
            report.unstable += 1;
            say(&format!("unstable: script {index} of seed {}: {again:?}", plan.seed));
            continue;
        };
        let (script, difference) = shrink::shrink(&mut pair, &script, again);
        if seen.insert(summary(&script, &difference)) {
            report.differences.push(difference_text(plan.seed, index, &script, &difference));
        }
        if report.differences.len() >= plan.show {
            break;
        }
    }
    report
}

/// Two scripts with the same summary most likely show the same difference.
fn summary(script: &[Step], difference: &Difference) -> (String, Vec<u8>) {
    let command = match &script[difference.at] {
        Step::Send { args, .. } => String::from_utf8_lossy(&args[0]).to_uppercase(),
        Step::Raw { .. } => "raw".to_owned(),
    };
    (command, difference.ours.bytes.iter().copied().take(24).collect())
}

/// A difference as a scene for a file in `tests/transcripts`.
fn difference_text(seed: u64, index: u64, script: &[Step], difference: &Difference) -> String {
    let steps: Vec<(&Step, &Answer)> = script.iter().zip(&difference.real).collect();
    let mut text = transcript::scene_text(&format!("found by seed {seed}, script {index}"), &[], &steps);
    text.push_str("# ours:\n");
    for line in transcript::answer_lines(&difference.ours) {
        text.push_str(&format!("# {line}\n"));
    }
    text
}

/// Past the test harness, which keeps the output of tests that pass to itself.
fn say(text: &str) {
    // Nobody to tell is no reason to fail.
    let _ = writeln!(std::io::stderr(), "{text}");
}
