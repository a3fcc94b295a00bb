//! A scenario's nodes, served, and its faults of nodes and links, struck in real time.
//!
//! What a scenario has its clients do is theirs to do, and is said in words. Networks, disks and the speed of nodes are
//! this machine's.

use std::sync::Arc;
use std::time::Duration;

use doublehold_history::Bounds;
use doublehold_scenarios::Scenario;
use doublehold_scenarios::fault::{Effect, Fault, Names, Nature};
use doublehold_scenarios::scenario::{DelayLaw, HostIndex, Role};
use doublehold_scenarios::when::When;
use doublehold_sim_redis::NodeConfig;

use super::control::Control;
use super::layout::{Layout, Nodes, Sentinels};
use super::weather::host::Host;
use super::weather::links::Way;
use super::weather::moments::Timed;
use super::weather::strikes::{Blow, Strike};
use super::words::{Word, check_moment};

/// The servers of a scenario, from this port on.
///
/// # Errors
/// When replicas follow another node than the first, or there are too many.
pub(crate) fn layout(scenario: &Scenario, port: u16) -> Result<Layout, String> {
    let nodes = names(scenario, Role::Node);
    let count = |count: usize| u16::try_from(count).map_err(|_| "the scenario has too many nodes".to_owned());
    let sentinels = count(names(scenario, Role::Sentinel).len())?;
    let nodes = match scenario.nodes.master {
        None => Nodes::Apart(count(nodes.len())?),
        Some(HostIndex(0)) => Nodes::Replicated(count(nodes.len() - 1)?),
        Some(_) => return Err("`nodes.master` has to be the first of `nodes.names` to be served".to_owned()),
    };
    let sentinels = scenario.sentinels.as_ref().map(|setup| Sentinels {
        count: sentinels,
        quorum: setup.quorum,
        down_after: setup.down_after,
    });
    Ok(Layout { port, nodes, sentinels, faults: true })
}

/// The names of a scenario's hosts of a role, in its order.
pub(super) fn names(scenario: &Scenario, role: Role) -> Vec<String> {
    scenario.hosts.iter().filter(|host| host.role == role).map(|host| host.name.clone()).collect()
}

/// What the scenario says of the node in this place.
pub(super) fn node_config(scenario: &Scenario, place: usize) -> NodeConfig {
    let nodes = scenario.hosts.iter().enumerate().filter(|(_, host)| host.role == Role::Node);
    let index = nodes.map(|(index, _)| HostIndex(index)).nth(place).unwrap_or(HostIndex(0));
    scenario.node_config(index)
}

/// What the scenario promises about waits.
pub(super) fn bounds(scenario: &Scenario) -> Bounds {
    let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    Bounds {
        obtain_within_ns: scenario.limits.obtain_within.map(ns),
        obtain_free_within_ns: scenario.limits.obtain_free_within.map(ns),
        counted_from_ns: 0,
    }
}

/// What is wrong with its nodes' clocks from the beginning.
pub(super) fn first_clocks(scenario: &Scenario, control: &Control) -> Vec<Word> {
    let mut words = Vec::new();
    for (setup, host) in scenario.hosts.iter().filter_map(|setup| Some((setup, find(control, &setup.name)?)))
    {
        if setup.wall_offset_ns != 0 {
            words.push(Word::Clock { host: Arc::clone(host), by_us: setup.wall_offset_ns / 1_000 });
        }
        if setup.drift.0 != 0 {
            words.push(Word::Drift { host: Arc::clone(host), ppm: setup.drift.0 / 1_000 });
        }
    }
    words
}

/// The scenario's faults of nodes and links.
///
/// # Errors
/// Everything that cannot be struck here, each with the reason.
pub(crate) fn faults(scenario: &Scenario, control: &Control) -> Result<Vec<Timed<Word>>, Vec<String>> {
    let mut timed = Vec::new();
    let mut refused = Vec::new();
    if scenario.weather.is_some() {
        refused.push("random faults (`[weather]`): their rates are of simulated hours".to_owned());
    }
    for fault in scenario.faults.iter().filter(|fault| strikes_here(fault, control)) {
        match timed_fault(fault, control) {
            Ok(fault) => timed.push(fault),
            Err(why) => refused.push(format!("{fault}: {why}")),
        }
    }
    if refused.is_empty() { Ok(timed) } else { Err(refused) }
}

