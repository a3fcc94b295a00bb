//! The lock on one node, and a count in the thread that has it: whoever holds the lock is told yes without anybody
//! being asked, and the key goes when the count is back at nothing.
//!
//! The count knows of no lease, unless `count_expires`. So it says yes when the key has ended long ago, and for as long
//! as anything was not given back. Each lock that is built is a thread of its own.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::config::{Descriptor, Facts, Form, LockConfig, Nodes, Switches};
use crate::env::{Env, MonotonicTime, NodeName};
use crate::lock::{Acquired, Extended, Grant, Lock, Released};
use crate::locks::single::{SingleConfig, SingleLock};
use crate::registry::{BoxLock, ConfigError, LockKind, only_node};

struct CountConfig {
    /// Whether the count is worth nothing when the lease is over. Published: it counts on.
    expires: bool,
}

impl LockConfig for CountConfig {
    fn read(form: &mut Form<'_>) -> Self {
        let expires = form.flag(
            "count_expires",
            false,
            "ask the node again, as if nothing were held, once the lease that is counted is over",
        );
        Self { expires }
    }

    fn facts(&self) -> Facts {
        Facts { readmits: true, ..SingleConfig::defaults().facts() }
    }
}

/// The kind of this lock.
pub(crate) struct ThreadCount;

impl<E: Env> LockKind<E> for ThreadCount {
    fn descriptor(&self) -> Descriptor {
        Descriptor::from_config::<CountConfig>(
            NAME,
            "the key on one node, and a count in the thread that says yes to whoever has it",
            "articles that make a lock re-entrant with a ThreadLocal",
            Nodes::One,
        )
        .with_scripts(crate::connection::scripts::scripts())
    }

    fn build(&self, env: E, nodes: Vec<NodeName>, chosen: &Switches) -> Result<BoxLock, ConfigError> {
        let node = only_node(NAME, nodes)?;
        let CountConfig { expires } = CountConfig::from_switches(chosen)?;
        let lock = SingleLock::new(env.clone(), node, SingleConfig::defaults());
        Ok(BoxLock::new(CountingLock { env, lock, expires, counts: BTreeMap::new() }))
    }
}

const NAME: &str = "thread-count";

struct CountingLock<E: Env> {
    env: E,
    lock: SingleLock<E>,
    expires: bool,
    counts: BTreeMap<String, Count>,
}

/// What the thread holds.
struct Count {
    times: u64,
    grant: Grant,
    /// When its lease is over, from when it was asked for.
    ends: MonotonicTime,
}

impl<E: Env> CountingLock<E> {
    /// The count of a lock, if it is worth anything.
    async fn live_count(&mut self, resource: &str) -> Option<&mut Count> {
        let ends = self.counts.get(resource)?.ends;
        if self.expires && self.env.monotonic().await >= ends {
            self.counts.remove(resource);
        }
        self.counts.get_mut(resource)
    }
}

impl<E: Env> Lock for CountingLock<E> {
    async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        if let Some(count) = self.live_count(resource).await {
            count.times += 1;
            return Acquired::Granted(count.grant.clone());
        }
        let ends = self.env.monotonic().await.saturating_add(ttl);
        let acquired = self.lock.acquire(resource, ttl).await;
        if let Acquired::Granted(grant) = &acquired {
            self.counts.insert(resource.to_owned(), Count { times: 1, grant: grant.clone(), ends });
        }
        acquired
    }

    async fn extend(&mut self, grant: &mut Grant, ttl: Duration) -> Extended {
        let ends = self.env.monotonic().await.saturating_add(ttl);
        let extended = self.lock.extend(grant, ttl).await;
        if let Some(count) = self.counts.get_mut(&grant.resource)
            && matches!(extended, Extended::Extended { .. })
        {
            (count.grant.deadline, count.ends) = (grant.deadline, ends);
        }
        extended
    }

    async fn release(&mut self, grant: &Grant) -> Released {
        match self.counts.get_mut(&grant.resource).filter(|count| count.grant.token == grant.token) {
            Some(count) if count.times > 1 => {
                count.times -= 1;
                return Released::Released;
            }
            Some(_) => {
                self.counts.remove(&grant.resource);
            }
            // It was counted of a lease that is over.
            None => {}
        }
        self.lock.release(grant).await
    }
}
