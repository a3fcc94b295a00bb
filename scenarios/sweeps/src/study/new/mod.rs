//! New studies: the text of one for a lock and the rates that somebody brings, with a comment on each line.
//!
//! Pure: makes text, and looks whether it is a study. Each comment says what its line is, who the number is from, and
//! what to put in its place.
//!
//! # Map, in reading order
//!
//! - [`NewStudy`]: what is known of a service; the rest is guessed
//! - `refusal`: what cannot be, with a way out
//! - `text`: the file
//!
//! Decision: "A new study asks for six numbers, and writes the rest as comments" (docs/decisions/sweeps.md).

mod refusal;
mod text;

use std::time::Duration;

use doublehold_lockimpl::{Descriptor, Nodes, descriptors};
use doublehold_scenarios::error::ScenarioError;
use doublehold_scenarios::locks::{find_lock, hint};
use doublehold_text::shorten;
pub use refusal::{NewStudyError, RefusedDuration};

use super::{Study, Usage};

/// Locks that are compared where nobody names one: what most services choose among.
const LOCKS: [&str; 3] = ["single", "replicated", "redlock"];
/// The lease of a service that says none.
const TTL: Duration = Duration::from_secs(30);
/// As in the weather `field`.
const PAUSES: Duration = Duration::from_secs(24 * 3600);
/// A month, as in the weather `field`.
const FAILOVERS: Duration = Duration::from_secs(30 * 24 * 3600);
/// The use by which reports tell months.
const GRANTS: &str = "200 grants an hour";
/// Nodes of the usual world of a replicated lock: a master with two replicas.
const REPLICATED_NODES: u64 = 3;
/// Nodes of the usual world of a lock on several nodes.
const INDEPENDENT_NODES: u64 = 5;
/// The most that a world has.
const NODES_MAX: u64 = 100;

/// The facts known of a service. One that is `None` is guessed, and the text says so.
///
/// ```
/// use std::time::Duration;
///
/// use doublehold_sweeps::study::{NewStudy, Study};
///
/// let locks = vec!["redlock".to_owned()];
/// let mine = NewStudy { locks, ttl: Some(Duration::from_secs(30)), ..NewStudy::default() };
/// let text = mine.text()?;
/// let study = Study::parse("mine", "mine.toml", &text).expect("it can be swept");
/// assert_eq!(study.designs[0].name, "redlock");
/// # Ok::<(), doublehold_sweeps::study::NewStudyError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewStudy {
    /// The locks that are compared, a design each. None: the usual three.
    pub locks: Vec<String>,
    /// The number of nodes of each lock that takes so many.
    pub nodes: Option<u64>,
    /// The length of a grant.
    pub ttl: Option<Duration>,
    /// The mean time between two long pauses of one client.
    pub pauses: Option<Duration>,
    /// The mean time between two failovers.
    pub failovers: Option<Duration>,
    /// The grants of the lock, as [`Usage`] reads it.
    pub grants: Option<String>,
}

impl NewStudy {
    /// Makes the text of the study. [`Study::parse`] takes it as it is.
    ///
    /// # Errors
    ///
    /// If there is no such lock, a number is out of bounds or means nothing to these locks, or a lock cannot have this
    /// lease.
    pub fn text(&self) -> Result<String, NewStudyError> {
        let known = descriptors();
        let locks = self.checked_locks(&known)?;
        self.refuse_durations()?;
        self.refuse_nodes(&locks)?;
        if self.failovers.is_some() && !locks.iter().any(|lock| lock.nodes == Nodes::Replicated) {
            return Err(NewStudyError::NoReplicas);
        }
        if let Some(grants) = &self.grants {
            Usage::parse(grants, "")
                .map_err(|error| NewStudyError::Grants { typed: shorten(grants), hint: error.hint })?;
        }
        let text = text::text(self, &locks);
        match Study::parse("mine", "mine.toml", &text) {
            Ok(_) => Ok(text),
            Err(ScenarioError::Refused { cause, hint, .. }) => Err(NewStudyError::Unfit { cause, hint }),
            Err(other) => Err(NewStudyError::Unfit { cause: other.to_string(), hint: String::new() }),
        }
    }

    /// The locks that do not take the number of nodes that others of the study have, each in a sentence.
    pub fn notes(&self) -> Vec<String> {
        let (Some(nodes), known) = (self.nodes, descriptors()) else { return Vec::new() };
        let named = self.lock_names();
        let locks = named.iter().filter_map(|name| find_lock(&known, name));
        let others = locks.filter(|lock| !takes_nodes(lock, nodes));
        others.map(|lock| format!("{}, so `--nodes {nodes}` is not for it", wanted_nodes(lock))).collect()
    }

    fn lock_names(&self) -> Vec<&str> {
        if self.locks.is_empty() { LOCKS.to_vec() } else { self.locks.iter().map(String::as_str).collect() }
    }

    fn checked_locks<'a>(&self, known: &'a [Descriptor]) -> Result<Vec<&'a Descriptor>, NewStudyError> {
        let mut locks: Vec<&Descriptor> = Vec::new();
        for name in self.lock_names() {
            let lock = find_lock(known, name)
                .ok_or_else(|| NewStudyError::UnknownLock { name: shorten(name), hint: hint(known, name) })?;
            if locks.iter().any(|other| other.name == lock.name) {
                return Err(NewStudyError::LockTwice { name: lock.name });
            }
            locks.push(lock);
        }
        Ok(locks)
    }

    fn refuse_durations(&self) -> Result<(), NewStudyError> {
        let refusal = RefusedDuration::ALL.into_iter().find_map(|duration| {
            let typed = duration.of(self)?;
            (!duration.bounds().contains(&typed)).then_some(NewStudyError::Duration { duration, typed })
        });
        refusal.map_or(Ok(()), Err)
    }

    /// Refuses a number of nodes that no lock of the study takes.
    fn refuse_nodes(&self, locks: &[&Descriptor]) -> Result<(), NewStudyError> {
        match self.nodes {
            Some(nodes) if !locks.iter().any(|lock| takes_nodes(lock, nodes)) => {
                let wanted: Vec<String> = locks.iter().map(|lock| wanted_nodes(lock)).collect();
                Err(NewStudyError::Nodes { nodes, wanted })
            }
            _ => Ok(()),
        }
    }
}

/// Tells if a lock can have this number of nodes.
fn takes_nodes(lock: &Descriptor, nodes: u64) -> bool {
    match lock.nodes {
        Nodes::One => nodes == 1,
        Nodes::Replicated => (2..=NODES_MAX).contains(&nodes),
        Nodes::Independent => (lock.least_nodes as u64..=NODES_MAX).contains(&nodes),
    }
}

/// The numbers of nodes that a lock can have, in a sentence.
fn wanted_nodes(lock: &Descriptor) -> String {
    let name = lock.name;
    match lock.nodes {
        Nodes::One => format!("`{name}` runs on one node"),
        Nodes::Replicated => {
            format!("`{name}` runs on a master with replicas, 2 to {NODES_MAX} nodes in all")
        }
        Nodes::Independent => format!("`{name}` runs on {} to {NODES_MAX} nodes", lock.least_nodes),
    }
}
