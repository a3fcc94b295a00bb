//! The law by which trials are drawn, counted from many of them; the two that come last are of whole scenarios.

use std::collections::{BTreeMap, BTreeSet};

use doublehold_scenarios::catalog;
use doublehold_scenarios::model::when::Mark;
use doublehold_scenarios::{Engine, LeanEngine};

use super::*;

const MS: Duration = Duration::from_millis(1);
const DRAWS: u64 = 4_000;

const OTHER: Seed = Seed(77);

fn of(name: &str) -> (Report, Vec<Fault>, Vec<Trial>) {
    let report = LeanEngine.run(&catalog::load(name, &[]).expect("in the catalogue"), 5);
    let faults = report.scenario.faults.clone();
    let trials = trials(&report, &faults, std::iter::repeat_n(OTHER, 400));
    (report, faults, trials)
}

fn stream(number: u64) -> Stream {
    Stream::new(Seed(number), "law")
}

fn drawn<T>(draw: impl Fn(&mut Stream) -> T) -> Vec<T> {
    (0..DRAWS).map(|number| draw(&mut stream(number))).collect()
}

/// Asserts that as many of all are so as this share says, but for luck: more than five deviations are none.
fn assert_share<T>(all: &[T], share: f64, is_so: impl Fn(&T) -> bool, about: &str) {
    let count = all.iter().filter(|it| is_so(it)).count() as f64;
    let (mean, deviation) = (share * all.len() as f64, (share * (1.0 - share) * all.len() as f64).sqrt());
    assert!((count - mean).abs() <= 5.0 * deviation, "{about}: {count} of {}, not {share}", all.len());
}

/// Asserts that amounts are as likely in each octave from a millisecond to the longest, which may cut the last short,
/// and anywhere in an octave.
fn assert_octaves(amounts: &[Duration], longest: Duration) {
    let octaves = 1 + (longest.as_millis() as u64).max(1).ilog2();
    for octave in 0..octaves {
        let from = MS * (1 << octave);
        let is_in = |it: &Duration| *it >= from && (octave + 1 == octaves || *it < 2 * from);
        assert_share(amounts, 1.0 / f64::from(octaves), is_in, &format!("{from:?} of {longest:?}"));
        if octave + 1 < octaves {
            let is_in_half = |it: &Duration| *it >= from && *it < from * 3 / 2;
            assert_share(amounts, 0.5 / f64::from(octaves), is_in_half, &format!("half of {from:?}"));
        }
    }
    assert!(amounts.iter().all(|it| (MS..=longest.max(MS)).contains(it)), "{longest:?}");
}

#[test]
fn amounts_are_as_likely_in_each_octave() {
    for ms in [0, 1, 3, 1_000, 9_000] {
        let longest = Duration::from_millis(ms);
        assert_octaves(&drawn(|stream| amount(longest, stream)), longest);
    }
    let months = Duration::from_secs(10_000_000);
    assert!(drawn(|stream| amount(months, stream)).iter().all(|it| (MS..=months).contains(it)));
}

/// Shorter by no more than all of it, and by a lease at most.
#[test]
fn half_of_the_lengths_get_shorter_but_for_those_that_cannot() {
    for (than, lease) in [(10, 10_000), (10_000, 20), (700, 700)] {
        let (than, lease) = (MS * than, MS * lease);
        let others = drawn(|stream| vary_length(than, lease, stream));
        assert_share(&others, 0.5, |it| *it < than, "shorter");
        let shorter: Vec<_> = others.iter().filter_map(|it| than.checked_sub(*it)).collect();
        assert_octaves(&shorter, lease.min(than));
        let longer: Vec<_> = others.iter().filter_map(|it| it.checked_sub(than)).collect();
        assert_octaves(&longer, lease);
    }
    assert!(drawn(|stream| vary_length(MS, 9 * MS, stream)).iter().all(|it| *it >= 2 * MS));
}

/// A fault that comes every time stays with its event, and so does one that never struck.
#[test]
fn a_moment_stays_with_its_event_half_of_the_time() {
    let (lease, at) = (Duration::from_secs(4), Duration::from_secs(60));
    let struck = Some(TrueNs(at.as_nanos() as u64));
    let bound = Fault::pause("c1").at(When::event("c1", Mark::Check).delay_by(20 * MS));
    let timed = Fault::pause("c1").at(at);
    let repeated = bound.clone().each();
    for (fault, struck, stays) in
        [(&bound, struck, 0.5), (&bound, None, 1.0), (&repeated, struck, 1.0), (&timed, None, 0.0)]
    {
        let moments = drawn(|stream| moment(fault, struck, lease, stream));
        assert_share(&moments, stays, |(when, _)| matches!(when, When::On { .. }), &fault.to_string());
        for (when, each) in moments {
            let is_event = matches!(when, When::On { .. });
            assert_eq!(each, fault.each && is_event, "{when}");
            match when {
                When::On { events, after } => {
                    assert!(matches!(&fault.at, When::On { events: own, .. } if *own == events));
                    assert!((21 * MS..=lease + 20 * MS).contains(&after), "{after:?}");
                }
                When::At(moved) => assert!((MS..=lease).contains(&moved.abs_diff(at)), "{moved:?}"),
            }
        }
    }
}

