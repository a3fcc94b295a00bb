//! FUNCTION, as far as it can be answered by a node that has no functions.

use crate::core::Next;
use crate::core::context::{Context, c_string};
use crate::resp::{Args, reply};

/// FUNCTION FLUSH [ASYNC|SYNC]: there is nothing to forget.
pub(crate) fn function_flush(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let mode = args.get(2);
    if args.len() > 3 {
        super::clients::unknown_subcommand(args, out);
    } else if mode
        .is_some_and(|mode| !mode.eq_ignore_ascii_case(b"SYNC") && !mode.eq_ignore_ascii_case(b"ASYNC"))
    {
        reply::error(out, b"ERR FUNCTION FLUSH only supports SYNC|ASYNC option");
    } else {
        ctx.propagate(args);
        reply::ok(out);
    }
    Next::Reply
}

/// FUNCTION LIST [LIBRARYNAME pattern] [WITHCODE]: none.
pub(crate) fn function_list(_ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let (mut index, mut has_name, mut has_code) = (2, false, false);
    while let Some(option) = args.get(index) {
        if option.eq_ignore_ascii_case(b"WITHCODE") && !has_code {
            has_code = true;
        } else if option.eq_ignore_ascii_case(b"LIBRARYNAME") && !has_name && index + 1 < args.len() {
            (has_name, index) = (true, index + 1);
        } else if option.eq_ignore_ascii_case(b"LIBRARYNAME") && !has_name {
            reply::error(out, b"ERR library name argument was not given");
            return Next::Reply;
        } else {
            reply::error(out, &[b"ERR Unknown argument ", c_string(option)].concat());
            return Next::Reply;
        }
        index += 1;
    }
    reply::array(out, 0);
    Next::Reply
}
