//! Claims: for each grant, when its client believed in it (P1), and when it was entitled to (P2).
//!
//! A claim runs from `granted` to the first of `release_called`, `expiry_noticed`, the client's death, or the
//! end of the history. Its *valid* spans are what is left after cutting it wherever the deadline the client
//! computed passes on the client's own clock.
//!
//! Intervals are half-open, `[from, to)`: a release and a grant at one instant do not overlap, whichever was
//! recorded first. A claim that ends where it began has no length and is a claim all the same: it was held at that
//! one instant.
//!
//! Assumes that a grant is granted once; a second `granted` of the same id is ignored.

use std::collections::{HashMap, HashSet};

use crate::clock::{ClockKind, Deadline, Reading};
use crate::event::{CallId, ClientId, EventKind, LockId, TrueNs};
use crate::history::History;

/// One grant's claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Who claims.
    pub client: ClientId,
    /// By which grant.
    pub grant: CallId,
    /// What.
    pub lock: LockId,
    /// The whole claim, as P1 sees it.
    pub span: Span,
    /// The parts of it in which no deadline had passed, as P2 sees it: in order, apart from each other, none
    /// without length unless the whole claim is. Equal to the claim if the algorithm computes no deadline.
    pub valid: Vec<Span>,
    /// The clock its first deadline is on; monotonic if it computed none.
    pub clock: ClockKind,
}

/// A half-open interval of true time, `[from, to)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its first instant.
    pub from: TrueNs,
    /// The first instant after it.
    pub to: TrueNs,
    /// Nothing ended it but the history did.
    pub open_ended: bool,
}

impl Span {
    /// Whether it has no length.
    pub fn is_empty(&self) -> bool {
        self.from >= self.to
    }
}

/// Every granted acquire call's claim, in the order of `granted`.
///
/// ```
/// use doublehold_history::{claims, ClientId, CallId, Header, History, LockId, Reading, TrueNs, EventKind};
///
/// let mut history = History::new(Header::new("example", 7, &["c1"], &["stock"]));
/// let (client, grant, lock) = (ClientId(0), CallId(1), LockId(0));
/// let reading = Reading { wall_ns: 0, monotonic_ns: 0, boot_ns: 0 };
/// history.push(
///     TrueNs(10),
///     EventKind::Granted {
///         client, grant, lock, token: "2a".into(),
///         fencing: None, deadline: None, reading: Some(reading), within: None,
///     },
/// );
/// history.push(TrueNs(30), EventKind::ReleaseCalled { client, grant });
/// let claims = claims(&history);
/// assert_eq!((claims[0].span.from, claims[0].span.to), (TrueNs(10), TrueNs(30)));
/// assert_eq!(claims[0].valid, [claims[0].span]);
/// ```
pub fn claims(history: &History) -> Vec<Claim> {
    let mut scan = Scan::default();
    for event in history.events() {
        scan.see(event.at, &event.what);
    }
    scan.finish(history.end())
}

/// Claims as far as the history has been read.
#[derive(Default)]
struct Scan {
    claims: Vec<Claim>,
    /// For each claim: does it run, and since when has it been valid?
    running: Vec<Option<Running>>,
    by_grant: HashMap<CallId, usize>,
    /// Claims that may still run.
    by_client: HashMap<ClientId, Vec<usize>>,
    /// Grants whose deadline passed before acquire returned: a pause between the computation and its use.
    passed_early: HashSet<CallId>,
}

#[derive(Clone, Copy)]
struct Running {
    valid_since: Option<TrueNs>,
}

impl Scan {
    fn see(&mut self, at: TrueNs, what: &EventKind) {
        match what {
            EventKind::Granted { client, grant, lock, deadline, reading, .. } => {
                let late =
                    deadline.zip(*reading).is_some_and(|(deadline, reading)| has_passed(deadline, &reading));
                let valid = !late && !self.passed_early.contains(grant);
                let clock = deadline.map_or(ClockKind::Monotonic, |deadline| deadline.clock);
                self.start(at, *client, *grant, *lock, clock, valid);
            }
            EventKind::DeadlinePassed { grant, .. } => match self.by_grant.get(grant) {
                Some(&claim) => self.invalidate(claim, at),
                None => {
                    self.passed_early.insert(*grant);
                }
            },
            EventKind::Extended { grant, .. } => {
                if let Some(Some(running)) = self.by_grant.get(grant).map(|&claim| &mut self.running[claim]) {
                    // A late extension makes the claim valid again, but not for the time in between.
                    running.valid_since.get_or_insert(at);
                }
            }
            EventKind::ReleaseCalled { grant, .. }
            | EventKind::ExpiryNoticed { grant, .. }
            | EventKind::Abandoned { grant, .. } => {
                if let Some(&claim) = self.by_grant.get(grant) {
                    self.end(claim, at, false);
                }
            }
            EventKind::Died { client } | EventKind::Restarted { client } => {
                for claim in self.by_client.remove(client).unwrap_or_default() {
                    self.end(claim, at, false);
                }
            }
            _ => {}
        }
    }

    fn start(
        &mut self,
        at: TrueNs,
        client: ClientId,
        grant: CallId,
        lock: LockId,
        clock: ClockKind,
        valid: bool,
    ) {
        let claim = self.claims.len();
        if self.by_grant.contains_key(&grant) {
            return;
        }
        self.by_grant.insert(grant, claim);
        self.by_client.entry(client).or_default().push(claim);
        let span = Span { from: at, to: at, open_ended: false };
        self.claims.push(Claim { client, grant, lock, span, valid: Vec::new(), clock });
        self.running.push(Some(Running { valid_since: valid.then_some(at) }));
    }

    /// The deadline passed: ends the current valid span.
    fn invalidate(&mut self, claim: usize, at: TrueNs) {
        if let Some(running) = &mut self.running[claim]
            && let Some(from) = running.valid_since.take()
        {
            add_span(&mut self.claims[claim].valid, Span { from, to: at, open_ended: false });
        }
    }

    fn end(&mut self, claim: usize, at: TrueNs, open_ended: bool) {
        let Some(running) = self.running[claim].take() else { return };
        let ended = &mut self.claims[claim];
        ended.span = Span { to: at, open_ended, ..ended.span };
        match running.valid_since {
            // Given back as it was granted, and valid then.
            Some(_) if ended.span.is_empty() => ended.valid = vec![ended.span],
            Some(from) => add_span(&mut ended.valid, Span { from, to: at, open_ended }),
            None => {}
        }
    }

    fn finish(mut self, at: TrueNs) -> Vec<Claim> {
        for claim in 0..self.claims.len() {
            self.end(claim, at, true);
        }
        self.claims
    }
}

/// Adds a span that begins no earlier than the last one ends; joins the two if they touch.
fn add_span(spans: &mut Vec<Span>, span: Span) {
    if span.is_empty() {
        return;
    }
    match spans.last_mut() {
        Some(last) if last.to == span.from => *last = Span { from: last.from, ..span },
        _ => spans.push(span),
    }
}

fn has_passed(deadline: Deadline, reading: &Reading) -> bool {
    reading.clock_ns(deadline.clock) >= i128::from(deadline.reading_ns)
}
