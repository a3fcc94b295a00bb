//! Hosts: by their place in a scenario, by name, and what each is there for.

use std::fmt;

use doublehold_sim::RatePpb;
use doublehold_text::list;
use serde::{Serialize, Serializer};
use thiserror::Error;

/// A host, by its place in [`Scenario::hosts`](crate::Scenario::hosts).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct HostIndex(pub usize);

/// A host and its clocks; or a thread, which has none of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostSetup {
    /// Its name.
    pub name: String,
    /// What it is there for.
    pub role: Role,
    /// How far its wall clock is ahead of true time (negative: behind), in nanoseconds.
    pub wall_offset_ns: i64,
    /// How fast its three clocks run.
    pub drift: RatePpb,
}

/// What a host is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Runs Redis.
    Node,
    /// Runs a Sentinel, which watches the nodes.
    Sentinel,
    /// Guards the data the lock protects.
    Resource,
    /// Runs lock code: one client, or a process of several, which are threads.
    Client,
    /// A client that is a thread of the process on this host. It is no machine: clocks, links and faults are its
    /// process's.
    Thread(HostIndex),
}

impl Role {
    /// The word that reports use.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::Node => "node",
            Role::Sentinel => "sentinel",
            Role::Resource => "resource",
            Role::Client => "client",
            Role::Thread(_) => "thread",
        }
    }
}

impl Serialize for Role {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// One host or several, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names(pub Vec<String>);

/// A name that no host of the scenario has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the scenario has no host `{0}`")]
pub struct UnknownHost(pub String);

impl Names {
    pub(crate) fn several(&self) -> bool {
        self.0.len() > 1
    }

    /// The hosts and their verb, which one of them takes in one form and several in another.
    pub(crate) fn do_this(&self, one: &str, several: &str) -> String {
        format!("{self} {}", if self.several() { several } else { one })
    }
}

/// `c1`, `c1 and c2`, `c1, c2 and c3`.
impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&list(&self.0))
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
