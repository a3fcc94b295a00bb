//! `doublehold drive`: commands that show nothing are refused, and none outlives its run or the program.
#![cfg(unix)]

use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::kit::{Ask, command, doublehold};
use crate::serve::{PATIENCE, free_ports};

fn drive(arguments: &[&str]) -> std::process::Command {
    let port = free_ports(3).to_string();
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

/// Drives two clients in turn, after a first line of bash.
fn drive_in_turn(first: &str, options: &[&str]) -> std::process::Command {
    let mut driven = drive(&[options, &["--", "bash", "-c", include_str!("in_turn.sh")]].concat());
    driven.env("FIRST", first);
    driven
}

#[test]
fn a_try_that_breaks_the_lock_is_shown_with_its_words_and_its_picture() {
    for first in ["", "tell RESET", "tell RESET; tell RESET mine"] {
        let table = drive_in_turn(first, &["--only", "first grant"]).ends(1).stdout;
        let row = |name: &str| table.lines().find(|line| line.starts_with(name)).expect("a row").to_owned();
        assert!(row("calm").contains("holds"), "{table}");
        for name in ["A's clock jumps by 2 s at the first grant", "A forgets at the first grant"] {
            assert!(row(name).contains("violated"), "{first}: {table}");
        }
        assert!(table.contains("    DOUBLEHOLD AT *'s grant DO CLOCK A 2000\n"), "{table}");
        assert!(table.contains("c1 and c2 both held \"lock\""), "{table}");
    }
}

#[test]
fn what_struck_and_is_not_over_shows_nothing() {
    // A long run, half of which the delay takes, and a release at its end.
    let table = drive_in_turn("sleep 1", &["--only", "c1's DEL to A is sent again"]).ends(3).stdout;
    assert!(table.contains(" DEL` has struck and is not over"), "{table}");
}

#[test]
fn a_command_that_breaks_the_lock_in_calm_is_not_tried() {
    let table = drive_in_turn("tell AT the 1st SET executed for c1 DO FLUSH A", &[]).ends(1).stdout;
    assert!(table.contains("This needs no fault"), "{table}");
    assert!(!table.contains("A forgets"), "{table}");
}

#[test]
fn a_text_that_no_try_has_is_refused_with_those_that_there_are() {
    let refused = drive_in_turn("", &["--only", "quark"]).ends(2);
    let said = "hint: name a part of one of these:\n  A's clock jumps by 2 s at the first grant\n";
    assert!(refused.stderr.contains(said), "{}", refused.stderr);
}

#[test]
fn a_command_that_does_not_use_a_node_is_refused() {
    let refused = drive_in_turn("", &["--nodes", "2"]).ends(2);
    assert!(refused.stderr.contains("no named connection sent `B` anything in calm"), "{}", refused.stderr);
}

/// Counts the processes of which this is the whole command line.
fn count_processes(line: &str) -> usize {
    command("pgrep").args(["-x", "-f", line]).answer().stdout.lines().count()
}

#[test]
fn a_command_ends_with_the_program_however_that_ends() {
    // As `kill -9` of the program alone, and as Ctrl-C, which a terminal sends to its whole group.
    let leave = if cfg!(target_os = "linux") { "setsid" } else { "" };
    for (seconds, signal, to_group) in
        [("600.125", "KILL", false), ("600.25", "INT", true), ("600.5", "HUP", true)]
    {
        let words = format!("sleep {seconds}{}", std::process::id());
        let mut program = drive(&["--", "sh", "-c", &format!("{words} & {leave} {words} & wait")])
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .expect("the binary starts");
        let until = Instant::now() + PATIENCE;
        while count_processes(&words) < 2 {
            assert!(Instant::now() < until, "the command does not begin");
            std::thread::sleep(Duration::from_millis(20));
        }
        let whom = if to_group { format!("-{}", program.id()) } else { program.id().to_string() };
        command("kill").args(["-s", signal, "--", &whom]).ends(0);
        program.wait().expect("it is ours");
        while count_processes(&words) > 0 {
            assert!(Instant::now() < until, "the command outlives the program, after {signal}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
