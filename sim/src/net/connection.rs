//! One connection: two ends, and the segments travelling between them.
//!
//! Segments are numbered per direction and delivered in that order, whatever their own delays. A segment that arrives
//! at a cut link or at a machine that does not answer is *held*; when the way is free again it leaves at the sender's
//! next retransmission. Ends of stream and resets are segments too, so what a process wrote before it died still
//! arrives before the news of its death.

use std::collections::{BTreeMap, VecDeque};
use std::task::Waker;
use std::time::Duration;

use super::handshake::Request;
use super::{USER_TIMEOUT, link};
use crate::host_state::Power;
use crate::kernel::{Coming, Process, State};
use crate::time::SimTime;
use crate::trace::{ConnectionId, End, Event, HostId, digest};

/// The first wait before a retransmission (Linux's `TCP_RTO_MIN`): below any round trip worth simulating, TCP waits this long.
pub(super) const RETRANSMIT_AFTER: Duration = Duration::from_millis(200);

/// How many bytes one direction may have sent and the receiver not yet read: the usual default of a socket's receive
/// buffer. A sender beyond it waits, which is all the back-pressure there is.
const WINDOW: usize = 256 * 1024;

/// Which end of a connection: the opener's or the accepter's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Opener = 0,
    Accepter = 1,
}

impl Side {
    pub(crate) fn other(self) -> Side {
        match self {
            Side::Opener => Side::Accepter,
            Side::Accepter => Side::Opener,
        }
    }

    pub(crate) fn from_index(index: u8) -> Side {
        if index == 0 { Side::Opener } else { Side::Accepter }
    }
}

pub(crate) struct Connection {
    pub(crate) id: ConnectionId,
    pub(crate) ends: [Endpoint; 2],
    pub(crate) request: Request,
    /// Coming events that name this connection's slot, which is free again only when there is none.
    pub(crate) coming: u32,
}

/// One side's socket and the direction in which it sends.
pub(crate) struct Endpoint {
    pub(crate) process: Process,
    /// The process holds this socket. When it does not, what arrives is answered with a reset.
    pub(crate) open: bool,
    /// How the connection ended for this side.
    pub(crate) ended: Option<End>,
    /// Received and not yet read: `inbox[read..]`.
    inbox: Vec<u8>,
    read: usize,
    pub(crate) reader: Option<Waker>,
    writer: Option<Waker>,
    fin_sent: bool,
    /// Bytes this side sent that the other has not read.
    in_flight: usize,
    next_number: u64,
    /// The number of the next segment the *other* side will get from this one.
    next_delivery: u64,
    /// Segments of this side that arrived before an earlier one.
    early: BTreeMap<u64, u32>,
    /// Segments of this side that could not be delivered, in order of arrival.
    held: VecDeque<u32>,
    /// What was delivered while acknowledgements could not come back: since when, and which segment.
    unacknowledged: Option<(SimTime, u64)>,
}

impl Endpoint {
    pub(crate) fn new(process: Process, open: bool) -> Endpoint {
        Endpoint {
            process,
            open,
            ended: None,
            inbox: Vec::new(),
            read: 0,
            reader: None,
            writer: None,
            fin_sent: false,
            in_flight: 0,
            next_number: 0,
            next_delivery: 0,
            early: BTreeMap::new(),
            held: VecDeque::new(),
            unacknowledged: None,
        }
    }

    fn wake_all(&mut self) {
        self.reader.take().into_iter().chain(self.writer.take()).for_each(Waker::wake);
    }
}

/// Something on its way from one side to the other.
pub(crate) struct Segment {
    connection: u32,
    /// The sending side.
    from: Side,
    number: u64,
    /// Unique in the run: tells a user timeout whether it is still about this segment.
    serial: u64,
    first_sent: SimTime,
    content: Content,
}

enum Content {
    Data(Vec<u8>),
    Fin,
    Reset,
}

/// What a read or write on a socket found.
pub(crate) enum Transfer {
    /// This many bytes went through; zero on a read is the end of the stream.
    Done(usize),
    /// Nothing can move yet; the waker was kept.
    Wait,
    /// The connection is no more.
    Broken(End),
}

