//! Commands of Redis Cluster, answered as by a Redis with `cluster-enabled no`: a client learns from the error that the
//! node is not a part of a cluster. Names, arities and flags are those of Redis 7.0.15.
//!
//! Not modelled: clusters themselves. No argument is looked at, only how many there are, as in Redis.

use super::table::subcommand;
use crate::core::Next;
use crate::core::command::{ADMIN, CommandSpec, LOADING_OK, NO_ASYNC_LOADING, NO_SCRIPT, STALE_OK};
use crate::core::context::Context;
use crate::resp::{Args, reply};

/// ASKING, READONLY, READWRITE, and every subcommand of CLUSTER.
pub(crate) fn refuse(_ctx: &mut Context<'_>, _args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    reply::error(out, b"ERR This instance has cluster support disabled");
    Next::Reply
}

const fn asks(names: [&'static str; 2], arity: i32, more: u32) -> CommandSpec {
    subcommand("CLUSTER", names, arity, STALE_OK | more, refuse)
}

const fn changes(names: [&'static str; 2], arity: i32) -> CommandSpec {
    asks(names, arity, ADMIN | NO_ASYNC_LOADING)
}

/// Sorted by name.
pub(super) static CLUSTER: &[CommandSpec] = &[
    changes(["ADDSLOTS", "cluster|addslots"], -3),
    changes(["ADDSLOTSRANGE", "cluster|addslotsrange"], -4),
    changes(["BUMPEPOCH", "cluster|bumpepoch"], 2),
    asks(["COUNT-FAILURE-REPORTS", "cluster|count-failure-reports"], 3, ADMIN),
    asks(["COUNTKEYSINSLOT", "cluster|countkeysinslot"], 3, 0),
    changes(["DELSLOTS", "cluster|delslots"], -3),
    changes(["DELSLOTSRANGE", "cluster|delslotsrange"], -4),
    changes(["FAILOVER", "cluster|failover"], -2),
    changes(["FLUSHSLOTS", "cluster|flushslots"], 2),
    changes(["FORGET", "cluster|forget"], 3),
    asks(["GETKEYSINSLOT", "cluster|getkeysinslot"], 4, 0),
    asks(["HELP", "cluster|help"], 2, LOADING_OK),
    asks(["INFO", "cluster|info"], 2, 0),
    asks(["KEYSLOT", "cluster|keyslot"], 3, 0),
    asks(["LINKS", "cluster|links"], 2, 0),
    changes(["MEET", "cluster|meet"], -4),
    asks(["MYID", "cluster|myid"], 2, 0),
    asks(["NODES", "cluster|nodes"], 2, 0),
    asks(["REPLICAS", "cluster|replicas"], 3, ADMIN),
    changes(["REPLICATE", "cluster|replicate"], 3),
    asks(["RESET", "cluster|reset"], -2, ADMIN | NO_SCRIPT),
    changes(["SAVECONFIG", "cluster|saveconfig"], 2),
    changes(["SET-CONFIG-EPOCH", "cluster|set-config-epoch"], 3),
    changes(["SETSLOT", "cluster|setslot"], -4),
    asks(["SHARDS", "cluster|shards"], 2, 0),
    asks(["SLAVES", "cluster|slaves"], 3, ADMIN),
    asks(["SLOTS", "cluster|slots"], 2, 0),
];
