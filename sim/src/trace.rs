//! The kernel's account of a run: every event, always hashed, kept only when asked for.
//!
//! The hash is what "the same run" means: same plan and same program version give the same hash in any build, on any
//! thread, alone or after a thousand other runs. It covers every event with its true time, so the first difference
//! anywhere changes everything after it; a kept trace then shows which event it was.
//!
//! The hash is for comparing runs of one program, not for security, and it may change between versions.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};

use serde::Serialize;

use crate::clock::ClockKind;
use crate::fault::Fault;
use crate::time::SimTime;

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

/// The digest of a whole run's events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TraceHash(pub u64);

impl fmt::Display for TraceHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
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

    pub(crate) fn push(&mut self, at: SimTime, event: Event) {
        self.count += 1;
        self.hasher.mix(at.0);
        event.hash(&mut self.hasher);
        if let Some(kept) = &mut self.kept {
            kept.push(Record { at, event });
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    pub(crate) fn hash(&self) -> TraceHash {
        TraceHash(self.hasher.0)
    }

    pub(crate) fn take_kept(&mut self) -> Vec<Record> {
        self.kept.take().unwrap_or_default()
    }
}

/// A digest of bytes that were sent.
pub(crate) fn digest(bytes: &[u8]) -> u64 {
    let mut rolling = Rolling::default();
    rolling.write(bytes);
    rolling.0
}

/// Multiply-fold hashing, one word at a time. Written out because the standard hashers promise no stable result, and
/// because it runs for every event: 64×64→128 multiplication and one fold per word.
#[derive(Debug)]
struct Rolling(u64);

impl Default for Rolling {
    fn default() -> Rolling {
        Rolling(0x243f_6a88_85a3_08d3) // the first digits of pi: nothing up the sleeve
    }
}

impl Rolling {
    #[inline]
    fn mix(&mut self, word: u64) {
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15; // 2^64 ÷ golden ratio
        let product = u128::from(self.0 ^ word) * u128::from(ODD);
        // The high half folds back in; adding the word keeps a state of zero from absorbing what follows.
        self.0 = (product as u64 ^ (product >> 64) as u64).wrapping_add(word.rotate_left(23));
    }
}

impl Hasher for Rolling {
    fn write(&mut self, bytes: &[u8]) {
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            self.mix(u64::from_le_bytes(word.try_into().expect("chunks of eight bytes")));
        }
        let rest = words.remainder();
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.mix(u64::from_le_bytes(last) ^ (bytes.len() as u64) << 56);
    }

    // Integers go in by value, not by their bytes in memory: a big-endian machine must agree.
    fn write_u8(&mut self, n: u8) {
        self.mix(u64::from(n));
    }
    fn write_u32(&mut self, n: u32) {
        self.mix(u64::from(n));
    }
    fn write_u64(&mut self, n: u64) {
        self.mix(n);
    }
    fn write_i64(&mut self, n: i64) {
        self.mix(n as u64);
    }
    fn write_usize(&mut self, n: usize) {
        self.mix(n as u64);
    }
    fn write_isize(&mut self, n: isize) {
        self.mix(n as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
