//! Runs without a candidate, and what became of the violation.
//!
//! Decision: "A cause must make the difference in other futures of the run, not only from other seeds"
//! (docs/decisions/search.md).
//! Decision: "A cause counts only if the lock stays in use without it" (docs/decisions/search.md).

use doublehold_history::{ClientId, RunOutcome, TrueNs, Verdicts};
use doublehold_scenarios::Futures;
use doublehold_scenarios::model::fault::Fault;
use doublehold_scenarios::model::scenario::{RatePpb, Scenario};
use doublehold_scenarios::report::Report;
use doublehold_scenarios::report::violation::{grants, nth};
use doublehold_scenarios::report::{Shares, Violation, What};
use doublehold_sim::Seed;

use super::candidates::{host_of, outlasts};
use super::{EVENTS_MAX, OTHERS};

/// Seeds far from those that people begin with, whose past they would repeat.
const FAR: u64 = 1_000_000;

/// The fate of the violation in the same run without something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TrialOutcome {
    /// It is gone.
    Gone,
    /// It is still there.
    Stays,
    /// Whoever came second is not granted the lock any more, or the run ended before.
    Unusable,
}

/// A run without something.
#[derive(Clone, Debug)]
pub(super) struct TrialResult {
    pub(super) came: TrialOutcome,
    /// The clients whose grants had outlasted their leases, and do not in this run.
    pub(super) in_time: Vec<ClientId>,
}

/// Makes runs, and counts what they cost.
pub(super) struct Trials<'a, P> {
    prepared: &'a P,
    report: &'a Report,
    told: &'a Violation,
    /// As the run was, but that nothing is inconclusive for a fault that does not strike: what it waits for may be
    /// taken away.
    scenario: Scenario,
    /// The grants that had outlasted their leases, by whose and which they are.
    late: Vec<(ClientId, usize)>,
    events: u64,
    runs: u64,
    /// Other seeds with everything, once they are counted.
    seeds_with: Option<u64>,
}

