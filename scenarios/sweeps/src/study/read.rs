//! From a study's text to what it means.

use std::path::Path;

use doublehold_history::Predicate;
use doublehold_scenarios::Seed;
use doublehold_scenarios::build::World;
use doublehold_scenarios::catalog;
use doublehold_scenarios::error::{FileKind, FilePlace, ScenarioError};
use doublehold_scenarios::format::problem::{ItemOrigin, Problem, Result};
use doublehold_scenarios::format::section::{Field, Section};
use doublehold_scenarios::format::tree::Item;
use doublehold_scenarios::locks;
use doublehold_scenarios::model::fault::Effect;
use doublehold_scenarios::weather::LineName;
use doublehold_text::shorten;
use doublehold_text::suggest;

use super::{
    Change, Design, Precision, RUNS_MAX, Strata, Study, Usage, UsageText, check, grid, lines, parameters,
    strata,
};

const KEYS: &[&str] = &[
    "question",
    "assumptions",
    "weather",
    "use",
    "busy",
    "runs",
    "precision",
    "strata",
    "budget",
    "seed",
    "set",
    "designs",
    "grid",
];
const DESIGN_KEYS: &[&str] = &["name", "about", "lock", "scenario", "weather", "set"];
const STRATA_KEYS: &[&str] = &["by", "kinds", "faults", "quiet", "by_weight"];
const PRECISION_KEYS: &[&str] = &["predicate", "width"];
/// As many as a page has lines.
const DESIGNS_MAX: usize = 60;
/// More strata than this are a study of its own.
const STRATA_MAX: u64 = 500;
/// Enough for a rate of one in a thousand to be told to a tenth of it.
const RUNS: u64 = 10_000;

pub(super) fn parse_study(name: &str, file: &str, text: &str) -> std::result::Result<Study, ScenarioError> {
    let study = study(name, file, text).map_err(|problem| ScenarioError::Refused {
        what: FileKind::Study,
        file: shorten(file),
        place: match problem.origin {
            ItemOrigin::Line(line) => FilePlace::Line(line.max(1)),
            ItemOrigin::Set(_) => FilePlace::Line(1),
        },
        cause: problem.cause,
        hint: problem.hint,
    })?;
    check::check(&study)?;
    Ok(study)
}

fn study(name: &str, file: &str, text: &str) -> Result<Study> {
    let tree = Item::parse(text)?;
    let root = Section::root(&tree, KEYS)?;
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    let designs = designs(&root, folder)?;
    let axes = grid::axes(&root, text, &designs)?;
    let sentences =
        |field: Field<'_>| field.one_or_many().iter().map(Field::words).collect::<Result<Vec<_>>>();
    let runs = root.get("runs").map_or(Ok(RUNS), |runs| runs.number(1, RUNS_MAX))?;
    let changes = changes(&root, &designs)?;
    let worlds = || worlds(&designs, &changes, folder);
    let strata = root.get("strata").map(|field| strata(&field, &designs, worlds, runs)).transpose()?;
    if let (Some(field), true) = (root.get("precision"), strata.is_some()) {
        let hint = "say how many `runs` each stratum gets instead";
        return Err(field.problem("a study has either `precision` or `strata`", hint));
    }
    Ok(Study {
        name: name.to_owned(),
        question: root.require("question", "\"how often does each lock fail?\"")?.words()?,
        assumptions: root.get("assumptions").map_or(Ok(Vec::new()), sentences)?,
        runs,
        precision: root.get("precision").map(|field| precision(&field)).transpose()?,
        strata,
        budget: root.get("budget").map(|field| field.positive_duration()).transpose()?,
        seed: root.get("seed").map_or(Ok(Seed(1)), |field| first_seed(&field))?,
        changes,
        usage: usage(&root)?,
        designs,
        axes,
        text: text.to_owned(),
        file: shorten(file),
        folder: folder.to_owned(),
    })
}

/// The use that a report is to speak of, as typed.
fn usage(root: &Section<'_>) -> Result<UsageText> {
    let words = |key| root.get(key).map_or(Ok(String::new()), |field| field.words());
    let typed = UsageText { grants: words("use")?, busy: words("busy")? };
    let Some(grants) = root.get("use") else {
        let needs_use = |busy: Field<'_>| {
            busy.problem("`busy` is given without `use`", "add `use = \"200 grants an hour\"`")
        };
        return root.get("busy").map_or(Ok(typed), |busy| Err(needs_use(busy)));
    };
    match Usage::parse(&typed.grants, &typed.busy) {
        Ok(_) => Ok(typed),
        Err(error) => {
            let is_busy = error.cause.starts_with("`busy`");
            let field = root.get("busy").filter(|_| is_busy).unwrap_or(grants);
            Err(field.problem(error.cause, error.hint))
        }
    }
}

