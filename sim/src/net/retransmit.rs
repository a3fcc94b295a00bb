//! What cannot be delivered: held, sent again at the back-off's next instant, given up after the user timeout.
//!
//! A transmission is lost by chance, or it arrives at a cut link or at a machine that is off or suspended. Each
//! direction of a connection then has one retransmission timer. After a loss it runs at once; behind a cut it would
//! only send for nothing, so it is set when the way is free again, for the instant at which TCP would try next.
//!
//! Decision: "Retransmission times are exact" (docs/decisions/world.md).

use super::connection::{ConnectionKey, Content, Segment, SegmentKey, Side};
use super::link;
use crate::fault::Fault;
use crate::kernel::State;
use crate::queue::Pending;
use crate::time::SimTime;
use crate::trace::{End, Event, HostId};

impl State {
    /// A segment could not be delivered. This may have been the connection's last: the caller frees it.
    pub(super) fn hold(&mut self, segment: SegmentKey) {
        let Segment { connection: key, from, ref content, .. } = self.net.segments[segment];
        let (sender, receiver) = self.hosts_of(key, from);
        let is_repeated = match content {
            Content::Data(_) | Content::Fin => self.end_of(key, from).repeats,
            Content::Reset => self.host(sender).life.is_suspended(),
        };
        if !is_repeated {
            return self.lose(key, from, segment);
        }
        let id = self.net.connections[key].id;
        self.emit(Event::Held { connection: id, from: sender, to: receiver });
        self.keep(segment);
    }

    /// Keeps a segment for its sender to repeat, until the user timeout.
    pub(super) fn keep(&mut self, segment: SegmentKey) {
        self.net.segments[segment].is_measure = false;
        let Segment { connection, from, serial, first_sent, .. } = self.net.segments[segment];
        let end = self.end_of(connection, from);
        end.held.push_back(segment);
        let gives_up = first_sent.after(end.user_timeout).max(self.now);
        self.schedule_for(connection, gives_up, Pending::UserTimeout { key: connection, side: from, serial });
    }

    /// Sets the timer of what one side holds for the first instant of its back-off at or after `not_before`.
    pub(super) fn arm_retransmission(&mut self, key: ConnectionKey, side: Side, not_before: SimTime) {
        let end = &self.net.connections[key].ends[side as usize];
        let Some(&oldest) = end.held.front() else { return };
        let first_sent = self.net.segments[oldest].first_sent;
        let at = link::retransmission(first_sent, end.round_trip.timeout(), not_before);
        if end.retransmit_at.is_none_or(|earlier| earlier > at) {
            self.end_of(key, side).retransmit_at = Some(at);
            self.schedule_for(key, at, Pending::Retransmit { key, side });
        }
    }

    /// Whether the timer is still set for `at`.
    pub(crate) fn retransmission_is_live(&self, key: ConnectionKey, side: Side, at: SimTime) -> bool {
        self.net.connections[key].ends[side as usize].retransmit_at == Some(at)
    }

    /// The timer ran out: everything held leaves again, unless the machine itself is suspended.
    pub(crate) fn retransmit(&mut self, key: ConnectionKey, side: Side) {
        self.end_of(key, side).retransmit_at = None;
        let (sender, _) = self.hosts_of(key, side);
        if self.host(sender).life.is_reachable() {
            for segment in std::mem::take(&mut self.end_of(key, side).held) {
                self.transmit_segment(segment);
            }
        }
        self.event_over(key);
    }

    /// The way from one host to another may be free again: what its connections hold leaves at the next retransmission.
    pub(crate) fn retransmit_held(&mut self, from: HostId, to: HostId) {
        for (key, side) in self.sides(from, to) {
            self.retransmit_if_free(key, side);
        }
    }

    /// What one side holds leaves at its next retransmission, unless something is in the way.
    pub(super) fn retransmit_if_free(&mut self, key: ConnectionKey, side: Side) {
        let (from, to) = self.hosts_of(key, side);
        let is_cut = self.net.link_of(key, side).cuts > 0;
        if !is_cut && self.host(from).life.is_reachable() && self.host(to).life.is_reachable() {
            self.arm_retransmission(key, side, self.now);
        }
    }

