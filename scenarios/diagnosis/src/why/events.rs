//! The moments of a run at which something happened that may have decided it: faults, grants, keys that went, writes.
//!
//! Faults come after whatever else happened at their instant, as a moment of their own: what struck at a grant is told
//! from the grant.

use std::collections::BTreeMap;

use doublehold_history::{EventKind, TrueNs};
use doublehold_scenarios::report::{KeyEnd, Report};

/// More than a page of them nobody reads, and each costs many runs.
const MOMENTS_MAX: usize = 40;

/// A moment, and what happened since the one before.
#[derive(Clone, Debug)]
pub(super) struct Moment {
    pub(super) at: TrueNs,
    /// Whether the faults of this instant have struck.
    pub(super) faults_included: bool,
    pub(super) happened: Vec<String>,
}

impl Moment {
    /// Instant from which on the future is another.
    pub(super) fn future_start(&self) -> TrueNs {
        TrueNs(self.at.0.saturating_add(1))
    }
}

/// The beginning, and every moment at which something happened.
pub(super) fn moments(report: &Report) -> Vec<Moment> {
    let mut happened: BTreeMap<(TrueNs, bool), Vec<String>> = BTreeMap::new();
    for fault in &report.faults {
        if let Some(from) = fault.from {
            happened.entry((from, true)).or_default().push(fault.fault.to_string());
        }
    }
    // A key that goes at the instant of a fault goes by it: a clock that jumps, a node that dies.
    for (at, what) in keys_gone(report) {
        let by_a_fault = happened.contains_key(&(at, true));
        happened.entry((at, by_a_fault)).or_default().push(what);
    }
    for (at, what) in events(report) {
        happened.entry((at, false)).or_default().push(what);
    }
    let beginning =
        Moment { at: TrueNs(0), faults_included: false, happened: vec!["the run begins".to_owned()] };
    let moment = |((at, faults_included), mut happened): (_, Vec<String>)| {
        happened.dedup();
        Moment { at, faults_included, happened }
    };
    thin_out([beginning].into_iter().chain(happened.into_iter().map(moment)).collect())
}

/// No more than there is room for: what faults did stays, and of the rest so many at equal steps. What happened at a
/// moment that is left out is told with the next.
fn thin_out(moments: Vec<Moment>) -> Vec<Moment> {
    let others = moments.iter().filter(|moment| !moment.faults_included).count();
    let room = MOMENTS_MAX.saturating_sub(moments.len() - others).max(2);
    let step = others.div_ceil(room).max(1);
    let (mut kept, mut waiting, mut count) = (Vec::new(), Vec::new(), 0_usize);
    let last = moments.len().saturating_sub(1);
    for (place, mut moment) in moments.into_iter().enumerate() {
        let is_kept = moment.faults_included || place == last || count.is_multiple_of(step);
        count += usize::from(!moment.faults_included);
        if is_kept {
            waiting.append(&mut moment.happened);
            moment.happened = std::mem::take(&mut waiting);
            kept.push(moment);
        } else {
            waiting.append(&mut moment.happened);
        }
    }
    kept
}

/// What clients and the resource did.
fn events(report: &Report) -> Vec<(TrueNs, String)> {
    let header = report.history.header();
    let told = |event: &doublehold_history::Event| {
        let what = match &event.what {
            EventKind::Granted { client, .. } => format!("{} is granted the lock", header.client(*client)),
            EventKind::DeadlinePassed { client, .. } => {
                format!("{}'s deadline passes", header.client(*client))
            }
            EventKind::ExpiryNoticed { client, .. } => {
                format!("{} sees that its lease is over", header.client(*client))
            }
            EventKind::ReleaseCalled { client, .. } => format!("{} calls release", header.client(*client)),
            EventKind::WriteSent { client, .. } => format!("{} sends a write", header.client(*client)),
            EventKind::WriteApplied { client, .. } => {
                format!("a write of {} is applied", header.client(*client))
            }
            EventKind::Died { client } => format!("{} is dead", header.client(*client)),
            _ => return None,
        };
        Some((event.at, what))
    };
    report.history.events().iter().filter_map(told).collect()
}

/// Keys that went otherwise than by their owner's release.
fn keys_gone(report: &Report) -> Vec<(TrueNs, String)> {
    let name = |host: doublehold_scenarios::model::scenario::HostIndex| &report.scenario.hosts[host.0].name;
    let told = |span: &doublehold_scenarios::report::KeySpan| {
        let (at, how) = span.until?;
        let how = match how {
            KeyEnd::Expired => "expires",
            KeyEnd::Forgotten => "is forgotten",
            KeyEnd::Overwritten => "is overwritten",
            KeyEnd::Flushed => "is flushed",
            KeyEnd::Evicted => "is evicted",
            KeyEnd::SessionEnded => "is gone with its session",
            KeyEnd::Deleted => return None,
        };
        Some((at, format!("{}'s key {how} on {}", name(span.client), name(span.node))))
    };
    report.keys.iter().filter_map(told).collect()
}

