//! Fewer clients, rounds, steps and nodes, and no locks and objects that nobody uses.
//!
//! What goes takes with it what is said of it: a host goes from faults, links, clocks and lists of who is told, and a
//! fault with nobody left goes too. A moment that waits for what is gone is tried as the time at which it came in the
//! run so far, since what struck then may still be needed; binding finds it another event.

use std::collections::BTreeSet;
use std::time::Duration;

use doublehold_history::{EventKind, LockId, ObjectId};
use doublehold_scenarios::model::cast::Member;
use doublehold_scenarios::model::fault::{Fault, Slot};
use doublehold_scenarios::model::scenario::{HostIndex, HostSetup, PerNode, Role, Scenario, Step};
use doublehold_scenarios::model::service::{ServiceSetup, StandbySetup};
use doublehold_scenarios::model::when::{Event, Mark, When};
use doublehold_scenarios::report::Report;
use doublehold_scenarios::{Engine, Stepped};

use crate::shrink::search::{Candidate, Keep, ShrinkSearch};

/// Drops clients, nodes, rounds and steps.
pub(super) fn remove_hosts_and_steps<E: Engine<Prepared: Stepped>>(search: &mut ShrinkSearch<'_, E>) {
    search.sweep(Keep::Seed, clients);
    search.sweep(Keep::Seed, |search| rounds(search.scenario()));
    if !search.keeps_nodes() {
        search.sweep(Keep::Seed, nodes);
    }
    search.sweep(Keep::Seed, steps);
    search.sweep(Keep::Seed, |search| remove_unused(search.scenario()));
}

/// Without one client each. Of a process with two threads both go: one alone is none.
fn clients<E: Engine<Prepared: Stepped>>(search: &mut ShrinkSearch<'_, E>) -> Vec<Candidate> {
    if search.scenario().clients.len() < 2 {
        return Vec::new();
    }
    let scenario = search.scenario();
    let mut going: Vec<Vec<HostIndex>> =
        scenario.clients.iter().map(|client| dependent_hosts(scenario, client.host)).collect();
    going.dedup();
    // Somebody stays.
    going.retain(|hosts| scenario.clients.iter().any(|client| !hosts.contains(&client.host)));
    remove_each(search, going)
}

/// The hosts that go with a client, in the scenario's order.
fn dependent_hosts(scenario: &Scenario, client: HostIndex) -> Vec<HostIndex> {
    let cast = scenario.cast();
    let process = cast.machine(client);
    let threads: Vec<HostIndex> = cast.threads(process).collect();
    match threads.len() {
        2 => std::iter::once(process).chain(threads).collect(),
        _ => vec![client],
    }
}

/// Without one node each, and without two: with an even number a majority is as many as with one more, so that one node
/// less can need more than two. Nobody replicates a master that is gone, nor a database whose primary is.
fn nodes<E: Engine<Prepared: Stepped>>(search: &mut ShrinkSearch<'_, E>) -> Vec<Candidate> {
    let scenario = search.scenario();
    let is_node = |host: &HostIndex| scenario.hosts[host.0].role == Role::Node;
    let nodes: Vec<HostIndex> = (0..scenario.hosts.len()).map(HostIndex).filter(is_node).collect();
    if nodes.len() < 2 {
        return Vec::new();
    }
    let master = scenario.nodes.master;
    let is_kept = |node: &HostIndex| match scenario.standby() {
        Some(standby) => *node != standby,
        None => Some(*node) == master,
    };
    let others: Vec<HostIndex> = nodes.into_iter().filter(|node| !is_kept(node)).collect();
    let pairs = others
        .iter()
        .enumerate()
        .flat_map(|(place, one)| others[place + 1..].iter().map(move |other| vec![*one, *other]));
    let pairs: Vec<_> = if others.len() > 2 { pairs.collect() } else { Vec::new() };
    remove_each(search, others.iter().map(|node| vec![*node]).chain(pairs))
}

