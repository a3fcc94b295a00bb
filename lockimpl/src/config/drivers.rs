//! Drivers by name and version: each is a set of defaults for the switches of a connection. A new one is an entry here.
//!
//! A lock takes the defaults of its `driver`. The settings of a library itself, and those that its
//! user chooses, come before them.
//!
//! Assumes that a driver is used as its authors deliver it. Does not model pools, handshakes, keepalives of TCP, nor
//! replies by which a server asks for another try (`LOADING`, `READONLY`).

use std::time::Duration;

use super::discovery::MasterDiscovery;
use super::switch::{NONE, Value};

/// The name of the switch that names a driver.
pub(crate) const DRIVER: &str = "driver";

/// A driver, as it is if nobody sets anything.
#[derive(Debug)]
pub struct DriverDefaults {
    /// Its name and version, as scenario files use it: `redis-py-8`.
    pub name: &'static str,
    /// The version and the files that were read.
    pub files: &'static str,
    /// The time that connecting may take; none: the first command's time includes it.
    connect_timeout: Option<Duration>,
    /// The time that one command may take; none: for ever.
    request_timeout: Option<Duration>,
    /// The fate of a connection on which a reply did not come in time: a word of `on_timeout`.
    on_timeout: &'static str,
    /// The number of times that it sends a command again.
    retries: u64,
    /// The moments at which it does so: a word of `reconnect`.
    reconnect: &'static str,
    /// The manner in which it finds a master behind Sentinels; none if nobody has read that.
    discovery: Option<MasterDiscovery>,
}

const fn seconds(seconds: u64) -> Option<Duration> {
    Some(Duration::from_secs(seconds))
}

/// All drivers, by name.
pub(crate) static DRIVERS: &[DriverDefaults] = &[
    DriverDefaults {
        name: "redis-py-5",
        files: "redis-py 5.2.1: `socket_timeout=None` and `retry=None` in redis/client.py, which redis/connection.py \
                takes for `Retry(NoBackoff(), 0)`",
        connect_timeout: None,
        request_timeout: None,
        on_timeout: "reconnect",
        retries: 0,
        reconnect: "at-once",
        discovery: Some(MasterDiscovery::RedisPy5),
    },
    DriverDefaults {
        name: "redis-py-8",
        files: "redis-py 8.1.0: redis/_defaults.py, `ExponentialWithJitterBackoff` in redis/backoff.py, redis/retry.py, \
                `connect_check_health` and `send_packed_command` in redis/connection.py",
        connect_timeout: seconds(5),
        request_timeout: seconds(5),
        on_timeout: "reconnect",
        retries: 10,
        reconnect: "redis-py-8",
        discovery: Some(MasterDiscovery::RedisPy8),
    },
    DriverDefaults {
        name: "go-redis-9.21",
        files: "go-redis 9.19.0 and 9.21.0: `init` in options.go, `processWithRetry` in redis.go, `shouldRetry` in \
                error.go, internal/internal.go, `dialConn` in internal/pool/pool.go",
        connect_timeout: seconds(5),
        request_timeout: seconds(3),
        on_timeout: "reconnect",
        retries: 3,
        reconnect: "go-redis-9.21",
        discovery: Some(MasterDiscovery::GoRedis),
    },
    DriverDefaults {
        name: "go-redis-9.22",
        files: "go-redis 9.22.0: `init` in options.go, `processWithRetry` in redis.go, `shouldRetry` in error.go, \
                internal/internal.go, `dialConn` in internal/pool/pool.go",
        connect_timeout: seconds(5),
        request_timeout: seconds(5),
        on_timeout: "reconnect",
        retries: 3,
        reconnect: "go-redis-9.22",
        discovery: Some(MasterDiscovery::GoRedis),
    },
    DriverDefaults {
        name: "ioredis-5",
        files: "ioredis 5.11.1: built/redis/RedisOptions.js and built/redis/event_handler.js",
        connect_timeout: seconds(10),
        request_timeout: None,
        on_timeout: "keep",
        retries: 20,
        reconnect: "ioredis-5",
        discovery: Some(MasterDiscovery::Ioredis),
    },
    DriverDefaults {
        name: "ioredis-6",
        files: "ioredis 6.0.0: built/redis/RedisOptions.js and built/redis/event_handler.js",
        connect_timeout: seconds(10),
        request_timeout: None,
        on_timeout: "keep",
        retries: 20,
        reconnect: "ioredis-6",
        discovery: Some(MasterDiscovery::Ioredis),
    },
    DriverDefaults {
        name: "lettuce-7",
        files: "Lettuce 7.8.0-SNAPSHOT (b0bcdd8): RedisURI.java, SocketOptions.java, ClientOptions.java, \
                protocol/ConnectionWatchdog.java, resource/DefaultClientResources.java, resource/ExponentialDelay.java",
        connect_timeout: seconds(10),
        request_timeout: seconds(60),
        on_timeout: "keep",
        // It never gives up: a command waits until its time is over.
        retries: 1000,
        reconnect: "lettuce-7",
        discovery: Some(MasterDiscovery::Lettuce),
    },
    DriverDefaults {
        name: "jedis-7",
        files: "Jedis 7.5.3: Protocol.java (`DEFAULT_TIMEOUT`), DefaultJedisClientConfig.java, DefaultCommandExecutor.java",
        connect_timeout: seconds(2),
        request_timeout: seconds(2),
        on_timeout: "reconnect",
        retries: 0,
        reconnect: "at-once",
        discovery: Some(MasterDiscovery::Jedis),
    },
    DriverDefaults {
        name: "redisson-4",
        files: "Redisson 4.7.0: BaseConfig.java, command/RedisExecutor.java; what it sends again is not modelled",
        connect_timeout: seconds(10),
        request_timeout: seconds(3),
        on_timeout: "keep",
        retries: 0,
        reconnect: "at-once",
        discovery: Some(MasterDiscovery::Redisson),
    },
    DriverDefaults {
        name: "stackexchange-redis-3",
        files: "StackExchange.Redis 3.1 (90bbf1f): ConfigurationOptions.cs, Configuration/DefaultOptionsProvider.cs",
        connect_timeout: seconds(5),
        request_timeout: seconds(5),
        on_timeout: "keep",
        retries: 0,
        reconnect: "at-once",
        discovery: None,
    },
];

