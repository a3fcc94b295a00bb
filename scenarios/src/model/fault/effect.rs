//! The one table of kinds of faults.
//!
//! A new kind is a variant of [`Effect`], and then wherever the compiler asks: its prototype and its word
//! ([`Effect::prototypes`], `kind`), its keys (`fields`, which reads, writes and lists them), its words (`words.rs`
//! beside this), what it strikes (`reach`, `hosts`), and what the kernel does (`lower`). Readers, JSON, pictures and
//! evidence take all they say about a kind from here.
//!
//! Decision: "A fault is stored in the words of its file" (docs/decisions/scenarios.md).

use std::time::Duration;

use doublehold_sim::{ClockKind, DelayLaw, Probability, RatePpb};
use doublehold_text::every;

use super::kind::{Kind, Nature, Reach, Slot};
use super::way::Way;
use crate::model::host::Names;

/// What a fault does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The processes stop, and go on where they were. Clocks run on, and the machines keep buffering.
    Pause {
        /// Whose.
        hosts: Names,
    },
    /// The machines stand still, monotonic clocks included, and nothing is delivered to them.
    Suspend {
        /// Which.
        hosts: Names,
        /// Of a virtual machine, which does not know of it: how long after it wakes its wall clock is set right. Wall
        /// and boot clocks stand still as well. `None`: the machine knows, and they run on.
        resync: Option<Duration>,
    },
    /// The processes die, and start again when the fault is taken back.
    Crash {
        /// Whose.
        hosts: Names,
    },
    /// The machines lose power, and what was not fsynced.
    PowerLoss {
        /// Which.
        hosts: Names,
        /// Whether a random part of what was not fsynced is kept.
        torn_tail: bool,
    },
    /// The wall clocks are stepped.
    ClockStep {
        /// Whose.
        hosts: Names,
        /// How far, in nanoseconds; negative is back.
        by_ns: i64,
    },
    /// All three clocks run at another rate.
    ClockDrift {
        /// Whose.
        hosts: Names,
        /// How much faster.
        by: RatePpb,
    },
    /// One clock stands still.
    ClockFreeze {
        /// Whose.
        hosts: Names,
        /// Which.
        clock: ClockKind,
    },
    /// Everything on the way is held until the cut is healed.
    Cut {
        /// Where.
        way: Way,
    },
    /// Every message takes longer.
    Slow {
        /// Where.
        way: Way,
        /// How much longer.
        by: Duration,
    },
    /// The next message takes longer, and with it the rest of its connection.
    PacketDelay {
        /// The senders.
        from: Names,
        /// The receivers.
        to: Names,
        /// How much longer.
        by: Duration,
    },
    /// The next request is sent a second time, on a connection of its own: a proxy or a driver retries.
    Duplicate {
        /// Who sends it.
        from: Names,
        /// Who gets it twice.
        to: Names,
        /// How much later the second connection is opened.
        after: Duration,
    },
    /// Transmissions are lost, and come a retransmission later.
    Loss {
        /// Where.
        way: Way,
        /// The chance of each.
        probability: Probability,
    },
    /// A middlebox forgets all connections between two hosts, and resets both ends.
    ResetConnections {
        /// One side.
        from: Names,
        /// The other side.
        to: Names,
    },
    /// Every command takes longer: the nodes are slow and not down.
    SlowNode {
        /// Which nodes.
        hosts: Names,
        /// How much longer each, a law that has a longest time.
        by: DelayLaw,
    },
    /// From now on fsync reports success and does nothing.
    FsyncLies {
        /// Of which nodes.
        hosts: Names,
    },
    /// The disks are remembered as they are.
    DiskSnapshot {
        /// Of which nodes.
        hosts: Names,
    },
    /// The disks are as they were when they were remembered.
    DiskRollback {
        /// Of which nodes.
        hosts: Names,
    },
    /// An operator types FLUSHALL into the nodes.
    Flush {
        /// Which nodes.
        hosts: Names,
    },
    /// Nodes run out of memory and evict keys, each for itself.
    Evict {
        /// Which nodes.
        hosts: Names,
        /// Whether only keys that have a lifetime go.
        volatile_only: bool,
    },
    /// A node becomes master, and others are told to follow it.
    Promote {
        /// The node.
        host: Names,
        /// Who is told; `None`: all other nodes.
        tell: Option<Names>,
        /// Whether each keeps its role after a restart.
        rewrite_config: bool,
    },
    /// Nodes are made to follow another.
    Follow {
        /// Which nodes.
        hosts: Names,
        /// Whom they follow.
        master: String,
        /// Whether each keeps its role after a restart.
        rewrite_config: bool,
    },
}

