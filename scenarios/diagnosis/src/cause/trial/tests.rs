//! Runs without something, and the account of them: what is taken away, what is counted, and when it is enough.

use std::time::Duration;

use doublehold_scenarios::build::World;
use doublehold_scenarios::catalog;
use doublehold_scenarios::model::fault::{Effect, Fault};
use doublehold_scenarios::model::scenario::HostIndex;
use doublehold_scenarios::model::when::When;
use doublehold_scenarios::{Engine, LeanEngine, Prepared, PreparedSim, Searchable};

use super::*;
use crate::cause::answer::Overran;

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
    let without =
        |what: &[What]| trials.prepare_without(what, &[]).expect("it can be run").scenario().clone();
    let whole = without(&[]);
    assert!(whole.faults.iter().all(|fault| fault.optional) && whole.faults.len() == 3);
    for gone in [&[0][..], &[1], &[2], &[0, 2], &[0, 1, 2]] {
        let mut expected = whole.clone();
        gone.iter().rev().for_each(|place| drop(expected.faults.remove(*place)));
        assert_eq!(without(&[What::Failover(gone.to_vec())]), expected, "{gone:?}");
        let one_by_one: Vec<What> = gone.iter().map(|place| What::Fault(vec![*place])).collect();
        assert_eq!(without(&one_by_one), expected, "{gone:?}");
    }
    let mut right = whole.clone();
    (right.hosts[c2.0].drift, right.hosts[c2.0].wall_offset_ns) = (RatePpb(0), 0);
    assert_eq!(without(&[What::Clocks(c2)]), right);
    let mut patient = whole.clone();
    patient.clients[1].ttl = Some(whole.limits.time);
    assert_eq!(without(&[What::Overrun(ClientId(1), Overran::Worked)]), patient);
    let mut early = whole.clone();
    early.clients[1].start = Some(When::At(Duration::from_nanos(5)));
    let started = trials.prepare_without(&[], &[(1, TrueNs(5))]).expect("it can be run");
    assert_eq!(*started.scenario(), early);
    assert!(trials.prepare_without(&[What::Clocks(HostIndex(99))], &[]).is_none());
}

/// Without the promotion two clients wait for a dead master, and no longer than is asked about.
#[test]
fn without_a_promotion_nobody_is_promoted_and_the_run_is_short() {
    let asked = Asked::of("sentinel-wait");
    let b = asked.report.scenario.cast().host("B").expect("a node");
    let mut trials = asked.trials();
    let without = trials.prepare_without(&[What::Promotion(b)], &[]).expect("it can be run");
    let run = without.run(asked.report.seed);
    let told_of = |run: &Report, kind: &str| run.announcements.iter().filter(|it| it.kind == kind).count();
    assert_eq!((told_of(&asked.report, "+switch-master"), told_of(&run, "+switch-master")), (3, 0));
    assert!(told_of(&run, "-failover-abort-no-good-slave") > 0, "they have agreed, and tried");
    assert_eq!(run.ended.0, 2 * asked.told.ends_at().0);
    assert_eq!(trials.run_without(&[What::Promotion(b)]).outcome, TrialOutcome::OutOfUse);
}

#[test]
fn runs_and_their_events_are_counted_until_there_are_too_many() {
    let asked = Asked::of("clock-jump");
    let mut trials = asked.trials();
    assert!(trials.can_be_asked(1), "it is short, and comes out alike");
    assert_eq!((trials.runs(), trials.events), (1, asked.report.events));
    trials.events = EVENTS_MAX;
    assert!(!trials.is_spent(), "as many as there may be");
    assert_eq!(trials.find_others(9, Way::Seed).len(), 1, "the first is one too many");
    assert!(trials.is_spent() && trials.runs() == 2);
    assert_eq!(trials.run_without(&[]).outcome, TrialOutcome::Stays, "it is not run");
    assert!(trials.find_others(9, Way::Seed).is_empty());
    assert_eq!(trials.runs(), 2);
    let long = Report { events: EVENTS_MAX / (1 + OTHERS as u64) + 1, ..asked.report.clone() };
    assert!(!Trials::new(&asked.prepared, &long, &asked.told).can_be_asked(1));
}

