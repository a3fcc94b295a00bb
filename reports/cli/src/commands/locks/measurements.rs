//! Flaws that were measured on real nodes, beside what runs here come to.
//!
//! What was measured is typed here, once, by whoever measured it. What a run comes to is computed whenever the page is
//! made. Not here: how often something happens in the field, which neither of the two says.

use std::fmt::Write as _;
use std::time::Duration;

use doublehold_lockimpl::Descriptor;
use doublehold_text::{duration, exact_duration, shell};

use super::outcome::Outcome;
use crate::error::CliError;

/// What a reader has to know first.
const HEAD: &str = include_str!("measured.md");

/// A flaw that was provoked in a library as its authors publish it.
struct Measurement {
    /// The profile's name.
    library: &'static str,
    /// The versions, and what was done to which processes.
    done: &'static str,
    /// What came of it.
    figure: Figure,
    /// The scenario of the catalogue that does the same.
    scenario: &'static str,
    /// What is set otherwise in it.
    sets: &'static [(&'static str, &'static str)],
    /// Why a run differs by more than a fifth; none if it does not.
    differs: Option<&'static str>,
}

/// What was measured.
#[derive(Clone, Copy)]
enum Figure {
    /// For which time two held the lock at once.
    Both(Duration),
    /// So many times two held it at once, and for which time in all.
    Again(u32, Duration),
    /// For which time it could not be had, though nobody held it.
    Nobody(Duration),
    /// It could not be had any more.
    Never,
    /// A call had not ended when nobody looked any more.
    Endless(Duration),
    /// A call ended with an exception.
    Raised(Duration),
}

impl Figure {
    fn words(self) -> String {
        match self {
            Self::Both(both) => format!("two held it for {}", exact_duration(both)),
            Self::Again(times, all) => {
                format!("two held it {times} times, for {} in all", exact_duration(all))
            }
            Self::Nobody(nobody) => format!("nobody could have it for {}", exact_duration(nobody)),
            Self::Never => "the key had no end".to_owned(),
            Self::Endless(waited) => format!("the call had not ended after {}", exact_duration(waited)),
            Self::Raised(waited) => format!("the call raised after {}", exact_duration(waited)),
        }
    }

    /// The same figure of runs, in words.
    fn simulated_words(self, outcome: &Outcome) -> String {
        match (self, outcome.longest_wait()) {
            (Self::Both(_), _) => duration(outcome.overlap()),
            (Self::Again(..), _) => match outcome.overlaps() {
                Some((times, all)) => format!("{times} times, {}", duration(all)),
                None => "never".to_owned(),
            },
            (_, None) => "nobody waited".to_owned(),
            (Self::Endless(_), Some(wait)) => {
                format!("it waited for {}, until the scenario ends it", duration(wait.ns))
            }
            (_, Some(wait)) if wait.obtained => duration(wait.ns),
            (_, Some(wait)) => format!("the key has no end; who waited gave up after {}", duration(wait.ns)),
        }
    }
}

