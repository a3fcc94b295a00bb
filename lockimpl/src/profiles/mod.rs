//! Libraries that people use, a file each: what was read of it, its defaults over one of the engines, what is wrong
//! with it and what is not in it. A new one is declared and listed here, and nowhere else.

mod aioredlock;
mod asynq;
mod bsm_redislock;
mod bull;
mod bullmq;
mod distributedlock_redis;
mod dramatiq;
mod laravel;
mod laravel_scheduler;
mod laravel_without_overlapping;
mod malkusch_lock;
mod node_redlock;
mod node_redlock_4;
mod pottery;
mod python_redis_lock;
mod redis_mutex;
mod redis_plus_plus;
mod redis_plus_plus_tx;
mod redis_py;
mod redis_semaphore;
mod redisson;
mod redlock_antirez;
mod redlock_net;
mod redlock_py;
mod redlock_rb;
mod redsync;
mod rslock;
mod rueidislock;
mod shedlock;
mod sidekiq_unique_jobs;
mod spring_registry;
mod stackexchange_redis;
mod symfony_combined;
mod symfony_lock;

use crate::env::Env;
use crate::locks::counter::Counter;
use crate::locks::hash::{Hash, HashReplicated};
use crate::locks::job::Job;
use crate::locks::list::List;
use crate::locks::local_remote::LocalRemote;
use crate::locks::multi::Multi;
use crate::locks::redlock::Redlock;
use crate::locks::setnx_getset::SetnxGetset;
use crate::locks::single::Single;
use crate::registry::{Kinds, ProfileKind};

/// The same locks and those of libraries, in the order in which lists show them.
pub(crate) fn with_all<E: Env, K: Kinds<E>>(kinds: K) -> K {
    kinds
        .with(ProfileKind(&aioredlock::AIOREDLOCK, Redlock))
        .with(ProfileKind(&asynq::ASYNQ, SetnxGetset))
        .with(ProfileKind(&bsm_redislock::BSM_REDISLOCK, Single))
        .with(ProfileKind(&bull::BULL, Job))
        .with(ProfileKind(&bullmq::BULLMQ, Job))
        .with(ProfileKind(&distributedlock_redis::DISTRIBUTEDLOCK_REDIS, Redlock))
        .with(ProfileKind(&dramatiq::DRAMATIQ, Counter))
        .with(ProfileKind(&laravel::LARAVEL, Single))
        .with(ProfileKind(&laravel_scheduler::LARAVEL_SCHEDULER, Single))
        .with(ProfileKind(&laravel_without_overlapping::LARAVEL_WITHOUT_OVERLAPPING, Single))
        .with(ProfileKind(&malkusch_lock::MALKUSCH_LOCK, Redlock))
        .with(ProfileKind(&node_redlock::NODE_REDLOCK, Redlock))
        .with(ProfileKind(&node_redlock_4::NODE_REDLOCK_4, Redlock))
        .with(ProfileKind(&pottery::POTTERY, Redlock))
        .with(ProfileKind(&python_redis_lock::PYTHON_REDIS_LOCK, List))
        .with(ProfileKind(&redis_mutex::REDIS_MUTEX, SetnxGetset))
        .with(ProfileKind(&redis_plus_plus::REDIS_PLUS_PLUS, Redlock))
        .with(ProfileKind(&redis_plus_plus_tx::REDIS_PLUS_PLUS_TX, Redlock))
        .with(ProfileKind(&redis_py::REDIS_PY, Single))
        .with(ProfileKind(&redis_semaphore::REDIS_SEMAPHORE, Redlock))
        .with(ProfileKind(&redis_semaphore::REDIS_SEMAPHORE_MUTEX, Single))
        .with(ProfileKind(&redisson::REDISSON, Hash))
        .with(ProfileKind(&redisson::REDISSON_REPLICATED, HashReplicated))
        .with(ProfileKind(&redisson::REDISSON_REDLOCK, Multi))
        .with(ProfileKind(&redlock_antirez::REDLOCK_ANTIREZ, Redlock))
        .with(ProfileKind(&redlock_net::REDLOCK_NET, Redlock))
        .with(ProfileKind(&redlock_py::REDLOCK_PY, Redlock))
        .with(ProfileKind(&redlock_rb::REDLOCK_RB, Redlock))
        .with(ProfileKind(&redsync::REDSYNC, Redlock))
        .with(ProfileKind(&rslock::RSLOCK, Redlock))
        .with(ProfileKind(&rueidislock::RUEIDISLOCK, Single))
        .with(ProfileKind(&shedlock::SHEDLOCK, Single))
        .with(ProfileKind(&sidekiq_unique_jobs::SIDEKIQ_UNIQUE_JOBS, Single))
        .with(ProfileKind(&spring_registry::SPRING_REGISTRY, LocalRemote))
        .with(ProfileKind(&stackexchange_redis::STACKEXCHANGE_REDIS, Single))
        .with(ProfileKind(&symfony_combined::SYMFONY_COMBINED, Redlock))
        .with(ProfileKind(&symfony_lock::SYMFONY_LOCK, Single))
}
