//! Every single change to a scenario that might have made its run come out otherwise.

use doublehold_history::FencingCheck;
use doublehold_lockimpl::{Descriptor, Kind, Switches, Value};

use crate::scenario::{Persistence, Scenario};
use crate::shrink::cast::without_client;

/// A scenario with one thing changed.
#[derive(Clone, Debug)]
pub struct Change {
    /// What was changed, in words.
    pub what: String,
    /// The scenario as it is then.
    pub scenario: Scenario,
}

/// All of them: first what happened, then who was there, then how things were set up.
pub(super) fn all(scenario: &Scenario, locks: &[Descriptor]) -> Vec<Change> {
    let lock = locks.iter().find(|lock| lock.name == scenario.lock.algorithm);
    let switches = lock.map_or(Vec::new(), |lock| switches(scenario, lock));
    [faults(scenario), clients(scenario), switches, setups(scenario)].concat()
}

fn faults(scenario: &Scenario) -> Vec<Change> {
    let without = |number: usize| {
        let mut left = scenario.clone();
        let fault = left.faults.remove(number);
        Change { what: format!("without: {fault}"), scenario: left }
    };
    (0..scenario.faults.len()).map(without).collect()
}

fn clients(scenario: &Scenario) -> Vec<Change> {
    if scenario.clients.len() < 2 {
        return Vec::new();
    }
    let without = |client: &crate::scenario::ClientSetup| Change {
        what: format!("without the client {}", scenario.hosts[client.host.0].name),
        scenario: without_client(scenario, client.host),
    };
    scenario.clients.iter().map(without).collect()
}

/// Each flag the other way, and each word another. Numbers and lengths have too many others.
fn switches(scenario: &Scenario, lock: &Descriptor) -> Vec<Change> {
    let chosen = &scenario.lock.switches;
    let mut changes = Vec::new();
    for switch in &lock.switches {
        let now = chosen.get(switch.name).or(switch.default.as_ref());
        let flag = match (switch.kind, now) {
            (Some(Kind::Flag), Some(Value::Flag(on))) => vec![Value::Flag(!on)],
            _ => Vec::new(),
        };
        let words = switch.words.iter().map(|word| Value::Word((*word).to_owned()));
        for value in words.chain(flag).filter(|value| Some(value) != now) {
            let mut changed = scenario.clone();
            let others = chosen.iter().filter(|(name, _)| *name != switch.name);
            let mut switches =
                others.fold(Switches::new(), |all, (name, value)| all.with(name, value.clone()));
            switches.set(switch.name, value.clone());
            changed.lock.switches = switches;
            changes.push(Change { what: format!("with lock.{} = {value}", switch.name), scenario: changed });
        }
    }
    changes
}

fn setups(scenario: &Scenario) -> Vec<Change> {
    let mut changes = Vec::new();
    let persistence =
        [(Persistence::None, "none"), (Persistence::Everysec, "everysec"), (Persistence::Always, "always")];
    for (persistence, word) in persistence {
        if persistence != scenario.nodes.persistence {
            let mut changed = scenario.clone();
            changed.nodes.persistence = persistence;
            changes.push(Change { what: format!("with nodes.persistence = {word}"), scenario: changed });
        }
    }
    if scenario.resource.rules.fencing == FencingCheck::Off {
        let mut changed = scenario.clone();
        changed.resource.rules.fencing = FencingCheck::RejectLower;
        changes.push(Change { what: "with resource.fencing = reject-lower".to_owned(), scenario: changed });
    }
    if !scenario.resource.rules.version_check {
        let mut changed = scenario.clone();
        changed.resource.rules.version_check = true;
        changes.push(Change { what: "with resource.version_check = true".to_owned(), scenario: changed });
    }
    changes
}
