//! Fewer faults, and less of each: chunks of faults first (delta debugging), then single ones, then hosts and
//! directions.
//!
//! Of two faults either of which could go, the rarer in practice goes: a wrong clock before a machine that dies, that
//! before a pause, and a cut link last. So kinds are dealt with one after the other, and within a kind also the hosts
//! of a fault before the next kind is looked at: what a cut and one clock that jumps can show is not shown with three
//! clocks.

use super::search::{Candidate, Keep, Search};
use crate::fault::{Effect, Fault, Names, Nature, Slot};
use crate::run::{Engine, PreparedSim};

/// The rarest first.
const RARITY: [Nature; 8] = [
    Nature::Clock,
    Nature::ClockOnce,
    Nature::Disk,
    Nature::Role,
    Nature::Death,
    Nature::Stop,
    Nature::Message,
    Nature::Link,
];

/// Drops faults and parts of them.
pub(super) fn fewer<E: Engine<Prepared = PreparedSim>>(search: &mut Search<'_, E>) {
    if !search.scenario().faults.is_empty() && search.accepts(Candidate::Faults(Vec::new()), Keep::Seed) {
        return;
    }
    for nature in RARITY {
        drop_chunks(search, nature);
        search.sweep(Keep::Seed, |search| parts(&search.scenario().faults, nature));
    }
}

/// Drops faults of one nature: all, halves, quarters, and in the end one by one.
fn drop_chunks<E: Engine<Prepared = PreparedSim>>(search: &mut Search<'_, E>, nature: Nature) {
    let mut size = of(nature, &search.scenario().faults).len();
    while size > 0 {
        let mut first = 0;
        loop {
            let faults = &search.scenario().faults;
            let members = of(nature, faults);
            let Some(chunk) = members.get(first..(first + size).min(members.len())) else { break };
            if chunk.is_empty() {
                break;
            }
            let left = faults.iter().enumerate().filter(|(place, _)| !chunk.contains(place));
            let left = left.map(|(_, fault)| fault.clone()).collect();
            if !search.accepts(Candidate::Faults(left), Keep::Seed) {
                first += size;
            }
        }
        size /= 2;
    }
}

/// The places of the faults of one nature.
fn of(nature: Nature, faults: &[Fault]) -> Vec<usize> {
    let is_of = |fault: &Fault| fault.effect.kind().nature == nature;
    faults.iter().enumerate().filter(|(_, fault)| is_of(fault)).map(|(place, _)| place).collect()
}

/// Every list of faults in which one fault of this nature has a part less.
fn parts(faults: &[Fault], nature: Nature) -> Vec<Candidate> {
    let with = |place: usize, less: Fault| {
        let mut faults = faults.to_vec();
        faults[place] = less;
        Candidate::Faults(faults)
    };
    let places = of(nature, faults).into_iter();
    places.flat_map(|place| less(&faults[place]).into_iter().map(move |less| with(place, less))).collect()
}

/// A fault with one part less, in every way there is.
pub(super) fn less(fault: &Fault) -> Vec<Fault> {
    let mut all = Vec::new();
    if fault.each {
        all.push(Fault { each: false, ..fault.clone() });
    }
    if fault.optional {
        // A violation is one whether or not the fault struck; what else the run shows is to rely on it.
        all.push(Fault { optional: false, ..fault.clone() });
    }
    all.extend(one_way(fault));
    let usual = prototype(&fault.effect);
    for field in 0..fault.effect.clone().fields().len() {
        let changed = |change: &dyn Fn(&mut Slot<'_>)| {
            let mut less = fault.clone();
            change(&mut less.effect.fields()[field].1);
            less
        };
        match &fault.effect.clone().fields()[field].1 {
            Slot::Hosts(names) => all.extend(shorter(names).into_iter().map(|names| {
                changed(&|slot| {
                    if let Slot::Hosts(hosts) = slot {
                        **hosts = names.clone();
                    }
                })
            })),
            Slot::Tell(Some(told)) => {
                let fewer = shorter(told).into_iter().map(Some).chain([None]);
                all.extend(fewer.map(|told| {
                    changed(&|slot| {
                        if let Slot::Tell(nodes) = slot {
                            **nodes = told.clone();
                        }
                    })
                }));
            }
            Slot::Flag(flag) if Some(**flag) != default_of(&usual, field) => {
                all.push(changed(&|slot| {
                    if let Slot::Flag(flag) = slot {
                        **flag = !**flag;
                    }
                }));
            }
            _ => {}
        }
    }
    all
}

/// A fault of both ways as one of the way back; that of the way there is the flag's default.
fn one_way(fault: &Fault) -> Option<Fault> {
    let mut back = fault.clone();
    match &mut back.effect {
        Effect::Cut { way } | Effect::Slow { way, .. } | Effect::Loss { way, .. } if way.both_ways => {
            way.both_ways = false;
            std::mem::swap(&mut way.from, &mut way.to);
            Some(back)
        }
        _ => None,
    }
}

/// A list without one of its names, if any is left.
fn shorter(names: &Names) -> Vec<Names> {
    let without = |place| {
        let mut names = names.clone();
        names.0.remove(place);
        names
    };
    if names.0.len() < 2 { Vec::new() } else { (0..names.0.len()).map(without).collect() }
}

/// One of the same kind with nothing filled in.
fn prototype(effect: &Effect) -> Effect {
    let is_same = |other: &Effect| other.kind().word == effect.kind().word;
    Effect::prototypes().into_iter().find(is_same).unwrap_or_else(|| effect.clone())
}

fn default_of(usual: &Effect, field: usize) -> Option<bool> {
    match usual.clone().fields().get(field) {
        Some((_, Slot::Flag(flag))) => Some(**flag),
        _ => None,
    }
}
