//! Faults: from `kind = "pause"` to what the kernel does, with the words reports use for it.

use std::time::Duration;

use doublehold_sim::{ClockKind, Fault, HostId, Pattern, PlannedFault, Trigger};

use super::hosts::Hosts;
use super::network;
use super::possible::Setting;
use super::problem::Result;
use super::section::{Choices, Field, Section};
use super::vocabulary::{Key, words_of};
use super::{orders, suggest, when, words};
use crate::scenario::{FaultKind, FaultSetup, HostIndex, Role, START_SIGNAL};

pub(super) const FAULTS_MAX: usize = 100;

/// A kind of fault as files write it, and the keys that mean something to it besides `kind`, `at` and `optional`.
struct Kind {
    word: &'static str,
    keys: &'static [&'static str],
    kind: FaultKind,
}

const KINDS: [Kind; 16] = [
    Kind { word: "pause", keys: &["host", "for"], kind: FaultKind::Pause },
    Kind { word: "suspend", keys: &["host", "for"], kind: FaultKind::Suspend },
    Kind { word: "crash", keys: &["host", "for"], kind: FaultKind::Crash },
    Kind { word: "power-loss", keys: &["host", "for", "torn_tail"], kind: FaultKind::PowerLoss },
    Kind { word: "clock-step", keys: &["host", "for", "by"], kind: FaultKind::ClockStep },
    Kind { word: "clock-drift", keys: &["host", "for", "by"], kind: FaultKind::ClockDrift },
    Kind { word: "clock-freeze", keys: &["host", "for", "clock"], kind: FaultKind::ClockFreeze },
    Kind { word: "cut", keys: &["from", "to", "for", "both_ways"], kind: FaultKind::Cut },
    Kind { word: "slow", keys: &["from", "to", "for", "by", "both_ways"], kind: FaultKind::Slow },
    Kind { word: "packet-delay", keys: &["from", "to", "by"], kind: FaultKind::PacketDelay },
    Kind { word: "loss", keys: &["from", "to", "for", "probability", "both_ways"], kind: FaultKind::Loss },
    Kind { word: "fsync-lies", keys: &["host"], kind: FaultKind::Disk },
    Kind { word: "disk-snapshot", keys: &["host"], kind: FaultKind::Disk },
    Kind { word: "disk-rollback", keys: &["host"], kind: FaultKind::Disk },
    Kind { word: "promote", keys: &["host", "tell", "rewrite_config"], kind: FaultKind::Promote },
    Kind { word: "follow", keys: &["host", "master", "rewrite_config"], kind: FaultKind::Follow },
];
const KEYS: &[&str] = &[
    "kind",
    "at",
    "optional",
    "host",
    "for",
    "torn_tail",
    "by",
    "clock",
    "from",
    "to",
    "both_ways",
    "probability",
    "tell",
    "master",
    "rewrite_config",
];
const EVERY: [&str; 3] = ["kind", "at", "optional"];
const CLOCKS: Choices<ClockKind> =
    &[("wall", ClockKind::Wall), ("monotonic", ClockKind::Monotonic), ("boot", ClockKind::Boot)];

/// What `[[faults]]` takes: what every kind does, and each kind's own keys.
pub(super) fn vocabulary() -> Vec<Key> {
    let mut keys = Key::all("faults", &EVERY);
    keys.extend(Key::words("faults.kind", &KINDS.map(|kind| kind.word)));
    for kind in &KINDS {
        keys.extend(Key::all(&format!("faults.{}", kind.word), kind.keys));
    }
    keys.extend(Key::words("faults.clock-freeze.clock", &words_of(CLOCKS)));
    keys
}

/// What a fault does, before it is known when.
struct Effect {
    faults: Vec<Fault>,
    hosts: Vec<HostIndex>,
    words: String,
}

/// Reads one `[[faults]]` table.
pub(super) fn read(field: &Field<'_>, setting: &Setting<'_>) -> Result<FaultSetup> {
    let fault = field.section(KEYS)?;
    let kind_field = fault.require("kind", "\"pause\"")?;
    let kinds: Vec<(&str, usize)> =
        KINDS.iter().enumerate().map(|(index, kind)| (kind.word, index)).collect();
    let kind = &KINDS[kind_field.choice(&kinds)?];
    refuse_misfits(&fault, kind)?;
    let effect = if kind.keys.contains(&"from") {
        on_links(&fault, kind, setting)?
    } else {
        on_hosts(&fault, kind, setting)?
    };
    let lasting = lasting(&fault, kind)?;
    let when = when::read(&fault.require("at", "\"c1's grant\"")?, setting)?;
    Ok(FaultSetup {
        words: with_duration(&effect, kind, lasting),
        when: when.words,
        hosts: effect.hosts,
        kind: kind.kind,
        planned: PlannedFault { trigger: when.trigger, faults: effect.faults, lasting },
        optional: fault.flag_or("optional", false)?,
    })
}

