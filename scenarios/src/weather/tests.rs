//! The law of a weather: whom its faults strike, when, how strongly and how often, worked out by listing every way in
//! which a draw can come out, against what many seeds draw.
//!
//! Random weathers over small worlds, with made-up steps. Each line has a rate at which runs have several of its
//! faults, and laws whose values can be counted. What a seed draws of each line alone is what it draws of it among
//! others.

mod attached_faults;
mod laws;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use doublehold_sim::{DelayLaw, Probability};
use doublehold_sim::{Seed, Stream};
use laws::{Whom, ends, law_of_lasting, law_of_sizes, law_of_steps, law_of_whom, size, step, whom};

use super::goodness_of_fit::{Law, add, assert_follows, times};
use super::*;
use crate::format::Source;
use crate::model::fault::{Effect, Nature};
use crate::model::fault::{Fault, Names, Slot};
use crate::model::scenario::Scenario;
use crate::model::when::{Event, Mark, Nth, When};

const WEATHERS: usize = 120;
const RUNS: u64 = 60;
/// No run has as many faults of a kind.
const MOST: usize = 200;

/// Worlds of one node, of several, and of replicas; in one a client has the name of a group.
fn world(number: usize) -> Scenario {
    let (lock, nodes, clients) = [
        ("single", "names = ['A']", &["c1", "c2", "c3"][..]),
        ("redlock", "names = ['A', 'B', 'C']", &["c1", "c2"]),
        ("replicated", "names = ['R1', 'M', 'R2'], master = 'M'", &["c1", "c2", "c3", "c4"]),
        ("redlock", "names = ['A', 'B']", &["c1", "nodes", "c3"]),
    ][number];
    let client = |name: &&str| format!("{{ name = '{name}', program = ['acquire', 'release'] }}");
    let clients: Vec<String> = clients.iter().map(client).collect();
    let text = format!(
        "claim = 'x'\nlock = {{ algorithm = '{lock}', ttl = '2s' }}\nnodes = {{ {nodes} }}\nclients = [{}]\n",
        clients.join(", ")
    );
    Source { name: "x".into(), text, ..Source::default() }.read().expect("a scenario")
}

/// Steps of some of the hosts: a few sorts, a few events of each, each a few times.
fn steps(scenario: &Scenario, stream: &mut Stream) -> Vec<Nth> {
    let hosts: Vec<&str> = scenario.hosts.iter().map(|host| host.name.as_str()).collect();
    let mut steps = Vec::new();
    for (place, host) in hosts.iter().enumerate() {
        let (host, other) = ((*host).to_owned(), hosts[(place + 1) % hosts.len()].to_owned());
        let events = [
            Event::mark(host.clone(), Mark::Grant),
            Event::mark(host.clone(), Mark::Check),
            Event::ClockRead { host: host.clone() },
            Event::Sent { from: host.clone(), to: other.clone() },
            Event::Received { by: host.clone(), from: other.clone() },
            Event::Received { by: host.clone(), from: host.clone() },
            Event::executed("SET").by(other).on(host),
        ];
        // Every third host has none.
        for event in events.into_iter().filter(|_| place % 3 != 2) {
            let count = stream.below(4) as u32;
            steps.extend((1..=count).map(|nth| Nth { event: event.clone(), nth }));
        }
    }
    steps
}

fn some<T: Clone>(of: &[T], stream: &mut Stream) -> T {
    of[stream.below(of.len() as u64) as usize].clone()
}

/// A few groups and hosts, which may mean one host twice.
fn names(scenario: &Scenario, stream: &mut Stream) -> Names {
    let hosts = scenario.hosts.iter().map(|host| host.name.clone());
    let known: Vec<String> = hosts.chain(HostGroup::ALL.map(|group| group.as_str().to_owned())).collect();
    let names: BTreeSet<String> = (0..=stream.below(3)).map(|_| some(&known, stream)).collect();
    Names(names.into_iter().collect())
}

/// A law with few values: at, below and across the 10 ms from which on lengths are whole milliseconds.
fn law(stream: &mut Stream) -> DelayLaw {
    let ns = |stream: &mut Stream| match stream.below(5) {
        0 => (stream.below(1_500), 3_000),
        1 => (stream.below(5_000), 9_000),
        2 => (9_998_000 + stream.below(2_000), 2_500_000),
        3 => (stream.below(3_000_000_000), 3_500_000),
        _ => (0, 1),
    };
    let (least, width) = ns(stream);
    let min = Duration::from_nanos(least);
    match stream.below(3) {
        0 => DelayLaw::Fixed(min),
        _ => DelayLaw::Uniform { min, max: min + Duration::from_nanos(stream.below(width)) },
    }
}

