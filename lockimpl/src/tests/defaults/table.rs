//! Each library as it was read, typed from its source, but queues of jobs.

use std::time::Duration;

/// A library, its lease (none if its user has to say), and how it has switches of its engine.
pub(super) type Read = (&'static str, Option<Duration>, &'static [(&'static str, &'static str)]);

pub(super) const READ: &[Read] = &[
    (
        "aioredlock",
        Some(Duration::from_secs(10)),
        &[
            ("order", "parallel"),
            ("node_timeout", "none"),
            ("tries", "3"),
            ("retry_delay", "300ms"),
            ("retry_least", "100ms"),
            ("jitter", "true"),
            ("clock", "monotonic"),
            ("drift_ratio", "1/100"),
            ("drift_constant", "2ms"),
            ("token", "call"),
            ("tells_deadline", "false"),
            ("renew_every", "none"), // 0.6 leases where no lease is asked for
            ("renew_stops_on_error", "true"),
            ("told_on_loss", "flag"), // `valid`
        ],
    ),
    (
        "bsm-redislock",
        None,
        &[
            ("connect_timeout", "5s"),
            ("request_timeout", "3s"),
            ("transport_retries", "3"),
            ("own_token_counts", "true"),
            ("elapsed_check", "false"),
        ],
    ),
    (
        "distributedlock-redis",
        Some(Duration::from_secs(30)),
        &[
            ("order", "parallel"),
            ("wait_for", "quorum"),
            ("node_timeout", "3s"), // 30 s without the nine tenths that have to remain
            ("on_timeout", "keep"),
            ("tries", "1000"), // for ever
            ("retry_delay", "800ms"),
            ("retry_least", "10ms"),
            ("jitter", "true"),
            ("elapsed_check", "false"),
            ("token", "attempt"),
            ("extend_check", "none"),
            ("renew_every", "3/10"), // a third of the nine tenths that have to remain
            ("renew_from", "reply"),
            ("told_on_loss", "when-due"),
        ],
    ),
    (
        "python-redis-lock",
        None,
        &[
            ("expiry", "none"),
            ("signal_ttl", "1s"),
            ("connect_timeout", "5s"),
            ("request_timeout", "5s"),
            ("transport_retries", "10"),
            ("reconnect", "redis-py-8"),
            ("renew_every", "none"), // 2/3 with `auto_renewal`
            ("renew_from", "reply"),
            ("renew_stops_on_error", "true"),
        ],
    ),
    (
        "malkusch-lock",
        None,
        &[
            ("order", "sequential"),
            ("node_timeout", "60s"), // PHP's own
            ("tries", "1000"),       // until its limit
            ("acquire_limit", "3s"),
            ("retry_delay", "500ms"),
            ("retry_least", "10ms"),
            ("jitter", "true"),
            ("elapsed_check", "false"), // there is no end to be late for
            ("expiry", "none"),
            ("token", "attempt"),
        ],
    ),
    (
        "node-redlock",
        None,
        &[
            ("order", "parallel"),
            ("wait_for", "quorum"),
            ("node_timeout", "none"),
            ("tries", "11"),          // once, and 10 times again
            ("retry_delay", "300ms"), // 200 ms, and 100 ms more or less
            ("retry_least", "100ms"),
            ("jitter", "true"),
            ("clock", "wall"),
            ("drift_ratio", "1/100"),
            ("drift_constant", "2ms"),
            ("token", "call"),
            ("renew_every", "none"), // 500 ms before the end with `using()`
            ("told_on_loss", "callback"),
        ],
    ),
    (
        "node-redlock-4",
        None,
        &[
            ("order", "parallel"),
            ("wait_for", "all"),
            ("node_timeout", "none"),
            ("tries", "11"),          // once, and 10 times again
            ("retry_delay", "300ms"), // 200 ms, and 100 ms more or less
            ("retry_least", "100ms"),
            ("jitter", "true"),
            ("clock", "wall"),
            ("drift_ratio", "1/100"),
            ("drift_constant", "2ms"),
            ("elapsed_check", "true"),
            ("release_between_tries", "true"),
            ("token", "call"),
        ],
    ),
    (
        "pottery",
        Some(Duration::from_secs(10)),
        &[
            ("order", "parallel"),
            ("wait_for", "yes"),
            ("node_timeout", "5s"),
            ("transport_retries", "10"),
            ("reconnect", "redis-py-8"),
            ("tries", "1000"), // for ever
            ("retry_delay", "200ms"),
            ("jitter", "true"),
            ("clock", "monotonic"),
            ("drift_ratio", "1/100"),
            ("drift_constant", "2ms"),
            ("token", "attempt"),
            ("tells_deadline", "false"),
            ("extend_check", "none"),
        ],
    ),
    (
        "redis-plus-plus",
        Some(Duration::from_secs(3)),
        &[
            ("order", "sequential"),
            ("node_timeout", "none"),
            ("tries", "1"),
            ("clock", "monotonic"),
            ("drift_ratio", "1/100"),
            ("drift_constant", "2ms"),
            ("on_node_error", "stop"),
            ("tells_deadline", "false"),
            ("renew_every", "1/2"),
            ("renew_from", "reply"),
            ("renew_stops_on_error", "true"),
            ("told_on_loss", "at-release"), // a mutex that was reset gives nothing back
        ],
    ),
    (
        "redis-plus-plus-tx",
        Some(Duration::from_secs(3)),
        &[
            ("order", "sequential"),
            ("node_timeout", "none"),
            ("tries", "1"),
            ("clock", "monotonic"),
            ("drift_ratio", "0/1"),
            ("drift_constant", "0s"),
            ("tells_deadline", "false"),
            ("renew_every", "1/2"),
            ("renew_from", "reply"),
            ("renew_stops_on_error", "true"),
            ("told_on_loss", "at-release"), // a mutex that was reset gives nothing back
        ],
    ),
    (
        "redis-py",
        None,
        &[
            ("expiry", "none"),
            ("token", "call"),
            ("extend_adds", "true"),
            ("poll", "100ms"),
            ("request_timeout", "5s"),
            ("transport_retries", "10"),
            ("reconnect", "redis-py-8"),
        ],
    ),
    (
        "spring-registry",
        Some(Duration::from_secs(60)), // DEFAULT_EXPIRE_AFTER
        &[
            ("client_id", "process"),
            ("local", "process"),
            ("wait", "twice"),
            ("wait_clock", "wall"),
            ("poll", "100ms"),          // DEFAULT_IDLE
            ("request_timeout", "60s"), // Lettuce's own
        ],
    ),
    (
        "redisson",
        Some(Duration::from_secs(30)), // lockWatchdogTimeout
        &[
            ("request_timeout", "3s"),
            ("on_timeout", "keep"),
            ("elapsed_check", "false"),
            ("release_on_failure", "false"),
            ("wake", "pubsub"),
            ("poll", "none"),
            ("wait_clock", "wall"), // System.currentTimeMillis
            ("renew_every", "1/3"), // of lockWatchdogTimeout, 30 s
            ("told_on_loss", "none"),
        ],
    ),
    (
        "redisson-redlock",
        None,
        &[
            ("request_timeout", "3s"),
            ("elapsed_check", "false"),
            ("release_on_failure", "true"),
            ("members", "majority"),
            ("lease_from", "wait"), // twice the time of the wait
            ("final_expire", "unchecked"),
        ],
    ),
    (
        "redisson-replicated",
        Some(Duration::from_secs(30)),
        &[("request_timeout", "3s"), ("on_timeout", "keep"), ("synced", "any"), ("wait_timeout", "1s")],
    ),
    (
        "redis-semaphore",
        Some(Duration::from_secs(10)),
        &[
            ("order", "parallel"),
            ("wait_for", "all"),
            ("node_timeout", "none"),
            ("tries", "1000"), // until its limit
            ("acquire_limit", "10s"),
            ("retry_delay", "10ms"),
            ("jitter", "false"),
            ("elapsed_check", "false"),
            ("transport_retries", "20"), // of its driver
            ("reconnect", "ioredis-5"),
            ("token", "object"),
            ("renew_every", "4/5"),
            ("told_on_loss", "callback"),
        ],
    ),
    (
        "redis-semaphore-mutex",
        Some(Duration::from_secs(10)),
        &[("poll", "10ms"), ("request_timeout", "none"), ("token", "object"), ("renew_every", "4/5")],
    ),
    (
        "redlock-antirez",
        None,
        &[
            ("order", "sequential"),
            ("node_timeout", "5s"), // of its driver
            ("tries", "3"),
            ("retry_delay", "200ms"),
            ("jitter", "true"),
            ("clock", "wall"),
            ("drift_ratio", "1/100"),
            ("drift_constant", "2ms"),
            ("token", "call"),
        ],
    ),
    (
        "redlock-net",
        None,
        &[
            ("order", "parallel"),
            ("wait_for", "all"),
            ("node_timeout", "1s"),
            ("tries", "3"),
            ("retry_delay", "399ms"), // a whole number below 400
            ("jitter", "true"),
            ("clock", "monotonic"),
            ("drift_ratio", "1/100"),
            ("drift_constant", "2ms"),
            ("token", "call"),
            ("tells_deadline", "false"),
            ("extend_if_missing", "true"),
            ("renew_every", "1/2"),
            ("told_on_loss", "flag"),
        ],
    ),
    (
        "redlock-py",
        None,
        &[
            ("order", "sequential"),
            ("node_timeout", "5s"),
            ("transport_retries", "10"),
            ("reconnect", "redis-py-8"),
            ("tries", "3"),
            ("retry_delay", "200ms"),
            ("jitter", "false"),
            ("clock", "wall"),
            ("drift_ratio", "1/100"),
            ("drift_constant", "2ms"),
            ("token", "call"),
        ],
    ),
    (
        "redlock-rb",
        None,
        &[
            ("order", "sequential"),
            ("node_timeout", "100ms"),
            ("tries", "4"),           // once, and 3 times again
            ("retry_delay", "249ms"), // 200 ms, and a whole number below 50 more
            ("retry_least", "200ms"),
            ("jitter", "true"),
            ("clock", "monotonic"),
            ("drift_ratio", "1/100"),
            ("drift_constant", "2ms"),
            ("token", "attempt"),
        ],
    ),
    (
        "redsync",
        Some(Duration::from_secs(8)),
        &[
            ("order", "parallel"),
            ("node_timeout", "5s"), // ReadTimeout of go-redis 9.22
            ("tries", "32"),
            ("retry_delay", "250ms"),
            ("retry_least", "50ms"),
            ("jitter", "true"),
            ("clock", "monotonic"),
            ("drift_ratio", "1/100"),
            ("drift_constant", "0s"),
            ("token", "call"),
        ],
    ),
    (
        "rslock",
        None,
        &[
            ("order", "parallel"),
            ("node_timeout", "none"),
            ("tries", "3"),
            ("retry_delay", "200ms"),
            ("jitter", "true"),
            ("clock", "monotonic"),
            ("drift_ratio", "1/100"),
            ("drift_constant", "2ms"),
            ("token", "call"),
        ],
    ),
    (
        "symfony-combined",
        Some(Duration::from_secs(300)),
        &[
            ("order", "sequential"),
            ("node_timeout", "none"),
            ("tries", "1"),
            ("clock", "wall"),
            ("drift_ratio", "0/1"),
            ("drift_constant", "0s"),
        ],
    ),
    (
        "laravel",
        None,
        &[
            ("expiry", "none"),
            ("token", "object"),
            ("poll", "250ms"),
            ("wait_clock", "wall"),
            ("request_timeout", "60s"),
        ],
    ),
    (
        "laravel-scheduler",
        Some(Duration::from_secs(86_400)),
        &[("probe", "takes"), ("release", "plain-delete"), ("request_timeout", "60s")],
    ),
    (
        "laravel-without-overlapping",
        None,
        &[("expiry", "none"), ("token", "object"), ("request_timeout", "60s")],
    ),
    (
        "redis-mutex",
        Some(Duration::from_secs(10)),
        &[("gives_back", "get-then-delete"), ("asks_again", "true")],
    ),
    (
        "rueidislock",
        Some(Duration::from_secs(5)),
        &[
            ("expiry_clock", "client"),
            ("clock", "monotonic"),
            ("drift_ratio", "0/1"),
            ("drift_constant", "0s"),
            ("tells_deadline", "false"),
            ("wake", "tracking"),
            ("request_timeout", "20ms"),
        ],
    ),
    (
        "shedlock",
        None,
        &[
            ("release", "plain-delete"),
            ("extend_by", "set-xx"),
            ("token", "call"),
            ("request_timeout", "60s"),
        ],
    ),
    (
        "stackexchange-redis",
        None,
        &[
            ("release", "compare-and-delete"),
            ("extend_by", "compare"),
            ("token", "call"),
            ("request_timeout", "5s"),
        ],
    ),
    (
        "symfony-lock",
        Some(Duration::from_secs(300)),
        &[
            ("initial_ttl", "300s"),
            ("token", "object"),
            ("clock", "wall"),
            ("drift_ratio", "0/1"),
            ("drift_constant", "0s"),
            ("request_timeout", "60s"),
        ],
    ),
];
