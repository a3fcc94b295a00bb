//! Hashes: what re-entrant locks keep their owners and hold counts in.

use super::{float_or_reply, integer_or_reply};
use crate::core::context::{Context, LOOK_BYTES};
use crate::core::keyspace::Hash;
use crate::core::long_double::LongDouble;
use crate::core::state::Class;
use crate::core::{Next, errors};
use crate::resp::{Args, integer, reply};

/// HSET key field value …: how many fields are new.
pub(crate) fn hset(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    if let Some(added) = set_fields_or_reply(ctx, args, out) {
        reply::integer(out, added as i64);
        ctx.notify(Class::HASH, "hset", args.at(1), out);
    }
    Next::Reply
}

/// HMSET key field value …
pub(crate) fn hmset(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    if set_fields_or_reply(ctx, args, out).is_some() {
        reply::ok(out);
        ctx.notify(Class::HASH, "hset", args.at(1), out);
    }
    Next::Reply
}

fn set_fields_or_reply(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Option<usize> {
    if args.len() % 2 == 1 {
        ctx.arity_error(out);
        return None;
    }
    let added = ctx.change_hash(args, (2..args.len()).step_by(2), |hash| {
        (2..args.len()).step_by(2).filter(|&index| hash.set(args.at(index), args.at(index + 1))).count()
    });
    match added {
        Ok(_) => ctx.propagate(args),
        Err(()) => reply::error(out, errors::WRONG_TYPE),
    }
    added.ok()
}

/// HSETNX key field value.
pub(crate) fn hsetnx(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let field = args.at(2);
    match ctx.hash(args).map(|hash| hash.is_some_and(|hash| hash.get(field).is_some())) {
        Err(()) => reply::error(out, errors::WRONG_TYPE),
        Ok(true) => reply::integer(out, 0),
        Ok(false) => {
            let added = ctx.change_hash(args, 2..3, |hash| hash.set(field, args.at(3)));
            ctx.propagate(args);
            reply::integer(out, i64::from(added.is_ok()));
            ctx.notify(Class::HASH, "hset", args.at(1), out);
        }
    }
    Next::Reply
}

/// HINCRBY key field increment: the hash keeps its lifetime.
pub(crate) fn hincrby(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let Some(amount) = integer_or_reply(args.at(3), out) else { return Next::Reply };
    let field = args.at(2);
    let old = match ctx.hash(args) {
        Err(()) => {
            reply::error(out, errors::WRONG_TYPE);
            return Next::Reply;
        }
        Ok(hash) => hash.and_then(|hash| hash.get(field)).map_or(Some(0), integer::parse),
    };
    let Some(old) = old else {
        reply::error(out, b"ERR hash value is not an integer");
        return Next::Reply;
    };
    let Some(new) = old.checked_add(amount) else {
        reply::error(out, b"ERR increment or decrement would overflow");
        return Next::Reply;
    };
    let mut digits = Vec::with_capacity(20);
    integer::write(&mut digits, new);
    if ctx.change_hash(args, 2..3, |hash| hash.set(field, &digits)).is_ok() {
        ctx.propagate(args);
    }
    reply::integer(out, new);
    ctx.notify(Class::HASH, "hincrby", args.at(1), out);
    Next::Reply
}

/// HINCRBYFLOAT key field increment: what replicas and the file are told is the sum.
pub(crate) fn hincrbyfloat(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let Some(amount) = float_or_reply(args.at(3), out) else { return Next::Reply };
    if !amount.is_finite() {
        reply::error(out, b"ERR value is NaN or Infinity");
        return Next::Reply;
    }
    let field = args.at(2);
    let old = match ctx.hash(args) {
        Err(()) => {
            reply::error(out, errors::WRONG_TYPE);
            return Next::Reply;
        }
        Ok(hash) => hash.and_then(|hash| hash.get(field)).map_or(Some(LongDouble::ZERO), LongDouble::parse),
    };
    let Some(old) = old else {
        reply::error(out, b"ERR hash value is not a float");
        return Next::Reply;
    };
    let Some(sum) = old.plus(amount) else {
        reply::error(out, errors::NO_FINITE_SUM);
        return Next::Reply;
    };
    let text = sum.text();
    if ctx.change_hash(args, 2..3, |hash| hash.set(field, text.as_bytes())).is_ok() {
        ctx.propagate_as(&[b"HSET", args.at(1), field, text.as_bytes()]);
    }
    reply::bulk(out, text.as_bytes());
    ctx.notify(Class::HASH, "hincrbyfloat", args.at(1), out);
    Next::Reply
}

/// HDEL key field …: an empty hash is gone.
pub(crate) fn hdel(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    match ctx
        .hash(args)
        .map(|hash| hash.is_some_and(|hash| args.iter().skip(2).any(|field| hash.get(field).is_some())))
    {
        Err(()) => reply::error(out, errors::WRONG_TYPE),
        Ok(false) => reply::integer(out, 0),
        Ok(true) => {
            let removed = ctx.change_hash(args, 2..args.len(), |hash| {
                args.iter().skip(2).filter(|field| hash.remove(field)).count()
            });
            ctx.propagate(args);
            ctx.notify_of_rest(Class::HASH, "hdel", args.at(1), out);
            reply::integer(out, removed.unwrap_or(0) as i64);
        }
    }
    Next::Reply
}

/// HGET key field.
pub(crate) fn hget(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let protocol = ctx.protocol();
    with_hash(ctx, args, out, |hash, out| match hash.and_then(|hash| hash.get(args.at(2))) {
        Some(value) => reply::bulk(out, value),
        None => reply::null(out, protocol),
    })
}

/// HMGET key field …
pub(crate) fn hmget(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let (protocol, start, limit) = (ctx.protocol(), out.len(), ctx.reply_limit());
    let next = with_hash(ctx, args, out, |hash, out| {
        reply::array(out, args.len() - 2);
        for field in args.iter().skip(2) {
            if out.len() - start > limit {
                break;
            }
            match hash.and_then(|hash| hash.get(field)) {
                Some(value) => reply::bulk(out, value),
                None => reply::null(out, protocol),
            }
        }
    });
    ctx.is_too_long(out, start);
    next
}

/// HEXISTS key field.
pub(crate) fn hexists(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    with_hash(ctx, args, out, |hash, out| {
        reply::integer(out, i64::from(hash.is_some_and(|hash| hash.get(args.at(2)).is_some())));
    })
}

/// HLEN key.
pub(crate) fn hlen(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    with_hash(ctx, args, out, |hash, out| reply::integer(out, hash.map_or(0, Hash::len) as i64))
}

/// HSTRLEN key field.
pub(crate) fn hstrlen(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    with_hash(ctx, args, out, |hash, out| {
        let value = hash.and_then(|hash| hash.get(args.at(2)));
        reply::integer(out, value.map_or(0, <[u8]>::len) as i64);
    })
}

/// HGETALL key.
pub(crate) fn hgetall(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let protocol = ctx.protocol();
    with_whole_hash(ctx, args, out, |hash, out| {
        reply::map(out, protocol, hash.map_or(0, Hash::len));
        for (field, value) in hash.into_iter().flat_map(Hash::iter) {
            reply::bulk(out, field);
            reply::bulk(out, value);
        }
    })
}

/// HKEYS key.
pub(crate) fn hkeys(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    with_whole_hash(ctx, args, out, |hash, out| {
        reply::array(out, hash.map_or(0, Hash::len));
        hash.into_iter().flat_map(Hash::iter).for_each(|(field, _)| reply::bulk(out, field));
    })
}

/// HVALS key.
pub(crate) fn hvals(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    with_whole_hash(ctx, args, out, |hash, out| {
        reply::array(out, hash.map_or(0, Hash::len));
        hash.into_iter().flat_map(Hash::iter).for_each(|(_, value)| reply::bulk(out, value));
    })
}

fn with_hash(
    ctx: &mut Context<'_>,
    args: &Args<'_>,
    out: &mut Vec<u8>,
    answer: impl FnOnce(Option<&Hash>, &mut Vec<u8>),
) -> Next {
    match ctx.hash(args) {
        Ok(hash) => answer(hash, out),
        Err(()) => reply::error(out, errors::WRONG_TYPE),
    }
    Next::Reply
}

/// The same for an answer that looks at every field.
fn with_whole_hash(
    ctx: &mut Context<'_>,
    args: &Args<'_>,
    out: &mut Vec<u8>,
    answer: impl FnOnce(Option<&Hash>, &mut Vec<u8>),
) -> Next {
    let mut fields = 0;
    let next = with_hash(ctx, args, out, |hash, out| {
        fields = hash.map_or(0, Hash::len);
        answer(hash, out);
    });
    ctx.charge_work(fields as u64 * LOOK_BYTES);
    next
}
