//! Counts the instructions of the program `workload`, which cargo puts beside this one, with valgrind's callgrind.

use std::env;
use std::process::Command;

use doublehold_cost::Workload;

use crate::CostError;

/// Returns the instructions of the whole program that makes this many runs.
///
/// # Errors
///
/// If valgrind is not installed, or its output has no count.
pub(crate) fn count_instructions(workload: Workload, runs: u64) -> Result<u64, CostError> {
    let here = env::current_exe().map_err(|error| CostError::NoCount(error.to_string()))?;
    let mut valgrind = Command::new("valgrind");
    valgrind
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(here.with_file_name("workload"));
    let output =
        valgrind.arg(workload.name()).arg(runs.to_string()).output().map_err(CostError::NoValgrind)?;
    let log = String::from_utf8_lossy(&output.stderr);
    parse_count(&log).filter(|_| output.status.success()).ok_or_else(|| CostError::NoCount(log.into_owned()))
}

/// Finds the number in `==123== Collected : 4567`.
fn parse_count(log: &str) -> Option<u64> {
    log.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::parse_count;

    #[test]
    fn the_count_is_the_number_that_was_collected() {
        assert_eq!(parse_count("==7== Events    : Ir\n==7== Collected : 4567\n"), Some(4567));
        assert_eq!(parse_count("==7== Events    : Ir\n"), None);
    }
}
