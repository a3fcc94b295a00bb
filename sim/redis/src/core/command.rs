//! The command table: names, arities, flags.

use super::Next;
use super::commands::{
    connection, expiry, hashes, keys, replication, scripting, server, strings, transactions,
};
use super::context::Context;
use crate::resp::Args;

/// What a command does: reads `args`, changes the data, appends its reply.
pub(crate) type Handler = fn(&mut Context<'_>, &Args<'_>, &mut Vec<u8>) -> Next;

/// One command or subcommand.
pub(crate) struct CommandSpec {
    /// In capitals. A subcommand's is its own name only.
    pub(crate) name: &'static str,
    /// The name of the command this is, or is a subcommand of.
    pub(crate) family: &'static str,
    /// In lower case as error texts give it: `get`, `client|setname`.
    pub(crate) full_name: &'static str,
    /// Number of arguments with the name; negative: at least that many.
    pub(crate) arity: i32,
    pub(crate) flags: u16,
    pub(crate) run: Handler,
    pub(crate) subcommands: &'static [CommandSpec],
}

impl std::fmt::Debug for CommandSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.full_name)
    }
}

/// Changes data: refused by replicas and by masters that lack replicas.
pub(crate) const WRITE: u16 = 1;
/// Not from scripts.
pub(crate) const NO_SCRIPT: u16 = 1 << 1;
/// Not between MULTI and EXEC.
pub(crate) const NO_MULTI: u16 = 1 << 2;
/// Allowed while a script is overrunning.
pub(crate) const BUSY_OK: u16 = 1 << 3;
/// Allowed on a replica without its master, even if it must not serve stale data.
pub(crate) const STALE_OK: u16 = 1 << 4;
/// Executed at once between MULTI and EXEC.
pub(crate) const NOT_QUEUED: u16 = 1 << 5;

impl CommandSpec {
    pub(crate) fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    pub(crate) fn accepts(&self, arguments: usize) -> bool {
        let wanted = self.arity.unsigned_abs() as usize;
        if self.arity < 0 { arguments >= wanted } else { arguments == wanted }
    }
}

/// Why there is no such command.
pub(crate) enum LookupError {
    UnknownCommand,
    UnknownSubcommand,
}

/// Finds the command, or the subcommand where the command has some.
pub(crate) fn lookup(args: &Args<'_>) -> Result<&'static CommandSpec, LookupError> {
    let spec = find(args.at(0)).ok_or(LookupError::UnknownCommand)?;
    match args.get(1) {
        Some(name) if !spec.subcommands.is_empty() => {
            // Linear: these lists are short and far from any hot path.
            let sub = spec.subcommands.iter().find(|sub| name.eq_ignore_ascii_case(sub.name.as_bytes()));
            sub.ok_or(LookupError::UnknownSubcommand)
        }
        _ => Ok(spec),
    }
}

/// Longest name there can be: a name is looked up as one integer.
const NAME_LIMIT: usize = 16;

/// The keys of [`COMMANDS`], in its order.
static KEYS: [u128; COMMANDS.len()] = {
    let mut keys = [0; COMMANDS.len()];
    let mut index = 0;
    while index < COMMANDS.len() {
        keys[index] = key(COMMANDS[index].name.as_bytes());
        index += 1;
    }
    keys
};

/// A name in capitals as an integer that sorts as the name does. Names longer than the limit are the caller's to refuse.
const fn key(name: &[u8]) -> u128 {
    let mut bytes = [0; NAME_LIMIT];
    let mut index = 0;
    while index < name.len() && index < NAME_LIMIT {
        bytes[index] = name[index].to_ascii_uppercase();
        index += 1;
    }
    u128::from_be_bytes(bytes)
}

fn find(name: &[u8]) -> Option<&'static CommandSpec> {
    // A NUL at the end would look like padding.
    if name.len() > NAME_LIMIT || name.last() == Some(&0) {
        return None;
    }
    let index = KEYS.binary_search(&key(name)).ok()?;
    Some(&COMMANDS[index])
}

const fn command(
    name: &'static str,
    full_name: &'static str,
    arity: i32,
    flags: u16,
    run: Handler,
) -> CommandSpec {
    CommandSpec { name, family: name, full_name, arity, flags, run, subcommands: &[] }
}

const fn subcommand(
    of: &'static str,
    names: [&'static str; 2],
    arity: i32,
    flags: u16,
    run: Handler,
) -> CommandSpec {
    CommandSpec { name: names[0], family: of, full_name: names[1], arity, flags, run, subcommands: &[] }
}

const fn container(
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
    }
}

