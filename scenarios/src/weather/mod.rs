//! Weather, a fault profile: random faults within stated bounds, drawn from a run's seed.
//!
//! A [`Weather`] says for each kind of fault how often it strikes, whom, how strong and how long it is. What a seed
//! makes of it ([`Climate::draw`]) is a list of faults like those that a scenario lists: a run under weather is
//! reported, and kept in plans, as the scenario with these faults written out. Weather comes from a scenario's
//! `[weather]`, or from a [preset](presets()).
//!
//! Faults are drawn in time and at steps of the protocol (`draw.rs` says how). Each line of a weather has random
//! streams of its own, by what it is. So a line that is added or taken out changes nothing about the others, and none
//! of them touches what networks, schedules and hosts draw. Kernel faults count, so that a random fault which ends
//! heals no other.
//!
//! Rates are a search's and no fleet's: with what monitoring counts in the field almost every run would be a quiet one.
//! Magnitudes are published ones where there are any; `source` says which, or that it is a guess.
//!
//! Not modelled: faults that come in company (a rack that loses power), and a rate that changes with time.
//!
//! Decision: "Weather strikes as often as a search needs, with magnitudes from the field" (docs/decisions/search.md).

mod draw;
#[cfg(test)]
mod goodness_of_fit;
mod line_names;
mod odds;
mod presets;

pub use draw::Climate;
pub use line_names::LineName;
pub use odds::convolve;
pub use presets::{Preset, load, preset, presets};
pub use presets::{hint, read_from};

pub use crate::model::weather::{AttachedFault, Claims, HostGroup, RandomFault, Sign, Weather};

#[cfg(test)]
mod tests;
