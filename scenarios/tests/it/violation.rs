//! The same violation, and another: evidence with one fact changed.

use doublehold_history::{ClientId, Evidence, LockId, Overlap, Predicate, TrueNs};
use doublehold_scenarios::report::{Report, Violation};
use doublehold_scenarios::{Engine, LeanEngine, catalog};

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
    assert_eq!(told.second, Some((overlap.clients[1], 1)));
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

/// Around that time, of those clients: in any order, with the same first, or any of them. The run has one overlap; what
/// is asked about is another.
#[test]
fn the_same_happens_to_the_same_clients_within_a_tenth_of_a_second() {
    let (report, told, overlap) = overlap();
    assert_eq!(report.verdicts.get(Predicate::P1).evidence().len(), 1);
    let is_found = |told: Violation| {
        let verdicts = &report.verdicts;
        [told.is_in(verdicts), told.is_in_with_roles(verdicts), told.is_in_since(verdicts, told.from)]
    };
    assert_eq!(is_found(told.clone()), [true; 3]);
    let swapped = vec![told.grants[1], told.grants[0]];
    assert_eq!(is_found(Violation { grants: swapped, ..told.clone() }), [true, false, true]);
    let beside = |client: ClientId| {
        let clients = vec![client, ClientId(7)];
        is_found(Violation { clients, ..told.clone() })
    };
    assert_eq!(overlap.clients.map(beside), [[false, false, true]; 2]);
    assert_eq!(beside(ClientId(8)), [false; 3]);
    assert_eq!(is_found(Violation { lock: LockId(9), ..told.clone() }), [false; 3]);
    assert_eq!(is_found(Violation { predicate: Predicate::P4, ..told.clone() }), [false; 3]);
    let at = |from: u64, to: u64| is_found(Violation { from: TrueNs(from), to: TrueNs(to), ..told.clone() });
    let (from, to) = (told.from.0, told.to.0);
    assert_eq!(at(to + 100 * MS, to + 200 * MS), [true; 3], "it was over just so long before");
    assert_eq!(at(to + 100 * MS + 1, to + 200 * MS), [false; 3]);
    let later = Violation { from: TrueNs(to + 500 * MS), to: TrueNs(to + 600 * MS), ..told.clone() };
    let since = |at: u64| later.is_in_since(&report.verdicts, TrueNs(at));
    assert!(since(to) && !since(to + 1), "from when on the cause could have done it");
    assert_eq!(at(0, from - 100 * MS), [true; 3], "it begins just so long after");
    assert_eq!(at(0, from - 100 * MS - 1), [false; 3]);
}
