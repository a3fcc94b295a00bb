//! The three clocks: the table of `clock.rs` cell by cell, a naive model beside them, and sleeps that wait on them.

use doublehold_sim::{ClockKind, Clocks, Fault, Host, RatePpb, SimTime, WallTime};
use proptest::prelude::*;

use crate::story::{Log, Story, ms};

const SECOND: u64 = 1_000_000_000;

fn at(seconds: u64) -> SimTime {
    SimTime(seconds * SECOND)
}

/// What the clocks show 100 s after the world began, in seconds: wall, monotonic, boot.
fn shown(clocks: &Clocks) -> [i64; 3] {
    let seconds = |clock| clocks.value(clock, at(100)) / SECOND as i64;
    [ClockKind::Wall, ClockKind::Monotonic, ClockKind::Boot].map(seconds)
}

#[test]
fn the_table_of_clocks_holds_cell_by_cell() {
    type Change = fn(&mut Clocks);
    let cases: [(&str, Change, [i64; 3]); 11] = [
        ("nothing", |_| {}, [1100, 100, 100]),
        ("10 % fast from 50 s on", |c| c.change_rate(at(50), RatePpb(100_000_000)), [1105, 105, 105]),
        ("10 % slow from 50 s on", |c| c.change_rate(at(50), RatePpb(-100_000_000)), [1095, 95, 95]),
        ("a step ahead", |c| c.step(at(50), 7 * SECOND as i64), [1107, 100, 100]),
        ("a step back", |c| c.step(at(50), -2000 * SECOND as i64), [-900, 100, 100]),
        ("wall frozen", |c| c.freeze(at(50), ClockKind::Wall), [1050, 100, 100]),
        ("monotonic frozen", |c| c.freeze(at(50), ClockKind::Monotonic), [1100, 50, 100]),
        ("boot frozen", |c| c.freeze(at(50), ClockKind::Boot), [1100, 100, 50]),
        ("suspended", |c| c.set_suspended(at(50), true), [1100, 50, 100]),
        (
            "suspended for 30 s",
            |c| {
                c.set_suspended(at(50), true);
                c.set_suspended(at(80), false);
            },
            [1100, 70, 100],
        ),
        ("switched on at 60 s", |c| c.power_on(at(60)), [1100, 40, 40]),
    ];
    for (what, change, expected) in cases {
        let mut clocks = Clocks::new(WallTime(1000 * SECOND as i64));
        change(&mut clocks);
        assert_eq!(shown(&clocks), expected, "{what}");
    }
}

#[test]
fn freezes_count() {
    let mut clocks = Clocks::new(WallTime(0));
    clocks.freeze(at(10), ClockKind::Wall);
    clocks.freeze(at(20), ClockKind::Wall);
    clocks.thaw(at(30), ClockKind::Wall);
    assert_eq!(clocks.value(ClockKind::Wall, at(40)), 10 * SECOND as i64);
    clocks.thaw(at(50), ClockKind::Wall);
    assert_eq!(clocks.value(ClockKind::Wall, at(60)), 20 * SECOND as i64);
    clocks.thaw(at(60), ClockKind::Wall); // one too many changes nothing
    assert_eq!(clocks.value(ClockKind::Wall, at(70)), 30 * SECOND as i64);
}

#[test]
fn a_frozen_clock_still_steps() {
    let mut clocks = Clocks::new(WallTime(0));
    clocks.freeze(at(10), ClockKind::Wall);
    clocks.step(at(20), 5 * SECOND as i64);
    assert_eq!(shown(&clocks), [15, 100, 100]);
}

#[test]
fn a_power_cycle_ends_a_suspension() {
    let mut clocks = Clocks::new(WallTime(0));
    clocks.set_suspended(at(10), true);
    clocks.power_on(at(50));
    assert_eq!(shown(&clocks), [100, 50, 50]);
}