fn line(scenario: &Scenario, effect: &Effect, stream: &mut Stream) -> RandomFault {
    let mut effect = effect.clone();
    let (mut by, mut either_way) = (None, false);
    for (_, slot) in effect.fields() {
        match slot {
            Slot::Hosts(hosts) => *hosts = names(scenario, stream),
            Slot::Tell(told) => *told = (stream.below(2) == 0).then(|| names(scenario, stream)),
            Slot::Flag(flag) => *flag = stream.below(2) == 0,
            Slot::Rate(by) => by.0 = stream.below(12) as i64 - 7,
            Slot::Step(_) | Slot::Delay(..) => {
                // One time in two too short to be anything.
                let nothing = DelayLaw::Fixed(Duration::from_nanos(999));
                by = Some(if stream.below(2) == 0 { nothing } else { law(stream) });
            }
            Slot::Probability(_) | Slot::Law(_) | Slot::Resync(_) | Slot::Clock(_) | Slot::Master(_) => {}
        }
    }
    if matches!(effect.kind().nature, Nature::Link | Nature::Message) {
        either_way = stream.below(2) == 0;
    }
    let lasts = matches!(
        effect.kind().nature,
        Nature::Stop | Nature::Death | Nature::Clock | Nature::Link | Nature::Service
    );
    RandomFault {
        effect,
        every: Duration::from_millis(500 + stream.below(3_000)),
        lasting: lasts.then(|| law(stream)),
        by,
        sign: some(&[Sign::Either, Sign::Ahead, Sign::Behind], stream),
        either_way,
        brings: None,
        source: String::new(),
    }
}

/// A line of each of these kinds, and one time in two another of the last kind: the same, or of others.
fn weather(of: &[Effect], scenario: &Scenario, stream: &mut Stream) -> Weather {
    let mut faults: Vec<RandomFault> = of.iter().map(|effect| line(scenario, effect, stream)).collect();
    match stream.below(4) {
        0 => faults.extend(faults.last().cloned()),
        1 => faults.push(line(scenario, &of[of.len() - 1], stream)),
        _ => {}
    }
    let window = Duration::from_micros(2_000_000 + stream.below(2_000_000));
    let at_steps = some(&[(0, 1), (1, 1), (1, 2), (1, 3)], stream);
    let at_steps = Probability::new(at_steps.0, at_steps.1).expect("at most one");
    Weather { window, swarm: false, at_steps, claims: Claims::Search, faults }
}

/// Whom a fault strikes, and at which step if at one.
type At = (Vec<String>, Option<Nth>);

/// The number of hosts that it strikes, and which of them the step is of.
fn whose((hosts, step): &At) -> (usize, Option<usize>) {
    let whose = step.as_ref().and_then(|step| step.event.host());
    (hosts.len(), hosts.iter().position(|host| Some(host.as_str()) == whose))
}

/// What a kind of fault is expected to do in all runs: how often each.
#[derive(Default)]
struct Expected {
    /// Of each line of it that strikes anybody: the mean number in a run, the slots, and whom it strikes.
    lines: Vec<(f64, u32, Law<Whom>)>,
    whom: Law<Whom>,
    sizes: Law<Option<i64>>,
    lasting: Law<Option<Duration>>,
    at: Law<At>,
}

impl Expected {
    fn add(&mut self, fault: &RandomFault, weather: &Weather, scenario: &Scenario, steps: &[Nth]) {
        let (targets, of_whom) = law_of_whom(fault, scenario);
        let mean = targets as f64 * weather.window.as_secs_f64() / fault.every.as_secs_f64();
        if targets == 0 {
            return;
        }
        let slots = ((mean * 16.0).ceil() as u32).next_power_of_two().max(32);
        self.lines.push((mean, slots, of_whom.clone()));
        let count = mean * RUNS as f64;
        let is_stop = fault.effect.kind().nature == Nature::Stop;
        let at_steps = weather.at_steps.as_f64();
        for (whom, chance) in &of_whom {
            let hosts: BTreeSet<String> = match ends(&fault.effect) {
                Some(_) => whom.0.iter().chain(&whom.1).cloned().collect(),
                None => whom.0.iter().cloned().collect(),
            };
            let names: Vec<String> = hosts.iter().cloned().collect();
            for (step, of_step) in law_of_steps(&hosts, is_stop, steps) {
                *self.at.entry((names.clone(), step)).or_default() += count * chance * of_step * at_steps;
            }
            *self.at.entry((names, None)).or_default() += count * chance * (1.0 - at_steps);
        }
        add(&mut self.whom, &of_whom, count);
        add(&mut self.sizes, &law_of_sizes(fault), count);
        add(&mut self.lasting, &law_of_lasting(fault), count);
    }

