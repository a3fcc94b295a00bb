//! P1 against an independent definition: is the history of acquire and release calls *linearizable* with
//! respect to a mutex? Searched in the manner of Wing and Gong, with memory.
//!
//! The two agree where both speak: every acquire is granted, every release is called after its grant and
//! returns, also at once. They differ elsewhere: a lease that expires is no release, so a mutex never allows the
//! next grant.

use std::collections::HashSet;

use doublehold_history::{
    CallId, ClientId, EventKind, Header, History, LockId, Reading, ReleaseOutcome, TrueNs, claim_overlap,
};
use proptest::prelude::*;

use crate::random::cases;

/// One client's visit to the mutex: when its four events happen.
#[derive(Clone, Copy, Debug)]
struct Visit {
    asks: u64,
    granted: u64,
    releases: u64,
    done: u64,
}

prop_compose! {
    fn visit()(asks in 0..12u64, waits in 0..6u64, holds in 0..4u64, leaves in 0..4u64) -> Visit {
        let granted = asks + waits;
        Visit { asks, granted, releases: granted + holds, done: granted + holds + leaves }
    }
}

proptest! {
    #![proptest_config(cases(4_000))]

    #[test]
    fn claims_overlap_exactly_when_no_mutex_explains_the_calls(visits in prop::collection::vec(visit(), 0..6)) {
        let holds = claim_overlap(&history(&visits)).as_str() == "holds";
        prop_assert_eq!(holds, linearizable(&operations(&visits)));
    }
}

fn history(visits: &[Visit]) -> History {
    let mut history = History::new(Header::new("mutex", 1, &["c1", "c2", "c3", "c4", "c5"], &["stock"]));
    for (index, visit) in visits.iter().enumerate() {
        let (client, grant, lock) = (ClientId(index as u32), CallId(index as u64), LockId(0));
        let reading = Reading { wall_ns: 0, monotonic_ns: 0, boot_ns: 0 };
        let token = format!("{index:02x}");
        let outcome = ReleaseOutcome::Released;
        history.push(TrueNs(visit.asks), EventKind::AcquireStarted { client, call: grant, lock });
        history.push(
            TrueNs(visit.granted),
            EventKind::Granted {
                client,
                grant,
                lock,
                token,
                fencing: None,
                deadline: None,
                reading: Some(reading),
                within: None,
            },
        );
        history.push(TrueNs(visit.releases), EventKind::ReleaseCalled { client, grant });
        history.push(TrueNs(visit.done), EventKind::ReleaseReturned { client, grant, outcome });
    }
    history
}

/// A call, from its start to its return: closed, so calls that share an instant are concurrent.
#[derive(Clone, Copy)]
struct Operation {
    acquires: bool,
    called: u64,
    returned: u64,
}

fn operations(visits: &[Visit]) -> Vec<Operation> {
    let both = |visit: &Visit| {
        [
            Operation { acquires: true, called: visit.asks, returned: visit.granted },
            Operation { acquires: false, called: visit.releases, returned: visit.done },
        ]
    };
    visits.iter().flat_map(both).collect()
}

/// Whether the calls can be put in an order that respects real time and in which the mutex is taken only when
/// free and freed only when taken.
fn linearizable(operations: &[Operation]) -> bool {
    let all = (1u32 << operations.len()) - 1;
    let mut seen = HashSet::from([0]);
    let mut open = vec![0u32];
    while let Some(done) = open.pop() {
        if done == all {
            return true;
        }
        let is_left = |index: usize| done & (1 << index) == 0;
        let left = || operations.iter().enumerate().filter(|(index, _)| is_left(*index));
        let taken = operations.iter().enumerate().filter(|(index, _)| !is_left(*index));
        let locked = taken.map(|(_, it)| if it.acquires { 1 } else { -1 }).sum::<i32>() == 1;
        let first_return = left().map(|(_, it)| it.returned).min().expect("some call is left");
        for (index, it) in left() {
            let next = done | (1 << index);
            // A claim that ends as it begins: the two calls share an instant, and still one client made them in turn.
            let asked = it.acquires || done & (1 << (index - 1)) != 0;
            if asked && it.called <= first_return && it.acquires != locked && seen.insert(next) {
                open.push(next);
            }
        }
    }
    false
}
