//! Fields of a hash and members of a sorted set that are drawn. Which they are depends on how many draws there were
//! before: `core/draws.rs`.

use super::numbers::signed_count_or_reply;
use super::sets::draw_places_or_reply;
use crate::core::context::Context;
use crate::core::keyspace::Value;
use crate::core::{Next, errors};
use crate::resp::{Args, Protocol, reply};

/// HRANDFIELD key [count [WITHVALUES]].
pub(crate) fn hrandfield(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    draw(ctx, args, b"WITHVALUES", out)
}

/// ZRANDMEMBER key [count [WITHSCORES]].
pub(crate) fn zrandmember(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    draw(ctx, args, b"WITHSCORES", out)
}

fn draw(ctx: &mut Context<'_>, args: &Args<'_>, option: &[u8], out: &mut Vec<u8>) -> Next {
    let Some(asked) = count_or_reply(args, option, out) else { return Next::Reply };
    let is_hash = option == b"WITHVALUES";
    let len = match ctx.lookup(args.at(1)) {
        None => 0,
        Some(Value::Hash(hash)) if is_hash => hash.len(),
        Some(Value::SortedSet(set)) if !is_hash => set.len(),
        Some(_) => {
            reply::error(out, errors::WRONG_TYPE);
            return Next::Reply;
        }
    };
    let (protocol, start) = (ctx.protocol(), out.len());
    let Some((count, is_paired)) = asked else {
        match len {
            0 => reply::null(out, protocol),
            _ => {
                let place = ctx.core.draw(len);
                reply_places(ctx, args.at(1), &[place], false, out);
            }
        }
        return Next::Reply;
    };
    let wanted = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
    let Some(places) = draw_places_or_reply(ctx, len, wanted, count < 0, out) else { return Next::Reply };
    let shown = if count < 0 && len > 0 { wanted } else { places.len() };
    let each = if is_paired && protocol == Protocol::Two { 2 } else { 1 };
    reply::array(out, shown.saturating_mul(each));
    reply_places(ctx, args.at(1), &places, is_paired, out);
    ctx.is_too_long(out, start);
    Next::Reply
}

/// How many are asked for, and whether with what belongs to them; nothing asks for one.
fn count_or_reply(args: &Args<'_>, option: &[u8], out: &mut Vec<u8>) -> Option<Option<(i64, bool)>> {
    let Some(text) = args.get(2) else { return Some(None) };
    let count = signed_count_or_reply(text, out)?;
    let is_paired = args.get(3).is_some_and(|word| word.eq_ignore_ascii_case(option));
    if args.len() > 4 || args.len() == 4 && !is_paired {
        reply::error(out, errors::SYNTAX);
        return None;
    }
    if is_paired && !(-i64::MAX / 2..=i64::MAX / 2).contains(&count) {
        reply::error(out, b"ERR value is out of range");
        return None;
    }
    Some(Some((count, is_paired)))
}

fn reply_places(ctx: &mut Context<'_>, key: &[u8], places: &[usize], is_paired: bool, out: &mut Vec<u8>) {
    let protocol = ctx.protocol();
    let mut show = |name: &[u8], beside: &dyn Fn(&mut Vec<u8>)| {
        if is_paired && protocol == Protocol::Three {
            reply::array(out, 2);
        }
        reply::bulk(out, name);
        if is_paired {
            beside(out);
        }
    };
    match ctx.lookup(key) {
        Some(Value::Hash(hash)) => {
            let fields: Vec<_> = hash.iter().collect();
            for (field, value) in places.iter().filter_map(|place| fields.get(*place)) {
                show(field, &|out| reply::bulk(out, value));
            }
        }
        Some(Value::SortedSet(set)) => {
            for (member, score) in places.iter().flat_map(|place| set.ranks(*place..place + 1)) {
                show(member, &|out| reply::double(out, protocol, score));
            }
        }
        _ => {}
    }
}
