//! Faults as data, in the language of scenario files: hosts have names, and nothing is known of the kernel's numbers.
//!
//! This file is the one table of kinds of faults. A new kind is a variant of [`Effect`], and then wherever the compiler
//! asks: its prototype and its word ([`Effect::prototypes`], `kind`), its keys (`fields`, which reads, writes and lists
//! them), its words (`does`, `over`), and what the kernel does (`lower`). Readers, JSON, pictures and evidence take all they
//! say about a kind from here.
//!
//! What a fault can be wrong about (a host that is not there, a moment that cannot come) is checked where scenarios are
//! read, [`crate::format`]. A fault that was made in Rust goes the same way: [`Scenario::checked`](crate::Scenario::checked).

use std::fmt;
use std::time::Duration;

use doublehold_sim::{self as sim, ClockKind, HostId, PlannedFault, Probability, RatePpb};
use doublehold_sim_redis::Order;

use crate::cast::{Cast, UnknownHost};
use crate::format::{units, words};
use crate::run::Signal;
use crate::when::When;

/// Something done to the world, and when.
///
/// ```
/// use std::time::Duration;
/// use doublehold_scenarios::fault::{Fault, Way};
/// use doublehold_scenarios::when::{Mark, When};
///
/// let pause = Fault::pause("c1").at(When::event("c1", Mark::Check)).lasting(Duration::from_secs(12));
/// assert_eq!((pause.words(), pause.at.words()), ("c1 pauses for 12 s".into(), "at c1's check".into()));
///
/// let cut = Fault::cut(Way::between("c1", ["A", "B"])).at(Duration::from_secs(2));
/// assert_eq!(cut.to_string(), "the link between c1 and A and B is cut, at 2 s");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What is done.
    pub effect: Effect,
    /// When.
    pub at: When,
    /// How long until it is taken back, if it is.
    pub lasting: Option<Duration>,
    /// Whether the scenario still says something if it never strikes, or is not over when the run ends.
    pub optional: bool,
}

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
    /// Transmissions are lost, and come a retransmission later.
    Loss {
        /// Where.
        way: Way,
        /// The chance of each.
        probability: Probability,
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

/// One host or several, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names(pub Vec<String>);

/// From some hosts to others: every pair of one of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Way {
    /// The senders.
    pub from: Names,
    /// The receivers.
    pub to: Names,
    /// Whether the way back is meant as well.
    pub both_ways: bool,
}

/// What all faults of one kind have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// The word of scenario files and of JSON.
    pub word: &'static str,
    /// What its host or its link is meanwhile, in a word or two, for pictures.
    pub state: &'static str,
    /// The same of several.
    pub state_of_several: &'static str,
    /// What it is done to.
    pub nature: Nature,
}

/// What a fault is done to, which decides what it means that it lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nature {
    /// Code, which goes on where it stopped. Without an end it would be dead, so it must have one.
    Stop,
    /// A process, which is started again if the fault has an end.
    Death,
    /// A clock, that goes on being wrong until the fault is taken back.
    Clock,
    /// A clock, once.
    ClockOnce,
    /// Ways between hosts.
    Link,
    /// The next message of a way.
    Message,
    /// A node's disk, for good.
    Disk,
    /// A node's role, until the next change.
    Role,
}

impl Fault {
    /// The fault at the beginning of the run, for good. [`Fault::at`] and [`Fault::lasting`] say otherwise.
    pub fn new(effect: Effect) -> Fault {
        Fault { effect, at: When::default(), lasting: None, optional: false }
    }

    /// Processes stop and go on: [`Effect::Pause`].
    pub fn pause(hosts: impl Into<Names>) -> Fault {
        Fault::new(Effect::Pause { hosts: hosts.into() })
    }

    /// Machines stand still: [`Effect::Suspend`].
    pub fn suspend(hosts: impl Into<Names>) -> Fault {
        Fault::new(Effect::Suspend { hosts: hosts.into() })
    }

    /// Processes die: [`Effect::Crash`].
    pub fn crash(hosts: impl Into<Names>) -> Fault {
        Fault::new(Effect::Crash { hosts: hosts.into() })
    }

