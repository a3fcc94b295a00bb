//! The words of each kind of fault: what it does, what it did, and what it means that it is over.
//!
//! All readers' texts about a fault begin here; how long it lasts, and when, is said in the module above.

use std::time::Duration;

use doublehold_sim::DelayLaw;
use doublehold_text::{exact_duration, signed_duration};

use super::effect::Effect;
use crate::model::host::Names;

impl Effect {
    /// What it does, without for how long.
    pub(super) fn does(&self) -> String {
        match self {
            Effect::Pause { hosts } => hosts.do_this("pauses", "pause"),
            Effect::Suspend { hosts, .. } => hosts.do_this("is suspended", "are suspended"),
            Effect::Crash { hosts } => hosts.do_this("crashes", "crash"),
            Effect::PowerLoss { hosts, .. } => hosts.do_this("loses power", "lose power"),
            Effect::ClockStep { hosts, by_ns } => {
                let have = hosts.do_this("has its wall clock", "have their wall clock");
                format!("{have} stepped by {}", signed_duration(*by_ns))
            }
            Effect::ClockDrift { hosts, by } => {
                let run = hosts.do_this("runs its clocks", "run their clocks");
                format!("{run} off by {}", by)
            }
            Effect::ClockFreeze { hosts, clock } => {
                format!("{} {} clock frozen", hosts.do_this("has its", "have their"), clock.name())
            }
            Effect::Cut { way } => format!("the link {way} is cut"),
            Effect::Slow { way, by } => format!("{} of extra delay {way}", exact_duration(*by)),
            Effect::PacketDelay { from, to, by } => {
                format!("the next message takes {} longer from {from} to {to}", exact_duration(*by))
            }
            Effect::Duplicate { from, to, after } => {
                format!("the next request is sent again {} later from {from} to {to}", exact_duration(*after))
            }
            Effect::Loss { way, probability } => format!("{probability} of all transmissions are lost {way}"),
            Effect::ResetConnections { from, to } => {
                format!("the connections between {from} and {to} are reset")
            }
            Effect::SlowNode { hosts, by } => {
                format!("{} {} for each command", hosts.do_this("needs", "need"), longer(by))
            }
            Effect::FsyncLies { hosts } => {
                hosts.do_this("has a disk that lies about fsync", "have disks that lie about fsync")
            }
            Effect::DiskSnapshot { hosts } => {
                hosts.do_this("has its disk remembered", "have their disk remembered")
            }
            Effect::DiskRollback { hosts } => {
                hosts.do_this("has its disk rolled back", "have their disk rolled back")
            }
            Effect::Flush { hosts } => hosts.do_this("is flushed", "are flushed"),
            Effect::Evict { hosts, volatile_only } => {
                format!("{} {}", hosts.do_this("evicts", "evict"), eviction_text(*volatile_only))
            }
            Effect::Promote { host, tell, rewrite_config } => {
                let told = match tell {
                    None => String::new(),
                    Some(Names(none)) if none.is_empty() => ", and nobody else is told".to_owned(),
                    Some(told) => format!(", and only {}", told.do_this("is told", "are told")),
                };
                let promoted = host.do_this("is promoted", "are promoted");
                format!("{promoted} to master{told}{}", rewrite_clause(*rewrite_config))
            }
            Effect::Follow { hosts, master, rewrite_config } => {
                let told = hosts.do_this("is told", "are told");
                format!("{told} to follow {master}{}", rewrite_clause(*rewrite_config))
            }
        }
    }

