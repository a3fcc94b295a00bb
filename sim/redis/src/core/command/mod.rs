//! What a command is, and how one is found by its name. The commands themselves are rows of `table`.

mod table;

use super::Next;
use super::context::Context;
use crate::resp::Args;

pub(crate) use table::COMMANDS;

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
    pub(crate) flags: u32,
    pub(crate) run: Handler,
    pub(crate) subcommands: &'static [CommandSpec],
}

impl std::fmt::Debug for CommandSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.full_name)
    }
}

// Redis' own flags, which clients are shown. What a comment does not say this server does, it only reports.

/// Changes data: refused by replicas and by masters that lack replicas.
pub(crate) const WRITE: u32 = 1;
pub(crate) const READ_ONLY: u32 = 1 << 1;
/// May need more memory: refused while more than `maxmemory` is used.
pub(crate) const DENY_OOM: u32 = 1 << 2;
pub(crate) const ADMIN: u32 = 1 << 3;
/// Not from scripts.
pub(crate) const NO_SCRIPT: u32 = 1 << 4;
pub(crate) const LOADING_OK: u32 = 1 << 5;
/// Allowed on a replica without its master, even if it must not serve stale data.
pub(crate) const STALE_OK: u32 = 1 << 6;
pub(crate) const SKIP_MONITOR: u32 = 1 << 7;
pub(crate) const SKIP_SLOWLOG: u32 = 1 << 8;
pub(crate) const FAST: u32 = 1 << 9;
pub(crate) const NO_AUTH: u32 = 1 << 10;
/// It is no mistake to name no keys.
pub(crate) const NO_MANDATORY_KEYS: u32 = 1 << 11;
pub(crate) const NO_ASYNC_LOADING: u32 = 1 << 12;
/// Not between MULTI and EXEC.
pub(crate) const NO_MULTI: u32 = 1 << 13;
/// Allowed while a script is overrunning.
pub(crate) const BUSY_OK: u32 = 1 << 14;
pub(crate) const MOVABLE_KEYS: u32 = 1 << 15;
/// Executed at once between MULTI and EXEC. Our own: Redis knows these commands by name.
pub(crate) const NOT_QUEUED: u32 = 1 << 16;

/// The names COMMAND INFO gives the flags, in its order.
pub(crate) const FLAG_NAMES: &[(u32, &str)] = &[
    (WRITE, "write"),
    (READ_ONLY, "readonly"),
    (DENY_OOM, "denyoom"),
    (ADMIN, "admin"),
    (NO_SCRIPT, "noscript"),
    (LOADING_OK, "loading"),
    (STALE_OK, "stale"),
    (SKIP_MONITOR, "skip_monitor"),
    (SKIP_SLOWLOG, "skip_slowlog"),
    (FAST, "fast"),
    (NO_AUTH, "no_auth"),
    (NO_MANDATORY_KEYS, "no_mandatory_keys"),
    (NO_ASYNC_LOADING, "no_async_loading"),
    (NO_MULTI, "no_multi"),
    (BUSY_OK, "allow_busy"),
    (MOVABLE_KEYS, "movablekeys"),
];

impl CommandSpec {
    pub(crate) fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    fn subcommand(&self, name: &[u8]) -> Option<&'static CommandSpec> {
        // Linear: these lists are short and far from any hot path.
        self.subcommands.iter().find(|sub| name.eq_ignore_ascii_case(sub.name.as_bytes()))
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
    lookup_words(args.at(0), args.get(1))
}

/// The same, by the first word and the second if there is one.
pub(crate) fn lookup_words(name: &[u8], second: Option<&[u8]>) -> Result<&'static CommandSpec, LookupError> {
    let spec = find(name).ok_or(LookupError::UnknownCommand)?;
    match second {
        Some(name) if !spec.subcommands.is_empty() => {
            spec.subcommand(name).ok_or(LookupError::UnknownSubcommand)
        }
        _ => Ok(spec),
    }
}

/// The command of that full name: `get`, `client|list`.
pub(crate) fn lookup_full_name(name: &[u8]) -> Option<&'static CommandSpec> {
    let mut parts = name.splitn(2, |&byte| byte == b'|');
    let spec = find(parts.next()?)?;
    match parts.next() {
        None => Some(spec),
        Some(sub) => spec.subcommand(sub),
    }
}

/// Longest name there can be: a name is looked up as one integer.
const NAME_LIMIT: usize = 16;

/// A name in capitals as an integer. Names longer than the limit are the caller's to refuse.
const fn key(name: &[u8]) -> u128 {
    let mut bytes = [0; NAME_LIMIT];
    let mut index = 0;
    while index < name.len() && index < NAME_LIMIT {
        bytes[index] = name[index].to_ascii_uppercase();
        index += 1;
    }
    u128::from_be_bytes(bytes)
}

/// Places for commands: a power of two, and so many that most commands lie where they are looked for first.
const SLOTS: usize = 512;

/// Where a key is looked for first.
const fn slot(key: u128) -> usize {
    // Fibonacci hashing: the upper bits of this product depend on all bits of the key.
    let mixed = (key as u64 ^ (key >> 64) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> (u64::BITS - SLOTS.trailing_zeros())) as usize
}

/// The commands' keys and indexes, each at its slot or at the first free one after it.
static TABLE: [Option<(u128, u16)>; SLOTS] = {
    let mut table = [None; SLOTS];
    let mut index = 0;
    while index < COMMANDS.len() {
        let key = key(COMMANDS[index].name.as_bytes());
        let mut at = slot(key);
        while table[at].is_some() {
            at = (at + 1) % SLOTS;
        }
        table[at] = Some((key, index as u16));
        index += 1;
    }
    table
};

fn find(name: &[u8]) -> Option<&'static CommandSpec> {
    // A NUL at the end would look like padding.
    if name.len() > NAME_LIMIT || name.last() == Some(&0) {
        return None;
    }
    let key = key(name);
    let mut at = slot(key);
    // Ends: most slots are free.
    while let Some((found, index)) = TABLE[at] {
        if found == key {
            return Some(&COMMANDS[usize::from(index)]);
        }
        at = (at + 1) % SLOTS;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_of_the_table_is_found_by_its_name_in_any_case() {
        for spec in COMMANDS {
            let found = find(spec.full_name.as_bytes()).map(|spec| spec.name);
            assert_eq!(found, Some(spec.name));
            assert!(spec.name.len() <= NAME_LIMIT, "{} does not fit the lookup's integer", spec.name);
        }
        assert!(COMMANDS.is_sorted_by_key(|spec| spec.name), "COMMAND LIST is sorted");
        for name in ["", "GE", "GETX", "GET\0", "\0", "AVERYLONGCOMMANDNAME"] {
            assert!(find(name.as_bytes()).is_none(), "{name:?}");
        }
    }
}
