//! Parts of strings: GETRANGE, SETRANGE, APPEND, and how long they are.

use std::ops::Range;

use crate::core::commands::integer_or_reply;
use crate::core::context::Context;
use crate::core::state::Class;
use crate::core::{Next, StreamError, errors};
use crate::resp::{Args, reply};

/// `proto-max-bulk-len`: no string grows beyond what one argument could hold.
pub(super) const STRING_LIMIT_BYTES: usize = 512 << 20;

/// STRLEN key.
pub(crate) fn strlen(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    match ctx.string(args.at(1)) {
        Ok(value) => reply::integer(out, value.map_or(0, <[u8]>::len) as i64),
        Err(()) => reply::error(out, errors::WRONG_TYPE),
    }
    Next::Reply
}

/// GETRANGE key start end, once SUBSTR: both ends included, negative ones from the back.
pub(crate) fn getrange(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let Some(start) = integer_or_reply(args.at(2), out) else { return Next::Reply };
    let Some(end) = integer_or_reply(args.at(3), out) else { return Next::Reply };
    match ctx.string(args.at(1)) {
        Ok(value) => {
            let value = value.unwrap_or_default();
            reply::bulk(out, &value[range(start, end, value.len())]);
        }
        Err(()) => reply::error(out, errors::WRONG_TYPE),
    }
    Next::Reply
}

/// The bytes from `start` to `end` of a string of this length.
fn range(start: i64, end: i64, len: usize) -> Range<usize> {
    // Both before the first byte and the wrong way round: the first byte is not between them.
    if start < 0 && end < 0 && start > end {
        return 0..0;
    }
    let from_front = |index: i64| {
        let from_back = len.saturating_sub(usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX));
        usize::try_from(index).unwrap_or(from_back)
    };
    let (start, end) = (from_front(start), from_front(end).min(len.saturating_sub(1)));
    if start > end || len == 0 { 0..0 } else { start..end + 1 }
}

/// SETRANGE key offset value: what lies between the old end and the offset is filled with zeros.
pub(crate) fn setrange(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let (key, value) = (args.at(1), args.at(3));
    let Some(offset) = integer_or_reply(args.at(2), out) else { return Next::Reply };
    let Ok(offset) = usize::try_from(offset) else {
        reply::error(out, b"ERR offset is out of range");
        return Next::Reply;
    };
    let len = match ctx.string(key) {
        Ok(old) => old.map_or(0, <[u8]>::len),
        Err(()) => {
            reply::error(out, errors::WRONG_TYPE);
            return Next::Reply;
        }
    };
    if value.is_empty() {
        reply::integer(out, len as i64);
        return Next::Reply;
    }
    if !may_have_length_or_reply(ctx, offset.checked_add(value.len()), out) {
        return Next::Reply;
    }
    let len = ctx.write_string(key, offset, value);
    ctx.notify(Class::STRING, "setrange", key, out);
    ctx.propagate(args);
    reply::integer(out, len as i64);
    Next::Reply
}

/// APPEND key value.
pub(crate) fn append(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let (key, value) = (args.at(1), args.at(2));
    let len = match ctx.string(key) {
        Ok(old) => old.map_or(0, <[u8]>::len),
        Err(()) => {
            reply::error(out, errors::WRONG_TYPE);
            return Next::Reply;
        }
    };
    if !may_have_length_or_reply(ctx, len.checked_add(value.len()), out) {
        return Next::Reply;
    }
    let len = ctx.write_string(key, len, value);
    ctx.notify(Class::STRING, "append", key, out);
    ctx.propagate(args);
    reply::integer(out, len as i64);
    Next::Reply
}

fn may_have_length_or_reply(ctx: &mut Context<'_>, len: Option<usize>, out: &mut Vec<u8>) -> bool {
    // Redis lets a master and a file pass, and dies of what they ask for. No node can have come to hold such a string.
    let may = len.is_some_and(|len| len <= STRING_LIMIT_BYTES);
    if !may {
        ctx.distrust(StreamError::LongString);
        reply::error(out, b"ERR string exceeds maximum allowed size (proto-max-bulk-len)");
    }
    may
}
