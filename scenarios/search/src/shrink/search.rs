//! The state of a search: the least scenario so far, and what asks whether a smaller one will do.
//!
//! A pass proposes changes; here they are run, counted, and kept or dropped. A pass that was refused in everything is
//! not asked again until another one has changed something.
//!
//! Decision: "Shrinking keeps all nodes of a quorum" (docs/decisions/search.md).

use std::collections::BTreeMap;
use std::rc::Rc;

use doublehold_history::{Predicate, RunOutcome, TrueNs};
use doublehold_lockimpl::{Descriptor, Nodes};
use doublehold_scenarios::Seed;
use doublehold_scenarios::model::fault::Fault;
use doublehold_scenarios::model::scenario::Scenario;
use doublehold_scenarios::model::when::Nth;
use doublehold_scenarios::report::{Report, Summary};
use doublehold_scenarios::{Engine, Prepared, Searchable, Stepped};

use super::{Case, Effort, KeepNodes, ShrinkError, Target};

/// How many other seeds a change of a value is tried at, beside the one of the run.
const PROBES: u64 = 8;

/// A scenario to be tried in place of the least so far.
#[derive(Clone)]
pub(super) enum Candidate {
    /// Other faults, and all else the same: cheap to prepare.
    Faults(Vec<Fault>),
    /// Another scenario. It is checked before it is run: nobody knows whether the engine can make a world of it.
    Whole(Box<Scenario>),
}

impl From<Scenario> for Candidate {
    fn from(scenario: Scenario) -> Candidate {
        Candidate::Whole(Box::new(scenario))
    }
}

/// Where a changed scenario has to violate to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    /// At the seed of the run.
    Seed,
    /// There, and at as many of the other seeds as before.
    Seeds,
    /// There, and at more of the other seeds than before.
    MoreSeeds,
}

/// The run of the least scenario from another seed. Without its evidence: a long run has megabytes of it.
pub(super) struct OtherRun {
    /// Whether it is one of those that are looked for.
    pub(super) is_hit: bool,
    /// The word for each verdict.
    pub(super) verdicts: BTreeMap<Predicate, &'static str>,
}

/// Proposes changes until none is accepted.
pub(super) type Pass<E> = fn(&mut ShrinkSearch<'_, E>);

/// The least scenario so far.
pub(super) struct ShrinkSearch<'a, E: Engine> {
    engine: &'a E,
    locks: Vec<Descriptor>,
    seed: Seed,
    target: Target,
    effort: Effort,
    /// How runs may end: those that came to their end, and as the first one did.
    ends: [RunOutcome; 3],
    current: E::Prepared,
    replays: u64,
    /// How often a change was accepted.
    changes: u64,
    /// The run of the scenario after so many changes.
    run: Option<(u64, Rc<Report>)>,
    /// At how many of the other seeds the scenario violates, after so many changes.
    steady: Option<(u64, u64)>,
}

