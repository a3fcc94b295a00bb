//! A scenario from its text: variants and changes laid over it, then each part read.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use doublehold_history::Predicate;
use doublehold_lockimpl::Descriptor;
use doublehold_text::{shorten, suggest};

use super::hosts::Hosts;
use super::key::Key;
use super::lock::Chosen;
use super::problem::{ItemOrigin, Problem, Result};
use super::program::Things;
use super::reachable::Setting;
use super::section::{Field, Section};
use super::tree::{Item, ItemValue};
use super::{clients, fault, network, nodes, resource, sentinels, service, synonyms, weather, when};
use crate::Seed;
use crate::error::{FileKind, FilePlace, ScenarioError};
use crate::model::fault::Fault;
use crate::model::scenario::{ClientSetup, Expected, Limits, Scenario};

const KEYS: &[&str] = &[
    "id",
    "claim",
    "source",
    "story",
    "seed",
    "expect",
    "lock",
    "nodes",
    "service",
    "sentinels",
    "network",
    "clocks",
    "resource",
    "clients",
    "faults",
    "weather",
    "limits",
    "variants",
];
const VARIANT_KEYS: &[&str] = &["name", "set", "id", "claim", "source", "story", "expect"];
const LIMITS_KEYS: &[&str] =
    &["time", "events", "memory", "obtain_within", "obtain_free_within", "after_faults"];
const VERDICTS: [Expected; 3] = [Expected::Holds, Expected::Violated, Expected::NotSeen];

/// What can be expected of a predicate: of releases and waits there is something to see in every run.
fn expectations(predicate: Predicate) -> &'static [Expected] {
    if matches!(predicate, Predicate::WR | Predicate::LV) { &VERDICTS[..2] } else { &VERDICTS }
}
const VARIANTS_MAX: usize = 100;
/// Beyond this a run is a workload for a sweep, and a reader waits for minutes.
const EVENTS_MAX: u64 = 100_000_000;
/// A round of five nodes is about a hundred events: enough for every scenario in the catalogue a hundred times over.
const EVENTS_DEFAULT: u64 = 1_000_000;
/// What a run may keep. Below the least the first measurement would end it, and the most is what a large machine has.
const MEMORY: RangeInclusive<u64> = 1 << 20..=64 << 30;
/// Enough for the default of events several times over, and less than any machine has that builds this.
const MEMORY_DEFAULT: u64 = 1 << 30;

/// What a file takes besides what its tables do, and what `[expect]`, `[limits]` and `[[variants]]` take.
pub(super) fn own_vocabulary() -> Vec<Key> {
    let mut keys = [
        Key::all("", KEYS),
        Key::all("expect", &Predicate::ALL.map(Predicate::as_str)),
        Key::all("limits", LIMITS_KEYS),
        Key::all("variants", VARIANT_KEYS),
    ]
    .concat();
    for predicate in Predicate::ALL {
        let words: Vec<&str> = expectations(predicate).iter().map(|it| it.as_str()).collect();
        keys.extend(Key::words(&format!("expect.{predicate}"), &words));
    }
    keys
}

/// A scenario's text and what was asked for beside it.
#[derive(Clone, Debug)]
pub struct Source {
    /// The scenario's name, as reports and plans use it.
    pub name: String,
    /// What messages call the file.
    pub file: String,
    /// Scenario, or the plan it is part of.
    pub in_plan: bool,
    /// The file's text.
    pub text: String,
    /// The variant to run; `None` for the file as it stands.
    pub variant: Option<String>,
    /// Changes: `lock.ttl` and `5s`. The value is TOML if it parses as that, otherwise a text.
    pub sets: Vec<(String, String)>,
    /// The locks that `lock.algorithm` can name: by default those of `doublehold-lockimpl`.
    pub locks: Vec<Descriptor>,
}

impl Default for Source {
    fn default() -> Source {
        let (name, file, text) = (String::new(), String::new(), String::new());
        let locks = doublehold_lockimpl::descriptors();
        Source { name, file, in_plan: false, text, variant: None, sets: Vec::new(), locks }
    }
}

