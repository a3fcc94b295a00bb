//! Bad input to `doublehold serve --faults`, and odd clients.
#![cfg(unix)]

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::kit::{Ask, Folder, doublehold};
use crate::serve::{Client, PATIENCE, Server, free_ports};

fn start(options: &[&str]) -> Server {
    Server::start_at(free_ports(2), &[&["--faults"], options].concat())
}

/// Requests, and their replies, that no buffer of the system holds all of.
const MANY: usize = 30_000;

#[test]
fn a_client_may_send_all_that_it_has_before_it_reads() {
    let server = Server::start(1, &[]);
    let mut client = server.client(0);
    let (key, value) = ("k".repeat(1_000), "v".repeat(1_000));
    assert_eq!(client.say(&format!("SET {key} {value}")), "OK");
    client.send(format!("GET {key}\r\n").repeat(MANY).as_bytes());
    for number in 0..MANY {
        assert_eq!(client.reply(), value, "reply {number}");
    }
}

#[test]
fn a_reset_ends_what_a_slow_node_is_busy_with() {
    let server = start(&[]);
    let (mut control, mut client) = (server.client(1), server.client(0));
    assert_eq!(control.say("DOUBLEHOLD SLOW A 1h"), "OK");
    client.send(b"PING\r\n");
    assert!(client.is_silent_for(Duration::from_millis(150)));
    assert_eq!(control.say("DOUBLEHOLD RESET"), "OK");
    assert_eq!(client.reply(), "PONG");
}

#[test]
fn a_reset_ends_a_script_that_does_not_end() {
    let server = start(&[]);
    let (mut control, mut client) = (server.client(1), server.client(0));
    assert_eq!(client.say("CONFIG SET busy-reply-threshold 100"), "OK");
    client.send(b"EVAL \"while true do end\" 0\r\n");
    let mut other = server.client(0);
    while !other.say("PING").starts_with("-BUSY") {}
    assert_eq!(control.say("DOUBLEHOLD RESET"), "OK");
    assert_eq!(server.client(0).say("PING"), "PONG");
}

#[test]
fn words_keep_to_multi_and_to_client_reply() {
    let server = start(&[]);
    let mut control = server.client(1);
    assert_eq!(control.say("MULTI"), "OK");
    let refused = "-ERR Command not allowed inside a transaction";
    assert_eq!(control.say("DOUBLEHOLD ASKS c1"), refused);
    assert!(control.say("EXEC").starts_with("-EXECABORT"));
    assert!(control.say("DOUBLEHOLD GRANTED c1").starts_with("-ERR c1 has not asked"), "nothing was told");
    control.send(b"CLIENT REPLY SKIP\r\nDOUBLEHOLD STATUS\r\n");
    assert_eq!(control.say("ECHO one"), "one");
    control.send(b"CLIENT REPLY OFF\r\nDOUBLEHOLD ASKS c1\r\nCLIENT REPLY ON\r\n");
    assert_eq!(control.reply(), "OK");
    assert_eq!(control.say("DOUBLEHOLD GRANTED c1"), "OK", "it was told without a reply");
}

#[test]
fn a_name_is_a_text_that_fits_beside_a_picture() {
    let server = start(&[]);
    let mut control = server.client(1);
    let mut refused = |name: &[u8], why: &str| {
        let length = name.len();
        control.send(format!("*3\r\n$10\r\nDOUBLEHOLD\r\n$4\r\nASKS\r\n${length}\r\n").as_bytes());
        control.send(&[name, b"\r\n"].concat());
        let said = control.reply();
        assert!(said.contains(why), "{said}");
    };
    refused(b" ", "ASKS needs a client's name, such as c1");
    refused(b"\xff", "is not UTF-8");
    refused(&[b'x'; 101], "has 101 characters: a name has 100 at most");
}

#[test]
fn times_have_one_limit_with_and_without_a_unit() {
    let server = start(&[]);
    let mut control = server.client(1);
    for time in ["999999999999999", "999999999999999ms"] {
        let said = control.say(&format!("DOUBLEHOLD PAUSE A {time}"));
        assert!(said.contains("is longer than ten years"), "{said}");
    }
}

/// A client of a program that is about to listen.
fn awaited_client(port: u16) -> Client {
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        match Client::connect(port) {
            Some(client) => return client,
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    }
    panic!("nobody listens on port {port}")
}

#[test]
fn a_verdict_is_shown_though_its_record_cannot_be_written() {
    let folder = Folder::new();
    let inner = folder.path("gone");
    std::fs::create_dir(&inner).expect("there is room");
    let port = free_ports(2);
    let mut process = doublehold(&["serve", "--faults", "--port", &port.to_string()])
        .args(["--record", &format!("{inner}/locks.jsonl")])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut control = awaited_client(port + 1);
    for word in ["ASKS c1", "GRANTED c1"] {
        assert_eq!(control.say(&format!("DOUBLEHOLD {word}")), "OK");
    }
    std::fs::remove_dir_all(&inner).expect("it is ours");
    crate::kit::command("kill").arg(process.id().to_string()).ends(0);
    assert_eq!(process.wait().expect("it is ours").code(), Some(2));
    let said = std::io::read_to_string(process.stdout.take().expect("piped")).expect("UTF-8");
    assert!(said.contains("c1 is granted"), "{said}");
    let error = std::io::read_to_string(process.stderr.take().expect("piped")).expect("UTF-8");
    assert!(error.contains("cannot write the record"), "{error}");
}
