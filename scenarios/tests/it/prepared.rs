//! A scenario that is prepared once and run many times: nothing of a run is left for the next, whatever the order, the
//! thread and what is asked for; and what cannot be run is refused when it is prepared.

use std::thread;

use doublehold_scenarios::report::Summary;
use doublehold_scenarios::scenario::{HostIndex, Role, Scenario};
use doublehold_scenarios::{Engine, PrepareError, Prepared, PreparedSim, Seed, SimEngine, catalog};

fn load(name: &str) -> Scenario {
    catalog::load(name, &[]).expect("the catalogue has it")
}

fn prepare(scenario: &Scenario) -> PreparedSim {
    SimEngine.prepare(scenario).expect("what a file says can be run")
}

/// Runs these seeds one after the other, and compares each with a run of a preparation of its own.
fn compare(prepared: &PreparedSim, seeds: &[u64], fresh: &[Summary], name: &str, how: &str) {
    for seed in seeds {
        let fresh = fresh.iter().find(|run| run.seed == Seed(*seed)).expect("every seed was run");
        assert_eq!(prepared.judge(*seed), *fresh, "{name}, seed {seed}, {how}");
    }
}

#[test]
fn nothing_of_a_run_is_left_for_the_next_whatever_the_order_and_the_thread() {
    let entries = catalog::entries().expect("the catalogue is right");
    let mut before: Option<(PreparedSim, Summary)> = None;
    for entry in entries {
        let (name, scenario) = (entry.name.as_str(), load(&entry.name));
        let fresh = [1, 2].map(|seed| prepare(&scenario).judge(seed));
        let prepared = prepare(&scenario);
        compare(&prepared, &[2, 1, 1], &fresh, name, "after others");
        let (one, other) = (&prepared, &fresh);
        thread::scope(|scope| {
            scope.spawn(|| compare(one, &[1, 2], other, name, "beside another thread"));
            scope.spawn(|| compare(one, &[2, 1], other, name, "beside another thread"));
        });
        // Another scenario's preparation, with runs of this one between its runs.
        if let Some((other, summary)) = &before {
            assert_eq!(other.judge(summary.seed), *summary, "{name} came between");
        }
        let [first, ..] = fresh;
        before = Some((prepared, first));
    }
}

#[test]
fn what_is_asked_of_a_run_does_not_change_it() {
    for name in ["clock-jump", "quiet/redlock", "crash-restart/everysec/power-loss/at-once"] {
        let prepared = prepare(&load(name));
        let judged = prepared.judge(7);
        let (report, (traced, trace)) = (prepared.run(7), prepared.run_traced(7));
        assert_eq!((report.trace_hash, &report.verdicts), (judged.trace_hash, &judged.verdicts), "{name}");
        assert_eq!(
            (traced.trace_hash, traced.history == report.history),
            (judged.trace_hash, true),
            "{name}"
        );
        assert_eq!((report.history.outcome(), report.judgement()), (Some(judged.outcome), judged.judgement));
        assert_eq!(trace.len() as u64, judged.events, "{name}");
    }
}

/// A scenario of two clients, changed; why it cannot be run.
fn refused(change: impl FnOnce(&mut Scenario)) -> String {
    let mut scenario = load("lease-pause");
    change(&mut scenario);
    SimEngine.prepare(&scenario).err().expect("it cannot be run").to_string()
}

#[test]
fn what_a_program_made_and_cannot_be_run_is_refused_with_its_reason() {
    assert_eq!(
        refused(|it| it.hosts[0].name = "c1".to_owned()),
        "two hosts are named `c1`: give each a name of its own"
    );
    assert_eq!(refused(|it| it.hosts[1].name.clear()), "host 1 has no name: give it one");
    let two = refused(|it| it.clients[1].host = it.clients[0].host);
    assert_eq!(two, "the client `c1` has 2 programs: give it one");
    let none = refused(|it| drop(it.clients.pop()));
    assert_eq!(none, "the client `c2` has 0 programs: give it one");
    let missing = refused(|it| it.resource.host = HostIndex(77));
    assert_eq!(missing, "the resource's host is to be a resource, and host 77 is none: name another host");
    let unknown = refused(|it| it.lock.algorithm = "consul".to_owned());
    assert_eq!(unknown, "there is no lock `consul`: `doublehold locks` lists those there are");
    let other = |it: &mut Scenario| {
        it.nodes.master = (0..).map(HostIndex).find(|host| it.hosts[host.0].role == Role::Client);
    };
    assert!(refused(other).starts_with("the master is to be a node, and host "));
    assert_eq!(SimEngine.prepare(&load("lease-pause")).err(), None::<PrepareError>);
}
