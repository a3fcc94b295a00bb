//! Strings: SET and its elders, GET, counters.

use super::integer_or_reply;
use crate::core::Next;
use crate::core::context::{Context, errors};
use crate::resp::{Args, integer, reply};

/// Where a lifetime in an argument counts from, and in what unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LifetimeUnit {
    milliseconds: bool,
    absolute: bool,
}

/// SET's options.
#[derive(Default)]
struct SetOptions<'a> {
    only_if_absent: bool,
    only_if_present: bool,
    get: bool,
    keep_lifetime: bool,
    lifetime: Option<(LifetimeUnit, &'a [u8])>,
}

/// SET key value [NX|XX] [GET] [EX s|PX ms|EXAT s|PXAT ms|KEEPTTL], options in any order.
pub(crate) fn set(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let Some(options) = parse_set_options(args) else {
        reply::error(out, errors::SYNTAX);
        return Next::Reply;
    };
    let expires_at = match options.lifetime {
        None => None,
        Some((unit, text)) => match lifetime(ctx, unit, text, out) {
            Some(when) => Some(when),
            None => return Next::Reply,
        },
    };
    let key = args.at(1);
    let protocol = ctx.protocol();
    if options.get {
        match ctx.string(key) {
            Ok(Some(old)) => reply::bulk(out, old),
            Ok(None) => reply::null(out, protocol),
            Err(()) => {
                reply::error(out, errors::WRONG_TYPE);
                return Next::Reply;
            }
        }
    }
    let exists = (options.only_if_absent || options.only_if_present) && ctx.exists(key);
    if (options.only_if_absent && exists) || (options.only_if_present && !exists) {
        if !options.get {
            reply::null(out, protocol);
        }
        return Next::Reply;
    }
    store(ctx, args, &options, expires_at);
    if !options.get {
        reply::ok(out);
    }
    Next::Reply
}

fn store(ctx: &mut Context<'_>, args: &Args<'_>, options: &SetOptions<'_>, expires_at: Option<i64>) {
    let (key, value) = (args.at(1), args.at(2));
    let kept =
        if options.keep_lifetime { ctx.lookup_entry(key).and_then(|entry| entry.expires_at) } else { None };
    ctx.set_string(key, value, expires_at.or(kept));
    match expires_at {
        // A relative lifetime must not start again when a replica or a restart gets to it.
        Some(when) => propagate_set(ctx, key, value, when),
        None if options.get => {
            let is_get = |argument: &[u8]| argument.eq_ignore_ascii_case(b"GET");
            let others = args.iter().enumerate().filter(|(index, argument)| *index < 3 || !is_get(argument));
            let others: Vec<&[u8]> = others.map(|(_, argument)| argument).collect();
            ctx.propagate_as(&others);
        }
        None => ctx.propagate(args),
    }
}

fn propagate_set(ctx: &mut Context<'_>, key: &[u8], value: &[u8], when: i64) {
    let mut digits = Vec::with_capacity(20);
    integer::write(&mut digits, when);
    ctx.propagate_as(&[b"SET", key, value, b"PXAT", &digits]);
}

fn parse_set_options<'a>(args: &Args<'a>) -> Option<SetOptions<'a>> {
    let mut options = SetOptions::default();
    let mut index = 3;
    while let Some(option) = args.get(index) {
        let is = |name: &[u8]| option.eq_ignore_ascii_case(name);
        let unit = |milliseconds, absolute| Some(LifetimeUnit { milliseconds, absolute });
        let lifetime_unit = if is(b"PX") {
            unit(true, false)
        } else if is(b"EX") {
            unit(false, false)
        } else if is(b"PXAT") {
            unit(true, true)
        } else if is(b"EXAT") {
            unit(false, true)
        } else {
            None
        };
        if let Some(unit) = lifetime_unit {
            // The same unit may be given twice (the last one counts), two units may not.
            let same = options.lifetime.is_none_or(|(earlier, _)| earlier == unit);
            let value = args.get(index + 1).filter(|_| same && !options.keep_lifetime)?;
            options.lifetime = Some((unit, value));
            index += 2;
            continue;
        }
        if is(b"NX") && !options.only_if_present {
            options.only_if_absent = true;
        } else if is(b"XX") && !options.only_if_absent {
            options.only_if_present = true;
        } else if is(b"GET") {
            options.get = true;
        } else if is(b"KEEPTTL") && options.lifetime.is_none() {
            options.keep_lifetime = true;
        } else {
            return None;
        }
        index += 1;
    }
    Some(options)
}

