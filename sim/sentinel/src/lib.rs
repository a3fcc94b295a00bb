//! A Redis 7 Sentinel: it watches a master and its replicas, agrees with other Sentinels that the master is down,
//! promotes a replica, and tells clients where the master is.
//!
//! Reading order: [`SentinelConfig`]; `sentinel` (the state and the order of a tick), `monitor` (is an instance up?),
//! `election` (do others agree, and who leads?), `failover` (the steps of one), `info` and `hello` (what nodes and
//! other Sentinels tell), `commands` (what is asked of a Sentinel), then the [process](SentinelProcess) around the
//! state machine, on any [`Machine`](doublehold_sim_redis::Machine), and `tilt` (is its clock to be trusted?).
//!
//! The times between the steps of a failover come from this machine and from nothing else: from PINGs that are not
//! answered, from a timer that looks ten to nineteen times a second, and from INFO, which is asked for every ten
//! seconds and every second while a failover is under way.
//!
//! Decision: "Sentinels are hosts, and decide failovers themselves" (docs/decisions/redis.md).

mod commands;
mod config;
mod election;
mod failover;
mod file;
mod hello;
mod info;
mod instance;
mod monitor;
mod on_sim;
mod process;
mod receive;
mod reply;
mod sentinel;
mod tilt;
mod time;
mod wires;

pub use config::{Address, SENTINEL_PORT, SentinelConfig};
pub use on_sim::run_on_host;
pub use process::{Listener, SentinelProcess};
pub use sentinel::SentinelEvent;
