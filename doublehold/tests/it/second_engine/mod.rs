//! A second engine is searched, shrunk, explored, asked why, explained and swept by the same code as the first.
//!
//! The engine is in `ledger`. It prepares something of its own, so that nothing here compiles unless each search goes
//! through the traits of the seam.

mod ledger;
mod own;
mod turmoil;

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use doublehold_diagnosis::cause::causes;
use doublehold_diagnosis::counterexample::counterexample;
use doublehold_diagnosis::why::why;
use doublehold_diagnosis::{Cause, Found, What};
use doublehold_history::{Predicate, TrueNs, figures, judge};
use doublehold_lockimpl::{Descriptor, descriptors};
use doublehold_scenarios::fault::Fault;
use doublehold_scenarios::format::Source;
use doublehold_scenarios::model::host::UnknownHost;
use doublehold_scenarios::report::{
    FaultReport, Grants, Hit, Judgement, Leases, Report, StruckAt, Summary, TraceHash,
};
use doublehold_scenarios::scenario::Scenario;
use doublehold_scenarios::weather::Climate;
use doublehold_scenarios::when::{Mark, Nth, When};
use doublehold_scenarios::{Engine, Futures, PrepareError, Prepared, Searchable, Seed, Stepped};
use doublehold_search::explore::Exploration;
use doublehold_search::many::{Many, run_many};
use doublehold_search::shrink::{Effort, Target};
use doublehold_sweeps::study::Study;
use doublehold_sweeps::sweep::{Order, Shard, SweepEffort, SweepEvent, sweep};
use ledger::Lived;

/// The engine.
struct Ledger;

/// A scenario that it is ready to run.
struct Book {
    scenario: Arc<Scenario>,
    climate: Option<Climate>,
}

impl Engine for Ledger {
    type Prepared = Book;

    fn name(&self) -> &'static str {
        "ledger"
    }

    fn locks(&self) -> Vec<Descriptor> {
        descriptors()
    }

    fn prepare(&self, scenario: &Scenario) -> Result<Book, PrepareError> {
        ledger::check(&scenario.faults, scenario)?;
        let weather = scenario.weather.as_ref();
        let climate = weather.map(|weather| Climate::new(weather, scenario, &[]));
        Ok(Book { scenario: Arc::new(scenario.clone()), climate })
    }
}

impl Book {
    fn live(&self, seed: Seed, seed_at: &dyn Fn(u64) -> Seed) -> (Arc<Scenario>, Lived) {
        let drawn = self.climate.as_ref().map_or(Vec::new(), |climate| climate.draw(seed));
        let faults = [&self.scenario.faults[..], &drawn].concat();
        let scenario = Arc::new(Scenario { faults, weather: None, ..Scenario::clone(&self.scenario) });
        let lived = ledger::live(&scenario, seed, seed_at);
        (scenario, lived)
    }

    fn summary(&self, seed: Seed, seed_at: &dyn Fn(u64) -> Seed) -> Summary {
        let (scenario, lived) = self.live(seed, seed_at);
        let verdicts = judge(&lived.history);
        let outcome = lived.history.outcome().expect("it ended");
        let hit = |(fault, struck): (&Fault, &Vec<_>)| Hit {
            kind: fault.effect.kind().word,
            place: StruckAt::from_when(&fault.at),
            struck: struck.len() as u64,
            first: struck.first().map(|(from, _)| *from),
        };
        Summary {
            seed,
            outcome,
            judgement: Judgement::compare(&scenario.expect, Some(outcome), &verdicts),
            verdicts,
            grants: Grants::from_history(&lived.history),
            figures: figures(&lived.history),
            faults: scenario.faults.iter().zip(&lived.struck).map(hit).collect(),
            ended: lived.ended,
            events: lived.history.events().len() as u64,
            messages: 0,
            trace_hash: TraceHash(lived.hash),
            panicked: None,
        }
    }
}

impl Prepared for Book {
    type Record = ();

    fn judge(&self, seed: impl Into<Seed>) -> Summary {
        let seed = seed.into();
        self.summary(seed, &|_| seed)
    }

