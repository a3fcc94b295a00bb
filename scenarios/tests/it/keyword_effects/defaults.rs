//! What an absent key means: exactly what its documented default means when it is written.

use doublehold_scenarios::format::vocabulary;

use crate::keyword_effects::reentrant::{FOLLOWED, MULTI, NESTED, THREADS};
use crate::keyword_effects::row::read;

/// A key as the vocabulary names it, a scenario that leaves it out, where it is written there, and its default.
type Absent = (&'static str, &'static str, &'static str, &'static str);

const SINGLE: &str = r#"
    claim = "a lock on one node"
    lock = { algorithm = "single", ttl = "10s" }
    nodes = { names = ["A"] }
    clients = [{ name = "c1", program = ["acquire", "release"] }]
    faults = [{ kind = "power-loss", host = "A", at = "1s" }, { kind = "evict", host = "A", at = "1s" }]
"#;
const COPIES: &str = r#"
    claim = "data on three replicas"
    lock = { algorithm = "single", ttl = "10s", fencing = true }
    nodes = { names = ["A"] }
    resource = { replicas = 3 }
    clients = [{ name = "c1", program = ["acquire", "release"] }]
"#;
const REPLICATED: &str = r#"
    claim = "a lock on a master"
    lock = { algorithm = "replicated", ttl = "10s", wait_replicas = 1 }
    nodes = { names = ["M", "R1", "R2"], master = "M" }
    network = { links = [{ from = "c1", to = "M" }] }
    clients = [{ name = "c1", program = ["acquire", "release"] }]
    [[faults]]
    kind = "promote"
    host = "R1"
    at = "1s"
    [[faults]]
    kind = "follow"
    host = "R2"
    master = "R1"
    at = "1s"
"#;
const WATCHED: &str = r#"
    claim = "a lock on a master that Sentinels watch"
    lock = { algorithm = "single", ttl = "10s" }
    nodes = { names = ["M", "R1", "R2"], master = "M" }
    sentinels = {}
    clients = [{ name = "c1", program = ["acquire", "release"] }]
"#;
const WEATHER: &str = r#"
    claim = "a lock under random faults"
    lock = { algorithm = "replicated", ttl = "10s" }
    nodes = { names = ["M", "R1"], master = "M" }
    clients = [{ name = "c1", program = ["acquire", "release"] }]
    [weather]
    [[weather.faults]]
    kind = "clock-step"
    host = "nodes"
    by = "1s"
    every = "10s"
    [[weather.faults]]
    kind = "clock-freeze"
    host = "nodes"
    for = "1s"
    every = "10s"
    [[weather.faults]]
    kind = "cut"
    from = "clients"
    to = "nodes"
    for = "1s"
    every = "10s"
    [[weather.faults]]
    kind = "power-loss"
    host = "nodes"
    for = "1s"
    every = "10s"
    [[weather.faults]]
    kind = "promote"
    host = "replicas"
    every = "10s"
    [[weather.faults]]
    kind = "evict"
    host = "nodes"
    every = "10s"
    [[weather.faults]]
    kind = "pause"
    host = "master"
    for = "1s"
    every = "10s"
    brings = { kind = "promote", host = "replicas", after = "3s" }
"#;
const DRIVEN: &str = r#"
    claim = "a lock whose driver connects anew"
    lock = { algorithm = "single", ttl = "10s", transport_retries = 1 }
    nodes = { names = ["A"] }
    clients = [{ name = "c1", program = ["acquire", "release"] }]
"#;
const JOB: &str = r#"
    claim = "a job of a queue"
    lock = { algorithm = "job", ttl = "10s" }
    nodes = { names = ["A"] }
    clients = [{ name = "c1", program = ["acquire", "release"] }]
"#;
const WAITS: &str = r#"
    claim = "a lock that waits"
    lock = { algorithm = "single", ttl = "10s", wake = "list" }
    nodes = { names = ["A"] }
    clients = [{ name = "c1", program = ["acquire", "release"] }]
