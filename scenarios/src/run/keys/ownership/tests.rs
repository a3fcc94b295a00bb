//! Many shares of past calls, in whatever order their commands arrived.

use doublehold_history::LockId;

use super::*;
use crate::run::keys::attribution::Moment;

const CLIENT: ClientId = ClientId(0);
const LOCK: LockId = LockId(0);

/// The shares of these calls of one client, each of which marked the claim and counted it up; folded.
fn folded(calls: &[u64]) -> (Shares, Attribution) {
    let (mark, mut told) = (Mark::Value(b"1".to_vec()), Attribution::default());
    for call in 1..=calls.iter().copied().max().unwrap_or(0) {
        told.begin(CLIENT, CallId(call), LOCK);
        told.enter(CLIENT, CallId(call));
        told.mark(Moment(0), CLIENT, mark.clone());
    }
    let sender = |call: &u64| Sender { call: CallId(*call), granted: false };
    let taken = calls.iter().map(|call| Share::new(sender(call), ShareKind::Counted, 1)).collect();
    let mut shares = Shares { taken, unsure: false };
    shares.fold_past(&(LOCK, mark), &told, &Claimants::default());
    (shares, told)
}

#[test]
fn each_call_has_its_share_though_a_later_one_arrived_before_it() {
    let swapped: Vec<u64> = (0..20).flat_map(|pair| [2 * pair + 2, 2 * pair + 1]).collect();
    for calls in [(1..=40).collect(), (1..=40).rev().collect(), swapped] {
        let (shares, told) = folded(&calls);
        assert!(shares.len() < calls.len(), "some are folded: {shares:?}");
        for call in calls {
            assert!(shares.has(CallId(call), &told), "{call} has none of {shares:?}");
            assert!(shares.less(CallId(call), 1, &told).is_some(), "{call} counts down: {shares:?}");
        }
    }
}

#[test]
fn nothing_is_folded_across_a_call_that_stays_by_itself() {
    let (shares, told) = folded(&(1..=40).collect::<Vec<_>>());
    let granted = Sender { call: CallId(20), granted: true };
    let alone = shares.and(Share::new(granted, ShareKind::Counted, 1), |_| true);
    let past = |call| Share { taker: Taker::Past(CLIENT, CallId(call), CallId(call)), ..alone.taken[0] };
    let last = alone.taken.last().expect("the granted call's");
    assert!(!last.lets_by(&past(21), &told));
    assert!(alone.taken[0].lets_by(&past(21), &told));
}