impl Effect {
    /// One of each kind, in the order in which messages list them, with nothing filled in but defaults.
    pub fn prototypes() -> Vec<Effect> {
        let (hosts, way, by) = (Names::default, Way::default, Duration::ZERO);
        every!(Effect:
            Pause { hosts: hosts() },
            Suspend { hosts: hosts(), resync: None },
            Crash { hosts: hosts() },
            PowerLoss { hosts: hosts(), torn_tail: false },
            ClockStep { hosts: hosts(), by_ns: 0 },
            ClockDrift { hosts: hosts(), by: RatePpb(0) },
            ClockFreeze { hosts: hosts(), clock: ClockKind::Wall },
            Cut { way: way() },
            Slow { way: way(), by },
            PacketDelay { from: hosts(), to: hosts(), by },
            Duplicate { from: hosts(), to: hosts(), after: by },
            Loss { way: way(), probability: Probability::NEVER },
            ResetConnections { from: hosts(), to: hosts() },
            SlowNode { hosts: hosts(), by: DelayLaw::Fixed(by) },
            FsyncLies { hosts: hosts() },
            DiskSnapshot { hosts: hosts() },
            DiskRollback { hosts: hosts() },
            Flush { hosts: hosts() },
            Evict { hosts: hosts(), volatile_only: true },
            Promote { host: hosts(), tell: None, rewrite_config: true },
            Follow { hosts: hosts(), master: String::new(), rewrite_config: true },
        )
        .into()
    }

    /// All kinds, in the order in which messages list them.
    pub fn kinds() -> Vec<Kind> {
        Effect::prototypes().iter().map(Effect::kind).collect()
    }

    /// What all of its kind have in common.
    pub fn kind(&self) -> Kind {
        let kind = |word, state, nature| Kind { word, state, state_of_several: state, nature };
        let of_links = |word, state, several, nature| Kind { word, state, state_of_several: several, nature };
        match self {
            Effect::Pause { .. } => kind("pause", "paused", Nature::Stop),
            Effect::Suspend { .. } => kind("suspend", "suspended", Nature::Stop),
            Effect::Crash { .. } => kind("crash", "crashed", Nature::Death),
            Effect::PowerLoss { .. } => kind("power-loss", "no power", Nature::Death),
            Effect::ClockStep { .. } => kind("clock-step", "clock step", Nature::ClockOnce),
            Effect::ClockDrift { .. } => kind("clock-drift", "clock drifts", Nature::Clock),
            Effect::ClockFreeze { .. } => kind("clock-freeze", "clock frozen", Nature::Clock),
            Effect::Cut { .. } => of_links("cut", "link cut", "links cut", Nature::Link),
            Effect::Slow { .. } => of_links("slow", "link slow", "links slow", Nature::Link),
            Effect::PacketDelay { .. } => {
                of_links("packet-delay", "packet late", "packets late", Nature::Message)
            }
            Effect::Duplicate { .. } => {
                of_links("duplicate", "request repeated", "requests repeated", Nature::Message)
            }
            Effect::Loss { .. } => kind("loss", "packets lost", Nature::Link),
            Effect::ResetConnections { .. } => {
                kind("reset-connections", "connections reset", Nature::Message)
            }
            Effect::SlowNode { .. } => kind("slow-node", "slow", Nature::Service),
            Effect::FsyncLies { .. } => kind("fsync-lies", "disk", Nature::Disk),
            Effect::DiskSnapshot { .. } => kind("disk-snapshot", "disk", Nature::Disk),
            Effect::DiskRollback { .. } => kind("disk-rollback", "disk", Nature::Disk),
            Effect::Flush { .. } => kind("flush", "flushed", Nature::Data),
            Effect::Evict { .. } => kind("evict", "keys evicted", Nature::Data),
            Effect::Promote { .. } => kind("promote", "promoted", Nature::Role),
            Effect::Follow { .. } => kind("follow", "told to follow", Nature::Role),
        }
    }

