//! The instants of a history, and the numbers by which it names clients, locks, objects, nodes and calls.

use serde::{Deserialize, Serialize};

/// True time: nanoseconds since the world began. No client can read it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TrueNs(pub u64);

/// A point in true time, always in seconds, so that two of them compare at a glance: `12.031 s`.
pub fn instant(at: TrueNs) -> String {
    doublehold_text::seconds(at.0.into())
}

impl TrueNs {
    /// Nanoseconds from `earlier` until this instant; 0 if `earlier` is not earlier.
    pub fn since(self, earlier: TrueNs) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// An index into [`Header::clients`](crate::Header::clients).
///
/// A client is one owner. Threads that acquire on their own are separate clients, even in one process: a lock
/// that lets two of them in at once is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ClientId(pub u32);

/// An index into [`Header::locks`](crate::Header::locks).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LockId(pub u32);

/// An index into [`Header::objects`](crate::Header::objects).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ObjectId(pub u32);

/// An index into [`Header::nodes`](crate::Header::nodes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(pub u32);

/// One acquire call, unique in the run, whether it ends granted or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(pub u64);
