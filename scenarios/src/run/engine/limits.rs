//! The limits of a kind of worlds: everything in a scenario that it cannot express, before anything is run.
//!
//! Looked for in what is asked of the world (links, faults as the kernel knows them), not in the words of a file, so
//! that nothing can be forgotten that a file may say another way.

use std::fmt;
use std::time::Duration;

use doublehold_sim::{PlannedFault, WorldLike};

use super::world::link;
use crate::error::FilePlace;
use crate::model::cast::Cast;
use crate::model::fault::{Effect, Fault, Slot};
use crate::model::host::{HostIndex, Names};
use crate::model::scenario::{LinkSetup, Scenario};
use crate::model::service::{DatabaseSetup, ServiceSetup};
use crate::model::when::When;

/// Something in a scenario that an engine cannot express.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Its place in the file, from whoever has that at hand.
    pub place: Option<FilePlace>,
    /// The place of it in the scenario's file, such as `faults.0`.
    pub path: String,
    /// The thing in words, where the place does not say it.
    pub what: Option<String>,
    /// The reason.
    pub why: &'static str,
}

/// `` line 7, `faults.0`, 1/10 of all transmissions are lost from c1 to A: REASON ``.
impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = self.what.as_ref().map_or(String::new(), |what| format!(", {what}"));
        let place = self.place.as_ref().map_or(String::new(), |place| format!("{place}, "));
        write!(f, "{place}`{}`{what}: {}", self.path, self.why)
    }
}

/// All of them, in the order of the file.
pub(in crate::run) fn find_limits<W: WorldLike>(
    scenario: &Scenario,
    cast: &Cast,
    faults: &[PlannedFault],
) -> Vec<Limit> {
    let mut limits = Vec::new();
    let mut tell = |path: String, what: Option<String>, why: Option<&'static str>| {
        limits.extend(why.map(|why| Limit { place: None, path, what, why }));
    };
    tell("network.loss".to_owned(), None, link_limit::<W>(&scenario.link));
    for (number, (from, to, quality)) in scenario.links.iter().enumerate() {
        let [from, to] = [from, to].map(|host| &scenario.hosts[host.0].name);
        tell(
            format!("network.links.{number}"),
            Some(format!("from {from} to {to}")),
            link_limit::<W>(quality),
        );
    }
    if let Some(ServiceSetup::Database(DatabaseSetup { rules, .. })) = scenario.service
        && rules.keepalive.is_some()
    {
        tell("service.keepalive_idle".to_owned(), None, W::LACKS_USER_TIMEOUT);
    }
    for ((number, fault), planned) in scenario.faults.iter().enumerate().zip(faults) {
        let why = planned.faults.iter().find_map(W::cannot_do);
        tell(format!("faults.{number}"), Some(fault.to_string()), why);
    }
    for (number, line) in scenario.weather.iter().flat_map(|weather| weather.faults.iter().enumerate()) {
        let what = format!("random `{}`", line.effect.kind().word);
        tell(format!("weather.faults.{number}"), Some(what), effect_limit::<W>(&line.effect, cast));
    }
    limits
}

/// The way out where an engine has these limits.
pub(in crate::run) fn way_out(limits: &[Limit]) -> String {
    let is_drawn = limits.iter().any(|limit| limit.path.starts_with("weather."));
    let weather = if is_drawn { " (a weather leaves out kinds with `without = [\"loss\"]`)" } else { "" };
    format!(
        "leave these out{weather}, or run it on the engine `sim`; `doublehold engines` lists what each can do"
    )
}

/// The reason why these worlds have no such link, if they have none.
pub(in crate::run) fn link_limit<W: WorldLike>(quality: &LinkSetup) -> Option<&'static str> {
    W::cannot_link(&link(quality))
}

/// The reason why these worlds cannot do this to hosts of a cast, whichever it strikes, if they cannot.
pub(in crate::run) fn effect_limit<W: WorldLike>(effect: &Effect, cast: &Cast) -> Option<&'static str> {
    let fault = Fault::new(sample(effect, cast)).at(When::At(Duration::ZERO));
    let planned = fault.to_planned(cast).expect("it names hosts of the cast");
    planned.faults.iter().find_map(W::cannot_do)
}

/// The same effect with hosts that there are: weather draws them later, and a prototype has none.
fn sample(effect: &Effect, cast: &Cast) -> Effect {
    let mut effect = effect.clone();
    // A way needs two ends.
    for (number, (_, slot)) in effect.fields().into_iter().enumerate() {
        let name = cast.name(HostIndex(number % 2)).to_owned();
        match slot {
            Slot::Hosts(hosts) => *hosts = Names(vec![name]),
            Slot::Master(master) => *master = name,
            Slot::Tell(tell) => *tell = None,
            _ => {}
        }
    }
    effect
}
