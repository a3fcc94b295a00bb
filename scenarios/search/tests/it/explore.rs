//! The systematic search against a list made by brute force, and against what is known of the locks.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use doublehold_history::Predicate;
use doublehold_scenarios::build::World;
use doublehold_scenarios::fault::Fault;
use doublehold_scenarios::model::sentinels::SentinelsSetup;
use doublehold_scenarios::report::Judgement;
use doublehold_scenarios::scenario::{DelayLaw, HostIndex, LinkSetup, Probability, Scenario, Step};
use doublehold_scenarios::weather::preset;
use doublehold_scenarios::when::{Nth, When};
use doublehold_scenarios::{
    Engine, LeanEngine, Prepared, PreparedSim, Searchable, SimEngine, Stepped, catalog,
};
use doublehold_search::explore::{CLIENTS, Exploration, Explored, Place, TriedPlacement, small_world};
use doublehold_search::shrink::Target;

const SEED: u64 = 1;

/// As small as a world can be in which two hold one lock: c1 takes its turn at once and c2 when c1's lease has ended,
/// each asks once, and nothing is random. A pause of 6 s is enough for an overlap, and so are two of 2 s.
fn tiny(lock: &str) -> Scenario {
    let world = World::new("tiny").nodes(["A"]).clients(2, ["try", "write", "release"]);
    let world = world.ttl(Duration::from_secs(4)).with(|scenario| {
        scenario.link.delay = DelayLaw::Fixed(Duration::from_millis(1));
        scenario.clients[1].start = Some(When::from(Duration::from_millis(4_003)));
    });
    world.scenario(lock, doublehold_lockimpl::descriptors()).unwrap()
}

fn explore_with(exploration: &Exploration, jobs: usize) -> Explored {
    let jobs = NonZeroUsize::new(jobs).unwrap();
    exploration.run(exploration.begin(), jobs, || false, |_, _| ())
}

/// What is violated, by the faults in words and in alphabetical order.
type List = BTreeMap<Vec<String>, Vec<String>>;

fn in_words(faults: &[Fault]) -> Vec<String> {
    let mut words: Vec<String> = faults.iter().map(Fault::to_string).collect();
    words.sort();
    words
}

fn word(finding: &Target) -> String {
    match finding {
        Target::Violates(predicate) => predicate.to_string(),
        Target::Panics => "panic".to_owned(),
    }
}

/// Everything that the search tried. Each set is tried once.
fn searched(scenario: &Scenario, kinds: &[&str], faults: usize) -> (List, Explored) {
    let exploration = Exploration::new(scenario, kinds, faults, SEED).unwrap();
    let mut list = List::new();
    let found = exploration.run(
        exploration.begin(),
        NonZeroUsize::new(2).unwrap(),
        || false,
        |places, tried| {
            let findings = tried.findings.iter().map(word).collect();
            let words = in_words(&exploration.faults_of(places));
            assert_eq!(list.insert(words.clone(), findings), None, "{words:?} was tried twice");
        },
    );
    (list, found)
}

/// The same list without the search: its own kinds, its own loops, no order and no argument.
struct Brute {
    prepared: PreparedSim,
    effects: fn(&str) -> Vec<Fault>,
}

impl Brute {
    fn faults_at(&self, step: &Nth) -> Vec<Fault> {
        let host = step.event.host().expect("every step is at a host");
        let at = When::On { events: vec![step.clone()], after: Duration::ZERO };
        (self.effects)(host).into_iter().map(|fault| fault.at(at.clone()).optional()).collect()
    }

    fn all_faults(&self, beside: &[Fault]) -> Vec<Fault> {
        let steps = self.prepared.with_faults(beside.to_vec()).unwrap().steps(SEED);
        steps.iter().flat_map(|step| self.faults_at(step)).collect()
    }

    fn violated(&self, faults: &[Fault]) -> Vec<String> {
        let run = self.prepared.with_faults(faults.to_vec()).unwrap().judge(SEED);
        let violated = run.verdicts.iter().filter(|(_, verdict)| verdict.as_str() == "violated");
        violated.map(|(predicate, _)| predicate.to_string()).collect()
    }

    fn all_strike(&self, faults: &[Fault]) -> bool {
        let report = self.prepared.with_faults(faults.to_vec()).unwrap().run(SEED);
        report.faults.iter().all(|fault| fault.from.is_some())
    }

