//! One Sentinel as a state machine: what it knows, and the order of what it does at each of its ticks.
//!
//! It is told what time it is, what came over which connection and when its timer struck; it says what is to be sent,
//! what it has to announce and when its timer is to strike next. It reads no clock and opens no connection.
//!
//! Follows `sentinel.c` of Redis 7.0.15, function by function. Not modelled: several masters, scripts that a Sentinel
//! runs (`notification-script`, `client-reconfig-script`), passwords, `SENTINEL SET` and `MONITOR`, `SCRIPT KILL` to an
//! instance that is BUSY. While an answer is missing it asks the same thing once, where Redis asks at each tick again.

use crate::config::{Address, SentinelConfig};
use crate::file::Saved;
use crate::instance::{FailoverState, Instance, InstanceId, Master, Peer, Replica};
use crate::time::{TILT_PERIOD_MS, WallMillis};
use crate::wires::{Awaited, WireId, Wires};

/// Something that a Sentinel tells whoever has subscribed to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentinelEvent {
    /// Its channel: `+sdown`, `+switch-master`.
    pub kind: &'static str,
    /// The message.
    pub text: String,
}

/// The place of an instance among all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Master,
    Replica(usize),
    Peer(usize),
}

/// A Sentinel.
pub(crate) struct Sentinel {
    pub(crate) config: SentinelConfig,
    pub(crate) run_id: String,
    pub(crate) current_epoch: u64,
    pub(crate) master: Master,
    /// In the order in which they became known.
    pub(crate) replicas: Vec<Replica>,
    pub(crate) peers: Vec<Peer>,
    pub(crate) tilt_since: Option<WallMillis>,
    /// The clock jumped, or nothing was done for too long.
    has_missed_time: bool,
    pub(crate) wires: Wires,
    pub(crate) events: Vec<SentinelEvent>,
    /// Something has changed that the next tick has to see.
    pub(crate) is_urgent: bool,
    /// True if the file on disk is out of date.
    pub(crate) is_unsaved: bool,
    instances: u32,
    draw: Box<dyn FnMut() -> u32 + Send>,
}

impl Sentinel {
    /// A Sentinel that starts now, with what it kept when it ran before. `draw` gives random numbers.
    pub(crate) fn new(
        config: SentinelConfig,
        saved: Saved,
        now: WallMillis,
        mut draw: Box<dyn FnMut() -> u32 + Send>,
    ) -> Sentinel {
        let drawn = || (0..5).map(|_| format!("{:08x}", draw())).collect();
        let is_first_start = saved.run_id.is_none();
        let run_id = saved.run_id.or_else(|| config.id.clone()).unwrap_or_else(drawn);
        let address = saved.master.unwrap_or_else(|| config.master.clone());
        let mut master = Master::new(Instance::new(InstanceId(0), address, now), now);
        (master.config_epoch, master.leader_epoch) = (saved.config_epoch, saved.leader_epoch);
        let (known_replicas, known_peers) = match is_first_start {
            true => (config.known_replicas.clone(), config.known_sentinels.clone()),
            false => (saved.replicas, saved.peers),
        };
        let mut sentinel = Sentinel {
            config,
            run_id,
            current_epoch: saved.current_epoch,
            master,
            replicas: Vec::new(),
            peers: Vec::new(),
            tilt_since: None,
            has_missed_time: false,
            wires: Wires::default(),
            events: Vec::new(),
            is_urgent: true,
            is_unsaved: true,
            instances: 0,
            draw,
        };
        known_replicas.into_iter().for_each(|address| sentinel.add_replica(address, now));
        known_peers.into_iter().for_each(|(address, id)| sentinel.add_peer(address, id, now));
        sentinel.events.clear();
        let text = format!("{} quorum {}", sentinel.describe(Place::Master), sentinel.config.quorum);
        sentinel.tell("+monitor", text);
        sentinel
    }

    /// Does what is due now. Ticks at which nothing is due may be left out.
    pub(crate) fn tick(&mut self, now: WallMillis) {
        self.is_urgent = false;
        if std::mem::take(&mut self.has_missed_time) {
            self.tilt_since = Some(now);
            self.tell("+tilt", "#tilt mode entered".to_owned());
        }
        self.watch(Place::Master, now);
        if self.tilt_since.is_none() {
            self.lead(now);
        }
        (0..self.replicas.len()).for_each(|index| self.watch(Place::Replica(index), now));
        (0..self.peers.len()).for_each(|index| self.watch(Place::Peer(index), now));
        if self.master.failover.state == FailoverState::UpdateConfig {
            self.switch_to_promoted(now);
        }
    }

