//! The worlds of this folder: programs on one node, and the faults that show one bug.
//!
//! A fault that only the flawed code meets (a command that the control does not send) is optional.

use std::time::Duration;

use doublehold::check::{DelayLaw, Effect, Event, Fault, Mark, When, World};

use crate::worlds::independent;

/// Takes the lock, changes what it protects, gives it back.
pub(super) const TURN: [&str; 5] = ["acquire", "read", "work 1s..3s", "write", "release"];
/// The same with work that may outlast the lease.
pub(super) const LONG_TURN: [&str; 5] = ["acquire", "read", "work 8s..14s", "write", "release"];
/// The same by one that makes sure of the lock before it writes.
pub(super) const CAREFUL_TURN: [&str; 6] = ["acquire", "read", "work 1s..3s", "extend", "write", "release"];
/// The same that does nothing and is quick.
pub(super) const SHORT_TURN: [&str; 3] = ["acquire", "work 50ms", "release"];

pub(super) const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

pub(super) const fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// One node, and nobody there yet.
pub(super) fn node() -> World {
    independent(1)
}

/// Clients that take turns.
pub(super) fn turns(clients: usize) -> World {
    node().clients(clients, TURN)
}

/// Every client gives up after so long.
pub(super) fn patient(world: World, time: Duration) -> World {
    world.with(move |scenario| scenario.clients.iter_mut().for_each(|client| client.give_up_after = time))
}

/// c2 begins when c1 has the lock.
pub(super) fn c1_first(world: World) -> World {
    starts(world, 1, at("c1", Mark::Grant))
}

/// Client `index` begins when `when` comes.
pub(super) fn starts(world: World, index: usize, when: When) -> World {
    world.with(move |scenario| scenario.clients[index].start = Some(when.clone()))
}

/// Every client asks again after exactly so long.
pub(super) fn retries(world: World, after: Duration) -> World {
    world.with(move |scenario| {
        scenario.clients.iter_mut().for_each(|client| client.retry = DelayLaw::Fixed(after))
    })
}

pub(super) fn at(client: &str, mark: Mark) -> When {
    When::event(client, mark)
}

/// The `nth` message of c1 to the node after a mark of c1.
pub(super) fn nth_sent(mark: Mark, nth: u32) -> When {
    at("c1", mark).then(Event::Sent { from: "c1".into(), to: "A".into() }, nth)
}

/// Moment at which the `nth` message of c1 arrived at the node after a mark of c1, and its reply was not sent yet.
pub(super) fn nth_arrived(mark: Mark, nth: u32) -> When {
    at("c1", mark).then(Event::Received { by: "A".into(), from: "c1".into() }, nth)
}

/// The client is gone for good.
pub(super) fn dies(client: &str, when: When) -> Fault {
    Fault::crash(client).at(when)
}

/// c1 sleeps through the end of its lease.
pub(super) fn oversleeps(when: When) -> Fault {
    Fault::pause("c1").at(when).lasting(s(12))
}

/// The node's next message to c1 is late.
pub(super) fn late_reply(when: When, by: Duration) -> Fault {
    Fault::packet_delay("A", "c1", by).at(when)
}

/// The next message of c1 to the node is late.
pub(super) fn late_request(when: When, by: Duration) -> Fault {
    Fault::packet_delay("c1", "A", by).at(when)
}

/// What is on the way between c1 and the node is lost, and both ends learn that the connection is.
pub(super) fn reset(when: When) -> Fault {
    Fault::new(Effect::ResetConnections { from: "c1".into(), to: "A".into() }).at(when)
}
