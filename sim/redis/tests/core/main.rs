//! The command core, one subject a module: a command, its reply, and what is propagated, with the test's own clock.
//!
//! Expected replies are those of Redis 7.0.15, except where a comment says otherwise.

mod blocked;
mod changes;
mod clients;
mod containers;
mod eviction;
mod expiry;
mod key_events;
mod keys;
mod native_scripts;
mod observer;
mod pause;
mod pubsub;
mod replies;
mod requests;
mod script_limits;
mod script_safety;
mod scripts;
mod stream;
mod streams;
mod support;
mod tracking;
mod transactions;
mod versions;
