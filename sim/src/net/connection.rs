//! One connection: two ends, and the segments travelling between them.
//!
//! Segments are numbered per direction and delivered in that order, whatever their own delays. A segment that is lost,
//! or arrives at a cut link or at a machine that does not answer, is *held* (see [`super::retransmit`]). Ends of stream
//! and resets are segments too, so what a process wrote before it died still arrives before the news of its death.

use std::collections::{BTreeMap, VecDeque};
use std::task::Waker;
use std::time::Duration;

use super::handshake::Request;
use crate::host_state::Power;
use crate::kernel::{Coming, Process, State};
use crate::time::SimTime;
use crate::trace::{ConnectionId, End, Event, HostId, digest};

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
    /// Segments of this side that could not be delivered, in the order in which that turned out.
    pub(super) held: VecDeque<u32>,
    /// When what is held leaves again, if that is settled.
    pub(super) retransmit_at: Option<SimTime>,
    /// Names the user timeout of the oldest segment that was delivered and could not be acknowledged.
    pub(super) unacknowledged: Option<u64>,
    /// The machine still knows this side and repeats what was lost: not after a reset, a power loss or a timeout.
    pub(super) repeats: bool,
    /// A segment of this side is gone for good. What follows it is no use; only a reset still gets through.
    gap: bool,
    /// The machine answered data for this socket, which nobody held any more, with a reset.
    refused: bool,
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
            retransmit_at: None,
            unacknowledged: None,
            repeats: true,
            gap: false,
            refused: false,
        }
    }

    /// Whether the process still gets what arrives.
    fn takes_data(&self) -> bool {
        self.open && self.ended.is_none_or(|how| how == End::Finished)
    }

    fn wake_all(&mut self) {
        self.reader.take().into_iter().chain(self.writer.take()).for_each(Waker::wake);
    }
}

/// Something on its way from one side to the other.
pub(crate) struct Segment {
    pub(super) connection: u32,
    /// The sending side.
    pub(super) from: Side,
    number: u64,
    /// Unique in the run: tells a user timeout whether it is still about this segment.
    pub(super) serial: u64,
    pub(super) first_sent: SimTime,
    /// Added to the delay of the next transmission that is not lost.
    pub(super) extra: Duration,
    pub(super) content: Content,
}

pub(super) enum Content {
    Data(Vec<u8>),
    Fin,
    /// The process died, or closed with bytes unread. Sent once: a machine does not repeat it.
    Reset,
    /// A reset in answer to data for a socket that nobody holds. The data's retransmissions bring forth another, so
    /// for the sender of the data it is as if this were repeated.
    Refusal,
}

