//! The `doublehold` binary: everything is in the library, so that tests can reach it.

use std::process::ExitCode;

/// Runs allocate for every message, mostly inside redis-rs; this allocator makes them about a tenth faster.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    doublehold_cli::main()
}