    /// Every set of one fault, and of two where each may be anywhere in a run with the other.
    fn list(&self, pairs: bool) -> List {
        let mut list = List::new();
        for one in self.all_faults(&[]) {
            list.insert(in_words(std::slice::from_ref(&one)), self.violated(std::slice::from_ref(&one)));
            if !pairs {
                continue;
            }
            for other in self.all_faults(std::slice::from_ref(&one)) {
                let pair = [one.clone(), other];
                let words = in_words(&pair);
                if pair[0] != pair[1] && !list.contains_key(&words) && self.all_strike(&pair) {
                    list.insert(words, self.violated(&pair));
                }
            }
        }
        list
    }
}

fn pauses(host: &str) -> Vec<Fault> {
    [2, 6].map(|secs| Fault::pause(host).lasting(Duration::from_secs(secs))).into()
}

fn stops_and_steps(host: &str) -> Vec<Fault> {
    let secs = Duration::from_secs;
    let by = |secs: i64| Fault::clock_step(host, secs * 1_000_000_000);
    let crashes = [0, 6].map(|it| Fault::crash(host).lasting(secs(it)));
    let suspensions = [2, 6].map(|it| Fault::suspend(host).lasting(secs(it)));
    [crashes, suspensions, [by(6), by(-6)]].into_iter().flatten().chain(pauses(host)).collect()
}

#[test]
fn one_fault_everywhere_is_the_list_made_by_brute_force() {
    let scenario = tiny("single");
    let (list, found) = searched(&scenario, &["crash", "pause", "suspend", "clock-step"], 1);
    let brute = Brute { prepared: LeanEngine.prepare(&scenario).unwrap(), effects: stops_and_steps };
    assert_eq!(list, brute.list(false));
    assert_eq!((found.tried.clone(), found.complete), (vec![list.len() as u64], true));
    let violating = |finding: &str| list.values().filter(|it| it.iter().any(|word| word == finding)).count();
    let happened = ["P1", "P2", "P3", "P4", "WR"].map(violating);
    assert!(
        happened[0] > 0 && happened[2] > 0,
        "a list in which nothing happens shows nothing: {happened:?}"
    );
}

#[test]
fn two_faults_everywhere_are_the_list_made_by_brute_force() {
    let scenario = tiny("single");
    let (list, found) = searched(&scenario, &["pause"], 2);
    let brute = Brute { prepared: LeanEngine.prepare(&scenario).unwrap(), effects: pauses };
    let expected = brute.list(true);
    for (faults, violated) in &expected {
        assert_eq!(list.get(faults), Some(violated), "{faults:?}");
    }
    assert_eq!(list.len(), expected.len());
    assert_eq!(found.placements(), list.len() as u64);
    minimal_by_definition(&list, &found);
    let p1 = &found.findings[&Target::Violates(Predicate::P1)].minimal;
    assert!(p1.keys().any(|group| group.len() == 2), "two short pauses do what a long one does: {p1:?}");
}

/// The minimal ones are those of which no proper subset violates the same; counted here by the definition.
fn minimal_by_definition(list: &List, found: &Explored) {
    for finding in Target::ALL.into_iter() {
        let violates =
            |faults: &[String]| list.get(faults).is_some_and(|violated| violated.contains(&word(&finding)));
        let is_minimal = |faults: &&Vec<String>| {
            violates(faults)
                && (faults.len() == 1 || !faults.iter().any(|one| violates(std::slice::from_ref(one))))
        };
        let expected = list.keys().filter(is_minimal).count() as u64;
        let minimal = found.findings.get(&finding).map(|it| it.minimal.values().map(|it| it.count).sum());
        assert_eq!(minimal.unwrap_or(0), expected, "{finding}");
    }
}

#[test]
fn any_number_of_threads_and_any_interruption_find_the_same() {
    let scenario = tiny("get-then-delete");
    let exploration = Exploration::new(&scenario, &["pause", "crash", "reset-connections"], 1, SEED).unwrap();
    let whole = explore_with(&exploration, 1);
    assert!(whole.complete && !whole.findings.is_empty());
    assert_eq!(explore_with(&exploration, 3), whole);
    let kept = |found: &Explored| exploration.to_checkpoint(found).unwrap();
    let (mut parts, mut found) = (0, exploration.begin());
    while !found.complete {
        let stop = AtomicBool::new(false);
        let one = NonZeroUsize::MIN;
        // Read from its text each time, as another process would.
        let begun = exploration.resume(&kept(&found)).unwrap();
        assert_eq!(begun, found);
        found = exploration.run(
            begun,
            one,
            || stop.load(Ordering::Relaxed),
            |_, _| stop.store(true, Ordering::Relaxed),
        );
        parts += 1;
    }
    assert_eq!(found, whole);
    assert!(parts >= 3, "it was stopped {parts} times");
}

