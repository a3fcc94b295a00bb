//! Lists: the queues that fair locks and workers wait in.
//!
//! This file has what looks at a list or changes it in place; `ends` what adds and takes at its ends, `moves` what goes
//! from one list to another or takes of the first that has something.

mod ends;
mod moves;

pub(super) use ends::take;
pub(crate) use ends::{lpop, lpush, lpushx, rpop, rpush, rpushx};
pub(crate) use moves::{lmove, lmpop, rpoplpush};
pub(super) use moves::{pass_on, pop_name, pop_request_or_reply, take_some};

use super::containers::{change, len_or_reply, reply_with};
use super::integer_or_reply;
use super::numbers::{bounded_or_reply, places};
use crate::core::context::{Context, LOOK_BYTES};
use crate::core::state::Class;
use crate::core::values::{End, List};
use crate::core::{Next, errors};
use crate::resp::{Args, reply};

/// LLEN key.
pub(crate) fn llen(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    reply_with(ctx, args.at(1), out, |list: Option<&List>, out| {
        reply::integer(out, list.map_or(0, List::len) as i64);
    })
}

/// LRANGE key start stop.
pub(crate) fn lrange(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let Some(start) = integer_or_reply(args.at(2), out) else { return Next::Reply };
    let Some(stop) = integer_or_reply(args.at(3), out) else { return Next::Reply };
    let (at, limit) = (out.len(), ctx.reply_limit());
    let mut shown = 0;
    let next = reply_with(ctx, args.at(1), out, |list: Option<&List>, out| {
        let Some(list) = list else { return reply::array(out, 0) };
        let range = places(start, stop, list.len());
        shown = range.len();
        reply::array(out, range.len());
        for element in list.iter().skip(range.start).take(range.len()) {
            if out.len() - at > limit {
                break;
            }
            reply::bulk(out, element);
        }
    });
    ctx.charge_work(shown as u64 * LOOK_BYTES);
    ctx.is_too_long(out, at);
    next
}

/// LINDEX key index: a bad index of a list that is not there is no mistake, as in Redis.
pub(crate) fn lindex(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let protocol = ctx.protocol();
    reply_with(ctx, args.at(1), out, |list: Option<&List>, out| {
        let Some(list) = list else { return reply::null(out, protocol) };
        let Some(index) = integer_or_reply(args.at(2), out) else { return };
        match place(index, list.len()).and_then(|index| list.get(index)) {
            Some(element) => reply::bulk(out, element),
            None => reply::null(out, protocol),
        }
    })
}

/// A place counted from the end if it is negative.
fn place(index: i64, len: usize) -> Option<usize> {
    let index = if index < 0 { index.checked_add_unsigned(len as u64)? } else { index };
    usize::try_from(index).ok().filter(|index| *index < len)
}

/// LSET key index element.
pub(crate) fn lset(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let Some(len) = len_or_reply::<List>(ctx, args.at(1), out) else { return Next::Reply };
    if len == 0 {
        reply::error(out, errors::NO_SUCH_KEY);
        return Next::Reply;
    }
    let Some(index) = integer_or_reply(args.at(2), out) else { return Next::Reply };
    let Some(index) = place(index, len) else {
        reply::error(out, b"ERR index out of range");
        return Next::Reply;
    };
    change(ctx, args.at(1), |list: &mut List| usize::from(list.set(index, args.at(3))));
    ctx.propagate(args);
    reply::ok(out);
    ctx.notify(Class::LIST, "lset", args.at(1), out);
    Next::Reply
}

/// LREM key count element: from the right if the count is negative, all of them if it is 0.
pub(crate) fn lrem(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let Some(count) = integer_or_reply(args.at(2), out) else { return Next::Reply };
    let Some(len) = len_or_reply::<List>(ctx, args.at(1), out) else { return Next::Reply };
    let from = if count < 0 { End::Right } else { End::Left };
    let limit = match usize::try_from(count.unsigned_abs()) {
        Ok(0) | Err(_) => usize::MAX,
        Ok(limit) => limit,
    };
    ctx.charge_work(len as u64 * LOOK_BYTES);
    let removed = change(ctx, args.at(1), |list: &mut List| list.remove(args.at(3), from, limit));
    if removed > 0 {
        ctx.propagate(args);
        ctx.notify_of_rest(Class::LIST, "lrem", args.at(1), out);
    }
    reply::integer(out, removed as i64);
    Next::Reply
}

/// LTRIM key start stop. Who watches the list sees a change even where nothing is left out, as in Redis.
pub(crate) fn ltrim(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let Some(start) = integer_or_reply(args.at(2), out) else { return Next::Reply };
    let Some(stop) = integer_or_reply(args.at(3), out) else { return Next::Reply };
    let Some(len) = len_or_reply::<List>(ctx, args.at(1), out) else { return Next::Reply };
    let range = places(start, stop, len);
    if range.len() == len {
        ctx.core.touch(ctx.session.db, args.at(1));
    } else {
        ctx.charge_work(len as u64 * LOOK_BYTES);
        change(ctx, args.at(1), |list: &mut List| list.keep(range.start, range.len()));
        ctx.propagate(args);
    }
    if len > 0 {
        ctx.notify_of_rest(Class::LIST, "ltrim", args.at(1), out);
    }
    reply::ok(out);
    Next::Reply
}

