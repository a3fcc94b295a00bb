//! Clients of services other than Redis, for the locks that use them.
//!
//! Each is what a library has below its lock: one connection, the session or lease that it keeps alive beside its
//! user, and the way back after the connection ends. The services are those of `doublehold-services`; no other speaks
//! their messages.
//!
//! | file | holds |
//! |---|---|
//! | `link` | one connection: requests, answers, and what is said unasked |
//! | `zookeeper`, `etcd`, `database` | what each library does beside its user |
//! | `calls` | the calls of each that lock code of one's own makes |

pub(crate) mod calls;
pub(crate) mod database;
pub(crate) mod etcd;
mod link;
pub(crate) mod zookeeper;

pub(crate) use link::{LinkEnded, ServiceLink};
