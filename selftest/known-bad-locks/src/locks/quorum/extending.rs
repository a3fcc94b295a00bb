//! Bugs in extending a lease.

use std::time::Duration;

use doublehold::check::{Event, Fault, Mark, Predicate, Way, When, World};

use super::redlock::NODE_TIMEOUT;
use super::{Case, FIVE, Flaw, c1_granted, c1_pauses, flaw_and_control, seconds};
use crate::BadLock;
use crate::locks::library;
use crate::worlds::{EXTENDING, independent, one_after_the_other};

/// Extends after 4 s, and works on.
const EXTENDS: &[&str] = &["acquire", "read", "work 4s", "extend", "work 8s", "check", "write", "release"];

/// Extends after 4 s, and writes without looking at the clock.
const WRITES_ON: &[&str] = &["acquire", "read", "work 4s", "extend", "write", "release"];

const WORKS_8S: &[&str] = &["acquire", "read", "work 8s", "check", "write", "release"];
const WORKS_1S: &[&str] = &["acquire", "read", "work 1s", "check", "write", "release"];

/// `c1` is about to extend.
fn extending() -> When {
    When::event("c1", Mark::Extending)
}

/// `c1` extends, and `c2` asks from its grant on.
fn world(first: &'static [&'static str], second: &'static [&'static str]) -> World {
    one_after_the_other(independent(5), first, second, c1_granted())
}

/// The same, and `c1` stops for longer than a lease before it asks to extend.
fn pause_past_lease(first: &'static [&'static str], second: &'static [&'static str]) -> World {
    world(first, second).fault(c1_pauses(extending(), seconds(12)))
}

pub(super) fn bad_locks() -> Vec<BadLock> {
    [answers(), losses()].into_iter().flatten().map(BadLock::from).collect()
}

fn reference() -> World {
    independent(5).clients(2, EXTENDING).rounds(2)
}

/// Work before the extension may outlive the lease, and nobody looks at the clock before writing.
fn outliving() -> World {
    let program = ["acquire", "read", "work 4s..14s", "extend", "write", "release"];
    independent(5).client("c1", program).client("c2", ["acquire", "read", "work 100ms", "write", "release"])
}

fn answers() -> Vec<Case> {
    let last_reply = extending().then(Event::Received { by: "c1".to_owned(), from: "E".to_owned() }, 1);
    vec![
        Case {
            locks: library(
                "extension-true-when-differs",
                "redis-plus-plus-tx",
                |at| at.with("renew_every", "none"),
                |at| at.with("extension_votes", "renewed"),
            ),
            source: "redis-plus-plus RedMutexTx (S)",
            what: "A node whose key is gone or another's counts as one that extended.",
            breaks: &[Predicate::P3, Predicate::P4],
            world: outliving(),
            weather: "calm",
            shown: pause_past_lease(WRITES_ON, WORKS_8S),
        },
        Case {
            locks: flaw_and_control("extension-uncounted", Flaw::ExtensionUncounted),
            source: "redsync#61, #38",
            what: "What the nodes say to an extension is not counted, not even silence.",
            breaks: &[Predicate::P2],
            world: reference(),
            weather: "cuts",
            shown: world(EXTENDS, WORKS_8S).fault(Fault::cut(Way::between("c1", FIVE)).at(extending())),
        },
        Case {
            locks: flaw_and_control("extension-ignores-elapsed", Flaw::ExtensionIgnoresElapsed),
            source: "redsync#71",
            what: "An extension counts from when it returned, however long that took.",
            breaks: &[Predicate::P2],
            world: reference().rounds(4),
            weather: "long-pauses",
            shown: world(EXTENDS, WORKS_8S).fault(c1_pauses(last_reply, seconds(12))),
        },
    ]
}

fn losses() -> Vec<Case> {
    let cut = Fault::cut(Way::between("c1", ["A", "B", "C"]));
    vec![
        Case {
            locks: library(
                "extension-sets-if-absent",
                "redlock-rb",
                |at| at,
                |at| at.with("extend_if_missing", false),
            ),
            source: "redlock-rb#36, RedLock.net 25777fa, aioredlock (S), redsync#149",
            what: "An extension sets a key again that is gone, and nobody learns who had the lock meanwhile.",
            breaks: &[Predicate::P3, Predicate::P4],
            world: outliving(),
            weather: "calm",
            shown: pause_past_lease(WRITES_ON, WORKS_1S),
        },
        Case {
            locks: flaw_and_control("lost-is-transient", Flaw::LostIsTransient),
            source: "bsm/redislock#88",
            what: "A lock that is lost is asked for again like after a fault, and nobody is told that it is lost.",
            breaks: &[Predicate::P3, Predicate::P4],
            world: outliving(),
            weather: "calm",
            shown: pause_past_lease(WRITES_ON, WORKS_1S),
        },
        Case {
            locks: library(
                "failed-extension-releases",
                "rslock",
                |at| at.with("node_timeout", NODE_TIMEOUT),
                |at| at.with("on_failed_extension", "keep"),
            ),
            source: "rslock, redis-plus-plus (S)",
            what: "An extension that failed for want of answers gives the lock back, and its old deadline is believed.",
            breaks: &[Predicate::P2],
            world: reference(),
            weather: "cuts",
            shown: world(EXTENDS, WORKS_8S).fault(cut.at(extending()).lasting(Duration::from_millis(155))),
        },
    ]
}
