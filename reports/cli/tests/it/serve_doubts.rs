//! Doubts of `doublehold serve --faults`: faults that nothing came of, and clients of which nobody knows.
#![cfg(unix)]

use std::time::{Duration, Instant};

use crate::kit::Folder;
use crate::serve::{Client, PATIENCE, Server, free_ports, tell};

fn start(options: &[&str]) -> Server {
    Server::start_at(free_ports(2), &[&["--faults"], options].concat())
}

/// Waits until a client has no connection.
fn until_gone(control: &mut Client, client: &str) {
    let until = Instant::now() + PATIENCE;
    while control.say("DOUBLEHOLD STATUS").contains(&format!("{client} has connections")) {
        assert!(Instant::now() < until, "{client} stays");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn rest() {
    std::thread::sleep(Duration::from_millis(100));
}

#[test]
fn a_fault_that_is_not_over_leaves_open_what_holds() {
    for (fault, over) in
        [("REPEAT c1 A 1s PING", true), ("HOLD c1 A 1s PING", true), ("DROP c1 A PING", false)]
    {
        let server = start(&[]);
        let (mut control, mut c1) = (server.client(1), server.named("c1", 0));
        tell(&mut control, &[fault, "ASKS c1", "GRANTED c1"]);
        c1.send(b"PING\r\n");
        tell(&mut control, &["AWAIT", "RELEASES c1"]);
        let verdict = control.say("DOUBLEHOLD VERDICT");
        assert_eq!(
            verdict.contains("has struck and is not over: `AWAIT OVER` waits for that"),
            over,
            "{verdict}"
        );
        tell(&mut control, &["AWAIT OVER"]);
        assert_eq!(control.say("DOUBLEHOLD VERDICT P1"), "holds", "{fault}");
    }
}

#[test]
fn a_cut_from_somebody_who_never_came_leaves_open_what_holds() {
    let server = start(&[]);
    let (mut control, _c1) = (server.client(1), server.named("c1", 0));
    tell(&mut control, &["CUT c1 A", "ASKS c1", "GRANTED c1", "RELEASES c1"]);
    assert_eq!(control.say("DOUBLEHOLD VERDICT P1"), "holds");
    tell(&mut control, &["CUT c3 A", "HEAL"]);
    let verdict = control.say("DOUBLEHOLD VERDICT");
    assert!(
        verdict.contains("inconclusive: a link of c3 was cut, and no connection has that name"),
        "{verdict}"
    );
    // Nor does a client of the test before count.
    drop(server.named("c3", 0));
    until_gone(&mut control, "c3");
    tell(&mut control, &["RESET", "CUT c3 A", "ASKS c1", "GRANTED c1", "RELEASES c1"]);
    assert_eq!(control.say("DOUBLEHOLD VERDICT P1"), "inconclusive");
}

#[test]
fn a_client_leaves_by_closing_its_connections_and_not_by_a_fault() {
    let ends: [&[&str]; 3] = [&["CRASH A", "RESTART A"], &["RESET-CONNECTIONS c1 A"], &["DROP c1 A PING"]];
    for fault in ends {
        let server = start(&[]);
        let (mut control, mut c1) = (server.client(1), server.named("c1", 0));
        tell(&mut control, &["ASKS c1", "GRANTED c1"]);
        tell(&mut control, fault);
        // It is answered by the end of the connection, if that stands at all.
        c1.flood(b"PING\r\n");
        until_gone(&mut control, "c1");
        tell(&mut control, &["ASKS c2", "GRANTED c2"]);
        rest();
        assert_eq!(control.say("DOUBLEHOLD VERDICT P1"), "violated", "{fault:?}: c1 works on");
        tell(&mut control, &["RESET", "ASKS c1"]);
        let again = server.named("c1", 0);
        tell(&mut control, &["GRANTED c1"]);
        drop(again);
        until_gone(&mut control, "c1");
        tell(&mut control, &["ASKS c2", "GRANTED c2"]);
        rest();
        assert_eq!(control.say("DOUBLEHOLD VERDICT P1"), "inconclusive", "{fault:?}: c1 left without a word");
    }
}

#[test]
fn a_key_that_arrives_after_its_grant_is_the_grants() {
    let server = Server::start_at(free_ports(3), &["--faults", "--nodes", "2"]);
    let (mut control, mut c1) = (server.client(2), server.named("c1", 0));
    let mut c1_at_b = server.client(1);
    assert_eq!(c1_at_b.say("CLIENT SETNAME c1"), "OK");
    tell(&mut control, &["HOLD c1 B 300ms SET", "ASKS c1"]);
    c1_at_b.send(b"SET lock t1 NX PX 10000\r\n");
    assert_eq!(c1.say("SET lock t1 NX PX 10000"), "OK");
    tell(&mut control, &["GRANTED c1 10s", "AWAIT OVER"]);
    assert_eq!(c1_at_b.reply(), "OK");
    let history = control.say("DOUBLEHOLD HISTORY");
    let granted = history.find("\"granted\"").expect("c1 is granted the lock");
    assert_eq!(history[..granted].matches("\"key_set\"").count(), 1, "{history}");
    assert_eq!(history[granted..].matches("\"key_set\"").count(), 1, "{history}");
}

#[test]
fn a_fault_without_a_text_lets_pass_what_a_driver_sends_as_it_connects() {
    let server = start(&[]);
    let mut control = server.client(1);
    tell(&mut control, &["DROP c1 A", "AT A's message from c1 DO CLOCK A 1h"]);
    let mut c1 = server.named("c1", 0);
    assert_eq!(c1.say("PING"), "PONG");
    assert!(!control.say("DOUBLEHOLD STATUS").contains("+1 h"));
    assert_eq!(c1.say("GET k"), "", "its reply is lost");
    tell(&mut control, &["AWAIT"]);
    assert!(control.say("DOUBLEHOLD STATUS").contains("its clock is +1 h off"));
}

#[test]
fn a_key_that_is_written_over_by_whoever_asks_is_a_double_hold_and_no_wrong_release() {
    let server = start(&[]);
    let (mut control, mut c1, mut c2) = (server.client(1), server.named("c1", 0), server.named("c2", 0));
    tell(&mut control, &["ASKS c1"]);
    assert_eq!(c1.say("SET lock t1 PX 10000"), "OK");
    tell(&mut control, &["GRANTED c1", "ASKS c2"]);
    assert_eq!(c2.say("SET lock t2 PX 10000"), "OK");
    tell(&mut control, &["GRANTED c2"]);
    assert_eq!(control.say("DOUBLEHOLD VERDICT WR"), "holds");
    // c1 has the lock already: this is an extension, of what is not its own.
    assert_eq!(c1.say("SET lock t1 PX 10000"), "OK");
    assert_eq!(control.say("DOUBLEHOLD VERDICT WR"), "violated");
}

#[test]
fn a_release_that_arrives_when_its_client_asks_again_is_of_its_own_key() {
    let server = start(&[]);
    let (mut control, mut c1) = (server.client(1), server.named("c1", 0));
    tell(&mut control, &["ASKS c1"]);
    assert_eq!(c1.say("SET lock t1 NX PX 10000"), "OK");
    tell(&mut control, &["GRANTED c1", "RELEASES c1", "ASKS c1"]);
    assert_eq!(c1.say("DEL lock"), "1");
    assert_eq!(control.say("DOUBLEHOLD VERDICT WR"), "holds");
}

#[test]
fn whoever_deletes_a_key_and_told_nothing_is_named() {
    let server = start(&[]);
    let (mut control, mut c1, mut c2) = (server.client(1), server.named("c1", 0), server.named("c2", 0));
    tell(&mut control, &["ASKS c1"]);
    assert_eq!(c1.say("SET lock t1 NX PX 10000"), "OK");
    tell(&mut control, &["GRANTED c1"]);
    assert_eq!(c2.say("DEL lock"), "1");
    let verdict = control.say("DOUBLEHOLD VERDICT");
    let why = "WR wrong release inconclusive: c2, which has told nothing, changed a lock's key: tell `DOUBLEHOLD ASKS c2`";
    assert!(verdict.contains(why), "{verdict}");
}

#[test]
fn a_client_that_has_the_lock_and_does_not_say_so_is_a_doubt() {
    let server = start(&[]);
    let (mut control, mut c1) = (server.client(1), server.named("c1", 0));
    tell(&mut control, &["ASKS c1"]);
    assert_eq!(c1.say("SET lock t1 NX PX 10000"), "OK");
    let verdict = control.say("DOUBLEHOLD VERDICT");
    let why = "inconclusive: c1 asked for the lock, and has its key on most nodes, and told nothing since";
    assert!(verdict.contains(why), "{verdict}");
    // A lease that was over before it was granted is none.
    tell(&mut control, &["GRANTED c1 -515ms", "ASKS c2", "GRANTED c2 10s"]);
    rest();
    assert_eq!(control.say("DOUBLEHOLD VERDICT P1"), "violated");
    assert_eq!(control.say("DOUBLEHOLD VERDICT P2"), "holds");
}

#[test]
fn a_key_that_lived_its_lease_did_not_expire_before_its_time() {
    let server = start(&[]);
    let (mut control, mut c1, mut c2) = (server.client(1), server.named("c1", 0), server.named("c2", 0));
    for (words, said) in [
        (&["GRANTED c1 200ms"][..], "c1's key expired on A while c1 was still at work"),
        (&["GRANTED c1 10s", "CLOCK A 10s"], "c1's key expired on A before its time"),
    ] {
        tell(&mut control, &["RESET", "ASKS c1"]);
        let lifetime = if words.len() == 1 { 200 } else { 10_000 };
        assert_eq!(c1.say(&format!("SET lock t1 NX PX {lifetime}")), "OK");
        tell(&mut control, words);
        std::thread::sleep(Duration::from_millis(300));
        tell(&mut control, &["ASKS c2"]);
        assert_eq!(c2.say("SET lock t2 NX PX 10000"), "OK");
        tell(&mut control, &["GRANTED c2 10s"]);
        rest();
        let picture = control.say("DOUBLEHOLD PICTURE");
        assert!(picture.contains(said), "{said}: {picture}");
        assert!(!picture.contains("seed"), "no seed repeats it");
    }
}

#[test]
fn a_record_has_the_name_of_its_test() {
    let folder = Folder::new();
    let junit = folder.path("junit.xml");
    let mut server = start(&["--junit", &junit]);
    tell(&mut server.client(1), &["RESET in-turn", "ASKS c1", "GRANTED c1", "RELEASES c1"]);
    server.signal("TERM");
    server.end();
    let suites = std::fs::read_to_string(junit).expect("it is written");
    assert!(suites.contains("<testsuite name=\"in-turn\""), "{suites}");
}
