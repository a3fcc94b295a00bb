//! The node against a real Redis 7: generated scripts on both, and conversations recorded from a real one.
//!
//! The differential test needs `redis-server` 7.0.x on PATH; without it the test says so and passes, unless
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
//! Not compared: persistence, replication between nodes (a real Redis sends RDB files; a replica of the test's own asks
//! what WAIT counts), and scripts that never end.

mod blocking;
mod client;
mod events;
mod generate;
mod introspection;
mod known;
mod ours;
mod push;
mod random;
mod real;
mod replay;
mod resp;
mod run;
mod script;
mod shrink;
mod transcript;
mod wait;

use std::collections::BTreeSet;
use std::io::Write as _;

use client::Answer;
use known::Known;
use real::RealRedis;
use run::{Difference, Outcome, Pair};
use script::Step;

/// How many scripts may show a difference once only (the machine stood still for longer than a lifetime), or crash the
/// real server.
fn unstable_limit(scripts: u64) -> usize {
    5 + scripts as usize / 1_000
}

/// Pairs of servers that share the scripts: mostly they wait, for each other or for keys to expire.
const PAIRS: u64 = 4;

#[test]
fn replies_to_generated_scripts_equal_those_of_a_real_redis() {
    let Some(real) = RealRedis::start_if_there() else { return };
    let version = real.version.clone();
    let plan = Plan::from_environment();
    let report = compare_in_parallel(real, &plan);
    let Plan { seed, first, count, .. } = plan;
    say(&format!(
        "differential test: {} of {count} scripts ({} steps) from {first} with seed {seed} against Redis {version}: \
         {} differences",
        report.scripts,
        report.steps,
        report.differences.len(),
    ));
    assert!(
        report.unstable <= unstable_limit(report.scripts),
        "{} scripts came to nothing: see above",
        report.unstable
    );
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

impl Report {
    fn add(mut self, other: Report) -> Report {
        self.scripts += other.scripts;
        self.steps += other.steps;
        self.unstable += other.unstable;
        self.differences.extend(other.differences);
        self
    }
}

fn compare_in_parallel(real: RealRedis, plan: &Plan) -> Report {
    let mut servers = vec![real];
    while servers.len() < PAIRS as usize {
        servers.push(RealRedis::start().expect("another one has started before"));
    }
    let pair_of =
        |real| Pair::new(real, ours::start(), Known::read().expect("the known differences are readable"));
    std::thread::scope(|scope| {
        let scripts =
            (0..PAIRS).map(|part| (plan.first + part..plan.first + plan.count).step_by(PAIRS as usize));
        let start = |(real, scripts)| scope.spawn(move || compare(pair_of(real), plan, scripts));
        let threads: Vec<_> = servers.into_iter().zip(scripts).map(start).collect();
        let reports =
            threads.into_iter().map(|thread| thread.join().expect("a panic has been reported already"));
        reports.fold(Report::default(), Report::add)
    })
}

fn compare(mut pair: Pair, plan: &Plan, scripts: impl Iterator<Item = u64>) -> Report {
    let mut report = Report::default();
    let mut seen = BTreeSet::new();
    for index in scripts {
        let script = generate::script(plan.seed, index);
        report.scripts += 1;
        report.steps += script.len();
        let found = match pair.run(&script) {
            Outcome::Equal => continue,
            Outcome::RealCrashed => {
                report.unstable += 1;
                say(&format!("script {index} of seed {} crashed the real server", plan.seed));
                continue;
            }
            Outcome::Different(found) => found,
        };
        let Outcome::Different(again) = pair.run(&script) else {
            report.unstable += 1;
            let (step, real) = (&script[found.at], found.real.last());
            say(&format!("shown once only, by script {index} of seed {}: {step}", plan.seed));
            say(&format!("  real: {}", real.map(answer_line).unwrap_or_default()));
            say(&format!("  ours: {}", answer_line(&found.ours)));
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

fn answer_line(answer: &Answer) -> String {
    transcript::answer_lines(answer).join(" ")
}

/// Two scripts with the same summary most likely show the same difference.
fn summary(script: &[Step], difference: &Difference) -> (String, Vec<u8>) {
    let command = match &script[difference.at] {
        Step::Send { args, .. } | Step::Round { args, .. } => {
            String::from_utf8_lossy(&args[0]).to_uppercase()
        }
        Step::Raw { .. } => "raw".to_owned(),
    };
    (command, difference.ours.bytes.iter().copied().take(24).collect())
}

#[test]
fn the_same_seed_gives_the_same_scripts_and_other_seeds_give_others() {
    for index in 0..50 {
        assert_eq!(generate::script(7, index), generate::script(7, index));
        assert_ne!(generate::script(7, index), generate::script(8, index));
    }
}

#[test]
fn every_script_can_be_written_as_a_transcript_and_read_back() {
    let answer = Answer { bytes: b"$3\r\n\x00 \xff\r\n".to_vec(), end: client::End::Reply };
    for index in 0..500 {
        let script = generate::script(7, index);
        let steps: Vec<(&Step, &Answer)> = script.iter().map(|step| (step, &answer)).collect();
        let text = transcript::scene_text("a scene", &[], &steps);
        let (_, scenes) = transcript::parse(&text).unwrap_or_else(|why| panic!("{why}\n{text}"));
        let read: Vec<(Step, Answer)> = scenes
            .into_iter()
            .flat_map(|scene| scene.steps)
            .map(|(step, answer, _)| (step, answer))
            .collect();
        let written: Vec<(Step, Answer)> = script.into_iter().map(|step| (step, answer.clone())).collect();
        assert_eq!(read, written, "{text}");
    }
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