/// Removes some hosts each: what waits for them goes, or comes at the time at which it came.
fn remove_each<E: Engine<Prepared: Stepped>>(
    search: &mut ShrinkSearch<'_, E>,
    hosts: impl IntoIterator<Item = Vec<HostIndex>>,
) -> Vec<Candidate> {
    let run = search.current_run();
    let scenario = search.scenario();
    let without = |gone: Vec<HostIndex>| {
        let names: Vec<&str> = gone.iter().map(|host| scenario.hosts[host.0].name.as_str()).collect();
        let is_gone = |event: &Event| names.iter().any(|name| mentions(event, name));
        let dropped = drop_waiting(scenario, is_gone);
        let timed = replace_moments(scenario, is_gone, &run);
        let both = if dropped == timed { vec![dropped] } else { vec![dropped, timed] };
        // From the last to the first, so that no number changes before its turn.
        let left = |scenario| gone.iter().rev().fold(scenario, |left, host| remove_host(left, *host));
        both.into_iter().map(|scenario| left(scenario).into()).collect::<Vec<_>>()
    };
    hosts.into_iter().flat_map(without).collect()
}

/// Whether an event is one of this host.
fn mentions(event: &Event, name: &str) -> bool {
    match event {
        Event::Executed { client, node, .. } => [client, node].into_iter().flatten().any(|host| host == name),
        Event::Mark { client: host, .. } | Event::Timer { client: host } => host == name,
        Event::ClockRead { host } | Event::Boot { host } => host == name,
        Event::Sent { from, to } => from == name || to == name,
        Event::Received { by, from } => by == name || from == name,
    }
}

fn waits_for(when: &When, is_gone: impl Fn(&Event) -> bool) -> bool {
    match when {
        When::At(_) => false,
        When::On { events, .. } => events.iter().any(|nth| is_gone(&nth.event)),
    }
}

/// Drops the faults that wait for what is gone; clients that do begin at once.
fn drop_waiting(scenario: &Scenario, is_gone: impl Fn(&Event) -> bool) -> Scenario {
    let mut left = scenario.clone();
    left.faults.retain(|fault| !waits_for(&fault.at, &is_gone));
    for client in &mut left.clients {
        if client.start.as_ref().is_some_and(|start| waits_for(start, &is_gone)) {
            client.start = None;
        }
    }
    left
}

/// Puts the times at which they came in the run in place of moments that wait for what is gone. What never came goes.
fn replace_moments(scenario: &Scenario, is_gone: impl Fn(&Event) -> bool, run: &Report) -> Scenario {
    let mut left = scenario.clone();
    let timed = |fault: &Fault| match waits_for(&fault.at, &is_gone) {
        false => Some(fault.clone()),
        true => struck_at(fault, run).map(|at| Fault { at: When::At(at), each: false, ..fault.clone() }),
    };
    left.faults = scenario.faults.iter().filter_map(timed).collect();
    for client in &mut left.clients {
        if client.start.as_ref().is_some_and(|start| waits_for(start, &is_gone)) {
            client.start = started_at(client.host, run).map(When::At);
        }
    }
    left
}

/// When a fault first struck.
pub(super) fn struck_at(fault: &Fault, run: &Report) -> Option<Duration> {
    let report = run.faults.iter().find(|report| report.fault == *fault)?;
    report.from.map(|from| Duration::from_nanos(from.0))
}

/// When a client first did anything; its start if it does not begin with work.
pub(super) fn started_at(client: HostIndex, run: &Report) -> Option<Duration> {
    let Member::Client(id) = run.scenario.cast().member(client) else { return None };
    let first = run.history.events().iter().find(|event| match event.what {
        EventKind::AcquireStarted { client, .. } => client == id,
        _ => false,
    });
    first.map(|event| Duration::from_nanos(event.at.0))
}

/// Removes a client, and the faults that wait for it or strike nobody else.
///
/// `None` of one of two threads: without it the other would be no thread.
pub fn remove_client(scenario: &Scenario, client: HostIndex) -> Option<Scenario> {
    if dependent_hosts(scenario, client) != [client] {
        return None;
    }
    let name = scenario.hosts[client.0].name.clone();
    Some(remove_host(drop_waiting(scenario, |event| mentions(event, &name)), client))
}