#[test]
fn another_search_is_not_gone_on_with() {
    let search =
        |lock: &str, kind: &str, faults| Exploration::new(&tiny(lock), &[kind], faults, SEED).unwrap();
    let one = search("single", "pause", 1);
    let text = one.to_checkpoint(&one.begin()).unwrap();
    let refused = |other: &Exploration| other.resume(&text).unwrap_err().to_string();
    assert_eq!(
        refused(&search("single", "crash", 1)),
        "it is of another search: its kinds are pause, and crash was asked for"
    );
    assert!(
        refused(&search("single", "pause", 2)).contains("its number of faults is 1, and 2 was asked for")
    );
    assert!(refused(&search("setnx", "pause", 1)).contains("its scenario is another one"));
    let later = Exploration::new(&tiny("single"), &["pause"], 1, SEED + 1).unwrap();
    assert!(refused(&later).contains("its seed is 1, and 2 was asked for"));
    let format =
        text.split_once("{\"explore\":").and_then(|(_, rest)| rest.split_once(',')).expect("a number").0;
    let newer = text.replacen(format, "99", 1);
    let told = one.resume(&newer).unwrap_err().to_string();
    assert_eq!(told, format!("it is of another search: its format is 99, and {format} was asked for"));
    let damaged = text.replace("\"seen\":\"", "\"seen\":\"xyz");
    assert!(one.resume(&damaged).unwrap_err().to_string().contains("it was changed since it was written"));
    assert!(one.resume("{}").is_err() && one.resume(&text).is_ok());
}

#[test]
fn what_cannot_be_searched_is_refused_with_a_way_out() {
    let refused = |kinds: &[&str], faults| {
        Exploration::new(&tiny("single"), kinds, faults, SEED).err().expect("it is refused").to_string()
    };
    assert!(refused(&["pause"], 0).starts_with("0 faults cannot be placed\nhint: name a number from 1 to 5"));
    assert!(refused(&["pause"], 99).starts_with("99 faults cannot be placed\n"));
    assert!(refused(&[], 1).contains("no kind of fault is named"));
    assert_eq!(refused(&["puase"], 1), "there is no kind of fault `puase`\nhint: did you mean `pause`?");
    assert!(refused(&["puase", "carsh"], 1).starts_with("there is no kind of fault `puase`"), "the first");
    assert!(
        refused(&["loss"], 1).starts_with("faults of kind `loss` are not placed one by one\nhint: name some")
    );
    let idle = |kind: &str, needs: &str| {
        format!(
            "faults of kind `{kind}` strike at no step of this run\n\
             hint: leave it out, or use a world that has {needs}"
        )
    };
    assert_eq!(refused(&["promote"], 1), idle("promote", "replicas"));
    let mut alone = tiny("single");
    let limit = alone.limits.time;
    alone.clients.iter_mut().for_each(|client| client.start = Some(When::from(2 * limit)));
    let told = Exploration::new(&alone, &["cut"], 1, SEED).err().expect("nobody talks").to_string();
    assert_eq!(told, idle("cut", "clients that talk to a node"));
}

fn small(lock: &str) -> Scenario {
    let locks = doublehold_lockimpl::descriptors();
    let of = locks.iter().find(|it| it.name == lock).unwrap();
    small_world(of, CLIENTS, 1).scenario(lock, locks.clone()).unwrap()
}

#[test]
fn known_flaws_are_found_with_one_fault() {
    let cases = [
        (
            small("setnx-expire"),
            "crash",
            Predicate::LV,
            "c1 crashes and restarts at once, at c1's message from A",
        ),
        (small("get-then-delete"), "pause", Predicate::WR, "c1 pauses for 6 s, at c1's 2nd message from A"),
        (
            small("single"),
            "clock-step",
            Predicate::P2,
            "A has its wall clock stepped by +6 s, at A's message to c1",
        ),
        (
            catalog::load("lease-pause", &[]).unwrap(),
            "pause",
            Predicate::P3,
            "c1 pauses for 12 s, at c1's write",
        ),
    ];
    for (scenario, kind, predicate, example) in cases {
        let exploration = Exploration::new(&scenario, &[kind], 1, SEED).unwrap();
        let found = explore_with(&exploration, 2);
        let minimal = found.findings.get(&Target::Violates(predicate)).map(|it| it.minimal.values());
        let words =
            minimal.into_iter().flatten().flat_map(|it| in_words(&exploration.faults_of(&it.examples[0])));
        let words: Vec<String> = words.collect();
        assert!(words.iter().any(|it| it == example), "{}: {predicate} by {words:#?}", scenario.name);
    }
}

