//! Searches in scenarios whose clients are threads: a process is struck as a whole, and what is left is a scenario.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use doublehold_history::Predicate;
use doublehold_scenarios::format::Source;
use doublehold_scenarios::plan::Plan;
use doublehold_scenarios::report::Replay;
use doublehold_scenarios::{Engine, LeanEngine, Prepared, Scenario, Seed, SimEngine};
use doublehold_search::explore::Exploration;
use doublehold_search::shrink::{Case, Effort, Target, shrink};

const TURN: &str = "program = ['acquire', 'read', 'check', 'write', 'release']";

/// Threads of `web`, and a client of its own that takes the lock when theirs have lost it.
fn scenario(threads: usize, rounds: u32, more: &str) -> Scenario {
    let thread = |number| {
        format!("{{ name = 't{number}', process = 'web', rounds = {rounds}, retry = '700ms', {TURN} }}")
    };
    let threads: Vec<String> = (1..=threads).map(thread).collect();
    let text = format!(
        "claim = 'threads and another'\nlock = {{ algorithm = 'single', ttl = '4s' }}\n\
         nodes = {{ names = ['A'] }}\nnetwork = {{ delay = '1ms' }}\n\
         clients = [{}, {{ name = 'c', start = '3s', retry = '200ms', program = ['acquire', 'work 3s', 'release'] }}]\n\
         {more}\n",
        threads.join(", ")
    );
    let source = Source { name: "x".to_owned(), text, ..Source::default() };
    source.read().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn explore_strikes_processes_and_never_a_thread() {
    let scenario = scenario(2, 1, "");
    let exploration = Exploration::new(&scenario, &["pause", "crash", "cut"], 1, 1).unwrap();
    let (mut struck, mut steps) = (BTreeSet::new(), BTreeSet::new());
    let found = exploration.run(
        exploration.begin(),
        NonZeroUsize::MIN,
        || false,
        |places, _| {
            for fault in exploration.faults_of(places) {
                struck.extend(fault.effect.hosts().0);
                steps.insert(fault.at.to_string());
            }
        },
    );
    assert!(found.complete);
    assert_eq!(struck, ["A", "c", "resource", "web"].map(str::to_owned).into());
    assert!(["t1's grant", "t2's grant"].iter().all(|step| steps.contains(*step)), "{steps:?}");
    assert!(found.findings.contains_key(&Target::Violates(Predicate::P1)));
}

#[test]
fn what_is_shrunk_is_read_as_itself_and_keeps_no_process_with_one_thread() {
    let pause = "faults = [{ kind = 'pause', host = 'web', at = \"t2's 2nd grant\", for = '9s' }]";
    let noisy = scenario(4, 3, pause);
    for target in [Predicate::P1, Predicate::P3].map(Target::Violates) {
        let case = Case { scenario: &noisy, seed: Seed(1), target };
        let shrunk = shrink(&LeanEngine, &case, &Effort::default()).unwrap_or_else(|error| panic!("{error}"));
        assert!(shrunk.is_minimal);
        let left = &shrunk.scenario;
        let processes: Vec<usize> = left
            .cast()
            .clients()
            .filter_map(|client| left.process_of(client))
            .map(|process| left.cast().threads(process).count())
            .collect();
        assert!(
            processes.iter().all(|threads| *threads >= 2) && left.clients.len() <= 3,
            "{}",
            left.to_toml()
        );
        let report = SimEngine.prepare(left).unwrap().run(shrunk.seed);
        let plan = Plan::parse("x.plan", &Plan::from_report(&report).to_toml().unwrap()).unwrap();
        assert_eq!(plan.scenario, *left);
        assert_eq!(plan.compare_replay(&SimEngine.run(&plan.scenario, plan.seed)), Replay::Same);
    }
}
