//! One run of somebody's command: as a group of processes that ends with it, with its time, or with this program.
//!
//! Between this program and the command stands a keeper, which is this program again. It holds the reading end of a
//! pipe: when that ends, however this program has ended, it kills the command's whole group. On Linux, what has left
//! the group comes to the keeper as an orphan, and is killed too.

use std::ffi::OsString;
use std::io::{self, Read};
use std::process::{Command, Stdio};
use std::time::Duration;

use clap::Args;
use tokio::io::AsyncReadExt;

use crate::error::CliError;
use crate::exit::Exit;

/// How often the keeper looks whether its command has ended.
const LOOK: Duration = Duration::from_millis(10);

/// The time that the last complaint may take, and the bytes in which it is looked for.
const LAST_WORDS: Duration = Duration::from_secs(1);
const COMPLAINT_BYTES: usize = 8 << 10;

/// The keeper's arguments.
#[derive(Debug, Args)]
pub(crate) struct KeeperArguments {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    command: Vec<OsString>,
}

/// The keeper: runs the command, and kills its group when standard input ends.
pub(crate) fn keep(arguments: &KeeperArguments) -> Result<Exit, CliError> {
    let (program, rest) = arguments.command.split_first().ok_or_else(no_command)?;
    let mut command = Command::new(program);
    command.args(rest).stdin(Stdio::null());
    own_group(&mut command);
    orphans::adopt();
    let mut child = command.spawn().map_err(|source| CliError::Usage {
        problem: format!("cannot start `{}`: {source}", program.display()),
        hint: "name a program on the PATH, or its path".to_owned(),
    })?;
    let group = child.id();
    std::thread::spawn(move || {
        // Whatever ends it, nobody is left who wants the command to go on.
        let _ = io::stdin().read_to_end(&mut Vec::new());
        kill_group(group);
    });
    loop {
        if let Some(status) = child.try_wait().map_err(CliError::Runtime)? {
            // What it has left behind is of no use without it.
            kill_group(group);
            orphans::kill_all();
            return Ok(if status.success() { Exit::AsExpected } else { Exit::Contradicted });
        }
        std::thread::sleep(LOOK);
    }
}

fn no_command() -> CliError {
    CliError::Usage { problem: "no command".to_owned(), hint: "name one behind `--`".to_owned() }
}

#[cfg(unix)]
fn own_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(not(unix))]
fn own_group(_command: &mut Command) {}

#[cfg(unix)]
fn kill_group(group: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(group) = i32::try_from(group).ok().and_then(Pid::from_raw) {
        // It may have ended by itself.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

#[cfg(not(unix))]
fn kill_group(_group: u32) {}

#[cfg(target_os = "linux")]
mod orphans {
    use std::time::{Duration, Instant};

    use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, wait};

    /// The time after which children are given up that cannot be killed, such as another user's.
    const PATIENCE: Duration = Duration::from_secs(1);

    /// From now on, descendants whose parents have ended are this process' children.
    pub(super) fn adopt() {
        // A kernel that knows no such thing leaves them to init.
        let _ = set_child_subreaper(Some(getpid()));
    }

    /// Kills all children, and theirs, which become children by that.
    pub(super) fn kill_all() {
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            for child in children() {
                // It may have ended meanwhile.
                let _ = kill_process(child, Signal::KILL);
            }
            match wait(WaitOptions::NOHANG) {
                Ok(Some(_ended)) => {}
                Ok(None) => std::thread::sleep(super::LOOK),
                Err(_none_is_left) => return,
            }
        }
    }

    fn children() -> Vec<Pid> {
        let own = getpid().as_raw_nonzero().to_string();
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let processes = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        processes.filter(|pid| parent_of(*pid).as_ref() == Some(&own)).filter_map(Pid::from_raw).collect()
    }

    /// The parent's number, which stands two words behind the name in brackets.
    fn parent_of(pid: i32) -> Option<String> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (_, behind_name) = stat.rsplit_once(')')?;
        behind_name.split_whitespace().nth(1).map(str::to_owned)
    }
}

#[cfg(not(target_os = "linux"))]
mod orphans {
    pub(super) fn adopt() {}

    pub(super) fn kill_all() {}
}

/// How a run of the command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// By itself, with success or without.
    Itself { is_success: bool },
    /// It took too long, and was killed.
    TooLate,
}

/// Runs a command with these variables to its end, or for so long. What it prints is dropped. What it complains of goes
/// to `stderr`: of a pipe, the line that says most is returned.
///
/// # Errors
/// When it cannot be started.
pub(crate) async fn run(
    command: &[OsString],
    variables: &[(&str, String)],
    at_most: Duration,
    stderr: Stdio,
) -> io::Result<(Ended, Option<String>)> {
    let mut keeper = tokio::process::Command::new(std::env::current_exe()?);
    keeper.arg(KEEPER).arg("--").args(command).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(stderr);
    keeper.envs(variables.iter().map(|(name, value)| (name, value)));
    // What a terminal sends to a whole group must not end it before it has ended the command.
    #[cfg(unix)]
    keeper.process_group(0);
    let mut keeper = keeper.spawn()?;
    // Waiting for a child would close it.
    let pipe = keeper.stdin.take();
    let complaints = keeper.stderr.take();
    let complaint = tokio::spawn(async move { complaint(complaints?).await });
    let ended = match tokio::time::timeout(at_most, keeper.wait()).await {
        Ok(status) => Ended::Itself { is_success: status?.success() },
        Err(_too_late) => {
            drop(pipe);
            keeper.wait().await?;
            Ended::TooLate
        }
    };
    // Who has left the command's group may hold the pipe for ever, where no keeper kills it.
    let complaint = tokio::time::timeout(LAST_WORDS, complaint).await;
    Ok((ended, complaint.ok().and_then(Result::ok).flatten()))
}

/// The last line that names an error, or else the last that says something: Node ends with its version. Only the end of
/// all complaints is looked at.
async fn complaint(mut complaints: tokio::process::ChildStderr) -> Option<String> {
    let mut end = Vec::new();
    while complaints.read_buf(&mut end).await.is_ok_and(|read| read > 0) {
        end.drain(..end.len().saturating_sub(COMPLAINT_BYTES));
    }
    let text = String::from_utf8_lossy(&end);
    let mut lines = text.lines().rev().map(str::trim).filter(|line| !line.is_empty());
    let last = lines.clone().next();
    lines.find(|line| line.contains("rror")).or(last).map(doublehold_text::clean)
}

/// The keeper's name among commands.
pub(crate) const KEEPER: &str = "keep-until-stdin-ends";
