//! `doublehold drive`: commands that show nothing are refused, and none outlives its run or the program.
#![cfg(unix)]

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::kit::{Ask, command, doublehold};
use crate::serve::{PATIENCE, free_ports};

fn drive(arguments: &[&str]) -> std::process::Command {
    let port = free_ports(2).to_string();
    doublehold(&[&["drive", "--port", &port], arguments].concat())
}

#[test]
fn a_command_that_shows_nothing_is_refused_with_the_way_out() {
    for (arguments, problem, hint) in [
        (&["--", "true"][..], "the command told nothing of its lock", "DOUBLEHOLD ASKS c1"),
        (&["--", "false"], "the command failed in calm", "doublehold serve --faults"),
        (&["--", "no-such-program"], "cannot start `no-such-program`", "the command failed in calm"),
        (&["--limit", "200ms", "--", "sleep", "100"], "the command did not end in ", "--limit"),
    ] {
        let refused = drive(arguments).ends(2);
        assert!(refused.stderr.contains(problem) && refused.stderr.contains(hint), "{}", refused.stderr);
    }
}

/// Whether a process with these words in its command line runs.
fn runs(words: &str) -> bool {
    command("pgrep").args(["-f", words]).answer().status == Some(0)
}

#[test]
fn a_command_ends_with_the_program_however_that_ends() {
    let seconds = format!("600.{}", std::process::id());
    let words = format!("sleep {seconds}");
    let mut program = drive(&["--", "sh", "-c", &format!("sleep {seconds} & wait")])
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    let until = Instant::now() + PATIENCE;
    while !runs(&words) {
        assert!(Instant::now() < until, "the command does not begin");
        std::thread::sleep(Duration::from_millis(20));
    }
    program.kill().expect("it is ours");
    program.wait().expect("it is ours");
    while runs(&words) {
        assert!(Instant::now() < until, "the command outlives the program");
        std::thread::sleep(Duration::from_millis(20));
    }
}
