//! The node's wall clock, as commands and expiry see it.

/// Wall clock of the node, microseconds since the Unix epoch. Expiry counts in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct WallMicros(pub i64);

impl WallMicros {
    /// Milliseconds since the epoch, rounded down.
    pub fn millis(self) -> i64 {
        self.0.div_euclid(1000)
    }
}