/// Small enough for the seeds of all strata to follow it.
fn first_seed(field: &Field<'_>) -> Result<Seed> {
    let seed = doublehold_scenarios::format::seed(field, "write it as `seed = \"1\"`")?;
    if seed.0 > u64::MAX / 2 {
        return Err(field.must_be(
            "at most half of the largest seed",
            "the seeds of a study follow each other: use a smaller one",
        ));
    }
    Ok(seed)
}

fn designs(root: &Section<'_>, folder: &Path) -> Result<Vec<Design>> {
    let weather = root.get("weather");
    let fields = root.list("designs", usize::MAX)?;
    if fields.len() > DESIGNS_MAX {
        let cause = format!("there are {} `designs`, and the limit is {DESIGNS_MAX}", fields.len());
        return Err(root.problem(cause, "make two studies: a page has room for so many"));
    }
    if fields.is_empty() {
        let hint = "add one: `[[designs]]` with `name = \"single\"` and `lock = \"single\"`";
        return Err(root.problem("the study has no designs", hint));
    }
    let mut designs: Vec<Design> = Vec::new();
    for field in &fields {
        let design = design(field, weather.as_ref(), folder)?;
        if designs.iter().any(|other| other.name == design.name) {
            let cause = format!("there are two designs `{}`", design.name);
            return Err(field.problem(cause, "give each a name of its own"));
        }
        designs.push(design);
    }
    Ok(designs)
}

fn design(field: &Field<'_>, weather: Option<&Field<'_>>, folder: &Path) -> Result<Design> {
    let section = field.section(DESIGN_KEYS)?;
    let name = section.require("name", "\"redlock\"")?.name()?;
    let mut base = match (section.get("lock"), section.get("scenario")) {
        (Some(lock), None) => load_usual_world(&lock)?,
        (None, Some(scenario)) => load_scenario(&scenario, folder)?,
        _ => {
            let cause = format!("design `{name}` must have either `lock` or `scenario`");
            return Err(
                field.problem(cause, "`lock = \"redlock\"` tries a lock in the usual world of its kind")
            );
        }
    };
    base.set_origin(ItemOrigin::Line(0));
    parameters::strip_search_aids(&mut base);
    if let Some(weather) = section.get("weather").as_ref().or(weather) {
        parameters::apply(&mut base, "weather", weather.node(), folder)?;
    }
    let design = Design {
        about: section.get("about").map_or(Ok(String::new()), |about| about.words())?,
        changes: Vec::new(),
        line: match field.node().origin {
            ItemOrigin::Line(line) => line,
            ItemOrigin::Set(_) => 0,
        },
        name,
        base,
    };
    let changes = changes(&section, std::slice::from_ref(&design))?;
    Ok(Design { changes, ..design })
}

/// The usual world of a lock.
fn load_usual_world(field: &Field<'_>) -> Result<Item> {
    let name = field.naming("the name of a lock", "name one of those that `doublehold locks` lists")?;
    let known = doublehold_lockimpl::descriptors();
    let unknown = || {
        let cause = format!("there is no lock `{}`", shorten(name));
        field.problem(cause, locks::hint(&known, name))
    };
    let lock = known.iter().find(|lock| lock.name == name).ok_or_else(unknown)?;
    let scenario = World::usual(lock).scenario(name, known.clone());
    let scenario = scenario.map_err(|error| field.problem(error.to_string(), "name another lock"))?;
    Item::parse(&scenario.to_toml())
}

/// A scenario of the catalogue or a file.
fn load_scenario(field: &Field<'_>, folder: &Path) -> Result<Item> {
    let name = field.naming("the name of a scenario", "name one of those that `doublehold list` lists")?;
    let scenario = catalog::load_from(folder, name).map_err(|error| {
        let text = error.to_string();
        let (cause, hint) = text.split_once("\nhint: ").unwrap_or((&text, "name another scenario"));
        field.problem(cause, hint)
    })?;
    Item::parse(&scenario.to_toml())
}

/// What `set` changes in these designs, at the place where that was typed.
fn changes(section: &Section<'_>, designs: &[Design]) -> Result<Vec<Change>> {
    let mut changes = Vec::new();
    for (key, field) in section.section("set", &[])?.fields() {
        designs.iter().try_for_each(|design| parameters::check(&design.base, key, &field, &design.name))?;
        changes.push(Change { key: key.to_owned(), value: field.node().clone() });
    }
    Ok(changes)
}

fn precision(field: &Field<'_>) -> Result<Precision> {
    let section = field.section(PRECISION_KEYS)?;
    let width = section.require("width", "\"1/100\"")?;
    let share = width.probability()?;
    if share.as_f64() <= 0.0 {
        return Err(width.must_be("more than nothing", "no number of runs makes an interval of no width"));
    }
    let names = Predicate::ALL.map(|predicate| (predicate.as_str(), predicate));
    let predicate = section.require("predicate", "\"P2\"")?.choice(&names)?;
    Ok(Precision { predicate, width: share })
}

