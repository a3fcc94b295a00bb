//! `doublehold serve --scenario`: a scenario's nodes on real ports, and its faults of nodes and links at their moments.
#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use snapbox::str;

use crate::kit::{Ask, Folder, assert_text, doublehold};
use crate::serve::{Client, PATIENCE, Server, free_ports, tell};

const SHORT: Duration = Duration::from_millis(150);

fn start(nodes: u16, scenario: &str) -> Server {
    Server::start_at(free_ports(nodes + 1), &["--scenario", scenario])
}

fn named(server: &Server, client: &str, node: u16) -> Client {
    let mut connection = server.client(node);
    connection.send(format!("CLIENT SETNAME {client}\r\n").as_bytes());
    connection
}

/// A scenario of two nodes with these faults.
fn file(folder: &Folder, faults: &str) -> String {
    let path = folder.path("mine.toml");
    let text = format!(
        r#"
claim = "mine"
[lock]
algorithm = "redlock"
ttl = "10s"
[nodes]
names = ["A", "B"]
persistence = "always"
[clocks.B]
offset = "-1h"
[[clients]]
name = "c1"
program = ["acquire", "release"]
{faults}
"#
    );
    std::fs::write(&path, text).expect("there is room");
    path
}

#[test]
fn the_clock_jump_of_the_blog_posts_happens_on_served_nodes() {
    let server = start(5, "clock-jump");
    let mut control = server.client(5);
    // A second time, too: a RESET begins the scenario anew.
    for _ in 0..2 {
        // A client whose last connection ends may be dead.
        let mut open = Vec::new();
        tell(&mut control, &["ASKS c1"]);
        for node in 0..3 {
            let mut c1 = named(&server, "c1", node);
            assert_eq!(c1.reply(), "OK");
            assert_eq!(c1.say("SET lock c1 NX PX 10000"), "OK");
            open.push(c1);
        }
        assert!(named(&server, "c1", 3).is_silent_for(SHORT), "c1 has no way to D");
        assert_eq!(control.say("DOUBLEHOLD AWAIT 50ms").matches("has not struck").count(), 1);
        tell(&mut control, &["GRANTED c1 9s", "AWAIT", "ASKS c2"]);
        for (node, said) in [(0, "nil"), (1, "nil"), (2, "OK"), (3, "OK"), (4, "OK")] {
            let mut c2 = named(&server, "c2", node);
            assert_eq!(c2.reply(), "OK");
            assert_eq!(c2.say("SET lock c2 NX PX 10000"), said, "node {node}");
            open.push(c2);
        }
        tell(&mut control, &["GRANTED c2 9s"]);
        assert_eq!(control.say("DOUBLEHOLD VERDICT P2"), "violated");
        tell(&mut control, &["RESET"]);
    }
}

#[test]
fn what_clients_have_to_do_is_said() {
    let port = free_ports(2).to_string();
    let mut process = doublehold(&["serve", "--port", &port, "--scenario", "lease-pause"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let lines =
        BufReader::new(process.stderr.take().expect("piped")).lines().map(|line| line.expect("UTF-8"));
    let said: Vec<String> = lines.skip(1).take(4).collect();
    process.kill().expect("it is ours");
    process.wait().expect("it is ours");
    assert_text(
        said.join("\n") + "\n",
        str![[r#"
lease-pause: clients are yours: a lock of 10 s, and connections that have their names
  c1, at once: acquire, read, work 1s, check, write, release
  c2, at c1's grant: acquire, read, work 1s, check, write, release
  by you: c1 pauses for 20 s, at c1's check

"#]],
    );
}

#[test]
fn a_node_is_as_its_scenario_says_and_comes_back_when_its_fault_is_over() {
    let folder = Folder::new();
    let crash =
        "[[faults]]\nkind = \"crash\"\nhost = \"A\"\nat = \"the 2nd SET executed for c1\"\nfor = \"300ms\"";
    let server = start(2, &file(&folder, crash));
    let mut c1 = named(&server, "c1", 0);
    assert_eq!((c1.reply().as_str(), c1.say("SET k 1").as_str()), ("OK", "OK"));
    c1.send(b"SET l 1\r\n");
    let mut control = server.client(2);
    tell(&mut control, &["AWAIT OVER"]);
    assert_eq!(server.client(0).say("MGET k l"), "1\n1", "its file has both");
    let status = control.say("DOUBLEHOLD STATUS");
    assert!(status.contains("its clock is -1 h off"), "{status}");
}

#[test]
fn who_is_cut_off_hears_of_a_promotion_when_the_cut_is_healed() {
    let server = Server::start_at(free_ports(3), &["--faults", "--replicas", "1"]);
    let (mut control, mut a) = (server.client(2), server.client(0));
    tell(&mut control, &["CUT A B", "PROMOTE B"]);
    assert_eq!(a.say("SET k v"), "OK", "A is a master, too");
    tell(&mut control, &["AWAIT 10ms", "PROMOTE A", "HEAL"]);
    std::thread::sleep(SHORT);
    assert_eq!(a.say("SET k v"), "OK", "the later order counts");
    tell(&mut control, &["CUT A B", "PROMOTE B", "HEAL"]);
    let until = Instant::now() + PATIENCE;
    while !a.say("SET k v").starts_with("-READONLY") {
        assert!(Instant::now() < until, "A does not follow B");
    }
    tell(&mut control, &["RESET", "CUT A B", "PROMOTE B", "RESET"]);
    assert_eq!(a.say("SET k v"), "OK", "a RESET leaves nothing to come");
}

#[test]
fn what_no_served_node_can_show_is_refused_all_at_once() {
    let folder = Folder::new();
    let faults = r#"
[[faults]]
kind = "power-loss"
host = "A"
at = "1s"
for = "1s"
[[faults]]
kind = "pause"
host = "B"
at = "c1's clock read"
for = "1s"
[[faults]]
kind = "slow"
from = "A"
to = "c1"
by = "1s"
at = "1s"
[[faults]]
kind = "slow"
from = "A"
to = "B"
by = "1s"
at = "1s"
[weather]
preset = "cloud"
"#;
    let refused = doublehold(&["serve", "--scenario", &file(&folder, faults)]).ends(2);
    assert_text(
        refused.stderr,
        str![[r#"
error: `mine` has what no served node can show:
  random faults (`[weather]`): their rates are of simulated hours
  A loses power and restarts after 1 s, at 1 s: it needs a simulated machine: `crash` and `flush` are struck here
  B pauses for 1 s, at c1's clock read: `c1's clock read` needs a simulated client: wait for a command, a message or a word
  1 s of extra delay from A to c1, at 1 s: only what clients send to nodes can be late or sent twice
  1 s of extra delay from A to B, at 1 s: only what clients send to nodes can be late or sent twice
hint: leave that out of a copy of its file, or run it: `doublehold run mine`

"#]],
    );
}