impl State {
    pub(crate) fn end_of(&mut self, key: usize, side: Side) -> &mut Endpoint {
        &mut self.net.connections[key].ends[side as usize]
    }

    /// Moves received bytes to the reader.
    pub(crate) fn receive(
        &mut self,
        key: usize,
        side: Side,
        into: &mut tokio::io::ReadBuf<'_>,
        waker: &Waker,
    ) -> Transfer {
        let end = self.end_of(key, side);
        let available = &end.inbox[end.read..];
        let count = available.len().min(into.remaining());
        if count > 0 {
            into.put_slice(&available[..count]);
            end.read += count;
            if end.read == end.inbox.len() {
                end.inbox.clear();
                end.read = 0;
            }
            let sender = self.end_of(key, side.other());
            sender.in_flight -= count;
            if let Some(writer) = sender.writer.take() {
                writer.wake();
            }
            return Transfer::Done(count);
        }
        match end.ended {
            Some(End::Finished) => Transfer::Done(0),
            Some(how) => Transfer::Broken(how),
            None => {
                end.reader = Some(waker.clone());
                Transfer::Wait
            }
        }
    }

    /// Hands bytes to the network.
    pub(crate) fn send(&mut self, key: usize, side: Side, bytes: &[u8], waker: &Waker) -> Transfer {
        let end = self.end_of(key, side);
        match end.ended {
            None | Some(End::Finished) if !end.fin_sent => {}
            Some(how) => return Transfer::Broken(how),
            None => return Transfer::Broken(End::Finished),
        }
        let room = WINDOW.saturating_sub(end.in_flight).min(bytes.len());
        if room == 0 && !bytes.is_empty() {
            end.writer = Some(waker.clone());
            return Transfer::Wait;
        }
        end.in_flight += room;
        let mut buffer = self.net.spare.pop().unwrap_or_default();
        buffer.extend_from_slice(&bytes[..room]);
        let (from, to) = self.hosts_of(key, side);
        let connection = self.net.connections[key].id;
        let digest = digest(&buffer);
        self.emit(Event::Sent { connection, from, to, bytes: room as u32, digest });
        self.transmit(key, side, Content::Data(buffer));
        Transfer::Done(room)
    }

    /// Sends the end of the stream: the other side reads what is left, then nothing.
    pub(crate) fn finish(&mut self, key: usize, side: Side) {
        let end = self.end_of(key, side);
        if !end.fin_sent && end.ended.is_none_or(|how| how == End::Finished) {
            end.fin_sent = true;
            self.transmit(key, side, Content::Fin);
        }
    }

    /// The process lets go of its socket. Unread bytes make it a reset, as on Linux.
    pub(crate) fn close(&mut self, key: usize, side: Side) {
        let end = self.end_of(key, side);
        if !end.open {
            return;
        }
        end.open = false;
        if end.inbox.len() > end.read {
            self.transmit(key, side, Content::Reset);
        } else {
            self.finish(key, side);
        }
        self.free_if_over(key);
    }

    /// The process of `host` is gone: its sockets close, with a reset to each peer if the machine can still send one.
    pub(crate) fn drop_connections(&mut self, host: HostId) {
        let keys: Vec<usize> = self.net.connections.iter().map(|(key, _)| key).collect();
        for key in keys {
            for side in [Side::Opener, Side::Accepter] {
                let power = self.host(host).power;
                let end = self.end_of(key, side);
                if end.process.host != host || !end.open {
                    continue;
                }
                end.open = false;
                end.ended = Some(End::Reset);
                let held = std::mem::take(&mut end.held);
                self.forget(key, held);
                if power == Power::On {
                    self.transmit(key, side, Content::Reset);
                }
            }
            self.free_if_over(key);
        }
    }

    fn hosts_of(&self, key: usize, side: Side) -> (HostId, HostId) {
        let ends = &self.net.connections[key].ends;
        (ends[side as usize].process.host, ends[side.other() as usize].process.host)
    }

