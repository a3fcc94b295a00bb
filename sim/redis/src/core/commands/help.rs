//! The HELP of commands that have subcommands, in words of our own.

use crate::core::Next;
use crate::core::context::Context;
use crate::resp::{Args, reply};

/// CLIENT HELP.
pub(crate) fn client_help(_ctx: &mut Context<'_>, _args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    tell(&CLIENT, out)
}

/// COMMAND HELP.
pub(crate) fn command_help(_ctx: &mut Context<'_>, _args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    tell(&COMMAND, out)
}

/// CONFIG HELP.
pub(crate) fn config_help(_ctx: &mut Context<'_>, _args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    tell(&CONFIG, out)
}

/// SCRIPT HELP.
pub(crate) fn script_help(_ctx: &mut Context<'_>, _args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    tell(&SCRIPT, out)
}

/// FUNCTION HELP.
pub(crate) fn function_help(_ctx: &mut Context<'_>, _args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    tell(&FUNCTION, out)
}

/// MEMORY HELP.
pub(crate) fn memory_help(_ctx: &mut Context<'_>, _args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    tell(&MEMORY, out)
}

fn tell(lines: &[&str], out: &mut Vec<u8>) -> Next {
    reply::array(out, lines.len());
    lines.iter().for_each(|line| reply::status(out, line.as_bytes()));
    Next::Reply
}

const CLIENT: [&str; 33] = [
    "CLIENT <subcommand> [<argument> ...]",
    "CACHING (YES|NO)",
    "    Whether keys that the next command reads are tracked, with OPTIN or OPTOUT.",
    "GETNAME",
    "    Tells the name of this connection.",
    "GETREDIR",
    "    Tells which connection hears what this one tracks.",
    "ID",
    "    Tells the id of this connection.",
    "INFO",
    "    Describes this connection.",
    "KILL <ip:port>",
    "    Ends the connection from that address.",
    "KILL [ID <id>] [TYPE <type>] [USER <user>] [ADDR <ip:port>] [LADDR <ip:port>] [SKIPME (YES|NO)]",
    "    Ends the connections that match all of it.",
    "LIST [TYPE <type>|ID <id> ...]",
    "    Describes connections.",
    "NO-EVICT (ON|OFF)",
    "    Notes that this connection is not to be evicted.",
    "PAUSE <milliseconds> [WRITE|ALL]",
    "    Makes requests wait: all, or those that may write.",
    "REPLY (ON|OFF|SKIP)",
    "    Switches the replies of this connection.",
    "SETNAME <name>",
    "    Names this connection.",
    "TRACKING (ON|OFF) [REDIRECT <id>] [PREFIX <prefix> ...] [BCAST] [OPTIN] [OPTOUT] [NOLOOP]",
    "    Tells this connection when keys that it knows of change.",
    "TRACKINGINFO",
    "    Tells what is tracked for this connection.",
    "UNPAUSE",
    "    Ends the pause.",
    "HELP",
    "    Shows this.",
];

const COMMAND: [&str; 17] = [
    "COMMAND <subcommand> [<argument> ...]",
    "(no subcommand)",
    "    Describes all commands to programs.",
    "COUNT",
    "    Counts the commands.",
    "DOCS [<name> ...]",
    "    Describes commands to people.",
    "GETKEYS <command> [<argument> ...]",
    "    Tells which arguments are keys.",
    "GETKEYSANDFLAGS <command> [<argument> ...]",
    "    The same, and what is done to them.",
    "INFO [<name> ...]",
    "    Describes commands to programs.",
    "LIST [FILTERBY (MODULE <name>|ACLCAT <category>|PATTERN <pattern>)]",
    "    Lists the names of commands.",
    "HELP",
    "    Shows this.",
];

const CONFIG: [&str; 11] = [
    "CONFIG <subcommand> [<argument> ...]",
    "GET <pattern> ...",
    "    Shows settings.",
    "RESETSTAT",
    "    Begins to count anew.",
    "REWRITE",
    "    Writes the role and changed settings to the configuration file.",
    "SET <name> <value> ...",
    "    Changes settings: all of them or none.",
    "HELP",
    "    Shows this.",
];

const SCRIPT: [&str; 11] = [
    "SCRIPT <subcommand> [<argument> ...]",
    "EXISTS <sha1> ...",
    "    Tells which scripts are known.",
    "FLUSH [ASYNC|SYNC]",
    "    Forgets all scripts.",
    "KILL",
    "    Ends the script that runs, if it has not written.",
    "LOAD <script>",
    "    Makes a script known.",
    "HELP",
    "    Shows this.",
];

const FUNCTION: [&str; 7] = [
    "FUNCTION <subcommand> [<argument> ...]",
    "FLUSH [ASYNC|SYNC]",
    "    Forgets all functions: there are none here.",
    "LIST [LIBRARYNAME <pattern>] [WITHCODE]",
    "    Lists the functions: there are none here.",
    "HELP",
    "    Shows this.",
];

const MEMORY: [&str; 5] = [
    "MEMORY <subcommand> [<argument> ...]",
    "USAGE <key> [SAMPLES <count>]",
    "    Tells what a key counts for where memory is limited.",
    "HELP",
    "    Shows this.",
];
