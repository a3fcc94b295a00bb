//! Libraries that people use, a file each: what was read of it, its defaults over one of the engines, what is wrong with it
//! and what is not in it. A new one is declared and listed here, and nowhere else.

mod bullmq;

use crate::env::Env;
use crate::locks::job::Job;
use crate::profile::ProfileKind;
use crate::registry::Registry;

/// The same locks and those of libraries, in the order in which lists show them.
pub(crate) fn with_all<E: Env>(engines: Registry<E>) -> Registry<E> {
    engines.with(ProfileKind(&bullmq::BULLMQ, Job))
}
