//! What adds to a list at its ends, and what takes from them.

use crate::core::commands::containers::{change, len_or_reply};
use crate::core::commands::numbers::count_or_reply;
use crate::core::context::Context;
use crate::core::state::Class;
use crate::core::values::{End, List};
use crate::core::{Next, errors};
use crate::resp::{Args, reply};

/// LPUSH key element …: how long the list is then.
pub(crate) fn lpush(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    push(ctx, args, End::Left, true, out)
}

/// RPUSH key element …
pub(crate) fn rpush(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    push(ctx, args, End::Right, true, out)
}

/// LPUSHX key element …: only to a list that is there.
pub(crate) fn lpushx(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    push(ctx, args, End::Left, false, out)
}

/// RPUSHX key element …
pub(crate) fn rpushx(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    push(ctx, args, End::Right, false, out)
}

fn push(ctx: &mut Context<'_>, args: &Args<'_>, end: End, makes: bool, out: &mut Vec<u8>) -> Next {
    let Some(len) = len_or_reply::<List>(ctx, args.at(1), out) else { return Next::Reply };
    if len == 0 && !makes {
        reply::integer(out, 0);
        return Next::Reply;
    }
    let added = change(ctx, args.at(1), |list: &mut List| {
        args.iter().skip(2).for_each(|element| list.push(end, element));
        args.len() - 2
    });
    ctx.propagate(args);
    reply::integer(out, (len + added) as i64);
    ctx.notify(Class::LIST, end.push_event(), args.at(1), out);
    Next::Reply
}

/// LPOP key [count].
pub(crate) fn lpop(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    pop(ctx, args, End::Left, out)
}

/// RPOP key [count].
pub(crate) fn rpop(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    pop(ctx, args, End::Right, out)
}

fn pop(ctx: &mut Context<'_>, args: &Args<'_>, end: End, out: &mut Vec<u8>) -> Next {
    if args.len() > 3 {
        ctx.arity_error(out);
        return Next::Reply;
    }
    let count = match args.get(2) {
        None => None,
        Some(text) => match count_or_reply(text, out) {
            None => return Next::Reply,
            count => count,
        },
    };
    let found: Result<Option<&List>, ()> = ctx.read(args.at(1));
    match (found.map(|list| list.is_some()), count) {
        (Err(()), _) => reply::error(out, errors::WRONG_TYPE),
        (Ok(false), None) => reply::null(out, ctx.protocol()),
        (Ok(false), Some(_)) => reply::null_array(out, ctx.protocol()),
        (Ok(true), Some(0)) => reply::array(out, 0),
        (Ok(true), count) => {
            let popped = take(ctx, args.at(1), end, count.unwrap_or(1));
            ctx.propagate(args);
            if count.is_some() {
                reply::array(out, popped.len());
            }
            popped.iter().for_each(|element| reply::bulk(out, element));
            ctx.notify_of_rest(Class::LIST, end.pop_event(), args.at(1), out);
        }
    }
    Next::Reply
}

/// Takes up to so many elements from one end of a list that is there.
pub(in crate::core::commands) fn take(
    ctx: &mut Context<'_>,
    key: &[u8],
    end: End,
    count: usize,
) -> Vec<Vec<u8>> {
    let mut taken = Vec::new();
    change(ctx, key, |list: &mut List| {
        taken.extend(std::iter::from_fn(|| list.pop(end)).take(count));
        taken.len()
    });
    taken
}
