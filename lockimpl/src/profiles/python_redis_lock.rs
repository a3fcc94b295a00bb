//! python-redis-lock, as its source has it: SET NX and BLPOP, and no end of a key unless one is asked for.

use std::time::Duration;

use crate::config::{Flaw, Newest, Profile, Remedy, Switches};

pub(super) static PYTHON_REDIS_LOCK: Profile = Profile {
    name: "python-redis-lock",
    also: &["redis_lock", "redis-lock", "ionelmc/python-redis-lock"],
    library: "python-redis-lock",
    language: "Python",
    version: "4.0.1",
    files: "github.com/ionelmc/python-redis-lock e448f12: src/redis_lock/__init__.py",
    read_on: "2026-11-25",
    newest: Some(Newest { version: "4.0.1", looked_up_on: "2026-11-28" }),
    meaning: "a key without an end, and a list on which a release leaves a signal for a second",
    ttl: None,
    fixed: || {
        Switches::new()
            .with("expiry", "none")
            .with("signal_ttl", Duration::from_secs(1))
            .with("driver", "redis-py-8")
            .with("renew_from", "reply")
            .with("renew_stops_on_error", true)
    },
    open: &[
        "driver",
        "expiry",
        "signal_ttl",
        "request_timeout",
        "transport_retries",
        "renew_every",
        "renew_stops_on_error",
        "told_on_loss",
    ],
    flaws: &[
        Flaw {
            what: "A client that stops for more than a second after it was refused and before it waits misses the \
                   signal of the release. Without `expire` and a `timeout` it waits for ever for a lock that is free. \
                   Shown over a redis-py that has no timeout, as before 8.0. Over version 8 `acquire()` raises \
                   TimeoutError after a minute (`doublehold run python-redis-lock/redis-py-8`).",
            scenario: "python-redis-lock",
            repaired: "python-redis-lock/repaired",
            remedy: Remedy::Option("signal_expire"),
        },
        Flaw {
            what: "A holder that dies keeps everybody out for ever, unless `expire` was given.",
            scenario: "python-redis-lock-holder-dies",
            repaired: "python-redis-lock-holder-dies/repaired",
            remedy: Remedy::Option("expire"),
        },
        Flaw {
            what: "The thread of `auto_renewal` ends at its first exception, and the program is not told: if one \
                   connection breaks when the lease is to be renewed, the lock is lost. Shown over a redis-py \
                   that sends nothing again, as before 6.0 or with `Retry(NoBackoff(), 0)`; version 8 tries ten \
                   times more, for 4 s, and then it takes an outage that is longer than that (`doublehold run \
                   python-redis-lock-renewal/outage`).",
            scenario: "python-redis-lock-renewal",
            repaired: "python-redis-lock-renewal/repaired",
            remedy: Remedy::Code(
                "Do without `auto_renewal`, and call `extend()` in a thread of your own, which \
                                  goes on after an exception and tells the program when the lease has passed.",
            ),
        },
    ],
    left_out: &[
        "`auto_renewal` renews every two thirds of `expire`: `--set lock.renew_every=2/3`. Off where nobody says \
         so, there as here. It takes a connection of the pool; here the one on which the lock was taken.",
        "`reset` and `reset_all`, which delete whoever's lock it is.",
        "A timeout is cut to whole seconds, and one of 0 is none. One above `expire` is refused; here it is \
         as none, and is over when it has passed.",
        "redis-py's pool: here one connection for commands, and one to wait on that is opened at the first wait, \
         and once for each try of BLPOP.",
    ],
};
