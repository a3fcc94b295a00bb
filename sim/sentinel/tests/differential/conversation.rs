//! The same words to a real Sentinel and to ours.

use std::collections::BTreeMap;

use crate::client::{Client, Reply, ask};
use crate::known::Known;
use crate::real::Real;
use crate::{awaited, free_port, ours, real};

const TEXT: &str = include_str!("../conversation.txt");
const QUORUM: u32 = 2;

/// A master with a replica, and the ports of the two Sentinels that watch it.
struct Watched {
    /// Where each server listens, by its name in the conversation.
    ports: BTreeMap<&'static str, u16>,
    _nodes: [Real; 2],
}

impl Watched {
    fn start() -> Watched {
        let names = ["master", "replica", "sentinel", "other"];
        let ports: BTreeMap<_, _> = names.into_iter().map(|name| (name, free_port())).collect();
        let master = Real::node(ports["master"], None);
        let replica = Real::node(ports["replica"], Some(ports["master"]));
        let listed = || ask(ports["master"], "ROLE").items().get(2).map(|replicas| replicas.items().len());
        awaited("the replica follows", || listed().filter(|count| *count == 1));
        Watched { ports, _nodes: [master, replica] }
    }

    /// Waits until each Sentinel knows the replica and the other one, and is connected to both.
    fn await_knowledge(&self) {
        let asked = |port: u16, what: &str| ask(port, &format!("SENTINEL {what} mymaster"));
        let knows = |port: u16| {
            let (replicas, others) = (asked(port, "REPLICAS"), asked(port, "SENTINELS"));
            let flags =
                |reply: &Reply| reply.items().iter().map(|one| one.field("flags").to_owned()).collect();
            let (replica_flags, other_flags): (Vec<String>, Vec<String>) = (flags(&replicas), flags(&others));
            let is_linked = replicas.items().iter().all(|one| one.field("master-link-status") == "ok");
            replica_flags == ["slave"] && other_flags == ["sentinel"] && is_linked
        };
        for sentinel in ["sentinel", "other"] {
            awaited("a Sentinel knows all", || knows(self.ports[sentinel]).then_some(()));
        }
    }

    /// A command with the ports put in.
    fn fill(&self, command: &str) -> String {
        let filled = command.replace("{id}", &"a".repeat(40));
        self.ports
            .iter()
            .fold(filled, |text, (name, port)| text.replace(&format!("{{{name}}}"), &port.to_string()))
    }

    /// A reply with names in the place of ports and ids.
    fn named(&self, reply: Reply) -> Reply {
        let name = |text: String| {
            let text = without_ids(&text);
            self.ports.iter().fold(text, |text, (name, port)| text.replace(&port.to_string(), name))
        };
        match reply {
            Reply::Line(line) => Reply::Line(name(line)),
            Reply::Text(text) => Reply::Text(name(text)),
            Reply::Many(kind, items) => {
                Reply::Many(kind, items.into_iter().map(|item| self.named(item)).collect())
            }
            Reply::End => Reply::End,
        }
    }

    fn client(&self) -> Client {
        Client::to(self.ports["sentinel"]).expect("the Sentinel listens")
    }
}

/// A text with every 40 hexadecimal digits in a row replaced.
fn without_ids(text: &str) -> String {
    let is_digit = |c: char| c.is_ascii_hexdigit();
    let mut rest = text;
    let mut out = String::new();
    while let Some(start) = rest.find(is_digit) {
        let length = rest[start..].find(|c| !is_digit(c)).unwrap_or(rest.len() - start);
        let (before, digits) = (&rest[..start], &rest[start..start + length]);
        out.push_str(before);
        out.push_str(if length == 40 { "an id" } else { digits });
        rest = &rest[start + length..];
    }
    out + rest
}

/// Answers that differ, by the place of the command in the conversation.
fn differences() -> BTreeMap<usize, String> {
    let (theirs, mine) = (Watched::start(), Watched::start());
    let master = theirs.ports["master"];
    let _sentinels = ["sentinel", "other"].map(|name| Real::sentinel(theirs.ports[name], master, QUORUM));
    for name in ["sentinel", "other"] {
        ours::start(mine.ports[name], mine.ports["master"], QUORUM);
    }
    theirs.await_knowledge();
    mine.await_knowledge();
    let known = Known::read();
    let mut clients = None;
    let mut found = BTreeMap::new();
    for (place, line) in TEXT.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
        if line.is_empty() {
            clients = None;
            continue;
        }
        let (real, our) = clients.get_or_insert_with(|| (theirs.client(), mine.client()));
        let real = theirs.named(real.ask(&theirs.fill(line)));
        let our = mine.named(our.ask(&mine.fill(line)));
        if !known.agree(line, &real, &our) {
            found.insert(place, format!("{line}\n  real: {real:?}\n  ours: {our:?}"));
        }
    }
    found
}

#[test]
fn our_sentinel_answers_as_a_real_one_does() {
    if !real::is_there() {
        return;
    }
    let first = differences();
    // A hello or a tick may come to one of them between two commands: such a difference does not show twice.
    let again = if first.is_empty() { BTreeMap::new() } else { differences() };
    let both: Vec<&str> =
        again.iter().filter(|(place, _)| first.contains_key(place)).map(|(_, it)| &**it).collect();
    assert!(both.is_empty(), "\n{}", both.join("\n"));
}
