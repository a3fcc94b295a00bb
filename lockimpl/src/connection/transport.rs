//! The stubbornness of a driver: how long it waits for a connection, how often it opens a new one for a request whose
//! connection broke, how long it pauses before, and whether it does that for each request or beside them all.
//!
//! A request that is sent again may have been executed before. A `SET … NX` that was finds its own token, and is
//! answered as if another held the lock.
//!
//! Does not model handshakes (`HELLO`, `INFO`, `CLIENT SETINFO`): a connection is ready when it is open.

use std::time::Duration;

use crate::config::MasterDiscovery;
use crate::config::{Choice, Form};
use crate::env::Env;
use crate::env::jitter::up_to;

/// How a driver deals with connections that break.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transport {
    /// How often it opens a connection anew before it gives up the requests that wait for one. Default 0: never, as
    /// redis-rs' connection does by itself. redis-py 8 and ioredis' `maxRetriesPerRequest`: 10 and 20.
    pub retries: u32,
    /// When it does so.
    pub reconnect: Reconnect,
    /// The time that connecting may take. Default none: the time of the first command on a connection includes it.
    pub connect_timeout: Option<Duration>,
    /// The way to a master that has to be asked for. No lock has a switch for it: it follows the driver.
    pub discovery: MasterDiscovery,
}

/// When a driver opens a connection anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reconnect {
    /// At once, for the request whose connection broke.
    #[default]
    AtOnce,
    /// As redis-py 8: for the request whose connection broke or whose reply did not come in time, after a pause drawn
    /// between nothing and 10 ms · 2ⁿ before the n-th time, 1 s at most. With its 10 times: 3.9 s on average, all in
    /// all. A pool connects before the request, and tries as often. While the request is sent again, connecting that
    /// did not come to anything in time is tried as often for each time: a node whose packets vanish holds a request up
    /// for ten minutes.
    RedisPy8,
    /// As go-redis up to 9.21: the same after 8 ms and up to 8 ms · 2ⁿ more, 512 ms at most. Each time it tries five
    /// times to connect, with 100 ms in between.
    GoRedis921,
    /// As go-redis from 9.22: the same with 10 ms, and 1 s at most.
    GoRedis922,
    /// As ioredis 5: beside all requests, from when the lock is built on, and again as soon as a connection ends,
    /// whether or not anybody uses it; min(50 ms · n, 2 s) before the n-th time. Requests queue meanwhile, those that
    /// were sent are sent again, and all of them are given up together at every (`retries` + 1)-th failure in a row.
    /// For its 20 that is 10.5 s after the connection ended, whenever a request was made; the next time 32.5 s later.
    Ioredis5,
    /// As ioredis 6: the same with min(50 ms · 2ⁿ⁻¹, 5 s) and up to 200 ms more, which comes to 73 s.
    Ioredis6,
    /// As Lettuce 7: beside all requests as well, with min(2ⁿ⁻¹ ms, 30 s).
    Lettuce7,
    /// As Bull 4 has ioredis do it: the same with min(eⁿ ms, 20 s), which comes to 233 s.
    Bull4,
    /// As BullMQ 6 has it: the same, and 1 s at least.
    BullMq6,
}

impl Choice for Reconnect {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("at-once", Self::AtOnce),
        ("redis-py-8", Self::RedisPy8),
        ("go-redis-9.21", Self::GoRedis921),
        ("go-redis-9.22", Self::GoRedis922),
        ("ioredis-5", Self::Ioredis5),
        ("ioredis-6", Self::Ioredis6),
        ("lettuce-7", Self::Lettuce7),
        ("bull-4", Self::Bull4),
        ("bullmq-6", Self::BullMq6),
    ];
}