const MEASURED: &[Measurement] = &[
    Measurement {
        library: "redis-semaphore",
        done: "5.7.0 over ioredis 5.11.1, three nodes; the process of one node was stopped for 13 s",
        figure: Figure::Both(Duration::from_millis(5_300)),
        scenario: "redis-semaphore",
        sets: &[],
        differs: None,
    },
    Measurement {
        library: "redis-semaphore",
        done: "5.7.0 over ioredis 5.11.1, three nodes; the process of one node was killed",
        figure: Figure::Both(Duration::from_millis(9_040)),
        scenario: "redis-semaphore-killed-node",
        sets: &[],
        differs: None,
    },
    Measurement {
        library: "redis-semaphore",
        done: "5.8.0 over ioredis 6.0.0, three nodes; the process of one node was killed",
        figure: Figure::Both(Duration::from_millis(8_540)),
        scenario: "redis-semaphore-killed-node",
        sets: &[("lock.driver", "ioredis-6")],
        differs: None,
    },
    Measurement {
        library: "redis-semaphore-mutex",
        done: "5.8.0 over ioredis 5.11.1, three nodes and three Sentinels with a down-after of 1 s; the process of the master was \
               stopped for 15 s, and one client began 5 s after that",
        figure: Figure::Again(40, Duration::from_millis(9_760)),
        scenario: "redis-semaphore-mutex",
        sets: &[],
        differs: None,
    },
    Measurement {
        library: "bull",
        done: "4.15.0 over ioredis 5.11.1, one node; a proxy held back what a worker and the node sent each other, from the \
               first renewal of a job of 2 min on, for 100 s; another worker's job takes 20 s",
        figure: Figure::Both(Duration::from_millis(20_007)),
        scenario: "bull-renewal-fails",
        sets: &[],
        differs: None,
    },
    Measurement {
        library: "bull",
        done: "4.15.0 over ioredis 5.11.1 with `maxRetriesPerRequest` 3, the same jobs; the node was killed right before \
               the first renewal, and started again 3 s later",
        figure: Figure::Both(Duration::from_millis(20_003)),
        scenario: "bull-one-failure",
        sets: &[],
        differs: None,
    },
    Measurement {
        library: "redlock-py",
        done: "1.0.8 over redis-py 8.1.0 with a timeout of 0.1 s, five nodes; one message, by which a client \
               cleaned up after an attempt that had failed, was held back for 3 s on its way to one node",
        figure: Figure::Both(Duration::from_millis(1_501)),
        scenario: "redlock-py-late-clean-up",
        sets: &[],
        differs: None,
    },
    Measurement {
        library: "rueidislock",
        done: "1.0.76 with `KeyMajority` 1 and `DisableCache`, one node whose wall clock was 3 s ahead",
        figure: Figure::Both(Duration::from_millis(507)),
        scenario: "rueidislock",
        sets: &[],
        differs: None,
    },
    Measurement {
        library: "rueidislock",
        done: "the same without `DisableCache`",
        figure: Figure::Both(Duration::from_millis(24)),
        scenario: "rueidislock",
        sets: &[("lock.wake", "tracking"), ("lock.poll", "none")],
        differs: Some(
            "the node tells a holder's client-side cache that its key is gone, and the library its holder, which is \
             not modelled. Here a holder finds out when it extends, every 2.5 s, as with `DisableCache`.",
        ),
    },
    Measurement {
        library: "rueidislock",
        done: "1.0.76 with `KeyMajority` 1 and `DisableCache`, one node whose wall clock was 6 s ahead",
        figure: Figure::Both(Duration::from_millis(1_550)),
        scenario: "rueidislock-no-exclusion",
        sets: &[],
        differs: None,
    },
    Measurement {
        library: "redis-py",
        done: "8.0.0 with `blocking_timeout=3`, one node; a proxy ended the connection when the node had executed the \
               first SET, and before the reply",
        figure: Figure::Never,
        scenario: "redis-py",
        sets: &[],
        differs: None,
    },
    Measurement {
        library: "symfony-lock",
        done: "7.1.1 over predis 2.4.0, one node, a lock of 5 s; the process was killed before the second command \
               of `acquire()`, and 6 s later somebody looked what was left",
        figure: Figure::Nobody(Duration::from_millis(294_036)),
        scenario: "symfony-lock",
        sets: &[],
        differs: None,
    },
    Measurement {
        library: "pottery",
        done: "3.0.1 over redis-py 8.1.0 with `Retry(NoBackoff(), 0)`, five nodes; a proxy held two of the five \
               SETs of a client back for 3 s, until it had given the lock back; then the process of a third node \
               was killed",
        figure: Figure::Nobody(Duration::from_millis(9_057)),
        scenario: "pottery",
        sets: &[],
        differs: None,
    },
    Measurement {
        library: "pottery",
        done: "the same over redis-py 8.1.0 as it comes; another try came to 15.84 s",
        figure: Figure::Nobody(Duration::from_millis(17_694)),
        scenario: "pottery/redis-py-8",
        sets: &[],
        differs: None,
    },
    Measurement {
        library: "python-redis-lock",
        done: "4.0.1 over redis-py 8.1.0 with `socket_timeout=None`, one node; a client was stopped for 2 s when it \
               had been refused, and the holder gave back meanwhile",
        figure: Figure::Endless(Duration::from_secs(80)),
        scenario: "python-redis-lock",
        sets: &[],
        differs: None,
    },
    Measurement {
        library: "python-redis-lock",
        done: "the same over redis-py 8.1.0 as it comes: TimeoutError",
        figure: Figure::Raised(Duration::from_millis(61_104)),
        scenario: "python-redis-lock/redis-py-8",
        sets: &[],
        differs: None,
    },
    Measurement {
        library: "python-redis-lock",
        done: "4.0.1 over redis-py 8.1.0 with `Retry(NoBackoff(), 0)`, `expire=30` and `auto_renewal`, one node; a \
               proxy reset the connection at the first renewal",
        figure: Figure::Both(Duration::from_millis(29_929)),
        scenario: "python-redis-lock-renewal",
        sets: &[],
        differs: None,
    },
    Measurement {
        library: "python-redis-lock",
        done: "the same with the retries of redis-py 8.1.0; the proxy refused connections for 40 s from the first \
               renewal on, and the renewal thread ended 4 s into that. After 3 s it renewed",
        figure: Figure::Both(Duration::from_millis(29_948)),
        scenario: "python-redis-lock-renewal/outage",
        sets: &[],
        differs: None,
    },
    Measurement {
        library: "node-redlock",
        done: "5.0.0-beta.2 over ioredis 5.11.1, three nodes; a client was stopped for 12 s when the first of the \
               replies to its claim was there (three of four tries met the flaw)",
        figure: Figure::Both(Duration::from_millis(1_002)),
        scenario: "node-redlock",
        sets: &[],
        differs: None,
    },
    Measurement {
        library: "node-redlock",
        done: "5.0.0-beta.2 over ioredis 5.11.1, two nodes, one of which was down; the call went on for 149 s after \
               that one had come back",
        figure: Figure::Endless(Duration::from_secs(149)),
        scenario: "node-redlock-tie",
        sets: &[],
        differs: None,
    },
    Measurement {
        library: "node-redlock",
        done: "5.0.0-beta.2 over ioredis 5.11.1, three nodes; a proxy held back what the holder and two of them \
               sent each other, for 80 s from the first extension of `using` on",
        figure: Figure::Both(Duration::from_millis(4_002)),
        scenario: "node-redlock-using",
        sets: &[],
        differs: None,
    },
    Measurement {
        library: "aioredlock",
        done: "0.7.3, three nodes; a holder with `lock_timeout=10` worked for 12 s; another try came to 1.85 s",
        figure: Figure::Both(Duration::from_millis(2_022)),
        scenario: "aioredlock",
        sets: &[],
        differs: None,
    },
    Measurement {
        library: "aioredlock",
        done: "0.7.3, five nodes with an append-only file; two were down, and a third one while the lock was \
               extended",
        figure: Figure::Both(Duration::from_millis(502)),
        scenario: "aioredlock-gives-up",
        sets: &[],
        differs: None,
    },
    Measurement {
        library: "bullmq",
        done: "6.2.0 over ioredis 5.11.1 with `skipLockRenewal`, one node; a job of 80 s, and a worker whose job \
               takes 20 s",
        figure: Figure::Both(Duration::from_millis(20_033)),
        scenario: "stalled-job",
        sets: &[],
        differs: None,
    },
    Measurement {
        library: "bullmq",
        done: "6.2.0 over ioredis 5.11.1, one node; a proxy held back what a worker and the node sent each other, \
               for 100 s from the first renewal of a job of 2 min on; another worker's job takes 20 s",
        figure: Figure::Both(Duration::from_millis(20_009)),
        scenario: "bullmq-renewal-fails",
        sets: &[],
        differs: None,
    },
    Measurement {
        library: "symfony-combined",
        done: "5.4.53 over predis 1.1.10, three nodes; the wall clock of a holder with a lease of 30 s was set back \
               by 15 s, and it worked for 40 s",
        figure: Figure::Both(Duration::from_millis(9_961)),
        scenario: "symfony-combined-clock",
        sets: &[],
        differs: None,
    },
    Measurement {
        library: "symfony-combined",
        done: "5.4.53 over predis 1.1.10, five nodes with an append-only file; two were down, and a third one while \
               the lock was extended",
        figure: Figure::Both(Duration::from_millis(501)),
        scenario: "symfony-combined-gives-up",
        sets: &[],
        differs: None,
    },
    Measurement {
        library: "redis-py",
        done: "8.1.0, one node; a proxy ended the connection between the execution of `extend(30)` and its reply, \
               and the holder was killed 4.4 s later",
        figure: Figure::Nobody(Duration::from_millis(80_096)),
        scenario: "redis-py-extends-twice",
        sets: &[],
        differs: None,
    },
];

