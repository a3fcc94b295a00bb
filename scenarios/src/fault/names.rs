//! What faults are done to: hosts by their names, and ways between them.

use std::fmt;

use doublehold_sim::{self as sim, HostId};
use doublehold_words::list;

use super::kind::Slot;
use crate::cast::{Cast, UnknownHost};

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

impl Names {
    pub(super) fn several(&self) -> bool {
        self.0.len() > 1
    }

    /// The hosts and their verb, which one of them takes in one form and several in another.
    pub(super) fn do_this(&self, one: &str, several: &str) -> String {
        format!("{self} {}", if self.several() { several } else { one })
    }

    pub(super) fn each(
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

impl Way {
    /// One way.
    pub fn from_to(from: impl Into<Names>, to: impl Into<Names>) -> Way {
        Way { from: from.into(), to: to.into(), both_ways: false }
    }

    /// Both ways.
    pub fn between(one: impl Into<Names>, other: impl Into<Names>) -> Way {
        Way { from: one.into(), to: other.into(), both_ways: true }
    }

    pub(super) fn fields(&mut self) -> [(&'static str, Slot<'_>); 3] {
        let Way { from, to, both_ways } = self;
        [("from", Slot::Hosts(from)), ("to", Slot::Hosts(to)), ("both_ways", Slot::Flag(both_ways))]
    }

    pub(super) fn and<'a>(&'a mut self, field: (&'static str, Slot<'a>)) -> Vec<(&'static str, Slot<'a>)> {
        self.fields().into_iter().chain([field]).collect()
    }

    /// Each direction once: all there, then all back.
    pub(super) fn each(
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
