//! Fewer faults, and less of each: chunks of faults first (delta debugging), then single ones, then hosts and
//! directions.
//!
//! Of two faults either of which could go, the rarer in practice goes: a wrong clock before a machine that dies, that
//! before a pause, and a cut link last. So kinds are dealt with one after the other, and within a kind also the hosts
//! of a fault before the next kind is looked at: what a cut and one clock that jumps can show is not shown with three
//! clocks.

use doublehold_scenarios::model::fault::{Effect, Fault, Names, Nature, Slot};
use doublehold_scenarios::{Engine, Stepped};

use crate::shrink::search::{Candidate, Keep, ShrinkSearch};

/// The rarest first.
const RARITY: [Nature; 10] = [
    Nature::Clock,
    Nature::ClockOnce,
    Nature::Disk,
    Nature::Data,
    Nature::Role,
    Nature::Death,
    Nature::Stop,
    Nature::Service,
    Nature::Message,
    Nature::Link,
];

/// Drops faults and parts of them.
pub(super) fn remove_faults<E: Engine<Prepared: Stepped>>(search: &mut ShrinkSearch<'_, E>) {
    if !search.scenario().faults.is_empty() && search.accepts(Candidate::Faults(Vec::new()), Keep::Seed) {
        return;
    }
    for nature in RARITY {
        drop_chunks(search, nature);
        search.sweep(Keep::Seed, |search| reduced_parts(&search.scenario().faults, nature));
    }
}

/// Drops faults of one nature: all, halves, quarters, and in the end one by one.
fn drop_chunks<E: Engine<Prepared: Stepped>>(search: &mut ShrinkSearch<'_, E>, nature: Nature) {
    let mut size = places_of_nature(nature, &search.scenario().faults).len();
    while size > 0 {
        let mut first = 0;
        loop {
            let faults = &search.scenario().faults;
            let members = places_of_nature(nature, faults);
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
fn places_of_nature(nature: Nature, faults: &[Fault]) -> Vec<usize> {
    let is_of = |fault: &Fault| fault.effect.kind().nature == nature;
    faults.iter().enumerate().filter(|(_, fault)| is_of(fault)).map(|(place, _)| place).collect()
}

/// Every list of faults in which one fault of this nature has a part less.
fn reduced_parts(faults: &[Fault], nature: Nature) -> Vec<Candidate> {
    let with = |place: usize, less: Fault| {
        let mut faults = faults.to_vec();
        faults[place] = less;
        Candidate::Faults(faults)
    };
    let places = places_of_nature(nature, faults).into_iter();
    places
        .flat_map(|place| reduced_faults(&faults[place]).into_iter().map(move |less| with(place, less)))
        .collect()
}

/// A fault with one part less, in every way there is.
fn reduced_faults(fault: &Fault) -> Vec<Fault> {
    let mut all = Vec::new();
    if fault.each {
        all.push(Fault { each: false, ..fault.clone() });
    }
    if fault.optional {
        // A violation is one whether or not the fault struck; what else the run shows is to rely on it.
        all.push(Fault { optional: false, ..fault.clone() });
    }
    all.extend(one_way(fault));
    let mut usual = prototype(&fault.effect);
    for (field, (_, usual)) in usual.fields().into_iter().enumerate() {
        let without = |number: usize| {
            let mut less = fault.clone();
            remove_part(&mut less.effect.fields()[field].1, &usual, number).then_some(less)
        };
        all.extend((0..).map_while(without));
    }
    all
}

/// Takes something out of a field, by its number; `false` if there is not so much.
fn remove_part(slot: &mut Slot<'_>, usual: &Slot<'_>, number: usize) -> bool {
    match (slot, usual) {
        (Slot::Hosts(hosts), _) => remove_name(hosts, number),
        // All are told where nothing is said.
        (Slot::Tell(told @ Some(_)), _) if number == 0 => told.take().is_some(),
        (Slot::Tell(Some(told)), _) => remove_name(told, number - 1),
        (Slot::Resync(after), _) if number == 0 => after.take().is_some(),
        (Slot::Flag(flag), Slot::Flag(usual)) if number == 0 && flag != usual => {
            **flag = **usual;
            true
        }
        _ => false,
    }
}

/// Takes one name out of several.
fn remove_name(names: &mut Names, number: usize) -> bool {
    let is_there = names.0.len() > 1 && number < names.0.len();
    if is_there {
        names.0.remove(number);
    }
    is_there
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

/// One of the same kind with nothing filled in.
fn prototype(effect: &Effect) -> Effect {
    let is_same = |other: &Effect| other.kind().word == effect.kind().word;
    Effect::prototypes().into_iter().find(is_same).unwrap_or_else(|| effect.clone())
}

#[cfg(test)]
mod tests {
    use doublehold_scenarios::model::fault::Way;

    use super::*;

    fn all_less(fault: &Fault) -> Vec<String> {
        reduced_faults(fault)
            .iter()
            .map(|less| format!("{}{}", less.words(), if less.optional { "?" } else { "" }))
            .collect()
    }

    #[test]
    fn a_fault_has_less_in_every_list_and_flag() {
        let order =
            Effect::Promote { host: "R1".into(), tell: Some(["M", "R2"].into()), rewrite_config: false };
        let promoted = "R1 is promoted to master";
        assert_eq!(
            all_less(&Fault::new(order)),
            [
                format!("{promoted}, without CONFIG REWRITE"),
                format!("{promoted}, and only R2 is told, without CONFIG REWRITE"),
                format!("{promoted}, and only M is told, without CONFIG REWRITE"),
                format!("{promoted}, and only M and R2 are told"),
            ]
        );
        let cut = Fault::cut(Way::between("c1", ["A", "B"])).optional();
        assert_eq!(
            all_less(&cut),
            [
                "the link between c1 and A and B is cut",
                "the link from A and B to c1 is cut?",
                "the link between c1 and B is cut?",
                "the link between c1 and A is cut?",
                "the link from c1 to A and B is cut?",
            ]
        );
        assert_eq!(all_less(&Fault::crash("A")), Vec::<String>::new());
    }
}