impl Transport {
    /// Asks for its switches; where nothing is chosen, no request is sent again.
    pub(crate) fn choose(form: &mut Form<'_>) -> Self {
        let connect_timeout = form.optional_timeout(
            "connect_timeout",
            "how long connecting may take; with none, the first command includes it",
        );
        let retries = form.number(
            "transport_retries",
            (0, 1000),
            0,
            "how often the driver connects anew before it gives up what it was asked to send",
        );
        let reconnect = form.choice(
            "reconnect",
            Reconnect::default(),
            "when the driver connects anew: for a request at once, or as that driver does",
        );
        form.needs("transport_retries");
        Self {
            retries: u32::try_from(retries).unwrap_or(u32::MAX),
            reconnect,
            connect_timeout,
            discovery: form.discovery(),
        }
    }
}

/// The ways in which one try of a request connects more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialing {
    /// As often as a request is sent, and with the same pauses; `only_if_late` unless it was refused.
    AsOften { only_if_late: bool },
    /// So often more, with the same pause each time.
    Times { more: u32, pause: Duration },
}

/// Asks for the driver, and for the time that one command may take.
pub(crate) fn choose_request_timeout(form: &mut Form<'_>) -> Option<Duration> {
    form.driver();
    form.timeout(
        "request_timeout",
        Some(Duration::from_secs(1)),
        "how long one command may take, connecting included",
    )
}

impl Reconnect {
    /// Whether the driver connects beside its requests, and not for one of them.
    pub(crate) fn is_beside(self) -> bool {
        matches!(self, Self::Ioredis5 | Self::Ioredis6 | Self::Lettuce7 | Self::Bull4 | Self::BullMq6)
    }

    /// Says how one try of a request connects, for a driver that does so more than once; `is_again` if it is not the
    /// first.
    pub(crate) fn dialing(self, is_again: bool) -> Option<Dialing> {
        match self {
            Self::RedisPy8 if is_again => Some(Dialing::AsOften { only_if_late: true }),
            Self::RedisPy8 => Some(Dialing::AsOften { only_if_late: false }),
            Self::GoRedis921 | Self::GoRedis922 => {
                Some(Dialing::Times { more: 4, pause: Duration::from_millis(100) })
            }
            _ => None,
        }
    }

    /// True if a command that waits at the node on purpose has no more time than any other.
    pub(crate) fn times_waits(self) -> bool {
        self == Self::RedisPy8
    }

    /// Whether a reply that did not come in time counts as a broken connection.
    pub(crate) fn minds_silence(self) -> bool {
        matches!(self, Self::RedisPy8 | Self::GoRedis921 | Self::GoRedis922)
    }

    /// The pause after so many failures in a row.
    pub(crate) fn pause<E: Env>(self, env: &E, failures: u32) -> Duration {
        let millis = Duration::from_millis;
        let doubled = |base: u64, times: u32| millis(base.saturating_mul(1 << times.min(32)));
        match self {
            Self::AtOnce => Duration::ZERO,
            Self::RedisPy8 => up_to(env, doubled(10, failures)).min(millis(1_000)),
            Self::GoRedis921 => millis(8).saturating_add(up_to(env, doubled(8, failures))).min(millis(512)),
            Self::GoRedis922 => {
                millis(10).saturating_add(up_to(env, doubled(10, failures))).min(millis(1_000))
            }
            Self::Lettuce7 => doubled(1, failures.saturating_sub(1)).min(millis(30_000)),
            Self::Ioredis5 => millis(u64::from(failures).saturating_mul(50)).min(millis(2_000)),
            Self::Ioredis6 => {
                let pause = doubled(50, failures.saturating_sub(1)).min(millis(5_000));
                pause.saturating_add(up_to(env, millis(200)))
            }
            Self::Bull4 => exponential(failures),
            Self::BullMq6 => exponential(failures).max(millis(1_000)),
        }
    }
}

/// eⁿ ms as a timer of Node.js counts it, in whole milliseconds, and 20 s at most. A table, since `exp` may differ in
/// its last digit from one machine to the next.
fn exponential(failures: u32) -> Duration {
    const MILLIS: [u64; 10] = [1, 2, 7, 20, 54, 148, 403, 1_096, 2_980, 8_103];
    let known = usize::try_from(failures).ok().and_then(|failures| MILLIS.get(failures));
    Duration::from_millis(known.copied().unwrap_or(20_000))
}
