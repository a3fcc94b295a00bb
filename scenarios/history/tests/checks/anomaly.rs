//! P4 against every serial order of the grants.

use std::collections::BTreeSet;

use doublehold_history::{
    Anomaly, CallId, ClientId, Cycle, Dependency, EventKind, Evidence, Header, History, LostWrite, ObjectId,
    Step, TrueNs, data_anomaly, stale_effect,
};
use proptest::prelude::*;

use crate::random::{GRANTS, cases, histories};

proptest! {
    #![proptest_config(cases(4_000))]

    #[test]
    fn data_is_anomalous_exactly_when_no_serial_order_explains_it(history in histories(90)) {
        let transactions: Vec<Grant> = (0..GRANTS).map(|id| Grant::of(&history, CallId(id))).collect();
        let cycles: Vec<Cycle> = data_anomaly(&history).evidence().iter().map(cycle).collect();
        prop_assert_eq!(cycles.is_empty(), has_serial_order(&transactions));
        for cycle in &cycles {
            prop_assert!(is_proof(cycle, &transactions), "no proof: {:?}", cycle);
        }
        let lost: BTreeSet<[Step; 2]> = cycles.iter()
            .filter(|cycle| cycle.anomaly == Anomaly::LostUpdate)
            .map(|cycle| [cycle.steps[0], cycle.steps[1]])
            .collect();
        let lost: BTreeSet<_> = lost.iter().map(|[read, write]| {
            (read.before, read.after, read.object, read.version, read.then, write.then)
        }).collect();
        prop_assert_eq!(lost, lost_updates(&transactions));
    }

    #[test]
    fn a_lost_write_that_nobody_was_told_of_counts_as_refused(
        history in histories(90),
        lost in prop::collection::vec(any::<bool>(), 90),
    ) {
        let (mut with_lost, mut with_refused) = (history.clone(), History::new(history.header().clone()));
        let end = history.events().last().map_or(TrueNs(0), |event| event.at);
        for (event, is_lost) in history.events().iter().zip(lost) {
            let what = match event.what.clone() {
                EventKind::WriteApplied { client, grant, object, version, .. } if is_lost => {
                    let acknowledged = false;
                    with_lost.push(end, EventKind::WriteLost { client, grant, object, version, acknowledged });
                    let (why, fencing, highest_seen) = (String::new(), None, None);
                    EventKind::WriteRefused { client, grant, object, why, fencing, highest_seen }
                }
                what => what,
            };
            with_refused.push(event.at, what);
        }
        prop_assert_eq!(data_anomaly(&with_lost), data_anomaly(&with_refused));
    }
}

#[test]
fn a_lost_write_is_an_anomaly_once_its_client_was_told_that_it_is_committed() {
    let (client, grant, object, version) = (ClientId(0), CallId(1), ObjectId(0), 1);
    let lost = |acknowledged| EventKind::WriteLost { client, grant, object, version, acknowledged };
    let mut history = History::new(Header::new("lost", 1, &["c1"], &["stock"]));
    history.push(TrueNs(7), lost(false));
    assert_eq!(data_anomaly(&history).as_str(), "holds");
    history.push(TrueNs(9), lost(true));
    let expected = LostWrite { at: TrueNs(9), client, grant, object, version };
    assert_eq!(data_anomaly(&history).evidence(), [Evidence::LostWrite(expected)]);
    assert_eq!(stale_effect(&history).as_str(), "holds");
}

fn cycle(evidence: &Evidence) -> Cycle {
    match evidence {
        Evidence::Cycle(it) => it.clone(),
        other => panic!("not a cycle: {other:?}"),
    }
}

type Version = (ObjectId, u64);

#[derive(Debug)]
struct Grant {
    id: CallId,
    reads: BTreeSet<Version>,
    writes: BTreeSet<Version>,
}

impl Grant {
    /// The reads that count and the writes, straight from the definition.
    fn of(history: &History, id: CallId) -> Self {
        let own: Vec<&EventKind> =
            history.events().iter().map(|event| &event.what).filter(|what| what.call() == Some(id)).collect();
        let mut grant = Self { id, reads: BTreeSet::new(), writes: BTreeSet::new() };
        for (place, what) in own.iter().enumerate() {
            match **what {
                EventKind::WriteApplied { object, version, based_on, .. } => {
                    grant.writes.insert((object, version));
                    if let Some(read) = based_on.filter(|read| belongs(history, what, (object, *read))) {
                        grant.reads.insert((object, read));
                        let is_it = |what: &&EventKind| matches!(**what, EventKind::WriteSent { object: o, based_on: b, .. } if o == object && b == based_on);
                        let sent = own[..place].iter().rposition(is_it).unwrap_or(place);
                        grant.reads.extend(latest_reads(&own[..sent]));
                    }
                }
                EventKind::ReleaseCalled { .. }
                    if !own[..place].iter().any(|what| is_write_or_expiry(what)) =>
                {
                    grant.reads.extend(latest_reads(&own[..place]));
                }
                _ => {}
            }
        }
        grant
    }
}

