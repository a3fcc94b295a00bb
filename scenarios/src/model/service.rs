//! The service that locks use in place of Redis nodes.

use std::time::Duration;

use doublehold_services::ServiceKind;
use doublehold_services::database::DatabaseRules;
use doublehold_services::zookeeper::ZooKeeperRules;

use super::host::HostIndex;

/// A service with its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceSetup {
    /// ZooKeeper.
    ZooKeeper(ZooKeeperRules),
    /// etcd.
    Etcd,
    /// A database.
    Database(DatabaseSetup),
}

/// A database with its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatabaseSetup {
    /// The settings of each of its hosts.
    pub rules: DatabaseRules,
    /// The standby, if it has one: then the other node is the primary.
    pub standby: Option<StandbySetup>,
}

/// The asynchronous standby of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StandbySetup {
    /// Its host: one of the nodes.
    pub host: HostIndex,
    /// The time from a commit until the primary sends it.
    pub lag: Duration,
}

impl ServiceSetup {
    /// Its kind.
    pub fn kind(&self) -> ServiceKind {
        match self {
            ServiceSetup::ZooKeeper(_) => ServiceKind::ZooKeeper,
            ServiceSetup::Etcd => ServiceKind::Etcd,
            ServiceSetup::Database(_) => ServiceKind::Database,
        }
    }

    /// Its standby, if it is a database that has one.
    pub fn standby(&self) -> Option<StandbySetup> {
        match self {
            ServiceSetup::Database(setup) => setup.standby,
            ServiceSetup::ZooKeeper(_) | ServiceSetup::Etcd => None,
        }
    }
}
