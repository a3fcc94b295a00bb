//! Faults as data: everything that can be done to the world, when it is to be done, and whether it was.
//!
//! One enum says what; [`Trigger`] says when: at a true time, or at an event (the third mark "SET" about host 4,
//! plus an offset), so that a counterexample does not depend on tuned milliseconds. The kernel's one `apply` is in
//! `apply.rs`; nothing else ever changes a clock, a link or a host's state.
//!
//! Faults of one kind count: two overlapping cuts (or pauses, freezes) need two heals, so a random fault can never undo
//! an explicit one. A death ends the pauses of its process, and taking one of them back then does nothing. Deaths that
//! last a while count too: a host starts again when the last of them is taken back. A [`Fault::Start`] that is planned
//! by itself ends them all.

use std::time::Duration;

use serde::Serialize;

use crate::clock::{ClockKind, RatePpb};
use crate::delay::DelayLaw;
use crate::random::Probability;
use crate::time::SimTime;
use crate::trace::{End, Event, HostId};

/// One thing done to the world. Its place here is part of a trace's hash: a new one comes last.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(tag = "fault", rename_all = "kebab-case")]
pub enum Fault {
    /// Steps the host's wall clock by signed nanoseconds.
    StepClock {
        /// The host.
        host: HostId,
        /// How far, in nanoseconds; negative is back.
        by_ns: i64,
    },
    /// Adds to the rate error of the host's three clocks.
    ChangeRate {
        /// The host.
        host: HostId,
        /// How much faster, in parts per billion.
        by: RatePpb,
    },
    /// Stops one clock of the host where it is.
    Freeze {
        /// The host.
        host: HostId,
        /// The clock.
        clock: ClockKind,
    },
    /// Undoes one [`Fault::Freeze`].
    Thaw {
        /// The host.
        host: HostId,
        /// The clock.
        clock: ClockKind,
    },
    /// Stops the host's code at its next step (GC, SIGSTOP). Clocks run on and the machine keeps buffering what
    /// arrives.
    Pause {
        /// The host.
        host: HostId,
    },
    /// Undoes one [`Fault::Pause`]: everything that came due fires late, in order.
    Resume {
        /// The host.
        host: HostId,
    },
    /// Stops the whole machine (laptop lid, VM snapshot): the monotonic clock stands still and nothing is delivered.
    Suspend {
        /// The host.
        host: HostId,
    },
    /// Undoes one [`Fault::Suspend`]: peers retransmit what they could not deliver.
    Wake {
        /// The host.
        host: HostId,
    },
    /// Kills the process, if there is one; written file data survives. The machine delivers what the process had sent
    /// and then ends its connections, or resets those with unread input.
    Crash {
        /// The host.
        host: HostId,
    },
    /// Cuts the machine's power: silence on the network, and what was not fsynced is lost.
    LosePower {
        /// The host.
        host: HostId,
        /// Keep a random part of the bytes after the last fsync instead of none: a torn tail.
        torn_tail: bool,
    },
    /// Starts the host's process again, however many crashes and power losses it had. Does nothing to a host that is
    /// up.
    Start {
        /// The host.
        host: HostId,
    },
    /// Holds everything in one direction that is on its way at any moment until the cut is healed: what is sent, what
    /// arrives, and what is between the two all the while.
    Cut {
        /// The sending side.
        from: HostId,
        /// The receiving side.
        to: HostId,
    },
    /// Undoes one [`Fault::Cut`].
    Heal {
        /// The sending side.
        from: HostId,
        /// The receiving side.
        to: HostId,
    },
    /// Adds to every delay in one direction.
    Slow {
        /// The sending side.
        from: HostId,
        /// The receiving side.
        to: HostId,
        /// The extra one-way delay in nanoseconds.
        by_ns: u64,
    },
    /// Undoes one [`Fault::Slow`] of the same size.
    Unslow {
        /// The sending side.
        from: HostId,
        /// The receiving side.
        to: HostId,
        /// The extra one-way delay in nanoseconds.
        by_ns: u64,
    },
    /// Delays the next bytes sent in one direction, and with them the rest of that connection, but no other. Adds up
    /// with others that wait for the same bytes.
    DelayNext {
        /// The sending side.
        from: HostId,
        /// The receiving side.
        to: HostId,
        /// The extra one-way delay in nanoseconds.
        by_ns: u64,
    },
    /// Sets the chance that a transmission in one direction is lost, and so comes a retransmission later. Of several
    /// that overlap the latest counts.
    Lose {
        /// The sending side.
        from: HostId,
        /// The receiving side.
        to: HostId,
        /// Chance per transmission.
        probability: Probability,
    },
    /// Undoes one [`Fault::Lose`] of the same chance.
    Unlose {
        /// The sending side.
        from: HostId,
        /// The receiving side.
        to: HostId,
        /// Chance per transmission.
        probability: Probability,
    },
    /// From now on the host's fsync reports success without making anything durable.
    LieOnFsync {
        /// The host.
        host: HostId,
    },
    /// Remembers the host's disk as it is.
    SnapshotDisk {
        /// The host.
        host: HostId,
    },
    /// Puts the host's disk back to the last snapshot (to empty, if there was none). For a host that is down.
    RollBackDisk {
        /// The host.
        host: HostId,
    },
    /// Tells the host's process something, as an operator would. What it means is the process's business. Waits for the
    /// next process if there is none.
    Signal {
        /// The host.
        host: HostId,
        /// What it is told.
        signal: String,
    },
    /// Resets every connection between the two that is established, whoever opened it: a middlebox forgets them and
    /// says so to both ends. A machine that is off or suspended does not hear it.
    ResetConnections {
        /// One side.
        from: HostId,
        /// The other side.
        to: HostId,
    },
    /// Sends the next request in one direction a second time: bytes that are sent on a connection that the sending side
    /// opened. The copy has a connection of its own, which is opened so much later, and nobody reads its answer.
    CopyNext {
        /// The sending side.
        from: HostId,
        /// The receiving side.
        to: HostId,
        /// How much later, in nanoseconds.
        after_ns: u64,
    },
    /// Whatever the host's process is asked to do takes longer, each time by a draw from this law.
    SlowService {
        /// The host.
        host: HostId,
        /// How much longer.
        by: DelayLaw,
    },
    /// Undoes one [`Fault::SlowService`] of the same law.
    UnslowService {
        /// The host.
        host: HostId,
        /// How much longer.
        by: DelayLaw,
    },
    /// Lets the host's wall and boot clocks stand still as the monotonic one does in a [`Fault::Suspend`]: a virtual
    /// machine that is suspended from outside does not know of it.
    StandClocks {
        /// The host.
        host: HostId,
        /// How long after they run again the wall clock is set right, in nanoseconds.
        resync_ns: u64,
    },
    /// Undoes one [`Fault::StandClocks`]: the clocks run, and so much later the wall clock is stepped ahead by what it
    /// missed. Setting power on does that as well.
    RunClocks {
        /// The host.
        host: HostId,
        /// How much later, in nanoseconds.
        resync_ns: u64,
    },
}

