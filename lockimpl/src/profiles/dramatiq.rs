//! dramatiq's `ConcurrentRateLimiter` of 1, as its source has it: a count of those inside, and nobody's name.

use std::time::Duration;

use crate::config::{Flaw, Newest, Profile, Remedy, Switches};

pub(super) static DRAMATIQ: Profile = Profile {
    name: "dramatiq",
    also: &["ConcurrentRateLimiter", "dramatiq rate limits"],
    library: "dramatiq (ConcurrentRateLimiter of 1)",
    language: "Python",
    version: "2.2.0",
    files: "github.com/Bogdanp/dramatiq 848b35f: dramatiq/rate_limits/concurrent.py, rate_limiter.py, \
        backends/redis.py",
    read_on: "2026-11-25",
    newest: Some(Newest { version: "2.2.1", looked_up_on: "2026-11-28" }),
    meaning: "\"a distributed mutex\": a count of 15 minutes that anybody counts down",
    ttl: Some(Duration::from_secs(900)),
    fixed: || Switches::new().with("driver", "redis-py-8"),
    open: &["driver", "request_timeout", "transport_retries"],
    flaws: &[Flaw {
        what: "A worker that is done after its 15 minutes have ended counts down the entry of another, and a \
               third one gets in. Shown with a `time_limit` of more than that: by default an actor is ended after 10 \
               minutes, unless it waits in the system where no exception reaches it.",
        scenario: "dramatiq",
        repaired: "dramatiq/repaired",
        remedy: Remedy::Option("ttl"),
    }],
    left_out: &[
        "Limits above 1: it is a semaphore then.",
        "Its backends for Memcached and in memory.",
        "A count whose connection breaks after WATCH fails there; here a GET that follows is sent again, and counts \
         without its WATCH.",
        "Who is refused fails there, and its message is tried again later: here programs ask again.",
    ],
};
