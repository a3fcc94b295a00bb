//! Redis locks as plain async Rust: on a single node, on a replicated master, and Redlock, each with
//! the switches that the debate about them turns on, and each as published by default; and the locks
//! that came before them, which articles still teach, each with its flaw.
//!
//! The same code runs on real machines and in a simulated world. It reaches time, randomness and the
//! network only through [`Env`], and talks to nodes through redis-rs.
//!
//! In reading order:
//!
//! | folder | what it holds |
//! |---|---|
//! | `lock` | [`Lock`] and what its calls come to: yes, no, or a reply was lost |
//! | `env` | [`Env`]: what a lock needs from its machine: three clocks, chance, tasks, connections |
//! | `config` | [`Switches`] and [`Descriptor`]: what a lock may be told by name, and what is known of it unbuilt |
//! | `registry` | [`Registry`]: any lock by its name |
//! | `connection` | what is said to one node, and the way to it |
//! | `parts` | what several locks are made of: timing, tokens, ballots, waiting, the watchdog |
//! | `locks` | the algorithms, a file each |
//! | `profiles` | [`Profile`]: a library as one of them with fixed switches, a file each |
//! | `adapter` | [`Existing`]: lock code that exists already, over redis-rs' own connection |
//!
//! ```no_run
//! # #[cfg(feature = "tokio")]
//! # async fn take_it() -> Result<(), doublehold_lockimpl::ConfigError> {
//! use doublehold_lockimpl::{Acquired, Lock, NodeName, Registry, Switches, TokioEnv};
//! use std::time::Duration;
//!
//! let nodes = (7000..7005).map(|port| NodeName::new(&format!("redis://127.0.0.1:{port}"))).collect();
//! let mut lock = Registry::builtin().build("redlock", TokioEnv::new(), nodes, &Switches::new())?;
//! if let Acquired::Granted(grant) = lock.acquire("stock", Duration::from_secs(10)).await {
//!     // Work here, until `grant.deadline` and no longer.
//!     lock.release(&grant).await;
//! }
//! # Ok(())
//! # }
//! ```
//!
//! What no lock here does: admit its holder again, or keep waiters in line.

mod adapter;
mod builtin;
mod config;
mod connection;
mod env;
mod lock;
mod locks;
mod parts;
mod profiles;
mod registry;
mod services;
#[cfg(test)]
mod tests;

pub use adapter::{
    Acquiring, CallError, Client, Existing, Guard, MakesState, NoState, ServiceAcquiring, ServiceClient,
    StateMaker, Wanted,
};
pub use builtin::descriptors;
pub use config::{
    Choice, Descriptor, DriverDefaults, Facts, Flaw, Form, Kind, LockConfig, MasterDiscovery, Most, Newest,
    Nodes, Profile, Ratio, Remedy, RenewEvery, Sends, Switch, SwitchError, Switches, Unfit, Value,
};
pub use connection::link::OnTimeout;
pub use connection::request::ReleaseMethod;
pub use connection::transport::{Reconnect, Transport};
pub use doublehold_services::ServiceKind;
pub use doublehold_services::etcd::{EtcdError, KeyValue, LeaseId, Op, OpResult};
pub use doublehold_services::zookeeper::ZooKeeperError;
#[cfg(feature = "tokio")]
pub use env::TokioEnv;
pub use env::{
    BootTime, CONNECT_LIMIT, Clock, Deadline, DeadlinePassed, Env, MasterGroup, MonotonicTime, NodeName,
    ProcessState, Push, Pushes, RESPONSE_LIMIT, RedisRs, Task, WallTime, connection_config, connection_info,
    default_config, listening_config, listening_info,
};
pub use lock::{
    Acquired, Doubt, ErrorReply, Extended, Grant, Lock, Refusal, Released, Token, TooFewReplicas, Watch,
};
pub use locks::redlock::{
    Expiry, ExtendCheck, ExtensionVotes, OnFailedExtension, OnNodeError, Order, Quorum, RedlockConfig,
    RedlockLock, ReleaseOn, Retry, Subset, Tie, WaitFor,
};
pub use locks::replicated::{ReplicatedConfig, ReplicatedLock};
pub use locks::script_meanings::script_meaning;
pub use locks::single::{
    DeadlineFrom, ExpiryClock, ExtendBy, Probe, Quirks, ReplicaWait, SingleConfig, SingleLock,
};
pub use parts::timing::{Drift, Timing};
pub use parts::tokens::{TokenScope, TokenSource};
pub use parts::waiting::{WaitClock, Waiting, Wake};
pub use parts::watchdog::{RenewFrom, Renewal, StopOnRelease, ToldOnLoss};
pub use registry::{BoxLock, ConfigError, LockKind, ProfileKind, Registry};
pub use services::calls::{CreateMode, CreatedNode, DatabaseClient, LeaseKeeper, ServiceError, Transacted};
pub use services::database::{DataSession, SessionEnded};
pub use services::etcd::EtcdClient;
pub use services::zookeeper::{SessionState, ZooKeeperClient};