/// What is found is shown as a scenario of its own, and as a line to paste: both are the faults that were tried.
#[test]
fn an_example_is_a_scenario_that_shows_what_it_claims() {
    let scenario = tiny("get-then-delete");
    let exploration = Exploration::new(&scenario, &["pause", "cut", "packet-delay"], 2, SEED).unwrap();
    let mut found = exploration.begin();
    // A few sets of two will do.
    let stop = AtomicBool::new(false);
    let each = |places: &[Place], _: &TriedPlacement| stop.store(places.len() == 2, Ordering::Relaxed);
    found = exploration.run(found, NonZeroUsize::MIN, || stop.load(Ordering::Relaxed), each);
    assert!(!found.complete && found.tried[1] > 0);
    let mut sizes = BTreeMap::new();
    for (finding, violations) in &found.findings {
        let Target::Violates(predicate) = *finding else { panic!("nothing panics here") };
        for example in violations.minimal.values().map(|minimal| &minimal.examples[0]) {
            let faults = exploration.faults_of(example);
            assert_eq!(faults.len(), example.len());
            assert!(faults.iter().all(|fault| !fault.optional));
            let shown = exploration.scenario_of("shown", *finding, example);
            let checked = shown.validate().unwrap();
            assert_eq!((&checked, &shown.faults, shown.seed), (&shown, &faults, Some(exploration.seed())));
            let run = SimEngine.run(&shown, SEED);
            let is_so = run.verdicts.get(predicate).as_str() == "violated";
            assert_eq!(run.judgement() == Judgement::AsExpected, is_so, "{}", shown.story);
            assert_eq!(exploration.is_reproduced_on(&SimEngine, *finding, example).unwrap(), is_so);
            assert_eq!(exploration.why_undecided(predicate, example), None);
            assert_eq!(shown.claim.starts_with("One fault is enough"), faults.len() == 1, "{}", shown.claim);
            let mut words = in_words(&faults);
            words.retain(|words| !shown.story.contains(words));
            assert!(words.is_empty() && shown.story.ends_with('.'), "{words:?} in {}", shown.story);
            let set = exploration.as_set(example);
            assert!(!set.contains("each") && !set.contains("optional"), "no default is pasted: {set}");
            let pasted = [("faults".to_owned(), set)];
            let at_once = catalog::load("quiet", &pasted).unwrap();
            assert_eq!(at_once.faults, faults, "{pasted:?}");
            *sizes.entry(faults.len()).or_insert(0) += 1;
        }
    }
    assert!(sizes.contains_key(&1), "{sizes:?}");
    for (predicate, unsaid) in &found.unsaid {
        assert!(exploration.why_undecided(*predicate, &unsaid.example).is_some(), "{predicate}");
    }
    assert!(!found.unsaid.is_empty());
    assert_eq!(exploration.resume(&exploration.to_checkpoint(&found).unwrap()).unwrap(), found);
}

#[test]
fn a_search_is_drawn_if_anything_in_its_scenario_is() {
    type Change = fn(&mut Scenario);
    fn law() -> DelayLaw {
        DelayLaw::Uniform { min: Duration::from_millis(1), max: Duration::from_millis(2) }
    }
    fn watched() -> SentinelsSetup {
        catalog::load("sentinel-stop", &[]).unwrap().sentinels.unwrap()
    }
    let changes: [Change; 8] = [
        |it| it.link.delay = law(),
        |it| it.link.loss = Probability::HALF,
        |it| it.links = vec![(HostIndex(0), HostIndex(2), LinkSetup { delay: law(), ..it.link.clone() })],
        |it| it.nodes.fsync_time = law(),
        |it| it.nodes.command_time.others = law(),
        |it| it.clients[1].retry = law(),
        |it| it.clients[1].program.insert(1, Step::Work(law())),
        |it| it.sentinels = Some(watched()),
    ];
    let is_drawn = |change: Change| {
        let mut scenario = tiny("single");
        scenario
            .clients
            .iter_mut()
            .for_each(|client| client.retry = DelayLaw::Fixed(Duration::from_millis(9)));
        change(&mut scenario);
        Exploration::new(&scenario, &["pause"], 1, SEED).unwrap().is_drawn()
    };
    assert!(!is_drawn(|_| ()));
    assert_eq!(changes.map(is_drawn), [true; 8]);
}

