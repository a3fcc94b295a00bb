//! The INFO of a node: what it says of itself, and what a Sentinel does about it.
//!
//! The most consequential lines are here. A replica that says it is a master was promoted by this Sentinel, or was a
//! master before somebody else's failover: then it is told to follow the new one, eight seconds after it was heard of
//! first. INFO comes every ten seconds, so that it is ten seconds in practice.

use crate::config::Address;
use crate::instance::{Reconfiguration, Report, ReportedRole};
use crate::sentinel::{Place, Sentinel};
use crate::time::{PUBLISH_PERIOD_MS, WallMillis, millis};

/// The lines of an INFO that a Sentinel reads.
#[derive(Debug, Default, PartialEq, Eq)]
struct Info {
    run_id: Option<String>,
    role: Option<Role>,
    master_host: Option<String>,
    master_port: Option<u16>,
    link_down_ms: i64,
    link_is_up: Option<bool>,
    priority: Option<i64>,
    offset: Option<u64>,
    replicas: Vec<Address>,
}

type Role = ReportedRole;

impl Info {
    fn parse(text: &str) -> Info {
        let mut info = Info::default();
        for (key, value) in text.split("\r\n").filter_map(|line| line.split_once(':')) {
            match key {
                "run_id" => info.run_id = Some(value.to_owned()),
                "role" => {
                    info.role = match value {
                        "master" => Some(Role::Master),
                        "slave" => Some(Role::Replica),
                        _ => None,
                    }
                }
                "master_host" => info.master_host = Some(value.to_owned()),
                "master_port" => info.master_port = value.parse().ok(),
                "master_link_status" => info.link_is_up = Some(value == "up"),
                "master_link_down_since_seconds" => {
                    info.link_down_ms = value.parse::<i64>().unwrap_or(0).saturating_mul(1000);
                }
                "slave_priority" => info.priority = value.parse().ok(),
                "slave_repl_offset" => info.offset = value.parse().ok(),
                _ if is_replica_line(key) => info.replicas.extend(replica_address(value)),
                _ => {}
            }
        }
        info
    }
}

