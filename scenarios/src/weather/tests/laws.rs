//! The law of one line of a weather: every way in which whom, how strongly, how long and where it strikes can be drawn,
//! and how likely each is. Written from what the documents say of a weather, and not as the code draws.

use std::collections::BTreeSet;
use std::time::Duration;

use doublehold_sim::{DelayLaw, RatePpb};

use crate::model::fault::{Effect, Fault, Names, Way};
use crate::model::scenario::{Role, Scenario};
use crate::model::when::{Event, Nth, When};
use crate::weather::goodness_of_fit::Law;
use crate::weather::{RandomFault, Sign};

/// The hosts that names mean.
fn meant(names: &Names, scenario: &Scenario) -> BTreeSet<String> {
    let master = scenario.nodes.master.map(|master| scenario.hosts[master.0].name.as_str());
    let mut meant = BTreeSet::new();
    for host in &scenario.hosts {
        let groups: &[&str] = match host.role {
            Role::Client => &["clients"],
            Role::Thread(_) => &[],
            Role::Sentinel => &["sentinels"],
            Role::Resource => &["resource"],
            Role::Node if master.is_some_and(|master| master != host.name) => &["nodes", "replicas"],
            Role::Node if master.is_some() => &["nodes", "master"],
            Role::Node => &["nodes"],
        };
        let is_a_host = |name: &str| scenario.hosts.iter().any(|host| host.name == name);
        let is_in = |name: &String| groups.contains(&name.as_str()) && !is_a_host(name);
        if names.0.iter().any(|name| *name == host.name || is_in(name)) {
            meant.insert(host.name.clone());
        }
    }
    meant
}

/// Both ends of what a fault of links strikes, as they are written.
pub(super) fn ends(effect: &Effect) -> Option<(&Names, &Names)> {
    match effect {
        Effect::Cut { way: Way { from, to, .. } }
        | Effect::Slow { way: Way { from, to, .. }, .. }
        | Effect::Loss { way: Way { from, to, .. }, .. }
        | Effect::PacketDelay { from, to, .. }
        | Effect::Duplicate { from, to, .. }
        | Effect::ResetConnections { from, to } => Some((from, to)),
        _ => None,
    }
}

/// Whom a fault strikes: the hosts, or a way between them; and who is told.
pub(super) type Whom = (Vec<String>, Vec<String>, bool);

pub(super) fn whom(fault: &Fault) -> Whom {
    let sorted = |names: &Names| names.0.iter().cloned().collect::<BTreeSet<_>>().into_iter().collect();
    let both_ways = match &fault.effect {
        Effect::Cut { way } | Effect::Slow { way, .. } | Effect::Loss { way, .. } => way.both_ways,
        _ => false,
    };
    match &fault.effect {
        Effect::Promote { host, tell: Some(told), .. } => (sorted(host), sorted(told), true),
        effect => match ends(effect) {
            Some((from, to)) => (sorted(from), sorted(to), both_ways),
            None => (sorted(&effect.hosts()), Vec::new(), false),
        },
    }
}

/// On how many hosts or ways a line strikes once in its time, and how likely it is to strike whom.
pub(super) fn law_of_whom(fault: &RandomFault, scenario: &Scenario) -> (usize, Law<Whom>) {
    match ends(&fault.effect) {
        Some((from, to)) => law_of_ways(fault, &meant(from, scenario), &meant(to, scenario)),
        None => law_of_hosts(fault, scenario),
    }
}

