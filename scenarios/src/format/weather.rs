//! Weather: `[weather]` of a scenario, and the same keys as a file of their own. What each kind of fault takes is asked
//! of its prototype; here is what is random about it, and what can be wrong with that.

use std::collections::BTreeSet;
use std::time::Duration;

use doublehold_sim::{Probability, RatePpb};
use doublehold_text::{exact_duration, shorten};
use doublehold_text::{file_duration, suggest};
use toml::{Table, Value};

use super::fault::{CLOCKS, bounded_law};
use super::hosts::Hosts;
use super::key::Choices;
use super::key::{Key, words_of};
use super::problem::Result;
use super::section::{Field, Section};
use super::table::put;
use super::tree::Item;
use super::{attached_fault, requests, synonyms, units};
use crate::error::{FileKind, FilePlace, ScenarioError};
use crate::model::fault::{Effect, Names, Nature, Slot};
use crate::model::scenario::{HostIndex, Role};
use crate::weather::{self, Claims, HostGroup, RandomFault, Sign, Weather};

const KEYS: [&str; 7] = ["preset", "without", "for", "swarm", "at_steps", "claims", "faults"];
const FILE_KEYS: [&str; 8] = ["about", "preset", "without", "for", "swarm", "at_steps", "claims", "faults"];
/// What every line takes.
const EVERY: [&str; 3] = ["kind", "every", "source"];
const CLAIMS: Choices<Claims> = &[("search", Claims::Search), ("field", Claims::Field)];
const SIGNS: Choices<Sign> = &[("either", Sign::Either), ("ahead", Sign::Ahead), ("behind", Sign::Behind)];
/// More lines than kinds, and less than a page.
const FAULTS_MAX: usize = 40;
/// The most faults that one line may bring on one host in a run, on average. A run of more shows nothing about any, and
/// takes long to say so.
const MEAN_MAX: u128 = 100;
const WINDOW: Duration = Duration::from_secs(20);

/// What `[weather]` takes.
pub(super) fn vocabulary() -> Vec<Key> {
    let kinds = kinds();
    let words: Vec<&str> = kinds.iter().map(|kind| kind.kind().word).collect();
    let mut keys = [Key::all("weather", &KEYS), Key::all("weather.faults", &EVERY)].concat();
    keys.extend(Key::words("weather.claims", &words_of(CLAIMS)));
    keys.extend(Key::words("weather.faults.kind", &words));
    for kind in &kinds {
        keys.extend(Key::all("weather.faults", &keys_of(kind)));
    }
    keys.extend(attached_fault::vocabulary());
    keys.extend(Key::words("weather.faults.sign", &words_of(SIGNS)));
    keys.extend(Key::words("weather.faults.clock", &words_of(CLOCKS)));
    keys
}

/// The kinds that can be random.
fn kinds() -> Vec<Effect> {
    let mut kinds = Effect::prototypes();
    kinds.retain(RandomFault::may_be_random);
    kinds
}

fn may_last(kind: &Effect) -> bool {
    kind.recovery_text(&Names::default()).is_some()
}

/// The keys that mean something to a line of this kind besides those of every line.
fn keys_of(kind: &Effect) -> Vec<&'static str> {
    let mut kind = kind.clone();
    let lasting = may_last(&kind).then_some("for");
    let signed = |slot: &Slot<'_>| matches!(slot, Slot::Step(_) | Slot::Rate(_));
    let sign = kind.fields().iter().any(|(_, slot)| signed(slot)).then_some("sign");
    let either_way = has_direction(&kind).then_some("either_way");
    let brings = RandomFault::may_bring(&kind).then_some("brings");
    let random = lasting.into_iter().chain(sign).chain(either_way).chain(brings);
    kind.fields().into_iter().map(|(key, _)| key).chain(random).collect()
}

/// True if it can be turned round. Connections are reset at both ends, and requests go one way.
fn has_direction(kind: &Effect) -> bool {
    let is_of_way = matches!(kind.kind().nature, Nature::Link | Nature::Message);
    is_of_way && !matches!(kind, Effect::ResetConnections { .. } | Effect::Duplicate { .. })
}

/// Reads `[weather]` of a scenario with these hosts.
pub(super) fn read_weather(
    root: &Section<'_>,
    hosts: &Hosts,
    master: Option<HostIndex>,
    time: Duration,
) -> Result<Option<Weather>> {
    let Some(field) = root.get("weather") else { return Ok(None) };
    let table = field.section(&KEYS)?;
    let weather = section(&table, Some(hosts))?;
    attached_fault::check(&table.list("faults", FAULTS_MAX)?, hosts, master)?;
    if weather.window >= time {
        let cause = format!(
            "`weather.for` is {} and `limits.time` {}: weather must end before the run, or no run could show what \
             comes after",
            exact_duration(weather.window),
            exact_duration(time)
        );
        return Err(
            field.problem(cause, "shorten the one or raise the other, which is `1h` where nothing is said")
        );
    }
    Ok(Some(weather))
}