    /// Whom a fault strikes where there is just one: a line by the odds of its slots.
    fn just_one(&self) -> Law<Whom> {
        let odds = |mean: f64, slots: u32| mean / (1.0 - mean / f64::from(slots));
        let all: f64 = self.lines.iter().map(|(mean, slots, _)| odds(*mean, *slots)).sum();
        let mut law = Law::new();
        self.lines.iter().for_each(|(mean, slots, of)| add(&mut law, of, odds(*mean, *slots) / all));
        law
    }

    /// How likely a run is to have none, one, and so on, slot by slot.
    fn chances(&self) -> Vec<f64> {
        let mut chances = vec![1.0];
        for (mean, slots, _) in &self.lines {
            for _ in 0..*slots {
                let hit = mean / f64::from(*slots);
                let mut next = vec![0.0; (chances.len() + 1).min(MOST)];
                for (hits, before) in chances.iter().enumerate() {
                    next[hits] += before * (1.0 - hit);
                    if let Some(more) = next.get_mut(hits + 1) {
                        *more += before * hit;
                    }
                }
                chances = next;
            }
        }
        chances
    }
}

#[test]
fn faults_are_drawn_as_every_way_to_draw_them_has_it() {
    let mut stream = Stream::new(Seed(2), "laws");
    let (mut faults_of_all, mut struck) = (0, BTreeSet::<&str>::new());
    let kinds: Vec<Effect> = Effect::prototypes().into_iter().filter(RandomFault::may_be_random).collect();
    let mut kinds = kinds.iter().cloned().cycle();
    for number in 0..WEATHERS {
        let of: Vec<Effect> = kinds.by_ref().take(1 + stream.below(3) as usize).collect();
        let is_of_roles = of.iter().any(|effect| effect.kind().nature == Nature::Role);
        let scenario = world(if is_of_roles && stream.below(4) > 0 { 2 } else { stream.below(4) as usize });
        let weather = weather(&of, &scenario, &mut stream);
        let mut steps = if number % 8 == 7 { Vec::new() } else { steps(&scenario, &mut stream) };
        if number % 8 == 6 {
            // Of one sort only.
            let sort = steps.first().map(|step| step.event.step());
            steps.retain(|step| Some(step.event.step()) == sort);
        }
        let climate = Climate::new(&weather, &scenario, &steps);
        let runs: Vec<Vec<Fault>> = (0..RUNS).map(|seed| climate.draw(Seed(seed))).collect();
        faults_of_all += runs.iter().flatten().count();

        let mut kinds: Vec<&'static str> = Vec::new();
        weather.faults.iter().for_each(|line| kinds.push(line.effect.kind().word));
        let mut known = BTreeSet::new();
        kinds.retain(|kind| known.insert(*kind));
        let (mut striking, mut idle, mut slots) = (Vec::new(), Vec::new(), 0);
        for kind in kinds {
            let mut expected = Expected::default();
            let lines = weather.faults.iter().filter(|line| line.effect.kind().word == kind);
            lines.for_each(|line| expected.add(line, &weather, &scenario, &steps));
            if expected.lines.is_empty() {
                idle.push(kind)
            } else {
                striking.push(kind)
            }
            struck.extend(striking.last());
            slots += expected.lines.iter().map(|(_, slots, _)| *slots as usize).sum::<usize>();
            let what = format!("{kind} of weather {number}, {weather:?} over {:?}", scenario.hosts);
            assert_kind(kind, &expected, &runs, &climate, &what);
        }
        idle.sort_unstable();
        assert_eq!((climate.kinds(), climate.idle()), (striking, &idle[..]));
        assert_eq!(climate.max_faults(), slots);
        assert_lines_are_alone(&weather, &scenario, &steps, &runs);
        for fault in runs.iter().flatten() {
            assert!(fault.optional && !fault.each, "{fault}");
            if let When::At(at) = fault.at {
                assert!(at < weather.window && at.as_nanos() % 1_000 == 0, "{fault}");
            }
        }
    }
    assert!(faults_of_all > 20_000 && struck.len() == 18, "{faults_of_all} of {struck:?}");
}

