//! The scripts that requests run on a node, and how they are called: by their hash.
//!
//! What other locks send is in a [`cached_script`](super::cached_script) beside the lock.

use std::sync::LazyLock;
use std::time::Duration;

use redis::Cmd;

use super::units::millis;
use crate::lock::Token;

/// The sources of all scripts that requests take.
pub(crate) fn scripts() -> Vec<String> {
    let all = [&CLAIM_FENCED, &COMPARE_AND_DELETE, &EXTEND, &EXTEND_OR_SET];
    all.map(|script| script.source.to_owned()).into()
}

/// The source of the one that only gives back.
pub(crate) fn release_scripts() -> Vec<String> {
    vec![COMPARE_AND_DELETE.source.to_owned()]
}

/// A script and the name Redis knows it by once it has seen it.
pub(crate) struct Script {
    pub(super) source: &'static str,
    hash: String,
}

impl Script {
    pub(crate) fn new(source: &'static str) -> Self {
        Self { source, hash: redis::Script::new(source).get_hash().to_owned() }
    }

    /// The SHA-1 of the source, in hexadecimal.
    pub(crate) fn hash(&self) -> &str {
        &self.hash
    }

    /// The EVALSHA that runs it.
    pub(super) fn call(&self, keys: &[&str], token: &Token, ttl: Option<Duration>) -> Cmd {
        self.call_with(keys, token, ttl.map(millis))
    }

    /// The same with any number.
    pub(super) fn call_with(&self, keys: &[&str], token: &Token, number: Option<u64>) -> Cmd {
        let mut call = Cmd::with_capacity(6, 128 + keys.iter().map(|key| key.len()).sum::<usize>());
        call.arg("EVALSHA").arg(self.hash()).arg(keys.len()).arg(keys).arg(token.as_bytes());
        if let Some(number) = number {
            call.arg(number);
        }
        call
    }
}

// INCR comes before SET: a script's writes stay when it fails later, and a counter that ran ahead
// does no harm, while a key without a grant locks everybody out for a lease.
pub(crate) static CLAIM_FENCED: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "if redis.call('EXISTS', KEYS[1]) == 1 then return false end \
         local number = redis.call('INCR', KEYS[2]) \
         redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) \
         return number",
    )
});

pub(crate) static COMPARE_AND_DELETE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end \
         return 0",
    )
});

pub(crate) static EXTEND: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "if redis.call('GET', KEYS[1]) == ARGV[1] then \
         return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end \
         return 0",
    )
});

pub(crate) static EXTEND_OR_SET: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local value = redis.call('GET', KEYS[1]) \
         if value == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end \
         if value then return 0 end \
         redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) \
         return 1",
    )
});
