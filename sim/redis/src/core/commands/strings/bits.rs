//! Single bits of strings: SETBIT and GETBIT. The first is the highest of the first byte.

use super::ranges::STRING_LIMIT_BYTES;
use crate::core::context::Context;
use crate::core::state::Class;
use crate::core::{Next, errors};
use crate::resp::{Args, integer, reply};

/// SETBIT key offset 0|1: the bit that was there. A string that is too short becomes longer.
pub(crate) fn setbit(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let (key, Some((byte, mask))) = (args.at(1), place_or_reply(args.at(2), out)) else { return Next::Reply };
    let wanted = match args.at(3) {
        b"0" => false,
        b"1" => true,
        _ => {
            reply::error(out, b"ERR bit is not an integer or out of range");
            return Next::Reply;
        }
    };
    let old = match ctx.string(key) {
        Ok(old) => old.map(|old| (old.len(), old.get(byte).copied().unwrap_or(0))),
        Err(()) => {
            reply::error(out, errors::WRONG_TYPE);
            return Next::Reply;
        }
    };
    let (len, old) = old.unwrap_or((0, 0));
    let was_set = old & mask != 0;
    if byte >= len || was_set != wanted {
        let new = if wanted { old | mask } else { old & !mask };
        ctx.write_string(key, byte, &[new]);
        ctx.propagate(args);
        ctx.notify(Class::STRING, "setbit", key, out);
    }
    reply::integer(out, i64::from(was_set));
    Next::Reply
}

/// GETBIT key offset: 0 behind the end.
pub(crate) fn getbit(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let Some((byte, mask)) = place_or_reply(args.at(2), out) else { return Next::Reply };
    match ctx.string(args.at(1)) {
        Ok(value) => {
            let found = value.and_then(|value| value.get(byte)).is_some_and(|found| found & mask != 0);
            reply::integer(out, i64::from(found));
        }
        Err(()) => reply::error(out, errors::WRONG_TYPE),
    }
    Next::Reply
}

/// Which byte a bit is in, and where in it.
fn place_or_reply(offset: &[u8], out: &mut Vec<u8>) -> Option<(usize, u8)> {
    let offset = integer::parse(offset).and_then(|offset| usize::try_from(offset).ok());
    let offset = offset.filter(|offset| offset / 8 < STRING_LIMIT_BYTES);
    if offset.is_none() {
        reply::error(out, b"ERR bit offset is not an integer or out of range");
    }
    offset.map(|offset| (offset / 8, 0x80 >> (offset % 8)))
}
