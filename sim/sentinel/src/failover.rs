//! A failover, step by step: begin, be elected, choose a replica, promote it, tell the others, and watch the new
//! master. One step a tick.
//!
//! A Sentinel that is not elected gives up after ten seconds. One that finds no replica to promote gives up at once,
//! and nobody tries again before twice the `failover-timeout` has passed.

use std::cmp::Reverse;

use crate::config::Address;
use crate::instance::{FailoverState, Reconfiguration, Replica};
use crate::sentinel::{Place, Sentinel};
use crate::time::{
    DESYNC_MS, ELECTION_LIMIT_MS, INFO_PERIOD_MS, PING_PERIOD_MS, PUBLISH_PERIOD_MS,
    RECONFIGURATION_LIMIT_MS, WallMillis, millis,
};
use crate::wires::Awaited;

impl Sentinel {
    fn timeout(&self) -> i64 {
        millis(self.config.failover_timeout)
    }

    /// The time from which this Sentinel may try a failover: none was tried lately, by itself or by whom it voted for.
    pub(crate) fn next_try(&self) -> WallMillis {
        let started = self.master.failover.started_at;
        started.map_or(WallMillis(i64::MIN), |started| started.plus(self.timeout().saturating_mul(2)))
    }

    /// Begins a failover if the master is down for a quorum and none was tried lately.
    pub(crate) fn start_failover_if_needed(&mut self, now: WallMillis) -> bool {
        let is_idle = !self.master.failover.is_in_progress();
        let starts = self.master.odown_since.is_some() && is_idle && now >= self.next_try();
        if starts {
            self.start_failover(false, now);
        }
        starts
    }

    /// Begins a failover, in an epoch of its own.
    pub(crate) fn start_failover(&mut self, is_forced: bool, now: WallMillis) {
        self.current_epoch += 1;
        (self.is_unsaved, self.is_urgent) = (true, true);
        self.master.failover.epoch = self.current_epoch;
        self.master.failover.is_forced = is_forced;
        self.tell("+new-epoch", self.current_epoch.to_string());
        self.tell_of("+try-failover", Place::Master);
        let delay = self.draw_below(DESYNC_MS);
        self.master.failover.started_at = Some(now.plus(delay));
        self.enter(FailoverState::WaitStart, now);
    }

    fn enter(&mut self, state: FailoverState, now: WallMillis) {
        (self.master.failover.state, self.master.failover.changed_at) = (state, now);
        self.is_urgent = true;
    }

    /// Takes the step that can be taken now.
    pub(crate) fn go_on_with_failover(&mut self, now: WallMillis) {
        match self.master.failover.state {
            FailoverState::WaitStart => self.wait_for_election(now),
            FailoverState::SelectReplica => self.choose_replica(now),
            FailoverState::SendReplicaOfNoOne => self.promote(now),
            FailoverState::WaitPromotion => self.give_up_late_promotion(now),
            FailoverState::ReconfigureReplicas => self.reconfigure_replicas(now),
            FailoverState::None | FailoverState::UpdateConfig => {}
        }
    }

    /// The time at which a step is due that no message brings about.
    pub(crate) fn failover_due(&self) -> WallMillis {
        let failover = &self.master.failover;
        let late = failover.changed_at.past(self.timeout());
        match failover.state {
            FailoverState::WaitStart => {
                failover.started_at.unwrap_or(failover.changed_at).past(self.election_limit())
            }
            FailoverState::SendReplicaOfNoOne | FailoverState::WaitPromotion => late,
            FailoverState::ReconfigureReplicas if self.under_way() < self.config.parallel_syncs as usize => {
                let sent = self.replicas.iter().filter_map(|replica| match replica.reconfiguration {
                    Reconfiguration::Sent(at) => Some(at.past(RECONFIGURATION_LIMIT_MS)),
                    _ => None,
                });
                sent.fold(late, WallMillis::min)
            }
            FailoverState::ReconfigureReplicas => late,
            FailoverState::None | FailoverState::SelectReplica | FailoverState::UpdateConfig => {
                WallMillis::NEVER
            }
        }
    }

