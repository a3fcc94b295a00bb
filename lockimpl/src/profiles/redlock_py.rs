//! redlock-py, as its source has it: the published algorithm one node after another, with one token a call,
//! a fixed wait and the wall clock.

use std::time::Duration;

use crate::config::{Flaw, Newest, Profile, Remedy, Switches};

pub(super) static REDLOCK_PY: Profile = Profile {
    name: "redlock-py",
    also: &["redlock", "SPSCommerce"],
    library: "redlock-py",
    language: "Python",
    version: "1.0.8",
    files: "github.com/SPSCommerce/redlock-py 42ef491: redlock/__init__.py",
    read_on: "2026-11-25",
    newest: Some(Newest { version: "1.0.8", looked_up_on: "2026-11-28" }),
    meaning: "Redlock for Python: one token a call, a fixed wait, the wall clock",
    ttl: None,
    fixed: || {
        Switches::new()
            .with("order", "sequential")
            .with("driver", "redis-py-8")
            .with("tries", 3_u32)
            .with("retry_delay", Duration::from_millis(200))
            .with("jitter", false)
            .with("clock", "wall")
            .with("token", "call")
    },
    open: &[
        "driver",
        "node_timeout",
        "transport_retries",
        "tries",
        "retry_delay",
        "jitter",
        "token",
        "clock",
    ],
    flaws: &[
        Flaw {
            what: "The late clean-up of a call's first attempt deletes the key of its later attempt, which has \
                   the same token: two clients hold the lock. Over redis-py 5 and 8.",
            scenario: "redlock-py-late-clean-up",
            repaired: "redlock-py-late-clean-up/repaired",
            remedy: Remedy::Code(
                "Set `retry_count=1`, and call `lock` in a loop of your own: each call has a \
                                  token of its own (`doublehold run \
                                  redlock-py-late-clean-up/one-attempt-a-call`).",
            ),
        },
        Flaw {
            what: "If the wall clock is set back while the nodes are asked, the validity that the caller is told \
                   is longer than the keys last.",
            scenario: "redlock-py-clock",
            repaired: "redlock-py-clock/repaired",
            remedy: Remedy::MEASURE,
        },
    ],
    left_out: &[
        "Its fixed wait lets clients collide again and again in theory; with nodes asked one after \
         another no run showed it.",
        "An error of one node raises although a quorum said yes, and leaves the keys until they expire: \
         here such a node has no vote.",
        "It has no extension: the engine's is here.",
        "It sleeps after the last attempt of a call as well, which a program's `retry` can say.",
    ],
};
