//! The locks against a fake world: see `fake`. What a rule is worth on a real node's Lua and bytes is
//! tested where those are.

mod adapter;
mod ancestors;
mod arithmetic;
mod client;
mod defaults;
mod fake;
mod hash;
mod job;
mod join;
mod local_remote;
mod multi;
mod node;
mod profile;
mod quirks;
mod redis_config;
mod redlock;
mod redlock_fan_out;
mod registry;
mod replicated;
mod single;
mod subscription;
mod thread_count;
#[cfg(feature = "tokio")]
mod tokio;
mod transport;
mod watchdog;
