//! Things that could be taken away, from runs of the catalogue with one fact changed: a time, a host, a lease.

use std::sync::Arc;
use std::time::Duration;

use doublehold_scenarios::model::fault::{Fault, Way};
use doublehold_scenarios::report::KeySpan;
use doublehold_scenarios::{Engine, LeanEngine};
use doublehold_scenarios::{Seed, catalog};

use super::*;

fn run(name: &str) -> (Report, Violation) {
    let report = LeanEngine.run(&catalog::load(name, &[]).expect("in the catalogue"), Seed(1));
    let told = Violation::find_first(&report).expect("it violates");
    (report, told)
}

fn strikes(report: &mut Report, fault: Fault, at: TrueNs, hosts: &[usize]) {
    Arc::make_mut(&mut report.scenario).faults.push(fault.clone());
    let hosts = hosts.iter().copied().map(HostIndex).collect();
    report.faults.push(FaultReport { fault, hosts, from: Some(at), until: None });
}

/// It is known by whom Sentinels name to clients, and began when the first of them did.
#[test]
fn a_promotion_by_sentinels_is_tried_if_clients_were_told_of_it_before() {
    let (mut report, told) = run("sentinel-wait");
    let promotions = |report: &Report| -> Vec<(HostIndex, TrueNs)> {
        let of =
            |it: Candidate| if let What::Promotion(host) = it.what { Some((host, it.began)) } else { None };
        all(report, &told).into_iter().filter_map(of).collect()
    };
    let b = report.scenario.cast().host("B").expect("a node");
    let first = report.announcements.iter().find(|it| it.kind == "+switch-master").expect("they do").at;
    assert_eq!(promotions(&report), [(b, first)]);
    report.announcements.iter_mut().for_each(|it| it.at = TrueNs(told.moment().0 + 1));
    assert_eq!(promotions(&report), []);
}

/// Those that struck last are left, and in their order, whatever that of the scenario is.
#[test]
fn faults_are_tried_in_the_order_in_which_they_struck() {
    let (mut report, told) = run("clock-jump");
    Arc::make_mut(&mut report.scenario).faults.clear();
    let ms = |ms: u64| Duration::from_millis(ms);
    // 53 is prime: fifty different milliseconds, in no order.
    for at in (1..=50).map(|number| number * 17 % 53) {
        let pause = Fault::pause("c1").at(ms(at)).lasting(ms(1));
        strikes(&mut report, pause, TrueNs(1_000_000 * at), &[0]);
    }
    let never = Fault::pause("c2").at(ms(1));
    strikes(&mut report, never, TrueNs(told.moment().0 + 1), &[0]);
    let tried = all(&report, &told);
    let began: Vec<u64> = tried
        .iter()
        .filter(|it| matches!(it.what, What::Fault(_)))
        .map(|it| it.began.0 / 1_000_000)
        .collect();
    let mut expected: Vec<u64> = (1..=50).map(|number| number * 17 % 53).collect();
    expected.sort_unstable();
    assert_eq!(began, expected[10..]);
}

/// A pause, a death and a cut pass; a step of a clock, a new master and a lost disk stay.
#[test]
fn what_was_over_before_the_lock_was_asked_for_is_not_near_unless_it_left_something() {
    let near = Near { hosts: [1, 2].map(HostIndex).into(), asked: TrueNs(100) };
    let passing =
        [Fault::pause("x"), Fault::crash("x"), Fault::power_loss("x"), Fault::cut(Way::between("x", "y"))];
    let staying =
        [Fault::clock_step("x", 5), Fault::promote("x"), Fault::packet_delay("x", "y", Duration::MAX)];
    let all = passing.into_iter().map(|it| (it, true)).chain(staying.into_iter().map(|it| (it, false)));
    for (fault, passes) in all {
        for (hosts, is_there) in [(&[1][..], true), (&[0, 2], true), (&[0, 3], false), (&[], false)] {
            for (until, is_over) in [(Some(99), true), (Some(100), false), (Some(500), false), (None, false)]
            {
                let hosts = hosts.iter().copied().map(HostIndex).collect();
                let until = until.map(TrueNs);
                let strike = FaultReport { fault: fault.clone(), hosts, from: Some(TrueNs(50)), until };
                assert_eq!(near.concerns(&strike), is_there && !(passes && is_over), "{strike:?}");
            }
        }
    }
}

