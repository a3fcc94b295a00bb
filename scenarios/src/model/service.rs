//! The service that locks use in place of Redis nodes.

use doublehold_services::ServiceKind;
use doublehold_services::database::DatabaseRules;
use doublehold_services::zookeeper::ZooKeeperRules;

/// A service with its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceSetup {
    /// ZooKeeper.
    ZooKeeper(ZooKeeperRules),
    /// etcd.
    Etcd,
    /// A database.
    Database(DatabaseRules),
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
}
