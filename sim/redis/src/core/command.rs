//! What a command is. Which there are, `commands` knows.

use super::context::Context;
use super::{Next, Version};
use crate::resp::Args;

/// What a command does: reads `args`, changes the data, appends its reply.
pub(crate) type Handler = fn(&mut Context<'_>, &Args<'_>, &mut Vec<u8>) -> Next;

/// One command or subcommand.
#[derive(Clone, Copy)]
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
    /// The versions that have it.
    pub(crate) known_to: &'static [Version],
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
/// About messages.
pub(crate) const PUBSUB: u32 = 1 << 17;
/// Allowed to who has subscribed to something in RESP2. Our own, as the next.
pub(crate) const SUBSCRIBED_OK: u32 = 1 << 18;
/// May wait for somebody else.
pub(crate) const BLOCKING: u32 = 1 << 20;
/// Goes to replicas though it writes nothing: not from scripts that only read.
pub(crate) const MAY_REPLICATE: u32 = 1 << 19;

/// The names COMMAND INFO gives the flags, in its order.
pub(crate) const FLAG_NAMES: &[(u32, &str)] = &[
    (WRITE, "write"),
    (READ_ONLY, "readonly"),
    (DENY_OOM, "denyoom"),
    (ADMIN, "admin"),
    (PUBSUB, "pubsub"),
    (NO_SCRIPT, "noscript"),
    (BLOCKING, "blocking"),
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
    /// The same, as something that other nodes do not know.
    pub(crate) const fn only_in(self, known_to: &'static [Version]) -> CommandSpec {
        CommandSpec { known_to, ..self }
    }

    pub(crate) fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    pub(crate) fn subcommand(&self, name: &[u8]) -> Option<&'static CommandSpec> {
        // Linear: these lists are short and far from any hot path.
        self.subcommands.iter().find(|sub| name.eq_ignore_ascii_case(sub.name.as_bytes()))
    }

    pub(crate) fn accepts(&self, arguments: usize) -> bool {
        let wanted = self.arity.unsigned_abs() as usize;
        if self.arity < 0 { arguments >= wanted } else { arguments == wanted }
    }
}

/// Finds the command that a request names.
pub(crate) type Lookup = fn(&Args<'_>, Version) -> Result<&'static CommandSpec, LookupError>;

/// Why there is no such command.
pub(crate) enum LookupError {
    UnknownCommand,
    UnknownSubcommand,
}
