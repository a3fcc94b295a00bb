//! INFO: the fields that clients and operators read. What a simulated process does not have (an allocator) is left out;
//! of processor time it takes none.

use std::fmt::Write as _;

use crate::core::state::Calls;
use crate::core::subscriptions::Topic;
use crate::core::{Core, LinkState, Role, WallMicros};

/// The text for `sections` (lower case); none: all.
pub(super) fn text(core: &Core, now: WallMicros, sections: &[Vec<u8>]) -> String {
    let mut text = String::new();
    for (name, is_default, write) in SECTIONS {
        let is_wanted = |section: &Vec<u8>| match section.as_slice() {
            b"all" | b"everything" => true,
            b"default" => is_default,
            section => section == name.to_ascii_lowercase().as_bytes(),
        };
        if sections.is_empty() && is_default || sections.iter().any(is_wanted) {
            if !text.is_empty() {
                text.push_str("\r\n");
            }
            text.push_str(&format!("# {name}\r\n"));
            write(core, now, &mut text).expect("a String takes every text");
        }
    }
    text
}

type Section = fn(&Core, WallMicros, &mut String) -> std::fmt::Result;

/// Names, and whether they are among those that are shown to who names none.
const SECTIONS: [(&str, bool, Section); 11] = [
    ("Server", true, server),
    ("Clients", true, clients),
    ("Memory", true, memory),
    ("Persistence", true, persistence),
    ("Stats", true, stats),
    ("Replication", true, replication),
    ("CPU", true, cpu),
    ("Commandstats", false, command_stats),
    ("Errorstats", true, error_stats),
    ("Cluster", true, cluster),
    ("Keyspace", true, keyspace),
];

fn server(core: &Core, now: WallMicros, text: &mut String) -> std::fmt::Result {
    let up = core.stats.started_at.map_or(0, |started| now.0.saturating_sub(started.0).max(0) / 1_000_000);
    write!(
        text,
        "redis_version:{}\r\nredis_mode:standalone\r\narch_bits:64\r\n",
        core.config.version.full()
    )?;
    if let (server @ "valkey", version) = core.config.version.server() {
        write!(text, "server_name:{server}\r\n{server}_version:{version}\r\n")?;
    }
    write!(text, "run_id:{}\r\ntcp_port:{}\r\nuptime_in_seconds:{up}\r\n", core.run_id, core.config.port)
}

fn clients(core: &Core, _now: WallMicros, text: &mut String) -> std::fmt::Result {
    write!(text, "connected_clients:{}\r\n", core.stats.connected)?;
    write!(text, "maxclients:{}\r\n", core.config.limits.max_clients)?;
    let [tracking, ..] = core.tracking.counts();
    write!(
        text,
        "blocked_clients:{}\r\ntracking_clients:{tracking}\r\n",
        core.count_postponed() + core.blocked.len()
    )
}

fn memory(core: &Core, _now: WallMicros, text: &mut String) -> std::fmt::Result {
    write!(text, "used_memory:{}\r\nmaxmemory:{}\r\n", core.used_memory(), core.config.limits.max_memory)?;
    write!(text, "number_of_cached_scripts:{}\r\n", core.scripts.len())
}

fn persistence(core: &Core, _now: WallMicros, text: &mut String) -> std::fmt::Result {
    write!(
        text,
        "loading:0\r\nasync_loading:0\r\nrdb_bgsave_in_progress:0\r\nrdb_last_bgsave_status:ok\r\n"
    )?;
    write!(text, "aof_enabled:{}\r\naof_last_write_status:ok\r\n", u8::from(core.config.append_only))
}

fn stats(core: &Core, _now: WallMicros, text: &mut String) -> std::fmt::Result {
    let stats = &core.stats;
    write!(text, "total_connections_received:{}\r\n", stats.connections)?;
    write!(text, "rejected_connections:{}\r\n", stats.rejected)?;
    write!(text, "total_commands_processed:{}\r\nexpired_keys:{}\r\n", stats.commands, stats.expired)?;
    write!(text, "evicted_keys:{}\r\n", stats.evicted)?;
    let names = |topic| core.subscriptions.names(topic).len();
    let (channels, patterns) = (names(Topic::Channel), names(Topic::Pattern));
    write!(text, "pubsub_channels:{channels}\r\npubsub_patterns:{patterns}\r\n")?;
    write!(text, "pubsubshard_channels:{}\r\n", names(Topic::ShardChannel))?;
    write!(text, "keyspace_hits:{}\r\nkeyspace_misses:{}\r\n", stats.hits, stats.misses)?;
    let [_, keys, items, prefixes] = core.tracking.counts();
    write!(text, "tracking_total_keys:{keys}\r\ntracking_total_items:{items}\r\n")?;
    write!(text, "tracking_total_prefixes:{prefixes}\r\n")?;
    write!(text, "total_error_replies:{}\r\n", stats.counts.all_errors())
}