"#;
const RENEWS: &str = r#"
    claim = "a lock that is renewed"
    lock = { algorithm = "single", ttl = "10s", renew_every = "1/3" }
    nodes = { names = ["A"] }
    clients = [{ name = "c1", program = ["acquire", "release"] }]
"#;
const LIST: &str = r#"
    claim = "a lock with a list"
    lock = { algorithm = "list", ttl = "10s" }
    nodes = { names = ["A"] }
    clients = [{ name = "c1", program = ["acquire", "release"] }]
"#;
const REDLOCK: &str = r#"
    claim = "a lock on three nodes"
    lock = { algorithm = "redlock", ttl = "10s" }
    nodes = { names = ["A", "B", "C"] }
    clients = [{ name = "c1", program = ["acquire", "release"] }]
    [[faults]]
    kind = "cut"
    from = "c1"
    to = "A"
    at = "1s"
    [[faults]]
    kind = "slow"
    from = "c1"
    to = "A"
    by = "1s"
    at = "1s"
    [[faults]]
    kind = "loss"
    from = "c1"
    to = "A"
    probability = "1/2"
    at = "1s"
"#;

const GETSET: &str = r#"
    claim = "a lock that is a time"
    lock = { algorithm = "setnx-getset", ttl = "10s" }
    nodes = { names = ["A"] }
    clients = [{ name = "c1", program = ["acquire", "release"] }]
"#;

const SESSION: &str = r#"
    claim = "a session of ZooKeeper"
    lock = { algorithm = "kazoo", ttl = "10s" }
    nodes = { names = ["zk"] }
    clients = [{ name = "c1", program = ["acquire", "release"] }]
"#;
const LEASE: &str = r#"
    claim = "a lease of etcd"
    lock = { algorithm = "etcd-mutex", ttl = "10s" }
    nodes = { names = ["etcd"] }
    clients = [{ name = "c1", program = ["acquire", "release"] }]
"#;
const LOCKED_ROW: &str = r#"
    claim = "a session of a database"
    lock = { algorithm = "row-lock", ttl = "10s" }
    nodes = { names = ["db"] }
    service = { keepalive_idle = "2h" }
    clients = [{ name = "c1", program = ["acquire", "release"] }]
"#;
const WITH_STANDBY: &str = r#"
    claim = "a database with a standby"
    lock = { algorithm = "row-lock", ttl = "10s" }
    nodes = { names = ["db", "db2"] }
    service = { standby = "db2" }
    clients = [{ name = "c1", program = ["acquire", "release"] }]
"#;

