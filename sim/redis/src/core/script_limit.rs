//! How long a script may run and how much memory it may take, and what is told when it met a limit.
//!
//! Decision: "A script that meets a limit ends the run, and the message names the script" (docs/decisions/redis.md).

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// When a script counts as one that never ends.
#[derive(Clone)]
pub enum ScriptLimit {
    /// After so many Lua instructions, or other work that takes as long: the same in every run, on every machine.
    Instructions(u64),
    /// After `busy-reply-threshold` on this clock, as a real server's operator would see it. A script that takes longer
    /// does not go on beside the requests that are told BUSY, as it does in Redis: it has stopped, and counts as
    /// running.
    Time(ScriptClock),
}

/// A clock that never goes back: the time since some fixed moment.
#[derive(Clone)]
pub struct ScriptClock(Arc<dyn Fn() -> Duration + Send + Sync>);

impl ScriptClock {
    /// A clock that `read` reads.
    pub fn new(read: impl Fn() -> Duration + Send + Sync + 'static) -> ScriptClock {
        ScriptClock(Arc::new(read))
    }

    pub(crate) fn now(&self) -> Duration {
        (self.0)()
    }
}

/// A limit that a script met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetLimit {
    /// Instructions, or work in their place. The script counts as running until it is killed.
    Instructions(u64),
    /// Time. The script counts as running until it is killed.
    Time(Duration),
    /// Bytes of memory. The script got an error where it met the limit, and may have gone on.
    Memory(usize),
}

/// A script that met a limit of ours: what its node does from here on is no longer what a Redis would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoppedScript {
    /// Its SHA1, as EVALSHA takes it.
    pub sha: String,
    /// Which limit.
    pub limit: MetLimit,
}

impl fmt::Display for StoppedScript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "script {} met the limit of ", self.sha)?;
        match self.limit {
            MetLimit::Instructions(count) => write!(f, "{count} instructions"),
            MetLimit::Time(time) => write!(f, "{} ms", time.as_millis()),
            MetLimit::Memory(bytes) => write!(f, "{bytes} bytes of memory"),
        }
    }
}
