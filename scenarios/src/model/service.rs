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
        ServiceSetup::Database(rules)
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
}
