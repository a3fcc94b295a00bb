//! Lengths against their decimal digits, and every place of a scenario against a change of its text.

use super::*;
use crate::shrink::edits::{assert_same, edit, rich};

/// The digits up to the last that is not zero.
fn written(size: u64) -> String {
    size.to_string().trim_end_matches('0').to_owned()
}

/// All that has one of these digits and any number of zeros.
fn with_zeros(digits: std::ops::RangeInclusive<u64>) -> impl Iterator<Item = u64> {
    (0..20).flat_map(move |zeros| digits.clone().filter_map(move |it| it.checked_mul(10_u64.pow(zeros))))
}

/// All numbers of up to three digits, and some of more, at any scale.
#[test]
fn what_is_rounder_has_fewer_digits_and_is_the_next_of_its_kind() {
    let sizes = (0..1_100_u64).chain([4_999, 5_000, 12_340, 12_345, 19_999, 20_001, 99_999]);
    for (digits, zeros) in sizes.flat_map(|digits| [0, 1, 6, 13].map(|zeros| (digits, zeros))) {
        let size = digits * 10_u64.pow(zeros);
        assert_eq!(super::digits(size) as usize, written(size).len(), "{size}");
        let ladder = || with_zeros(1..=5).filter(|it| !written(*it).starts_with(['3', '4']));
        assert_eq!(is_on_ladder(size), ladder().any(|it| it == size), "{size}");
        let below = ladder().filter(|it| *it < size).max();
        assert_eq!(ladder_below(size), below, "{size}");
        assert_eq!(Some(ladder_above(size)), ladder().filter(|it| *it > size).min(), "{size}");
        for (few, all) in [(1, with_zeros(1..=9)), (2, with_zeros(1..=99))] {
            let all: Vec<u64> = all.chain([0]).collect();
            let below = all.iter().copied().filter(|it| *it <= size).max();
            let above = all.into_iter().filter(|it| *it >= size).min();
            assert_eq!((Some(down(size, few)), Some(up(size, few))), (below, above), "{size}");
        }
        let mut rounder: Vec<u64> = below.into_iter().collect();
        rounder.extend(
            [1, 2].into_iter().filter(|few| written(size).len() > *few).map(|few| down(size, few as u32)),
        );
        rounder.dedup();
        assert_eq!(super::rounder(size), rounder, "{size}");
    }
}

/// Each place: what it says in nanoseconds or billionths, the least tried there, and the file with another value.
#[test]
fn every_place_of_a_scenario_is_read_and_written_where_the_file_says_it() {
    const MS: u64 = 1_000_000;
    let places: [(&str, u64, u64, &str); 24] = [
        ("faults.0.at", 0, 0, "7ms after c1's grant"),
        ("faults.0.for", 7_000 * MS, MS, "7ms"),
        ("faults.1.at", 1_300 * MS, 0, "7ms after c2's check"),
        ("faults.1.for", 9_000 * MS, MS, "7ms"),
        ("faults.2.at", 1_000 * MS, 0, "7ms"),
        ("faults.2.by", 36 * MS, MS, "-7ms"),
        ("faults.3.at", 0, 0, "7ms"),
        ("faults.3.for", 3_000 * MS, MS, "7ms"),
        ("faults.3.by", 3_333_333, 1_000, "7/1000"),
        ("faults.4.at", 0, 0, "7ms"),
        ("faults.5.at", 4_000 * MS, 0, "7ms"),
        ("faults.5.for", 2_500 * MS, 0, "7ms"),
        ("faults.6.at", 0, 0, "7ms"),
        ("faults.6.for", 8_000 * MS, MS, "7ms"),
        ("faults.6.by", 90 * MS, MS, "7ms"),
        ("clients.1.start", 2_000 * MS, 0, "7ms after c1's grant"),
        ("clients.1.program.4", 2_000 * MS, MS, "work 7ms"),
        ("clocks.c1.offset", 37 * MS, 0, "-7ms"),
        ("clocks.c1.drift", MS, 0, "7/1000"),
        ("clocks.B.offset", 2_000 * MS, 0, "7ms"),
        ("network.links.0.delay", 5 * MS, MS, "7ms"),
        ("network.links.2.delay", 6 * MS, MS, "7ms"),
        ("nodes.command_time.others", 3_000, 0, "7ms"),
        ("nodes.command_time.B", 4 * MS, 0, "7ms"),
    ];
    let scenario = rich();
    let all = LengthPlace::all(&scenario);
    let clocks = (0..scenario.hosts.len())
        .flat_map(|host| [LengthPlace::ClockOffset(host), LengthPlace::ClockDrift(host)]);
    assert!(clocks.into_iter().all(|place| all.contains(&place)), "those that are right, too: {all:?}");
    let mut found: Vec<_> = all
        .iter()
        .map(|place| (place.get(&scenario).expect("it says something"), place.minimum(&scenario)))
        .filter(|(size, _)| *size > 0)
        .collect();
    let mut expected: Vec<_> =
        places.iter().filter(|(_, size, ..)| *size > 0).map(|(_, size, least, _)| (*size, *least)).collect();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
    let by_text: Vec<Scenario> =
        places.iter().map(|(path, _, _, text)| edit(path, Some((*text).into()))).collect();
    let is_of_text = |candidate: &Candidate| {
        let scenario = match candidate.clone() {
            Candidate::Faults(faults) => Scenario { faults, ..scenario.clone() },
            Candidate::Whole(scenario) => *scenario,
        };
        by_text.contains(&scenario)
    };
    let written = all.iter().map(|place| place.with_size(&scenario, 7 * MS)).filter(is_of_text).collect();
    assert_same(written, by_text.clone());
    // Where the file has a law a length takes its place.
    let of_laws = [
        (LengthPlace::Delay, "network.delay", "7ms"),
        (LengthPlace::DelayOf(1), "network.links.1.delay", "7ms"),
        (LengthPlace::Fsync, "nodes.fsync_time", "7ms"),
        (LengthPlace::Retry(0), "clients.0.retry", "7ms"),
        (LengthPlace::Work(0, 2), "clients.0.program.2", "work 7ms"),
    ];
    for (place, path, text) in of_laws {
        assert_eq!(place.get(&scenario), None, "{path}");
        assert_same(vec![place.with_size(&scenario, 7 * MS)], [edit(path, Some(text.into()))]);
    }
}
