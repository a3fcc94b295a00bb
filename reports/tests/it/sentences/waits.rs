//! What the evidence says of waits, read again from who asked and who claimed: one stretch of time for each, and the
//! longest there is.
//!
//! Not known here: waits that a stalled world never ends, which no run of the catalogue has.

use std::collections::BTreeSet;

use doublehold_history::{ClientId, EventKind, LockId, TrueNs};
use regex_lite::Captures;

use crate::sentences::evidence::is;
use crate::sentences::seen::{Seen, between, says};
use crate::sentences::several::of_one;

/// How a client ceased to ask.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Granted,
    GaveUp,
    Died,
    RunEnded,
}

/// A client asks for the lock, refusals and the pauses after them included.
struct Asks {
    client: ClientId,
    from: TrueNs,
    to: TrueNs,
    end: End,
}

/// Everything that counts of one lock.
struct Wanted {
    asks: Vec<Asks>,
    /// Who claimed it, and when; also for no time at all.
    claims: Vec<(ClientId, TrueNs, TrueNs)>,
    counted_from: TrueNs,
    ended: TrueNs,
}

impl Wanted {
    fn of(seen: &Seen<'_>, it: &Captures<'_>) -> Option<Wanted> {
        let names = &seen.report.scenario.lock.names;
        let lock = names.iter().zip(0..).find(|(name, _)| **name == it["lock"])?.1;
        let one = of_one(seen.report, LockId(lock), None);
        let seen = Seen::new(&one, seen.trace);
        let ended = seen.report.ended;
        let counted_from = counted_from(&seen);
        let claims = seen.claims.iter().map(|claim| (claim.client, claim.from, claim.to.unwrap_or(ended)));
        Some(Wanted { asks: asks(&seen, counted_from), claims: claims.collect(), counted_from, ended })
    }

    /// Nobody claims the lock at an instant and somebody asks for it.
    fn is_wanted(&self, at: TrueNs) -> bool {
        self.asks.iter().any(|asks| asks.from <= at && at < asks.to)
            && !self.claims.iter().any(|(_, from, to)| *from <= at && at < *to)
    }

    fn is_granted(&self, at: TrueNs) -> bool {
        self.claims.iter().any(|(_, from, _)| *from == at)
    }

    /// All instants at which anything of this changes, in order.
    fn changes(&self) -> BTreeSet<TrueNs> {
        let asks = self.asks.iter().flat_map(|asks| [asks.from, asks.to]);
        let claims = self.claims.iter().flat_map(|(_, from, to)| [*from, *to]);
        asks.chain(claims).chain([self.counted_from, self.ended]).collect()
    }

    /// For how long the lock was claimed between two instants, and by whom.
    fn held(&self, from: TrueNs, to: TrueNs) -> (u64, BTreeSet<ClientId>) {
        let within = |(who, since, until): &(ClientId, TrueNs, TrueNs)| {
            let (since, until) = ((*since).max(from), (*until).min(to));
            (since < until).then_some((*who, since, until))
        };
        let claims: Vec<_> = self.claims.iter().filter_map(within).collect();
        let mut cuts: Vec<TrueNs> = claims.iter().flat_map(|(_, since, until)| [*since, *until]).collect();
        cuts.sort_unstable();
        let pieces = cuts
            .windows(2)
            .filter(|piece| claims.iter().any(|(_, since, until)| *since <= piece[0] && piece[1] <= *until));
        let held = pieces.map(|piece| piece[1].0 - piece[0].0).sum();
        (held, claims.into_iter().map(|(who, ..)| who).collect())
    }
}

/// The end of the last fault where only what comes after it counts, and the beginning otherwise.
fn counted_from(seen: &Seen<'_>) -> TrueNs {
    let ends = seen.report.faults.iter().filter_map(|fault| fault.until.max(fault.from));
    let counts = seen.report.scenario.limits.after_faults;
    ends.max().filter(|_| counts).unwrap_or(TrueNs(0))
}