#[test]
fn taking_back_one_of_two_rate_errors_leaves_the_other_exact_also_beyond_the_limits() {
    let mut clocks = Clocks::new(WallTime(0));
    clocks.change_rate(at(0), RatePpb(-400_000_000));
    clocks.change_rate(at(10), RatePpb(-400_000_000)); // together beyond the slowest: half of true time
    clocks.change_rate(at(20), RatePpb(400_000_000));
    assert_eq!(shown(&clocks), [6 + 5 + 48, 59, 59]);
}

/// A change of a clock, a while after the one before it.
#[derive(Clone, Debug)]
enum Change {
    Rate(i64),
    Step(i64),
    Freeze(ClockKind),
    Thaw(ClockKind),
    Suspend(bool),
    PowerOn,
}

fn any_clock() -> impl Strategy<Value = ClockKind> {
    prop_oneof![Just(ClockKind::Wall), Just(ClockKind::Monotonic), Just(ClockKind::Boot)]
}

fn any_change() -> impl Strategy<Value = (u64, Change)> {
    let change = prop_oneof![
        (-700_000_000i64..2_000_000_000).prop_map(Change::Rate),
        (-1_000_000i64..1_000_000).prop_map(Change::Step),
        any_clock().prop_map(Change::Freeze),
        any_clock().prop_map(Change::Thaw),
        any::<bool>().prop_map(Change::Suspend),
        Just(Change::PowerOn),
    ];
    (0u64..2_000, change)
}

fn apply(clocks: &mut Clocks, now: SimTime, change: &Change) {
    match *change {
        Change::Rate(by) => clocks.change_rate(now, RatePpb(by)),
        Change::Step(by) => clocks.step(now, by),
        Change::Freeze(clock) => clocks.freeze(now, clock),
        Change::Thaw(clock) => clocks.thaw(now, clock),
        Change::Suspend(suspended) => clocks.set_suspended(now, suspended),
        Change::PowerOn => clocks.power_on(now),
    }
}

/// The same clocks as a child would build them: they tick once a nanosecond, in billionths of one, exactly.
#[derive(Default)]
struct Naive {
    ticks: [i128; 3],
    rate: i128,
    frozen: [u32; 3],
    suspended: bool,
}

impl Naive {
    fn tick(&mut self) {
        let rate = (1_000_000_000 + self.rate).clamp(500_000_000, 10_000_000_000);
        for clock in [ClockKind::Wall, ClockKind::Monotonic, ClockKind::Boot] {
            let suspended = self.suspended && clock == ClockKind::Monotonic;
            if self.frozen[clock as usize] == 0 && !suspended {
                self.ticks[clock as usize] += rate;
            }
        }
    }

    fn apply(&mut self, change: &Change) {
        match *change {
            Change::Rate(by) => self.rate += i128::from(by),
            Change::Step(by) => self.ticks[0] += i128::from(by) * 1_000_000_000,
            Change::Freeze(clock) => self.frozen[clock as usize] += 1,
            Change::Thaw(clock) => {
                self.frozen[clock as usize] = self.frozen[clock as usize].saturating_sub(1);
            }
            Change::Suspend(suspended) => self.suspended = suspended,
            Change::PowerOn => {
                (self.ticks[1], self.ticks[2], self.suspended) = (0, 0, false);
            }
        }
    }

    fn shows(&self, clock: ClockKind) -> i64 {
        i64::try_from(self.ticks[clock as usize].div_euclid(1_000_000_000)).expect("small numbers")
    }
}