    /// The process has found its clock odd: the next tick sees to it.
    pub(crate) fn distrust_clock(&mut self) {
        (self.has_missed_time, self.is_urgent) = (true, true);
    }

    /// One instance's share of a tick.
    fn watch(&mut self, place: Place, now: WallMillis) {
        self.reconnect(place, now);
        self.send_periodic(place, now);
        if let Some(since) = self.tilt_since {
            if now.since(since) < TILT_PERIOD_MS {
                return;
            }
            self.tilt_since = None;
            self.tell("-tilt", "#tilt mode exited".to_owned());
        }
        self.check_down(place, now);
    }

    /// The acting half of a tick: what is done about the master.
    fn lead(&mut self, now: WallMillis) {
        self.check_objectively_down(now);
        if self.start_failover_if_needed(now) {
            self.ask_others(true, now);
        }
        self.go_on_with_failover(now);
        self.ask_others(false, now);
    }

    /// The next time at which a tick has something to do.
    pub(crate) fn next_due(&self, now: WallMillis) -> WallMillis {
        if self.is_urgent {
            return now;
        }
        let places = self.places().map(|place| self.due_of(place));
        let tilt = self.tilt_since.map_or(WallMillis::NEVER, |since| since.plus(TILT_PERIOD_MS));
        let acting = if self.tilt_since.is_some() { tilt } else { self.acting_due() };
        places.fold(acting, WallMillis::min)
    }

    pub(crate) fn places(&self) -> impl Iterator<Item = Place> + use<> {
        let replicas = (0..self.replicas.len()).map(Place::Replica);
        [Place::Master].into_iter().chain(replicas).chain((0..self.peers.len()).map(Place::Peer))
    }

    pub(crate) fn instance(&self, place: Place) -> &Instance {
        match place {
            Place::Master => &self.master.instance,
            Place::Replica(index) => &self.replicas[index].instance,
            Place::Peer(index) => &self.peers[index].instance,
        }
    }

    pub(crate) fn instance_mut(&mut self, place: Place) -> &mut Instance {
        match place {
            Place::Master => &mut self.master.instance,
            Place::Replica(index) => &mut self.replicas[index].instance,
            Place::Peer(index) => &mut self.peers[index].instance,
        }
    }

    pub(crate) fn place_of(&self, id: InstanceId) -> Option<Place> {
        self.places().find(|place| self.instance(*place).id == id)
    }

    /// The replica that is to be the new master.
    pub(crate) fn promoted(&self) -> Option<usize> {
        let promoted = self.master.failover.promoted?;
        self.replicas.iter().position(|replica| replica.instance.id == promoted)
    }

    /// The address that clients are told: the new master's as soon as it is one.
    pub(crate) fn current_master(&self) -> &Address {
        let is_promoted = self.master.failover.state >= FailoverState::ReconfigureReplicas;
        match self.promoted().filter(|_| is_promoted) {
            Some(index) => &self.replicas[index].instance.address,
            None => &self.master.instance.address,
        }
    }

    pub(crate) fn send(&mut self, place: Place, words: &[&str], awaited: Awaited) {
        let commands = self.instance(place).link.commands;
        self.wires.send(commands, words, awaited);
    }

    /// A number below `limit`.
    pub(crate) fn draw_below(&mut self, limit: u32) -> i64 {
        i64::from((self.draw)() % limit)
    }

    pub(crate) fn tell(&mut self, kind: &'static str, text: String) {
        self.events.push(SentinelEvent { kind, text });
    }

    pub(crate) fn tell_of(&mut self, kind: &'static str, place: Place) {
        let text = self.describe(place);
        self.tell(kind, text);
    }

    /// An instance as events describe it.
    pub(crate) fn describe(&self, place: Place) -> String {
        let (address, name) = (&self.instance(place).address, &self.config.master_name);
        let of = format!("@ {name} {}", self.master.instance.address);
        match place {
            Place::Master => format!("master {name} {address}"),
            Place::Replica(_) => format!("slave {}:{} {address} {of}", address.host, address.port),
            Place::Peer(index) => format!("sentinel {} {address} {of}", self.peers[index].run_id),
        }
    }

    fn next_instance(&mut self, address: Address, now: WallMillis) -> Instance {
        self.instances += 1;
        Instance::new(InstanceId(self.instances), address, now)
    }

    /// Notes a replica, unless it is known.
    pub(crate) fn add_replica(&mut self, address: Address, now: WallMillis) {
        if self.replicas.iter().any(|replica| replica.instance.address == address) {
            return;
        }
        let replica = Replica::new(self.next_instance(address, now), now);
        self.replicas.push(replica);
        self.tell_of("+slave", Place::Replica(self.replicas.len() - 1));
        (self.is_unsaved, self.is_urgent) = (true, true);
    }