    /// The effect as a clause in the past tense, without its length.
    pub(super) fn did(&self) -> String {
        let of = |hosts: &Names, one: &str, several: &str| {
            format!("{hosts}'s {}", if hosts.several() { several } else { one })
        };
        match self {
            Effect::Pause { hosts } => hosts.do_this("was paused", "were paused"),
            Effect::Suspend { hosts, .. } => hosts.do_this("was suspended", "were suspended"),
            Effect::Crash { hosts } => hosts.do_this("crashed", "crashed"),
            Effect::PowerLoss { hosts, .. } => hosts.do_this("lost power", "lost power"),
            Effect::ClockStep { hosts, by_ns } => {
                let were = of(hosts, "wall clock was", "wall clocks were");
                format!("{were} stepped by {}", signed_duration(*by_ns))
            }
            Effect::ClockDrift { hosts, by } => {
                format!("{} off by {}", of(hosts, "clocks ran", "clocks ran"), by)
            }
            Effect::ClockFreeze { hosts, clock } => {
                let [one, several] = ["clock was", "clocks were"].map(|it| format!("{} {it}", clock.name()));
                format!("{} frozen", of(hosts, &one, &several))
            }
            Effect::Cut { way } => format!("the link {way} was cut"),
            Effect::Slow { way, by } => format!("every message {way} took {} longer", exact_duration(*by)),
            Effect::PacketDelay { from, to, by } => {
                format!("a message from {from} to {to} took {} longer", exact_duration(*by))
            }
            Effect::Duplicate { from, to, after } => {
                format!("a request from {from} to {to} was sent again {} later", exact_duration(*after))
            }
            Effect::Loss { way, probability } => {
                format!("{probability} of all transmissions {way} were lost")
            }
            Effect::ResetConnections { from, to } => {
                format!("the connections between {from} and {to} were reset")
            }
            Effect::FsyncLies { hosts } => of(hosts, "disk lied about fsync", "disks lied about fsync"),
            Effect::DiskSnapshot { hosts } => of(hosts, "disk was remembered", "disks were remembered"),
            Effect::DiskRollback { hosts } => of(hosts, "disk was rolled back", "disks were rolled back"),
            Effect::Flush { hosts } => hosts.do_this("was flushed", "were flushed"),
            Effect::Evict { hosts, volatile_only } => {
                format!("{hosts} evicted {}", eviction_text(*volatile_only))
            }
            Effect::SlowNode { hosts, by } => format!("{hosts} needed {} for each command", longer(by)),
            Effect::Promote { host, .. } => host.do_this("was promoted to master", "were promoted to master"),
            Effect::Follow { hosts, master, .. } => {
                format!("{} told to follow {master}", hosts.do_this("was", "were"))
            }
        }
    }

    /// What it leaves to be done when it is over, as the end of a sentence about it: nothing, mostly.
    pub(super) fn afterwards(&self) -> String {
        match self {
            Effect::Suspend { hosts, resync: Some(after) } => {
                let its = if hosts.several() { "their wall clocks are" } else { "its wall clock is" };
                let after = match *after {
                    Duration::ZERO => String::new(),
                    after => format!(" {} later", exact_duration(after)),
                };
                format!(", and {its} set right{after}")
            }
            _ => String::new(),
        }
    }

    /// What it means for these of its hosts that it is over; `None` for what cannot be taken back.
    pub fn recovery_text(&self, hosts: &Names) -> Option<String> {
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
            Effect::SlowNode { .. } => {
                format!("{hosts} {} as fast as before", if hosts.several() { "are" } else { "is" })
            }
            Effect::PacketDelay { .. }
            | Effect::Duplicate { .. }
            | Effect::ResetConnections { .. }
            | Effect::FsyncLies { .. }
            | Effect::DiskSnapshot { .. }
            | Effect::DiskRollback { .. }
            | Effect::Flush { .. }
            | Effect::Evict { .. }
            | Effect::Promote { .. }
            | Effect::Follow { .. } => return None,
        })
    }
}

fn eviction_text(volatile_only: bool) -> &'static str {
    if volatile_only { "every key that has a lifetime" } else { "every key" }
}

/// `5 ms more`, `1 s to 3 s more`.
fn longer(by: &DelayLaw) -> String {
    let range =
        |from: &Duration, to: &Duration| format!("{} to {} more", exact_duration(*from), exact_duration(*to));
    match by {
        DelayLaw::Fixed(by) => format!("{} more", exact_duration(*by)),
        DelayLaw::Uniform { min, max } => range(min, max),
        DelayLaw::LogNormal { median, .. } => format!("about {} more", exact_duration(*median)),
        DelayLaw::Quantiles(all) => {
            all.first().zip(all.last()).map_or_else(String::new, |(from, to)| range(from, to))
        }
    }
}

fn rewrite_clause(rewrite_config: bool) -> &'static str {
    if rewrite_config { "" } else { ", without CONFIG REWRITE" }
}