/// Removes a host, with the numbers of the others as they are then. Faults keep who is left.
fn remove_host(mut scenario: Scenario, host: HostIndex) -> Scenario {
    let name = scenario.hosts[host.0].name.clone();
    let order = order_without(&scenario, host);
    let moved = |other: HostIndex| HostIndex(order.iter().position(|old| *old == other).unwrap_or(0));
    let hosts = order.iter().map(|old| {
        let setup = scenario.hosts[old.0].clone();
        let role =
            if let Role::Thread(process) = setup.role { Role::Thread(moved(process)) } else { setup.role };
        HostSetup { role, ..setup }
    });
    scenario.hosts = hosts.collect();
    scenario.nodes.master = scenario.nodes.master.map(moved);
    if let Some(ServiceSetup::Database(setup)) = &mut scenario.service {
        let left = setup.standby.filter(|standby| standby.host != host);
        setup.standby = left.map(|standby| StandbySetup { host: moved(standby.host), ..standby });
    }
    remove_value(&mut scenario.nodes.command_time, host, moved);
    remove_value(&mut scenario.nodes.replica_priority, host, moved);
    scenario.resource.host = moved(scenario.resource.host);
    scenario.clients.retain(|client| client.host != host);
    scenario.clients.iter_mut().for_each(|client| client.host = moved(client.host));
    scenario.links.retain(|(from, to, _)| *from != host && *to != host);
    scenario.links.iter_mut().for_each(|(from, to, _)| (*from, *to) = (moved(*from), moved(*to)));
    scenario.links.sort_by_key(|(from, to, _)| (*from, *to));
    scenario.faults.retain_mut(|fault| drop_host(fault, &name));
    scenario
}

/// Removes the value of a host, and keeps those of the others under the numbers that they have then.
fn remove_value<T>(values: &mut PerNode<T>, host: HostIndex, moved: impl Fn(HostIndex) -> HostIndex) {
    values.own.remove(&host);
    values.own = std::mem::take(&mut values.own).into_iter().map(|(node, it)| (moved(node), it)).collect();
}

/// The hosts that are left, in the order in which a file has them: a process is right before the first of its threads,
/// which may be another one now.
fn order_without(scenario: &Scenario, host: HostIndex) -> Vec<HostIndex> {
    let left = || (0..scenario.hosts.len()).map(HostIndex).filter(|other| *other != host);
    let processes: BTreeSet<HostIndex> = left().filter_map(|other| scenario.process_of(other)).collect();
    let mut order = Vec::new();
    for other in left().filter(|other| !processes.contains(other)) {
        order.extend(scenario.process_of(other).filter(|process| !order.contains(process)));
        order.push(other);
    }
    order
}

/// Takes a host out of a fault, and says whether anything is left of it.
fn drop_host(fault: &mut Fault, name: &str) -> bool {
    fault.effect.fields().into_iter().all(|(_, slot)| match slot {
        Slot::Hosts(hosts) => {
            hosts.0.retain(|host| host != name);
            !hosts.0.is_empty()
        }
        Slot::Tell(Some(told)) => {
            told.0.retain(|node| node != name);
            true
        }
        Slot::Master(master) => master != name,
        _ => true,
    })
}

/// With fewer rounds of one client each: one, half, one less.
fn rounds(scenario: &Scenario) -> Vec<Candidate> {
    let fewer = |place: usize| {
        let rounds = scenario.clients[place].rounds;
        let mut all = vec![1, rounds / 2, rounds.saturating_sub(1)];
        all.retain(|fewer| (1..rounds).contains(fewer));
        all.dedup();
        all.into_iter().map(move |rounds| {
            let mut scenario = scenario.clone();
            scenario.clients[place].rounds = rounds;
            scenario.into()
        })
    };
    (0..scenario.clients.len()).flat_map(fewer).collect()
}

/// Without one step of one program each, or without all that one program does with one lock. A release goes only with
/// its acquire: what is never released is claimed for ever, so that such a program violates by itself.
fn steps<E: Engine<Prepared: Stepped>>(search: &mut ShrinkSearch<'_, E>) -> Vec<Candidate> {
    let run = search.current_run();
    let scenario = search.scenario();
    let mut all = Vec::new();
    for (place, client) in scenario.clients.iter().enumerate() {
        let name = &scenario.hosts[client.host.0].name;
        for gone in droppable(&client.program, scenario) {
            let mut without = scenario.clone();
            let mut step = 0..;
            without.clients[place].program.retain(|_| !step.next().is_some_and(|step| gone.contains(&step)));
            let is_gone = |event: &Event| match event {
                Event::Mark { client: host, mark } => {
                    let makes = |step: &usize| is_mark_of(*mark, &client.program[*step]);
                    host == name && gone.iter().any(makes)
                }
                _ => false,
            };
            let timed = replace_moments(&without, is_gone, &run);
            if timed != without {
                all.push(timed.into());
            }
            all.push(without.into());
        }
    }
    all
}

