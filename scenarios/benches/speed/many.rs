//! What many runs take: two threads beside one, and the memory of the process.

use std::thread;
use std::time::Instant;

use crate::{median_of, redlock, w};

/// How many times as many runs two threads make as one in the same time.
pub(crate) fn speed_up() -> f64 {
    let burst = || {
        (0..2000).for_each(|seed| {
            w::lean(seed);
        })
    };
    let times = (0..5).map(|_| {
        let start = Instant::now();
        burst();
        let alone = start.elapsed();
        let start = Instant::now();
        thread::scope(|scope| {
            scope.spawn(burst);
            scope.spawn(burst);
        });
        2.0 * alone.as_secs_f64() / start.elapsed().as_secs_f64()
    });
    median_of(times.collect(), |ratio| *ratio)
}

/// The most memory this process had so far, after a tenth of the runs and after all of them, in kB. Nothing where the
/// system does not say.
pub(crate) fn peak_memory(runs: u64) -> Option<[u64; 2]> {
    (0..runs / 10).for_each(|seed| {
        redlock::short(seed);
    });
    let early = peak_kb()?;
    (runs / 10..runs).for_each(|seed| {
        redlock::short(seed);
    });
    Some([early, peak_kb()?])
}

fn peak_kb() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.split_whitespace().next()?.parse().ok()
}
