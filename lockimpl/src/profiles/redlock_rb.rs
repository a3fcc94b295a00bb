//! redlock-rb, as its source has it: Redlock whose extension is its acquisition with the old token.

use std::time::Duration;

use crate::config::{Flaw, Profile, Remedy, Switches};

pub(super) static REDLOCK_RB: Profile = Profile {
    name: "redlock-rb",
    also: &["leandromoreira", "redlock gem"],
    library: "redlock-rb",
    language: "Ruby",
    version: "2.0.6",
    files: "github.com/leandromoreira/redlock-rb f176e57: lib/redlock/client.rb, \
        lib/redlock/scripts.rb, lib/redlock/version.rb",
    read_on: "2026-11-25",
    newest: None,
    meaning: "Redlock for Ruby: an extension sets a key that is gone, unless it is told not to",
    ttl: None,
    fixed: || {
        Switches::new()
            .with("order", "sequential")
            .with("node_timeout", Duration::from_millis(100))
            .with("tries", 4_u32)
            .with("retry_delay", Duration::from_millis(249))
            .with("retry_least", Duration::from_millis(200))
            .with("clock", "monotonic")
            .with("token", "attempt")
            .with("extend_if_missing", true)
            .with("extend_check", "new-lease")
            .with("on_failed_extension", "release")
    },
    open: &["node_timeout", "tries", "retry_delay", "retry_least", "extend_if_missing"],
    flaws: &[Flaw {
        what: "An extension that comes after the lease has ended sets the keys again, and the holder is not told \
               that another client had the lock in between.",
        scenario: "redlock-rb",
        repaired: "redlock-rb/repaired",
        remedy: Remedy::Option("extend_only_if_locked"),
    }],
    left_out: &[
        "It accepts a validity of exactly 0 ms.",
        "It acquires by a script that sets a key again that holds its own token; here by SET NX.",
        "Its queries (`locked?`, `valid_lock?`, the remaining time).",
    ],
};
