//! The causes of a violation: the run is made again without each thing that may have caused it.
//!
//! The question is about the first piece of evidence of the first predicate that is violated ([`Violation`]).
//! Candidates are every fault that had struck by then, what Sentinels made of it, clocks that are wrong from the
//! beginning, and a client that went on past its lease (`candidates.rs`). A candidate is **necessary** if, without it,
//!
//! - **the same run** (same seed, rest unchanged) is free of it: nothing like it happens to the same clients between
//!   100 ms before it began and 100 ms after it was over;
//! - **other runs that had it** are mostly free of it, too: at least three quarters of up to ten (five, where runs are
//!   long). These are runs from other seeds. Where fewer than five of those have it, other futures of this run are
//!   added: the same past until the candidate began, and everything random drawn anew after it. Where they are still
//!   fewer than ten, these count, and be it one; where none has it, nothing is a cause.
//!
//! A run that differs in one thing also draws other delays and has its clients in another order. So a violation that
//! depends on a coincidence is gone here whatever is taken away, and from some of the other runs. If it is gone from
//! two fifths to three quarters of these, the candidate was a cause by chance only ([`Found::Known`] has them apart).
//!
//! Every necessary candidate is named, with two exceptions:
//!
//! - A client that overran its lease, if something on its way made it late (that is told, and not the lateness).
//! - A change of roles without which nobody gets the lock any more, if nothing else is necessary and it answered a
//!   death: then the failover as a whole is tried.
//!
//! If none is necessary, all are taken away at once, and as many of them put back as can be. If any one of the rest is
//! enough, or any so many of all that are alike, that is the answer ([`AnyOf`]).
//!
//! Not looked at: sets of things that are needed only together in other ways than these; the clients that were there
//! and the setup of the lock (`why` asks that); P4, whose evidence has no moment. A question that would take more than
//! [`EVENTS_MAX`] events in all is not asked ([`Found::NotAsked`]). Assumes that the lock's code comes back.
//!
//! Decision: "A picture says `because` only after a run without the cause" (docs/decisions/search.md).
//! Decision: "A failover is removed as one if only its promotion is necessary" (docs/decisions/search.md).

pub(crate) mod answer;
mod any_of;
mod candidates;
mod trial;

use doublehold_history::ClientId;
use doublehold_scenarios::Futures;
use doublehold_scenarios::report::Report;
use doublehold_scenarios::scenario::{HostIndex, Role};

use crate::Violation;
use answer::{Cause, Causes, Found, Repeats, What};
use candidates::Candidate;
use trial::{TrialOutcome, TrialResult, Trials};

#[cfg(doc)]
use answer::AnyOf;

/// The most events that all runs for one answer may have, together: some seconds' worth.
pub const EVENTS_MAX: u64 = 4_000_000;

/// A run with what its first violation came from. It does not deref to its [`Report`]: a renderer would then lose
/// the causes without a word.
#[derive(Clone, Debug)]
pub struct Explained {
    /// The run.
    pub report: Report,
    /// The causes of its first violation; `None` where nothing with a moment is violated, or nobody asked.
    pub causes: Option<Causes>,
}

/// A run of whose causes nobody asked.
impl From<Report> for Explained {
    fn from(report: Report) -> Explained {
        Explained { report, causes: None }
    }
}

/// Finds out what the first violation of a run came from. `prepared` is of the lock and the connections that the run
/// had; its scenario does not matter. `None` where nothing with a moment is violated.
///
/// ```
/// use doublehold_diagnosis::cause::causes;
/// use doublehold_diagnosis::{Found, What};
/// use doublehold_scenarios::{Engine, Prepared, SimEngine, catalog};
///
/// let jump = SimEngine.prepare(&catalog::load("clock-jump", &[])?)?;
/// let report = jump.run(1);
/// let Some(Found::Known { needed, .. }) = causes(&jump, &report).map(|it| it.found) else { panic!() };
/// let What::Fault(places) = &needed[1].what else { panic!() };
/// assert_eq!(report.scenario.faults[places[0]].did(), "C's wall clock was stepped by +10 s");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn causes(prepared: &impl Futures, report: &Report) -> Option<Causes> {
    let told = Violation::find_first(report)?;
    let mut search = CauseSearch::new(prepared, report, &told);
    let found = search.find_causes();
    let (tried, runs) = (search.candidates.len(), search.trials.runs());
    Some(Causes { told, found, tried, runs })
}

