//! A Sentinel's knowledge of the others: the master, its replicas, and the other Sentinels.

use doublehold_sim_redis::resp::reply;

use crate::config::Address;
use crate::time::WallMillis;
use crate::wires::WireId;

/// One of the instances that a Sentinel talks to. Its number is never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct InstanceId(pub(crate) u32);

/// Facts of every instance, whatever it is.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    pub(crate) id: InstanceId,
    pub(crate) address: Address,
    pub(crate) link: Link,
    /// Since when this Sentinel finds it down (`s_down`).
    pub(crate) down_since: Option<WallMillis>,
    /// The time at which it was found down last, also if it is up again.
    pub(crate) found_down_at: Option<WallMillis>,
    pub(crate) published_at: WallMillis,
}

impl Instance {
    pub(crate) fn new(id: InstanceId, address: Address, now: WallMillis) -> Instance {
        Instance {
            id,
            address,
            link: Link::new(now),
            down_since: None,
            found_down_at: None,
            published_at: now,
        }
    }

    pub(crate) fn is_down(&self) -> bool {
        self.down_since.is_some()
    }
}

/// The two connections to an instance, and what came over them when.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) commands: Option<WireId>,
    pub(crate) commands_since: WallMillis,
    /// To hear hellos on; none to a Sentinel.
    pub(crate) hello: Option<WireId>,
    pub(crate) hello_since: WallMillis,
    pub(crate) heard_at: WallMillis,
    /// All connections that it needs are there, or being opened.
    pub(crate) is_connected: bool,
    pub(crate) dialed_at: Option<WallMillis>,
    /// Since when a PING is unanswered. Also before the first one, so that an instance which nobody can connect to is
    /// found down.
    pub(crate) unanswered_since: Option<WallMillis>,
    pub(crate) pinged_at: Option<WallMillis>,
    pub(crate) answered_at: WallMillis,
    /// The last reply that says that the instance works.
    pub(crate) available_at: WallMillis,
    /// Questions that it has not answered yet.
    pub(crate) awaits_info: bool,
    pub(crate) awaits_publish: bool,
    pub(crate) awaits_verdict: bool,
}

impl Link {
    fn new(now: WallMillis) -> Link {
        Link {
            commands: None,
            commands_since: now,
            hello: None,
            hello_since: now,
            heard_at: now,
            is_connected: false,
            dialed_at: None,
            unanswered_since: Some(now),
            pinged_at: None,
            answered_at: now,
            available_at: now,
            awaits_info: false,
            awaits_publish: false,
            awaits_verdict: false,
        }
    }

    /// The connection for commands is gone, and with it the answers that it owed.
    pub(crate) fn lose_commands(&mut self) -> Option<WireId> {
        self.is_connected = false;
        (self.awaits_info, self.awaits_publish, self.awaits_verdict) = (false, false, false);
        self.commands.take()
    }

    pub(crate) fn lose_hello(&mut self) -> Option<WireId> {
        self.is_connected = false;
        self.hello.take()
    }
}

/// The role that a node reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReportedRole {
    Master,
    Replica,
}

impl ReportedRole {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            ReportedRole::Master => "master",
            ReportedRole::Replica => "slave",
        }
    }
}

/// The last INFO of a node.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    pub(crate) run_id: Option<String>,
    pub(crate) refreshed_at: Option<WallMillis>,
    pub(crate) role: ReportedRole,
    pub(crate) role_since: WallMillis,
    /// The time for which a replica's link to its master has been down; 0 while it stands.
    pub(crate) link_down_ms: i64,
    pub(crate) link_is_up: bool,
    /// Whom it follows.
    pub(crate) master: Option<(String, u16)>,
    pub(crate) master_since: WallMillis,
    pub(crate) priority: i64,
    pub(crate) offset: u64,
}

impl Report {
    /// Nothing was reported yet, and the instance is taken for what the configuration says.
    pub(crate) fn new(role: ReportedRole, now: WallMillis) -> Report {
        Report {
            run_id: None,
            refreshed_at: None,
            role,
            role_since: now,
            link_down_ms: 0,
            link_is_up: false,
            master: None,
            master_since: now,
            priority: 100,
            offset: 0,
        }
    }
}