/// Reads the text of a weather's file: what it says about itself, and the weather.
pub(crate) fn parse(file: &str, text: &str) -> std::result::Result<(String, Weather), ScenarioError> {
    let read = || -> Result<(String, Weather)> {
        let tree = Item::parse(text)?;
        let root = Section::root(&tree, &FILE_KEYS)?;
        let about = root.get("about").map_or(Ok(String::new()), |about| about.words())?;
        Ok((about, section(&root, None)?))
    };
    read().map_err(|problem| ScenarioError::Refused {
        what: FileKind::Weather,
        file: shorten(file),
        place: match problem.origin {
            super::problem::ItemOrigin::Line(line) => FilePlace::Line(line),
            super::problem::ItemOrigin::Set(_) => FilePlace::Line(1),
        },
        cause: problem.cause,
        hint: problem.hint,
    })
}

/// Reads a weather that is a table of another file.
///
/// # Errors
///
/// If anything in it is not what a weather can be.
pub fn weather_from_item(path: &str, node: &Item) -> Result<Weather> {
    section(&Field::from_value(path, node).section(&KEYS)?, None)
}

fn section(weather: &Section<'_>, hosts: Option<&Hosts>) -> Result<Weather> {
    let preset = match weather.get("preset") {
        None => Weather {
            window: WINDOW,
            swarm: true,
            at_steps: Probability::HALF,
            claims: Claims::Search,
            faults: Vec::new(),
        },
        Some(field) => {
            let name = field.naming("the name of a weather", "name a preset, such as \"cloud\"")?;
            let hint = weather::hint(name);
            let unknown = |_| field.problem(format!("there is no weather `{}`", shorten(name)), hint);
            weather::preset(name).map_err(unknown)?.weather
        }
    };
    let window = weather.get("for").map_or(Ok(preset.window), |window| window.positive_duration())?;
    let own = weather.list("faults", FAULTS_MAX)?;
    let own = own.iter().map(|field| line(field, window, hosts)).collect::<Result<Vec<_>>>()?;
    let kept = filter_kinds(preset.faults, weather)?;
    if let Some(field) = weather.get("for") {
        let too_often = kept.iter().find(|fault| is_too_often(fault.every, window));
        if let Some(RandomFault { effect, every, .. }) = too_often {
            let (word, every) = (effect.kind().word, exact_duration(*every));
            let cause = format!(
                "`{}` is {}, and the preset has a `{word}` every {every}: that is more than {MEAN_MAX} faults on one \
                 host in a run",
                field.path,
                exact_duration(window)
            );
            return Err(field.problem(cause, format!("make it shorter, or leave `{word}` out by `without`")));
        }
    }
    Ok(Weather {
        window,
        swarm: weather.flag_or("swarm", preset.swarm)?,
        at_steps: weather.get("at_steps").map_or(Ok(preset.at_steps), |share| share.probability())?,
        claims: weather.choice_or("claims", CLAIMS, preset.claims)?,
        faults: kept.into_iter().chain(own).collect(),
    })
}

fn is_too_often(every: Duration, window: Duration) -> bool {
    window.as_nanos() > every.as_nanos() * MEAN_MAX
}

/// A preset's lines but for the kinds that are left out.
fn filter_kinds(mut faults: Vec<RandomFault>, weather: &Section<'_>) -> Result<Vec<RandomFault>> {
    let Some(without) = weather.get("without") else { return Ok(faults) };
    for item in without.one_or_many() {
        let mut kinds: Vec<&str> = faults.iter().map(|fault| fault.effect.kind().word).collect();
        let mut seen = BTreeSet::new();
        kinds.retain(|kind| seen.insert(*kind));
        let word = item.naming("a kind of fault", "name kinds that the preset has")?;
        if !kinds.contains(&word) {
            let cause = format!("`{}`: the preset has no `{}`", item.path, shorten(word));
            return Err(item.problem(cause, synonyms::kind_hint(word, &kinds)));
        }
        faults.retain(|fault| fault.effect.kind().word != word);
    }
    Ok(faults)
}

