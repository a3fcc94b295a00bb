//! Which changes are proposed, and which caveat goes with each.

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
            let all = sets.iter().chain(more).map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
            let read = catalog::load(name, &all.collect::<Vec<_>>());
            read.map(|read| Scenario { sets: Vec::new(), ..read })
        };
        let scenario = read(&[]).expect("in the catalogue");
        let locks = doublehold_lockimpl::descriptors();
        let mut names = Vec::new();
        for Change { what, scenario: changed, .. } in all(&scenario, Target::Violates(Predicate::P2), &locks)
        {
            let told = what.strip_prefix("with ").into_iter().flat_map(|keys| keys.split(", "));
            let told = told.flat_map(|keys| keys.split(" and "));
            let mut keys: Vec<_> = told.map(|it| it.split_once(" = ").expect("a key, a value")).collect();
            let implied = IMPLIED.iter().filter(|(with, _)| what == *with).map(|(_, implied)| *implied);
            keys.extend(implied.filter(|(key, _)| sets == own || *key != own[0].0));
            match read(&keys) {
                Ok(read) if !keys.is_empty() => assert_eq!(changed, read, "{name}: {what}"),
                Ok(_) => assert_ne!(changed, scenario, "{name}: {what}"),
                Err(_) => assert!(changed.validate().is_err(), "{name}: {what}"),
            }
            // What needs a switch goes with it.
            assert!(!what.starts_with("without lock.") || changed.validate().is_ok(), "{name}: {what}");
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
    "with lock.connect_timeout = none",
    "with lock.release = plain-delete",
    "with lock.release = get-then-delete",
    "with lock.release = delex-ifeq",
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
    "with lock.subset = majority",
    "with lock.subset = 1",
    "with lock.subset = 2",
    "with lock.subset = 3",
    "with lock.subset = 4",
    "with lock.subset = 5",
    "with lock.order = parallel",
    "with lock.node_timeout = none",
    "with lock.on_timeout = keep",
    "with lock.token = attempt",
    "with lock.token = object",
    "with lock.jitter = false",
    "with lock.connect_timeout = none",
    "with lock.wait_for = quorum",
    "with lock.wait_for = yes",
    "with lock.tie = never",
    "with lock.on_node_error = raise",
    "with lock.on_node_error = stop",
    "with lock.expiry = none",
    "with lock.release_between_tries = false",
    "with lock.release_on_late = false",
    "with lock.extend_check = new-lease",
    "with lock.extend_check = at-start",
    "with lock.extend_check = none",
    "with lock.release = plain-delete",
    "with lock.release = get-then-delete",
    "with lock.release = delex-ifeq",
    "with lock.release_on = answered",
    "with lock.on_failed_extension = release",
    "with lock.extend_if_missing = true",
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
    "with lock.connect_timeout = none",
    "with lock.release = plain-delete",
    "with lock.release = get-then-delete",
    "with lock.release = delex-ifeq",
    "with lock.fencing = false",
    "with lock.extend_if_missing = true",
    "with lock.release_on_failure = false",
    "with lock.expiry = none",
    "with lock.expiry_clock = client",
    "with lock.token = call",
    "with lock.token = object",
    "with lock.token_value = process",
    "with lock.token_value = timestamp",
    "with lock.token_value = small-int",
    "with lock.own_token_counts = true",
    "with lock.extend_by = set-xx",
    "with lock.extend_by = set-ifeq",
    "with lock.extend_by = plain",
    "with lock.extend_adds = true",
    "with lock.deadline_from = reply",
    "with lock.tells_deadline = false",
    "with lock.probe = reads",
    "with lock.probe = takes",
    "with lock.wake = poll",
    "with lock.wake = pubsub",
    "with lock.wake = list",
    "with lock.wake = keyspace",
    "with lock.wake = tracking",
    "with nodes.persistence = everysec",
    "with nodes.persistence = always",
    "with nodes.restart_after = 11s",
    "with resource.fencing = off",
    "with resource.fencing = reject-lower-or-equal",
    "with resource.fence_reads = false",
    "with resource.version_check = true",
];
