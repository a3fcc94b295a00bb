//! Every single change to a scenario that might have made its run come out otherwise, and what people would try first.
//!
//! Not proposed: lengths of programs, delays and rates, which have too many other values, and a lock of another kind.

use std::time::Duration;

use doublehold_history::{FencingCheck, Predicate};
use doublehold_lockimpl::{Descriptor, Kind, Most, Switch, Switches, Value};
use doublehold_scenarios::model::scenario::{Persistence, Role, Scenario};
use doublehold_words::typed;

use crate::shrink::Target;
use crate::shrink::cast::without_client;

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
    let fenced = lock.and_then(|lock| fenced(scenario, lock)).into_iter().collect();
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
fn changed(scenario: &Scenario, what: String, change: impl FnOnce(&mut Scenario)) -> Change {
    let mut changed = scenario.clone();
    change(&mut changed);
    Change { what, scenario: changed, caveat: None }
}

fn faults(scenario: &Scenario) -> Vec<Change> {
    let without = |(number, fault)| {
        changed(scenario, format!("without: {fault}"), |left| drop(left.faults.remove(number)))
    };
    scenario.faults.iter().enumerate().map(without).collect()
}

fn clients(scenario: &Scenario) -> Vec<Change> {
    if scenario.clients.len() < 2 {
        return Vec::new();
    }
    let without = |client: &doublehold_scenarios::model::scenario::ClientSetup| Change {
        what: format!("without the client {}", scenario.hosts[client.host.0].name),
        scenario: without_client(scenario, client.host),
        caveat: None,
    };
    scenario.clients.iter().map(without).collect()
}

