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

/// The service as it is where nobody sets anything.
impl From<ServiceKind> for ServiceSetup {
    fn from(kind: ServiceKind) -> ServiceSetup {
        match kind {
            ServiceKind::ZooKeeper => ZooKeeperRules::default().into(),
            ServiceKind::Etcd => ServiceSetup::Etcd,
            ServiceKind::Database => DatabaseRules::default().into(),
        }
    }
}

impl From<ZooKeeperRules> for ServiceSetup {
    fn from(rules: ZooKeeperRules) -> ServiceSetup {
        ServiceSetup::ZooKeeper(rules)
    }
}

impl From<DatabaseRules> for ServiceSetup {
    fn from(rules: DatabaseRules) -> ServiceSetup {
        ServiceSetup::Database(DatabaseSetup { rules, standby: None })
    }
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
