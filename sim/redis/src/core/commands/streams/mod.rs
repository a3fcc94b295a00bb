//! Streams, as far as queues use them: entries are added, read, waited for and trimmed.
//!
//! This file has what looks at one stream or removes entries by their ids; `add` has XADD, `trim` the options of
//! trimming and XTRIM, `read` XREAD, `ids` what ids look like.
//!
//! Not modelled: consumer groups (XGROUP, XREADGROUP, XACK and their like) and XINFO.

mod add;
mod ids;
mod read;
mod trim;

pub(crate) use add::xadd;
pub(super) use read::serve_reader;
pub(crate) use read::xread;
pub(crate) use trim::xtrim;

use super::containers::{change, reply_with};
use super::integer_or_reply;
use crate::core::context::{Context, LOOK_BYTES};
use crate::core::keyspace::Value;
use crate::core::observer::Stored;
use crate::core::state::Class;
use crate::core::values::{EntryId, Pairs, Stream};
use crate::core::{Next, errors};
use crate::resp::{Args, reply};

/// XLEN key.
pub(crate) fn xlen(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    reply_with(ctx, args.at(1), out, |stream: Option<&Stream>, out| {
        reply::integer(out, stream.map_or(0, Stream::len) as i64);
    })
}

/// XRANGE key start end [COUNT count].
pub(crate) fn xrange(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    reply_range(ctx, args, false, out)
}

/// XREVRANGE key end start [COUNT count].
pub(crate) fn xrevrange(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    reply_range(ctx, args, true, out)
}

fn reply_range(ctx: &mut Context<'_>, args: &Args<'_>, is_reversed: bool, out: &mut Vec<u8>) -> Next {
    let (start, end) = if is_reversed { (3, 2) } else { (2, 3) };
    let Some(start) = ids::start_or_reply(args.at(start), out) else { return Next::Reply };
    let Some(end) = ids::end_or_reply(args.at(end), out) else { return Next::Reply };
    let Some(count) = count_or_reply(args, out) else { return Next::Reply };
    let (at, protocol) = (out.len(), ctx.protocol());
    let limits = (count.unwrap_or(0), ctx.reply_limit());
    let mut shown = 0;
    let next = reply_with(ctx, args.at(1), out, |stream: Option<&Stream>, out| {
        let Some(stream) = stream else { return reply::array(out, 0) };
        if count == Some(0) {
            return reply::null_array(out, protocol);
        }
        let entries = stream.range(start, end);
        shown = match is_reversed {
            false => reply_entries(entries, limits, out),
            true => reply_entries(entries.rev(), limits, out),
        };
    });
    charge_entries(ctx, shown);
    ctx.is_too_long(out, at);
    next
}

/// The count of a range, if one is asked for; `None`: the error is in `out`.
fn count_or_reply(args: &Args<'_>, out: &mut Vec<u8>) -> Option<Option<usize>> {
    let mut count = None;
    for index in (4..args.len()).step_by(2) {
        let Some(text) = args.get(index + 1).filter(|_| args.at(index).eq_ignore_ascii_case(b"COUNT")) else {
            reply::error(out, errors::SYNTAX);
            return None;
        };
        // A negative one is 0, and 0 asks for nothing.
        count = Some(usize::try_from(integer_or_reply(text, out)?).unwrap_or(0));
    }
    Some(count)
}

/// Answers with entries: `count` at most, unless that is 0, and not many more bytes than `limit`. How many there were.
fn reply_entries<'a>(
    entries: impl Iterator<Item = (EntryId, &'a Pairs)>,
    (count, limit): (usize, usize),
    out: &mut Vec<u8>,
) -> usize {
    let count = if count == 0 { usize::MAX } else { count };
    let (mut shown, mut bytes) = (0, Vec::new());
    for (id, pairs) in entries.take(count) {
        if bytes.len() > limit {
            break;
        }
        shown += 1;
        reply::array(&mut bytes, 2);
        reply::bulk(&mut bytes, &id.text());
        reply::array(&mut bytes, 2 * pairs.len());
        for (name, value) in pairs {
            reply::bulk(&mut bytes, name);
            reply::bulk(&mut bytes, value);
        }
    }
    reply::array(out, shown);
    out.append(&mut bytes);
    shown
}