/// Leases half as long, twice and ten times as long, those of clients with their own among them.
fn ttls(scenario: &Scenario) -> Vec<Change> {
    let with = |(times, parts): (u32, u32)| {
        let scaled = |ttl: Duration| ttl.saturating_mul(times) / parts;
        let ttl = scaled(scenario.lock.ttl);
        changed(scenario, format!("with lock.ttl = {}", typed(ttl)), |left| {
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
        let all: Vec<Value> = words.chain(flag).chain(numbers(scenario, switch)).collect();
        all.into_iter().filter(|value| Some(value) != now.as_ref()).collect::<Vec<_>>()
    };
    let with = |switch: &Switch| {
        let change = |value: Value| {
            let what = format!("with lock.{} = {value}", switch.name);
            changed(scenario, what, |left| left.lock.switches.set(switch.name, value))
        };
        others(switch).into_iter().map(change).collect::<Vec<_>>()
    };
    lock.switches.iter().flat_map(with).chain(left_out(scenario, lock)).collect()
}

/// The changes that each leave out a switch that was chosen and need not be, with those that do nothing without it.
fn left_out(scenario: &Scenario, lock: &Descriptor) -> Vec<Change> {
    let chosen = &scenario.lock.switches;
    let has_no_default = |switch: &&Switch| switch.default.is_none() && chosen.get(switch.name).is_some();
    let without = |switch: &Switch| {
        let needs_it = |name: &str| {
            let other = lock.switches.iter().find(|other| other.name == name);
            other.is_some_and(|other| other.needs == Some(switch.name))
        };
        let left = chosen.iter().filter(|(name, _)| *name != switch.name && !needs_it(name));
        let left = left.fold(Switches::new(), |all, (name, value)| all.with(name, value.clone()));
        changed(scenario, format!("without lock.{}", switch.name), |it| it.lock.switches = left)
    };
    lock.switches.iter().filter(has_no_default).map(without).collect()
}

/// Every number that a switch about nodes may be: how many are to say yes, how many are to have heard.
fn numbers(scenario: &Scenario, switch: &Switch) -> Vec<Value> {
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

fn nodes(scenario: &Scenario) -> Vec<Change> {
    let persistence =
        [(Persistence::None, "none"), (Persistence::Everysec, "everysec"), (Persistence::Always, "always")];
    let others = persistence.into_iter().filter(|(other, _)| *other != scenario.nodes.persistence);
    let with = |(other, word): (Persistence, &str)| {
        changed(scenario, format!("with nodes.persistence = {word}"), |left| left.nodes.persistence = other)
    };
    let own = scenario.clients.iter().filter_map(|client| client.ttl);
    // Redlock's page: longer than any lease, so that no node comes back while one is left.
    let longest = own.fold(scenario.lock.ttl, Duration::max).saturating_add(Duration::from_secs(1));
    let what = format!("with nodes.restart_after = {}", typed(longest));
    let delayed = (scenario.nodes.restart_after < longest)
        .then(|| changed(scenario, what, |left| left.nodes.restart_after = longest));
    others.map(with).chain(delayed).collect()
}

fn resource(scenario: &Scenario) -> Vec<Change> {
    let rules = &scenario.resource.rules;
    let checks = [
        (FencingCheck::Off, "off"),
        (FencingCheck::RejectLower, "reject-lower"),
        (FencingCheck::RejectLowerOrEqual, "reject-lower-or-equal"),
    ];
    let others = checks.into_iter().filter(|(check, _)| *check != rules.fencing);
    let with = |(check, word): (FencingCheck, &str)| {
        changed(scenario, format!("with resource.fencing = {word}"), |left| {
            left.resource.rules.fencing = check;
            left.resource.rules.fence_reads &= check != FencingCheck::Off;
        })
    };
    let (reads, versions) = (!rules.fence_reads, !rules.version_check);
    let fence_reads = changed(scenario, format!("with resource.fence_reads = {reads}"), |left| {
        left.resource.rules.fence_reads = reads;
    });
    let version_check = changed(scenario, format!("with resource.version_check = {versions}"), |left| {
        left.resource.rules.version_check = versions;
    });
    others.map(with).chain([fence_reads, version_check]).collect()
}

/// The change that people mean by fencing: numbers, and a resource that looks at them. Neither does anything without
/// the other.
fn fenced(scenario: &Scenario, lock: &Descriptor) -> Option<Change> {
    let has_numbers = lock.facts(&scenario.lock.switches).fencing;
    let switches: Switches = scenario.lock.switches.clone().with("fencing", true);
    let can_have = lock.switches.iter().any(|switch| switch.name == "fencing");
    let what = "with lock.fencing = true, resource.fencing = reject-lower and resource.fence_reads = true";
    (!has_numbers && can_have).then(|| {
        changed(scenario, what.to_owned(), |left| {
            left.lock.switches = switches;
            left.resource.rules.fencing = FencingCheck::RejectLower;
            left.resource.rules.fence_reads = true;
        })
    })
}

#[cfg(test)]
mod tests {
    use doublehold_scenarios::catalog;

    use super::*;

    #[test]
    fn what_a_change_may_also_mean_is_said_where_it_may() {
        let guards = [
            "with resource.fencing = reject-lower",
            "with resource.fencing = reject-lower-or-equal",
            "with resource.fence_reads = true",
            "with resource.version_check = true",
        ]
        .map(|what| (what, Caveat::GuardsData));
        let no_deadline = ("with lock.elapsed_check = false", Caveat::NoDeadline);
        let other_waits = ("with lock.jitter = false", Caveat::OtherWaits);
        let not_told = ("with lock.tells_deadline = false", Caveat::NoDeadline);
        let of_p2 = [&[no_deadline, other_waits, not_told][..], &guards].concat();
        for (name, predicate, expected) in [
            ("clock-jump", Predicate::P2, of_p2),
            ("clock-jump", Predicate::P1, [&[other_waits][..], &guards].concat()),
            ("clock-jump", Predicate::P3, vec![other_waits]),
            ("clock-jump", Predicate::P4, vec![other_waits]),
            ("clock-jump", Predicate::LV, guards.to_vec()),
            // The resource looks at the numbers, so that none are more than a request that takes longer.
            ("fencing-33-34", Predicate::P3, Vec::new()),
        ] {
            let scenario = catalog::load(name, &[]).unwrap();
            let locks = doublehold_lockimpl::descriptors();
            let changes = all(&scenario, Target::Violates(predicate), &locks);
            let marked = changes.iter().filter_map(|it| Some((it.what.as_str(), it.caveat?)));
            assert_eq!(marked.collect::<Vec<_>>(), expected, "{name}, {predicate}");
        }
    }

    /// Each change that names a key and its value is what reading the scenario with that value gives; and they are
    /// these, with those that leave something out.
    #[test]
    fn what_people_would_try_is_tried_and_is_what_setting_it_makes() {
        let own = &[("clients.1.ttl", "4s")][..];
        for (name, sets, expected) in [
            (
                "failover-before-replication",
                &[("lock.wait_replicas", "1"), ("lock.wait_timeout", "2s"), ("lock.ttl", "30s")][..],
                REPLICATED,
            ),
            ("clock-jump", own, REDLOCK),
            ("fencing-33-34", &[("resource.fence_reads", "true")][..], FENCED),
        ] {
            let read = |more: &[(&str, &str)]| {
                let all =
                    sets.iter().chain(more).map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
                let read = catalog::load(name, &all.collect::<Vec<_>>());
                read.map(|read| Scenario { sets: Vec::new(), ..read })
            };
            let scenario = read(&[]).expect("in the catalogue");
            let locks = doublehold_lockimpl::descriptors();
            let mut names = Vec::new();
            for Change { what, scenario: changed, .. } in
                all(&scenario, Target::Violates(Predicate::P2), &locks)
            {
                let told = what.strip_prefix("with ").into_iter().flat_map(|keys| keys.split(", "));
                let told = told.flat_map(|keys| keys.split(" and "));
                let mut keys: Vec<_> = told.map(|it| it.split_once(" = ").expect("a key, a value")).collect();
                let implied = IMPLIED.iter().filter(|(with, _)| what == *with).map(|(_, implied)| *implied);
                keys.extend(implied.filter(|(key, _)| sets == own || *key != own[0].0));
                match read(&keys) {
                    Ok(read) if !keys.is_empty() => assert_eq!(changed, read, "{name}: {what}"),
                    Ok(_) => assert_ne!(changed, scenario, "{name}: {what}"),
                    Err(_) => assert!(changed.checked().is_err(), "{name}: {what}"),
                }
                // What needs a switch goes with it.
                assert!(!what.starts_with("without lock.") || changed.checked().is_ok(), "{name}: {what}");
                names.push(what);
            }
            assert_eq!(names, expected, "{name}: {names:#?}");
        }
    }

    #[test]
    fn what_was_not_chosen_is_not_left_out() {
        let scenario = catalog::load("failover-before-replication", &[]).expect("in the catalogue");
        let changes = all(&scenario, Target::Violates(Predicate::P2), &doublehold_lockimpl::descriptors());
        let left_out: Vec<&str> =
            changes.iter().filter_map(|change| change.what.strip_prefix("without lock.")).collect();
        assert_eq!(left_out, [""; 0]);
        assert!(changes.iter().any(|change| change.what == "with lock.wait_replicas = 1"), "it could be");
    }

    /// What goes with a change, and is not told: leases of clients are scaled, too, and reads without a check.
    const IMPLIED: [(&str, (&str, &str)); 4] = [
        ("with resource.fencing = off", ("resource.fence_reads", "false")),
        ("with lock.ttl = 5s", ("clients.1.ttl", "2s")),
        ("with lock.ttl = 20s", ("clients.1.ttl", "8s")),
        ("with lock.ttl = 100s", ("clients.1.ttl", "40s")),
    ];

    const REPLICATED: &[&str] = &[
        "without: the link from M to R1 and R2 is cut, at c1's acquire",
        "without: M crashes and stays down, at c1's grant",
        "without: R1 is promoted to master, 1 s after c1's grant",
        "without the client c1",
        "without the client c2",
        "with lock.ttl = 15s",
        "with lock.ttl = 60s",
        "with lock.ttl = 300s",
        "with lock.elapsed_check = false",
        "with lock.unchecked_deadline = true",
        "with lock.clock = wall",
        "with lock.clock = boot",
        "with lock.request_timeout = none",
        "with lock.on_timeout = keep",
        "with lock.release = plain-delete",
        "with lock.release = get-then-delete",
        "with lock.fencing = true",
        "with lock.extend_if_missing = true",
        "with lock.release_on_failure = false",
        "with lock.wait_replicas = 2",
        "without lock.wait_replicas",
        "with nodes.persistence = everysec",
        "with nodes.persistence = always",
        "with nodes.restart_after = 31s",
        "with resource.fencing = reject-lower",
        "with resource.fencing = reject-lower-or-equal",
        "with resource.fence_reads = true",
        "with resource.version_check = true",
        "with lock.fencing = true, resource.fencing = reject-lower and resource.fence_reads = true",
    ];
    const REDLOCK: &[&str] = &[
        "without: the link from c1 to D and E is cut, at the beginning",
        "without: C has its wall clock stepped by +10 s, at c1's grant",
        "without the client c1",
        "without the client c2",
        "with lock.ttl = 5s",
        "with lock.ttl = 20s",
        "with lock.ttl = 100s",
        "with lock.elapsed_check = false",
        "with lock.unchecked_deadline = true",
        "with lock.clock = wall",
        "with lock.clock = boot",
        "with lock.quorum = half-of-others",
        "with lock.quorum = more-than-majority",
        "with lock.quorum = 1",
        "with lock.quorum = 2",
        "with lock.quorum = 3",
        "with lock.quorum = 4",
        "with lock.quorum = 5",
        "with lock.order = parallel",
        "with lock.node_timeout = none",
        "with lock.on_timeout = keep",
        "with lock.token = attempt",
        "with lock.jitter = false",
        "with lock.release = plain-delete",
        "with lock.release = get-then-delete",
        "with lock.release_on = answered",
        "with lock.on_failed_extension = release",
        "with lock.extend_if_missing = true",
        "with lock.late_renewal_counts = true",
        "with lock.extension_votes = answered",
        "with lock.tells_deadline = false",
        "with lock.release_on_failure = false",
        "with nodes.persistence = everysec",
        "with nodes.persistence = always",
        "with nodes.restart_after = 11s",
        "with resource.fencing = reject-lower",
        "with resource.fencing = reject-lower-or-equal",
        "with resource.fence_reads = true",
        "with resource.version_check = true",
    ];
    const FENCED: &[&str] = &[
        "without: c1 pauses for 20 s, at c1's check",
        "without the client c1",
        "without the client c2",
        "without the client c3",
        "with lock.ttl = 5s",
        "with lock.ttl = 20s",
        "with lock.ttl = 100s",
        "with lock.elapsed_check = false",
        "with lock.unchecked_deadline = true",
        "with lock.clock = wall",
        "with lock.clock = boot",
        "with lock.request_timeout = none",
        "with lock.on_timeout = keep",
        "with lock.release = plain-delete",
        "with lock.release = get-then-delete",
        "with lock.fencing = false",
        "with lock.extend_if_missing = true",
        "with lock.release_on_failure = false",
        "with nodes.persistence = everysec",
        "with nodes.persistence = always",
        "with nodes.restart_after = 11s",
        "with resource.fencing = off",
        "with resource.fencing = reject-lower-or-equal",
        "with resource.fence_reads = false",
        "with resource.version_check = true",
    ];
}
