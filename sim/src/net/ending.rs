//! How a connection ends: by an end of stream, by a reset, or by a machine that forgets it.
//!
//! Whoever lets go of a socket ends it alike, a process that closes it or the machine of a process that died: the
//! machine goes on delivering what was sent, then the end of the stream. Unread input makes it a reset instead, and a
//! reset takes what still waits to be retransmitted with it, as on Linux. What is for a socket that nobody holds is
//! answered by a reset, each segment by its own.
//!
//! What a machine still delivers for a dead process is not disturbed by one that starts there meanwhile, which has
//! sockets of its own. A suspension holds it, and a power loss takes it.
//!
//! A reset is no part of the stream: nothing repeats a lost one, and it waits for no lost segment. It does not overtake
//! what is on its way before it, so data that arrives before it can still be read.
//!
//! A middlebox between two hosts can reset both ends. It may stand anywhere on the way, so its resets take no time, and
//! what is on the way never arrives.
//!
//! Decision: "A crash closes sockets and does not reset them" (docs/decisions/world.md).
//! Decision: "A reset is not part of the byte stream" (docs/decisions/world.md).

use std::collections::BTreeSet;

use super::connection::{ConnectionKey, Content, SegmentKey, Side};
use crate::kernel::State;
use crate::trace::{End, Event, HostId};

impl State {
    /// Sends the end of the stream: the other side reads what is left, then nothing.
    pub(crate) fn finish(&mut self, key: ConnectionKey, side: Side) {
        let end = self.end_of(key, side);
        if !end.fin_sent && end.ended.is_none_or(|how| how == End::Finished) {
            end.fin_sent = true;
            self.transmit(key, side, Content::Fin);
        }
    }

    /// The process lets go of its socket.
    pub(crate) fn close(&mut self, key: ConnectionKey, side: Side) {
        self.release(key, side);
        self.free_if_over(key);
    }

    /// Ends this side at once: a reset to the peer, and nothing is repeated any more.
    pub(crate) fn abort(&mut self, key: ConnectionKey, side: Side) {
        self.reset_peer(key, side);
        self.free_if_over(key);
    }

    /// Nobody holds the socket any more: an end of stream, or a reset if input is left unread.
    fn release(&mut self, key: ConnectionKey, side: Side) {
        let end = self.end_of(key, side);
        if !end.open {
            return;
        }
        if end.has_unread() && end.repeats {
            return self.reset_peer(key, side);
        }
        end.open = false;
        (end.reader, end.writer) = (None, None);
        self.finish(key, side);
    }

    fn reset_peer(&mut self, key: ConnectionKey, side: Side) {
        self.forget_side(key, side);
        self.transmit(key, side, Content::Reset);
    }

    /// The machine knows nothing of this side any more.
    fn forget_side(&mut self, key: ConnectionKey, side: Side) {
        let end = self.end_of(key, side);
        end.open = false;
        end.ended = Some(End::Reset);
        (end.reader, end.writer) = (None, None);
        self.stop_repeating(key, side);
    }

    /// The process of `host` dies: its machine closes its ports and sockets, if it has power to.
    pub(crate) fn drop_connections(&mut self, host: HostId) {
        if self.host(host).life.has_power() {
            let listeners = std::mem::take(&mut self.host_mut(host).listeners);
            listeners.into_iter().for_each(|listener| self.abandon(listener.waiting));
        }
        for key in self.connections_of(host) {
            for side in [Side::Opener, Side::Accepter] {
                if self.end_of(key, side).process.host == host {
                    self.drop_side(key, side);
                }
            }
            self.free_if_over(key);
        }
    }

    /// In the order of their slots, each once.
    fn connections_of(&self, host: HostId) -> BTreeSet<ConnectionKey> {
        let links = self.net.peers(host).into_iter().filter_map(|peer| self.net.known_link(host, peer));
        links.flat_map(|link| &link.connections).copied().collect()
    }

