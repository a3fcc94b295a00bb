//! redis-py's own `Lock`, as its source has it: a key without an end, and a driver that says everything again.

use std::time::Duration;

use crate::config::{Flaw, Newest, Profile, Remedy, Switches};

pub(super) static REDIS_PY: Profile = Profile {
    name: "redis-py",
    also: &["redis.lock", "redis-py Lock", "redis/redis-py"],
    library: "redis-py (Lock)",
    language: "Python",
    version: "8.0.0",
    files: "github.com/redis/redis-py 34817ce: redis/lock.py, redis/client.py, redis/retry.py, \
        redis/_defaults.py",
    read_on: "2026-11-25",
    newest: Some(Newest { version: "8.1.0", looked_up_on: "2026-11-28" }),
    meaning: "a key without an end unless a timeout is given, and a driver that sends a command again",
    ttl: None,
    fixed: || {
        Switches::new()
            .with("expiry", "none")
            .with("token", "call")
            .with("extend_adds", true)
            .with("wake", "poll")
            .with("poll", Duration::from_millis(100))
            .with("until_expiry", false)
            .with("driver", "redis-py-8")
            .with("release_on_failure", false)
    },
    open: &[
        "driver",
        "expiry",
        "extend_adds",
        "own_token_counts",
        "poll",
        "request_timeout",
        "transport_retries",
    ],
    flaws: &[
        Flaw {
            what: "If the reply to the first request is lost, the key is set, and the client does not know that \
                   it holds the lock: the driver asks again, and is refused by the client's own key. Without a \
                   `timeout` that key stays for ever.",
            scenario: "redis-py",
            repaired: "redis-py/repaired",
            remedy: Remedy::Option("timeout"),
        },
        Flaw {
            what: "`extend` adds to the time that is left. If its reply is lost, the driver sends it again, and \
                   it adds twice. If the holder dies then, others wait for that much longer. `replace_ttl=True` \
                   avoids it.",
            scenario: "redis-py-extends-twice",
            repaired: "redis-py-extends-twice/repaired",
            remedy: Remedy::Option("replace_ttl"),
        },
    ],
    left_out: &[
        "A release that the driver repeats after a lost reply raises LockNotOwnedError, though it gave the \
         lock \
         back. Here it is told as much, and nothing comes of it.",
        "`thread_local=False`, with which threads share a token.",
        "The pool: one connection is taken for all requests.",
        "It gives up its wait when the next attempt would be too late; here it asks once more at the end.",
        "Tokens are uuid1 there, and random here.",
    ],
};
