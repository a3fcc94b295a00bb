//! Systematic search: every placement of a few faults at the steps of a run, each of them run.
//!
//! A step is a moment that a file can name (an [`Event`](doublehold_scenarios::when::Event)): a message sent or
//! arrived, a command executed, a client's clock read, timer or mark, a process started. At each step each kind of
//! fault can strike with a few magnitudes ([`Kinds`]). A placement is a set of such faults.
//!
//! # Why each set is run, and once
//!
//! A set's faults strike in some order. The first strikes at a step of the run without faults, because until then
//! nothing is different. Each other one strikes at a step of the run with those before it, for the same reason, at that
//! run's step of the last or later. So listing for each set the steps of its own run from its last fault on, and
//! adding one fault there, gives every set whose faults all strike. It gives each once, since the run itself says in
//! which order its faults strike; two at one step are ordered as [`Kinds::at`] lists them. A fault that would never
//! strike changes nothing, so the other sets need no run.
//!
//! # Where faults strike, and what that leaves out
//!
//! A fault of a host strikes the host at which the step happens. Between two steps of its own a host does nothing, so a
//! fault that struck there would do what it does right after the first of the two, but for this:
//!
//! - **When it ends.** A pause that begins later ends later. Only two lengths are tried, from each step.
//! - **What others see of it.** A machine that dies closes its connections, so that a peer may learn of it before its
//!   next message or after it. Deaths strike at arrivals, which is the latest for every message, and not in between.
//! - **What passes by itself.** A key that expires between two steps of its node is not a step.
//!
//! A fault of a link strikes the link of a message, when it is sent and when it arrives. Also left out are other
//! magnitudes, steps that no file can name (the turns of tasks, connections being made, fsyncs, a node's timers), and
//! other seeds: the order in which tasks run at one instant, and what is random in a scenario, is drawn once for each
//! run from the one seed. With fixed delays that is little; see [`Exploration::is_drawn`].
//!
//! # Which waits are too long
//!
//! LV counts waits from the end of the last fault of a placement. A node that is down for longer than the bound makes
//! everybody wait, whatever the lock; what a lock is to be blamed for is that somebody waits on afterwards.
//!
//! # What it costs
//!
//! Runs go through the [`LeanEngine`]; what is shown is run again through redis-rs
//! ([`Exploration::is_reproduced_on`]), where a request that is given up at once is not sent. Memory grows by the
//! hash of each different run, 8 bytes in a B-tree, and by the minimal sets that are smaller than the largest tried.
//!
//! Decision: "`explore` places faults at steps, and each fault at the host of its step" (docs/decisions/search.md).
//! Decision: "`explore` counts waits from the end of the last fault" (docs/decisions/search.md).

mod batches;
mod checkpoint;
mod example;
mod findings;
mod kinds;
mod place;
mod ranking;
mod search;
mod world;

use std::collections::BTreeMap;

pub use checkpoint::ResumeError;
use doublehold_scenarios::model::scenario::{DelayLaw, Limits, Probability, Scenario, Step};
use doublehold_scenarios::model::when::Nth;
use doublehold_scenarios::{Engine, LeanEngine, PrepareError, PreparedSim, Stepped};
use doublehold_sim::Seed;
pub use findings::{Explored, Group, MinimalPlacements, TriedPlacement, UndecidedRuns, Violations};
pub use kinds::Kinds;
pub use place::Place;
use thiserror::Error;
pub use world::{CLIENTS, small_world};

/// How many faults a placement may have at most: with more, no world is small enough.
pub const FAULTS_MAX: usize = 5;

/// A search that is not begun.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ExploreError {
    /// Not that many.
    #[error("{given} faults cannot be placed\nhint: name a number from 1 to {FAULTS_MAX}")]
    Faults {
        /// How many were asked for.
        given: usize,
    },
    /// No kind was named.
    #[error("no kind of fault is named, so there is nothing to place\nhint: name some of {known}")]
    NoKinds {
        /// Those there are.
        known: String,
    },
    /// A word that is no kind.
    #[error("there is no kind of fault `{kind}`\nhint: {hint}")]
    UnknownKind {
        /// The word.
        kind: String,
        /// The closest, or all.
        hint: String,
    },
    /// A kind that a search does not place.
    #[error("faults of kind `{kind}` are not placed one by one\nhint: name some of {known}")]
    NotPlaced {
        /// The kind.
        kind: String,
        /// Those that are.
        known: String,
    },
    /// A kind that strikes nowhere here.
    #[error(
        "faults of kind `{kind}` strike at no step of this run\nhint: leave it out, or use a world that has {needs}"
    )]
    Idle {
        /// The kind.
        kind: &'static str,
        /// What is missing.
        needs: &'static str,
    },
    /// The scenario cannot be run.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
}

/// A search over the placements of faults in one scenario, ready to begin.
///
/// ```
/// use std::num::NonZeroUsize;
///
/// use doublehold_history::Predicate;
/// use doublehold_scenarios::catalog;
/// use doublehold_search::explore::Exploration;
/// use doublehold_search::shrink::Target;
///
/// let scenario = catalog::load("lease-pause", &[])?;
/// let exploration = Exploration::new(&scenario, &["pause"], 1, 1)?;
/// let found = exploration.run(exploration.begin(), NonZeroUsize::MIN, || false, |_, _| ());
/// assert!(found.complete && found.runs_with(Target::Violates(Predicate::P3)) > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Exploration<P = PreparedSim> {
    engine: &'static str,
    prepared: P,
    kinds: Kinds,
    faults: usize,
    seed: Seed,
    /// Those of the run without faults.
    steps: Vec<Nth>,
}