/// Of what has a length half keep it, and of the other half every second keeps its moment.
#[test]
fn moments_and_lengths_are_moved_alone_and_together() {
    let (lease, at, short) = (Duration::from_secs(4), Duration::from_secs(60), 5 * MS);
    let lasting = |fault: &Fault| fault.lasting.map(|it| it.as_nanos() as i64);
    let by = |fault: &Fault| match &fault.effect {
        Effect::ClockStep { by_ns, .. } => Some(*by_ns),
        Effect::PacketDelay { by, .. } | Effect::Duplicate { after: by, .. } => Some(by.as_nanos() as i64),
        _ => None,
    };
    let least = |ms: i64| Some(1_000_000 * ms);
    for (fault, smallest) in [
        (Fault::pause("c1").lasting(short), least(1)),
        (Fault::crash("c1").lasting(short), least(0)),
        (Fault::clock_step("A", 5_000_000), least(1)),
        (Fault::packet_delay("c1", "A", short), least(1)),
        (Fault::duplicate("c1", "A", short), least(1)),
    ] {
        let fault = fault.at(at);
        let length = |fault: &Fault| lasting(fault).or(by(fault));
        let moves = drawn(|stream| move_fault(&fault, None, lease, stream));
        let words = fault.to_string();
        assert_share(&moves, 0.5, |it| length(it) == length(&fault) && it.at != fault.at, &words);
        assert_share(&moves, 0.25, |it| length(it) != length(&fault) && it.at == fault.at, &words);
        assert_share(&moves, 0.25, |it| length(it) != length(&fault) && it.at != fault.at, &words);
        assert_eq!(moves.iter().filter_map(length).min(), smallest, "{words}");
        assert!(moves.iter().filter_map(length).max() > least(3_000), "{words}");
    }
    let back = Fault::clock_step("A", -5_000_000).at(at);
    let steps: Vec<i64> =
        drawn(|stream| move_fault(&back, None, lease, stream)).iter().filter_map(by).collect();
    let range = [steps.iter().min(), steps.iter().max()];
    assert!(matches!(range, [Some(..-3_000_000_000), Some(-1_000_000)]), "backwards still: {range:?}");
    let endless = Fault::promote("R1").at(at);
    assert!(drawn(|stream| move_fault(&endless, None, lease, stream)).iter().all(|it| it.at != endless.at));
}

/// In turn: another seed alone, the run's own with moved faults, both, and both with other delays.
#[test]
fn trials_take_turns() {
    let mut report = of("clock-jump").0;
    let faults: Vec<Fault> = (1..=3).map(|second| Fault::crash("A").at(MS * 1_000 * second)).collect();
    std::sync::Arc::make_mut(&mut report.scenario).faults.clone_from(&faults);
    let all = trials(&report, &faults, (0..DRAWS).map(Seed));
    let moves = |trial: &Trial| trial.moved.iter().filter(|(was, is)| was != is).count();
    for (number, trial) in (0..).zip(&all) {
        let seed = if number % 4 == 1 { report.seed } else { Seed(number) };
        assert_eq!((trial.seed, trial.delays.is_some()), (seed, number % 4 == 3), "{number}");
        assert_eq!(moves(trial) > 0, number % 4 != 0, "{number}");
        assert!(trial.moved.iter().map(|(was, _)| was).eq(&faults), "{number}");
    }
    let moved: Vec<&Trial> = all.iter().filter(|trial| moves(trial) > 0).collect();
    assert_share(&moved, 0.5, |trial| moves(trial) == 3, "each by its own amount");
    for place in 0..3 {
        let is_alone = |trial: &&Trial| moves(trial) == 1 && trial.moved[place].0 != trial.moved[place].1;
        assert_share(&moved, 1.0 / 6.0, is_alone, "alone");
    }
    let unmoved = trials(&report, &[], (0..9).map(Seed));
    assert!(unmoved.iter().map(|trial| trial.seed).eq((0..9).map(Seed)), "nothing else could be another");
}

