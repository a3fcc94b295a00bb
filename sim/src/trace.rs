//! The kernel's account of a run: every event, always hashed, kept only when asked for.

use std::borrow::Cow;

use serde::Serialize;

use crate::capture::Capture;
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
        /// Whose process.
        host: HostId,
    },
    /// One step of one of the host's tasks ran.
    Ran {
        /// Whose task.
        host: HostId,
    },
    /// A host read one of its clocks at a step point.
    ClockRead {
        /// Who read it.
        host: HostId,
        /// Which of its clocks.
        clock: ClockKind,
        /// Nanoseconds, since what that clock counts from; a wall clock can show less than zero.
        reading: i64,
    },
    /// A sleep or timeout of the host came due.
    TimerFired {
        /// Who waited.
        host: HostId,
    },
    /// A host asked for a connection.
    Connecting {
        /// Its number, from here on.
        connection: ConnectionId,
        /// Who asked.
        from: HostId,
        /// Whom it asked.
        to: HostId,
    },
    /// The other machine took the connection.
    Accepted {
        /// The one that was asked for.
        connection: ConnectionId,
        /// The machine that took it; its process may not have yet.
        host: HostId,
    },
    /// Bytes were handed to the network.
    Sent {
        /// Over which they go.
        connection: ConnectionId,
        /// Whose process sends.
        from: HostId,
        /// Who is to get them.
        to: HostId,
        /// How many: at least one, at most what the receiver's buffer has room for.
        bytes: u32,
        /// A digest of the bytes, so that a run that sends other bytes is another run. In hexadecimal when written:
        /// it uses all of its 64 bits, and many readers of JSON keep 53.
        #[serde(serialize_with = "serialize_hexadecimal")]
        digest: u64,
    },
    /// Bytes reached the receiver's machine.
    Delivered {
        /// Over which they came.
        connection: ConnectionId,
        /// Whose process sent them.
        from: HostId,
        /// Whose machine has them; its process may not have read them yet.
        to: HostId,
        /// How many: those of one `Sent`.
        bytes: u32,
    },
    /// Bytes (or an end of stream) could not reach the receiver's machine and wait to be retransmitted.
    Held {
        /// Over which they were sent.
        connection: ConnectionId,
        /// Whose machine repeats them.
        from: HostId,
        /// Whose machine they did not reach.
        to: HostId,
    },
    /// A connection ended for one host: refused, reset, timed out, or the other side finished sending.
    Ended {
        /// The one that ended; it may go on for the other host.
        connection: ConnectionId,
        /// The host that learned of it.
        host: HostId,
        /// What it learned.
        how: End,
    },
    /// The host's disk made a file's bytes durable.
    Synced {
        /// Whose disk.
        host: HostId,
        /// How many bytes of the file, from its beginning, are durable now.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
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
    /// True time.
    pub at: SimTime,
    /// What happened then.
    #[serde(flatten)]
    pub event: Event,
}

/// The running account: a rolling hash, a count, and the events themselves when kept.
#[derive(Debug)]
pub struct Trace {
    hasher: Rolling,
    count: u64,
    kept: Option<Vec<Record>>,
    captured: Option<Box<Capture>>,
}

/// What of a run is kept, besides the hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Nothing.
    Hash,
    /// Every event.
    Events,
    /// Every event, and what a picture needs besides.
    Everything,
}

impl Trace {
    /// An empty account, of which this is kept.
    pub fn new(keep: Keep) -> Trace {
        Trace {
            hasher: Rolling::default(),
            count: 0,
            kept: (keep != Keep::Hash).then(Vec::new),
            captured: (keep == Keep::Everything).then(Box::default),
        }
    }

    /// Whether events are kept.
    pub fn is_kept(&self) -> bool {
        self.kept.is_some()
    }

    /// Counts an event, and takes it into the hash.
    #[inline]
    pub fn hash_event(&mut self, at: SimTime, event: &Event) {
        self.count += 1;
        self.hasher.event(at, event);
    }

    /// Keeps an event, if events are kept.
    pub fn keep(&mut self, at: SimTime, event: Event) {
        if let Some(kept) = &mut self.kept {
            kept.push(Record { at, event });
        }
    }

    /// How many events there were.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The hash of the events so far.
    pub fn hash(&self) -> TraceHash {
        self.hasher.hash()
    }

    /// What a picture needs, if somebody asked for it.
    pub fn capture_mut(&mut self) -> Option<&mut Capture> {
        self.captured.as_deref_mut()
    }

    /// What was captured, once.
    pub fn take_captured(&mut self) -> Capture {
        self.captured.take().map_or_else(Capture::default, |captured| *captured)
    }

    /// The kept events, once.
    pub fn take_kept(&mut self) -> Vec<Record> {
        self.kept.take().unwrap_or_default()
    }
}

fn serialize_hexadecimal<S: serde::Serializer>(digest: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{digest:016x}"))
}
