//! The network: connections that are ordered byte streams, over links that delay, lose and cut.
//!
//! - [`link`]: one direction between two hosts: its delay law, its loss, how often it is cut.
//! - [`connection`]: one connection's two ends and the segments between them.
//! - [`ending`]: how a connection ends, and what a reset takes with it.
//! - [`retransmit`]: what happens to segments that cannot be delivered.
//! - [`round_trip`]: how long a sender waits before it repeats.
//! - [`handshake`]: how a connection comes to be, or does not.
//! - [`stream`]: what a host's handles hold of the network.
//!
//! The model is TCP's, at the level where locks can tell the difference. Order is kept inside one connection and not
//! across connections. No process recalls what it sent: a client that gives up on a request does not undo it, nor does
//! one that dies. A lost transmission is a delay (the retransmission back-off), and what cannot be delivered is held
//! and retransmitted until it can, until a reset or the sender's user timeout ends the connection, or until the
//! sender's machine loses power.
//!
//! Not modelled: bandwidth and congestion, repeating before the timeout (fast retransmission, tail loss probes), window
//! updates taking time, corruption, address changes, and keep-alive probes (an idle half-open connection stays
//! half-open), probes of a full window, and the handshake's third step.

pub(crate) mod connection;
pub(crate) mod copies;
pub(crate) mod ending;
pub(crate) mod handshake;
pub(crate) mod link;
pub(crate) mod retransmit;
mod round_trip;
pub(crate) mod stream;

use std::collections::BTreeMap;
use std::time::Duration;

use connection::{Connection, ConnectionKey, Content, Segment, SegmentKey, Side};
pub use copies::CopyOf;
pub use handshake::ConnectError;
pub(crate) use handshake::Listener;
pub use link::LinkSpec;
use link::{Link, LinkKey};
pub(crate) use stream::{KernelIncoming, KernelStream};

use crate::kernel::State;
use crate::queue::Pending;
use crate::slots::Slots;
use crate::time::SimTime;
use crate::trace::{Event, HostId};
use crate::trace_hash::digest;

/// How long a sender keeps retransmitting before it gives the connection up. Linux's `tcp_retries2 = 15` comes to
/// about 924 s: it is reckoned from the least retransmission timeout, whatever the round trip.
pub(crate) const USER_TIMEOUT: Duration = Duration::from_secs(924);

/// All links, connections and segments of the world.
pub(crate) struct Network {
    /// What a link is like unless the world says otherwise.
    spec: LinkSpec,
    pub(crate) links: Slots<Link>,
    links_by_ends: BTreeMap<(HostId, HostId), LinkKey>,
    pub(crate) connections: Slots<Connection>,
    pub(crate) segments: Slots<Segment>,
    /// Messages that are sent twice.
    pub(crate) repeated: Vec<copies::Repeated>,
    /// Buffers of delivered segments, used again: a message costs no allocation in steady state.
    pub(crate) spare: Vec<Vec<u8>>,
    pub(crate) opened: u64,
    /// Segments sent so far: also their serial numbers.
    pub(crate) sent: u64,
    /// How many of them were data.
    pub(crate) messages: u64,
    /// Data of essential hosts on its way: a late write of a client that is gone is still part of the run.
    pub(crate) essential_on_the_way: usize,
    /// When the last message that was delayed by itself was to arrive.
    pub(crate) last_late: SimTime,
}

impl Network {
    pub(crate) fn new(spec: LinkSpec) -> Network {
        Network {
            spec,
            links: Slots::default(),
            links_by_ends: BTreeMap::new(),
            connections: Slots::default(),
            segments: Slots::default(),
            repeated: Vec::new(),
            spare: Vec::new(),
            opened: 0,
            sent: 0,
            messages: 0,
            essential_on_the_way: 0,
            last_late: SimTime::ZERO,
        }
    }