/// The hand that starts a client, if its table says when.
pub(super) fn start(field: &Field<'_>, setting: &Setting<'_>) -> Result<Option<FaultSetup>> {
    let client = field.section(super::clients::KEYS)?;
    let Some(start) = client.get("start") else { return Ok(None) };
    let host = setting.hosts.get(&client.require("name", "\"c1\"")?)?;
    let when = when::read(&start, setting)?;
    if waits_for(&when.trigger, host.in_world()) {
        let cause = format!("`{}`: {} waits for what it does itself", start.path, setting.hosts.name(host));
        return Err(start.problem(cause, "name a time, or what another client does"));
    }
    let signal = Fault::Signal { host: host.in_world(), signal: START_SIGNAL.to_owned() };
    Ok(Some(FaultSetup {
        words: format!("{} starts", setting.hosts.name(host)),
        when: when.words,
        hosts: vec![host],
        kind: FaultKind::Start,
        planned: PlannedFault { trigger: when.trigger, faults: vec![signal], lasting: None },
        optional: false,
    }))
}

/// Whether something that the client's program does must come first.
fn waits_for(trigger: &Trigger, client: HostId) -> bool {
    let Trigger::On { occurrences, .. } = trigger else { return false };
    occurrences.iter().any(|it| match it.pattern {
        Pattern::Mark { host, about, .. } => host == Some(client) || about == Some(client),
        _ => false,
    })
}

fn refuse_misfits(fault: &Section<'_>, kind: &Kind) -> Result<()> {
    let misfit = fault.fields().into_iter().find(|(key, _)| !EVERY.contains(key) && !kind.keys.contains(key));
    match misfit {
        None => Ok(()),
        Some((key, field)) => {
            let cause = format!("`{key}` means nothing to a `{}`", kind.word);
            Err(field
                .problem(cause, format!("it takes {}", suggest::list(&[&EVERY[..], kind.keys].concat()))))
        }
    }
}

/// For how long. Code that is stopped for ever is dead, which is another fault: those need a duration.
fn lasting(fault: &Section<'_>, kind: &Kind) -> Result<Option<Duration>> {
    match (fault.get("for"), kind.kind) {
        (Some(lasting), FaultKind::Crash | FaultKind::PowerLoss) => lasting.duration().map(Some),
        (Some(lasting), _) => lasting.positive_duration().map(Some),
        (None, FaultKind::Pause | FaultKind::Suspend) => {
            fault.require("for", "\"12s\"")?.duration().map(Some)
        }
        (None, _) => Ok(None),
    }
}

fn on_hosts(fault: &Section<'_>, kind: &Kind, setting: &Setting<'_>) -> Result<Effect> {
    let field = fault.require("host", "\"c1\"")?;
    let hosts = setting.hosts.get_many(&field)?;
    refuse_wrong_role(&field, kind, &hosts, setting.hosts)?;
    let each =
        |fault: &dyn Fn(HostId) -> Fault| hosts.iter().map(|host| fault(host.in_world())).collect::<Vec<_>>();
    let (faults, verb) = match kind.word {
        "pause" => (each(&|host| Fault::Pause { host }), "pause".to_owned()),
        "suspend" => (each(&|host| Fault::Suspend { host }), "are suspended".to_owned()),
        "crash" => (each(&|host| Fault::Crash { host }), "crash".to_owned()),
        "power-loss" => {
            let torn_tail = fault.flag_or("torn_tail", false)?;
            (each(&|host| Fault::LosePower { host, torn_tail }), "lose power".to_owned())
        }
        "clock-step" => {
            let by_ns = step(&fault.require("by", "\"+10s\"")?)?;
            (
                each(&|host| Fault::StepClock { host, by_ns }),
                format!("have their wall clock stepped by {}", words::signed_ns(by_ns)),
            )
        }
        "clock-drift" => {
            let field = fault.require("by", "\"1/100\"")?;
            let by = field.rate()?;
            (
                each(&|host| Fault::ChangeRate { host, by }),
                format!("run their clocks off by {}", field.text()?),
            )
        }
        "clock-freeze" => {
            let clock = fault.require("clock", "\"wall\"")?.choice(CLOCKS)?;
            (each(&|host| Fault::Freeze { host, clock }), format!("have their {} clock frozen", clock.name()))
        }
        "fsync-lies" => {
            (each(&|host| Fault::LieOnFsync { host }), "have disks that lie about fsync".to_owned())
        }
        "disk-snapshot" => {
            (each(&|host| Fault::SnapshotDisk { host }), "have their disk remembered".to_owned())
        }
        "disk-rollback" => {
            (each(&|host| Fault::RollBackDisk { host }), "have their disk rolled back".to_owned())
        }
        "promote" => orders::promote(fault, &field, &hosts, setting)?,
        _ => orders::follow(fault, &hosts, setting)?,
    };
    let names: Vec<&str> = hosts.iter().map(|&host| setting.hosts.name(host)).collect();
    let verb = if names.len() == 1 { words::of_one(&verb) } else { verb };
    Ok(Effect { faults, words: format!("{} {verb}", words::names(&names)), hosts })
}

