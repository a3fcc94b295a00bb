//! The command line as typed: subcommands, help, and what the exit status says.
//!
//! Results go to standard output, everything else to standard error. Parsing refuses what it can; the commands refuse the rest.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::commands;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output;

/// See two clients hold one lock: real lock code against simulated Redis nodes, wrong clocks, paused processes and
/// slow packets, from a seed.
#[derive(Debug, Parser)]
#[command(name = "doublehold", version, arg_required_else_help = true, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  doublehold list                                      every scenario, and the claim it tests
  doublehold run clock-jump                            a clock jumps, and two clients hold one lock
  doublehold run gc-in-flight --set lock.elapsed_check=false
  doublehold run lease-pause --format json | jq .overlaps
  doublehold run lease-pause --plan lp.plan            write down the run
  doublehold replay lp.plan                            and run it again, exactly

Exit status:
  0    as expected
  1    a verdict contradicts the expectation, or a run that should be the same is not
  2    bad usage, a file that is refused, or I/O
  3    inconclusive
  101  a bug in doublehold";

#[derive(Debug, Subcommand)]
enum Command {
    /// List the scenarios of the catalogue
    List(commands::list::Arguments),
    /// Run a scenario and show who held the lock when
    Run(commands::run::Arguments),
    /// Run a plan again and compare with what it came to
    Replay(commands::replay::Arguments),
    /// Run seeds four ways and compare the traces, event by event
    VerifyDeterminism(commands::verify_determinism::Arguments),
    /// Serve simulated Redis nodes on loopback TCP ports, in real time
    Serve(commands::serve::Arguments),
}

/// The status for bad usage, files and I/O; clap's own choice too.
const BAD_USAGE: u8 = 2;

/// Parses the arguments of this process and executes the command.
#[must_use]
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(refusal) => {
            // Help goes to standard output. If nobody reads that, there is nobody to tell.
            let _ignored = refusal.print();
            return ExitCode::from(if refusal.use_stderr() { BAD_USAGE } else { 0 });
        }
    };
    match execute(cli.command) {
        Ok(exit) => exit.into(),
        Err(error) => {
            output::inform(&format!("error: {error}"));
            ExitCode::from(BAD_USAGE)
        }
    }
}

fn execute(command: Command) -> Result<Exit, CliError> {
    match command {
        Command::List(arguments) => commands::list::execute(arguments),
        Command::Run(arguments) => commands::run::execute(&arguments),
        Command::Replay(arguments) => commands::replay::execute(&arguments),
        Command::VerifyDeterminism(arguments) => commands::verify_determinism::execute(&arguments),
        Command::Serve(arguments) => commands::serve::execute(&arguments),
    }
}
