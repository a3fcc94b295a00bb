//! Settings that a node shows and keeps, and that change nothing it does.
//!
//! CONFIG GET shows them with Redis' defaults. What tunes memory, disk or processor time of a kind that a node does not
//! have can be set, to whatever Redis would take. What Redis' clients could see the effect of can be set to the value
//! that it has and to no other: a node that says `OK` and goes on as before would be a lie.
//!
//! Settings that a node obeys are in `commands::server`. Not kept: those of TLS and of clusters.
//!
//! Decision: "A node accepts settings without effect, and refuses settings that it cannot obey"
//! (docs/decisions/redis.md).

use std::collections::BTreeMap;

use super::limits::memory;
use crate::resp::integer;
use Kind::{Fixed, Memory, Number, OneOf, Switch, Unmoved};

struct Kept {
    name: &'static str,
    default: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    /// Redis itself refuses to change it.
    Fixed,
    /// It has an effect in Redis that is not there in a node.
    Unmoved,
    Switch,
    /// From and to, both included.
    Number(i64, i64),
    /// An amount of memory of at least so much.
    Memory(u64),
    OneOf(&'static [&'static str]),
}

/// Older names, which are settings of the same value.
const OLD_NAMES: &[(&str, &str)] = &[
    ("hash-max-ziplist-entries", "hash-max-listpack-entries"),
    ("hash-max-ziplist-value", "hash-max-listpack-value"),
    ("list-max-ziplist-size", "list-max-listpack-size"),
    ("slave-announce-ip", "replica-announce-ip"),
    ("slave-announce-port", "replica-announce-port"),
    ("slave-ignore-maxmemory", "replica-ignore-maxmemory"),
    ("slave-lazy-flush", "replica-lazy-flush"),
    ("zset-max-ziplist-entries", "zset-max-listpack-entries"),
    ("zset-max-ziplist-value", "zset-max-listpack-value"),
];

/// Not shown to who asks with a pattern.
const HIDDEN: &[Kept] = &[
    Kept { name: "key-load-delay", default: "0", kind: Number(i32::MIN as i64, i32::MAX as i64) },
    Kept { name: "rdb-key-save-delay", default: "0", kind: Number(i32::MIN as i64, i32::MAX as i64) },
];

