//! SET, the commands that it replaces (SETNX, SETEX, PSETEX), and GETEX: what gives strings a lifetime.

use super::condition::Comparison;
use crate::core::commands::{expiry, integer_or_reply};
use crate::core::context::Context;
use crate::core::state::Class;
use crate::core::{Next, Version, errors};
use crate::resp::{Args, integer, reply};

/// Where a lifetime in an argument counts from, and in what unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LifetimeUnit {
    milliseconds: bool,
    absolute: bool,
}

/// A lifetime as it was asked for.
type Lifetime<'a> = (LifetimeUnit, &'a [u8]);

/// SET's options.
#[derive(Default)]
struct SetOptions<'a> {
    only_if_absent: bool,
    only_if_present: bool,
    get: bool,
    keep_lifetime: bool,
    lifetime: Option<Lifetime<'a>>,
    /// What is there must compare so with a text. As of 8.4.
    compared: Option<(Comparison, &'a [u8])>,
}

/// SET key value [NX|XX|IFEQ value|IFNE value|IFDEQ digest|IFDNE digest] [GET] [EX s|PX ms|EXAT s|PXAT ms|KEEPTTL],
/// options in any order.
pub(crate) fn set(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let Some(options) = parse_set_options(args, ctx.version()) else {
        reply::error(out, errors::SYNTAX);
        return Next::Reply;
    };
    let expires_at = match options.lifetime {
        None => None,
        Some((unit, text)) => match lifetime(ctx, unit, text, out) {
            Some(when) => Some(when),
            None => return Next::Reply,
        },
    };
    let key = args.at(1);
    let (protocol, start) = (ctx.protocol(), out.len());
    if options.get {
        match ctx.string_to_read(key) {
            Ok(Some(old)) => reply::bulk(out, old),
            Ok(None) => reply::null(out, protocol),
            Err(()) => {
                reply::error(out, errors::WRONG_TYPE);
                return Next::Reply;
            }
        }
    }
    let exists = (options.only_if_absent || options.only_if_present) && ctx.exists(key);
    if (options.only_if_absent && exists) || (options.only_if_present && !exists) {
        if !options.get {
            reply::null(out, protocol);
        }
        return Next::Reply;
    }
    match is_as_compared(ctx, key, &options) {
        Ok(true) => {}
        Ok(false) => {
            if !options.get {
                reply::null(out, protocol);
            }
            return Next::Reply;
        }
        Err(why) => {
            // Instead of what GET would have shown.
            out.truncate(start);
            reply::error(out, why);
            return Next::Reply;
        }
    }
    store(ctx, args, &options, expires_at);
    notify_set(ctx, key, expires_at.is_some(), out);
    if !options.get {
        reply::ok(out);
    }
    Next::Reply
}

/// Whether what is at the key compares as the options ask. What is not there is equal to nothing.
fn is_as_compared(
    ctx: &mut Context<'_>,
    key: &[u8],
    options: &SetOptions<'_>,
) -> Result<bool, &'static [u8]> {
    let Some((comparison, wanted)) = options.compared else { return Ok(true) };
    match ctx.string(key) {
        Ok(None) => Ok(!comparison.equal),
        Ok(Some(value)) => comparison.holds(value, wanted),
        Err(()) => Err(errors::WRONG_TYPE),
    }
}

fn notify_set(ctx: &mut Context<'_>, key: &[u8], has_lifetime: bool, out: &mut Vec<u8>) {
    ctx.notify(Class::STRING, "set", key, out);
    if has_lifetime {
        ctx.notify(Class::GENERIC, "expire", key, out);
    }
}

