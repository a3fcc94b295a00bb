//! Everything between machines, as data: links as faults have left them, flows with their packets, and the numbers of
//! connections.
//!
//! Decision: "The second engine stands on `turmoil-net`, not on `turmoil`" (docs/decisions/engines.md).
//! Decision: "A seed means the same delays in both worlds" (docs/decisions/engines.md).

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use doublehold_sim::{ConnectionId, End, HostId, LinkSpec, Seed, SimTime, Stream};
use turmoil_net::{EnterGuard, Packet};

use crate::queue::FlowId;

/// The kernel's name for it: a seed means the same delays here, for packets that are sent in the same order.
const STREAM: &str = "network";
const STREAM_OF_ACKNOWLEDGEMENTS: &str = "network/acknowledgements";

/// One direction between two hosts, as faults have left it.
pub(crate) struct Link {
    pub(crate) spec: LinkSpec,
    pub(crate) cuts: u32,
    pub(crate) cuts_so_far: u64,
    pub(crate) extra: Duration,
    /// Added to the next data's delay, once.
    pub(crate) late_once: Vec<Late>,
}

/// A planned delay that waits for the next data on its link.
pub(crate) struct Late {
    pub(crate) by: Duration,
    pub(crate) fault: usize,
    pub(crate) strike: usize,
}

impl Link {
    fn new(spec: LinkSpec) -> Link {
        Link { spec, cuts: 0, cuts_so_far: 0, extra: Duration::ZERO, late_once: Vec::new() }
    }

    /// The count of cuts so far, for a packet that leaves now; `None` if one is in force.
    pub(crate) fn departure(&self) -> Option<u64> {
        (self.cuts == 0).then_some(self.cuts_so_far)
    }
}

/// A packet on its way.
pub(crate) struct InFlight {
    pub(crate) packet: Packet,
    pub(crate) sort: Sort,
    pub(crate) arrives: SimTime,
    pub(crate) departure: Option<u64>,
    /// The run waits for it.
    pub(crate) is_essential: bool,
}

/// Packets that are treated otherwise than others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    /// A part of the stream: a connection's beginning, data, its end.
    Stream,
    /// An acknowledgement and nothing else. What follows it acknowledges as much, and does not wait for it.
    Acknowledgement,
    /// A reset, which no machine repeats.
    Reset,
}

/// One direction of one connection.
pub(crate) struct Flow {
    pub(crate) from: HostId,
    pub(crate) to: HostId,
    pub(crate) connection: ConnectionId,
    pub(crate) packets: VecDeque<InFlight>,
    /// The first cannot get through, and everything waits behind it.
    pub(crate) is_held: bool,
    /// The sender's machine knows nothing of the connection any more, and repeats nothing.
    pub(crate) is_forgotten: bool,
    /// The port that the receiver's process really listens on.
    pub(crate) inner_port: u16,
}

/// Connections that are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// All that ever were, also those that are being opened.
    All,
    /// Those that were opened.
    Established,
}

/// All that is between machines, and which connection is which.
pub(crate) struct Network {
    pub(crate) guard: Option<EnterGuard>,
    pub(crate) random: Stream,
    /// Delays of acknowledgements, which the kernel does not send: so the rest can have the kernel's delays.
    pub(crate) random_of_acknowledgements: Stream,
    pub(crate) spec: LinkSpec,
    pub(crate) links: BTreeMap<(HostId, HostId), Link>,
    pub(crate) flows: Vec<Flow>,
    pub(crate) flows_by_ends: BTreeMap<(SocketAddr, SocketAddr), FlowId>,
    /// By the address of who opened it.
    pub(crate) connections: BTreeMap<SocketAddr, ConnectionId>,
    /// Those whose opener has heard that they are open.
    pub(crate) established: BTreeSet<ConnectionId>,
    /// Those that are over for a host, and how.
    ended: BTreeSet<(ConnectionId, HostId, End)>,
    /// Those that a host's process has closed: how they end is nobody's news there any more.
    closed: BTreeSet<(ConnectionId, HostId)>,
    /// The port that a host's process listens on in place of another, and back.
    pub(crate) inner_ports: BTreeMap<(HostId, u16), u16>,
    pub(crate) outer_ports: BTreeMap<(HostId, u16), u16>,
    pub(crate) opened: u64,
    pub(crate) messages: u64,
    pub(crate) last_late: SimTime,
}

impl Network {
    pub(crate) fn new(seed: Seed, spec: LinkSpec) -> Network {
        Network {
            guard: None,
            random: Stream::new(seed, STREAM),
            random_of_acknowledgements: Stream::new(seed, STREAM_OF_ACKNOWLEDGEMENTS),
            spec,
            links: BTreeMap::new(),
            flows: Vec::new(),
            flows_by_ends: BTreeMap::new(),
            connections: BTreeMap::new(),
            established: BTreeSet::new(),
            ended: BTreeSet::new(),
            closed: BTreeSet::new(),
            inner_ports: BTreeMap::new(),
            outer_ports: BTreeMap::new(),
            opened: 0,
            messages: 0,
            last_late: SimTime::ZERO,
        }
    }

    pub(crate) fn reseed(&mut self, seed: Seed) {
        self.random = Stream::new(seed, STREAM);
        self.random_of_acknowledgements = Stream::new(seed, STREAM_OF_ACKNOWLEDGEMENTS);
    }

    /// Uses turmoil's network stacks from now on.
    pub(crate) fn switch_on(&mut self, guard: EnterGuard) {
        self.guard = Some(guard);
    }