/// Sorted by name: looked up by binary search.
pub(crate) static COMMANDS: &[CommandSpec] = &[
    command("AUTH", "auth", -2, NO_SCRIPT | BUSY_OK | STALE_OK, connection::auth),
    container("CLIENT", "client", -2, CLIENT),
    CommandSpec {
        name: "COMMAND",
        family: "COMMAND",
        full_name: "command",
        arity: -1,
        flags: STALE_OK,
        run: server::command_list,
        subcommands: COMMAND,
    },
    container("CONFIG", "config", -2, CONFIG),
    command("DBSIZE", "dbsize", 1, 0, keys::dbsize),
    command("DECR", "decr", 2, WRITE, strings::decr),
    command("DECRBY", "decrby", 3, WRITE, strings::decrby),
    command("DEL", "del", -2, WRITE, keys::del),
    command("DISCARD", "discard", 1, NO_SCRIPT | BUSY_OK | STALE_OK | NOT_QUEUED, transactions::discard),
    command("ECHO", "echo", 2, STALE_OK, connection::echo),
    command("EVAL", "eval", -3, NO_SCRIPT | STALE_OK, scripting::eval),
    command("EVALSHA", "evalsha", -3, NO_SCRIPT | STALE_OK, scripting::evalsha),
    command("EVALSHA_RO", "evalsha_ro", -3, NO_SCRIPT | STALE_OK, scripting::evalsha_ro),
    command("EVAL_RO", "eval_ro", -3, NO_SCRIPT | STALE_OK, scripting::eval_ro),
    command("EXEC", "exec", 1, NO_SCRIPT | STALE_OK | NOT_QUEUED, transactions::exec),
    command("EXISTS", "exists", -2, 0, keys::exists),
    command("EXPIRE", "expire", -3, WRITE, expiry::expire),
    command("EXPIREAT", "expireat", -3, WRITE, expiry::expireat),
    command("EXPIRETIME", "expiretime", 2, 0, expiry::expiretime),
    command("FLUSHALL", "flushall", -1, WRITE, keys::flushall),
    command("FLUSHDB", "flushdb", -1, WRITE, keys::flushdb),
    command("GET", "get", 2, 0, strings::get),
    command("GETDEL", "getdel", 2, WRITE, strings::getdel),
    command("GETSET", "getset", 3, WRITE, strings::getset),
    command("HDEL", "hdel", -3, WRITE, hashes::hdel),
    command("HELLO", "hello", -1, NO_SCRIPT | BUSY_OK | STALE_OK, connection::hello),
    command("HEXISTS", "hexists", 3, 0, hashes::hexists),
    command("HGET", "hget", 3, 0, hashes::hget),
    command("HGETALL", "hgetall", 2, 0, hashes::hgetall),
    command("HINCRBY", "hincrby", 4, WRITE, hashes::hincrby),
    command("HKEYS", "hkeys", 2, 0, hashes::hkeys),
    command("HLEN", "hlen", 2, 0, hashes::hlen),
    command("HMGET", "hmget", -3, 0, hashes::hmget),
    command("HSET", "hset", -4, WRITE, hashes::hset),
    command("HSETNX", "hsetnx", 4, WRITE, hashes::hsetnx),
    command("HVALS", "hvals", 2, 0, hashes::hvals),
    command("INCR", "incr", 2, WRITE, strings::incr),
    command("INCRBY", "incrby", 3, WRITE, strings::incrby),
    command("INFO", "info", -1, STALE_OK, server::info),
    command("KEYS", "keys", 2, 0, keys::keys),
    command("MGET", "mget", -2, 0, strings::mget),
    command("MSET", "mset", -3, WRITE, strings::mset),
    command("MSETNX", "msetnx", -3, WRITE, strings::msetnx),
    command("MULTI", "multi", 1, NO_SCRIPT | BUSY_OK | STALE_OK | NOT_QUEUED, transactions::multi),
    command("PERSIST", "persist", 2, WRITE, expiry::persist),
    command("PEXPIRE", "pexpire", -3, WRITE, expiry::pexpire),
    command("PEXPIREAT", "pexpireat", -3, WRITE, expiry::pexpireat),
    command("PEXPIRETIME", "pexpiretime", 2, 0, expiry::pexpiretime),
    command("PING", "ping", -1, 0, connection::ping),
    command("PSETEX", "psetex", 4, WRITE, strings::psetex),
    command("PSYNC", "psync", -3, NO_SCRIPT | NO_MULTI, replication::psync),
    command("PTTL", "pttl", 2, 0, expiry::pttl),
    command("QUIT", "quit", -1, NO_SCRIPT | BUSY_OK | STALE_OK | NOT_QUEUED, connection::quit),
    command("REPLCONF", "replconf", -1, NO_SCRIPT | BUSY_OK | STALE_OK, replication::replconf),
    command("REPLICAOF", "replicaof", 3, NO_SCRIPT | STALE_OK, replication::replicaof),
    command("RESET", "reset", 1, NO_SCRIPT | BUSY_OK | STALE_OK | NOT_QUEUED, connection::reset),
    command("ROLE", "role", 1, NO_SCRIPT | STALE_OK, replication::role),
    container("SCRIPT", "script", -2, SCRIPT),
    command("SELECT", "select", 2, STALE_OK, connection::select),
    command("SET", "set", -3, WRITE, strings::set),
    command("SETEX", "setex", 4, WRITE, strings::setex),
    command("SETNX", "setnx", 3, WRITE, strings::setnx),
    command("SHUTDOWN", "shutdown", -1, NO_SCRIPT | NO_MULTI | BUSY_OK | STALE_OK, server::shutdown),
    command("SLAVEOF", "slaveof", 3, NO_SCRIPT | STALE_OK, replication::replicaof),
    command("STRLEN", "strlen", 2, 0, strings::strlen),
    command("TIME", "time", 1, STALE_OK, server::time),
    command("TTL", "ttl", 2, 0, expiry::ttl),
    command("TYPE", "type", 2, 0, keys::type_of),
    command("UNLINK", "unlink", -2, WRITE, keys::del),
    command("UNWATCH", "unwatch", 1, NO_SCRIPT | BUSY_OK | STALE_OK, transactions::unwatch),
    command("WAIT", "wait", 3, NO_SCRIPT, replication::wait),
    command("WATCH", "watch", -2, NO_SCRIPT | BUSY_OK | STALE_OK | NOT_QUEUED, transactions::watch),
];

