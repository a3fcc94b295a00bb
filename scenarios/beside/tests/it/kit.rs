//! Small worlds as text, locks by their switches, and a comparison as a test makes it.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::time::Duration;

use doublehold_beside::{
    Beside, BesideComparison, BesideError, CountedPairs, LockSide, PairBudget, PairWorlds, Survey, Weathers,
};
use doublehold_history::Predicate;
use doublehold_lockimpl::Switches;
use doublehold_scenarios::format::Source;
use doublehold_scenarios::weather::preset;
use doublehold_scenarios::{LeanEngine, Scenario, Seed};

/// Two clients of one node that take one turn each; a pause of 2 s strikes in most runs, at any time.
pub(crate) const TWO_TURNS: &str = r#"
claim = "two turns"
lock = { algorithm = "single", ttl = "1s" }
nodes = { names = ["A"] }
network = { delay = "1ms" }
[[clients]]
name = "c1"
program = ["acquire", "read", "work 400ms", "check", "write", "release"]
retry = "50ms"
[[clients]]
name = "c2"
program = ["acquire", "read", "work 400ms", "check", "write", "release"]
retry = "50ms"
[weather]
for = "1s"
swarm = false
at_steps = "0/1"
[[weather.faults]]
kind = "pause"
host = "clients"
every = "700ms"
for = "2s"
source = "a test"
"#;

/// A lock by its name and its switches, in words: `single release=plain-delete`.
pub(crate) fn side(words: &str) -> LockSide<LeanEngine> {
    let mut typed = words.split_whitespace();
    let lock = typed.next().expect("a lock").to_owned();
    let mut switches = Switches::new();
    for word in typed {
        match word.split_once('=').expect("a switch and its value") {
            (switch, "true") => switches.set(switch, true),
            (switch, "false") => switches.set(switch, false),
            (switch, value) => switches.set(switch, value),
        }
    }
    LockSide { engine: LeanEngine, lock, switches, title: words.to_owned() }
}

/// A scenario, as its file says it.
#[track_caller]
pub(crate) fn scenario(text: &str) -> Scenario {
    let (name, file) = ("a test".to_owned(), "a test".to_owned());
    Source { name, file, text: text.to_owned(), ..Source::default() }.read().expect("it is a scenario")
}

/// Two locks in one world under its own weather, or some of `cloud` where it has none.
pub(crate) fn in_world(
    mine: &str,
    theirs: &str,
    world: &str,
) -> Result<Beside<LeanEngine, LeanEngine>, BesideError> {
    let scenario = scenario(world);
    let cloud = || Weathers::Drawn(preset("cloud").expect("it is there").weather);
    let weathers = scenario.weather.clone().map_or_else(cloud, Weathers::Fixed);
    Beside::new(side(mine), side(theirs), &PairWorlds::One(Box::new(scenario)), &weathers)
}

/// A budget of so many pairs, from seed 1 on.
pub(crate) fn budget(pairs: u64, jobs: usize) -> PairBudget {
    let jobs = NonZeroUsize::new(jobs).expect("some");
    PairBudget { jobs, patience: Duration::from_secs(60), pairs: Some(pairs), first: Seed(1) }
}

/// The survey, and so many pairs.
#[track_caller]
pub(crate) fn count(beside: &Beside<LeanEngine, LeanEngine>, budget: &PairBudget) -> (Survey, CountedPairs) {
    let survey = beside.survey(budget).expect("all come back");
    let counted = beside.count(&survey, budget, |_| ControlFlow::Continue(())).expect("all come back");
    (survey, counted)
}

/// The comparison of all predicates, without an example.
pub(crate) fn compare((survey, counted): &(Survey, CountedPairs)) -> BesideComparison {
    BesideComparison::new(survey, counted, &Predicate::ALL, &[])
}