/// Only of grants that outlasted their leases is it asked whether they do without something.
#[test]
fn late_are_the_grants_that_outlasted_their_leases() {
    let asked = Asked::of("lease-pause");
    let mut trials = asked.trials();
    assert_eq!(trials.late, [(asked.told.grants[0].0, 1)], "the first holder, and not the second");
    assert_eq!(trials.run_without(&[]).in_time, []);
    let cured = trials.run_without(&[What::Fault(vec![0])]);
    assert_eq!((cured.outcome, cured.in_time), (TrialOutcome::Gone, vec![asked.told.grants[0].0]));
    assert_eq!(Asked::of("clock-jump").trials().late, []);
}

/// A run that ended before proves nothing, nor does one that panicked.
#[test]
fn it_is_gone_only_from_a_run_that_got_past_that_time() {
    let mut cured = catalog::load("lease-pause", &[]).expect("in the catalogue");
    cured.faults.clear();
    let cured = LeanEngine.run(&cured, 1);
    let asked = Asked::of("lease-pause");
    let trials = asked.trials();
    assert_eq!(trials.outcome(&cured), TrialOutcome::Gone);
    let panicked = Report { panicked: Some("planted".into()), ..cured.clone() };
    assert_eq!(trials.outcome(&panicked), TrialOutcome::Stays);
    let over = asked.told.ends_at().0;
    let mut scenario = Scenario::clone(&cured.scenario);
    scenario.limits.time = Duration::from_nanos(over - 1_000_000);
    scenario.clients[1].rounds = 99;
    let mut early = LeanEngine.run(&scenario, 1);
    assert!(early.history.outcome() != Some(RunOutcome::Completed) && early.ended < asked.told.ends_at());
    assert_eq!(trials.outcome(&early), TrialOutcome::Stays);
    early.ended = asked.told.ends_at();
    assert_ne!(trials.outcome(&early), TrialOutcome::Stays, "if it had lasted as long");
}

/// Without the promotion nobody gets the lock any more. With the crash gone as well, somebody does.
#[test]
fn a_lock_is_out_of_use_if_the_second_client_is_granted_it_less_often() {
    let asked = Asked::of("failover-before-replication");
    let place = |word: &str| {
        let faults = &asked.report.scenario.faults;
        What::Fault(vec![faults.iter().position(|it| it.effect.kind().word == word).expect("it is there")])
    };
    let mut trials = asked.trials();
    assert_eq!(trials.run_without(&[place("promote")]).outcome, TrialOutcome::OutOfUse);
    assert_eq!(trials.run_without(&[place("promote"), place("crash")]).outcome, TrialOutcome::Gone);
}

/// One that asks once is refused while the other holds, and should be.
#[test]
fn who_does_not_wait_may_be_refused_instead() {
    let world = World::new("cron").nodes(["A"]).ttl(Duration::from_secs(30));
    let ticks = |program: [&'static str; 3]| {
        let world = world.clone().clients(2, program).with(|scenario| {
            scenario.clients[1].start = Some(When::At(Duration::from_secs(2)));
            scenario.faults =
                vec![Fault::new(Effect::Flush { hosts: "A".into() }).at(Duration::from_secs(1))];
        });
        Asked::about(&world.scenario("single", doublehold_lockimpl::descriptors()).expect("a world"), 1)
    };
    let without_flush = |asked: &Asked| asked.trials().run_without(&[What::Fault(vec![0])]).outcome;
    assert_eq!(without_flush(&ticks(["try", "work 5s", "release"])), TrialOutcome::Gone);
    assert_eq!(without_flush(&ticks(["acquire", "work 5s", "release"])), TrialOutcome::Gone, "it waits");
}