static CLIENT: &[CommandSpec] = &[
    subcommand("CLIENT", ["GETNAME", "client|getname"], 2, NO_SCRIPT | STALE_OK, connection::client_getname),
    subcommand("CLIENT", ["ID", "client|id"], 2, NO_SCRIPT | STALE_OK, connection::client_id),
    subcommand("CLIENT", ["INFO", "client|info"], 2, NO_SCRIPT | STALE_OK, connection::client_info),
    subcommand("CLIENT", ["LIST", "client|list"], -2, NO_SCRIPT | STALE_OK, connection::client_list),
    subcommand(
        "CLIENT",
        ["NO-EVICT", "client|no-evict"],
        3,
        NO_SCRIPT | STALE_OK,
        connection::client_no_evict,
    ),
    subcommand("CLIENT", ["REPLY", "client|reply"], 3, NO_SCRIPT | STALE_OK, connection::client_reply),
    subcommand("CLIENT", ["SETNAME", "client|setname"], 3, NO_SCRIPT | STALE_OK, connection::client_setname),
];

static COMMAND: &[CommandSpec] = &[
    subcommand("COMMAND", ["COUNT", "command|count"], 2, STALE_OK, server::command_count),
    subcommand("COMMAND", ["DOCS", "command|docs"], -2, STALE_OK, server::command_docs),
    subcommand("COMMAND", ["INFO", "command|info"], -2, STALE_OK, server::command_info),
];

static CONFIG: &[CommandSpec] = &[
    subcommand("CONFIG", ["GET", "config|get"], -3, NO_SCRIPT | STALE_OK, server::config_get),
    subcommand(
        "CONFIG",
        ["RESETSTAT", "config|resetstat"],
        2,
        NO_SCRIPT | STALE_OK,
        server::config_resetstat,
    ),
    subcommand("CONFIG", ["REWRITE", "config|rewrite"], 2, NO_SCRIPT | STALE_OK, server::config_rewrite),
    subcommand("CONFIG", ["SET", "config|set"], -4, NO_SCRIPT | STALE_OK, server::config_set),
];

static SCRIPT: &[CommandSpec] = &[
    subcommand("SCRIPT", ["EXISTS", "script|exists"], -3, NO_SCRIPT, scripting::script_exists),
    subcommand("SCRIPT", ["FLUSH", "script|flush"], -2, NO_SCRIPT, scripting::script_flush),
    subcommand("SCRIPT", ["KILL", "script|kill"], 2, NO_SCRIPT | BUSY_OK, scripting::script_kill),
    subcommand("SCRIPT", ["LOAD", "script|load"], 3, NO_SCRIPT | STALE_OK, scripting::script_load),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_of_the_table_is_found_by_its_name_in_any_case() {
        for spec in COMMANDS {
            let found = find(spec.full_name.as_bytes()).map(|spec| spec.name);
            assert_eq!(found, Some(spec.name), "the table must be sorted");
            assert!(spec.name.len() <= NAME_LIMIT, "{} does not fit the lookup's integer", spec.name);
        }
        for name in ["", "GE", "GETX", "GET\0", "\0", "AVERYLONGCOMMANDNAME"] {
            assert!(find(name.as_bytes()).is_none(), "{name:?}");
        }
    }
}
