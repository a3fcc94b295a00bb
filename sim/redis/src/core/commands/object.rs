//! OBJECT: how a value is kept.
//!
//! The node keeps values in its own ways, and names the encoding that Redis would have chosen for what is there. It
//! does not know how a string came to be: one that APPEND or SETRANGE has made is `raw` in Redis however short it is.
//! When a key was last used is not noted: nothing is ever idle.

use crate::core::Next;
use crate::core::context::Context;
use crate::core::keyspace::{Hash, Value};
use crate::resp::{Args, integer, reply};

/// The longest string that Redis keeps together with its object.
const EMBEDDED_BYTES: usize = 44;
/// Redis shares the objects of numbers below this one.
const SHARED_INTEGERS: i64 = 10_000;
/// What OBJECT REFCOUNT says of a shared object.
const SHARED: i64 = 2_147_483_647;

const HELP: &[&str] = &[
    "OBJECT <subcommand> [<arg> ...]. Subcommands are:",
    "ENCODING <key>",
    "    Tell how the value of <key> is kept.",
    "FREQ <key>",
    "    Tell how often <key> is used, where a policy counts that.",
    "IDLETIME <key>",
    "    Tell how many seconds ago <key> was last used.",
    "REFCOUNT <key>",
    "    Tell how many references the value of <key> has.",
    "HELP",
    "    Print this.",
];

/// OBJECT ENCODING key.
pub(crate) fn object_encoding(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let protocol = ctx.protocol();
    match ctx.lookup(args.at(2)).map(encoding) {
        Some(name) => reply::bulk(out, name.as_bytes()),
        None => reply::null(out, protocol),
    }
    Next::Reply
}

fn encoding(value: &Value) -> &'static str {
    match value {
        Value::String(bytes) if integer::parse(bytes).is_some() => "int",
        Value::String(bytes) if bytes.len() <= EMBEDDED_BYTES => "embstr",
        Value::String(_) => "raw",
        Value::Hash(Hash::List(_)) => "listpack",
        Value::Hash(Hash::Table(_)) => "hashtable",
        Value::List(_) => "quicklist",
        Value::Set(set) => set.encoding(),
        Value::SortedSet(set) => set.encoding(),
        Value::Stream(_) => "stream",
    }
}

/// OBJECT REFCOUNT key.
pub(crate) fn object_refcount(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let protocol = ctx.protocol();
    let is_shared = |value: &Value| {
        let number = value.as_string().and_then(integer::parse);
        number.is_some_and(|number| (0..SHARED_INTEGERS).contains(&number))
    };
    match ctx.lookup(args.at(2)).map(is_shared) {
        Some(is_shared) => reply::integer(out, if is_shared { SHARED } else { 1 }),
        None => reply::null(out, protocol),
    }
    Next::Reply
}

/// OBJECT IDLETIME key: no time at all.
pub(crate) fn object_idletime(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    match ctx.exists(args.at(2)) {
        true => reply::integer(out, 0),
        false => reply::null(out, ctx.protocol()),
    }
    Next::Reply
}

/// OBJECT FREQ key: nobody counts.
pub(crate) fn object_freq(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let text =
        b"ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when \
        switching between policies at runtime LRU and LFU data will take some time to adjust.";
    match ctx.exists(args.at(2)) {
        true => reply::error(out, text),
        false => reply::null(out, ctx.protocol()),
    }
    Next::Reply
}

/// OBJECT HELP.
pub(crate) fn object_help(_ctx: &mut Context<'_>, _args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    reply::array(out, HELP.len());
    HELP.iter().for_each(|line| reply::status(out, line.as_bytes()));
    Next::Reply
}