impl Fault {
    /// Whether code stops and will go on where it was.
    pub fn stops_code(&self) -> bool {
        matches!(self, Fault::Pause { .. } | Fault::Suspend { .. })
    }

    /// The hosts it touches: one, or the two ends of a direction.
    pub fn hosts(&self) -> impl Iterator<Item = HostId> + use<> {
        let (one, other) = match *self {
            Fault::StepClock { host, .. }
            | Fault::ChangeRate { host, .. }
            | Fault::Freeze { host, .. }
            | Fault::Thaw { host, .. }
            | Fault::Pause { host }
            | Fault::Resume { host }
            | Fault::Suspend { host }
            | Fault::Wake { host }
            | Fault::Crash { host }
            | Fault::LosePower { host, .. }
            | Fault::Start { host }
            | Fault::LieOnFsync { host }
            | Fault::SnapshotDisk { host }
            | Fault::RollBackDisk { host }
            | Fault::Signal { host, .. }
            | Fault::SlowService { host, .. }
            | Fault::UnslowService { host, .. }
            | Fault::StandClocks { host, .. }
            | Fault::RunClocks { host, .. } => (host, None),
            Fault::Cut { from, to }
            | Fault::Heal { from, to }
            | Fault::Slow { from, to, .. }
            | Fault::Unslow { from, to, .. }
            | Fault::DelayNext { from, to, .. }
            | Fault::CopyNext { from, to, .. }
            | Fault::Lose { from, to, .. }
            | Fault::Unlose { from, to, .. }
            | Fault::ResetConnections { from, to } => (from, Some(to)),
        };
        std::iter::once(one).chain(other)
    }

