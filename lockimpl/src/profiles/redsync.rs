//! redsync, as a setting of `redlock`.

use std::time::Duration;

use crate::profile::{Flaw, Profile, Remedy};
use crate::switch::Switches;

pub(super) const REDSYNC: Profile = Profile {
    name: "redsync",
    also: &["go-redsync"],
    library: "redsync over go-redis",
    language: "Go",
    version: "4.17 (5560bd2)",
    files: "go-redsync/redsync: redsync.go, mutex.go",
    read_on: "2026-11-25",
    meaning: "the published Redlock, with one token for the 32 attempts of a call",
    ttl: Some(Duration::from_secs(8)),
    fixed: || {
        Switches::new()
            .with("order", "parallel")
            .with("drift_constant", Duration::ZERO)
            // 5 % of the 8 s that a lease lasts if nobody says otherwise.
            .with("node_timeout", Duration::from_millis(400))
            .with("tries", 32u64)
            .with("retry_delay", Duration::from_millis(250))
            .with("retry_least", Duration::from_millis(50))
            .with("extend_check", "new-lease")
    },
    open: &["extend_if_missing", "node_timeout", "retry_delay", "retry_least", "token", "tries", "wait_for"],
    flaws: &[Flaw {
        what: "The late clean-up of a failed attempt deletes the keys of a later attempt of the same call.",
        scenario: "redsync",
        repaired: "redsync/repaired",
        remedy: Remedy::Code(
            "Set `WithTries(1)`, and call `Lock` again yourself: each call has a value of its own \
             (`doublehold run redsync/one-attempt-a-call`).",
        ),
    }],
    left_out: &[
        "That releases and extensions have no time limit but the caller's",
        "That the time limit is a share of the lease (5 %): it is that of a lease of 8 s",
        "The retries of go-redis and its pool: a request has a connection of its own after a timeout only",
        "Failing fast counts nodes that said no, here also those that did not answer",
    ],
};
