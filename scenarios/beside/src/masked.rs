//! Both locks as one engine for the shrinker: its runs are those of the first lock, and they count as violating only
//! where the reference holds in the very same plan.
//!
//! So whatever is taken away or reworded keeps the difference, and the shrinker needs to know nothing of pairs.
//!
//! The same plan is not always the same strain. A pause at "c1's 11th clock read" may fall before the write of one lock
//! and after that of the other, since one of them reads its clock once more. So every fault must strike in the
//! reference's run as well, and at nearly the same time. The reference must also hold where the faults strike one or
//! two steps sooner or later.
//!
//! Decision: "An example must hold up against moved faults" (docs/decisions/search.md).

use std::time::Duration;

use doublehold_history::{Evidence, Overlap, Predicate, TrueNs, Verdict};
use doublehold_lockimpl::Descriptor;
use doublehold_scenarios::fault::Fault;
use doublehold_scenarios::model::host::UnknownHost;
use doublehold_scenarios::report::{Hit, Report, Summary};
use doublehold_scenarios::scenario::Scenario;
use doublehold_scenarios::weather::Climate;
use doublehold_scenarios::when::{Nth, When};
use doublehold_scenarios::{Engine, PrepareError, Prepared, Searchable, Seed, Stepped};

use crate::difference::with_own_lock;
use crate::sides::LockSide;

/// What only the first lock is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WantedBreach {
    /// What it breaks, and the reference keeps.
    pub predicate: Predicate,
    /// For how long two hold at once at least, where the predicate is about that.
    pub overlap: Duration,
    /// The time within which a fault must first strike both; any time if none.
    pub apart: Option<Duration>,
}

impl WantedBreach {
    /// Whether a run shows it.
    pub fn is_in(&self, run: &Summary) -> bool {
        let Verdict::Violated(evidence) = run.verdicts.get(self.predicate) else { return false };
        let is_long = |overlap: &Overlap| {
            overlap.open_ended || Duration::from_nanos(overlap.to.since(overlap.from)) >= self.overlap
        };
        evidence.iter().any(|it| match it {
            Evidence::Overlap(overlap) => is_long(overlap),
            _ => true,
        })
    }

    /// True if a run of the reference shows that it keeps it under the faults that struck `mine`.
    pub fn is_kept_in(&self, theirs: &Summary, mine: &Summary) -> bool {
        let is_near = |(theirs, mine): (&Hit, &Hit)| match (theirs.first, mine.first, self.apart) {
            (Some(theirs), Some(mine), Some(apart)) => {
                u128::from(theirs.0.abs_diff(mine.0)) <= apart.as_nanos()
            }
            (Some(_), _, _) => true,
            (None, _, _) => false,
        };
        let is_struck = theirs.faults.iter().zip(&mine.faults).all(is_near);
        *theirs.verdicts.get(self.predicate) == Verdict::Holds && is_struck
    }
}

/// How many steps sooner or later the reference is struck as well.
const MOVES: [i32; 4] = [-2, -1, 1, 2];
/// How far a fault at a time is moved for a step.
const MOVE: Duration = Duration::from_millis(20);

/// Both locks as one engine.
pub(crate) struct Masked<'a, A, B> {
    pub(crate) mine: &'a A,
    pub(crate) theirs: &'a LockSide<B>,
    pub(crate) wanted: WantedBreach,
}

/// One scenario, prepared for both.
pub(crate) struct MaskedPair<M, T> {
    mine: M,
    theirs: T,
    /// The reference with its faults a little sooner or later.
    moved: Vec<T>,
    wanted: WantedBreach,
}

