//! Flaws that were measured on real nodes, beside what runs here come to.
//!
//! What was measured is typed here, once, by whoever measured it. What a run comes to is computed whenever the page is
//! made. Not here: how often something happens in the field, which neither of the two says.

use std::fmt::Write as _;
use std::time::Duration;

use doublehold_lockimpl::Descriptor;
use doublehold_words::{duration, exact_duration, shell};

use super::outcome::Outcome;
use crate::error::CliError;

/// What a reader has to know first.
const HEAD: &str = include_str!("measured.md");

/// A flaw that was provoked in a library as its authors publish it.
struct Measured {
    /// The profile's name.
    library: &'static str,
    /// The versions, and what was done to which processes.
    done: &'static str,
    /// For which time two held the lock at once.
    overlap: Duration,
    /// The scenario of the catalogue that does the same.
    scenario: &'static str,
    /// What is set otherwise in it.
    sets: &'static [(&'static str, &'static str)],
    /// Why a run differs by more than a fifth; none if it does not.
    differs: Option<&'static str>,
}

const MEASURED: &[Measured] = &[
    Measured {
        library: "redis-semaphore",
        done: "5.7.0 over ioredis 5.11.1, three nodes; the process of one node was stopped for 13 s",
        overlap: Duration::from_millis(5_300),
        scenario: "redis-semaphore",
        sets: &[],
        differs: None,
    },
    Measured {
        library: "redis-semaphore",
        done: "5.7.0 over ioredis 5.11.1, three nodes; the process of one node was killed",
        overlap: Duration::from_millis(9_040),
        scenario: "redis-semaphore-killed-node",
        sets: &[],
        differs: None,
    },
    Measured {
        library: "redis-semaphore",
        done: "5.8.0 over ioredis 6.0.0, three nodes; the process of one node was killed",
        overlap: Duration::from_millis(8_540),
        scenario: "redis-semaphore-killed-node",
        sets: &[("lock.reconnect", "ioredis-6")],
        differs: None,
    },
    Measured {
        library: "redlock-py",
        done: "1.0.8 over redis-py 8.1.0 with a timeout of 0.1 s, five nodes; one message, by which a client \
               cleaned up after an attempt that had failed, was held back for 3 s on its way to one node",
        overlap: Duration::from_millis(1_501),
        scenario: "redlock-py-late-clean-up",
        sets: &[],
        differs: None,
    },
];

/// The table of all that was measured, with the reasons for what differs below it.
pub(super) fn part(locks: &[Descriptor]) -> Result<String, CliError> {
    let mut text = HEAD.to_owned();
    let mut reasons = String::new();
    for row in MEASURED {
        let simulated = Outcome::of(row.scenario, row.sets)?.overlap();
        writeln!(
            text,
            "| {} | {} | {} | {} | `{}` |",
            row.name(locks),
            row.done,
            exact_duration(row.overlap),
            duration(simulated),
            row.command()
        )
        .expect("a string takes everything");
        if let Some(why) = row.differs {
            reasons += &format!("- {}: {why}\n", row.name(locks));
        }
    }
    let reasons = if reasons.is_empty() { reasons } else { format!("\nWhere the two differ:\n\n{reasons}") };
    Ok(text + &reasons)
}

impl Measured {
    /// What people call the library, as a link to what else is known of it.
    fn name(&self, locks: &[Descriptor]) -> String {
        let lock = locks.iter().find(|lock| lock.name == self.library);
        let library = lock.and_then(|lock| lock.profile).map_or(self.library, |(profile, _)| profile.library);
        format!("[{library}](#lock-{})", self.library)
    }

    fn command(&self) -> String {
        let sets: Vec<String> = self.sets.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let words = ["doublehold", "run", self.scenario].into_iter();
        shell::line(words.chain(sets.iter().flat_map(|set| ["--set", set])))
    }
}

#[cfg(test)]
mod tests {
    use doublehold_lockimpl::descriptors;

    use super::*;

    /// The share of what was measured by which a run may differ without a word.
    const FIFTH: u64 = 5;

    #[test]
    fn what_was_measured_is_of_a_flaw_that_a_library_is_known_for() {
        let locks = descriptors();
        for row in MEASURED {
            let lock = locks.iter().find(|lock| lock.name == row.library);
            let (profile, _) = lock.and_then(|lock| lock.profile).expect(row.library);
            assert!(profile.flaws.iter().any(|flaw| flaw.scenario == row.scenario), "{}", row.scenario);
        }
    }

    #[test]
    fn a_run_is_near_what_was_measured_or_it_is_said_why_not() {
        for row in MEASURED {
            let measured = u64::try_from(row.overlap.as_nanos()).expect("less than centuries");
            let simulated = Outcome::of(row.scenario, row.sets).expect(row.scenario).overlap();
            let is_near = simulated.abs_diff(measured) * FIFTH <= measured;
            assert_eq!(is_near, row.differs.is_none(), "{}: {}", row.command(), duration(simulated));
        }
    }
}
