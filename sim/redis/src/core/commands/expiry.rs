//! Lifetimes: the EXPIRE family sets them, the TTL family shows them. Kept as absolute wall-clock milliseconds.

use super::integer_or_reply;
use crate::core::Next;
use crate::core::context::{Context, c_string};
use crate::core::session::SessionKind;
use crate::core::state::Class;
use crate::resp::{Args, integer, reply};

/// `ERR invalid expire time in '…' command`: not positive, or beyond what 63 bits of milliseconds hold.
pub(super) fn invalid_expire_time(ctx: &Context<'_>, out: &mut Vec<u8>) {
    reply::error(out, format!("ERR invalid expire time in '{}' command", ctx.spec.full_name).as_bytes());
}

/// EXPIRE key seconds [NX|XX|GT|LT].
pub(crate) fn expire(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let now_ms = ctx.now_ms();
    set_lifetime(ctx, args, 1000, now_ms, out)
}

/// PEXPIRE key milliseconds [NX|XX|GT|LT].
pub(crate) fn pexpire(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let now_ms = ctx.now_ms();
    set_lifetime(ctx, args, 1, now_ms, out)
}

/// EXPIREAT key unix-seconds [NX|XX|GT|LT].
pub(crate) fn expireat(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    set_lifetime(ctx, args, 1000, 0, out)
}

/// PEXPIREAT key unix-milliseconds [NX|XX|GT|LT].
pub(crate) fn pexpireat(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    set_lifetime(ctx, args, 1, 0, out)
}

#[derive(Clone, Copy, Default)]
struct Conditions {
    only_if_none: bool,
    only_if_some: bool,
    only_if_later: bool,
    only_if_sooner: bool,
}

impl Conditions {
    fn allow(self, current: Option<i64>, when: i64) -> bool {
        // A key without a lifetime never expires: nothing is later, everything is sooner.
        let not_later = current.is_none_or(|current| when <= current);
        let not_sooner = current.is_some_and(|current| when >= current);
        !(self.only_if_none && current.is_some()
            || self.only_if_some && current.is_none()
            || self.only_if_later && not_later
            || self.only_if_sooner && not_sooner)
    }
}

fn set_lifetime(
    ctx: &mut Context<'_>,
    args: &Args<'_>,
    unit_ms: i64,
    base_ms: i64,
    out: &mut Vec<u8>,
) -> Next {
    let Some(conditions) = conditions_or_reply(args, out) else { return Next::Reply };
    let Some(amount) = integer_or_reply(args.at(2), out) else { return Next::Reply };
    let Some(when) = amount.checked_mul(unit_ms).and_then(|amount| checked_when(amount, base_ms)) else {
        invalid_expire_time(ctx, out);
        return Next::Reply;
    };
    let key = args.at(1);
    let allowed = ctx.lookup_entry(key).is_some_and(|entry| conditions.allow(entry.expires_at, when));
    if !allowed {
        reply::integer(out, 0);
        return Next::Reply;
    }
    if is_over(ctx, when) {
        ctx.remove(key);
        ctx.propagate_as(&[b"DEL", key]);
        ctx.notify(Class::GENERIC, "del", key, out);
        reply::integer(out, 1);
    } else {
        ctx.set_expiry(key, Some(when));
        propagate_lifetime(ctx, args, when);
        reply::integer(out, 1);
        ctx.notify(Class::GENERIC, "expire", key, out);
    }
    Next::Reply
}

/// Whether a lifetime that ends then has ended before it begins: the key is deleted at once, and replicas are told so.
/// A master's own word or an AOF is taken literally.
pub(super) fn is_over(ctx: &Context<'_>, when: i64) -> bool {
    let obeys = ctx.session.kind == SessionKind::Master || ctx.core.replication.is_replica();
    when <= ctx.now_ms() && !obeys
}

/// Redis looks for overflow at the upper end only; below, two's complement cannot overflow for a positive base.
fn checked_when(amount: i64, base_ms: i64) -> Option<i64> {
    amount.checked_add(base_ms)
}

fn propagate_lifetime(ctx: &mut Context<'_>, args: &Args<'_>, when: i64) {
    let mut digits = Vec::with_capacity(20);
    integer::write(&mut digits, when);
    let mut parts: Vec<&[u8]> = vec![b"PEXPIREAT", args.at(1), &digits];
    parts.extend(args.iter().skip(3));
    ctx.propagate_as(&parts);
}

fn conditions_or_reply(args: &Args<'_>, out: &mut Vec<u8>) -> Option<Conditions> {
    let mut conditions = Conditions::default();
    for option in args.iter().skip(3) {
        let flag = match option.to_ascii_uppercase().as_slice() {
            b"NX" => &mut conditions.only_if_none,
            b"XX" => &mut conditions.only_if_some,
            b"GT" => &mut conditions.only_if_later,
            b"LT" => &mut conditions.only_if_sooner,
            _ => {
                reply::error(out, &[b"ERR Unsupported option ", c_string(option)].concat());
                return None;
            }
        };
        *flag = true;
    }
    let Conditions { only_if_none, only_if_some, only_if_later, only_if_sooner } = conditions;
    if only_if_none && (only_if_some || only_if_later || only_if_sooner) {
        reply::error(out, b"ERR NX and XX, GT or LT options at the same time are not compatible");
        return None;
    }
    if only_if_later && only_if_sooner {
        reply::error(out, b"ERR GT and LT options at the same time are not compatible");
        return None;
    }
    Some(conditions)
}

/// PERSIST key.
pub(crate) fn persist(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let had_lifetime = ctx.lookup_entry(args.at(1)).is_some_and(|entry| entry.expires_at.is_some());
    if had_lifetime {
        ctx.set_expiry(args.at(1), None);
        ctx.notify(Class::GENERIC, "persist", args.at(1), out);
        ctx.propagate(args);
    }
    reply::integer(out, i64::from(had_lifetime));
    Next::Reply
}

/// TTL key: seconds left, rounded to the nearest; -1 without a lifetime, -2 without a key.
pub(crate) fn ttl(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    reply_lifetime(ctx, args, out, |when, now| to_seconds(when.saturating_sub(now).max(0)))
}

/// PTTL key: milliseconds left.
pub(crate) fn pttl(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    reply_lifetime(ctx, args, out, |when, now| when.saturating_sub(now).max(0))
}

/// EXPIRETIME key: the second it expires at.
pub(crate) fn expiretime(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    reply_lifetime(ctx, args, out, |when, _| to_seconds(when))
}

/// PEXPIRETIME key: the millisecond it expires at.
pub(crate) fn pexpiretime(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    reply_lifetime(ctx, args, out, |when, _| when)
}

fn reply_lifetime(
    ctx: &mut Context<'_>,
    args: &Args<'_>,
    out: &mut Vec<u8>,
    show: impl Fn(i64, i64) -> i64,
) -> Next {
    let now_ms = ctx.now_ms();
    let answer = match ctx.lookup_entry(args.at(1)).map(|entry| entry.expires_at) {
        None => -2,
        Some(None) => -1,
        Some(Some(when)) => show(when, now_ms),
    };
    reply::integer(out, answer);
    Next::Reply
}

/// C's `(ms+500)/1000`, wrapping where C overflows.
fn to_seconds(ms: i64) -> i64 {
    ms.wrapping_add(500) / 1000
}
