//! What a trace does not say and a picture needs: the bytes of each message, and how each host's clocks ran.
//!
//! Beside the trace and not in it: nothing here is hashed, counted or written to a trace's file, so a run that is
//! captured is the run that is not. Costs memory in proportion to what is sent, and only where somebody asked.
//!
//! Decision: "A picture reads messages from the bytes that were sent" (docs/decisions/pictures.md).

use crate::clock::Clocks;
use crate::time::SimTime;
use crate::trace::HostId;

/// What was captured of a run.
#[derive(Clone, Debug, Default)]
pub struct Capture {
    /// The bytes of each [`Event::Sent`](crate::Event::Sent), in the order of the trace.
    pub sent: Vec<Vec<u8>>,
    /// The clocks of each host from each instant on at which they began or were changed, in the order of time.
    pub clocks: Vec<(SimTime, HostId, Clocks)>,
}
