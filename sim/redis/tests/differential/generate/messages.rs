//! Commands about subscriptions and messages. Whoever subscribes hears nothing here: when a message arrives among
//! replies is a matter of moments. And to one channel at a time, since a command has one reply here.
//!
//! `$heard` is a channel that is subscribed to, `$heardpattern` a pattern, `$unheard` a channel that is not, and
//! `$messagelua` a script that publishes.

use super::Family;

pub(crate) const MESSAGES: Family = &[
    (8, "SUBSCRIBE $heard"),
    (6, "PSUBSCRIBE $heardpattern"),
    (4, "SSUBSCRIBE $heard"),
    (6, "UNSUBSCRIBE $heard"),
    (4, "PUNSUBSCRIBE $heardpattern"),
    (3, "SUNSUBSCRIBE $heard"),
    (10, "PUBLISH $unheard $v"),
    (4, "SPUBLISH $unheard $v"),
    (1, "PUBLISH $unheard"),
    (1, "SPUBLISH $unheard $v $v"),
    (3, "PUBSUB CHANNELS"),
    (3, "PUBSUB CHANNELS $pattern"),
    (1, "PUBSUB CHANNELS $v $v"),
    (4, "PUBSUB NUMSUB $heard $unheard $heard"),
    (1, "PUBSUB NUMSUB"),
    (4, "PUBSUB NUMPAT"),
    (1, "PUBSUB NUMPAT $v"),
    (2, "PUBSUB SHARDCHANNELS"),
    (1, "PUBSUB SHARDCHANNELS $pattern"),
    (3, "PUBSUB SHARDNUMSUB $heard $unheard"),
    (1, "PUBSUB HELP"),
    (1, "PUBSUB HELP $v"),
    (1, "PUBSUB $odd"),
    (1, "PUBSUB"),
    (1, "SUBSCRIBE"),
    (1, "PSUBSCRIBE"),
    (4, "PING"),
    (2, "PING $v"),
    (1, "PING $v $v"),
    (3, "GET $k"),
    (2, "SET $k $v"),
    (4, "RESET"),
    (1, "QUIT"),
    (5, "HELLO 3"),
    (1, "HELLO 2"),
    (2, "CLIENT INFO"),
    (1, "CLIENT LIST"),
    (1, "CLIENT LIST TYPE pubsub"),
    (1, "CLIENT LIST TYPE normal"),
    (1, "CLIENT KILL TYPE pubsub SKIPME no"),
    (1, "INFO stats"),
    (2, "MULTI"),
    (2, "EXEC"),
    (1, "DISCARD"),
    (2, "EVAL $messagelua 1 $unheard $v"),
    (1, "EVAL_RO $messagelua 1 $unheard $v"),
    (1, "COMMAND GETKEYS SSUBSCRIBE $heard"),
];

/// Channels that somebody may listen to. No message is sent to them, and none to what they are the beginning of.
pub(crate) const HEARD: &[&str] = &["heard", "heard:b", "heard:two words", "hört"];

/// Patterns that some of them match.
pub(crate) const HEARD_PATTERNS: &[&str] = &["heard*", "heard:?", "heard:[a-c]", "h*t"];

/// Channels that nobody listens to.
pub(crate) const UNHEARD: &[&str] = &["unheard", "", "k1", "un heard", "*"];

/// Scripts about messages.
pub(crate) const MESSAGE_SCRIPTS: &[&str] = &[
    "return redis.call('PUBLISH', KEYS[1], ARGV[1])",
    "return redis.call('SPUBLISH', KEYS[1], ARGV[1])",
    "redis.call('INCR', 'k1') return redis.pcall('PUBLISH', KEYS[1], ARGV[1])",
    "return redis.call('PUBSUB', 'NUMSUB', KEYS[1], 'heard')",
    "return redis.call('PUBSUB', 'NUMPAT')",
    "return redis.pcall('SUBSCRIBE', KEYS[1])",
    "return redis.call('UNSUBSCRIBE')",
    "return redis.call('PUBLISH', KEYS[1])",
    "return redis.call('PING')",
];
