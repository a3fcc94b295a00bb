//! The kernel's account of a run: every event, always hashed, kept only when asked for.

use std::borrow::Cow;

use serde::Serialize;

use crate::clock::ClockKind;
use crate::fault::Fault;
use crate::time::SimTime;
use crate::trace_hash::{Rolling, TraceHash};

/// A host of the world, by number. Number zero is the world's own observer, which no fault can touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct HostId(pub u32);

/// A connection, by number; numbers are never used twice in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct ConnectionId(pub u64);

/// Something that happened in the world.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// A host's process started.
    Booted {
        /// The host.
        host: HostId,
    },
    /// One step of one of the host's tasks ran.
    Ran {
        /// The host.
        host: HostId,
    },
    /// A host read one of its clocks at a step point.
    ClockRead {
        /// The host.
        host: HostId,
        /// The clock it read.
        clock: ClockKind,
        /// What it showed, in nanoseconds.
        reading: i64,
    },
    /// A sleep or timeout of the host came due.
    TimerFired {
        /// The host.
        host: HostId,
    },
    /// A host asked for a connection.
    Connecting {
        /// The connection.
        connection: ConnectionId,
        /// Who asked.
        from: HostId,
        /// Whom it asked.
        to: HostId,
    },
    /// The other machine took the connection.
    Accepted {
        /// The connection.
        connection: ConnectionId,
        /// The machine that took it.
        host: HostId,
    },
    /// Bytes were handed to the network.
    Sent {
        /// The connection.
        connection: ConnectionId,
        /// The sender.
        from: HostId,
        /// The receiver.
        to: HostId,
        /// How many bytes.
        bytes: u32,
        /// A digest of the bytes, so that a run that sends other bytes is another run.
        digest: u64,
    },
    /// Bytes reached the receiver's machine.
    Delivered {
        /// The connection.
        connection: ConnectionId,
        /// The sender.
        from: HostId,
        /// The receiver.
        to: HostId,
        /// How many bytes.
        bytes: u32,
    },
    /// Bytes (or an end of stream) could not reach the receiver's machine and wait to be retransmitted.
    Held {
        /// The connection.
        connection: ConnectionId,
        /// The sender.
        from: HostId,
        /// The receiver.
        to: HostId,
    },
    /// A connection ended for one host: refused, reset, timed out, or the other side finished sending.
    Ended {
        /// The connection.
        connection: ConnectionId,
        /// The host that learned of it.
        host: HostId,
        /// How it ended.
        how: End,
    },
    /// The host's disk made a file's bytes durable.
    Synced {
        /// The host.
        host: HostId,
        /// How many bytes of the file are durable now.
        durable: u64,
    },
    /// A fault was applied.
    Fault {
        /// What was done to the world.
        fault: Fault,
    },
    /// Code on a host noted something: a command executed, a lock granted. The kernel does not know what it means.
    Mark {
        /// The host whose code noted it.
        host: HostId,
        /// What was noted. Almost always a constant, so that a mark costs no allocation.
        label: Cow<'static, str>,
        /// The host it concerns, if any.
        about: Option<HostId>,
    },
}

/// How a connection ended for one of its hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// Nothing listened there.
    Refused,
    /// The other machine reset it.
    Reset,
    /// Nothing was acknowledged for the user timeout (or the connect timeout).
    TimedOut,
    /// The other side finished sending.
    Finished,
}

/// One line of a kept trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Record {
    /// When, in true time.
    pub at: SimTime,
    /// What.
    #[serde(flatten)]
    pub event: Event,
}

/// The running account: a rolling hash, a count, and the events themselves when kept.
#[derive(Debug)]
pub(crate) struct Trace {
    hasher: Rolling,
    count: u64,
    kept: Option<Vec<Record>>,
}

impl Trace {
    pub(crate) fn new(keep: bool) -> Trace {
        Trace { hasher: Rolling::default(), count: 0, kept: keep.then(Vec::new) }
    }

    pub(crate) fn is_kept(&self) -> bool {
        self.kept.is_some()
    }

    #[inline]
    pub(crate) fn hash_event(&mut self, at: SimTime, event: &Event) {
        self.count += 1;
        self.hasher.event(at, event);
    }

    pub(crate) fn keep(&mut self, at: SimTime, event: Event) {
        if let Some(kept) = &mut self.kept {
            kept.push(Record { at, event });
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    pub(crate) fn hash(&self) -> TraceHash {
        self.hasher.hash()
    }

    pub(crate) fn take_kept(&mut self) -> Vec<Record> {
        self.kept.take().unwrap_or_default()
    }
}