fn cpu(_core: &Core, _now: WallMicros, text: &mut String) -> std::fmt::Result {
    let fields = ["sys", "user", "sys_children", "user_children", "sys_main_thread", "user_main_thread"];
    fields.iter().try_for_each(|field| write!(text, "used_cpu_{field}:0.000000\r\n"))
}

fn command_stats(core: &Core, _now: WallMicros, text: &mut String) -> std::fmt::Result {
    for (name, Calls { calls, rejected, failed }) in core.stats.counts.commands() {
        write!(text, "cmdstat_{name}:calls={calls},usec=0,usec_per_call=0.00,")?;
        write!(text, "rejected_calls={rejected},failed_calls={failed}\r\n")?;
    }
    Ok(())
}

fn error_stats(core: &Core, _now: WallMicros, text: &mut String) -> std::fmt::Result {
    for (code, count) in core.stats.counts.errors() {
        // Whoever throws an error in a script can put anything into its code.
        let code: String = String::from_utf8_lossy(code).replace([':', '\r', '\n'], "_");
        write!(text, "errorstat_{code}:count={count}\r\n")?;
    }
    Ok(())
}

fn replication(core: &Core, now: WallMicros, text: &mut String) -> std::fmt::Result {
    let replication = &core.replication;
    match &replication.role {
        Role::Master => write!(text, "role:master\r\n")?,
        Role::Replica { host, port, link } => {
            let status = if *link == LinkState::Connected { "up" } else { "down" };
            write!(
                text,
                "role:slave\r\nmaster_host:{host}\r\nmaster_port:{port}\r\nmaster_link_status:{status}\r\n"
            )?;
            write!(text, "master_sync_in_progress:{}\r\n", u8::from(*link == LinkState::Sync))?;
            write!(text, "slave_read_repl_offset:{0}\r\nslave_repl_offset:{0}\r\n", replication.offset)?;
            if *link != LinkState::Connected {
                let down = replication.link_down_since.map(|since| now.0.saturating_sub(since.0) / 1_000_000);
                write!(text, "master_link_down_since_seconds:{}\r\n", down.unwrap_or(-1))?;
            }
            write!(text, "slave_priority:{}\r\nslave_read_only:1\r\n", core.config.replica_priority)?;
            write!(text, "replica_announced:1\r\n")?;
        }
    }
    write!(text, "connected_slaves:{}\r\n", replication.replicas.len())?;
    if core.config.min_replicas_to_write > 0 {
        write!(text, "min_slaves_good_slaves:{}\r\n", replication.good_replicas)?;
    }
    for (index, replica) in replication.replicas.iter().enumerate() {
        let state = if replica.online { "online" } else { "wait_bgsave" };
        let (ip, port, acked, lag) = (&replica.ip, replica.port, replica.acked, replica.lag.as_secs());
        write!(text, "slave{index}:ip={ip},port={port},state={state},offset={acked},lag={lag}\r\n")?;
    }
    let second = replication.second_id.unwrap_or_default();
    write!(
        text,
        "master_failover_state:no-failover\r\nmaster_replid:{}\r\nmaster_replid2:{second}\r\n",
        replication.id
    )?;
    write!(text, "master_repl_offset:{}\r\n", replication.offset)?;
    write!(text, "second_repl_offset:{}\r\n", replication.second_offset)?;
    write!(text, "repl_backlog_active:{}\r\n", u8::from(replication.counting))?;
    write!(text, "repl_backlog_size:{}\r\n", replication.backlog_size)?;
    write!(text, "repl_backlog_first_byte_offset:{}\r\n", replication.backlog_first)?;
    write!(text, "repl_backlog_histlen:{}\r\n", replication.backlog_len)
}

fn cluster(_core: &Core, _now: WallMicros, text: &mut String) -> std::fmt::Result {
    write!(text, "cluster_enabled:0\r\n")
}

fn keyspace(core: &Core, _now: WallMicros, text: &mut String) -> std::fmt::Result {
    for (number, database) in core.databases.iter().enumerate().filter(|(_, database)| database.len() > 0) {
        write!(text, "db{number}:keys={},expires={},avg_ttl=0\r\n", database.len(), database.volatile())?;
    }
    Ok(())
}
