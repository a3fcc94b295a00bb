//! Shrinking: from a run that violates something to the least scenario that still does.
//!
//! A search finds a violation among faults, clients and random delays that have nothing to do with it. Here each of
//! them is taken away in turn, the run is made again from the same seed, and whatever can go without losing the
//! violation goes. What is left is *1-minimal*: the last round has tried each single change below, and each lost the
//! violation.
//!
//! - No fault can go, no host out of a fault's list, no direction of a way; none that strikes every time could strike
//!   once (`remove_faults.rs`).
//! - No client, round, step or node can go, and no lock or object is left that nobody uses
//!   (`remove_hosts_and_steps.rs`). A `release` goes only with its acquire: a program that never releases claims for
//!   ever, and violates by itself. Nodes of a lock that takes a quorum stay, since with them would go part of the
//!   quorum; [`KeepNodes`] says otherwise.
//! - No duration can be the next shorter round one (`shorten_durations.rs`), no law a fixed value; no loss and no clock
//!   that is wrong can be left out (`simplify_settings.rs`).
//! - Moments are events and not times where one does as well (`anchor_to_events.rs`).
//!
//! A candidate counts as violating if the very predicate is violated (or the lock panics again) in a run that ended: a
//! run that was cut short proves a violation too, and is taken only if the run to be shrunk was one. **What is taken
//! away** has to leave the violation at the one seed. **What is only said otherwise** (a value, a law, a moment) has to
//! leave it also at as many of a few other seeds as before: so the result tends to violate at most seeds, and can be
//! put into a catalogue as it is. Where it is luck which client is first, one is made to wait (`reduce_luck.rs`). At
//! how many of a hundred seeds it violates is counted ([`Shrunk::others`]).
//!
//! Not shrunk: the lock, its switches and its ttl, what nodes keep, what the resource checks, and limits. They are
//! what the user asked about; a scenario in which they had gone back to their defaults would be about another lock.
//! Durations are those of the lock's world too: a shorter ttl would make all of them others.
//!
//! The order of all tries is fixed and nothing is drawn, so the same input comes to the same result on any machine.
//! There is no limit of time; [`Effort::replays_max`] bounds the work.
//!
//! Decision: "Shrinking keeps a removal if its seed still violates, and a rewording only if other seeds do too"
//! (docs/decisions/search.md).

mod description;
#[cfg(test)]
mod edits;
mod passes;
mod search;
mod windows;

use std::fmt;

use doublehold_history::{Predicate, Verdict};
#[cfg(doc)]
use doublehold_lockimpl::Nodes;
use doublehold_scenarios::Seed;
use doublehold_scenarios::error::ScenarioError;
use doublehold_scenarios::model::scenario::Scenario;
use doublehold_scenarios::report::Summary;
use doublehold_scenarios::{Engine, PrepareError, Stepped};
pub use passes::remove_hosts_and_steps::remove_client;
use search::ShrinkSearch;
use thiserror::Error;
pub use windows::Window;

/// At how many other seeds the result is tried.
const OTHERS: u64 = 100;

/// A run that violates something.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// What was run. Of one with weather, the faults that the seed draws are shrunk like any other.
    pub scenario: &'a Scenario,
    /// From which seed.
    pub seed: Seed,
    /// What is to be kept. [`Target::find_in`] finds it.
    pub target: Target,
}

/// What a run did that a smaller one is to do as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// It violates this predicate.
    Violates(Predicate),
    /// The lock's code panics.
    Panics,
}

impl Target {
    /// What one would ask about first: a panic, and then what breaks the promise of a lock before what follows from it:
    /// P2, P1, P3, P4, WR, LV.
    pub const ALL: [Target; Predicate::ALL.len() + 1] = [
        Target::Panics,
        Target::Violates(Predicate::P2),
        Target::Violates(Predicate::P1),
        Target::Violates(Predicate::P3),
        Target::Violates(Predicate::P4),
        Target::Violates(Predicate::WR),
        Target::Violates(Predicate::LV),
    ];

    /// The first of [`Target::ALL`] that a run shows.
    ///
    /// ```
    /// use doublehold_history::Predicate;
    /// use doublehold_scenarios::{Engine, Prepared, SimEngine, catalog};
    /// use doublehold_search::shrink::Target;
    ///
    /// let run = |name: &str| SimEngine.prepare(&catalog::load(name, &[]).unwrap()).unwrap().judge(1);
    /// assert_eq!(Target::find_in(&run("lease-pause")), Some(Target::Violates(Predicate::P1)));
    /// assert_eq!(Target::find_in(&run("quiet")), None);
    /// ```
    pub fn find_in(run: &Summary) -> Option<Target> {
        Target::ALL.into_iter().find(|target| target.is_in(run))
    }

    /// Whether a run shows it.
    pub fn is_in(self, run: &Summary) -> bool {
        match self {
            Target::Violates(predicate) => matches!(run.verdicts.get(predicate), Verdict::Violated(_)),
            Target::Panics => run.panicked.is_some(),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Violates(predicate) => write!(f, "{predicate} is violated"),
            Target::Panics => f.write_str("the lock panics"),
        }
    }
}