    /// The link from one host to another, made when it is first asked for: in a large world most pairs never meet.
    pub(crate) fn link_key(&mut self, from: HostId, to: HostId) -> LinkKey {
        *self.links_by_ends.entry((from, to)).or_insert_with(|| {
            let spec = if from == to { LinkSpec::loopback() } else { self.spec.clone() };
            self.links.insert(Link::new(spec))
        })
    }

    pub(crate) fn link(&mut self, from: HostId, to: HostId) -> &mut Link {
        let key = self.link_key(from, to);
        &mut self.links[key]
    }

    /// The link from one host to another, if anything ever concerned it.
    pub(crate) fn known_link(&self, from: HostId, to: HostId) -> Option<&Link> {
        self.links_by_ends.get(&(from, to)).map(|&key| &self.links[key])
    }

    /// The hosts that this one has a link to, itself among them if it talks to itself. Who has a connection with it is
    /// one of them.
    pub(crate) fn peers(&self, host: HostId) -> Vec<HostId> {
        let links = self.links_by_ends.range((host, HostId(0))..=(host, HostId(u32::MAX)));
        links.map(|(&(_, peer), _)| peer).collect()
    }

    /// The link on which this side of a connection sends.
    #[inline]
    pub(crate) fn link_of(&mut self, key: ConnectionKey, side: Side) -> &mut Link {
        &mut self.links[self.connections[key].links[side as usize]]
    }

    pub(crate) fn add_connection(&mut self, connection: Connection) -> ConnectionKey {
        let links = connection.links;
        let key = self.connections.insert(connection);
        for link in links {
            self.links[link].connections.insert(key);
        }
        key
    }

    #[inline]
    pub(crate) fn add_segment(&mut self, segment: Segment) -> SegmentKey {
        self.connections[segment.connection].named_by += 1;
        self.segments.insert(segment)
    }

    #[inline]
    pub(crate) fn remove_segment(&mut self, key: SegmentKey) -> Content {
        let Segment { connection, content, .. } = self.segments.remove(key);
        self.connections[connection].named_by -= 1;
        content
    }

    pub(crate) fn remove_connection(&mut self, key: ConnectionKey) {
        for link in self.connections.remove(key).links {
            self.links[link].connections.remove(&key);
        }
    }
}

impl State {
    /// Schedules an event that names a connection: `event_over` says that it no longer does.
    pub(crate) fn schedule_for(&mut self, key: ConnectionKey, at: SimTime, what: Pending) {
        self.net.connections[key].named_by += 1;
        self.schedule(at, what);
    }

    /// An event that named this connection has happened, or never will.
    pub(crate) fn event_over(&mut self, key: ConnectionKey) {
        self.net.connections[key].named_by -= 1;
        self.free_if_over(key);
    }

    /// Hands bytes to the network for which there is room.
    pub(in crate::net) fn send_data(&mut self, key: ConnectionKey, side: Side, bytes: &[u8]) {
        self.end_of(key, side).in_flight += bytes.len();
        self.net.messages += 1;
        let mut buffer = self.net.spare.pop().unwrap_or_default();
        buffer.extend_from_slice(bytes);
        let (from, to) = self.hosts_of(key, side);
        let connection = self.net.connections[key].id;
        let digest = digest(&buffer);
        self.emit(Event::Sent { connection, from, to, bytes: bytes.len() as u32, digest });
        if let Some(captured) = self.trace.capture_mut() {
            captured.sent.push(buffer.clone());
        }
        self.transmit(key, side, Content::Data(buffer));
    }

    /// When what this side sends now reaches the other; `None` if it is lost on the way.
    fn arrival(&mut self, key: ConnectionKey, side: Side) -> Option<SimTime> {
        let link = &self.net.links[self.net.connections[key].links[side as usize]];
        if self.network.chance(link.loss()) {
            return None;
        }
        let delay = link.spec.delay.draw(&mut self.network);
        Some(self.now.after(delay).after(link.extra))
    }
}
