//! Commands of clients and other Sentinels: `SENTINEL`, and those that mean something else here than on a node.
//!
//! A Sentinel has a table of commands of its own. It shares connections, subscriptions and the protocol with the server
//! that it runs in, and knows no keys.

use std::sync::{Arc, Mutex, PoisonError};

use doublehold_sim_redis::core::{Answered, Program, WallMicros, glob_matches};
use doublehold_sim_redis::resp::{Args, Protocol, integer, reply};

use crate::instance::{FailoverState, Instance, Reconfiguration, Report};
use crate::monitor::HELLO_CHANNEL;
use crate::sentinel::{Place, Sentinel};
use crate::time::{WallMillis, millis};

/// Answers with a Sentinel that others work on as well.
pub(crate) struct Desk(pub(crate) Arc<Mutex<Sentinel>>);

/// The commands of a server that a Sentinel has as well.
const SHARED: [&str; 10] = [
    "AUTH",
    "CLIENT",
    "COMMAND",
    "HELLO",
    "PING",
    "PSUBSCRIBE",
    "PUNSUBSCRIBE",
    "SHUTDOWN",
    "SUBSCRIBE",
    "UNSUBSCRIBE",
];

impl Program for Desk {
    fn answer(&self, now: WallMicros, args: &Args<'_>, protocol: Protocol, out: &mut Vec<u8>) -> Answered {
        let mut sentinel = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut request = Request { sentinel: &mut sentinel, now: now.into(), args, protocol, out };
        let command = args.at(0).to_ascii_uppercase();
        match command.as_slice() {
            b"SENTINEL" => request.sentinel(),
            b"INFO" => request.info(),
            b"ROLE" => request.role(),
            b"PUBLISH" => request.publish(),
            other if is_shared(other) => return Answered::ByServer,
            _ => return Answered::ByNobody,
        }
        Answered::ByProgram
    }
}

fn is_shared(command: &[u8]) -> bool {
    SHARED.iter().any(|shared| shared.as_bytes() == command)
}

/// A request under way.
struct Request<'a> {
    sentinel: &'a mut Sentinel,
    now: WallMillis,
    args: &'a Args<'a>,
    protocol: Protocol,
    out: &'a mut Vec<u8>,
}