/// How far to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// How many runs may be made; what is left then is the result. Half a thousand are usual, and what takes
    /// [`Effort::REPLAYS_MIN`] is made in any case.
    pub replays_max: u64,
    /// The nodes that stay.
    pub nodes: KeepNodes,
    /// Whether what is taken away, too, has to leave the violation at as many other seeds as before. The result is
    /// larger, and depends less on luck.
    pub is_steady: bool,
}

/// The nodes that stay in a scenario that is made small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeepNodes {
    /// Those of a lock that takes a quorum of them, as its descriptor says ([`Nodes::Independent`]): a Redlock of one
    /// node is not a Redlock. Replicas may go, so one that stays is needed.
    #[default]
    OfQuorums,
    /// Every node of every lock.
    All,
    /// None for its own sake: with a node goes part of the quorum.
    None,
}

impl Effort {
    /// With fewer replays nothing is taken away: the run itself, what is told of it from [`Shrunk::others`], and room
    /// for a change that is under way when the replays end.
    pub const REPLAYS_MIN: u64 = OTHERS + 40;
}

impl Default for Effort {
    fn default() -> Effort {
        Effort { replays_max: 20_000, nodes: KeepNodes::default(), is_steady: false }
    }
}

/// The least scenario that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shrunk {
    /// The scenario: complete, and checked as a file is.
    pub scenario: Scenario,
    /// The seed of the run.
    pub seed: Seed,
    /// What the run does.
    pub target: Target,
    /// How many runs were made for it.
    pub replays: u64,
    /// Whether every single change was tried and lost the violation. If not, there were not enough replays.
    pub is_minimal: bool,
    /// True if nodes were not among the things that could go.
    pub keeps_nodes: bool,
    /// What there was to begin with.
    pub before: Size,
    /// What is left.
    pub after: Size,
    /// For how long and how late its faults still do it.
    pub windows: Vec<Window>,
    /// At how many of the seeds that follow it does the same, and of how many.
    pub others: (u64, u64),
}

/// How much there is in a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Faults.
    pub faults: usize,
    /// Clients.
    pub clients: usize,
    /// Steps of all programs, each once however often it is done.
    pub steps: usize,
    /// Redis nodes.
    pub nodes: usize,
}

impl Size {
    /// Measures a scenario.
    pub fn measure(scenario: &Scenario) -> Size {
        use doublehold_scenarios::model::scenario::Role;
        Size {
            faults: scenario.faults.len(),
            clients: scenario.clients.len(),
            steps: scenario.clients.iter().map(|client| client.program.len()).sum(),
            nodes: scenario.hosts.iter().filter(|host| host.role == Role::Node).count(),
        }
    }
}

/// Why there is nothing to shrink.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ShrinkError {
    /// The run does not do what is to be kept.
    #[error("the run of `{name}` from seed {seed} is no example: it does not show that {target}")]
    NoExample {
        /// The scenario.
        name: String,
        /// The seed.
        seed: Seed,
        /// What was looked for.
        target: Target,
    },
    /// The scenario is refused.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The scenario cannot be run.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
}

/// Shrinks a run.
///
/// # Errors
///
/// If the run does not show what is to be kept, or cannot be made at all.
///
/// ```
/// use doublehold_history::Predicate;
/// use doublehold_search::shrink::{Case, Effort, Target, shrink};
/// use doublehold_scenarios::{LeanEngine, Seed, catalog};
///
/// let scenario = catalog::load("clock-jump/k5-three-jumps", &[])?;
/// let case = Case { scenario: &scenario, seed: Seed(1), target: Target::Violates(Predicate::P2) };
/// let shrunk = shrink(&LeanEngine, &case, &Effort::default())?;
/// assert!(shrunk.is_minimal);
/// // The nodes of a quorum stay unless they are let go.
/// assert_eq!(shrunk.after.nodes, 5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn shrink<E>(engine: &E, case: &Case<'_>, effort: &Effort) -> Result<Shrunk, ShrinkError>
where
    E: Engine<Prepared: Stepped>,
{
    let mut search = ShrinkSearch::new(engine, case, effort)?;
    let before = Size::measure(search.scenario());
    search.run_passes(&passes::all());
    let is_minimal = !search.is_spent();
    let windows = windows::all(&mut search);
    let others = search.others(OTHERS);
    let run = search.current_run();
    let scenario = description::describe(search.scenario(), case.seed, case.target, &run, &others);
    Ok(Shrunk {
        scenario: scenario.validate_with(engine.locks())?,
        seed: case.seed,
        target: case.target,
        replays: search.replays(),
        is_minimal,
        keeps_nodes: search.keeps_nodes(),
        before,
        after: Size::measure(search.scenario()),
        windows,
        others: (others.iter().filter(|run| run.is_hit).count() as u64, OTHERS),
    })
}
