//! What can strike at a step: the kinds of faults that a search places, each with a few stated magnitudes.
//!
//! Magnitudes come from the lock's ttl: half of it, which every lease should outlive, and two seconds more than it,
//! which no lease outlives. A fault of a host strikes the host at which the step happens, a fault of a link the two
//! ends of the message; why that is enough, and for what it is not, is in [`super`].
//!
//! Not placed are kinds that one placement says nothing about: `loss` is random, `slow` is what `packet-delay` is for
//! one message, the effect of `clock-drift` depends on how long it lasts, and disks only matter beside a power loss.
//! Keys without a lifetime are evicted nowhere: `flush` takes them too.

use std::collections::BTreeMap;
use std::time::Duration;

use doublehold_scenarios::format::synonyms;
use doublehold_scenarios::model::fault::{Effect, Fault, Way};
use doublehold_scenarios::model::scenario::{HostSetup, Role, Scenario};
use doublehold_scenarios::model::when::StepKind;
use doublehold_scenarios::model::when::{Event, Nth, When};
use doublehold_sim::{ClockKind, DelayLaw};
use doublehold_text::suggest;
use doublehold_text::{exact_duration, join_names, signed_duration};

use super::ExploreError;

/// The kinds that a search places, in the order of the table of kinds.
#[derive(Clone, Debug)]
pub struct Kinds {
    chosen: Vec<&'static Row>,
    setting: Setting,
}

/// What magnitudes and targets are derived from.
#[derive(Clone, Debug)]
struct Setting {
    /// Shorter than a lease.
    within: Duration,
    /// Longer than a lease.
    beyond: Duration,
    /// Each host and those it sends messages to.
    peers: Vec<(String, Vec<String>)>,
    nodes: Vec<String>,
    clients: Vec<String>,
    /// The process of each thread.
    processes: BTreeMap<String, String>,
    /// The nodes that can be promoted.
    replicas: Vec<String>,
}

/// One kind.
#[derive(Debug)]
struct Row {
    word: &'static str,
    /// Its magnitudes, as the report says them.
    magnitudes: fn(&Setting) -> String,
    /// What of it can strike at an event.
    at: fn(&Setting, &Event) -> Vec<Fault>,
}

/// In the order in which messages list kinds of faults.
const ROWS: [Row; 14] = [
    Row { word: "pause", magnitudes: lengths, at: |it, at| lasting_stops(it, at, Fault::pause) },
    Row { word: "suspend", magnitudes: lengths, at: |it, at| lasting_stops(it, at, Fault::suspend) },
    Row { word: "crash", magnitudes: restarts, at: |it, at| restarting(it, at, Fault::crash) },
    Row { word: "power-loss", magnitudes: restarts, at: |it, at| restarting(it, at, Fault::power_loss) },
    Row { word: "clock-step", magnitudes: steps, at: clock_steps },
    Row {
        word: "clock-freeze",
        magnitudes: |it| format!("wall or monotonic, for {}", exact_duration(it.beyond)),
        at: clock_freezes,
    },
    Row { word: "cut", magnitudes: |it| format!("both ways, for {}", exact_duration(it.beyond)), at: cuts },
    Row {
        word: "packet-delay",
        magnitudes: |it| format!("of the next message, by {}", exact_duration(it.beyond)),
        at: packet_delays,
    },
    Row {
        word: "duplicate",
        magnitudes: |it| format!("of the next request, {} later", exact_duration(it.beyond)),
        at: duplicates,
    },
    Row { word: "reset-connections", magnitudes: |_| String::new(), at: resets },
    Row {
        word: "slow-node",
        magnitudes: |it| {
            format!("by {} a command, for {}", exact_duration(it.within), exact_duration(it.beyond))
        },
        at: slow_nodes,
    },
    Row { word: "flush", magnitudes: |_| String::new(), at: |it, at| once_at_node(it, at, flush) },
    Row {
        word: "evict",
        magnitudes: |_| "of every key that has a lifetime".to_owned(),
        at: |it, at| once_at_node(it, at, evict),
    },
    Row {
        word: "promote",
        magnitudes: |it| format!("of {}", join_names(&it.replicas, "or")),
        at: promotions,
    },
];

