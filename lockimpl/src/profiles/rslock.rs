//! rslock, as a setting of `redlock`.

use crate::config::{Flaw, Newest, Profile, Remedy, Switches};

pub(super) const RSLOCK: Profile = Profile {
    name: "rslock",
    also: &["redlock-async-rs"],
    library: "rslock",
    language: "Rust",
    version: "0.7.3",
    files: "hexcowboy/rslock e5d7583: src/lock.rs",
    read_on: "2026-11-25",
    newest: Some(Newest { version: "0.10.0", looked_up_on: "2026-11-28" }),
    meaning: "the published Redlock, except that an attempt that took too long is not taken back",
    ttl: None,
    fixed: || {
        Switches::new()
            .with("order", "parallel")
            .with("node_timeout", "none")
            .with("on_timeout", "keep")
            .with("release_on_late", false)
            .with("on_failed_extension", "release")
            .with("extend_check", "new-lease")
    },
    open: &["node_timeout", "on_failed_extension", "release_on_late", "retry_delay", "tries"],
    flaws: &[Flaw {
        what: "An acquire that took longer than its lease allows leaves its keys behind, and everybody waits \
               until they end.",
        scenario: "rslock",
        repaired: "rslock/repaired",
        remedy: Remedy::Code(
            "Ask for a short lease, and extend it once you have it: what a failed attempt \
                              leaves behind ends sooner.",
        ),
    }],
    left_out: &[
        "`using()`, which extends 500 ms before the end by unsigned arithmetic: below about 505 ms it never does",
        "That a failed extension is tried again, after its keys were deleted",
        "The guard that gives a lock back when it is dropped",
    ],
};
