//! What takes the members with the lowest or the highest scores.

use super::{looked_at, moving};
use crate::core::commands::containers::{change, len_or_reply};
use crate::core::commands::numbers::{bounded_or_reply, count_or_reply};
use crate::core::context::Context;
use crate::core::state::Class;
use crate::core::values::{Extreme, SortedSet};
use crate::core::{Next, errors};
use crate::resp::{Args, Protocol, integer, reply};

/// ZPOPMIN key [count].
pub(crate) fn zpopmin(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    pop(ctx, args, Extreme::Lowest, out)
}

/// ZPOPMAX key [count].
pub(crate) fn zpopmax(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    pop(ctx, args, Extreme::Highest, out)
}

fn pop(ctx: &mut Context<'_>, args: &Args<'_>, from: Extreme, out: &mut Vec<u8>) -> Next {
    if args.len() > 3 {
        reply::error(out, errors::SYNTAX);
        return Next::Reply;
    }
    let count = match args.get(2) {
        None => None,
        Some(text) => match count_or_reply(text, out) {
            None => return Next::Reply,
            count => count,
        },
    };
    if len_or_reply::<SortedSet>(ctx, args.at(1), out).is_none() {
        return Next::Reply;
    }
    let taken = take(ctx, args.at(1), from, count.unwrap_or(1));
    if !taken.is_empty() {
        ctx.propagate(args);
        ctx.notify(Class::SORTED_SET, from.pop_event(), args.at(1), out);
    }
    // Pairs only where several were asked for: one member alone comes as in RESP2.
    let in_pairs = count.is_some() && ctx.protocol() == Protocol::Three;
    reply::array(out, taken.len() * if in_pairs { 1 } else { 2 });
    reply_taken(&taken, in_pairs, ctx.protocol(), out);
    if !taken.is_empty() {
        ctx.notify_if_gone(args.at(1), out);
    }
    Next::Reply
}

/// Takes up to so many members of a sorted set, those at the end first.
pub(in crate::core::commands) fn take(
    ctx: &mut Context<'_>,
    key: &[u8],
    from: Extreme,
    count: usize,
) -> Vec<(Vec<u8>, f64)> {
    let Ok(Some(set)) = ctx.read::<SortedSet>(key) else { return Vec::new() };
    let len = set.len();
    let count = count.min(len);
    let range = match from {
        Extreme::Lowest => 0..count,
        Extreme::Highest => len - count..len,
    };
    let members = set.ranks(range.clone()).map(|(member, score)| (member.to_vec(), score));
    let taken = match from {
        Extreme::Lowest => members.collect(),
        Extreme::Highest => members.rev().collect(),
    };
    change(ctx, key, |set: &mut SortedSet| set.remove_ranks(range));
    looked_at(ctx, count);
    ctx.charge_work(if from == Extreme::Lowest { moving(len) } else { 0 });
    taken
}

fn reply_taken(taken: &[(Vec<u8>, f64)], in_pairs: bool, protocol: Protocol, out: &mut Vec<u8>) {
    for (member, score) in taken {
        if in_pairs {
            reply::array(out, 2);
        }
        reply::bulk(out, member);
        reply::double(out, protocol, *score);
    }
}

/// What ZMPOP and BZMPOP ask for.
pub(in crate::core::commands) struct PopRequest<'a> {
    pub(in crate::core::commands) keys: Vec<&'a [u8]>,
    pub(in crate::core::commands) from: Extreme,
    pub(in crate::core::commands) count: usize,
}

/// ZMPOP numkeys key … MIN|MAX [COUNT count].
pub(crate) fn zmpop(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let Some(request) = pop_request_or_reply(args, 1, out) else { return Next::Reply };
    for key in request.keys {
        match ctx.read(key).map(|set: Option<&SortedSet>| set.is_some()) {
            Ok(false) => continue,
            Err(()) => reply::error(out, errors::WRONG_TYPE),
            Ok(true) => take_some(ctx, key, request.from, request.count, out),
        }
        return Next::Reply;
    }
    reply::null_array(out, ctx.protocol());
    Next::Reply
}

/// Reads what follows the number of keys, which is argument number `first`.
pub(in crate::core::commands) fn pop_request_or_reply<'a>(
    args: &Args<'a>,
    first: usize,
    out: &mut Vec<u8>,
) -> Option<PopRequest<'a>> {
    let number = bounded_or_reply(args.at(first), 1, b"ERR numkeys should be greater than 0", out)?;
    let after = first.saturating_add(1).saturating_add(number);
    let Some(from) = args.get(after).and_then(Extreme::from_word) else {
        reply::error(out, errors::SYNTAX);
        return None;
    };
    let mut count = None;
    let mut index = after + 1;
    while let Some(word) = args.get(index) {
        match args.get(index + 1).filter(|_| count.is_none() && word.eq_ignore_ascii_case(b"COUNT")) {
            Some(text) => {
                count = Some(bounded_or_reply(text, 1, b"ERR count should be greater than 0", out)?);
            }
            None => {
                reply::error(out, errors::SYNTAX);
                return None;
            }
        }
        index += 2;
    }
    let keys = (first + 1..after).map(|index| args.at(index)).collect();
    Some(PopRequest { keys, from, count: count.unwrap_or(1) })
}

/// Takes up to so many members of a sorted set that is there, and answers with them and its key. Goes to replicas as
/// what it comes to.
pub(in crate::core::commands) fn take_some(
    ctx: &mut Context<'_>,
    key: &[u8],
    from: Extreme,
    count: usize,
    out: &mut Vec<u8>,
) {
    let taken = take(ctx, key, from, count);
    let mut number = Vec::new();
    integer::write(&mut number, taken.len() as i64);
    ctx.propagate_as(&[from.pop_name(), key, &number]);
    ctx.notify(Class::SORTED_SET, from.pop_event(), key, out);
    reply::array(out, 2);
    reply::bulk(out, key);
    reply::array(out, taken.len());
    reply_taken(&taken, true, ctx.protocol(), out);
    ctx.notify_if_gone(key, out);
}
