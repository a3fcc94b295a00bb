//! What takes from a list or a sorted set, or waits until somebody adds to it: BLPOP and its kin. Who waits for a
//! stream (XREAD) is served here too.
//!
//! Goes to replicas and files as what it took. A time limit is on the wall clock, as Redis': a clock that is stepped
//! forward ends waits early. It is met to the millisecond; an idle Redis looks every 100 ms only.

use super::integer_or_reply;
use super::lists::{self, pop_name};
use super::sorted_sets;
use super::streams::serve_reader;
use crate::core::context::Context;
use crate::core::state::{BlockedRequest, Class, Unblocked};
use crate::core::values::{End, Extreme, List};
use crate::core::{Next, errors};
use crate::resp::{Args, Protocol, double, reply};

impl BlockedRequest {
    /// Takes what is wished for from the key, which has it, and answers with it.
    pub(crate) fn serve(&self, ctx: &mut Context<'_>, key: &[u8], out: &mut Vec<u8>) {
        match self {
            BlockedRequest::Elements { end, count: Some(count) } => {
                lists::take_some(ctx, key, *end, *count, out)
            }
            BlockedRequest::Elements { end, count: None } => {
                let taken = lists::take(ctx, key, *end, 1);
                ctx.propagate_as(&[pop_name(*end), key]);
                reply::array(out, 1 + taken.len());
                reply::bulk(out, key);
                taken.iter().for_each(|element| reply::bulk(out, element));
                ctx.notify_of_rest(Class::LIST, end.pop_event(), key, out);
            }
            BlockedRequest::Move { ends, destination, is_rpoplpush } => {
                if ctx.read::<List>(destination).is_err() {
                    return reply::error(out, errors::WRONG_TYPE);
                }
                lists::pass_on(ctx, key, destination, *ends, out);
                match is_rpoplpush {
                    true => ctx.propagate_as(&[b"RPOPLPUSH", key, destination]),
                    false => ctx.propagate_as(&[b"LMOVE", key, destination, ends.0.name(), ends.1.name()]),
                }
            }
            BlockedRequest::Members { from, count: Some(count) } => {
                sorted_sets::take_some(ctx, key, *from, *count, out)
            }
            BlockedRequest::Members { from, count: None } => {
                let taken = sorted_sets::take(ctx, key, *from, 1);
                ctx.propagate_as(&[from.pop_name(), key]);
                ctx.notify(Class::SORTED_SET, from.pop_event(), key, out);
                reply::array(out, 1 + 2 * taken.len());
                reply::bulk(out, key);
                for (member, score) in taken {
                    reply::bulk(out, &member);
                    reply::double(out, ctx.protocol(), score);
                }
                ctx.notify_if_gone(key, out);
            }
            BlockedRequest::Entries { count, .. } => {
                let after = self.last_seen(key).unwrap_or_default();
                serve_reader(ctx, key, (after, *count), out);
            }
            BlockedRequest::Replicas { .. } | BlockedRequest::Files { .. } => {}
        }
    }

    /// The answer of a command that may not wait.
    fn reply_nothing(&self, protocol: Protocol, out: &mut Vec<u8>) {
        match self {
            BlockedRequest::Move { .. } => reply::null(out, protocol),
            _ => reply::null_array(out, protocol),
        }
    }
}

/// BLPOP key … timeout.
pub(crate) fn blpop(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    take_from_keys(ctx, args, BlockedRequest::Elements { end: End::Left, count: None }, out)
}

/// BRPOP key … timeout.
pub(crate) fn brpop(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    take_from_keys(ctx, args, BlockedRequest::Elements { end: End::Right, count: None }, out)
}

/// BZPOPMIN key … timeout.
pub(crate) fn bzpopmin(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    take_from_keys(ctx, args, BlockedRequest::Members { from: Extreme::Lowest, count: None }, out)
}

/// BZPOPMAX key … timeout.
pub(crate) fn bzpopmax(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    take_from_keys(ctx, args, BlockedRequest::Members { from: Extreme::Highest, count: None }, out)
}

fn take_from_keys(
    ctx: &mut Context<'_>,
    args: &Args<'_>,
    request: BlockedRequest,
    out: &mut Vec<u8>,
) -> Next {
    let last = args.len() - 1;
    let keys: Vec<&[u8]> = (1..last).map(|index| args.at(index)).collect();
    take_or_wait(ctx, &keys, request, args.at(last), out)
}

