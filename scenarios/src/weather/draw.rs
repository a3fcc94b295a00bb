//! From a weather and a seed to concrete faults.
//!
//! The window is divided into equal slots for each line. In each, the line's fault strikes with the chance that makes
//! its mean number right: a Poisson process, but for two in one slot (`odds.rs`). A fault strikes
//!
//! - *at a time*, anywhere in its slot, or
//! - *at a step*: the sort of step is drawn first, then the event, then which one of as many as a run without random
//!   faults has. Marks are few and messages many, so that drawing among all steps alike would seldom find a mark. Half
//!   of the time (for pauses and suspensions always, which mean nothing elsewhere) the step is one of the struck host
//!   itself.
//!
//! A fault lasts as long as was drawn, also beyond the window. Times are whole microseconds and lengths whole
//! milliseconds: nanoseconds would say nothing, and fill plans.
//!
//! One stream draws which slots of a line are struck, and each fault has a stream of its own. All of them depend only
//! on what the line is: its kind, whom it strikes, and its count among equal ones (`line_names.rs`). So a line that is
//! left out, or comes more often, or lasts longer, changes nothing about another; and a line that comes more often
//! strikes wherever it struck before, as long as the number of slots stays.

use std::collections::BTreeMap;
use std::time::Duration;

use doublehold_sim::{DelayLaw, Probability, RatePpb, Seed, Stream};

use super::line_names::LineName;
use super::odds::{Odds, convolve, distinct};
use super::{AttachedFault, HostGroup, RandomFault, Sign, Weather};
use crate::model::cast::Cast;
use crate::model::fault::{Effect, Fault, Names, Nature, Reach, Slot};
use crate::model::scenario::{Role, Scenario};
use crate::model::when::{Event, Nth, StepKind, When};

/// A weather over one scenario, ready to be drawn from.
#[derive(Clone, Debug)]
pub struct Climate {
    window: Duration,
    swarm: bool,
    at_steps: Probability,
    lines: Vec<Line>,
    /// The kinds all of whose lines strike nobody here.
    idle: Vec<&'static str>,
    steps: Steps,
}

/// A line that can strike somebody.
#[derive(Clone, Debug)]
struct Line {
    name: LineName,
    /// The label of its stream.
    label: String,
    fault: RandomFault,
    odds: Odds,
    hosts: Vec<String>,
    /// The other side, for faults of links.
    others: Vec<String>,
    /// Those of which one is struck by what it brings: nobody where it brings nothing.
    brought: Vec<String>,
    /// When a run ends: what is brought later than that never comes.
    run_ends: Duration,
}

impl Climate {
    /// A scenario's weather. `steps` are those of a run of it without random faults.
    pub fn new(weather: &Weather, scenario: &Scenario, steps: &[Nth]) -> Climate {
        let mut climate = Climate {
            window: weather.window,
            swarm: weather.swarm,
            at_steps: weather.at_steps,
            lines: Vec::new(),
            idle: Vec::new(),
            steps: Steps::from_steps(steps, &scenario.cast()),
        };
        for (name, fault) in LineName::of_faults(&weather.faults).into_iter().zip(&weather.faults) {
            match line(name, fault, weather.window, scenario) {
                Some(line) => {
                    if line.fault.brings.is_none() {
                        climate.idle.extend(fault.brings.as_ref().map(word));
                    }
                    climate.lines.push(line);
                }
                None => climate.idle.push(fault.effect.kind().word),
            }
        }
        let brought = climate.lines.iter().filter_map(|line| line.fault.brings.as_ref()).map(word);
        let kinds: Vec<&str> = climate.kinds().into_iter().chain(brought).collect();
        climate.idle.sort_unstable();
        climate.idle.dedup();
        climate.idle.retain(|kind| !kinds.contains(kind));
        climate
    }

    /// The kinds that can strike, each once, in the weather's order.
    pub fn kinds(&self) -> Vec<&'static str> {
        let mut kinds: Vec<&'static str> = Vec::new();
        for kind in self.lines.iter().map(|line| line.fault.effect.kind().word) {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        kinds
    }

    /// The kinds that strike nobody of this scenario, such as a promotion where there is no replica.
    pub fn idle(&self) -> &[&'static str] {
        &self.idle
    }

    /// The faults of a run, all of them optional.
    pub fn draw(&self, seed: Seed) -> Vec<Fault> {
        let mut faults = Vec::new();
        for line in &self.lines {
            let mut stream = Stream::new(seed, &line.label);
            if self.swarm && stream.below(2) == 0 {
                continue;
            }
            for slot in 0..line.odds.slots() {
                if line.odds.is_hit(&mut stream) {
                    faults.extend(self.faults(line, slot, seed));
                }
            }
        }
        faults
    }

