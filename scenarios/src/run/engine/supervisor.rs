//! What starts a node again on its machine: no sooner after its death than so long by one of the machine's clocks.
//!
//! It lives on the machine, as a service manager does: it begins when the machine's process does, reads its clock, and
//! starts the node when that shows enough. Until then nothing listens, and whoever connects is refused. What the clock
//! showed when the node died it has in a file, so it knows that after a power loss as well. A monotonic clock is then
//! another one, and the reading in the file says nothing: it counts from when the machine was switched on.
//!
//! A death while it waits counts as one of the node: the wait begins anew.
//!
//! Not modelled: the boot clock, a file that was written some time before the death, and a clock that shows nonsense
//! after a cold start (a `clock-step` while the machine is off is one).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use doublehold_sim::{Host, MonotonicTime, Readings, WallTime};

use crate::model::scenario::RestartClock;

/// One machine's supervisor. Clones are handles to the same, which no crash takes.
#[derive(Clone)]
pub(super) struct Supervisor {
    clock: RestartClock,
    after: Duration,
    died: Arc<Mutex<Option<Readings>>>,
}

impl Supervisor {
    pub(super) fn new((clock, after): (RestartClock, Duration)) -> Supervisor {
        Supervisor { clock, after, died: Arc::default() }
    }

    fn death_readings(&self) -> MutexGuard<'_, Option<Readings>> {
        self.died.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The node's process is gone, and its machine's clocks show this.
    pub(super) fn note_death(&self, host: &Host) {
        if self.clock != RestartClock::True {
            *self.death_readings() = Some(host.clocks());
        }
    }

    /// Ends when the node may run: at once, if it never died.
    pub(super) async fn allow(&self, host: &Host) {
        let Some(died) = *self.death_readings() else { return };
        match self.clock {
            RestartClock::True => {}
            RestartClock::Wall => {
                let after = i64::try_from(self.after.as_nanos()).unwrap_or(i64::MAX);
                host.wall_reaches(WallTime(died.wall.0.saturating_add(after))).await;
            }
            RestartClock::Monotonic => {
                let is_another = host.clocks().monotonic < died.monotonic;
                let from = if is_another { MonotonicTime(0) } else { died.monotonic };
                host.sleep_until(from.after(self.after)).await;
            }
        }
    }
}
