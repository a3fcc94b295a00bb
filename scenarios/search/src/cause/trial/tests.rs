//! Runs without something, and the account of them: what is taken away, what is counted, and when it is enough.

use std::time::Duration;

use doublehold_scenarios::build::World;
use doublehold_scenarios::catalog;
use doublehold_scenarios::model::fault::Fault;
use doublehold_scenarios::model::scenario::HostIndex;
use doublehold_scenarios::model::when::{Event, Mark, When};
use doublehold_scenarios::{Engine, LeanEngine, Prepared, PreparedSim, Searchable};

use super::*;

struct Asked {
    prepared: PreparedSim,
    report: Report,
    told: Violation,
}

impl Asked {
    fn about(scenario: &Scenario, seed: u64) -> Asked {
        let prepared = LeanEngine.prepare(scenario).expect("it can be run");
        let report = prepared.run(seed);
        let told = Violation::find_first(&report).expect("it violates");
        Asked { prepared, report, told }
    }

    fn of(name: &str) -> Asked {
        Asked::about(&catalog::load(name, &[]).expect("in the catalogue"), 1)
    }

    fn trials(&self) -> Trials<'_, PreparedSim> {
        Trials::new(&self.prepared, &self.report, &self.told)
    }
}

#[test]
fn what_is_taken_away_is_gone_and_nothing_else_is() {
    let mut scenario = catalog::load("clock-jump", &[]).expect("in the catalogue");
    let c2 = scenario.clients[1].host;
    (scenario.hosts[c2.0].drift, scenario.hosts[c2.0].wall_offset_ns) = (RatePpb(7), 9);
    scenario.faults.push(Fault::pause("c2").at(Duration::from_secs(1)).lasting(Duration::from_millis(1)));
    let asked = Asked::about(&scenario, 1);
    let trials = asked.trials();
    let without = |what: &[What]| trials.prepare_without(what).expect("it can be run").scenario().clone();
    let whole = without(&[]);
    assert!(whole.faults.iter().all(|fault| fault.optional) && whole.faults.len() == 3);
    for gone in [&[0][..], &[1], &[2], &[0, 2], &[0, 1, 2]] {
        let mut expected = whole.clone();
        gone.iter().rev().for_each(|place| drop(expected.faults.remove(*place)));
        assert_eq!(without(&[What::Faults(gone.to_vec())]), expected, "{gone:?}");
        let one_by_one: Vec<What> = gone.iter().map(|place| What::Faults(vec![*place])).collect();
        assert_eq!(without(&one_by_one), expected, "{gone:?}");
    }
    let mut right = whole.clone();
    (right.hosts[c2.0].drift, right.hosts[c2.0].wall_offset_ns) = (RatePpb(0), 0);
    assert_eq!(without(&[What::Clocks(c2)]), right);
    let mut patient = whole.clone();
    patient.clients[1].ttl = Some(whole.limits.time);
    assert_eq!(without(&[What::Overrun(ClientId(1))]), patient);
    assert!(trials.prepare_without(&[What::Clocks(HostIndex(99))]).is_none());
}

#[test]
fn runs_and_their_events_are_counted_until_there_are_too_many() {
    let asked = Asked::of("clock-jump");
    let mut trials = asked.trials();
    assert!(trials.can_be_asked(), "it is short, and comes out alike");
    assert_eq!((trials.runs(), trials.events), (1, asked.report.events));
    trials.events = EVENTS_MAX;
    assert!(!trials.is_spent(), "as many as there may be");
    assert_eq!(trials.futures(&[], TrueNs(0), |_| true), 1, "the first is one too many");
    assert!(trials.is_spent() && trials.runs() == 2);
    assert_eq!(trials.run_without(&[]).came, TrialOutcome::Unusable, "it is not run");
    assert_eq!(trials.seeds(&[], |_| true), 0);
    assert_eq!(trials.runs(), 2);
    let long = Report { events: EVENTS_MAX / (4 * OTHERS) + 1, ..asked.report.clone() };
    assert!(!Trials::new(&asked.prepared, &long, &asked.told).can_be_asked());
}