fn assert_kind(kind: &str, expected: &Expected, runs: &[Vec<Fault>], climate: &Climate, what: &str) {
    let of_kind = |fault: &&Fault| fault.effect.kind().word == kind;
    let seen: Vec<&Fault> = runs.iter().flatten().filter(of_kind).collect();
    assert_follows(&expected.whom, &seen.iter().map(|it| whom(it)).collect::<Vec<_>>(), what);
    assert_follows(&expected.sizes, &seen.iter().map(|it| size(it)).collect::<Vec<_>>(), what);
    assert_follows(&expected.lasting, &seen.iter().map(|it| it.lasting).collect::<Vec<_>>(), what);
    let at = |fault: &&Fault| {
        let hosts: BTreeSet<String> = fault.effect.hosts().0.into_iter().collect();
        (hosts.into_iter().collect::<Vec<_>>(), step(fault))
    };
    let at: Vec<At> = seen.iter().map(at).collect();
    assert_follows(&expected.at, &at, what);
    let mut of_hosts = Law::new();
    expected.at.iter().for_each(|(at, count)| *of_hosts.entry(whose(at)).or_default() += count);
    assert_follows(&of_hosts, &at.iter().map(whose).collect::<Vec<_>>(), what);

    let chances = expected.chances();
    let said = climate.chances_of(kind, 40);
    for (hits, said) in said.iter().enumerate() {
        let chance = chances.get(hits).copied().unwrap_or(0.0);
        assert!((said - chance).abs() <= 1e-9 * chance, "{hits}: {said:e} and {chance:e}, {what}");
    }
    let counts: Vec<usize> = runs.iter().map(|run| run.iter().filter(of_kind).count()).collect();
    let law: Law<usize> = chances.into_iter().enumerate().collect();
    assert_follows(&times(&law, RUNS as f64), &counts, what);
    let just: Vec<Fault> = (0..RUNS)
        .flat_map(|seed| climate.draw_just(Seed(seed), &BTreeMap::from([(kind.to_owned(), 1)])))
        .collect();
    let law = if expected.lines.is_empty() { Law::new() } else { times(&expected.just_one(), RUNS as f64) };
    assert_follows(&law, &just.iter().map(whom).collect::<Vec<_>>(), what);
    // Faults of a run are drawn each by itself: two in a row strike alike as often as any two.
    if let [_] = &expected.lines[..] {
        let alike = expected.whom.values().map(|it| (it / expected.whom.values().sum::<f64>()).powi(2)).sum();
        let pairs: Vec<bool> = runs
            .iter()
            .flat_map(|run| {
                let of_kind: Vec<Whom> = run.iter().filter(of_kind).map(whom).collect();
                of_kind.windows(2).map(|pair| pair[0] == pair[1]).collect::<Vec<_>>()
            })
            .collect();
        let law = Law::from([(true, alike), (false, 1.0 - alike)]);
        assert_follows(&times(&law, pairs.len() as f64), &pairs, what);
    }
}

/// Each line is drawn as if there were no other, and the second of two that are of the same kind and names as if there
/// were only the first; whatever the numbers of either are.
fn assert_lines_are_alone(weather: &Weather, scenario: &Scenario, steps: &[Nth], runs: &[Vec<Fault>]) {
    let of = |faults: Vec<RandomFault>| Climate::new(&Weather { faults, ..weather.clone() }, scenario, steps);
    let mut together = vec![Vec::new(); runs.len()];
    for (place, line) in weather.faults.iter().enumerate() {
        let is_of_the_same = |other: &&RandomFault| {
            other.effect.kind().word == line.effect.kind().word
                && ends(&other.effect) == ends(&line.effect)
                && other.effect.hosts() == line.effect.hosts()
        };
        let more = RandomFault { every: line.every / 2, either_way: false, ..line.clone() };
        let mut before: Vec<RandomFault> =
            weather.faults[..place].iter().filter(is_of_the_same).map(|_| more.clone()).collect();
        let fewer = of(before.clone());
        before.push(line.clone());
        let with = of(before);
        for (run, seed) in together.iter_mut().zip(0..) {
            run.extend(with.draw(Seed(seed)).into_iter().skip(fewer.draw(Seed(seed)).len()));
        }
    }
    assert_eq!(together, runs, "{weather:?}");
}

