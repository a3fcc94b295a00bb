//! Faults that a weather draws, in any scenario, are a plan that is read again and comes to the same run; and a fault
//! can be written at any step of it.
//!
//! Weathers are written as a user would write them, every kind in them and far more often, longer and shorter than any
//! preset has it. Left out are those that the reader of weathers refuses.

use std::collections::BTreeSet;

use doublehold_scenarios::fault::Fault;
use doublehold_scenarios::plan::Plan;
use doublehold_scenarios::report::Replay;
use doublehold_scenarios::scenario::Role;
use doublehold_scenarios::{
    Engine, LeanEngine, Prepared, Report, Scenario, Searchable, Seed, SimEngine, Stepped, catalog,
};
use doublehold_search::explore::Kinds;
use doublehold_search::shrink::{Case, Effort, Target, shrink};
use doublehold_sim::Stream;

const SEEDS: u64 = 2;

/// The fields of lines besides whom they strike: one of these each time.
const KINDS: [&str; 18] = [
    "kind = 'pause', host = HOST, for = LAW",
    "kind = 'suspend', host = HOST, for = LAW",
    "kind = 'suspend', host = HOST, for = LAW, resync = '1s'",
    "kind = 'crash', host = HOST, for = LAW",
    "kind = 'power-loss', host = HOST, for = LAW, torn_tail = true",
    "kind = 'clock-step', host = HOST, by = LAW",
    "kind = 'clock-drift', host = HOST, by = '1/3', for = LAW",
    "kind = 'clock-freeze', host = HOST, clock = 'monotonic', for = LAW",
    "kind = 'cut', from = HOST, to = HOST, for = LAW",
    "kind = 'cut', from = 'master', to = HOST, for = LAW, brings = { kind = 'promote', host = 'replicas', after = '1ms..9s' }",
    "kind = 'slow', from = HOST, to = HOST, by = LAW, for = LAW",
    "kind = 'loss', from = HOST, to = HOST, probability = '1/3', for = LAW",
    "kind = 'packet-delay', from = HOST, to = HOST, by = LAW",
    "kind = 'duplicate', from = ASKS, to = ASKED, after = LAW",
    "kind = 'reset-connections', from = HOST, to = HOST",
    "kind = 'slow-node', host = NODE, by = '1ms..5s', for = LAW",
    "kind = 'fsync-lies', host = NODE",
    "kind = 'promote', host = NODE",
];
const LAWS: [&str; 6] =
    ["'1ns..9us'", "'1ms..5s'", "'0s'", "{ median = '1s', sigma = '2/1' }", "'2s..40s'", "'1y..10y'"];
const HOSTS: [&str; 6] = [
    "'clients'",
    "'nodes'",
    "'resource'",
    "'replicas'",
    "['clients', 'nodes']",
    "['nodes', 'clients', 'resource']",
];

fn one<'a>(of: &[&'a str], stream: &mut Stream) -> &'a str {
    of[stream.below(of.len() as u64) as usize]
}

/// The text of a weather. A host may be drawn at both ends of a link, and an order may tell whom it promotes.
fn weather(nodes: &[String], stream: &mut Stream) -> String {
    let mut lines = Vec::new();
    for kind in KINDS {
        let mut line = kind.to_owned();
        line = line.replace("ASKS", one(&["'clients'", "'nodes'"], stream));
        line = line.replace("ASKED", one(&["'nodes'", "'resource'", "'replicas'"], stream));
        while line.contains("HOST") || line.contains("LAW") || line.contains("NODE") {
            line = line.replacen("HOST", one(&HOSTS, stream), 1);
            line = line.replacen("LAW", one(&LAWS, stream), 1);
            line = line.replacen("NODE", one(&["'nodes'", "'replicas'"], stream), 1);
        }
        if line.contains("promote") && stream.below(2) == 0 {
            // Of one that another brings, they belong to what is brought.
            let end = line.strip_suffix(" }").map_or(line.len(), str::len);
            line.insert_str(end, &format!(", tell = {nodes:?}, rewrite_config = false"));
        }
        let every = one(&["2s", "20s"], stream);
        lines.push(format!("{{ {line}, every = '{every}' }}"));
    }
    let steps = one(&["0/1", "1/2", "1/1"], stream);
    let swarm = stream.below(4) == 0;
    format!("{{ for = '20s', swarm = {swarm}, at_steps = '{steps}', faults = [{}] }}", lines.join(", "))
}

