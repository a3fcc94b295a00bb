//! asynq's lease of a task, as its source has it: a time by the worker's clock, which another worker compares with its
//! own.

use std::time::Duration;

use crate::config::{Flaw, Profile, Remedy, Switches};

pub(super) static ASYNQ: Profile = Profile {
    name: "asynq",
    also: &["hibiken/asynq", "asynq recoverer"],
    library: "asynq (the lease of a task)",
    language: "Go",
    version: "0.26.0",
    files: "github.com/hibiken/asynq 785bb72: internal/rdb/rdb.go, recoverer.go, heartbeat.go, processor.go",
    read_on: "2026-11-25",
    newest: None,
    meaning: "a task's lease ends at a time of its worker's clock; the recoverer waits 30 s longer, by the clock \
              of its own machine",
    ttl: Some(Duration::from_secs(30)),
    fixed: || {
        Switches::new()
            .with("gives_back", "plain-delete")
            .with("asks_again", true)
            .with("grace", Duration::from_secs(30))
    },
    open: &["grace"],
    flaws: &[Flaw {
        what: "A worker whose clock is ahead by more than a lease and 30 s starts a task at which another worker \
               still is, with nothing wrong but that clock.",
        scenario: "asynq",
        repaired: "asynq/repaired",
        remedy: Remedy::Authors,
    }],
    left_out: &[
        "Its queues and sorted sets: here one task, whose key holds the time at which its lease ends.",
        "The extension of leases beside the worker, by ZADD XX. A worker whose lease has ended by its own clock \
         is told.",
        "That the recoverer looks once a minute, and puts a task back with a delay: here a worker takes it at once.",
        "Leases are whole seconds there, and whole milliseconds here.",
        "A command may take 1 s here: go-redis waits for longer, and sends again.",
    ],
};
