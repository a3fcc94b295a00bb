//! Requests that are sent twice: a proxy on the sender's machine asks again, on a connection of its own.
//!
//! TCP delivers nothing twice. What does is whoever retries above it, a proxy or a driver, and that opens a connection
//! and sends the bytes of one message again. The copy is of the sender's machine and not of its process: it outlives
//! the process, waits with the machine while that is suspended, and goes with its power. What it is answered nobody
//! reads: the machine answers that with a reset, as for a socket that is gone.
//!
//! Only what a side that opened its connection sends is copied: where the other side opened it, nobody listens for a
//! second one. Of a message as it was handed to the network: half a request is copied as half a request.

use super::connection::{ConnectionKey, Content, Side};
use crate::kernel::{Process, State};
use crate::life::LifeNumber;
use crate::net::link::Doubled;
use crate::queue::Pending;
use crate::trace::{ConnectionId, HostId};

/// A message that will be sent again, or was.
#[derive(Debug)]
pub(crate) struct Repeated {
    /// Which message it is.
    of: CopyOf,
    from: HostId,
    to: HostId,
    port: u16,
    /// The life of the machine that it was sent from.
    life: LifeNumber,
    /// Until they are sent.
    pub(crate) bytes: Vec<u8>,
    is_essential: bool,
    /// The connection that the copy has for itself, once it asks for one.
    connection: Option<ConnectionId>,
}

/// The message that a connection carries again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyOf {
    /// The connection that carried it first.
    pub connection: ConnectionId,
    /// How many bytes the opener of that connection had sent before.
    pub after_bytes: u64,
}

impl State {
    /// Plans the copies that faults want of the message that is being sent. Called before it counts as sent.
    #[cold]
    pub(super) fn copy(&mut self, key: ConnectionKey, bytes: &[u8]) {
        let (from, to) = self.hosts_of(key, Side::Opener);
        let connection = &self.net.connections[key];
        let sent = connection.ends[Side::Opener as usize].bytes_sent;
        let (of, port) = (CopyOf { connection: connection.id, after_bytes: sent }, connection.request.port);
        let (life, is_essential) = (self.host(from).life.machine_life(), self.host(from).life.is_essential());
        let wanted = std::mem::take(&mut self.net.link_of(key, Side::Opener).copy_once);
        for Doubled { after, .. } in wanted {
            let number = self.net.repeated.len() as u32;
            let bytes = bytes.to_vec();
            self.net.repeated.push(Repeated {
                of,
                from,
                to,
                port,
                life,
                bytes,
                is_essential,
                connection: None,
            });
            self.net.essential_on_the_way += usize::from(is_essential);
            let at = self.now.after(after);
            self.net.last_late = self.net.last_late.max(at);
            self.schedule(at, Pending::Repeat { number });
        }
    }

    /// It is time to send a message again: a connection for it is asked for.
    pub(crate) fn repeat(&mut self, number: u32) {
        let Repeated { from, to, port, life, .. } = self.net.repeated[number as usize];
        if self.host(from).life.machine_life() != life {
            return self.is_dealt_with(number); // it went with the machine's power
        }
        let asker = Process { host: from, incarnation: self.host(from).life.incarnation() };
        let key = self.request_for(asker, to, port, Some(number));
        self.net.repeated[number as usize].connection = Some(self.net.connections[key].id);
    }

    /// The handshake of a copy's connection is over, well or not: the copy is sent, and nobody reads the answer.
    pub(super) fn send_copy(&mut self, key: ConnectionKey, number: u32) {
        let bytes = std::mem::take(&mut self.net.repeated[number as usize].bytes);
        if self.net.connections[key].request.established && self.end_of(key, Side::Opener).ended.is_none() {
            self.send_data(key, Side::Opener, &bytes);
            self.end_of(key, Side::Opener).fin_sent = true;
            self.transmit(key, Side::Opener, Content::Fin);
        }
        self.end_of(key, Side::Opener).open = false;
        self.is_dealt_with(number);
    }

    /// The run need not wait for this copy any more: it is on its way as any message, or will never be.
    fn is_dealt_with(&mut self, number: u32) {
        self.net.essential_on_the_way -= usize::from(self.net.repeated[number as usize].is_essential);
    }

    /// The message that this connection carries again, if it was opened for that.
    pub(crate) fn copy_of(&self, connection: ConnectionId) -> Option<CopyOf> {
        self.net.repeated.iter().find(|it| it.connection == Some(connection)).map(|it| it.of)
    }
}