    /// Whether data that the end of the run waits for is held and will leave again: its timer runs, or the plan frees
    /// its way. What is held for good is not waited for.
    pub(crate) fn essential_data_is_held(&self) -> bool {
        let both = |(key, _)| [(key, Side::Opener), (key, Side::Accepter)];
        self.net.connections.iter().flat_map(both).any(|(key, side)| {
            let end = &self.net.connections[key].ends[side as usize];
            end.held.iter().any(|&segment| self.net.segments[segment].is_essential)
                && (end.retransmit_at.is_some() || self.will_be_free(key, side))
        })
    }

    fn will_be_free(&self, key: ConnectionKey, side: Side) -> bool {
        let (from, to) = self.hosts_of(key, side);
        let cuts = self.net.known_link(from, to).map_or(0, |link| link.cuts) as usize;
        let comes_back = |host: HostId| {
            let life = &self.host(host).life;
            let starts = life.has_power() || self.faults.to_come(&Fault::Start { host }) > 0;
            starts && life.suspensions() as usize <= self.faults.to_come(&Fault::Wake { host })
        };
        cuts <= self.faults.to_come(&Fault::Heal { from, to }) && comes_back(from) && comes_back(to)
    }

    /// The sides of connections that send in this direction.
    fn sides(&self, from: HostId, to: HostId) -> Vec<(ConnectionKey, Side)> {
        let Some(link) = self.net.known_link(from, to) else { return Vec::new() };
        let both = |&key| [(key, Side::Opener), (key, Side::Accepter)];
        let sides = link.connections.iter().flat_map(both);
        sides.filter(|&(key, side)| self.hosts_of(key, side) == (from, to)).collect()
    }

    /// The sender learns how long this segment and its acknowledgement took.
    pub(super) fn measure(&mut self, key: ConnectionKey, from: Side, segment: SegmentKey) {
        let Segment { departure, is_measure, .. } = self.net.segments[segment];
        if is_measure && self.net.link_of(key, from.other()).cuts == 0 {
            let one_way = self.now.since(departure.at);
            self.end_of(key, from).one_way = one_way;
            let back = self.end_of(key, from.other()).one_way;
            self.end_of(key, from).round_trip.measure(one_way + back);
        }
    }

    /// Something was delivered, and its acknowledgement cannot come back.
    pub(super) fn miss_acknowledgement(&mut self, key: ConnectionKey, from: Side, first_sent: SimTime) {
        let end = &self.net.connections[key].ends[from as usize];
        if end.unacknowledged.is_some() || !end.repeats {
            return;
        }
        self.net.sent += 1;
        let serial = self.net.sent;
        let end = self.end_of(key, from);
        end.unacknowledged = Some(serial);
        let gives_up = first_sent.after(end.user_timeout).max(self.now);
        self.schedule_for(key, gives_up, Pending::UserTimeout { key, side: from, serial });
    }

    /// Both directions between two hosts are free: retransmissions arrive and get acknowledged.
    pub(crate) fn acknowledge(&mut self, a: HostId, b: HostId) {
        if self.net.link(a, b).cuts > 0 || self.net.link(b, a).cuts > 0 {
            return;
        }
        for (key, side) in self.sides(a, b).into_iter().chain(self.sides(b, a)) {
            self.end_of(key, side).unacknowledged = None;
        }
    }

    /// Whether the user timeout is still about something: a segment that is held, or an acknowledgement that is
    /// missing.
    pub(crate) fn user_timeout_is_live(&self, key: ConnectionKey, side: Side, serial: u64) -> bool {
        let end = &self.net.connections[key].ends[side as usize];
        let is_held = || end.held.iter().any(|&segment| self.net.segments[segment].serial == serial);
        end.unacknowledged == Some(serial) || is_held()
    }

    /// The sender gives up: its side ends, and what it could not deliver is lost. A suspended machine's timers stand
    /// still, so it starts over.
    pub(crate) fn user_timeout(&mut self, key: ConnectionKey, side: Side, serial: u64) {
        let (sender, _) = self.hosts_of(key, side);
        if self.host(sender).life.is_suspended() {
            let again = self.now.after(self.end_of(key, side).user_timeout);
            return self.schedule(again, Pending::UserTimeout { key, side, serial });
        }
        self.stop_repeating(key, side);
        if self.end_of(key, side).open {
            self.end_connection(key, side, End::TimedOut);
        }
        self.event_over(key);
    }
}