const KEPT: &[Kept] = &[
    Kept { name: "acl-pubsub-default", default: "resetchannels", kind: Unmoved },
    Kept { name: "aclfile", default: "", kind: Fixed },
    Kept { name: "acllog-max-len", default: "128", kind: Number(0, i64::MAX) },
    Kept { name: "active-defrag-cycle-max", default: "25", kind: Number(1, 99) },
    Kept { name: "active-defrag-cycle-min", default: "1", kind: Number(1, 99) },
    Kept { name: "active-defrag-ignore-bytes", default: "104857600", kind: Memory(1) },
    Kept { name: "active-defrag-max-scan-fields", default: "1000", kind: Number(1, i64::MAX) },
    Kept { name: "active-defrag-threshold-lower", default: "10", kind: Number(0, 1000) },
    Kept { name: "active-defrag-threshold-upper", default: "100", kind: Number(0, 1000) },
    Kept { name: "active-expire-effort", default: "1", kind: Unmoved },
    Kept { name: "activerehashing", default: "yes", kind: Switch },
    Kept { name: "always-show-logo", default: "no", kind: Fixed },
    Kept { name: "aof-disable-auto-gc", default: "no", kind: Switch },
    Kept { name: "aof-load-truncated", default: "yes", kind: Switch },
    Kept { name: "aof-rewrite-incremental-fsync", default: "yes", kind: Switch },
    Kept { name: "aof-timestamp-enabled", default: "no", kind: Switch },
    Kept { name: "aof-use-rdb-preamble", default: "yes", kind: Switch },
    Kept { name: "appenddirname", default: "appendonlydir", kind: Fixed },
    Kept { name: "appendfilename", default: "appendonly.aof", kind: Fixed },
    Kept { name: "auto-aof-rewrite-min-size", default: "67108864", kind: Memory(0) },
    Kept { name: "auto-aof-rewrite-percentage", default: "100", kind: Number(0, i32::MAX as i64) },
    Kept { name: "bind", default: "* -::*", kind: Unmoved },
    Kept { name: "bind-source-addr", default: "", kind: Unmoved },
    Kept { name: "cluster-enabled", default: "no", kind: Fixed },
    Kept { name: "crash-log-enabled", default: "yes", kind: Switch },
    Kept { name: "crash-memcheck-enabled", default: "yes", kind: Switch },
    Kept { name: "daemonize", default: "no", kind: Fixed },
    Kept { name: "disable-thp", default: "yes", kind: Fixed },
    Kept { name: "dynamic-hz", default: "yes", kind: Switch },
    Kept { name: "enable-debug-command", default: "no", kind: Fixed },
    Kept { name: "enable-module-command", default: "no", kind: Fixed },
    Kept { name: "enable-protected-configs", default: "no", kind: Fixed },
    Kept { name: "hash-max-listpack-entries", default: "512", kind: Number(0, i64::MAX) },
    Kept { name: "hash-max-listpack-value", default: "64", kind: Memory(0) },
    Kept { name: "hll-sparse-max-bytes", default: "3000", kind: Memory(0) },
    Kept { name: "hz", default: "10", kind: Unmoved },
    Kept { name: "io-threads", default: "1", kind: Fixed },
    Kept { name: "io-threads-do-reads", default: "no", kind: Fixed },
    Kept { name: "jemalloc-bg-thread", default: "yes", kind: Switch },
    Kept { name: "latency-monitor-threshold", default: "0", kind: Number(0, i64::MAX) },
    Kept { name: "latency-tracking", default: "yes", kind: Unmoved },
    Kept { name: "lazyfree-lazy-eviction", default: "no", kind: Switch },
    Kept { name: "lazyfree-lazy-expire", default: "no", kind: Unmoved },
    Kept { name: "lazyfree-lazy-server-del", default: "no", kind: Switch },
    Kept { name: "lazyfree-lazy-user-del", default: "no", kind: Unmoved },
    Kept { name: "lazyfree-lazy-user-flush", default: "no", kind: Switch },
    Kept { name: "lfu-decay-time", default: "1", kind: Number(0, i32::MAX as i64) },
    Kept { name: "lfu-log-factor", default: "10", kind: Number(0, i32::MAX as i64) },
    Kept { name: "list-compress-depth", default: "0", kind: Number(0, i32::MAX as i64) },
    Kept { name: "list-max-listpack-size", default: "-2", kind: Number(i32::MIN as i64, i32::MAX as i64) },
    Kept { name: "logfile", default: "", kind: Fixed },
    Kept { name: "loglevel", default: "notice", kind: OneOf(&["debug", "verbose", "notice", "warning"]) },
    Kept { name: "masterauth", default: "", kind: Unmoved },
    Kept { name: "masteruser", default: "", kind: Unmoved },
    Kept { name: "maxmemory-eviction-tenacity", default: "10", kind: Number(0, 100) },
    Kept { name: "maxmemory-samples", default: "5", kind: Number(1, i32::MAX as i64) },
    Kept { name: "no-appendfsync-on-rewrite", default: "no", kind: Switch },
    Kept { name: "oom-score-adj", default: "no", kind: OneOf(&["no", "yes", "relative", "absolute"]) },
    Kept { name: "pidfile", default: "", kind: Fixed },
    Kept { name: "propagation-error-behavior", default: "ignore", kind: Unmoved },
    Kept { name: "protected-mode", default: "yes", kind: Unmoved },
    Kept { name: "proto-max-bulk-len", default: "536870912", kind: Unmoved },
    Kept { name: "rdb-del-sync-files", default: "no", kind: Switch },
    Kept { name: "rdb-save-incremental-fsync", default: "yes", kind: Switch },
    Kept { name: "rdbchecksum", default: "yes", kind: Fixed },
    Kept { name: "rdbcompression", default: "yes", kind: Switch },
    Kept { name: "repl-backlog-ttl", default: "3600", kind: Number(0, i64::MAX) },
    Kept { name: "repl-disable-tcp-nodelay", default: "no", kind: Switch },
    Kept {
        name: "repl-diskless-load",
        default: "disabled",
        kind: OneOf(&["disabled", "on-empty-db", "swapdb"]),
    },
    Kept { name: "repl-diskless-sync", default: "yes", kind: Switch },
    Kept { name: "repl-diskless-sync-delay", default: "5", kind: Number(0, i32::MAX as i64) },
    Kept { name: "repl-diskless-sync-max-replicas", default: "0", kind: Number(0, i32::MAX as i64) },
    Kept { name: "repl-timeout", default: "60", kind: Unmoved },
    Kept { name: "replica-announce-ip", default: "", kind: Unmoved },
    Kept { name: "replica-announce-port", default: "0", kind: Unmoved },
    Kept { name: "replica-announced", default: "yes", kind: Unmoved },
    Kept { name: "replica-ignore-disk-write-errors", default: "no", kind: Switch },
    Kept { name: "replica-ignore-maxmemory", default: "yes", kind: Unmoved },
    Kept { name: "replica-lazy-flush", default: "no", kind: Switch },
    Kept { name: "requirepass", default: "", kind: Unmoved },
    Kept { name: "sanitize-dump-payload", default: "no", kind: OneOf(&["no", "yes", "clients"]) },
    Kept { name: "set-max-intset-entries", default: "512", kind: Number(0, i64::MAX) },
    Kept { name: "set-proc-title", default: "yes", kind: Fixed },
    Kept { name: "shutdown-timeout", default: "10", kind: Number(0, i32::MAX as i64) },
    Kept { name: "slowlog-log-slower-than", default: "10000", kind: Number(-1, i64::MAX) },
    Kept { name: "slowlog-max-len", default: "128", kind: Number(0, i64::MAX) },
    Kept { name: "stream-node-max-bytes", default: "4096", kind: Memory(0) },
    Kept { name: "stream-node-max-entries", default: "100", kind: Number(0, i64::MAX) },
    Kept { name: "supervised", default: "no", kind: Fixed },
    Kept { name: "syslog-enabled", default: "no", kind: Fixed },
    Kept { name: "syslog-facility", default: "local0", kind: Fixed },
    Kept { name: "syslog-ident", default: "redis", kind: Fixed },
    Kept { name: "tcp-backlog", default: "511", kind: Fixed },
    Kept { name: "tcp-keepalive", default: "300", kind: Number(0, i32::MAX as i64) },
    Kept { name: "tracking-table-max-keys", default: "1000000", kind: Unmoved },
    Kept { name: "unixsocket", default: "", kind: Fixed },
    Kept { name: "unixsocketperm", default: "0", kind: Fixed },
    Kept { name: "zset-max-listpack-entries", default: "128", kind: Number(0, i64::MAX) },
    Kept { name: "zset-max-listpack-value", default: "64", kind: Memory(0) },
];