    fn transmit(&mut self, key: usize, side: Side, content: Content) {
        let (from, to) = self.hosts_of(key, side);
        let mut arrival = self.arrival(from, to, RETRANSMIT_AFTER);
        if matches!(content, Content::Data(_)) {
            arrival = arrival.after(std::mem::take(&mut self.net.link(from, to).extra_once));
        }
        self.net.sent += 1;
        let (serial, first_sent) = (self.net.sent, self.now);
        let connection = &mut self.net.connections[key];
        connection.coming += 1;
        let end = &mut connection.ends[side as usize];
        let number = end.next_number;
        end.next_number += 1;
        let segment = Segment { connection: key as u32, from: side, number, serial, first_sent, content };
        let segment = self.net.segments.insert(segment) as u32;
        self.schedule(arrival, Coming::Segment { key: segment });
    }

    /// A segment reached the receiver's machine, or would have.
    pub(crate) fn segment_arrives(&mut self, segment: u32) {
        let Segment { connection, from, number, .. } = self.net.segments[segment as usize];
        let key = connection as usize;
        let (sender, receiver) = self.hosts_of(key, from);
        if self.net.link(sender, receiver).cuts > 0 || !self.host(receiver).is_reachable() {
            self.hold(key, from, segment);
            return;
        }
        let end = self.end_of(key, from);
        if number != end.next_delivery {
            end.early.insert(number, segment);
            return;
        }
        self.deliver(key, from, segment);
        while let Some(next) = self.next_early(key, from) {
            self.deliver(key, from, next);
        }
        if self.net.link(receiver, sender).cuts > 0 {
            self.miss_acknowledgement(key, from);
        }
        self.free_if_over(key);
    }

    fn next_early(&mut self, key: usize, from: Side) -> Option<u32> {
        let end = self.end_of(key, from);
        end.early.remove(&end.next_delivery)
    }

    /// Puts the next segment in order into the receiver's socket.
    fn deliver(&mut self, key: usize, from: Side, segment: u32) {
        let content = self.net.segments.remove(segment as usize).content;
        let (sender, receiver) = self.hosts_of(key, from);
        let connection = &mut self.net.connections[key];
        connection.coming -= 1;
        connection.ends[from as usize].next_delivery += 1;
        let id = connection.id;
        let end = &mut connection.ends[from.other() as usize];
        let ended = match content {
            Content::Data(bytes) => {
                let count = bytes.len() as u32;
                if end.open {
                    end.inbox.extend_from_slice(&bytes);
                    end.reader.take().into_iter().for_each(Waker::wake);
                }
                let refused = !end.open;
                self.recycle(bytes);
                self.emit(Event::Delivered { connection: id, from: sender, to: receiver, bytes: count });
                if refused {
                    self.refuse_data(key, from.other());
                }
                return;
            }
            Content::Fin => End::Finished,
            Content::Reset => End::Reset,
        };
        if end.open && end.ended.is_none_or(|how| how == End::Finished) {
            self.end_connection(key, from.other(), ended);
        }
    }

    /// Data for a socket nobody holds: the machine answers with a reset, once.
    fn refuse_data(&mut self, key: usize, side: Side) {
        let peer_open = self.end_of(key, side.other()).open;
        if peer_open && self.end_of(key, side).ended != Some(End::Refused) {
            self.end_of(key, side).ended = Some(End::Refused);
            self.transmit(key, side, Content::Reset);
        }
    }

    fn end_connection(&mut self, key: usize, side: Side, how: End) {
        let connection = &mut self.net.connections[key];
        let (id, end) = (connection.id, &mut connection.ends[side as usize]);
        end.ended = Some(how);
        if how != End::Finished {
            end.inbox.clear();
            end.read = 0;
        }
        end.wake_all();
        let host = end.process.host;
        self.emit(Event::Ended { connection: id, host, how });
    }

    fn recycle(&mut self, mut buffer: Vec<u8>) {
        buffer.clear();
        self.net.spare.push(buffer);
    }

    // What cannot be delivered now.

