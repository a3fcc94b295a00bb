//! A family draws every way to use a lock, and none that the lock lacks.

use std::collections::{BTreeMap, BTreeSet};

use doublehold_lockimpl::{Nodes, Switches};
use doublehold_scenarios::build::{Abilities, World};
use doublehold_scenarios::scenario::{Scenario, Step};

/// As many as a comparison draws.
const MEMBERS: u64 = 160;

fn members(lock: &str, can: Abilities) -> Vec<Scenario> {
    let locks = doublehold_lockimpl::descriptors();
    let descriptor = locks.iter().find(|it| it.name == lock).expect("a lock of ours").clone();
    let member = |number| {
        let numbers = Switches::new().with("fencing", true);
        let world = World::family().member(number, &descriptor, can);
        let world = if can.fences {
            world.with(move |scenario| scenario.lock.switches = numbers.clone())
        } else {
            world
        };
        world.scenario(lock, locks.clone()).unwrap_or_else(|error| panic!("{number}: {error}"))
    };
    (0..MEMBERS).map(member).collect()
}

fn can(extends: bool, fences: bool) -> Abilities {
    Abilities { extends, fences }
}

/// The programs of all clients, without how long their work takes: `acquire read work check write release`.
fn programs(members: &[Scenario]) -> BTreeMap<String, usize> {
    let mut programs: BTreeMap<String, usize> = BTreeMap::new();
    for client in members.iter().flat_map(|scenario| &scenario.clients) {
        let words: Vec<&str> = client.program.iter().map(word).collect();
        *programs.entry(words.join(" ")).or_default() += 1;
    }
    programs
}

fn word(step: &Step) -> &'static str {
    match step {
        Step::Acquire(_) => "acquire",
        Step::Try(..) => "try",
        Step::Extend(_) => "extend",
        Step::Release(_) => "release",
        Step::Read(_) => "read",
        Step::Write(_) => "write",
        Step::Check(_) => "check",
        Step::Prepare(_) => "prepare",
        _ => "work",
    }
}

#[test]
fn every_way_to_use_a_lock_is_drawn() {
    let programs = programs(&members("single", can(true, true)));
    let expected = [
        "acquire read work check write release",
        "acquire read work write release",
        "acquire work release",
        "acquire release",
        "acquire read work extend work check write release",
        "acquire read work extend work extend work extend check write release",
        "acquire read extend work check write release",
        "try read work check write release",
        "acquire work",
        // Of two locks.
        "acquire work acquire extend work release release",
        "acquire acquire work release release",
        "acquire acquire release work release",
    ];
    let missing: Vec<&str> = expected.into_iter().filter(|it| !programs.contains_key(*it)).collect();
    assert!(missing.is_empty(), "{missing:?} are not among {programs:#?}");
    let extends: usize =
        programs.iter().filter(|(words, _)| words.contains("extend")).map(|(_, count)| count).sum();
    let all: usize = programs.values().sum();
    assert!(extends * 10 > all, "{extends} of {all} programs extend");
}

#[test]
fn a_step_that_the_lock_lacks_is_not_drawn() {
    let programs = programs(&members("setnx", can(false, false)));
    let extends: Vec<&String> = programs.keys().filter(|words| words.contains("extend")).collect();
    assert!(extends.is_empty(), "{extends:?}");
    let can_both = members("single", can(true, true));
    let neither = members("single", can(true, false));
    let fenced = |all: &[Scenario]| {
        all.iter().filter(|it| it.resource.rules.fencing != doublehold_history::FencingCheck::Off).count()
    };
    assert!(fenced(&can_both) > 20 && fenced(&neither) == 0);
}

#[test]
fn members_differ_in_leases_clients_and_rounds() {
    let all = members("single", can(true, true));
    let of = |value: fn(&Scenario) -> u64| all.iter().map(value).collect::<BTreeSet<u64>>();
    let leases = of(|it| it.lock.ttl.as_millis() as u64);
    assert_eq!(leases, BTreeSet::from([400, 1_000, 2_000, 4_000, 10_000, 30_000]));
    assert_eq!(of(|it| it.clients.len() as u64), BTreeSet::from([1, 2, 3, 4, 6]));
    assert!(of(|it| u64::from(it.clients[0].rounds)).len() >= 3);
    assert!(all.iter().all(|it| it.limits.obtain_free_within.is_some()), "waits always have a bound");
}

#[test]
fn a_family_has_members_on_all_kinds_of_nodes() {
    // Of an even number there may be no majority for anybody.
    let kinds: [(&str, Nodes, &[usize]); 3] = [
        ("redlock", Nodes::Independent, &[2, 3, 4, 5]),
        ("replicated", Nodes::Replicated, &[3]),
        ("single", Nodes::One, &[1]),
    ];
    for (lock, nodes, counts) in kinds {
        let all = members(lock, can(true, false));
        let found: BTreeSet<usize> = all
            .iter()
            .map(|it| {
                it.hosts.iter().filter(|host| host.role == doublehold_scenarios::scenario::Role::Node).count()
            })
            .collect();
        assert_eq!(found, counts.iter().copied().collect(), "{nodes:?}");
    }
}

#[test]
fn the_same_number_draws_the_same_member() {
    let (one, two) = (members("single", can(true, true)), members("single", can(true, true)));
    assert!(one.iter().zip(&two).all(|(one, two)| one.to_toml() == two.to_toml()));
    let texts: BTreeSet<String> = one.iter().map(Scenario::to_toml).collect();
    assert_eq!(texts.len() as u64, MEMBERS, "no two are the same");
}
