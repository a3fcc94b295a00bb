//! What the code under test came to where it panicked.
//!
//! Assumes that a run ends with the first panic.

use super::Recorder;

impl Recorder {
    /// The code under test panicked, and the run is to end: what it shows is that.
    pub(crate) fn record_panic(&self, why: String) {
        self.lock().panicked = Some(why.clone());
        self.inconclusive(why);
    }

    /// The code under test panicked because it is in no tokio runtime.
    pub(crate) fn note_need_of_timers(&self) {
        self.lock().needs_timers = true;
    }
}
