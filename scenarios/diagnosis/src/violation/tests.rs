//! The same violation, and another: evidence with one fact changed.

use doublehold_history::Overlap;
use doublehold_scenarios::{Engine, LeanEngine, catalog};

use super::*;

const MS: u64 = 1_000_000;

fn overlap() -> (Report, Violation, Overlap) {
    let report = LeanEngine.run(&catalog::load("lease-pause", &[]).expect("in the catalogue"), 1);
    let told = Violation::find_first(&report).expect("it violates");
    let Some(Evidence::Overlap(overlap)) = report.verdicts.get(told.predicate).evidence().first() else {
        panic!("two hold it")
    };
    let overlap = overlap.clone();
    (report, told, overlap)
}

#[test]
fn the_violation_that_is_told_is_the_first_of_a_run() {
    let (report, told, overlap) = overlap();
    assert_eq!(
        (told.predicate, told.lock, told.from, told.to),
        (Predicate::P1, overlap.lock, overlap.from, overlap.to)
    );
    assert_eq!(
        told.grants,
        [(overlap.clients[0], overlap.grants[0]), (overlap.clients[1], overlap.grants[1])]
    );
    assert_eq!(told.second, Some((overlap.clients[1], overlap.grants[1])));
    assert_eq!(nth(&report.history, overlap.clients[1], told.lock, overlap.grants[1]), 1);
    let is_of = |changed: Overlap| told.is_of(Predicate::P1, &Evidence::Overlap(changed));
    assert!(is_of(overlap.clone()));
    assert!(!told.is_of(Predicate::P2, &Evidence::Overlap(overlap.clone())));
    let other = [ClientId(7), overlap.clients[1]];
    let later = |at: TrueNs| TrueNs(at.0 + 1);
    assert!(!is_of(Overlap { lock: LockId(9), ..overlap.clone() }));
    assert!(!is_of(Overlap { clients: other, ..overlap.clone() }));
    assert!(!is_of(Overlap { from: later(overlap.from), ..overlap.clone() }));
    assert!(!is_of(Overlap { to: later(overlap.to), ..overlap.clone() }));
    let quiet = LeanEngine.run(&catalog::load("quiet", &[]).expect("in the catalogue"), 1);
    assert!(Violation::find_first(&report).is_some() && Violation::find_first(&quiet).is_none());
}

/// Around that time, to the same clients in any order; at any time, with the same client first. The run has one
/// overlap; what is asked about is another.
#[test]
fn the_same_happens_to_the_same_clients_within_a_tenth_of_a_second() {
    let (report, told, overlap) = overlap();
    assert_eq!(report.verdicts.get(Predicate::P1).evidence().len(), 1);
    let is_found = |asked: Violation| {
        let verdicts = &report.verdicts;
        let same = asked.find_same(verdicts);
        assert!(same.is_none() || same.as_ref() == Some(&told));
        [asked.is_in(verdicts), same.is_some()]
    };
    assert_eq!(is_found(told.clone()), [true; 2]);
    let swapped = vec![told.grants[1], told.grants[0]];
    assert_eq!(is_found(Violation { grants: swapped, ..told.clone() }), [true, false]);
    let beside = |client: ClientId| {
        let clients = vec![client, ClientId(7)];
        is_found(Violation { clients, ..told.clone() })
    };
    assert_eq!(overlap.clients.map(beside), [[false; 2]; 2]);
    assert_eq!(is_found(Violation { lock: LockId(9), ..told.clone() }), [false; 2]);
    assert_eq!(is_found(Violation { predicate: Predicate::P4, ..told.clone() }), [false; 2]);
    let at = |from: u64, to: u64| is_found(Violation { from: TrueNs(from), to: TrueNs(to), ..told.clone() });
    let (from, to) = (told.from.0, told.to.0);
    assert_eq!(at(to + 100 * MS, to + 200 * MS), [true; 2], "it was over just so long before");
    assert_eq!(at(to + 100 * MS + 1, to + 200 * MS), [false, true]);
    assert_eq!(at(0, from - 100 * MS), [true; 2], "it begins just so long after");
    assert_eq!(at(0, from - 100 * MS - 1), [false, true]);
}
