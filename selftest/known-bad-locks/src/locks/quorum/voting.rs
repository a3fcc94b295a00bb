//! Bugs in who counts: how many are a majority, what an error is, and who is told of a failed attempt.

use std::time::Duration;

use doublehold::check::{Event, Fault, Mark, Names, Persistence, Predicate, Way, When, World};

use super::redlock::NODE_TIMEOUT;
use super::{Case, FIVE, Flaw, c1_granted, flaw_and_control, seconds};
use crate::BadLock;
use crate::locks::library;
use crate::worlds::{
    CAREFUL, SHORT, independent, obtained_in_the_end, one_after_the_other, soon_obtained,
    soon_obtained_after_faults,
};

pub(super) fn bad_locks() -> Vec<BadLock> {
    [majorities(), errors(), silence(), leftovers()].into_iter().flatten().map(BadLock::from).collect()
}

/// Two clients that take many turns after the last fault. Neither waits as long as it would if each turn of the other
/// took a lease.
fn take_turns(world: World) -> World {
    let world = world.rounds(20).obtain_within(seconds(45));
    world.with(|scenario| scenario.limits.after_faults = true)
}

fn short(nodes: usize) -> World {
    independent(nodes).clients(2, SHORT).rounds(5)
}

/// Whoever waits for a free lock gets it soon, also while something is wrong.
fn patient(nodes: usize) -> World {
    soon_obtained(short(nodes))
}

fn majorities() -> Vec<Case> {
    const WORKS: &[&str] = &["acquire", "work 4s", "release"];
    let stale = || {
        let second_acquire = c1_granted().then(Event::mark("c1", Mark::Acquire), 1);
        let voted = second_acquire.clone().then(Event::executed("SET").by("c1"), 5);
        let world = one_after_the_other(independent(5), WORKS, &SHORT, voted.clone());
        let late = Fault::slow(Way::from_to(FIVE, "c1"), Duration::from_millis(100));
        let cut = Fault::cut(Way::from_to("c1", FIVE));
        let world = world.with(|scenario| scenario.clients[0].rounds = 2);
        world
            .fault(late.at(second_acquire).lasting(Duration::from_millis(300)))
            .fault(cut.at(voted).lasting(seconds(8)))
    };
    vec![
        Case {
            locks: flaw_and_control("quorum-of-reached", Flaw::QuorumOfReached),
            source: "redlock-py#6",
            what: "A majority is one of the nodes that could be reached when the client started.",
            breaks: &[Predicate::P2],
            world: independent(3).clients(3, CAREFUL).rounds(4),
            weather: "cuts-and-new-clients",
            shown: one_after_the_other(independent(5), &SHORT, WORKS, seconds(1))
                .fault(Fault::cut(Way::between("c1", ["A", "B", "C"])).lasting(seconds(8))),
        },
        Case {
            locks: flaw_and_control("own-stale-entry-counts", Flaw::OwnStaleEntryCounts),
            source: "curator#1121, etcd#19597",
            what: "A node that refuses because it has a key of this client's own from before counts as a yes.",
            breaks: &[Predicate::P2],
            world: independent(5).clients(2, CAREFUL).rounds(3),
            weather: "cuts",
            shown: stale(),
        },
        Case {
            locks: library(
                "waits-for-either-majority",
                "node-redlock",
                |at| at.with("transport_retries", 0_u64),
                |at| at.with("tie", "refused"),
            ),
            source: "node-redlock (S)",
            what: "An attempt ends with a majority for or against; with an even number of nodes there may be neither.",
            breaks: &[Predicate::LV],
            world: obtained_in_the_end(short(2)),
            weather: "nodes-away",
            shown: obtained_in_the_end(short(2)).fault(Fault::crash("B").lasting(seconds(2))),
        },
    ]
}