    fn run(&self, seed: impl Into<Seed>) -> Report {
        let seed = seed.into();
        let (scenario, lived) = self.live(seed, &|_| seed);
        let report = |fault: &Fault, from, until| FaultReport {
            fault: fault.clone(),
            hosts: scenario.cast().host(&fault.effect.hosts().0[0]).into_iter().collect(),
            from,
            until,
        };
        let of_fault = |(fault, struck): (&Fault, &Vec<(TrueNs, TrueNs)>)| match &struck[..] {
            [] => vec![report(fault, None, None)],
            struck => struck.iter().map(|(from, to)| report(fault, Some(*from), Some(*to))).collect(),
        };
        Report {
            seed,
            engine: "ledger",
            verdicts: judge(&lived.history),
            told: None,
            faults: scenario.faults.iter().zip(&lived.struck).flat_map(of_fault).collect(),
            leases: Leases::default(),
            keys: Vec::new(),
            votes: [].into(),
            extends: [].into(),
            left_out: [].into(),
            ended: lived.ended,
            events: lived.history.events().len() as u64,
            messages: 0,
            trace_hash: TraceHash(lived.hash),
            replays: None,
            announcements: Vec::new(),
            notes: Vec::new(),
            panicked: None,
            history: lived.history,
            scenario,
        }
    }

    fn run_traced(&self, seed: impl Into<Seed>) -> (Report, Vec<()>) {
        (self.run(seed), Vec::new())
    }
}

impl Searchable for Book {
    fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    fn climate(&self) -> Option<&Climate> {
        self.climate.as_ref()
    }

    fn with_faults(&self, faults: Vec<Fault>) -> Result<Book, UnknownHost> {
        ledger::check(&faults, &self.scenario)?;
        let scenario = Scenario { faults, weather: None, ..Scenario::clone(&self.scenario) };
        Ok(Book { scenario: Arc::new(scenario), climate: None })
    }

    fn with_scenario(&self, scenario: &Scenario) -> Result<Book, PrepareError> {
        Ok(Book { climate: None, ..Ledger.prepare(scenario)? })
    }
}

impl Stepped for Book {
    fn timed_steps(&self, seed: impl Into<Seed>) -> Vec<(TrueNs, Nth)> {
        let seed = seed.into();
        self.live(seed, &|_| seed).1.steps
    }
}

impl Futures for Book {
    fn judge_future(&self, seed: impl Into<Seed>, from: TrueNs, future: Seed) -> Summary {
        let seed = seed.into();
        self.summary(seed, &|at| if at < from.0 { seed } else { future })
    }
}

/// Two clients for one lease of ten seconds, of which the work takes one to three.
fn scenario(more: &str) -> Scenario {
    let text = format!(
        r#"
        claim = "a lease is kept in a ledger"
        lock = {{ algorithm = "single", ttl = "10s" }}
        nodes = {{ names = ["A"] }}
        clients = [
            {{ name = "c1", program = ["acquire", "work 1s..3s", "release"] }},
            {{ name = "c2", program = ["acquire", "work 1s..3s", "release"], rounds = 2 }},
        ]
        {more}
        "#
    );
    let source = Source { name: "ledger".into(), file: "ledger.toml".into(), text, ..Source::default() };
    source.read().unwrap_or_else(|error| panic!("{error}"))
}

const PAUSED: &str = r#"faults = [
    { kind = "pause", host = "c2", at = "c2's acquire", for = "300ms" },
    { kind = "pause", host = "c1", at = "c1's grant", for = "30s" },
]"#;

const TARGET: Target = Target::Violates(Predicate::P1);

fn two() -> NonZeroUsize {
    NonZeroUsize::new(2).expect("two")
}

#[test]
fn it_is_judged_and_its_runs_are_those_of_their_seeds() {
    let (quiet, paused) = (Ledger.prepare(&scenario("")), Ledger.prepare(&scenario(PAUSED)));
    let (quiet, paused) = (quiet.expect("it can be run"), paused.expect("it can be run"));
    for seed in 1..20 {
        assert_eq!(quiet.judge(seed), quiet.judge(seed));
        assert!(!TARGET.is_in(&quiet.judge(seed)) && TARGET.is_in(&paused.judge(seed)), "seed {seed}");
    }
    assert_ne!(quiet.judge(1).trace_hash, quiet.judge(2).trace_hash);
}

#[test]
fn it_is_searched_from_many_seeds() {
    let weather = r#"weather = { for = "20s", faults = [
        { kind = "pause", host = "clients", every = "10s", for = "5s..30s", source = "a guess" },
    ] }"#;
    let prepared = Arc::new(Ledger.prepare(&scenario(weather)).expect("it can be run"));
    let many = |jobs| Many { seeds: Seed(1)..=Seed(300), jobs, patience: Duration::from_secs(60) };
    let tally =
        |jobs| run_many(&prepared, &many(jobs), |_| ControlFlow::Continue(())).expect("all come back");
    let p1 = tally(two()).count(Predicate::P1);
    assert_eq!(tally(two()), tally(NonZeroUsize::MIN));
    assert!(p1.violated > 10 && p1.holds > 100, "{p1:?}");
    assert!(TARGET.is_in(&prepared.judge(p1.first.expect("there are some"))));
}

