//! CLIENT PAUSE and CLIENT UNPAUSE.

use crate::core::Next;
use crate::core::context::Context;
use crate::core::state::{Pause, Paused};
use crate::resp::{Args, integer, reply};

/// CLIENT PAUSE milliseconds [WRITE|ALL].
pub(crate) fn client_pause(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let of = match args.get(3).map(<[u8]>::to_ascii_lowercase).as_deref() {
        None | Some(b"all") if args.len() <= 4 => Paused::All,
        Some(b"write") if args.len() == 4 => Paused::Writes,
        _ if args.len() > 4 => {
            super::clients::unknown_subcommand(args, out);
            return Next::Reply;
        }
        _ => {
            reply::error(out, b"ERR CLIENT PAUSE mode must be WRITE or ALL");
            return Next::Reply;
        }
    };
    match pause_end(ctx, args.at(2)) {
        Ok(until_ms) => {
            ctx.core.pause(Pause { of, until_ms }, ctx.now);
            reply::ok(out);
        }
        Err(why) => reply::error(out, why),
    }
    Next::Reply
}

/// The millisecond that so many from now are. None is a time long ago, as in Redis, and pauses nobody.
fn pause_end(ctx: &Context<'_>, millis: &[u8]) -> Result<i64, &'static [u8]> {
    match integer::parse(millis) {
        None => Err(b"ERR timeout is not an integer or out of range"),
        Some(..0) => Err(b"ERR timeout is negative"),
        Some(0) => Ok(0),
        // Where C overflows, the pause is over before it begins.
        Some(millis) => Ok(millis.wrapping_add(ctx.now_ms())),
    }
}

/// CLIENT UNPAUSE.
pub(crate) fn client_unpause(ctx: &mut Context<'_>, _args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    ctx.core.unpause();
    reply::ok(out);
    Next::Reply
}