/// Reads one line.
fn line(field: &Field<'_>, window: Duration, hosts: Option<&Hosts>) -> Result<RandomFault> {
    let kinds = kinds();
    let mut known: Vec<&str> = EVERY.to_vec();
    known.extend(kinds.iter().flat_map(keys_of));
    let line = field.section(&known)?;
    let choices: Vec<(&str, usize)> = kinds.iter().map(|kind| kind.kind().word).zip(0..).collect();
    let kind = line.require("kind", "\"pause\"")?.choice_with(&choices, synonyms::kind_hint)?;
    let mut effect = kinds[kind].clone();
    let own = keys_of(&effect);
    let misfit = line.fields().into_iter().find(|(key, _)| !EVERY.contains(key) && !own.contains(key));
    if let Some((key, field)) = misfit {
        let cause = format!("`{key}` means nothing to a random `{}`", effect.kind().word);
        return Err(field.problem(cause, format!("it takes {}", suggest::list(&[&EVERY[..], &own].concat()))));
    }
    let mut by = None;
    let word = effect.kind().word;
    let nature = effect.kind().nature;
    for (key, slot) in effect.fields() {
        match slot {
            Slot::Hosts(names) => {
                let field = line.require(key, if key == "to" { "\"nodes\"" } else { "\"clients\"" })?;
                *names = targets(&field, word, nature, hosts)?;
                if matches!(kinds[kind], Effect::Duplicate { .. }) {
                    requests::check_random(key, &field, hosts)?;
                }
            }
            Slot::Tell(nodes) => {
                *nodes = line.get(key).map(|field| read_told_targets(&field, word, hosts)).transpose()?;
            }
            Slot::Master(_) => {}
            Slot::Flag(flag) => *flag = line.flag_or(key, *flag)?,
            Slot::Step(_) => by = Some(line.require(key, "\"100ms..10s\"")?.law()?),
            Slot::Delay(example, _) => by = Some(line.require(key, example)?.law()?),
            Slot::Rate(most) => *most = largest_rate(&line.require(key, "\"1/1000\"")?)?,
            Slot::Clock(clock) => *clock = line.choice_or(key, CLOCKS, *clock)?,
            Slot::Resync(after) => *after = line.get(key).map(|field| field.duration()).transpose()?,
            Slot::Law(by) => *by = bounded_law(&line.require(key, "\"1s..3s\"")?)?,
            Slot::Probability(chance) => *chance = line.require(key, "\"1/10\"")?.probability()?,
        }
    }
    let lasting = match line.get("for") {
        Some(lasting) => Some(lasting.law()?),
        None if !may_last(&effect) || nature == Nature::ClockOnce => None,
        None => Some(line.require("for", "\"100ms..5s\"")?.law()?),
    };
    let either_way = line.flag_or("either_way", false)?;
    let has_both_ways =
        effect.fields().iter().any(|(key, slot)| *key == "both_ways" && matches!(slot, Slot::Flag(true)));
    if let Some(field) = line.get("either_way").filter(|_| either_way && has_both_ways) {
        let cause = format!("`{}`: a `{word}` that is always both ways has no other way round", field.path);
        return Err(field.problem(cause, "leave out the one or the other"));
    }
    let brings =
        line.get("brings").map(|field| attached_fault::read_attached(&field, &line, hosts)).transpose()?;
    Ok(RandomFault {
        every: every(&line, window)?,
        brings,
        effect,
        lasting,
        by,
        either_way,
        sign: line.choice_or("sign", SIGNS, Sign::Either)?,
        source: line.get("source").map_or(Ok(String::new()), |source| source.words())?,
    })
}

/// The mean time between two, long enough that a run has not too many.
fn every(line: &Section<'_>, window: Duration) -> Result<Duration> {
    let field = line.require("every", "\"10s\"")?;
    let every = field.positive_duration()?;
    if is_too_often(every, window) {
        let cause = format!(
            "`{}` is {}, and the weather lasts {}: that is more than {MEAN_MAX} faults on one host in a run",
            field.path,
            exact_duration(every),
            exact_duration(window)
        );
        let least = file_duration(window / MEAN_MAX as u32);
        return Err(
            field.problem(cause, format!("use at least \"{least}\", or a shorter `for` of the weather"))
        );
    }
    Ok(every)
}

fn largest_rate(field: &Field<'_>) -> Result<RatePpb> {
    match field.rate()? {
        RatePpb(most) if most > 0 => Ok(RatePpb(most)),
        _ => Err(field.must_be("the largest rate error, above zero", "say to which side with `sign`")),
    }
}

