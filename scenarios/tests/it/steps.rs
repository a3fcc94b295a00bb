//! The steps of a run are moments that a file can name, and that come again.

use std::collections::BTreeSet;

use doublehold_scenarios::fault::Fault;
use doublehold_scenarios::when::{Mark, Nth, StepKind, When};
use doublehold_scenarios::{Engine, Prepared, Searchable, SimEngine, Stepped, catalog};

fn fault_at(step: &Nth) -> Fault {
    Fault::clock_step("A", 1).at(When::On { events: vec![step.clone()], after: std::time::Duration::ZERO })
}

#[test]
fn a_fault_at_any_step_of_a_run_strikes_once_and_can_be_written() {
    let scenario = catalog::load("quiet/redlock", &[]).unwrap();
    let prepared = SimEngine.prepare(&scenario).unwrap();
    let steps = prepared.steps(7);
    assert!(steps.len() > 500, "{}", steps.len());
    for few in steps.chunks(97) {
        let faults: Vec<Fault> = few.iter().map(fault_at).collect();
        let struck = prepared.with_faults(faults.clone()).unwrap().run(7).faults;
        assert_eq!(struck.len(), few.len());
        for fault in struck {
            assert!(fault.from.is_some(), "{} never struck", fault.fault);
        }
        let mut written = scenario.clone();
        written.faults = faults;
        assert_eq!(written.validate().unwrap(), written);
    }
}

#[test]
fn every_sort_of_step_is_found() {
    let prepared = SimEngine.prepare(&catalog::load("quiet", &[]).unwrap()).unwrap();
    let sorts: BTreeSet<&str> = prepared.steps(1).iter().map(|step| step.event.step().as_str()).collect();
    let marks = [Mark::Acquire, Mark::Grant, Mark::Read, Mark::Check, Mark::Write, Mark::Release];
    // Names every sort, so that a new one is not forgotten in the list.
    let word = |sort: StepKind| match sort {
        StepKind::Send | StepKind::Arrival | StepKind::Command | StepKind::ClockRead => sort.as_str(),
        StepKind::Timer | StepKind::Boot | StepKind::Mark(_) => sort.as_str(),
    };
    use StepKind::{Arrival, Boot, ClockRead, Command, Send, Timer};
    let wanted = [Send, Arrival, Command, ClockRead, Timer, Boot];
    for sort in wanted.into_iter().chain(marks.map(StepKind::Mark)).map(word) {
        assert!(sorts.contains(sort), "no {sort} among {sorts:?}");
    }
}
