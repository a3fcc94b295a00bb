//! How much a run has recorded and has yet to deal with, in counted bytes.
//!
//! Counted by what things are, not by what an allocator gave for them, so that a limit is met at the same event in any
//! build and on any machine: the trace (also when it is not kept, because a run must end alike with and without it),
//! what the code that watches the run says it keeps ([`crate::WorldObserver::keeps`]), disks, connections with what is
//! in them and on its way, and events, timers and tasks that still wait.
//!
//! Not counted: what code under test holds in its own variables. Measured with thousands of random scenarios, a release
//! build's process takes at most 50 MB more than is counted.
//!
//! Decision: "Memory is counted, not measured" (docs/decisions/world.md).

use crate::disk::Disk;
use crate::kernel::State;

/// How often a run is measured, in events. Between two measurements it can keep as much more as so many events bring.
pub(crate) const MEASURED_EVERY: u64 = 1024;

/// An event of the trace, as a kept trace holds it.
const RECORD: u64 = 64;
/// An event that will happen.
const SCHEDULED: u64 = 40;
/// A timer, a segment on its way, a connection: their fields, and their slot.
const TIMER: u64 = 80;
const SEGMENT: u64 = 112;
const CONNECTION: u64 = 640;
/// What a driver has of a connection that it holds: two buffers of 8 KiB, as redis-rs takes them from tokio's codec.
const DRIVER: u64 = 16 * 1024;
/// A task: what its future holds is unknown, and most are small.
const TASK: u64 = 512;

impl State {
    /// Bytes recorded and not yet dealt with.
    pub(crate) fn memory(&self) -> u64 {
        let disks: u64 = self.hosts.iter().map(|host| host.disk.size()).sum();
        let tasks: usize = self.hosts.iter().map(|host| host.tasks.len()).sum();
        let timers: usize = self.hosts.iter().map(|host| host.timers.len()).sum();
        self.watchers_keep
            + disks
            + RECORD * self.trace.count()
            + SCHEDULED * self.events.len() as u64
            + TIMER * timers as u64
            + TASK * tasks as u64
            + self.network_memory()
    }

    fn network_memory(&self) -> u64 {
        let ends = self.net.connections.iter().flat_map(|(_, connection)| &connection.ends);
        let driven = self.net.connections.iter().filter(|(_, connection)| connection.ends[0].open).count();
        CONNECTION * self.net.connections.len() as u64
            + DRIVER * driven as u64
            + ends.map(|end| end.received_bytes() as u64).sum::<u64>()
            + SEGMENT * self.net.segments.len() as u64
            + self.net.repeated.iter().map(|copy| copy.bytes.len() as u64).sum::<u64>()
            + self.net.segments.iter().map(|(_, segment)| segment.bytes() as u64).sum::<u64>()
    }
}

impl Disk {
    /// Bytes as written, as durable, and as remembered by a snapshot.
    fn size(&self) -> u64 {
        self.bytes() + self.remembered_disk().map_or(0, Disk::size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A size may differ between compilers, so only the order of it is compared.
    fn is_about(counted: u64, size: usize) -> bool {
        (size as u64..=3 * size as u64).contains(&(counted * 2))
    }

    #[test]
    fn what_is_counted_is_about_what_it_takes() {
        assert!(is_about(RECORD, size_of::<crate::trace::Record>()));
        assert!(is_about(SCHEDULED, size_of::<crate::queue::Scheduled>()));
        assert!(is_about(TIMER, size_of::<crate::timer::Timer>()));
        assert!(is_about(SEGMENT, size_of::<crate::net::connection::Segment>()));
        assert!(is_about(CONNECTION, size_of::<crate::net::connection::Connection>()));
    }
}