impl Source {
    /// Reads the scenario.
    ///
    /// # Errors
    ///
    /// If anything in the text, the variant's name or a change is not what the format allows.
    ///
    /// ```
    /// use doublehold_scenarios::format::Source;
    ///
    /// let text = r#"
    ///     claim = "a lock can be taken"
    ///     lock = { algorithm = "single", ttl = "10s" }
    ///     nodes = { names = ["A"] }
    ///     clients = [{ name = "c1", program = ["acquire", "work 1s", "release"] }]
    /// "#;
    /// let (name, file) = ("tiny".into(), "tiny.toml".into());
    /// let mut source = Source { name, file, text: text.into(), ..Source::default() };
    /// assert_eq!(source.read().unwrap().clients.len(), 1);
    ///
    /// source.sets.push(("lock.ttl".into(), "0s".into()));
    /// assert_eq!(
    ///     source.read().unwrap_err().to_string(),
    ///     "cannot read scenario `tiny.toml`: `--set lock.ttl=0s`: `lock.ttl` is zero\n\
    ///      hint: use a longer duration, such as \"10s\"",
    /// );
    /// ```
    pub fn read(&self) -> std::result::Result<Scenario, ScenarioError> {
        let read = self.resolve().and_then(|tree| scenario(self, &tree));
        let mut scenario = read.map_err(|problem| self.refusal(problem))?;
        scenario.sets = self.sets.iter().map(|(path, value)| format!("{path}={value}")).collect();
        Ok(scenario)
    }

    /// Reads the scenario from a tree that is part of another file.
    pub fn read_tree(&self, tree: &Item) -> std::result::Result<Scenario, ScenarioError> {
        scenario(self, tree).map_err(|problem| self.refusal(problem))
    }

    /// The names of the file's variants, in file order.
    ///
    /// # Errors
    ///
    /// If the file is no TOML or its variants are no list of tables with names.
    pub fn variants(&self) -> std::result::Result<Vec<String>, ScenarioError> {
        let names = || -> Result<Vec<String>> {
            let tree = Item::parse(&self.text)?;
            variants(&Section::root(&tree, KEYS)?)?.iter().map(variant_name).collect()
        };
        names().map_err(|problem| self.refusal(problem))
    }

    /// The place at which the file, or a change to it, says what is at a path such as `faults.0`, or else above that;
    /// `None` where it says nothing of it.
    pub fn place_of(&self, path: &str) -> Option<FilePlace> {
        let tree = self.resolve().ok()?;
        let parts: Vec<&str> = path.split('.').collect();
        let found = (1..=parts.len()).rev().find_map(|count| tree.find(&parts[..count]));
        found.map(|item| self.place(item.origin))
    }

    fn place(&self, origin: ItemOrigin) -> FilePlace {
        match origin {
            ItemOrigin::Line(line) => FilePlace::Line(line),
            ItemOrigin::Set(number) => {
                let (path, value) = self.sets.get(number).cloned().unwrap_or_default();
                FilePlace::Set(shorten(&format!("{path}={value}")))
            }
        }
    }

    pub(crate) fn refusal(&self, problem: Problem) -> ScenarioError {
        let place = self.place(problem.origin);
        let what = if self.in_plan { FileKind::Plan } else { FileKind::Scenario };
        ScenarioError::Refused {
            what,
            file: self.file.clone(),
            place,
            cause: problem.cause,
            hint: problem.hint,
        }
    }

    /// The file with its variant and the changes laid over it, and without the other variants.
    fn resolve(&self) -> Result<Item> {
        let mut tree = Item::parse(&self.text)?;
        let patches = self.variant_patches(&tree)?;
        for (path, patch) in patches {
            tree.overlay(&path, patch)?;
        }
        if let ItemValue::Table(table) = &mut tree.value {
            table.remove("variants");
        }
        for (number, (path, value)) in self.sets.iter().enumerate() {
            let origin = ItemOrigin::Set(number);
            refuse_odd_path(path, origin)?;
            tree.overlay(path, Item::parse_value(value, origin)?)?;
        }
        Ok(tree)
    }