/// BLMPOP timeout numkeys key … LEFT|RIGHT [COUNT count].
pub(crate) fn blmpop(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let Some(request) = lists::pop_request_or_reply(args, 2, out) else { return Next::Reply };
    let (end, count) = (request.end, Some(request.count));
    take_or_wait(ctx, &request.keys, BlockedRequest::Elements { end, count }, args.at(1), out)
}

/// BZMPOP timeout numkeys key … MIN|MAX [COUNT count].
pub(crate) fn bzmpop(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let Some(request) = sorted_sets::pop_request_or_reply(args, 2, out) else { return Next::Reply };
    let (from, count) = (request.from, Some(request.count));
    take_or_wait(ctx, &request.keys, BlockedRequest::Members { from, count }, args.at(1), out)
}

/// BRPOPLPUSH source destination timeout.
pub(crate) fn brpoplpush(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let ends = (End::Right, End::Left);
    let request = BlockedRequest::Move { ends, destination: args.at(2).to_vec(), is_rpoplpush: true };
    take_or_wait(ctx, &[args.at(1)], request, args.at(3), out)
}

/// BLMOVE source destination LEFT|RIGHT LEFT|RIGHT timeout.
pub(crate) fn blmove(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let Some(ends) = End::from_word(args.at(3)).zip(End::from_word(args.at(4))) else {
        reply::error(out, errors::SYNTAX);
        return Next::Reply;
    };
    let request = BlockedRequest::Move { ends, destination: args.at(2).to_vec(), is_rpoplpush: false };
    take_or_wait(ctx, &[args.at(1)], request, args.at(5), out)
}

/// Takes from the first key that has something, or waits for one of them to appear.
fn take_or_wait(
    ctx: &mut Context<'_>,
    keys: &[&[u8]],
    request: BlockedRequest,
    timeout: &[u8],
    out: &mut Vec<u8>,
) -> Next {
    let Some(timeout_ms) = timeout_or_reply(timeout, out) else { return Next::Reply };
    for key in keys {
        match ctx.lookup(key).map(|value| request.is_for(key, value)) {
            None => continue,
            Some(false) => reply::error(out, errors::WRONG_TYPE),
            Some(true) => request.serve(ctx, key, out),
        }
        return Next::Reply;
    }
    if !ctx.may_block() {
        request.reply_nothing(ctx.protocol(), out);
        return Next::Reply;
    }
    ctx.block(keys, request);
    let deadline_ms = (timeout_ms > 0).then(|| ctx.now_ms().saturating_add(timeout_ms));
    Next::Blocked { deadline_ms }
}

/// Seconds, perhaps with a fraction, as milliseconds; 0 is no limit.
fn timeout_or_reply(text: &[u8], out: &mut Vec<u8>) -> Option<i64> {
    let Some(seconds) = double::parse(text) else {
        reply::error(out, b"ERR timeout is not a float or out of range");
        return None;
    };
    let ms = (seconds * 1000.0).ceil();
    // What is too large is negative once it is an integer, as in Redis.
    if ms < 0.0 || ms >= i64::MAX as f64 {
        reply::error(out, b"ERR timeout is negative");
        return None;
    }
    Some(ms as i64)
}

/// CLIENT UNBLOCK id [TIMEOUT|ERROR]: whether that connection waited.
pub(crate) fn client_unblock(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let is = |name: &[u8]| args.get(3).is_some_and(|reason| reason.eq_ignore_ascii_case(name));
    if args.len() > 4 {
        let text = b"ERR unknown subcommand or wrong number of arguments for 'UNBLOCK'. Try CLIENT HELP.";
        reply::error(out, text);
        return Next::Reply;
    }
    if args.len() == 4 && !is(b"TIMEOUT") && !is(b"ERROR") {
        reply::error(out, b"ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR");
        return Next::Reply;
    }
    let Some(id) = integer_or_reply(args.at(2), out) else { return Next::Reply };
    let waiting = u64::try_from(id).ok().filter(|id| ctx.core.blocked.has(*id));
    match waiting {
        Some(id) if is(b"ERROR") => {
            let text = b"UNBLOCKED client unblocked via CLIENT UNBLOCK";
            ctx.core.unblock_with_error(id, text, Unblocked::Answered);
        }
        Some(id) => ctx.core.time_out(id),
        None => {}
    }
    reply::integer(out, i64::from(waiting.is_some()));
    Next::Reply
}
