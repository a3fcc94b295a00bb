//! Bugs in how long a lease is believed: what is subtracted, from when, and on which clock.

use std::time::Duration;

use doublehold::check::{DelayLaw, Fault, Mark, Predicate, RatePpb, When, World};

use super::{Case, FIVE, Flaw, c1_granted, c1_has_voters, c1_pauses, flaw_and_control, seconds};
use crate::BadLock;
use crate::locks::library;
use crate::worlds::{LONG, SHORT, independent, one_after_the_other, with_faults};

/// Work that outlives the lease, and does not look at the clock.
const OUTLIVES: &[&str] = &["acquire", "work 14s", "release"];

pub(super) fn bad_locks() -> Vec<BadLock> {
    [subtraction(), clocks(), deadlines()].into_iter().flatten().map(BadLock::from).collect()
}

/// `c1` works for longer than its lease; `c2` asks from its grant on.
fn overrun_lease() -> World {
    one_after_the_other(independent(5), OUTLIVES, &SHORT, c1_granted())
}

/// The same, and the last reply waits for 8 s.
fn late_reply() -> World {
    overrun_lease().fault(c1_pauses(c1_has_voters(), seconds(8)))
}

fn subtraction() -> Vec<Case> {
    let world = || independent(5).clients(2, LONG).rounds(2);
    vec![
        Case {
            locks: flaw_and_control("drift-added", Flaw::DriftAdded),
            source: "redlock-py#3, pottery#286",
            what: "The drift allowance is added to the lease where it is to be taken off.",
            breaks: &[Predicate::P2],
            world: world(),
            weather: "calm",
            shown: overrun_lease(),
        },
        Case {
            locks: flaw_and_control("no-drift", Flaw::NoDrift),
            source: "redis-plus-plus RedMutexTx (S)",
            what: "Nothing is taken off the lease for nodes whose clocks run faster.",
            breaks: &[Predicate::P2],
            world: independent(3).clients(3, LONG).rounds(2),
            weather: "node-drift",
            shown: overrun_lease().fault(Fault::clock_drift(FIVE, RatePpb(9_000_000))),
        },
        Case {
            locks: flaw_and_control("lease-from-last-reply", Flaw::LeaseFromLastReply),
            source: "pottery before 2e0f01e",
            what: "The lease is counted from the last reply, though the first key is older.",
            breaks: &[Predicate::P2],
            world: world(),
            weather: "long-pauses",
            shown: late_reply(),
        },
        Case {
            locks: flaw_and_control("elapsed-in-wrong-unit", Flaw::ElapsedInWrongUnit),
            source: "RedLock.net 633757b",
            what: "The time that the replies took is counted in a unit ten times too large.",
            breaks: &[Predicate::P2],
            world: world(),
            weather: "long-pauses",
            shown: late_reply(),
        },
        Case {
            locks: flaw_and_control("lease-from-wait", Flaw::LeaseFromWait),
            source: "redisson#624, #2172",
            what: "The nodes are asked for a lease made of how long the caller would wait, which is shorter.",
            breaks: &[Predicate::P2],
            world: world(),
            weather: "calm",
            shown: overrun_lease(),
        },
    ]
}

fn clocks() -> Vec<Case> {
    vec![
        Case {
            locks: library("wall-clock", "redlock-py", |at| at, |at| at.with("clock", "boot")),
            source: "redlock-rb#50, aioredlock#80, RedLock.net cb50082, redlock-py (S)",
            what: "The wall clock measures the lease.",
            breaks: &[Predicate::P2],
            world: independent(5).clients(2, LONG).rounds(2),
            weather: "client-clock-steps",
            shown: overrun_lease().fault(Fault::clock_step("c1", -5_000_000_000).at(c1_granted())),
        },
        Case {
            locks: flaw_and_control("clock-stands-still", Flaw::StandingClock),
            source: "redsync, rslock, redis-py (S)",
            what: "A clock that stands still while the machine is suspended measures the lease.",
            breaks: &[Predicate::P2],
            world: independent(5).clients(2, LONG).rounds(2),
            weather: "suspensions",
            shown: overrun_lease()
                .fault(Fault::suspend("c1").at(c1_granted().delay_by(seconds(1))).lasting(seconds(5))),
        },
    ]
}

/// Some messages take so long that asking three nodes may take longer than `c1`'s short lease. It gives back at once
/// what it was granted, so that it holds the lock with `c2` only if the lease was over by then.
fn far_away() -> World {
    let world = independent(3).client("c1", ["acquire", "release"]);
    let world = world.client("c2", ["acquire", "work 100ms..300ms", "release"]).rounds(20);
    world.with(|scenario| {
        let (near, far) = (Duration::from_millis(2), Duration::from_millis(24));
        scenario.link.delay = DelayLaw::Quantiles([near, near, near, near, far, far].into());
        scenario.clients[0].ttl = Some(Duration::from_millis(60));
    })
}

fn deadlines() -> Vec<Case> {
    const UNCHECKED: &[&str] = &["acquire", "read", "work 1s", "write", "release"];
    const WORKS_12S: &[&str] = &["acquire", "read", "work 12s", "check", "write", "release"];
    const WORKS_5S: &[&str] = &["acquire", "read", "work 5s", "check", "write", "release"];
    let overtaken = |first| {
        let world = one_after_the_other(independent(5), first, WORKS_5S, c1_has_voters());
        world.fault(c1_pauses(c1_has_voters(), seconds(12)))
    };
    vec![
        Case {
            locks: flaw_and_control("expired-handed-out", Flaw::ExpiredHandedOut),
            source: "node-redlock#369",
            what: "A lease that ended before the last reply came is handed out, with its deadline.",
            breaks: &[Predicate::P1, Predicate::P3, Predicate::P4],
            world: far_away(),
            weather: "calm",
            shown: overtaken(UNCHECKED),
        },
        Case {
            locks: flaw_and_control("nothing-left-handed-out", Flaw::NothingLeftHandedOut),
            source: "leandromoreira/redlock-rb (S)",
            what: "A lease of which nothing is left is handed out: `validity >= 0`.",
            breaks: &[Predicate::P1, Predicate::P2],
            world: far_away(),
            weather: "calm",
            shown: overtaken(UNCHECKED),
        },
        Case {
            locks: flaw_and_control("final-lease-unchecked", Flaw::FinalLeaseUnchecked),
            source: "RedissonRedLock (S)",
            what: "The lease is set once more when all have answered, without asking whose the keys are.",
            breaks: &[Predicate::P2],
            world: independent(5).clients(2, LONG).rounds(2),
            weather: "long-pauses",
            shown: overtaken(UNCHECKED),
        },
        Case {
            locks: library("held-flag", "aioredlock", |at| at, |at| at.with("tells_deadline", true)),
            source: "aioredlock#46, RedLock.net#46",
            what: "Whether the lock is held is a flag, which nothing clears when the lease ends.",
            breaks: &[Predicate::P2, Predicate::P3, Predicate::P4],
            world: independent(5).clients(2, LONG).rounds(2),
            weather: "calm",
            shown: with_faults(
                one_after_the_other(independent(5), WORKS_12S, WORKS_5S, When::event("c1", Mark::Grant)),
                [],
            ),
        },
    ]
}
