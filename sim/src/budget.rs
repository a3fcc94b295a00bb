//! How far a run may go, and how it ended.
//!
//! Assumes that whoever spends a budget counts. Does not model real time: no budget is of that.

use std::time::Duration;

/// How far a run may go before it is stopped with a named outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Events, each step of a task counted as one. A task that spins without letting time pass ends here, also one
    /// whose awaits never wait: step points count too.
    pub events: u64,
    /// True time.
    pub time: Duration,
    /// Counted bytes of what the run records and has yet to deal with; measured every thousand events or so.
    pub memory: u64,
}

impl Default for Budget {
    /// Ten million events, one day, and 2 GiB: far beyond any scenario, and less than half a minute of computing.
    fn default() -> Budget {
        Budget { events: 10_000_000, time: Duration::from_secs(86_400), memory: 2 << 30 }
    }
}

/// How a run ended. Only the first is an end; the others say why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every essential host's main task finished, or its host is down for good, and what they sent has arrived at code
    /// that runs. What waits to be sent again is part of that, unless its way is cut or its receiver stopped for good.
    Completed,
    /// Nothing is left that could ever happen, and an essential task still waits.
    Stalled,
    /// The event budget ran out.
    EventBudget,
    /// The time budget ran out.
    TimeBudget,
    /// The memory budget ran out.
    MemoryBudget,
    /// A host ended it ([`Host::halt`](crate::Host::halt)): what would follow is not what the world stands for.
    Halted,
}
