//! Pairs of locks that cannot be compared: each refusal names the thing, the cause and the way out.

use doublehold_beside::{Beside, BesideError, LockSide, PairWorlds, Weathers};
use doublehold_history::Predicate;
use doublehold_lockimpl::{Descriptor, Switches};
use doublehold_scenarios::build::World;
use doublehold_scenarios::weather::preset;
use doublehold_scenarios::{Engine, LeanEngine, PrepareError, PreparedSim, Scenario};

use crate::kit::{TWO_TURNS, budget, in_world, scenario, side};

type Both = Beside<LeanEngine, LeanEngine>;

fn in_family(mine: &str, theirs: &str, family: World) -> Result<Both, BesideError> {
    let cloud = Weathers::Drawn(preset("cloud").expect("it is there").weather);
    Beside::new(side(mine), side(theirs), &PairWorlds::Family(family), &cloud)
}

#[track_caller]
fn refusal(result: Result<Both, BesideError>) -> String {
    result.err().expect("it is refused").to_string()
}

#[test]
fn a_reference_on_other_nodes_is_refused_in_a_family_and_in_a_world() {
    let said = "`single` runs on one node and `redlock` on independent nodes: no world fits both\n\
                hint: name a reference that runs on the same nodes";
    assert_eq!(refusal(in_family("single", "redlock", World::family())), said);
    assert_eq!(refusal(in_world("single", "redlock", TWO_TURNS)), said);
    let said = refusal(in_family("single", "replicated", World::family()));
    assert!(said.contains("and `replicated` on a master and its replicas"), "{said}");
}

#[test]
fn a_lock_that_there_is_not_is_refused() {
    let said = refusal(in_family("single", "singel", World::family()));
    assert_eq!(said, "there is no lock `singel`: `doublehold locks` lists those there are");
}

#[test]
fn a_program_that_extends_takes_two_locks_that_can() {
    let extends = TWO_TURNS.replace("\"check\"", "\"extend\", \"check\"");
    assert!(in_world("single", "single elapsed_check=true", &extends).is_ok());
    let said = refusal(in_world("single", "setnx", &extends));
    assert_eq!(
        said,
        "the program has the step `extend`, and `setnx` cannot extend its lease\n\
         hint: leave the step out, or name a lock that can"
    );
    // In a family the step is not drawn.
    assert!(in_family("single", "setnx", World::family()).is_ok());
}

#[test]
fn a_reference_that_breaks_in_calm_weather_is_refused() {
    let beside = in_family("single", "set-ex", World::family()).expect("they run on the same nodes");
    let said = beside.refuse_broken_in_calm(&Predicate::ALL).expect_err("whoever asks gets it").to_string();
    assert_eq!(
        said,
        "the reference `set-ex` breaks P1 even without faults, in `world 0 of the family`: nothing can be held against \
         it\nhint: name a reference that keeps P1, or leave P1 out of what is asked"
    );
    assert!(beside.refuse_broken_in_calm(&[Predicate::WR]).is_ok(), "nobody asks about P1");
    let right = in_family("set-ex", "single", World::family()).expect("they run on the same nodes");
    assert!(right.refuse_broken_in_calm(&Predicate::ALL).is_ok(), "the first lock may");
}

#[test]
fn a_family_of_which_nothing_is_left_says_why() {
    let broken = World::family().with(|scenario| scenario.lock.ttl = std::time::Duration::ZERO);
    let said = refusal(in_family("single", "single elapsed_check=true", broken));
    assert!(said.starts_with("no world is left in which both locks can run: "), "{said}");
    assert!(said.contains("lock.ttl"), "{said}");
}

/// This one sends its lease in whole seconds.
#[test]
fn worlds_whose_lease_the_reference_refuses_are_left_out_and_counted() {
    let beside = in_family("python-redis-lock", "python-redis-lock expiry=px", World::family());
    let beside = beside.expect("they go together in the other worlds");
    let left_out = beside.left_out().expect("some leases are 400 ms").to_string();
    let worlds = 160 - beside.conditions().len();
    assert!(worlds > 10, "{worlds}");
    assert!(left_out.starts_with(&format!("{worlds} of 160 worlds are left out: cannot use")), "{left_out}");
    assert!(left_out.ends_with("counts whole seconds, and the ttl is 400ms"), "{left_out}");
}

/// Runs one client alone and nothing else, as a lock may that takes nobody beside it.
#[derive(Debug)]
struct Alone;

impl Engine for Alone {
    type Prepared = PreparedSim;

    fn name(&self) -> &'static str {
        LeanEngine.name()
    }

    fn locks(&self) -> Vec<Descriptor> {
        LeanEngine.locks()
    }

    fn prepare(&self, scenario: &Scenario) -> Result<PreparedSim, PrepareError> {
        match scenario.clients.len() {
            1 => LeanEngine.prepare(scenario),
            _ => Err(PrepareError::NoSuchLock("single".to_owned())),
        }
    }
}

/// Without a pair there would be nothing to compare, and no word of it.
#[test]
fn a_world_that_cannot_be_run_is_no_comparison_of_no_pairs() {
    let alone =
        LockSide { engine: Alone, lock: "single".into(), switches: Switches::new(), title: "alone".into() };
    let calm = Weathers::Fixed(preset("calm").expect("it is there").weather);
    let world = PairWorlds::One(Box::new(scenario(TWO_TURNS)));
    let beside =
        Beside::new(alone, side("single elapsed_check=true"), &world, &calm).expect("they go together");
    let said = beside.survey(&budget(10, 2)).expect_err("nothing runs").to_string();
    let why = PrepareError::NoSuchLock("single".to_owned());
    assert_eq!(said, format!("no world is left in which both locks can run: {why}"));
}
