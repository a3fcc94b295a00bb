//! EVAL, EVALSHA, SCRIPT.

use std::sync::Arc;

use super::{integer_or_reply, lookup};
use crate::core::command::CommandSpec;
use crate::core::context::Context;
use crate::core::lua::{self, Call, Declared, JsonSettings, Script};
use crate::core::state::{OverrunState, Scripts};
use crate::core::{Core, Next, errors, hex};
use crate::resp::{Args, reply};

const NO_SCRIPT: &[u8] = b"NOSCRIPT No matching script. Please use EVAL.";

/// EVAL script numkeys key … arg …
pub(crate) fn eval(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    eval_source(ctx, args, false, out)
}

/// EVAL_RO: EVAL that may not write.
pub(crate) fn eval_ro(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    eval_source(ctx, args, true, out)
}

/// EVALSHA sha1 numkeys key … arg …
pub(crate) fn evalsha(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    eval_cached(ctx, args, false, out)
}

/// EVALSHA_RO: EVALSHA that may not write.
pub(crate) fn evalsha_ro(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    eval_cached(ctx, args, true, out)
}

fn eval_source(ctx: &mut Context<'_>, args: &Args<'_>, read_only: bool, out: &mut Vec<u8>) -> Next {
    show(ctx, args, out);
    let Some(keys) = number_of_keys_or_reply(args, out) else { return Next::Reply };
    match load(ctx, args.at(1)) {
        Ok(script) => run(ctx, &script, Call { args, keys, read_only, lookup }, out),
        Err(text) => {
            reply::error(out, &text);
            Next::Reply
        }
    }
}

fn eval_cached(ctx: &mut Context<'_>, args: &Args<'_>, read_only: bool, out: &mut Vec<u8>) -> Next {
    show(ctx, args, out);
    let script = hex::decode(args.at(1)).and_then(|sha| ctx.core.scripts.get(&sha).cloned());
    // Redis looks at the length of the name first, at the number of keys next, and only then into its cache.
    if args.at(1).len() != 40 {
        reply::error(out, NO_SCRIPT);
        return Next::Reply;
    }
    let Some(keys) = number_of_keys_or_reply(args, out) else { return Next::Reply };
    match script {
        Some(script) => run(ctx, &script, Call { args, keys, read_only, lookup }, out),
        None => {
            reply::error(out, NO_SCRIPT);
            Next::Reply
        }
    }
}

/// Whoever monitors sees a script before its commands.
fn show(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) {
    ctx.core.show(ctx.session, ctx.now, ctx.spec, args, out);
}

/// What the script to be run says about itself in its first line: for Redis, flags of the command that runs it. `None`:
/// nothing, or there is no such script.
pub(crate) fn declared_flags(core: &Core, spec: &CommandSpec, args: &Args<'_>) -> Option<Declared> {
    match spec.name {
        "EVAL" | "EVAL_RO" if args.at(1).starts_with(b"#!") => {
            Script::parse(args.at(1), Default::default()).ok()?.declared_flags()
        }
        "EVALSHA" | "EVALSHA_RO" => core.scripts.get(&hex::decode(args.at(1))?)?.declared_flags(),
        _ => None,
    }
}

fn number_of_keys_or_reply(args: &Args<'_>, out: &mut Vec<u8>) -> Option<usize> {
    let keys = integer_or_reply(args.at(2), out)?;
    if keys > (args.len() - 3) as i64 {
        reply::error(out, b"ERR Number of keys can't be greater than number of args");
        return None;
    }
    let keys = usize::try_from(keys).ok();
    if keys.is_none() {
        reply::error(out, b"ERR Number of keys can't be negative");
    }
    keys
}

fn run(ctx: &mut Context<'_>, script: &Arc<Script>, call: Call<'_>, out: &mut Vec<u8>) -> Next {
    if let Some(refusal) = script.refusal(ctx.core.write_refusal(), ctx.core.is_stale(), call.read_only) {
        reply::error(out, refusal);
        return Next::Reply;
    }
    let start = out.len();
    ctx.core.stats.counts.begin_script();
    ctx.core.track_script(ctx.session, call.args.iter().skip(3).take(call.keys));
    let next = lua::run(ctx.core, ctx.session, ctx.now, script, call, out);
    ctx.core.tracking.script = None;
    if ctx.core.has_pushed && next == Next::Reply {
        let pushed = ctx.own_pushes();
        out.splice(start..start, pushed);
    }
    next
}

/// The script in the cache, put there first if it compiles. Redis keeps every script it is sent, whatever memory is
/// left; a full node runs it all the same, so that a lock can be released, and does not keep it.
fn load(ctx: &mut Context<'_>, source: &[u8]) -> Result<Arc<Script>, Vec<u8>> {
    let sha = lua::digest(source);
    if let Some(script) = ctx.core.scripts.get(&sha) {
        return Ok(Arc::clone(script));
    }
    let script = Arc::new(Script::parse(source, sha)?);
    lua::compile(&script, ctx.core.config.script_memory_limit)?;
    if !ctx.core.is_full_of(ctx.session.origin) {
        ctx.core.scripts.insert(&script, source);
    }
    Ok(script)
}

/// SCRIPT LOAD script.
pub(crate) fn script_load(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    match load(ctx, args.at(2)) {
        Ok(script) if !ctx.core.scripts.contains(&script.sha) => {
            reply::error(out, errors::OUT_OF_MEMORY);
        }
        Ok(script) => reply::bulk(out, hex::encode(&script.sha).as_bytes()),
        Err(text) => reply::error(out, &text),
    }
    Next::Reply
}

/// SCRIPT EXISTS sha1 …
pub(crate) fn script_exists(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    reply::array(out, args.len() - 2);
    for name in args.iter().skip(2) {
        let known = hex::decode(name).is_some_and(|sha| ctx.core.scripts.contains(&sha));
        reply::integer(out, i64::from(known));
    }
    Next::Reply
}

/// SCRIPT FLUSH [ASYNC|SYNC].
pub(crate) fn script_flush(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let known = match args.get(2) {
        None => true,
        Some(mode) => {
            args.len() == 3 && (mode.eq_ignore_ascii_case(b"SYNC") || mode.eq_ignore_ascii_case(b"ASYNC"))
        }
    };
    if known {
        ctx.core.scripts = Scripts::default();
        ctx.core.json = JsonSettings::default();
        reply::ok(out);
    } else {
        reply::error(out, b"ERR SCRIPT FLUSH only support SYNC|ASYNC option");
    }
    Next::Reply
}

/// SCRIPT KILL: ends an overrunning script, unless it has written.
pub(crate) fn script_kill(ctx: &mut Context<'_>, _args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    match ctx.core.overrun.as_mut().filter(|overrun| overrun.is_running()) {
        None => reply::error(out, b"NOTBUSY No scripts in execution right now."),
        Some(overrun) if overrun.from_master => reply::error(
            out,
            b"UNKILLABLE The busy script was sent by a master instance in the context of replication and cannot be killed.",
        ),
        Some(overrun) if overrun.wrote => reply::error(
            out,
            b"UNKILLABLE Sorry the script already executed write commands against the dataset. \
              You can either wait the script termination or kill the server in a hard way using the SHUTDOWN NOSAVE command.",
        ),
        Some(overrun) => {
            overrun.state = OverrunState::Killed;
            reply::ok(out);
        }
    }
    Next::Reply
}
