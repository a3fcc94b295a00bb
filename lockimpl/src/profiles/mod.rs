//! Libraries that people use, a file each: what was read of it, its defaults over one of the engines, what is wrong
//! with it and what is not in it. A new one is declared and listed here, and nowhere else.

mod aioredlock;
mod bsm_redislock;
mod bullmq;
mod redis_plus_plus_tx;
mod redlock_antirez;
mod redlock_py;
mod redlock_rb;
mod symfony_combined;

use crate::env::Env;
use crate::locks::job::Job;
use crate::locks::{redlock, single};
use crate::profile_kind::ProfileKind;
use crate::registry::Registry;

/// The same locks and those of libraries, in the order in which lists show them.
pub(crate) fn with_all<E: Env>(engines: Registry<E>) -> Registry<E> {
    engines
        .with(ProfileKind(&aioredlock::AIOREDLOCK, redlock::Redlock))
        .with(ProfileKind(&bsm_redislock::BSM_REDISLOCK, single::Single))
        .with(ProfileKind(&bullmq::BULLMQ, Job))
        .with(ProfileKind(&redis_plus_plus_tx::REDIS_PLUS_PLUS_TX, redlock::Redlock))
        .with(ProfileKind(&redlock_antirez::REDLOCK_ANTIREZ, redlock::Redlock))
        .with(ProfileKind(&redlock_py::REDLOCK_PY, redlock::Redlock))
        .with(ProfileKind(&redlock_rb::REDLOCK_RB, redlock::Redlock))
        .with(ProfileKind(&symfony_combined::SYMFONY_COMBINED, redlock::Redlock))
}
