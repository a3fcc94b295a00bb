//! What is made of several sets: intersections, unions and differences, answered with or stored.

use super::reply_members;
use crate::core::commands::numbers::bounded_or_reply;
use crate::core::context::{Context, LOOK_BYTES};
use crate::core::state::Class;
use crate::core::values::Set;
use crate::core::{Next, errors};
use crate::resp::{Args, reply};

/// How sets are put together. A key that is not there is an empty set.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operation {
    Intersection,
    Union,
    /// The first without the others.
    Difference,
}

/// SINTER key …
pub(crate) fn sinter(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    answer(ctx, Operation::Intersection, args, out)
}

/// SUNION key …
pub(crate) fn sunion(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    answer(ctx, Operation::Union, args, out)
}

/// SDIFF key …
pub(crate) fn sdiff(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    answer(ctx, Operation::Difference, args, out)
}

fn answer(ctx: &mut Context<'_>, operation: Operation, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let start = out.len();
    let keys: Vec<&[u8]> = args.iter().skip(1).collect();
    if let Some(result) = combine_or_reply(ctx, operation, &keys, out) {
        reply_members(&result, ctx.protocol(), out);
        ctx.is_too_long(out, start);
    }
    Next::Reply
}

/// SINTERSTORE destination key …
pub(crate) fn sinterstore(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    store(ctx, Operation::Intersection, args, out)
}

/// SUNIONSTORE destination key …
pub(crate) fn sunionstore(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    store(ctx, Operation::Union, args, out)
}

/// SDIFFSTORE destination key …
pub(crate) fn sdiffstore(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    store(ctx, Operation::Difference, args, out)
}

fn store(ctx: &mut Context<'_>, operation: Operation, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let keys: Vec<&[u8]> = args.iter().skip(2).collect();
    if let Some(result) = combine_or_reply(ctx, operation, &keys, out) {
        let len = result.len();
        let has_changed = ctx.store(args.at(1), result);
        reply::integer(out, len as i64);
        if has_changed {
            ctx.propagate(args);
            ctx.notify_stored(Class::SET, args.at(1), len == 0, out);
        }
    }
    Next::Reply
}

/// SINTERCARD numkeys key … [LIMIT limit].
pub(crate) fn sintercard(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let number = bounded_or_reply(args.at(1), 1, b"ERR numkeys should be greater than 0", out);
    let Some(number) = number else { return Next::Reply };
    if number > args.len() - 2 {
        reply::error(out, b"ERR Number of keys can't be greater than number of args");
        return Next::Reply;
    }
    let mut limit = 0;
    for index in (2 + number..args.len()).step_by(2) {
        match args.get(index + 1).filter(|_| args.at(index).eq_ignore_ascii_case(b"LIMIT")) {
            Some(text) => match bounded_or_reply(text, 0, b"ERR LIMIT can't be negative", out) {
                Some(given) => limit = given,
                None => return Next::Reply,
            },
            None => {
                reply::error(out, errors::SYNTAX);
                return Next::Reply;
            }
        }
    }
    let keys: Vec<&[u8]> = (2..2 + number).map(|index| args.at(index)).collect();
    if let Some(result) = combine_or_reply(ctx, Operation::Intersection, &keys, out) {
        let len = if limit == 0 { result.len() } else { result.len().min(limit) };
        reply::integer(out, len as i64);
    }
    Next::Reply
}

/// What the sets at these keys come to. Whoever asks pays for looking at every member of every one.
fn combine_or_reply(
    ctx: &mut Context<'_>,
    operation: Operation,
    keys: &[&[u8]],
    out: &mut Vec<u8>,
) -> Option<Set> {
    let mut sets: Vec<Set> = Vec::new();
    for key in keys {
        match ctx.read(key) {
            Ok(set) => sets.push(set.cloned().unwrap_or_default()),
            Err(()) => {
                reply::error(out, errors::WRONG_TYPE);
                return None;
            }
        }
    }
    ctx.charge_work(sets.iter().map(|set| set.size() + set.len() as u64 * LOOK_BYTES).sum());
    let (first, others) = sets.split_first()?;
    let mut result = Set::default();
    match operation {
        Operation::Union => {
            for member in sets.iter().flat_map(Set::iter) {
                result.insert(&member);
            }
        }
        Operation::Intersection | Operation::Difference => {
            let wanted = operation == Operation::Intersection;
            for member in first.iter() {
                if others.iter().all(|set| set.contains(&member) == wanted) {
                    result.insert(&member);
                }
            }
        }
    }
    Some(result)
}