/// The values of those that somebody has set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptSettings(BTreeMap<&'static str, String>);

impl KeptSettings {
    /// Names and values as CONFIG GET shows them to who asks with a pattern.
    pub(crate) fn visible_settings(&self) -> impl Iterator<Item = (&'static str, String)> + '_ {
        let old = OLD_NAMES.iter().filter_map(|(old, name)| Some((*old, self.value(find(name)?))));
        KEPT.iter().map(|kept| (kept.name, self.value(kept))).chain(old)
    }

    /// Those that are shown only to who asks for them by name.
    pub(crate) fn hidden_settings(&self) -> impl Iterator<Item = (&'static str, String)> + '_ {
        HIDDEN.iter().map(|kept| (kept.name, self.value(kept)))
    }

    /// Whether it is an older name of another setting.
    pub(crate) fn is_old_name(name: &str) -> bool {
        OLD_NAMES.iter().any(|(old, _)| *old == name)
    }

    fn value(&self, kept: &Kept) -> String {
        self.0.get(kept.name).map_or(kept.default, String::as_str).to_owned()
    }

    /// Whether Redis itself refuses to change it.
    pub(crate) fn is_immutable(&self, name: &[u8]) -> bool {
        let kept = std::str::from_utf8(name).ok().and_then(find);
        kept.is_some_and(|kept| matches!(kept.kind, Fixed))
    }

    /// Sets one of them as CONFIG SET does; `Ok(false)` if the name is none of them.
    ///
    /// # Errors
    /// When Redis would refuse the value, or the node cannot act on it.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> Result<bool, String> {
        let Some(kept) = find(name) else { return Ok(false) };
        let value = match kept.kind {
            Fixed => return Err("can't set immutable config".to_owned()),
            Unmoved if value == kept.default => value.to_owned(),
            Unmoved => return Err("the effect of another value is not modelled".to_owned()),
            Switch => switch(value)?.to_owned(),
            Number(from, to) => {
                let number = integer::parse(value.as_bytes());
                let number = number.ok_or("argument couldn't be parsed into an integer")?;
                if !(from..=to).contains(&number) {
                    return Err(format!("argument must be between {from} and {to} inclusive"));
                }
                number.to_string()
            }
            Memory(from) => {
                let bytes = memory(value).ok_or("argument must be a memory value")?;
                if bytes < from || bytes > i64::MAX as u64 {
                    return Err(format!("argument must be between {from} and {} inclusive", i64::MAX));
                }
                bytes.to_string()
            }
            OneOf(words) => {
                let word = words.iter().find(|word| word.eq_ignore_ascii_case(value));
                let refusal = || format!("argument(s) must be one of the following: {}", words.join(", "));
                (*word.ok_or_else(refusal)?).to_owned()
            }
        };
        self.0.insert(kept.name, value);
        Ok(true)
    }
}

fn find(name: &str) -> Option<&'static Kept> {
    let name = OLD_NAMES.iter().find(|(old, _)| *old == name).map_or(name, |(_, name)| name);
    KEPT.iter().chain(HIDDEN).find(|kept| kept.name == name)
}

