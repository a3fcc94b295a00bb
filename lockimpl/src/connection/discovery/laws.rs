//! Defaults by which each driver finds a master behind Sentinels, as its source has it, read on 2026-11-29.
//!
//! | driver | read |
//! |---|---|
//! | redis-py 8.1.0, 5.2.1 | sentinel.py (`discover_master`, `SentinelManagedConnection`), connection.py, client.py |
//! | ioredis 5.11.1, 6.0.0 | connectors/SentinelConnector/index.js, redis/event_handler.js, Redis.js |
//! | its `failoverDetector` | connectors/SentinelConnector/FailoverDetector.js, AbstractConnector.js |
//! | Jedis v7.5.3 | providers/SentineledConnectionProvider.java |
//! | go-redis v9.22.0 | sentinel.go (`MasterAddr`, `trySwitchMaster`), internal/pool/pool.go |
//! | Redisson 4.7.0 | connection/SentinelConnectionManager.java, MasterSlaveEntry.java |
//! | Lettuce b0bcdd8 | RedisClient.java (`lookupRedis`, `socketAddressSupplier`), ConnectionWatchdog.java |

use std::time::Duration;

use crate::config::MasterDiscovery;
use crate::connection::transport::{Reconnect, Transport};

/// The way in which a driver asks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Law {
    pub(super) question: Question,
    pub(super) order: Order,
    pub(super) when_none: WhenNone,
    /// It keeps its connection to a Sentinel from one question to the next.
    pub(super) keeps_connection: bool,
    connect_timeout: Option<Duration>,
    pub(super) reply_timeout: Option<Duration>,
    /// The way in which it hears of a new master beside its connections.
    pub(super) hears: Hears,
    /// The fate of a request under way when it has heard of one.
    pub(super) under_way: UnderWay,
    /// The tries for each Sentinel after the first.
    retries: u32,
    reconnect: Reconnect,
}

/// The question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// `SENTINEL GET-MASTER-ADDR-BY-NAME`: the address, also of a master that is down.
    Address,
    /// `SENTINEL MASTERS`, of which one that is down does not count.
    Masters,
    /// `ROLE`, of a node.
    Role,
}

/// The order in which they are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// From the first; the one that answers changes places with the first.
    AnsweringFirst,
    /// On from where the last question ended.
    Circle,
    /// From the first, whoever answered before.
    FromFirst,
    /// All at once, and the one that answers first is kept: it alone is asked from then on, twice if it must be.
    AllAtOnce,
    /// From the first that takes a connection, and no other after it.
    FirstThatConnects,
}

/// A driver's way out where nobody names a master.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WhenNone {
    /// The command fails.
    GiveUp,
    /// It takes the last that was named.
    LastKnown,
    /// It asks all of them again: after 10 ms, 20 ms, and so on up to a second.
    AskAgain,
}

/// The way in which a driver hears of a new master without making a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hears {
    /// Not at all.
    Nothing,
    /// From each Sentinel, to which it has subscribed.
    Each,
    /// From the one Sentinel that it keeps, to which it has subscribed.
    Kept,
    /// By asking one of them each second.
    Asking,
    /// From each Sentinel, to which it subscribes anew with each connection to a master.
    EachAnew,
}

/// The fate of a request under way on a connection to a node that is not the master any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnderWay {
    /// It runs on, and its reply counts.
    GoesOn,
    /// Its connection is closed, and it fails if its reply has not come after so long.
    FailsAfter(Duration),
    /// Its connection is closed, and it is noticed when its time is over.
    IsForgotten,
}

impl Law {
    /// That of a driver; `timeout` is how long it waits for a command.
    pub(super) fn of(discovery: MasterDiscovery, timeout: Option<Duration>) -> Self {
        let seconds = |seconds: u64| Some(Duration::from_secs(seconds));
        let plain = Self {
            question: Question::Address,
            order: Order::AnsweringFirst,
            when_none: WhenNone::GiveUp,
            keeps_connection: true,
            hears: Hears::Nothing,
            under_way: UnderWay::GoesOn,
            connect_timeout: timeout,
            reply_timeout: timeout,
            retries: 0,
            reconnect: Reconnect::AtOnce,
        };
        match discovery {
            MasterDiscovery::Fixed | MasterDiscovery::AtConnect => plain,
            MasterDiscovery::AskNodes => Self { question: Question::Role, order: Order::Circle, ..plain },
            MasterDiscovery::RedisPy5 => Self { question: Question::Masters, ..plain },
            MasterDiscovery::RedisPy8 => Self {
                question: Question::Masters,
                // `socket_timeout` goes to Sentinels as well, the time to connect does not follow it.
                connect_timeout: seconds(5),
                retries: 10,
                reconnect: Reconnect::RedisPy8,
                ..plain
            },
            MasterDiscovery::Ioredis => plain.of_ioredis(),
            MasterDiscovery::IoredisDetector => Self {
                hears: Hears::EachAnew,
                // `disconnectTimeout`: it says that it ends the connection, and waits for the other end to do so.
                under_way: UnderWay::FailsAfter(Duration::from_secs(2)),
                ..plain.of_ioredis()
            },
            MasterDiscovery::Jedis => Self {
                keeps_connection: false,
                hears: Hears::Each,
                connect_timeout: seconds(2),
                reply_timeout: seconds(2),
                ..plain
            },
            MasterDiscovery::GoRedis => Self {
                order: Order::AllAtOnce,
                hears: Hears::Kept,
                under_way: UnderWay::FailsAfter(Duration::ZERO),
                connect_timeout: seconds(5),
                reply_timeout: seconds(5),
                ..plain
            },
            MasterDiscovery::Redisson => Self {
                order: Order::FromFirst,
                hears: Hears::Asking,
                under_way: UnderWay::IsForgotten,
                connect_timeout: seconds(10),
                reply_timeout: seconds(3),
                ..plain
            },
            MasterDiscovery::Lettuce => Self {
                order: Order::FirstThatConnects,
                when_none: WhenNone::LastKnown,
                keeps_connection: false,
                connect_timeout: seconds(10),
                reply_timeout: seconds(60),
                ..plain
            },
        }
    }

    fn of_ioredis(self) -> Self {
        Self {
            order: Order::Circle,
            when_none: WhenNone::AskAgain,
            keeps_connection: false,
            connect_timeout: Some(Duration::from_secs(10)),
            reply_timeout: None,
            ..self
        }
    }

    /// The way in which those who are asked are connected to.
    pub(super) fn transport(&self) -> Transport {
        Transport {
            retries: self.retries,
            reconnect: self.reconnect,
            connect_timeout: self.connect_timeout,
            discovery: MasterDiscovery::Fixed,
        }
    }
}
