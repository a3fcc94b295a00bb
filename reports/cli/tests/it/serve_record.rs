//! What clients of `doublehold serve --faults` tell of their locks, and the judge's verdict on it.
#![cfg(unix)]

use std::time::Duration;

use crate::kit::{Ask, Folder, doublehold};
use crate::serve::{Client, Server, free_ports, tell};

fn start(options: &[&str]) -> Server {
    Server::start_at(free_ports(2), &[&["--faults"], options].concat())
}

/// Long enough to be no error of the instants.
fn rest() {
    std::thread::sleep(Duration::from_millis(100));
}

#[test]
fn two_who_hold_at_once_are_seen_and_one_after_the_other_is_not() {
    let server = start(&[]);
    let mut control = server.client(1);
    tell(&mut control, &["ASKS c1", "GRANTED c1 10s", "RELEASES c1", "RELEASED c1", "ASKS c2", "GRANTED c2"]);
    rest();
    tell(&mut control, &["RELEASES c2"]);
    assert_eq!(control.say("DOUBLEHOLD VERDICT P1"), "holds");
    tell(&mut control, &["RESET", "ASKS c1", "GRANTED c1 10s", "ASKS c2", "GRANTED c2 10s"]);
    rest();
    tell(&mut control, &["RELEASES c2", "RELEASES c1"]);
    assert_eq!(control.say("DOUBLEHOLD VERDICT P1"), "violated");
    let verdicts = control.say("DOUBLEHOLD VERDICT");
    assert!(
        verdicts.starts_with("P1 claim overlap violated: c1 and c2 both held \"lock\" for "),
        "{verdicts}"
    );
    assert!(control.say("DOUBLEHOLD PICTURE").starts_with("<svg"));
}

#[test]
fn a_lease_that_is_over_ends_the_valid_part_of_a_claim() {
    let server = start(&[]);
    let mut control = server.client(1);
    tell(&mut control, &["ASKS c1", "GRANTED c1 50ms"]);
    rest();
    tell(&mut control, &["ASKS c2", "GRANTED c2 10s"]);
    rest();
    tell(&mut control, &["RELEASES c2"]);
    assert_eq!(control.say("DOUBLEHOLD VERDICT P1"), "violated");
    assert_eq!(control.say("DOUBLEHOLD VERDICT P2"), "holds");
    tell(&mut control, &["LOST c1", "RESET", "ASKS c1", "GRANTED c1 50ms", "EXTENDED c1 10s"]);
    rest();
    tell(&mut control, &["ASKS c2", "GRANTED c2 10s"]);
    rest();
    tell(&mut control, &["LOST c1", "RELEASES c2"]);
    assert_eq!(control.say("DOUBLEHOLD VERDICT P2"), "violated", "the lease was extended before its end");
}

#[test]
fn late_writes_and_lost_updates_are_seen_at_the_resource() {
    let server = start(&[]);
    let mut clients = [server.client(1), server.client(1)];
    for (client, name) in clients.iter_mut().zip(["c1", "c2"]) {
        tell(client, &[&format!("IAM {name}")]);
    }
    let [c1, c2] = &mut clients;
    assert!(c1.say("DOUBLEHOLD READ stock").starts_with("-ERR c1 was never granted a lock"));
    tell(c1, &["ASKS c1", "GRANTED c1 10s FENCE 33"]);
    assert_eq!(c1.say("DOUBLEHOLD READ stock"), "");
    rest();
    tell(c2, &["ASKS c2", "GRANTED c2 10s FENCE 34"]);
    assert_eq!(c2.say("DOUBLEHOLD READ stock"), "");
    tell(c2, &["WRITE stock 7 FENCE 34", "RELEASES c2"]);
    tell(c1, &["WRITE stock 8 FENCE 33", "RELEASES c1"]);
    assert_eq!(c2.say("DOUBLEHOLD VERDICT P3"), "violated");
    assert_eq!(c2.say("DOUBLEHOLD VERDICT P4"), "violated");
    tell(c1, &["RESET", "ASKS c1", "GRANTED c1"]);
    assert_eq!(c1.say("DOUBLEHOLD READ stock"), "", "a new record, new data");
    tell(c1, &["WRITE stock 8", "RELEASES c1"]);
    assert_eq!(
        (c1.say("DOUBLEHOLD VERDICT P3"), c1.say("DOUBLEHOLD VERDICT P4")),
        ("holds".into(), "holds".into())
    );
}

