//! Every catalogue entry shows what it expects, from every seed tried, and every one of its faults strikes.
//!
//! A verdict that depends on the seed means that the scenario rests on luck, not on its faults.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use doublehold_history::{CallId, EventKind, Predicate, TrueNs};
use doublehold_scenarios::fault::Nature;
use doublehold_scenarios::report::{Judgement, KeyOrigin, KeySpan, Report};
use doublehold_scenarios::{Engine, LeanEngine, Prepared, SimEngine, catalog};

use crate::{drivers, native_scripts};

const SEEDS: std::ops::RangeInclusive<u64> = 1..=50;
/// Of these, so many are made again through lean connections, and with Lua.
const COMPARED_SEEDS: usize = 20;

#[test]
fn every_entry_shows_what_it_expects_from_fifty_seeds_through_either_driver_and_with_lua() {
    let entries = catalog::entries().expect("the catalogue is well formed");
    let next = AtomicUsize::new(0);
    let failures: Vec<String> = thread::scope(|scope| {
        let work = || {
            let mut failures = Vec::new();
            while let Some(entry) = entries.get(next.fetch_add(1, Ordering::Relaxed)) {
                failures.extend(failures_of(&entry.name));
            }
            failures
        };
        let workers = [scope.spawn(work), scope.spawn(work)];
        workers.into_iter().flat_map(|worker| worker.join().expect("no run panics")).collect()
    });
    assert!(failures.is_empty(), "{} runs did not show it:\n{}", failures.len(), failures.join("\n"));
}

fn failures_of(name: &str) -> Vec<String> {
    let scenario = catalog::load(name, &[]).expect("it was listed");
    let prepare = || SimEngine.prepare(&scenario).expect("it can be run");
    let (prepared, with_lua) = (prepare(), prepare().with_lua());
    let lean = LeanEngine.prepare(&scenario).expect("it can be run");
    let reports: Vec<Report> = SEEDS.map(|seed| prepared.run(seed)).collect();
    let compared = reports.iter().take(COMPARED_SEEDS);
    let of_drivers = compared.clone().filter_map(|report| drivers::difference(report, &lean));
    let of_lua = compared.filter_map(|report| native_scripts::difference(report, &with_lua));
    let failed = reports.iter().filter_map(|report| failure(report, scenario.faults.len()));
    of_drivers.chain(of_lua).chain(failed).chain(left_open(&reports)).collect()
}

/// Weather strikes where it happens to; the faults that the scenario itself lists, which come first, are what it is
/// about.
fn failure(report: &Report, listed: usize) -> Option<String> {
    let scenario = &report.scenario;
    let listed = || report.faults.iter().take(listed);
    let silent = listed().find(|fault| fault.from.is_none());
    let lasting = listed().find(|it| it.fault.lasting.is_some() && it.until.is_none());
    if report.judgement() == Judgement::AsExpected && silent.is_none() && lasting.is_none() {
        return None;
    }
    let verdicts = report.verdict_words();
    Some(format!(
        "{} --seed {}: {verdicts:?}, never struck: {:?}, never over: {:?}",
        scenario.name,
        report.seed,
        silent.map(|it| it.fault.words()),
        lasting.map(|it| it.fault.words()),
    ))
}

/// A predicate of which an entry states nothing although it comes out alike from every seed.
fn left_open(reports: &[Report]) -> Vec<String> {
    let scenario = &reports[0].scenario;
    let open = Predicate::ALL.into_iter().filter(|predicate| !scenario.expect.contains_key(predicate));
    let alike = open.filter(|&predicate| {
        let mut words = reports.iter().map(|report| report.verdicts.get(predicate).as_str());
        let first = words.next();
        words.all(|word| Some(word) == first)
    });
    alike
        .map(|predicate| format!("{}: {predicate} is always the same, and not stated", scenario.name))
        .collect()
}

/// Whatever it forgot: by then nobody can still hold it. That it is safe shows only when it is asked again.
#[test]
fn a_node_that_stays_away_for_a_lease_comes_back_and_its_vote_decides() {
    let entries = catalog::entries().expect("the catalogue is well formed");
    let delayed: Vec<_> = entries
        .iter()
        .filter(|entry| entry.name.starts_with("crash-restart/") && entry.name.ends_with("/delayed"))
        .collect();
    assert_eq!(delayed.len(), 6);
    for entry in delayed {
        let scenario = catalog::load(&entry.name, &[]).expect("it was listed");
        let prepared = SimEngine.prepare(&scenario).expect("it can be run");
        for seed in SEEDS.take(10) {
            let report = prepared.run(seed);
            let back = report.faults.iter().find(|it| it.fault.effect.kind().nature == Nature::Death);
            let back = back
                .and_then(|fault| fault.until)
                .unwrap_or_else(|| panic!("{} --seed {seed}: C stays away", entry.name));
            let (granted, grant) = first_grant_after(&report, back)
                .unwrap_or_else(|| panic!("{} --seed {seed}: nobody asked C", entry.name));
            let holds =
                |key: &&KeySpan| key.from <= granted && key.until.is_none_or(|(until, _)| granted < until);
            let executed = |key: &&KeySpan| key.grant == grant && key.origin == KeyOrigin::Executed;
            let votes = report.keys.iter().filter(executed).filter(holds);
            let votes: Vec<&str> = votes.map(|key| scenario.hosts[key.node.0].name.as_str()).collect();
            assert!(votes.contains(&"C"), "{} --seed {seed}: {votes:?}", entry.name);
            assert_eq!(
                votes.len(),
                3,
                "{} --seed {seed}: without C there is no majority: {votes:?}",
                entry.name
            );
        }
    }
}

