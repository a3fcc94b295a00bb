//! Counts the instructions and allocations of a run, and fails if they differ by more than 2 % from `counts.toml`.
//!
//! `selftest/cost/run` compares; `selftest/cost/run --write` writes the counts and the table of docs/performance.md.
//! Seconds depend on the machine and on its other work, so there are none here: callgrind counts instructions, and a
//! counting allocator counts allocations. Both repeat to within a thousandth, because only the hash tables of redis-rs
//! are random.
//!
//! Decision: "CI compares counts, not seconds" (docs/decisions/builds.md).
//!
//! Counts say nothing about caches and branches. `cargo bench -p doublehold-scenarios` measures time.

mod callgrind;
mod counts;

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;

use counts::{Comparison, Cost, Counts};
use doublehold_cost::Workload;
use thiserror::Error;

/// Runs that are not counted: they fill caches and pools.
const WARM_UP_RUNS: u64 = 20;
/// Runs that are counted.
const COUNTED_RUNS: u64 = 40;

/// Why costs could not be counted or compared.
#[derive(Debug, Error)]
enum CostError {
    #[error("cannot run valgrind: {0}\nhint: install it (Debian: `apt-get install valgrind`)")]
    NoValgrind(std::io::Error),
    #[error("valgrind counted nothing: {0}\nhint: start the program by `selftest/cost/run`")]
    NoCount(String),
    #[error("cannot use `{0}`: {1}\nhint: `git checkout` it, or write it anew: `selftest/cost/run --write`")]
    File(String, String),
    #[error(
        "`counts.toml` was counted with {0}, and this program was built with {1}: other compilers make other \
         instructions\nhint: use that compiler, or `selftest/cost/run --write` before your change and after it"
    )]
    OtherCompiler(String, &'static str),
    #[error(
        "`{0}` is not an argument\nhint: `selftest/cost/run` compares, `selftest/cost/run --write` writes"
    )]
    Argument(String),
}

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a program's output")]
fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match execute(&arguments.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok((text, status)) => {
            println!("{text}");
            status
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Returns the text to print, and the exit status.
fn execute(arguments: &[&str]) -> Result<(String, ExitCode), CostError> {
    match arguments {
        [] => {
            let known = Counts::read(&folder().join("counts.toml"))?;
            let comparison = Comparison::new(&known, &count()?);
            let status = if comparison.is_within_bound() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
            Ok((comparison.to_string(), status))
        }
        ["--write"] => {
            let counts = count()?;
            counts.write(&folder().join("counts.toml"))?;
            counts.write_table(&folder().join("../../docs/performance.md"))?;
            Ok((counts.table(), ExitCode::SUCCESS))
        }
        [other, ..] => Err(CostError::Argument((*other).to_owned())),
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// Counts all workloads at the same time: valgrind uses one processor, and counts do not depend on the others.
fn count() -> Result<Counts, CostError> {
    thread::scope(|scope| {
        let threads = Workload::ALL.map(|workload| (workload, scope.spawn(move || count_one(workload))));
        let costs = threads.into_iter().map(|(workload, thread)| {
            Ok((workload.name().to_owned(), thread.join().expect("counting does not panic")?))
        });
        Ok(Counts::new(costs.collect::<Result<_, CostError>>()?))
    })
}

/// Counts instructions as the difference of two programs, so that the start of a program does not count.
fn count_one(workload: Workload) -> Result<Cost, CostError> {
    let few = callgrind::count_instructions(workload, WARM_UP_RUNS)?;
    let many = callgrind::count_instructions(workload, WARM_UP_RUNS + COUNTED_RUNS)?;
    let run = workload.prepare();
    run(1..=WARM_UP_RUNS);
    let mut messages = 0;
    let allocations = allocation_counter::measure(|| {
        messages = run(WARM_UP_RUNS + 1..=WARM_UP_RUNS + COUNTED_RUNS);
    });
    Ok(Cost {
        messages: messages / COUNTED_RUNS,
        instructions: many.saturating_sub(few) / COUNTED_RUNS,
        allocations: allocations.count_total / COUNTED_RUNS,
    })
}
