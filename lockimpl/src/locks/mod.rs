//! The locks of this crate. Each is a file that exports its kind; a new one is declared and listed here, and nowhere
//! else.
//!
//! In reading order:
//!
//! | file | the lock |
//! |---|---|
//! | `single`, `replicated`, `redlock` | those of the Redis documentation |
//! | `hash`, `multi` | a hash that counts how often a thread took it, on one node and on several |
//! | `counter`, `list`, `job`, `local_remote`, `thread_count` | others that libraries and articles have |
//! | `zookeeper`, `etcd`, `database` | those on other services, as their libraries have them |
//! | `script_meanings` | no lock: what the scripts of all of them do, in words |
//! | `setnx`, `set_ex`, `get_then_delete` and the others that begin with `setnx` | the ancestors, each with its flaw |

pub(crate) mod counter;
mod database;
mod etcd;
mod get_then_delete;
pub(crate) mod hash;
pub(crate) mod job;
pub(crate) mod list;
pub(crate) mod local_remote;
pub(crate) mod multi;
pub(crate) mod redlock;
pub(crate) mod replicated;
pub(crate) mod script_meanings;
mod set_ex;
mod setnx;
mod setnx_expire;
mod setnx_expire_multi;
pub(crate) mod setnx_getset;
pub(crate) mod single;
mod thread_count;
mod zookeeper;

use doublehold_services::database::LockMode;

use crate::env::Env;
use crate::registry::Kinds;
use crate::services::etcd::LeaseClient;
use crate::services::zookeeper::SessionClient;

/// The same locks and those of this crate, in the order in which lists show them.
pub(crate) fn with_all<E: Env, K: Kinds<E>>(kinds: K) -> K {
    kinds
        .with(single::Single)
        .with(replicated::Replicated)
        .with(redlock::Redlock)
        .with(counter::Counter)
        .with(job::Job)
        .with(list::List)
        .with(hash::Hash)
        .with(hash::HashReplicated)
        .with(multi::Multi)
        .with(local_remote::LocalRemote)
        .with(thread_count::ThreadCount)
        // On other services.
        .with(zookeeper::ZooKeeperKind(SessionClient::Kazoo))
        .with(zookeeper::ZooKeeperKind(SessionClient::Curator))
        .with(etcd::EtcdKind(LeaseClient::Go))
        .with(etcd::EtcdKind(LeaseClient::Etcdctl))
        .with(etcd::EtcdKind(LeaseClient::Etcd3))
        .with(database::DatabaseKind(LockMode::Row))
        .with(database::DatabaseKind(LockMode::Advisory))
        // The ancestors, which articles still teach.
        .with(setnx::Setnx)
        .with(setnx_expire::SetnxExpire)
        .with(setnx_expire_multi::SetnxExpireMulti)
        .with(setnx_getset::SetnxGetset)
        .with(set_ex::SetEx)
        .with(get_then_delete::GetThenDelete)
}