/// The figure that was measured of the flaw that a scenario shows as it stands, in words; nothing if there is none.
pub(super) fn measured_words(scenario: &str) -> Option<String> {
    let row = MEASURED.iter().find(|row| row.scenario == scenario && row.sets.is_empty());
    row.map(|row| row.figure.words())
}

/// The table of all that was measured, with the reason where a run differs.
pub(super) fn part(locks: &[Descriptor]) -> Result<String, CliError> {
    let mut text = HEAD.to_owned();
    for row in MEASURED {
        let outcome = Outcome::simulate(row.scenario, row.sets)?;
        writeln!(
            text,
            "| {} | {} | {} | {}{} | `{}` |",
            row.name(locks),
            row.done,
            row.figure.words(),
            row.figure.simulated_words(&outcome),
            row.differs.map(|why| format!(": {why}")).unwrap_or_default(),
            row.command()
        )
        .expect("a string takes everything");
    }
    Ok(text)
}

impl Measurement {
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

    impl Figure {
        /// Whether runs come near it.
        fn is_near(self, outcome: &Outcome) -> bool {
            let near = |measured: Duration, simulated: u64| {
                let measured = u64::try_from(measured.as_nanos()).unwrap_or(u64::MAX);
                simulated.abs_diff(measured).saturating_mul(FIFTH) <= measured
            };
            match (self, outcome.longest_wait()) {
                (Self::Both(both), _) => near(both, outcome.overlap()),
                (Self::Again(_, all), _) => {
                    outcome.overlaps().is_some_and(|(_, simulated)| near(all, simulated))
                }
                (Self::Nobody(nobody), Some(wait)) if wait.obtained => near(nobody, wait.ns),
                (Self::Raised(waited), Some(wait)) => near(waited, wait.ns),
                (Self::Never, wait) => wait.is_some_and(|wait| !wait.obtained),
                (Self::Endless(waited), Some(wait)) => u128::from(wait.ns) >= waited.as_nanos(),
                (Self::Nobody(_) | Self::Raised(_) | Self::Endless(_), _) => false,
            }
        }
    }

    #[test]
    fn what_was_measured_is_of_a_flaw_that_a_library_is_known_for() {
        let locks = descriptors();
        for row in MEASURED {
            let lock = locks.iter().find(|lock| lock.name == row.library);
            let (profile, _) = lock.and_then(|lock| lock.profile).expect(row.library);
            let scenario = row.scenario.split('/').next().expect("a name");
            assert!(profile.flaws.iter().any(|flaw| flaw.scenario == scenario), "{}", row.scenario);
        }
    }

    #[test]
    fn a_run_is_near_what_was_measured_or_it_is_said_why_not() {
        for row in MEASURED {
            let outcome = Outcome::simulate(row.scenario, row.sets).expect(row.scenario);
            let is_near = row.figure.is_near(&outcome);
            assert_eq!(
                is_near,
                row.differs.is_none(),
                "{}: {}",
                row.command(),
                row.figure.simulated_words(&outcome)
            );
        }
    }
}