impl<'a, P: Futures> Trials<'a, P> {
    pub(super) fn new(prepared: &'a P, report: &'a Report, told: &'a Violation) -> Trials<'a, P> {
        let optional = |fault: &Fault| Fault { optional: true, ..fault.clone() };
        let faults = report.scenario.faults.iter().map(optional).collect();
        let scenario = Scenario { faults, weather: None, ..Scenario::clone(&report.scenario) };
        let numbered = told
            .grants
            .iter()
            .map(|(client, grant)| (*client, nth(&report.history, *client, told.lock, *grant)));
        let late = numbered.filter(|(client, nth)| outlasts(report, told, *client, *nth)).collect();
        Trials { prepared, report, told, scenario, late, events: 0, runs: 0, seeds_with: None }
    }

    /// The run that is asked about.
    pub(super) fn report(&self) -> &Report {
        self.report
    }

    /// The number of runs that were made.
    pub(super) fn runs(&self) -> u64 {
        self.runs
    }

    /// True if the run made again is the same, and short enough to be made often.
    pub(super) fn can_be_asked(&mut self) -> bool {
        let enough_for_one = self.report.events.saturating_mul(4 * OTHERS) <= EVENTS_MAX;
        enough_for_one && self.run_without(&[]).came == TrialOutcome::Stays
    }

    /// True if all runs together have more events than they may.
    pub(super) fn is_spent(&self) -> bool {
        self.events > EVENTS_MAX
    }

    /// The same run without these.
    pub(super) fn run_without(&mut self, what: &[What]) -> TrialResult {
        let unusable = TrialResult { came: TrialOutcome::Unusable, in_time: Vec::new() };
        let Some(prepared) = self.prepare_without(what).filter(|_| !self.is_spent()) else { return unusable };
        let run = prepared.run(self.report.seed);
        self.count(run.events);
        let told = self.told;
        let in_time = self.late.iter().filter(|(client, nth)| !outlasts(&run, told, *client, *nth));
        let in_time = in_time.map(|(client, _)| *client).collect();
        let came = if told.is_in(&run.verdicts) {
            TrialOutcome::Stays
        } else if self.is_usable(&run) {
            TrialOutcome::Gone
        } else {
            TrialOutcome::Unusable
        };
        TrialResult { came, in_time }
    }

    /// True if the run got past that time without a panic, and the second client gets the lock as often as before.
    fn is_usable(&self, run: &Report) -> bool {
        let completed = run.history.outcome() == Some(RunOutcome::Completed);
        let granted = self
            .told
            .second
            .is_none_or(|(client, times)| grants(&run.history, client, self.told.lock).len() >= times);
        granted && run.panicked.is_none() && (completed || run.ended >= self.told.ends_at())
    }

    /// Counts how often it comes about elsewhere, with these and without.
    pub(super) fn shares(&mut self, what: &[What], began: TrueNs) -> Shares {
        let told = self.told;
        let since = |verdicts: &Verdicts| told.is_in_since(verdicts, began);
        let near = |verdicts: &Verdicts| told.is_in_with_roles(verdicts);
        let futures_without = self.futures(what, began, since);
        // A candidate that can no longer be confirmed is not counted to its end.
        if futures_without * 6 > OTHERS {
            return Shares { futures_without, ..Shares::default() };
        }
        let futures_with = self.futures(&[], began, since);
        let seeds_without = self.seeds(what, near);
        if seeds_without > 0 && self.seeds_with.is_none() {
            self.seeds_with = Some(self.seeds(&[], near));
        }
        let seeds_with = self.seeds_with;
        Shares { futures_with, futures_without, seeds_with, seeds_without }
    }

    /// Counts the futures with the run's past up to an instant that do it.
    fn futures(&mut self, what: &[What], from: TrueNs, does: impl Fn(&Verdicts) -> bool) -> u64 {
        let Some(prepared) = self.prepare_without(what) else { return 0 };
        let seed = self.report.seed;
        self.count_of(does, |future| prepared.judge_future(seed, from, future))
    }

    /// Counts the other seeds that do it.
    fn seeds(&mut self, what: &[What], does: impl Fn(&Verdicts) -> bool) -> u64 {
        let Some(prepared) = self.prepare_without(what) else { return 0 };
        self.count_of(does, |seed| prepared.judge(seed))
    }

    fn count_of(
        &mut self,
        does: impl Fn(&Verdicts) -> bool,
        run: impl Fn(Seed) -> doublehold_scenarios::report::Summary,
    ) -> u64 {
        let mut count = 0;
        for number in 1..=OTHERS {
            if self.is_spent() {
                break;
            }
            let run = run(Seed(FAR + number));
            self.count(run.events);
            count += u64::from(does(&run.verdicts));
        }
        count
    }

    fn count(&mut self, events: u64) {
        self.events += events;
        self.runs += 1;
    }

    /// The scenario without these, ready to be run.
    fn prepare_without(&self, what: &[What]) -> Option<P> {
        let mut scenario = self.scenario.clone();
        let mut gone = Vec::new();
        for what in what {
            match what {
                What::Faults(places) => gone.extend(places.iter().copied()),
                What::Overrun(client) => {
                    let host = host_of(&scenario, *client)?;
                    let setup = scenario.clients.iter_mut().find(|setup| setup.host == host)?;
                    setup.ttl = Some(scenario.limits.time);
                }
                What::Clocks(host) => {
                    let host = scenario.hosts.get_mut(host.0)?;
                    (host.drift, host.wall_offset_ns) = (RatePpb(0), 0);
                }
            }
        }
        let mut place = 0_usize..;
        scenario.faults.retain(|_| !place.next().is_some_and(|place| gone.contains(&place)));
        self.prepared.with_scenario(&scenario).ok()
    }
}

#[cfg(test)]
mod tests;
