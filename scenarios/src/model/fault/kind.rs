//! What there is to say about a kind of fault: its words, what it is done to, and the fields it can have.

use std::time::Duration;

use doublehold_sim::{ClockKind, DelayLaw, Probability, RatePpb};
use serde::Serialize;

use crate::model::host::Names;

/// What all faults of one kind have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
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
    /// What is between hosts at one moment: the next message, their connections.
    Message,
    /// A node's work, until the fault is taken back.
    Service,
    /// A node's disk, for good.
    Disk,
    /// What a node holds, once.
    Data,
    /// A node's role, until the next change.
    Role,
}

/// The hosts or the links that an effect strikes, to be filled by who draws faults.
pub enum Reach<'a> {
    /// Each of these hosts.
    Hosts(&'a mut Names),
    /// The links from some hosts to others.
    Links {
        /// One side.
        from: &'a mut Names,
        /// The other side.
        to: &'a mut Names,
        /// Set if the way back is struck as well; `None` where a fault leaves no choice.
        both_ways: Option<&'a mut bool>,
    },
}

/// A field of an effect, to be filled from a file or written to one.
pub enum Slot<'a> {
    /// Hosts by name.
    Hosts(&'a mut Names),
    /// Nodes, none of them, or, where it is not said, all.
    Tell(&'a mut Option<Names>),
    /// The node that others follow.
    Master(&'a mut String),
    /// Its default is in the prototype.
    Flag(&'a mut bool),
    /// A step of a clock, in nanoseconds.
    Step(&'a mut i64),
    /// A rate of clocks.
    Rate(&'a mut RatePpb),
    /// One of the three clocks.
    Clock(&'a mut ClockKind),
    /// With an example for a file that lacks it.
    Delay(&'static str, &'a mut Duration),
    /// How long something takes each time: a law that has a longest time.
    Law(&'a mut DelayLaw),
    /// How long after a suspension of which its machine does not know its wall clock is set right, if it is one.
    Resync(&'a mut Option<Duration>),
    /// A chance.
    Probability(&'a mut Probability),
}
