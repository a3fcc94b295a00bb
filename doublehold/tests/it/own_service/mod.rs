//! Somebody's own lock on a service other than Redis: what is right holds, what is wrong is found, what its client
//! hears is told, and what cannot be is refused.

mod careless;
mod locks;
mod refusals;

use std::time::Duration;

use doublehold::check::{Fault, FencingCheck, Predicate, Report, Way, World, check};
use doublehold::property::{Property, Worlds};
use doublehold::services::{DatabaseRules, ServiceKind, ServiceSetup, ZooKeeperRules};
use doublehold_history::EventKind;
use doublehold_scenarios::{Engine, OwnLocks, Prepared, PreparedSim, builtin_locks};

/// The predicates of exclusion.
const EXCLUSION: [Predicate; 4] = [Predicate::P1, Predicate::P2, Predicate::P3, Predicate::P4];
const TURN: [&str; 5] = ["acquire", "read", "work 10ms..50ms", "write", "release"];

fn prepared(world: &World, service: ServiceKind) -> PreparedSim {
    let locks = builtin_locks().with(locks::on(service, true));
    let scenario = world.scenario("mine", locks.descriptors()).expect("it can be described");
    OwnLocks(locks).prepare(&scenario).expect("it can be run")
}

#[test]
fn ten_clients_take_turns_with_a_right_lock_on_each_service() {
    for service in ServiceKind::ALL {
        let world = World::new("ten").service(service).clients(10, TURN).rounds(3);
        let checked = check(&world, locks::on(service, true)).seeds(1..=10).no_files().run();
        checked.expect("it can be run").assert_holds(&EXCLUSION);
        assert_eq!(prepared(&world, service).judge(1).grants.count, 30, "{service:?}");
    }
}

#[test]
fn a_lock_that_takes_any_answer_for_a_yes_is_found_out_on_each_service() {
    for service in ServiceKind::ALL {
        let world = World::new("two").service(service).clients(2, TURN).rounds(3);
        let checked = check(&world, locks::on(service, false)).seeds(1..=10).no_files().run();
        let checked = checked.expect("it can be run");
        assert!(checked.count(Predicate::P1).violated == 10, "{service:?}: {checked}");
        assert!(checked.count(Predicate::P4).violated > 0, "{service:?}: {checked}");
    }
}

#[test]
fn one_seed_is_one_run_in_any_weather_of_any_service() {
    for service in ServiceKind::ALL {
        let world = World::new("twice").service(service).clients(3, TURN).rounds(3).weather("cloud");
        let (one, other) = (prepared(&world, service), prepared(&world, service));
        for seed in 1..=20 {
            assert_eq!(one.judge(seed).trace_hash, other.judge(seed).trace_hash, "{service:?} {seed}");
        }
        assert_ne!(one.judge(1).trace_hash, one.judge(2).trace_hash, "{service:?}");
    }
}

/// A holder that works for 40 s, with a fault that strikes for 25 s, and another client that waits.
fn struck(service: impl Into<ServiceSetup>, fault: Fault) -> (Report, Vec<String>) {
    let setup = service.into();
    let world = World::new("struck")
        .service(setup)
        .client("c1", ["acquire", "read", "work 40s", "write", "release"])
        .client("c2", ["work 1s", "acquire", "read", "work 4s", "write", "release"])
        .fault(fault.at(Duration::from_secs(3)).lasting(Duration::from_secs(25)));
    let report = prepared(&world, setup.kind()).run(1);
    let heard = report.history.events().iter().filter_map(|event| match &event.what {
        EventKind::LossNotice { notice, .. } => Some(notice.clone()),
        _ => None,
    });
    let heard = heard.collect();
    (report, heard)
}

#[test]
fn what_a_client_hears_of_a_loss_is_told_as_of_the_locks_of_libraries() {
    let cut = |service: ServiceKind| struck(service, Fault::cut(Way::between("c1", service.as_str()))).1;
    assert_eq!(cut(ServiceKind::ZooKeeper), ["SUSPENDED", "LOST"]);
    assert_eq!(cut(ServiceKind::Etcd), ["Done"]);
    assert_eq!(cut(ServiceKind::Database), [""; 0], "a cut ends no session of its own");

    let idle = DatabaseRules { idle_in_transaction: Some(Duration::from_secs(5)), ..Default::default() };
    let (report, heard) = struck(idle, Fault::pause("c1"));
    assert_eq!(heard, ["session over"]);
    let holds = |predicate| report.verdicts.get(predicate).as_str() == "holds";
    assert!(holds(Predicate::P4) && !holds(Predicate::P1), "{:?}", report.verdicts);
}

