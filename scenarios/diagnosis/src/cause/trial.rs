//! Runs without a candidate, and what became of the violation in them.
//!
//! Decision: "A cause is necessary if the violation is gone without it here, and in other runs that had it"
//! (docs/decisions/search.md).

use std::time::Duration;

use doublehold_history::{CallId, ClientId, EventKind, History, LockId, RunOutcome, TrueNs, claims};
use doublehold_scenarios::Futures;
use doublehold_scenarios::model::fault::Fault;
use doublehold_scenarios::model::scenario::{PerNode, RatePpb, Scenario, Step};
use doublehold_scenarios::model::when::When;
use doublehold_scenarios::report::Report;
use doublehold_sim::Seed;

use super::EVENTS_MAX;
use super::answer::{Repeats, What};
use super::candidates::{host_of, outlasts};
use crate::Violation;
use crate::violation::{grants, nth};

/// Seeds far from those that people begin with, whose past they would repeat.
const FAR: u64 = 1_000_000;
/// The most other runs with the violation in which a cause is tried, and half of them where runs are long. Where fewer
/// have it, a cause is tried in those, and be it one.
const OTHERS: usize = 10;
/// The most seeds, and the most futures, that are run to find these: fewer where runs are long. Futures are run only
/// where fewer than half of `OTHERS` seeds had it.
const TRIES: u64 = 60;
/// The part of all events that one such search may take.
const PART_OF_EVENTS: u64 = 8;

/// The fate of the violation in the same run without something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TrialOutcome {
    /// It is gone, and whoever came second still gets the lock, or is refused as it should be.
    Gone,
    /// It is gone, and whoever came second does not get the lock either.
    OutOfUse,
    /// It is still there, or the run ended before.
    Stays,
}

/// A run without something.
#[derive(Clone, Debug)]
pub(super) struct TrialResult {
    pub(super) outcome: TrialOutcome,
    /// The clients whose grants had outlasted their leases, and do not in this run.
    pub(super) in_time: Vec<ClientId>,
    /// True if a client had to be started by the time, since what its start waits for is gone.
    starts_by_time: bool,
}

/// Another run that had the violation.
#[derive(Clone, Debug)]
struct Other {
    way: Way,
    /// The violation as it was there.
    told: Violation,
    /// When its clients began whose start waits for an event.
    starts: Starts,
}

/// How a run came to be another.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// From another seed.
    Seed(Seed),
    /// With the past of the run that is asked about up to an instant, and everything random drawn anew after it.
    Future(TrueNs, Seed),
}

