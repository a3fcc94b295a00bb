//! What a node is told to be before it starts.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::state::KeyEvents;
use super::{KeptSettings, Limits, MetLimit, Observer, Program, ScriptLimit};

/// Settings of a [`Core`](super::Core). `Default` is redis.conf's, with a simulation's script limits.
#[derive(Clone)]
pub struct CoreConfig {
    /// Which Redis the node is.
    pub version: Version,
    /// `port`, only reported (INFO, CONFIG GET).
    pub port: u16,
    /// `appendonly`, only reported.
    pub append_only: bool,
    /// Whether the node was started with a configuration file, which CONFIG REWRITE rewrites.
    pub config_file: bool,
    /// `appendfsync`, only reported: `always`, `everysec` or `no`.
    pub append_fsync: &'static str,
    /// The seconds of `save SECONDS 1`, only reported; `None`: no snapshots are taken.
    pub save_seconds: Option<u64>,
    /// `min-replicas-to-write`: writes are refused while fewer replicas are good
    /// ([`Replication::good_replicas`](super::Replication::good_replicas)). 0: no limit.
    pub min_replicas_to_write: u32,
    /// `min-replicas-max-lag`, seconds: older acknowledgements do not count. The node applies it. 0: writes are never
    /// refused for want of replicas.
    pub min_replicas_max_lag: u32,
    /// `repl-backlog-size`: bytes of history kept for replicas that come back. The node keeps them.
    pub repl_backlog_bytes: u64,
    /// `repl-ping-replica-period`: how often a master with replicas writes a PING into the stream. The node does.
    pub repl_ping_period: Duration,
    /// `replica-priority`, only reported.
    pub replica_priority: u32,
    /// `replica-serve-stale-data`: whether a replica answers while its link is down.
    pub replica_serve_stale_data: bool,
    /// `notify-keyspace-events`: which events of keys are told to who has subscribed to them.
    pub key_events: KeyEvents,
    /// Settings that change nothing here.
    pub kept: KeptSettings,
    /// What clients and masters can make the node hold.
    pub limits: Limits,
    /// Whether REPLICAOF may name another machine than this one.
    pub remote_masters: bool,
    /// `busy-reply-threshold`: how long others wait for an overrunning script before they are told BUSY.
    pub busy_reply_threshold: Duration,
    /// Scripts that are known from the start, as if somebody had sent them by SCRIPT LOAD. One that is no Lua is left
    /// out.
    pub scripts: Arc<[String]>,
    /// When a script counts as never ending.
    pub script_limit: ScriptLimit,
    /// Whether scripts that the node knows by heart run without Lua. Nothing but speed depends on it.
    pub native_scripts: bool,
    /// Bytes of memory a script may take; its reply as well.
    pub script_memory_limit: usize,
    /// Told of everything a checker or fault trigger may care about.
    pub observer: Option<Arc<dyn Observer>>,
    /// The program that answers in place of the data, if this server runs one.
    pub program: Option<Arc<dyn Program>>,
}

impl Default for CoreConfig {
    fn default() -> CoreConfig {
        CoreConfig {
            version: Version::default(),
            port: 6379,
            append_only: false,
            config_file: false,
            append_fsync: "everysec",
            save_seconds: None,
            min_replicas_to_write: 0,
            min_replicas_max_lag: 10,
            repl_backlog_bytes: 1 << 20,
            repl_ping_period: Duration::from_secs(10),
            replica_priority: 100,
            replica_serve_stale_data: true,
            key_events: KeyEvents::default(),
            kept: KeptSettings::default(),
            limits: Limits::default(),
            remote_masters: true,
            busy_reply_threshold: Duration::from_secs(5),
            scripts: Arc::default(),
            // A second or two of real time. Lock scripts take below 200; whatever Redis ends within some tenths of a
            // second ends here too.
            script_limit: ScriptLimit::Instructions(200_000_000),
            native_scripts: true,
            script_memory_limit: 128 << 20,
            observer: None,
            program: None,
        }
    }
}

impl CoreConfig {
    /// The limit that a script met which was stopped for good.
    pub(crate) fn limit_met(&self) -> MetLimit {
        match &self.script_limit {
            ScriptLimit::Instructions(count) => MetLimit::Instructions(*count),
            ScriptLimit::Time(_) => MetLimit::Time(self.busy_reply_threshold),
        }
    }
}

impl fmt::Debug for CoreConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CoreConfig").field("port", &self.port).finish_non_exhaustive()
    }
}

/// A release of Redis, or of Valkey, which went its own way after Redis 7.2.
///
/// What differs between two is what this type's variants say, and nothing else: where later releases changed an error
/// text or an order that 7.0 has, a node of any version does what 7.0 does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// 7.0.15, what Debian 12 ships.
    #[default]
    V7_0,
    /// 8.4.0: with WAITAOF (of 7.2), DELEX, DIGEST and SET's IFEQ, IFNE, IFDEQ and IFDNE (of 8.4).
    V8_4,
    /// Valkey 9.0.0: with WAITAOF (of Redis 7.2), SET's IFEQ (of 8.1) and DELIFEQ (of 9.0).
    Valkey9,
}

impl Version {
    /// All there are: releases of Redis, the oldest first, and of Valkey.
    pub const ALL: [Version; 3] = [Version::V7_0, Version::V8_4, Version::Valkey9];

    /// Those that know how far their file is, as of Redis 7.2.
    pub(crate) const WITH_WAITAOF: &[Version] = &[Version::V8_4, Version::Valkey9];

    /// What people call it: `7.0`.
    pub fn name(self) -> &'static str {
        match self {
            Version::V7_0 => "7.0",
            Version::V8_4 => "8.4",
            Version::Valkey9 => "valkey-9",
        }
    }

    /// The Redis that the server says it is: a Valkey names the last one that it follows.
    pub(crate) fn full(self) -> &'static str {
        match self {
            Version::V7_0 => "7.0.15",
            Version::V8_4 => "8.4.0",
            Version::Valkey9 => "7.2.4",
        }
    }

    /// The server's name, and its own version.
    pub(crate) fn server(self) -> (&'static str, &'static str) {
        match self {
            Version::V7_0 | Version::V8_4 => ("redis", self.full()),
            Version::Valkey9 => ("valkey", "9.0.0"),
        }
    }

    /// The same as scripts compare it: a byte for each part.
    pub(crate) fn number(self) -> u32 {
        match self {
            Version::V7_0 => 0x0007_000f,
            Version::V8_4 => 0x0008_0400,
            Version::Valkey9 => 0x0007_0204,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
