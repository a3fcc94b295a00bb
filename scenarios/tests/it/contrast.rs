//! Every entry of the catalogue has a contrast: its one deciding switch or fault, flipped, turns its verdict.
//!
//! An entry that shows the same whatever is done to it shows nothing. Where two things have to change, neither alone
//! turns the verdict, and that is tested too: otherwise one of them would be the deciding one.
//!
//! A scenario and its variant that expect different things are each other's contrast; the others are in `table`,
//! `guards`, `drivers`, `sentinels` and `services`.

mod drivers;
mod guards;
mod sentinels;
mod services;
mod table;

use std::collections::BTreeSet;

use doublehold_history::Verdicts;
use doublehold_scenarios::catalog::Entry;
use doublehold_scenarios::{Engine, SimEngine, catalog};

use drivers::DRIVERS;
use guards::GUARDS;
use sentinels::SENTINELS;
use services::SERVICES;
use table::{CONTRASTS, Contrast};

const SEEDS: std::ops::RangeInclusive<u64> = 1..=5;

/// Whether one is a scenario and the other a variant of it that expects otherwise: what the variant sets decides it,
/// and each is run for its own expectation.
fn is_contrast(one: &Entry, other: &Entry) -> bool {
    let is_variant = |variant: &str, of: &str| {
        variant.strip_prefix(of).is_some_and(|rest| rest.starts_with('/')) && !of.contains('/')
    };
    let related = is_variant(&one.name, &other.name) || is_variant(&other.name, &one.name);
    related
        && one
            .expect
            .iter()
            .any(|(predicate, expected)| other.expect.get(predicate).is_some_and(|it| it != expected))
}

/// All that are listed.
fn contrasts() -> impl Iterator<Item = &'static Contrast> {
    CONTRASTS.iter().chain(GUARDS).chain(DRIVERS).chain(SENTINELS).chain(SERVICES)
}

/// What an entry comes to with these changes.
fn verdicts(entry: &str, sets: &[(&str, &str)], seed: u64) -> Verdicts {
    let sets: Vec<_> = sets.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let scenario = catalog::load(entry, &sets).unwrap_or_else(|error| panic!("{error}"));
    SimEngine.run(&scenario, seed).verdicts
}

#[test]
fn every_entry_of_the_catalogue_has_a_contrast() {
    let entries = catalog::entries().expect("the catalogue is well formed");
    let in_its_file = |entry: &&Entry| entries.iter().any(|other| is_contrast(entry, other));
    let known: BTreeSet<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    let contrasted: BTreeSet<&str> = contrasts().map(|contrast| contrast.entry).collect();
    let alone = entries.iter().filter(|entry| !contrasted.contains(entry.name.as_str()));
    let alone: Vec<&str> =
        alone.filter(|entry| !in_its_file(entry)).map(|entry| entry.name.as_str()).collect();
    let unknown: Vec<&&str> = contrasted.difference(&known).collect();
    assert!(
        alone.is_empty() && unknown.is_empty(),
        "entries without a contrast: {alone:?}, or contrasts without an entry: {unknown:?}"
    );
    for Contrast { entry, turns, .. } in contrasts() {
        let expect = &entries.iter().find(|known| known.name == *entry).expect("it is known").expect;
        for (predicate, turned) in *turns {
            let expected = expect.get(predicate).map(|expected| expected.as_str());
            assert!(
                expected.is_some_and(|expected| expected != *turned),
                "{entry}: {predicate} does not turn"
            );
        }
    }
}

#[test]
fn the_deciding_switch_flipped_turns_the_verdict() {
    let mut wrong = Vec::new();
    for Contrast { entry, because, sets, turns } in contrasts() {
        for seed in SEEDS {
            let came_to = verdicts(entry, sets, seed);
            let unturned = turns.iter().filter(|(predicate, to)| came_to.get(*predicate).as_str() != *to);
            wrong.extend(unturned.map(|(predicate, to)| {
                format!("{entry} ({because}), seed {seed}: {predicate} is not {to} with {sets:?}")
            }));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn of_several_changes_none_alone_turns_the_verdict() {
    for Contrast { entry, because, sets, turns } in contrasts().filter(|contrast| contrast.sets.len() > 1) {
        for alone in *sets {
            let came_to = verdicts(entry, &[*alone], *SEEDS.start());
            let turned = turns.iter().all(|(predicate, to)| came_to.get(*predicate).as_str() == *to);
            assert!(!turned, "{entry} ({because}): {alone:?} alone decides it");
        }
    }
}
