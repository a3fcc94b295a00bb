//! `doublehold verify-determinism`: each seed is run four ways, and the traces must be the same.
//!
//! The four ways find different leaks. A second process differs if something depends on addresses, hash seeds or the
//! environment; a run after others differs if something is left over between runs; another thread differs if something
//! is kept per thread. Two processes that agree prove little by themselves.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use clap::Args;
use doublehold_render::json;
use doublehold_scenarios::{Engine, Prepared, Seed};
use doublehold_text::clean;

use super::shared::Changes;
use crate::engine::EngineChoice;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output;
use crate::progress::bar;

/// As typed.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A scenario of the catalogue (see `list`), or a scenario's file
    #[arg(value_name = "NAME|FILE")]
    scenario: String,
    /// How many seeds to try, from 1 on
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    seeds: u64,
    #[command(flatten)]
    changes: Changes,
    #[command(flatten)]
    engine: EngineChoice,
}

pub(crate) fn execute(arguments: &Arguments) -> Result<Exit, CliError> {
    let scenario = super::scenario(&arguments.scenario, &arguments.changes.pairs()?, arguments.engine)?;
    let engine = arguments.engine;
    let others = SecondProcess { scenario: &arguments.scenario, changes: &arguments.changes, engine };
    let found = verify(&engine.one().prepare(&scenario)?, arguments.seeds, &others)?;
    let name = clean(&scenario.name);
    match found {
        None => {
            let seeds = arguments.seeds;
            let noun = if seeds == 1 { "seed" } else { "seeds" };
            output::print(&format!(
                "{name}: {seeds} {noun}, each the same trace in a process of its own, in this one, again after the others, and on another thread\n"
            ))?;
            Ok(Exit::AsExpected)
        }
        Some(difference) => {
            output::print(&difference.describe(&name))?;
            Ok(Exit::Contradicted)
        }
    }
}

/// Runs a scenario where nothing of this process can leak in.
trait Elsewhere {
    /// The digest of a seed's trace there.
    fn hash(&self, seed: Seed) -> Result<String, CliError>;
    /// The whole trace there, as lines.
    fn trace(&self, seed: Seed) -> Result<Vec<String>, CliError>;
}

/// A seed that was not the same twice.
#[derive(Debug, PartialEq, Eq)]
struct Difference {
    seed: Seed,
    /// Where the other run was made.
    place: &'static str,
    /// The digests of both.
    hashes: [String; 2],
    /// The first event that differs, by its number, on both sides; `None` if the traces agreed when they were kept.
    event: Option<(usize, [String; 2])>,
}

impl Difference {
    fn describe(&self, scenario: &str) -> String {
        let [here, there] = &self.hashes;
        let head = format!(
            "NOT DETERMINISTIC: {scenario}, seed {}: trace {here} at first, {there} {}\n",
            self.seed, self.place
        );
        match &self.event {
            Some((number, [here, there])) => {
                format!(
                    "{head}first difference at event {number}:\n  at first: {here}\n  then:     {there}\n"
                )
            }
            None => format!("{head}the traces agreed when they were run again to compare events\n"),
        }
    }
}

/// Beside the bar.
pub(crate) const WORDS: &str = "compared {pos} of {len} seeds";
const AFTER_OTHERS: &str = "after other runs in the same process";
const OTHER_THREAD: &str = "on another thread";
const OTHER_PROCESS: &str = "in another process";

/// One more run of a seed, and the digest it came to.
type Way<'a> = &'a dyn Fn() -> Result<String, CliError>;

/// Compares seeds 1 to `seeds`; stops at the first difference.
fn verify(
    prepared: &impl Prepared,
    seeds: u64,
    elsewhere: &impl Elsewhere,
) -> Result<Option<Difference>, CliError> {
    let hash = |seed: Seed| prepared.judge(seed).trace_hash.to_string();
    let bar = bar(seeds, WORDS);
    let first: Vec<(Seed, String)> = (1..=seeds).map(Seed).map(|seed| (seed, hash(seed))).collect();
    for (seed, here) in first.iter().rev() {
        bar.tick();
        let ways: [(&'static str, Way<'_>); 3] = [
            (AFTER_OTHERS, &|| Ok(hash(*seed))),
            (OTHER_THREAD, &|| run_on_thread(|| hash(*seed))),
            (OTHER_PROCESS, &|| elsewhere.hash(*seed)),
        ];
        for (place, way) in ways {
            let there = way()?;
            if there != *here {
                let event = first_event(prepared, *seed, place, elsewhere)?;
                let hashes = [here.clone(), there];
                return Ok(Some(Difference { seed: *seed, place, hashes, event }));
            }
        }
        bar.inc(1);
    }
    Ok(None)
}

