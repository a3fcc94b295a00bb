//! Designs that are told apart: the exact test against its definition, what undecided runs take away, and how often
//! anything is told apart where there is nothing to tell.

use std::cmp::Ordering;

use doublehold_sim::{Seed, Stream};
use doublehold_statistics::{Comparison, Confidence, Paired, PartlyPaired, holm};

use crate::statistics::assert_near;

/// One of a table's counts.
type Field = fn(&mut Paired) -> &mut u64;

fn pairs(only_first: u64, only_second: u64) -> Paired {
    Paired { both: 3, only_first, only_second, neither: 400 }
}

/// Twice the share of all ways to throw so many coins that have so few heads, counted in whole numbers.
fn by_counting(only_first: u64, only_second: u64) -> f64 {
    let (fewer, all) = (only_first.min(only_second), only_first + only_second);
    let (mut ways, mut sum) = (1_u128, 0_u128);
    for heads in 0..=fewer {
        sum += ways;
        ways = ways * u128::from(all - heads) / u128::from(heads + 1);
    }
    (2.0 * sum as f64 / 2.0_f64.powi(all as i32)).min(1.0)
}

#[test]
fn the_test_is_the_share_of_coin_throws() {
    assert_eq!(pairs(4, 0).p_value(), 0.125, "four to none is no difference that is told apart");
    for first in 0..=30 {
        for second in 0..=30 {
            assert_near(pairs(first, second).p_value(), by_counting(first, second), "by counting");
        }
    }
    assert_eq!(pairs(500_000, 500_000).p_value(), 1.0);
    assert!(pairs(500_000, 490_000).p_value() < 1e-20);
}

/// Every way that undecided runs could have come out is tried: a direction that is evident is so in all of them, and
/// the p-value is that of the worst.
#[test]
fn undecided_runs_count_against_either_side() {
    let decided = Paired { both: 1, only_first: 9, only_second: 2, neither: 20 };
    for doubts in 0..243 {
        let of = |place: u32| doubts / 3_u64.pow(place) % 3;
        let counted = PartlyPaired {
            decided,
            violated_undecided: of(0),
            held_undecided: of(1),
            undecided_violated: of(2),
            undecided_held: of(3),
            both_undecided: of(4),
        };
        let (direction, p_value) = counted.evidence();
        let higher = |outcome: &Paired| outcome.only_first > outcome.only_second;
        let each = |outcome: Paired| if higher(&outcome) { outcome.p_value() } else { 1.0 };
        let worst = outcomes(&counted).into_iter().map(each).fold(0.0, f64::max);
        assert_near(p_value, worst, "the worst outcome");
        assert_eq!(direction == Ordering::Greater, worst < 1.0, "{counted:?}");
        let (mirrored, same) = counted.swap_designs().evidence();
        assert_eq!((mirrored, same), (direction.reverse(), p_value));
    }
}

/// All tables that decided runs and undecided ones could have made.
fn outcomes(counted: &PartlyPaired) -> Vec<Paired> {
    let mut all = vec![counted.decided];
    let mut each = |many: u64, cells: &[fn(&mut Paired) -> &mut u64]| {
        for _ in 0..many {
            all = all
                .iter()
                .flat_map(|table| {
                    cells.iter().map(|cell| {
                        let mut table = *table;
                        *cell(&mut table) += 1;
                        table
                    })
                })
                .collect();
            all.sort_by_key(|it| (it.both, it.only_first, it.only_second));
            all.dedup();
        }
    };
    let (both, first): (Field, Field) = (|it| &mut it.both, |it| &mut it.only_first);
    let (second, neither): (Field, Field) = (|it| &mut it.only_second, |it| &mut it.neither);
    each(counted.violated_undecided, &[both, first]);
    each(counted.held_undecided, &[second, neither]);
    each(counted.undecided_violated, &[both, second]);
    each(counted.undecided_held, &[first, neither]);
    each(counted.both_undecided, &[both, first, second, neither]);
    all
}

/// Comparisons that are independent of each other, and of what is the same: the hardest case for a correction.
#[test]
fn of_families_without_a_difference_one_in_twenty_at_most_tells_any_apart() {
    let (mut corrected, mut uncorrected) = (0, 0);
    for family in 0..4_000 {
        let mut stream = Stream::new(Seed(family), "families");
        let comparison = |_: u64| {
            let discordant = stream.next_u64() % 40;
            let heads = u64::from((stream.next_u64() & ((1 << discordant) - 1)).count_ones());
            Comparison { p_value: pairs(heads, discordant - heads).p_value(), discordant }
        };
        let comparisons: Vec<Comparison> = (0..60).map(comparison).collect();
        corrected += u32::from(holm(&comparisons, Confidence::P95).contains(&true));
        uncorrected += u32::from(comparisons.iter().any(|it| it.p_value <= 0.05));
    }
    assert!(corrected <= 200, "{corrected} of 4,000 tell something apart");
    assert!(corrected >= 40, "{corrected} of 4,000: a correction that costs more than it has to");
    assert!(uncorrected > 2_000, "without a correction {uncorrected} do");
}