/// `yes` or `no`, as Redis spells it.
pub(crate) fn switch(value: &str) -> Result<&'static str, &'static str> {
    match value.to_ascii_lowercase().as_str() {
        "yes" => Ok("yes"),
        "no" => Ok("no"),
        _ => Err("argument must be 'yes' or 'no'"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_a_value_that_can_be_set_and_old_names_mean_new_ones() {
        let mut settings = KeptSettings::default();
        let all: Vec<_> = settings.visible_settings().chain(settings.hidden_settings()).collect();
        for (name, value) in all {
            let is_fixed = find(name).is_some_and(|kept| matches!(kept.kind, Fixed));
            assert_eq!(settings.set(name, &value).is_err(), is_fixed, "{name} = {value}");
        }
        for (old, name) in OLD_NAMES {
            assert!(find(old).is_some_and(|kept| kept.name == *name), "{old} is no old name of {name}");
        }
    }

    #[test]
    fn what_would_have_an_effect_stays_as_it_is() {
        let mut settings = KeptSettings::default();
        let refused = settings.set("requirepass", "secret");
        assert_eq!(refused, Err("the effect of another value is not modelled".to_owned()));
        assert_eq!(settings.set("zset-max-ziplist-value", "1k"), Ok(true));
        assert!(
            settings
                .visible_settings()
                .any(|setting| setting == ("zset-max-listpack-value", "1000".to_owned()))
        );
        assert_eq!(settings.set("set-max-intset-entries", "-1").ok(), None);
        assert_eq!(settings.set("nosuch", "1"), Ok(false));
    }
}
