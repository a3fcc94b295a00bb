//! How a connection comes to be: a request, an answer, or silence.
//!
//! The machine answers, not the process: a paused server's machine completes handshakes and queues the connections,
//! a crashed server's machine refuses, a machine that is off, suspended or cut off says nothing, and the asker repeats
//! its request with a doubling wait until it gives up.

use std::collections::VecDeque;
use std::io;
use std::task::Waker;
use std::time::Duration;

use super::connection::{Connection, ConnectionKey, Endpoint, Side};
use super::link::{self, Departure};
use crate::kernel::{Process, State};
use crate::queue::Pending;
use crate::time::SimTime;
use crate::trace::{ConnectionId, End, Event, HostId};

/// The first wait before a connection request is repeated (Linux: one second, doubling).
const REPEAT_AFTER: Duration = Duration::from_secs(1);
/// When the asker gives up: after `tcp_syn_retries = 6` repetitions, 1 + 2 + … + 64 s.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(127);

/// Why a connection could not be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    /// The machine is there and nothing listens on the port.
    #[error("connection refused")]
    Refused,
    /// The other machine reset the connection before it was used.
    #[error("connection reset")]
    Reset,
    /// No answer within the connect timeout (127 s).
    #[error("connection timed out")]
    TimedOut,
}

impl From<ConnectError> for io::Error {
    fn from(error: ConnectError) -> io::Error {
        let kind = match error {
            ConnectError::Refused => io::ErrorKind::ConnectionRefused,
            ConnectError::Reset => io::ErrorKind::ConnectionReset,
            ConnectError::TimedOut => io::ErrorKind::TimedOut,
        };
        io::Error::new(kind, error)
    }
}

/// A process's open port.
pub(crate) struct Listener {
    pub(crate) port: u16,
    /// Connections the machine took and the process has not.
    pub(crate) waiting: VecDeque<ConnectionKey>,
    pub(crate) waker: Option<Waker>,
}

/// A connection request under way, beside the connection it is for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) port: u16,
    asked: SimTime,
    /// Of the request, or of the answer to it.
    departure: Departure,
    /// The other machine took it.
    queued: bool,
    pub(crate) established: bool,
    /// It is for this copy, and for no process.
    pub(super) copy: Option<u32>,
}

impl State {
    /// Asks for a connection. Returns its key; the asker's end tells how it went.
    pub(crate) fn request(&mut self, asker: Process, to: HostId, port: u16) -> ConnectionKey {
        self.request_for(asker, to, port, None)
    }

    pub(super) fn request_for(
        &mut self,
        asker: Process,
        to: HostId,
        port: u16,
        copy: Option<u32>,
    ) -> ConnectionKey {
        self.net.opened += 1;
        let id = ConnectionId(self.net.opened);
        let other = Process { host: to, incarnation: self.host(to).life.incarnation() };
        let departure = Departure::default();
        let request = Request { port, asked: self.now, departure, queued: false, established: false, copy };
        let ends = [Endpoint::new(asker, true), Endpoint::new(other, false)];
        let links = [self.net.link_key(asker.host, to), self.net.link_key(to, asker.host)];
        let key = self.net.add_connection(Connection { id, ends, links, named_by: 1, request });
        self.emit(Event::Connecting { connection: id, from: asker.host, to });
        self.ask(key);
        key
    }

    /// Sends the request, or gives up when it was repeated often enough.
    pub(crate) fn ask(&mut self, key: ConnectionKey) {
        if !self.asker_waits(key) {
            return self.drop_handshake(key);
        }
        let asked = self.net.connections[key].request.asked;
        if self.now.since(asked) >= CONNECT_TIMEOUT {
            self.fail_request(key, End::TimedOut);
            return self.drop_handshake(key);
        }
        let (asker, _) = self.hosts_of(key, Side::Opener);
        let sends = self.host(asker).life.is_reachable();
        match self.arrival(key, Side::Opener).filter(|_| sends) {
            Some(arrival) => self.leave(key, Side::Opener, arrival, Pending::Request { key }),
            None => self.ask_again(key),
        }
    }

    /// Nothing came of the request: it is repeated when its wait is over.
    fn ask_again(&mut self, key: ConnectionKey) {
        let asked = self.net.connections[key].request.asked;
        let again = link::retransmission(asked, REPEAT_AFTER, SimTime(self.now.0 + 1));
        self.schedule(again, Pending::Ask { key });
    }

