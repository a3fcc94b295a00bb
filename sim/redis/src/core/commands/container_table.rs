//! The commands about values of many elements: names, arities and flags as Redis 7.0.15 has them, and what each runs.
//!
//! A table of its own, which `table.rs` puts in among its own rows, because one file would be too long.

use super::table::command;
use super::{lists, scan, sets};
use crate::core::command::{CommandSpec, DENY_OOM, FAST, MOVABLE_KEYS, READ_ONLY, WRITE};

/// Sorted by name.
pub(super) const CONTAINERS: &[CommandSpec] = &[
    command("LINDEX", "lindex", 3, READ_ONLY, lists::lindex),
    command("LINSERT", "linsert", 5, WRITE | DENY_OOM, lists::linsert),
    command("LLEN", "llen", 2, READ_ONLY | FAST, lists::llen),
    command("LMOVE", "lmove", 5, WRITE | DENY_OOM, lists::lmove),
    command("LMPOP", "lmpop", -4, WRITE | MOVABLE_KEYS, lists::lmpop),
    command("LPOP", "lpop", -2, WRITE | FAST, lists::lpop),
    command("LPOS", "lpos", -3, READ_ONLY, lists::lpos),
    command("LPUSH", "lpush", -3, WRITE | DENY_OOM | FAST, lists::lpush),
    command("LPUSHX", "lpushx", -3, WRITE | DENY_OOM | FAST, lists::lpushx),
    command("LRANGE", "lrange", 4, READ_ONLY, lists::lrange),
    command("LREM", "lrem", 4, WRITE, lists::lrem),
    command("LSET", "lset", 4, WRITE | DENY_OOM, lists::lset),
    command("LTRIM", "ltrim", 4, WRITE, lists::ltrim),
    command("RPOP", "rpop", -2, WRITE | FAST, lists::rpop),
    command("RPOPLPUSH", "rpoplpush", 3, WRITE | DENY_OOM, lists::rpoplpush),
    command("RPUSH", "rpush", -3, WRITE | DENY_OOM | FAST, lists::rpush),
    command("RPUSHX", "rpushx", -3, WRITE | DENY_OOM | FAST, lists::rpushx),
    command("SADD", "sadd", -3, WRITE | DENY_OOM | FAST, sets::sadd),
    command("SCARD", "scard", 2, READ_ONLY | FAST, sets::scard),
    command("SDIFF", "sdiff", -2, READ_ONLY, sets::sdiff),
    command("SDIFFSTORE", "sdiffstore", -3, WRITE | DENY_OOM, sets::sdiffstore),
    command("SINTER", "sinter", -2, READ_ONLY, sets::sinter),
    command("SINTERCARD", "sintercard", -3, READ_ONLY | MOVABLE_KEYS, sets::sintercard),
    command("SINTERSTORE", "sinterstore", -3, WRITE | DENY_OOM, sets::sinterstore),
    command("SISMEMBER", "sismember", 3, READ_ONLY | FAST, sets::sismember),
    command("SMEMBERS", "smembers", 2, READ_ONLY, sets::smembers),
    command("SMISMEMBER", "smismember", -3, READ_ONLY | FAST, sets::smismember),
    command("SMOVE", "smove", 4, WRITE | FAST, sets::smove),
    command("SPOP", "spop", -2, WRITE | FAST, sets::spop),
    command("SRANDMEMBER", "srandmember", -2, READ_ONLY, sets::srandmember),
    command("SREM", "srem", -3, WRITE | FAST, sets::srem),
    command("SSCAN", "sscan", -3, READ_ONLY, scan::sscan),
    command("SUNION", "sunion", -2, READ_ONLY, sets::sunion),
    command("SUNIONSTORE", "sunionstore", -3, WRITE | DENY_OOM, sets::sunionstore),
];
