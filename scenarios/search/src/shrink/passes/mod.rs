//! The passes of a shrink, each in a file named for its effect.

use doublehold_scenarios::{Engine, Stepped};

use super::search::Pass;

mod anchor_to_events;
mod reduce_luck;
mod remove_faults;
pub(crate) mod remove_hosts_and_steps;
pub(super) mod shorten_durations;
mod simplify_settings;

/// All of them, in the order in which they are asked.
pub(super) fn all<E: Engine<Prepared: Stepped>>() -> [Pass<E>; 6] {
    [
        remove_faults::remove_faults,
        simplify_settings::simplify_settings,
        remove_hosts_and_steps::remove_hosts_and_steps,
        shorten_durations::shorten_durations,
        anchor_to_events::anchor_to_events,
        reduce_luck::reduce_luck,
    ]
}
