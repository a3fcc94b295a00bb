//! The odds of lines against slow arithmetic: rates as fractions, numbers of hits slot by slot, and forced hits by a
//! list of every set of slots.

use doublehold_sim::Seed;

use super::*;
use crate::weather::goodness_of_fit::{Law, assert_follows, times};

/// So many odds of lines, with their mean numbers as fractions: rates from ten in a millisecond to one in a century.
fn lines(count: usize) -> Vec<(Odds, u128, u128)> {
    let mut stream = Stream::new(Seed(1), "lines");
    let mut between = |least: u32, most: u32| {
        let scale = 10_u64.pow(least + stream.below(u64::from(most - least)) as u32);
        scale + stream.below(9 * scale)
    };
    let mut line = || {
        let targets = between(0, 2);
        let (window, every) = (between(6, 12), between(8, 18));
        let odds = Odds::new(targets as usize, Duration::from_nanos(window), Duration::from_nanos(every));
        (odds, u128::from(targets) * u128::from(window), u128::from(every))
    };
    (0..count).map(|_| line()).collect()
}

#[test]
fn slots_are_hit_as_often_as_the_rate_says_to_one_part_in_2_64() {
    for (odds, mean, of) in lines(2_000) {
        let mut slots = 32;
        while slots * of < 16 * mean {
            slots *= 2;
        }
        let what = format!("{mean} of {of} in {} slots", odds.slots);
        assert_eq!(u128::from(odds.slots), slots, "{what}");
        // One slot's chance is the mean over the number of slots, rounded down to what a draw can be below.
        let (whole, threshold) = (of * slots, u128::from(odds.threshold));
        assert!(threshold * whole <= mean << 64 && (threshold + 1) * whole > mean << 64, "{what}");
        // And its odds are its chance over that of the contrary.
        let of_one = odds.weight() / slots;
        assert!(
            of_one * (whole - mean) <= mean << 64 && (of_one + 1) * (whole - mean) > mean << 64,
            "{what}"
        );
        assert_eq!(odds.weight() % slots, 0, "{what}");
    }
}

#[test]
fn slots_share_a_window_to_a_microsecond() {
    let mut stream = Stream::new(Seed(1), "windows");
    for (odds, ..) in lines(50).into_iter().filter(|(odds, ..)| odds.slots <= 1 << 14) {
        let whole_us = stream.below(100_000_000);
        // Nanoseconds beyond the last microsecond are nobody's.
        let window = Duration::from_micros(whole_us) + Duration::from_nanos(999);
        let bounds: Vec<(u64, u64)> = (0..odds.slots).map(|slot| odds.bounds_us(slot, window)).collect();
        assert_eq!((bounds[0].0, bounds[bounds.len() - 1].1), (0, whole_us));
        assert!(bounds.windows(2).all(|pair| pair[0].1 == pair[1].0));
        let shortest = whole_us / u64::from(odds.slots);
        assert!(bounds.iter().all(|(from, to)| (shortest..=shortest + 1).contains(&(to - from))));
    }
}

#[test]
fn hits_are_as_many_as_slot_by_slot() {
    for (odds, mean, of) in lines(300).into_iter().filter(|(odds, ..)| odds.slots <= 1 << 10) {
        let chance = mean as f64 / of as f64 / f64::from(odds.slots);
        let length = if odds.slots > 256 { 40 } else { 300 };
        let mut slot_by_slot = vec![1.0];
        for _ in 0..odds.slots {
            let mut next = vec![0.0; (slot_by_slot.len() + 1).min(length)];
            for (hits, before) in slot_by_slot.iter().enumerate() {
                next[hits] += before * (1.0 - chance);
                if let Some(more) = next.get_mut(hits + 1) {
                    *more += before * chance;
                }
            }
            slot_by_slot = next;
        }
        let chances = odds.chances_of_hits(length);
        assert_eq!(chances.len(), slot_by_slot.len());
        for (hits, (chance, expected)) in chances.iter().zip(&slot_by_slot).enumerate() {
            let is_one = (chance - expected).abs() <= 1e-9 * expected || *expected < 1e-290;
            assert!(is_one, "{hits} hits, {mean} of {of}: {chance:e} and {expected:e}");
        }
        let mut stream = Stream::new(Seed(mean as u64), "hits");
        let hits = (0..odds.slots).filter(|_| odds.is_hit(&mut stream)).count() as f64;
        let mean = mean as f64 / of as f64;
        assert!((hits - mean).abs() <= 6.0 * mean.sqrt() + 3.0, "{hits} hits and not {mean}");
    }
}

/// Every set of so many slots of some lines.
fn sets(lines: &[Odds], count: usize) -> Vec<Vec<(usize, u32)>> {
    let slots: Vec<(usize, u32)> = lines
        .iter()
        .enumerate()
        .flat_map(|(line, odds)| (0..odds.slots).map(move |slot| (line, slot)))
        .collect();
    let masks = (0_u32..1 << slots.len()).filter(|mask| mask.count_ones() as usize == count);
    let chosen = |mask: u32| slots.iter().enumerate().filter(move |(bit, _)| mask >> bit & 1 == 1);
    masks.map(|mask| chosen(mask).map(|(_, slot)| *slot).collect()).collect()
}

#[test]
fn forced_hits_are_every_set_of_slots_as_often_as_chance_has_it_among_those_of_its_size() {
    const DRAWS: usize = 3_000;
    let mut stream = Stream::new(Seed(1), "forced");
    for case in 0..12 {
        let lines: Vec<Odds> = (0..1 + case % 3)
            .map(|_| Odds {
                slots: 1 + stream.below(3) as u32,
                chance: (1 + u128::from(stream.below(5)), 10 + u128::from(stream.below(6))),
                threshold: 0,
            })
            .collect();
        let most: u32 = lines.iter().map(|line| line.slots).sum();
        let known: Vec<&Odds> = lines.iter().collect();
        assert_eq!(distinct(&known, most + 1, &mut stream), [], "there are not so many");
        for count in 0..=most.min(4) {
            let chance = |set: &[(usize, u32)]| -> f64 {
                let all =
                    (0..lines.len()).flat_map(|line| (0..lines[line].slots).map(move |slot| (line, slot)));
                all.map(|(line, slot)| {
                    let (part, of) = lines[line].chance;
                    let hit = part as f64 / of as f64;
                    if set.contains(&(line, slot)) { hit } else { 1.0 - hit }
                })
                .product()
            };
            let law: Law<Vec<(usize, u32)>> =
                sets(&lines, count as usize).into_iter().map(|set| (set.clone(), chance(&set))).collect();
            let sum: f64 = law.values().sum();
            let seen: Vec<_> = (0..DRAWS).map(|_| distinct(&known, count, &mut stream)).collect();
            assert_follows(&times(&law, DRAWS as f64 / sum), &seen, &format!("{count} of {lines:?}"));
        }
    }
}
