//! Where a known-bad lock is searched for and where it is shown, and what its control can be held to in weather.
//!
//! Weather hides some bugs behind what any lock does in it. A lock without fencing numbers writes late when its client
//! is stopped between asking and writing (P3). A lock whose holder died is taken for a lease (LV). One without a
//! deadline is believed in while its client is stopped (P1). So a search leaves out the weather that its control does
//! not stand, and states bounds that only the bug breaks.

use std::time::Duration;

use doublehold::check::{DelayLaw, Effect, Predicate, Probability, World};

use super::scenes::{patient, s};
use crate::worlds::TTL;
use crate::{BadLock, Kind};

/// Pauses, deaths of clients and all that networks do.
const HOSTILE: &str = "no-clock-faults-no-amnesia";

/// Where a known-bad lock is searched for, and where it is shown.
pub(super) struct Worlds {
    search: World,
    weather: &'static str,
    shown: World,
    survives: Option<&'static str>,
}

impl Worlds {
    /// One world for both, which shows the bug by itself.
    pub(super) fn quiet(world: World) -> Worlds {
        Worlds { search: world.clone(), weather: "calm", shown: world, survives: None }
    }

    /// A search in weather, and a world with the faults that show the bug.
    pub(super) fn new(search: World, shown: World) -> Worlds {
        Worlds { search, weather: HOSTILE, shown, survives: None }
    }

    /// The same in other weather.
    pub(super) fn under(self, weather: &'static str) -> Worlds {
        Worlds { weather, ..self }
    }

    /// The same of a known-bad lock that no search finds, and why.
    pub(super) fn surviving(self, why: &'static str) -> Worlds {
        Worlds { survives: Some(why), ..self }
    }
}

/// A known-bad lock by its name, where it came from, what it breaks and what is wrong; the lock and its control.
pub(super) fn bad_lock(
    (name, source): (&'static str, &'static str),
    breaks: &'static [Predicate],
    what: &'static str,
    (lock, control): (Kind, Kind),
    Worlds { search, weather, shown, survives }: Worlds,
) -> BadLock {
    BadLock { name, source, what, breaks, lock, control, world: search, weather, shown, survives }
}

/// A lock that nobody claims is to be free soon after the lease of whoever had it last. Who waits for much longer has
/// shown what there is to show.
pub(super) fn free_after_a_lease(world: World) -> World {
    patient(world.obtain_free_within(TTL + s(5)), TTL * 3)
}

/// A lock that nobody claims is to be free long before anybody's lease ends.
pub(super) fn free_soon(world: World) -> World {
    world.obtain_free_within(TTL / 2)
}

/// In weather: a lock that nobody claims is to be free some time. Faults and one lease are over by then.
pub(super) fn free_some_time(world: World) -> World {
    ask_seldom(world.obtain_free_within(s(120)), s(200))
}

/// In weather in which connections break often and nothing else goes wrong: a lock that nobody claims is to be free
/// long before a lease ends. Where requests are late as well, one may set a key after it was given up and cleaned up,
/// in any lock.
pub(super) fn free_long_before_a_lease_ends(world: World) -> World {
    let is_else = |effect: &Effect| !matches!(effect, Effect::ResetConnections { .. });
    let world = leave_out(ask_seldom(world.ttl(s(300)).obtain_free_within(s(100)), s(200)), is_else);
    world.with(|scenario| {
        for fault in scenario.weather.iter_mut().flat_map(|weather| &mut weather.faults) {
            fault.every = s(15);
        }
    })
}

/// In weather in which networks alone go wrong.
pub(super) fn networks_only(world: World) -> World {
    let is_else = |effect: &Effect| {
        let of_network = matches!(
            effect,
            Effect::Cut { .. }
                | Effect::Slow { .. }
                | Effect::PacketDelay { .. }
                | Effect::Duplicate { .. }
                | Effect::Loss { .. }
                | Effect::ResetConnections { .. }
        );
        !of_network
    };
    leave_out(world, is_else)
}

/// In weather in which clients die, and nothing else goes wrong.
pub(super) fn deaths_only(world: World) -> World {
    leave_out(world, |effect| !matches!(effect, Effect::Crash { .. } | Effect::PowerLoss { .. }))
}

/// In weather in which c1 sleeps through the end of its lease, and nobody else is paused. Shorter pauses end at any
/// time, also between a grant and its first write, where any lock is too late.
pub(super) fn c1_oversleeps_only(world: World) -> World {
    let world = leave_out(world, |effect| *effect != Effect::Pause { hosts: "clients".into() });
    world.with(|scenario| {
        for fault in scenario.weather.iter_mut().flat_map(|weather| &mut weather.faults) {
            fault.effect = Effect::Pause { hosts: "c1".into() };
            fault.lasting = Some(DelayLaw::Uniform { min: TTL + s(1), max: TTL * 2 });
        }
    })
}

/// Puts a world in weather that knows nothing of the protocol: no fault strikes right between two steps.
pub(super) fn strike_at_times(world: World) -> World {
    world.with(|scenario| {
        if let Some(weather) = &mut scenario.weather {
            weather.at_steps = Probability::NEVER;
        }
    })
}

fn leave_out(world: World, is_left_out: fn(&Effect) -> bool) -> World {
    world.with(move |scenario| {
        if let Some(weather) = &mut scenario.weather {
            weather.faults.retain(|fault| !is_left_out(&fault.effect));
        }
    })
}

/// Every client asks seldom, and gives up after so long.
fn ask_seldom(world: World, patience: Duration) -> World {
    patient(world, patience).with(|scenario| {
        let seldom = DelayLaw::Uniform { min: s(1), max: s(3) };
        scenario.clients.iter_mut().for_each(|client| client.retry = seldom.clone());
    })
}
