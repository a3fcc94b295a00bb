//! The monitoring half of a tick, for one instance: connect, ask what is due, and find it down or up.

use crate::instance::{FailoverState, ReportedRole};
use crate::sentinel::{Place, Sentinel};
use crate::time::{
    BUSY_INFO_PERIOD_MS, INFO_PERIOD_MS, LINK_MIN_AGE_MS, PING_PERIOD_MS, PUBLISH_PERIOD_MS, WallMillis,
    millis,
};
use crate::wires::{Awaited, Purpose};

/// The channel on which Sentinels find each other.
pub(crate) const HELLO_CHANNEL: &str = "__sentinel__:hello";

impl Sentinel {
    /// Opens what is missing, at most once a second.
    pub(crate) fn reconnect(&mut self, place: Place, now: WallMillis) {
        let instance = self.instance(place);
        let waits = instance.link.dialed_at.is_some_and(|dialed| now.since(dialed) < PING_PERIOD_MS);
        if instance.link.is_connected || waits {
            return;
        }
        let (id, address) = (instance.id, instance.address.clone());
        let lacks_commands = instance.link.commands.is_none();
        let lacks_hello = instance.link.hello.is_none() && !matches!(place, Place::Peer(_));
        let commands = lacks_commands.then(|| self.wires.open(id, Purpose::Commands, &address));
        let hello = lacks_hello.then(|| self.wires.open(id, Purpose::Hello, &address));
        let link = &mut self.instance_mut(place).link;
        (link.dialed_at, link.is_connected) = (Some(now), true);
        if commands.is_some() {
            (link.commands, link.commands_since) = (commands, now);
        }
        if hello.is_some() {
            (link.hello, link.hello_since, link.heard_at) = (hello, now, now);
        }
        let name = |purpose: &str| format!("sentinel-{}-{purpose}", self.run_id.get(..8).unwrap_or_default());
        let (for_commands, for_hello) = (name("cmd"), name("pubsub"));
        if commands.is_some() {
            self.send(place, &["CLIENT", "SETNAME", &for_commands], Awaited::Nothing);
            self.ping(place, now);
        }
        self.wires.send(hello, &["CLIENT", "SETNAME", &for_hello], Awaited::Nothing);
        self.wires.send(hello, &["SUBSCRIBE", HELLO_CHANNEL], Awaited::Nothing);
    }

    fn ping(&mut self, place: Place, now: WallMillis) {
        self.send(place, &["PING"], Awaited::Pong);
        let link = &mut self.instance_mut(place).link;
        link.pinged_at = Some(now);
        link.unanswered_since.get_or_insert(now);
    }

    /// Asks for INFO, for a sign of life, and tells who this is: each when its time has come.
    pub(crate) fn send_periodic(&mut self, place: Place, now: WallMillis) {
        if !self.instance(place).link.is_connected {
            return;
        }
        if self.info_due(place) <= now {
            self.instance_mut(place).link.awaits_info = true;
            self.send(place, &["INFO"], Awaited::Info);
        }
        if self.ping_due(place) <= now {
            self.ping(place, now);
        }
        if self.hello_due(place) <= now {
            self.instance_mut(place).link.awaits_publish = true;
            let hello = self.hello();
            self.send(place, &["PUBLISH", HELLO_CHANNEL, &hello], Awaited::Published);
        }
    }

    fn info_due(&self, place: Place) -> WallMillis {
        let report = match place {
            Place::Master => &self.master.report,
            Place::Replica(index) => &self.replicas[index].report,
            Place::Peer(_) => return WallMillis::NEVER,
        };
        if self.instance(place).link.awaits_info {
            return WallMillis::NEVER;
        }
        let is_busy = self.master.odown_since.is_some() || self.master.failover.is_in_progress();
        let is_watched = matches!(place, Place::Replica(_)) && (is_busy || report.link_down_ms != 0);
        let period = if is_watched { BUSY_INFO_PERIOD_MS } else { INFO_PERIOD_MS };
        report.refreshed_at.map_or(WallMillis(i64::MIN), |refreshed| refreshed.past(period))
    }

    fn ping_due(&self, place: Place) -> WallMillis {
        let link = &self.instance(place).link;
        let period = millis(self.config.down_after).min(PING_PERIOD_MS);
        let pinged = link.pinged_at.map_or(WallMillis(i64::MIN), |pinged| pinged.past(period / 2));
        link.answered_at.past(period).max(pinged)
    }

