//! One connection: two ends, and the segments travelling between them.
//!
//! Segments are numbered per direction and delivered in that order, whatever their own delays. A segment that is lost,
//! or meets a cut or a machine that does not answer, is *held* (see [`super::retransmit`]). Ends of stream are numbered
//! with the data; resets are not, they come after what is on its way (see [`super::ending`]).

use std::collections::{BTreeMap, VecDeque};
use std::task::Waker;
use std::time::Duration;

use super::USER_TIMEOUT;
use super::handshake::Request;
use super::link::{Departure, LinkKey};
use super::round_trip::RoundTrip;
use crate::kernel::{Process, State};
use crate::queue::Pending;
use crate::slots::Key;
use crate::time::SimTime;
use crate::trace::{ConnectionId, End, Event, HostId};

/// How many bytes one direction may have sent and the receiver not yet read: the usual default of a socket's receive
/// buffer. A sender beyond it waits, which is all the back-pressure there is.
const WINDOW: usize = 256 * 1024;

/// Which end of a connection: the opener's or the accepter's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
}

pub(crate) type ConnectionKey = Key<Connection>;

pub(crate) struct Connection {
    pub(crate) id: ConnectionId,
    pub(crate) ends: [Endpoint; 2],
    /// What each side sends on.
    pub(crate) links: [LinkKey; 2],
    pub(crate) request: Request,
    /// How many pending events and segments name this slot, which is free again only when there is none. Counted by
    /// `schedule_for` and `event_over`, `add_segment` and `remove_segment`; the handshake counts as one event.
    pub(super) named_by: u32,
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
    pub(super) writer: Option<Waker>,
    pub(super) fin_sent: bool,
    /// Bytes this side sent that the other has not read.
    pub(super) in_flight: usize,
    /// Bytes this side has sent so far.
    pub(super) bytes_sent: u64,
    next_number: u64,
    /// The number of the next segment the *other* side will get from this one.
    next_delivery: u64,
    /// Segments of this side that arrived before an earlier one.
    early: BTreeMap<u64, SegmentKey>,
    /// Segments of this side that could not be delivered, in the order in which that turned out.
    pub(super) held: VecDeque<SegmentKey>,
    /// When what is held leaves again, if that is settled.
    pub(super) retransmit_at: Option<SimTime>,
    /// How long the latest of this side's transmissions took.
    pub(super) one_way: Duration,
    pub(super) round_trip: RoundTrip,
    /// Names the user timeout of the oldest segment that was delivered and could not be acknowledged.
    pub(super) unacknowledged: Option<u64>,
    /// For how long this side repeats something before it gives the connection up.
    pub(super) user_timeout: Duration,
    /// The machine still knows this side and repeats what was lost: not after a reset, a power loss or a timeout.
    pub(super) repeats: bool,
    /// How many segments of this side's stream are on their way.
    on_the_way: u32,
    /// A reset of this side arrived, and waits for what is on its way before it.
    reset_arrived: bool,
    /// The first segment of this side's stream that is gone for good. What follows it is no use.
    gone_from: u64,
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
            bytes_sent: 0,
            next_number: 0,
            next_delivery: 0,
            early: BTreeMap::new(),
            held: VecDeque::new(),
            retransmit_at: None,
            one_way: Duration::ZERO,
            round_trip: RoundTrip::default(),
            unacknowledged: None,
            user_timeout: USER_TIMEOUT,
            repeats: true,
            on_the_way: 0,
            reset_arrived: false,
            gone_from: u64::MAX,
        }
    }

    /// Whether the process still gets what arrives.
    pub(super) fn takes_data(&self) -> bool {
        self.open && self.ended.is_none_or(|how| how == End::Finished)
    }

    /// How many received bytes it holds.
    pub(crate) fn received_bytes(&self) -> usize {
        self.inbox.len()
    }

    pub(super) fn has_unread(&self) -> bool {
        self.inbox.len() > self.read
    }

    pub(super) fn wake_all(&mut self) {
        self.reader.take().into_iter().chain(self.writer.take()).for_each(Waker::wake);
    }
}

pub(crate) type SegmentKey = Key<Segment>;

/// Something on its way from one side to the other.
pub(crate) struct Segment {
    pub(super) connection: ConnectionKey,
    /// The sending side.
    pub(super) from: Side,
    number: u64,
    /// Unique in the run: tells a user timeout whether it is still about this segment.
    pub(super) serial: u64,
    pub(super) first_sent: SimTime,
    /// Added to the delay of the next transmission that is not lost.
    extra: Duration,
    /// Of its latest transmission.
    pub(super) departure: Departure,
    /// It left once, without a delay of its own: its delay is the link's.
    pub(super) is_measure: bool,
    /// The end of the run waits for it: data of an essential host that the receiver's machine has not seen.
    pub(super) is_essential: bool,
    /// It reached the receiver's machine once, which refused it: nobody waits for it any more.
    pub(super) arrived: bool,
    pub(super) content: Content,
}

