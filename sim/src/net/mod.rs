//! The network: connections that are ordered byte streams, over links that delay, lose and cut.
//!
//! - [`link`]: one direction between two hosts: its delay law, its loss, how often it is cut.
//! - [`connection`]: one connection's two ends and the segments between them.
//! - [`ending`]: how a connection ends, and what a reset takes with it.
//! - [`retransmit`]: what happens to segments that cannot be delivered.
//! - [`round_trip`]: how long a sender waits before it repeats.
//! - [`handshake`]: how a connection comes to be, or does not.
//! - [`stream`]: what code on a host holds: [`SimStream`] and [`Incoming`].
//!
//! The model is TCP's, at the level where locks can tell the difference. Order is kept inside one connection and not
//! across connections. No process recalls what it sent: a client that gives up on a request does not undo it, nor does one
//! that dies. A lost transmission is a delay (the retransmission back-off), and what cannot be delivered is held and
//! retransmitted until it can, until a reset or the sender's user timeout ends the connection, or until the sender's
//! machine loses power.
//!
//! Not modelled: bandwidth and congestion, repeating before the timeout (fast retransmission, tail loss probes), window
//! updates taking time, corruption, address changes, and keep-alive probes (an idle half-open connection stays half-open),
//! probes of a full window, and the handshake's third step.

pub(crate) mod connection;
pub(crate) mod ending;
pub(crate) mod handshake;
pub(crate) mod link;
pub(crate) mod retransmit;
mod round_trip;
pub(crate) mod stream;

use std::time::Duration;

use connection::{Connection, Segment};
pub use handshake::ConnectError;
pub(crate) use handshake::Listener;
use link::Link;
pub use link::LinkSpec;
pub use stream::{Incoming, SimStream};

use crate::kernel::State;
use crate::slots::Slots;
use crate::time::SimTime;
use crate::trace::HostId;

/// How long a sender keeps retransmitting before it gives the connection up. Linux's `tcp_retries2 = 15` comes to
/// about 924 s: it is reckoned from the least retransmission timeout, whatever the round trip.
pub(crate) const USER_TIMEOUT: Duration = Duration::from_secs(924);

/// All links, connections and segments of the world.
#[derive(Default)]
pub(crate) struct Network {
    /// `links[from][to]`.
    pub(crate) links: Vec<Vec<Link>>,
    pub(crate) connections: Slots<Connection>,
    pub(crate) segments: Slots<Segment>,
    /// Buffers of delivered segments, used again: a message costs no allocation in steady state.
    pub(crate) spare: Vec<Vec<u8>>,
    pub(crate) opened: u64,
    /// Segments sent so far: also their serial numbers.
    pub(crate) sent: u64,
    /// How many of them were data.
    pub(crate) messages: u64,
    /// Data of essential hosts on its way: a late write of a client that is gone is still part of the run.
    pub(crate) essential_on_the_way: usize,
}

impl Network {
    /// Makes room for one more host, linked to every other and to itself.
    pub(crate) fn add_host(&mut self, spec: &LinkSpec) {
        let hosts = self.links.len();
        for (from, row) in self.links.iter_mut().enumerate() {
            debug_assert_ne!(from, hosts);
            row.push(Link::new(spec.clone()));
        }
        let mut row = vec![Link::new(spec.clone()); hosts];
        row.push(Link::new(LinkSpec::loopback()));
        self.links.push(row);
    }

    pub(crate) fn link_between(&self, from: HostId, to: HostId) -> &Link {
        &self.links[from.0 as usize][to.0 as usize]
    }

    pub(crate) fn link(&mut self, from: HostId, to: HostId) -> &mut Link {
        &mut self.links[from.0 as usize][to.0 as usize]
    }
}

impl State {
    /// When what leaves `from` now reaches `to`; `None` if it is lost on the way.
    fn arrival(&mut self, from: HostId, to: HostId) -> Option<SimTime> {
        let link = &self.net.links[from.0 as usize][to.0 as usize];
        if self.network.chance(link.loss()) {
            return None;
        }
        let delay = link.spec.delay.draw(&mut self.network);
        Some(self.now.after(delay).after(link.extra))
    }
}
