//! What a scenario says of a node, as a node is told it.

use doublehold_sim_redis::core::{CoreConfig, KeyEvents, Version};
use doublehold_sim_redis::{NodeConfig, Persistence as NodePersistence};

use super::engine::env::REDIS_PORT;
use crate::model::scenario::{HostIndex, NodeVersion, Persistence, Scenario};

impl Scenario {
    /// The settings of a node, which listens on the port of simulated nodes. The scripts that it knows from the start
    /// are the lock's to say.
    pub fn node_config(&self, index: HostIndex) -> NodeConfig {
        let persistence = match self.nodes.persistence {
            Persistence::None => NodePersistence::None,
            Persistence::Everysec => NodePersistence::AofEverysec,
            Persistence::Always => NodePersistence::AofAlways,
            Persistence::Rdb => NodePersistence::Rdb,
        };
        let version = match self.nodes.version {
            NodeVersion::V7_0 => Version::V7_0,
            NodeVersion::V8_4 => Version::V8_4,
        };
        let name = |host: HostIndex| self.hosts[host.0].name.clone();
        let seconds = self.nodes.min_replicas_max_lag.as_secs();
        let core = CoreConfig {
            version,
            port: REDIS_PORT,
            config_file: true,
            key_events: KeyEvents::parse(self.nodes.key_events.as_bytes()).unwrap_or_default(),
            min_replicas_to_write: self.nodes.min_replicas_to_write,
            min_replicas_max_lag: u32::try_from(seconds).unwrap_or(u32::MAX),
            replica_priority: *self.nodes.replica_priority.of(index),
            replica_serve_stale_data: self.nodes.replica_serve_stale_data,
            ..CoreConfig::default()
        };
        let master = self.nodes.master.filter(|master| *master != index);
        NodeConfig {
            core,
            persistence,
            snapshot_interval: self.nodes.snapshot_interval,
            replica_of: master.map(|master| (name(master), REDIS_PORT)),
            // Sentinels learn of replicas by the addresses that their master lists, and hosts have names here.
            announced_address: self.sentinels.as_ref().map(|_| name(index)),
            ..NodeConfig::default()
        }
    }
}