#[cfg(test)]
mod tests {
    use doublehold_scenarios::catalog;
    use doublehold_scenarios::{Engine, LeanEngine};

    use super::*;

    fn moment(at: u64, faults_included: bool) -> Moment {
        Moment { at: TrueNs(at), faults_included, happened: vec![at.to_string()] }
    }

    #[test]
    fn of_a_long_run_every_fault_is_a_moment_and_nothing_that_happened_is_left_out() {
        for (count, each) in
            [(1, 9), (40, 100), (41, 100), (45, 9), (60, 2), (79, 100), (120, 3), (1_000, 100)]
        {
            let moments: Vec<Moment> = (0..count).map(|at| moment(at, at % each == 7 % each)).collect();
            let faults = moments.iter().filter(|moment| moment.faults_included).count();
            let kept = thin_out(moments);
            let about = format!("{} of {count}, {faults} faults", kept.len());
            assert!(kept.len() <= MOMENTS_MAX.max(faults + 2) + 1, "{about}");
            assert!(kept.len() as u64 >= count.min(20), "{about}");
            assert_eq!(kept.iter().filter(|moment| moment.faults_included).count(), faults, "{about}");
            assert_eq!((kept[0].at, kept[kept.len() - 1].at), (TrueNs(0), TrueNs(count - 1)), "{about}");
            let told: Vec<String> = kept.into_iter().flat_map(|moment| moment.happened).collect();
            assert_eq!(told, (0..count).map(|at| at.to_string()).collect::<Vec<_>>());
        }
    }

    /// Everything that happened, by going through the report once for each instant.
    #[test]
    fn each_moment_tells_what_happened_at_its_instant_and_what_struck_then_after_it() {
        for name in ["clock-jump", "lease-pause", "crash-restart", "failover-before-replication"] {
            let report = LeanEngine.run(&catalog::load(name, &[]).expect("in the catalogue"), 1);
            let moments = moments(&report);
            assert!(moments.len() < MOMENTS_MAX, "{name}: nothing is thinned out");
            let expect = |at: TrueNs, strikes: bool| {
                let faults =
                    report.faults.iter().filter(|it| it.from == Some(at)).map(|it| it.fault.to_string());
                let faults: Vec<String> = faults.collect();
                let keys = keys_gone(&report).into_iter().filter(|it| it.0 == at).map(|it| it.1);
                let done = events(&report).into_iter().filter(|it| it.0 == at).map(|it| it.1);
                let mut all: Vec<String> = match (strikes, faults.is_empty()) {
                    (true, false) => faults.into_iter().chain(keys).collect(),
                    (true, true) => Vec::new(),
                    (false, false) => done.collect(),
                    (false, true) => keys.chain(done).collect(),
                };
                all.dedup();
                all
            };
            let faults = report.faults.iter().filter_map(|it| it.from);
            let others = events(&report).into_iter().chain(keys_gone(&report)).map(|it| it.0);
            let mut instants: Vec<TrueNs> = faults.chain(others).collect();
            instants.sort_unstable();
            instants.dedup();
            let each = instants.iter().flat_map(|at| [(*at, false), (*at, true)]);
            let expected: Vec<_> = each
                .map(|(at, strikes)| (at, strikes, expect(at, strikes)))
                .filter(|it| !it.2.is_empty())
                .collect();
            let begins = &moments[0];
            assert_eq!((begins.at, begins.faults_included), (TrueNs(0), false), "{name}");
            assert_eq!(begins.happened, ["the run begins"], "{name}");
            let told = moments.into_iter().skip(1).map(|it| (it.at, it.faults_included, it.happened));
            assert_eq!(told.collect::<Vec<_>>(), expected, "{name}");
            let deleted =
                report.keys.iter().filter(|key| matches!(key.until, Some((_, KeyEnd::Deleted)))).count();
            let gone = report.keys.iter().filter(|key| key.until.is_some()).count();
            assert_eq!(keys_gone(&report).len(), gone - deleted, "{name}: a release is told of its client");
        }
    }

    #[test]
    fn the_future_is_another_from_the_nanosecond_after_a_moment() {
        assert_eq!(moment(7, true).future_start(), TrueNs(8));
    }
}