    /// Every field but those that all kinds have, under its key in scenario files, in the order in which messages list
    /// them.
    pub fn fields(&mut self) -> Vec<(&'static str, Slot<'_>)> {
        match self {
            Effect::Pause { hosts }
            | Effect::Crash { hosts }
            | Effect::FsyncLies { hosts }
            | Effect::DiskSnapshot { hosts }
            | Effect::DiskRollback { hosts }
            | Effect::Flush { hosts } => vec![("host", Slot::Hosts(hosts))],
            Effect::Suspend { hosts, resync } => {
                vec![("host", Slot::Hosts(hosts)), ("resync", Slot::Resync(resync))]
            }
            Effect::PowerLoss { hosts, torn_tail } => {
                vec![("host", Slot::Hosts(hosts)), ("torn_tail", Slot::Flag(torn_tail))]
            }
            Effect::ClockStep { hosts, by_ns } => {
                vec![("host", Slot::Hosts(hosts)), ("by", Slot::Step(by_ns))]
            }
            Effect::ClockDrift { hosts, by } => vec![("host", Slot::Hosts(hosts)), ("by", Slot::Rate(by))],
            Effect::ClockFreeze { hosts, clock } => {
                vec![("host", Slot::Hosts(hosts)), ("clock", Slot::Clock(clock))]
            }
            Effect::Cut { way } => way.fields().into(),
            Effect::Slow { way, by } => way.and(("by", Slot::Delay("\"2s\"", by))),
            Effect::PacketDelay { from, to, by } => {
                vec![("from", Slot::Hosts(from)), ("to", Slot::Hosts(to)), ("by", Slot::Delay("\"90s\"", by))]
            }
            Effect::Duplicate { from, to, after } => vec![
                ("from", Slot::Hosts(from)),
                ("to", Slot::Hosts(to)),
                ("after", Slot::Delay("\"12s\"", after)),
            ],
            Effect::Loss { way, probability } => way.and(("probability", Slot::Probability(probability))),
            Effect::ResetConnections { from, to } => {
                vec![("from", Slot::Hosts(from)), ("to", Slot::Hosts(to))]
            }
            Effect::Evict { hosts, volatile_only } => {
                vec![("host", Slot::Hosts(hosts)), ("volatile_only", Slot::Flag(volatile_only))]
            }
            Effect::SlowNode { hosts, by } => vec![("host", Slot::Hosts(hosts)), ("by", Slot::Law(by))],
            Effect::Promote { host, tell, rewrite_config } => vec![
                ("host", Slot::Hosts(host)),
                ("tell", Slot::Tell(tell)),
                ("rewrite_config", Slot::Flag(rewrite_config)),
            ],
            Effect::Follow { hosts, master, rewrite_config } => vec![
                ("host", Slot::Hosts(hosts)),
                ("master", Slot::Master(master)),
                ("rewrite_config", Slot::Flag(rewrite_config)),
            ],
        }
    }

    /// The hosts that it strikes, or the two sides of the links.
    pub fn reach(&mut self) -> Reach<'_> {
        match self {
            Effect::Pause { hosts }
            | Effect::Suspend { hosts, .. }
            | Effect::Crash { hosts }
            | Effect::PowerLoss { hosts, .. }
            | Effect::ClockStep { hosts, .. }
            | Effect::ClockDrift { hosts, .. }
            | Effect::ClockFreeze { hosts, .. }
            | Effect::SlowNode { hosts, .. }
            | Effect::FsyncLies { hosts }
            | Effect::DiskSnapshot { hosts }
            | Effect::DiskRollback { hosts }
            | Effect::Flush { hosts }
            | Effect::Evict { hosts, .. }
            | Effect::Promote { host: hosts, .. }
            | Effect::Follow { hosts, .. } => Reach::Hosts(hosts),
            Effect::Cut { way } | Effect::Slow { way, .. } | Effect::Loss { way, .. } => {
                let Way { from, to, both_ways } = way;
                Reach::Links { from, to, both_ways: Some(both_ways) }
            }
            Effect::PacketDelay { from, to, .. }
            | Effect::Duplicate { from, to, .. }
            | Effect::ResetConnections { from, to } => Reach::Links { from, to, both_ways: None },
        }
    }

    /// Every host it touches, each once.
    pub fn hosts(&self) -> Names {
        let (one, other) = match self {
            Effect::Pause { hosts }
            | Effect::Suspend { hosts, .. }
            | Effect::Crash { hosts }
            | Effect::PowerLoss { hosts, .. }
            | Effect::ClockStep { hosts, .. }
            | Effect::ClockDrift { hosts, .. }
            | Effect::ClockFreeze { hosts, .. }
            | Effect::SlowNode { hosts, .. }
            | Effect::FsyncLies { hosts }
            | Effect::DiskSnapshot { hosts }
            | Effect::DiskRollback { hosts }
            | Effect::Flush { hosts }
            | Effect::Evict { hosts, .. }
            | Effect::Promote { host: hosts, .. }
            | Effect::Follow { hosts, .. } => return hosts.clone(),
            Effect::Cut { way } | Effect::Slow { way, .. } | Effect::Loss { way, .. } => (&way.from, &way.to),
            Effect::PacketDelay { from, to, .. }
            | Effect::Duplicate { from, to, .. }
            | Effect::ResetConnections { from, to } => (from, to),
        };
        let mut both = one.0.clone();
        both.extend(other.0.iter().filter(|name| !one.0.contains(name)).cloned());
        Names(both)
    }
}

impl Way {
    fn fields(&mut self) -> [(&'static str, Slot<'_>); 3] {
        let Way { from, to, both_ways } = self;
        [("from", Slot::Hosts(from)), ("to", Slot::Hosts(to)), ("both_ways", Slot::Flag(both_ways))]
    }

    fn and<'a>(&'a mut self, field: (&'static str, Slot<'a>)) -> Vec<(&'static str, Slot<'a>)> {
        self.fields().into_iter().chain([field]).collect()
    }
}
