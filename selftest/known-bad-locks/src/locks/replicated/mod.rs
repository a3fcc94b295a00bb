//! Known-bad locks of locks on a replicated master.

mod lock;

use std::time::Duration;

use doublehold::check::{Fault, Mark, Nodes, Predicate, Way, When, World};

use crate::locks::library;
use crate::worlds::{
    CAREFUL, SHORT, obtained_in_the_end, one_after_the_other, replicated_nodes, soon_obtained,
    soon_obtained_after_faults,
};
use crate::{BadLock, Kind};
use lock::{Flaw, Replicated};

/// Late enough for the replicas to have found their master.
const READY: Duration = Duration::from_secs(2);

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// The lock of this folder with a flaw.
fn flaw_and_control(name: &'static str, flaw: Flaw) -> (Kind, Kind) {
    (kind(name, flaw), kind("replicated without a flaw", Flaw::None))
}

fn kind(name: &'static str, flaw: Flaw) -> Kind {
    Kind::new(name, Nodes::Replicated, move |env, nodes| Replicated::new(env, nodes, flaw))
}

/// A lock with a flaw, and where it shows.
struct Case {
    /// The lock, and the same without the flaw.
    locks: (Kind, Kind),
    source: &'static str,
    what: &'static str,
    shown: World,
}

impl Case {
    /// Two holders after a failover.
    fn unsafe_lock(self) -> BadLock {
        let world = replicated_nodes().clients(3, CAREFUL).rounds(2);
        self.bad_lock(&[Predicate::P2], world, "lagging-failovers")
    }

    /// A free lock that nobody gets in time.
    fn lasting_lock(self, in_time: fn(World) -> World, weather: &'static str) -> BadLock {
        let world = in_time(replicated_nodes().clients(2, SHORT).rounds(5));
        self.bad_lock(&[Predicate::LV], world, weather)
    }

    fn bad_lock(self, breaks: &'static [Predicate], world: World, weather: &'static str) -> BadLock {
        let Case { locks: (lock, control), source, what, shown } = self;
        BadLock {
            name: lock.name(),
            source,
            what,
            breaks,
            lock,
            control,
            world,
            weather,
            shown,
            survives: None,
        }
    }
}

/// `c1` has the lock, and these replicas do not hear of it; the master dies, and one of them is promoted.
fn lost_with_its_master<const N: usize>(unaware: [&str; N], start: Duration) -> World {
    const WORKS: &[&str] = &["acquire", "work 9s", "release"];
    let promoted = unaware[N - 1];
    let world = one_after_the_other(replicated_nodes(), WORKS, &SHORT, start + seconds(4));
    let world = world.with(move |scenario| scenario.clients[0].start = Some(start.into()));
    world
        .fault(Fault::cut(Way::from_to("M", unaware)).at(start).lasting(seconds(4)))
        .fault(Fault::crash("M").at(start + seconds(2)).lasting(seconds(1)))
        .fault(Fault::promote(promoted).at(start + seconds(3)))
}

/// All of them.
pub(crate) fn bad_locks() -> Vec<BadLock> {
    [unsafe_ones(), lasting_ones()].concat()
}

fn unsafe_ones() -> Vec<BadLock> {
    let cases = [
        Case {
            locks: flaw_and_control("no-wait", Flaw::NoWait),
            source: "RedLock.net#11, redis-plus-plus#44, node-redlock#1",
            what: "A lock is granted as soon as the master has it.",
            shown: lost_with_its_master(["R1", "R2"], READY),
        },
        Case {
            locks: flaw_and_control("wait-ignored", Flaw::WaitIgnored),
            source: "redisson#2669",
            what: "The replicas are waited for, and how many answered is not looked at.",
            shown: lost_with_its_master(["R1", "R2"], READY),
        },
        Case {
            locks: library(
                "one-replica-is-enough",
                "redisson-replicated",
                |at| at,
                |at| at.with("synced", "all"),
            ),
            source: "redisson#5256 (S)",
            what: "One replica that has the key is enough, and another may be promoted.",
            shown: lost_with_its_master(["R2"], READY),
        },
        Case {
            locks: flaw_and_control("replica-count-cached", Flaw::ReplicaCountCached),
            source: "redisson#3994, #4139",
            what: "How many replicas are waited for is asked once, when there may be none yet.",
            shown: lost_with_its_master(["R1", "R2"], Duration::ZERO),
        },
    ];
    cases.into_iter().map(Case::unsafe_lock).collect()
}

fn lasting_ones() -> Vec<BadLock> {
    let refused = || {
        let start = When::event("c1", Mark::Refusal).delay_by(seconds(1));
        let world = one_after_the_other(replicated_nodes(), &["try", "release"], &SHORT, start);
        let world = world.with(|scenario| scenario.clients[0].start = Some(READY.into()));
        soon_obtained(world)
            .fault(Fault::cut(Way::from_to("M", "R2")).at(READY).lasting(Duration::from_millis(1500)))
    };
    let demoted = |at: When| {
        let world = one_after_the_other(replicated_nodes(), &SHORT, &SHORT, When::event("c1", Mark::Grant));
        let world = world.with(|scenario| {
            scenario.clients[0].start = Some(READY.into());
            scenario.clients[0].rounds = 2;
        });
        soon_obtained(world).fault(Fault::promote("R1").at(at))
    };
    vec![
        Case {
            locks: flaw_and_control("key-stays-on-too-few-replicas", Flaw::KeyStays),
            source: "redisson#4822, #4706, #4178",
            what: "A lock that too few replicas have is refused, and its key stays.",
            shown: refused(),
        }
        .lasting_lock(soon_obtained_after_faults, "replicas-away"),
        Case {
            locks: flaw_and_control("error-is-taken", Flaw::ErrorIsTaken),
            source: "redisson#558, #4822",
            what: "A demoted master's refusal to write counts as a lock that is taken.",
            shown: demoted(When::event("c1", Mark::Grant).delay_by(Duration::from_millis(300))),
        }
        .lasting_lock(obtained_in_the_end, "failovers"),
        Case {
            locks: flaw_and_control("release-error-swallowed", Flaw::ReleaseErrorSwallowed),
            source: "node-redlock#11",
            what: "A node's refusal to delete the key counts as a lock that was given back.",
            shown: demoted(When::event("c1", Mark::Grant)),
        }
        .lasting_lock(soon_obtained_after_faults, "failovers"),
    ]
}
