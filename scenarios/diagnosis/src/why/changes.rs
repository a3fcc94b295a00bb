//! Every single change to a scenario that might have made its run come out otherwise, and what people would try first.
//!
//! Not proposed: lengths of programs, delays and rates, which have too many other values, and a lock of another kind.

use std::time::Duration;

use doublehold_history::{FencingCheck, NoAnswer, NumberSource, Predicate};
use doublehold_lockimpl::{Descriptor, Kind, Most, Switch, Switches, Value};
use doublehold_scenarios::model::scenario::{Persistence, Role, Scenario};
use doublehold_text::file_duration;

use doublehold_search::shrink::Target;
use doublehold_search::shrink::remove_client;

/// Beyond this many, a number's other values are too many to try: a quorum of the few nodes there are is not.
const NUMBERS_MAX: u64 = 9;

/// Switches that say when a lock asks again, and nothing else.
const WAITS: [&str; 1] = ["jitter"];

/// A scenario with one thing changed.
#[derive(Clone, Debug)]
pub struct Change {
    /// What was changed, in words.
    pub what: String,
    /// The scenario as it is then.
    pub scenario: Scenario,
    /// The reason why the answer may mean something else than it seems to, if there is one.
    pub caveat: Option<Caveat>,
}

/// A reason why the answer to a change may mean something else than it seems to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caveat {
    /// The lock computes no deadline any more, so that P2 asks what P1 asks.
    NoDeadline,
    /// The lock computes a deadline and did not before, when P2 asked what P1 asks.
    NewDeadline,
    /// The lock hands out numbers that the resource does not look at: requests take longer, and nothing else changes.
    UncheckedNumbers,
    /// It is about who holds the lock, and what was changed about which writes the resource takes.
    GuardsData,
    /// It is not about how long anybody waits, and what was changed about when the lock asks again. In a scenario that
    /// was made small clients come in the one order that shows it, and any other wait ends that order.
    OtherWaits,
}

/// All of them: first what happened, then who was there, then how things were set up.
pub(super) fn all(scenario: &Scenario, target: Target, locks: &[Descriptor]) -> Vec<Change> {
    let lock = locks.iter().find(|lock| lock.name == scenario.lock.algorithm);
    let switches = lock.map_or(Vec::new(), |lock| switches(scenario, lock));
    let fenced = lock.and_then(|lock| enable_fencing(scenario, lock)).into_iter().collect();
    let mut all = [
        faults(scenario),
        clients(scenario),
        ttls(scenario),
        switches,
        nodes(scenario),
        resource(scenario),
        fenced,
    ]
    .concat();
    for change in &mut all {
        change.caveat = lock.and_then(|lock| caveat(scenario, &change.scenario, target, lock));
    }
    all
}

fn caveat(before: &Scenario, after: &Scenario, target: Target, lock: &Descriptor) -> Option<Caveat> {
    let [was, is] = [before, after].map(|scenario| lock.facts(&scenario.lock.switches));
    let is_of_data = matches!(target, Target::Violates(Predicate::P3 | Predicate::P4));
    let has_numbers_only = is.fencing != was.fencing && after.resource.rules.fencing == FencingCheck::Off;
    let is_p2 = target == Target::Violates(Predicate::P2);
    match (was.deadline, is.deadline) {
        (true, false) if is_p2 => Some(Caveat::NoDeadline),
        (false, true) if is_p2 => Some(Caveat::NewDeadline),
        _ if has_numbers_only => Some(Caveat::UncheckedNumbers),
        _ if target != Target::Violates(Predicate::LV) && has_other_waits_only(before, after) => {
            Some(Caveat::OtherWaits)
        }
        _ => (after.resource.rules != before.resource.rules && !is_of_data).then_some(Caveat::GuardsData),
    }
}

/// True if the lock asks again at other moments, and all else is as it was.
fn has_other_waits_only(before: &Scenario, after: &Scenario) -> bool {
    let mut as_before = after.lock.clone();
    for name in WAITS {
        if let Some(value) = before.lock.switches.get(name) {
            as_before.switches.set(name, value.clone());
        }
    }
    after.lock != before.lock && as_before == before.lock
}

