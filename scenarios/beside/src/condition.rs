//! Conditions: a world with the weather over it, drawn from a number. All pairs of one condition share both.
//!
//! Harsh weather hides a bug behind faults that beat every lock, and a fault that strikes seldom never meets it. So a
//! condition has few kinds of faults (none, one, two, or half of those that there are), which strike often, and last
//! as long as the weather says, or less than a lease, or longer. Those of links may also last about as long as drivers
//! wait for a reply. A reference tells in which conditions it keeps a rule: there, whoever breaks it differs from the
//! reference.
//!
//! Lines of a weather that name several groups of hosts are taken apart: a lock may survive pauses of nodes and not of
//! clients.

use std::time::Duration;

use doublehold_scenarios::fault::{Effect, Names};
use doublehold_scenarios::model::fault::Nature;
use doublehold_scenarios::scenario::{DelayLaw, Probability, Scenario, Step};
use doublehold_scenarios::weather::{Claims, RandomFault, Weather};
use doublehold_sim::{Seed, Stream};

/// Times around the limits of drivers, which give up on a reply after 500 ms or 1 s. A request that was executed is
/// then sent again.
const LIMITS: Option<(Duration, Duration)> = Some((Duration::from_millis(400), Duration::from_millis(1_600)));

/// A world with the weather over it.
#[derive(Clone, Debug)]
pub struct Condition {
    /// The number it was drawn from.
    pub number: u64,
    /// The world, with the first lock, and without weather.
    pub scenario: Scenario,
    /// What strikes there.
    pub weather: Weather,
}

impl Condition {
    /// The kinds of faults with whom they strike, in words: `pause of clients`.
    pub fn kinds(&self) -> Vec<String> {
        self.weather.faults.iter().map(kind_words).collect()
    }
}

/// The weather of a condition, drawn from its number: some kinds of `base`, as often and as long as this shows most in
/// the scenario.
pub(crate) fn draw_weather(base: &Weather, number: u64, scenario: &Scenario) -> Weather {
    let mut stream = Stream::new(Seed(number), "condition");
    let lines = take_apart(base);
    let ttl = scenario.lock.ttl;
    let window = length_of(scenario);
    let mut weather = Weather {
        window,
        swarm: false,
        at_steps: draw_place(&mut stream),
        claims: Claims::Search,
        faults: Vec::new(),
    };
    if number == 0 || lines.is_empty() {
        return weather;
    }
    let mut is_chosen = draw_kinds(lines.len(), &mut stream);
    let of_failover: Vec<bool> = lines.iter().map(is_of_failover).collect();
    // A failover loses what the new master never got: that takes both, and is what locks on replicas are about.
    if scenario.nodes.master.is_some() && stream.below(3) == 0 {
        is_chosen = of_failover;
    }
    let chosen = lines.into_iter().zip(is_chosen).filter(|(_, is_chosen)| *is_chosen);
    weather.faults = chosen.map(|(line, _)| draw_line(line, window, ttl, &mut stream)).collect();
    weather
}

/// Each group of hosts of a line by itself.
pub(crate) fn take_apart(base: &Weather) -> Vec<RandomFault> {
    let mut lines = Vec::new();
    for line in &base.faults {
        let groups = hosts_of(&line.effect).map_or(1, |names| names.0.len());
        for group in 0..groups {
            let mut line = line.clone();
            if let Some(names) = hosts_of_mut(&mut line.effect) {
                names.0 = vec![names.0[group].clone()];
            }
            lines.push(line);
        }
    }
    lines
}

/// Whom a fault of hosts strikes.
fn hosts_of(effect: &Effect) -> Option<&Names> {
    match effect {
        Effect::Pause { hosts }
        | Effect::Suspend { hosts, .. }
        | Effect::Crash { hosts }
        | Effect::PowerLoss { hosts, .. }
        | Effect::ClockStep { hosts, .. }
        | Effect::ClockDrift { hosts, .. }
        | Effect::ClockFreeze { hosts, .. } => Some(hosts),
        _ => None,
    }
}