impl<A: Engine, B: Engine> Engine for Masked<'_, A, B>
where
    A: Engine<Prepared: Stepped>,
    B: Engine<Prepared: Stepped>,
{
    type Prepared = MaskedPair<A::Prepared, B::Prepared>;

    fn name(&self) -> &'static str {
        self.mine.name()
    }

    fn locks(&self) -> Vec<Descriptor> {
        self.mine.locks()
    }

    fn prepare(&self, scenario: &Scenario) -> Result<Self::Prepared, PrepareError> {
        let their_scenario = self.theirs.in_place_of(scenario);
        let their_scenario =
            their_scenario.map_err(|_| PrepareError::NoSuchLock(self.theirs.lock.clone()))?;
        let theirs = self.theirs.engine.prepare(&their_scenario)?;
        let moved = moved(&theirs, &scenario.faults)?;
        Ok(MaskedPair { mine: self.mine.prepare(scenario)?, theirs, moved, wanted: self.wanted })
    }
}

/// The same with these faults, a little sooner or later.
fn moved<T: Searchable>(theirs: &T, faults: &[Fault]) -> Result<Vec<T>, UnknownHost> {
    let moves = if faults.is_empty() { &[][..] } else { &MOVES[..] };
    let all = |by: &i32| theirs.with_faults(faults.iter().map(|fault| move_fault(fault, *by)).collect());
    moves.iter().map(all).collect()
}

fn move_fault(fault: &Fault, by: i32) -> Fault {
    let mut fault = fault.clone();
    match &mut fault.at {
        When::At(at) if by < 0 => *at = at.saturating_sub(MOVE * by.unsigned_abs()),
        When::At(at) => *at += MOVE * by.unsigned_abs(),
        When::On { events, .. } => {
            if let Some(last) = events.last_mut() {
                last.nth = last.nth.saturating_add_signed(by).max(1);
            }
        }
    }
    fault.optional = true;
    fault
}

impl<M: Prepared, T: Prepared> MaskedPair<M, T> {
    /// Whether the reference holds in the same plan, and in those that are moved.
    fn is_kept(&self, mine: &Summary, seed: Seed) -> bool {
        let kept = self.wanted.is_kept_in(&self.theirs.judge(seed), mine);
        let holds = |moved: &T| {
            !matches!(moved.judge(seed).verdicts.get(self.wanted.predicate), Verdict::Violated(_))
        };
        kept && self.moved.iter().all(holds)
    }
}

impl<M: Prepared, T: Prepared> Prepared for MaskedPair<M, T> {
    type Record = M::Record;

    fn judge(&self, seed: impl Into<Seed>) -> Summary {
        let seed = seed.into();
        let run = self.mine.judge(seed);
        if self.wanted.is_in(&run) && self.is_kept(&run, seed) {
            return run;
        }
        let verdicts = run.verdicts.with(self.wanted.predicate, Verdict::Holds);
        Summary { verdicts, ..run }
    }

    fn run(&self, seed: impl Into<Seed>) -> Report {
        self.mine.run(seed)
    }

    fn run_traced(&self, seed: impl Into<Seed>) -> (Report, Vec<M::Record>) {
        self.mine.run_traced(seed)
    }
}

impl<M: Searchable, T: Searchable> Searchable for MaskedPair<M, T> {
    fn scenario(&self) -> &Scenario {
        self.mine.scenario()
    }

    fn climate(&self) -> Option<&Climate> {
        self.mine.climate()
    }

    fn with_faults(&self, faults: Vec<Fault>) -> Result<Self, UnknownHost> {
        Ok(MaskedPair {
            mine: self.mine.with_faults(faults.clone())?,
            moved: moved(&self.theirs, &faults)?,
            theirs: self.theirs.with_faults(faults)?,
            wanted: self.wanted,
        })
    }

    fn with_scenario(&self, scenario: &Scenario) -> Result<Self, PrepareError> {
        let theirs = with_own_lock(&self.theirs, scenario)?;
        Ok(MaskedPair {
            mine: self.mine.with_scenario(scenario)?,
            moved: moved(&theirs, &scenario.faults)?,
            theirs,
            wanted: self.wanted,
        })
    }
}

impl<M: Stepped, T: Searchable> Stepped for MaskedPair<M, T> {
    fn timed_steps(&self, seed: impl Into<Seed>) -> Vec<(TrueNs, Nth)> {
        self.mine.timed_steps(seed)
    }
}