/// Every key that has a default.
const DEFAULTS: &[Absent] = &[
    ("lock.name", SINGLE, "lock.name", "stock"),
    ("lock.elapsed_check", SINGLE, "lock.elapsed_check", "false"),
    ("lock.elapsed_check", REPLICATED, "lock.elapsed_check", "false"),
    ("lock.elapsed_check", REDLOCK, "lock.elapsed_check", "true"),
    ("lock.unchecked_deadline", SINGLE, "lock.unchecked_deadline", "false"),
    ("lock.clock", SINGLE, "lock.clock", "monotonic"),
    ("lock.drift_ratio", SINGLE, "lock.drift_ratio", "1/100"),
    ("lock.drift_constant", SINGLE, "lock.drift_constant", "2ms"),
    ("lock.on_timeout", SINGLE, "lock.on_timeout", "reconnect"),
    ("lock.on_timeout", REDLOCK, "lock.on_timeout", "reconnect"),
    ("lock.release", SINGLE, "lock.release", "compare-and-delete"),
    ("lock.release", REDLOCK, "lock.release", "compare-and-delete"),
    ("lock.extend_if_missing", SINGLE, "lock.extend_if_missing", "false"),
    ("lock.extend_if_missing", REDLOCK, "lock.extend_if_missing", "false"),
    ("lock.request_timeout", SINGLE, "lock.request_timeout", "1s"),
    ("lock.fencing", SINGLE, "lock.fencing", "false"),
    ("lock.release_on_failure", SINGLE, "lock.release_on_failure", "true"),
    ("lock.expiry", SINGLE, "lock.expiry", "px"),
    ("lock.initial_ttl", SINGLE, "lock.initial_ttl", "none"),
    ("lock.token", SINGLE, "lock.token", "attempt"),
    ("lock.token_value", SINGLE, "lock.token_value", "random"),
    ("lock.expiry_clock", SINGLE, "lock.expiry_clock", "node"),
    ("lock.own_token_counts", SINGLE, "lock.own_token_counts", "false"),
    ("lock.extend_by", SINGLE, "lock.extend_by", "compare"),
    ("lock.extend_adds", SINGLE, "lock.extend_adds", "false"),
    ("lock.deadline_from", SINGLE, "lock.deadline_from", "send"),
    ("lock.tells_deadline", SINGLE, "lock.tells_deadline", "true"),
    ("lock.probe", SINGLE, "lock.probe", "none"),
    ("lock.gives_back", GETSET, "lock.gives_back", "unless-over"),
    ("lock.grace", GETSET, "lock.grace", "0s"),
    ("lock.asks_again", GETSET, "lock.asks_again", "false"),
    ("lock.wake", SINGLE, "lock.wake", "none"),
    ("lock.poll", WAITS, "lock.poll", "100ms"),
    ("lock.until_expiry", WAITS, "lock.until_expiry", "true"),
    ("lock.signal_ttl", WAITS, "lock.signal_ttl", "1s"),
    ("lock.wait_clock", WAITS, "lock.wait_clock", "monotonic"),
    ("lock.expiry", LIST, "lock.expiry", "px"),
    ("lock.renew_every", SINGLE, "lock.renew_every", "none"),
    ("lock.renew_every", REDLOCK, "lock.renew_every", "none"),
    ("lock.renew_from", RENEWS, "lock.renew_from", "send"),
    ("lock.renew_stops_on_error", RENEWS, "lock.renew_stops_on_error", "false"),
    ("lock.told_on_loss", RENEWS, "lock.told_on_loss", "none"),
    ("lock.stop_on_release", RENEWS, "lock.stop_on_release", "before"),
    ("lock.members", MULTI, "lock.members", "all"),
    ("lock.lease_from", MULTI, "lock.lease_from", "lease"),
    ("lock.final_expire", MULTI, "lock.final_expire", "checked"),
    ("lock.count_expires", NESTED, "lock.count_expires", "false"),
    ("lock.client_id", THREADS, "lock.client_id", "process"),
    ("lock.local", THREADS, "lock.local", "process"),
    ("lock.script", THREADS, "lock.script", "whole"),
    ("lock.wait", THREADS, "lock.wait", "once"),
    ("lock.poll", THREADS, "lock.poll", "100ms"),
    ("lock.synced", FOLLOWED, "lock.synced", "none"),
    ("lock.release_on_failure", FOLLOWED, "lock.release_on_failure", "false"),
    ("lock.wait_timeout", REPLICATED, "lock.wait_timeout", "1s"),
    ("lock.stalled_check", JOB, "lock.stalled_check", "30s"),
    ("lock.release_on_failure", REDLOCK, "lock.release_on_failure", "true"),
    ("lock.acquire_limit", REDLOCK, "lock.acquire_limit", "none"),
    ("lock.wait_for", REDLOCK, "lock.wait_for", "all"),
    ("lock.tie", REDLOCK, "lock.tie", "refused"),
    ("lock.on_node_error", REDLOCK, "lock.on_node_error", "no-vote"),
    ("lock.expiry", REDLOCK, "lock.expiry", "px"),
    ("lock.retry_least", REDLOCK, "lock.retry_least", "0s"),
    ("lock.release_between_tries", REDLOCK, "lock.release_between_tries", "true"),
    ("lock.release_on_late", REDLOCK, "lock.release_on_late", "true"),
    ("lock.extend_check", REDLOCK, "lock.extend_check", "both"),
    ("lock.transport_retries", SINGLE, "lock.transport_retries", "0"),
    ("lock.reconnect", DRIVEN, "lock.reconnect", "at-once"),
    ("lock.extension_votes", REDLOCK, "lock.extension_votes", "renewed"),
    ("lock.tells_deadline", REDLOCK, "lock.tells_deadline", "true"),
    ("lock.quorum", REDLOCK, "lock.quorum", "majority"),
    ("lock.subset", REDLOCK, "lock.subset", "all"),
    ("lock.order", REDLOCK, "lock.order", "sequential"),
    ("lock.node_timeout", REDLOCK, "lock.node_timeout", "50ms"),
    ("lock.token", REDLOCK, "lock.token", "call"),
    ("lock.tries", REDLOCK, "lock.tries", "3"),
    ("lock.retry_delay", REDLOCK, "lock.retry_delay", "200ms"),
    ("lock.jitter", REDLOCK, "lock.jitter", "true"),
    ("lock.release_on", REDLOCK, "lock.release_on", "all"),
    ("lock.on_failed_extension", REDLOCK, "lock.on_failed_extension", "keep"),
    ("nodes.version", SINGLE, "nodes.version", "'7.0'"),
    ("nodes.persistence", SINGLE, "nodes.persistence", "none"),
    ("nodes.snapshot_interval", SINGLE, "nodes.snapshot_interval", "1h"),
    ("nodes.fsync_time", SINGLE, "nodes.fsync_time", "1ms"),
    ("nodes.command_time", SINGLE, "nodes.command_time", "0s"),
    ("nodes.command_time.others", SINGLE, "nodes.command_time", "{ others = '0s' }"),
    ("nodes.restart_after", SINGLE, "nodes.restart_after", "0s"),
    ("nodes.restart_clock", SINGLE, "nodes.restart_clock", "true-time"),
    ("nodes.min_replicas_to_write", REPLICATED, "nodes.min_replicas_to_write", "0"),
    ("nodes.min_replicas_max_lag", REPLICATED, "nodes.min_replicas_max_lag", "10s"),
    ("nodes.replica_serve_stale_data", REPLICATED, "nodes.replica_serve_stale_data", "true"),
    ("nodes.replica_priority", WATCHED, "nodes.replica_priority", "100"),
    ("nodes.replica_priority.others", WATCHED, "nodes.replica_priority", "{ others = 100 }"),
    ("sentinels.names", WATCHED, "sentinels.names", "['S1', 'S2', 'S3']"),
    ("sentinels.count", WATCHED, "sentinels.count", "3"),
    ("sentinels.quorum", WATCHED, "sentinels.quorum", "2"),
    ("sentinels.down_after", WATCHED, "sentinels.down_after", "30s"),
    ("sentinels.failover_timeout", WATCHED, "sentinels.failover_timeout", "180s"),
    ("sentinels.parallel_syncs", WATCHED, "sentinels.parallel_syncs", "1"),
    ("sentinels.knowledge", WATCHED, "sentinels.knowledge", "all"),
    ("nodes.notify_keyspace_events", SINGLE, "nodes.notify_keyspace_events", ""),
    ("nodes.scripts", SINGLE, "nodes.scripts", "unknown"),
    ("lock.heeds", SESSION, "lock.heeds", "nothing"),
    ("lock.release_says", SESSION, "lock.release_says", "done"),
    ("lock.checks_key", LEASE, "lock.checks_key", "true"),
    ("lock.heeds_loss", LEASE, "lock.heeds_loss", "false"),
    ("service.kind", SESSION, "service.kind", "zookeeper"),
    ("service.tick", SESSION, "service.tick", "2s"),
    ("service.lock_delay", SESSION, "service.lock_delay", "0s"),
    ("service.keepalive_interval", LOCKED_ROW, "service.keepalive_interval", "75s"),
    ("service.keepalive_count", LOCKED_ROW, "service.keepalive_count", "9"),
    ("service.standby_lag", WITH_STANDBY, "service.standby_lag", "0s"),
    ("resource.writes", LOCKED_ROW, "resource.writes", "in-session"),
    ("network.delay", SINGLE, "network.delay", "1ms..5ms"),
    ("network.loss", SINGLE, "network.loss", "0/1"),
    ("network.links", SINGLE, "network.links", "[]"),
    ("network.links.delay", REPLICATED, "network.links.0.delay", "1ms..5ms"),
    ("network.links.loss", REPLICATED, "network.links.0.loss", "0/1"),
    ("clocks.offset", SINGLE, "clocks.c1.offset", "0s"),
    ("clocks.drift", SINGLE, "clocks.c1.drift", "0/1"),
    ("resource.object", SINGLE, "resource.object", "stock"),
    ("resource.fencing", SINGLE, "resource.fencing", "off"),
    ("resource.numbers", SINGLE, "resource.numbers", "lock"),
    ("resource.no_answer", SINGLE, "resource.no_answer", "refuse"),
    ("resource.forgets", SINGLE, "resource.forgets", "false"),
    ("resource.replicas", SINGLE, "resource.replicas", "1"),
    ("resource.write_quorum", COPIES, "resource.write_quorum", "2"),
    ("resource.read_quorum", COPIES, "resource.read_quorum", "2"),
    ("resource.prepare_quorum", COPIES, "resource.prepare_quorum", "2"),
    ("resource.read_repair", COPIES, "resource.read_repair", "false"),
    ("resource.fence_reads", SINGLE, "resource.fence_reads", "false"),
    ("resource.version_check", SINGLE, "resource.version_check", "false"),
    ("clients.rounds", SINGLE, "clients.0.rounds", "1"),
    ("clients.retry", SINGLE, "clients.0.retry", "0ms..200ms"),
    ("clients.give_up_after", SINGLE, "clients.0.give_up_after", "10m"),
    ("clients.on_lost_lock", SINGLE, "clients.0.on_lost_lock", "stop"),
    ("limits.time", SINGLE, "limits.time", "1h"),
    ("limits.events", SINGLE, "limits.events", "1000000"),
    ("limits.memory", SINGLE, "limits.memory", "1GiB"),
    ("limits.after_faults", SINGLE, "limits.after_faults", "false"),
    ("weather.for", WEATHER, "weather.for", "20s"),
    ("weather.swarm", WEATHER, "weather.swarm", "true"),
    ("weather.at_steps", WEATHER, "weather.at_steps", "1/2"),
    ("weather.claims", WEATHER, "weather.claims", "search"),
    ("weather.faults.sign", WEATHER, "weather.faults.0.sign", "either"),
    ("weather.faults.clock", WEATHER, "weather.faults.1.clock", "wall"),
    ("weather.faults.both_ways", WEATHER, "weather.faults.2.both_ways", "false"),
    ("weather.faults.either_way", WEATHER, "weather.faults.2.either_way", "false"),
    ("weather.faults.torn_tail", WEATHER, "weather.faults.3.torn_tail", "false"),
    ("weather.faults.rewrite_config", WEATHER, "weather.faults.4.rewrite_config", "true"),
    ("weather.faults.volatile_only", WEATHER, "weather.faults.5.volatile_only", "true"),
    ("weather.faults.brings.rewrite_config", WEATHER, "weather.faults.6.brings.rewrite_config", "true"),
    ("faults.each", SINGLE, "faults.0.each", "false"),
    ("faults.optional", SINGLE, "faults.0.optional", "false"),
    ("faults.power-loss.torn_tail", SINGLE, "faults.0.torn_tail", "false"),
    ("faults.evict.volatile_only", SINGLE, "faults.1.volatile_only", "true"),
    ("faults.promote.tell", REPLICATED, "faults.0.tell", "['M', 'R2']"),
    ("faults.promote.rewrite_config", REPLICATED, "faults.0.rewrite_config", "true"),
    ("faults.follow.rewrite_config", REPLICATED, "faults.1.rewrite_config", "true"),
    ("faults.cut.both_ways", REDLOCK, "faults.0.both_ways", "false"),
    ("faults.slow.both_ways", REDLOCK, "faults.1.both_ways", "false"),
    ("faults.loss.both_ways", REDLOCK, "faults.2.both_ways", "false"),
];

