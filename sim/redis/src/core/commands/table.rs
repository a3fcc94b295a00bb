//! The commands: names, arities and flags as Redis 7.0.15 has them, and what each runs.
//!
//! What COMMAND DOCS says of them is in `docs`, where no request but that looks.

use super::client_table::CLIENT;
use super::cluster::CLUSTER;
use super::container_table::CONTAINERS;
use super::{
    cluster, connection, expiry, failover, functions, hashes, help, introspection, keys, memory, monitor,
    pubsub, rename, replication, scan, scripting, server, sort, strings, swap, transactions,
};
use crate::core::Version;
use crate::core::command::{
    ADMIN, BUSY_OK, CommandSpec, DENY_OOM, FAST, Handler, LOADING_OK, MAY_REPLICATE, MOVABLE_KEYS,
    NO_ASYNC_LOADING, NO_AUTH, NO_MANDATORY_KEYS, NO_MULTI, NO_SCRIPT, NOT_QUEUED, PUBSUB as ABOUT_MESSAGES,
    READ_ONLY, SKIP_MONITOR, SKIP_SLOWLOG, STALE_OK, SUBSCRIBED_OK, WRITE,
};

pub(super) const fn command(
    name: &'static str,
    full_name: &'static str,
    arity: i32,
    flags: u32,
    run: Handler,
) -> CommandSpec {
    CommandSpec {
        name,
        family: name,
        full_name,
        arity,
        flags,
        run,
        subcommands: &[],
        known_to: &Version::ALL,
    }
}

