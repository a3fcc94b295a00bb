//! The runs that a change is tried in: the scenario's faults moved by a little, and other seeds.
//!
//! A violation often needs a fault within a millisecond of one event. Almost any change moves that event, and the
//! violation is gone with the run that showed it and back with the next. So a change is tried at other moments, too. A
//! quarter of the trials has another seed alone, a quarter the run's own seed with moved faults, a quarter both, and a
//! quarter both with other delays: a scenario whose delays are fixed is much the same from every seed.
//!
//! Either one fault is moved or each by its own amount. Its moment comes earlier or later, and its length or size, if
//! it has one, is another. The amount is equally likely in each octave from a millisecond, which is the order of a
//! message's delay, to the lease: a violation depends on one of these orders, and nobody knows beforehand on which. A
//! fault that waits for an event is moved after that event, or to a time around the one at which it struck, since a
//! change may number the events differently.
//!
//! With other delays, each way between two hosts is from half to sixteen times as long. Not moved: whom a fault
//! strikes, drifts, and chances of loss.
//!
//! Decision: "`why` tests each remedy in 200 runs with moved faults" (docs/decisions/search.md).

use std::time::Duration;

use doublehold_history::TrueNs;
use doublehold_scenarios::model::fault::{Effect, Fault, Nature, Slot};
use doublehold_scenarios::model::scenario::{DelayLaw, HostIndex, LinkSetup, Scenario};
use doublehold_scenarios::model::when::When;
use doublehold_scenarios::report::Report;
use doublehold_sim::{Seed, Stream};

/// The smallest move: of the order of a message's delay, and what lengths of faults are rounded to.
const SMALLEST: Duration = Duration::from_millis(1);
/// With more hosts than this there are more ways between them than is worth it.
const HOSTS_MAX: usize = 30;

/// One run that each change is tried in.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    pub(super) seed: Seed,
    /// The scenario's faults, as they are and moved.
    moved: Vec<(Fault, Fault)>,
    /// The label of the streams for other delays, which have the names of hosts besides; none if delays stay.
    delays: Option<String>,
}

impl Trial {
    /// A changed scenario in this trial, but for the seed.
    pub(super) fn apply(&self, scenario: &Scenario) -> Scenario {
        let links = self.delays.as_ref().filter(|_| scenario.hosts.len() <= HOSTS_MAX);
        let links = links.map_or_else(|| scenario.links.clone(), |label| links_of(scenario, label));
        Scenario { faults: self.faults(&scenario.faults), links, ..scenario.clone() }
    }

    /// A changed scenario's faults. One that the change itself altered stays where it is.
    fn faults(&self, of: &[Fault]) -> Vec<Fault> {
        let moved = |fault: &Fault| self.moved.iter().find(|(was, _)| was == fault);
        of.iter().map(|fault| moved(fault).map_or_else(|| fault.clone(), |(_, is)| is.clone())).collect()
    }
}

/// So many trials of a run. `faults` are the scenario's, and `seeds` are others than its own.
pub(super) fn trials(report: &Report, faults: &[Fault], seeds: impl Iterator<Item = Seed>) -> Vec<Trial> {
    let lease = longest_lease(&report.scenario);
    let struck: Vec<Option<TrueNs>> =
        report.scenario.faults.iter().map(|fault| first_strike(report, fault)).collect();
    let trial = |(number, other): (u64, Seed)| {
        let label = format!("why/trial/{number}");
        let mut stream = Stream::new(report.seed, &label);
        let are_moved = number % 4 != 0 && !faults.is_empty();
        let only = (stream.below(2) == 0).then(|| stream.below(faults.len().max(1) as u64) as usize);
        let mut to = |place: usize, fault: &Fault| match are_moved && only.is_none_or(|only| only == place) {
            true => move_fault(fault, struck[place], lease, &mut stream),
            false => fault.clone(),
        };
        let moved =
            faults.iter().enumerate().map(|(place, fault)| (fault.clone(), to(place, fault))).collect();
        let seed = if are_moved && number % 4 == 1 { report.seed } else { other };
        Trial { seed, moved, delays: (number % 4 == 3).then_some(label) }
    };
    (0..).zip(seeds).map(trial).collect()
}

fn longest_lease(scenario: &Scenario) -> Duration {
    scenario.clients.iter().filter_map(|client| client.ttl).fold(scenario.lock.ttl, Duration::max)
}

/// The longest that a client waits in a trial: in a run that is moved by a lease at most, whoever waits for ten times
/// as long as a lease and the whole run waits for something that does not come. Twice as long left more runs undecided.
pub(super) fn patience(report: &Report) -> Duration {
    (longest_lease(&report.scenario) + Duration::from_nanos(report.ended.0)).saturating_mul(10)
}