impl Content {
    /// Whether only an unbroken stream before it makes sense of it.
    fn is_stream(&self) -> bool {
        matches!(self, Content::Data(_) | Content::Fin)
    }
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
        if bytes.is_empty() {
            return Transfer::Done(0);
        }
        match end.ended {
            None | Some(End::Finished) if !end.fin_sent => {}
            Some(how) => return Transfer::Broken(how),
            None => return Transfer::Broken(End::Finished),
        }
        let room = WINDOW.saturating_sub(end.in_flight).min(bytes.len());
        if room == 0 {
            end.writer = Some(waker.clone());
            return Transfer::Wait;
        }
        end.in_flight += room;
        self.net.messages += 1;
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
        if end.inbox.len() > end.read {
            return self.abort(key, side);
        }
        end.open = false;
        self.finish(key, side);
        self.free_if_over(key);
    }

    /// Ends this side at once: a reset to the peer, and nothing is repeated any more.
    pub(crate) fn abort(&mut self, key: usize, side: Side) {
        self.forget_side(key, side);
        self.transmit(key, side, Content::Reset);
        self.free_if_over(key);
    }

    /// The machine knows nothing of this side any more.
    fn forget_side(&mut self, key: usize, side: Side) {
        let end = self.end_of(key, side);
        end.open = false;
        end.ended = Some(End::Reset);
        (end.reader, end.writer) = (None, None);
        self.stop_repeating(key, side);
    }

    /// The process of `host` is gone: its sockets close, with a reset to each peer if the machine can still send one.
    pub(crate) fn drop_connections(&mut self, host: HostId) {
        let keys: Vec<usize> = self.net.connections.iter().map(|(key, _)| key).collect();
        for key in keys {
            for side in [Side::Opener, Side::Accepter] {
                let (power, suspended) = (self.host(host).power, self.host(host).suspensions > 0);
                let end = self.end_of(key, side);
                if end.process.host != host {
                    continue;
                }
                match power {
                    Power::Off => self.forget_side(key, side),
                    // Closed properly before: the machine goes on delivering what was written.
                    Power::On if !end.open => {}
                    Power::On => {
                        self.forget_side(key, side);
                        let reset = self.new_segment(key, side, Content::Reset);
                        // A suspended machine sends nothing; its peers learn of the death after it woke.
                        if suspended { self.hold(reset) } else { self.transmit_segment(reset) }
                    }
                }
            }
            self.free_if_over(key);
        }
    }

    pub(super) fn hosts_of(&self, key: usize, side: Side) -> (HostId, HostId) {
        let ends = &self.net.connections[key].ends;
        (ends[side as usize].process.host, ends[side.other() as usize].process.host)
    }

    fn transmit(&mut self, key: usize, side: Side, content: Content) {
        let segment = self.new_segment(key, side, content);
        self.transmit_segment(segment);
    }

    fn new_segment(&mut self, key: usize, side: Side, content: Content) -> u32 {
        let (from, to) = self.hosts_of(key, side);
        let extra = match content {
            Content::Data(_) => std::mem::take(&mut self.net.link(from, to).extra_once),
            _ => Duration::ZERO,
        };
        self.net.sent += 1;
        let (serial, first_sent) = (self.net.sent, self.now);
        let connection = &mut self.net.connections[key];
        connection.coming += 1;
        let end = &mut connection.ends[side as usize];
        let number = end.next_number;
        end.next_number += 1;
        let connection = key as u32;
        let segment = Segment { connection, from: side, number, serial, first_sent, extra, content };
        self.net.segments.insert(segment) as u32
    }

    /// One transmission leaves: it arrives after the link's delay, or is lost.
    pub(super) fn transmit_segment(&mut self, segment: u32) {
        let Segment { connection, from: side, .. } = self.net.segments[segment as usize];
        let (from, to) = self.hosts_of(connection as usize, side);
        match self.arrival(from, to) {
            Some(arrival) => {
                let extra = std::mem::take(&mut self.net.segments[segment as usize].extra);
                self.net.essential_on_the_way += usize::from(self.is_essential_data(segment));
                self.schedule(arrival.after(extra), Coming::Segment { key: segment });
            }
            None => {
                self.hold(segment);
                self.arm_retransmission(connection as usize, side, SimTime(self.now.0 + 1));
            }
        }
    }

    /// Whether the end of the run waits for this segment while it is on its way.
    fn is_essential_data(&self, segment: u32) -> bool {
        let Segment { connection, from, ref content, .. } = self.net.segments[segment as usize];
        let (sender, _) = self.hosts_of(connection as usize, from);
        matches!(content, Content::Data(_)) && self.host(sender).essential
    }

    /// A segment reached the receiver's machine, or would have.
    pub(crate) fn segment_arrives(&mut self, segment: u32) {
        let Segment { connection, from, number, .. } = self.net.segments[segment as usize];
        let key = connection as usize;
        let (sender, receiver) = self.hosts_of(key, from);
        self.net.essential_on_the_way -= usize::from(self.is_essential_data(segment));
        if self.net.link(sender, receiver).cuts > 0 || !self.host(receiver).is_reachable() {
            self.hold(segment);
            return self.free_if_over(key);
        }
        let first_sent = self.net.segments[segment as usize].first_sent;
        let end = &mut self.net.connections[key].ends[from as usize];
        if end.gap {
            end.early.insert(number, segment);
            self.deliver_past_gap(key, from);
        } else if number == end.next_delivery {
            self.deliver(key, from, segment);
            while let Some(next) = self.next_early(key, from) {
                self.deliver(key, from, next);
            }
        } else {
            end.early.insert(number, segment);
        }
        if self.net.link(receiver, sender).cuts > 0 {
            self.miss_acknowledgement(key, from, first_sent);
        }
        self.free_if_over(key);
    }

    /// The machine of this side repeats nothing any more: what it held is gone.
    pub(super) fn stop_repeating(&mut self, key: usize, side: Side) {
        let end = self.end_of(key, side);
        end.repeats = false;
        (end.retransmit_at, end.unacknowledged) = (None, None);
        for segment in std::mem::take(&mut end.held) {
            self.lose(key, side, segment);
        }
    }

    /// A segment will never arrive.
    pub(super) fn lose(&mut self, key: usize, side: Side, segment: u32) {
        let is_stream = self.net.segments[segment as usize].content.is_stream();
        self.forget(key, segment);
        if is_stream {
            self.end_of(key, side).gap = true;
            self.deliver_past_gap(key, side);
        }
    }

    /// After a gap a receiver waits for no order: a reset counts at once, anything else never.
    fn deliver_past_gap(&mut self, key: usize, from: Side) {
        for (_, segment) in std::mem::take(&mut self.end_of(key, from).early) {
            if self.net.segments[segment as usize].content.is_stream() {
                self.forget(key, segment);
            } else {
                self.deliver(key, from, segment);
            }
        }
    }

    fn forget(&mut self, key: usize, segment: u32) {
        self.net.connections[key].coming -= 1;
        if let Content::Data(bytes) = self.net.segments.remove(segment as usize).content {
            self.recycle(bytes);
        }
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
                let refused = !end.takes_data();
                if !refused {
                    end.inbox.extend_from_slice(&bytes);
                    end.reader.take().into_iter().for_each(Waker::wake);
                }
                self.recycle(bytes);
                self.emit(Event::Delivered { connection: id, from: sender, to: receiver, bytes: count });
                if refused {
                    self.refuse_data(key, from.other());
                }
                return;
            }
            Content::Fin => End::Finished,
            Content::Reset | Content::Refusal => End::Reset,
        };
        if end.takes_data() {
            self.end_connection(key, from.other(), ended);
        }
    }

    /// Data for a socket nobody holds: the machine answers with a reset, once.
    fn refuse_data(&mut self, key: usize, side: Side) {
        let peer_open = self.end_of(key, side.other()).open;
        if peer_open && !self.end_of(key, side).refused {
            self.end_of(key, side).refused = true;
            self.transmit(key, side, Content::Refusal);
        }
    }

    pub(super) fn end_connection(&mut self, key: usize, side: Side, how: End) {
        let connection = &mut self.net.connections[key];
        let (id, end) = (connection.id, &mut connection.ends[side as usize]);
        end.ended = Some(how);
        // What was received before a reset can still be read, as on Linux: the error comes after the data.
        end.wake_all();
        let host = end.process.host;
        self.emit(Event::Ended { connection: id, host, how });
    }

    fn recycle(&mut self, mut buffer: Vec<u8>) {
        buffer.clear();
        self.net.spare.push(buffer);
    }

    pub(crate) fn free_if_over(&mut self, key: usize) {
        let connection = &self.net.connections[key];
        if connection.coming == 0 && connection.ends.iter().all(|end| !end.open && end.held.is_empty()) {
            self.net.connections.remove(key);
        }
    }
}
