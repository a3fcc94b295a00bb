//! What is tried in the place of a moment, against lists made the slow way: the scenario that comes of it, and the
//! moments near an instant.

use doublehold_scenarios::build::World;
use doublehold_scenarios::model::fault::Fault;
use doublehold_scenarios::model::when::Mark;
use doublehold_sim::{Seed, Stream};

use super::*;

fn event(stream: &mut Stream) -> Event {
    let client = ["c1", "c2"][stream.below(2) as usize];
    match stream.below(5) {
        0 => Event::mark(client, [Mark::Grant, Mark::Check][stream.below(2) as usize]),
        1 => Event::executed("SET").by(client).on(["A", "B"][stream.below(2) as usize]),
        2 => Event::Sent { from: client.to_owned(), to: "A".to_owned() },
        3 => Event::Received { by: client.to_owned(), from: "A".to_owned() },
        _ => Event::ClockRead { host: client.to_owned() },
    }
}

/// A run: events in order, some at one instant, each counted among its like.
fn steps(stream: &mut Stream) -> Vec<(TrueNs, Nth)> {
    let (mut at, mut steps) = (0, Vec::<(TrueNs, Nth)>::new());
    for _ in 0..stream.below(60) {
        at += stream.below(3) * 400_000;
        let event = event(stream);
        let nth = 1 + steps.iter().filter(|(_, step)| step.event == event).count() as u32;
        steps.push((TrueNs(at), Nth { event, nth }));
    }
    steps
}

fn sort_by_hand(event: &Event) -> usize {
    match event {
        Event::Mark { .. } => 0,
        Event::Executed { .. } => 1,
        Event::Sent { .. } | Event::Received { .. } => 2,
        _ => 3,
    }
}

/// A command is counted among those of its client on its node, and among those on all nodes.
#[test]
fn moments_are_the_nearest_of_each_sort_before_an_instant_and_after_it() {
    let mut stream = Stream::new(Seed(1), "moments");
    for _ in 0..300 {
        let mut steps = steps(&mut stream);
        // Often at the very instant of an event.
        let at = TrueNs(stream.below(100) * 400_000);
        let found = moments(&steps, at);
        let mut seen = Vec::new();
        let commands: Vec<(TrueNs, Event)> = steps
            .iter()
            .filter(|(_, step)| matches!(step.event, Event::Executed { .. }))
            .map(|(time, step)| (*time, step.event.clone()))
            .collect();
        for (time, event) in commands {
            let Event::Executed { command, client, .. } = event else { unreachable!("commands only") };
            let event = Event::Executed { command, client, node: None };
            seen.push(event.clone());
            let nth = seen.iter().filter(|other| **other == event).count() as u32;
            steps.push((time, Nth { event, nth }));
        }
        let mut expected = vec![When::At(Duration::ZERO)];
        for (sort, before, after) in [(0, 8, 2), (1, 4, 1), (2, 4, 1), (3, 2, 0)] {
            let of_sort: Vec<_> =
                steps.iter().filter(|(_, step)| sort_by_hand(&step.event) == sort).cloned().collect();
            let (mut earlier, later): (Vec<_>, Vec<_>) =
                of_sort.into_iter().partition(|(time, _)| *time <= at);
            earlier.sort_by_key(|(time, _)| u64::MAX - time.0);
            let on = |nth: &Nth, after: u64| When::On {
                events: vec![nth.clone()],
                after: Duration::from_nanos(after),
            };
            let near = earlier.iter().take(before).chain(later.iter().take(after));
            expected.extend(near.map(|(_, step)| on(step, 0)));
            for (time, step) in earlier.iter().take(if sort == 0 { 3 } else { 0 }) {
                let gap = at.0 - time.0;
                for digits in [1, 2] {
                    let ten = 10_u64.pow((gap.to_string().len() as u32).saturating_sub(digits));
                    let (short, long) = (gap / ten * ten, gap.div_ceil(ten) * ten);
                    expected
                        .extend([long, short].into_iter().filter(|gap| *gap > 0).map(|gap| on(step, gap)));
                }
                expected.extend((gap > 0).then(|| on(step, gap)));
            }
        }
        assert_eq!(found, expected, "at {at:?} of {steps:?}");
    }
}