    /// Takes the stacks away: sockets that are closed from now on belong to no machine.
    pub(crate) fn switch_off(&mut self) -> Option<EnterGuard> {
        self.guard.take()
    }

    pub(crate) fn is_on(&self) -> bool {
        self.guard.is_some()
    }

    /// The address of a host.
    pub(crate) fn address(&self, host: HostId) -> IpAddr {
        IpAddr::V4(Ipv4Addr::from_bits(u32::from_be_bytes([10, 0, 0, 0]) + host.0))
    }

    /// The host at an address.
    pub(crate) fn host_at(&self, address: IpAddr) -> HostId {
        let IpAddr::V4(address) = address else { unreachable!("hosts have IPv4 addresses") };
        HostId(address.to_bits() - u32::from_be_bytes([10, 0, 0, 0]))
    }

    /// The connection that was opened from this address.
    pub(crate) fn connection_of(&self, opener: SocketAddr) -> ConnectionId {
        // One of a host with itself never was between machines.
        self.connections.get(&opener).copied().unwrap_or(ConnectionId(0))
    }

    /// A host's process listens on `inner` for who asks for `port`.
    pub(crate) fn listens(&mut self, host: HostId, port: u16, inner: u16) {
        self.inner_ports.insert((host, port), inner);
        self.outer_ports.insert((host, inner), port);
    }

    /// The port is closed, if nobody has opened it again meanwhile.
    pub(crate) fn listens_no_more(&mut self, host: HostId, port: u16, inner: u16) {
        if self.inner_ports.get(&(host, port)) == Some(&inner) {
            self.inner_ports.remove(&(host, port));
        }
    }

    /// A host's process has closed its end of a connection.
    pub(crate) fn closes(&mut self, connection: ConnectionId, host: HostId) {
        self.closed.insert((connection, host));
    }

    /// A connection ends for a host. Returns whether that is news there: a machine that no longer knows a connection
    /// resets it anew for each packet that comes.
    pub(crate) fn ends(&mut self, connection: ConnectionId, host: HostId, how: End) -> bool {
        !self.closed.contains(&(connection, host)) && self.ended.insert((connection, host, how))
    }

    pub(crate) fn link(&mut self, from: HostId, to: HostId) -> &mut Link {
        self.links.entry((from, to)).or_insert_with(|| Link::new(self.spec.clone()))
    }

    pub(crate) fn set_link(&mut self, from: HostId, to: HostId, spec: LinkSpec) {
        self.link(from, to).spec = spec;
    }

    pub(crate) fn cut(&mut self, from: HostId, to: HostId) {
        let link = self.link(from, to);
        link.cuts += 1;
        link.cuts_so_far += 1;
    }

    /// Takes back one cut. Returns whether it was the last.
    pub(crate) fn heal(&mut self, from: HostId, to: HostId) -> bool {
        let link = self.link(from, to);
        link.cuts = link.cuts.saturating_sub(1);
        link.cuts == 0
    }

    pub(crate) fn slow(&mut self, from: HostId, to: HostId, change: impl FnOnce(Duration) -> Duration) {
        let link = self.link(from, to);
        link.extra = change(link.extra);
    }

    pub(crate) fn delay_next(&mut self, from: HostId, to: HostId, late: Late) {
        self.link(from, to).late_once.push(late);
    }

    /// The first of a planned fault's strikes of which a delay waits for data.
    pub(crate) fn waits_from(&self, fault: usize, from: HostId, to: HostId) -> Option<usize> {
        let waiting = &self.links.get(&(from, to))?.late_once;
        waiting.iter().find(|late| late.fault == fault).map(|late| late.strike)
    }

    pub(crate) fn bytes(&self) -> u64 {
        let packets = self.flows.iter().flat_map(|flow| &flow.packets);
        packets.map(|it| u64::from(it.packet.size())).sum()
    }

    /// The connections between two hosts, opened by either, that are not over for the second.
    pub(crate) fn open_between(&self, one: HostId, other: HostId) -> BTreeSet<ConnectionId> {
        let between = self.flows.iter().filter(|flow| (flow.from, flow.to) == (one, other));
        let open = |connection: &ConnectionId| {
            self.established.contains(connection)
                && !self.ended.contains(&(*connection, other, End::Finished))
        };
        between.map(|flow| flow.connection).filter(open).collect()
    }

    /// The addresses at the two ends of every connection that was ever between these two hosts, as the second knows
    /// them.
    pub(crate) fn ends_between(
        &self,
        one: HostId,
        other: HostId,
        which: Which,
    ) -> Vec<(SocketAddr, SocketAddr)> {
        let ends = self.flows_by_ends.iter().map(|(ends, flow)| (ends, &self.flows[flow.0]));
        let ends = ends.filter(|(_, flow)| self.is_between(flow, one, other, which));
        ends.map(|((from, to), flow)| (*from, SocketAddr::new(to.ip(), flow.inner_port))).collect()
    }

    /// What one host sends to the other on connections that are meant.
    pub(crate) fn flows_between(&self, one: HostId, other: HostId, which: Which) -> Vec<FlowId> {
        let flows = (0..self.flows.len()).filter(|&at| self.is_between(&self.flows[at], one, other, which));
        flows.map(FlowId).collect()
    }

    fn is_between(&self, flow: &Flow, one: HostId, other: HostId, which: Which) -> bool {
        let is_meant = which == Which::All || self.established.contains(&flow.connection);
        (flow.from, flow.to) == (one, other) && is_meant
    }
}
