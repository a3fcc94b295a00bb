//! The weather that known-bad locks are searched for in: a preset, or one of a few that strike one thing only.
//!
//! A bug is found where the code without it holds, so a weather must leave alone what breaks both. Kinds of faults and
//! most magnitudes are those of the presets; how often they strike is a search's choice.

use std::time::Duration;

use doublehold::check::{DelayLaw, Effect, Names, RatePpb, World};
use doublehold_scenarios::weather::{RandomFault, Sign, Weather, preset};

/// The world under a weather, by its name. A name that is not in the table here is a preset's.
///
/// | name | what goes wrong |
/// |---|---|
/// | `failovers` | all of `cloud` that takes no node's memory and no clock's time |
/// | `lagging-failovers` | replicas are cut off and promoted |
/// | `client-clock-steps` | wall clocks of clients step |
/// | `node-drift` | nodes' clocks run up to 0.45 % fast: the drift allowance of 1 % pays for it, twice |
/// | `long-pauses` | clients stop, mostly for longer than a lease |
/// | `suspensions` | clients' machines stand still |
/// | `a-away`, `a-and-b-away` | nodes `A`, or `A` and `B`, crash and are cut off |
/// | `nodes-away` | any node crashes or is cut off |
/// | `cuts` | any node is cut off |
/// | `cuts-and-new-clients` | clients crash, and are cut off |
/// | `node-restarts` | any node crashes |
/// | `slow-replies` | clients and nodes are slow to reach each other |
/// | `replicas-away` | replicas are cut off |
#[must_use]
pub fn under(world: World, weather: &'static str) -> World {
    let own = match weather {
        "failovers" => cloud(&[], |effect| {
            !matches!(
                effect,
                Effect::Crash { .. }
                    | Effect::PowerLoss { .. }
                    | Effect::ClockStep { .. }
                    | Effect::ClockDrift { .. }
                    | Effect::Suspend { .. }
            )
        }),
        "lagging-failovers" => strike_often(cloud(&["replicas"], |effect| {
            matches!(effect, Effect::Cut { .. } | Effect::Promote { .. })
        })),
        "cuts" => strike_often(cloud(&["nodes"], |effect| matches!(effect, Effect::Cut { .. }))),
        "cuts-and-new-clients" => strike_often(cloud(&["clients"], is_away)),
        "client-clock-steps" => {
            strike_often(cloud(&["clients"], |effect| matches!(effect, Effect::ClockStep { .. })))
        }
        "node-drift" => {
            drifting(strike_often(cloud(&["nodes"], |effect| matches!(effect, Effect::ClockDrift { .. }))))
        }
        "long-pauses" => {
            let (min, max) = (Duration::from_secs(6), Duration::from_secs(25));
            with_length(
                strike_often(cloud(&["clients"], |effect| matches!(effect, Effect::Pause { .. }))),
                min,
                max,
            )
        }
        "suspensions" => {
            strike_long(strike_often(cloud(&["clients"], |effect| matches!(effect, Effect::Suspend { .. }))))
        }
        "a-away" => strike_often(cloud(&["A"], is_away)),
        "a-and-b-away" => strike_often(cloud(&["A", "B"], is_away)),
        "nodes-away" => strike_often(cloud(&["nodes"], is_away)),
        "node-restarts" => strike_often(cloud(&["nodes"], |effect| matches!(effect, Effect::Crash { .. }))),
        "slow-replies" => {
            strike_long(strike_often(cloud(&["nodes"], |effect| matches!(effect, Effect::Slow { .. }))))
        }
        "replicas-away" => strike_often(cloud(&["replicas"], |effect| matches!(effect, Effect::Cut { .. }))),
        preset => return world.weather(preset),
    };
    world.with(move |scenario| scenario.weather = Some(own.clone()))
}

fn is_away(effect: &Effect) -> bool {
    matches!(effect, Effect::Crash { .. } | Effect::Cut { .. })
}

/// Of the preset `cloud` the kinds of faults that `wanted` wants, done to these hosts, or to its own if none is named.
fn cloud(hosts: &[&str], wanted: impl Fn(&Effect) -> bool) -> Weather {
    let mut cloud = preset("cloud").expect("it comes with the program").weather;
    cloud.faults.retain(|fault| wanted(&fault.effect));
    if !hosts.is_empty() {
        let names: Names = hosts.iter().copied().collect();
        // Of links, those between clients and nodes; the preset has one more line for replicas.
        let replicas = names.0 == ["replicas"];
        cloud.faults.retain(|fault| match &fault.effect {
            Effect::Cut { way } => (way.to.0 == ["replicas"]) == replicas,
            _ => true,
        });
        cloud.faults.iter_mut().for_each(|fault| aim_at(&mut fault.effect, &names));
    }
    cloud
}

fn aim_at(effect: &mut Effect, at: &Names) {
    match effect {
        Effect::Cut { way } | Effect::Slow { way, .. } if at.0 == ["clients"] => way.to = "nodes".into(),
        Effect::Cut { way } | Effect::Slow { way, .. } => way.to = at.clone(),
        Effect::Crash { hosts }
        | Effect::Suspend { hosts, .. }
        | Effect::Pause { hosts }
        | Effect::ClockStep { hosts, .. }
        | Effect::ClockDrift { hosts, .. } => *hosts = at.clone(),
        _ => {}
    }
}

/// The same with a few of each in every run.
fn strike_often(mut weather: Weather) -> Weather {
    weather.swarm = false;
    weather.faults.iter_mut().for_each(|fault| fault.every = Duration::from_secs(15));
    weather
}

/// The same, and what lasts lasts as long.
fn with_length(mut weather: Weather, min: Duration, max: Duration) -> Weather {
    let law = DelayLaw::Uniform { min, max };
    weather.faults.iter_mut().for_each(|fault| fault.lasting = Some(law.clone()));
    weather
}

/// The same, for seconds, and what is slow is slower than a lock waits for one node.
fn strike_long(weather: Weather) -> Weather {
    let mut weather = with_length(weather, Duration::from_secs(2), Duration::from_secs(8));
    let slower = DelayLaw::Uniform { min: Duration::from_millis(40), max: Duration::from_millis(200) };
    let is_slow = |fault: &&mut RandomFault| matches!(fault.effect, Effect::Slow { .. });
    weather.faults.iter_mut().filter(is_slow).for_each(|fault| fault.by = Some(slower.clone()));
    weather
}

fn drifting(mut weather: Weather) -> Weather {
    for fault in &mut weather.faults {
        if let Effect::ClockDrift { by, .. } = &mut fault.effect {
            *by = RatePpb(4_500_000);
            fault.sign = Sign::Ahead;
        }
    }
    weather
}