#[test]
fn it_is_shrunk_and_what_is_left_is_explained() {
    let found = (&scenario(PAUSED), Seed(1), TARGET);
    let found = counterexample(&Ledger, &Ledger, found, &Effort::default()).expect("it violates P1");
    let left = &found.shrunk.scenario;
    assert!(found.is_real && left.faults.len() == 1, "{:?}", left.faults);
    assert_eq!(left.faults[0].effect, scenario(PAUSED).faults[1].effect, "the short pause is not needed");
    assert!(left.faults[0].lasting == Some(Duration::from_secs(20)), "{:?}", left.faults);
    assert!(left.clients.iter().all(|client| client.rounds == 1), "one round shows it");
    let causes = found.run.causes.expect("it was asked for");
    let Found::Known { needed, .. } = causes.found else { panic!("{causes:?}") };
    let deeds = deeds(&found.run.report, &needed);
    assert!(deeds.iter().any(|deed| deed.starts_with("c1 was paused for")), "{deeds:?}");
}

#[test]
fn its_causes_are_found_by_runs_without_them() {
    let prepared = Ledger.prepare(&scenario(PAUSED)).expect("it can be run");
    let report = prepared.run(1);
    let causes = causes(&prepared, &report).expect("it violates P1");
    let Found::Known { needed, .. } = causes.found else { panic!("{causes:?}") };
    assert_eq!(deeds(&report, &needed), ["c1 was paused for 30 s"], "and not the pause of 300 ms");
}

/// What the faults among these causes did.
fn deeds(report: &Report, causes: &[Cause]) -> Vec<String> {
    let faults = causes
        .iter()
        .filter_map(|cause| if let What::Fault(places) = &cause.what { Some(places) } else { None });
    faults.map(|places| report.scenario.faults[places[0]].did()).collect()
}

#[test]
fn it_is_explored() {
    let exploration =
        Exploration::with_engine(&Ledger, &scenario(""), &["pause"], 1, 1).expect("it has steps");
    let found = exploration.run(exploration.begin(), two(), || false, |_, _| {});
    let mine = |mark| Nth { event: doublehold_scenarios::when::Event::mark("c1", mark), nth: 1 };
    assert!(exploration.steps().contains(&mine(Mark::Grant)), "{:?}", exploration.steps());
    assert!(found.complete && found.runs_with(TARGET) > 0, "a pause breaks it");
}

#[test]
fn it_is_asked_why() {
    let why = why((&Ledger, &Ledger), &scenario(PAUSED), Seed(1), None, two()).expect("it violates P1");
    let pause = why.points.iter().position(|point| point.happened.join(" ").contains("c1 pauses for 30 s"));
    let pause = pause.unwrap_or_else(|| panic!("{:?}", why.points));
    assert_eq!(why.points[pause].same, 100, "from then on all futures end so: {:?}", why.points);
}

#[test]
fn it_is_swept() {
    let study = r#"
        question = "how often does a pause outlast a lease?"
        weather = "pauses-only"
        runs = 600
        designs = [{ name = "a lease", about = "in a ledger", lock = "single" }]
    "#;
    let study =
        Arc::new(Study::parse("ledger", "ledger.toml", study).unwrap_or_else(|error| panic!("{error}")));
    let effort = SweepEffort { jobs: two(), patience: Duration::from_secs(60) };
    let (mut runs, mut violated) = (0, 0);
    let order = Order::from_study(&study, Shard::WHOLE, |_| false);
    sweep(&Arc::new(Ledger), &study, order, &effort, |told| {
        if let SweepEvent::Batch(batch) = told {
            runs += batch.runs;
            violated += batch.predicates[&Predicate::P1].violated;
        }
        ControlFlow::Continue(())
    })
    .expect("it can be run");
    assert!(runs == 600 && (20..580).contains(&violated), "{violated} of {runs}");
}

#[test]
fn a_fault_of_nobody_is_refused() {
    let prepared = Ledger.prepare(&scenario("")).expect("it can be run");
    let nobody = prepared.with_faults(vec![Fault::pause("c9").at(When::default())]);
    assert_eq!(nobody.err(), Some(UnknownHost("c9".to_owned())));
}