#[test]
fn a_guard_that_tells_of_a_loss_stops_its_holder() {
    // Suspended with its clocks, the holder hears all of it at once, and writes nothing.
    for service in [ServiceKind::ZooKeeper, ServiceKind::Etcd] {
        let (report, _) = struck(service, Fault::suspend("c1"));
        let wrote =
            |event: &&EventKind| matches!(event, EventKind::WriteSent { client, .. } if client.0 == 0);
        let writes = report.history.events().iter().map(|event| &event.what).filter(wrote).count();
        assert_eq!(writes, 0, "{service:?}");
    }
}

#[test]
fn a_service_that_starts_again_keeps_what_its_rules_say() {
    for service in ServiceKind::ALL {
        let world = World::new("restart")
            .service(service)
            .clients(3, ["acquire", "read", "work 4s", "write", "release"])
            .rounds(2)
            .fault(
                Fault::crash(service.as_str()).at(Duration::from_secs(2)).lasting(Duration::from_millis(500)),
            );
        let checked = check(&world, locks::on(service, true)).seeds(1..=20).no_files().run();
        let checked = checked.expect("it can be run");
        checked.assert_holds(&[Predicate::P4]);
        let kept = service != ServiceKind::Database;
        assert_eq!(checked.count(Predicate::P1).violated == 0, kept, "{service:?}: {checked}");
    }
}

#[test]
fn a_fencing_number_of_the_service_keeps_late_writes_out() {
    let world = |service, fencing| {
        let world = World::new("late")
            .service(service)
            .clients(3, ["acquire", "read", "work 1s", "write", "release"]);
        world.rounds(3).weather("pauses-only").with(move |scenario| {
            scenario.resource.rules.fencing = fencing;
            scenario.resource.rules.fence_reads = fencing != FencingCheck::Off;
        })
    };
    for service in [ServiceKind::ZooKeeper, ServiceKind::Etcd] {
        let violated = |fencing| {
            let prepared = prepared(&world(service, fencing), service);
            let word = |seed| prepared.judge(seed).verdicts.get(Predicate::P4).as_str();
            (1..=200).filter(|seed| word(*seed) == "violated").count()
        };
        assert_eq!(violated(FencingCheck::RejectLower), 0, "{service:?}");
        assert!(violated(FencingCheck::Off) > 0, "{service:?}");
    }
}

#[test]
fn beside_a_lock_of_ours_only_the_wrong_one_is_worse() {
    let beside = |service, right, pairs| {
        let world = World::family().service(service);
        let check = check(&world, locks::on(service, right)).looking_for(&[Predicate::P1]);
        check.beside_ours().pairs(pairs).no_files().run().expect("both run in the same worlds")
    };
    for service in ServiceKind::ALL {
        let right = beside(service, true, 20);
        assert_eq!(right.worse(), [], "{service:?}: {right}");
    }
    let wrong = beside(ServiceKind::Etcd, false, 40);
    assert_eq!(wrong.worse(), [Predicate::P1], "{wrong}");
}

#[test]
fn a_property_draws_worlds_of_a_service() {
    for service in ServiceKind::ALL {
        let worlds = Worlds::new(&locks::on(service, true)).scenarios().expect("some can be described");
        let property =
            Property::new("exclusion", locks::on(service, true)).holds(&EXCLUSION).no_regressions();
        let tried = property.cases(40).run(worlds).expect("they can be run");
        assert!(tried.broken.is_none(), "{service:?}: {tried}");
    }
}

#[test]
fn a_service_has_its_settings_and_a_name() {
    let rules = ZooKeeperRules { tick: Duration::from_millis(500), ..ZooKeeperRules::default() };
    let world = World::new("small ticks").nodes(["zk"]).service(rules).clients(2, TURN);
    let world = world.ttl(Duration::from_secs(1));
    let checked = check(&world, locks::on(ServiceKind::ZooKeeper, true)).seeds(1..=5).no_files().run();
    checked.expect("a tick of 0.5 s allows for sessions of 1 s").assert_holds(&EXCLUSION);
}
