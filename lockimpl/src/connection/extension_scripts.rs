//! The scripts by which libraries extend a lease otherwise than the page: until a moment, and by so much more.

use std::sync::LazyLock;

use super::scripts::Script;

/// The sources of those that the lock on one node alone takes.
pub(crate) fn quirk_scripts() -> Vec<String> {
    [&EXTEND_UNTIL, &EXTEND_MORE].map(|script| script.source.to_owned()).into()
}

pub(crate) static EXTEND_UNTIL: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "if redis.call('GET', KEYS[1]) == ARGV[1] then \
         return redis.call('PEXPIREAT', KEYS[1], ARGV[2]) end \
         return 0",
    )
});

pub(crate) static EXTEND_MORE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end \
         local left = redis.call('PTTL', KEYS[1]) \
         if left < 0 then return 0 end \
         return redis.call('PEXPIRE', KEYS[1], left + ARGV[2])",
    )
});