    pub(crate) fn request_arrives(&mut self, key: ConnectionKey) {
        if !self.asker_waits(key) {
            return self.drop_handshake(key);
        }
        if !self.gets_through(key, Side::Opener) {
            return self.ask_again(key);
        }
        self.time_handshake(key, Side::Opener);
        let accepted = self.queue_at_listener(key);
        match self.arrival(key, Side::Accepter) {
            Some(arrival) => self.leave(key, Side::Accepter, arrival, Pending::Answer { key, accepted }),
            None => self.ask_again(key),
        }
    }

    fn leave(&mut self, key: ConnectionKey, from: Side, arrival: SimTime, what: Pending) {
        let departure = self.net.link_of(key, from).departure(self.now);
        self.net.connections[key].request.departure = departure;
        self.schedule(arrival, what);
    }

    /// Whether the request, or the answer to it, gets through to a machine that takes it.
    fn gets_through(&mut self, key: ConnectionKey, from: Side) -> bool {
        let (_, to) = self.hosts_of(key, from);
        let departure = self.net.connections[key].request.departure;
        self.net.link_of(key, from).is_free_since(departure) && self.host(to).life.is_reachable()
    }

    /// The request, or the answer to it, tells how long this side's transmissions take.
    fn time_handshake(&mut self, key: ConnectionKey, side: Side) {
        let departed = self.net.connections[key].request.departure.at;
        self.end_of(key, side).one_way = self.now.since(departed);
    }

    fn queue_at_listener(&mut self, key: ConnectionKey) -> bool {
        if self.net.connections[key].request.queued {
            // A repeated request, because the answer to an earlier one was lost. The taker may have died since.
            return self.end_of(key, Side::Accepter).ended != Some(End::Reset);
        }
        let (_, to) = self.hosts_of(key, Side::Opener);
        let port = self.net.connections[key].request.port;
        let host = self.host_mut(to);
        let incarnation = host.life.incarnation();
        let Some(listener) = host.listeners.iter_mut().find(|l| l.port == port) else { return false };
        listener.waiting.push_back(key);
        listener.waker.take().into_iter().for_each(Waker::wake);
        let end = self.end_of(key, Side::Accepter);
        *end = Endpoint::new(Process { host: to, incarnation }, true);
        let connection = &mut self.net.connections[key];
        connection.request.queued = true;
        let connection = connection.id;
        self.emit(Event::Accepted { connection, host: to });
        true
    }

    pub(crate) fn answer_arrives(&mut self, key: ConnectionKey, accepted: bool) {
        if !self.asker_waits(key) {
            return self.drop_handshake(key);
        }
        if !self.gets_through(key, Side::Accepter) {
            return self.ask_again(key);
        }
        if accepted {
            self.time_handshake(key, Side::Accepter);
            let connection = &mut self.net.connections[key];
            let round_trip = connection.ends.iter().map(|end| end.one_way).sum();
            connection.ends.iter_mut().for_each(|end| end.round_trip.measure(round_trip));
            connection.request.established = true;
            connection.ends[Side::Opener as usize].reader.take().into_iter().for_each(Waker::wake);
        } else {
            self.fail_request(key, End::Refused);
        }
        self.drop_handshake(key);
    }

    /// Whether the asker's process is still there and has not been reset meanwhile.
    fn asker_waits(&mut self, key: ConnectionKey) -> bool {
        let end = self.end_of(key, Side::Opener);
        end.open && end.ended.is_none_or(|how| how == End::Finished)
    }

    fn fail_request(&mut self, key: ConnectionKey, how: End) {
        let connection = &mut self.net.connections[key];
        let (id, end) = (connection.id, &mut connection.ends[Side::Opener as usize]);
        end.ended = Some(how);
        end.reader.take().into_iter().for_each(Waker::wake);
        let host = end.process.host;
        self.emit(Event::Ended { connection: id, host, how });
    }

    /// The handshake is over, well or not: no event of it is pending.
    fn drop_handshake(&mut self, key: ConnectionKey) {
        if let Some(number) = self.net.connections[key].request.copy {
            self.send_copy(key, number);
        }
        self.event_over(key);
    }
}
