//! The scripts of locks that a node runs without Lua: their texts, by which it knows them.
//!
//! A native script is chosen by its SHA1 and nothing else; `run_native` does what its Lua does. Not there: scripts that
//! a user or another library sends. They are the interpreter's.

use std::sync::LazyLock;

use super::digest::digest;
use crate::resp::OwnedArgs;

/// A script that Rust runs in the place of Lua.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NativeScript {
    CompareAndDelete,
    Extend,
    ExtendOrSet,
    ClaimFenced,
}

impl NativeScript {
    pub(super) const ALL: [NativeScript; 4] = [
        NativeScript::CompareAndDelete,
        NativeScript::Extend,
        NativeScript::ExtendOrSet,
        NativeScript::ClaimFenced,
    ];

    /// The text, word for word as `lockimpl` sends it.
    pub(super) fn source(self) -> &'static str {
        match self {
            NativeScript::CompareAndDelete => {
                "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"
            }
            NativeScript::Extend => {
                "if redis.call('GET', KEYS[1]) == ARGV[1] then \
                 return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end \
                 return 0"
            }
            NativeScript::ExtendOrSet => {
                "local value = redis.call('GET', KEYS[1]) \
                 if value == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end \
                 if value then return 0 end \
                 redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) \
                 return 1"
            }
            NativeScript::ClaimFenced => {
                "if redis.call('EXISTS', KEYS[1]) == 1 then return false end \
                 local number = redis.call('INCR', KEYS[2]) \
                 redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) \
                 return number"
            }
        }
    }

    /// The keys and arguments without which the script would handle a `nil`.
    pub(super) fn least_counts(self) -> (usize, usize) {
        match self {
            NativeScript::CompareAndDelete => (1, 1),
            NativeScript::Extend | NativeScript::ExtendOrSet => (1, 2),
            NativeScript::ClaimFenced => (2, 2),
        }
    }

    /// The native script with this name.
    pub(super) fn from_sha(sha: &[u8; 20]) -> Option<NativeScript> {
        static NAMES: LazyLock<[[u8; 20]; NativeScript::ALL.len()]> =
            LazyLock::new(|| NativeScript::ALL.map(|script| digest(script.source().as_bytes())));
        NAMES.iter().position(|name| name == sha).map(|index| NativeScript::ALL[index])
    }
}

/// Whether a node runs this script without Lua.
pub fn runs_natively(source: &[u8]) -> bool {
    NativeScript::from_sha(&digest(source)).is_some()
}

/// A command being built, and its reply: kept for their memory, which is little (a few KiB).
#[derive(Debug, Default)]
pub(crate) struct NativeBuffers {
    pub(super) request: OwnedArgs,
    pub(super) reply: Vec<u8>,
}