/// The designs' worlds as the study and the design change them: at no point of the grid.
fn worlds(designs: &[Design], changes: &[Change], folder: &Path) -> Vec<Item> {
    let world = |design: &Design| {
        let mut tree = design.base.clone();
        let mut all = changes.iter().chain(&design.changes);
        // What cannot be changed is refused where the design's scenario is made.
        let refused = all.find_map(|it| parameters::apply(&mut tree, &it.key, &it.value, folder).err());
        if refused.is_none() { tree } else { design.base.clone() }
    };
    designs.iter().map(world).collect()
}

/// Refuses a word for no fault, and two words for one line, whose faults would be weighed twice.
fn known_once(field: &Field<'_>, words: &[String], is_by_kind: bool) -> Result<()> {
    let known: Vec<&str> = Effect::kinds().iter().map(|kind| kind.word).collect();
    for (place, word) in words.iter().enumerate() {
        let kind = strata::kind_of(word);
        if !known.contains(&kind) {
            let cause = format!("`{}`: there is no fault `{}`", field.path, shorten(word));
            return Err(field.problem(cause, suggest::hint(kind, &known)));
        }
        if is_by_kind && kind != word {
            let cause = format!("`{}` has the line `{word}`, and `strata.by` is `kind`", field.path);
            return Err(field.problem(cause, format!("name its kind, `{kind}`, or leave `by` out")));
        }
        if words[..place].contains(word) {
            return Err(field.problem(format!("`{}` has `{word}` twice", field.path), "name each kind once"));
        }
        // A kind has all of its lines.
        if let Some(other) = words.iter().find(|other| *other != word && *other == kind) {
            let cause = format!("`{}` has `{word}` twice, once as one of `{other}`", field.path);
            return Err(field.problem(cause, "name either the kind, or each of its lines"));
        }
    }
    Ok(())
}

/// The words for what runs are told apart by, each once: all kinds of the designs' weathers.
fn kinds(designs: &[Design]) -> Vec<String> {
    let mut kinds: Vec<String> = Vec::new();
    for kind in designs.iter().flat_map(|design| parameters::kinds(&design.base)) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds
}

/// The same by line. Lines of two designs that have one name are one part of the runs, as those of one kind are.
fn line_words(worlds: &[Item]) -> Vec<String> {
    let mut names: Vec<LineName> = Vec::new();
    for name in worlds.iter().flat_map(|world| lines::names(lines::items(world))) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    LineName::shortest(&names)
}

fn strata(
    field: &Field<'_>,
    designs: &[Design],
    worlds: impl Fn() -> Vec<Item>,
    runs: u64,
) -> Result<Strata> {
    let section = field.section(STRATA_KEYS)?;
    let by = section.get("by").map(|field| field.choice(&[("line", false), ("kind", true)])).transpose()?;
    let is_by_kind = by.unwrap_or(false);
    let named = |field: &Field<'_>| field.one_or_many().iter().map(Field::name).collect::<Result<Vec<_>>>();
    let words = match section.get("kinds") {
        Some(field) => {
            let words = named(&field)?;
            known_once(&field, &words, is_by_kind)?;
            words
        }
        None if is_by_kind => kinds(designs),
        None => line_words(&worlds()),
    };
    if words.is_empty() {
        return Err(
            field.problem("`strata` divides runs by their faults, and there is no weather", "add one")
        );
    }
    let faults = section.require("faults", "2")?;
    let quiet =
        section.get("quiet").map(|field| field.choice(&[("holds", true), ("unknown", false)])).transpose()?;
    let by_weight = section.get("by_weight").map_or(Ok(0), |field| field.number(1, RUNS_MAX - runs))?;
    let faults_max = faults.number(1, 6)? as u32;
    let strata = Strata { words, faults: faults_max, quiet_holds: quiet.unwrap_or(false), by_weight };
    if strata.count() > STRATA_MAX {
        return Err(too_many(&faults, &strata, section.get("kinds").is_some()));
    }
    Ok(strata)
}

/// Says that there are too many strata, and by what there would be few enough.
fn too_many(faults: &Field<'_>, strata: &Strata, are_named: bool) -> Problem {
    let mut kinds: Vec<&str> = strata.words.iter().map(|word| strata::kind_of(word)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let is_by_line = kinds.len() < strata.words.len();
    let how = if is_by_line { " by line of the weather" } else { "" };
    let cause = format!("there are {} strata{how}, and the limit is {STRATA_MAX}", strata.count());
    let few = strata::count(kinds.len(), strata.faults);
    let hint = match is_by_line && few <= STRATA_MAX {
        true if are_named => format!("take fewer `faults`, or name kinds in place of lines: {few} strata"),
        true => format!("take fewer `faults`, or divide runs by kind, `by = \"kind\"`: {few} strata"),
        false => "take fewer `faults`, or a weather of fewer kinds".to_owned(),
    };
    faults.problem(cause, hint)
}