/// What whoever runs the clients has to do: their programs, and the faults that strike them alone.
pub(crate) fn to_do(scenario: &Scenario, control: &Control) -> Vec<String> {
    let lock = &scenario.lock;
    let ttl = doublehold_text::exact_duration(lock.ttl);
    let mut lines =
        vec![format!("clients are yours: a lock of {ttl}, and connections that have their names")];
    for client in &scenario.clients {
        let name = &scenario.hosts[client.host.0].name;
        let start = client.start.as_ref().map_or_else(|| "at once".to_owned(), When::words);
        let steps = scenario.program_text(client).join(", ");
        lines.push(format!("  {name}, {start}: {steps}"));
    }
    let theirs = scenario.faults.iter().filter(|fault| !strikes_here(fault, control));
    lines.extend(theirs.map(|fault| format!("  by you: {fault}")));
    lines
}

fn find<'a>(control: &'a Control, name: &str) -> Option<&'a Arc<Host>> {
    control.hosts.iter().find(|host| host.name == name)
}

/// Whether a fault strikes a node or a link, and not a client or the resource alone.
fn strikes_here(fault: &Fault, control: &Control) -> bool {
    fault.effect.hosts().0.iter().any(|name| find(control, name).is_some())
}

fn timed_fault(fault: &Fault, control: &Control) -> Result<Timed<Word>, String> {
    check_moment(&fault.at, control)?;
    let words = Doing { control, fault }.words()?;
    Ok(Timed {
        typed: fault.to_string(),
        when: fault.at.clone(),
        words,
        each: fault.each,
        is_optional: fault.optional,
    })
}

/// A fault that is turned into words.
struct Doing<'a> {
    control: &'a Control,
    fault: &'a Fault,
}

