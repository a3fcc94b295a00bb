//! Refusals of everything that turmoil's network cannot express: before the run, and all at once.

use doublehold_scenarios::{Engine, Limit, PrepareError, catalog, weather};
use doublehold_turmoil_engine::TurmoilEngine;

fn reasons(sets: &[(&str, &str)], with: Option<&str>) -> Vec<String> {
    let sets: Vec<_> = sets.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let mut scenario = catalog::load("clock-jump", &sets).unwrap_or_else(|error| panic!("{error}"));
    scenario.weather = with.map(|name| weather::load(name).expect("one of ours"));
    match TurmoilEngine.prepare(&scenario) {
        Err(PrepareError::CannotExpress { engine: "turmoil", limits }) => {
            limits.iter().map(Limit::to_string).collect()
        }
        Err(other) => panic!("{other}"),
        Ok(_) => Vec::new(),
    }
}

#[test]
fn a_network_that_loses_packets_is_refused_by_name() {
    assert_eq!(reasons(&[], None), [] as [String; 0]);
    let refused = reasons(&[("network.loss", "1/100")], Some("cloud"));
    assert_eq!(refused.len(), 2, "{refused:#?}");
    assert!(refused[0].starts_with("`network.loss`: "), "{refused:#?}");
    assert!(refused[1].contains("random `loss`"), "{refused:#?}");
}