/// How much longer than the ttl: more than the drift that locks allow for, a message's way, and a second of rounding.
const MARGIN: Duration = Duration::from_secs(2);

impl Kinds {
    /// The words of all kinds that can be placed.
    pub fn words() -> Vec<&'static str> {
        ROWS.iter().map(|row| row.word).collect()
    }

    /// The words of those that have something to strike in a scenario.
    pub fn applicable_words(scenario: &Scenario) -> Vec<&'static str> {
        // Sentinels promote by themselves.
        let promotes = scenario.primary().is_some() && scenario.sentinels.is_none();
        let of_redis = ["slow-node", "flush", "evict"];
        let strikes = |word: &&str| match *word {
            "promote" => promotes,
            word => scenario.service.is_none() || !of_redis.contains(&word),
        };
        Kinds::words().into_iter().filter(strikes).collect()
    }

    /// Those with these words, whatever their order.
    ///
    /// # Errors
    ///
    /// If a word is no kind, or a kind that is not placed, or there is none.
    pub fn parse(words: &[impl AsRef<str>], scenario: &Scenario) -> Result<Kinds, ExploreError> {
        if words.is_empty() {
            return Err(ExploreError::NoKinds { known: suggest::list(&Kinds::words()) });
        }
        if let Some(unknown) = words.iter().find(|word| !Kinds::words().contains(&word.as_ref())) {
            return Err(refuse_word(unknown.as_ref()));
        }
        let is_named = |row: &&Row| words.iter().any(|word| word.as_ref() == row.word);
        Ok(Kinds {
            chosen: ROWS.iter().filter(is_named).collect(),
            setting: Setting::from_scenario(scenario),
        })
    }

    /// Every fault that can strike at a step, in an order that depends on the step only. Each may find nothing to
    /// strike, or outlast the run.
    pub fn at(&self, step: &Nth) -> Vec<Fault> {
        let moment = When::On { events: vec![step.clone()], after: Duration::ZERO };
        let event = self.setting.machine_event(&step.event);
        let faults = self.chosen.iter().flat_map(|row| (row.at)(&self.setting, &event));
        faults.map(|fault| fault.at(moment.clone()).optional()).collect()
    }

    /// The word of each.
    pub fn chosen_words(&self) -> Vec<&'static str> {
        self.chosen.iter().map(|row| row.word).collect()
    }

    /// Each with its magnitudes: `pause (for 5 s or 12 s)`.
    pub fn descriptions(&self) -> Vec<String> {
        let words = |row: &&Row| match (row.magnitudes)(&self.setting) {
            none if none.is_empty() => row.word.to_owned(),
            magnitudes => format!("{} ({magnitudes})", row.word),
        };
        self.chosen.iter().map(words).collect()
    }

    /// The first of them that strikes at none of these steps.
    pub(super) fn find_idle(&self, steps: &[Nth]) -> Option<&'static str> {
        let strikes = |row: &Row| {
            let mut events = steps.iter().map(|step| self.setting.machine_event(&step.event));
            events.any(|event| !(row.at)(&self.setting, &event).is_empty())
        };
        self.chosen.iter().find(|row| !strikes(row)).map(|row| row.word)
    }
}

fn refuse_word(word: &str) -> ExploreError {
    let is_kind = Effect::kinds().iter().any(|kind| kind.word == word);
    let known = Kinds::words();
    if is_kind {
        return ExploreError::NotPlaced { kind: word.to_owned(), known: suggest::list(&known) };
    }
    ExploreError::UnknownKind { kind: word.to_owned(), hint: synonyms::kind_hint(word, &known) }
}