impl Segment {
    /// How many bytes of the stream it carries.
    pub(crate) fn bytes(&self) -> usize {
        match &self.content {
            Content::Data(bytes) => bytes.len(),
            Content::Fin | Content::Reset => 0,
        }
    }
}

pub(crate) enum Content {
    Data(Vec<u8>),
    Fin,
    /// Sent once: a machine does not repeat it.
    Reset,
}

impl Content {
    /// Whether it has a place in the order of what its side sends.
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
    pub(crate) fn end_of(&mut self, key: ConnectionKey, side: Side) -> &mut Endpoint {
        &mut self.net.connections[key].ends[side as usize]
    }

    /// Moves received bytes to the reader.
    pub(crate) fn receive(
        &mut self,
        key: ConnectionKey,
        side: Side,
        into: &mut tokio::io::ReadBuf<'_>,
        waker: &Waker,
    ) -> Transfer {
        let [opener, accepter] = &mut self.net.connections[key].ends;
        let (end, sender) = if side == Side::Opener { (opener, accepter) } else { (accepter, opener) };
        let available = &end.inbox[end.read..];
        let count = available.len().min(into.remaining());
        if count > 0 {
            into.put_slice(&available[..count]);
            end.read += count;
            if end.read == end.inbox.len() {
                end.inbox.clear();
                end.read = 0;
            }
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
                match &mut end.reader {
                    Some(reader) => reader.clone_from(waker),
                    none => *none = Some(waker.clone()),
                }
                Transfer::Wait
            }
        }
    }

    /// Hands bytes to the network.
    pub(crate) fn send(&mut self, key: ConnectionKey, side: Side, bytes: &[u8], waker: &Waker) -> Transfer {
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
        self.send_data(key, side, &bytes[..room]);
        if side == Side::Opener && !self.net.link_of(key, side).copy_once.is_empty() {
            self.copy(key, &bytes[..room]);
        }
        self.end_of(key, side).bytes_sent += room as u64;
        Transfer::Done(room)
    }

    pub(super) fn hosts_of(&self, key: ConnectionKey, side: Side) -> (HostId, HostId) {
        let ends = &self.net.connections[key].ends;
        (ends[side as usize].process.host, ends[side.other() as usize].process.host)
    }

    pub(super) fn transmit(&mut self, key: ConnectionKey, side: Side, content: Content) {
        let segment = self.new_segment(key, side, content);
        let (from, _) = self.hosts_of(key, side);
        if self.host(from).life.is_suspended() {
            // Its process died meanwhile. A suspended machine sends nothing; its peers learn of it after it woke.
            return self.hold(segment);
        }
        self.transmit_segment(segment);
    }

    fn new_segment(&mut self, key: ConnectionKey, side: Side, content: Content) -> SegmentKey {
        let extra = match content {
            Content::Data(_) => self.net.link_of(key, side).take_late(),
            _ => Duration::ZERO,
        };
        self.net.sent += 1;
        let (serial, first_sent) = (self.net.sent, self.now);
        let (sender, _) = self.hosts_of(key, side);
        let is_essential = matches!(content, Content::Data(_)) && self.host(sender).life.is_essential();
        let end = self.end_of(key, side);
        let number = end.next_number;
        end.next_number += u64::from(content.is_stream());
        let segment = Segment {
            connection: key,
            from: side,
            number,
            serial,
            first_sent,
            extra,
            departure: Departure::default(),
            is_measure: extra.is_zero(),
            is_essential,
            arrived: false,
            content,
        };
        self.net.add_segment(segment)
    }

    /// One transmission leaves: it arrives after the link's delay, or is lost.
    pub(super) fn transmit_segment(&mut self, segment: SegmentKey) {
        let Segment { connection, from: side, .. } = self.net.segments[segment];
        let Some(arrival) = self.arrival(connection, side) else {
            self.hold(segment);
            return self.arm_retransmission(connection, side, self.now.next());
        };
        let departure = self.net.link_of(connection, side).departure(self.now);
        let leaving = &mut self.net.segments[segment];
        leaving.departure = departure;
        let (extra, is_stream) = (std::mem::take(&mut leaving.extra), leaving.content.is_stream());
        let is_essential = leaving.is_essential;
        self.end_of(connection, side).on_the_way += u32::from(is_stream);
        self.net.essential_on_the_way += usize::from(is_essential);
        let arrival = arrival.after(extra);
        if !extra.is_zero() {
            self.net.last_late = self.net.last_late.max(arrival);
        }
        self.schedule(arrival, Pending::Segment { key: segment });
    }

    /// A segment reached the receiver's machine, or would have.
    pub(crate) fn segment_arrives(&mut self, segment: SegmentKey) {
        let Segment { connection: key, from, departure, is_essential, ref content, .. } =
            self.net.segments[segment];
        let is_stream = content.is_stream();
        let (_, receiver) = self.hosts_of(key, from);
        self.net.essential_on_the_way -= usize::from(is_essential);
        self.end_of(key, from).on_the_way -= u32::from(is_stream);
        if self.net.link_of(key, from).is_free_since(departure) && self.host(receiver).life.is_reachable() {
            self.take_segment(key, from, segment);
        } else {
            self.hold(segment);
            self.retransmit_if_free(key, from);
        }
        let end = self.end_of(key, from);
        if end.reset_arrived && end.on_the_way == 0 {
            self.reset_counts(key, from);
        }
        self.free_if_over(key);
    }

    /// The receiver's machine has a segment: it keeps it for its turn, delivers it, or refuses it.
    fn take_segment(&mut self, key: ConnectionKey, from: Side, segment: SegmentKey) {
        self.measure(key, from, segment);
        let Segment { number, first_sent, ref content, .. } = self.net.segments[segment];
        if self.is_refused(key, from, content) {
            return self.refuse(key, from, segment);
        }
        if !content.is_stream() {
            self.end_of(key, from).reset_arrived = true;
            return self.forget(segment);
        }
        let end = self.end_of(key, from);
        if number > end.next_delivery {
            end.early.insert(number, segment);
            let gone_from = end.gone_from;
            self.break_stream(key, from, gone_from);
        } else {
            self.deliver(key, from, segment);
            while let Some(next) = self.next_in_order(key, from) {
                self.deliver(key, from, next);
            }
        }
        if self.net.link_of(key, from.other()).cuts > 0 {
            self.miss_acknowledgement(key, from, first_sent);
        }
    }

    /// The machine of this side repeats nothing any more: what it held is gone.
    pub(super) fn stop_repeating(&mut self, key: ConnectionKey, side: Side) {
        let end = self.end_of(key, side);
        end.repeats = false;
        (end.retransmit_at, end.unacknowledged) = (None, None);
        for segment in std::mem::take(&mut end.held) {
            self.lose(key, side, segment);
        }
    }

    /// A segment will never arrive.
    pub(super) fn lose(&mut self, key: ConnectionKey, side: Side, segment: SegmentKey) {
        let Segment { number, ref content, .. } = self.net.segments[segment];
        if content.is_stream() {
            self.break_stream(key, side, number);
        }
        self.forget(segment);
    }

    /// This side's stream has a gap for good: nothing from there on is ever delivered.
    pub(super) fn break_stream(&mut self, key: ConnectionKey, from: Side, gone_from: u64) {
        let end = self.end_of(key, from);
        end.gone_from = end.gone_from.min(gone_from);
        for (_, segment) in end.early.split_off(&gone_from) {
            self.forget(segment);
        }
    }

    fn forget(&mut self, segment: SegmentKey) {
        if let Content::Data(bytes) = self.net.remove_segment(segment) {
            self.recycle(bytes);
        }
    }

    fn next_in_order(&mut self, key: ConnectionKey, from: Side) -> Option<SegmentKey> {
        let end = self.end_of(key, from);
        end.early.remove(&end.next_delivery)
    }

    /// Puts the next segment in order into the receiver's socket.
    fn deliver(&mut self, key: ConnectionKey, from: Side, segment: SegmentKey) {
        let content = self.net.remove_segment(segment);
        let (sender, receiver) = self.hosts_of(key, from);
        let connection = &mut self.net.connections[key];
        connection.ends[from as usize].next_delivery += 1;
        let id = connection.id;
        let end = &mut connection.ends[from.other() as usize];
        if let Content::Data(bytes) = content {
            let count = bytes.len() as u32;
            end.inbox.extend_from_slice(&bytes);
            end.reader.take().into_iter().for_each(Waker::wake);
            self.recycle(bytes);
            self.emit(Event::Delivered { connection: id, from: sender, to: receiver, bytes: count });
        } else if end.takes_data() {
            self.end_connection(key, from.other(), End::Finished);
        }
    }

    fn recycle(&mut self, mut buffer: Vec<u8>) {
        buffer.clear();
        self.net.spare.push(buffer);
    }
}