/// `slave0`, `slave1`, …, and neither `slave_priority` nor `slave_repl_offset`.
fn is_replica_line(key: &str) -> bool {
    key.strip_prefix("slave").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Of `ip=10.0.0.1,port=6379,state=online,…`.
fn replica_address(fields: &str) -> Option<Address> {
    let field = |name: &str| fields.split(',').find_map(|field| field.strip_prefix(name)?.strip_prefix('='));
    Some(Address::new(field("ip")?, field("port")?.parse().ok()?))
}

impl Sentinel {
    /// A node has answered INFO.
    pub(crate) fn note_info(&mut self, place: Place, text: &str, now: WallMillis) {
        let info = Info::parse(text);
        self.instance_mut(place).link.awaits_info = false;
        let is_rebooted = self.refresh(place, &info, now);
        if is_rebooted {
            self.tell_of("+reboot", place);
        }
        if place == Place::Master {
            info.replicas.iter().for_each(|address| self.add_replica(address.clone(), now));
        }
        let role = info.role.unwrap_or(Role::Master);
        self.note_role(place, role, now);
        let Place::Replica(index) = place else { return };
        if self.tilt_since.is_some() {
            return;
        }
        match role {
            Role::Master => self.deal_with_master_among_replicas(place, now),
            Role::Replica => {
                self.mend_configuration(place, now);
                self.note_reconfiguration(index);
            }
        }
    }

    fn report_mut(&mut self, place: Place) -> Option<&mut Report> {
        match place {
            Place::Master => Some(&mut self.master.report),
            Place::Replica(index) => self.replicas.get_mut(index).map(|replica| &mut replica.report),
            Place::Peer(_) => None,
        }
    }

    /// Takes over what was told. True if it is another process than before.
    fn refresh(&mut self, place: Place, info: &Info, now: WallMillis) -> bool {
        let Some(report) = self.report_mut(place) else { return false };
        let is_rebooted = match (&report.run_id, &info.run_id) {
            (Some(known), Some(told)) => known != told,
            _ => false,
        };
        if info.run_id.is_some() {
            report.run_id.clone_from(&info.run_id);
        }
        report.refreshed_at = Some(now);
        report.link_down_ms = info.link_down_ms;
        if info.role != Some(Role::Replica) {
            return is_rebooted;
        }
        if let (Some(host), Some(port)) = (&info.master_host, info.master_port) {
            let master = Some((host.clone(), port));
            if report.master != master {
                (report.master, report.master_since) = (master, now);
            }
        }
        report.link_is_up = info.link_is_up.unwrap_or(report.link_is_up);
        report.priority = info.priority.unwrap_or(report.priority);
        report.offset = info.offset.unwrap_or(report.offset);
        is_rebooted
    }

    fn note_role(&mut self, place: Place, role: Role, now: WallMillis) {
        let Some(report) = self.report_mut(place) else { return };
        if report.role == role {
            return;
        }
        (report.role, report.role_since) = (role, now);
        if role == Role::Replica {
            report.master_since = now;
        }
        self.is_urgent = true;
        let is_expected = (place == Place::Master) == (role == Role::Master);
        let kind = if is_expected { "+role-change" } else { "-role-change" };
        let text = format!("{} new reported role is {}", self.describe(place), role.as_str());
        self.tell(kind, text);
    }

    /// A replica says that it is a master.
    fn deal_with_master_among_replicas(&mut self, place: Place, now: WallMillis) {
        if self.waits_for_promotion_of(place) {
            return self.note_promotion(place, now);
        }
        let Place::Replica(index) = place else { return };
        // Time for others to tell of a configuration in which it is the master.
        let wait = PUBLISH_PERIOD_MS * 4;
        let replica = &self.replicas[index];
        let is_stray = !replica.is_promoted && now.since(replica.report.role_since) > wait;
        if is_stray && self.master_looks_sane(now) && self.was_up_for(place, wait, now) {
            self.send_role_of_master(place);
            self.tell_of("+convert-to-slave", place);
        }
    }

    /// A replica follows somebody else for as long as a failover may take: it is told to follow the master.
    fn mend_configuration(&mut self, place: Place, now: WallMillis) {
        let Place::Replica(index) = place else { return };
        let (wait, report) = (millis(self.config.failover_timeout), &self.replicas[index].report);
        let Some((host, port)) = &report.master else { return };
        if self.master.instance.address.is(host, *port) || now.since(report.master_since) <= wait {
            return;
        }
        if self.master_looks_sane(now) && self.was_up_for(place, wait, now) {
            self.send_role_of_master(place);
            self.tell_of("+fix-slave-config", place);
        }
    }

    fn send_role_of_master(&mut self, place: Place) {
        let master = self.master.instance.address.clone();
        self.send_role(place, Some(&master));
    }

    fn was_up_for(&self, place: Place, length: i64, now: WallMillis) -> bool {
        self.instance(place).found_down_at.is_none_or(|found| now.since(found) > length)
    }

    /// Notes how far a replica is that was told to follow the new master.
    fn note_reconfiguration(&mut self, index: usize) {
        let Some(promoted) = self.promoted() else { return };
        let new_master = self.replicas[promoted].instance.address.clone();
        let replica = &mut self.replicas[index];
        let master = replica.report.master.as_ref();
        let follows = master.is_some_and(|(host, port)| new_master.is(host, *port));
        if matches!(replica.reconfiguration, Reconfiguration::Sent(_)) && follows {
            replica.reconfiguration = Reconfiguration::InProgress;
            self.tell_of("+slave-reconf-inprog", Place::Replica(index));
        }
        let replica = &mut self.replicas[index];
        if replica.reconfiguration == Reconfiguration::InProgress && replica.report.link_is_up {
            replica.reconfiguration = Reconfiguration::Done;
            self.is_urgent = true;
            self.tell_of("+slave-reconf-done", Place::Replica(index));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_info_is_read_for_its_role_its_master_and_its_replicas() {
        let master = "# Replication\r\nrole:master\r\nconnected_slaves:1\r\n\
            slave0:ip=R1,port=6379,state=online,offset=3,lag=0\r\nslave_priority:5\r\n";
        let read = Info::parse(master);
        assert_eq!((read.role, read.replicas), (Some(Role::Master), vec![Address::new("R1", 6379)]));
        let replica = "role:slave\r\nmaster_host:A\r\nmaster_port:6379\r\nmaster_link_status:down\r\n\
            master_link_down_since_seconds:-1\r\nslave_repl_offset:77\r\nslave_priority:1\r\n";
        let expected = Info {
            role: Some(Role::Replica),
            master_host: Some("A".to_owned()),
            master_port: Some(6379),
            link_down_ms: -1000,
            link_is_up: Some(false),
            priority: Some(1),
            offset: Some(77),
            ..Info::default()
        };
        assert_eq!(Info::parse(replica), expected);
    }
}