impl<'a, E: Engine<Prepared: Stepped>> ShrinkSearch<'a, E> {
    pub(super) fn new(
        engine: &'a E,
        case: &Case<'_>,
        effort: &Effort,
    ) -> Result<ShrinkSearch<'a, E>, ShrinkError> {
        let locks = engine.locks();
        case.scenario.validate_with(locks.clone())?;
        let mut current = engine.prepare(case.scenario)?;
        if case.scenario.weather.is_some() {
            // The faults that it drew are faults like any other.
            current = engine.prepare(&current.run(case.seed).scenario)?;
        }
        let run = current.judge(case.seed);
        if !case.target.is_in(&run) {
            let name = case.scenario.name.clone();
            return Err(ShrinkError::NoExample { name, seed: case.seed, target: case.target });
        }
        Ok(ShrinkSearch {
            engine,
            locks,
            seed: case.seed,
            target: case.target,
            effort: *effort,
            ends: [RunOutcome::Completed, RunOutcome::Stalled, run.outcome],
            current,
            replays: 1,
            changes: 0,
            run: None,
            steady: None,
        })
    }

    pub(super) fn scenario(&self) -> &Scenario {
        self.current.scenario()
    }

    /// True if every node stays.
    pub(super) fn keeps_nodes(&self) -> bool {
        let algorithm = &self.scenario().lock.algorithm;
        let is_quorum = |lock: &Descriptor| lock.name == *algorithm && lock.nodes == Nodes::Independent;
        match self.effort.nodes {
            KeepNodes::OfQuorums => self.locks.iter().any(is_quorum),
            KeepNodes::All => true,
            KeepNodes::None => false,
        }
    }

    pub(super) fn replays(&self) -> u64 {
        self.replays
    }

    /// Whether no more runs may be made, but for those that are made in any case. A change asks before it is tried,
    /// and one takes at most 17 runs.
    pub(super) fn is_spent(&self) -> bool {
        self.replays.saturating_add(Effort::REPLAYS_MIN) > self.effort.replays_max
    }

    /// Goes through the passes until each has been refused in everything since the last change.
    pub(super) fn run_passes(&mut self, passes: &[Pass<E>]) {
        let mut refused_since = vec![None; passes.len()];
        while !self.is_spent() {
            let stale = (0..passes.len()).find(|&pass| refused_since[pass] != Some(self.changes));
            let Some(pass) = stale else { return };
            let before = self.changes;
            passes[pass](self);
            if self.changes == before {
                refused_since[pass] = Some(before);
            }
        }
    }

    /// Tries what `propose` makes of the least scenario so far, in turn, until all of it is refused. After a change it
    /// is asked anew, and tried from where it was.
    pub(super) fn sweep(&mut self, keep: Keep, propose: impl Fn(&mut Self) -> Vec<Candidate>) {
        let (mut place, mut refused) = (0, 0);
        let mut candidates: Vec<Option<Candidate>> = propose(self).into_iter().map(Some).collect();
        while refused < candidates.len() && !self.is_spent() {
            place %= candidates.len();
            let accepted = candidates[place].take().is_some_and(|candidate| self.accepts(candidate, keep));
            if accepted {
                refused = 0;
                candidates = propose(self).into_iter().map(Some).collect();
            } else {
                refused += 1;
                place += 1;
            }
        }
    }

    /// Runs a candidate, and takes it for the least scenario if it violates and is one that a file could say.
    pub(super) fn accepts(&mut self, candidate: Candidate, keep: Keep) -> bool {
        if self.is_spent() {
            return false;
        }
        let is_checked = matches!(candidate, Candidate::Whole(_));
        let Some(prepared) = self.prepare(candidate) else { return false };
        if !self.violates(&prepared, self.seed) {
            return false;
        }
        if !is_checked && !self.is_sound(prepared.scenario()) {
            return false;
        }
        if keep != Keep::Seed || self.effort.is_steady {
            let wanted = self.steadiness() + u64::from(keep == Keep::MoreSeeds);
            let Some(found) = self.violating_probes(&prepared, wanted) else { return false };
            self.steady = Some((self.changes + 1, found));
        }
        self.current = prepared;
        self.changes += 1;
        true
    }

    /// Whether a candidate violates at the seed of the run; it is kept by nobody.
    pub(super) fn still_violates(&mut self, candidate: Candidate) -> bool {
        if self.is_spent() {
            return false;
        }
        let seed = self.seed;
        self.prepare(candidate).is_some_and(|prepared| self.violates(&prepared, seed))
    }

    /// Runs the least scenario so far from other seeds: those after the seed of the run.
    pub(super) fn others(&mut self, count: u64) -> Vec<OtherRun> {
        let seed = self.seed.0;
        let run = |step| {
            let run = self.current.judge(Seed(seed.wrapping_add(step)));
            let verdicts = run.verdicts.iter().map(|(predicate, verdict)| (predicate, verdict.as_str()));
            OtherRun { is_hit: self.is_hit(&run), verdicts: verdicts.collect() }
        };
        let runs = (1..=count).map(run).collect();
        self.replays += count;
        runs
    }

    fn prepare(&self, candidate: Candidate) -> Option<E::Prepared> {
        match candidate {
            Candidate::Faults(faults) => self.current.with_faults(faults).ok(),
            Candidate::Whole(scenario) if self.is_sound(&scenario) => self.engine.prepare(&scenario).ok(),
            Candidate::Whole(_) => None,
        }
    }

    fn is_sound(&self, scenario: &Scenario) -> bool {
        scenario.validate_with(self.locks.clone()).is_ok()
    }

    /// Whether the run from a seed ended and violates.
    fn violates(&mut self, prepared: &E::Prepared, seed: Seed) -> bool {
        let run = self.judge(prepared, seed);
        self.is_hit(&run)
    }

    /// Whether a run is one of those that are looked for.
    pub(super) fn is_hit(&self, run: &Summary) -> bool {
        self.target.is_in(run) && (self.target == Target::Panics || self.ends.contains(&run.outcome))
    }

    pub(super) fn judge(&mut self, prepared: &E::Prepared, seed: Seed) -> Summary {
        self.replays += 1;
        prepared.judge(seed)
    }

    /// Whether the least scenario so far violates at all of the other seeds.
    pub(super) fn is_steady(&mut self) -> bool {
        self.steadiness() == PROBES
    }

    /// At how many of the other seeds the least scenario so far violates.
    fn steadiness(&mut self) -> u64 {
        if let Some((changes, found)) = self.steady
            && changes == self.changes
        {
            return found;
        }
        let mut found = 0;
        for probe in self.probes() {
            self.replays += 1;
            let run = self.current.judge(probe);
            found += u64::from(self.is_hit(&run));
        }
        self.steady = Some((self.changes, found));
        found
    }

    /// Number of the other seeds at which this violates, if it does at so many.
    fn violating_probes(&mut self, prepared: &E::Prepared, wanted: u64) -> Option<u64> {
        let mut found = 0;
        for (probe, left) in self.probes().zip((0..PROBES).rev()) {
            found += u64::from(self.violates(prepared, probe));
            if found + left < wanted {
                return None;
            }
        }
        Some(found)
    }

    fn probes(&self) -> impl Iterator<Item = Seed> + use<E> {
        let seed = self.seed.0;
        (1..=PROBES).map(move |step| Seed(seed.wrapping_add(step)))
    }

    /// The run of the least scenario so far.
    pub(super) fn current_run(&mut self) -> Rc<Report> {
        if let Some((changes, run)) = &self.run
            && *changes == self.changes
        {
            return run.clone();
        }
        self.replays += 1;
        let run = Rc::new(self.current.run(self.seed));
        self.run = Some((self.changes, run.clone()));
        run
    }

    /// The steps of that run, and when it came by each.
    pub(super) fn steps(&mut self) -> Vec<(TrueNs, Nth)> {
        self.replays += 1;
        self.current.timed_steps(self.seed)
    }
}

#[cfg(test)]
mod tests;
