//! From a scenario's names to the kernel's numbers: hosts, moments and faults as the simulation knows them.
//!
//! The world's own observer is its host number zero, and machines are added in the scenario's order; nothing else in
//! the program relies on either. Threads have the numbers after those of all machines: the world has no such hosts, and
//! only says whom a mark is about by them.

use std::collections::BTreeMap;
use std::time::Duration;

use doublehold_sim::{self as sim, HostId, Occurrence, Pattern, PlannedFault, SimTime, Trigger};
use doublehold_sim_redis::Order;

use crate::model::cast::{Cast, Member};
use crate::model::fault::{Effect, Fault, Names, Way};
use crate::model::host::{HostIndex, UnknownHost};
use crate::model::when::{Event, Nth, When};
use crate::run::Signal;

impl Cast {
    /// The world's number for the machine of that name; of a thread, that of its process.
    ///
    /// # Errors
    ///
    /// If the scenario has none.
    pub fn world(&self, name: &str) -> Result<HostId, UnknownHost> {
        self.host(name).map(|host| self.world_id(self.machine(host)))
    }

    /// The world's number for a host, or for a thread as whom a mark is about.
    pub fn world_id(&self, host: HostIndex) -> HostId {
        HostId(self.rank(host) as u32 + 1)
    }

    /// The number by which marks tell a thread from others of its process; `None` of who needs none.
    pub fn mark_of(&self, host: HostIndex) -> Option<HostId> {
        self.is_thread(host).then(|| self.world_id(host))
    }

    /// The scenario's host, or the thread, with that number in the world; `None` for the observer.
    pub fn host_from_world(&self, host: HostId) -> Option<HostIndex> {
        self.host_at_rank(usize::try_from(host.0).ok()?.checked_sub(1)?)
    }

    /// The member of the history that a host of the world is; `None` for the observer.
    pub fn member_of_world(&self, host: HostId) -> Option<Member> {
        self.host_from_world(host).map(|host| self.member(host))
    }

    /// The name of every machine with its number in the world.
    pub fn names(&self) -> BTreeMap<String, HostId> {
        let machines = self.named_hosts().filter(|(_, host)| !self.is_thread(*host));
        machines.map(|(name, host)| (name.to_owned(), self.world_id(host))).collect()
    }
}

impl Fault {
    /// The kernel's faults, and their moment.
    ///
    /// # Errors
    ///
    /// If it names a host that is not in the cast.
    pub fn to_planned(&self, cast: &Cast) -> Result<PlannedFault, UnknownHost> {
        let trigger = match self.at.trigger(cast)? {
            Trigger::On { occurrences, offset, .. } => Trigger::On { occurrences, offset, each: self.each },
            at @ Trigger::At(_) => at,
        };
        Ok(PlannedFault { trigger, faults: self.effect.lower(cast)?, lasting: self.lasting })
    }
}

impl When {
    /// The moment for the kernel.
    pub(crate) fn trigger(&self, cast: &Cast) -> Result<Trigger, UnknownHost> {
        Ok(match self {
            When::At(at) => Trigger::At(SimTime::ZERO.after(*at)),
            When::On { events, after } => Trigger::On {
                occurrences: events.iter().map(|nth| nth.occurrence(cast)).collect::<Result<_, _>>()?,
                offset: *after,
                each: false,
            },
        })
    }
}

impl Nth {
    fn occurrence(&self, cast: &Cast) -> Result<Occurrence, UnknownHost> {
        Ok(Occurrence { pattern: self.event.pattern(cast)?, nth: self.nth })
    }
}

impl Event {
    fn pattern(&self, cast: &Cast) -> Result<Pattern, UnknownHost> {
        Ok(match self {
            Event::Executed { command, client, node } => {
                let whom = client.as_ref().map(|name| cast.host(name)).transpose()?;
                Pattern::Mark {
                    host: node.as_ref().map(|name| cast.world(name)).transpose()?,
                    label: command.clone(),
                    about: whom.map(|client| cast.world_id(client)),
                }
            }
            Event::Mark { client, mark } => Pattern::Mark {
                host: Some(cast.world(client)?),
                label: mark.as_str().to_owned(),
                about: cast.mark_of(cast.host(client)?),
            },
            Event::ClockRead { host } => Pattern::ClockRead { host: cast.world(host)? },
            Event::Timer { client } => Pattern::TimerFired { host: cast.world(client)? },
            Event::Boot { host } => Pattern::Booted { host: cast.world(host)? },
            Event::Sent { from, to } => Pattern::Sent { host: cast.world(from)?, to: Some(cast.world(to)?) },
            Event::Received { by, from } => {
                Pattern::Delivered { host: cast.world(by)?, from: Some(cast.world(from)?) }
            }
        })
    }
}