/// Of what a scenario says the faults, the weather and the expectations are left out, and waits count from the last
/// fault; and there are as many placements as choices of some of the faults of one.
#[test]
fn a_search_begins_with_the_bare_scenario_and_knows_how_many_placements_there_are() {
    let mut scenario = tiny("single");
    scenario.faults.push(Fault::pause("c1").lasting(Duration::from_secs(1)));
    scenario.weather = Some(preset("hostile").unwrap().weather);
    let with = |faults| Exploration::new(&scenario, &["pause"], faults, SEED).unwrap();
    let mut bare = tiny("single");
    assert!(!bare.limits.after_faults);
    bare.limits.after_faults = true;
    assert_eq!(*with(1).scenario(), bare);
    let one = with(1).estimate();
    assert_eq!(one, 2 * with(1).steps().len() as u128);
    // Pascal's triangle: what there is without the last of them, and what there is with it.
    let mut choices = [1, 0, 0, 0, 0];
    for _ in 0..one {
        (1..=4).rev().for_each(|size| choices[size] += choices[size - 1]);
    }
    let sums = [1, 2, 3, 4].map(|most| choices[1..=most].iter().sum::<u128>());
    assert_eq!([1, 2, 3, 4].map(|faults| with(faults).estimate()), sums);
}

/// Then no fault is part of what is enough.
#[test]
fn what_breaks_without_a_fault_is_found_before_the_first_is_placed() {
    let world = World::new("careless").nodes(["A"]).clients(2, ["acquire", "work 5s", "write", "release"]);
    let world = world.ttl(Duration::from_secs(4));
    let scenario = world.scenario("single", doublehold_lockimpl::descriptors()).unwrap();
    let exploration = Exploration::new(&scenario, &["pause"], 1, SEED).unwrap();
    let overlap = Target::Violates(Predicate::P1);
    let begun = exploration.begin();
    assert_eq!((begun.findings[&overlap].runs, begun.distinct_traces()), (1, 1));
    let found = explore_with(&exploration, 2);
    let minimal: Vec<_> = found.findings[&overlap].minimal.values().collect();
    assert!(found.findings[&overlap].runs > 1, "with faults it breaks as well");
    assert_eq!((minimal.len(), minimal[0].count, &minimal[0].examples[..]), (1, 1, &[vec![]][..]));
    let shown = exploration.scenario_of("careless", overlap, &[]);
    assert_eq!(
        (shown.claim.as_str(), shown.story.as_str()),
        ("The lock `single` breaks P1 without any fault", "")
    );
}

#[test]
fn no_single_pause_makes_redlock_break_p2() {
    let exploration = Exploration::new(&small("redlock"), &["pause"], 1, SEED).unwrap();
    assert!(!exploration.is_drawn());
    let found = explore_with(&exploration, 2);
    assert_eq!(u128::from(found.placements()), exploration.estimate());
    assert!(found.runs_with(Target::Violates(Predicate::P1)) > 0);
    assert_eq!(found.runs_with(Target::Violates(Predicate::P2)), 0);
}

#[test]
fn a_panic_in_one_thread_ends_the_others_at_their_next_batch() {
    let exploration = Exploration::new(&tiny("single"), &["pause", "crash"], 2, SEED).unwrap();
    let asked = AtomicU64::new(0);
    // There are hundreds of batches; a search that goes on after the panic is ended after sixteen.
    let stop = || match asked.fetch_add(1, Ordering::Relaxed) {
        1 => panic!("planted"),
        before => before >= 16,
    };
    let two = NonZeroUsize::new(2).unwrap();
    let search = || exploration.run(exploration.begin(), two, stop, |_, _| ());
    let panic = catch_unwind(AssertUnwindSafe(search)).expect_err("it is handed on");
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"planted"), "not the panic itself");
    let asked = asked.into_inner();
    assert!(asked < 8, "{asked} batches were begun");
}