    fn variant_patches(&self, tree: &Item) -> Result<Vec<(String, Item)>> {
        let variants = variants(&Section::root(tree, KEYS)?)?;
        let Some(wanted) = &self.variant else { return Ok(Vec::new()) };
        let mut names = Vec::new();
        for field in &variants {
            let name = variant_name(field)?;
            if name == *wanted {
                return patches(field);
            }
            names.push(name);
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let cause = format!("there is no variant `{}`", shorten(wanted));
        Err(Problem::new(tree.origin, cause, suggest::hint(wanted, &names)))
    }
}

fn refuse_odd_path(path: &str, origin: ItemOrigin) -> Result<()> {
    let hint = "write it as `--set lock.ttl=5s`, with list items by number: `--set faults.0.for=3s`";
    if path.split('.').any(str::is_empty) {
        return Err(Problem::new(origin, "the key has an empty part", hint));
    }
    if path.split('.').next() == Some("variants") {
        return Err(Problem::new(
            origin,
            "variants cannot be set",
            "run the variant by its name, or set its keys",
        ));
    }
    Ok(())
}

fn variants<'a>(root: &Section<'a>) -> Result<Vec<Field<'a>>> {
    let variants = root.list("variants", VARIANTS_MAX)?;
    let mut names = Vec::new();
    for field in &variants {
        let name = variant_name(field)?;
        if names.contains(&name) {
            return Err(field.problem(format!("there are two variants `{name}`"), "give each its own name"));
        }
        names.push(name);
    }
    Ok(variants)
}

fn variant_name(field: &Field<'_>) -> Result<String> {
    let name = field.section(VARIANT_KEYS)?.require("name", "\"redlock\"")?;
    let text = name.text()?;
    let well_formed = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    if text.len() > 100 || !text.split('/').all(well_formed) {
        return Err(
            name.must_be("letters, digits, `-` and `_`, with `/` between parts", "choose another name")
        );
    }
    Ok(text.to_owned())
}

/// What a variant changes: its own words and expectations, and the paths under `set`.
fn patches(field: &Field<'_>) -> Result<Vec<(String, Item)>> {
    let variant = field.section(VARIANT_KEYS)?;
    let own = variant.fields().into_iter().filter(|(key, _)| !["name", "set"].contains(key));
    let set = variant.section("set", &[])?.fields();
    if let Some((_, field)) = set.iter().find(|(path, _)| path.split('.').next() == Some("variants")) {
        return Err(field.problem("a variant cannot set variants", "remove it"));
    }
    Ok(own.chain(set).map(|(path, field)| (path.to_owned(), field.node().clone())).collect())
}

fn scenario(source: &Source, tree: &Item) -> Result<Scenario> {
    let root = Section::root(tree, KEYS)?;
    let words = |key: &str| root.get(key).map_or(Ok(String::new()), |field| field.words());
    let client_tables = clients::tables(&root)?;
    let hosts = Hosts::parse(&root, &client_tables)?;
    let lock = Chosen::parse(
        &root,
        hosts.hosts_of_role(crate::model::scenario::Role::Node).len(),
        &source.locks,
        source.in_plan,
    )?;
    let service = service::read_service(&root, &hosts, &lock)?;
    let nodes = nodes::read_nodes(&root, &hosts, &lock)?;
    let sentinels = sentinels::read_sentinels(&root, &hosts, &lock, nodes.master)?;
    let resource = resource::read_resource(&root, &hosts, &lock)?;
    let limits = limits(&root)?;
    let things = Things { chosen: &lock, locks: &lock.setup.names, objects: &resource.objects };
    let read_client = |table| clients::read_client(table, &hosts, &lock, &things, limits.time);
    let clients = client_tables.iter().map(read_client).collect::<Result<Vec<_>>>()?;
    for (table, client) in client_tables.iter().zip(&clients) {
        lock.check_steps(table, client)?;
        resource::check_steps(table, client, &resource)?;
    }
    let (link, links) = network::read_network(&root, &hosts)?;
    let setting = Setting {
        hosts: &hosts,
        clients: &clients,
        lock: &lock,
        master: nodes.master,
        standby: service.and_then(|service| Some(service.standby()?.host)),
        resource_asks: resource.rules.fencing == doublehold_history::FencingCheck::AskLock,
        time_limit: limits.time,
    };
    let faults = faults(&root, &setting)?;
    let weather = weather::read_weather(&root, &hosts, nodes.master, limits.time)?;
    let starts =
        client_tables.iter().map(|table| when::start(table, &setting)).collect::<Result<Vec<_>>>()?;
    let started = |(client, start)| ClientSetup { start, ..client };
    let clients = clients.into_iter().zip(starts).map(started).collect();
    Ok(Scenario {
        name: source.name.clone(),
        id: root.get("id").map_or(Ok(String::new()), |field| field.name())?,
        claim: root.require("claim", "\"what this scenario shows, in one sentence\"")?.words()?,
        source: words("source")?,
        story: words("story")?,
        seed: root.get("seed").map(|field| seed(&field, SEED_HINT)).transpose()?,
        sets: Vec::new(),
        expect: expect(&root)?,
        hosts: hosts.plans,
        lock: lock.setup,
        nodes,
        service,
        sentinels,
        resource,
        clients,
        link,
        links,
        faults,
        weather,
        limits,
    })
}