fn step(field: &Field<'_>) -> Result<i64> {
    match field.signed_duration_ns()? {
        0 => Err(field
            .problem(format!("`{}` is zero", field.path), "step the clock by something such as \"+10s\"")),
        by_ns => Ok(by_ns),
    }
}

/// Disks and roles are Redis nodes' affairs.
fn refuse_wrong_role(field: &Field<'_>, kind: &Kind, hosts: &[HostIndex], all: &Hosts) -> Result<()> {
    if !matches!(kind.kind, FaultKind::Disk | FaultKind::Promote | FaultKind::Follow) {
        return Ok(());
    }
    match hosts.iter().find(|&&host| all.role(host) != Role::Node) {
        None => Ok(()),
        Some(&host) => {
            let cause = format!("`{}`: `{}` runs no Redis", field.path, all.name(host));
            Err(field.problem(cause, format!("a `{}` strikes nodes", kind.word)))
        }
    }
}

fn on_links(fault: &Section<'_>, kind: &Kind, setting: &Setting<'_>) -> Result<Effect> {
    let mut pairs = network::directions(fault, setting.hosts)?;
    let both_ways = fault.flag_or("both_ways", false)?;
    if both_ways {
        let back: Vec<_> =
            pairs.iter().map(|&(from, to)| (to, from)).filter(|pair| !pairs.contains(pair)).collect();
        pairs.extend(back);
    }
    let by = |example: &str| fault.require("by", example)?.positive_duration();
    let (effect, words): (Box<dyn Fn(HostId, HostId) -> Fault>, String) = match kind.word {
        "cut" => (Box::new(|from, to| Fault::Cut { from, to }), "the link".to_owned()),
        "slow" => {
            let by = by("\"2s\"")?;
            (
                Box::new(move |from, to| Fault::Slow { from, to, by_ns: ns(by) }),
                format!("{} of extra delay", words::duration(by)),
            )
        }
        "packet-delay" => {
            let by = by("\"90s\"")?;
            let words = format!("the next message takes {} longer", words::duration(by));
            (Box::new(move |from, to| Fault::DelayNext { from, to, by_ns: ns(by) }), words)
        }
        _ => {
            let probability = fault.require("probability", "\"1/10\"")?.probability()?;
            (
                Box::new(move |from, to| Fault::Lose { from, to, probability }),
                format!("{probability} of all transmissions are lost"),
            )
        }
    };
    let ends = |ends: &dyn Fn(&(HostIndex, HostIndex)) -> HostIndex| {
        let mut hosts: Vec<HostIndex> = pairs.iter().map(ends).collect();
        hosts.sort_unstable();
        hosts.dedup();
        hosts
    };
    let name = |field: &Field<'_>| -> Result<String> {
        let hosts = setting.hosts.get_many(field)?;
        Ok(words::names(&hosts.iter().map(|&host| setting.hosts.name(host)).collect::<Vec<_>>()))
    };
    let (from, to) = (name(&fault.require("from", "")?)?, name(&fault.require("to", "")?)?);
    let direction =
        if both_ways { format!("between {from} and {to}") } else { format!("from {from} to {to}") };
    let words = match kind.kind {
        FaultKind::Cut => format!("{words} {direction} is cut"),
        _ => format!("{words} {direction}"),
    };
    let mut hosts = [ends(&|pair| pair.0), ends(&|pair| pair.1)].concat();
    hosts.sort_unstable();
    hosts.dedup();
    Ok(Effect {
        faults: pairs.iter().map(|(from, to)| effect(from.in_world(), to.in_world())).collect(),
        hosts,
        words,
    })
}

fn ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn with_duration(effect: &Effect, kind: &Kind, lasting: Option<Duration>) -> String {
    let words = &effect.words;
    let (stay, restart) = if effect.hosts.len() == 1 { ("stays", "restarts") } else { ("stay", "restart") };
    match (lasting, kind.kind) {
        (None, FaultKind::Crash | FaultKind::PowerLoss) => format!("{words} and {stay} down"),
        (None, _) => words.clone(),
        (Some(Duration::ZERO), _) => format!("{words} and {restart} at once"),
        (Some(after), FaultKind::Crash | FaultKind::PowerLoss) => {
            format!("{words} and {restart} after {}", words::duration(after))
        }
        (Some(lasting), _) => format!("{words} for {}", words::duration(lasting)),
    }
}
