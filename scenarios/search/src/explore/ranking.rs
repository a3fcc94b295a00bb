//! The order in which groups of minimal placements are told: what takes the least first, and each kind of fault once
//! before any comes again.
//!
//! Few faults come before many. Of as many, the groups with the same kinds of faults are put in turns, the most
//! frequent step of each in the first, so that a crash at six kinds of steps does not hide what a reset does. In one
//! turn the gentlest kinds come first: they leave every process and its data alone, so they happen the most and say the
//! most about a lock.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::findings::{Group, MinimalPlacements, Violations};

/// From what disturbs one connection to what takes a process and its data. A connection that is reset harms nothing
/// else; a power loss takes all that a crash takes, and the disk's cache.
const GENTLEST_FIRST: [&str; 14] = [
    "reset-connections",
    "duplicate",
    "packet-delay",
    "cut",
    "slow-node",
    "pause",
    "suspend",
    "clock-freeze",
    "clock-step",
    "promote",
    "crash",
    "power-loss",
    "evict",
    "flush",
];

impl Violations {
    /// The groups of minimal placements, in the order in which they are told.
    pub fn ranked(&self) -> Vec<(&Group, &MinimalPlacements)> {
        let mut groups: Vec<_> = self.minimal.iter().collect();
        groups.sort_by_key(|(_, it)| Reverse(it.count));
        let mut turns: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
        let place = |(group, minimal): (_, _)| {
            let group: &Group = group;
            let strengths: Vec<usize> = group.iter().map(|(kind, _)| strength(kind)).collect();
            let turn = turns.entry(strengths.clone()).or_default();
            *turn += 1;
            ((group.len(), *turn, strengths), (group, minimal))
        };
        // In a list first: a sort asks for keys in an order of its own.
        let mut placed: Vec<_> = groups.into_iter().map(place).collect();
        placed.sort_by(|(one, _), (other, _)| one.cmp(other));
        placed.into_iter().map(|(_, told)| told).collect()
    }
}

fn strength(kind: &str) -> usize {
    GENTLEST_FIRST.iter().position(|it| *it == kind).expect("every kind that is placed has its strength")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::Kinds;

    fn ranked(groups: &[(&[(&'static str, &'static str)], u64)]) -> Vec<String> {
        let minimal = |count| MinimalPlacements { count, examples: Vec::new() };
        let minimal = groups.iter().map(|(group, count)| (group.to_vec(), minimal(*count))).collect();
        let violations = Violations { minimal, ..Violations::default() };
        let words =
            |group: &Group| group.iter().map(|(kind, at)| format!("{kind} at {at}")).collect::<Vec<_>>();
        violations.ranked().into_iter().map(|(group, _)| words(group).join(", ")).collect()
    }

    #[test]
    fn every_kind_that_is_placed_has_its_strength() {
        let mut known = GENTLEST_FIRST;
        let mut placed = Kinds::words();
        known.sort_unstable();
        placed.sort_unstable();
        assert_eq!(known[..], placed[..]);
    }

    #[test]
    fn each_kind_comes_once_before_any_comes_again_and_the_gentlest_first() {
        let told = ranked(&[
            (&[("crash", "arrival"), ("pause", "send")], 90),
            (&[("crash", "arrival")], 9),
            (&[("crash", "send")], 8),
            (&[("pause", "send")], 7),
            (&[("reset-connections", "arrival")], 1),
            (&[("reset-connections", "send")], 2),
        ]);
        assert_eq!(
            told,
            [
                "reset-connections at send",
                "pause at send",
                "crash at arrival",
                "reset-connections at arrival",
                "crash at send",
                "crash at arrival, pause at send",
            ]
        );
    }

    #[test]
    fn what_breaks_without_a_fault_comes_first() {
        assert_eq!(ranked(&[(&[("pause", "send")], 7), (&[], 1)]), ["", "pause at send"]);
    }
}
