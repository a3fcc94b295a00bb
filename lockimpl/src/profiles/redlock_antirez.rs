//! redlock-rb (antirez), as its source has it: the reference implementation, no longer maintained.

use std::time::Duration;

use crate::config::{Flaw, Profile, Remedy, Switches};

pub(super) static REDLOCK_ANTIREZ: Profile = Profile {
    name: "redlock-antirez",
    also: &["antirez", "redlock-rb-antirez"],
    library: "redlock-rb (antirez)",
    language: "Ruby",
    version: "2af803d",
    files: "github.com/antirez/redlock-rb 2af803d: redlock.rb",
    read_on: "2026-11-25",
    newest: None,
    meaning: "the reference implementation: sequential, the wall clock, one token a call",
    ttl: None,
    fixed: || {
        Switches::new()
            .with("order", "sequential")
            .with("node_timeout", Duration::from_millis(5000))
            .with("tries", 3_u32)
            .with("retry_delay", Duration::from_millis(200))
            .with("jitter", true)
            .with("clock", "wall")
            .with("token", "call")
    },
    open: &["node_timeout", "tries", "retry_delay", "clock"],
    flaws: &[Flaw {
        what: "If the wall clock is set back while the nodes are asked, the validity that the caller is told is \
               longer than the keys last.",
        scenario: "redlock-antirez-clock",
        repaired: "redlock-antirez-clock/repaired",
        remedy: Remedy::MEASURE,
    }],
    left_out: &[
        "It has no extension: the engine's is here.",
        "Its driver redis-rb was not read: a timeout of 5 s is taken for it, and no attempt to connect again.",
    ],
};
