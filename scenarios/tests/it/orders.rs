//! A signal that a node does not understand is nobody's failover: the run proves nothing, and says why.

use doublehold_history::{EventKind, Predicate, Verdict};
use doublehold_scenarios::fault::Fault;
use doublehold_scenarios::{Engine, SimEngine, catalog};

#[test]
fn a_run_in_which_a_node_got_no_order_it_knows_is_inconclusive_and_names_it() {
    let mut scenario = catalog::load("failover-before-replication", &[]).expect("the catalogue has it");
    // No file says this, and a scenario that was checked does not: a name with spaces makes an order of too many words.
    scenario.faults = vec![Fault::follow("R1", "M or R2")];
    let report = SimEngine.run(&scenario, 1);
    let why = report.history.events().iter().find_map(|event| match &event.what {
        EventKind::Inconclusive { why } => Some(why.as_str()),
        _ => None,
    });
    let why = why.expect("the history says so");
    assert!(why.contains("does not run") && why.contains("`follow rewrite M or R2`"), "{why}");
    let p1 = report.verdicts.get(Predicate::P1);
    assert!(matches!(p1, Verdict::Inconclusive(_)), "{p1:?}");
}
