//! A pause that CLIENT PAUSE has begun.

/// A pause under way. The stricter of two wins, and the longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pause {
    pub(crate) of: Paused,
    /// Milliseconds since the epoch, which still belong to it.
    pub(crate) until_ms: i64,
}

/// The requests that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Paused {
    /// Those that may write, and those that go to replicas without writing.
    Writes,
    All,
}