/// Keys without a default: what a file has to say, and what there is not where nothing is said.
const WITHOUT: &[&str] = &[
    "id",
    "seed",
    "claim",
    "source",
    "story",
    "expect",
    "lock",
    "nodes",
    "network",
    "clocks",
    "resource",
    "clients",
    "faults",
    "sentinels",
    "sentinels.discovery",
    "service",
    "service.idle_in_transaction_timeout",
    "service.idle_session_timeout",
    "service.keepalive_idle",
    "service.standby",
    "weather",
    "limits",
    "variants",
    "lock.algorithm",
    "lock.ttl",
    "lock.wait_replicas",
    // The defaults of the lock itself.
    "lock.driver",
    // A part of the first command.
    "lock.connect_timeout",
    // A lease is renewed for as long as the process lives.
    "lock.renew_cap",
    "nodes.names",
    "nodes.master",
    "network.links.from",
    "network.links.to",
    "clients.name",
    "clients.process",
    "clients.program",
    "clients.start",
    "clients.ttl",
    "limits.obtain_within",
    "limits.obtain_free_within",
    "faults.kind",
    "faults.at",
    "weather.preset",
    "weather.without",
    "weather.faults",
    "weather.faults.kind",
    "weather.faults.host",
    "weather.faults.from",
    "weather.faults.to",
    "weather.faults.every",
    "weather.faults.for",
    "weather.faults.by",
    "weather.faults.after",
    // A machine that is suspended knows of it.
    "weather.faults.resync",
    "weather.faults.probability",
    // All others are told, whoever that is.
    "weather.faults.tell",
    "weather.faults.source",
    "weather.faults.brings",
    "weather.faults.brings.kind",
    "weather.faults.brings.host",
    "weather.faults.brings.after",
    "weather.faults.brings.tell",
    "law.median",
    "law.sigma",
];