    /// The fault that takes this one back, for faults that last a while; `None` for those that cannot be taken back.
    pub fn undo(&self) -> Option<Fault> {
        Some(match *self {
            Fault::StepClock { host, by_ns } => Fault::StepClock { host, by_ns: by_ns.saturating_neg() },
            Fault::ChangeRate { host, by } => Fault::ChangeRate { host, by: RatePpb(by.0.saturating_neg()) },
            Fault::Freeze { host, clock } => Fault::Thaw { host, clock },
            Fault::Pause { host } => Fault::Resume { host },
            Fault::Suspend { host } => Fault::Wake { host },
            Fault::Crash { host } | Fault::LosePower { host, .. } => Fault::Start { host },
            Fault::Cut { from, to } => Fault::Heal { from, to },
            Fault::Slow { from, to, by_ns } => Fault::Unslow { from, to, by_ns },
            Fault::Lose { from, to, probability } => Fault::Unlose { from, to, probability },
            Fault::StandClocks { host, resync_ns } => Fault::RunClocks { host, resync_ns },
            Fault::SlowService { host, ref by } => Fault::UnslowService { host, by: by.clone() },
            Fault::Thaw { .. }
            | Fault::Resume { .. }
            | Fault::Wake { .. }
            | Fault::Start { .. }
            | Fault::Heal { .. }
            | Fault::Unslow { .. }
            | Fault::Unlose { .. }
            | Fault::DelayNext { .. }
            | Fault::CopyNext { .. }
            | Fault::UnslowService { .. }
            | Fault::RunClocks { .. }
            | Fault::LieOnFsync { .. }
            | Fault::SnapshotDisk { .. }
            | Fault::RollBackDisk { .. }
            | Fault::Signal { .. }
            | Fault::ResetConnections { .. } => return None,
        })
    }
}

/// A happening that a fault can wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Code on `host` (any, if `None`) noted `label`, about `about` (anyone, if `None`).
    Mark {
        /// Whose code.
        host: Option<HostId>,
        /// What it noted.
        label: String,
        /// Whom it concerns.
        about: Option<HostId>,
    },
    /// `host` read a clock.
    ClockRead {
        /// The host.
        host: HostId,
    },
    /// A sleep or timeout of `host` came due.
    TimerFired {
        /// The host.
        host: HostId,
    },
    /// `host` handed bytes to the network for `to` (anyone, if `None`).
    Sent {
        /// The sender.
        host: HostId,
        /// The receiver.
        to: Option<HostId>,
    },
    /// Bytes from `from` (anyone, if `None`) reached `host`'s machine.
    Delivered {
        /// The receiver.
        host: HostId,
        /// The sender.
        from: Option<HostId>,
    },
    /// A connection of `host` was refused, reset, timed out or finished.
    Ended {
        /// The host.
        host: HostId,
    },
    /// `host`'s process started.
    Booted {
        /// The host.
        host: HostId,
    },
}

impl Pattern {
    /// Whether this event is one of those the pattern describes.
    pub fn matches(&self, event: &Event) -> bool {
        let any = |wanted: Option<HostId>, actual: HostId| wanted.is_none_or(|w| w == actual);
        match (self, event) {
            (Pattern::Mark { host, label, about }, Event::Mark { host: at, label: noted, about: whom }) => {
                label.as_str() == noted.as_ref() && any(*host, *at) && (about.is_none() || about == whom)
            }
            (Pattern::ClockRead { host }, Event::ClockRead { host: at, .. })
            | (Pattern::TimerFired { host }, Event::TimerFired { host: at })
            | (Pattern::Booted { host }, Event::Booted { host: at }) => host == at,
            (Pattern::Sent { host, to }, Event::Sent { from, to: receiver, .. }) => {
                host == from && any(*to, *receiver)
            }
            (Pattern::Delivered { host, from }, Event::Delivered { from: sender, to, .. }) => {
                host == to && any(*from, *sender)
            }
            (Pattern::Ended { host }, Event::Ended { host: at, how, .. }) => {
                host == at && *how != End::Finished
            }
            _ => false,
        }
    }
}

/// The n-th event that fits a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// What to look for.
    pub pattern: Pattern,
    /// Which one, counted from 1.
    pub nth: u32,
}

/// When a fault strikes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// At a true time.
    At(SimTime),
    /// At an event: each occurrence is counted from the one before it in the list, the fault strikes `offset` after
    /// the last. An offset of zero strikes before the code that caused the event takes another step.
    On {
        /// What must happen, in this order.
        occurrences: Vec<Occurrence>,
        /// How long after the last.
        offset: Duration,
        /// Whether it strikes every time and not once: after the last event the first is waited for again.
        each: bool,
    },
}

/// A fault and when it strikes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedFault {
    /// When.
    pub trigger: Trigger,
    /// What; several strike at the same instant, in this order.
    pub faults: Vec<Fault>,
    /// How long until each is taken back, if it is.
    pub lasting: Option<Duration>,
}

/// One time that a planned fault struck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Struck {
    /// When it struck.
    pub from: SimTime,
    /// When it was taken back, if it was.
    pub until: Option<SimTime>,
}