/// The times at which clients began whose start waits for an event, by their places.
type Starts = Vec<(usize, TrueNs)>;

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
    starts: Starts,
    /// The most other runs that a cause is tried in.
    others: usize,
    /// Runs from other seeds that had it, once they are found.
    seeds: Option<Vec<Other>>,
    events: u64,
    runs: u64,
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
        let starts = starts_by_event(report);
        Trials {
            prepared,
            report,
            told,
            scenario,
            late,
            starts,
            others: OTHERS,
            seeds: None,
            events: 0,
            runs: 0,
        }
    }

    /// The run that is asked about.
    pub(super) fn report(&self) -> &Report {
        self.report
    }

    /// The number of runs that were made.
    pub(super) fn runs(&self) -> u64 {
        self.runs
    }

    /// True if the run made again is the same, and short enough to be made once for each candidate.
    pub(super) fn can_be_asked(&mut self, candidates: usize) -> bool {
        let least = |others: usize| self.report.events.saturating_mul((candidates + 2 * others) as u64);
        if least(OTHERS) > EVENTS_MAX / PART_OF_EVENTS {
            self.others = OTHERS / 2;
        }
        least(self.others) <= EVENTS_MAX && self.run_without(&[]).outcome == TrialOutcome::Stays
    }

    /// True if all runs together have more events than they may.
    pub(super) fn is_spent(&self) -> bool {
        self.events > EVENTS_MAX
    }

    /// The same run without these. A client whose start waits for what is gone starts at the time it had.
    pub(super) fn run_without(&mut self, what: &[What]) -> TrialResult {
        let stays = TrialResult { outcome: TrialOutcome::Stays, in_time: Vec::new(), starts_by_time: false };
        if self.is_spent() {
            return stays;
        }
        let Some(mut run) = self.run_with(what, &[]) else { return stays };
        let absent: Starts =
            self.starts.iter().copied().filter(|(client, _)| began_at(&run, *client).is_none()).collect();
        if !absent.is_empty() {
            let Some(again) = self.run_with(what, &absent) else { return stays };
            run = again;
        }
        let told = self.told;
        let in_time = self.late.iter().filter(|(client, nth)| !outlasts(&run, told, *client, *nth));
        let in_time = in_time.map(|(client, _)| *client).collect();
        TrialResult { outcome: self.outcome(&run), in_time, starts_by_time: !absent.is_empty() }
    }

    fn run_with(&mut self, what: &[What], starts: &[(usize, TrueNs)]) -> Option<Report> {
        let run = self.prepare_without(what, starts)?.run(self.report.seed);
        self.count(run.events);
        Some(run)
    }

    fn outcome(&self, run: &Report) -> TrialOutcome {
        let is_over =
            run.history.outcome() == Some(RunOutcome::Completed) || run.ended >= self.told.ends_at();
        if self.told.is_in(&run.verdicts) || run.panicked.is_some() || !is_over {
            TrialOutcome::Stays
        } else if self.is_in_use(run) {
            TrialOutcome::Gone
        } else {
            TrialOutcome::OutOfUse
        }
    }

    /// True if the second client gets the lock as often as before. One that does not wait may be refused instead, while
    /// the first one holds: that is the outcome it should have had.
    fn is_in_use(&self, run: &Report) -> bool {
        let Some((client, grant)) = self.told.second else { return true };
        let times = nth(&self.report.history, client, self.told.lock, grant);
        grants(&run.history, client, self.told.lock).len() >= times
            || self.is_refused_rightly(run, client, grant)
    }

    /// True if the call that was granted, or a later one, is refused while another holds. It is known by its place
    /// among the client's calls for the lock, and not by its time: without a pause, say, it comes earlier.
    fn is_refused_rightly(&self, run: &Report, client: ClientId, grant: CallId) -> bool {
        let lock = self.told.lock;
        let setup = self.scenario.clients.get(client.0 as usize);
        let does_not_wait = setup
            .is_some_and(|it| it.program.iter().any(|step| matches!(step, Step::Try(of, _) if *of == lock)));
        let others: Vec<_> = claims(&run.history)
            .into_iter()
            .filter(|claim| claim.lock == lock && claim.client != client)
            .collect();
        let is_held = |at: TrueNs| others.iter().any(|claim| claim.span.from <= at && at <= claim.span.to);
        let before = calls(&self.report.history, client, lock).position(|call| call == grant);
        let asked: Vec<CallId> =
            before.map_or(Vec::new(), |before| calls(&run.history, client, lock).skip(before).collect());
        let mut refused =
            run.history.events().iter().filter(
                |event| matches!(event.what, EventKind::Refused { call, .. } if asked.contains(&call)),
            );
        does_not_wait && refused.any(|event| event.at <= self.told.ends_at() && is_held(event.at))
    }

    /// Counts the other runs that had it and in which it is gone without these, which began to matter at an instant.
    /// From other seeds; where those seldom have it, also from other futures of this run.
    pub(super) fn repeats(&mut self, what: &[What], began: TrueNs, here: &TrialResult) -> Repeats {
        let mut others = self.seeds();
        if others.len() < OTHERS / 2 {
            let futures = self.find_others(self.others - others.len(), |future| Way::Future(began, future));
            others.extend(futures);
        }
        let mut repeats = Repeats::default();
        for other in others {
            if self.is_spent() {
                break;
            }
            let starts = if here.starts_by_time { &other.starts[..] } else { &[] };
            let Some(prepared) = self.prepare_without(what, starts) else { continue };
            let summary = match other.way {
                Way::Seed(seed) => prepared.judge(seed),
                Way::Future(from, future) => prepared.judge_future(self.report.seed, from, future),
            };
            self.count(summary.events);
            repeats.had += 1;
            repeats.gone += u64::from(!other.told.is_in(&summary.verdicts));
            // What can be no cause any more, not even by chance, is not counted to its end.
            if (repeats.had - repeats.gone) * 5 > self.others as u64 * 3 {
                break;
            }
        }
        repeats
    }

    /// Runs from other seeds that had it.
    fn seeds(&mut self) -> Vec<Other> {
        if self.seeds.is_none() {
            self.seeds = Some(self.find_others(self.others, Way::Seed));
        }
        self.seeds.clone().unwrap_or_default()
    }

    /// At most so many runs that had it.
    fn find_others(&mut self, wanted: usize, way: impl Fn(Seed) -> Way) -> Vec<Other> {
        let Some(prepared) = self.prepare_without(&[], &[]) else { return Vec::new() };
        let mut others = Vec::new();
        let affordable = EVENTS_MAX / PART_OF_EVENTS / self.report.events.max(1);
        for number in 1..=affordable.clamp(OTHERS as u64 / 2, TRIES) {
            if others.len() == wanted || self.is_spent() {
                break;
            }
            let way = way(Seed(FAR + number));
            let (verdicts, events, starts) = match way {
                Way::Seed(seed) if self.starts.is_empty() => {
                    let summary = prepared.judge(seed);
                    (summary.verdicts, summary.events, Vec::new())
                }
                Way::Seed(seed) => {
                    let run = prepared.run(seed);
                    let starts = starts_by_event(&run);
                    (run.verdicts, run.events, starts)
                }
                Way::Future(from, future) => {
                    let summary = prepared.judge_future(self.report.seed, from, future);
                    (summary.verdicts, summary.events, self.starts.clone())
                }
            };
            self.count(events);
            others.extend(self.told.find_same(&verdicts).map(|told| Other { way, told, starts }));
        }
        others
    }

    fn count(&mut self, events: u64) {
        self.events += events;
        self.runs += 1;
    }

    /// The scenario without these, ready to be run, with clients that start at a time.
    fn prepare_without(&self, what: &[What], starts: &[(usize, TrueNs)]) -> Option<P> {
        let mut scenario = self.scenario.clone();
        for (client, at) in starts {
            scenario.clients.get_mut(*client)?.start = Some(When::At(Duration::from_nanos(at.0)));
        }
        let mut gone = Vec::new();
        for what in what {
            match what {
                What::Fault(places) | What::Failover(places) => gone.extend(places.iter().copied()),
                What::Overrun(client, _) => {
                    let host = host_of(&scenario, *client)?;
                    let setup = scenario.clients.iter_mut().find(|setup| setup.host == host)?;
                    setup.ttl = Some(scenario.limits.time);
                }
                What::Clocks(host) => {
                    let host = scenario.hosts.get_mut(host.0)?;
                    (host.drift, host.wall_offset_ns) = (RatePpb(0), 0);
                }
                What::Promotion(_) => {
                    // Sentinels agree, and find nobody to promote. Where the master is dead nobody gets the lock then,
                    // and the run would go on until its limit.
                    scenario.nodes.replica_priority = PerNode::of_all(0);
                    let twice = Duration::from_nanos(self.told.ends_at().0.saturating_mul(2));
                    scenario.limits.time = scenario.limits.time.min(twice);
                }
            }
        }
        let mut place = 0_usize..;
        scenario.faults.retain(|_| !place.next().is_some_and(|place| gone.contains(&place)));
        self.prepared.with_scenario(&scenario).ok()
    }
}

/// A client's calls for a lock, in order.
fn calls(history: &History, of: ClientId, wanted: LockId) -> impl Iterator<Item = CallId> {
    history.events().iter().filter_map(move |event| match event.what {
        EventKind::AcquireStarted { client, call, lock } if client == of && lock == wanted => Some(call),
        _ => None,
    })
}

/// When clients began whose start waits for an event.
fn starts_by_event(report: &Report) -> Starts {
    let clients = report.scenario.clients.iter().enumerate();
    let waiting = clients.filter(|(_, client)| matches!(client.start, Some(When::On { .. })));
    waiting.filter_map(|(place, _)| Some((place, began_at(report, place)?))).collect()
}

/// When a client did its first thing. Of one that works before it asks for anything, that is later than its start.
fn began_at(report: &Report, client: usize) -> Option<TrueNs> {
    let is_its = |what: &EventKind| {
        !matches!(what, EventKind::Clocks { .. })
            && what.client().is_some_and(|id| usize::try_from(id.0) == Ok(client))
    };
    report.history.events().iter().find(|event| is_its(&event.what)).map(|event| event.at)
}

#[cfg(test)]
mod tests;