    /// Machines lose power: [`Effect::PowerLoss`].
    pub fn power_loss(hosts: impl Into<Names>) -> Fault {
        Fault::new(Effect::PowerLoss { hosts: hosts.into(), torn_tail: false })
    }

    /// Wall clocks are stepped by nanoseconds, back if negative: [`Effect::ClockStep`].
    pub fn clock_step(hosts: impl Into<Names>, by_ns: i64) -> Fault {
        Fault::new(Effect::ClockStep { hosts: hosts.into(), by_ns })
    }

    /// Clocks run at another rate: [`Effect::ClockDrift`].
    pub fn clock_drift(hosts: impl Into<Names>, by: RatePpb) -> Fault {
        Fault::new(Effect::ClockDrift { hosts: hosts.into(), by })
    }

    /// A clock stands still: [`Effect::ClockFreeze`].
    pub fn clock_freeze(hosts: impl Into<Names>, clock: ClockKind) -> Fault {
        Fault::new(Effect::ClockFreeze { hosts: hosts.into(), clock })
    }

    /// Links are cut: [`Effect::Cut`].
    pub fn cut(way: Way) -> Fault {
        Fault::new(Effect::Cut { way })
    }

    /// Links are slow: [`Effect::Slow`].
    pub fn slow(way: Way, by: Duration) -> Fault {
        Fault::new(Effect::Slow { way, by })
    }

    /// The next message is late: [`Effect::PacketDelay`].
    pub fn packet_delay(from: impl Into<Names>, to: impl Into<Names>, by: Duration) -> Fault {
        Fault::new(Effect::PacketDelay { from: from.into(), to: to.into(), by })
    }

    /// Transmissions are lost: [`Effect::Loss`].
    pub fn loss(way: Way, probability: Probability) -> Fault {
        Fault::new(Effect::Loss { way, probability })
    }

    /// A node becomes master, and all others are told: [`Effect::Promote`].
    pub fn promote(host: impl Into<Names>) -> Fault {
        Fault::new(Effect::Promote { host: host.into(), tell: None, rewrite_config: true })
    }

    /// Nodes follow another: [`Effect::Follow`].
    pub fn follow(hosts: impl Into<Names>, master: impl Into<String>) -> Fault {
        Fault::new(Effect::Follow { hosts: hosts.into(), master: master.into(), rewrite_config: true })
    }

    /// The same at another moment.
    #[must_use]
    pub fn at(self, when: impl Into<When>) -> Fault {
        Fault { at: when.into(), ..self }
    }

    /// The same, taken back after so long.
    #[must_use]
    pub fn lasting(self, lasting: Duration) -> Fault {
        Fault { lasting: Some(lasting), ..self }
    }

    /// The same, and a run counts in which it never strikes or is not over at the end.
    #[must_use]
    pub fn optional(self) -> Fault {
        Fault { optional: true, ..self }
    }

    /// What happens, as a sentence: `c1 pauses for 12 s`.
    pub fn words(&self) -> String {
        let does = self.effect.does();
        let several = matches!(&self.effect, Effect::Crash { hosts } | Effect::PowerLoss { hosts, .. } if hosts.several());
        let (stay, restart) = if several { ("stay", "restart") } else { ("stays", "restarts") };
        match (self.lasting, self.effect.kind().nature) {
            (None, Nature::Death) => format!("{does} and {stay} down"),
            (Some(Duration::ZERO), Nature::Death) => format!("{does} and {restart} at once"),
            (Some(after), Nature::Death) => format!("{does} and {restart} after {}", words::duration(after)),
            (None, _) => does,
            (Some(lasting), _) => format!("{does} for {}", words::duration(lasting)),
        }
    }

    /// What the kernel is to do, and when.
    ///
    /// # Errors
    ///
    /// If it names a host that is not in the cast.
    pub fn planned(&self, cast: &Cast) -> Result<PlannedFault, UnknownHost> {
        Ok(PlannedFault {
            trigger: self.at.trigger(cast)?,
            faults: self.effect.lower(cast)?,
            lasting: self.lasting,
        })
    }
}

/// `c1 pauses for 12 s, at c1's check`.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.words(), self.at.words())
    }
}