impl Effect {
    /// The kernel's faults, in this order.
    fn lower(&self, cast: &Cast) -> Result<Vec<sim::Fault>, UnknownHost> {
        use sim::Fault as Do;
        let ns = |by: &Duration| u64::try_from(by.as_nanos()).unwrap_or(u64::MAX);
        match self {
            Effect::Pause { hosts } => hosts.each(cast, |host| Do::Pause { host }),
            Effect::Suspend { hosts, resync } => {
                let mut all = hosts.each(cast, |host| Do::Suspend { host })?;
                if let Some(resync) = resync {
                    // What came last ends first: a machine wakes with clocks that run.
                    all.extend(hosts.each(cast, |host| Do::StandClocks { host, resync_ns: ns(resync) })?);
                }
                Ok(all)
            }
            Effect::Crash { hosts } => hosts.each(cast, |host| Do::Crash { host }),
            Effect::PowerLoss { hosts, torn_tail } => {
                hosts.each(cast, |host| Do::LosePower { host, torn_tail: *torn_tail })
            }
            Effect::ClockStep { hosts, by_ns } => {
                hosts.each(cast, |host| Do::StepClock { host, by_ns: *by_ns })
            }
            Effect::ClockDrift { hosts, by } => hosts.each(cast, |host| Do::ChangeRate { host, by: *by }),
            Effect::ClockFreeze { hosts, clock } => {
                hosts.each(cast, |host| Do::Freeze { host, clock: *clock })
            }
            Effect::Cut { way } => way.each(cast, |from, to| Do::Cut { from, to }),
            Effect::Slow { way, by } => way.each(cast, |from, to| Do::Slow { from, to, by_ns: ns(by) }),
            Effect::PacketDelay { from, to, by } => {
                let way = Way { from: from.clone(), to: to.clone(), both_ways: false };
                way.each(cast, |from, to| Do::DelayNext { from, to, by_ns: ns(by) })
            }
            Effect::Duplicate { from, to, after } => {
                let way = Way { from: from.clone(), to: to.clone(), both_ways: false };
                way.each(cast, |from, to| Do::CopyNext { from, to, after_ns: ns(after) })
            }
            Effect::Loss { way, probability } => {
                way.each(cast, |from, to| Do::Lose { from, to, probability: *probability })
            }
            Effect::ResetConnections { from, to } => {
                let way = Way { from: from.clone(), to: to.clone(), both_ways: false };
                way.each(cast, |from, to| Do::ResetConnections { from, to })
            }
            Effect::SlowNode { hosts, by } => {
                hosts.each(cast, |host| Do::SlowService { host, by: by.clone() })
            }
            Effect::FsyncLies { hosts } => hosts.each(cast, |host| Do::LieOnFsync { host }),
            Effect::DiskSnapshot { hosts } => hosts.each(cast, |host| Do::SnapshotDisk { host }),
            Effect::DiskRollback { hosts } => hosts.each(cast, |host| Do::RollBackDisk { host }),
            Effect::Flush { hosts } => hosts.each(cast, |host| Signal::Order(Order::Flush).fault_for(host)),
            Effect::Evict { hosts, volatile_only } => {
                let order = Order::Evict { volatile_only: *volatile_only };
                hosts.each(cast, |host| Signal::Order(order.clone()).fault_for(host))
            }
            Effect::Promote { host, tell, rewrite_config } => {
                let tell = tell.clone().unwrap_or_else(|| cast.nodes_but(host));
                let order = Order::Promote { tell: tell.0, rewrite_config: *rewrite_config };
                host.each(cast, |host| Signal::Order(order.clone()).fault_for(host))
            }
            Effect::Follow { hosts, master, rewrite_config } => {
                let order = Order::Follow { master: master.clone(), rewrite_config: *rewrite_config };
                hosts.each(cast, |host| Signal::Order(order.clone()).fault_for(host))
            }
        }
    }
}

impl Names {
    fn each(
        &self,
        cast: &Cast,
        fault: impl Fn(HostId) -> sim::Fault,
    ) -> Result<Vec<sim::Fault>, UnknownHost> {
        self.0.iter().map(|name| cast.world(name).map(&fault)).collect()
    }
}

impl Way {
    /// Each direction once: all there, then all back.
    fn each(
        &self,
        cast: &Cast,
        fault: impl Fn(HostId, HostId) -> sim::Fault,
    ) -> Result<Vec<sim::Fault>, UnknownHost> {
        let mut pairs = Vec::new();
        for from in &self.from.0 {
            for to in &self.to.0 {
                pairs.push((cast.world(from)?, cast.world(to)?));
            }
        }
        if self.both_ways {
            let back: Vec<_> = pairs.iter().map(|&(from, to)| (to, from)).collect();
            pairs.extend(back);
        }
        Ok(pairs.into_iter().map(|(from, to)| fault(from, to)).collect())
    }
}