    fn hello_due(&self, place: Place) -> WallMillis {
        let instance = self.instance(place);
        if instance.link.awaits_publish {
            return WallMillis::NEVER;
        }
        instance.published_at.past(PUBLISH_PERIOD_MS)
    }

    /// Notes since when an instance is down, or that it is not. Ends connections that have become silent, so that they
    /// are opened anew.
    pub(crate) fn check_down(&mut self, place: Place, now: WallMillis) {
        if self.silent_commands_due(place) <= now {
            let gone = self.instance_mut(place).link.lose_commands();
            self.wires.close(gone);
        }
        if self.silent_hello_due(place) <= now {
            let gone = self.instance_mut(place).link.lose_hello();
            self.wires.close(gone);
        }
        let is_down = self.down_due(place) <= now;
        let instance = self.instance_mut(place);
        if is_down && !instance.is_down() {
            (instance.down_since, instance.found_down_at) = (Some(now), Some(now));
            self.tell_of("+sdown", place);
        } else if !is_down && instance.is_down() {
            instance.down_since = None;
            self.tell_of("-sdown", place);
        }
    }

    /// The time at which the connection for commands is given up: a PING is unanswered for half of the limit.
    fn silent_commands_due(&self, place: Place) -> WallMillis {
        let link = &self.instance(place).link;
        let (Some(_), Some(unanswered)) = (link.commands, link.unanswered_since) else {
            return WallMillis::NEVER;
        };
        let half = millis(self.config.down_after) / 2;
        link.commands_since.past(LINK_MIN_AGE_MS).max(unanswered.past(half)).max(link.answered_at.past(half))
    }

    /// The time at which the connection for hellos is given up: not even this Sentinel's own came back.
    fn silent_hello_due(&self, place: Place) -> WallMillis {
        let link = &self.instance(place).link;
        if link.hello.is_none() {
            return WallMillis::NEVER;
        }
        link.hello_since.past(LINK_MIN_AGE_MS).max(link.heard_at.past(PUBLISH_PERIOD_MS * 3))
    }

    /// The time at which an instance is down for this Sentinel, if nothing more is heard of it.
    fn down_due(&self, place: Place) -> WallMillis {
        let link = &self.instance(place).link;
        let down_after = millis(self.config.down_after);
        let silent_since = match link.unanswered_since {
            Some(since) => Some(since),
            None => (!link.is_connected).then_some(link.available_at),
        };
        let silent = silent_since.map_or(WallMillis::NEVER, |since| since.past(down_after));
        let report = &self.master.report;
        if place == Place::Master && report.role == ReportedRole::Replica {
            // A master that says it is a replica counts as down, once another had the time to say so.
            return silent.min(report.role_since.past(down_after + INFO_PERIOD_MS * 2));
        }
        silent
    }

    /// The next time at which a tick has something to do for an instance.
    pub(crate) fn due_of(&self, place: Place) -> WallMillis {
        let link = &self.instance(place).link;
        let asked = if link.is_connected {
            self.info_due(place).min(self.ping_due(place)).min(self.hello_due(place))
        } else {
            link.dialed_at.map_or(WallMillis(i64::MIN), |dialed| dialed.plus(PING_PERIOD_MS))
        };
        if self.tilt_since.is_some() {
            return asked;
        }
        let silent = self.silent_commands_due(place).min(self.silent_hello_due(place));
        let down = if self.instance(place).is_down() { WallMillis::NEVER } else { self.down_due(place) };
        asked.min(silent).min(down)
    }

    /// True if the master is one, and up, by its last answers.
    pub(crate) fn master_looks_sane(&self, now: WallMillis) -> bool {
        let Sentinel { master, .. } = self;
        let is_up = !master.instance.is_down() && master.odown_since.is_none();
        let refreshed = master.report.refreshed_at;
        let is_fresh = refreshed.is_some_and(|refreshed| now.since(refreshed) < INFO_PERIOD_MS * 2);
        master.report.role == ReportedRole::Master && is_up && is_fresh
    }

    /// True if this Sentinel is failing over, and there is no new master yet.
    pub(crate) fn waits_for_promotion_of(&self, place: Place) -> bool {
        let is_promoted = |index: usize| self.replicas[index].is_promoted;
        matches!(place, Place::Replica(index) if is_promoted(index))
            && self.master.failover.state == FailoverState::WaitPromotion
    }
}
