//! Surveys that are kept: read as they were written, and never taken by another lock.

use doublehold_beside::{Beside, LockSide, PairWorlds, Survey, Weathers};
use doublehold_lockimpl::{Descriptor, Switches};
use doublehold_scenarios::build::World;
use doublehold_scenarios::weather::preset;
use doublehold_scenarios::{Engine, LeanEngine, PrepareError, PreparedSim, Scenario};

use crate::kit::{TWO_TURNS, budget, in_world, side};

fn in_family(mine: &str, theirs: &str, weather: &str) -> Beside<LeanEngine, LeanEngine> {
    let weather = Weathers::Drawn(preset(weather).expect("it is there").weather);
    let beside = Beside::new(side(mine), side(theirs), &PairWorlds::Family(World::family()), &weather);
    beside.expect("they go together")
}

fn key(beside: &Beside<LeanEngine, LeanEngine>) -> String {
    beside.survey_key(&budget(1, 2)).expect("it can be run")
}

#[test]
fn a_survey_is_read_as_it_was_written() {
    let beside = in_family("single elapsed_check=true", "single", "cloud");
    let survey = beside.survey(&budget(1, 2)).expect("all come back");
    let key = key(&beside);
    let text = survey.to_json(&key).expect("JSON");
    let read = |text: &str, key: &str, conditions| Survey::from_json(text, key, conditions);
    let again = read(&text, &key, 160).expect("it is what was written");
    assert_eq!((survey.runs > 1_000, again.runs), (true, 0), "it is known, and took no runs");
    assert_eq!(again.to_json(&key).expect("JSON"), text);
    assert_eq!(read(&text, "0123456789abcdef", 160), None, "it has another key");
    assert_eq!(read(&text, &key, 100), None, "there are fewer conditions than it knows");
    assert_eq!(read(&text[..text.len() / 2], &key, 160), None, "it was cut off");
    assert_eq!(
        read(&text.replace("\"survey\":1", "\"survey\":2"), &key, 160),
        None,
        "it is of a later version"
    );
}

#[test]
fn a_survey_is_of_a_reference_and_not_of_the_lock_beside_it() {
    let one = in_family("single elapsed_check=true", "single", "cloud");
    let other = in_family("single release=plain-delete", "single", "cloud");
    assert_eq!(key(&one), key(&other));
    let survey =
        |beside: &Beside<LeanEngine, LeanEngine>| beside.survey(&budget(1, 2)).expect("all come back");
    assert_eq!(survey(&one), survey(&other), "so that both may take it");
}

#[test]
fn another_reference_weather_or_world_has_another_survey() {
    let world = |text: &str| in_world("single elapsed_check=true", "single", text).expect("they go together");
    let keys = [
        key(&in_family("single elapsed_check=true", "single", "cloud")),
        key(&in_family("single elapsed_check=true", "single", "hostile")),
        key(&in_family("single elapsed_check=true", "single release=plain-delete", "cloud")),
        key(&in_family("single elapsed_check=true", "bsm-redislock", "cloud")),
        key(&world(TWO_TURNS)),
        key(&world(&TWO_TURNS.replace("work 400ms", "work 401ms"))),
        key(&world(&TWO_TURNS.replace("700ms", "701ms"))),
    ];
    let others: std::collections::BTreeSet<&String> = keys.iter().collect();
    assert_eq!(others.len(), keys.len(), "{keys:?}");
}

/// Runs `single` as if its release had changed, under its old name.
#[derive(Debug)]
struct Changed;

impl Engine for Changed {
    type Prepared = PreparedSim;

    fn name(&self) -> &'static str {
        LeanEngine.name()
    }

    fn locks(&self) -> Vec<Descriptor> {
        LeanEngine.locks()
    }

    fn prepare(&self, scenario: &Scenario) -> Result<PreparedSim, PrepareError> {
        let mut scenario = scenario.clone();
        scenario.lock.switches = Switches::new().with("release", "plain-delete");
        LeanEngine.prepare(&scenario)
    }
}

#[test]
fn a_changed_lock_of_the_same_name_has_another_survey() {
    let scenario = || PairWorlds::One(Box::new(crate::kit::scenario(TWO_TURNS)));
    let weather = Weathers::Drawn(preset("cloud").expect("it is there").weather);
    let theirs = side("single");
    let changed =
        LockSide { engine: Changed, lock: theirs.lock.clone(), switches: Switches::new(), title: "x".into() };
    let before = Beside::new(side("single elapsed_check=true"), theirs, &scenario(), &weather);
    let after = Beside::new(side("single elapsed_check=true"), changed, &scenario(), &weather);
    let budget = budget(1, 2);
    let before = before.expect("they go together").survey_key(&budget).expect("it can be run");
    let after = after.expect("they go together").survey_key(&budget).expect("it can be run");
    assert_ne!(before, after);
}