/// A line of each of these faults, so often in so many microseconds.
fn often(mean: u32, us: u64, effects: &[Effect]) -> Weather {
    let window = Duration::from_micros(us);
    let line = |effect: &Effect| RandomFault {
        brings: None,
        effect: effect.clone(),
        every: window / mean,
        lasting: None,
        by: None,
        sign: Sign::Either,
        either_way: false,
        source: String::new(),
    };
    let faults = effects.iter().map(line).collect();
    Weather { window, swarm: false, at_steps: Probability::NEVER, claims: Claims::Search, faults }
}

fn at_us(fault: &Fault) -> u64 {
    match fault.at {
        When::At(at) => at.as_micros() as u64,
        When::On { .. } => panic!("no fault strikes at a step: {fault:?}"),
    }
}

/// Every slot as likely as any other, and in it every microsecond; where slots are shorter than one, its beginning.
#[test]
fn faults_strike_at_all_instants_alike() {
    const SLOTS: u64 = 32;
    const SEEDS: u64 = 3_000;
    for us in [7, 32, 45, 150] {
        let weather = often(2, us, &[Effect::Pause { hosts: "c1".into() }]);
        let climate = Climate::new(&weather, &world(0), &[]);
        let mut law: Law<u64> = Law::new();
        for slot in 0..SLOTS {
            let (from, to) = (us * slot / SLOTS, us * (slot + 1) / SLOTS);
            let instants = from..to.max(from + 1);
            let share = 1.0 / SLOTS as f64 / instants.clone().count() as f64;
            instants.for_each(|at| *law.entry(at).or_default() += share);
        }
        for just in [None, Some(1), Some(3)] {
            let draw = |seed| match just {
                None => climate.draw(seed),
                Some(count) => climate.draw_just(seed, &BTreeMap::from([("pause".to_owned(), count)])),
            };
            let seen: Vec<u64> = (0..SEEDS).map(Seed).flat_map(draw).map(|fault| at_us(&fault)).collect();
            assert_follows(&times(&law, seen.len() as f64), &seen, &format!("{just:?} in {us} us"));
        }
    }
}

/// When one kind strikes says nothing of when another does, also where a stratum says how many there are.
#[test]
fn kinds_strike_each_by_itself() {
    let effects = [Effect::Pause { hosts: "c1".into() }, Effect::Crash { hosts: "c1".into() }];
    let climate = Climate::new(&often(2, 32, &effects), &world(0), &[]);
    let both = BTreeMap::from(["pause", "crash"].map(|kind| (kind.to_owned(), 1)));
    let pairs = (0..2_000).map(|seed| climate.draw_just(Seed(seed), &both));
    let seen: Vec<Vec<u64>> = pairs.map(|pair| pair.iter().map(|it| at_us(it) / 4).collect()).collect();
    let law = (0..64).map(|both| (vec![both / 8, both % 8], 2_000.0 / 64.0)).collect();
    assert_follows(&law, &seen, "a pause and a crash");
}

#[test]
fn a_promotion_strikes_nobody_where_nothing_is_replicated() {
    let promotion = [Effect::Promote { host: "nodes".into(), tell: None, rewrite_config: true }];
    let idle = |number| Climate::new(&often(2, 100, &promotion), &world(number), &[]).idle().to_vec();
    assert_eq!([0, 1, 2].map(idle), [vec!["promote"], vec!["promote"], vec![]]);
}

/// With a swarm each line is in half of the runs, whichever others are.
#[test]
fn a_swarm_leaves_out_every_choice_of_lines_alike() {
    let kinds = ["pause", "crash", "clock-step", "fsync-lies"];
    let hosts = || Names::from("nodes");
    let effects = [
        Effect::Pause { hosts: hosts() },
        Effect::Crash { hosts: hosts() },
        Effect::ClockStep { hosts: hosts(), by_ns: 0 },
        Effect::FsyncLies { hosts: hosts() },
    ];
    // Those that are there strike.
    let weather = Weather { swarm: true, ..often(30, 3_000, &effects) };
    let climate = Climate::new(&weather, &world(0), &[]);
    let struck = |seed| -> Vec<&str> {
        let struck: BTreeSet<&str> =
            climate.draw(Seed(seed)).iter().map(|fault| fault.effect.kind().word).collect();
        kinds.into_iter().filter(|kind| struck.contains(kind)).collect()
    };
    let seen: Vec<Vec<&str>> = (0..400).map(struck).collect();
    let of = |mask: u32| (0..4).filter(|bit| mask >> bit & 1 == 1).map(|bit| kinds[bit]).collect::<Vec<_>>();
    assert_follows(&(0..16).map(|mask| (of(mask), 400.0 / 16.0)).collect(), &seen, "lines of a swarm");
}
