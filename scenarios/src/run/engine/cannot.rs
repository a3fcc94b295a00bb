//! The limits of a kind of worlds: everything in a scenario that it cannot express, before anything is run.
//!
//! Looked for in what is asked of the world (links, faults as the kernel knows them), not in the words of a file, so
//! that nothing can be forgotten that a file may say another way.

use doublehold_sim::{Fault as Done, HostId, PlannedFault, Probability, WorldLike};

use super::world::link;
use crate::model::fault::Effect;
use crate::model::scenario::{LinkSetup, Scenario};

/// Each thing, by its place in the scenario's file, with the reason.
pub(in crate::run) fn cannot<W: WorldLike>(scenario: &Scenario, faults: &[PlannedFault]) -> Vec<String> {
    let mut reasons = Vec::new();
    let mut tell = |what: String, reason: &str| reasons.push(format!("{what}: {reason}"));
    let refused = |quality: &LinkSetup| W::cannot_link(&link(quality));
    if let Some(reason) = refused(&scenario.link) {
        tell("`network.loss`".to_owned(), reason);
    }
    for (from, to, quality) in &scenario.links {
        if let Some(reason) = refused(quality) {
            let name = |host: usize| &scenario.hosts[host].name;
            tell(format!("`network.links`, from {} to {}", name(from.0), name(to.0)), reason);
        }
    }
    for ((number, fault), planned) in scenario.faults.iter().enumerate().zip(faults) {
        if let Some(reason) = planned.faults.iter().find_map(W::cannot_do) {
            tell(format!("`faults.{number}`, {fault}"), reason);
        }
    }
    for (number, line) in scenario.weather.iter().flat_map(|weather| weather.faults.iter().enumerate()) {
        if let Some(reason) = sample(&line.effect).as_ref().and_then(W::cannot_do) {
            tell(format!("`weather.faults.{number}`, random `{}`", line.effect.kind().word), reason);
        }
    }
    reasons
}

/// A sample of a random fault of this kind. Only of kinds that some worlds refuse: which hosts it strikes is
/// drawn later.
fn sample(effect: &Effect) -> Option<Done> {
    let (from, to, probability) = (HostId(1), HostId(2), Probability::NEVER);
    matches!(effect, Effect::Loss { .. }).then_some(Done::Lose { from, to, probability })
}