    /// How likely a run is to have none, one, and so on, of the faults of a line, or of a kind with all of its lines,
    /// up to a length.
    pub fn chances_of(&self, word: &str, length: usize) -> Vec<f64> {
        let mut chances = vec![1.0];
        for line in self.lines_of(word) {
            chances = convolve(&chances, &line.odds.chances_of_hits(length), length);
        }
        chances.resize(length, 0.0);
        chances
    }

    /// How many faults a run has at most, without those that others bring.
    pub fn max_faults(&self) -> usize {
        self.lines.iter().map(|line| line.odds.slots() as usize).sum()
    }

    /// The lines that a word means: one by its name, or all of a kind.
    fn lines_of(&self, word: &str) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(move |line| line.name.is_meant_by(word))
    }

    /// The faults of a run that has just so many of each of these lines or kinds, and none of any other: drawn as
    /// [`Climate::draw`] does it, among the runs of which this is true. No two words may mean the same line.
    pub fn draw_just(&self, seed: Seed, counts: &BTreeMap<String, u32>) -> Vec<Fault> {
        let mut faults = Vec::new();
        for (word, count) in counts {
            let lines: Vec<&Line> = self.lines_of(word).collect();
            let odds: Vec<&Odds> = lines.iter().map(|line| &line.odds).collect();
            let mut stream = Stream::new(seed, &format!("weather/just/{word}"));
            for (line, slot) in distinct(&odds, *count, &mut stream) {
                faults.extend(self.faults(lines[line], slot, seed));
            }
        }
        faults
    }

    /// A fault, and what it brings.
    fn faults(&self, line: &Line, slot: u32, seed: Seed) -> Vec<Fault> {
        let fault = self.fault(line, slot, seed);
        let brought = line.fault.brings.as_ref().map(|brings| {
            let stream = &mut Stream::new(seed, &format!("{}/{slot}/brings", line.label));
            line.draw_attached(brings, &fault.at, stream)
        });
        std::iter::once(fault).chain(brought).collect()
    }

    fn fault(&self, line: &Line, slot: u32, seed: Seed) -> Fault {
        let stream = &mut Stream::new(seed, &format!("{}/{slot}", line.label));
        let effect = line.effect(stream);
        let at = if stream.chance(self.at_steps) {
            let hosts = effect.hosts();
            let own = effect.kind().nature == Nature::Stop || stream.below(2) == 0;
            self.steps.draw(if own { &hosts.0 } else { &[] }, stream)
        } else {
            None
        };
        let at = at.unwrap_or_else(|| {
            let (from, to) = line.odds.bounds_us(slot, self.window);
            When::At(Duration::from_micros(from + stream.below((to - from).max(1))))
        });
        // Last, so that a law that takes another number of draws changes nothing else.
        let lasting = line.fault.lasting.as_ref().map(|law| round(law.draw(stream)));
        let lasting = lasting.map(|it| least_duration(it, &effect));
        Fault { lasting, effect, at, each: false, optional: true }
    }
}

/// The kind of what a fault brings.
fn word(brings: &AttachedFault) -> &'static str {
    brings.effect.kind().word
}

/// A stop, a cut or a drift of no length is refused in files; a death may restart at once.
fn least_duration(lasting: Duration, effect: &Effect) -> Duration {
    let shortest =
        if effect.kind().nature == Nature::Death { Duration::ZERO } else { Duration::from_millis(1) };
    lasting.max(shortest)
}

fn line(name: LineName, fault: &RandomFault, window: Duration, scenario: &Scenario) -> Option<Line> {
    let mut fault = fault.clone();
    let kind = fault.effect.kind();
    let (hosts, others, ways) = match fault.effect.reach() {
        Reach::Hosts(names) => {
            let hosts = struck(names, kind.nature, scenario);
            let ways = hosts.len();
            (hosts, Vec::new(), ways)
        }
        Reach::Links { from, to, .. } => {
            let (mut hosts, others) = (members(from, scenario), members(to, scenario));
            hosts.retain(|host| others.iter().any(|other| other != host));
            // A machine that many reach has as many ways, and one cut strikes several: counted by the smaller side.
            let ways = hosts.len().min(others.len());
            (hosts, others, ways)
        }
    };
    let odds = Odds::new(ways, window, fault.every);
    if let Effect::Promote { tell: Some(told), .. } = &mut fault.effect {
        told.0 = members(told, scenario);
        told.0.retain(|name| is_node(name, scenario));
    }
    let mut brought = Vec::new();
    if let Some(AttachedFault { effect: Effect::Promote { host, tell, .. }, .. }) = &mut fault.brings {
        brought = struck(host, Nature::Role, scenario);
        brought.retain(|node| !hosts.contains(node));
        if let Some(told) = tell {
            told.0 = members(told, scenario);
            told.0.retain(|name| is_node(name, scenario));
        }
    }
    if brought.is_empty() {
        // Nobody can be promoted. What would be answered so strikes all the same.
        fault.brings = None;
    }
    let run_ends = scenario.limits.time;
    let label = name.label();
    (ways > 0).then_some(Line { name, label, fault, odds, hosts, others, brought, run_ends })
}