fn under_random_weather(name: &str, stream: &mut Stream) -> Scenario {
    let calm = catalog::load(name, &[]).unwrap();
    let nodes = calm.hosts.iter().filter(|host| host.role == Role::Node);
    let nodes: Vec<String> = nodes.map(|host| host.name.clone()).collect();
    let sets = [("weather".to_owned(), weather(&nodes, stream))];
    catalog::load(name, &sets).unwrap_or_else(|error| panic!("{error}"))
}

/// The mistake in the plan of a run, if there is one.
fn wrong(report: &Report) -> Option<String> {
    let plan = Plan::from_report(report);
    let text = plan.to_toml().expect("TOML");
    match Plan::parse("x.plan", &text) {
        Err(error) => Some(error.to_string()),
        Ok(read) if read != plan => Some(format!("read otherwise:\n{text}")),
        Ok(read) => match read.compare_replay(&SimEngine.run(&read.scenario, read.seed)) {
            Replay::Same => None,
            other => Some(format!("{other:?}")),
        },
    }
}

/// As many runs as `run` and `check` make of it, and one as a stratum of a sweep has them: two faults of each kind.
fn runs(scenario: &Scenario) -> Vec<Report> {
    let prepared = SimEngine.prepare(scenario).unwrap();
    let climate = prepared.climate().expect("it has weather");
    let two = climate.kinds().into_iter().map(|kind| (kind.to_owned(), 2)).collect();
    let just = Scenario { faults: climate.draw_just(Seed(1), &two), weather: None, ..scenario.clone() };
    (1..=SEEDS).map(|seed| prepared.run(seed)).chain([SimEngine.run(&just, 1)]).collect()
}

#[test]
fn every_plan_of_every_weather_is_read_again_and_comes_to_the_same_run() {
    let mut stream = Stream::new(Seed(1), "plans");
    let (mut most, mut broken) = (0, Vec::new());
    for entry in catalog::entries().unwrap() {
        for report in runs(&under_random_weather(&entry.name, &mut stream)) {
            most = most.max(report.scenario.faults.len());
            broken.extend(wrong(&report).map(|what| format!("{}: {what}", entry.name)));
        }
    }
    assert!(most > 100, "no run had more than {most} faults");
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn what_a_shrink_leaves_of_a_run_under_weather_is_a_plan_that_is_read_again() {
    let mut stream = Stream::new(Seed(2), "shrunk");
    let mut shrunk = 0;
    for name in ["failover-before-replication", "quiet/replicated", "lease-pause", "quiet/redlock"] {
        // Not every run under weather violates something.
        let prepared = LeanEngine.prepare(&under_random_weather(name, &mut stream)).unwrap();
        let violating = |seed: u64| Some((Target::find_in(&prepared.judge(seed))?, seed));
        let Some((target, seed)) = (1..=8).find_map(violating) else { continue };
        let report = prepared.run(seed);
        let effort = Effort { replays_max: 1_000, ..Effort::default() };
        let case = Case { scenario: &report.scenario, seed: Seed(seed), target };
        let least = shrink(&LeanEngine, &case, &effort).unwrap();
        assert_eq!(wrong(&SimEngine.run(&least.scenario, least.seed)), None, "{name}");
        shrunk += 1;
    }
    assert!(shrunk > 1, "{shrunk} of these runs violate anything");
}

/// A search places faults at them, and a shrink binds faults to them.
#[test]
fn every_fault_that_a_search_places_in_a_run_under_weather_can_be_written() {
    let mut stream = Stream::new(Seed(1), "steps");
    let mut wrong = BTreeSet::new();
    for entry in catalog::entries().unwrap() {
        let scenario = under_random_weather(&entry.name, &mut stream);
        let run = SimEngine.run(&scenario, 1);
        let steps = SimEngine.prepare(&run.scenario).unwrap().steps(1);
        let kinds = Kinds::parse(&Kinds::applicable_words(&scenario), &scenario).unwrap();
        let mut seen = BTreeSet::new();
        let faults: Vec<Fault> = steps
            .into_iter()
            .filter(|step| seen.insert(step.event.clone()))
            .flat_map(|step| kinds.at(&step))
            .collect();
        let written = Scenario { faults, weather: None, ..scenario };
        match written.validate() {
            Ok(read) => assert_eq!(read, written),
            Err(error) => drop(wrong.insert(error.to_string())),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