impl Setting {
    fn from_scenario(scenario: &Scenario) -> Setting {
        let own = scenario.clients.iter().filter_map(|client| client.ttl);
        let ttl = own.fold(scenario.lock.ttl, Duration::max);
        let of =
            |role| scenario.hosts.iter().filter(move |host| host.role == role).map(|host| host.name.clone());
        let nodes: Vec<String> = of(Role::Node).collect();
        let served: Vec<String> = nodes.iter().cloned().chain(of(Role::Resource)).collect();
        let master = scenario.primary().map(|master| scenario.hosts[master.0].name.clone());
        let beside = |node: &String| {
            let others = nodes.iter().filter(|other| master.is_some() && *other != node).cloned();
            others.chain(of(Role::Client)).collect()
        };
        let mut peers: Vec<(String, Vec<String>)> =
            nodes.iter().map(|node| (node.clone(), beside(node))).collect();
        peers.extend(of(Role::Resource).map(|resource| (resource, of(Role::Client).collect())));
        peers.extend(of(Role::Client).map(|client| (client, served.clone())));
        let process = |host: &HostSetup| match host.role {
            Role::Thread(process) => Some((host.name.clone(), scenario.hosts[process.0].name.clone())),
            Role::Node | Role::Sentinel | Role::Resource | Role::Client => None,
        };
        let processes = scenario.hosts.iter().filter_map(process);
        let replicas = nodes.iter().filter(|node| master.as_ref().is_some_and(|master| master != *node));
        Setting {
            within: ttl / 2,
            beyond: ttl.saturating_add(MARGIN),
            peers,
            replicas: replicas.cloned().collect(),
            clients: of(Role::Client).collect(),
            processes: processes.collect(),
            nodes,
        }
    }

    /// The event with a thread's process in its place: what strikes is said of machines.
    fn machine_event(&self, event: &Event) -> Event {
        let machine = |name: &String| self.processes.get(name).unwrap_or(name).clone();
        match event {
            Event::Mark { client, mark } => Event::Mark { client: machine(client), mark: *mark },
            Event::Executed { command, client: Some(client), node } => Event::Executed {
                command: command.clone(),
                client: Some(machine(client)),
                node: node.clone(),
            },
            other => other.clone(),
        }
    }
}

fn lengths(setting: &Setting) -> String {
    format!("for {} or {}", exact_duration(setting.within), exact_duration(setting.beyond))
}

fn restarts(setting: &Setting) -> String {
    format!("restarting at once or after {}", exact_duration(setting.beyond))
}

fn steps(setting: &Setting) -> String {
    let by = nanos(setting.beyond);
    format!("by {} or {}", signed_duration(by), signed_duration(-by))
}

