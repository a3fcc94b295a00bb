//! Ways between hosts.

use std::fmt;

use super::super::host::Names;

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

impl Way {
    /// One way.
    pub fn from_to(from: impl Into<Names>, to: impl Into<Names>) -> Way {
        Way { from: from.into(), to: to.into(), both_ways: false }
    }

    /// Both ways.
    pub fn between(one: impl Into<Names>, other: impl Into<Names>) -> Way {
        Way { from: one.into(), to: other.into(), both_ways: true }
    }
}

/// `from c1 to A and B`, `between c1 and A`.
impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Way { from, to, both_ways } = self;
        if *both_ways { write!(f, "between {from} and {to}") } else { write!(f, "from {from} to {to}") }
    }
}