/// Whether what a write is based on was read under its own grant: as recorded, or if nothing says that its client read
/// it under another before.
fn belongs(history: &History, write: &EventKind, version: Version) -> bool {
    let (client, grant) = (write.client(), write.call());
    let is_write = |what: &EventKind| std::ptr::eq(what, write);
    let before = history.events().iter().map(|event| &event.what).take_while(|what| !is_write(what));
    let read_it = |what: &&EventKind| matches!(**what, EventKind::ReadDone { object, version: v, .. } if (object, v) == version);
    let by: Vec<_> =
        before.filter(read_it).filter(|what| what.client() == client).map(EventKind::call).collect();
    by.is_empty() || by.contains(&grant)
}

fn is_write_or_expiry(what: &EventKind) -> bool {
    matches!(
        what,
        EventKind::WriteSent { .. }
            | EventKind::WriteApplied { .. }
            | EventKind::WriteRefused { .. }
            | EventKind::ExpiryNoticed { .. }
    )
}

fn latest_reads(own: &[&EventKind]) -> Vec<Version> {
    let latest = |object| {
        own.iter().rev().find_map(|what| match **what {
            EventKind::ReadDone { object: this, version, .. } if this == object => Some((object, version)),
            _ => None,
        })
    };
    [ObjectId(0), ObjectId(1)].into_iter().filter_map(latest).collect()
}

/// Tries orders one grant at a time; a grant may come next if nothing it did says that one of those left came
/// before it.
fn has_serial_order(grants: &[Grant]) -> bool {
    fn extend(left: &[&Grant]) -> bool {
        let rest = |out: usize| left.iter().enumerate().filter(move |(at, _)| *at != out).map(|(_, it)| *it);
        left.is_empty()
            || (0..left.len()).any(|next| {
                let rest: Vec<&Grant> = rest(next).collect();
                rest.iter().all(|later| fits(left[next], later)) && extend(&rest)
            })
    }
    let busy: Vec<&Grant> =
        grants.iter().filter(|it| !(it.reads.is_empty() && it.writes.is_empty())).collect();
    extend(&busy)
}

/// Whether a serial run could have done all of `first` before all of `second`.
fn fits(first: &Grant, second: &Grant) -> bool {
    let lower = |a: &Version, b: &Version| a.0 != b.0 || a.1 < b.1;
    let writes_in_order = first.writes.iter().all(|a| second.writes.iter().all(|b| lower(a, b)));
    let first_saw_none = first.reads.iter().all(|read| second.writes.iter().all(|write| lower(read, write)));
    let second_saw_all = second
        .reads
        .iter()
        .all(|read| first.writes.iter().all(|write| read.0 != write.0 || write.1 <= read.1));
    writes_in_order && first_saw_none && second_saw_all
}

fn is_proof(cycle: &Cycle, grants: &[Grant]) -> bool {
    let linked = |(place, step): (usize, &Step)| {
        let next = &cycle.steps[(place + 1) % cycle.steps.len()];
        step.after == next.before && step.before != step.after
    };
    let by = |id: CallId| grants.iter().find(|it| it.id == id).expect("the grant exists");
    let holds = |step: &Step| {
        let (before, after) = (by(step.before), by(step.after));
        let (version, then) = ((step.object, step.version), (step.object, step.then));
        match step.dependency {
            Dependency::WriteWrite => {
                before.writes.contains(&version) && after.writes.contains(&then) && version < then
            }
            Dependency::WriteRead => {
                before.writes.contains(&version) && after.reads.contains(&then) && version <= then
            }
            Dependency::ReadWrite => {
                before.reads.contains(&version) && after.writes.contains(&then) && version < then
            }
        }
    };
    cycle.steps.len() > 1 && cycle.steps.iter().enumerate().all(linked) && cycle.steps.iter().all(holds)
}

type LostUpdate = (CallId, CallId, ObjectId, u64, u64, u64);

/// Who read a version, missed the next one, another's, and then overwrote it.
fn lost_updates(grants: &[Grant]) -> BTreeSet<LostUpdate> {
    let mut lost = BTreeSet::new();
    for loser in grants {
        for winner in grants.iter().filter(|it| it.id != loser.id) {
            for &(object, read) in &winner.reads {
                let newer = |grant: &Grant, than: u64| {
                    grant.writes.iter().filter(|it| it.0 == object && it.1 > than).map(|it| it.1).min()
                };
                let next = grants.iter().filter_map(|grant| newer(grant, read)).min();
                let Some(missed) = newer(loser, read).filter(|&it| Some(it) == next) else { continue };
                let Some(own) = newer(winner, missed) else { continue };
                let saw_it = winner.reads.iter().any(|it| it.0 == object && (missed..own).contains(&it.1));
                if !saw_it {
                    lost.insert((winner.id, loser.id, object, read, missed, own));
                }
            }
        }
    }
    lost
}
