//! The way of packets between machines: turmoil's TCP decides what is sent and what an arrival means, this file when it
//! arrives.
//!
//! A flow is one direction of one connection. Its packets arrive in the order in which they were sent: turmoil's TCP
//! takes nothing out of order and repeats by a count of its own, which is never reached here. What cannot get through
//! (a cut anywhere on its way, a machine that is off or suspended) is held, as turmoil's own `hold` does, and leaves
//! again when the way is free.
//!
//! Three things are not turmoil's to know. An acknowledgement holds nothing up: what overtakes it acknowledges as much,
//! so the two arrive together. No machine repeats a reset, or anything of a connection that it has forgotten: by a
//! reset that it sent or got, or with its power. And a suspended machine sends nothing.
//!
//! Not modelled: loss, and with it every time of a retransmission; the user timeout; and bandwidth.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

use doublehold_sim::parts::digest;
use doublehold_sim::{ConnectionId, End, Event, Fault, HostId, SimTime};
use turmoil_net::{Packet, TcpSegment, Transport};

use crate::network::{Flow, InFlight, Network, Sort, Which};
use crate::queue::{Due, FlowId};
use crate::state::State;

/// A packet's TCP segment, and its two ends.
fn segment(packet: &Packet) -> (&TcpSegment, SocketAddr, SocketAddr) {
    let Transport::Tcp(segment) = &packet.payload else { unreachable!("nobody here sends datagrams") };
    let (from, to) = ((packet.src, segment.src_port), (packet.dst, segment.dst_port));
    (segment, from.into(), to.into())
}

fn sort_of(segment: &TcpSegment) -> Sort {
    let flags = segment.flags;
    if flags.rst {
        Sort::Reset
    } else if flags.syn || flags.fin || !segment.payload.is_empty() {
        Sort::Stream
    } else {
        Sort::Acknowledgement
    }
}

impl State {
    /// Takes what the machines have sent.
    pub(crate) fn flush(&mut self) {
        self.flush_but(None);
    }

    /// The same, but for what one machine has sent, which is lost.
    pub(crate) fn flush_but(&mut self, silent: Option<HostId>) {
        let mut sent = Vec::new();
        self.net.guard.iter().for_each(|guard| guard.egress_all(&mut sent));
        for packet in sent {
            if silent != Some(self.net.host_at(packet.src)) {
                self.leaves(packet);
            }
        }
    }

    /// Hands a packet to the machine that it is for.
    pub(crate) fn deliver(&mut self, packet: Packet) {
        self.net.guard.iter().for_each(|guard| guard.deliver(packet.clone()));
    }

    /// True if the first packet of a flow arrives at this time.
    pub(crate) fn arrives(&self, flow: FlowId, at: SimTime) -> bool {
        let flow = &self.net.flows[flow.0];
        !flow.is_held && flow.packets.front().is_some_and(|head| head.arrives <= at)
    }

    /// Sends a packet on its way.
    fn leaves(&mut self, mut packet: Packet) {
        let Transport::Tcp(segment_of) = &mut packet.payload else {
            unreachable!("nobody here sends datagrams")
        };
        let inner = (self.net.host_at(packet.src), segment_of.src_port);
        segment_of.src_port = self.net.outer_ports.get(&inner).copied().unwrap_or(inner.1);
        let flow = self.flow_of(&packet);
        let Flow { from, to, connection, .. } = self.net.flows[flow.0];
        let data = &segment(&packet).0.payload;
        let has_data = !data.is_empty();
        if has_data {
            self.net.messages += 1;
            let (bytes, digest) = (data.len() as u32, digest(data));
            if let Some(captured) = self.trace.capture_mut() {
                captured.sent.push(data.to_vec());
            }
            self.emit(Event::Sent { connection, from, to, bytes, digest });
        }
        let sort = sort_of(segment(&packet).0);
        if sort == Sort::Reset {
            self.forget(flow);
        }
        // The machine of a process that died closes what that held, and a suspended one when it wakes.
        let sleeps = self.host(from).life.is_suspended();
        let (arrives, departure) =
            if sleeps { (self.now, None) } else { self.departs(from, to, sort, has_data) };
        let is_essential = has_data && self.host(from).life.is_essential();
        self.joins(flow, InFlight { packet, sort, arrives, departure, is_essential });
    }

    /// Puts a packet behind the others of its flow.
    fn joins(&mut self, flow_id: FlowId, mut packet: InFlight) {
        let flow = &mut self.net.flows[flow_id.0];
        let is_acknowledgement = |it: &InFlight| it.sort == Sort::Acknowledgement;
        if !is_acknowledgement(&packet) {
            let overtaken = flow.packets.iter_mut().rev().take_while(|before| is_acknowledgement(before));
            overtaken.for_each(|before| before.arrives = before.arrives.min(packet.arrives));
        }
        let before = flow
            .packets
            .iter()
            .rev()
            .find(|before| is_acknowledgement(&packet) || !is_acknowledgement(before));
        packet.arrives = before.map_or(packet.arrives, |before| packet.arrives.max(before.arrives));
        let (arrives, is_held) = (packet.arrives, flow.is_held);
        flow.packets.push_back(packet);
        if !is_held {
            self.queue.push(arrives, Due::Arrival(flow_id));
        }
    }