/// The hosts that these names and groups mean and that such a fault can strike: disks, data, work and roles are those
/// of nodes, and nobody has a role where nothing is replicated. Sentinels give roles themselves.
fn struck(names: &Names, nature: Nature, scenario: &Scenario) -> Vec<String> {
    let gives_roles = scenario.nodes.master.is_some() && scenario.sentinels.is_none();
    let has_roles = nature != Nature::Role || gives_roles;
    let of_nodes = matches!(nature, Nature::Role | Nature::Data | Nature::Disk | Nature::Service);
    let mut hosts = members(names, scenario);
    hosts.retain(|host| has_roles && (!of_nodes || is_redis(host, scenario)));
    hosts
}

/// True of a node, and not of a service: no fault strikes inside one of those.
fn is_redis(name: &str, scenario: &Scenario) -> bool {
    scenario.service.is_none() && is_node(name, scenario)
}

fn is_node(name: &str, scenario: &Scenario) -> bool {
    scenario.hosts.iter().any(|host| host.name == name && host.role == Role::Node)
}

/// The hosts that these names and groups mean, each once.
fn members(names: &Names, scenario: &Scenario) -> Vec<String> {
    let mut members: Vec<String> = Vec::new();
    for name in &names.0 {
        let is_host = scenario.hosts.iter().any(|host| host.name == *name);
        let group = HostGroup::from_word(name).filter(|_| !is_host);
        for (host, index) in scenario.hosts.iter().zip(0..) {
            let is_master = scenario.nodes.master.is_some_and(|master| master.0 == index);
            let replicates = scenario.nodes.master.is_some() && host.role == Role::Node && !is_master;
            let is_meant = match group {
                None => host.name == *name,
                Some(HostGroup::Clients) => host.role == Role::Client,
                Some(HostGroup::Nodes) => host.role == Role::Node,
                Some(HostGroup::Master) => is_master,
                Some(HostGroup::Replicas) => replicates,
                Some(HostGroup::Sentinels) => host.role == Role::Sentinel,
                Some(HostGroup::Resource) => host.role == Role::Resource,
            };
            if is_meant && !members.contains(&host.name) {
                members.push(host.name.clone());
            }
        }
    }
    members
}

impl Line {
    /// The fault's kind with everything drawn that is left open.
    fn effect(&self, stream: &mut Stream) -> Effect {
        let mut effect = self.fault.effect.clone();
        match effect.reach() {
            Reach::Hosts(hosts) => *hosts = pick(&self.hosts, stream).into(),
            Reach::Links { from, to, both_ways: Some(both_ways) } => {
                (*from, *to) = self.way(stream);
                if self.fault.either_way {
                    // Half of all partitions that were studied are partial or one way (Alquraan et al., OSDI 2018).
                    *both_ways = stream.below(2) == 0;
                }
            }
            Reach::Links { from, to, both_ways: None } => {
                let one = pick(&self.hosts, stream);
                let other = pick(&self.others_than(&one), stream);
                (*from, *to) = self.draw_direction(one.into(), other.into(), stream);
            }
        }
        for (_, slot) in effect.fields() {
            match slot {
                Slot::Step(by) => {
                    let size = self.draw_delay(stream).as_nanos();
                    *by = self.apply_sign(i64::try_from(size).unwrap_or(i64::MAX).max(1), stream);
                }
                Slot::Rate(by) => {
                    let size = stream.below(by.0.unsigned_abs().max(1)) + 1;
                    *by = RatePpb(self.apply_sign(i64::try_from(size).unwrap_or(i64::MAX), stream));
                }
                Slot::Delay(_, by) => *by = self.draw_delay(stream).max(Duration::from_millis(1)),
                Slot::Hosts(_)
                | Slot::Tell(_)
                | Slot::Master(_)
                | Slot::Flag(_)
                | Slot::Clock(_)
                | Slot::Law(_)
                | Slot::Resync(_)
                | Slot::Probability(_) => {}
            }
        }
        if let Effect::Promote { host, tell: Some(told), .. } = &mut effect {
            told.0.retain(|told| !host.0.contains(told));
        }
        effect
    }

