//! The length of a sweep of a study, as far as a study says: by its number of runs.
//!
//! Pure. `doublehold sweep` tries some runs, and knows better.

use super::{CellId, Study};

/// Runs that two cores make in a second. Measured in processor time: 2,700 in `library-rates`, 9,000 in `my-service`.
pub const RUNS_A_SECOND: u64 = 3_000;
/// Seconds of worlds with Sentinels that two cores simulate in a second. With their thousands of messages, the length
/// of such a run decides: 128 runs of 60 s were measured in `failover-time`.
const SENTINEL_SECONDS_A_SECOND: f64 = 8_000.0;

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
    /// assert_eq!((study.runs_of_all(), study.usual_time().as_str()), (260_000, "3 minutes"));
    /// ```
    pub fn usual_time(&self) -> String {
        let designs = self.designs.len() as u64;
        let points = self.grid().cells() / designs;
        let seconds_of_a_run: f64 = (0..designs).map(|it| self.seconds_of_a_run(CellId(it * points))).sum();
        let seconds = (seconds_of_a_run * points as f64 * self.runs_of_a_cell() as f64).ceil() as u64;
        match seconds {
            0..=120 => format!("{} seconds", seconds.next_multiple_of(10)),
            _ => format!("{} minutes", (seconds + 30) / 60),
        }
    }

    fn seconds_of_a_run(&self, cell: CellId) -> f64 {
        let watched = self.scenario(cell).ok().filter(|it| it.sentinels.is_some()).and_then(|it| it.weather);
        watched.map_or(1.0 / RUNS_A_SECOND as f64, |it| it.window.as_secs_f64() / SENTINEL_SECONDS_A_SECOND)
    }
}