/// A field of an effect, to be filled from a file or written to one.
pub(crate) enum Slot<'a> {
    Hosts(&'a mut Names),
    /// Nodes, none of them, or, where it is not said, all.
    Told(&'a mut Option<Names>),
    Master(&'a mut String),
    /// Its default is in the prototype.
    Flag(&'a mut bool),
    Step(&'a mut i64),
    Rate(&'a mut RatePpb),
    Clock(&'a mut ClockKind),
    /// With an example for a file that lacks it.
    Delay(&'static str, &'a mut Duration),
    Probability(&'a mut Probability),
}

impl Effect {
    /// One of each kind, in the order in which messages list them, with nothing filled in but defaults.
    pub(crate) fn prototypes() -> Vec<Effect> {
        let (hosts, way, by) = (Names::default, Way::default, Duration::ZERO);
        vec![
            Effect::Pause { hosts: hosts() },
            Effect::Suspend { hosts: hosts() },
            Effect::Crash { hosts: hosts() },
            Effect::PowerLoss { hosts: hosts(), torn_tail: false },
            Effect::ClockStep { hosts: hosts(), by_ns: 0 },
            Effect::ClockDrift { hosts: hosts(), by: RatePpb(0) },
            Effect::ClockFreeze { hosts: hosts(), clock: ClockKind::Wall },
            Effect::Cut { way: way() },
            Effect::Slow { way: way(), by },
            Effect::PacketDelay { from: hosts(), to: hosts(), by },
            Effect::Loss { way: way(), probability: Probability::NEVER },
            Effect::FsyncLies { hosts: hosts() },
            Effect::DiskSnapshot { hosts: hosts() },
            Effect::DiskRollback { hosts: hosts() },
            Effect::Promote { host: hosts(), tell: None, rewrite_config: true },
            Effect::Follow { hosts: hosts(), master: String::new(), rewrite_config: true },
        ]
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
            Effect::Loss { .. } => kind("loss", "packets lost", Nature::Link),
            Effect::FsyncLies { .. } => kind("fsync-lies", "disk", Nature::Disk),
            Effect::DiskSnapshot { .. } => kind("disk-snapshot", "disk", Nature::Disk),
            Effect::DiskRollback { .. } => kind("disk-rollback", "disk", Nature::Disk),
            Effect::Promote { .. } => kind("promote", "promoted", Nature::Role),
            Effect::Follow { .. } => kind("follow", "told to follow", Nature::Role),
        }
    }

    /// Every field but those that all kinds have, under its key in scenario files, in the order in which messages list
    /// them.
    pub(crate) fn fields(&mut self) -> Vec<(&'static str, Slot<'_>)> {
        match self {
            Effect::Pause { hosts }
            | Effect::Suspend { hosts }
            | Effect::Crash { hosts }
            | Effect::FsyncLies { hosts }
            | Effect::DiskSnapshot { hosts }
            | Effect::DiskRollback { hosts } => vec![("host", Slot::Hosts(hosts))],
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
            Effect::Loss { way, probability } => way.and(("probability", Slot::Probability(probability))),
            Effect::Promote { host, tell, rewrite_config } => vec![
                ("host", Slot::Hosts(host)),
                ("tell", Slot::Told(tell)),
                ("rewrite_config", Slot::Flag(rewrite_config)),
            ],
            Effect::Follow { hosts, master, rewrite_config } => vec![
                ("host", Slot::Hosts(hosts)),
                ("master", Slot::Master(master)),
                ("rewrite_config", Slot::Flag(rewrite_config)),
            ],
        }
    }

    /// What it does, without for how long.
    fn does(&self) -> String {
        match self {
            Effect::Pause { hosts } => hosts.do_this("pauses", "pause"),
            Effect::Suspend { hosts } => hosts.do_this("is suspended", "are suspended"),
            Effect::Crash { hosts } => hosts.do_this("crashes", "crash"),
            Effect::PowerLoss { hosts, .. } => hosts.do_this("loses power", "lose power"),
            Effect::ClockStep { hosts, by_ns } => {
                let have = hosts.do_this("has its wall clock", "have their wall clock");
                format!("{have} stepped by {}", words::signed_ns(*by_ns))
            }
            Effect::ClockDrift { hosts, by } => {
                let run = hosts.do_this("runs its clocks", "run their clocks");
                format!("{run} off by {}", units::rate_text(*by))
            }
            Effect::ClockFreeze { hosts, clock } => {
                format!("{} {} clock frozen", hosts.do_this("has its", "have their"), clock.name())
            }
            Effect::Cut { way } => format!("the link {way} is cut"),
            Effect::Slow { way, by } => format!("{} of extra delay {way}", words::duration(*by)),
            Effect::PacketDelay { from, to, by } => {
                format!("the next message takes {} longer from {from} to {to}", words::duration(*by))
            }
            Effect::Loss { way, probability } => format!("{probability} of all transmissions are lost {way}"),
            Effect::FsyncLies { hosts } => {
                hosts.do_this("has a disk that lies about fsync", "have disks that lie about fsync")
            }
            Effect::DiskSnapshot { hosts } => {
                hosts.do_this("has its disk remembered", "have their disk remembered")
            }
            Effect::DiskRollback { hosts } => {
                hosts.do_this("has its disk rolled back", "have their disk rolled back")
            }
            Effect::Promote { host, tell, rewrite_config } => {
                let told = match tell {
                    None => String::new(),
                    Some(Names(none)) if none.is_empty() => ", and nobody else is told".to_owned(),
                    Some(told) => format!(", and only {}", told.do_this("is told", "are told")),
                };
                let promoted = host.do_this("is promoted", "are promoted");
                format!("{promoted} to master{told}{}", without_rewrite(*rewrite_config))
            }
            Effect::Follow { hosts, master, rewrite_config } => {
                let told = hosts.do_this("is told", "are told");
                format!("{told} to follow {master}{}", without_rewrite(*rewrite_config))
            }
        }
    }

    /// What it means for these of its hosts that it is over; `None` for what cannot be taken back.
    pub fn over(&self, hosts: &Names) -> Option<String> {
        Some(match self {
            Effect::Pause { .. } => {
                hosts.do_this("goes on where it was stopped", "go on where they were stopped")
            }
            Effect::Suspend { .. } => hosts.do_this("wakes up", "wake up"),
            Effect::Crash { .. } | Effect::PowerLoss { .. } => hosts.do_this("starts again", "start again"),
            Effect::ClockStep { .. } => format!("the step of {hosts}'s wall clock is taken back"),
            Effect::ClockDrift { .. } => format!("{hosts}'s clocks run as before"),
            Effect::ClockFreeze { .. } => format!("{hosts}'s clock runs again"),
            Effect::Cut { .. } => "the cut is healed".to_owned(),
            Effect::Slow { .. } | Effect::Loss { .. } => "the link is as before".to_owned(),
            Effect::PacketDelay { .. }
            | Effect::FsyncLies { .. }
            | Effect::DiskSnapshot { .. }
            | Effect::DiskRollback { .. }
            | Effect::Promote { .. }
            | Effect::Follow { .. } => return None,
        })
    }

    /// Every host it touches, each once.
    pub fn hosts(&self) -> Names {
        let (one, other) = match self {
            Effect::Pause { hosts }
            | Effect::Suspend { hosts }
            | Effect::Crash { hosts }
            | Effect::PowerLoss { hosts, .. }
            | Effect::ClockStep { hosts, .. }
            | Effect::ClockDrift { hosts, .. }
            | Effect::ClockFreeze { hosts, .. }
            | Effect::FsyncLies { hosts }
            | Effect::DiskSnapshot { hosts }
            | Effect::DiskRollback { hosts }
            | Effect::Promote { host: hosts, .. }
            | Effect::Follow { hosts, .. } => return hosts.clone(),
            Effect::Cut { way } | Effect::Slow { way, .. } | Effect::Loss { way, .. } => (&way.from, &way.to),
            Effect::PacketDelay { from, to, .. } => (from, to),
        };
        let mut both = one.0.clone();
        both.extend(other.0.iter().filter(|name| !one.0.contains(name)).cloned());
        Names(both)
    }

    /// What the kernel does, in this order.
    fn lower(&self, cast: &Cast) -> Result<Vec<sim::Fault>, UnknownHost> {
        use sim::Fault as Do;
        let ns = |by: &Duration| u64::try_from(by.as_nanos()).unwrap_or(u64::MAX);
        match self {
            Effect::Pause { hosts } => hosts.each(cast, |host| Do::Pause { host }),
            Effect::Suspend { hosts } => hosts.each(cast, |host| Do::Suspend { host }),
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
            Effect::Loss { way, probability } => {
                way.each(cast, |from, to| Do::Lose { from, to, probability: *probability })
            }
            Effect::FsyncLies { hosts } => hosts.each(cast, |host| Do::LieOnFsync { host }),
            Effect::DiskSnapshot { hosts } => hosts.each(cast, |host| Do::SnapshotDisk { host }),
            Effect::DiskRollback { hosts } => hosts.each(cast, |host| Do::RollBackDisk { host }),
            Effect::Promote { host, tell, rewrite_config } => {
                let tell = tell.clone().unwrap_or_else(|| cast.nodes_but(host));
                let order = Order::Promote { tell: tell.0, rewrite_config: *rewrite_config };
                host.each(cast, |host| Signal::Order(order.clone()).to(host))
            }
            Effect::Follow { hosts, master, rewrite_config } => {
                let order = Order::Follow { master: master.clone(), rewrite_config: *rewrite_config };
                hosts.each(cast, |host| Signal::Order(order.clone()).to(host))
            }
        }
    }
}

fn without_rewrite(rewrite_config: bool) -> &'static str {
    if rewrite_config { "" } else { ", without CONFIG REWRITE" }
}

impl Names {
    fn several(&self) -> bool {
        self.0.len() > 1
    }

    /// The hosts and their verb, which one of them takes in one form and several in another.
    fn do_this(&self, one: &str, several: &str) -> String {
        format!("{self} {}", if self.several() { several } else { one })
    }

    fn each(
        &self,
        cast: &Cast,
        fault: impl Fn(HostId) -> sim::Fault,
    ) -> Result<Vec<sim::Fault>, UnknownHost> {
        self.0.iter().map(|name| cast.world(name).map(&fault)).collect()
    }
}

/// `c1`, `c1 and c2`, `c1, c2 and c3`.
impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.0.iter().map(String::as_str).collect();
        f.write_str(&words::names(&names))
    }
}

impl From<&str> for Names {
    fn from(name: &str) -> Names {
        Names(vec![name.to_owned()])
    }
}

impl From<String> for Names {
    fn from(name: String) -> Names {
        Names(vec![name])
    }
}

impl<const N: usize> From<[&str; N]> for Names {
    fn from(names: [&str; N]) -> Names {
        names.into_iter().collect()
    }
}

impl From<Vec<String>> for Names {
    fn from(names: Vec<String>) -> Names {
        Names(names)
    }
}

impl<'a> FromIterator<&'a str> for Names {
    fn from_iter<I: IntoIterator<Item = &'a str>>(names: I) -> Names {
        Names(names.into_iter().map(str::to_owned).collect())
    }
}

impl Way {
    /// One way.
    pub fn from_to(from: impl Into<Names>, to: impl Into<Names>) -> Way {
        Way { from: from.into(), to: to.into(), both_ways: false }
    }

    /// Both ways.
    pub fn between(one: impl Into<Names>, other: impl Into<Names>) -> Way {
        Way { from: one.into(), to: other.into(), both_ways: true }
    }

    fn fields(&mut self) -> [(&'static str, Slot<'_>); 3] {
        let Way { from, to, both_ways } = self;
        [("from", Slot::Hosts(from)), ("to", Slot::Hosts(to)), ("both_ways", Slot::Flag(both_ways))]
    }

    fn and<'a>(&'a mut self, field: (&'static str, Slot<'a>)) -> Vec<(&'static str, Slot<'a>)> {
        self.fields().into_iter().chain([field]).collect()
    }

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

/// `from c1 to A and B`, `between c1 and A`.
impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Way { from, to, both_ways } = self;
        if *both_ways { write!(f, "between {from} and {to}") } else { write!(f, "from {from} to {to}") }
    }
}