fn errors() -> Vec<Case> {
    vec![
        Case {
            locks: flaw_and_control("error-after-quorum", Flaw::ErrorAfterQuorum),
            source: "redlock-py (R)",
            what: "One unreachable node fails an attempt that has its majority, and the keys stay.",
            breaks: &[Predicate::LV],
            world: patient(3),
            weather: "a-away",
            shown: patient(3).fault(Fault::crash("C").lasting(seconds(8))),
        },
        Case {
            locks: library(
                "any-error-fails",
                "redis-plus-plus",
                |at| at.with("node_timeout", NODE_TIMEOUT),
                |at| at.with("on_node_error", "no-vote"),
            ),
            source: "redis-plus-plus RedMutex (S), redlock-rb#60, #108, #129, node-redlock#262",
            what: "One unreachable node fails the attempt, though its majority is there.",
            breaks: &[Predicate::LV],
            world: patient(3),
            weather: "a-away",
            shown: patient(3).fault(Fault::crash("C").lasting(seconds(8))),
        },
    ]
}

fn silence() -> Vec<Case> {
    let silent = |nodes, silent: &[&str]| {
        let way = Way::between(["c1", "c2"], silent.iter().copied().collect::<Names>());
        patient(nodes).fault(Fault::cut(way))
    };
    vec![
        Case {
            locks: library(
                "no-node-timeout",
                "redlock-py",
                |at| at.with("driver", "redis-py-5"),
                |at| at.with("node_timeout", NODE_TIMEOUT),
            ),
            source: "redsync#80, rslock and redlock-py (S)",
            what: "A node that says nothing is waited for without a limit.",
            breaks: &[Predicate::LV],
            world: patient(3),
            weather: "a-away",
            shown: silent(3, &["A"]),
        },
        Case {
            locks: library(
                "long-node-timeout",
                "redlock-antirez",
                |at| at,
                |at| at.with("node_timeout", NODE_TIMEOUT),
            ),
            source: "antirez/redlock-rb, RedLock.net#29 (S)",
            what: "The limit on each node is half a lease, so that two silent nodes eat it.",
            breaks: &[Predicate::LV],
            world: patient(5),
            weather: "a-and-b-away",
            shown: silent(5, &["A", "B"]),
        },
    ]
}

/// `c1`'s keys are set on `B` and `C`, and it hears of neither in time; it asks no second time.
fn late_yes() -> World {
    let second_acquire = c1_granted().then(Event::mark("c1", Mark::Acquire), 1);
    let world = one_after_the_other(
        independent(3),
        &["try", "release"],
        &SHORT,
        When::event("c1", Mark::Refusal).delay_by(Duration::from_millis(500)),
    );
    let late = Fault::slow(Way::from_to(["B", "C"], "c1"), Duration::from_millis(100));
    soon_obtained(world.with(|scenario| scenario.clients[0].rounds = 2))
        .fault(late.at(second_acquire).lasting(Duration::from_millis(80)))
}

fn leftovers() -> Vec<Case> {
    let restarted = || {
        let second_acquire = c1_granted().then(Event::mark("c1", Mark::Acquire), 1);
        let released = second_acquire.clone().then(Event::mark("c1", Mark::Release), 1);
        let world = one_after_the_other(independent(3), &SHORT, &SHORT, released.delay_by(seconds(1)));
        let world = world.with(|scenario| scenario.clients[0].rounds = 2);
        soon_obtained(world).fault(Fault::crash(["A", "B"]).at(second_acquire).lasting(Duration::ZERO))
    };
    vec![
        Case {
            locks: flaw_and_control("no-release-after-timeout", Flaw::NoReleaseAfterTimeout),
            source: "redlock-rb#76, rslock TtlExceeded (S)",
            what: "An attempt in which a node was late returns without giving its keys back.",
            breaks: &[Predicate::LV],
            world: soon_obtained_after_faults(short(3)),
            weather: "slow-replies",
            shown: late_yes(),
        },
        Case {
            locks: flaw_and_control("release-where-yes", Flaw::ReleaseWhereYes),
            source: "redlock-rb#5, redisson#1606",
            what: "After a failed attempt only nodes whose yes arrived are told.",
            breaks: &[Predicate::LV],
            world: soon_obtained_after_faults(short(3)),
            weather: "slow-replies",
            shown: late_yes(),
        },
        Case {
            locks: flaw_and_control("no-script-fallback", Flaw::NoScriptFallback),
            source: "redlock-rb#29, aioredlock#76",
            what: "A script that a restarted node has forgotten is not sent again, so that nothing is given back.",
            breaks: &[Predicate::LV],
            world: take_turns(short(3)).with(|scenario| {
                scenario.nodes.persistence = Persistence::Always;
            }),
            weather: "node-restarts",
            shown: restarted(),
        },
    ]
}