    /// The arrival of a packet that leaves now, and the state of its link to be remembered.
    fn departs(&mut self, from: HostId, to: HostId, sort: Sort, has_data: bool) -> (SimTime, Option<u64>) {
        self.net.link(from, to);
        let Network { links, random, random_of_acknowledgements, .. } = &mut self.net;
        let random = match sort {
            Sort::Acknowledgement => random_of_acknowledgements,
            Sort::Stream | Sort::Reset => random,
        };
        let link = links.get_mut(&(from, to)).expect("just made");
        let mut delay = link.spec.delay.draw(random) + link.extra;
        let mut late = Duration::ZERO;
        if has_data {
            late = link.late_once.drain(..).fold(late, |sum, late| sum.saturating_add(late.by));
            delay = delay.saturating_add(late);
        }
        let departure = link.departure();
        let arrives = self.now.after(delay);
        if !late.is_zero() {
            self.net.last_late = self.net.last_late.max(arrives);
        }
        (arrives, departure)
    }

    /// The machine that sends here knows nothing of the connection any more: what it holds is gone, but for resets that
    /// have not left.
    pub(crate) fn forget(&mut self, flow: FlowId) {
        let flow = &mut self.net.flows[flow.0];
        flow.is_forgotten = true;
        if flow.is_held {
            flow.packets.retain(|held| held.sort == Sort::Reset);
            flow.is_held = !flow.packets.is_empty();
        }
    }

    fn flow_of(&mut self, packet: &Packet) -> FlowId {
        let (segment, from, to) = segment(packet);
        if let Some(&flow) = self.net.flows_by_ends.get(&(from, to)) {
            return flow;
        }
        let opens = segment.flags.syn && !segment.flags.ack;
        let (source, target) = (self.net.host_at(from.ip()), self.net.host_at(to.ip()));
        let connection = if opens {
            self.net.opened += 1;
            let connection = ConnectionId(self.net.opened);
            self.net.connections.insert(from, connection);
            self.emit(Event::Connecting { connection, from: source, to: target });
            connection
        } else {
            self.net.connection_of(to)
        };
        let flow = FlowId(self.net.flows.len());
        let packets = VecDeque::new();
        let (is_held, is_forgotten, inner_port) = (false, false, to.port());
        self.net.flows.push(Flow {
            from: source,
            to: target,
            connection,
            packets,
            is_held,
            is_forgotten,
            inner_port,
        });
        self.net.flows_by_ends.insert((from, to), flow);
        flow
    }

    /// The packets of a flow that arrive now, one by one. What cannot get through waits, and what follows it.
    pub(crate) fn arrival(&mut self, flow_id: FlowId) -> Option<Packet> {
        let flow = &self.net.flows[flow_id.0];
        let (from, to, connection) = (flow.from, flow.to, flow.connection);
        let head = flow.packets.front().filter(|head| !flow.is_held && head.arrives <= self.now)?;
        let link = self.net.links.get(&(from, to)).expect("made when it was sent");
        let is_free = link.cuts == 0 && self.host(to).life.is_reachable();
        let gets_through = is_free && head.departure == Some(link.cuts_so_far);
        let sender_sleeps = self.host(from).life.is_suspended();
        let is_repeated = if head.sort == Sort::Reset { sender_sleeps } else { !flow.is_forgotten };
        if !gets_through && !is_repeated {
            self.goes_astray(flow_id);
            return self.arrival(flow_id);
        }
        if !is_free || !gets_through && sender_sleeps {
            self.net.flows[flow_id.0].is_held = true;
            self.emit(Event::Held { connection, from, to });
            return None;
        }
        if !gets_through {
            // A cut came and went while it was under way.
            self.leaves_again(flow_id);
            return None;
        }
        let InFlight { mut packet, sort, .. } =
            self.net.flows[flow_id.0].packets.pop_front().expect("just looked at");
        self.tell_of_arrival(&packet, connection, from, to);
        if sort == Sort::Reset {
            let (_, sender, receiver) = segment(&packet);
            let back = self.net.flows_by_ends.get(&(receiver, sender)).copied();
            back.into_iter().for_each(|back| self.forget(back));
        }
        let Transport::Tcp(segment) = &mut packet.payload else {
            unreachable!("nobody here sends datagrams")
        };
        let listens = self.net.inner_ports.get(&(to, segment.dst_port));
        if let Some(inner) = listens.filter(|_| segment.flags.syn && !segment.flags.ack) {
            self.net.flows[flow_id.0].inner_port = *inner;
        }
        segment.dst_port = self.net.flows[flow_id.0].inner_port;
        self.make_ready(to);
        Some(packet)
    }

