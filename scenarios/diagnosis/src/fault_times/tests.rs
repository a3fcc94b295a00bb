//! Every answer against a scan of all faults at every instant: random faults of few hosts and instants, so that they
//! often begin, end and meet at one.

use std::collections::BTreeSet;

use doublehold_scenarios::fault::{Fault, Way};
use doublehold_sim::{ClockKind, Seed, Stream};

use super::*;

const INSTANTS: u64 = 12;
const HOSTS: u64 = 3;

fn random(stream: &mut Stream) -> FaultReport {
    let kinds = [
        Fault::pause("x"),
        Fault::suspend("x"),
        Fault::crash("x"),
        Fault::power_loss("x"),
        Fault::clock_freeze("x", ClockKind::Wall),
        Fault::cut(Way::between("x", "y")),
    ];
    let from = stream.below(INSTANTS);
    let until = from + stream.below(INSTANTS);
    let first = stream.below(HOSTS) as usize;
    let hosts = (first..=first + stream.below(2) as usize).map(|host| HostIndex(host % HOSTS as usize));
    FaultReport {
        fault: kinds[stream.below(kinds.len() as u64) as usize].clone(),
        hosts: hosts.collect(),
        from: (stream.below(6) > 0).then_some(TrueNs(from)),
        until: (stream.below(4) > 0).then_some(TrueNs(until)),
    }
}

fn is_a(fault: &FaultReport, words: &[&str]) -> bool {
    words.contains(&fault.fault.effect.kind().word)
}

fn stops(fault: &FaultReport) -> bool {
    is_a(fault, &["pause", "suspend", "crash", "power-loss"])
}

/// From its first instant on, and no longer at its last.
fn lasts(fault: &FaultReport, at: TrueNs) -> bool {
    fault.from.is_some_and(|from| from <= at) && fault.until.is_none_or(|until| at < until)
}

/// The word for the last of these that began, the last in the report of several.
fn last<'a>(faults: impl Iterator<Item = &'a FaultReport>) -> Option<&'static str> {
    faults.max_by_key(|fault| fault.from).map(|fault| fault.fault.effect.kind().state)
}

/// A host is started where a death ends and it was down just before, whatever began or ended earlier.
fn starts(faults: &[&FaultReport]) -> BTreeSet<TrueNs> {
    let (mut up, mut found) = (true, BTreeSet::new());
    for at in (0..2 * INSTANTS).map(TrueNs) {
        // A host that goes down and up at one instant goes down first.
        up &= !faults.iter().any(|fault| fault.from == Some(at));
        let ends = faults.iter().any(|fault| fault.from.is_some() && fault.until == Some(at));
        if ends && !up {
            found.insert(at);
        }
        up |= ends;
    }
    found
}

fn assert_at(faults: &[FaultReport], host: HostIndex, at: TrueNs) {
    let times = FaultTimes::new(faults);
    let of_host = || faults.iter().filter(|fault| fault.from.is_some() && fault.hosts.contains(&host));
    let what = || format!("{host:?} at {at:?} of {faults:#?}");
    let stopped = of_host().filter(|fault| stops(fault) && lasts(fault, at));
    assert_eq!(times.stop_word(host, at), last(stopped), "{}", what());
    for to in (at.0..INSTANTS).map(TrueNs) {
        let within = of_host().filter(|fault| {
            stops(fault) && fault.from <= Some(to) && fault.until.is_none_or(|until| at < until)
        });
        assert_eq!(times.stopped_within(host, at, to), last(within), "to {to:?}, {}", what());
    }
    let by = of_host().any(|fault| stops(fault) && fault.from <= Some(at));
    assert_eq!(times.was_stopped_by(host, at), by, "{}", what());
    let deaths: Vec<_> = of_host().filter(|fault| is_a(fault, &["crash", "power-loss"])).collect();
    assert_eq!(times.starts_again_at(host, at), starts(&deaths).contains(&at), "{}", what());
}

fn assert_of(faults: &[FaultReport], fault: &FaultReport) {
    let times = FaultTimes::new(faults);
    let shares = |other: &&FaultReport| other.hosts.iter().any(|host| fault.hosts.contains(host));
    let kills = |other: &FaultReport| {
        is_a(fault, &["pause"]) && is_a(other, &["crash", "power-loss"])
            || is_a(fault, &["suspend"]) && is_a(other, &["power-loss"])
    };
    let died = fault.from.is_some_and(|from| {
        faults.iter().filter(shares).any(|other| {
            let in_time =
                other.from.is_some_and(|at| from <= at && fault.until.is_none_or(|until| at <= until));
            kills(other) && in_time
        })
    });
    assert_eq!(times.died_since(fault), died, "{fault:?} of {faults:#?}");
    if let (Some(_), Some(ends)) = (fault.from, fault.until) {
        let is_alike = |other: &FaultReport| {
            stops(fault) && stops(other) || is_a(other, &[fault.fault.effect.kind().word])
        };
        let goes_on = faults.iter().filter(shares).any(|other| is_alike(other) && lasts(other, ends));
        assert_eq!(times.goes_on(fault, ends), goes_on, "{fault:?} of {faults:#?}");
    }
}

#[test]
fn faults_are_found_as_a_scan_finds_them() {
    let mut stream = Stream::new(Seed(1), "fault times");
    for _ in 0..300 {
        let faults: Vec<FaultReport> = (0..stream.below(9)).map(|_| random(&mut stream)).collect();
        for host in (0..HOSTS as usize).map(HostIndex) {
            (0..2 * INSTANTS).for_each(|at| assert_at(&faults, host, TrueNs(at)));
        }
        faults.iter().for_each(|fault| assert_of(&faults, fault));
    }
}
