//! The ends of every interval that the closed forms name, tried by a fault just before and just after.

use doublehold_history::Predicate;
use doublehold_scenarios::format::Source;
use doublehold_scenarios::{Engine, LeanEngine, Prepared, Scenario, SimEngine};

use super::worlds::{LONG, LOSING_US, SHORT};

/// Whether P1 is violated in a world with one fault in place of its weather, by both engines alike.
fn is_violated(world: &str, fault: &str) -> bool {
    let path = format!("tests/it/closed_forms/{world}.toml");
    let text = std::fs::read_to_string(&path).expect("a world of ours");
    let text = format!("faults = [{{ {fault} }}]\n{text}");
    let source = Source { name: world.into(), file: path, text, ..Source::default() };
    let scenario = source.read().unwrap_or_else(|error| panic!("{error}"));
    let scenario = Scenario { weather: None, ..scenario };
    let lean = LeanEngine.prepare(&scenario).expect("it was checked").judge(1);
    let real = SimEngine.prepare(&scenario).expect("it was checked").judge(1);
    let [lean, real] = [lean, real].map(|run| run.verdicts.get(Predicate::P1).as_str());
    assert_eq!(lean, real, "{world}: {fault}");
    lean == "violated"
}

/// The last microsecond or length of these at which a fault is harmless and the first at which it is not, or the other
/// way round: one is `harmful`, its neighbour is not.
fn is_edge(world: &str, fault: impl Fn(u64) -> String, harmful: u64, harmless: u64) {
    assert!(is_violated(world, &fault(harmful)), "{world}: harmless: {}", fault(harmful));
    assert!(!is_violated(world, &fault(harmless)), "{world}: harmful: {}", fault(harmless));
}

fn pause(at_us: u64, for_ms: u64) -> String {
    format!("kind = 'pause', host = 'c1', at = '{at_us}us', for = '{for_ms}ms'")
}

#[test]
fn pauses_violate_nothing_that_begin_before_the_set_is_sent_or_after_the_work() {
    for (world, lease, long) in [("pause-world", LONG, 2_100), ("short-world", SHORT, 450)] {
        let fault = |at| pause(at, long);
        is_edge(world, fault, 401, 400);
        is_edge(world, fault, 600 + lease.work, 600 + lease.work + 1);
        // All in between: what the reply's arrival changes is only how long the pause has to be.
        for at in [599, 600, 601, 600 + lease.work / 2] {
            assert!(is_violated(world, &pause(at, long)), "{world}: {at} us");
        }
        for at in [0, 199, 200, 399, lease.window - 1] {
            assert!(!is_violated(world, &pause(at, long)), "{world}: {at} us");
        }
    }
}

/// The first whole millisecond after which c2 is granted while c1 is stopped, or has worked since its pause.
#[test]
fn pauses_violate_nothing_that_end_before_the_other_is_granted() {
    for (world, lease, longest_ms) in [("pause-world", LONG, 10_000), ("short-world", SHORT, 299_000)] {
        for at in [601, 1_000, 150_300, 600 + lease.work] {
            let longer = (lease.other - at) / 1_000 + 1;
            is_edge(world, |ms| pause(at, ms), longer, longer - 1);
        }
        for at in [401, 599, 600] {
            let longer = (lease.other - lease.work - at) / 1_000 + 1;
            is_edge(world, |ms| pause(at, ms), longer, longer - 1);
            // As long as any: c2 still claims when c1 begins to.
            assert!(is_violated(world, &pause(at, longest_ms)), "{world}: {at} us");
        }
    }
}

/// Two pauses of 3 s: one that harms is enough, also where the other holds c1 up for longer, unless one before c1's SET
/// makes it harmless.
#[test]
fn of_many_pauses_one_that_harms_is_enough() {
    let long = |at: u64| pause(at, 3_000);
    let two = |one, other| format!("{} }}, {{ {}", long(one), long(other));
    assert!(!is_violated("pause-world", &two(400, 500_000)));
    for (one, other) in [(401, 500_000), (401, 3_000_000), (1_000_600, 3_100_000), (900_000, 1_000_000)] {
        assert!(is_violated("pause-world", &two(one, other)), "{one} and {other}");
    }
    assert!(!is_violated("pause-world", &two(1_000_601, 3_100_000)));
}

#[test]
fn a_promotion_loses_the_lock_between_two_instants() {
    let promoted = |at| format!("kind = 'promote', host = 'R1', at = '{at}us'");
    is_edge("failover-world", promoted, LOSING_US.0, LOSING_US.0 - 1);
    is_edge("failover-world", promoted, LOSING_US.1, LOSING_US.1 + 1);
    for at in [1_300_000, 1_499_000, 1_500_300, 1_500_500, 1_501_000, 1_700_000] {
        assert!(is_violated("failover-world", &promoted(at)), "{at} us");
    }
    for at in [0, 100, 300_000, 600_000, 999_999, 1_298_000, 1_701_000, 2_300_000, 2_999_999] {
        assert!(!is_violated("failover-world", &promoted(at)), "{at} us");
    }
}
