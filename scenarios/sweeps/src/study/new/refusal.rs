//! The reasons for which no study can be made: the thing, the cause, and a way out. Options are called as
//! `doublehold studies --new` has them.

use std::ops::RangeInclusive;
use std::time::Duration;

use doublehold_text::exact_duration;
use thiserror::Error;

use super::NewStudy;

/// A study that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NewStudyError {
    /// There is no lock of that name.
    #[error("there is no lock `{name}`\nhint: {hint}")]
    UnknownLock {
        /// The name as typed.
        name: String,
        /// What was meant, perhaps.
        hint: String,
    },
    /// One lock was named twice.
    #[error(
        "`--lock {name}` is given twice\nhint: name each lock once, and copy its design in the file to vary it"
    )]
    LockTwice {
        /// Its name.
        name: &'static str,
    },
    /// No lock of the study takes so many nodes.
    #[error(
        "`--nodes {nodes}` fits no lock of this study: {}\nhint: leave `--nodes` out: each lock then has what fits it",
        wanted.join("; ")
    )]
    Nodes {
        /// The number as typed.
        nodes: u64,
        /// What each lock takes, in a sentence.
        wanted: Vec<String>,
    },
    /// A duration is out of bounds.
    #[error(
        "`{} {}` is {}: {} lasts {} to {}\nhint: {}",
        duration.option(),
        exact_duration(*typed).replace(' ', ""),
        if typed < duration.bounds().start() { "too short" } else { "too long" },
        duration.meaning(),
        exact_duration(*duration.bounds().start()),
        exact_duration(*duration.bounds().end()),
        duration.hint()
    )]
    Duration {
        /// Which.
        duration: RefusedDuration,
        /// As typed.
        typed: Duration,
    },
    /// Failovers were named, and no lock has replicas.
    #[error(
        "`--failovers` fits no lock of this study: none has a replica that could take over\nhint: add `--lock replicated`, which is `single` on a master with replicas, or leave `--failovers` out"
    )]
    NoReplicas,
    /// A use that is none.
    #[error("`--grants` must not be `{typed}`\nhint: {hint}")]
    Grants {
        /// As typed.
        typed: String,
        /// How it is written.
        hint: &'static str,
    },
    /// A lock cannot be used so.
    #[error("{cause}\nhint: {hint}")]
    Unfit {
        /// Which lock, and why.
        cause: String,
        /// The way out.
        hint: String,
    },
}

/// A duration that a new study is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedDuration {
    /// The length of a grant.
    Ttl,
    /// Between two long pauses of a client.
    Pauses,
    /// Between two failovers.
    Failovers,
}

impl RefusedDuration {
    pub(super) const ALL: [RefusedDuration; 3] = [Self::Ttl, Self::Pauses, Self::Failovers];

    pub(super) fn of(self, study: &NewStudy) -> Option<Duration> {
        match self {
            Self::Ttl => study.ttl,
            Self::Pauses => study.pauses,
            Self::Failovers => study.failovers,
        }
    }

    /// A lease of less is over before five nodes have answered, and one of more is not waited for. Faults that come
    /// more often are too many for strata of two; those of a replica come at least once in ten years.
    pub(super) fn bounds(self) -> RangeInclusive<Duration> {
        let hours = |hours: u64| Duration::from_secs(3600 * hours);
        match self {
            Self::Ttl => Duration::from_millis(100)..=Duration::from_secs(600),
            Self::Pauses => hours(1)..=hours(24 * 3650),
            Self::Failovers => hours(1)..=hours(12 * 3650),
        }
    }

    fn option(self) -> &'static str {
        match self {
            Self::Ttl => "--ttl",
            Self::Pauses => "--pauses",
            Self::Failovers => "--failovers",
        }
    }

    fn meaning(self) -> &'static str {
        match self {
            Self::Ttl => "a lease",
            Self::Pauses => "the time between two long pauses of a client",
            Self::Failovers => "the time between two failovers",
        }
    }

    fn hint(self) -> &'static str {
        match self {
            Self::Ttl => {
                "write it as `--ttl 30s`; for a longer one, change `lock.ttl`, `limits.obtain_within` and \
                 `clients.give_up_after` in the file"
            }
            Self::Pauses => {
                "write it as `--pauses 6h`, and count pauses that are long enough to be an incident; `doublehold \
                 weather cloud` has faults that come more often"
            }
            Self::Failovers => {
                "write it as `--failovers 336h`; the study `failover-window` has failovers that come more often"
            }
        }
    }
}