/// Only of grants that outlasted their leases is it asked whether they do without something.
#[test]
fn late_are_the_grants_that_outlasted_their_leases() {
    let asked = Asked::of("lease-pause");
    let mut trials = asked.trials();
    assert_eq!(trials.late, [(asked.told.grants[0].0, 1)], "the first holder, and not the second");
    assert_eq!(trials.run_without(&[]).in_time, []);
    let cured = trials.run_without(&[What::Faults(vec![0])]);
    assert_eq!((cured.came, cured.in_time), (TrialOutcome::Gone, vec![asked.told.grants[0].0]));
    assert_eq!(Asked::of("clock-jump").trials().late, []);
}

/// A run that ended before proves nothing, nor does one that panicked, or in which the second client got less.
#[test]
fn a_run_is_usable_if_it_got_past_that_time_and_the_second_was_granted_as_often() {
    let asked = Asked::of("lease-pause");
    let trials = asked.trials();
    let over = asked.told.ends_at().0;
    let ended_at = |ns: u64| {
        let mut scenario = Scenario::clone(&asked.report.scenario);
        scenario.limits.time = Duration::from_nanos(ns);
        LeanEngine.prepare(&scenario).expect("it can be run").run(asked.report.seed)
    };
    let early = ended_at(over - 1_000_000);
    assert!(early.history.outcome() != Some(RunOutcome::Completed) && early.ended < asked.told.ends_at());
    assert!(!trials.is_usable(&early));
    let mut late = early.clone();
    late.ended = asked.told.ends_at();
    assert!(trials.is_usable(&late), "if it had lasted as long");
    assert!(trials.is_usable(&asked.report));
    let panicked = Report { panicked: Some("planted".into()), ..asked.report.clone() };
    assert!(!trials.is_usable(&panicked));
    let (client, times) = asked.told.second.expect("of an overlap there is one");
    for (wanted, is_enough) in [(times, true), (times + 1, false)] {
        let told = Violation { second: Some((client, wanted)), ..asked.told.clone() };
        let trials = Trials::new(&asked.prepared, &asked.report, &told);
        assert_eq!(trials.is_usable(&asked.report), is_enough, "{wanted} grants");
    }
}

/// With everything other seeds are run only if some do it without, and once.
#[test]
fn shares_are_counted_as_far_as_they_can_decide() {
    let program = ["acquire", "work 500ms..1130ms", "release"];
    let pause = Fault::pause("c1").at(When::event("c1", Mark::Grant)).lasting(Duration::from_secs(2));
    let world = World::new("luck").nodes(["A"]).ttl(Duration::from_secs(1)).clients(2, program).fault(pause);
    let world = world.with(|scenario| {
        scenario.clients[1].start = Some(When::from(Event::mark("c1", Mark::Grant)));
    });
    let scenario = world.scenario("single", doublehold_lockimpl::descriptors()).expect("a world");
    let asked = Asked::about(&scenario, 3);
    let pause = [What::Faults(vec![0])];
    let began = asked.report.faults[0].from.expect("it struck");
    let counted = |what: &[What], known: Option<u64>| {
        let mut trials = asked.trials();
        trials.seeds_with = known;
        let shares = trials.shares(what, began);
        (shares, trials.runs())
    };
    let (shares, runs) = counted(&pause, None);
    let some = 1..=3;
    assert!(some.contains(&shares.futures_without) && some.contains(&shares.seeds_without), "{shares:?}");
    assert_eq!((shares.futures_with, shares.seeds_with, runs), (OTHERS, Some(OTHERS), 4 * OTHERS));
    let (again, runs) = counted(&pause, Some(7));
    assert_eq!((again.seeds_with, runs), (Some(7), 3 * OTHERS), "what is known is not counted again");
    let (hopeless, runs) = counted(&[], None);
    assert_eq!(hopeless, Shares { futures_without: OTHERS, ..Shares::default() });
    assert_eq!(runs, OTHERS);
    let sure = Asked::of("lease-pause");
    let mut trials = sure.trials();
    let shares = trials.shares(&pause, sure.report.faults[0].from.expect("it struck"));
    let expected = Shares { futures_with: OTHERS, futures_without: 0, seeds_with: None, seeds_without: 0 };
    assert_eq!((shares, trials.runs()), (expected, 3 * OTHERS));
}
