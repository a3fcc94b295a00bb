//! Strings: whole ones here, what SET and GETEX do to their lifetime in `set`, parts of them in `ranges`, numbers in
//! `counters`.

mod bits;
mod condition;
mod counters;
mod ranges;
mod set;

pub(crate) use bits::{getbit, setbit};
pub(crate) use condition::{delex, delifeq, digest};
pub(crate) use counters::{decr, decrby, incr, incrby, incrbyfloat};
pub(crate) use ranges::{append, getrange, setrange, strlen};
pub(crate) use set::{getex, psetex, set, setex, setnx};

use crate::core::command::READ_ONLY;
use crate::core::context::Context;
use crate::core::state::Class;
use crate::core::{Next, errors};
use crate::resp::{Args, reply};

/// GET key.
pub(crate) fn get(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    reply_string(ctx, args.at(1), out);
    Next::Reply
}

/// Replies with the string at `key`; false (and an error reply) if something else is there.
fn reply_string(ctx: &mut Context<'_>, key: &[u8], out: &mut Vec<u8>) -> bool {
    let protocol = ctx.protocol();
    let string = if ctx.spec.has(READ_ONLY) { ctx.string(key) } else { ctx.string_to_read(key) };
    match string {
        Ok(Some(value)) => reply::bulk(out, value),
        Ok(None) => reply::null(out, protocol),
        Err(()) => {
            reply::error(out, errors::WRONG_TYPE);
            return false;
        }
    }
    true
}

/// GETSET key value: clears the lifetime, as SET does.
pub(crate) fn getset(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    if reply_string(ctx, args.at(1), out) {
        ctx.set_string(args.at(1), args.at(2), None);
        ctx.notify(Class::STRING, "set", args.at(1), out);
        ctx.propagate_as(&[b"SET", args.at(1), args.at(2)]);
    }
    Next::Reply
}

/// GETDEL key.
pub(crate) fn getdel(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    if reply_string(ctx, args.at(1), out) && ctx.remove(args.at(1)) {
        ctx.notify(Class::GENERIC, "del", args.at(1), out);
        ctx.propagate_as(&[b"DEL", args.at(1)]);
    }
    Next::Reply
}

/// MGET key …: what is not a string reads as absent.
pub(crate) fn mget(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let start = out.len();
    reply::array(out, args.len() - 1);
    let protocol = ctx.protocol();
    for key in args.iter().skip(1) {
        match ctx.string(key) {
            Ok(Some(value)) => reply::bulk(out, value),
            _ => reply::null(out, protocol),
        }
        if ctx.is_too_long(out, start) {
            break;
        }
    }
    Next::Reply
}

/// MSET key value …
pub(crate) fn mset(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    if args.len().is_multiple_of(2) {
        ctx.arity_error(out);
        return Next::Reply;
    }
    store_pairs(ctx, args, out);
    reply::ok(out);
    Next::Reply
}

/// MSETNX key value …: all or nothing.
pub(crate) fn msetnx(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    if args.len().is_multiple_of(2) {
        ctx.arity_error(out);
        return Next::Reply;
    }
    let free = !args.iter().skip(1).step_by(2).any(|key| ctx.exists(key));
    if free {
        store_pairs(ctx, args, out);
    }
    reply::integer(out, i64::from(free));
    Next::Reply
}

fn store_pairs(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) {
    for index in (1..args.len()).step_by(2) {
        ctx.set_string(args.at(index), args.at(index + 1), None);
        ctx.notify(Class::STRING, "set", args.at(index), out);
    }
    ctx.propagate(args);
}
