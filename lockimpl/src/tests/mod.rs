//! The locks against a fake world: see `fake`. What a rule is worth on a real node's Lua and bytes is
//! tested where those are.

mod ancestors;
mod arithmetic;
mod client;
mod defaults;
mod driver;
mod existing;
mod fake;
mod habits;
mod hash;
mod job;
mod join;
mod local_remote;
mod multi;
mod node;
mod profile;
mod redlock;
mod redlock_asking;
mod registry;
mod renewal;
mod replicated;
mod single;
mod subscription;
mod thread_count;
#[cfg(feature = "tokio")]
mod tokio;
mod transport;
