//! Keys of any type, and whole databases.

use super::pattern;
use crate::core::context::{Context, LOOK_BYTES};
use crate::core::session::SessionKind;
use crate::core::state::Class;
use crate::core::{Next, errors, scan_order};
use crate::resp::{Args, reply};

/// DEL key …, UNLINK key …: no difference where memory is freed at once.
pub(crate) fn del(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let mut removed = 0;
    for key in args.iter().skip(1) {
        if ctx.remove(key) {
            removed += 1;
            ctx.notify(Class::GENERIC, "del", key, out);
        }
    }
    if removed > 0 {
        ctx.propagate(args);
    }
    reply::integer(out, removed);
    Next::Reply
}

/// EXISTS key …: a key named twice counts twice.
pub(crate) fn exists(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let present = args.iter().skip(1).filter(|key| ctx.exists(key)).count();
    reply::integer(out, present as i64);
    Next::Reply
}

/// TOUCH key …: nothing here depends on when a key was last used.
pub(crate) fn touch(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    exists(ctx, args, out)
}

/// TYPE key.
pub(crate) fn type_of(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let name = ctx.lookup(args.at(1)).map_or("none", |value| value.type_name());
    reply::status(out, name.as_bytes());
    Next::Reply
}

/// KEYS pattern, in order of the key (Redis: any order). Expired keys are not shown, and not deleted.
pub(crate) fn keys(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let now_ms = ctx.now_ms();
    let sees_expired = ctx.session.kind == SessionKind::Master;
    let visible = ctx.core.databases[ctx.session.db].iter();
    let visible = visible.filter(|(_, entry)| sees_expired || !entry.is_expired(now_ms)).map(|(key, _)| key);
    let wanted = args.at(1);
    // `*` alone is no pattern to Redis but the wish for all keys.
    let mut steps = 0;
    let matching: Vec<&[u8]> =
        visible.filter(|key| wanted == b"*" || pattern::matches_in_steps(wanted, key, &mut steps)).collect();
    reply::array(out, matching.len());
    matching.into_iter().for_each(|key| reply::bulk(out, key));
    let looked_at = ctx.core.databases[ctx.session.db].len() as u64;
    ctx.charge_work(looked_at * LOOK_BYTES + steps * pattern::STEP_BYTES);
    Next::Reply
}

/// RANDOMKEY: which one depends on how many were asked for, and on nothing else: a core draws nothing.
pub(crate) fn randomkey(ctx: &mut Context<'_>, _args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let database = &ctx.core.databases[ctx.session.db];
    ctx.core.random_keys += 1;
    let draw = scan_order::place(&ctx.core.random_keys.to_le_bytes()) as usize;
    let keys: Vec<Vec<u8>> = database.iter().map(|(key, _)| key.to_vec()).collect();
    ctx.charge_work(keys.iter().map(|key| key.len() as u64 + LOOK_BYTES).sum());
    let mut from_there = (0..keys.len()).map(|step| &keys[(draw + step) % keys.len()]);
    let first = from_there.clone().next();
    let alive = from_there.find(|key| !ctx.expire_if_needed(key));
    // A replica that has nothing else answers with a key that its master has not deleted yet, as Redis does.
    let may_be_expired = ctx.core.replication.is_replica();
    match alive.or(first.filter(|_| may_be_expired)) {
        Some(key) => reply::bulk(out, key),
        None => reply::null(out, ctx.protocol()),
    }
    Next::Reply
}

/// DBSIZE: keys that have expired but were not deleted yet count, as in Redis.
pub(crate) fn dbsize(ctx: &mut Context<'_>, _args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    reply::integer(out, ctx.core.databases[ctx.session.db].len() as i64);
    Next::Reply
}

/// FLUSHDB [ASYNC|SYNC].
pub(crate) fn flushdb(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    if flush_mode_or_reply(args, out) {
        let (db, now_ms) = (ctx.session.db, ctx.now_ms());
        ctx.core.clear_database(db, (ctx.session.origin, ctx.spec.name), now_ms);
        ctx.core.invalidate_all();
        ctx.propagate(args);
        reply::ok(out);
    }
    Next::Reply
}

/// FLUSHALL [ASYNC|SYNC].
pub(crate) fn flushall(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    if flush_mode_or_reply(args, out) {
        let now_ms = ctx.now_ms();
        ctx.core.flush(ctx.session.origin, now_ms);
        ctx.propagate(args);
        reply::ok(out);
    }
    Next::Reply
}

fn flush_mode_or_reply(args: &Args<'_>, out: &mut Vec<u8>) -> bool {
    let known = match args.get(1) {
        None => true,
        Some(mode) => {
            args.len() == 2 && (mode.eq_ignore_ascii_case(b"ASYNC") || mode.eq_ignore_ascii_case(b"SYNC"))
        }
    };
    if !known {
        reply::error(out, errors::SYNTAX);
    }
    known
}
