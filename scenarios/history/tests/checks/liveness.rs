//! LV against a look at every lock in every cell of time.

use doublehold_history::{
    ClientId, Evidence, GrantId, History, LockId, RunOutcome, Verdict, WaitEnd, What, liveness,
};
use proptest::prelude::*;

use crate::random::{GRANTS, cases, claims_cell, histories, lock_of};

proptest! {
    #![proptest_config(cases(4_000))]

    #[test]
    fn long_waits_are_exactly_those_that_a_look_at_every_cell_finds(history in histories(40)) {
        let Some(bound) = history.header().bounds.obtain_within_ns else {
            prop_assert_eq!(liveness(&history), Verdict::Inconclusive("no bound stated".to_owned()));
            return Ok(());
        };
        let found: Vec<Wait> = liveness(&history).evidence().iter().map(|evidence| match evidence {
            Evidence::Waited(it) => (it.from.0, it.lock, it.to.0, it.end, it.clients.clone()),
            other => panic!("not a wait: {other:?}"),
        }).collect();
        prop_assert_eq!(found, naive(&history, bound));
    }
}

type Wait = (u64, LockId, u64, WaitEnd, Vec<ClientId>);

fn naive(history: &History, bound: u64) -> Vec<Wait> {
    let mut waits: Vec<Wait> =
        [LockId(0), LockId(1)].iter().flat_map(|&lock| naive_lock(history, bound, lock)).collect();
    waits.sort_by_key(|it| (it.0, it.1));
    waits
}

fn naive_lock(history: &History, bound: u64, lock: LockId) -> Vec<Wait> {
    let end = history.end().0;
    let stalled = history.outcome() == Some(RunOutcome::Stalled);
    let idle = |t: u64| {
        let claimed = (0..GRANTS).map(GrantId).any(|it| lock_of(it) == lock && claims_cell(history, it, t));
        !claimed && !waiting(history, lock, Some(t)).is_empty()
    };
    let left = waiting(history, lock, None);
    let mut waits = Vec::new();
    for from in (0..end).filter(|&t| idle(t) && (t == 0 || !idle(t - 1) || granted_at(history, lock, t))) {
        let to = (from + 1..end).find(|&t| !idle(t) || granted_at(history, lock, t)).unwrap_or(end);
        let ending = if granted_at(history, lock, to) {
            WaitEnd::Obtained
        } else if to == end && !left.is_empty() {
            WaitEnd::RunEnded
        } else {
            WaitEnd::Abandoned
        };
        if to - from > bound && !(stalled && ending == WaitEnd::RunEnded) {
            let mut clients: Vec<ClientId> =
                (from..to).flat_map(|t| waiting(history, lock, Some(t))).collect();
            clients.sort();
            clients.dedup();
            waits.push((from, lock, to, ending, clients));
        }
    }
    if stalled && !left.is_empty() {
        let since = |&client: &ClientId| wait_began(history, client, lock).expect("it waits");
        let from = left.iter().map(since).min().expect("somebody waits");
        waits.push((from, lock, end, WaitEnd::Never, left));
    }
    waits
}

fn granted_at(history: &History, lock: LockId, t: u64) -> bool {
    history.events().iter().any(|event| {
        event.at.0 == t && matches!(event.what, What::Granted { lock: this, .. } if this == lock)
    })
}

/// Who waits for the lock once everything up to instant `t` has happened; everything at all without a `t`.
fn waiting(history: &History, lock: LockId, t: Option<u64>) -> Vec<ClientId> {
    let seen = history.events().iter().filter(|event| t.is_none_or(|t| event.at.0 <= t)).count();
    let clients = [ClientId(0), ClientId(1), ClientId(2)];
    clients.into_iter().filter(|&client| wait_in(history, seen, client, lock).is_some()).collect()
}

fn wait_began(history: &History, client: ClientId, lock: LockId) -> Option<u64> {
    wait_in(history, history.events().len(), client, lock)
}

/// Since when the client waits, going by the first `seen` events: the first acquire after the last event that
/// ends a wait.
fn wait_in(history: &History, seen: usize, client: ClientId, lock: LockId) -> Option<u64> {
    let events = &history.events()[..seen];
    let ends = |what: &What| match *what {
        What::Granted { client: this, lock: on, .. } => this == client && on == lock,
        What::GaveUp { client: this, grant } => this == client && lock_of(grant) == lock,
        What::Died { client: this } | What::Restarted { client: this } => this == client,
        _ => false,
    };
    let ended = events.iter().rposition(|event| ends(&event.what)).map_or(0, |place| place + 1);
    events[ended..].iter().find_map(|event| match event.what {
        What::AcquireStarted { client: this, lock: on, .. } if this == client && on == lock => {
            Some(event.at.0)
        }
        _ => None,
    })
}
