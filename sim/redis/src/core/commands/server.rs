//! Commands about the server: INFO, CONFIG, TIME, SHUTDOWN.

use std::time::Duration;

use super::info;
use super::pattern;
use crate::core::context::{Context, c_string, errors};
use crate::core::{CoreConfig, Next};
use crate::resp::{Args, Protocol, integer, reply};

/// A text: `$len`, or `=len` with its format in RESP3.
pub(super) fn verbatim(out: &mut Vec<u8>, protocol: Protocol, text: &[u8]) {
    match protocol {
        Protocol::Two => reply::bulk(out, text),
        Protocol::Three => {
            out.extend_from_slice(format!("={}\r\ntxt:", text.len() + 4).as_bytes());
            out.extend_from_slice(text);
            out.extend_from_slice(b"\r\n");
        }
    }
}

/// A command that does nothing without a subcommand; its arity refuses it before it gets here.
pub(crate) fn container_without_subcommand(
    ctx: &mut Context<'_>,
    _args: &Args<'_>,
    out: &mut Vec<u8>,
) -> Next {
    ctx.arity_error(out);
    Next::Reply
}

/// INFO [section …].
pub(crate) fn info(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let sections: Vec<Vec<u8>> = args.iter().skip(1).map(<[u8]>::to_ascii_lowercase).collect();
    let text = info::text(ctx.core, ctx.now, &sections);
    verbatim(out, ctx.protocol(), text.as_bytes());
    Next::Reply
}

/// TIME: seconds and microseconds of the node's wall clock.
pub(crate) fn time(ctx: &mut Context<'_>, _args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    reply::array(out, 2);
    reply::bulk(out, ctx.now.0.div_euclid(1_000_000).to_string().as_bytes());
    reply::bulk(out, ctx.now.0.rem_euclid(1_000_000).to_string().as_bytes());
    Next::Reply
}

/// CONFIG GET pattern … What is no pattern is a name, and answered as it was spelt.
pub(crate) fn config_get(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let settings = settings(&ctx.core.config);
    let mut found: Vec<(&[u8], &str)> = Vec::new();
    for wanted in args.iter().skip(2) {
        let is_pattern = wanted.iter().any(|byte| b"[*?".contains(byte));
        let lower = wanted.to_ascii_lowercase();
        for (name, value) in &settings {
            let name = name.as_bytes();
            let matches = if is_pattern { pattern::matches(&lower, name) } else { lower == name };
            if matches && !found.iter().any(|(other, _)| other.eq_ignore_ascii_case(name)) {
                found.push((if is_pattern { name } else { wanted }, value));
            }
        }
    }
    reply::map(out, ctx.protocol(), found.len());
    for (name, value) in found {
        reply::bulk(out, name);
        reply::bulk(out, value.as_bytes());
    }
    Next::Reply
}

/// The settings that clients ask for.
fn settings(config: &CoreConfig) -> Vec<(&'static str, String)> {
    let yes_no = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    let busy = config.busy_reply_threshold.as_millis().to_string();
    let min_replicas = config.min_replicas_to_write.to_string();
    let max_lag = config.min_replicas_max_lag.to_string();
    let mut settings = vec![
        ("appendfsync", config.append_fsync.to_owned()),
        ("appendonly", yes_no(config.append_only)),
        ("busy-reply-threshold", busy.clone()),
        ("databases", super::super::DATABASES.to_string()),
        ("lua-time-limit", busy),
        ("maxmemory-policy", "noeviction".to_owned()),
        ("min-replicas-max-lag", max_lag.clone()),
        ("min-replicas-to-write", min_replicas.clone()),
        ("min-slaves-max-lag", max_lag),
        ("min-slaves-to-write", min_replicas),
        ("notify-keyspace-events", String::new()),
        ("port", config.port.to_string()),
        ("replica-priority", config.replica_priority.to_string()),
        ("replica-read-only", yes_no(true)),
        ("replica-serve-stale-data", yes_no(config.replica_serve_stale_data)),
        ("save", config.save_seconds.map_or(String::new(), |seconds| format!("{seconds} 1"))),
        ("slave-priority", config.replica_priority.to_string()),
        ("slave-read-only", yes_no(true)),
        ("slave-serve-stale-data", yes_no(config.replica_serve_stale_data)),
        ("stop-writes-on-bgsave-error", yes_no(true)),
        ("timeout", "0".to_owned()),
    ];
    settings.extend(config.limits.settings());
    settings.sort_unstable();
    settings
}

