//! Moments that say why: a fault at 41.011 ms is tried at what happened then, so that it strikes the same step of the
//! protocol from any seed.
//!
//! The nicest moment is the beginning, then a mark of the client that the fault is about (its check, its grant), a
//! command executed for it, the same of other clients, a chain of these, a message, a clock read. The first of its kind
//! is nicer than the second, and what is counted far says no more than a time. Then come times after a mark, and times
//! after the beginning. What is tried is near the instant at which the fault struck in the run so far, the nearest
//! first. Each change is to a nicer moment, so that there is an end.

use std::collections::BTreeMap;
use std::time::Duration;

use doublehold_history::TrueNs;
use doublehold_scenarios::model::scenario::{HostSetup, Role, Scenario};
use doublehold_scenarios::model::when::StepKind;
use doublehold_scenarios::model::when::{Event, Nth, When};
use doublehold_scenarios::{Engine, Stepped};

use super::remove_hosts_and_steps::{started_at, struck_at};
use super::shorten_durations::{down, up};
use crate::shrink::search::{Candidate, Keep, ShrinkSearch};

/// How many events of each sort are tried before the instant, and how many after it.
const NEAR: [(Sort, usize, usize); 4] =
    [(Sort::Mark, 8, 2), (Sort::Command, 4, 1), (Sort::Message, 4, 1), (Sort::Other, 2, 0)];
/// After how many marks before the instant a time is tried.
const MARKS_BEFORE: usize = 3;
/// Up to here a reader counts along.
const COUNTED: u32 = 5;

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Sort {
    Mark,
    Command,
    Message,
    /// A clock read, a boot.
    Other,
}

/// How nice a moment is, the nicest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Beginning,
    /// The first mark or command of its kind, of whom the fault is about.
    Own(Sort),
    /// A later one.
    OwnAgain(Sort),
    /// The first of another.
    Others(Sort),
    /// A later one of another.
    OthersAgain(Sort),
    /// Marks and commands one after the other.
    Chain,
    /// A message, a clock read or a boot, counted a little.
    Wire(Sort),
    /// A time after a mark or a command.
    Later,
    /// A time after the beginning.
    Time,
    /// Everything else: what is counted far, and times after it.
    Far,
}

/// How nice a moment is; less is nicer.
type Rank = (Class, usize, u32);

/// Who waits for a moment.
#[derive(Clone, Copy)]
enum Waiter {
    Fault(usize),
    Client(usize),
}

impl Waiter {
    fn moment(self, scenario: &Scenario) -> Option<&When> {
        match self {
            Waiter::Fault(fault) => Some(&scenario.faults[fault].at),
            Waiter::Client(client) => scenario.clients[client].start.as_ref(),
        }
    }

    /// The clients whose events say most about it: those that a fault is done to. Of faults of nodes and links, and of
    /// starts, all clients' events do.
    fn is_about(self, scenario: &Scenario) -> Vec<String> {
        let client =
            |name: &String| scenario.hosts.iter().any(|host| host.role == Role::Client && host.name == *name);
        // What is done to a process is done to its threads.
        let threads = |name: &String| {
            let is_its = |host: &&HostSetup| match host.role {
                Role::Thread(process) => scenario.hosts[process.0].name == *name,
                Role::Node | Role::Sentinel | Role::Resource | Role::Client => false,
            };
            scenario.hosts.iter().filter(is_its).map(|host| host.name.clone()).collect::<Vec<_>>()
        };
        match self {
            Waiter::Fault(fault) => {
                let hosts = scenario.faults[fault].effect.hosts().0;
                let of_threads: Vec<String> = hosts.iter().flat_map(threads).collect();
                if hosts.iter().all(client) { [hosts, of_threads].concat() } else { Vec::new() }
            }
            Waiter::Client(_) => Vec::new(),
        }
    }

    fn move_to(self, scenario: &Scenario, when: When) -> Candidate {
        match self {
            Waiter::Fault(fault) => {
                let mut faults = scenario.faults.clone();
                // A time comes once.
                faults[fault].each &= matches!(when, When::On { .. });
                faults[fault].at = when;
                Candidate::Faults(faults)
            }
            Waiter::Client(client) => {
                let mut scenario = scenario.clone();
                scenario.clients[client].start = Some(when);
                scenario.into()
            }
        }
    }
}

/// Binds faults and starts to nicer moments.
pub(super) fn anchor_to_events<E: Engine<Prepared: Stepped>>(search: &mut ShrinkSearch<'_, E>) {
    let faults = (0..search.scenario().faults.len()).map(Waiter::Fault);
    let waiters: Vec<Waiter> =
        faults.chain((0..search.scenario().clients.len()).map(Waiter::Client)).collect();
    for waiter in waiters {
        while is_bound_better(search, waiter) {}
    }
}