/// Whom a promoted node tells, which may be nobody. It does not tell itself, so one that is drawn may stand in here.
pub(super) fn read_told_targets(field: &Field<'_>, word: &str, hosts: Option<&Hosts>) -> Result<Names> {
    if field.one_or_many().is_empty() {
        return Ok(Names::default());
    }
    targets(field, word, Nature::Role, hosts)
}

/// Groups and, in a scenario, hosts. What strikes disks, roles and work strikes nodes only.
pub(super) fn targets(field: &Field<'_>, word: &str, nature: Nature, hosts: Option<&Hosts>) -> Result<Names> {
    let mut names = Vec::new();
    for item in field.one_or_many() {
        let name = item.naming("a host or a group of hosts", "name `clients`, `nodes`, or one host")?;
        let host = hosts.and_then(|hosts| Some((hosts, hosts.find(name)?)));
        let role =
            host.map(|(hosts, host)| hosts.machine(host, &item).map(|host| hosts.role(host))).transpose()?;
        // A weather of its own knows no hosts: a name in it may be a host of the scenario that it is used for.
        let may_be_host = hosts.is_none() || role.is_some();
        let group = HostGroup::from_word(name);
        if group.is_none() && !may_be_host {
            let mut known: Vec<&str> = HostGroup::ALL.map(HostGroup::as_str).to_vec();
            known.extend(hosts.iter().flat_map(|hosts| &hosts.plans).map(|host| host.name.as_str()));
            let cause = format!("`{}`: there is no host or group `{}`", item.path, shorten(name));
            return Err(item.problem(cause, suggest::hint(name, &known)));
        }
        let is_no_node =
            role.map_or(group.is_some_and(|group| !group.is_of_nodes()), |role| role != Role::Node);
        if matches!(nature, Nature::Disk | Nature::Data | Nature::Role | Nature::Service) && is_no_node {
            let cause = format!("`{}`: a `{word}` strikes nodes", item.path);
            return Err(item.problem(cause, "name `nodes`, `replicas`, or one of them"));
        }
        names.push(name.to_owned());
    }
    if names.is_empty() {
        let cause = format!("`{}` names nobody", field.path);
        return Err(field.problem(cause, "name a host or a group, or leave the line out"));
    }
    Ok(Names(names))
}

/// The weather as the table of a file, its preset written out.
pub(super) fn write(weather: &Weather) -> Table {
    let Weather { window, swarm, at_steps, claims, faults } = weather;
    let mut table = Table::new();
    put(&mut table, "for", file_duration(*window));
    put(&mut table, "swarm", *swarm);
    put(&mut table, "at_steps", at_steps.to_string());
    if *claims == Claims::Field {
        put(&mut table, "claims", "field");
    }
    put(
        &mut table,
        "faults",
        faults.iter().map(|fault| Value::Table(random_fault_table(fault))).collect::<Vec<_>>(),
    );
    table
}

/// A line as the table of a file.
pub(super) fn random_fault_table(fault: &RandomFault) -> Table {
    let RandomFault { effect, every, lasting, by, sign, either_way, brings, source } = fault;
    let mut table = Table::new();
    put(&mut table, "kind", effect.kind().word);
    put(&mut table, "every", file_duration(*every));
    if let Some(lasting) = lasting {
        put(&mut table, "for", units::law_value(lasting));
    }
    let sign = SIGNS.iter().find(|(_, meant)| meant == sign).map_or("either", |(word, _)| word);
    for (key, slot) in effect.clone().fields() {
        let value: Value = match slot {
            Slot::Hosts(names) => names.0.clone().into(),
            Slot::Tell(None) | Slot::Resync(None) | Slot::Master(_) => continue,
            Slot::Resync(Some(after)) => file_duration(*after).into(),
            Slot::Tell(Some(nodes)) => nodes.0.clone().into(),
            Slot::Flag(flag) => (*flag).into(),
            Slot::Step(_) | Slot::Delay(..) => {
                if matches!(slot, Slot::Step(_)) {
                    put(&mut table, "sign", sign);
                }
                by.as_ref().map_or("0s".into(), units::law_value)
            }
            Slot::Rate(most) => {
                put(&mut table, "sign", sign);
                most.to_string().into()
            }
            Slot::Clock(clock) => clock.name().into(),
            Slot::Law(by) => units::law_value(by),
            Slot::Probability(chance) => chance.to_string().into(),
        };
        put(&mut table, key, value);
    }
    if has_direction(effect) {
        put(&mut table, "either_way", *either_way);
    }
    if let Some(brings) = brings {
        put(&mut table, "brings", attached_fault::attached_table(brings));
    }
    if !source.is_empty() {
        put(&mut table, "source", source.as_str());
    }
    table
}
