//! The command line as typed: subcommands, options, help, and what the exit status says.
//!
//! Results go to standard output, talk to standard error. Parsing refuses what it can; the commands refuse the rest.

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::commands;
use crate::error::CliError;
use crate::style::Style;

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

/// How a result is to be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    #[default]
    Text,
    /// For programs: one JSON value
    Json,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Options of every command that shows something.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Show {
    /// How to write the result
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: Format,
    /// Draw with ASCII characters only (the default where the locale is not UTF-8)
    #[arg(long)]
    ascii: bool,
    /// When to use colours
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,
}

impl Show {
    /// What the place that standard output goes to can show.
    pub(crate) fn style(self) -> Style {
        let terminal = std::io::stdout().is_terminal();
        let color = match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => terminal && !is_set("NO_COLOR") && std::env::var("TERM").as_deref() != Ok("dumb"),
        };
        Style { width: width(terminal), unicode: !self.ascii && utf8_locale(), color }
    }
}

/// As <https://no-color.org> has it: set and not empty.
fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| !value.is_empty())
}

fn width(terminal: bool) -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let measured =
        || terminal.then(terminal_size::terminal_size).flatten().map(|(width, _)| usize::from(width.0));
    columns.or_else(measured).unwrap_or(Style::DEFAULT_WIDTH).clamp(Style::MIN_WIDTH, Style::MAX_WIDTH)
}

/// The first of these that is set decides, as in POSIX.
fn utf8_locale() -> bool {
    let value = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find(|variable| is_set(variable))
        .and_then(std::env::var_os);
    match value {
        Some(value) => {
            let value = value.to_string_lossy().to_ascii_lowercase();
            value.contains("utf-8") || value.contains("utf8")
        }
        // Windows has no such variables, and terminals there show Unicode.
        None => cfg!(windows),
    }
}

/// How a command ended. A panic is status 101, which Rust does by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything came out as expected.
    AsExpected,
    /// A verdict contradicts the expectation, or a run that should be the same is not.
    Contradicted,
    /// Not decided.
    Inconclusive,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::AsExpected => 0,
            Exit::Contradicted => 1,
            Exit::Inconclusive => 3,
        })
    }
}

/// The status for bad usage, files and I/O; clap's own choice too.
const BAD_USAGE: u8 = 2;

/// Parses the arguments of this process and carries them out.
#[must_use]
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(refusal) => {
            // Help goes to standard output, where nobody may be reading; there is nobody to tell.
            let _nobody_reads = refusal.print();
            return ExitCode::from(if refusal.use_stderr() { BAD_USAGE } else { 0 });
        }
    };
    match carry_out(cli.command) {
        Ok(exit) => exit.into(),
        Err(error) => {
            talk(&format!("error: {error}"));
            ExitCode::from(BAD_USAGE)
        }
    }
}

fn carry_out(command: Command) -> Result<Exit, CliError> {
    match command {
        Command::List(arguments) => commands::list::carry_out(arguments),
        Command::Run(arguments) => commands::run::carry_out(&arguments),
        Command::Replay(arguments) => commands::replay::carry_out(&arguments),
        Command::VerifyDeterminism(arguments) => commands::verify_determinism::carry_out(&arguments),
        Command::Serve(arguments) => commands::serve::carry_out(&arguments),
    }
}

/// Says something beside the result.
pub(crate) fn talk(words: &str) {
    use std::io::Write;
    // Without standard error there is nobody to talk to.
    let _nobody_listens = writeln!(std::io::stderr(), "{words}");
}
