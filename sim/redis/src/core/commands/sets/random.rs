//! What is drawn from a set. Which member it is depends on how many draws there were before: `core/draws.rs`.

use super::reply_members;
use crate::core::commands::containers::{change, len_or_reply};
use crate::core::commands::numbers::{count_or_reply, signed_count_or_reply};
use crate::core::context::{Context, LOOK_BYTES};
use crate::core::state::Class;
use crate::core::values::Set;
use crate::core::{Next, errors};
use crate::resp::{Args, reply};

/// SPOP key [count]. Replicas and files are told which members went.
pub(crate) fn spop(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let (key, protocol) = (args.at(1), ctx.protocol());
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
    let Some(len) = len_or_reply::<Set>(ctx, key, out) else { return Next::Reply };
    match count {
        None if len == 0 => reply::null(out, protocol),
        None => {
            let place = ctx.core.draw(len);
            let popped = members_at(ctx, key, &[place]);
            remove(ctx, key, &popped);
            ctx.notify(Class::SET, "spop", key, out);
            popped.iter().for_each(|member| {
                ctx.propagate_as(&[b"SREM", key, member]);
                reply::bulk(out, member);
            });
            ctx.notify_if_gone(key, out);
        }
        Some(count) if count >= len => {
            let all = ctx.read(key).ok().flatten().cloned().unwrap_or_default();
            if len > 0 {
                ctx.notify(Class::SET, "spop", key, out);
            }
            reply_members(&all, protocol, out);
            if ctx.remove(key) {
                ctx.propagate_as(&[b"DEL", key]);
                ctx.notify(Class::GENERIC, "del", key, out);
            }
        }
        Some(count) => {
            let places = ctx.core.draw_distinct(len, count);
            let popped = members_at(ctx, key, &places);
            remove(ctx, key, &popped);
            if !popped.is_empty() {
                ctx.notify(Class::SET, "spop", key, out);
            }
            reply::set(out, protocol, popped.len());
            popped.iter().for_each(|member| {
                ctx.propagate_as(&[b"SREM", key, member]);
                reply::bulk(out, member);
            });
        }
    }
    Next::Reply
}

fn remove(ctx: &mut Context<'_>, key: &[u8], members: &[Vec<u8>]) {
    change(ctx, key, |set: &mut Set| members.iter().filter(|member| set.remove(member)).count());
}

/// SRANDMEMBER key [count]: a negative count may draw a member several times.
pub(crate) fn srandmember(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    if args.len() > 3 {
        reply::error(out, errors::SYNTAX);
        return Next::Reply;
    }
    let count = match args.get(2) {
        None => None,
        Some(text) => match signed_count_or_reply(text, out) {
            None => return Next::Reply,
            count => count,
        },
    };
    let (key, start) = (args.at(1), out.len());
    let Some(len) = len_or_reply::<Set>(ctx, key, out) else { return Next::Reply };
    let Some(count) = count else {
        match len {
            0 => reply::null(out, ctx.protocol()),
            _ => {
                let place = ctx.core.draw(len);
                members_at(ctx, key, &[place]).iter().for_each(|member| reply::bulk(out, member));
            }
        }
        return Next::Reply;
    };
    let wanted = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
    let Some(places) = draw_places_or_reply(ctx, len, wanted, count < 0, out) else { return Next::Reply };
    let drawn = members_at(ctx, key, &places);
    reply::array(out, if count < 0 && len > 0 { wanted } else { drawn.len() });
    drawn.iter().for_each(|member| reply::bulk(out, member));
    ctx.is_too_long(out, start);
    Next::Reply
}

/// More than this is never drawn with repetition. Redis would send until its memory ends.
const MOST_DRAWN: usize = 1 << 24;

/// Places among so many that are drawn, or the error for too many. What is drawn with repetition ends where the reply
/// would be too long, which its client is told.
pub(crate) fn draw_places_or_reply(
    ctx: &mut Context<'_>,
    len: usize,
    wanted: usize,
    repeats: bool,
    out: &mut Vec<u8>,
) -> Option<Vec<usize>> {
    if len == 0 {
        return Some(Vec::new());
    }
    if !repeats {
        ctx.charge_work(len as u64 * LOOK_BYTES);
        return Some(ctx.core.draw_distinct(len, wanted));
    }
    if wanted > MOST_DRAWN {
        reply::error(out, b"ERR value is out of range");
        return None;
    }
    // The shortest element of a reply takes six bytes.
    let most = ctx.reply_limit() / 6 + 1;
    ctx.charge_work(wanted.min(most) as u64 * LOOK_BYTES);
    Some((0..wanted.min(most)).map(|_| ctx.core.draw(len)).collect())
}

/// The members at these places of a set, in the order of the places.
fn members_at(ctx: &mut Context<'_>, key: &[u8], places: &[usize]) -> Vec<Vec<u8>> {
    let Ok(Some(set)) = ctx.read::<Set>(key) else { return Vec::new() };
    let members: Vec<Vec<u8>> = match places {
        [place] => return set.iter().nth(*place).map(|member| member.into_owned()).into_iter().collect(),
        _ => set.iter().map(|member| member.into_owned()).collect(),
    };
    places.iter().filter_map(|place| members.get(*place).cloned()).collect()
}