proptest! {
    /// Each change may cost a clock a nanosecond, which the naive clocks do not lose; nothing else may differ.
    #[test]
    fn clocks_agree_with_clocks_that_tick_every_nanosecond(
        changes in prop::collection::vec(any_change(), 0..12),
        tail in 0u64..2_000,
    ) {
        let (mut clocks, mut naive, mut now) = (Clocks::new(WallTime(0)), Naive::default(), SimTime::ZERO);
        let mut rounded = 0;
        let ends = changes.into_iter().map(|(after, change)| (after, Some(change))).chain([(tail, None)]);
        for (after, change) in ends {
            for _ in 0..after {
                naive.tick();
                now.0 += 1;
            }
            if let Some(change) = change {
                apply(&mut clocks, now, &change);
                naive.apply(&change);
                rounded += i64::from(!matches!(change, Change::Step(_)));
            }
            for clock in [ClockKind::Wall, ClockKind::Monotonic, ClockKind::Boot] {
                let behind = naive.shows(clock) - clocks.value(clock, now);
                let is_close = (0..=rounded).contains(&behind);
                prop_assert!(is_close, "{clock:?} is {behind} ns behind after {rounded} changes");
            }
        }
    }

    /// `reaches` names the first nanosecond at which a clock shows a reading: there it does, just before it does not.
    #[test]
    fn reaches_is_the_inverse_of_value(
        changes in prop::collection::vec(any_change(), 0..8),
        clock in any_clock(),
        later in 0u64..3_000,
        ahead in -5_000i64..5_000_000_000_000,
    ) {
        let (mut clocks, mut now) = (Clocks::new(WallTime(-1_000)), SimTime::ZERO);
        for (after, change) in &changes {
            now.0 += after;
            apply(&mut clocks, now, change);
        }
        now.0 += later;
        let reading = clocks.value(clock, now) + ahead;
        match clocks.reaches(clock, reading, now) {
            Some(at) if at == now => prop_assert!(ahead <= 0),
            Some(at) => {
                prop_assert!(at > now && ahead > 0);
                prop_assert!(clocks.value(clock, at) >= reading);
                prop_assert!(clocks.value(clock, SimTime(at.0 - 1)) < reading);
            }
            None => prop_assert_eq!(clocks.value(clock, SimTime(now.0 + SECOND)), clocks.value(clock, now)),
        }
    }
}

// What waits on a clock.

/// Sleeps until its monotonic clock shows 100 ms.
async fn until_100(host: Host, log: Log) {
    host.sleep(ms(100)).await;
    log.say(host.clocks().monotonic.0 / 1_000_000);
}

#[test]
fn changes_of_a_clock_move_the_sleeps_that_wait_on_it() {
    let frozen = |host| Fault::Freeze { host, clock: ClockKind::Monotonic };
    type Faulty = Box<dyn Fn(doublehold_sim::HostId) -> Fault>;
    let cases: Vec<(&str, Faulty, &str)> = vec![
        ("a step ahead", Box::new(|host| Fault::StepClock { host, by_ns: 10_000_000_000 }), "100ms 100"),
        ("a step back", Box::new(|host| Fault::StepClock { host, by_ns: -10_000_000_000 }), "100ms 100"),
        ("wall frozen", Box::new(|host| Fault::Freeze { host, clock: ClockKind::Wall }), "100ms 100"),
        (
            "twice as fast",
            Box::new(|host| Fault::ChangeRate { host, by: RatePpb(1_000_000_000) }),
            "75ms 100",
        ),
        ("half as fast", Box::new(|host| Fault::ChangeRate { host, by: RatePpb(-500_000_000) }), "150ms 100"),
        ("a freeze", Box::new(frozen), "350ms 100"),
        ("a suspension", Box::new(|host| Fault::Suspend { host }), "350ms 100"),
    ];
    for (what, fault, expected) in cases {
        let mut story = Story::new();
        let host = story.essential("sleeper", until_100);
        story.during(50, 300, fault(host));
        story.run();
        assert_eq!(story.said(), [expected], "{what}");
    }
}

#[test]
fn a_step_of_a_drifting_clock_moves_no_sleep_by_a_nanosecond() {
    let wakes = |steps: u64| {
        let mut story = Story::new();
        let host = story.essential("sleeper", |host, log| async move {
            host.sleep(ms(100)).await;
            log.say("awake");
        });
        story.at(0, Fault::ChangeRate { host, by: RatePpb(333_333_333) });
        (1..=steps).for_each(|at| story.at(at, Fault::StepClock { host, by_ns: -7 }));
        story.run();
        story.said()
    };
    assert_eq!(wakes(0), wakes(70));
}

