//! ZRANGE in all its forms, what counts, removes or stores a range, and the older commands that each do one of them.

use std::ops::Range;

use super::bounds::{Bounds, By};
use super::{looked_at, moving, reply_members};
use crate::core::commands::containers::{change, reply_with};
use crate::core::commands::integer_or_reply;
use crate::core::context::Context;
use crate::core::state::Class;
use crate::core::values::SortedSet;
use crate::core::{Next, errors};
use crate::resp::{Args, reply};

/// What a range asks for. Nothing said is by rank, from the lowest.
#[derive(Clone, Copy, Default)]
struct Options {
    by: Option<By>,
    from_top: Option<bool>,
    with_scores: bool,
    /// How many members are passed over, and how many are then taken.
    limit: Option<(i64, i64)>,
}

/// ZRANGE key start stop [BYSCORE|BYLEX] [REV] [LIMIT offset count] [WITHSCORES].
pub(crate) fn zrange(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    answer(ctx, args, Options::default(), out)
}

/// ZREVRANGE key start stop [WITHSCORES].
pub(crate) fn zrevrange(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    answer(ctx, args, fixed_options(By::Rank, true), out)
}

/// ZRANGEBYSCORE key min max [WITHSCORES] [LIMIT offset count].
pub(crate) fn zrangebyscore(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    answer(ctx, args, fixed_options(By::Score, false), out)
}

/// ZREVRANGEBYSCORE key max min [WITHSCORES] [LIMIT offset count].
pub(crate) fn zrevrangebyscore(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    answer(ctx, args, fixed_options(By::Score, true), out)
}

/// ZRANGEBYLEX key min max [LIMIT offset count].
pub(crate) fn zrangebylex(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    answer(ctx, args, fixed_options(By::Name, false), out)
}

/// ZREVRANGEBYLEX key max min [LIMIT offset count].
pub(crate) fn zrevrangebylex(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    answer(ctx, args, fixed_options(By::Name, true), out)
}

fn fixed_options(by: By, from_top: bool) -> Options {
    Options { by: Some(by), from_top: Some(from_top), ..Options::default() }
}

/// ZRANGESTORE destination source start stop [BYSCORE|BYLEX] [REV] [LIMIT offset count].
pub(crate) fn zrangestore(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let Some((bounds, options)) = read_or_reply(args, 2, Options::default(), out) else { return Next::Reply };
    let mut stored = SortedSet::default();
    let mut len = 0;
    let found = ctx.read(args.at(2)).map(|set: Option<&SortedSet>| {
        let Some(set) = set else { return };
        len = set.len();
        let range = options.ranks(&bounds, set);
        for (member, score) in set.ranks(range) {
            stored.insert(member, score);
        }
    });
    looked_at(ctx, len);
    if found.is_err() {
        reply::error(out, errors::WRONG_TYPE);
        return Next::Reply;
    }
    let count = stored.len();
    let has_changed = ctx.store(args.at(1), stored);
    reply::integer(out, count as i64);
    if has_changed {
        ctx.propagate(args);
        ctx.notify_stored(Class::SORTED_SET, args.at(1), count == 0, out);
    }
    Next::Reply
}

fn answer(ctx: &mut Context<'_>, args: &Args<'_>, options: Options, out: &mut Vec<u8>) -> Next {
    let Some((bounds, options)) = read_or_reply(args, 1, options, out) else { return Next::Reply };
    let (protocol, start) = (ctx.protocol(), out.len());
    let mut work = 0;
    let next = reply_with(ctx, args.at(1), out, |set: Option<&SortedSet>, out| {
        let Some(set) = set else { return reply::array(out, 0) };
        let range = options.ranks(&bounds, set);
        work = if options.by == Some(By::Name) { set.len() } else { range.len() };
        match options.from_top {
            Some(true) => reply_members(set.ranks(range).rev(), options.with_scores, protocol, out),
            _ => reply_members(set.ranks(range), options.with_scores, protocol, out),
        }
    });
    looked_at(ctx, work);
    ctx.is_too_long(out, start);
    next
}