impl Request<'_> {
    /// SENTINEL subcommand …
    fn sentinel(&mut self) {
        let subcommand = self.args.at(1).to_ascii_lowercase();
        match (subcommand.as_slice(), self.args.len()) {
            (b"get-master-addr-by-name", 3) => self.tell_address(),
            (b"is-master-down-by-addr", 6) => self.judge(),
            (b"masters", 2) => {
                reply::array(self.out, 1);
                self.describe(Place::Master);
            }
            (b"master", 3) if self.knows_name() => self.describe(Place::Master),
            (b"replicas" | b"slaves", 3) if self.knows_name() => {
                let count = self.sentinel.replicas.len();
                reply::array(self.out, count);
                (0..count).for_each(|index| self.describe(Place::Replica(index)));
            }
            (b"sentinels", 3) if self.knows_name() => {
                let count = self.sentinel.peers.len();
                reply::array(self.out, count);
                (0..count).for_each(|index| self.describe(Place::Peer(index)));
            }
            (b"myid", 2) => reply::bulk(self.out, self.sentinel.run_id.as_bytes()),
            (b"ckquorum", 3) if self.knows_name() => self.check_quorum(),
            (b"failover", 3) if self.knows_name() => self.fail_over(),
            (b"reset", 3) => self.reset(),
            (b"flushconfig", 2) => {
                self.sentinel.is_unsaved = true;
                reply::ok(self.out);
            }
            (b"master" | b"replicas" | b"slaves" | b"sentinels" | b"ckquorum" | b"failover", 3) => {
                reply::error(self.out, b"ERR No such master with that name");
            }
            _ => self.refuse(&subcommand),
        }
    }

    fn refuse(&mut self, subcommand: &[u8]) {
        const KNOWN: [&[u8]; 12] = [
            b"get-master-addr-by-name",
            b"is-master-down-by-addr",
            b"masters",
            b"master",
            b"replicas",
            b"slaves",
            b"sentinels",
            b"myid",
            b"ckquorum",
            b"failover",
            b"reset",
            b"flushconfig",
        ];
        let text = match () {
            () if subcommand.is_empty() => b"ERR wrong number of arguments for 'sentinel' command".to_vec(),
            () if KNOWN.contains(&subcommand) => {
                [b"ERR wrong number of arguments for 'sentinel|", subcommand, b"' command"].concat()
            }
            () => [b"ERR unknown subcommand '", self.args.at(1), b"'. Try SENTINEL HELP."].concat(),
        };
        reply::error(self.out, &text);
    }

    fn knows_name(&self) -> bool {
        self.args.at(2) == self.sentinel.config.master_name.as_bytes()
    }

    fn tell_address(&mut self) {
        if !self.knows_name() {
            return reply::null_array(self.out, self.protocol);
        }
        let address = self.sentinel.current_master();
        reply::array(self.out, 2);
        reply::bulk(self.out, address.host.as_bytes());
        reply::bulk(self.out, address.port.to_string().as_bytes());
    }

    fn judge(&mut self) {
        let numbers = (integer::parse(self.args.at(3)), integer::parse(self.args.at(4)));
        let (Some(port), Some(epoch)) = numbers else {
            return reply::error(self.out, b"ERR value is not an integer or out of range");
        };
        let (port, epoch) = (u16::try_from(port).unwrap_or(0), u64::try_from(epoch).unwrap_or(0));
        let host = String::from_utf8_lossy(self.args.at(2)).into_owned();
        let candidate = String::from_utf8_lossy(self.args.at(5)).into_owned();
        let candidate = Some(candidate.as_str()).filter(|candidate| *candidate != "*");
        let verdict = self.sentinel.judge((&host, port), epoch, candidate, self.now);
        reply::array(self.out, 3);
        reply::integer(self.out, i64::from(verdict.is_down));
        let (leader, epoch) = verdict.vote.unwrap_or_else(|| ("*".to_owned(), 0));
        reply::bulk(self.out, leader.as_bytes());
        reply::integer(self.out, epoch as i64);
    }

    fn check_quorum(&mut self) {
        let all = self.sentinel.peers.len() + 1;
        let usable = 1 + self.sentinel.peers.iter().filter(|peer| !peer.instance.is_down()).count();
        let reaches_quorum = usable >= self.sentinel.config.quorum as usize;
        let reaches_majority = usable > all / 2;
        let why = match (reaches_quorum, reaches_majority) {
            (true, true) => {
                let text =
                    format!("OK {usable} usable Sentinels. Quorum and failover authorization can be reached");
                return reply::status(self.out, text.as_bytes());
            }
            (false, true) => "Not enough available Sentinels to reach the specified quorum for this master",
            (true, false) => "Not enough available Sentinels to reach the majority and authorize a failover",
            (false, false) => {
                "Not enough available Sentinels to reach the specified quorum for this master. Not enough available \
                 Sentinels to reach the majority and authorize a failover"
            }
        };
        reply::error(self.out, format!("NOQUORUM {usable} usable Sentinels. {why}").as_bytes());
    }

    fn fail_over(&mut self) {
        if self.sentinel.master.failover.is_in_progress() {
            return reply::error(self.out, b"INPROG Failover already in progress");
        }
        if self.sentinel.best_replica(self.now).is_none() {
            return reply::error(self.out, b"NOGOODSLAVE No suitable replica to promote");
        }
        self.sentinel.start_failover(true, self.now);
        reply::ok(self.out);
    }

    /// SENTINEL RESET pattern
    fn reset(&mut self) {
        let matches = glob_matches(self.args.at(2), self.sentinel.config.master_name.as_bytes());
        if matches {
            self.sentinel.reset(self.now);
        }
        reply::integer(self.out, i64::from(matches));
    }

    fn role(&mut self) {
        if self.args.len() != 1 {
            return reply::error(self.out, b"ERR wrong number of arguments for 'role' command");
        }
        reply::array(self.out, 2);
        reply::bulk(self.out, b"sentinel");
        reply::array(self.out, 1);
        reply::bulk(self.out, self.sentinel.config.master_name.as_bytes());
    }

    /// PUBLISH: only hellos, from Sentinel to Sentinel.
    fn publish(&mut self) {
        if self.args.len() != 3 {
            return reply::error(self.out, b"ERR wrong number of arguments for 'publish' command");
        }
        if self.args.at(1) != HELLO_CHANNEL.as_bytes() {
            return reply::error(self.out, b"ERR Only HELLO messages are accepted by Sentinel instances.");
        }
        let hello = String::from_utf8_lossy(self.args.at(2)).into_owned();
        self.sentinel.note_hello(&hello, self.now);
        reply::integer(self.out, 1);
    }

    /// INFO: of the sections those that tell of a Sentinel.
    fn info(&mut self) {
        let asked: Vec<Vec<u8>> =
            (1..self.args.len()).map(|index| self.args.at(index).to_ascii_lowercase()).collect();
        let is_asked = |section: &[u8]| {
            let names = [section, b"default", b"all", b"everything"];
            asked.is_empty() || asked.iter().any(|name| names.contains(&name.as_slice()))
        };
        let server = is_asked(b"server").then(|| self.server_section());
        let sentinel = is_asked(b"sentinel").then(|| self.sentinel_section());
        let sections: Vec<String> = server.into_iter().chain(sentinel).collect();
        reply::bulk(self.out, sections.join("\r\n").as_bytes());
    }

    fn server_section(&self) -> String {
        let Sentinel { run_id, config, .. } = &*self.sentinel;
        format!(
            "# Server\r\nredis_version:7.0.15\r\nredis_mode:sentinel\r\nrun_id:{run_id}\r\ntcp_port:{}\r\n",
            config.own.port
        )
    }

    fn sentinel_section(&self) -> String {
        let (sentinel, now) = (&*self.sentinel, self.now);
        let master = &sentinel.master;
        let status = match (&master.odown_since, master.instance.is_down()) {
            (Some(_), _) => "odown",
            (None, true) => "sdown",
            (None, false) => "ok",
        };
        let address = &master.instance.address;
        format!(
            "# Sentinel\r\nsentinel_masters:1\r\nsentinel_tilt:{}\r\nsentinel_tilt_since_seconds:{}\r\n\
             sentinel_running_scripts:0\r\nsentinel_scripts_queue_length:0\r\n\
             sentinel_simulate_failure_flags:0\r\n\
             master0:name={},status={status},address={}:{},slaves={},sentinels={}\r\n",
            u8::from(sentinel.tilt_since.is_some()),
            sentinel.tilt_since.map_or(-1, |since| now.since(since) / 1000),
            sentinel.config.master_name,
            address.host,
            address.port,
            sentinel.replicas.len(),
            sentinel.peers.len() + 1,
        )
    }

    /// One instance, as names and values.
    fn describe(&mut self, place: Place) {
        let fields = fields(self.sentinel, place, self.now);
        reply::map(self.out, self.protocol, fields.len());
        for (name, value) in fields {
            reply::bulk(self.out, name.as_bytes());
            reply::bulk(self.out, value.as_bytes());
        }
    }
}

