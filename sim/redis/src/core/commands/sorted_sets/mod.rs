//! Sorted sets: what fair locks keep their waiters' deadlines in, and semaphores their holders.
//!
//! This file has what is asked about members by their names; `add` how they come, `bounds` and `ranges` what is between
//! two ranks, scores or names, `ends` what is taken from an end, `algebra` what is made of several.

mod add;
mod algebra;
mod bounds;
mod ends;
mod ranges;

pub(crate) use add::{zadd, zincrby};
pub(crate) use algebra::{zdiff, zdiffstore, zinter, zintercard, zinterstore, zunion, zunionstore};
pub(super) use ends::{pop_request_or_reply, take, take_some};
pub(crate) use ends::{zmpop, zpopmax, zpopmin};
pub(crate) use ranges::{
    zcount, zlexcount, zrange, zrangebylex, zrangebyscore, zrangestore, zremrangebylex, zremrangebyrank,
    zremrangebyscore, zrevrange, zrevrangebylex, zrevrangebyscore,
};

use super::containers::{change, len_or_reply, reply_with};
use crate::core::Next;
use crate::core::context::{Context, LOOK_BYTES};
use crate::core::state::Class;
use crate::core::values::SortedSet;
use crate::resp::{Args, Protocol, reply};

/// ZCARD key.
pub(crate) fn zcard(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    reply_with(ctx, args.at(1), out, |set: Option<&SortedSet>, out| {
        reply::integer(out, set.map_or(0, SortedSet::len) as i64);
    })
}

/// ZSCORE key member.
pub(crate) fn zscore(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let protocol = ctx.protocol();
    reply_with(ctx, args.at(1), out, |set: Option<&SortedSet>, out| {
        reply_score(set, args.at(2), protocol, out)
    })
}

/// ZMSCORE key member …
pub(crate) fn zmscore(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let protocol = ctx.protocol();
    reply_with(ctx, args.at(1), out, |set: Option<&SortedSet>, out| {
        reply::array(out, args.len() - 2);
        args.iter().skip(2).for_each(|member| reply_score(set, member, protocol, out));
    })
}

fn reply_score(set: Option<&SortedSet>, member: &[u8], protocol: Protocol, out: &mut Vec<u8>) {
    match set.and_then(|set| set.score(member)) {
        Some(score) => reply::double(out, protocol, score),
        None => reply::null(out, protocol),
    }
}

/// ZRANK key member: how many come before it.
pub(crate) fn zrank(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    reply_rank(ctx, args, |_, rank| rank, out)
}

/// ZREVRANK key member: how many come after it.
pub(crate) fn zrevrank(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    reply_rank(ctx, args, |len, rank| len - 1 - rank, out)
}

fn reply_rank(
    ctx: &mut Context<'_>,
    args: &Args<'_>,
    counted: impl FnOnce(usize, usize) -> usize,
    out: &mut Vec<u8>,
) -> Next {
    let protocol = ctx.protocol();
    reply_with(ctx, args.at(1), out, |set: Option<&SortedSet>, out| {
        match set.and_then(|set| Some(counted(set.len(), set.rank(args.at(2))?))) {
            Some(rank) => reply::integer(out, rank as i64),
            None => reply::null(out, protocol),
        }
    })
}

/// ZREM key member …: how many were there.
pub(crate) fn zrem(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let Some(len) = len_or_reply::<SortedSet>(ctx, args.at(1), out) else { return Next::Reply };
    ctx.charge_work(moving(len) * (args.len() - 2) as u64);
    let removed = change(ctx, args.at(1), |set: &mut SortedSet| {
        args.iter().skip(2).filter(|member| set.remove(member)).count()
    });
    if removed > 0 {
        ctx.propagate(args);
        ctx.notify_of_rest(Class::SORTED_SET, "zrem", args.at(1), out);
    }
    reply::integer(out, removed as i64);
    Next::Reply
}

/// What making or closing a gap among so many members costs, in bytes that could be copied meanwhile.
fn moving(len: usize) -> u64 {
    (len * size_of::<(f64, Vec<u8>)>()) as u64
}

/// Members, with their scores if those are wanted: pairs in RESP3, one after the other in RESP2.
fn reply_members<'a>(
    members: impl ExactSizeIterator<Item = (&'a [u8], f64)>,
    with_scores: bool,
    protocol: Protocol,
    out: &mut Vec<u8>,
) {
    let in_pairs = with_scores && protocol == Protocol::Three;
    reply::array(out, members.len() * if with_scores && !in_pairs { 2 } else { 1 });
    for (member, score) in members {
        if in_pairs {
            reply::array(out, 2);
        }
        reply::bulk(out, member);
        if with_scores {
            reply::double(out, protocol, score);
        }
    }
}

/// Notes the work of an answer that looks at so many members.
fn looked_at(ctx: &mut Context<'_>, members: usize) {
    ctx.charge_work(members as u64 * LOOK_BYTES);
}