fn store(ctx: &mut Context<'_>, args: &Args<'_>, options: &SetOptions<'_>, expires_at: Option<i64>) {
    let (key, value) = (args.at(1), args.at(2));
    let kept =
        if options.keep_lifetime { ctx.lookup_entry(key).and_then(|entry| entry.expires_at) } else { None };
    ctx.set_string(key, value, expires_at.or(kept));
    match expires_at {
        // A relative lifetime must not start again when a replica or a restart gets to it.
        Some(when) => propagate_set(ctx, key, value, when),
        None if options.get => {
            let is_get = |argument: &[u8]| argument.eq_ignore_ascii_case(b"GET");
            let others = args.iter().enumerate().filter(|(index, argument)| *index < 3 || !is_get(argument));
            let others: Vec<&[u8]> = others.map(|(_, argument)| argument).collect();
            ctx.propagate_as(&others);
        }
        None => ctx.propagate(args),
    }
}

fn propagate_set(ctx: &mut Context<'_>, key: &[u8], value: &[u8], when: i64) {
    let mut digits = Vec::with_capacity(20);
    integer::write(&mut digits, when);
    ctx.propagate_as(&[b"SET", key, value, b"PXAT", &digits]);
}

fn parse_set_options<'a>(args: &Args<'a>, version: Version) -> Option<SetOptions<'a>> {
    let mut options = SetOptions::default();
    let mut index = 3;
    while let Some(option) = args.get(index) {
        let is = |name: &[u8]| option.eq_ignore_ascii_case(name);
        if let Some(unit) = lifetime_unit(option) {
            let lifetime = next_lifetime(args, index, unit, options.lifetime);
            options.lifetime = Some(lifetime.filter(|_| !options.keep_lifetime)?);
            index += 2;
            continue;
        }
        if let Some(comparison) = Comparison::from_word(option).filter(|it| it.is_known_to(version)) {
            // The same one may be given twice: the last one counts.
            let may_be = options.compared.is_none_or(|(known, _)| known == comparison)
                && !options.only_if_absent
                && !options.only_if_present;
            options.compared = Some((comparison, args.get(index + 1).filter(|_| may_be)?));
            index += 2;
            continue;
        }
        if is(b"NX") && !options.only_if_present {
            options.only_if_absent = true;
        } else if is(b"XX") && !options.only_if_absent {
            options.only_if_present = true;
        } else if is(b"GET") {
            options.get = true;
        } else if is(b"KEEPTTL") && options.lifetime.is_none() {
            options.keep_lifetime = true;
        } else {
            return None;
        }
        index += 1;
    }
    Some(options)
}

fn lifetime_unit(option: &[u8]) -> Option<LifetimeUnit> {
    let is = |name: &[u8]| option.eq_ignore_ascii_case(name);
    let milliseconds = is(b"PX") || is(b"PXAT");
    let absolute = is(b"EXAT") || is(b"PXAT");
    (milliseconds || absolute || is(b"EX")).then_some(LifetimeUnit { milliseconds, absolute })
}

/// The lifetime whose unit is at `index`. The same unit may be given twice (the last one counts), two units may not.
fn next_lifetime<'a>(
    args: &Args<'a>,
    index: usize,
    unit: LifetimeUnit,
    earlier: Option<Lifetime<'a>>,
) -> Option<Lifetime<'a>> {
    let same = earlier.is_none_or(|(earlier, _)| earlier == unit);
    args.get(index + 1).filter(|_| same).map(|amount| (unit, amount))
}

/// The absolute millisecond a lifetime ends at, or the error reply for it.
fn lifetime(ctx: &Context<'_>, unit: LifetimeUnit, text: &[u8], out: &mut Vec<u8>) -> Option<i64> {
    let amount = integer_or_reply(text, out)?;
    let when = Some(amount)
        .filter(|&amount| amount > 0)
        .and_then(|amount| if unit.milliseconds { Some(amount) } else { amount.checked_mul(1000) })
        .and_then(|amount| if unit.absolute { Some(amount) } else { amount.checked_add(ctx.now_ms()) });
    if when.is_none() {
        expiry::invalid_expire_time(ctx, out);
    }
    when
}

