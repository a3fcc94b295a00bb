//! The subcommands of CLIENT: names, arities and flags as Redis 7.0.15 has them, and what each runs.

use super::table::subcommand;
use super::{blocking, clients, connection, help, pause, tracking};
use crate::core::command::{ADMIN, CommandSpec, LOADING_OK, NO_SCRIPT, STALE_OK};

/// Sorted by name.
pub(super) static CLIENT: &[CommandSpec] = &[
    subcommand(
        "CLIENT",
        ["CACHING", "client|caching"],
        3,
        NO_SCRIPT | LOADING_OK | STALE_OK,
        tracking::client_caching,
    ),
    subcommand(
        "CLIENT",
        ["GETNAME", "client|getname"],
        2,
        NO_SCRIPT | LOADING_OK | STALE_OK,
        connection::client_getname,
    ),
    subcommand(
        "CLIENT",
        ["GETREDIR", "client|getredir"],
        2,
        NO_SCRIPT | LOADING_OK | STALE_OK,
        tracking::client_getredir,
    ),
    subcommand("CLIENT", ["HELP", "client|help"], 2, LOADING_OK | STALE_OK, help::client_help),
    subcommand("CLIENT", ["ID", "client|id"], 2, NO_SCRIPT | LOADING_OK | STALE_OK, connection::client_id),
    subcommand("CLIENT", ["INFO", "client|info"], 2, NO_SCRIPT | LOADING_OK | STALE_OK, clients::client_info),
    subcommand(
        "CLIENT",
        ["KILL", "client|kill"],
        -3,
        ADMIN | NO_SCRIPT | LOADING_OK | STALE_OK,
        clients::client_kill,
    ),
    subcommand(
        "CLIENT",
        ["LIST", "client|list"],
        -2,
        ADMIN | NO_SCRIPT | LOADING_OK | STALE_OK,
        clients::client_list,
    ),
    subcommand(
        "CLIENT",
        ["NO-EVICT", "client|no-evict"],
        3,
        ADMIN | NO_SCRIPT | LOADING_OK | STALE_OK,
        connection::client_no_evict,
    ),
    subcommand(
        "CLIENT",
        ["PAUSE", "client|pause"],
        -3,
        ADMIN | NO_SCRIPT | LOADING_OK | STALE_OK,
        pause::client_pause,
    ),
    subcommand(
        "CLIENT",
        ["REPLY", "client|reply"],
        3,
        NO_SCRIPT | LOADING_OK | STALE_OK,
        connection::client_reply,
    ),
    subcommand(
        "CLIENT",
        ["SETNAME", "client|setname"],
        3,
        NO_SCRIPT | LOADING_OK | STALE_OK,
        connection::client_setname,
    ),
    subcommand(
        "CLIENT",
        ["TRACKING", "client|tracking"],
        -3,
        NO_SCRIPT | LOADING_OK | STALE_OK,
        tracking::client_tracking,
    ),
    subcommand(
        "CLIENT",
        ["TRACKINGINFO", "client|trackinginfo"],
        2,
        NO_SCRIPT | LOADING_OK | STALE_OK,
        tracking::client_trackinginfo,
    ),
    subcommand(
        "CLIENT",
        ["UNBLOCK", "client|unblock"],
        -3,
        ADMIN | NO_SCRIPT | LOADING_OK | STALE_OK,
        blocking::client_unblock,
    ),
    subcommand(
        "CLIENT",
        ["UNPAUSE", "client|unpause"],
        2,
        ADMIN | NO_SCRIPT | LOADING_OK | STALE_OK,
        pause::client_unpause,
    ),
];