/// The fields of an instance, in Redis' order.
type Pairs = Vec<(&'static str, String)>;

fn fields(sentinel: &Sentinel, place: Place, now: WallMillis) -> Pairs {
    let instance = sentinel.instance(place);
    let (name, run_id) = match place {
        Place::Master => {
            (sentinel.config.master_name.clone(), sentinel.master.report.run_id.clone().unwrap_or_default())
        }
        Place::Replica(index) => {
            let (host, port) = (&instance.address.host, instance.address.port);
            let run_id = sentinel.replicas[index].report.run_id.clone();
            (format!("{host}:{port}"), run_id.unwrap_or_default())
        }
        Place::Peer(index) => {
            let run_id = sentinel.peers[index].run_id.clone();
            (run_id.clone(), run_id)
        }
    };
    let mut fields: Pairs = vec![
        ("name", name),
        ("ip", instance.address.host.to_string()),
        ("port", instance.address.port.to_string()),
        ("runid", run_id),
        ("flags", flags(sentinel, place).join(",")),
    ];
    fields.extend(of_link(sentinel, instance, place, now));
    match place {
        Place::Master => fields.extend(of_master(sentinel, now)),
        Place::Replica(index) => fields.extend(of_replica(&sentinel.replicas[index].report, now)),
        Place::Peer(index) => {
            let peer = &sentinel.peers[index];
            fields.push(("last-hello-message", now.since(peer.greeted_at).to_string()));
            fields.push(("voted-leader", peer.vote.clone().unwrap_or_else(|| "?".to_owned())));
            fields.push(("voted-leader-epoch", peer.vote_epoch.to_string()));
        }
    }
    fields
}

fn of_link(sentinel: &Sentinel, instance: &Instance, place: Place, now: WallMillis) -> Pairs {
    let link = &instance.link;
    let awaited =
        [link.unanswered_since.is_some(), link.awaits_info, link.awaits_publish, link.awaits_verdict];
    let pending = awaited.iter().filter(|is_awaited| **is_awaited).count();
    let mut fields: Pairs =
        vec![("link-pending-commands", pending.to_string()), ("link-refcount", "1".into())];
    let failover = &sentinel.master.failover;
    if place == Place::Master && failover.is_in_progress() {
        fields.push(("failover-state", failover.state.as_str().into()));
    }
    let unanswered = link.unanswered_since.map_or(0, |since| now.since(since));
    fields.push(("last-ping-sent", unanswered.to_string()));
    fields.push(("last-ok-ping-reply", now.since(link.available_at).to_string()));
    fields.push(("last-ping-reply", now.since(link.answered_at).to_string()));
    if let Some(since) = instance.down_since {
        fields.push(("s-down-time", now.since(since).to_string()));
    }
    if let Some(since) = sentinel.master.odown_since.filter(|_| place == Place::Master) {
        fields.push(("o-down-time", now.since(since).to_string()));
    }
    fields.push(("down-after-milliseconds", millis(sentinel.config.down_after).to_string()));
    fields
}

fn of_report(report: &Report, now: WallMillis) -> Pairs {
    vec![
        ("info-refresh", report.refreshed_at.map_or(0, |refreshed| now.since(refreshed)).to_string()),
        ("role-reported", report.role.as_str().into()),
        ("role-reported-time", now.since(report.role_since).to_string()),
    ]
}

fn of_master(sentinel: &Sentinel, now: WallMillis) -> Pairs {
    let mut fields = of_report(&sentinel.master.report, now);
    fields.extend([
        ("config-epoch", sentinel.master.config_epoch.to_string()),
        ("num-slaves", sentinel.replicas.len().to_string()),
        ("num-other-sentinels", sentinel.peers.len().to_string()),
        ("quorum", sentinel.config.quorum.to_string()),
        ("failover-timeout", millis(sentinel.config.failover_timeout).to_string()),
        ("parallel-syncs", sentinel.config.parallel_syncs.to_string()),
    ]);
    fields
}

fn of_replica(report: &Report, now: WallMillis) -> Pairs {
    let mut fields = of_report(report, now);
    let (host, port) = report.master.clone().unwrap_or_else(|| ("?".into(), 0));
    fields.extend([
        ("master-link-down-time", report.link_down_ms.to_string()),
        ("master-link-status", if report.link_is_up { "ok" } else { "err" }.into()),
        ("master-host", host),
        ("master-port", port.to_string()),
        ("slave-priority", report.priority.to_string()),
        ("slave-repl-offset", report.offset.to_string()),
        ("replica-announced", "1".into()),
    ]);
    fields
}

fn flags(sentinel: &Sentinel, place: Place) -> Vec<&'static str> {
    let instance = sentinel.instance(place);
    let is_master = place == Place::Master;
    let failover = &sentinel.master.failover;
    let (mut is_promoted, mut reconfiguration, mut says_down) = (false, Reconfiguration::No, false);
    match place {
        Place::Replica(index) => {
            let replica = &sentinel.replicas[index];
            (is_promoted, reconfiguration) = (replica.is_promoted, replica.reconfiguration);
        }
        Place::Peer(index) => says_down = sentinel.peers[index].says_down,
        Place::Master => {}
    }
    let all = [
        (instance.is_down(), "s_down"),
        (is_master && sentinel.master.odown_since.is_some(), "o_down"),
        (is_master, "master"),
        (matches!(place, Place::Replica(_)), "slave"),
        (matches!(place, Place::Peer(_)), "sentinel"),
        (!instance.link.is_connected, "disconnected"),
        (says_down, "master_down"),
        (is_master && failover.state != FailoverState::None, "failover_in_progress"),
        (is_promoted, "promoted"),
        (matches!(reconfiguration, Reconfiguration::Sent(_)), "reconf_sent"),
        (reconfiguration == Reconfiguration::InProgress, "reconf_inprog"),
        (reconfiguration == Reconfiguration::Done, "reconf_done"),
        (is_master && failover.is_forced, "force_failover"),
    ];
    all.into_iter().filter(|(is_set, _)| *is_set).map(|(_, name)| name).collect()
}