/// Tries the moments that are nicer than the one there is, the nicest first.
fn is_bound_better<E: Engine<Prepared: Stepped>>(search: &mut ShrinkSearch<'_, E>, waiter: Waiter) -> bool {
    let about = waiter.is_about(search.scenario());
    let Some(rank) = waiter.moment(search.scenario()).map(|moment| rank(moment, &about)) else {
        return false;
    };
    if rank.0 == Class::Beginning {
        return false;
    }
    let run = search.current_run();
    let scenario = search.scenario();
    let (at, own) = match waiter {
        Waiter::Fault(fault) => (struck_at(&scenario.faults[fault], &run), None),
        Waiter::Client(client) => {
            let host = scenario.clients[client].host;
            (started_at(host, &run), Some(scenario.hosts[host.0].name.clone()))
        }
    };
    let Some(at) = at else { return false };
    let mut steps = search.steps();
    // A client cannot wait for itself.
    steps.retain(|(_, step)| own.as_deref().is_none_or(|own| event_owner(&step.event) != Some(own)));
    let mut moments = moments(&steps, TrueNs(u64::try_from(at.as_nanos()).unwrap_or(u64::MAX)));
    moments.retain(|moment| self::rank(moment, &about) < rank);
    // The order among equals is by distance, and stays.
    moments.sort_by_key(|moment| self::rank(moment, &about).0);
    moments.into_iter().any(|moment| {
        let candidate = waiter.move_to(search.scenario(), moment);
        search.accepts(candidate, Keep::Seeds)
    })
}

/// Owner of an event: the client for whom a command is executed.
fn event_owner(event: &Event) -> Option<&str> {
    match event {
        Event::Executed { client, .. } => client.as_deref(),
        other => other.host(),
    }
}

fn rank(moment: &When, about: &[String]) -> Rank {
    match moment {
        When::At(Duration::ZERO) => (Class::Beginning, 0, 0),
        When::At(_) => (Class::Time, 0, 0),
        When::On { events, after } => {
            let far = events.iter().map(|nth| nth.nth).max().unwrap_or(0);
            let worst = events.iter().map(|nth| sort(&nth.event)).max().unwrap_or(Sort::Other);
            let is_own = |nth: &Nth| {
                about.is_empty()
                    || event_owner(&nth.event).is_some_and(|host| about.iter().any(|it| it == host))
            };
            let class = match (worst, &events[..]) {
                _ if far > COUNTED => Class::Far,
                (Sort::Mark | Sort::Command, _) if !after.is_zero() => Class::Later,
                _ if !after.is_zero() => Class::Far,
                (Sort::Message | Sort::Other, [_]) => Class::Wire(worst),
                (Sort::Mark | Sort::Command, [only]) => match (is_own(only), only.nth) {
                    (true, 1) => Class::Own(worst),
                    (true, _) => Class::OwnAgain(worst),
                    (false, 1) => Class::Others(worst),
                    (false, _) => Class::OthersAgain(worst),
                },
                (Sort::Mark | Sort::Command, _) => Class::Chain,
                _ => Class::Far,
            };
            (class, events.len(), events.iter().map(|nth| nth.nth).sum())
        }
    }
}

fn sort(event: &Event) -> Sort {
    match event.step() {
        StepKind::Mark(_) => Sort::Mark,
        StepKind::Command => Sort::Command,
        StepKind::Send | StepKind::Arrival => Sort::Message,
        StepKind::ClockRead | StepKind::Timer | StepKind::Boot => Sort::Other,
    }
}

/// What can be said of an instant of a run: the beginning, events near it, and times after marks.
fn moments(steps: &[(TrueNs, Nth)], at: TrueNs) -> Vec<When> {
    let steps = [steps, &recount_on_all_nodes(steps)].concat();
    let mut all = vec![When::default()];
    let on = |nth: &Nth, after| When::On { events: vec![nth.clone()], after };
    for (wanted, before, after) in NEAR {
        let of_sort = || steps.iter().filter(|(_, step)| sort(&step.event) == wanted);
        let mut earlier: Vec<_> = of_sort().filter(|(time, _)| *time <= at).collect();
        earlier.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
        let later = of_sort().filter(|(time, _)| *time > at);
        all.extend(earlier.iter().take(before).map(|(_, step)| on(step, Duration::ZERO)));
        all.extend(later.take(after).map(|(_, step)| on(step, Duration::ZERO)));
        if wanted == Sort::Mark {
            for (time, step) in earlier.into_iter().take(MARKS_BEFORE) {
                let gap = at.0 - time.0;
                let rounded = [up(gap, 1), down(gap, 1), up(gap, 2), down(gap, 2), gap];
                all.extend(
                    rounded.into_iter().filter(|gap| *gap > 0).map(|gap| on(step, Duration::from_nanos(gap))),
                );
            }
        }
    }
    all
}

/// Commands again, counted on all nodes together.
fn recount_on_all_nodes(steps: &[(TrueNs, Nth)]) -> Vec<(TrueNs, Nth)> {
    let mut seen: BTreeMap<(String, Option<String>), u32> = BTreeMap::new();
    let anywhere = |(time, step): &(TrueNs, Nth)| match &step.event {
        Event::Executed { command, client, node: Some(_) } => {
            let nth = seen.entry((command.clone(), client.clone())).or_insert(0);
            *nth += 1;
            let event = Event::Executed { command: command.clone(), client: client.clone(), node: None };
            Some((*time, Nth { event, nth: *nth }))
        }
        _ => None,
    };
    steps.iter().filter_map(anywhere).collect()
}

#[cfg(test)]
mod tests;