    /// Notes another Sentinel, unless it is known or is this one.
    pub(crate) fn add_peer(&mut self, address: Address, run_id: String, now: WallMillis) {
        if run_id == self.run_id || self.peers.iter().any(|peer| peer.run_id == run_id) {
            return;
        }
        let peer = Peer::new(self.next_instance(address, now), run_id, now);
        self.peers.push(peer);
        self.tell_of("+sentinel", Place::Peer(self.peers.len() - 1));
        (self.is_unsaved, self.is_urgent) = (true, true);
    }

    /// Forgets all that was known of a master but its name, and watches the node at `address` as the master from now
    /// on. The one before is one of its replicas.
    pub(crate) fn change_master(&mut self, address: Address, now: WallMillis) {
        let old = self.master.instance.address.clone();
        let others = self.replicas.iter().map(|replica| replica.instance.address.clone());
        let mut others: Vec<Address> = others.filter(|replica| *replica != address).collect();
        if old != address {
            others.push(old);
        }
        self.reset_links();
        let mut instance = self.next_instance(address, now);
        let before = &self.master;
        // As in Redis, where it is the same instance with another address: no second try within a second, and INFO and
        // hellos go on at the pace that they had.
        instance.link.dialed_at = before.instance.link.dialed_at;
        instance.published_at = before.instance.published_at;
        let (config_epoch, leader_epoch) = (before.config_epoch, before.leader_epoch);
        let refreshed_at = before.report.refreshed_at;
        self.master = Master { config_epoch, leader_epoch, ..Master::new(instance, now) };
        self.master.report.refreshed_at = refreshed_at;
        others.into_iter().for_each(|address| self.add_replica(address, now));
        (self.is_unsaved, self.is_urgent) = (true, true);
    }

    /// Forgets all that was heard, and who else there is: `SENTINEL RESET`.
    pub(crate) fn reset(&mut self, now: WallMillis) {
        let peers = std::mem::take(&mut self.peers);
        peers.iter().for_each(|peer| self.wires.close(peer.instance.link.commands));
        self.reset_links();
        let address = self.master.instance.address.clone();
        self.change_master(address, now);
        self.tell_of("+reset-master", Place::Master);
    }

    /// Ends the connections to all nodes, and forgets the replicas.
    pub(crate) fn reset_links(&mut self) {
        let links = self.replicas.drain(..).map(|replica| replica.instance.link);
        for link in links.chain([self.master.instance.link.clone()]) {
            self.wires.close(link.commands);
            self.wires.close(link.hello);
        }
    }

    /// A connection has ended.
    pub(crate) fn wire_ended(&mut self, id: WireId) {
        let Some((owner, _)) = self.wires.owner(id) else { return };
        self.wires.close(Some(id));
        let Some(place) = self.place_of(owner) else { return };
        let link = &mut self.instance_mut(place).link;
        if link.commands == Some(id) {
            link.lose_commands();
        } else if link.hello == Some(id) {
            link.lose_hello();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reset_leaves_info_and_hellos_their_pace() {
        let config = SentinelConfig::new(Address::new("S1", 26379), Address::new("A", 6379));
        let (start, later) = (WallMillis(1_000), WallMillis(5_000));
        let mut sentinel = Sentinel::new(config, Saved::default(), start, Box::new(|| 0));
        sentinel.add_replica(Address::new("B", 6379), start);
        sentinel.master.report.refreshed_at = Some(start);
        sentinel.reset(later);
        assert_eq!(sentinel.master.report.refreshed_at, Some(start));
        assert_eq!(sentinel.master.instance.published_at, start);
        assert!(sentinel.replicas.is_empty(), "INFO finds it again, at its time");
    }

    #[test]
    fn a_reset_ends_the_connections_to_nodes() {
        let config = SentinelConfig::new(Address::new("S1", 26379), Address::new("A", 6379));
        let start = WallMillis(1_000);
        let mut sentinel = Sentinel::new(config, Saved::default(), start, Box::new(|| 0));
        sentinel.add_replica(Address::new("B", 6379), start);
        let both = [Place::Master, Place::Replica(0)];
        both.into_iter().for_each(|place| sentinel.reconnect(place, start));
        let links = both.map(|place| sentinel.instance(place).link.clone());
        let wires: Vec<WireId> = links.iter().flat_map(|it| [it.commands, it.hello]).flatten().collect();
        let open =
            |sentinel: &Sentinel| wires.iter().filter(|id| sentinel.wires.owner(**id).is_some()).count();
        assert_eq!((wires.len(), open(&sentinel)), (4, 4));
        sentinel.reset(WallMillis(5_000));
        assert_eq!(open(&sentinel), 0);
    }
}