pub(super) const fn subcommand(
    of: &'static str,
    names: [&'static str; 2],
    arity: i32,
    flags: u32,
    run: Handler,
) -> CommandSpec {
    CommandSpec {
        name: names[0],
        family: of,
        full_name: names[1],
        arity,
        flags,
        run,
        subcommands: &[],
        known_to: &Version::ALL,
    }
}

pub(super) const fn container(
    name: &'static str,
    full_name: &'static str,
    arity: i32,
    subcommands: &'static [CommandSpec],
) -> CommandSpec {
    CommandSpec {
        name,
        family: name,
        full_name,
        arity,
        flags: 0,
        run: server::container_without_subcommand,
        subcommands,
        known_to: &Version::ALL,
    }
}

const LISTENS: u32 = ABOUT_MESSAGES | NO_SCRIPT | LOADING_OK | STALE_OK | SUBSCRIBED_OK;
const ASKS: u32 = ABOUT_MESSAGES | LOADING_OK | STALE_OK;
const TELLS: u32 = ABOUT_MESSAGES | LOADING_OK | STALE_OK | FAST | MAY_REPLICATE;

/// Sorted by name, as COMMAND LIST shows them.
pub(crate) static COMMANDS: &[CommandSpec] = &merge_tables();

/// These and those of `container_table.rs`, by name.
const fn merge_tables() -> [CommandSpec; OTHERS.len() + CONTAINERS.len()] {
    let mut all = [OTHERS[0]; OTHERS.len() + CONTAINERS.len()];
    let (mut next, mut others, mut containers) = (0, 0, 0);
    while next < all.len() {
        let takes_other = containers == CONTAINERS.len()
            || others < OTHERS.len() && comes_before(OTHERS[others].name, CONTAINERS[containers].name);
        if takes_other {
            all[next] = OTHERS[others];
            others += 1;
        } else {
            all[next] = CONTAINERS[containers];
            containers += 1;
        }
        next += 1;
    }
    all
}

const fn comes_before(name: &str, other: &str) -> bool {
    let (name, other) = (name.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < name.len() && at < other.len() {
        if name[at] != other[at] {
            return name[at] < other[at];
        }
        at += 1;
    }
    name.len() < other.len()
}

/// Sorted by name.
const OTHERS: &[CommandSpec] = &[
    command("APPEND", "append", 3, WRITE | DENY_OOM | FAST, strings::append),
    command("ASKING", "asking", 1, FAST, cluster::refuse),
    command(
        "AUTH",
        "auth",
        -2,
        NO_SCRIPT | LOADING_OK | STALE_OK | FAST | NO_AUTH | BUSY_OK,
        connection::auth,
    ),
    container("CLIENT", "client", -2, CLIENT),
    container("CLUSTER", "cluster", -2, CLUSTER),
    CommandSpec {
        name: "COMMAND",
        family: "COMMAND",
        full_name: "command",
        arity: -1,
        flags: LOADING_OK | STALE_OK,
        run: introspection::command,
        subcommands: COMMAND,
        known_to: &Version::ALL,
    },
    container("CONFIG", "config", -2, CONFIG),
    command("COPY", "copy", -3, WRITE | DENY_OOM, rename::copy),
    command("DBSIZE", "dbsize", 1, READ_ONLY | FAST, keys::dbsize),
    command("DECR", "decr", 2, WRITE | DENY_OOM | FAST, strings::decr),
    command("DECRBY", "decrby", 3, WRITE | DENY_OOM | FAST, strings::decrby),
    command("DEL", "del", -2, WRITE, keys::del),
    command("DELEX", "delex", -2, WRITE | FAST, strings::delex).only_in(&[Version::V8_4]),
    command("DELIFEQ", "delifeq", 3, WRITE | FAST, strings::delifeq).only_in(&[Version::Valkey9]),
    command("DIGEST", "digest", 2, READ_ONLY | FAST, strings::digest).only_in(&[Version::V8_4]),
    command(
        "DISCARD",
        "discard",
        1,
        NO_SCRIPT | LOADING_OK | STALE_OK | FAST | BUSY_OK | NOT_QUEUED,
        transactions::discard,
    ),
    command("ECHO", "echo", 2, LOADING_OK | STALE_OK | FAST, connection::echo),
    command(
        "EVAL",
        "eval",
        -3,
        NO_SCRIPT | STALE_OK | SKIP_MONITOR | NO_MANDATORY_KEYS | MOVABLE_KEYS,
        scripting::eval,
    ),
    command(
        "EVALSHA",
        "evalsha",
        -3,
        NO_SCRIPT | STALE_OK | SKIP_MONITOR | NO_MANDATORY_KEYS | MOVABLE_KEYS,
        scripting::evalsha,
    ),
    command(
        "EVALSHA_RO",
        "evalsha_ro",
        -3,
        READ_ONLY | NO_SCRIPT | STALE_OK | SKIP_MONITOR | NO_MANDATORY_KEYS | MOVABLE_KEYS,
        scripting::evalsha_ro,
    ),
    command(
        "EVAL_RO",
        "eval_ro",
        -3,
        READ_ONLY | NO_SCRIPT | STALE_OK | SKIP_MONITOR | NO_MANDATORY_KEYS | MOVABLE_KEYS,
        scripting::eval_ro,
    ),
    command(
        "EXEC",
        "exec",
        1,
        NO_SCRIPT | LOADING_OK | STALE_OK | SKIP_SLOWLOG | NOT_QUEUED,
        transactions::exec,
    ),
    command("EXISTS", "exists", -2, READ_ONLY | FAST, keys::exists),
    command("EXPIRE", "expire", -3, WRITE | FAST, expiry::expire),
    command("EXPIREAT", "expireat", -3, WRITE | FAST, expiry::expireat),
    command("EXPIRETIME", "expiretime", 2, READ_ONLY | FAST, expiry::expiretime),
    command("FAILOVER", "failover", -1, ADMIN | NO_SCRIPT | STALE_OK, failover::failover),
    command("FLUSHALL", "flushall", -1, WRITE, keys::flushall),
    command("FLUSHDB", "flushdb", -1, WRITE, keys::flushdb),
    container("FUNCTION", "function", -2, FUNCTION),
    command("GET", "get", 2, READ_ONLY | FAST, strings::get),
    command("GETBIT", "getbit", 3, READ_ONLY | FAST, strings::getbit),
    command("GETDEL", "getdel", 2, WRITE | FAST, strings::getdel),
    command("GETEX", "getex", -2, WRITE | FAST, strings::getex),
    command("GETRANGE", "getrange", 4, READ_ONLY, strings::getrange),
    command("GETSET", "getset", 3, WRITE | DENY_OOM | FAST, strings::getset),
    command("HDEL", "hdel", -3, WRITE | FAST, hashes::hdel),
    command(
        "HELLO",
        "hello",
        -1,
        NO_SCRIPT | LOADING_OK | STALE_OK | FAST | NO_AUTH | BUSY_OK,
        connection::hello,
    ),
    command("HEXISTS", "hexists", 3, READ_ONLY | FAST, hashes::hexists),
    command("HGET", "hget", 3, READ_ONLY | FAST, hashes::hget),
    command("HGETALL", "hgetall", 2, READ_ONLY, hashes::hgetall),
    command("HINCRBY", "hincrby", 4, WRITE | DENY_OOM | FAST, hashes::hincrby),
    command("HINCRBYFLOAT", "hincrbyfloat", 4, WRITE | DENY_OOM | FAST, hashes::hincrbyfloat),
    command("HKEYS", "hkeys", 2, READ_ONLY, hashes::hkeys),
    command("HLEN", "hlen", 2, READ_ONLY | FAST, hashes::hlen),
    command("HMGET", "hmget", -3, READ_ONLY | FAST, hashes::hmget),
    command("HMSET", "hmset", -4, WRITE | DENY_OOM | FAST, hashes::hmset),
    command("HSCAN", "hscan", -3, READ_ONLY, scan::hscan),
    command("HSET", "hset", -4, WRITE | DENY_OOM | FAST, hashes::hset),
    command("HSETNX", "hsetnx", 4, WRITE | DENY_OOM | FAST, hashes::hsetnx),
    command("HSTRLEN", "hstrlen", 3, READ_ONLY | FAST, hashes::hstrlen),
    command("HVALS", "hvals", 2, READ_ONLY, hashes::hvals),
    command("INCR", "incr", 2, WRITE | DENY_OOM | FAST, strings::incr),
    command("INCRBY", "incrby", 3, WRITE | DENY_OOM | FAST, strings::incrby),
    command("INCRBYFLOAT", "incrbyfloat", 3, WRITE | DENY_OOM | FAST, strings::incrbyfloat),
    command("INFO", "info", -1, LOADING_OK | STALE_OK, server::info),
    command("KEYS", "keys", 2, READ_ONLY, keys::keys),
    container("MEMORY", "memory", -2, MEMORY),
    command("MGET", "mget", -2, READ_ONLY | FAST, strings::mget),
    command("MONITOR", "monitor", 1, ADMIN | NO_SCRIPT | LOADING_OK | STALE_OK, monitor::monitor),
    command("MOVE", "move", 3, WRITE | FAST, rename::move_key),
    command("MSET", "mset", -3, WRITE | DENY_OOM, strings::mset),
    command("MSETNX", "msetnx", -3, WRITE | DENY_OOM, strings::msetnx),
    command(
        "MULTI",
        "multi",
        1,
        NO_SCRIPT | LOADING_OK | STALE_OK | FAST | BUSY_OK | NOT_QUEUED,
        transactions::multi,
    ),
    command("PERSIST", "persist", 2, WRITE | FAST, expiry::persist),
    command("PEXPIRE", "pexpire", -3, WRITE | FAST, expiry::pexpire),
    command("PEXPIREAT", "pexpireat", -3, WRITE | FAST, expiry::pexpireat),
    command("PEXPIRETIME", "pexpiretime", 2, READ_ONLY | FAST, expiry::pexpiretime),
    command("PING", "ping", -1, FAST | SUBSCRIBED_OK, connection::ping),
    command("PSETEX", "psetex", 4, WRITE | DENY_OOM, strings::psetex),
    command("PSUBSCRIBE", "psubscribe", -2, LISTENS, pubsub::psubscribe),
    command("PSYNC", "psync", -3, ADMIN | NO_SCRIPT | NO_ASYNC_LOADING | NO_MULTI, replication::psync),
    command("PTTL", "pttl", 2, READ_ONLY | FAST, expiry::pttl),
    command("PUBLISH", "publish", 3, TELLS, pubsub::publish),
    container("PUBSUB", "pubsub", -2, PUBSUB),
    command("PUNSUBSCRIBE", "punsubscribe", -1, LISTENS, pubsub::punsubscribe),
    command(
        "QUIT",
        "quit",
        -1,
        NO_SCRIPT | LOADING_OK | STALE_OK | FAST | NO_AUTH | BUSY_OK | NOT_QUEUED | SUBSCRIBED_OK,
        connection::quit,
    ),
    command("RANDOMKEY", "randomkey", 1, READ_ONLY, keys::randomkey),
    command("READONLY", "readonly", 1, LOADING_OK | STALE_OK | FAST, cluster::refuse),
    command("READWRITE", "readwrite", 1, LOADING_OK | STALE_OK | FAST, cluster::refuse),
    command("RENAME", "rename", 3, WRITE, rename::rename),
    command("RENAMENX", "renamenx", 3, WRITE | FAST, rename::renamenx),
    command(
        "REPLCONF",
        "replconf",
        -1,
        ADMIN | NO_SCRIPT | LOADING_OK | STALE_OK | BUSY_OK,
        replication::replconf,
    ),
    command(
        "REPLICAOF",
        "replicaof",
        3,
        ADMIN | NO_SCRIPT | STALE_OK | NO_ASYNC_LOADING,
        replication::replicaof,
    ),
    command(
        "RESET",
        "reset",
        1,
        NO_SCRIPT | LOADING_OK | STALE_OK | FAST | NO_AUTH | BUSY_OK | NOT_QUEUED | SUBSCRIBED_OK,
        connection::reset,
    ),
    command("ROLE", "role", 1, NO_SCRIPT | LOADING_OK | STALE_OK | FAST, replication::role),
    command("SCAN", "scan", -2, READ_ONLY, scan::scan),
    container("SCRIPT", "script", -2, SCRIPT),
    command("SELECT", "select", 2, LOADING_OK | STALE_OK | FAST, connection::select),
    command("SET", "set", -3, WRITE | DENY_OOM, strings::set),
    command("SETBIT", "setbit", 4, WRITE | DENY_OOM, strings::setbit),
    command("SETEX", "setex", 4, WRITE | DENY_OOM, strings::setex),
    command("SETNX", "setnx", 3, WRITE | DENY_OOM | FAST, strings::setnx),
    command("SETRANGE", "setrange", 4, WRITE | DENY_OOM, strings::setrange),
    command(
        "SHUTDOWN",
        "shutdown",
        -1,
        ADMIN | NO_SCRIPT | LOADING_OK | STALE_OK | NO_MULTI | BUSY_OK,
        server::shutdown,
    ),
    command("SLAVEOF", "slaveof", 3, ADMIN | NO_SCRIPT | STALE_OK | NO_ASYNC_LOADING, replication::replicaof),
    command("SORT", "sort", -2, WRITE | DENY_OOM | MOVABLE_KEYS, sort::sort),
    command("SORT_RO", "sort_ro", -2, READ_ONLY | MOVABLE_KEYS, sort::sort_ro),
    command("SPUBLISH", "spublish", 3, TELLS, pubsub::spublish),
    command("SSUBSCRIBE", "ssubscribe", -2, LISTENS, pubsub::ssubscribe),
    command("STRLEN", "strlen", 2, READ_ONLY | FAST, strings::strlen),
    command("SUBSCRIBE", "subscribe", -2, LISTENS, pubsub::subscribe),
    command("SUBSTR", "substr", 4, READ_ONLY, strings::getrange),
    command("SUNSUBSCRIBE", "sunsubscribe", -1, LISTENS, pubsub::sunsubscribe),
    command("SWAPDB", "swapdb", 3, WRITE | FAST, swap::swapdb),
    command("SYNC", "sync", 1, ADMIN | NO_SCRIPT | NO_ASYNC_LOADING | NO_MULTI, replication::sync),
    command("TIME", "time", 1, LOADING_OK | STALE_OK | FAST, server::time),
    command("TOUCH", "touch", -2, READ_ONLY | FAST, keys::touch),
    command("TTL", "ttl", 2, READ_ONLY | FAST, expiry::ttl),
    command("TYPE", "type", 2, READ_ONLY | FAST, keys::type_of),
    command("UNLINK", "unlink", -2, WRITE | FAST, keys::del),
    command("UNSUBSCRIBE", "unsubscribe", -1, LISTENS, pubsub::unsubscribe),
    command(
        "UNWATCH",
        "unwatch",
        1,
        NO_SCRIPT | LOADING_OK | STALE_OK | FAST | BUSY_OK,
        transactions::unwatch,
    ),
    command("WAIT", "wait", 3, NO_SCRIPT, replication::wait),
    command("WAITAOF", "waitaof", 4, 0, replication::waitaof).only_in(Version::WITH_WAITAOF),
    command(
        "WATCH",
        "watch",
        -2,
        NO_SCRIPT | LOADING_OK | STALE_OK | FAST | BUSY_OK | NOT_QUEUED,
        transactions::watch,
    ),
];

static COMMAND: &[CommandSpec] = &[
    subcommand("COMMAND", ["COUNT", "command|count"], 2, LOADING_OK | STALE_OK, introspection::command_count),
    subcommand("COMMAND", ["DOCS", "command|docs"], -2, LOADING_OK | STALE_OK, introspection::command_docs),
    subcommand(
        "COMMAND",
        ["GETKEYS", "command|getkeys"],
        -4,
        LOADING_OK | STALE_OK,
        introspection::command_getkeys,
    ),
    subcommand(
        "COMMAND",
        ["GETKEYSANDFLAGS", "command|getkeysandflags"],
        -4,
        LOADING_OK | STALE_OK,
        introspection::command_getkeysandflags,
    ),
    subcommand("COMMAND", ["HELP", "command|help"], 2, LOADING_OK | STALE_OK, help::command_help),
    subcommand("COMMAND", ["INFO", "command|info"], -2, LOADING_OK | STALE_OK, introspection::command_info),
    subcommand("COMMAND", ["LIST", "command|list"], -2, LOADING_OK | STALE_OK, introspection::command_list),
];

static CONFIG: &[CommandSpec] = &[
    subcommand(
        "CONFIG",
        ["GET", "config|get"],
        -3,
        ADMIN | NO_SCRIPT | LOADING_OK | STALE_OK,
        server::config_get,
    ),
    subcommand("CONFIG", ["HELP", "config|help"], 2, LOADING_OK | STALE_OK, help::config_help),
    subcommand(
        "CONFIG",
        ["RESETSTAT", "config|resetstat"],
        2,
        ADMIN | NO_SCRIPT | LOADING_OK | STALE_OK,
        server::config_resetstat,
    ),
    subcommand(
        "CONFIG",
        ["REWRITE", "config|rewrite"],
        2,
        ADMIN | NO_SCRIPT | LOADING_OK | STALE_OK,
        server::config_rewrite,
    ),
    subcommand(
        "CONFIG",
        ["SET", "config|set"],
        -4,
        ADMIN | NO_SCRIPT | LOADING_OK | STALE_OK,
        server::config_set,
    ),
];

static FUNCTION: &[CommandSpec] = &[
    subcommand("FUNCTION", ["FLUSH", "function|flush"], -2, NO_SCRIPT | WRITE, functions::function_flush),
    subcommand("FUNCTION", ["HELP", "function|help"], 2, LOADING_OK | STALE_OK, help::function_help),
    subcommand("FUNCTION", ["LIST", "function|list"], -2, NO_SCRIPT, functions::function_list),
];

static MEMORY: &[CommandSpec] = &[
    subcommand("MEMORY", ["HELP", "memory|help"], 2, LOADING_OK | STALE_OK, help::memory_help),
    subcommand("MEMORY", ["USAGE", "memory|usage"], -3, READ_ONLY, memory::memory_usage),
];

static PUBSUB: &[CommandSpec] = &[
    subcommand("PUBSUB", ["CHANNELS", "pubsub|channels"], -2, ASKS, pubsub::pubsub_channels),
    subcommand("PUBSUB", ["HELP", "pubsub|help"], 2, LOADING_OK | STALE_OK, pubsub::pubsub_help),
    subcommand("PUBSUB", ["NUMPAT", "pubsub|numpat"], 2, ASKS, pubsub::pubsub_numpat),
    subcommand("PUBSUB", ["NUMSUB", "pubsub|numsub"], -2, ASKS, pubsub::pubsub_numsub),
    subcommand("PUBSUB", ["SHARDCHANNELS", "pubsub|shardchannels"], -2, ASKS, pubsub::pubsub_shardchannels),
    subcommand("PUBSUB", ["SHARDNUMSUB", "pubsub|shardnumsub"], -2, ASKS, pubsub::pubsub_shardnumsub),
];

static SCRIPT: &[CommandSpec] = &[
    subcommand("SCRIPT", ["EXISTS", "script|exists"], -3, NO_SCRIPT, scripting::script_exists),
    subcommand("SCRIPT", ["FLUSH", "script|flush"], -2, NO_SCRIPT, scripting::script_flush),
    subcommand("SCRIPT", ["HELP", "script|help"], 2, LOADING_OK | STALE_OK, help::script_help),
    subcommand("SCRIPT", ["KILL", "script|kill"], 2, NO_SCRIPT | BUSY_OK, scripting::script_kill),
    subcommand("SCRIPT", ["LOAD", "script|load"], 3, NO_SCRIPT | STALE_OK, scripting::script_load),
];
