//! The causes of a violation: the run is made again without each thing that may have caused it.
//!
//! The question is about the first piece of evidence of the first predicate that is violated ([`Violation`]).
//! Candidates are every fault that had struck by then, clocks that are wrong from the beginning, and a client that went
//! on past its lease (`candidates.rs`). A candidate is called a cause if, without it,
//!
//! - **the same run** (same seed, rest unchanged) is free of it: nothing like it happens to the same clients between
//!   100 ms before it began and 100 ms after it was over, that time is reached, and whoever came second is granted the
//!   lock as often as before. Without the last condition, anything that keeps a lock out of use would prevent all that
//!   is done with it: taking away a promotion would "mend" a lock by leaving it without a master;
//! - **other futures** of the run seldom do it: of 20, which have its past up to the moment at which the cause began
//!   and draw everything random anew from then on, at least 6 do it with the cause, and at most a sixth as many
//!   without. A run that differs in one thing also draws other delays. So a violation that depends on a coincidence is
//!   gone whatever is taken away; this condition tells it from one with a cause. Six of 20 beside one of 20 is the
//!   first difference that chance shows less than once in twenty (Fisher's exact test), and so are the multiples of it;
//! - **other runs** seldom do it with the same client first: of those from 20 other seeds none does, or at most a sixth
//!   as many as with it. The order of the clients is luck there, and the other one may hold on too long for reasons of
//!   its own.
//!
//! Several candidates that are each needed are causes together. If none is needed, all are taken away at once, and as
//! many of them put back as can be. The rest, if it is no more than [`EITHER_MAX`], is a set any one of which would
//! have been enough ([`Found::Either`]).
//!
//! For a client that went on past its lease, the counterfactual is that its leases last until the run is over. It is
//! not a cause beside another without which that same grant would not have outlasted its lease: a pause that makes a
//! holder late is told, and not the pause and the lateness.
//!
//! Not looked at: sets of things that are needed only together in other ways than these; the clients that were there
//! and the setup of the lock (`why` asks that); P4, whose evidence has no moment. A question that would take more than
//! [`EVENTS_MAX`] events in all is not asked ([`Found::NotAsked`]). Assumes that the lock's code comes back.
//!
//! Decision: "A picture says `because` only after a run without the cause" (docs/decisions/search.md).

pub(crate) mod candidates;
mod trial;

use candidates::Candidate;
use doublehold_history::ClientId;
use doublehold_scenarios::Futures;
use doublehold_scenarios::model::scenario::{HostIndex, Role};
use doublehold_scenarios::report::Report;
use doublehold_scenarios::report::{Cause, Causes, Found, Shares, Violation, What};
use trial::{TrialOutcome, Trials};

/// The most events that all runs for one answer may have, together: some seconds' worth.
pub const EVENTS_MAX: u64 = 4_000_000;
/// The most things of which it is said that any one of them would have been enough.
pub const EITHER_MAX: usize = 4;
/// The number of other futures, and of other seeds, in which a cause is tried.
pub const OTHERS: u64 = 20;

/// Finds out what the first violation of a run came from. `prepared` is of the lock and the connections that the run
/// had; its scenario does not matter. `None` where nothing with a moment is violated.
///
/// ```
/// use doublehold_search::cause::causes;
/// use doublehold_scenarios::report::Found;
/// use doublehold_scenarios::{Engine, Prepared, SimEngine, catalog};
///
/// let jump = SimEngine.prepare(&catalog::load("clock-jump", &[])?)?;
/// let Some(Found::Needed(causes)) = causes(&jump, &jump.run(1)).map(|it| it.found) else { panic!() };
/// assert!(causes.iter().any(|cause| cause.words == "C's wall clock was stepped by +10 s"));
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
pub fn explain_report(prepared: &impl Futures, report: Report) -> Report {
    Report { causes: causes(prepared, &report), ..report }
}

