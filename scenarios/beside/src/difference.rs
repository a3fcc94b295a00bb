//! The difference of two locks in one plan, for whoever asks what caused it.
//!
//! Its runs are those of the first lock. The predicate that is asked about counts as violated only where the reference
//! keeps it under the same faults. So a cause is what separates the locks: also a fault without which the first lock
//! would break the rule in the same way, and the reference as well.
//!
//! Assumes that the reference keeps the predicate in the plan itself.
//!
//! Decision: "The causes of an example are what separates the locks" (docs/decisions/search.md).

use doublehold_history::{Predicate, TrueNs, Verdict, Verdicts};
use doublehold_scenarios::fault::Fault;
use doublehold_scenarios::model::host::UnknownHost;
use doublehold_scenarios::report::{Report, Summary};
use doublehold_scenarios::scenario::Scenario;
use doublehold_scenarios::weather::Climate;
use doublehold_scenarios::{Futures, PrepareError, Prepared, Searchable, Seed};

/// Both locks, prepared for one plan.
#[derive(Debug)]
pub struct Difference<M, T> {
    mine: M,
    theirs: T,
    predicate: Predicate,
}

impl<M: Prepared, T: Prepared> Difference<M, T> {
    /// The difference of the first lock and the reference in this predicate.
    pub fn new(mine: M, theirs: T, predicate: Predicate) -> Difference<M, T> {
        Difference { mine, theirs, predicate }
    }

    /// The run of the reference from a seed.
    pub fn run_theirs(&self, seed: Seed) -> Report {
        self.theirs.run(seed)
    }

    /// The verdicts of the first lock, with the predicate kept where the reference breaks it as well.
    fn verdicts(&self, mine: Verdicts, theirs: &Verdicts) -> Verdicts {
        match theirs.get(self.predicate) {
            Verdict::Violated(_) => mine.with(self.predicate, Verdict::Holds),
            _ => mine,
        }
    }
}

impl<M: Prepared, T: Prepared> Prepared for Difference<M, T> {
    type Record = M::Record;

    fn judge(&self, seed: impl Into<Seed>) -> Summary {
        let seed = seed.into();
        let run = self.mine.judge(seed);
        let verdicts = self.verdicts(run.verdicts, &self.theirs.judge(seed).verdicts);
        Summary { verdicts, ..run }
    }

    fn run(&self, seed: impl Into<Seed>) -> Report {
        self.run_traced(seed).0
    }

    fn run_traced(&self, seed: impl Into<Seed>) -> (Report, Vec<M::Record>) {
        let seed = seed.into();
        let (run, records) = self.mine.run_traced(seed);
        let verdicts = self.verdicts(run.verdicts, &self.theirs.judge(seed).verdicts);
        (Report { verdicts, told: Some(self.predicate), ..run }, records)
    }
}

impl<M: Searchable, T: Searchable> Searchable for Difference<M, T> {
    fn scenario(&self) -> &Scenario {
        self.mine.scenario()
    }

    fn climate(&self) -> Option<&Climate> {
        self.mine.climate()
    }

    fn with_faults(&self, faults: Vec<Fault>) -> Result<Self, UnknownHost> {
        let mine = self.mine.with_faults(faults.clone())?;
        Ok(Difference { mine, theirs: self.theirs.with_faults(faults)?, predicate: self.predicate })
    }

    fn with_scenario(&self, scenario: &Scenario) -> Result<Self, PrepareError> {
        let mine = self.mine.with_scenario(scenario)?;
        let theirs = with_own_lock(&self.theirs, scenario)?;
        Ok(Difference { mine, theirs, predicate: self.predicate })
    }
}

impl<M: Futures, T: Futures> Futures for Difference<M, T> {
    fn judge_future(&self, seed: impl Into<Seed>, from: TrueNs, future: Seed) -> Summary {
        let seed = seed.into();
        let run = self.mine.judge_future(seed, from, future);
        let theirs = self.theirs.judge_future(seed, from, future);
        Summary { verdicts: self.verdicts(run.verdicts, &theirs.verdicts), ..run }
    }
}

/// A scenario of another lock, prepared with the lock that `prepared` has.
pub(crate) fn with_own_lock<T: Searchable>(prepared: &T, scenario: &Scenario) -> Result<T, PrepareError> {
    let own = &prepared.scenario().lock;
    let mut scenario = scenario.clone();
    scenario.lock.algorithm.clone_from(&own.algorithm);
    scenario.lock.switches = own.switches.clone();
    prepared.with_scenario(&scenario)
}