/// A refusal of an earlier call, as in the run that is asked about, and one of another lock are not in its place.
#[test]
fn only_a_refusal_of_the_call_that_was_granted_or_of_a_later_one_stands_for_the_grant() {
    let world = World::new("cron").nodes(["A"]).ttl(Duration::from_secs(30));
    let world = world.client("c1", ["try", "work 9s", "release"]);
    let world = world.client("c2", ["work 800ms", "try", "work 9s", "release"]).with(|scenario| {
        scenario.clients[1].rounds = 2;
        scenario.faults = vec![Fault::new(Effect::Flush { hosts: "A".into() }).at(Duration::from_secs(1))];
    });
    let asked =
        Asked::about(&world.scenario("single", doublehold_lockimpl::descriptors()).expect("a world"), 1);
    let mut trials = asked.trials();
    let cured = trials.run_with(&[What::Fault(vec![0])], &[]).expect("it can be run");
    let is_refusal = |what: &EventKind| matches!(what, EventKind::Refused { client: ClientId(1), .. });
    let of = |run: &Report| run.history.events().iter().filter(|it| is_refusal(&it.what)).count();
    assert_eq!((of(&asked.report), of(&cured)), (1, 2), "the first of two is in both");
    let last = cured.history.events().iter().rfind(|it| is_refusal(&it.what)).and_then(|it| it.what.call());
    let with = |change: &dyn Fn(EventKind) -> Option<EventKind>| {
        let mut history = History::new(cured.history.header().clone());
        for event in cured.history.events() {
            change(event.what.clone()).into_iter().for_each(|what| history.push(event.at, what));
        }
        trials.outcome(&Report { history, ..cured.clone() })
    };
    assert_eq!(with(&Some), TrialOutcome::Gone);
    let never = |what: EventKind| (!is_refusal(&what) || what.call() != last).then_some(what);
    assert_eq!(with(&never), TrialOutcome::OutOfUse, "it was refused before only");
    let of_another = |what: EventKind| match what {
        EventKind::AcquireStarted { client, call, .. } if Some(call) == last => {
            Some(EventKind::AcquireStarted { client, call, lock: LockId(1) })
        }
        what => Some(what),
    };
    assert_eq!(with(&of_another), TrialOutcome::OutOfUse, "it was refused another lock");
}

/// A client whose start waits for what is taken away starts at the time that it had.
#[test]
fn a_start_that_waits_for_what_is_gone_comes_at_the_time_it_had() {
    let asked = Asked::of("delayed-restart/not-delayed");
    let mut trials = asked.trials();
    assert!(!trials.starts.is_empty(), "c2's start waits for C's boot");
    let crash = asked.report.scenario.faults.iter().position(|it| it.effect.kind().word == "crash");
    let what = [What::Fault(vec![crash.expect("C crashes")])];
    let here = trials.run_without(&what);
    assert!(here.starts_by_time);
    assert_eq!(here.outcome, TrialOutcome::Gone, "c2 is there, and is granted the lock");
    let repeats = trials.repeats(&what, TrueNs(0), &here);
    assert_eq!(repeats, Repeats { had: OTHERS as u64, gone: OTHERS as u64 });
}

/// Where other seeds have it too, these are asked; where they have not, other futures of the run.
#[test]
fn other_runs_are_those_that_had_it() {
    let asked = Asked::of("lease-pause");
    let mut trials = asked.trials();
    let here = trials.run_without(&[What::Fault(vec![0])]);
    let repeats = trials.repeats(&[What::Fault(vec![0])], TrueNs(0), &here);
    assert_eq!(repeats, Repeats { had: OTHERS as u64, gone: OTHERS as u64 });
    let nothing = trials.repeats(&[], TrueNs(0), &here);
    assert!(nothing.gone == 0 && nothing.had < OTHERS as u64, "it is not counted to the end: {nothing:?}");
    assert!(!nothing.are_causal());
    assert!(!Repeats { had: 0, gone: 0 }.are_causal(), "what no other run has is luck");
    assert!(Repeats { had: 1, gone: 1 }.are_causal(), "as few as had it count");
    assert!(Repeats { had: 5, gone: 4 }.are_causal() && !Repeats { had: 5, gone: 3 }.are_causal());
}