/// Charges for entries that were shown.
fn charge_entries(ctx: &mut Context<'_>, entries: usize) {
    ctx.charge_work(entries as u64 * LOOK_BYTES);
}

/// XDEL key id ….
pub(crate) fn xdel(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    match ctx.read::<Stream>(args.at(1)).map(|stream| stream.is_some()) {
        // Ids of a stream that is not there are not looked at.
        Ok(false) => reply::integer(out, 0),
        Err(()) => reply::error(out, errors::WRONG_TYPE),
        Ok(true) => {
            let Some(ids) = ids::ids_or_reply(args, 2, out) else { return Next::Reply };
            let removed = change(ctx, args.at(1), |stream: &mut Stream| {
                ids.iter().filter(|id| stream.remove(**id)).count()
            });
            if removed > 0 {
                ctx.propagate(args);
                ctx.notify(Class::STREAM, "xdel", args.at(1), out);
            }
            reply::integer(out, removed as i64);
        }
    }
    Next::Reply
}

/// XSETID key id [ENTRIESADDED count] [MAXDELETEDID id]: the options are read and forgotten, since only XINFO shows
/// them.
pub(crate) fn xsetid(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let Some(id) = ids::id_or_reply(args.at(2), 0, out) else { return Next::Reply };
    let Some(added) = entries_added_or_reply(args, id, out) else { return Next::Reply };
    let error: &[u8] = match ctx.read::<Stream>(args.at(1)) {
        Ok(None) => errors::NO_SUCH_KEY,
        Err(()) => errors::WRONG_TYPE,
        Ok(Some(stream)) if stream.top().is_some_and(|top| id < top) => {
            b"ERR The ID specified in XSETID is smaller than the target stream top item"
        }
        Ok(Some(stream)) if added.is_some_and(|added| stream.len() > added) => {
            b"ERR The entries_added specified in XSETID is smaller than the target stream length"
        }
        Ok(Some(_)) => {
            set_last_id(ctx, args.at(1), id);
            ctx.propagate(args);
            reply::ok(out);
            ctx.notify(Class::STREAM, "xsetid", args.at(1), out);
            return Next::Reply;
        }
    };
    reply::error(out, error);
    Next::Reply
}

/// Sets the last id of a stream that is there, and tells the observer. Who watches the key is not concerned, as in
/// Redis.
fn set_last_id(ctx: &mut Context<'_>, key: &[u8], id: EntryId) {
    let is_observed = ctx.core.config.observer.is_some();
    let database = &mut ctx.core.databases[ctx.session.db];
    let before = if is_observed { database.get(key).cloned() } else { None };
    if let Some(Value::Stream(stream)) = database.value_mut(key) {
        stream.set_last_id(id);
    }
    ctx.charge_work(before.as_ref().map_or(0, |before| before.value.size()));
    ctx.tell(key, before.as_ref().map(Stored::from), ctx.stored_value(key));
}

/// How many entries the stream is to have had, if that is said; `None`: the error is in `out`.
fn entries_added_or_reply(args: &Args<'_>, id: EntryId, out: &mut Vec<u8>) -> Option<Option<usize>> {
    let mut added = None;
    for index in (3..args.len()).step_by(2) {
        let error: &[u8] = match (args.at(index).to_ascii_uppercase().as_slice(), args.get(index + 1)) {
            (b"ENTRIESADDED", Some(count)) => match usize::try_from(integer_or_reply(count, out)?) {
                Ok(count) => {
                    added = Some(count);
                    continue;
                }
                Err(_) => b"ERR entries_added must be positive",
            },
            (b"MAXDELETEDID", Some(highest)) => match ids::id_or_reply(highest, 0, out)? {
                highest if highest <= id => continue,
                _ => b"ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id",
            },
            _ => errors::SYNTAX,
        };
        reply::error(out, error);
        return None;
    }
    Some(added)
}
