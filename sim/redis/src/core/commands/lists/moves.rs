//! What goes from one list to another, or takes of the first that has something.

use super::ends::take;
use crate::core::commands::containers::change;
use crate::core::commands::numbers::bounded_or_reply;
use crate::core::context::Context;
use crate::core::state::Class;
use crate::core::values::{End, List};
use crate::core::{Next, errors};
use crate::resp::{Args, integer, reply};

/// RPOPLPUSH source destination.
pub(crate) fn rpoplpush(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    move_element(ctx, args, (End::Right, End::Left), out)
}

/// LMOVE source destination LEFT|RIGHT LEFT|RIGHT.
pub(crate) fn lmove(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    match End::from_word(args.at(3)).zip(End::from_word(args.at(4))) {
        Some(ends) => move_element(ctx, args, ends, out),
        None => {
            reply::error(out, errors::SYNTAX);
            Next::Reply
        }
    }
}

fn move_element(ctx: &mut Context<'_>, args: &Args<'_>, ends: (End, End), out: &mut Vec<u8>) -> Next {
    let (source, destination) = (args.at(1), args.at(2));
    let has_list = |ctx: &mut Context<'_>, key| ctx.read(key).map(|list: Option<&List>| list.is_some());
    match has_list(ctx, source) {
        Err(()) => reply::error(out, errors::WRONG_TYPE),
        Ok(false) => reply::null(out, ctx.protocol()),
        Ok(true) if has_list(ctx, destination).is_err() => reply::error(out, errors::WRONG_TYPE),
        Ok(true) => {
            pass_on(ctx, source, destination, ends, out);
            ctx.propagate(args);
        }
    }
    Next::Reply
}

/// Takes from one list, which is there, and adds to the other, which is one or is not there; answers with the element.
pub(in crate::core::commands) fn pass_on(
    ctx: &mut Context<'_>,
    source: &[u8],
    destination: &[u8],
    (from, to): (End, End),
    out: &mut Vec<u8>,
) {
    let mut passed = None;
    if source == destination {
        // In one go: a list of one element is not gone in between, and keeps its lifetime.
        change(ctx, source, |list: &mut List| {
            passed = list.pop(from);
            passed.iter().for_each(|element| list.push(to, element));
            passed.iter().len()
        });
    } else {
        passed = take(ctx, source, from, 1).pop();
        change(ctx, destination, |list: &mut List| {
            passed.iter().for_each(|element| list.push(to, element));
            passed.iter().len()
        });
    }
    ctx.notify(Class::LIST, to.push_event(), destination, out);
    passed.iter().for_each(|element| reply::bulk(out, element));
    ctx.notify_of_rest(Class::LIST, from.pop_event(), source, out);
}

/// What LMPOP and BLMPOP ask for.
pub(in crate::core::commands) struct PopRequest<'a> {
    pub(in crate::core::commands) keys: Vec<&'a [u8]>,
    pub(in crate::core::commands) end: End,
    pub(in crate::core::commands) count: usize,
}

/// LMPOP numkeys key … LEFT|RIGHT [COUNT count].
pub(crate) fn lmpop(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let Some(request) = pop_request_or_reply(args, 1, out) else { return Next::Reply };
    for key in request.keys {
        match ctx.read(key).map(|list: Option<&List>| list.is_some()) {
            Ok(false) => continue,
            Err(()) => reply::error(out, errors::WRONG_TYPE),
            Ok(true) => take_some(ctx, key, request.end, request.count, out),
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
    let Some(end) = args.get(after).and_then(End::from_word) else {
        reply::error(out, errors::SYNTAX);
        return None;
    };
    let count = match (args.get(after + 1), args.get(after + 2), args.len() - after) {
        (None, ..) => 1,
        (Some(word), Some(count), 3) if word.eq_ignore_ascii_case(b"COUNT") => {
            bounded_or_reply(count, 1, b"ERR count should be greater than 0", out)?
        }
        // The first mistake is the one that is told.
        (Some(word), Some(count), 4..) if word.eq_ignore_ascii_case(b"COUNT") => {
            bounded_or_reply(count, 1, b"ERR count should be greater than 0", out)?;
            reply::error(out, errors::SYNTAX);
            return None;
        }
        _ => {
            reply::error(out, errors::SYNTAX);
            return None;
        }
    };
    Some(PopRequest { keys: (first + 1..after).map(|index| args.at(index)).collect(), end, count })
}

/// Takes up to so many elements of a list that is there, and answers with them and its key. Goes to replicas as what it
/// comes to.
pub(in crate::core::commands) fn take_some(
    ctx: &mut Context<'_>,
    key: &[u8],
    end: End,
    count: usize,
    out: &mut Vec<u8>,
) {
    let taken = take(ctx, key, end, count);
    let mut number = Vec::new();
    integer::write(&mut number, taken.len() as i64);
    ctx.propagate_as(&[pop_name(end), key, &number]);
    reply::array(out, 2);
    reply::bulk(out, key);
    reply::array(out, taken.len());
    taken.iter().for_each(|element| reply::bulk(out, element));
    ctx.notify_of_rest(Class::LIST, end.pop_event(), key, out);
}

/// The command that takes from one end.
pub(in crate::core::commands) fn pop_name(end: End) -> &'static [u8] {
    match end {
        End::Left => b"LPOP",
        End::Right => b"RPOP",
    }
}
