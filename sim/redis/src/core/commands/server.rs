//! Commands about the server: INFO, CONFIG, TIME, SHUTDOWN.

use std::time::Duration;

use super::info;
use super::pattern;
use crate::core::context::{Context, c_string};
use crate::core::limits::memory;
use crate::core::settings::switch;
use crate::core::{Core, CoreConfig, KeptSettings, KeyEvents, Next, Role, errors};
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
    let settings = settings(&ctx.core.config, &ctx.core.replication.role);
    let hidden: Vec<_> = ctx.core.config.kept.hidden_settings().collect();
    let mut found: Vec<(&[u8], &str)> = Vec::new();
    for wanted in args.iter().skip(2) {
        let is_pattern = wanted.iter().any(|byte| b"[*?".contains(byte));
        let lower = wanted.to_ascii_lowercase();
        let hidden = hidden.iter().filter(|_| !is_pattern);
        for (name, value) in settings.iter().chain(hidden) {
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
fn settings(config: &CoreConfig, role: &Role) -> Vec<(&'static str, String)> {
    let master = match role {
        Role::Master => String::new(),
        Role::Replica { host, port, .. } => format!("{host} {port}"),
    };
    let yes_no = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    let busy = config.busy_reply_threshold.as_millis().to_string();
    let min_replicas = config.min_replicas_to_write.to_string();
    let max_lag = config.min_replicas_max_lag.to_string();
    let ping_period = config.repl_ping_period.as_secs().to_string();
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
        ("notify-keyspace-events", config.key_events.text()),
        ("port", config.port.to_string()),
        ("repl-ping-replica-period", ping_period.clone()),
        ("repl-ping-slave-period", ping_period),
        ("repl-backlog-size", config.repl_backlog_bytes.to_string()),
        ("replica-priority", config.replica_priority.to_string()),
        ("replica-read-only", yes_no(true)),
        ("replica-serve-stale-data", yes_no(config.replica_serve_stale_data)),
        ("replicaof", master.clone()),
        ("save", config.save_seconds.map_or(String::new(), |seconds| format!("{seconds} 1"))),
        ("slave-priority", config.replica_priority.to_string()),
        ("slave-read-only", yes_no(true)),
        ("slave-serve-stale-data", yes_no(config.replica_serve_stale_data)),
        ("slaveof", master),
        ("stop-writes-on-bgsave-error", yes_no(true)),
        ("timeout", "0".to_owned()),
    ];
    settings.extend(config.limits.settings());
    settings.extend(config.kept.visible_settings());
    settings.sort_unstable();
    settings
}

/// CONFIG SET name value …: all of them or none.
pub(crate) fn config_set(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    if args.len() % 2 == 1 {
        reply::error(out, errors::SYNTAX);
        return Next::Reply;
    }
    let known = settings(&ctx.core.config, &ctx.core.replication.role);
    let names: Vec<Vec<u8>> =
        args.iter().skip(2).step_by(2).map(|name| c_string(name).to_ascii_lowercase()).collect();
    if let Err(text) = check_names(ctx.core, &known, &names) {
        reply::error(out, &text);
        return Next::Reply;
    }
    let mut changed = ctx.core.config.clone();
    for (index, name) in names.iter().enumerate() {
        let value = args.at(3 + 2 * index);
        // What can only be what it is may be set to that.
        let is_the_same =
            known.iter().any(|(known, old)| known.as_bytes() == name && old.as_bytes() == value);
        if let Err(why) = apply_setting(&mut changed, name, value)
            && !is_the_same
        {
            reply::error(out, &setting_refused(name, &why));
            return Next::Reply;
        }
    }
    ctx.core.replication.backlog_size = changed.repl_backlog_bytes;
    ctx.core.config = changed;
    reply::ok(out);
    Next::Reply
}

/// `Err`: the reply to who names what there is not, what nobody may set, or one thing twice.
fn check_names(core: &Core, known: &[(&'static str, String)], names: &[Vec<u8>]) -> Result<(), Vec<u8>> {
    let hidden: Vec<_> = core.config.kept.hidden_settings().collect();
    for (index, name) in names.iter().enumerate() {
        if !known.iter().chain(&hidden).any(|(known, _)| known.as_bytes() == name) {
            return Err([
                b"ERR Unknown option or number of arguments for CONFIG SET - '",
                name.as_slice(),
                b"'",
            ]
            .concat());
        }
        if IMMUTABLE.iter().any(|fixed| fixed.as_bytes() == name) || core.config.kept.is_immutable(name) {
            return Err(setting_refused(name, "can't set immutable config"));
        }
        if names[..index].contains(name) {
            return Err(setting_refused(name, "duplicate parameter"));
        }
    }
    Ok(())
}

/// Redis takes less for this.
const LEAST_BACKLOG: u64 = 16 << 10;

/// Those of our own that Redis cannot change either.
const IMMUTABLE: [&str; 3] = ["databases", "replicaof", "slaveof"];

/// Older names of settings that the node obeys.
const OLD_NAMES: [&str; 7] = [
    "lua-time-limit",
    "min-slaves-max-lag",
    "min-slaves-to-write",
    "repl-ping-slave-period",
    "slave-priority",
    "slave-read-only",
    "slave-serve-stale-data",
];

fn setting_refused(name: &[u8], why: &str) -> Vec<u8> {
    [b"ERR CONFIG SET failed (possibly related to argument '", name, b"') - ", why.as_bytes()].concat()
}

fn apply_setting(config: &mut CoreConfig, name: &[u8], value: &[u8]) -> Result<(), String> {
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
            config.replica_serve_stale_data = switch(&String::from_utf8_lossy(value))? == "yes";
        }
        b"repl-backlog-size" => {
            let bytes = memory(&String::from_utf8_lossy(value)).filter(|bytes| i64::try_from(*bytes).is_ok());
            let bytes = bytes.ok_or("argument must be a memory value")?;
            if bytes == 0 {
                return Err("argument must be between 1 and 9223372036854775807 inclusive".to_owned());
            }
            config.repl_backlog_bytes = bytes.max(LEAST_BACKLOG);
        }
        b"repl-ping-replica-period" | b"repl-ping-slave-period" => {
            let seconds = u32::try_from(number()?).ok().filter(|&n| n > 0 && i32::try_from(n).is_ok());
            let seconds = seconds.ok_or("argument must be between 1 and 2147483647 inclusive")?;
            config.repl_ping_period = Duration::from_secs(u64::from(seconds));
        }
        b"port" => return Err("Unable to listen on this port: a node keeps the one it has.".to_owned()),
        b"notify-keyspace-events" => {
            let wanted = KeyEvents::parse(c_string(value));
            config.key_events = wanted.ok_or("Invalid event class character. Use 'Ag$lshzxeKEtmdn'.")?;
        }
        _ => {
            let text = |bytes| std::str::from_utf8(bytes).unwrap_or_default();
            let (name, value) = (text(name), text(value));
            if !config.limits.set(name, value)? && !config.kept.set(name, value)? {
                return Err("the effect of another value is not modelled".to_owned());
            }
        }
    }
    Ok(())
}

impl CoreConfig {
    /// Names and values of the settings that CONFIG SET made other than `before`, each by its newest name.
    pub(crate) fn changes(&self, before: &CoreConfig) -> Vec<(&'static str, String)> {
        let all = |config: &CoreConfig| {
            let mut all = settings(config, &Role::Master);
            all.extend(config.kept.hidden_settings());
            all
        };
        let is_old = |name: &str| OLD_NAMES.contains(&name) || KeptSettings::is_old_name(name);
        let pairs = all(self).into_iter().zip(all(before));
        pairs.filter(|(now, then)| now != then && !is_old(now.0)).map(|(now, _)| now).collect()
    }

    /// Sets one as CONFIG SET does.
    ///
    /// # Errors
    /// When there is none of that name, it cannot be set, or not to that.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        apply_setting(self, name.as_bytes(), value.as_bytes())
    }
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
    ctx.core.reset_statistics();
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
