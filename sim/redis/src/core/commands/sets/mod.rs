//! Sets: what semaphores keep their holders in.
//!
//! This file has what one set is asked and how it is changed; `algebra` what is made of several, `random` what is
//! drawn.

mod algebra;
mod random;

pub(crate) use algebra::{sdiff, sdiffstore, sinter, sintercard, sinterstore, sunion, sunionstore};
pub(crate) use random::{draw_places_or_reply, spop, srandmember};

use super::containers::{change, len_or_reply, reply_with, reply_with_whole};
use crate::core::context::Context;
use crate::core::state::Class;
use crate::core::values::Set;
use crate::core::{Next, errors};
use crate::resp::{Args, Protocol, reply};

/// SADD key member …: how many are new.
pub(crate) fn sadd(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    if len_or_reply::<Set>(ctx, args.at(1), out).is_none() {
        return Next::Reply;
    }
    let added = change(ctx, args.at(1), |set: &mut Set| {
        args.iter().skip(2).filter(|member| set.insert(member)).count()
    });
    if added > 0 {
        ctx.propagate(args);
        ctx.notify(Class::SET, "sadd", args.at(1), out);
    }
    reply::integer(out, added as i64);
    Next::Reply
}

/// SREM key member …: how many were there.
pub(crate) fn srem(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    if len_or_reply::<Set>(ctx, args.at(1), out).is_none() {
        return Next::Reply;
    }
    let removed = change(ctx, args.at(1), |set: &mut Set| {
        args.iter().skip(2).filter(|member| set.remove(member)).count()
    });
    if removed > 0 {
        ctx.propagate(args);
        ctx.notify_of_rest(Class::SET, "srem", args.at(1), out);
    }
    reply::integer(out, removed as i64);
    Next::Reply
}

/// SCARD key.
pub(crate) fn scard(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    reply_with(ctx, args.at(1), out, |set: Option<&Set>, out| {
        reply::integer(out, set.map_or(0, Set::len) as i64)
    })
}

/// SISMEMBER key member.
pub(crate) fn sismember(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    reply_with(ctx, args.at(1), out, |set: Option<&Set>, out| {
        reply::integer(out, i64::from(set.is_some_and(|set| set.contains(args.at(2)))));
    })
}

/// SMISMEMBER key member …
pub(crate) fn smismember(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    reply_with(ctx, args.at(1), out, |set: Option<&Set>, out| {
        reply::array(out, args.len() - 2);
        for member in args.iter().skip(2) {
            reply::integer(out, i64::from(set.is_some_and(|set| set.contains(member))));
        }
    })
}

/// SMEMBERS key.
pub(crate) fn smembers(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let (protocol, start) = (ctx.protocol(), out.len());
    let next = reply_with_whole(ctx, args.at(1), out, |set: Option<&Set>, out| {
        reply_members(set.unwrap_or(&Set::default()), protocol, out);
    });
    ctx.is_too_long(out, start);
    next
}

fn reply_members(set: &Set, protocol: Protocol, out: &mut Vec<u8>) {
    reply::set(out, protocol, set.len());
    set.iter().for_each(|member| reply::bulk(out, &member));
}

/// SMOVE source destination member.
pub(crate) fn smove(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let (source, destination, member) = (args.at(1), args.at(2), args.at(3));
    let has = |ctx: &mut Context<'_>, key| {
        ctx.read(key).map(|set: Option<&Set>| set.map(|set| set.contains(member)))
    };
    let (in_source, in_destination) = (has(ctx, source), has(ctx, destination));
    match (in_source, in_destination) {
        (Ok(None), _) => reply::integer(out, 0),
        (Err(()), _) | (_, Err(())) => reply::error(out, errors::WRONG_TYPE),
        (Ok(Some(false)), Ok(_)) => reply::integer(out, 0),
        (Ok(Some(true)), Ok(_)) => {
            if source != destination {
                change(ctx, source, |set: &mut Set| usize::from(set.remove(member)));
                ctx.notify_of_rest(Class::SET, "srem", source, out);
                let added = change(ctx, destination, |set: &mut Set| usize::from(set.insert(member)));
                ctx.propagate(args);
                if added > 0 {
                    ctx.notify(Class::SET, "sadd", destination, out);
                }
            }
            reply::integer(out, 1);
        }
    }
    Next::Reply
}
