//! What is served, and within which limits.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use doublehold_scenarios::Scenario;
use doublehold_sim_redis::Persistence;
use doublehold_sim_redis::core::{Limits, OutputLimit, Version};

use super::layout::Layout;

const MB: u64 = 1 << 20;

/// What is served.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// The servers, and their ports.
    pub(crate) layout: Layout,
    /// The address on which each server listens.
    pub(crate) listen: IpAddr,
    /// What each server can be made to hold.
    pub(crate) limits: Limits,
    /// What else is said of the nodes, and which faults strike them.
    pub(crate) scenario: Option<Arc<Scenario>>,
    /// Which Redis the nodes are.
    pub(crate) version: Version,
    /// Whether nodes keep their data in files, for a process that begins again. The files are in memory.
    pub(crate) persistence: Persistence,
    /// Whether REPLICAOF may name another machine.
    pub(crate) remote_masters: bool,
    /// Where each server has a folder, named as its port, for its configuration file.
    pub(crate) config_dir: Option<PathBuf>,
}

/// Limits under which strangers cannot exhaust this machine: Redis', and where Redis has none, some that no lock meets.
#[must_use]
pub(crate) fn limits() -> Limits {
    Limits {
        max_memory: 256 * MB,
        max_memory_clients: 256 * MB,
        output: OutputLimit { hard: 128 * MB, soft: 32 * MB, soft_time: Duration::from_secs(60) },
        ..Limits::default()
    }
}
