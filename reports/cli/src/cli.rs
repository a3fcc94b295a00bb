//! The command line as typed: subcommands, help, and what the exit status says.
//!
//! Results go to standard output, everything else to standard error. Parsing refuses what it can; the commands refuse
//! the rest.

use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, Parser, Subcommand};
use doublehold_text::mark_controls;

use crate::commands;
use crate::drive::child::{KEEPER, KeeperArguments, keep};
use crate::error::CliError;
use crate::exit::Exit;
use crate::{numbers, output};

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
  doublehold list                                      the topics of the catalogue; list TOPIC: its scenarios
  doublehold list clock-jump                           a scenario, with its variants
  doublehold debate --only L,T                         claims about Redlock and time, each run
  doublehold run clock-jump                            a clock jumps, and two clients hold one lock
  doublehold run clock-jump --all-variants             a line for each variant
  doublehold run gc-in-flight --set lock.elapsed_check=false
  doublehold check redlock --weather cloud --for 60s   random faults, and the least counterexample
  doublehold explore redlock --faults 1 --kinds pause  every place where one pause can strike
  doublehold sweep which-lock                          how often each of thirteen designs fails
  doublehold report which-lock                         that as a page to be mailed
  doublehold locks redlock                             its switches, and a scenario to copy
  doublehold run lease-pause --format json | jq .overlaps
  doublehold run lease-pause --plan lp.plan            write down the run
  doublehold replay lp.plan                            and run it again, exactly
  doublehold shrink lp.plan                            the least scenario that still violates it
  doublehold judge history.jsonl                       the verdicts on what a system of yours recorded

Exit status:
  0    as expected; what a scenario does not state is shown, and does not count
  1    a verdict contradicts the expectation, a run that should be the same is not, or a history is judged violated
  2    bad usage, a file that is refused, or I/O
  3    inconclusive
  101  a bug in doublehold";

#[derive(Debug, Subcommand)]
enum Command {
    /// List the scenarios of the catalogue, or one scenario and its variants
    List(commands::list::Arguments),
    /// Run every claim of the debate, and say who was right on what
    Debate(commands::debate::Arguments),
    /// List the locks, or show one: its switches, what is known of it, and a scenario to copy
    Locks(commands::locks::Arguments),
    /// Run a scenario and show who held the lock when
    Run(commands::run::Arguments),
    /// Search for violations under random faults, and shrink what is found
    Check(commands::check::Arguments),
    /// Try every placement of a few faults at the steps of a run
    Explore(commands::explore::Arguments),
    /// List the studies, or show one: what is compared, over which grid, under which faults
    Studies(commands::studies::Arguments),
    /// Run a study: how often each design fails, over a grid, with error bars
    Sweep(commands::sweep::Arguments),
    /// Make one sweep of the shards of a study
    Merge(commands::merge::Arguments),
    /// Make one page of what a sweep found: the answer, rates, what would change them
    Report(commands::report::Arguments),
    /// List the weathers, or show one: its faults, and where its numbers come from
    Weather(commands::weather::Arguments),
    /// Run a plan again and compare with what it came to
    Replay(commands::replay::Arguments),
    /// Make the least scenario of a run that violates something
    Shrink(commands::shrink::Arguments),
    /// Tell when a violation was decided, and what would have changed it
    Why(commands::why::Arguments),
    /// Judge a history, whoever recorded it
    Judge(commands::judge::Arguments),
    /// List the engines, and what each can do of the format
    Engines(commands::engines::Arguments),
    /// Run seeds four ways and compare the traces, event by event
    VerifyDeterminism(commands::verify_determinism::Arguments),
    /// Serve simulated Redis nodes and Sentinels on loopback TCP ports, in real time
    Serve(commands::serve::Arguments),
    /// Run a test of one's own lock, in any language, on served nodes: in calm, and under each of the built-in tries
    Drive(commands::drive::Arguments),
    /// Run a command until standard input ends, then kill it: what `drive` does its runs by
    #[command(name = KEEPER, hide = true)]
    Keep(KeeperArguments),
    /// Print a script that lets a shell complete commands and options
    Completions(commands::completions::Arguments),
    /// Write the manual pages into a folder
    Man(commands::man::Arguments),
}

/// The status for bad usage, files and I/O; clap's own choice too.
const BAD_USAGE: u8 = 2;

/// Parses the arguments of this process and executes the command.
#[must_use]
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(refusal) => {
            let typed: Vec<String> =
                std::env::args_os().map(|it| it.to_string_lossy().into_owned()).collect();
            if let Some(meant) = no_command(&refusal).or_else(|| numbers::better_refusal(&refusal, &typed)) {
                output::inform(&mark_controls(&format!("error: {meant}")));
                return ExitCode::from(BAD_USAGE);
            }
            let told = refusal.render().to_string();
            if mark_controls(&told) == told {
                // Help goes to standard output. If nobody reads that, there is nobody to tell.
                let _ignored = refusal.print();
            } else {
                // What was typed may be the name of a file, which a shell put in the place of `*`.
                output::inform(mark_controls(&told).trim_end());
            }
            return ExitCode::from(if refusal.use_stderr() { BAD_USAGE } else { 0 });
        }
    };
    match execute(cli.command) {
        Ok(exit) => exit.into(),
        Err(error) => {
            // Errors quote what is in files, and a terminal would obey it.
            output::inform(&mark_controls(&format!("error: {error}")));
            ExitCode::from(BAD_USAGE)
        }
    }
}

/// What was meant by a word in the place of a command that is none.
fn no_command(refusal: &clap::Error) -> Option<CliError> {
    match refusal.get(ContextKind::InvalidSubcommand)? {
        ContextValue::String(word) => commands::kind_hints::no_command(word),
        _ => None,
    }
}

fn execute(command: Command) -> Result<Exit, CliError> {
    match command {
        Command::List(arguments) => commands::list::execute(&arguments),
        Command::Debate(arguments) => commands::debate::execute(&arguments),
        Command::Locks(arguments) => commands::locks::execute(&arguments),
        Command::Run(arguments) => commands::run::execute(&arguments),
        Command::Check(arguments) => commands::check::execute(&arguments),
        Command::Explore(arguments) => commands::explore::execute(&arguments),
        Command::Studies(arguments) => commands::studies::execute(&arguments),
        Command::Sweep(arguments) => commands::sweep::execute(&arguments),
        Command::Merge(arguments) => commands::merge::execute(&arguments),
        Command::Report(arguments) => commands::report::execute(&arguments),
        Command::Weather(arguments) => commands::weather::execute(&arguments),
        Command::Replay(arguments) => commands::replay::execute(&arguments),
        Command::Shrink(arguments) => commands::shrink::execute(&arguments),
        Command::Why(arguments) => commands::why::execute(&arguments),
        Command::Judge(arguments) => commands::judge::execute(&arguments),
        Command::Engines(arguments) => commands::engines::execute(&arguments),
        Command::VerifyDeterminism(arguments) => commands::verify_determinism::execute(&arguments),
        Command::Serve(arguments) => commands::serve::execute(&arguments),
        Command::Drive(arguments) => commands::drive::execute(&arguments),
        Command::Keep(arguments) => keep(&arguments),
        Command::Completions(arguments) => commands::completions::execute(&arguments, Cli::command()),
        Command::Man(arguments) => commands::man::execute(&arguments, Cli::command()),
    }
}