fn asks(seen: &Seen<'_>, counted_from: TrueNs) -> Vec<Asks> {
    let mut all = Vec::new();
    for client in (0..seen.report.scenario.clients.len() as u32).map(ClientId) {
        let mut since: Option<TrueNs> = None;
        for (at, what) in seen.all().filter(|(_, what)| what.client() == Some(client)) {
            let end = match what {
                EventKind::AcquireStarted { .. } => {
                    since = since.or(Some(at));
                    continue;
                }
                EventKind::Granted { .. } => End::Granted,
                EventKind::GaveUp { .. } => End::GaveUp,
                EventKind::Died { .. } | EventKind::Restarted { .. } => End::Died,
                _ => continue,
            };
            all.extend(since.take().map(|from| Asks { client, from, to: at, end }));
        }
        all.extend(since.map(|from| Asks { client, from, to: seen.report.ended, end: End::RunEnded }));
    }
    let counted = all.into_iter().filter(|asks| asks.to >= counted_from);
    counted.map(|asks| Asks { from: asks.from.max(counted_from), ..asks }).collect()
}

fn clients(seen: &Seen<'_>, names: &str) -> Option<BTreeSet<ClientId>> {
    names.split(", ").flat_map(|names| names.split(" and ")).map(|name| seen.client(name)).collect()
}

/// These clients, and no others, asked at some time of the stretch, in all of which somebody asked and nobody claimed;
/// it was not so just before, and it ended as the words say.
pub(crate) fn free(seen: &Seen<'_>, it: &Captures<'_>) -> Option<bool> {
    let wanted = Wanted::of(seen, it)?;
    let named = clients(seen, &it["who"])?;
    let bound = seen.report.scenario.limits.obtain_free_within?;
    let changes = wanted.changes();
    let ended_so = |to: TrueNs| match &it["how"] {
        "it was obtained" => wanted.is_granted(to),
        "the run ended" => to == wanted.ended && wanted.asks.iter().any(|asks| asks.end == End::RunEnded),
        _ => {
            let left = |asks: &Asks| asks.to == to && matches!(asks.end, End::GaveUp | End::Died);
            !wanted.is_granted(to) && !wanted.is_wanted(to) && wanted.asks.iter().any(left)
        }
    };
    let so = |from: TrueNs, to: TrueNs| {
        let asked = wanted.asks.iter().filter(|asks| asks.from.max(from) < asks.to.min(to));
        let asked: BTreeSet<ClientId> = asked.map(|asks| asks.client).collect();
        let all_the_while = changes.range(from..to).all(|at| wanted.is_wanted(*at));
        let not_before =
            from <= wanted.counted_from || wanted.is_granted(from) || !wanted.is_wanted(TrueNs(from.0 - 1));
        let undisturbed = !changes.range(from..to).skip(1).any(|at| wanted.is_granted(*at));
        let long = between(from, to);
        let length = says(&it["long"], long) && says(&it["bound"], bound) && long > bound;
        asked == named && all_the_while && undisturbed && not_before && ended_so(to) && length
    };
    let starts = changes.iter().filter(|from| is(&it["from"], **from));
    Some(
        starts.into_iter().any(|from| {
            changes.range(*from..).skip(1).filter(|to| is(&it["to"], **to)).any(|to| so(*from, *to))
        }),
    )
}

/// The client asked for so long, whoever claimed the lock meanwhile, and ceased as the words say.
pub(crate) fn any(seen: &Seen<'_>, it: &Captures<'_>) -> Option<bool> {
    let (wanted, who) = (Wanted::of(seen, it)?, seen.client(&it["who"])?);
    let bound = seen.report.scenario.limits.obtain_within?;
    let end = match &it["how"] {
        "was granted" => End::Granted,
        "gave up" => End::GaveUp,
        "died" => End::Died,
        _ => End::RunEnded,
    };
    let holders = it.name("holders").map(|names| clients(seen, names.as_str()));
    let holders = match holders {
        Some(named) => named?,
        None => BTreeSet::new(),
    };
    let so = |asks: &&Asks| {
        let (from, to, long) = (asks.from, asks.to, between(asks.from, asks.to));
        let (held_ns, held_by) = wanted.held(from, to);
        let held = match it.name("part") {
            Some(part) => says(part.as_str(), between(TrueNs(0), TrueNs(held_ns))) && held_ns < to.0 - from.0,
            None => held_ns == if holders.is_empty() { 0 } else { to.0 - from.0 },
        };
        let times = is(&it["from"], from) && is(&it["to"], to) && says(&it["long"], long);
        let too_long = says(&it["bound"], bound) && long > bound;
        times && too_long && held && held_by == holders && asks.client == who && asks.end == end
    };
    Some(wanted.asks.iter().any(|asks| so(&asks)))
}