fn hosts_of_mut(effect: &mut Effect) -> Option<&mut Names> {
    match effect {
        Effect::Pause { hosts }
        | Effect::Suspend { hosts, .. }
        | Effect::Crash { hosts }
        | Effect::PowerLoss { hosts, .. }
        | Effect::ClockStep { hosts, .. }
        | Effect::ClockDrift { hosts, .. }
        | Effect::ClockFreeze { hosts, .. } => Some(hosts),
        _ => None,
    }
}

/// The kind of a line with whom it strikes: `clock-step of nodes`.
pub(crate) fn kind_words(line: &RandomFault) -> String {
    let kind = line.effect.kind().word;
    match (hosts_of(&line.effect), &line.effect) {
        (Some(hosts), _) => format!("{kind} of {}", hosts.0.join(" and ")),
        (None, Effect::Cut { way } | Effect::Slow { way, .. } | Effect::Loss { way, .. }) => {
            format!("{kind} between {} and {}", way.from.0.join("/"), way.to.0.join("/"))
        }
        (None, _) => kind.to_owned(),
    }
}

/// The share of faults that strike at steps.
fn draw_place(stream: &mut Stream) -> Probability {
    let (numerator, denominator) = [(0, 1), (1, 2), (1, 2), (1, 1)][stream.below(4) as usize];
    Probability::new(numerator, denominator).expect("none, half or all are chances")
}

/// Which of so many lines there are: none, one, two, or half of them.
fn draw_kinds(lines: usize, stream: &mut Stream) -> Vec<bool> {
    let mut is_chosen = vec![false; lines];
    match stream.below(8) {
        0 => {}
        few @ 1..=5 => {
            for _ in 0..few.div_ceil(4) {
                is_chosen[stream.below(lines as u64) as usize] = true;
            }
        }
        _ => is_chosen.iter_mut().for_each(|line| *line = stream.below(2) == 0),
    }
    is_chosen
}

/// Whether a fault promotes a replica, or keeps replicas from hearing of what is written.
fn is_of_failover(line: &RandomFault) -> bool {
    match &line.effect {
        Effect::Promote { .. } => true,
        Effect::Cut { way } => way.to.0.iter().any(|to| to == "replicas"),
        _ => false,
    }
}

/// A line that strikes so often that most runs meet it, for a time that is short or long beside the lease.
fn draw_line(mut line: RandomFault, window: Duration, ttl: Duration, stream: &mut Stream) -> RandomFault {
    line.every = window / [1, 2, 4][stream.below(3) as usize];
    // The last choice is about replies.
    let choices = if matches!(line.effect.kind().nature, Nature::Link | Nature::Message) { 5 } else { 4 };
    let lengths = [None, Some((ttl / 10, ttl / 2)), Some((ttl / 2, 2 * ttl)), Some((ttl, 3 * ttl)), LIMITS];
    if let (Some(_), Some((min, max))) = (&line.lasting, lengths[stream.below(choices) as usize]) {
        line.lasting = Some(DelayLaw::Uniform { min, max });
    }
    let sizes = [None, Some((ttl / 20, ttl / 3)), Some((ttl / 3, ttl)), Some((ttl, 3 * ttl)), LIMITS];
    if let (Some(_), Some((min, max))) = (&line.by, sizes[stream.below(choices) as usize]) {
        line.by = Some(DelayLaw::Uniform { min, max });
    }
    line
}

/// The time for which a run without faults may last, in which faults begin.
fn length_of(scenario: &Scenario) -> Duration {
    let longest = |step: &Step| step.law().and_then(DelayLaw::longest).unwrap_or_default();
    let of_client = |client: &doublehold_scenarios::scenario::ClientSetup| {
        client.rounds * client.program.iter().map(longest).sum::<Duration>()
    };
    let work: Duration = scenario.clients.iter().map(of_client).sum();
    (work * 2 / 3 + scenario.lock.ttl).clamp(Duration::from_secs(1), Duration::from_secs(600))
}