impl DriverDefaults {
    /// All drivers that were read.
    pub fn all() -> &'static [Self] {
        DRIVERS
    }

    /// The driver of that name.
    pub fn find(name: &str) -> Option<&'static Self> {
        DRIVERS.iter().find(|driver| driver.name == name)
    }

    /// The manner in which it finds a master; none if nobody has read that.
    pub fn discovery(&self) -> Option<MasterDiscovery> {
        self.discovery
    }

    /// Describes in words how it behaves if nobody sets anything.
    pub fn words(&self) -> String {
        let connects = match self.connect_timeout {
            Some(limit) => format!("connects within {} s", limit.as_secs()),
            None => "gives connecting no time of its own".to_owned(),
        };
        let waits = match self.request_timeout {
            Some(limit) => format!("waits {} s for a reply", limit.as_secs()),
            None => "waits for a reply for ever".to_owned(),
        };
        let sends = match self.retries {
            0 => "sends nothing again".to_owned(),
            retries => {
                format!("sends a command again up to {retries} times (`reconnect = {}`)", self.reconnect)
            }
        };
        format!("{connects}, {waits} and {sends}")
    }

    /// The driver that a switch's value names.
    pub(crate) fn named(value: Option<&Value>) -> Option<&'static Self> {
        match value {
            Some(Value::Word(name)) => Self::find(name),
            _ => None,
        }
    }

    /// Its default of a switch: `None` if it says nothing of it, and `Some(None)` if there is no such thing with it.
    pub(crate) fn default(&self, switch: &str) -> Option<Option<Value>> {
        match switch {
            "connect_timeout" => Some(self.connect_timeout.map(Value::from)),
            "request_timeout" | "node_timeout" => {
                Some(Some(self.request_timeout.map_or(NONE.into(), Value::from)))
            }
            "on_timeout" => Some(Some(self.on_timeout.into())),
            "transport_retries" => Some(Some(self.retries.into())),
            "reconnect" => Some(Some(self.reconnect.into())),
            _ => None,
        }
    }
}
