//! ZooKeeper, etcd and a database in place of Redis nodes, for a lock of your own that runs on one of them.
//!
//! [`World::service`](crate::check::World::service) puts the service into a world. The function that takes the lock is
//! given a client of it ([`Existing::on_service`](crate::check::Existing::on_service)), and the guard of the lock is a
//! `Guard<ServiceError>`. All else is as on Redis: clients, faults, weather, `check`, `beside` and properties. The
//! rules of each service are in docs/services.md, and each client has the calls that a lock needs, named as the real
//! ones:
//!
//! | client | stands for | tells of a loss by |
//! |---|---|---|
//! | [`EtcdClient`] | etcd's v3 API | [`LeaseKeeper::is_over`], if a lease is [kept](EtcdClient::keep) |
//! | [`ZooKeeperClient`] | kazoo's client, with the lock's `ttl` as its timeout | [`ZooKeeperClient::state`] |
//! | [`DatabaseClient`] | a driver with one [session](DataSession) | the next statement |
//!
//! Everything that a run tells about a loss it tells of a lock of your own as well: the first two clients report it,
//! and for a watchdog of your own there is `Client::notice_loss`.
//!
//! ```
//! use doublehold::check::{Client, Existing, Fault, Guard, Predicate, Wanted, World, check};
//! use doublehold::services::{DataSession, DatabaseClient, DatabaseRules, ServiceError};
//!
//! /// A row that is locked in a transaction. The holder writes in it, too.
//! struct Row(DataSession, String);
//!
//! impl Guard<ServiceError> for Row {
//!     fn token(&self) -> Vec<u8> {
//!         self.1.clone().into()
//!     }
//!     fn session(&self) -> Option<DataSession> {
//!         Some(self.0.clone())
//!     }
//!     async fn release(self) -> Result<bool, ServiceError> {
//!         Ok(self.0.commit().await.is_ok())
//!     }
//! }
//!
//! let lock_row = async |database: DatabaseClient, client: Client, wanted: Wanted| {
//!     let (session, token) = (database.session().await?, client.token());
//!     session.begin().await?;
//!     session.select_for_update(&wanted.resource, token.clone()).await?;
//!     Ok(Some(Row(session, token)))
//! };
//! let idle = DatabaseRules { idle_in_transaction: Some(std::time::Duration::from_secs(5)), ..Default::default() };
//! let world = World::new("c1 stops in its transaction")
//!     .service(idle)
//!     .clients(2, ["acquire", "read", "work 4s", "write", "release"])
//!     .fault(Fault::pause("c1").lasting(std::time::Duration::from_secs(20)));
//! let checked = check(&world, Existing::on_service("rows", lock_row)).seeds(1..=20).no_files().run()?;
//! checked.assert_holds(&[Predicate::P3, Predicate::P4]);
//! # Ok::<(), doublehold::check::CheckError>(())
//! ```
//!
//! Not here: clients of several services in one world, and of Redis beside one.

pub use doublehold_lockimpl::{
    CreateMode, CreatedNode, DataSession, EtcdError, KeyValue, LeaseId, LeaseKeeper, Op, OpResult,
    ServiceClient, ServiceError, ServiceKind, SessionEnded, SessionState, Transacted, ZooKeeperError,
};
use doublehold_scenarios::SimEnv;
pub use doublehold_scenarios::model::service::ServiceSetup;
pub use doublehold_services::Keepalive;
pub use doublehold_services::database::DatabaseRules;
pub use doublehold_services::zookeeper::ZooKeeperRules;

/// A client of etcd in the simulated world.
pub type EtcdClient = doublehold_lockimpl::EtcdClient<SimEnv>;

/// A client of ZooKeeper in the simulated world.
pub type ZooKeeperClient = doublehold_lockimpl::ZooKeeperClient<SimEnv>;

/// A client of a database in the simulated world.
pub type DatabaseClient = doublehold_lockimpl::DatabaseClient<SimEnv>;
