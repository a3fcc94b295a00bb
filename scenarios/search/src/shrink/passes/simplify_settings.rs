//! Less chance and fewer settings: laws become fixed values, nothing is lost, no link and no client is special, and a
//! fault that never ended anyway has no end.
//!
//! With the chance goes most of what makes a violation one of few seeds. All laws are tried at once first.

use std::time::Duration;

use doublehold_scenarios::model::fault::{Fault, Nature, Slot};
use doublehold_scenarios::model::scenario::{DelayLaw, Scenario, Step};
use doublehold_scenarios::report::Report;
use doublehold_scenarios::{Engine, Stepped};
use doublehold_sim::Probability;

use super::shorten_durations::down;
use crate::shrink::search::{Candidate, Keep, ShrinkSearch};

/// Says less, and draws less.
pub(super) fn simplify_settings<E: Engine<Prepared: Stepped>>(search: &mut ShrinkSearch<'_, E>) {
    let mut all_fixed = search.scenario().clone();
    laws(&mut all_fixed).into_iter().for_each(|law| *law = middle(law));
    if all_fixed != *search.scenario() {
        search.accepts(all_fixed.into(), Keep::Seeds);
    }
    search.sweep(Keep::Seeds, |search| {
        let run = search.current_run();
        let scenario = search.scenario();
        [fix_laws(scenario), remove_settings(scenario), remove_ends(scenario, &run), raise_chances(scenario)]
            .concat()
    });
}

/// Every law.
fn laws(scenario: &mut Scenario) -> Vec<&mut DelayLaw> {
    let mut all = vec![&mut scenario.link.delay];
    all.extend(scenario.links.iter_mut().map(|(_, _, link)| &mut link.delay));
    all.push(&mut scenario.nodes.fsync_time);
    all.extend(scenario.nodes.command_time.values_mut());
    for (_, slot) in scenario.faults.iter_mut().flat_map(|fault| fault.effect.fields()) {
        if let Slot::Law(law) = slot {
            all.push(law);
        }
    }
    for client in &mut scenario.clients {
        all.push(&mut client.retry);
        all.extend(client.program.iter_mut().filter_map(Step::law_mut));
    }
    all
}

/// Proposes one law each at its middle, its least and its most.
fn fix_laws(scenario: &Scenario) -> Vec<Candidate> {
    let mut all = Vec::new();
    let count = laws(&mut scenario.clone()).len();
    for place in 0..count {
        let mut values = Vec::new();
        if let law @ (DelayLaw::Uniform { .. } | DelayLaw::LogNormal { .. } | DelayLaw::Quantiles(_)) =
            &*laws(&mut scenario.clone())[place]
        {
            values.push(middle(law));
            values.extend(extremes(law).map(DelayLaw::Fixed));
        }
        values.dedup();
        all.extend(values.into_iter().map(|value| {
            let mut scenario = scenario.clone();
            *laws(&mut scenario)[place] = value;
            scenario.into()
        }));
    }
    all
}

/// The middle of a law, rounded to two digits.
fn middle(law: &DelayLaw) -> DelayLaw {
    let round = |delay: Duration| {
        let ns = u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX);
        Duration::from_nanos(down(ns, 2))
    };
    DelayLaw::Fixed(match law {
        DelayLaw::Fixed(delay) => *delay,
        DelayLaw::Uniform { min, max } => round((*min + *max) / 2),
        DelayLaw::LogNormal { median, .. } => round(*median),
        DelayLaw::Quantiles(delays) => round(delays.get(delays.len() / 2).copied().unwrap_or_default()),
    })
}

/// The least and the most, where a law has both.
fn extremes(law: &DelayLaw) -> impl Iterator<Item = Duration> + use<> {
    let ends = match law {
        DelayLaw::Uniform { min, max } => [Some(*min), Some(*max)],
        DelayLaw::Quantiles(delays) => [delays.first().copied(), delays.last().copied()],
        DelayLaw::Fixed(_) | DelayLaw::LogNormal { .. } => [None, None],
    };
    ends.into_iter().flatten()
}

/// Leaves out one thing each that is said of losses, of replicas, of single nodes, links and clients.
fn remove_settings(scenario: &Scenario) -> Vec<Candidate> {
    let mut all = Vec::new();
    let mut push = |change: &dyn Fn(&mut Scenario)| {
        let mut less = scenario.clone();
        change(&mut less);
        if less != *scenario {
            all.push(less.into());
        }
    };
    push(&|less| less.link.loss = Probability::NEVER);
    push(&|less| less.nodes.replica_serve_stale_data = true);
    for node in scenario.nodes.command_time.own.keys() {
        push(&|less| {
            less.nodes.command_time.own.remove(node);
        });
    }
    for node in scenario.nodes.replica_priority.own.keys() {
        push(&|less| {
            less.nodes.replica_priority.own.remove(node);
        });
    }
    for link in 0..scenario.links.len() {
        push(&|less| {
            less.links.remove(link);
        });
        push(&|less| less.links[link].2.loss = Probability::NEVER);
    }
    for client in 0..scenario.clients.len() {
        push(&|less| less.clients[client].ttl = None);
        push(&|less| less.clients[client].start = None);
    }
    all
}

/// Proposes one fault each for good that was not over when the run ended.
fn remove_ends(scenario: &Scenario, run: &Report) -> Vec<Candidate> {
    let never_over = |fault: &Fault| {
        let mut strikes = run.faults.iter().filter(|report| report.fault == *fault);
        strikes.any(|report| report.from.is_some() && report.until.is_none())
    };
    let may = |fault: &Fault| fault.lasting.is_some() && fault.effect.kind().nature != Nature::Stop;
    let places = (0..scenario.faults.len()).filter(|place| {
        let fault = &scenario.faults[*place];
        may(fault) && never_over(fault)
    });
    let changed = |place: usize| {
        let mut faults = scenario.faults.clone();
        faults[place].lasting = None;
        Candidate::Faults(faults)
    };
    places.map(changed).collect()
}

/// Proposes one loss each that strikes always, or half of the time.
fn raise_chances(scenario: &Scenario) -> Vec<Candidate> {
    let simple = [(1, 1), (1, 2)].map(|(part, of)| Probability::new(part, of).expect("at most one"));
    let mut all = Vec::new();
    for place in 0..scenario.faults.len() {
        for (rank, chance) in simple.into_iter().enumerate() {
            let mut faults = scenario.faults.clone();
            let mut is_simpler = false;
            for (_, slot) in faults[place].effect.fields() {
                if let Slot::Probability(probability) = slot
                    && !simple[..=rank].contains(probability)
                {
                    *probability = chance;
                    is_simpler = true;
                }
            }
            if is_simpler {
                all.push(Candidate::Faults(faults));
            }
        }
    }
    all
}

#[cfg(test)]
mod tests;