/// The absolute millisecond a lifetime ends at, or the error reply for it.
fn lifetime(ctx: &Context<'_>, unit: LifetimeUnit, text: &[u8], out: &mut Vec<u8>) -> Option<i64> {
    let amount = integer_or_reply(text, out)?;
    let when = Some(amount)
        .filter(|&amount| amount > 0)
        .and_then(|amount| if unit.milliseconds { Some(amount) } else { amount.checked_mul(1000) })
        .and_then(|amount| if unit.absolute { Some(amount) } else { amount.checked_add(ctx.now_ms()) });
    if when.is_none() {
        super::expiry::invalid_expire_time(ctx, out);
    }
    when
}

/// SETNX key value.
pub(crate) fn setnx(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let absent = !ctx.exists(args.at(1));
    if absent {
        ctx.set_string(args.at(1), args.at(2), None);
        ctx.propagate(args);
    }
    reply::integer(out, i64::from(absent));
    Next::Reply
}

/// SETEX key seconds value.
pub(crate) fn setex(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    set_with_lifetime(ctx, args, LifetimeUnit { milliseconds: false, absolute: false }, out)
}

/// PSETEX key milliseconds value.
pub(crate) fn psetex(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    set_with_lifetime(ctx, args, LifetimeUnit { milliseconds: true, absolute: false }, out)
}

fn set_with_lifetime(ctx: &mut Context<'_>, args: &Args<'_>, unit: LifetimeUnit, out: &mut Vec<u8>) -> Next {
    let Some(when) = lifetime(ctx, unit, args.at(2), out) else { return Next::Reply };
    ctx.set_string(args.at(1), args.at(3), Some(when));
    propagate_set(ctx, args.at(1), args.at(3), when);
    reply::ok(out);
    Next::Reply
}

/// GET key.
pub(crate) fn get(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    reply_string(ctx, args.at(1), out);
    Next::Reply
}

/// Replies with the string at `key`; false (and an error reply) if something else is there.
fn reply_string(ctx: &mut Context<'_>, key: &[u8], out: &mut Vec<u8>) -> bool {
    let protocol = ctx.protocol();
    match ctx.string(key) {
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
        ctx.propagate_as(&[b"SET", args.at(1), args.at(2)]);
    }
    Next::Reply
}

/// GETDEL key.
pub(crate) fn getdel(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    if reply_string(ctx, args.at(1), out) && ctx.remove(args.at(1)) {
        ctx.propagate_as(&[b"DEL", args.at(1)]);
    }
    Next::Reply
}

/// STRLEN key.
pub(crate) fn strlen(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    match ctx.string(args.at(1)) {
        Ok(value) => reply::integer(out, value.map_or(0, <[u8]>::len) as i64),
        Err(()) => reply::error(out, errors::WRONG_TYPE),
    }
    Next::Reply
}

/// MGET key …: what is not a string reads as absent.
pub(crate) fn mget(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    reply::array(out, args.len() - 1);
    let protocol = ctx.protocol();
    for key in args.iter().skip(1) {
        match ctx.string(key) {
            Ok(Some(value)) => reply::bulk(out, value),
            _ => reply::null(out, protocol),
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
    store_pairs(ctx, args);
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
        store_pairs(ctx, args);
    }
    reply::integer(out, i64::from(free));
    Next::Reply
}

fn store_pairs(ctx: &mut Context<'_>, args: &Args<'_>) {
    for index in (1..args.len()).step_by(2) {
        ctx.set_string(args.at(index), args.at(index + 1), None);
    }
    ctx.propagate(args);
}

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
    ctx.propagate(args);
    reply::integer(out, new);
    Next::Reply
}