/// The scenario with a change made to it.
fn apply_change(scenario: &Scenario, what: String, change: impl FnOnce(&mut Scenario)) -> Change {
    let mut changed = scenario.clone();
    change(&mut changed);
    Change { what, scenario: changed, caveat: None }
}

fn faults(scenario: &Scenario) -> Vec<Change> {
    let without = |(number, fault)| {
        apply_change(scenario, format!("without: {fault}"), |left| drop(left.faults.remove(number)))
    };
    scenario.faults.iter().enumerate().map(without).collect()
}

fn clients(scenario: &Scenario) -> Vec<Change> {
    if scenario.clients.len() < 2 {
        return Vec::new();
    }
    let without = |client: &doublehold_scenarios::model::scenario::ClientSetup| {
        Some(Change {
            what: format!("without the client {}", scenario.hosts[client.host.0].name),
            scenario: remove_client(scenario, client.host)?,
            caveat: None,
        })
    };
    scenario.clients.iter().filter_map(without).collect()
}

/// Leases half as long, twice and ten times as long, those of clients with their own among them.
fn ttls(scenario: &Scenario) -> Vec<Change> {
    let with = |(times, parts): (u32, u32)| {
        let scaled = |ttl: Duration| ttl.saturating_mul(times) / parts;
        let ttl = scaled(scenario.lock.ttl);
        apply_change(scenario, format!("with lock.ttl = {}", file_duration(ttl)), |left| {
            left.lock.ttl = ttl;
            for own in left.clients.iter_mut().filter_map(|client| client.ttl.as_mut()) {
                *own = scaled(*own);
            }
        })
    };
    [(1, 2), (2, 1), (10, 1)].map(with).into()
}

/// Each flag the other way, each word another, and each other number of nodes. Lengths have too many others.
fn switches(scenario: &Scenario, lock: &Descriptor) -> Vec<Change> {
    let chosen = &scenario.lock.switches;
    let others = |switch: &Switch| {
        let now = chosen.get(switch.name).or(switch.default.as_ref()).cloned();
        let flag = match (switch.kind, &now) {
            (Some(Kind::Flag), Some(Value::Flag(on))) => vec![Value::Flag(!on)],
            _ => Vec::new(),
        };
        let words = switch.words.iter().map(|word| Value::Word((*word).to_owned()));
        let all: Vec<Value> = words.chain(flag).chain(node_counts(scenario, switch)).collect();
        all.into_iter().filter(|value| Some(value) != now.as_ref()).collect::<Vec<_>>()
    };
    let with = |switch: &Switch| {
        let change = |value: Value| {
            let what = format!("with lock.{} = {value}", switch.name);
            let with = chosen.clone().with(switch.name, value);
            apply_change(scenario, what, |left| left.lock.switches = lock.effective_switches(&with))
        };
        others(switch).into_iter().map(change).collect::<Vec<_>>()
    };
    // A driver is many settings at once, which are tried one by one, and another one may be of another language.
    let is_meant = |switch: &&Switch| switch.name != "driver" && !switch.is_idle(chosen);
    let meant = lock.switches.iter().filter(is_meant);
    meant.flat_map(with).chain(omit_switches(scenario, lock)).collect()
}

/// The changes that each leave out a switch that was chosen and need not be, with those that do nothing without it.
fn omit_switches(scenario: &Scenario, lock: &Descriptor) -> Vec<Change> {
    let chosen = &scenario.lock.switches;
    let has_no_default = |switch: &&Switch| switch.default.is_none() && chosen.get(switch.name).is_some();
    let without = |switch: &Switch| {
        let needs_it = |name: &str| {
            let other = lock.switches.iter().find(|other| other.name == name);
            other.is_some_and(|other| other.needs == Some(switch.name))
        };
        let left = chosen.iter().filter(|(name, _)| *name != switch.name && !needs_it(name));
        let left = left.fold(Switches::new(), |all, (name, value)| all.with(name, value.clone()));
        apply_change(scenario, format!("without lock.{}", switch.name), |it| it.lock.switches = left)
    };
    lock.switches.iter().filter(has_no_default).map(without).collect()
}