fn law_of_hosts(fault: &RandomFault, scenario: &Scenario) -> (usize, Law<Whom>) {
    let nodes = meant(&Names(scenario.hosts.iter().map(|host| host.name.clone()).collect()), scenario);
    let is_node =
        |name: &String| scenario.hosts.iter().any(|host| host.name == *name && host.role == Role::Node);
    let nodes: BTreeSet<String> = nodes.into_iter().filter(is_node).collect();
    let mut hosts = meant(&fault.effect.hosts(), scenario);
    match fault.effect.kind().word {
        "fsync-lies" | "slow-node" | "flush" | "evict" => hosts.retain(|host| nodes.contains(host)),
        "promote" => hosts.retain(|host| nodes.contains(host) && scenario.nodes.master.is_some()),
        _ => {}
    }
    let told = |host: &String| match &fault.effect {
        Effect::Promote { tell: Some(told), .. } => {
            let told = meant(told, scenario).into_iter();
            (told.filter(|node| nodes.contains(node) && node != host).collect(), true)
        }
        _ => (Vec::new(), false),
    };
    let whom = |host: &String| (vec![host.clone()], told(host).0, told(host).1);
    (hosts.len(), hosts.iter().map(|host| (whom(host), 1.0 / hosts.len() as f64)).collect())
}

fn law_of_ways(fault: &RandomFault, from: &BTreeSet<String>, to: &BTreeSet<String>) -> (usize, Law<Whom>) {
    let pairs =
        || from.iter().flat_map(|one| to.iter().map(move |other| (one, other))).filter(|(a, b)| a != b);
    let from: BTreeSet<&String> = pairs().map(|(one, _)| one).collect();
    let to: BTreeSet<&String> = pairs().map(|(_, other)| other).collect();
    let but = |names: &BTreeSet<&String>, one: &String| {
        names.iter().filter(|name| **name != one).map(|name| (*name).clone()).collect::<Vec<_>>()
    };
    let (is_way, written) = match &fault.effect {
        Effect::Cut { way } | Effect::Slow { way, .. } | Effect::Loss { way, .. } => (true, way.both_ways),
        _ => (false, false),
    };
    let mut law = Law::new();
    for (one, other) in pairs() {
        let chance = 1.0 / from.len() as f64 / but(&to, one).len() as f64;
        let (from, to) = (but(&from, other), but(&to, one));
        let (one, other) = (vec![one.clone()], vec![other.clone()]);
        let shapes = match is_way {
            true => vec![(one.clone(), other.clone()), (one, to), (from, other)],
            false => vec![(one, other)],
        };
        let of_shapes = shapes.len() as f64;
        for (from, to) in shapes {
            // There and back alike, and half of each both ways.
            let turns = if fault.either_way { vec![false, true] } else { vec![false] };
            let boths = if fault.either_way && is_way { vec![false, true] } else { vec![written] };
            let share = chance / of_shapes / turns.len() as f64 / boths.len() as f64;
            for (turn, both) in turns.iter().flat_map(|turn| boths.iter().map(move |both| (*turn, *both))) {
                let way = if turn { (to.clone(), from.clone()) } else { (from.clone(), to.clone()) };
                *law.entry((way.0, way.1, both)).or_default() += share;
            }
        }
    }
    (from.len().min(to.len()), law)
}

/// The lengths of a law, to whole milliseconds and below ten of them to microseconds: how many nanoseconds become each.
fn law_of_lengths(law: &DelayLaw, least: Duration) -> Law<Duration> {
    let (min, max) = match law {
        DelayLaw::Fixed(length) => (*length, *length),
        DelayLaw::Uniform { min, max } => (*min, *max),
        other => panic!("{other:?}"),
    };
    let (mut from, last) = (min.as_nanos() as u64, max.as_nanos() as u64);
    let all = (last - from + 1) as f64;
    let mut lengths = Law::new();
    while from <= last {
        let unit = if from < 10_000_000 { 1_000 } else { 1_000_000 };
        let length = from / unit * unit;
        let next = (length + unit).min(last + 1);
        *lengths.entry(Duration::from_nanos(length).max(least)).or_default() += (next - from) as f64 / all;
        from = next;
    }
    lengths
}

/// How far a clock is stepped, by how much it drifts, how much later a message is: nanoseconds or billionths.
pub(super) fn size(fault: &Fault) -> Option<i64> {
    match &fault.effect {
        Effect::ClockStep { by_ns, .. } => Some(*by_ns),
        Effect::ClockDrift { by, .. } => Some(by.0),
        Effect::Slow { by, .. } | Effect::PacketDelay { by, .. } | Effect::Duplicate { after: by, .. } => {
            Some(by.as_nanos() as i64)
        }
        _ => None,
    }
}

