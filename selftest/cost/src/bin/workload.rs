//! Makes runs of one workload from the seeds 1 to N, and prints nothing: `workload check-redlock 60`.
//!
//! With the program's allocator, so that its instructions are those of the program.

use std::env;
use std::process::ExitCode;

use doublehold_cost::Workload;
use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let workload = arguments.first().and_then(|name| Workload::from_name(name));
    let runs = arguments.get(1).and_then(|runs| runs.parse().ok());
    let (Some(workload), Some(runs)) = (workload, runs) else { return ExitCode::from(2) };
    workload.prepare()(1..=runs);
    ExitCode::SUCCESS
}
