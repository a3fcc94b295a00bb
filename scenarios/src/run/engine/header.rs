//! The header of a history, about the scenario before anything happens: names, bounds, who watches.

use std::time::Duration;

use doublehold_history::{Bounds, Header};

use crate::model::cast::Cast;
use crate::model::scenario::{Role, Scenario};

/// Complete but for the seed.
pub(in crate::run) fn header(scenario: &Scenario, cast: &Cast) -> Header {
    let names =
        |role| scenario.hosts.iter().filter(|host| host.role == role).map(|host| host.name.clone()).collect();
    Header {
        version: Header::VERSION,
        scenario: scenario.name.clone(),
        seed: 0,
        clients: cast.clients().map(|client| cast.name(client).to_owned()).collect(),
        nodes: names(Role::Node),
        locks: scenario.lock.names.clone(),
        objects: scenario.resource.objects.iter().map(|object| object.name.clone()).collect(),
        bounds: Bounds {
            obtain_within_ns: scenario.limits.obtain_within.map(whole_ns),
            obtain_free_within_ns: scenario.limits.obtain_free_within.map(whole_ns),
            counted_from_ns: 0,
        },
        keys_watched: true,
        error_ns: 0,
    }
}

fn whole_ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