pub(super) fn law_of_sizes(fault: &RandomFault) -> Law<Option<i64>> {
    let by = |least| law_of_lengths(fault.by.as_ref().expect("it has a size"), Duration::from_nanos(least));
    let ns = |(length, chance): (Duration, f64)| (length.as_nanos() as i64, chance);
    let sizes: Vec<(i64, f64)> = match &fault.effect {
        Effect::ClockStep { .. } => by(1).into_iter().map(ns).collect(),
        Effect::ClockDrift { by: RatePpb(most), .. } => {
            let most = most.abs().max(1);
            (1..=most).map(|rate| (rate, 1.0 / most as f64)).collect()
        }
        Effect::Slow { .. } | Effect::PacketDelay { .. } | Effect::Duplicate { .. } => {
            return by(1_000_000).into_iter().map(ns).map(|(size, chance)| (Some(size), chance)).collect();
        }
        _ => return Law::from([(None, 1.0)]),
    };
    let signs: &[i64] = match fault.sign {
        Sign::Either => &[1, -1],
        Sign::Ahead => &[1],
        Sign::Behind => &[-1],
    };
    let signed = |(size, chance): (i64, f64)| {
        signs.iter().map(move |sign| (Some(sign * size), chance / signs.len() as f64))
    };
    sizes.into_iter().flat_map(signed).collect()
}

/// The lengths of faults: `None` for what does not last. Only a process that died may be back at once.
pub(super) fn law_of_lasting(fault: &RandomFault) -> Law<Option<Duration>> {
    let is_death = matches!(fault.effect, Effect::Crash { .. } | Effect::PowerLoss { .. });
    let least = if is_death { Duration::ZERO } else { Duration::from_millis(1) };
    match &fault.lasting {
        None => Law::from([(None, 1.0)]),
        Some(law) => law_of_lengths(law, least).into_iter().map(|(it, chance)| (Some(it), chance)).collect(),
    }
}

/// The step, or `None` for a time.
pub(super) fn step(fault: &Fault) -> Option<Nth> {
    match &fault.at {
        When::At(_) => None,
        When::On { events, after } => {
            assert_eq!((events.len(), after), (1, &Duration::ZERO), "{fault}");
            Some(events[0].clone())
        }
    }
}

/// Where a fault strikes that strikes these hosts, each event of a sort of step alike and each sort alike: half of the
/// time at a step of one of them, and always if it stops them.
pub(super) fn law_of_steps(hosts: &BTreeSet<String>, is_stop: bool, steps: &[Nth]) -> Law<Option<Nth>> {
    let of = |hosts: &dyn Fn(&str) -> bool| -> Vec<&Nth> {
        steps.iter().filter(|step| hosts(step.event.host().expect("it has one"))).collect()
    };
    let alike = |steps: &[&Nth], chance: f64, law: &mut Law<Option<Nth>>| {
        let sorts: BTreeSet<_> = steps.iter().map(|step| step.event.step()).collect();
        for step in steps {
            let of_sort = || steps.iter().filter(|other| other.event.step() == step.event.step());
            let events: BTreeSet<&Event> = of_sort().map(|other| &other.event).collect();
            let count = steps.iter().filter(|other| other.event == step.event).count();
            *law.entry(Some((*step).clone())).or_default() +=
                chance / sorts.len() as f64 / events.len() as f64 / count as f64;
        }
    };
    let mut law = Law::new();
    if steps.is_empty() {
        return Law::from([(None, 1.0)]);
    }
    let own: Vec<&String> = hosts.iter().filter(|host| !of(&|other| other == *host).is_empty()).collect();
    let of_own = if is_stop { 1.0 } else { 0.5 };
    for host in &own {
        alike(&of(&|other| other == *host), of_own / own.len() as f64, &mut law);
    }
    alike(&of(&|_| true), if own.is_empty() { 1.0 } else { 1.0 - of_own }, &mut law);
    law
}
