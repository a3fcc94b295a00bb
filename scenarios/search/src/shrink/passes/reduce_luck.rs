//! Less luck: where the violation needs that one client is first, another one is made to wait for it; where a fault
//! only just does, it does a little more.
//!
//! Nothing here makes a scenario smaller, so nothing is tried where the violation shows at every other seed that is
//! asked, and what is tried has to show it at more of them. A later pass can take back only what costs no seed.

use doublehold_scenarios::model::scenario::Scenario;
use doublehold_scenarios::model::when::{Mark, When};
use doublehold_scenarios::{Engine, Stepped};

use super::shorten_durations::{LengthPlace, ladder_above};
use crate::shrink::search::{Candidate, Keep, ShrinkSearch};

/// Makes the violation one of more seeds.
pub(super) fn reduce_luck<E: Engine<Prepared: Stepped>>(search: &mut ShrinkSearch<'_, E>) {
    if !search.is_steady() {
        search.sweep(Keep::MoreSeeds, |search| {
            let scenario = search.scenario();
            [make_clients_wait(scenario), strengthen_faults(scenario)].concat()
        });
    }
}

/// Proposes one client each that begins when another has the lock, or asks for it.
fn make_clients_wait(scenario: &Scenario) -> Vec<Candidate> {
    let name = |client: usize| scenario.hosts[scenario.clients[client].host.0].name.clone();
    let mut all = Vec::new();
    for waiter in 0..scenario.clients.len() {
        for first in (0..scenario.clients.len()).filter(|first| *first != waiter) {
            for mark in [Mark::Grant, Mark::Acquire] {
                let mut changed = scenario.clone();
                changed.clients[waiter].start = Some(When::event(name(first), mark));
                if changed != *scenario {
                    all.push(changed.into());
                }
            }
        }
    }
    all
}

/// With one length each of a fault, or of work, that is the next longer of the ladder.
fn strengthen_faults(scenario: &Scenario) -> Vec<Candidate> {
    let is_strength = |place: &LengthPlace| {
        matches!(place, LengthPlace::Lasting(_) | LengthPlace::By(_) | LengthPlace::Work(..))
    };
    let places = LengthPlace::all(scenario).into_iter().filter(is_strength);
    places.filter_map(|place| Some(place.with_size(scenario, ladder_above(place.get(scenario)?)))).collect()
}

#[cfg(test)]
mod tests;