/// Every number that a switch about nodes may be: how many are to say yes, how many are to have heard.
fn node_counts(scenario: &Scenario, switch: &Switch) -> Vec<Value> {
    let Some(Kind::Number { least, most }) = switch.kind else { return Vec::new() };
    let nodes = scenario.hosts.iter().filter(|host| host.role == Role::Node).count() as u64;
    let most = match most {
        Most::Nodes => nodes,
        Most::Replicas => nodes.saturating_sub(1),
        // A limit or a count that has nothing to do with who is there.
        Most::Fixed(_) => return Vec::new(),
    };
    (least..=most.min(least + NUMBERS_MAX)).map(Value::Number).collect()
}

/// The changes of Redis nodes. A service has neither a disk nor a late start of its own.
fn nodes(scenario: &Scenario) -> Vec<Change> {
    if scenario.service.is_some() {
        return Vec::new();
    }
    let persistence =
        [(Persistence::None, "none"), (Persistence::Everysec, "everysec"), (Persistence::Always, "always")];
    let others = persistence.into_iter().filter(|(other, _)| *other != scenario.nodes.persistence);
    let with = |(other, word): (Persistence, &str)| {
        apply_change(scenario, format!("with nodes.persistence = {word}"), |left| {
            left.nodes.persistence = other
        })
    };
    let own = scenario.clients.iter().filter_map(|client| client.ttl);
    // Redlock's page: longer than any lease, so that no node comes back while one is left.
    let longest = own.fold(scenario.lock.ttl, Duration::max).saturating_add(Duration::from_secs(1));
    let what = format!("with nodes.restart_after = {}", file_duration(longest));
    let delayed = (scenario.nodes.restart_after < longest)
        .then(|| apply_change(scenario, what, |left| left.nodes.restart_after = longest));
    others.map(with).chain(delayed).collect()
}

fn resource(scenario: &Scenario) -> Vec<Change> {
    if scenario.resource.in_session {
        return Vec::new(); // the session is the guard
    }
    let rules = &scenario.resource.rules;
    let checks = [
        (FencingCheck::Off, "off"),
        (FencingCheck::RejectLower, "reject-lower"),
        (FencingCheck::RejectLowerOrEqual, "reject-lower-or-equal"),
    ];
    let others = checks.into_iter().filter(|(check, _)| *check != rules.fencing);
    let with = |(check, word): (FencingCheck, &str)| {
        apply_change(scenario, format!("with resource.fencing = {word}"), |left| {
            left.resource.rules.fencing = check;
            left.resource.rules.fence_reads &= check.refuses();
            left.resource.rules.no_answer = NoAnswer::Refuse;
            left.resource.rules.forgets &= check != FencingCheck::Off;
            if !check.compares_numbers() {
                left.resource.rules.numbers = NumberSource::Lock;
            }
        })
    };
    let (reads, versions) = (!rules.fence_reads, !rules.version_check);
    let fence_reads = apply_change(scenario, format!("with resource.fence_reads = {reads}"), |left| {
        left.resource.rules.fence_reads = reads;
    });
    let version_check = apply_change(scenario, format!("with resource.version_check = {versions}"), |left| {
        left.resource.rules.version_check = versions;
    });
    others.map(with).chain([fence_reads, version_check]).collect()
}

/// The change that people mean by fencing: numbers, and a resource that looks at them. Neither does anything without
/// the other.
fn enable_fencing(scenario: &Scenario, lock: &Descriptor) -> Option<Change> {
    let has_numbers = lock.facts(&scenario.lock.switches).fencing;
    let switches: Switches = scenario.lock.switches.clone().with("fencing", true);
    let can_have = lock.switches.iter().any(|switch| switch.name == "fencing");
    let what = "with lock.fencing = true, resource.fencing = reject-lower and resource.fence_reads = true";
    (!has_numbers && can_have).then(|| {
        apply_change(scenario, what.to_owned(), |left| {
            left.lock.switches = switches;
            left.resource.rules.fencing = FencingCheck::RejectLower;
            left.resource.rules.fence_reads = true;
        })
    })
}

#[cfg(test)]
mod tests;