#[test]
fn a_step_keeps_the_order_of_sleeps_that_end_together() {
    let order = |step: bool| {
        let mut story = Story::new();
        let host = story.essential("sleeper", |host, log| async move {
            // The second sleep takes the slot that the first one of all left behind.
            host.sleep(ms(1)).await;
            for sleeper in ["first", "second", "third"] {
                let (host, log) = (host.clone(), log.clone());
                host.clone().spawn(async move {
                    host.sleep_until(doublehold_sim::MonotonicTime(100_000_000)).await;
                    log.say(sleeper);
                });
            }
            host.sleep(ms(200)).await;
        });
        if step {
            story.at(50, Fault::StepClock { host, by_ns: 1 });
        }
        story.run();
        story.said()
    };
    assert_eq!(order(false), order(true));
}

#[test]
fn the_observer_can_watch_any_clock_of_any_host() {
    let mut story = Story::new();
    let host = story.essential("node", |host, _| async move { host.sleep(ms(1000)).await });
    let (observer, said) = (story.world.observer(), std::sync::Arc::new(std::sync::Mutex::new(Vec::new())));
    let seen = said.clone();
    observer.clone().spawn(async move {
        observer.clock_reaches(host, ClockKind::Wall, 500_000_000).await;
        seen.lock().expect("no panic").push((observer.true_time().0, observer.clocks_of(host).wall.0));
    });
    story.at(100, Fault::StepClock { host, by_ns: 50_000_000 });
    story.at(200, Fault::StepClock { host, by_ns: -150_000_000 });
    story.run();
    assert_eq!(*said.lock().expect("no panic"), [(600_000_000, 500_000_000)]);
}

/// From when to when, in milliseconds, and what.
type During = (u64, u64, fn(doublehold_sim::HostId) -> Fault);

/// A machine that is suspended for 250 ms at 50 ms and does not know of it, and what it shows and when, its wall clock
/// counted from its beginning: wall, monotonic, boot.
fn stood(resync: u64, more: &[During]) -> Vec<String> {
    let mut story = Story::new();
    let host = story.essential("guest", |host, log| async move {
        loop {
            let now = host.clocks();
            log.say(format!(
                "{} {} {}",
                now.wall.0 / 1_000_000,
                now.monotonic.0 / 1_000_000,
                now.boot.0 / 1_000_000
            ));
            if host.clocks().monotonic.0 >= 400_000_000 {
                return;
            }
            host.sleep(ms(100)).await;
        }
    });
    let at = |at: u64| doublehold_sim::Trigger::At(doublehold_sim::SimTime::ZERO.after(ms(at)));
    let both = vec![Fault::Suspend { host }, Fault::StandClocks { host, resync_ns: resync * 1_000_000 }];
    story.plan(at(50), both, Some(ms(250)));
    for (from, until, fault) in more {
        story.during(*from, *until, fault(host));
    }
    story.run();
    story.said()
}

#[test]
fn a_machine_that_does_not_know_that_it_stood_is_behind_until_its_wall_clock_is_set_right() {
    assert_eq!(
        stood(0, &[]),
        ["0ms 0 0 0", "350ms 350 100 100", "450ms 450 200 200", "550ms 550 300 300", "650ms 650 400 400"]
    );
    assert_eq!(
        stood(120, &[]),
        ["0ms 0 0 0", "350ms 100 100 100", "450ms 450 200 200", "550ms 550 300 300", "650ms 650 400 400"]
    );
}

#[test]
fn what_holds_a_clock_besides_is_not_owed_and_power_sets_it_right() {
    // It stands from 50 ms on anyway until 200 ms, so that 150 ms of the 250 are nobody's.
    let frozen: fn(doublehold_sim::HostId) -> Fault = |host| Fault::Freeze { host, clock: ClockKind::Wall };
    assert_eq!(stood(0, &[(40, 200, frozen)])[1], "350ms 190 100 100");
    let off: fn(doublehold_sim::HostId) -> Fault = |host| Fault::LosePower { host, torn_tail: false };
    // It starts at 150 ms with the right time, before its suspension was to end.
    assert_eq!(stood(0, &[(100, 150, off)])[1..3], ["150ms 150 0 0", "250ms 250 100 100"]);
}
