//! The world of a search in words, so that what it came to can be taken for no more than it is.

use doublehold_scenarios::scenario::{DelayLaw, Probability, Scenario};
use doublehold_text::{exact_duration, list};

use crate::commands::size_of;

/// `5 nodes, 2 clients, 1 round each; lock redlock, ttl 4 s, switches as by default; messages take 1 ms`.
pub(super) fn world(scenario: &Scenario) -> String {
    let lock = &scenario.lock;
    format!(
        "{}; lock {}, ttl {}, {}; messages take {}{}",
        size_of(scenario),
        lock.algorithm,
        exact_duration(lock.ttl),
        switches(scenario),
        delay(&scenario.link.delay),
        if scenario.link.loss == Probability::NEVER { "" } else { ", and some are lost" },
    )
}

/// What is another than by default; nobody chose the rest.
fn switches(scenario: &Scenario) -> String {
    let descriptors = doublehold_lockimpl::descriptors();
    let own = descriptors.iter().find(|lock| lock.name == scenario.lock.algorithm);
    let default = |name: &str| own?.switches.iter().find(|switch| switch.name == name)?.default.as_ref();
    let chosen = scenario.lock.switches.iter().filter(|(name, value)| default(name) != Some(*value));
    let chosen: Vec<String> = chosen.map(|(name, value)| format!("{name} = {value}")).collect();
    match &chosen[..] {
        [] => "its switches as by default".to_owned(),
        chosen => format!("with {}, its other switches as by default", list(chosen)),
    }
}

fn delay(law: &DelayLaw) -> String {
    match law {
        DelayLaw::Fixed(delay) => exact_duration(*delay),
        DelayLaw::Uniform { min, max } => format!("{} to {}", exact_duration(*min), exact_duration(*max)),
        DelayLaw::LogNormal { median, .. } => format!("about {}", exact_duration(*median)),
        DelayLaw::Quantiles(_) => "as measured".to_owned(),
    }
}
