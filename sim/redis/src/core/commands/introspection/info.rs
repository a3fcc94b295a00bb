//! COMMAND and COMMAND INFO: arity, flags, categories and where keys are.

use super::{Map, reply_words};
use crate::core::command::{ADMIN, BLOCKING, CommandSpec, FAST, FLAG_NAMES, READ_ONLY, WRITE};
use crate::core::context::Context;
use crate::core::docs::{self, Doc, Find, Keys, Section};
use crate::core::{Next, Version, commands};
use crate::resp::{Args, Protocol, reply};

/// The ACL categories, in Redis' order.
const CATEGORIES: &[&str] = &[
    "keyspace",
    "read",
    "write",
    "set",
    "sortedset",
    "list",
    "hash",
    "string",
    "bitmap",
    "hyperloglog",
    "geo",
    "stream",
    "pubsub",
    "admin",
    "fast",
    "slow",
    "blocking",
    "dangerous",
    "connection",
    "transaction",
    "scripting",
];

/// COMMAND: every command, as COMMAND INFO has it.
pub(crate) fn command(ctx: &mut Context<'_>, _args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    reply_every_command(ctx.version(), ctx.protocol(), out);
    Next::Reply
}

/// COMMAND INFO [name …].
pub(crate) fn command_info(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let protocol = ctx.protocol();
    if args.len() == 2 {
        reply_every_command(ctx.version(), protocol, out);
        return Next::Reply;
    }
    let start = out.len();
    reply::array(out, args.len() - 2);
    for name in args.iter().skip(2) {
        match commands::lookup_full_name(name, ctx.version()) {
            Some(spec) => reply_info(spec, protocol, out),
            None => reply::null(out, protocol),
        }
        if ctx.is_too_long(out, start) {
            break;
        }
    }
    Next::Reply
}

fn reply_every_command(version: Version, protocol: Protocol, out: &mut Vec<u8>) {
    reply::array(out, commands::all(version).count());
    commands::all(version).for_each(|spec| reply_info(spec, protocol, out));
}

fn reply_info(spec: &CommandSpec, protocol: Protocol, out: &mut Vec<u8>) {
    let Some((section, doc)) = docs::find_doc(spec.full_name) else { return reply::null(out, protocol) };
    reply::array(out, 10);
    reply::bulk(out, spec.full_name.as_bytes());
    reply::integer(out, i64::from(spec.arity));
    reply_words(FLAG_NAMES.iter().filter(|(flag, _)| spec.has(*flag)).map(|(_, name)| *name), protocol, out);
    for number in range_of(doc.keys) {
        reply::integer(out, number);
    }
    let categories: Vec<String> =
        categories(spec, section, doc).iter().map(|category| format!("@{category}")).collect();
    reply_words(categories.iter().map(String::as_str), protocol, out);
    reply::set(out, protocol, doc.tips.len());
    doc.tips.iter().for_each(|tip| reply::bulk(out, tip.as_bytes()));
    reply::set(out, protocol, doc.keys.len());
    doc.keys.iter().for_each(|keys| reply_keys(keys, protocol, out));
    match spec.subcommands {
        // No set but for being empty, as Redis has it.
        [] => reply::set(out, protocol, 0),
        subcommands => reply::array(out, subcommands.len()),
    }
    spec.subcommands.iter().for_each(|sub| reply_info(sub, protocol, out));
}

/// What follows from flags, and what its documentation adds.
pub(super) fn categories(spec: &CommandSpec, section: &Section, doc: &Doc) -> Vec<&'static str> {
    let own = doc.categories.unwrap_or(section.categories);
    // Scripts that only read are not among the commands that read.
    let reads = spec.has(READ_ONLY) && section.group != "scripting";
    let is_in = |category: &str| match category {
        "read" => reads,
        "write" => spec.has(WRITE),
        "fast" => spec.has(FAST),
        "slow" => !spec.has(FAST),
        "blocking" => spec.has(BLOCKING),
        "admin" | "dangerous" => spec.has(ADMIN) || own.contains(&category),
        _ => own.contains(&category),
    };
    CATEGORIES.iter().copied().filter(|category| is_in(category)).collect()
}

/// First key, last key (negative: from the end) and step, as clients before Redis 7 were told; zeros where that cannot
/// be said.
fn range_of(keys: &[Keys]) -> [i64; 3] {
    match keys {
        [Keys { begin, find: Find::AllButLast, .. }] => [*begin as i64, -2, 1],
        [Keys { begin, find: Find::ToTheEnd { step }, .. }] => [*begin as i64, -1, *step as i64],
        [Keys { begin, find: Find::One, .. }]
        | [
            Keys { begin, find: Find::One, .. },
            Keys { find: Find::Counted | Find::Unknown { .. }, .. },
            ..,
        ] => [*begin as i64, *begin as i64, 1],
        [Keys { begin, find: Find::One, .. }, Keys { find: Find::ToTheEnd { step }, .. }] => {
            [*begin as i64, -1, *step as i64]
        }
        [Keys { begin: first, find: Find::One, .. }, .., Keys { begin: last, find: Find::One, .. }] => {
            [*first as i64, *last as i64, 1]
        }
        _ => [0, 0, 0],
    }
}

fn reply_keys(keys: &Keys, protocol: Protocol, out: &mut Vec<u8>) {
    let mut map = Map::new(protocol);
    map.words("flags", keys.flags.split(' '));
    begin_search(keys, &mut map);
    let range = |last, step| [("lastkey", last), ("keystep", step), ("limit", 0)];
    match keys.find {
        Find::AllButLast => search(&mut map, "find_keys", "range", &range(-2, 1)),
        Find::One => search(&mut map, "find_keys", "range", &range(0, 1)),
        Find::ToTheEnd { step } => search(&mut map, "find_keys", "range", &range(-1, step as i64)),
        Find::Counted => {
            let numbers = [("keynumidx", 0), ("firstkey", 1), ("keystep", 1)];
            search(&mut map, "find_keys", "keynum", &numbers);
        }
        Find::HalfBehind(_) => {
            let numbers = [("lastkey", -1), ("keystep", 1), ("limit", 2)];
            search(&mut map, "find_keys", "range", &numbers);
        }
        Find::Unknown { .. } => search(&mut map, "find_keys", "unknown", &[]),
    }
    map.finish(out);
}

fn begin_search(keys: &Keys, map: &mut Map) {
    let begin = keys.begin as i64;
    match keys.find {
        Find::Unknown { .. } => search(map, "begin_search", "unknown", &[]),
        Find::HalfBehind(word) => {
            let mut spec = Map::new(map.protocol);
            spec.text("keyword", word);
            spec.number("startfrom", begin);
            let mut search = Map::new(map.protocol);
            search.text("type", "keyword");
            spec.finish(search.name("spec"));
            search.finish(map.name("begin_search"));
        }
        _ => search(map, "begin_search", "index", &[("index", begin)]),
    }
}

fn search(map: &mut Map, name: &str, kind: &str, numbers: &[(&str, i64)]) {
    let mut spec = Map::new(map.protocol);
    numbers.iter().for_each(|(name, number)| spec.number(name, *number));
    let mut search = Map::new(map.protocol);
    search.text("type", kind);
    spec.finish(search.name("spec"));
    search.finish(map.name(name));
}