#[test]
fn a_failover_is_of_roles_and_of_deaths_of_nodes_before_the_last_promotion() {
    let (mut report, told) = run("failover-before-replication");
    let whole = |report: &Report| all(report, &told).into_iter().find(Candidate::is_whole);
    let deeds = |report: &Report| -> Option<Vec<String>> {
        let faults = whole(report)?.faults().to_vec();
        Some(faults.iter().map(|place| report.scenario.faults[*place].did()).collect())
    };
    let parts = deeds(&report).expect("a master died, and a replica was promoted");
    assert_eq!(parts, ["M crashed", "R1 was promoted to master"]);
    // Before both: neither a client's death nor a stop of a node is part of it.
    for fault in [Fault::crash("c2"), Fault::pause("M").lasting(Duration::from_millis(1))] {
        strikes(&mut report, fault, TrueNs(1), &[0]);
    }
    assert_eq!(deeds(&report), Some(parts));
    let is_promotion = |fault: &Fault| matches!(fault.effect, Effect::Promote { .. });
    Arc::make_mut(&mut report.scenario).faults.retain(|fault| !is_promotion(fault));
    assert_eq!(deeds(&report), None);
}

/// The lease of a holder is made to end at each of the instants that its words depend on.
#[test]
fn an_overrun_is_told_by_when_the_lease_was_over() {
    let (mut report, mut told) = run("lease-pause");
    (told.second, told.to) = (None, TrueNs(u64::MAX));
    let (client, grant) = told.grants[0];
    let claim = claims(&report.history).into_iter().find(|it| it.grant == grant).expect("it was granted");
    report.keys.retain(|key| key.grant != grant);
    let overran = |report: &mut Report, over: u64| {
        let ttl = Duration::from_nanos(over - claim.span.from.0);
        let scenario = Arc::make_mut(&mut report.scenario);
        scenario.lock.ttl = ttl;
        scenario.clients.iter_mut().for_each(|client| client.ttl = None);
        let candidate = overrun(report, &told, client, grant).expect("it is over in time");
        assert_eq!(candidate.began, TrueNs(over));
        let What::Overrun(_, overran) = candidate.what else { panic!("{candidate:?}") };
        overran
    };
    let (from, to) = (claim.span.from.0, claim.span.to.0);
    let stops = std::mem::take(&mut report.faults);
    assert_eq!(overran(&mut report, from + 1), Overran::Worked, "without its pause");
    report.faults = stops;
    let mut with = |over: u64| overran(&mut report, over);
    assert_eq!(with(from + 1), Overran::Held, "it was paused");
    assert_eq!(with(to - 1), Overran::Held);
    assert_eq!(with(to), Overran::Sent);
    // The key's end on its node, if that was sooner and the lease's.
    let over = TrueNs(to);
    let key = |until: u64, how: KeyEnd| KeySpan {
        node: HostIndex(0),
        lock: claim.lock,
        grant,
        client: HostIndex(0),
        origin: KeyOrigin::Executed,
        is_token: true,
        from: claim.span.from,
        until: Some((TrueNs(until), how)),
    };
    for (until, how, began) in [
        (to - 9, KeyEnd::Expired, TrueNs(to - 9)),
        (to - 9, KeyEnd::Deleted, over),
        (to + 9, KeyEnd::Expired, over),
    ] {
        report.keys = vec![key(until, how)];
        assert_eq!(overrun(&report, &told, client, grant).map(|it| it.began), Some(began));
    }
    // It begins when a command set the key for the grant, the last time before that.
    let set =
        |from: u64, origin: KeyOrigin| KeySpan { origin, from: TrueNs(from), ..key(to, KeyEnd::Deleted) };
    for (keys, began) in [
        (vec![set(from - 20, KeyOrigin::Executed)], to - 20),
        (vec![set(from - 20, KeyOrigin::Executed), set(from - 9, KeyOrigin::Replicated)], to - 20),
        (vec![set(from - 20, KeyOrigin::Executed), set(from - 9, KeyOrigin::Executed)], to - 9),
        (vec![set(from - 20, KeyOrigin::Executed), set(from, KeyOrigin::Executed)], to),
        (vec![set(from - 20, KeyOrigin::Executed), set(from + 1, KeyOrigin::Executed)], to - 20),
    ] {
        report.keys = keys;
        assert_eq!(overrun(&report, &told, client, grant).map(|it| it.began), Some(TrueNs(began)));
    }
    report.keys.clear();
    told.to = TrueNs(to - 1);
    assert!(overrun(&report, &told, client, grant).is_none(), "it was over later");
    assert!(![0, 2].iter().any(|nth| outlasts(&report, &told, client, *nth)), "of a grant that there is not");
    assert!(!outlasts(&report, &told, client, 1), "it ends with its lease");
    Arc::make_mut(&mut report.scenario).lock.ttl -= Duration::from_nanos(1);
    assert!(outlasts(&report, &told, client, 1));
}