/// Every way between two hosts with delays of its own.
fn links_of(scenario: &Scenario, label: &str) -> Vec<(HostIndex, HostIndex, LinkSetup)> {
    let is_machine = |host: &HostIndex| scenario.process_of(*host).is_none();
    let hosts = || (0..scenario.hosts.len()).map(HostIndex).filter(is_machine);
    let pairs = hosts().flat_map(|from| hosts().filter(move |to| *to != from).map(move |to| (from, to)));
    let link = |(from, to): (HostIndex, HostIndex)| {
        let own = scenario.links.iter().find(|(one, other, _)| (*one, *other) == (from, to));
        let quality = own.map_or(&scenario.link, |(_, _, quality)| quality);
        // By their names: without a client the others have other numbers, and are to have the same delays.
        let [from_name, to_name] = [from, to].map(|host| &scenario.hosts[host.0].name);
        let mut stream = Stream::new(Seed(0), &format!("{label}/{from_name}/{to_name}"));
        let half_times = 1_u32 << stream.below(6);
        let longer = |delay: Duration| delay.saturating_mul(half_times) / 2;
        (from, to, LinkSetup { delay: each_delay(&quality.delay, longer), ..quality.clone() })
    };
    pairs.map(link).collect()
}

/// The law with each of its lengths made another.
fn each_delay(law: &DelayLaw, other: impl Fn(Duration) -> Duration) -> DelayLaw {
    match law {
        DelayLaw::Fixed(delay) => DelayLaw::Fixed(other(*delay)),
        DelayLaw::Uniform { min, max } => DelayLaw::Uniform { min: other(*min), max: other(*max) },
        DelayLaw::LogNormal { median, sigma_milli } => {
            DelayLaw::LogNormal { median: other(*median), sigma_milli: *sigma_milli }
        }
        DelayLaw::Quantiles(delays) => {
            DelayLaw::Quantiles(delays.iter().map(|delay| other(*delay)).collect())
        }
    }
}

/// When a fault first struck.
pub(super) fn first_strike(report: &Report, fault: &Fault) -> Option<TrueNs> {
    report.faults.iter().filter(|it| it.fault == *fault).filter_map(|it| it.from).min()
}

fn move_fault(fault: &Fault, struck: Option<TrueNs>, lease: Duration, stream: &mut Stream) -> Fault {
    let mut moved = fault.clone();
    let has_length = moved.lasting.is_some() || size_of(&mut moved.effect).is_some();
    let of_length = has_length && stream.below(2) == 0;
    if !of_length || stream.below(2) == 0 {
        (moved.at, moved.each) = moment(fault, struck, lease, stream);
    }
    if of_length {
        let least = if fault.effect.kind().nature == Nature::Death { Duration::ZERO } else { SMALLEST };
        if let Some(lasting) = &mut moved.lasting {
            *lasting = vary_length(*lasting, lease, stream).max(least);
        }
        match size_of(&mut moved.effect) {
            Some(Slot::Delay(_, by)) => *by = vary_length(*by, lease, stream).max(SMALLEST),
            Some(Slot::Step(by)) => {
                let size = vary_length(Duration::from_nanos(by.unsigned_abs()), lease, stream).max(SMALLEST);
                *by = by.signum() * i64::try_from(size.as_nanos()).unwrap_or(i64::MAX);
            }
            _ => {}
        }
    }
    moved
}

/// The length of time in an effect, if there is one.
fn size_of(effect: &mut Effect) -> Option<Slot<'_>> {
    let mut fields = effect.fields().into_iter().map(|(_, slot)| slot);
    fields.find(|slot| matches!(slot, Slot::Delay(..) | Slot::Step(_)))
}

/// Another moment, and whether the fault comes back at each of them: a time comes once.
fn moment(fault: &Fault, struck: Option<TrueNs>, lease: Duration, stream: &mut Stream) -> (When, bool) {
    let (at, is_event) = match &fault.at {
        When::At(at) => (Some(*at), false),
        When::On { .. } => (struck.map(|at| Duration::from_nanos(at.0)), true),
    };
    let stays_with_event = is_event && (fault.each || stream.below(2) == 0);
    match at {
        Some(at) if !stays_with_event => (When::At(vary_length(at, lease, stream)), false),
        _ => (fault.at.clone().delay_by(amount(lease, stream)), fault.each),
    }
}

/// A length somewhat shorter or longer than this one.
fn vary_length(than: Duration, lease: Duration, stream: &mut Stream) -> Duration {
    if stream.below(2) == 0 && than > SMALLEST {
        return than.saturating_sub(amount(lease.min(than), stream));
    }
    than.saturating_add(amount(lease, stream))
}

/// As likely in each octave from the smallest move to the longest.
fn amount(longest: Duration, stream: &mut Stream) -> Duration {
    let units = (longest.as_nanos() / SMALLEST.as_nanos()).clamp(1, 1 << 40) as u64;
    let octave = SMALLEST * (1_u32 << stream.below(u64::from(units.ilog2()) + 1).min(31));
    let nanos = octave.as_nanos() as u64;
    Duration::from_nanos(nanos + stream.below(nanos)).min(longest.max(SMALLEST))
}

#[cfg(test)]
mod tests;