impl Doing<'_> {
    fn words(&self) -> Result<Vec<(Duration, Word)>, String> {
        let lasting = self.fault.lasting;
        match &self.fault.effect {
            Effect::Pause { hosts } => {
                let duration = lasting.unwrap_or_default();
                self.of_each(hosts, |host| vec![(Duration::ZERO, Word::Pause { host, duration })])
            }
            Effect::Crash { hosts } => self.of_each(hosts, |host| {
                let back = lasting.map(|after| (after, Word::Restart(Arc::clone(&host))));
                [(Duration::ZERO, Word::Crash(host))].into_iter().chain(back).collect()
            }),
            Effect::ClockStep { hosts, by_ns } => self.of_each(hosts, |host| {
                let step = |by_us| Word::Clock { host: Arc::clone(&host), by_us };
                let by_us = by_ns / 1_000;
                self.taken_back(step(by_us), step(-by_us))
            }),
            Effect::ClockDrift { hosts, by } => self.of_each(hosts, |host| {
                let drift = |ppm| Word::Drift { host: Arc::clone(&host), ppm };
                self.taken_back(drift(by.0 / 1_000), drift(0))
            }),
            Effect::SlowNode { hosts, by: DelayLaw::Fixed(by) } => self.of_each(hosts, |host| {
                let slow = |by| Word::Slow { host: Arc::clone(&host), by };
                self.taken_back(slow(*by), slow(Duration::ZERO))
            }),
            Effect::SlowNode { .. } => {
                Err("of a served node each command takes the same time longer".to_owned())
            }
            Effect::Flush { hosts } => self.of_each(hosts, |host| vec![(Duration::ZERO, Word::Flush(host))]),
            Effect::Evict { hosts, volatile_only } => self.of_each(hosts, |host| {
                vec![(Duration::ZERO, Word::Evict { host, volatile_only: *volatile_only })]
            }),
            Effect::Promote { host, tell, .. } => self.of_each(host, |host| {
                let is_told =
                    |name: &str| tell.as_ref().is_none_or(|tell| tell.0.iter().any(|it| it == name));
                let others = self.control.hosts.iter();
                let others = others.filter(|it| it.is_node() && it.name != host.name && is_told(&it.name));
                vec![(Duration::ZERO, Word::Promote { tell: others.cloned().collect(), host })]
            }),
            Effect::Follow { .. } => Err("send the node REPLICAOF yourself".to_owned()),
            _ => self.words_of_link(),
        }
    }

    fn words_of_link(&self) -> Result<Vec<(Duration, Word)>, String> {
        match &self.fault.effect {
            Effect::Cut { way } => {
                let mut ways = pairs(&way.from, &way.to);
                if way.both_ways {
                    ways.extend(pairs(&way.to, &way.from));
                }
                Ok(self.taken_back(Word::Cut(ways.clone()), Word::Heal(ways)))
            }
            Effect::Slow { way, by } => {
                self.only_requests(&way.from, &way.to, way.both_ways)?;
                let slow = |way: Way| {
                    let word = |by| Word::SlowLink { way: way.clone(), by };
                    self.taken_back(word(*by), word(Duration::ZERO))
                };
                Ok(pairs(&way.from, &way.to).into_iter().flat_map(slow).collect())
            }
            Effect::PacketDelay { from, to, by } => Ok(pairs(from, to)
                .into_iter()
                .flat_map(|Way { from, to }| match find(self.control, &from) {
                    // A node's next message is a reply.
                    Some(_) => {
                        let ways = vec![Way { from, to }];
                        vec![(Duration::ZERO, Word::Cut(ways.clone())), (*by, Word::Heal(ways))]
                    }
                    None => vec![(Duration::ZERO, strike(Blow::Hold(*by), from, to))],
                })
                .collect()),
            Effect::Duplicate { from, to, after } => {
                self.only_requests(from, to, false)?;
                let strikes = pairs(from, to).into_iter();
                Ok(strikes
                    .map(|Way { from, to }| (Duration::ZERO, strike(Blow::Repeat(*after), from, to)))
                    .collect())
            }
            Effect::ResetConnections { from, to } => {
                let ends = pairs(from, to).into_iter().map(|Way { from, to }| {
                    let (client, node) =
                        if find(self.control, &from).is_some() { (to, from) } else { (from, to) };
                    let host = find(self.control, &node).cloned();
                    host.map(|host| (Duration::ZERO, Word::ResetConnections { client, host }))
                });
                ends.collect::<Option<_>>().ok_or_else(|| "neither end is a node".to_owned())
            }
            other => Err(refusal(other)),
        }
    }

    /// The words for each of several hosts, all of which have to be served.
    fn of_each(
        &self,
        hosts: &Names,
        words: impl Fn(Arc<Host>) -> Vec<(Duration, Word)>,
    ) -> Result<Vec<(Duration, Word)>, String> {
        let mut all = Vec::new();
        for name in &hosts.0 {
            let host = find(self.control, name)
                .ok_or_else(|| format!("{name} is no node: say it in a fault of its own"))?;
            all.extend(words(Arc::clone(host)));
        }
        Ok(all)
    }

    /// What strikes, and what takes it back after the fault's time, if it has one.
    fn taken_back(&self, strikes: Word, ends: Word) -> Vec<(Duration, Word)> {
        let end = self
            .fault
            .lasting
            .filter(|_| self.fault.effect.kind().nature != Nature::Death)
            .map(|after| (after, ends));
        [(Duration::ZERO, strikes)].into_iter().chain(end).collect()
    }

    fn only_requests(&self, from: &Names, to: &Names, both_ways: bool) -> Result<(), String> {
        let is_host = |name: &String| find(self.control, name).is_some();
        if to.0.iter().all(is_host) && !from.0.iter().any(is_host) && !both_ways {
            Ok(())
        } else {
            Err("only what clients send to nodes can be late or sent twice".to_owned())
        }
    }
}

fn pairs(from: &Names, to: &Names) -> Vec<Way> {
    from.0.iter().flat_map(|from| to.0.iter().map(|to| Way::new(from, to))).collect()
}

fn strike(blow: Blow, client: String, node: String) -> Word {
    Word::Strike(Strike { blow, client: Some(client), node, text: None })
}

/// Why a kind of fault is not struck here, and what is.
fn refusal(effect: &Effect) -> String {
    let instead = match effect {
        Effect::Loss { .. } => "`packet-delay` and `cut` are",
        Effect::Suspend { .. } => "`pause` is",
        Effect::ClockFreeze { .. } => "`clock-drift` is",
        _ => "`crash` and `flush` are",
    };
    format!("it needs a simulated machine: {instead} struck here")
}
