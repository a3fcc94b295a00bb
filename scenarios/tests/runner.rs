//! What the runner makes of clients that die, come back, or leave something behind on the network.

use doublehold_history::{Predicate, What};
use doublehold_scenarios::{Engine, Keep, Report, SimEngine, catalog};
use doublehold_sim::Outcome;

fn run(name: &str, sets: &[(&str, &str)]) -> Report {
    let sets: Vec<_> = sets.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let scenario = catalog::load(name, &sets).unwrap_or_else(|error| panic!("{error}"));
    SimEngine.run(&scenario, 1, Keep::History)
}

#[test]
fn a_late_write_of_a_client_that_crashed_still_lands() {
    // Killing the old holder does not help: its packet is already on the way.
    let faults = r#"[
        { kind = "packet-delay", from = "c1", to = "resource", by = "90s", at = "c1's write" },
        { kind = "crash", host = "c1", at = "1s after c1's write" },
    ]"#;
    let report = run("packet-delay-90s", &[("faults", faults)]);
    assert_eq!(report.verdicts.get(Predicate::P3).as_str(), "violated");
    assert_eq!(report.verdicts.get(Predicate::P1).as_str(), "holds", "a dead client claims nothing");
    assert!(report.ended.0 > 90_000_000_000);
}

#[test]
fn a_restarted_client_begins_again_without_waiting_for_its_start() {
    let faults = r#"[{ kind = "crash", host = "c2", for = "3s", at = "c2's grant" }]"#;
    let report = run("lease-pause", &[("faults", faults)]);
    let c2 = |wanted: fn(&What) -> bool| {
        let events = report.history.events().iter();
        events
            .filter(|event| event.what.client().is_some_and(|client| client.0 == 1) && wanted(&event.what))
            .count()
    };
    assert_eq!(c2(|what| matches!(what, What::Died { .. })), 1);
    assert_eq!(c2(|what| matches!(what, What::Restarted { .. })), 1);
    assert_eq!(c2(|what| matches!(what, What::Granted { .. })), 2, "granted, dead, and granted again");
    assert_eq!(report.verdicts.get(Predicate::P1).as_str(), "holds");
}

#[test]
fn a_run_that_is_cut_short_proves_nothing() {
    let report = run("quiet", &[("limits.time", "1s")]);
    assert_eq!(report.outcome, Outcome::TimeBudget);
    assert_eq!(report.verdicts.get(Predicate::P1).as_str(), "inconclusive");
}
