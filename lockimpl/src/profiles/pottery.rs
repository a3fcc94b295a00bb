//! pottery's `Redlock`, as its source has it: a thread for each node, and nobody waits for those that are left.

use std::time::Duration;

use crate::config::{Flaw, Newest, Profile, Remedy, Switches};

pub(super) static POTTERY: Profile = Profile {
    name: "pottery",
    also: &["brainix", "AIORedlock"],
    library: "pottery (Redlock)",
    language: "Python",
    version: "3.0.1",
    files: "github.com/brainix/pottery e2f4042: pottery/redlock.py, pottery/executor.py, pottery/timer.py",
    read_on: "2026-11-25",
    newest: Some(Newest { version: "3.0.1", looked_up_on: "2026-11-28" }),
    meaning: "Redlock for Python: a thread for each node, and it goes on at a quorum",
    ttl: Some(Duration::from_secs(10)),
    fixed: || {
        Switches::new()
            .with("order", "parallel")
            .with("driver", "redis-py-8")
            .with("wait_for", "yes")
            // `acquire` goes on for ever if nobody says otherwise.
            .with("tries", 1000_u32)
            .with("retry_delay", Duration::from_millis(200))
            .with("clock", "monotonic")
            .with("token", "attempt")
            .with("tells_deadline", false)
            .with("extend_check", "none")
    },
    open: &["acquire_limit", "driver", "node_timeout", "transport_retries", "tries", "wait_for"],
    flaws: &[Flaw {
        what: "A late SET reaches its node after the lock was given back, and its key stays there for a lease: if \
               one more node fails, nobody can have the lock. Shown over a redis-py that sends nothing again, as \
               before 6.0. Version 8 tries to reach the dead node for 4 s in each attempt and in each clean-up, \
               so that the wait is longer still (`doublehold run pottery/redis-py-8`).",
        scenario: "pottery",
        repaired: "pottery/repaired",
        remedy: Remedy::Option("auto_release_time"),
    }],
    left_out: &[
        "That a lock is extended three times at most, and that its user asks the nodes (`locked()`) how long \
         it is held.",
        "A request has a connection of its own while another is under way: here only where none was open yet.",
        "A thread of a release that begins late reads the token that its object has by then.",
    ],
};