/// A fault is moved and nothing else; what came every time does so only where a moment can come again.
#[test]
fn a_waiter_gets_its_moment_and_nothing_else_is_changed() {
    let twice = Fault::pause("c1").at(When::event("c1", Mark::Check)).lasting(Duration::from_secs(2));
    let world = World::new("waiters").nodes(["A", "B"]).clients(2, ["acquire", "check", "release"]);
    let world = world.fault(twice.clone().each()).fault(twice).with(|scenario| {
        scenario.clients[1].start = Some(When::event("c1", Mark::Grant));
    });
    let scenario = world.scenario("redlock", doublehold_lockimpl::descriptors()).expect("a world");
    let mut stream = Stream::new(Seed(1), "waiters");
    let after = |after: Duration, stream: &mut Stream| When::from(event(stream)).delay_by(after);
    let second = Duration::from_secs(1);
    let mut whens = vec![When::default(), When::At(second)];
    whens.extend((0..20).map(|number| after(second * (number % 2), &mut stream)));
    for when in whens {
        for fault in [0, 1] {
            let mut expected = scenario.clone();
            expected.faults[fault].at = when.clone();
            expected.faults[fault].each = fault == 0 && matches!(when, When::On { .. });
            assert!(expected.validate().is_ok(), "{when}");
            let Candidate::Faults(faults) = Waiter::Fault(fault).move_to(&scenario, when.clone()) else {
                panic!("faults alone are cheap to prepare");
            };
            assert_eq!(faults, expected.faults, "{when}");
        }
        let mut expected = scenario.clone();
        expected.clients[1].start = Some(when.clone());
        match Waiter::Client(1).move_to(&scenario, when.clone()) {
            Candidate::Whole(started) => assert_eq!(*started, expected, "{when}"),
            Candidate::Faults(_) => panic!("a start is no fault"),
        }
    }
}

/// Of any two moments the nicer one, as the page of this module says: what comes first in this list is nicer.
#[test]
fn moments_are_ranked_as_a_reader_would() {
    let moments = [
        "0s",
        "c1's grant",
        "the 1st SET executed for c1",
        "c1's 2nd grant",
        "c1's 3rd grant",
        "the 5th SET executed for c1",
        "c2's grant",
        "the 1st SET executed for c2",
        "c2's 4th grant",
        "c1's check after c1's grant",
        "c2's check after c1's 2nd grant",
        "c1's message to A",
        "c1's 5th message to A",
        "c1's clock read",
        "1s after c1's grant",
        "1s after the 3rd SET executed for c1",
        "3s",
        "c1's 6th grant",
    ];
    let parsed = moments.map(|text| text.parse::<When>().expect("a moment"));
    for (place, nicer) in parsed.iter().enumerate() {
        for other in &parsed[place + 1..] {
            let about = ["c1".to_owned()];
            assert!(rank(nicer, &about) < rank(other, &about), "{nicer} and {other}");
        }
    }
    // Nobody's events are nobody else's.
    let of_all = |text: &str| rank(&text.parse().expect("a moment"), &[]);
    assert_eq!(of_all("c1's grant"), of_all("c2's grant"));
    // A step of nobody in particular is not its own.
    let of_c1 = |text: &str| rank(&text.parse().expect("a moment"), &["c1".to_owned()]).0;
    assert_eq!(of_c1("the 1st SET executed on A"), of_c1("the 1st SET executed for c2"));
    let far = [
        "c1's 6th grant",
        "c1's check after c1's 6th grant",
        "1s after c1's message to A",
        "c1's message to A after c1's grant",
    ];
    assert!(far.iter().all(|text| of_all(text).0 == Class::Far), "{:?}", far.map(of_all));
}

/// A fault of nodes is about nobody's events, nor is one that a client has a part in only.
#[test]
fn a_fault_is_about_the_clients_that_it_is_done_to() {
    let second = Duration::from_secs(1);
    let world = World::new("about").nodes(["A", "B"]).clients(3, ["acquire", "release"]);
    let faults = [
        (Fault::pause("c2").lasting(second), &["c2"][..]),
        (Fault::pause(["c1", "c3"]).lasting(second), &["c1", "c3"]),
        (Fault::pause(["c1", "A"]).lasting(second), &[]),
        (Fault::crash("A"), &[]),
    ];
    let world = faults.iter().fold(world, |world, (fault, _)| world.fault(fault.clone()));
    let scenario = world.scenario("redlock", doublehold_lockimpl::descriptors()).expect("a world");
    for (number, (fault, about)) in faults.iter().enumerate() {
        assert_eq!(Waiter::Fault(number).is_about(&scenario), *about, "{fault}");
    }
    assert!((0..3).all(|client| Waiter::Client(client).is_about(&scenario).is_empty()));
}