    fn election_limit(&self) -> i64 {
        ELECTION_LIMIT_MS.min(self.timeout())
    }

    fn wait_for_election(&mut self, now: WallMillis) {
        let epoch = self.master.failover.epoch;
        if self.is_elected(epoch, now) || self.master.failover.is_forced {
            self.tell_of("+elected-leader", Place::Master);
            self.enter(FailoverState::SelectReplica, now);
            return self.tell_of("+failover-state-select-slave", Place::Master);
        }
        let started = self.master.failover.started_at.unwrap_or(now);
        if now.since(started) > self.election_limit() {
            self.tell_of("-failover-abort-not-elected", Place::Master);
            self.abort_failover(now);
        }
    }

    fn choose_replica(&mut self, now: WallMillis) {
        let Some(index) = self.best_replica(now) else {
            self.tell_of("-failover-abort-no-good-slave", Place::Master);
            return self.abort_failover(now);
        };
        self.tell_of("+selected-slave", Place::Replica(index));
        self.replicas[index].is_promoted = true;
        self.master.failover.promoted = Some(self.replicas[index].instance.id);
        self.enter(FailoverState::SendReplicaOfNoOne, now);
        self.tell_of("+failover-state-send-slaveof-noone", Place::Replica(index));
    }

    /// The replica to promote: of those that answer and have a fresh report, that with the smallest priority, then the
    /// largest offset, then the smallest run id.
    pub(crate) fn best_replica(&self, now: WallMillis) -> Option<usize> {
        let good = (0..self.replicas.len()).filter(|index| self.is_good(&self.replicas[*index], now));
        good.min_by_key(|index| {
            let report = &self.replicas[*index].report;
            (report.priority, Reverse(report.offset), report.run_id.is_none(), report.run_id.clone())
        })
    }

    fn is_good(&self, Replica { instance, report, .. }: &Replica, now: WallMillis) -> bool {
        let down_since = self.master.instance.down_since;
        let may_be_apart =
            down_since.map_or(0, |since| now.since(since)) + millis(self.config.down_after) * 10;
        let fresh = if down_since.is_some() { PING_PERIOD_MS * 5 } else { INFO_PERIOD_MS * 3 };
        !instance.is_down()
            && instance.link.is_connected
            && now.since(instance.link.available_at) <= PING_PERIOD_MS * 5
            && report.priority != 0
            && report.refreshed_at.is_some_and(|refreshed| now.since(refreshed) <= fresh)
            && report.link_down_ms <= may_be_apart
    }

    fn promote(&mut self, now: WallMillis) {
        let Some(index) = self.promoted() else { return self.abort_failover(now) };
        if !self.replicas[index].instance.link.is_connected {
            return self.give_up_late_promotion(now);
        }
        self.send_role(Place::Replica(index), None);
        self.tell_of("+failover-state-wait-promotion", Place::Replica(index));
        self.enter(FailoverState::WaitPromotion, now);
    }

    fn give_up_late_promotion(&mut self, now: WallMillis) {
        if now.since(self.master.failover.changed_at) > self.timeout() {
            self.tell_of("-failover-abort-slave-timeout", Place::Master);
            self.abort_failover(now);
        }
    }

    fn abort_failover(&mut self, now: WallMillis) {
        let promoted = self.promoted();
        promoted.into_iter().for_each(|index| self.replicas[index].is_promoted = false);
        self.master.failover.promoted = None;
        self.master.failover.is_forced = false;
        self.enter(FailoverState::None, now);
    }

    /// The promoted replica says that it is a master: from here on there is a new configuration.
    pub(crate) fn note_promotion(&mut self, place: Place, now: WallMillis) {
        self.master.config_epoch = self.master.failover.epoch;
        self.is_unsaved = true;
        self.enter(FailoverState::ReconfigureReplicas, now);
        self.tell_of("+promoted-slave", place);
        self.tell_of("+failover-state-reconf-slaves", Place::Master);
        for place in self.places() {
            let instance = self.instance_mut(place);
            instance.published_at = instance.published_at.plus(-(PUBLISH_PERIOD_MS + 1));
        }
    }