    /// What a fault brings that strikes at this moment.
    fn draw_attached(&self, brings: &AttachedFault, at: &When, stream: &mut Stream) -> Fault {
        let mut effect = brings.effect.clone();
        if let Effect::Promote { host, tell, .. } = &mut effect {
            *host = pick(&self.brought, stream).into();
            tell.iter_mut().for_each(|told| told.0.retain(|told| !host.0.contains(told)));
        }
        let later = round(brings.after.draw(stream));
        let at = match at.clone() {
            // A time after the end of a run is refused in files.
            When::At(at) => {
                When::At((at + later).min(self.run_ends.saturating_sub(Duration::from_millis(1))))
            }
            When::On { events, after } => When::On { events, after: after + later },
        };
        Fault { effect, at, lasting: None, each: false, optional: true }
    }

    fn draw_delay(&self, stream: &mut Stream) -> Duration {
        round(self.fault.by.as_ref().map_or(Duration::ZERO, |law: &DelayLaw| law.draw(stream)))
    }

    fn apply_sign(&self, size: i64, stream: &mut Stream) -> i64 {
        match self.fault.sign {
            Sign::Ahead => size,
            Sign::Behind => -size,
            Sign::Either if stream.below(2) == 0 => -size,
            Sign::Either => size,
        }
    }

    /// One host and another, one and all others, or all and one.
    fn way(&self, stream: &mut Stream) -> (Names, Names) {
        let one = pick(&self.hosts, stream);
        let others = self.others_than(&one);
        let other = pick(&others, stream);
        let (from, to) = match stream.below(3) {
            0 => (one.into(), other.into()),
            1 => (one.into(), others.into()),
            _ => {
                let all: Vec<String> = self.hosts.iter().filter(|host| **host != other).cloned().collect();
                (all.into(), other.into())
            }
        };
        self.draw_direction(from, to, stream)
    }

    fn others_than(&self, one: &str) -> Vec<String> {
        self.others.iter().filter(|other| *other != one).cloned().collect()
    }

    /// As written, or one time in two the other way round where the line says so.
    fn draw_direction(&self, from: Names, to: Names, stream: &mut Stream) -> (Names, Names) {
        if self.fault.either_way && stream.below(2) == 1 { (to, from) } else { (from, to) }
    }
}

fn pick(names: &[String], stream: &mut Stream) -> String {
    names[stream.below(names.len() as u64) as usize].clone()
}

/// To whole milliseconds, or microseconds below ten of them.
fn round(duration: Duration) -> Duration {
    let unit = if duration < Duration::from_millis(10) { 1_000 } else { 1_000_000 };
    let ns = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    Duration::from_nanos(ns / unit * unit)
}

/// Where faults can strike: the events of each sort of step, and how many of each there are. First those of all hosts,
/// and then each host's own: of a process, also those of its threads.
#[derive(Clone, Debug, Default)]
struct Steps {
    all: Sorts,
    of: BTreeMap<String, Sorts>,
}

type Sorts = Vec<(StepKind, Vec<(Event, u32)>)>;

impl Steps {
    fn from_steps(steps: &[Nth], cast: &Cast) -> Steps {
        let mut counts: BTreeMap<(StepKind, String), (Event, u32)> = BTreeMap::new();
        for Nth { event, nth } in steps {
            counts.insert((event.step(), event.to_string()), (event.clone(), *nth));
        }
        let mut found = Steps::default();
        for ((sort, _), (event, count)) in counts {
            if let Some(host) = event.host().map(|host| cast.machine_named(host)) {
                add(found.of.entry(host.to_owned()).or_default(), sort, (event.clone(), count));
            }
            add(&mut found.all, sort, (event, count));
        }
        found
    }

    /// A step of one of these hosts, or of anybody if none of them has any.
    fn draw(&self, hosts: &[String], stream: &mut Stream) -> Option<When> {
        let own: Vec<&Sorts> = hosts.iter().filter_map(|host| self.of.get(host)).collect();
        let sorts = if own.is_empty() { &self.all } else { own[stream.below(own.len() as u64) as usize] };
        let (_, events) = sorts.get(stream.below(sorts.len().max(1) as u64) as usize)?;
        let (event, count) = &events[stream.below(events.len() as u64) as usize];
        let nth = stream.below(u64::from(*count)) as u32 + 1;
        Some(When::On { events: vec![Nth { event: event.clone(), nth }], after: Duration::ZERO })
    }
}

fn add(sorts: &mut Sorts, sort: StepKind, event: (Event, u32)) {
    match sorts.iter_mut().find(|(known, _)| *known == sort) {
        Some((_, events)) => events.push(event),
        None => sorts.push((sort, vec![event])),
    }
}
