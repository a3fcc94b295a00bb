//! P1 and P2 against a look at every pair of grants in every cell of time.

use doublehold_history::{
    CallId, ClientId, ClockKind, ClockSpan, EventKind, Evidence, History, Overlap, Predicate, Reading,
    TrueNs, check,
};
use proptest::prelude::*;

use crate::random::{GRANTS, cases, claim_end, claims_cell, client_of, granted, histories, lock_of};

proptest! {
    #![proptest_config(cases(4_000))]

    #[test]
    fn overlaps_are_exactly_those_that_a_look_at_every_pair_and_cell_finds(history in histories(60)) {
        for predicate in [Predicate::P1, Predicate::P2] {
            let found: Vec<Overlap> = check(predicate, &history).evidence().iter().map(overlap).collect();
            prop_assert!(found.is_sorted_by_key(|it| it.from), "in order of time");
            let mut found = found;
            found.sort_by_key(|it| (it.grants.map(|grant| grant.0), it.from));
            prop_assert_eq!(found, naive(&history, predicate));
        }
    }
}

fn overlap(evidence: &Evidence) -> Overlap {
    match evidence {
        Evidence::Overlap(it) => it.clone(),
        other => panic!("not an overlap: {other:?}"),
    }
}

fn naive(history: &History, predicate: Predicate) -> Vec<Overlap> {
    let mut overlaps = Vec::new();
    for a in (0..GRANTS).map(CallId) {
        for b in (0..GRANTS).map(CallId) {
            if a < b && lock_of(a) == lock_of(b) && client_of(a) != client_of(b) {
                overlaps.extend(naive_pair(history, predicate, a, b));
            }
        }
    }
    overlaps.sort_by_key(|it| (it.grants.map(|grant| grant.0), it.from));
    overlaps
}

fn naive_pair(history: &History, predicate: Predicate, a: CallId, b: CallId) -> Vec<Overlap> {
    let holds = |grant, t| match predicate {
        Predicate::P1 => claims_cell(history, grant, t),
        _ => claims_cell(history, grant, t) && valid_after(history, grant, |event| event.at.0 <= t),
    };
    let both = |t: u64| holds(a, t) && holds(b, t);
    let end = history.end().0;
    let mut overlaps = Vec::new();
    for (brief, long) in [(a, b), (b, a)] {
        let Some(t) = only_instant(history, brief) else { continue };
        let is_held = predicate == Predicate::P1 || valid_after(history, brief, |_| true);
        // Both cells that meet at t: so the instant is neither the first nor the last of the longer one.
        if is_held && t > 0 && holds(long, t - 1) && holds(long, t) {
            overlaps.push(evidence(history, predicate, [long, brief], t, t, false));
        }
    }
    for from in (0..end).filter(|&t| both(t) && (t == 0 || !both(t - 1))) {
        let to = (from..end).find(|&t| !both(t)).unwrap_or(end);
        let since = |grant| began(history, grant, from, holds);
        let grants = if since(a) <= since(b) { [a, b] } else { [b, a] };
        let forever = |grant| {
            let valid = predicate == Predicate::P1 || valid_after(history, grant, |_| true);
            claim_end(history.events(), grant).is_none() && valid
        };
        let open_ended = to == end && forever(a) && forever(b);
        overlaps.push(evidence(history, predicate, grants, from, to, open_ended));
    }
    overlaps
}

/// When the grant was claimed, if its claim ended as it began.
fn only_instant(history: &History, grant: CallId) -> Option<u64> {
    let (_, from) = granted(history.events(), grant)?;
    let to = claim_end(history.events(), grant).map(|place| history.events()[place].at)?;
    (from == to).then_some(from.0)
}

fn evidence(
    history: &History,
    predicate: Predicate,
    grants: [CallId; 2],
    from: u64,
    to: u64,
    open_ended: bool,
) -> Overlap {
    Overlap {
        predicate,
        lock: lock_of(grants[0]),
        clients: grants.map(client_of),
        grants,
        from: TrueNs(from),
        to: TrueNs(to),
        open_ended,
        clocks: grants.map(|grant| ClockSpan {
            clock: clock(history, grant),
            from: reading(history, client_of(grant), from),
            to: reading(history, client_of(grant), to),
        }),
    }
}

/// When the stretch of holding that includes cell `t` began, and the place of the grant to break ties.
fn began(history: &History, grant: CallId, t: u64, holds: impl Fn(CallId, u64) -> bool) -> (u64, usize) {
    let first = (0..=t).rev().take_while(|&t| holds(grant, t)).last().expect("it holds in cell t");
    (first, granted(history.events(), grant).expect("it holds, so it was granted").0)
}

/// Whether the grant is valid once those events of its claim have happened for which `seen` is true.
fn valid_after(history: &History, grant: CallId, seen: impl Fn(&doublehold_history::Event) -> bool) -> bool {
    let events = history.events();
    let Some((start, _)) = granted(events, grant) else { return false };
    let end = claim_end(events, grant).unwrap_or(events.len());
    let mut valid = true;
    for (place, event) in events.iter().enumerate().take(end).filter(|(_, event)| seen(event)) {
        match event.what {
            EventKind::DeadlinePassed { grant: this, .. } if this == grant => valid = false,
            EventKind::Extended { grant: this, .. } if this == grant && place > start => valid = true,
            EventKind::Granted { grant: this, deadline: Some(deadline), reading: Some(reading), .. }
                if this == grant =>
            {
                valid &= reading.clock_ns(deadline.clock) < deadline.reading_ns.into();
            }
            _ => {}
        }
    }
    valid
}

fn clock(history: &History, grant: CallId) -> ClockKind {
    let clock = history.events().iter().find_map(|event| match event.what {
        EventKind::Granted { grant: this, deadline, .. } if this == grant => {
            deadline.map(|deadline| deadline.clock)
        }
        _ => None,
    });
    clock.unwrap_or(ClockKind::Monotonic)
}

fn reading(history: &History, client: ClientId, at: u64) -> Option<Reading> {
    history.events().iter().rev().find_map(|event| match event.what {
        EventKind::Granted { client: this, reading: Some(reading), .. }
        | EventKind::Clocks { client: this, reading }
            if this == client && event.at.0 == at =>
        {
            Some(reading)
        }
        _ => None,
    })
}
