//! Open files: every connection is one, and the system gives a process only so many.
//!
//! As Redis does, the process asks for as many as `maxclients` needs, and lowers `maxclients` where it gets fewer: a
//! client that is turned away knows why, one that is never accepted waits.

use super::options::Options;

/// What the process needs besides its servers, and a server besides its clients: listeners, event queues, links to
/// masters.
const RESERVED: u64 = 32;
const RESERVED_BY_SERVER: u64 = 8;

/// The connections of a Sentinel to a node: for commands, and for hellos. To another Sentinel it has one.
const TO_A_NODE: u64 = 2;

impl Options {
    /// Lowers `maxclients` to what the system allows. Returns how many open files that is, if it is fewer than wanted.
    pub(crate) fn fit_open_files(&mut self) -> Option<u64> {
        let (nodes, sentinels) = (u64::from(self.layout.nodes()), u64::from(self.layout.sentinels()));
        let servers = (nodes + sentinels).max(1);
        let reserved = RESERVED + sentinels * (TO_A_NODE * nodes + sentinels);
        let wanted = reserved + servers * (u64::from(self.limits.max_clients) + RESERVED_BY_SERVER);
        let allowed = allow(wanted)?;
        let clients = (allowed.saturating_sub(reserved) / servers).saturating_sub(RESERVED_BY_SERVER).max(1);
        self.limits.max_clients = u32::try_from(clients).unwrap_or(u32::MAX);
        Some(allowed)
    }
}

/// Lets the process open so many files; how many it may open, if it may not.
#[cfg(unix)]
fn allow(wanted: u64) -> Option<u64> {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    let before = limit.current.filter(|&files| files < wanted)?;
    limit.current = Some(limit.maximum.map_or(wanted, |most| most.min(wanted)));
    let now = if setrlimit(Resource::Nofile, limit).is_ok() { limit.current? } else { before };
    (now < wanted).then_some(now)
}

#[cfg(not(unix))]
fn allow(_wanted: u64) -> Option<u64> {
    None
}