    /// The number of replicas that are being made to follow the new master.
    fn under_way(&self) -> usize {
        let is_under_way = |replica: &&Replica| {
            matches!(replica.reconfiguration, Reconfiguration::Sent(_) | Reconfiguration::InProgress)
        };
        self.replicas.iter().filter(is_under_way).count()
    }

    /// Tells the other replicas to follow the new master, as many at once as the configuration says.
    fn reconfigure_replicas(&mut self, now: WallMillis) {
        let Some(promoted) = self.promoted() else { return };
        let new_master = self.replicas[promoted].instance.address.clone();
        let mut under_way = self.under_way();
        for index in 0..self.replicas.len() {
            if under_way >= self.config.parallel_syncs as usize {
                break;
            }
            let replica = &mut self.replicas[index];
            match replica.reconfiguration {
                // One that does not say that it follows the new master counts as told: it is mended later.
                Reconfiguration::Sent(at) if now.since(at) > RECONFIGURATION_LIMIT_MS => {
                    replica.reconfiguration = Reconfiguration::Done;
                    self.tell_of("-slave-reconf-sent-timeout", Place::Replica(index));
                }
                Reconfiguration::No if !replica.is_promoted && replica.instance.link.is_connected => {
                    replica.reconfiguration = Reconfiguration::Sent(now);
                    under_way += 1;
                    self.send_role(Place::Replica(index), Some(&new_master));
                    self.tell_of("+slave-reconf-sent", Place::Replica(index));
                }
                _ => {}
            }
        }
        self.end_failover_if_done(&new_master, now);
    }

    fn end_failover_if_done(&mut self, new_master: &Address, now: WallMillis) {
        let is_gone = self.promoted().is_none_or(|index| self.replicas[index].instance.is_down());
        if is_gone {
            return;
        }
        let is_late = now.since(self.master.failover.changed_at) > self.timeout();
        let is_open = |replica: &Replica| {
            !replica.is_promoted
                && replica.reconfiguration != Reconfiguration::Done
                && !replica.instance.is_down()
        };
        if is_late {
            self.tell_of("+failover-end-for-timeout", Place::Master);
        } else if self.replicas.iter().any(is_open) {
            return;
        }
        self.tell_of("+failover-end", Place::Master);
        self.enter(FailoverState::UpdateConfig, now);
        for index in (0..self.replicas.len()).filter(|_| is_late) {
            let replica = &self.replicas[index];
            let is_untold = !replica.is_promoted && replica.reconfiguration == Reconfiguration::No;
            if is_untold && replica.instance.link.is_connected {
                self.send_role(Place::Replica(index), Some(new_master));
                self.tell_of("+slave-reconf-sent-be", Place::Replica(index));
            }
        }
    }

    /// The failover is over for who led it: it watches the new master.
    pub(crate) fn switch_to_promoted(&mut self, now: WallMillis) {
        let promoted = self.promoted().map(|index| self.replicas[index].instance.address.clone());
        let address = promoted.unwrap_or_else(|| self.master.instance.address.clone());
        self.tell_switch(&address);
        self.change_master(address, now);
    }

    /// Tells that the master is another one: what drivers listen for.
    pub(crate) fn tell_switch(&mut self, to: &Address) {
        let text = format!("{} {} {to}", self.config.master_name, self.master.instance.address);
        self.tell("+switch-master", text);
    }

    /// Makes a node a master, or lets it follow one: with its configuration kept, and with all of its clients
    /// disconnected, so that they ask who the master is.
    pub(crate) fn send_role(&mut self, place: Place, master: Option<&Address>) {
        let port = master.map(|master| master.port.to_string());
        let (host, port) = match (master, &port) {
            (Some(master), Some(port)) => (&*master.host, port.as_str()),
            _ => ("NO", "ONE"),
        };
        let transaction: [&[&str]; 6] = [
            &["MULTI"],
            &["SLAVEOF", host, port],
            &["CONFIG", "REWRITE"],
            &["CLIENT", "KILL", "TYPE", "normal"],
            &["CLIENT", "KILL", "TYPE", "pubsub"],
            &["EXEC"],
        ];
        transaction.iter().for_each(|words| self.send(place, words, Awaited::Nothing));
    }
}