/// A question that is being answered.
struct CauseSearch<'a, P> {
    candidates: Vec<Candidate>,
    trials: Trials<'a, P>,
}

impl<'a, P: Futures> CauseSearch<'a, P> {
    fn new(prepared: &'a P, report: &'a Report, told: &'a Violation) -> CauseSearch<'a, P> {
        let candidates = candidates::all(report, told);
        CauseSearch { candidates, trials: Trials::new(prepared, report, told) }
    }

    fn find_causes(&mut self) -> Found {
        if !self.trials.can_be_asked() {
            return Found::NotAsked;
        }
        let all: Vec<usize> = (0..self.candidates.len()).collect();
        let near: Vec<usize> = all.iter().copied().filter(|place| self.candidates[*place].is_near).collect();
        let mut found = self.find_among(&near);
        if found == Found::Nothing && near.len() < all.len() {
            found = self.find_among(&all);
        }
        if self.trials.is_spent() { Found::NotAsked } else { found }
    }

    fn find_among(&mut self, places: &[usize]) -> Found {
        let needed = self.needed_causes(places);
        if needed.is_empty() { self.find_either(places) } else { Found::Needed(needed) }
    }

    /// Causes without each of which it is gone. A failover as a whole only where none of its parts is one of them.
    fn needed_causes(&mut self, places: &[usize]) -> Vec<Cause> {
        let is_whole = |place: &usize| self.candidates[*place].is_whole;
        let (wholes, parts): (Vec<usize>, Vec<usize>) = places.iter().partition(|place| is_whole(place));
        let mut gone = self.try_each_alone(&parts);
        let has_part = |whole: &usize| gone.iter().any(|(part, _)| self.is_part(*part, *whole));
        let wholes: Vec<usize> = wholes.into_iter().filter(|whole| !has_part(whole)).collect();
        gone.extend(self.try_each_alone(&wholes));
        // Overruns come last: what made a client late is told, and not its lateness.
        gone.sort_by_key(|(place, _)| (self.is_overrun(*place).is_some(), self.candidates[*place].began));
        let (mut causes, mut in_time) = (Vec::new(), Vec::new());
        for (place, clients) in gone {
            if self.is_overrun(place).is_some_and(|client| in_time.contains(&client)) {
                continue;
            }
            let Some(cause) = self.confirm_cause(place) else { continue };
            in_time.extend(clients.into_iter().filter(|client| self.could_delay(place, *client)));
            causes.push(cause);
        }
        let all: Vec<What> = causes.iter().map(|cause: &Cause| cause.what.clone()).collect();
        // Each alone removes it; that all do together is not certain: without both of two it may come about otherwise.
        if all.len() > 1 && self.trials.run_without(&all).came == TrialOutcome::Stays {
            Vec::new()
        } else {
            causes
        }
    }

    fn is_part(&self, part: usize, whole: usize) -> bool {
        part != whole && self.candidates[whole].includes(&self.candidates[part])
    }

    fn is_overrun(&self, place: usize) -> Option<ClientId> {
        match self.candidates[place].what {
            What::Overrun(client) => Some(client),
            _ => None,
        }
    }

    /// Those of these without which alone it is gone, and whose grants do not outlast their leases then.
    fn try_each_alone(&mut self, places: &[usize]) -> Vec<(usize, Vec<ClientId>)> {
        let tried = places.iter().map(|place| {
            let tried = self.trials.run_without(&collect_whats(&self.candidates, &[*place]));
            (tried.came == TrialOutcome::Gone).then_some((*place, tried.in_time))
        });
        tried.flatten().collect()
    }

    /// True if it is on the client's own way: one that happened to another client alone only shifts it in time.
    fn could_delay(&self, place: usize, client: ClientId) -> bool {
        let scenario = &self.trials.report().scenario;
        let cast = scenario.cast();
        let own = candidates::host_of(scenario, client).map(|host| cast.machine(host));
        let is_on_its_way =
            |host: HostIndex| Some(host) == own || scenario.hosts[host.0].role != Role::Client;
        match &self.candidates[place].what {
            What::Faults(faults) => {
                let names = faults.iter().flat_map(|fault| scenario.faults[*fault].effect.hosts().0);
                let hosts: Vec<HostIndex> = names.filter_map(|name| cast.host(&name).ok()).collect();
                hosts.into_iter().any(is_on_its_way)
            }
            What::Clocks(host) => is_on_its_way(*host),
            What::Overrun(_) => false,
        }
    }

    /// A cause, if it is gone without it elsewhere, too, and also without all that the same words are true of.
    fn confirm_cause(&mut self, place: usize) -> Option<Cause> {
        let what = self.candidates[place].what.clone();
        let shares = self.confirm_set(&[place])?;
        Some(Cause { what, words: self.words(place), shares })
    }

    fn confirm_set(&mut self, places: &[usize]) -> Option<Shares> {
        let set = collect_whats(&self.candidates, places);
        let alike = collect_whats(&self.candidates, &self.similar_candidates(places));
        if alike.len() > set.len() && self.trials.run_without(&alike).came != TrialOutcome::Gone {
            return None;
        }
        let began = places.iter().map(|place| self.candidates[*place].began).min()?;
        let shares = self.trials.shares(&set, began);
        shares.are_causal().then_some(shares)
    }

    /// Candidates of the same kind on the same hosts as one of these, and these.
    fn similar_candidates(&self, places: &[usize]) -> Vec<usize> {
        let is_alike = |one: &usize| {
            places.iter().any(|place| self.candidates[*place].kind == self.candidates[*one].kind)
        };
        (0..self.candidates.len()).filter(|one| places.contains(one) || is_alike(one)).collect()
    }

    /// Its words; with the moment where they are true of several.
    fn words(&self, place: usize) -> String {
        let candidate = &self.candidates[place];
        if self.similar_candidates(&[place]).len() > 1 {
            candidate.words_with_moment()
        } else {
            candidate.words.clone()
        }
    }

    /// Takes everything away, and puts back what can be.
    fn find_either(&mut self, places: &[usize]) -> Found {
        // Parts of a failover are tried with it, and not against it.
        let is_in_whole = |part: &usize| {
            places.iter().any(|whole| self.candidates[*whole].is_whole && self.is_part(*part, *whole))
        };
        let mut left: Vec<usize> = places.iter().copied().filter(|place| !is_in_whole(place)).collect();
        if left.len() < 2
            || self.trials.run_without(&collect_whats(&self.candidates, &left)).came != TrialOutcome::Gone
        {
            return Found::Nothing;
        }
        left.sort_by_key(|place| (self.candidates[*place].is_near, self.candidates[*place].began));
        for place in left.clone() {
            let fewer: Vec<usize> = left.iter().copied().filter(|it| *it != place).collect();
            if !fewer.is_empty()
                && self.trials.run_without(&collect_whats(&self.candidates, &fewer)).came
                    == TrialOutcome::Gone
            {
                left = fewer;
            }
        }
        let each_is_enough = left.iter().all(|place| {
            let others: Vec<usize> = left.iter().copied().filter(|it| it != place).collect();
            self.trials.run_without(&collect_whats(&self.candidates, &others)).came == TrialOutcome::Stays
        });
        if !(2..=EITHER_MAX).contains(&left.len()) || !each_is_enough {
            return Found::Nothing;
        }
        let Some(shares) = self.confirm_set(&left) else { return Found::Nothing };
        left.sort_by_key(|place| self.candidates[*place].began);
        let cause = |place: usize| Cause {
            what: self.candidates[place].what.clone(),
            words: self.words(place),
            shares,
        };
        Found::Either(left.into_iter().map(cause).collect())
    }
}

fn collect_whats(candidates: &[Candidate], places: &[usize]) -> Vec<What> {
    places.iter().map(|place| candidates[*place].what.clone()).collect()
}
