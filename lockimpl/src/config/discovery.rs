//! The ways to a master behind Sentinels, by the name of the driver that goes them. `connection::discovery` does so.

use super::choice::Choice;

/// The manner in which a driver finds the master, by the name of the driver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MasterDiscovery {
    /// Not at all: the node that was the master at the beginning.
    Fixed,
    /// By asking the nodes themselves (`ROLE`), one after the other.
    AskNodes,
    /// By asking one Sentinel after the other for the address, at each new connection, and checking the role there.
    #[default]
    AtConnect,
    /// As redis-py 5: without any limit of its own.
    RedisPy5,
    /// As redis-py 8: eleven tries for each Sentinel, with 5 s to connect and 5 s for the answer.
    RedisPy8,
    /// As ioredis 5 and 6: in a circle, with 10 s to connect and no limit for the answer.
    Ioredis,
    /// As ioredis with `failoverDetector: true`: the same, and a connection ends when any Sentinel tells of another
    /// master.
    IoredisDetector,
    /// As Lettuce's `RedisClient.connect`: the first Sentinel that takes a connection, and no other.
    Lettuce,
    /// As Jedis: at the beginning, and then by listening to every Sentinel.
    Jedis,
    /// As go-redis: the Sentinel that answered first, which is asked for each connection and listened to.
    GoRedis,
    /// As Redisson: one Sentinel each second, in a random order.
    Redisson,
}

impl Choice for MasterDiscovery {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("fixed", Self::Fixed),
        ("ask-nodes", Self::AskNodes),
        ("at-connect", Self::AtConnect),
        ("redis-py-5", Self::RedisPy5),
        ("redis-py-8", Self::RedisPy8),
        ("ioredis", Self::Ioredis),
        ("ioredis-failover-detector", Self::IoredisDetector),
        ("lettuce", Self::Lettuce),
        ("jedis", Self::Jedis),
        ("go-redis", Self::GoRedis),
        ("redisson", Self::Redisson),
    ];
}

impl MasterDiscovery {
    /// True if a driver looks at the role of a node that it has connected to, and takes none but a master.
    pub(crate) fn checks_role(self) -> bool {
        matches!(self, Self::AtConnect | Self::Ioredis | Self::IoredisDetector)
    }

    /// True if a driver gives its check of the role no limit.
    pub(crate) fn waits_for_role(self) -> bool {
        matches!(self, Self::Ioredis | Self::IoredisDetector)
    }

    /// True if a driver takes a refusal of a replica (`READONLY`) for the end of the connection.
    pub(crate) fn minds_readonly(self) -> bool {
        matches!(self, Self::AtConnect | Self::AskNodes | Self::RedisPy5 | Self::RedisPy8)
    }

    /// True if a driver looks whether an idle connection has ended before it uses it.
    pub(crate) fn sees_idle_end(self) -> bool {
        matches!(self, Self::AtConnect | Self::AskNodes | Self::RedisPy5 | Self::RedisPy8)
    }
}