/// CONFIG SET name value …: all of them or none.
pub(crate) fn config_set(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    if args.len() % 2 == 1 {
        ctx.arity_error(out);
        return Next::Reply;
    }
    let mut changed = ctx.core.config.clone();
    for index in (2..args.len()).step_by(2) {
        let (name, value) = (args.at(index), args.at(index + 1));
        let known = settings(&changed).iter().any(|(known, _)| name.eq_ignore_ascii_case(known.as_bytes()));
        if !known {
            let text =
                [b"ERR Unknown option or number of arguments for CONFIG SET - '", c_string(name), b"'"]
                    .concat();
            reply::error(out, &text);
            return Next::Reply;
        }
        if let Err(why) = apply_setting(&mut changed, &name.to_ascii_lowercase(), value) {
            let text =
                [b"ERR CONFIG SET failed (possibly related to argument '", name, b"') - ", why.as_bytes()]
                    .concat();
            reply::error(out, &text);
            return Next::Reply;
        }
    }
    ctx.core.config = changed;
    reply::ok(out);
    Next::Reply
}

fn apply_setting(config: &mut CoreConfig, name: &[u8], value: &[u8]) -> Result<(), &'static str> {
    let number = || integer::parse(value).ok_or("argument couldn't be parsed into an integer");
    let small = || {
        let fits = u32::try_from(number()?).ok().filter(|&n| i32::try_from(n).is_ok());
        fits.ok_or("argument must be between 0 and 2147483647 inclusive")
    };
    match name {
        b"min-replicas-to-write" | b"min-slaves-to-write" => config.min_replicas_to_write = small()?,
        b"min-replicas-max-lag" | b"min-slaves-max-lag" => config.min_replicas_max_lag = small()?,
        b"replica-priority" | b"slave-priority" => config.replica_priority = small()?,
        b"busy-reply-threshold" | b"lua-time-limit" => {
            config.busy_reply_threshold = Duration::from_millis(u64::from(small()?));
        }
        b"replica-serve-stale-data" | b"slave-serve-stale-data" => {
            config.replica_serve_stale_data = match value.to_ascii_lowercase().as_slice() {
                b"yes" => true,
                b"no" => false,
                _ => return Err("argument must be 'yes' or 'no'"),
            };
        }
        _ => {
            let text = |bytes| std::str::from_utf8(bytes).unwrap_or_default();
            if !config.limits.set(text(name), text(value))? {
                return Err("can't set immutable config");
            }
        }
    }
    Ok(())
}

/// CONFIG REWRITE: the node writes the file before the reply leaves.
pub(crate) fn config_rewrite(ctx: &mut Context<'_>, _args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    if !ctx.core.config.config_file {
        reply::error(out, b"ERR The server is running without a config file");
        return Next::Reply;
    }
    ctx.core.config_rewrite_due = true;
    reply::ok(out);
    Next::Reply
}

/// CONFIG RESETSTAT.
pub(crate) fn config_resetstat(ctx: &mut Context<'_>, _args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let stats = &mut ctx.core.stats;
    (stats.commands, stats.connections, stats.rejected) = (0, 0, 0);
    (stats.expired, stats.evicted) = (0, 0);
    reply::ok(out);
    Next::Reply
}

/// SHUTDOWN [NOSAVE|SAVE] [NOW] [FORCE] [ABORT]. A node that takes no snapshots saves nothing, whatever is said.
pub(crate) fn shutdown(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let (mut save, mut no_save, mut other, mut abort) = (false, false, false, false);
    for option in args.iter().skip(1) {
        match option.to_ascii_lowercase().as_slice() {
            b"nosave" if !save => no_save = true,
            b"save" if !no_save => save = true,
            b"now" | b"force" => other = true,
            b"abort" => abort = true,
            _ => {
                reply::error(out, errors::SYNTAX);
                return Next::Reply;
            }
        }
    }
    if abort {
        let alone = !(save || no_save || other);
        reply::error(out, if alone { b"ERR No shutdown in progress." } else { errors::SYNTAX });
        return Next::Reply;
    }
    if !no_save && ctx.core.script_is_overrunning() {
        reply::error(out, errors::BUSY);
        return Next::Reply;
    }
    Next::Shutdown { save: !no_save }
}
