//! P1 claim overlap and P2 valid overlap: two clients hold one lock at once.
//!
//! Exact: every pair of claims of different clients on one lock that share some time is found, each with the
//! longest interval they share; a pair whose validity came back after an extension may be found twice under
//! P2. A claim of no length shares its one instant with a claim that began before and ends after it. At another's
//! first or last instant the two only touch, and so do two of no length at one instant: either may have come first.
//! A sweep over sorted ends, O(n log n + k) for n claims and k overlaps.
//!
//! What is shorter than the error of the history's instants shows nothing, and is no evidence. Where both still hold at
//! the end, no instant decides.
//!
//! One client's own grants never overlap each other: a client that acquires twice is one owner that re-enters.
//! So threads that must exclude each other have to be separate clients.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};
use std::ops::ControlFlow;

use crate::claims::{Claim, Span, claims};
use crate::clock::Reading;
use crate::event::{ClientId, EventKind, LockId, TrueNs};
use crate::history::History;
use crate::verdict::{ClockSpan, Evidence, Findings, Overlap, Predicate, Verdict};

/// P1: two clients both believed they held the lock.
pub fn claim_overlap(history: &History) -> Verdict {
    claim_overlap_of(history, &claims(history))
}

/// P2: as P1, but a claim counts only while its client's own deadline has not passed.
pub fn valid_overlap(history: &History) -> Verdict {
    valid_overlap_of(history, &claims(history))
}

/// P1, given the history's claims.
pub(crate) fn claim_overlap_of(history: &History, claims: &[Claim]) -> Verdict {
    let held = claims.iter().enumerate().map(|(claim, it)| HeldSpan { claim, span: it.span });
    check(history, Predicate::P1, claims, held.collect())
}

/// P2, given the history's claims.
pub(crate) fn valid_overlap_of(history: &History, claims: &[Claim]) -> Verdict {
    let mut held = Vec::with_capacity(claims.len());
    for (claim, it) in claims.iter().enumerate() {
        held.extend(it.valid.iter().map(|&span| HeldSpan { claim, span }));
    }
    check(history, Predicate::P2, claims, held)
}

/// A claim, or a valid part of one.
#[derive(Clone, Copy)]
struct HeldSpan {
    claim: usize,
    span: Span,
}

fn check(history: &History, predicate: Predicate, claims: &[Claim], held: Vec<HeldSpan>) -> Verdict {
    let mut readings = None;
    let mut findings = Findings::new(predicate);
    let error_ns = history.header().error_ns;
    let mut is_any_too_short = false;
    // A break means that there is enough evidence already.
    let _ = sweep(claims, held, |first, second| {
        let readings = readings.get_or_insert_with(|| Readings::from_history(history));
        let overlap = overlap(predicate, claims, readings, first, second);
        if !overlap.open_ended && overlap.to.since(overlap.from) < error_ns {
            is_any_too_short = true;
            return ControlFlow::Continue(());
        }
        findings.push(Evidence::Overlap(overlap))
    });
    match findings.into_verdict() {
        Verdict::Holds if is_any_too_short => Verdict::Inconclusive(format!(
            "two clients both held the lock for less than {}, which is how exact the instants are",
            doublehold_text::duration(error_ns)
        )),
        verdict => verdict,
    }
}

/// Calls `found` once for each overlapping pair, in the order in which overlaps begin.
fn sweep(
    claims: &[Claim],
    mut held: Vec<HeldSpan>,
    mut found: impl FnMut(HeldSpan, HeldSpan) -> ControlFlow<()>,
) -> ControlFlow<()> {
    // Those of no length first: what begins at that instant only touches them.
    held.sort_by_key(|it| (it.span.from, !it.span.is_empty(), it.claim));

    let mut ends: BinaryHeap<Reverse<(TrueNs, usize)>> = BinaryHeap::new();
    // Grouped by client, so that skipping a client's own claims costs one step however many it has.
    let mut active: HashMap<LockId, BTreeMap<ClientId, BTreeSet<usize>>> = HashMap::new();
    for (index, &it) in held.iter().enumerate() {
        while let Some(&Reverse((to, ended))) = ends.peek()
            && to <= it.span.from
        {
            ends.pop();
            remove(&mut active, &claims[held[ended].claim], ended);
        }
        let Claim { client, lock, .. } = claims[it.claim];
        let holders = active.entry(lock).or_default();
        for (_, theirs) in holders.iter().filter(|(other, _)| **other != client) {
            for &other in theirs {
                found(held[other], it)?;
            }
        }
        if it.span.is_empty() {
            continue;
        }
        holders.entry(client).or_default().insert(index);
        ends.push(Reverse((it.span.to, index)));
    }
    ControlFlow::Continue(())
}

fn remove(active: &mut HashMap<LockId, BTreeMap<ClientId, BTreeSet<usize>>>, claim: &Claim, ended: usize) {
    let Some(holders) = active.get_mut(&claim.lock) else { return };
    let Some(theirs) = holders.get_mut(&claim.client) else { return };
    theirs.remove(&ended);
    if theirs.is_empty() {
        holders.remove(&claim.client);
    }
}

fn overlap(
    predicate: Predicate,
    claims: &[Claim],
    readings: &Readings,
    first: HeldSpan,
    second: HeldSpan,
) -> Overlap {
    let pair = [&claims[first.claim], &claims[second.claim]];
    let from = second.span.from;
    let to = first.span.to.min(second.span.to);
    Overlap {
        predicate,
        lock: pair[0].lock,
        clients: pair.map(|it| it.client),
        grants: pair.map(|it| it.grant),
        from,
        to,
        open_ended: first.span.open_ended && second.span.open_ended,
        clocks: pair.map(|it| ClockSpan {
            clock: it.clock,
            from: readings.at(it.client, from),
            to: readings.at(it.client, to),
        }),
    }
}

/// What the history knows of clients' clocks. Looked up by exact instant: nothing is interpolated, as a clock
/// may have been stepped in between.
struct Readings(HashMap<(ClientId, TrueNs), Reading>);

impl Readings {
    fn from_history(history: &History) -> Self {
        let known = history.events().iter().filter_map(|event| match event.what {
            EventKind::Granted { client, reading: Some(reading), .. }
            | EventKind::Clocks { client, reading } => Some(((client, event.at), reading)),
            _ => None,
        });
        Self(known.collect())
    }

    fn at(&self, client: ClientId, at: TrueNs) -> Option<Reading> {
        self.0.get(&(client, at)).copied()
    }
}