    fn hold(&mut self, key: usize, from: Side, segment: u32) {
        let Segment { serial, first_sent, ref content, .. } = self.net.segments[segment as usize];
        let (sender, receiver) = self.hosts_of(key, from);
        // A reset is sent once and never again; a dead process's machine retransmits nothing.
        if matches!(content, Content::Reset)
            || !self.end_of(key, from).open && !self.end_of(key, from).fin_sent
        {
            self.forget(key, [segment].into());
            return self.free_if_over(key);
        }
        let connection = &mut self.net.connections[key];
        connection.ends[from as usize].held.push_back(segment);
        connection.coming += 1;
        let id = connection.id;
        self.emit(Event::Held { connection: id, from: sender, to: receiver });
        self.schedule(
            first_sent.after(USER_TIMEOUT).max(self.now),
            Coming::UserTimeout { key: key as u32, end: from as u8, serial },
        );
    }

    fn forget(&mut self, key: usize, segments: VecDeque<u32>) {
        for segment in segments {
            self.net.connections[key].coming -= 1;
            if let Content::Data(bytes) = self.net.segments.remove(segment as usize).content {
                self.recycle(bytes);
            }
        }
    }

    /// Sends again what `from`'s connections hold for `to`, if the way is free now.
    pub(crate) fn retransmit_held(&mut self, from: HostId, to: HostId) {
        if self.net.link(from, to).cuts > 0
            || !self.host(to).is_reachable()
            || !self.host(from).is_reachable()
        {
            return;
        }
        let keys: Vec<usize> = self.net.connections.iter().map(|(key, _)| key).collect();
        for key in keys {
            for side in [Side::Opener, Side::Accepter] {
                if self.hosts_of(key, side) != (from, to) {
                    continue;
                }
                let held = std::mem::take(&mut self.end_of(key, side).held);
                let Some(&oldest) = held.front() else { continue };
                let first_sent = self.net.segments[oldest as usize].first_sent;
                let departs = link::retransmission(first_sent, RETRANSMIT_AFTER, self.now);
                let waits = departs.since(self.now);
                let arrival = self.arrival(from, to, RETRANSMIT_AFTER).after(waits);
                held.into_iter().for_each(|key| self.schedule(arrival, Coming::Segment { key }));
            }
        }
    }

    fn miss_acknowledgement(&mut self, key: usize, from: Side) {
        self.net.sent += 1;
        let (serial, now) = (self.net.sent, self.now);
        let end = self.end_of(key, from);
        if end.unacknowledged.is_none() {
            end.unacknowledged = Some((now, serial));
            self.net.connections[key].coming += 1;
            let what = Coming::UserTimeout { key: key as u32, end: from as u8, serial };
            self.schedule(now.after(USER_TIMEOUT), what);
        }
    }

    /// The way back is free again: retransmissions get acknowledged.
    pub(crate) fn acknowledge(&mut self, sender: HostId, receiver: HostId) {
        let keys: Vec<usize> = self.net.connections.iter().map(|(key, _)| key).collect();
        for key in keys {
            for side in [Side::Opener, Side::Accepter] {
                if self.hosts_of(key, side) == (sender, receiver) {
                    self.end_of(key, side).unacknowledged = None;
                }
            }
        }
    }

    pub(crate) fn user_timeout_is_live(&mut self, key: u32, end: u8, serial: u64) -> bool {
        let key = key as usize;
        let end = &self.net.connections[key].ends[end as usize];
        let held = end.held.iter().any(|&segment| self.net.segments[segment as usize].serial == serial);
        let live = held || end.unacknowledged.is_some_and(|(_, s)| s == serial);
        if !live {
            self.net.connections[key].coming -= 1;
            self.free_if_over(key);
        }
        live
    }

    /// The sender gives up: its side ends, and what it could not deliver is lost.
    pub(crate) fn user_timeout(&mut self, key: u32, end: u8) {
        let (key, side) = (key as usize, Side::from_index(end));
        self.net.connections[key].coming -= 1;
        let held = std::mem::take(&mut self.end_of(key, side).held);
        self.forget(key, held);
        self.end_of(key, side).unacknowledged = None;
        if self.end_of(key, side).open {
            self.end_connection(key, side, End::TimedOut);
        }
        self.free_if_over(key);
    }

    pub(crate) fn free_if_over(&mut self, key: usize) {
        let connection = &self.net.connections[key];
        if connection.coming == 0 && connection.ends.iter().all(|end| !end.open && end.held.is_empty()) {
            self.net.connections.remove(key);
        }
    }
}
