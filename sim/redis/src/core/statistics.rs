//! How INFO's counters begin anew, and what the node itself counts.

use super::Core;
use super::state::Stats;

impl Core {
    /// CONFIG RESETSTAT: begins to count anew.
    pub(crate) fn reset_statistics(&mut self) {
        let Stats { started_at, connected, .. } = self.stats;
        self.stats = Stats { started_at, connected, ..Stats::default() };
    }

    /// How many connections are open.
    pub fn connected_clients(&self) -> u64 {
        self.stats.connected
    }

    /// Must be called when a connection is turned away: INFO counts it.
    pub fn note_rejected(&mut self) {
        self.stats.rejected += 1;
    }
}
