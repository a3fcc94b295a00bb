//! redis-mutex for Ruby, as its source has it: SETNX of a time, GETSET when that has passed, and GET, compare, DEL.

use std::time::Duration;

use crate::config::{Flaw, Profile, Remedy, Switches};

pub(super) static REDIS_MUTEX: Profile = Profile {
    name: "redis-mutex",
    also: &["RedisMutex", "kenn/redis-mutex"],
    library: "redis-mutex",
    language: "Ruby",
    version: "4.0.2",
    files: "github.com/kenn/redis-mutex 02927d6: lib/redis_mutex.rb",
    read_on: "2026-11-25",
    newest: None,
    meaning: "SETNX of the time it ends by the client's clock, and GETSET; given back by GET, a comparison, \
        and DEL",
    ttl: Some(Duration::from_secs(10)),
    fixed: || Switches::new().with("gives_back", "get-then-delete").with("asks_again", true),
    open: &["gives_back"],
    flaws: &[
        Flaw {
            what: "A client that stops between its GET and its DEL deletes the lock of whoever took it over in \
                   between.",
            scenario: "redis-mutex",
            repaired: "redis-mutex/repaired",
            remedy: Remedy::Option("expire"),
        },
        Flaw {
            what: "A client whose clock is ahead by more than what is left of the lease takes a lock that is held.",
            scenario: "redis-mutex-clocks",
            repaired: "redis-mutex-clocks/repaired",
            remedy: Remedy::Option("expire"),
        },
    ],
    left_out: &[
        "Its wait of 1 s, every 0.1 s: here programs ask again.",
        "The time is a number of seconds with a fraction there, and whole milliseconds here.",
        "redis-rb was not read: a command may take 1 s here, and is said once.",
    ],
};
