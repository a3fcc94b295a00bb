//! The length of a sweep of a study, as far as a study says: by its number of runs.
//!
//! Pure. `doublehold sweep` tries some runs, and knows better.

use super::{CellId, Study};

/// Runs that two cores make in a second. Measured in processor time: 2,700 in `library-rates`, 9,000 in `my-service`.
pub const RUNS_A_SECOND: u64 = 3_000;
/// The same with Sentinels, whose runs are a minute long, with thousands of messages: 128 were measured in
/// `failover-time`.
pub const SENTINEL_RUNS_A_SECOND: u64 = 130;

impl Study {
    /// How many runs it has, at most.
    pub fn runs_of_all(&self) -> u64 {
        self.grid().cells().saturating_mul(self.runs_of_a_cell())
    }

    /// About how long two cores take: `30 seconds`, `3 minutes`.
    ///
    /// ```
    /// use doublehold_sweeps::study::Study;
    ///
    /// let study = Study::load("which-lock").expect("it is ours");
    /// assert_eq!((study.runs_of_all(), study.usual_time().as_str()), (220_000, "80 seconds"));
    /// ```
    pub fn usual_time(&self) -> String {
        let has_sentinels = self.scenario(CellId(0)).is_ok_and(|scenario| scenario.sentinels.is_some());
        let rate = if has_sentinels { SENTINEL_RUNS_A_SECOND } else { RUNS_A_SECOND };
        let seconds = self.runs_of_all().div_ceil(rate);
        match seconds {
            0..=120 => format!("{} seconds", seconds.next_multiple_of(10)),
            _ => format!("{} minutes", (seconds + 30) / 60),
        }
    }
}