/// SETNX key value.
pub(crate) fn setnx(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let absent = !ctx.exists(args.at(1));
    if absent {
        ctx.set_string(args.at(1), args.at(2), None);
        notify_set(ctx, args.at(1), false, out);
        ctx.propagate(args);
    }
    reply::integer(out, i64::from(absent));
    Next::Reply
}

/// SETEX key seconds value.
pub(crate) fn setex(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    set_with_lifetime(ctx, args, LifetimeUnit { milliseconds: false, absolute: false }, out)
}

/// PSETEX key milliseconds value.
pub(crate) fn psetex(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    set_with_lifetime(ctx, args, LifetimeUnit { milliseconds: true, absolute: false }, out)
}

fn set_with_lifetime(ctx: &mut Context<'_>, args: &Args<'_>, unit: LifetimeUnit, out: &mut Vec<u8>) -> Next {
    let Some(when) = lifetime(ctx, unit, args.at(2), out) else { return Next::Reply };
    ctx.set_string(args.at(1), args.at(3), Some(when));
    propagate_set(ctx, args.at(1), args.at(3), when);
    notify_set(ctx, args.at(1), true, out);
    reply::ok(out);
    Next::Reply
}

/// What GETEX does besides reading.
#[derive(Default)]
struct GetexOptions<'a> {
    persist: bool,
    lifetime: Option<Lifetime<'a>>,
}

/// GETEX key [EX s|PX ms|EXAT s|PXAT ms|PERSIST]: reads, and changes the lifetime.
pub(crate) fn getex(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let Some(options) = parse_getex_options(args) else {
        reply::error(out, errors::SYNTAX);
        return Next::Reply;
    };
    let key = args.at(1);
    // Whether the lifetime makes sense matters only if there is something to give it to.
    let is_there = matches!(ctx.string(key), Ok(Some(_)));
    let when = match options.lifetime.filter(|_| is_there) {
        None => None,
        Some((unit, text)) => match lifetime(ctx, unit, text, out) {
            Some(when) => Some((unit, when)),
            None => return Next::Reply,
        },
    };
    super::reply_string(ctx, key, out);
    match when {
        Some((unit, when)) => change_lifetime(ctx, key, unit, when, out),
        None if options.persist && is_there => persist(ctx, key, out),
        None => {}
    }
    Next::Reply
}

fn parse_getex_options<'a>(args: &Args<'a>) -> Option<GetexOptions<'a>> {
    let mut options = GetexOptions::default();
    let mut index = 2;
    while let Some(option) = args.get(index) {
        if let Some(unit) = lifetime_unit(option) {
            let lifetime = next_lifetime(args, index, unit, options.lifetime);
            options.lifetime = Some(lifetime.filter(|_| !options.persist)?);
            index += 2;
        } else if option.eq_ignore_ascii_case(b"PERSIST") && options.lifetime.is_none() {
            options.persist = true;
            index += 1;
        } else {
            return None;
        }
    }
    Some(options)
}

/// What replicas and the file are told is never GETEX itself: to them it is a change of lifetime, or a DEL.
fn change_lifetime(ctx: &mut Context<'_>, key: &[u8], unit: LifetimeUnit, when: i64, out: &mut Vec<u8>) {
    if unit.absolute && expiry::is_over(ctx, when) {
        ctx.remove(key);
        ctx.notify(Class::GENERIC, "del", key, out);
        ctx.propagate_as(&[b"DEL", key]);
        return;
    }
    ctx.set_expiry(key, Some(when));
    ctx.notify(Class::GENERIC, "expire", key, out);
    let mut digits = Vec::with_capacity(20);
    integer::write(&mut digits, when);
    ctx.propagate_as(&[b"PEXPIREAT", key, &digits]);
}

fn persist(ctx: &mut Context<'_>, key: &[u8], out: &mut Vec<u8>) {
    if ctx.lookup_entry(key).is_some_and(|entry| entry.expires_at.is_some()) {
        ctx.set_expiry(key, None);
        ctx.notify(Class::GENERIC, "persist", key, out);
        ctx.propagate_as(&[b"PERSIST", key]);
    }
}
