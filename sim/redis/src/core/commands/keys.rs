//! Keys of any type, and whole databases.

use super::pattern;
use crate::core::Next;
use crate::core::context::{Context, errors};
use crate::core::session::SessionKind;
use crate::resp::{Args, reply};

/// DEL key …, UNLINK key …: no difference where memory is freed at once.
pub(crate) fn del(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let removed = args.iter().skip(1).filter(|key| ctx.remove(key)).count();
    if removed > 0 {
        ctx.propagate(args);
    }
    reply::integer(out, removed as i64);
    Next::Reply
}

/// EXISTS key …: a key named twice counts twice.
pub(crate) fn exists(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let present = args.iter().skip(1).filter(|key| ctx.exists(key)).count();
    reply::integer(out, present as i64);
    Next::Reply
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
    let matching: Vec<&[u8]> =
        visible.filter(|key| wanted == b"*" || pattern::matches(wanted, key)).collect();
    reply::array(out, matching.len());
    matching.into_iter().for_each(|key| reply::bulk(out, key));
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
        let db = ctx.session.db;
        ctx.core.clear_database(db, ctx.session.origin);
        ctx.propagate(args);
        reply::ok(out);
    }
    Next::Reply
}

/// FLUSHALL [ASYNC|SYNC].
pub(crate) fn flushall(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    if flush_mode_or_reply(args, out) {
        ctx.core.clear_all(ctx.session.origin);
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