impl Exploration {
    /// A search on the [`LeanEngine`]: see [`Exploration::with_engine`].
    ///
    /// # Errors
    ///
    /// If the number, a kind or the scenario cannot be used.
    pub fn new(
        scenario: &Scenario,
        kinds: &[impl AsRef<str>],
        faults: usize,
        seed: impl Into<Seed>,
    ) -> Result<Exploration, ExploreError> {
        Exploration::with_engine(&LeanEngine, scenario, kinds, faults, seed)
    }
}

impl<P: Stepped> Exploration<P> {
    /// A search in which placements have at most so many faults of these kinds. Faults and expectations of the scenario
    /// are left out, and LV counts waits from the end of the last fault, also where the scenario does not.
    ///
    /// # Errors
    ///
    /// If the number, a kind or the scenario cannot be used.
    pub fn with_engine(
        engine: &impl Engine<Prepared = P>,
        scenario: &Scenario,
        kinds: &[impl AsRef<str>],
        faults: usize,
        seed: impl Into<Seed>,
    ) -> Result<Exploration<P>, ExploreError> {
        if !(1..=FAULTS_MAX).contains(&faults) {
            return Err(ExploreError::Faults { given: faults });
        }
        let kinds = Kinds::parse(kinds, scenario)?;
        let bare = Scenario {
            faults: Vec::new(),
            weather: None,
            expect: BTreeMap::new(),
            sets: Vec::new(),
            limits: Limits { after_faults: true, ..scenario.limits },
            ..scenario.clone()
        };
        let prepared = engine.prepare(&bare)?;
        let seed = seed.into();
        let steps = prepared.steps(seed);
        if let Some(kind) = kinds.find_idle(&steps) {
            let needs = if kind == "promote" { "replicas" } else { "clients that talk to a node" };
            return Err(ExploreError::Idle { kind, needs });
        }
        Ok(Exploration { engine: engine.name(), prepared, kinds, faults, seed, steps })
    }

    /// The scenario without faults and expectations.
    pub fn scenario(&self) -> &Scenario {
        self.prepared.scenario()
    }

    /// The kinds of faults, with their magnitudes.
    pub fn kinds(&self) -> &Kinds {
        &self.kinds
    }

    /// How many faults a placement has at most.
    pub fn faults(&self) -> usize {
        self.faults
    }

    /// The seed of every run.
    pub fn seed(&self) -> Seed {
        self.seed
    }

    /// The steps of the run without faults.
    pub fn steps(&self) -> &[Nth] {
        &self.steps
    }

    /// How many placements there would be if no fault changed which steps come after it. Of one fault that is exact.
    pub fn estimate(&self) -> u128 {
        let places = self.steps.iter().map(|step| self.kinds.at(step).len() as u128).sum::<u128>();
        // Choices of `size` out of all, each from the last: C(n, k) = C(n, k - 1) · (n - k + 1) / k.
        let mut choices = 1_u128;
        let mut sum = 0_u128;
        for size in 1..=self.faults as u128 {
            choices = choices.saturating_mul(places.saturating_sub(size - 1)) / size;
            sum = sum.saturating_add(choices);
        }
        sum
    }

    /// What is known before the first placement is tried: what the run without faults comes to.
    #[must_use]
    pub fn begin(&self) -> Explored {
        let mut found = Explored::default();
        found.add(
            &[],
            &TriedPlacement::from_summary(&self.prepared.judge(self.seed)),
            self.faults,
            &self.kinds,
        );
        found
    }

    /// Whether anything in the scenario is random, so that another seed can show something else.
    pub fn is_drawn(&self) -> bool {
        let is_fixed = |law: &DelayLaw| matches!(law, DelayLaw::Fixed(_));
        let Scenario { link, links, nodes, sentinels, clients, .. } = self.scenario();
        let mut links = links.iter().map(|(_, _, link)| link).chain([link]);
        let works = |step: &Step| step.law().is_some_and(|law| !is_fixed(law));
        links.any(|link| !is_fixed(&link.delay) || link.loss != Probability::NEVER)
            || !is_fixed(&nodes.fsync_time)
            || !is_fixed(&nodes.command_time.others)
            || !nodes.command_time.own.values().all(is_fixed)
            || sentinels.is_some()
            || clients.iter().any(|client| !is_fixed(&client.retry) || client.program.iter().any(works))
    }

    /// The run of a placement.
    fn prepare_placement(&self, places: &[Place]) -> P {
        let faults =
            places.iter().map(|place| place.fault(&self.kinds).expect("a fault of this search")).collect();
        self.prepared.with_faults(faults).expect("the scenario has the hosts of its own steps")
    }

    /// Every fault that can strike next, in order: at the step of the last or later, in the run of those so far.
    fn next_places(&self, places: &[Place]) -> Vec<Place> {
        let Some(last) = places.last() else { return self.places_from(&self.steps, 0) };
        let steps = self.prepare_placement(places).steps(self.seed);
        let begin =
            steps.iter().position(|step| *step == last.at).expect("the last fault struck at its step");
        self.places_from(&steps[begin..], last.choice + 1)
    }

    /// Every fault at these steps, at the first of them without so many.
    fn places_from(&self, steps: &[Nth], skip: usize) -> Vec<Place> {
        let place = |step: &Nth| {
            let choices = 0..self.kinds.at(step).len();
            choices.map(|choice| Place { at: step.clone(), choice }).collect::<Vec<_>>()
        };
        steps.iter().flat_map(place).skip(skip).collect()
    }
}