#[test]
fn what_shows_nothing_holds_nothing() {
    let server = start(&[]);
    let mut control = server.client(1);
    assert_eq!(control.say("DOUBLEHOLD VERDICT P1"), "inconclusive", "nobody told anything");
    tell(&mut control, &["HOLD c1 A 1s EVAL", "ASKS c1", "GRANTED c1", "RELEASES c1"]);
    let verdicts = control.say("DOUBLEHOLD VERDICT");
    let doubt = "`HOLD c1 A 1000 EVAL` has not struck: c1 has sent A nothing since";
    assert!(verdicts.starts_with(&format!("P1 claim overlap inconclusive: {doubt}")), "{verdicts}");
}

#[test]
fn a_client_that_leaves_without_a_word_is_a_doubt_and_one_that_died_is_none() {
    let server = start(&[]);
    let mut control = server.client(1);
    let mut c1 = server.client(0);
    assert_eq!(c1.say("CLIENT SETNAME c1"), "OK");
    tell(&mut control, &["ASKS c1", "GRANTED c1"]);
    drop(c1);
    while control.say("DOUBLEHOLD STATUS").contains("c1 has connections") {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(control.say("DOUBLEHOLD VERDICT P1"), "holds", "nobody came after it");
    tell(&mut control, &["ASKS c2", "GRANTED c2"]);
    let verdicts = control.say("DOUBLEHOLD VERDICT");
    assert!(
        verdicts.contains("inconclusive: c1 closed its connections while it held the lock"),
        "{verdicts}"
    );
    tell(&mut control, &["RESET", "ASKS c1", "GRANTED c1", "DIED c1"]);
    assert_eq!(control.say("DOUBLEHOLD VERDICT P1"), "holds");
}

/// A connection of this client to the node.
#[test]
fn a_release_of_anothers_key_is_seen_where_connections_have_names() {
    let server = start(&[]);
    let (mut control, mut c1, mut c2) = (server.client(1), server.named("c1", 0), server.named("c2", 0));
    tell(&mut control, &["ASKS c1"]);
    assert_eq!(c1.say("SET lock t1 NX PX 1"), "OK");
    tell(&mut control, &["GRANTED c1 1ms"]);
    rest();
    tell(&mut control, &["ASKS c2"]);
    assert_eq!(c2.say("SET lock t2 NX PX 60000"), "OK");
    tell(&mut control, &["GRANTED c2 60s"]);
    assert_eq!(control.say("DOUBLEHOLD VERDICT WR"), "holds");
    tell(&mut control, &["RELEASES c1"]);
    assert_eq!(c1.say("DEL lock"), "1");
    let verdicts = control.say("DOUBLEHOLD VERDICT");
    assert!(verdicts.contains("WR wrong release violated: c1"), "{verdicts}");
    let history = control.say("DOUBLEHOLD HISTORY");
    for key in ["\"key_set\",\"node\":0,\"lock\":0,\"grant\":1", "\"grant\":1,\"how\":\"expired\""] {
        assert!(history.contains(key), "{history}");
    }
}

#[test]
fn what_holders_write_beside_the_lock_is_no_key_of_it() {
    let server = start(&[]);
    let (mut control, mut c1, mut c2) = (server.client(1), server.named("c1", 0), server.named("c2", 0));
    for (client, name) in [(&mut c1, "c1"), (&mut c2, "c2")] {
        tell(&mut control, &[&format!("ASKS {name}")]);
        assert_eq!(client.say(&format!("SET lock {name} NX PX 60000")), "OK");
        tell(&mut control, &[&format!("GRANTED {name} 60s")]);
        assert_eq!(client.say(&format!("SET result of-{name}")), "OK");
        tell(&mut control, &[&format!("RELEASES {name}")]);
        assert_eq!(client.say("DEL lock"), "1");
        tell(&mut control, &[&format!("RELEASED {name}")]);
    }
    assert_eq!(control.say("DOUBLEHOLD VERDICT WR"), "holds");
}

#[test]
fn nothing_is_said_of_releases_where_nobody_knows_whose_they_are() {
    let server = start(&[]);
    let (mut control, mut nobody) = (server.client(1), server.client(0));
    tell(&mut control, &["ASKS c1"]);
    assert_eq!(nobody.say("SET lock t1 NX PX 60000"), "OK");
    tell(&mut control, &["GRANTED c1 60s"]);
    let verdicts = control.say("DOUBLEHOLD VERDICT");
    assert!(
        verdicts.contains("WR wrong release inconclusive: nobody watched the keys of nodes"),
        "{verdicts}"
    );
    let mut c2 = server.named("c2", 0);
    tell(&mut control, &["ASKS c2 orders"]);
    assert_eq!(c2.say("SET orders t2 NX PX 60000"), "OK");
    tell(&mut control, &["GRANTED c2 60s"]);
    let verdicts = control.say("DOUBLEHOLD VERDICT");
    assert!(
        verdicts.contains("WR wrong release inconclusive: c1 was granted `lock`, and no connection of"),
        "{verdicts}"
    );
    tell(&mut control, &["RESET", "ASKS c1"]);
    let mut c1 = server.named("c1", 0);
    assert_eq!(c1.say("SET lock t1 NX PX 60000"), "OK");
    tell(&mut control, &["GRANTED c1 60s"]);
    assert_eq!(nobody.say("DEL lock"), "1");
    let verdicts = control.say("DOUBLEHOLD VERDICT");
    assert!(
        verdicts.contains("WR wrong release inconclusive: a connection without a name changed a lock's key"),
        "{verdicts}"
    );
}

#[test]
fn a_node_that_crashes_forgets_a_key_and_one_with_a_file_has_it_again() {
    for (persistence, times) in [("none", 1), ("always", 2)] {
        let server = start(&["--persistence", persistence]);
        let (mut control, mut c1) = (server.client(1), server.named("c1", 0));
        tell(&mut control, &["ASKS c1"]);
        assert_eq!(c1.say("SET lock t1 NX PX 60000"), "OK");
        tell(&mut control, &["GRANTED c1 60s", "CRASH A", "RESTART A"]);
        let history = control.say("DOUBLEHOLD HISTORY");
        assert_eq!(history.matches("\"key_set\"").count(), times, "{history}");
        let told = ["A crashes", "\"how\":\"forgotten\"", "A starts again"].map(|text| history.find(text));
        assert!(told.is_sorted() && told[0].is_some(), "{history}");
    }
}

#[test]
fn what_cannot_be_true_is_refused_with_the_way_out() {
    let server = start(&[]);
    let mut control = server.client(1);
    let refused = |control: &mut Client, word: &str, refusal: &str| {
        let said = control.say(&format!("DOUBLEHOLD {word}"));
        assert!(said.starts_with(&format!("-ERR {refusal}")), "{word}: {said}");
    };
    refused(&mut control, "GRANTED c1", "c1 has not asked: tell `DOUBLEHOLD ASKS c1` right before it asks");
    refused(&mut control, "RELEASES c1", "c1 holds nothing: tell `DOUBLEHOLD GRANTED c1` right after");
    tell(&mut control, &["ASKS c1 stock"]);
    refused(&mut control, "ASKS c1 stock", "c1 has asked for `stock` and told nothing since");
    tell(
        &mut control,
        &["ASKS c1 orders", "REFUSED c1 LOCK stock", "GRANTED c1", "ASKS c1 stock", "GRANTED c1"],
    );
    refused(&mut control, "RELEASES c1", "c1 might mean `orders` and `stock`: name the lock at the end");
    refused(&mut control, "RELEASED c1", "c1 has not told that it gives the lock back");
    tell(&mut control, &["RELEASES c1 stock", "RELEASED c1 NOT-OWNER"]);
    refused(&mut control, "LOST c1 stock", "c1 holds nothing for `stock`");
    refused(&mut control, "ASKS c1 orders", "c1 holds `orders`: first `RELEASES c1` or `LOST c1`");
    // Whoever cleans up after a loss, or hears of it twice, has told it already.
    tell(&mut control, &["LOST c1", "LOST c1", "RELEASES c1 LOCK orders", "RELEASED c1", "ASKS c1 orders"]);
}

#[test]
fn records_are_written_and_judged_when_the_program_is_asked_to_stop() {
    let folder = Folder::new();
    let (record, junit) = (folder.path("locks.jsonl"), folder.path("junit.xml"));
    let mut server = start(&["--record", &record, "--junit", &junit]);
    let mut control = server.client(1);
    tell(
        &mut control,
        &["ASKS c1", "GRANTED c1", "RELEASES c1", "RESET", "ASKS c1", "GRANTED c1", "ASKS c2"],
    );
    tell(&mut control, &["GRANTED c2"]);
    rest();
    server.signal("TERM");
    assert_eq!(server.end().code(), Some(1));
    doublehold(&["judge", &record]).ends(0);
    let second = doublehold(&["judge", &folder.path("locks-2.jsonl")]).ends(1);
    assert!(second.stdout.contains("c1 and c2 both held \"lock\""), "{}", second.stdout);
    let suites = std::fs::read_to_string(junit).expect("it is written");
    assert_eq!(suites.matches("<testsuite ").count(), 2, "{suites}");
}

#[test]
fn results_need_somebody_who_writes_down_what_clients_tell() {
    let refused = doublehold(&["serve", "--junit", "junit.xml"]).ends(2);
    assert!(refused.stderr.contains("hint: add `--faults`"), "{}", refused.stderr);
}

#[test]
fn a_fault_that_never_struck_is_a_doubt_in_the_exit_status_too() {
    let mut server = start(&[]);
    tell(&mut server.client(1), &["HOLD c1 A 1s NEVER", "ASKS c1", "GRANTED c1", "RELEASES c1"]);
    server.signal("TERM");
    assert_eq!(server.end().code(), Some(3));
}

#[test]
fn a_value_that_two_clients_write_is_no_token() {
    let server = start(&[]);
    let (mut control, mut c1, mut c2) = (server.client(1), server.named("c1", 0), server.named("c2", 0));
    tell(&mut control, &["ASKS c1"]);
    assert_eq!(c1.say("SET can-do 1 PX 60000"), "OK");
    assert_eq!(c1.say("SET lock t1 NX PX 60000"), "OK");
    tell(&mut control, &["GRANTED c1 60s", "ASKS c2"]);
    assert_eq!(c2.say("SET can-do 1 PX 50000"), "OK");
    assert_eq!(c2.say("SET lock t2 NX PX 60000"), "nil");
    tell(&mut control, &["REFUSED c2"]);
    assert_eq!(control.say("DOUBLEHOLD VERDICT WR"), "holds");
    assert_eq!(c2.say("DEL lock"), "1");
    assert_eq!(control.say("DOUBLEHOLD VERDICT WR"), "violated", "the lock's own key is followed");
}

#[test]
fn a_repeated_release_is_its_clients() {
    let server = start(&[]);
    let (mut control, mut c1, mut c2) = (server.client(1), server.named("c1", 0), server.named("c2", 0));
    tell(&mut control, &["ASKS c1"]);
    assert_eq!(c1.say("SET lock t1 NX PX 60000"), "OK");
    tell(&mut control, &["GRANTED c1 60s", "REPEAT c1 A 100ms DEL", "RELEASES c1"]);
    assert_eq!(c1.say("DEL lock"), "1");
    tell(&mut control, &["RELEASED c1", "ASKS c2"]);
    assert_eq!(c2.say("SET lock t2 NX PX 60000"), "OK");
    tell(&mut control, &["GRANTED c2 60s", "AWAIT OVER"]);
    assert_eq!(control.say("DOUBLEHOLD VERDICT WR"), "violated");
}