    fn drop_side(&mut self, key: ConnectionKey, side: Side) {
        let (host, _) = self.hosts_of(key, side);
        let connection = &self.net.connections[key];
        if connection.request.copy.is_some() && side == Side::Opener && self.host(host).life.has_power() {
            return; // no process holds it
        }
        let end = &connection.ends[side as usize];
        let asks = side == Side::Opener && !connection.request.established && end.ended.is_none();
        if !self.host(host).life.has_power() {
            self.forget_side(key, side);
        } else if asks && end.open {
            // The answer to the request of a process that is gone would be answered by a reset.
            self.reset_peer(key, side);
        } else {
            self.release(key, side);
        }
    }

    /// Nobody will ever take these connections from their port: the machine resets them, as on Linux.
    pub(super) fn abandon(&mut self, waiting: impl IntoIterator<Item = ConnectionKey>) {
        waiting.into_iter().for_each(|key| self.abort(key, Side::Accepter));
    }

    /// Whether the receiver's machine answers this content with a reset: data for a socket that nobody holds, and
    /// anything for one that it does not know.
    pub(super) fn is_refused(&self, key: ConnectionKey, from: Side, content: &Content) -> bool {
        let receiver = &self.net.connections[key].ends[from.other() as usize];
        match content {
            Content::Data(_) => !receiver.takes_data(),
            Content::Fin => !receiver.repeats,
            Content::Reset => false,
        }
    }

    /// Answers a segment with a reset. Its sender knows nothing of that yet and repeats it until a reset arrives.
    pub(super) fn refuse(&mut self, key: ConnectionKey, from: Side, segment: SegmentKey) {
        let (sender, receiver) = self.hosts_of(key, from);
        let connection = self.net.connections[key].id;
        let refused = &mut self.net.segments[segment];
        let is_news = !std::mem::replace(&mut refused.arrived, true);
        refused.is_essential = false;
        if let (Content::Data(bytes), true) = (&refused.content, is_news) {
            let bytes = bytes.len() as u32;
            self.emit(Event::Delivered { connection, from: sender, to: receiver, bytes });
        }
        // A machine that goes on delivering for a process that is gone gives that up with the reset.
        self.stop_repeating(key, from.other());
        if self.end_of(key, from).repeats {
            self.keep(segment);
            self.arm_retransmission(key, from, self.now.next());
            self.transmit(key, from.other(), Content::Reset);
        } else {
            self.lose(key, from, segment);
        }
    }

    /// A reset arrived and nothing of the same side is on its way before it: the connection is over.
    pub(super) fn reset_counts(&mut self, key: ConnectionKey, from: Side) {
        self.break_stream(key, from, 0);
        self.stop_repeating(key, from.other());
        if self.end_of(key, from.other()).takes_data() {
            self.end_connection(key, from.other(), End::Reset);
        }
    }

    /// Somebody between the two tells both ends of every connection that it is over. What is still being opened is no
    /// connection yet, and a machine that does not listen learns of it when it sends again.
    pub(crate) fn reset_connections(&mut self, one: HostId, other: HostId) {
        let between = self.net.known_link(one, other).map(|link| link.connections.clone());
        for key in between.into_iter().flatten() {
            if !self.net.connections[key].request.established {
                continue;
            }
            for side in [Side::Opener, Side::Accepter] {
                let (host, _) = self.hosts_of(key, side);
                if self.host(host).life.is_reachable() {
                    self.reset_counts(key, side.other());
                }
            }
            self.free_if_over(key);
        }
    }

    pub(super) fn end_connection(&mut self, key: ConnectionKey, side: Side, how: End) {
        let connection = &mut self.net.connections[key];
        let (id, end) = (connection.id, &mut connection.ends[side as usize]);
        end.ended = Some(how);
        // What was received before a reset can still be read, as on Linux: the error comes after the data.
        end.wake_all();
        let host = end.process.host;
        self.emit(Event::Ended { connection: id, host, how });
    }

    pub(crate) fn free_if_over(&mut self, key: ConnectionKey) {
        let connection = &self.net.connections[key];
        if connection.named_by == 0 && connection.ends.iter().all(|end| !end.open && end.held.is_empty()) {
            self.net.remove_connection(key);
        }
    }
}