fn nanos(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

/// One for each magnitude, of the host at which the event happens.
fn each<T, const N: usize>(at: &Event, of: [T; N], fault: impl Fn(String, T) -> Fault) -> Vec<Fault> {
    let Some(host) = at.host() else { return Vec::new() };
    of.into_iter().map(|magnitude| fault(host.to_owned(), magnitude)).collect()
}

fn lasting_stops(setting: &Setting, at: &Event, stop: fn(String) -> Fault) -> Vec<Fault> {
    each(at, [setting.within, setting.beyond], |host, length| stop(host).lasting(length))
}

fn restarting(setting: &Setting, at: &Event, death: fn(String) -> Fault) -> Vec<Fault> {
    each(at, [Duration::ZERO, setting.beyond], |host, length| death(host).lasting(length))
}

fn clock_steps(setting: &Setting, at: &Event) -> Vec<Fault> {
    let by = nanos(setting.beyond);
    each(at, [by, -by], Fault::clock_step)
}

fn clock_freezes(setting: &Setting, at: &Event) -> Vec<Fault> {
    let frozen = |host, clock| Fault::clock_freeze(host, clock).lasting(setting.beyond);
    each(at, [ClockKind::Wall, ClockKind::Monotonic], frozen)
}

/// The two ends of the message that the event is about, or of the command's connection. A message from a node to itself
/// crosses no network.
fn link(at: &Event) -> Option<(&str, &str)> {
    let ends = match at {
        Event::Sent { from, to } => Some((from, to)),
        Event::Received { by, from } => Some((by, from)),
        Event::Executed { client: Some(client), node: Some(node), .. } => Some((node, client)),
        _ => None,
    };
    ends.filter(|(one, other)| one != other).map(|(one, other)| (one.as_str(), other.as_str()))
}

fn cuts(setting: &Setting, at: &Event) -> Vec<Fault> {
    let cut = |(one, other)| Fault::cut(Way::between(one, other)).lasting(setting.beyond);
    link(at).map(cut).into_iter().collect()
}

/// Of the next message on the same way; of the first message to each other host, where its process starts.
fn packet_delays(setting: &Setting, at: &Event) -> Vec<Fault> {
    let late = |from: &str, to: &str| Fault::packet_delay(from, to, setting.beyond);
    match at {
        Event::Sent { .. } => link(at).map(|(from, to)| late(from, to)).into_iter().collect(),
        Event::Boot { host } => {
            let own = setting.peers.iter().filter(|(name, _)| name == host);
            own.flat_map(|(_, peers)| peers.iter().map(|to| late(host, to))).collect()
        }
        _ => Vec::new(),
    }
}

/// Of the next request on the same way; of the first to each host, where a client's process starts.
fn duplicates(setting: &Setting, at: &Event) -> Vec<Fault> {
    let is_client = |host: &str| setting.clients.iter().any(|client| client == host);
    let again = |from: &str, to: &str| Fault::duplicate(from, to, setting.beyond);
    match at {
        Event::Sent { from, to } if is_client(from) => vec![again(from, to)],
        Event::Boot { host } if is_client(host) => {
            let own = setting.peers.iter().filter(|(name, _)| name == host);
            own.flat_map(|(_, peers)| peers.iter().map(|to| again(host, to))).collect()
        }
        _ => Vec::new(),
    }
}

fn resets(_: &Setting, at: &Event) -> Vec<Fault> {
    let reset = |(one, other): (&str, &str)| {
        Fault::new(Effect::ResetConnections { from: one.into(), to: other.into() })
    };
    link(at).map(reset).into_iter().collect()
}

fn slow_nodes(setting: &Setting, at: &Event) -> Vec<Fault> {
    let node = at.host().filter(|host| setting.nodes.iter().any(|node| node == host));
    let slow = |node| Fault::slow_node(node, DelayLaw::Fixed(setting.within)).lasting(setting.beyond);
    node.map(slow).into_iter().collect()
}

/// The node at which it happens, once it has started.
fn running_node<'a>(setting: &Setting, at: &'a Event) -> Option<&'a str> {
    let node = at.host().filter(|host| setting.nodes.iter().any(|node| node == host));
    node.filter(|_| at.step() != StepKind::Boot)
}

fn once_at_node(setting: &Setting, at: &Event, fault: fn(&str) -> Fault) -> Vec<Fault> {
    running_node(setting, at).map(fault).into_iter().collect()
}

fn flush(node: &str) -> Fault {
    Fault::new(Effect::Flush { hosts: node.into() })
}

fn evict(node: &str) -> Fault {
    Fault::new(Effect::Evict { hosts: node.into(), volatile_only: true })
}

/// At every step of a node: which of them is master, no step says.
fn promotions(setting: &Setting, at: &Event) -> Vec<Fault> {
    let promote = |_| setting.replicas.iter().map(|replica| Fault::promote(replica.as_str())).collect();
    running_node(setting, at).map_or(Vec::new(), promote)
}

#[cfg(test)]
mod tests;
