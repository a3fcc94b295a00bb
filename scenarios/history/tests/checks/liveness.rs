//! LV against a look at every lock in every cell of time, and at every client from each of its calls on.

use doublehold_history::{
    Bounds, CallId, ClientId, EventKind, Evidence, History, LockId, LongWait, RunOutcome, TrueNs, Verdict,
    WaitEnd, liveness,
};
use proptest::prelude::*;

use crate::random::{GRANTS, cases, claims_cell, client_of, histories, lock_of};

proptest! {
    #![proptest_config(cases(4_000))]

    #[test]
    fn long_waits_are_exactly_those_that_a_look_at_every_cell_finds(history in histories(40)) {
        let bounds = history.header().bounds;
        if bounds == (Bounds { counted_from_ns: bounds.counted_from_ns, ..Bounds::default() }) {
            prop_assert_eq!(liveness(&history), Verdict::Inconclusive("no bound stated".to_owned()));
            return Ok(());
        }
        let verdict = liveness(&history);
        let (mut found, mut found_long) = (Vec::new(), Vec::new());
        for evidence in verdict.evidence() {
            match evidence {
                Evidence::Waited(it) => found.push((it.from.0, it.lock, it.to.0, it.end, it.clients.clone())),
                Evidence::LongWait(it) => found_long.push(it.clone()),
                other => panic!("not a wait: {other:?}"),
            }
        }
        prop_assert_eq!(found, naive(&history, bounds.obtain_free_within_ns));
        found_long.sort_by_key(|it| (it.from, it.lock, it.client, it.to));
        prop_assert_eq!(found_long, bounds.obtain_within_ns.map_or(Vec::new(), |bound| naive_long(&history, bound)));
    }
}

type Wait = (u64, LockId, u64, WaitEnd, Vec<ClientId>);

/// Each call that found its client not waiting begins a wait, which lasts to the next event that ends one.
fn naive_long(history: &History, bound_ns: u64) -> Vec<LongWait> {
    let events = history.events();
    let mut waits = Vec::new();
    for (place, event) in events.iter().enumerate() {
        let EventKind::AcquireStarted { client, lock, .. } = event.what else { continue };
        if wait_in(history, place, client, lock).is_some() {
            continue;
        }
        let ended = (place + 1..events.len()).find(|&at| ends_wait(&events[at].what, client, lock));
        let (to, end) = match ended.map(|at| &events[at]) {
            Some(event) => match event.what {
                EventKind::Granted { .. } => (event.at, WaitEnd::Obtained),
                EventKind::GaveUp { .. } => (event.at, WaitEnd::GaveUp),
                _ => (event.at, WaitEnd::Died),
            },
            None if history.outcome() == Some(RunOutcome::Stalled) => continue,
            None => (history.end(), WaitEnd::RunEnded),
        };
        let counted_from = history.header().bounds.counted_from_ns;
        let from = event.at.0.max(counted_from);
        if to.0.saturating_sub(from) > bound_ns {
            let holds = |grant, t| lock_of(grant) == lock && claims_cell(history, grant, t);
            let held = |t: &u64| (0..GRANTS).any(|grant| holds(CallId(grant), *t));
            let held_by = [ClientId(0), ClientId(1), ClientId(2)].into_iter().filter(|&holder| {
                let of_holder = || (0..GRANTS).map(CallId).filter(|&grant| client_of(grant) == holder);
                (from..to.0).any(|t| of_holder().any(|grant| holds(grant, t)))
            });
            let held_by = held_by.collect();
            let held_ns = (from..to.0).filter(held).count() as u64;
            waits.push(LongWait { lock, client, from: TrueNs(from), to, held_by, held_ns, bound_ns, end });
        }
    }
    waits.sort_by_key(|it| (it.from, it.lock, it.client, it.to));
    waits
}

/// With no bound for free locks, only waits that never end count.
fn naive(history: &History, bound: Option<u64>) -> Vec<Wait> {
    let bound = bound.unwrap_or(u64::MAX);
    let mut waits: Vec<Wait> =
        [LockId(0), LockId(1)].iter().flat_map(|&lock| naive_lock(history, bound, lock)).collect();
    waits.sort_by_key(|it| (it.0, it.1));
    waits
}

fn naive_lock(history: &History, bound: u64, lock: LockId) -> Vec<Wait> {
    let end = history.end().0;
    let stalled = history.outcome() == Some(RunOutcome::Stalled);
    let idle = |t: u64| {
        let claimed = (0..GRANTS).map(CallId).any(|it| lock_of(it) == lock && claims_cell(history, it, t));
        !claimed && !waiting(history, lock, Some(t)).is_empty()
    };
    let left = waiting(history, lock, None);
    let mut waits = Vec::new();
    let counted_from = history.header().bounds.counted_from_ns;
    for from in (counted_from..end)
        .filter(|&t| idle(t) && (t == counted_from || !idle(t - 1) || granted_at(history, lock, t)))
    {
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
        let from = left.iter().map(since).min().expect("somebody waits").max(counted_from);
        waits.push((from, lock, end, WaitEnd::Never, left));
    }
    waits
}

fn granted_at(history: &History, lock: LockId, t: u64) -> bool {
    history.events().iter().any(|event| {
        event.at.0 == t && matches!(event.what, EventKind::Granted { lock: this, .. } if this == lock)
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
    let ended = events.iter().rposition(|event| ends_wait(&event.what, client, lock));
    let ended = ended.map_or(0, |place| place + 1);
    events[ended..].iter().find_map(|event| match event.what {
        EventKind::AcquireStarted { client: this, lock: on, .. } if this == client && on == lock => {
            Some(event.at.0)
        }
        _ => None,
    })
}

fn ends_wait(what: &EventKind, client: ClientId, lock: LockId) -> bool {
    match *what {
        EventKind::Granted { client: this, lock: on, .. } => this == client && on == lock,
        EventKind::GaveUp { client: this, call: grant } => this == client && lock_of(grant) == lock,
        EventKind::Died { client: this } | EventKind::Restarted { client: this } => this == client,
        _ => false,
    }
}