/// The report with what its first violation came from.
pub fn explain(prepared: &impl Futures, report: Report) -> Explained {
    Explained { causes: causes(prepared, &report), report }
}

/// A question that is being answered.
struct CauseSearch<'a, P> {
    candidates: Vec<Candidate>,
    trials: Trials<'a, P>,
}

/// A candidate that is necessary.
struct Needed {
    place: usize,
    outcome: TrialOutcome,
    in_time: Vec<ClientId>,
    cause: Cause,
}

impl<'a, P: Futures> CauseSearch<'a, P> {
    fn new(prepared: &'a P, report: &'a Report, told: &'a Violation) -> CauseSearch<'a, P> {
        let candidates = candidates::all(report, told);
        CauseSearch { candidates, trials: Trials::new(prepared, report, told) }
    }

    fn find_causes(&mut self) -> Found {
        if !self.trials.can_be_asked(self.candidates.len()) {
            return Found::NotAsked;
        }
        let all: Vec<usize> = (0..self.candidates.len()).collect();
        let (mut needed, chance) = self.needed_parts(&all);
        let is_in_use = needed.iter().any(|it| it.outcome == TrialOutcome::Gone);
        if !is_in_use {
            self.replace_by_failover(&mut needed);
        }
        let is_in_use = needed.iter().any(|it| it.outcome == TrialOutcome::Gone);
        let (late, delays) = self.needed_overruns(&needed);
        needed.extend(late);
        let mut any = if delays.is_empty() { None } else { self.find_any_of(&delays) };
        if !is_in_use && any.is_none() && needed.iter().all(|it| it.outcome == TrialOutcome::OutOfUse) {
            any = self.find_any_of(&all);
        }
        // What is among those of which any are enough is not necessary beside them.
        let named: Vec<What> = any.iter().flat_map(|it| &it.of).map(|it| it.what.clone()).collect();
        let is_named = |it: &Needed| named.iter().any(|what| includes(what, &it.cause.what));
        let chance = chance.into_iter().filter(|it| !is_named(it)).map(|it| it.cause).collect();
        let needed: Vec<Cause> = needed.into_iter().filter(|it| !is_named(it)).map(|it| it.cause).collect();
        match () {
            () if self.trials.is_spent() => Found::NotAsked,
            () if needed.is_empty() && any.is_none() => Found::Nothing,
            () => Found::Known { needed, any, chance },
        }
    }

    /// Faults and wrong clocks that are necessary, and those that are by chance, in the order in which they began.
    fn needed_parts(&mut self, all: &[usize]) -> (Vec<Needed>, Vec<Needed>) {
        let is_part = |place: &&usize| {
            let candidate = &self.candidates[**place];
            !candidate.is_whole() && candidate.overrun().is_none()
        };
        let parts: Vec<usize> = all.iter().filter(is_part).copied().collect();
        let mut needed: Vec<Needed> = parts.into_iter().filter_map(|place| self.try_alone(place)).collect();
        needed.sort_by_key(|it| self.candidates[it.place].began);
        needed.into_iter().partition(|it| it.cause.repeats.are_causal())
    }

    /// A candidate, if it is necessary, be it by chance.
    fn try_alone(&mut self, place: usize) -> Option<Needed> {
        let what = [self.candidates[place].what.clone()];
        let here = self.trials.run_without(&what);
        if here.outcome == TrialOutcome::Stays {
            return None;
        }
        let repeats = self.repeats(&[place], &here);
        let cause = self.as_cause(place, repeats);
        let needed = Needed { place, outcome: here.outcome, in_time: here.in_time, cause };
        repeats.are_at_least_chance().then_some(needed)
    }

    /// Counts the other runs in which it is gone without all of these.
    fn repeats(&mut self, places: &[usize], here: &TrialResult) -> Repeats {
        let began = places.iter().map(|place| self.candidates[*place].began).min();
        self.trials.repeats(&self.whats(places), began.unwrap_or_default(), here)
    }

    fn as_cause(&self, place: usize, repeats: Repeats) -> Cause {
        let Candidate { what, began, has_twin, .. } = self.candidates[place].clone();
        Cause { what, began, has_twin, repeats }
    }

    /// Puts the failover in the place of its parts, if only changes of roles are necessary: without these nobody gets
    /// the lock.
    fn replace_by_failover(&mut self, needed: &mut Vec<Needed>) {
        let Some(whole) = self.candidates.iter().position(Candidate::is_whole) else { return };
        let is_part = |it: &Needed| self.candidates[whole].includes(&self.candidates[it.place]);
        if !needed.is_empty() && !needed.iter().all(is_part) {
            return;
        }
        let failover = self.try_alone(whole).filter(|it| it.cause.repeats.are_causal());
        if let Some(failover) = failover.filter(|it| it.outcome == TrialOutcome::Gone) {
            *needed = vec![failover];
        }
    }

    /// Overrun leases that are necessary, but for those of clients that something made late: these things come second.
    fn needed_overruns(&mut self, causes: &[Needed]) -> (Vec<Needed>, Vec<usize>) {
        let (mut needed, mut delays) = (Vec::new(), Vec::new());
        for place in 0..self.candidates.len() {
            let Some(client) = self.candidates[place].overrun() else { continue };
            let is_told = |it: &Needed| it.in_time.contains(&client) && self.could_delay(it.place, client);
            if causes.iter().any(is_told) {
                continue;
            }
            let could_delay = |it: &usize| self.candidates[*it].is_near && self.could_delay(*it, client);
            let on_its_way: Vec<usize> = (0..self.candidates.len()).filter(could_delay).collect();
            let without = self.whats(&on_its_way);
            if on_its_way.len() > 1 && self.trials.run_without(&without).in_time.contains(&client) {
                delays.extend(on_its_way);
            } else {
                needed.extend(self.try_alone(place).filter(|it| it.cause.repeats.are_causal()));
            }
        }
        (needed, delays)
    }

    /// True if it is on the client's own way: one that happened to another client alone only shifts it in time.
    fn could_delay(&self, place: usize, client: ClientId) -> bool {
        let scenario = &self.trials.report().scenario;
        let cast = scenario.cast();
        let own = candidates::host_of(scenario, client).map(|host| cast.machine(host));
        let is_on_its_way =
            |host: HostIndex| Some(host) == own || scenario.hosts[host.0].role != Role::Client;
        match &self.candidates[place].what {
            What::Fault(faults) | What::Failover(faults) => {
                let names = faults.iter().flat_map(|fault| scenario.faults[*fault].effect.hosts().0);
                let hosts: Vec<HostIndex> = names.filter_map(|name| cast.host(&name).ok()).collect();
                hosts.into_iter().any(is_on_its_way)
            }
            What::Clocks(host) | What::Promotion(host) => is_on_its_way(*host),
            What::Overrun(..) => false,
        }
    }

    fn whats(&self, places: &[usize]) -> Vec<What> {
        places.iter().map(|place| self.candidates[*place].what.clone()).collect()
    }
}

/// True if one thing is another, or a part of it.
fn includes(whole: &What, part: &What) -> bool {
    match (whole, part) {
        (What::Failover(all), What::Fault(some)) => some.iter().all(|fault| all.contains(fault)),
        (one, other) => one == other,
    }
}