fn run_on_thread<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, CliError> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, work).map_err(CliError::Thread)?;
        Ok(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// Runs a seed twice more with its trace kept, and finds the first event that differs.
fn first_event(
    prepared: &impl Prepared,
    seed: Seed,
    place: &'static str,
    elsewhere: &impl Elsewhere,
) -> Result<Option<(usize, [String; 2])>, CliError> {
    let trace = || -> Result<Vec<String>, CliError> {
        let mut bytes = Vec::new();
        let (report, trace) = prepared.run_traced(seed);
        json::write_trace(&report, &trace, &mut bytes)
            .map_err(|error| CliError::Format(error.to_string()))?;
        Ok(bytes.lines().map_while(Result::ok).collect())
    };
    let here = trace()?;
    let there = match place {
        OTHER_PROCESS => elsewhere.trace(seed)?,
        OTHER_THREAD => run_on_thread(trace)??,
        _ => trace()?,
    };
    Ok(first_difference(&here, &there))
}

/// The number of the first event that differs, counted from 1, and both sides of it. The header of a trace is no event.
fn first_difference(here: &[String], there: &[String]) -> Option<(usize, [String; 2])> {
    let line = |trace: &[String], number: usize| {
        trace.get(number).cloned().unwrap_or("the trace has ended".to_owned())
    };
    let mut numbers = 1..here.len().max(there.len());
    let number = numbers.find(|&number| here.get(number) != there.get(number))?;
    Some((number, [line(here, number), line(there, number)]))
}

/// This program, started again.
struct SecondProcess<'a> {
    scenario: &'a str,
    changes: &'a Changes,
    engine: EngineChoice,
}

impl SecondProcess<'_> {
    fn command(&self, seed: Seed) -> Result<Command, CliError> {
        let program = std::env::current_exe().map_err(|error| CliError::SecondProcess(error.to_string()))?;
        let mut command = Command::new(program);
        command.args(["run", "--format", "json", "--seed", &seed.to_string()]);
        command.args(self.changes.options());
        command.args(self.engine.options());
        // After `--`, a scenario's name cannot be taken for an option.
        command.stdin(Stdio::null());
        Ok(command)
    }

    fn run_command(&self, mut command: Command) -> Result<Vec<u8>, CliError> {
        let output = command.args(["--", self.scenario]).output();
        let output = output.map_err(|error| CliError::SecondProcess(error.to_string()))?;
        // Whether the verdicts are as expected does not matter here.
        match output.status.code() {
            Some(0 | 1 | 3) => Ok(output.stdout),
            _ => Err(CliError::SecondProcess(String::from_utf8_lossy(&output.stderr).trim().to_owned())),
        }
    }
}

impl Elsewhere for SecondProcess<'_> {
    fn hash(&self, seed: Seed) -> Result<String, CliError> {
        let run: serde_json::Value = serde_json::from_slice(&self.run_command(self.command(seed)?)?)?;
        let hash = run.get("trace_hash").and_then(serde_json::Value::as_str);
        hash.map(str::to_owned).ok_or_else(|| CliError::SecondProcess("it reported no trace hash".to_owned()))
    }

    fn trace(&self, seed: Seed) -> Result<Vec<String>, CliError> {
        let file = std::env::temp_dir().join(format!("doublehold-{}-{seed}.jsonl", std::process::id()));
        let mut command = self.command(seed)?;
        command.arg("--trace").arg(&file);
        let ran = self.run_command(command);
        let lines = std::fs::File::open(&file)
            .map(|file| BufReader::new(file).lines().map_while(Result::ok).collect());
        let _ignored = std::fs::remove_file(&file);
        ran?;
        lines.map_err(|error| CliError::SecondProcess(error.to_string()))
    }
}