/// Of a way that has a delay of its own, that one; and the same for the same names, whoever else is there.
#[test]
fn delays_of_ways_are_from_half_to_sixteen_times_as_long() {
    let mut scenario = catalog::load("clock-jump", &[]).expect("in the catalogue");
    scenario.link.delay = DelayLaw::Uniform { min: MS, max: 3 * MS };
    let own = LinkSetup { delay: DelayLaw::Fixed(100 * MS), ..scenario.link.clone() };
    scenario.links = vec![(HostIndex(1), HostIndex(0), own)];
    let hosts = scenario.hosts.len();
    let mut factors = Vec::new();
    for number in 0..DRAWS / 40 {
        let links = links_of(&scenario, &number.to_string());
        let ways: BTreeMap<_, _> =
            links.iter().map(|(from, to, link)| ((from.0, to.0), &link.delay)).collect();
        assert_eq!((ways.len(), links.len()), (hosts * (hosts - 1), hosts * (hosts - 1)));
        assert!(ways.keys().all(|(from, to)| from != to));
        for (way, delay) in &ways {
            let twice = match delay {
                DelayLaw::Fixed(delay) if *way == (1, 0) => delay.div_duration_f64(50 * MS),
                DelayLaw::Uniform { min, max } if *max == 3 * *min => min.div_duration_f64(MS / 2),
                other => panic!("{other:?}"),
            };
            factors.push(twice);
        }
        let mut fewer = scenario.clone();
        let gone = fewer.hosts.remove(2);
        let name = |of: &Scenario, host: HostIndex| of.hosts[host.0].name.clone();
        for (from, to, link) in links_of(&fewer, &number.to_string()) {
            let names = [from, to].map(|host| name(&fewer, host));
            let same = links
                .iter()
                .find(|(one, other, _)| [*one, *other].map(|host| name(&scenario, host)) == names);
            assert_eq!(
                same.map(|(_, _, link)| &link.delay),
                Some(&link.delay),
                "{names:?} without {}",
                gone.name
            );
        }
    }
    for power in 0..6 {
        assert_share(&factors, 1.0 / 6.0, |it| *it == f64::from(1 << power), &format!("2^{power} halves"));
    }
}

#[test]
fn a_fault_struck_when_it_did_so_first() {
    let (mut report, faults, _) = of("clock-jump");
    let first = report.faults[0].clone();
    let with =
        |ns: Option<u64>| doublehold_scenarios::report::FaultReport { from: ns.map(TrueNs), ..first.clone() };
    report.faults = vec![with(Some(9)), with(None), with(Some(4)), with(Some(6))];
    assert_eq!(
        (first_strike(&report, &faults[0]), first_strike(&report, &faults[1])),
        (Some(TrueNs(4)), None)
    );
    assert_eq!(patience(&report), 10 * (10_000 * MS + Duration::from_nanos(report.ended.0)));
}

#[test]
fn faults_move_alone_and_together_earlier_and_later_by_little_and_by_a_lease() {
    let (_, faults, trials) = of("clock-jump");
    let differing = |trial: &Trial| {
        let moved = trial.faults(&faults);
        faults.iter().zip(&moved).enumerate().filter(|(_, (was, is))| was != is).map(|(at, _)| at).collect()
    };
    let moves: BTreeSet<Vec<usize>> = trials.iter().map(differing).collect();
    let alone: Vec<Vec<usize>> = (0..faults.len()).map(|fault| vec![fault]).collect();
    assert!(
        alone.iter().chain([&vec![], &(0..faults.len()).collect()]).all(|all| moves.contains(all)),
        "{moves:?}"
    );
    let same = trials.iter().filter(|trial| differing(trial).is_empty()).count();
    assert!(trials.iter().all(|trial| trial.seed == OTHER || trial.seed == Seed(5)));
    assert!((95..110).contains(&same), "a quarter is of another seed alone: {same}");
    let (report, faults, trials) = of("lease-pause");
    let struck = first_strike(&report, &faults[0]).expect("it struck").0;
    let mut amounts: Vec<i128> = Vec::new();
    for fault in trials.iter().map(|trial| trial.faults(&faults).remove(0)) {
        match fault.at {
            When::At(at) => amounts.push(at.as_nanos() as i128 - i128::from(struck)),
            When::On { after, .. } => amounts.push(after.as_nanos() as i128),
        }
    }
    let lease = report.scenario.lock.ttl.as_nanos() as i128;
    let some = |is: &dyn Fn(i128) -> bool| amounts.iter().any(|amount| is(*amount));
    assert!(some(&|by| by < 0) && some(&|by| (1..4_000_000).contains(&by)) && some(&|by| by > lease / 2));
    assert!(amounts.iter().all(|by| *by <= lease), "{amounts:?}");
}

#[test]
fn what_is_moved_could_stand_in_a_file() {
    for name in
        ["clock-jump", "lease-pause", "failover-before-replication", "packet-delay-90s", "crash-restart"]
    {
        let (report, _, trials) = of(name);
        let scenario = Scenario { sets: Vec::new(), ..Scenario::clone(&report.scenario) };
        for trial in trials {
            let moved = trial.apply(&scenario);
            let read = moved.validate().unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(read, moved);
        }
    }
}