/// What a fault has to say, or what it does not do where nothing is said.
const OF_FAULTS: [&str; 10] =
    ["host", "for", "resync", "by", "after", "clock", "from", "to", "probability", "master"];

#[test]
fn a_default_that_is_written_changes_nothing() {
    for (key, base, path, value) in DEFAULTS {
        let meant = |sets: &[(&str, &str)]| {
            let mut scenario = read(base, sets).unwrap_or_else(|error| panic!("{key}: {error}"));
            // Whom to tell is one thing and whether that was written down another; what is done is the same.
            let cast = scenario.cast();
            let planned: Vec<_> =
                scenario.faults.drain(..).map(|fault| fault.to_planned(&cast).unwrap()).collect();
            // What was set differs.
            scenario.sets.clear();
            (scenario, planned)
        };
        assert_eq!(meant(&[]), meant(&[(path, value)]), "`{key}` is not {value} where nothing is said");
    }
}

#[test]
fn every_key_has_a_default_or_is_known_to_have_none() {
    for key in vocabulary().into_iter().filter(|key| key.word.is_none()) {
        let path = key.path.as_str();
        let of_a_fault = path.starts_with("faults.") && path.matches('.').count() == 2;
        let none = WITHOUT.contains(&path)
            || ["expect.", "variants."].iter().any(|table| path.starts_with(table))
            || of_a_fault && path.rsplit('.').next().is_some_and(|name| OF_FAULTS.contains(&name));
        let default = DEFAULTS.iter().any(|(known, ..)| *known == path);
        assert!(none != default, "`{path}`: say what it means where it is absent");
    }
}
