//! Numbers in strings.

use crate::core::commands::{float_or_reply, integer_or_reply};
use crate::core::context::Context;
use crate::core::long_double::LongDouble;
use crate::core::state::Class;
use crate::core::{Next, errors};
use crate::resp::{Args, integer, reply};

/// INCR key.
pub(crate) fn incr(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    increment(ctx, args, 1, out)
}

/// DECR key.
pub(crate) fn decr(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    increment(ctx, args, -1, out)
}

/// INCRBY key increment.
pub(crate) fn incrby(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    match integer_or_reply(args.at(2), out) {
        Some(amount) => increment(ctx, args, amount, out),
        None => Next::Reply,
    }
}

/// DECRBY key decrement.
pub(crate) fn decrby(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let Some(amount) = integer_or_reply(args.at(2), out) else { return Next::Reply };
    match amount.checked_neg() {
        Some(amount) => return increment(ctx, args, amount, out),
        None => reply::error(out, b"ERR decrement would overflow"),
    }
    Next::Reply
}

/// Adds to the integer at the key, which keeps its lifetime.
fn increment(ctx: &mut Context<'_>, args: &Args<'_>, amount: i64, out: &mut Vec<u8>) -> Next {
    let key = args.at(1);
    let (old, expires_at) =
        match ctx.lookup_entry(key).map(|entry| (entry.value.as_string(), entry.expires_at)) {
            None => (0, None),
            Some((Some(text), expires_at)) => match integer_or_reply(text, out) {
                Some(value) => (value, expires_at),
                None => return Next::Reply,
            },
            Some((None, _)) => {
                reply::error(out, errors::WRONG_TYPE);
                return Next::Reply;
            }
        };
    let Some(new) = old.checked_add(amount) else {
        reply::error(out, b"ERR increment or decrement would overflow");
        return Next::Reply;
    };
    let mut digits = Vec::with_capacity(20);
    integer::write(&mut digits, new);
    ctx.set_string(key, &digits, expires_at);
    ctx.notify(Class::STRING, "incrby", key, out);
    ctx.propagate(args);
    reply::integer(out, new);
    Next::Reply
}

/// INCRBYFLOAT key increment: what replicas and the file are told is the sum, since they might calculate otherwise.
pub(crate) fn incrbyfloat(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let key = args.at(1);
    let (old, expires_at) =
        match ctx.lookup_entry(key).map(|entry| (entry.value.as_string(), entry.expires_at)) {
            None => (LongDouble::ZERO, None),
            Some((Some(text), expires_at)) => match float_or_reply(text, out) {
                Some(value) => (value, expires_at),
                None => return Next::Reply,
            },
            Some((None, _)) => {
                reply::error(out, errors::WRONG_TYPE);
                return Next::Reply;
            }
        };
    let Some(amount) = float_or_reply(args.at(2), out) else { return Next::Reply };
    let Some(sum) = old.plus(amount) else {
        reply::error(out, errors::NO_FINITE_SUM);
        return Next::Reply;
    };
    let text = sum.text();
    ctx.set_string(key, text.as_bytes(), expires_at);
    ctx.propagate_as(&[b"SET", key, text.as_bytes(), b"KEEPTTL"]);
    ctx.notify(Class::STRING, "incrbyfloat", key, out);
    reply::bulk(out, text.as_bytes());
    Next::Reply
}
