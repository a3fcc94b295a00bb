//! The rules that are only numbers: drift, quorums, leases.

use std::num::NonZeroU32;
use std::time::Duration;

use super::fake::{World, ms};
use crate::config::Ratio;
use crate::connection::units::millis;
use crate::env::Clock;
use crate::env::jitter::uniform;
use crate::locks::redlock::Quorum;
use crate::parts::timing::{Drift, Timing};
use crate::{BootTime, Deadline, MonotonicTime, WallTime};

#[test]
fn the_drift_allowance_is_a_share_of_the_lease_and_a_constant() {
    let drift = |numerator, denominator: u32, constant| Drift {
        ratio: Ratio { numerator, denominator: NonZeroU32::new(denominator).expect("not zero") },
        constant: ms(constant),
    };
    let table = [
        (Drift::default(), ms(10_000), ms(102)),
        (Drift::default(), ms(100), ms(3)),
        (Drift::default(), Duration::ZERO, ms(2)),
        (Drift::NONE, ms(10_000), ms(0)),
        (drift(1, 1, 0), ms(5_000), ms(5_000)),
        // antirez's 10 % on either side, rounded up to a nanosecond.
        (drift(2, 11, 0), ms(5_000), Duration::from_nanos(909_090_910)),
        (drift(u32::MAX, 1, 0), Duration::MAX, Duration::from_nanos(u64::MAX)),
    ];
    for (drift, ttl, allowance) in table {
        assert_eq!(drift.allowance(ttl), allowance, "{drift:?} of {ttl:?}");
    }
}

#[test]
fn each_quorum_formula_counts_as_its_author_wrote_it() {
    let table = [
        (Quorum::Majority, [1, 2, 2, 3, 3, 4, 4]),
        (Quorum::HalfOfOthers, [1, 1, 2, 2, 3, 3, 4]),
        (Quorum::MoreThanMajority, [2, 3, 3, 4, 4, 5, 5]),
        (Quorum::Fixed(3), [3; 7]),
    ];
    for (quorum, votes) in table {
        let counted: Vec<usize> = (1..=7).map(|nodes| quorum.votes(nodes)).collect();
        assert_eq!(counted, votes, "{quorum:?} for 1 to 7 nodes");
    }
}

#[test]
fn only_the_published_quorum_and_more_can_never_be_had_twice() {
    for nodes in 1..=7 {
        assert!(2 * Quorum::Majority.votes(nodes) > nodes);
        assert!(2 * Quorum::MoreThanMajority.votes(nodes) > nodes);
        let twice = 2 * Quorum::HalfOfOthers.votes(nodes) <= nodes;
        assert_eq!(twice, nodes % 2 == 0, "two halves of {nodes} nodes");
    }
}

#[test]
fn a_lease_is_rounded_up_to_a_millisecond_and_never_to_none() {
    let table = [(0, 1), (1, 1), (999_999, 1), (1_000_000, 1), (1_000_001, 2), (10_000_000_000, 10_000)];
    for (nanos, expected) in table {
        assert_eq!(millis(Duration::from_nanos(nanos)), expected, "{nanos} ns");
    }
    assert_eq!(millis(Duration::MAX), u64::MAX);
}

#[test]
fn a_random_delay_reaches_both_ends_and_not_beyond() {
    assert_eq!(uniform(ms(200), 0), Duration::ZERO);
    assert_eq!(uniform(ms(200), u64::MAX), ms(200));
    assert_eq!(uniform(Duration::ZERO, u64::MAX), Duration::ZERO);
    assert_eq!(uniform(Duration::MAX, u64::MAX), Duration::from_nanos(u64::MAX));
    let middle = uniform(ms(200), u64::MAX / 2);
    assert!(middle > ms(99) && middle < ms(101), "{middle:?}");
}

#[test]
fn a_deadline_has_passed_from_its_own_moment_on() {
    let world = World::default();
    world.sleep(ms(5));
    let passed = |deadline: Deadline| world.run(deadline.has_passed(&world));
    assert!(passed(Deadline::Monotonic(MonotonicTime(5_000_000))));
    assert!(!passed(Deadline::Monotonic(MonotonicTime(5_000_001))));
    assert!(passed(Deadline::Boot(BootTime(5_000_000))));
    assert!(!passed(Deadline::Boot(BootTime(5_000_001))));
    assert!(passed(Deadline::Wall(WallTime(super::fake::WALL_START + 5_000_000))));
    assert!(!passed(Deadline::Wall(WallTime(super::fake::WALL_START + 5_000_001))));
}

#[test]
fn an_absurd_lease_saturates_instead_of_overflowing() {
    let world = World::default();
    world.sleep(ms(5));
    for (clock, expected) in [
        (Clock::Wall, Deadline::Wall(WallTime(i64::MAX))),
        (Clock::Monotonic, Deadline::Monotonic(MonotonicTime(u64::MAX))),
        (Clock::Boot, Deadline::Boot(BootTime(u64::MAX))),
    ] {
        let timing = Timing { clock, drift: Drift::NONE, ..Timing::checked() };
        let lease = world.run(timing.start(&world, Duration::MAX));
        assert_eq!(lease.deadline(), Some(expected));
        assert!(world.run(lease.extended_in_time(&world, None)));
    }
}

#[test]
fn a_lease_shorter_than_its_drift_allowance_is_over_before_it_begins() {
    let world = World::default();
    let timing = Timing::checked();
    let lease = world.run(timing.start(&world, ms(2)));
    assert_eq!(lease.deadline(), Some(Deadline::Monotonic(MonotonicTime(0))));
    assert!(!world.run(lease.extended_in_time(&world, None)));
}