/// Steps that can go together, by their places.
fn droppable(program: &[Step], scenario: &Scenario) -> Vec<Vec<usize>> {
    let places = |is_gone: &dyn Fn(&Step) -> bool| -> Vec<usize> {
        let steps = program.iter().enumerate().filter(|(_, step)| is_gone(step));
        steps.map(|(place, _)| place).collect()
    };
    let locks = (0..scenario.lock.names.len() as u32).map(LockId);
    let of_lock = locks.map(|lock| places(&|step| is_about(step, lock, scenario)));
    let is_last_release = |place: &usize| match program[*place] {
        Step::Release(lock) => places(&|step| *step == Step::Release(lock)).len() == 1,
        _ => false,
    };
    let single = (0..program.len()).filter(|place| !is_last_release(place)).map(|place| vec![place]);
    let is_some = |gone: &Vec<usize>| !gone.is_empty() && gone.len() < program.len();
    of_lock.chain(single).filter(is_some).collect()
}

/// Whether a step is about a lock, or what that protects.
fn is_about(step: &Step, lock: LockId, scenario: &Scenario) -> bool {
    match step {
        Step::Acquire(of) | Step::Try(of, _) | Step::Check(of) | Step::Prepare(of) => *of == lock,
        Step::Extend(of) | Step::Release(of) => *of == lock,
        Step::Read(object) | Step::Write(object) => {
            scenario.resource.objects.get(object.0 as usize).is_some_and(|object| object.lock == lock)
        }
        Step::Work(_) => false,
    }
}

/// Whether a step makes the mark.
fn is_mark_of(mark: Mark, step: &Step) -> bool {
    match mark {
        Mark::Acquire | Mark::Grant | Mark::Refusal => matches!(step, Step::Acquire(_) | Step::Try(..)),
        Mark::Read => matches!(step, Step::Read(_)),
        Mark::Check | Mark::Expiry => matches!(step, Step::Check(_)),
        Mark::Write => matches!(step, Step::Write(_)),
        Mark::Extending | Mark::Extend => matches!(step, Step::Extend(_)),
        Mark::Release => matches!(step, Step::Release(_)),
    }
}

/// Without one lock each that no program takes, and what it protects; without one object each that nobody uses.
fn remove_unused(scenario: &Scenario) -> Vec<Candidate> {
    let (locks, objects) = (scenario.lock.names.len() as u32, scenario.resource.objects.len() as u32);
    let steps = || scenario.clients.iter().flat_map(|client| &client.program);
    let is_idle = |lock: &LockId| !steps().any(|step| is_about(step, *lock, scenario));
    let is_unused = |object: &ObjectId| {
        let uses = |step: &Step| matches!(step, Step::Read(it) | Step::Write(it) if it == object);
        !steps().any(uses)
    };
    let without_locks = (0..locks).map(LockId).filter(is_idle).map(|lock| remove_lock(scenario, lock));
    let without_objects = (0..objects)
        .map(ObjectId)
        .filter(is_unused)
        .map(|object| remove_objects(scenario, |it| it == object));
    let are_some = |less: &Scenario| !less.lock.names.is_empty() && !less.resource.objects.is_empty();
    without_locks.chain(without_objects).filter(are_some).map(Candidate::from).collect()
}

fn remove_lock(scenario: &Scenario, gone: LockId) -> Scenario {
    let objects = &scenario.resource.objects;
    let mut less = remove_objects(scenario, |object| objects[object.0 as usize].lock == gone);
    less.lock.names.remove(gone.0 as usize);
    let moved = |lock: &mut LockId| lock.0 -= u32::from(lock.0 > gone.0);
    less.resource.objects.iter_mut().for_each(|object| moved(&mut object.lock));
    for step in less.clients.iter_mut().flat_map(|client| &mut client.program) {
        match step {
            Step::Acquire(lock)
            | Step::Try(lock, _)
            | Step::Check(lock)
            | Step::Prepare(lock)
            | Step::Extend(lock)
            | Step::Release(lock) => {
                moved(lock);
            }
            Step::Read(_) | Step::Write(_) | Step::Work(_) => {}
        }
    }
    less
}

/// Removes objects that no step is about, with the numbers of the others as they are then.
fn remove_objects(scenario: &Scenario, is_gone: impl Fn(ObjectId) -> bool) -> Scenario {
    let mut less = scenario.clone();
    let mut object = 0..;
    less.resource.objects.retain(|_| !object.next().is_some_and(|object| is_gone(ObjectId(object))));
    for step in less.clients.iter_mut().flat_map(|client| &mut client.program) {
        if let Step::Read(object) | Step::Write(object) = step {
            object.0 -= (0..object.0).filter(|before| is_gone(ObjectId(*before))).count() as u32;
        }
    }
    less
}

#[cfg(test)]
mod tests;