fn first_grant_after(report: &Report, at: TrueNs) -> Option<(TrueNs, CallId)> {
    report.history.events().iter().find_map(|event| match event.what {
        EventKind::Granted { grant, .. } if event.at > at => Some((event.at, grant)),
        _ => None,
    })
}

#[test]
fn every_entry_expects_something_of_safety_and_of_liveness() {
    for entry in catalog::entries().expect("the catalogue is well formed") {
        let safety = [Predicate::P1, Predicate::P2, Predicate::P3, Predicate::P4, Predicate::WR];
        assert!(safety.iter().any(|p| entry.expect.contains_key(p)), "{} expects nothing", entry.name);
        assert!(entry.expect.contains_key(&Predicate::LV), "{} says nothing of liveness", entry.name);
    }
}

#[test]
fn every_file_of_the_folder_is_listed_in_the_order_of_its_name() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/catalog");
    let within = |folder: &Path| -> Vec<PathBuf> {
        let files = std::fs::read_dir(folder).expect("the folder is there");
        files.map(|file| file.expect("a file").path()).collect()
    };
    let files = within(Path::new(folder)).into_iter().flat_map(|topic| within(&topic));
    let mut stems: Vec<String> =
        files.map(|file| file.file_stem().expect("a name").to_string_lossy().into_owned()).collect();
    stems.sort();
    let entries = catalog::entries().expect("the catalogue is well formed");
    let mut listed: Vec<String> =
        entries.iter().map(|entry| entry.name.split('/').next().expect("a name").to_owned()).collect();
    listed.dedup();
    assert_eq!(listed, stems);
}

#[test]
fn a_name_that_is_nearly_right_is_pointed_to_the_right_one() {
    let hint = |name: &str| {
        let error = catalog::load(name, &[]).expect_err("there is no such scenario").to_string();
        error.split_once("\nhint: ").expect("a way out").1.to_owned()
    };
    assert_eq!(hint("k4-one-jump"), "did you mean `clock-jump/k4-one-jump`?");
    assert_eq!(hint("clock-jump.toml"), "`clock-jump` is in the catalogue: name it without `.toml`");
    assert_eq!(hint("clokc-jump"), "did you mean `clock-jump`?");
    assert!(hint("redlock").contains("end so: name one of the variants whole"), "{}", hint("redlock"));
    assert!(hint("p.plan").starts_with("a plan is for `doublehold replay`"));
}

#[test]
fn a_scenario_whose_fault_never_strikes_proves_nothing() {
    // The pause waits for a hundredth grant that never comes, so the safe verdicts are vacuous.
    let never = [("faults.0.at".to_owned(), "\"the 100th c1's grant\"".to_owned())];
    let scenario = catalog::load("gc-in-flight", &never).expect("the event could happen");
    let report = SimEngine.run(&scenario, 1);
    assert_eq!(report.judgement(), Judgement::Inconclusive);
    assert_eq!(report.verdicts.get(Predicate::P1).as_str(), "inconclusive");
}

#[test]
fn the_catalogue_refers_to_no_table_of_ids() {
    for entry in catalog::entries().expect("the catalogue is well formed") {
        let scenario = catalog::load(&entry.name, &[]).expect("it was listed");
        assert_eq!(scenario.id, "", "{} is labelled, and no reader can look the label up", entry.name);
    }
}

#[test]
fn in_one_order_the_second_waits_until_the_first_is_done_with_both() {
    let scenario = catalog::load("opposite-order/one-order", &[]).expect("it is in the catalogue");
    for seed in SEEDS {
        let report = SimEngine.run(&scenario, seed);
        let done = |what: &EventKind| match *what {
            EventKind::Granted { client, lock, .. } => {
                Some(format!("c{} has {}", client.0 + 1, scenario.lock.names[lock.0 as usize]))
            }
            EventKind::ReleaseCalled { client, .. } => Some(format!("c{} releases", client.0 + 1)),
            _ => None,
        };
        let done: Vec<String> =
            report.history.events().iter().filter_map(|event| done(&event.what)).collect();
        let both = |it: &str| {
            [" has stock", " has orders", " releases", " releases"].map(|did| format!("{it}{did}"))
        };
        assert_eq!(done, [both("c1"), both("c2")].concat(), "seed {seed}");
        let waits = |what: &EventKind| matches!(what, EventKind::Refused { client, .. } if client.0 == 1);
        assert!(report.history.events().iter().any(|event| waits(&event.what)), "seed {seed}: c2 waits");
    }
}
