//! COMMAND DOCS: what commands are for and what they take.

use super::Map;
use crate::core::command::CommandSpec;
use crate::core::context::Context;
use crate::core::docs::{self, Argument, Doc, Kind, Section};
use crate::core::{Next, commands};
use crate::resp::{Args, Protocol, reply};

/// COMMAND DOCS [name …]: names that are none are left out.
pub(crate) fn command_docs(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let (protocol, version) = (ctx.protocol(), ctx.version());
    let named = |name| commands::lookup_full_name(name, version);
    let specs: Vec<&CommandSpec> = match args.len() {
        2 => commands::all(version).collect(),
        _ => args.iter().skip(2).filter_map(named).collect(),
    };
    let start = out.len();
    reply::map(out, protocol, specs.len());
    for spec in specs {
        reply_docs(spec, protocol, out);
        if ctx.is_too_long(out, start) {
            break;
        }
    }
    Next::Reply
}

/// A command's name and the map of what is said of it.
fn reply_docs(spec: &CommandSpec, protocol: Protocol, out: &mut Vec<u8>) {
    reply::bulk(out, spec.full_name.as_bytes());
    let mut map = Map::new(protocol);
    if let Some((section, doc)) = docs::find_doc(spec.full_name) {
        describe(section, doc, &mut map);
    }
    if !spec.subcommands.is_empty() {
        let subcommands = map.name("subcommands");
        reply::map(subcommands, protocol, spec.subcommands.len());
        spec.subcommands.iter().for_each(|sub| reply_docs(sub, protocol, subcommands));
    }
    map.finish(out);
}

fn describe(section: &Section, doc: &Doc, map: &mut Map) {
    map.text("summary", doc.summary);
    map.text("since", doc.since);
    map.text("group", section.group);
    if !doc.complexity.is_empty() {
        map.text("complexity", doc.complexity);
    }
    if doc.is_internal {
        map.words("doc_flags", ["syscmd"].into_iter());
    }
    if let Some((since, instead)) = doc.deprecated {
        map.words("doc_flags", ["deprecated"].into_iter());
        map.text("deprecated_since", since);
        map.text("replaced_by", instead);
    }
    if !doc.arguments.is_empty() {
        let protocol = map.protocol;
        reply_arguments(doc.arguments, protocol, map.name("arguments"));
    }
}

fn reply_arguments(arguments: &[Argument], protocol: Protocol, out: &mut Vec<u8>) {
    reply::array(out, arguments.len());
    arguments.iter().for_each(|argument| reply_argument(argument, protocol, out));
}

fn reply_argument(argument: &Argument, protocol: Protocol, out: &mut Vec<u8>) {
    let (kind, parts): (_, &[Argument]) = match argument.kind {
        Kind::String => ("string", &[]),
        Kind::Integer => ("integer", &[]),
        Kind::Double => ("double", &[]),
        Kind::UnixTime => ("unix-time", &[]),
        Kind::Pattern | Kind::KeyPattern(_) => ("pattern", &[]),
        Kind::Token => ("pure-token", &[]),
        Kind::Key(_) => ("key", &[]),
        Kind::OneOf(parts) => ("oneof", parts),
        Kind::Block(parts) => ("block", parts),
    };
    let mut map = Map::new(protocol);
    map.text("name", argument.name);
    map.text("type", kind);
    if let Kind::Key(number) | Kind::KeyPattern(number) = argument.kind {
        map.number("key_spec_index", number as i64);
    }
    if let Some(token) = argument.token {
        map.text("token", token);
    }
    if let Some(since) = argument.since {
        map.text("since", since);
    }
    if let Some(since) = argument.deprecated_since {
        map.text("deprecated_since", since);
    }
    let flags = [
        (argument.is_optional, "optional"),
        (argument.is_multiple, "multiple"),
        (argument.is_token_multiple, "multiple_token"),
    ];
    if flags.iter().any(|(is_set, _)| *is_set) {
        map.words("flags", flags.iter().filter(|(is_set, _)| *is_set).map(|(_, name)| *name));
    }
    if !parts.is_empty() {
        reply_arguments(parts, protocol, map.name("arguments"));
    }
    map.finish(out);
}
