//! Hellos: the messages by which Sentinels find each other and learn of a new master.
//!
//! Every two seconds each Sentinel publishes one at every node, and sends one to every other Sentinel. Of two
//! configurations of a master the one with the later epoch counts, whoever tells it.

use crate::config::Address;
use crate::sentinel::{Place, Sentinel};
use crate::time::WallMillis;

/// The contents of a hello.
#[derive(Debug, PartialEq, Eq)]
struct Hello<'a> {
    sentinel: Address,
    run_id: &'a str,
    current_epoch: u64,
    master_name: &'a str,
    master: Address,
    config_epoch: u64,
}

impl<'a> Hello<'a> {
    fn parse(text: &'a str) -> Option<Hello<'a>> {
        let words: Vec<&str> = text.split(',').collect();
        let [host, port, run_id, current_epoch, master_name, master_host, master_port, config_epoch] =
            words[..]
        else {
            return None;
        };
        Some(Hello {
            sentinel: Address::new(host, port.parse().ok()?),
            run_id,
            current_epoch: current_epoch.parse().ok()?,
            master_name,
            master: Address::new(master_host, master_port.parse().ok()?),
            config_epoch: config_epoch.parse().ok()?,
        })
    }
}

impl Sentinel {
    /// The answer of this Sentinel.
    pub(crate) fn hello(&self) -> String {
        let (own, master) = (&self.config.own, self.current_master());
        format!(
            "{},{},{},{},{},{},{},{}",
            own.host,
            own.port,
            self.run_id,
            self.current_epoch,
            self.config.master_name,
            master.host,
            master.port,
            self.master.config_epoch
        )
    }

    /// Another Sentinel, or this one, has said something.
    pub(crate) fn note_hello(&mut self, text: &str, now: WallMillis) {
        let Some(hello) = Hello::parse(text) else { return };
        if hello.run_id == self.run_id || hello.master_name != self.config.master_name {
            return;
        }
        let index = self.find_or_meet(&hello, now);
        self.adopt_epoch(hello.current_epoch);
        if self.master.config_epoch < hello.config_epoch {
            self.master.config_epoch = hello.config_epoch;
            self.is_unsaved = true;
            if self.master.instance.address != hello.master {
                self.tell_of("+config-update-from", Place::Peer(index));
                self.tell_switch(&hello.master);
                self.change_master(hello.master, now);
            }
        }
        self.peers[index].greeted_at = now;
    }

    /// The Sentinel that says hello. One with its id and another address has moved; one with its address and another
    /// id is no more.
    fn find_or_meet(&mut self, hello: &Hello<'_>, now: WallMillis) -> usize {
        let known = self
            .peers
            .iter()
            .position(|peer| peer.run_id == hello.run_id && peer.instance.address == hello.sentinel);
        if let Some(index) = known {
            return index;
        }
        let is_replaced =
            |run_id: &str, address: &Address| (run_id == hello.run_id) != (*address == hello.sentinel);
        let replaced: Vec<_> =
            self.peers.extract_if(.., |peer| is_replaced(&peer.run_id, &peer.instance.address)).collect();
        replaced.iter().for_each(|peer| self.wires.close(peer.instance.link.commands));
        self.add_peer(hello.sentinel.clone(), hello.run_id.to_owned(), now);
        self.peers.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hello_has_eight_words() {
        let hello = Hello::parse("S1,26379,aa,3,mymaster,B,6379,2").expect("it is one");
        assert_eq!((hello.run_id, hello.current_epoch, hello.config_epoch), ("aa", 3, 2));
        assert_eq!((hello.sentinel, hello.master), (Address::new("S1", 26379), Address::new("B", 6379)));
        for bad in ["", "S1,26379,aa,3,mymaster,B,6379", "S1,x,aa,3,mymaster,B,6379,2", "a,1,b,2,c,d,3,4,5"] {
            assert_eq!(Hello::parse(bad), None, "{bad}");
        }
    }
}