#[cfg(test)]
mod scripts;

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::thread::{self, ThreadId};

    use doublehold_scenarios::report::{Report, Summary, TraceHash};
    use doublehold_scenarios::scenario::Scenario;
    use doublehold_scenarios::{PreparedSim, catalog};
    use doublehold_sim::{Record, SimTime};

    use doublehold_scenarios::SimEngine;

    use super::*;

    /// A preparation with a leak: runs that `leaks` says so of come out differently from the third event on.
    struct Leaky<L> {
        prepared: PreparedSim,
        leaks: L,
    }

    impl<L: Fn() -> bool> Leaky<L> {
        fn hash(&self, hash: TraceHash) -> (TraceHash, bool) {
            let leaks = (self.leaks)();
            (TraceHash(if leaks { !hash.0 } else { hash.0 }), leaks)
        }
    }

    impl<L: Fn() -> bool + Send + Sync> Prepared for Leaky<L> {
        type Record = Record;

        fn judge(&self, seed: impl Into<Seed>) -> Summary {
            let summary = self.prepared.judge(seed);
            Summary { trace_hash: self.hash(summary.trace_hash).0, ..summary }
        }

        fn run(&self, seed: impl Into<Seed>) -> Report {
            self.run_traced(seed).0
        }

        fn run_traced(&self, seed: impl Into<Seed>) -> (Report, Vec<Record>) {
            let (report, mut trace) = self.prepared.run_traced(seed);
            let (trace_hash, leaks) = self.hash(report.trace_hash);
            if leaks {
                trace[2].at = SimTime(77);
            }
            (Report { trace_hash, ..report }, trace)
        }
    }

    /// Another process without leaks, or with one.
    struct There {
        leaks: bool,
    }

    impl Elsewhere for There {
        fn hash(&self, seed: Seed) -> Result<String, CliError> {
            let hash = SimEngine.run(&scenario(), seed).trace_hash.0;
            Ok(TraceHash(if self.leaks { !hash } else { hash }).to_string())
        }

        fn trace(&self, _seed: Seed) -> Result<Vec<String>, CliError> {
            Ok(vec!["header".to_owned(), "another event".to_owned()])
        }
    }

    fn scenario() -> Scenario {
        catalog::load("lease-pause", &[]).expect("a scenario of the catalogue")
    }

    pub(super) fn prepared() -> PreparedSim {
        SimEngine.prepare(&scenario()).expect("it can be run")
    }

    fn found(leaks: impl Fn() -> bool + Send + Sync, there: &There) -> Option<Difference> {
        verify(&Leaky { prepared: prepared(), leaks }, 3, there).expect("nothing can fail here")
    }

    #[test]
    fn runs_without_a_leak_agree() {
        assert_eq!(found(|| false, &There { leaks: false }), None);
    }

    #[test]
    fn what_an_earlier_run_left_behind_is_found_with_its_first_event() {
        // Each seed is run once before any is run again.
        let runs = Mutex::new(0);
        let leaks = || {
            let mut runs = runs.lock().expect("nobody panicked");
            *runs += 1;
            // The traced run that is compared with comes first again: the fifth.
            *runs > 3 && *runs != 5
        };
        let difference = found(leaks, &There { leaks: false }).expect("a difference");
        assert_eq!((difference.place, difference.seed), (AFTER_OTHERS, Seed(3)));
        let (number, [here, there]) = difference.event.clone().expect("the event");
        assert_eq!(number, 3);
        assert!(!here.contains(r#""at":77"#) && there.contains(r#""at":77"#), "{here} {there}");
        let words = difference.describe("lease-pause");
        assert!(words.starts_with("NOT DETERMINISTIC: lease-pause, seed 3: trace "), "{words}");
        assert!(words.contains("first difference at event 3:\n"), "{words}");
    }

    #[test]
    fn what_is_kept_per_thread_is_found() {
        let home: ThreadId = thread::current().id();
        let difference =
            found(|| thread::current().id() != home, &There { leaks: false }).expect("a difference");
        assert_eq!(difference.place, OTHER_THREAD);
        assert_eq!(difference.event.expect("the event").0, 3);
    }

    #[test]
    fn what_differs_between_processes_is_found() {
        let difference = found(|| false, &There { leaks: true }).expect("a difference");
        assert_eq!(difference.place, OTHER_PROCESS);
        let (number, [_, there]) = difference.event.expect("the event");
        assert_eq!((number, there.as_str()), (1, "another event"));
    }

    #[test]
    fn a_trace_that_ends_early_differs_where_it_ends() {
        let lines = |events: &[&str]| events.iter().map(|event| (*event).to_owned()).collect::<Vec<_>>();
        let (long, short) = (lines(&["header", "a", "b"]), lines(&["other header", "a"]));
        let ended = (2, ["b".to_owned(), "the trace has ended".to_owned()]);
        assert_eq!(first_difference(&long, &short), Some(ended));
        assert_eq!(first_difference(&long, &long), None);
    }
}