    fn tell_of_arrival(&mut self, packet: &Packet, connection: ConnectionId, from: HostId, to: HostId) {
        let (segment, ..) = segment(packet);
        let (bytes, flags) = (segment.payload.len() as u32, segment.flags);
        if bytes > 0 {
            self.emit(Event::Delivered { connection, from, to, bytes });
        }
        if flags.rst {
            let is_open = self.net.established.contains(&connection);
            self.ends(connection, to, if is_open { End::Reset } else { End::Refused });
        } else if flags.fin {
            self.ends(connection, to, End::Finished);
        } else if flags.syn && flags.ack {
            self.net.established.insert(connection);
        } else if flags.syn && self.net.inner_ports.contains_key(&(to, segment.dst_port)) {
            self.emit(Event::Accepted { connection, host: to });
        }
    }

    /// A connection is over for a host.
    fn ends(&mut self, connection: ConnectionId, host: HostId, how: End) {
        if self.net.ends(connection, host, how) {
            self.emit(Event::Ended { connection, host, how });
        }
    }

    /// The connections between two hosts are forgotten by what is between them: both ends are told, and what is under
    /// way never arrives.
    pub(crate) fn reset_between(&mut self, one: HostId, other: HostId) {
        let ways = [(other, one), (one, other)];
        for (from, to) in ways {
            if !self.host(to).life.is_reachable() {
                continue;
            }
            for connection in self.net.open_between(from, to) {
                self.ends(connection, to, End::Reset);
            }
            self.reset_at(to, from, Which::Established);
        }
        for (from, to) in ways {
            for flow in self.net.flows_between(from, to, Which::Established) {
                self.net.flows[flow.0].packets.clear();
            }
        }
        self.flush();
    }

    /// The first packet of a flow is gone for good, and with a part of the stream all parts that follow.
    fn goes_astray(&mut self, flow: FlowId) {
        let packets = &mut self.net.flows[flow.0].packets;
        if let Some(gone) = packets.pop_front()
            && gone.sort != Sort::Reset
        {
            packets.retain(|follows| follows.sort == Sort::Reset);
        }
    }

    /// Sends what could not get through again, in its order. What is still under way arrives when it would have.
    fn leaves_again(&mut self, flow_id: FlowId) {
        let flow = &mut self.net.flows[flow_id.0];
        let (from, to) = (flow.from, flow.to);
        flow.is_held = false;
        for mut packet in std::mem::take(&mut flow.packets) {
            if packet.arrives <= self.now {
                (packet.arrives, packet.departure) = self.departs(from, to, packet.sort, false);
            }
            self.joins(flow_id, packet);
        }
    }

    /// The way from one host to another may be free again.
    pub(crate) fn release(&mut self, from: HostId, to: HostId) {
        let is_cut = self.net.links.get(&(from, to)).is_some_and(|link| link.cuts > 0);
        if is_cut || !self.host(from).life.is_reachable() || !self.host(to).life.is_reachable() {
            return;
        }
        let held = |flow: &Flow| flow.is_held && (flow.from, flow.to) == (from, to);
        let held: Vec<_> = (0..self.net.flows.len()).filter(|&at| held(&self.net.flows[at])).collect();
        held.into_iter().for_each(|flow| self.leaves_again(FlowId(flow)));
    }

    /// A machine answers the network again, and sends what it could not.
    pub(crate) fn release_all_of(&mut self, host: HostId) {
        for peer in (1..self.hosts.len() as u32).map(HostId) {
            self.release(peer, host);
            self.release(host, peer);
        }
    }

    /// The same of all that one machine sends to another.
    pub(crate) fn forget_all(&mut self, from: HostId, to: HostId, which: Which) {
        self.net.flows_between(from, to, which).into_iter().for_each(|flow| self.forget(flow));
    }

    /// This machine's power is gone, and with it all that it held. Its stack forgets the connections as it falls
    /// silent.
    pub(crate) fn lose_all_of(&mut self, host: HostId) {
        for flow in self.net.flows.iter_mut().filter(|flow| flow.from == host && flow.is_held) {
            flow.packets.clear();
            flow.is_held = false;
        }
    }

    /// True if data that the run waits for is on its way, or is held and will be sent again.
    pub(crate) fn essential_data_is_to_come(&self) -> bool {
        let waits = |flow: &&Flow| flow.packets.iter().any(|it| it.is_essential);
        self.net.flows.iter().filter(waits).any(|flow| !flow.is_held || self.will_be_free(flow.from, flow.to))
    }

    fn will_be_free(&self, from: HostId, to: HostId) -> bool {
        let cuts = self.net.links.get(&(from, to)).map_or(0, |link| link.cuts) as usize;
        let comes_back = |host: HostId| {
            let life = &self.host(host).life;
            let starts = life.has_power() || self.faults.to_come(&Fault::Start { host }) > 0;
            starts && life.suspensions() as usize <= self.faults.to_come(&Fault::Wake { host })
        };
        cuts <= self.faults.to_come(&Fault::Heal { from, to }) && comes_back(from) && comes_back(to)
    }
}
