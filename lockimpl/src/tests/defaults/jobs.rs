//! Queues of jobs and what belongs to them, as they were read.

use std::time::Duration;

use super::table::Read;

pub(super) const READ: &[Read] = &[
    (
        "asynq",
        Some(Duration::from_secs(30)),
        &[("gives_back", "plain-delete"), ("asks_again", "true"), ("grace", "30s")],
    ),
    (
        "bull",
        Some(Duration::from_secs(30)),
        &[
            ("stalled_check", "30s"),
            ("request_timeout", "none"),
            ("on_timeout", "keep"),
            ("transport_retries", "20"), // `maxRetriesPerRequest` of ioredis
            ("reconnect", "bull-4"),
            ("renew_every", "1/2"), // `lockRenewTime`
            ("renew_from", "reply"),
            ("renew_stops_on_error", "true"),
            ("told_on_loss", "none"),
        ],
    ),
    (
        "bullmq",
        Some(Duration::from_secs(30)),
        &[
            ("stalled_check", "30s"),
            ("request_timeout", "none"),
            ("on_timeout", "keep"),
            ("transport_retries", "1000"), // `maxRetriesPerRequest` null
            ("reconnect", "bullmq-6"),
            ("renew_every", "1/4"), // half of `lockRenewTime`, which is half of `lockDuration`
            ("told_on_loss", "none"),
        ],
    ),
    (
        "dramatiq",
        Some(Duration::from_secs(900)),
        &[("request_timeout", "5s"), ("transport_retries", "10"), ("reconnect", "redis-py-8")],
    ),
    (
        "sidekiq-unique-jobs",
        None,
        &[("expiry", "none"), ("token", "call"), ("own_token_counts", "true"), ("request_timeout", "1s")],
    ),
];