/// Reads what follows the key, which is argument number `key`. What is fixed already cannot be asked for again.
fn read_or_reply<'a>(
    args: &Args<'a>,
    key: usize,
    mut options: Options,
    out: &mut Vec<u8>,
) -> Option<(Bounds<'a>, Options)> {
    let stores = key == 2;
    let mut index = key + 3;
    while let Some(word) = args.get(index) {
        match word.to_ascii_uppercase().as_slice() {
            b"WITHSCORES" if !stores => options.with_scores = true,
            b"LIMIT" if index + 2 < args.len() => {
                let offset = integer_or_reply(args.at(index + 1), out)?;
                options.limit = Some((offset, integer_or_reply(args.at(index + 2), out)?));
                index += 2;
            }
            b"REV" if options.from_top.is_none() => options.from_top = Some(true),
            b"BYLEX" if options.by.is_none() => options.by = Some(By::Name),
            b"BYSCORE" if options.by.is_none() => options.by = Some(By::Score),
            _ => {
                reply::error(out, errors::SYNTAX);
                return None;
            }
        }
        index += 1;
    }
    let by = options.by.unwrap_or(By::Rank);
    // All that a limit of -1 asks for is what there is without one.
    if by == By::Rank && options.limit.is_some_and(|(_, count)| count != -1) {
        let text = b"ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX";
        reply::error(out, text);
        return None;
    }
    if by == By::Name && options.with_scores {
        reply::error(out, b"ERR syntax error, WITHSCORES not supported in combination with BYLEX");
        return None;
    }
    let (mut min, mut max) = (args.at(key + 1), args.at(key + 2));
    if options.from_top == Some(true) && by != By::Rank {
        std::mem::swap(&mut min, &mut max);
    }
    Some((Bounds::read_or_reply(by, min, max, out)?, options))
}

impl Options {
    /// The ranks of the members that are asked for.
    fn ranks(&self, bounds: &Bounds<'_>, set: &SortedSet) -> Range<usize> {
        let from_top = self.from_top == Some(true);
        let range = bounds.ranks(set, from_top);
        let Some((offset, count)) = self.limit.filter(|_| !matches!(bounds, Bounds::Ranks(..))) else {
            return range;
        };
        // As in Redis, what is passed over never ends if it is negative, and neither does what is taken.
        let offset = usize::try_from(offset).unwrap_or(usize::MAX).min(range.len());
        let count = usize::try_from(count).unwrap_or(usize::MAX).min(range.len() - offset);
        match from_top {
            true => range.end - offset - count..range.end - offset,
            false => range.start + offset..range.start + offset + count,
        }
    }
}

/// ZCOUNT key min max.
pub(crate) fn zcount(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    count(ctx, args, By::Score, out)
}

/// ZLEXCOUNT key min max.
pub(crate) fn zlexcount(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    count(ctx, args, By::Name, out)
}

fn count(ctx: &mut Context<'_>, args: &Args<'_>, by: By, out: &mut Vec<u8>) -> Next {
    let Some(bounds) = Bounds::read_or_reply(by, args.at(2), args.at(3), out) else { return Next::Reply };
    let mut work = 0;
    let next = reply_with(ctx, args.at(1), out, |set: Option<&SortedSet>, out| {
        work = set.filter(|_| by == By::Name).map_or(0, SortedSet::len);
        reply::integer(out, set.map_or(0, |set| bounds.ranks(set, false).len()) as i64);
    });
    looked_at(ctx, work);
    next
}

/// ZREMRANGEBYRANK key start stop.
pub(crate) fn zremrangebyrank(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    remove(ctx, args, By::Rank, out)
}

/// ZREMRANGEBYSCORE key min max.
pub(crate) fn zremrangebyscore(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    remove(ctx, args, By::Score, out)
}

/// ZREMRANGEBYLEX key min max.
pub(crate) fn zremrangebylex(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    remove(ctx, args, By::Name, out)
}

fn remove(ctx: &mut Context<'_>, args: &Args<'_>, by: By, out: &mut Vec<u8>) -> Next {
    let Some(bounds) = Bounds::read_or_reply(by, args.at(2), args.at(3), out) else { return Next::Reply };
    let range = ctx
        .read(args.at(1))
        .map(|set: Option<&SortedSet>| set.map_or((0..0, 0), |set| (bounds.ranks(set, false), set.len())));
    let Ok((range, len)) = range else {
        reply::error(out, errors::WRONG_TYPE);
        return Next::Reply;
    };
    ctx.charge_work(moving(len));
    let removed = change(ctx, args.at(1), |set: &mut SortedSet| set.remove_ranks(range));
    if removed > 0 {
        ctx.propagate(args);
        ctx.notify_of_rest(Class::SORTED_SET, ctx.spec.full_name, args.at(1), out);
    }
    reply::integer(out, removed as i64);
    Next::Reply
}