/// The steps by which a replica is made to follow the new master.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reconfiguration {
    No,
    Sent(WallMillis),
    /// It follows the new master, and has no link yet.
    InProgress,
    Done,
}

/// A replica of the master.
#[derive(Clone, Debug)]
pub(crate) struct Replica {
    pub(crate) instance: Instance,
    pub(crate) report: Report,
    pub(crate) is_promoted: bool,
    pub(crate) reconfiguration: Reconfiguration,
}

impl Replica {
    pub(crate) fn new(instance: Instance, now: WallMillis) -> Replica {
        Replica {
            instance,
            report: Report::new(ReportedRole::Replica, now),
            is_promoted: false,
            reconfiguration: Reconfiguration::No,
        }
    }
}

/// Another Sentinel.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    pub(crate) instance: Instance,
    pub(crate) run_id: String,
    /// It finds the master down as well.
    pub(crate) says_down: bool,
    /// Whom it voted for last, and in which epoch.
    pub(crate) vote: Option<String>,
    pub(crate) vote_epoch: u64,
    pub(crate) answered_at: WallMillis,
    pub(crate) greeted_at: WallMillis,
}

impl Peer {
    pub(crate) fn new(instance: Instance, run_id: String, now: WallMillis) -> Peer {
        Peer {
            instance,
            run_id,
            says_down: false,
            vote: None,
            vote_epoch: 0,
            answered_at: now,
            greeted_at: now,
        }
    }
}

/// The states of a failover, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FailoverState {
    None,
    WaitStart,
    SelectReplica,
    SendReplicaOfNoOne,
    WaitPromotion,
    ReconfigureReplicas,
    UpdateConfig,
}

impl FailoverState {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            FailoverState::None => "none",
            FailoverState::WaitStart => "wait_start",
            FailoverState::SelectReplica => "select_slave",
            FailoverState::SendReplicaOfNoOne => "send_slaveof_noone",
            FailoverState::WaitPromotion => "wait_promotion",
            FailoverState::ReconfigureReplicas => "reconf_slaves",
            FailoverState::UpdateConfig => "update_config",
        }
    }
}

/// The failover that this Sentinel tries, or tried last.
#[derive(Clone, Debug)]
pub(crate) struct Failover {
    pub(crate) state: FailoverState,
    pub(crate) changed_at: WallMillis,
    /// The time at which it was begun or another was voted for, and up to a second more.
    pub(crate) started_at: Option<WallMillis>,
    pub(crate) epoch: u64,
    pub(crate) promoted: Option<InstanceId>,
    /// Somebody ordered it: nobody is asked.
    pub(crate) is_forced: bool,
}

impl Failover {
    pub(crate) fn is_in_progress(&self) -> bool {
        self.state != FailoverState::None
    }
}

/// The master.
#[derive(Clone, Debug)]
pub(crate) struct Master {
    pub(crate) instance: Instance,
    pub(crate) report: Report,
    /// Since when enough Sentinels find it down (`o_down`).
    pub(crate) odown_since: Option<WallMillis>,
    /// The epoch of the failover that made it master.
    pub(crate) config_epoch: u64,
    /// Whom this Sentinel voted for last, and in which epoch.
    pub(crate) leader: Option<String>,
    pub(crate) leader_epoch: u64,
    pub(crate) failover: Failover,
}

impl Master {
    pub(crate) fn new(instance: Instance, now: WallMillis) -> Master {
        Master {
            instance,
            report: Report::new(ReportedRole::Master, now),
            odown_since: None,
            config_epoch: 0,
            leader: None,
            leader_epoch: 0,
            failover: Failover {
                state: FailoverState::None,
                changed_at: now,
                started_at: None,
                epoch: 0,
                promoted: None,
                is_forced: false,
            },
        }
    }
}

/// Appends a request to what is sent.
pub(crate) fn request(out: &mut Vec<u8>, words: &[&str]) {
    reply::command(out, words.iter().map(|word| word.as_bytes()));
}
