//! Known-bad locks of locks on a majority of independent nodes.

mod extending;
mod lateness;
mod redlock;
mod voting;

use std::time::Duration;

use doublehold::check::{Event, Fault, Mark, Nodes, Predicate, When, World};

use crate::{BadLock, Kind};
use redlock::{Flaw, Redlock};

/// All of them.
pub(crate) fn bad_locks() -> Vec<BadLock> {
    [lateness::bad_locks(), voting::bad_locks(), extending::bad_locks()].concat()
}

/// All nodes of most of the worlds.
const FIVE: [&str; 5] = ["A", "B", "C", "D", "E"];

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A lock with a flaw, and where it shows.
struct Case {
    /// The lock, and the same without the flaw.
    locks: (Kind, Kind),
    source: &'static str,
    what: &'static str,
    breaks: &'static [Predicate],
    world: World,
    weather: &'static str,
    shown: World,
}

impl From<Case> for BadLock {
    fn from(case: Case) -> BadLock {
        let Case { locks: (lock, control), source, what, breaks, world, weather, shown } = case;
        let name = lock.name();
        let survives = (name == "nothing-left-handed-out").then_some(
            "a lease with nothing left is over at the instant at which it is granted: nobody believes in it for any time",
        );
        BadLock { name, source, what, breaks, lock, control, world, weather, shown, survives }
    }
}

/// The Redlock of this folder with a flaw.
fn flaw_and_control(name: &'static str, flaw: Flaw) -> (Kind, Kind) {
    (kind(name, flaw), kind("redlock without a flaw", Flaw::None))
}

fn kind(name: &'static str, flaw: Flaw) -> Kind {
    Kind::new(name, Nodes::Independent, move |env, nodes| Redlock::new(env, nodes, flaw))
}

/// When `c1` is granted the lock.
fn c1_granted() -> When {
    When::event("c1", Mark::Grant)
}

/// When the last of five nodes has set its key for `c1`, and the reply is on its way.
fn c1_has_voters() -> When {
    When::from(Event::Boot { host: "c1".to_owned() }).then(Event::executed("SET").by("c1"), 5)
}

/// `c1` stops there for so long.
fn c1_pauses(at: When, lasting: Duration) -> Fault {
    Fault::pause("c1").at(at).lasting(lasting)
}