const SEED_HINT: &str =
    "write it as a text, such as \"788\": TOML's own numbers are smaller than the largest seed";

/// A seed, as a text or a number.
///
/// # Errors
///
/// If it is neither.
pub fn seed(field: &Field<'_>, hint: &str) -> Result<Seed> {
    let text = field.text().map(str::parse);
    match text.or_else(|_| field.number(0, u64::MAX).map(|number| Ok(Seed(number)))) {
        Ok(Ok(seed)) => Ok(seed),
        _ => Err(field.must_be("a whole number", hint)),
    }
}

fn expect(root: &Section<'_>) -> Result<BTreeMap<Predicate, Expected>> {
    let words = Predicate::ALL.map(Predicate::as_str);
    let mut expect = BTreeMap::new();
    for (key, field) in root.section("expect", &[])?.fields() {
        let Some(predicate) = Predicate::ALL.into_iter().find(|predicate| predicate.as_str() == key) else {
            let cause = format!("unknown predicate `{}`", shorten(key));
            return Err(field.problem(cause, suggest::hint(key, &words)));
        };
        let verdicts: Vec<(&str, Expected)> =
            expectations(predicate).iter().map(|expected| (expected.as_str(), *expected)).collect();
        expect.insert(predicate, verdict(&field, &verdicts)?);
    }
    Ok(expect)
}

/// `holds`, `violated` or `not-seen`. Many write `true`, which a test's `expect` would take.
fn verdict(field: &Field<'_>, verdicts: &[(&str, Expected)]) -> Result<Expected> {
    match field.node().value {
        ItemValue::Flag(holds) => {
            let words = verdicts.iter().map(|(word, _)| *word).collect::<Vec<_>>();
            let meant = if holds { Expected::Holds } else { Expected::Violated }.as_str();
            let what = format!("one of {}", suggest::list(&words));
            Err(field.must_be(&what, &format!("did you mean \"{meant}\"?")))
        }
        _ => field.choice_with(verdicts, synonyms::verdict_hint),
    }
}

fn faults(root: &Section<'_>, setting: &Setting<'_>) -> Result<Vec<Fault>> {
    root.list("faults", fault::FAULTS_MAX)?.iter().map(|field| fault::read_fault(field, setting)).collect()
}

fn limits(root: &Section<'_>) -> Result<Limits> {
    let limits = root.section("limits", LIMITS_KEYS)?;
    let hour = Duration::from_secs(3600);
    let bound = |key| limits.get(key).map(|bound: Field<'_>| bound.positive_duration()).transpose();
    Ok(Limits {
        time: limits.get("time").map_or(Ok(hour), |time| time.positive_duration())?,
        events: limits.get("events").map_or(Ok(EVENTS_DEFAULT), |events| events.number(1, EVENTS_MAX))?,
        memory: limits.get("memory").map_or(Ok(MEMORY_DEFAULT), |memory| memory.bytes(MEMORY))?,
        obtain_within: bound("obtain_within")?,
        obtain_free_within: bound("obtain_free_within")?,
        after_faults: limits.flag_or("after_faults", false)?,
    })
}