/// LINSERT key BEFORE|AFTER pivot element: -1 where no element is the pivot.
pub(crate) fn linsert(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let behind = match args.at(2) {
        word if word.eq_ignore_ascii_case(b"AFTER") => 1,
        word if word.eq_ignore_ascii_case(b"BEFORE") => 0,
        _ => {
            reply::error(out, errors::SYNTAX);
            return Next::Reply;
        }
    };
    let found = ctx.read(args.at(1)).map(|list: Option<&List>| {
        list.map(|list| (list.len(), list.iter().position(|element| element == args.at(3))))
    });
    match found {
        Err(()) => reply::error(out, errors::WRONG_TYPE),
        Ok(None) => reply::integer(out, 0),
        Ok(Some((len, place))) => {
            ctx.charge_work(len as u64 * LOOK_BYTES);
            let Some(place) = place else {
                reply::integer(out, -1);
                return Next::Reply;
            };
            change(ctx, args.at(1), |list: &mut List| {
                list.insert(place + behind, args.at(4));
                1
            });
            ctx.propagate(args);
            ctx.notify(Class::LIST, "linsert", args.at(1), out);
            reply::integer(out, len as i64 + 1);
        }
    }
    Next::Reply
}

/// Which elements LPOS looks for.
struct Search {
    from: End,
    /// The first match that counts, beginning with 1.
    rank: u64,
    /// Given, it asks for an array; 0 means all.
    count: Option<usize>,
    /// How many elements are looked at; 0 means all.
    limit: usize,
}

/// LPOS key element [RANK rank] [COUNT matches] [MAXLEN length].
pub(crate) fn lpos(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let Some(search) = search_or_reply(args, out) else { return Next::Reply };
    let protocol = ctx.protocol();
    let mut len = 0;
    let next = reply_with(ctx, args.at(1), out, |list: Option<&List>, out| {
        len = list.map_or(0, List::len);
        let found = list.map_or(Vec::new(), |list| search.places(list, args.at(2)));
        match (search.count, found.first()) {
            (Some(_), _) => {
                reply::array(out, found.len());
                found.iter().for_each(|place| reply::integer(out, *place as i64));
            }
            (None, Some(place)) => reply::integer(out, *place as i64),
            (None, None) => reply::null(out, protocol),
        }
    });
    ctx.charge_work(len as u64 * LOOK_BYTES);
    next
}

impl Search {
    fn places(&self, list: &List, element: &[u8]) -> Vec<usize> {
        let limit = if self.limit == 0 { usize::MAX } else { self.limit };
        let wanted = match self.count {
            None => 1,
            Some(0) => usize::MAX,
            Some(count) => count,
        };
        let all: Box<dyn Iterator<Item = (usize, &[u8])>> = match self.from {
            End::Left => Box::new(list.iter().enumerate()),
            End::Right => Box::new(list.iter().enumerate().rev()),
        };
        let matches = all.take(limit).filter(|(_, found)| *found == element).map(|(place, _)| place);
        let passed = usize::try_from(self.rank - 1).unwrap_or(usize::MAX);
        matches.skip(passed).take(wanted).collect()
    }
}

fn search_or_reply(args: &Args<'_>, out: &mut Vec<u8>) -> Option<Search> {
    let mut search = Search { from: End::Left, rank: 1, count: None, limit: 0 };
    for index in (3..args.len()).step_by(2) {
        let value = args.get(index + 1);
        match (args.at(index).to_ascii_uppercase().as_slice(), value) {
            (b"RANK", Some(rank)) => {
                let rank = integer_or_reply(rank, out)?;
                if rank == 0 {
                    reply::error(
                        out,
                        b"ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use \
                          negative to start from the end of the list",
                    );
                    return None;
                }
                // Redis turns the sign of the lowest one too, which leaves it as it is: every match counts then.
                search.rank = if rank == i64::MIN { 1 } else { rank.unsigned_abs() };
                search.from = if rank < 0 { End::Right } else { End::Left };
            }
            (b"COUNT", Some(count)) => {
                search.count = Some(bounded_or_reply(count, 0, b"ERR COUNT can't be negative", out)?);
            }
            (b"MAXLEN", Some(limit)) => {
                search.limit = bounded_or_reply(limit, 0, b"ERR MAXLEN can't be negative", out)?;
            }
            _ => {
                reply::error(out, errors::SYNTAX);
                return None;
            }
        }
    }
    Some(search)
}
