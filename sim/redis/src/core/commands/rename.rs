//! Keys that get another name, another database, or a copy.

use super::connection::database_or_reply;
use crate::core::context::Context;
use crate::core::state::Class;
use crate::core::{Next, errors};
use crate::resp::{Args, reply};

/// RENAME key newkey.
pub(crate) fn rename(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    match rename_key(ctx, args, true, out) {
        None => reply::error(out, errors::NO_SUCH_KEY),
        Some(_) => reply::ok(out),
    }
    Next::Reply
}

/// RENAMENX key newkey.
pub(crate) fn renamenx(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    match rename_key(ctx, args, false, out) {
        None => reply::error(out, errors::NO_SUCH_KEY),
        Some(renamed) => reply::integer(out, i64::from(renamed)),
    }
    Next::Reply
}

/// Whether the key has the new name now; `None` if there is no such key.
fn rename_key(ctx: &mut Context<'_>, args: &Args<'_>, replaces: bool, out: &mut Vec<u8>) -> Option<bool> {
    let (key, name) = (args.at(1), args.at(2));
    if !ctx.exists(key) {
        return None;
    }
    if key == name || (!replaces && ctx.exists(name)) {
        return Some(false);
    }
    let entry = ctx.take(key)?;
    ctx.insert(name, entry);
    ctx.notify(Class::NEW, "new", name, out);
    ctx.notify(Class::GENERIC, "rename_from", key, out);
    ctx.notify(Class::GENERIC, "rename_to", name, out);
    ctx.propagate(args);
    Some(true)
}

/// COPY source destination [DB index] [REPLACE].
pub(crate) fn copy(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let (mut db, mut replaces, mut index) = (ctx.session.db, false, 3);
    while let Some(option) = args.get(index) {
        if option.eq_ignore_ascii_case(b"REPLACE") {
            replaces = true;
        } else if let Some(number) = args.get(index + 1).filter(|_| option.eq_ignore_ascii_case(b"DB")) {
            let Some(chosen) = database_or_reply(ctx, number, out) else { return Next::Reply };
            (db, index) = (chosen, index + 1);
        } else {
            reply::error(out, errors::SYNTAX);
            return Next::Reply;
        }
        index += 1;
    }
    let (source, destination) = (args.at(1), args.at(2));
    if db == ctx.session.db && source == destination {
        reply::error(out, errors::SAME_OBJECT);
        return Next::Reply;
    }
    let entry = ctx.lookup_entry(source).cloned();
    ctx.note_read(source, entry.is_none());
    ctx.charge_work(entry.as_ref().map_or(0, |entry| entry.value.size()));
    let copied = entry.is_some_and(|entry| {
        ctx.with_database(db, |ctx| {
            let is_free = !ctx.exists(destination) || replaces;
            if is_free {
                ctx.insert(destination, entry);
                ctx.notify(Class::NEW, "new", destination, out);
                ctx.notify(Class::GENERIC, "copy_to", destination, out);
            }
            is_free
        })
    });
    if copied {
        ctx.propagate(args);
    }
    reply::integer(out, i64::from(copied));
    Next::Reply
}

/// MOVE key index: only where nothing has its name.
pub(crate) fn move_key(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let key = args.at(1);
    let Some(db) = database_or_reply(ctx, args.at(2), out) else { return Next::Reply };
    if db == ctx.session.db {
        reply::error(out, errors::SAME_OBJECT);
        return Next::Reply;
    }
    let moves = ctx.exists(key) && !ctx.with_database(db, |ctx| ctx.exists(key));
    let entry = if moves { ctx.take(key) } else { None };
    if let Some(entry) = entry {
        ctx.with_database(db, |ctx| {
            ctx.insert(key, entry);
            ctx.notify(Class::NEW, "new", key, out);
        });
        ctx.notify(Class::GENERIC, "move_from", key, out);
        ctx.with_database(db, |ctx| ctx.notify(Class::GENERIC, "move_to", key, out));
        ctx.propagate(args);
    }
    reply::integer(out, i64::from(moves));
    Next::Reply
}
