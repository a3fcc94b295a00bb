//! Failovers from the first sign to the last.

use doublehold_sim::Fault;

use crate::world::{Announced, Setup, fault};

fn first<'a>(announced: &'a [Announced], kind: &str) -> Option<&'a Announced> {
    announced.iter().find(|it| it.kind == kind)
}

#[test]
fn a_stopped_master_is_replaced_and_follows_the_new_one_ten_seconds_after_it_is_back() {
    let stop = fault(20.0, vec![Fault::Pause { host: Setup::node(0) }], Some(15.0));
    let announced = Setup { faults: vec![stop], ..Setup::default() }.run().announced;
    let order = ["+sdown", "+odown", "+try-failover", "+elected-leader", "+promoted-slave", "+switch-master"];
    let at: Vec<f64> =
        order.iter().map(|kind| first(&announced, kind).expect("it was announced").at).collect();
    assert!(at.is_sorted(), "{at:?}");
    let converted = announced.iter().filter(|it| it.kind == "+convert-to-slave").collect::<Vec<_>>();
    let [converted] = converted[..] else { panic!("{converted:?}") };
    assert!((44.5..47.0).contains(&converted.at), "{converted:?}");
    assert!(converted.text.starts_with("slave N0:6379"), "{converted:?}");
}

/// The lines that a real leader (redis-sentinel 7.0.15) logged when its master was stopped and went on 15 s later.
const REAL_LEADER: [&str; 22] = [
    "+sdown master",
    "+odown master",
    "+new-epoch 1",
    "+try-failover master",
    "+vote-for-leader",
    "+elected-leader master",
    "+failover-state-select-slave master",
    "+selected-slave slave",
    "+failover-state-send-slaveof-noone slave",
    "+failover-state-wait-promotion slave",
    "+promoted-slave slave",
    "+failover-state-reconf-slaves master",
    "+slave-reconf-sent slave",
    "+slave-reconf-inprog slave",
    "+slave-reconf-done slave",
    "-odown master",
    "+failover-end master",
    "+switch-master mymaster",
    "+slave slave",
    "+slave slave",
    "+sdown slave",
    "-sdown slave",
];

#[test]
fn a_leader_announces_what_a_real_one_does_in_the_same_order() {
    let stop = fault(20.0, vec![Fault::Pause { host: Setup::node(0) }], Some(15.0));
    let announced = Setup { faults: vec![stop], ..Setup::default() }.run().announced;
    let leader = first(&announced, "+elected-leader").expect("one is elected").by.clone();
    let said: Vec<String> = announced
        .iter()
        .filter(|it| it.by == leader && it.at > 20.0 && it.kind != "+convert-to-slave")
        // It is published, and at the usual level it is in no log.
        .filter(|it| !it.kind.ends_with("role-change"))
        .map(|it| match (it.kind, it.text.split(' ').next().unwrap_or_default()) {
            // Its words begin with the candidate's id.
            ("+vote-for-leader", _) => it.kind.to_owned(),
            (kind, what) => format!("{kind} {what}"),
        })
        .collect();
    assert_eq!(said, REAL_LEADER);
}

#[test]
fn a_second_failover_has_an_epoch_of_its_own() {
    let dies = |index, at| fault(at, vec![Fault::Crash { host: Setup::node(index) }], None);
    let run = |faults| Setup { faults, seconds: 90, ..Setup::default() }.run();
    let once = run(vec![dies(0, 20.0)]);
    let switched = first(&once.announced, "+switch-master").expect("there is a new master");
    let second = if switched.text.ends_with("N1 6379") { 1 } else { 2 };
    let twice = run(vec![dies(0, 20.0), dies(second, 60.0)]);
    let tried = twice.announced.iter().filter(|it| it.kind == "+elected-leader").count();
    assert_eq!(tried, 2, "the second is elected as well");
    for sentinel in ["S0", "S1", "S2"] {
        let mut epochs: Vec<u64> =
            twice.answered.iter().filter(|it| it.by == sentinel).map(|it| it.config_epoch).collect();
        epochs.dedup();
        assert_eq!(epochs, [0, 1, 2], "{sentinel}");
    }
}

#[test]
fn without_a_quorum_nobody_fails_over() {
    let dead = fault(20.0, vec![Fault::Crash { host: Setup::node(0) }], None);
    let announced = Setup { faults: vec![dead], quorum: 4, ..Setup::default() }.run().announced;
    assert!(first(&announced, "+sdown").is_some() && first(&announced, "+odown").is_none());
    assert!(first(&announced, "+switch-master").is_none());
}

#[test]
fn without_a_majority_nobody_is_elected() {
    let setup = Setup { sentinels: 5, quorum: 1, ..Setup::default() };
    let dead = (2..5).map(|index| Fault::Crash { host: setup.sentinel(index) });
    let dead = dead.chain([Fault::Crash { host: Setup::node(0) }]).collect();
    let announced = Setup { faults: vec![fault(20.0, dead, None)], ..setup }.run().announced;
    assert!(first(&announced, "+try-failover").is_some());
    assert!(first(&announced, "-failover-abort-not-elected").is_some());
    assert!(first(&announced, "+elected-leader").is_none());
}

#[test]
fn sentinels_that_know_the_master_alone_find_its_replicas_and_each_other() {
    let announced = Setup { knows_others: false, seconds: 15, ..Setup::default() }.run().announced;
    let count = |kind: &str| announced.iter().filter(|it| it.kind == kind).count();
    assert_eq!((count("+slave"), count("+sentinel")), (6, 6));
}

#[test]
fn a_sentinel_whose_clock_jumps_does_nothing_for_thirty_seconds() {
    let setup = Setup::default();
    let jump = |index| Fault::StepClock { host: setup.sentinel(index), by_ns: 5_000_000_000 };
    let jumps = (0..3).map(jump).collect();
    let dead = fault(20.5, vec![Fault::Crash { host: Setup::node(0) }], None);
    let announced = Setup { faults: vec![fault(20.0, jumps, None), dead], ..setup }.run().announced;
    let tilts = announced.iter().filter(|it| it.kind == "+tilt").count();
    let down = first(&announced, "+sdown").expect("it is found down in the end");
    assert_eq!(tilts, 3);
    assert!((49.5..53.0).contains(&down.at), "{down:?}");
}
