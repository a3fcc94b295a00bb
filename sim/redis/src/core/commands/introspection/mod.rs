//! COMMAND and its subcommands: what the server says of its commands, so that redis-cli can help and clients can route.
//!
//! Only what there is: `COMMAND COUNT` counts our commands, not Redis'.

mod docs;
mod info;

pub(crate) use docs::command_docs;
pub(crate) use info::{command, command_info};

use super::pattern;
use crate::core::command::{CommandSpec, NO_MANDATORY_KEYS};
use crate::core::context::Context;
use crate::core::docs::keys::keys_among;
use crate::core::docs::{Keys, find_doc};
use crate::core::{Next, Version, commands, errors};
use crate::resp::{Args, Protocol, reply};

/// What finding out about one command costs, in bytes that could be copied meanwhile.
const FILTER_BYTES: u64 = 1024;

/// A map in the making: it is known how many pairs it has once they are all there.
struct Map {
    protocol: Protocol,
    pairs: usize,
    bytes: Vec<u8>,
}

impl Map {
    fn new(protocol: Protocol) -> Map {
        Map { protocol, pairs: 0, bytes: Vec::new() }
    }

    /// The next pair's name; its value must be written where this points.
    fn name(&mut self, name: &str) -> &mut Vec<u8> {
        self.pairs += 1;
        reply::bulk(&mut self.bytes, name.as_bytes());
        &mut self.bytes
    }

    fn text(&mut self, name: &str, value: &str) {
        reply::bulk(self.name(name), value.as_bytes());
    }

    fn number(&mut self, name: &str, value: i64) {
        reply::integer(self.name(name), value);
    }

    fn words<'a>(&mut self, name: &str, words: impl Iterator<Item = &'a str>) {
        let protocol = self.protocol;
        reply_words(words, protocol, self.name(name));
    }

    fn finish(self, out: &mut Vec<u8>) {
        reply::map(out, self.protocol, self.pairs);
        out.extend_from_slice(&self.bytes);
    }
}

/// A set of statuses.
fn reply_words<'a>(words: impl Iterator<Item = &'a str>, protocol: Protocol, out: &mut Vec<u8>) {
    let words: Vec<&str> = words.collect();
    reply::set(out, protocol, words.len());
    words.iter().for_each(|word| reply::status(out, word.as_bytes()));
}

/// COMMAND COUNT.
pub(crate) fn command_count(ctx: &mut Context<'_>, _args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    reply::integer(out, commands::all(ctx.version()).count() as i64);
    Next::Reply
}

/// COMMAND LIST [FILTERBY MODULE name|ACLCAT category|PATTERN pattern]: a filter looks at subcommands too.
pub(crate) fn command_list(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let version = ctx.version();
    let top = || commands::all(version);
    let all = || top().flat_map(|spec| std::iter::once(spec).chain(spec.subcommands));
    let filter = (args.len() == 5 && args.at(2).eq_ignore_ascii_case(b"FILTERBY"))
        .then(|| (args.at(3).to_ascii_uppercase(), args.at(4)));
    if filter.is_some() {
        ctx.charge_work(top().count() as u64 * FILTER_BYTES);
    }
    let mut steps = 0;
    let listed: Vec<&CommandSpec> = match filter.as_ref().map(|(by, what)| (by.as_slice(), *what)) {
        None if args.len() == 2 => all().collect(),
        // There are no modules.
        Some((b"MODULE", _)) => Vec::new(),
        Some((b"ACLCAT", wanted)) => all().filter(|spec| is_in_category(spec, wanted)).collect(),
        Some((b"PATTERN", wanted)) => {
            let wanted = wanted.to_ascii_lowercase();
            all()
                .filter(|spec| pattern::matches_in_steps(&wanted, spec.full_name.as_bytes(), &mut steps))
                .collect()
        }
        _ => {
            reply::error(out, errors::SYNTAX);
            return Next::Reply;
        }
    };
    ctx.charge_work(steps * pattern::STEP_BYTES);
    reply::array(out, listed.len());
    listed.iter().for_each(|spec| reply::bulk(out, spec.full_name.as_bytes()));
    Next::Reply
}

fn is_in_category(spec: &CommandSpec, wanted: &[u8]) -> bool {
    let categories = find_doc(spec.full_name).map(|(section, doc)| info::categories(spec, section, doc));
    categories.into_iter().flatten().any(|category| wanted.eq_ignore_ascii_case(category.as_bytes()))
}

/// COMMAND GETKEYS command …
pub(crate) fn command_getkeys(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    reply_keys_of(ctx.version(), args, |_, key, out| reply::bulk(out, key), out)
}

/// COMMAND GETKEYSANDFLAGS command …: also what is done to each key.
pub(crate) fn command_getkeysandflags(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let protocol = ctx.protocol();
    let reply_key = |flags: &str, key: &[u8], out: &mut Vec<u8>| {
        reply::array(out, 2);
        reply::bulk(out, key);
        let flags = if flags.ends_with("variable_flags") { flags_of_set(args) } else { flags };
        reply_words(flags.split(' '), protocol, out);
    };
    reply_keys_of(ctx.version(), args, reply_key, out)
}

/// SET reads its key only if it is to tell what was there.
fn flags_of_set(args: &Args<'_>) -> &'static str {
    let reads = args.iter().skip(5).any(|option| option.eq_ignore_ascii_case(b"GET"));
    if reads { "RW access update" } else { "OW update" }
}

/// Replies with the keys of the command in the arguments; `reply_key` gets what is done to a key, too.
fn reply_keys_of(
    version: Version,
    args: &Args<'_>,
    mut reply_key: impl FnMut(&str, &[u8], &mut Vec<u8>),
    out: &mut Vec<u8>,
) -> Next {
    let words: Vec<&[u8]> = args.iter().skip(2).collect();
    let Ok(spec) = commands::lookup_words(args.at(2), args.get(3), version) else {
        reply::error(out, b"ERR Invalid command specified");
        return Next::Reply;
    };
    let places = find_doc(spec.full_name).map_or::<&[Keys], _>(&[], |(_, doc)| doc.keys);
    // What is called so in a cluster only is none.
    if places.iter().all(|keys| keys.flags == "not_key") {
        reply::error(out, b"ERR The command has no key arguments");
        return Next::Reply;
    }
    if !spec.accepts(words.len()) {
        reply::error(out, b"ERR Invalid number of arguments specified for command");
        return Next::Reply;
    }
    // Each key and what is done to it.
    type Found<'a> = Vec<(&'static str, &'a [u8])>;
    let found: Option<Vec<Found<'_>>> = places
        .iter()
        .map(|keys| Some(keys_among(&words, keys)?.into_iter().map(|key| (keys.flags, key)).collect()))
        .collect();
    match found.map(|found| found.concat()) {
        Some(keys) if !keys.is_empty() => {
            reply::array(out, keys.len());
            keys.iter().for_each(|(flags, key)| reply_key(flags, key, out));
        }
        _ if spec.has(NO_MANDATORY_KEYS) => reply::array(out, 0),
        _ => reply::error(out, b"ERR Invalid arguments specified for command"),
    }
    Next::Reply
}
