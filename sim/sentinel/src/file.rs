//! The file that a Sentinel keeps: its id, its epochs and whom it knows, in the lines of `sentinel.conf`.
//!
//! Redis writes the file before it goes on with what it was doing, so that a vote is on disk before it is told: one
//! that is forgotten in a power loss could be given twice. The process sees to that.

use std::fmt::Write as _;

use crate::config::Address;
use crate::sentinel::Sentinel;

/// The name of the file.
pub(crate) const FILE: &str = "sentinel.conf";

/// What a file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Saved {
    pub(crate) run_id: Option<String>,
    pub(crate) current_epoch: u64,
    pub(crate) config_epoch: u64,
    pub(crate) leader_epoch: u64,
    pub(crate) master: Option<Address>,
    pub(crate) replicas: Vec<Address>,
    pub(crate) peers: Vec<(Address, String)>,
}

impl Saved {
    /// Reads a file, a line each. What is no line of one is passed over: a file ends where the disk cut it.
    pub(crate) fn read(text: &str) -> Saved {
        let mut saved = Saved::default();
        for line in text.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let address = |host: &str, port: &str| Some(Address::new(host, port.parse().ok()?));
            let number = |text: &str| text.parse().unwrap_or_default();
            match words[..] {
                ["sentinel", "myid", id] => saved.run_id = Some(id.to_owned()),
                ["sentinel", "current-epoch", epoch] => saved.current_epoch = number(epoch),
                ["sentinel", "config-epoch", _, epoch] => saved.config_epoch = number(epoch),
                ["sentinel", "leader-epoch", _, epoch] => saved.leader_epoch = number(epoch),
                ["sentinel", "monitor", _, host, port, _] => saved.master = address(host, port),
                ["sentinel", "known-replica", _, host, port] => saved.replicas.extend(address(host, port)),
                ["sentinel", "known-sentinel", _, host, port, id] => {
                    saved.peers.extend(address(host, port).map(|address| (address, id.to_owned())));
                }
                _ => {}
            }
        }
        saved
    }
}

impl Sentinel {
    /// The file as it is to be now.
    pub(crate) fn file(&self) -> String {
        let (name, master) = (&self.config.master_name, &self.master);
        let mut text = String::new();
        let mut line = |words: std::fmt::Arguments<'_>| {
            writeln!(text, "sentinel {words}").expect("a String takes every text");
        };
        line(format_args!("myid {}", self.run_id));
        line(format_args!("monitor {name} {} {}", self.current_master(), self.config.quorum));
        line(format_args!("config-epoch {name} {}", master.config_epoch));
        line(format_args!("leader-epoch {name} {}", master.leader_epoch));
        line(format_args!("current-epoch {}", self.current_epoch));
        for replica in &self.replicas {
            let listed = match &replica.instance.address {
                // Not the one that is the master by now; in its place the one that was.
                address if address == self.current_master() => &master.instance.address,
                address => address,
            };
            line(format_args!("known-replica {name} {listed}"));
        }
        for peer in &self.peers {
            line(format_args!("known-sentinel {name} {} {}", peer.instance.address, peer.run_id));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_what_was_kept() {
        let text = "sentinel myid aa\nsentinel monitor m B 6379 2\nsentinel config-epoch m 4\n\
            sentinel leader-epoch m 5\nsentinel current-epoch 6\nsentinel known-replica m A 6379\n\
            sentinel known-sentinel m S2 26379 bb\nsentinel known-";
        let expected = Saved {
            run_id: Some("aa".to_owned()),
            current_epoch: 6,
            config_epoch: 4,
            leader_epoch: 5,
            master: Some(Address::new("B", 6379)),
            replicas: vec![Address::new("A", 6379)],
            peers: vec![(Address::new("S2", 26379), "bb".to_owned())],
        };
        assert_eq!(Saved::read(text), expected);
    }
}
