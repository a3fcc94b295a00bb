//! Plans: one run as a file, so that it can be replayed. A plan carries its scenario whole, with variant and changes
//! applied, and what the run came to; nothing in it refers to the catalogue. What was set is kept beside it, since the
//! story in the scenario was written without.
//!
//! A plan names the hash rules that its run was made under: what a trace's digest is made of. Under the same rules a
//! replay must come to the same digest, whatever version of the program runs it. Under others only verdicts can be
//! compared, and a replay says so. The version of the program is in a plan for its reader.
//!
//! Decision: "A plan names its engine unless it is the kernel" (docs/decisions/engines.md).
//! Decision: "A plan contains the seed of its run" (docs/decisions/scenarios.md).
//! Decision: "A plan names its hash rules, and these decide how a replay compares" (docs/decisions/scenarios.md).

use std::collections::BTreeMap;

use doublehold_history::{Predicate, Verdict};
use doublehold_lockimpl::Descriptor;
use doublehold_sim::Seed;
use doublehold_text::{shell, shorten};
use serde::Serialize;

use crate::catalog::read_text;
use crate::error::{FileKind, ScenarioError};
use crate::format::problem::Problem;
use crate::format::section::{Field, Section};
use crate::format::tree::{Item, ItemValue};
use crate::format::{Source, seed, syntax};
use crate::model::scenario::{OnLostLock, Scenario};
use crate::report::{HASH_RULES, Replay, Report, differing};

/// The version of the plan format. Plans of format 1, which carried their scenario as one text, are read as well.
const FORMAT: u64 = 2;
/// The version of the program.
const PROGRAM: &str = env!("CARGO_PKG_VERSION");
/// The engine of plans that name none.
const KERNEL: &str = "sim";
/// Plans of format 1 do not say; there were no other rules then.
const HASH_RULES_OF_FORMAT_1: u32 = 1;

const KEYS: &[&str] = &[
    "plan",
    "hash_rules",
    "program",
    "engine",
    "name",
    "seed",
    "trace_hash",
    "sets",
    "verdicts",
    "scenario",
];
const VERDICTS: [(&str, &str); 3] =
    [("holds", "holds"), ("violated", "violated"), ("inconclusive", "inconclusive")];
const HINT: &str =
    "a plan is the file that `run --plan` writes: use it as it was written, or `run` a scenario file";

/// One run, ready to be replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What was run.
    pub scenario: Scenario,
    /// The seed of the run.
    pub seed: Seed,
    /// The rules that the digest of its trace was made under.
    pub hash_rules: u32,
    /// The digest of its trace, in hexadecimal: what a replay under the same rules has to show again.
    pub trace_hash: String,
    /// What each predicate came to, in a word; of plans of format 1 nothing.
    pub verdicts: BTreeMap<Predicate, &'static str>,
    /// The version of the program that wrote it.
    pub program: String,
    /// The engine that executed the run: no other comes to its digest.
    pub engine: String,
}

/// A plan as written. Seed and digest are texts: TOML's numbers have a sign.
#[derive(Serialize)]
struct Written<'a> {
    plan: u64,
    hash_rules: u32,
    program: &'a str,
    /// Not written of the kernel's runs, as before there was another.
    #[serde(skip_serializing_if = "Option::is_none")]
    engine: Option<&'a str>,
    name: &'a str,
    seed: String,
    trace_hash: &'a str,
    sets: &'a [String],
    verdicts: BTreeMap<&'static str, &'static str>,
    scenario: &'a Scenario,
}

impl Plan {
    /// The plan of a run.
    pub fn from_report(report: &Report) -> Plan {
        Plan {
            scenario: Scenario::clone(&report.scenario),
            seed: report.seed,
            hash_rules: HASH_RULES,
            trace_hash: report.trace_hash.to_string(),
            verdicts: report.verdict_words(),
            program: PROGRAM.to_owned(),
            engine: report.engine.to_owned(),
        }
    }

    /// The plan as the text of a file.
    ///
    /// # Errors
    ///
    /// If it cannot be written as TOML, which no scenario that was read can bring about.
    ///
    /// ```
    /// use doublehold_scenarios::{Engine, SimEngine, catalog, plan::Plan};
    ///
    /// let report = SimEngine.run(&catalog::load("lease-pause", &[])?, 7);
    /// let plan = Plan::from_report(&report);
    /// assert_eq!(Plan::parse("lease-pause.plan", &plan.to_toml().unwrap())?, plan);
    /// # Ok::<(), doublehold_scenarios::error::ScenarioError>(())
    /// ```
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(&Written {
            plan: FORMAT,
            hash_rules: self.hash_rules,
            program: &self.program,
            engine: Some(self.engine.as_str()).filter(|engine| *engine != KERNEL),
            name: &self.scenario.name,
            seed: self.seed.to_string(),
            trace_hash: &self.trace_hash,
            sets: &self.scenario.sets,
            verdicts: self.verdicts.iter().map(|(predicate, word)| (predicate.as_str(), *word)).collect(),
            scenario: &self.scenario,
        })
    }

    /// Reads a plan's file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, is no plan, is one of a later format, or holds a scenario that is refused.
    pub fn read(path: &str) -> Result<Plan, ScenarioError> {
        Plan::read_with(path, doublehold_lockimpl::descriptors())
    }

    /// As [`Plan::read`], where these are the locks that there are.
    ///
    /// # Errors
    ///
    /// As [`Plan::read`].
    pub fn read_with(path: &str, locks: Vec<Descriptor>) -> Result<Plan, ScenarioError> {
        Plan::parse_with(path, &read_text(path, FileKind::Plan)?, locks)
    }

    /// Reads a plan from its text; messages call it `file`.
    ///
    /// # Errors
    ///
    /// As [`Plan::read`].
    pub fn parse(file: &str, text: &str) -> Result<Plan, ScenarioError> {
        Plan::parse_with(file, text, doublehold_lockimpl::descriptors())
    }

    /// As [`Plan::parse`], where these are the locks that there are.
    ///
    /// # Errors
    ///
    /// As [`Plan::read`].
    pub fn parse_with(file: &str, text: &str, locks: Vec<Descriptor>) -> Result<Plan, ScenarioError> {
        let tree = Item::parse(text).map_err(|problem| refuse_plan(file, problem))?;
        refuse_later_format(file, &tree)?;
        let plan =
            Field::from_value("", &tree).section(KEYS).map_err(|problem| refuse_plan(file, problem))?;
        let scenario = scenario(file, &plan, locks)?;
        parse(&plan, scenario).map_err(|problem| refuse_plan(file, problem))
    }

    /// What a replay of this plan has shown.
    pub fn compare_replay(&self, report: &Report) -> Replay {
        let compare = |(predicate, was): (&Predicate, &&'static str)| {
            let is = match report.verdicts.get(*predicate) {
                // Older plans say so of what was not seen.
                Verdict::NotSeen(_) if *was == Verdict::Holds.as_str() => *was,
                verdict => verdict.as_str(),
            };
            (*predicate, *was, is)
        };
        let verdicts: Vec<_> = self.verdicts.iter().map(compare).collect();
        if self.hash_rules != HASH_RULES {
            return Replay::OtherRules { made_under: self.hash_rules, verdicts };
        }
        if report.trace_hash.to_string() != self.trace_hash {
            return Replay::Another { planned: self.trace_hash.clone() };
        }
        let are_same = differing(&verdicts).next().is_none();
        if are_same { Replay::Same } else { Replay::OtherVerdicts { verdicts } }
    }
}

/// The scenario of a plan: nested, or, as format 1 had it, as the text of a file.
fn scenario(file: &str, plan: &Section<'_>, locks: Vec<Descriptor>) -> Result<Scenario, ScenarioError> {
    let field = |key, example| plan.require(key, example).map_err(|problem| refuse_plan(file, problem));
    let name = field("name", "\"lease-pause\"")?.text().map_err(|problem| refuse_plan(file, problem))?;
    let scenario = field("scenario", "{ … }")?;
    refuse_unknown_lock(file, &scenario, &locks)?;
    let source = Source { name: name.to_owned(), in_plan: true, locks, ..Source::default() };
    match scenario.text() {
        Ok(text) => {
            let file = format!("{}: scenario", shorten(file));
            let read = Source { file: file.clone(), text: text.to_owned(), ..source }.read()?;
            let tree = Item::parse(text).map_err(|problem| refuse_plan(&file, problem))?;
            Ok(as_it_was(read, &tree))
        }
        Err(_) => {
            let read = Source { file: shorten(file), ..source }.read_tree(scenario.node())?;
            Ok(as_it_was(read, scenario.node()))
        }
    }
}

/// A plan has every default written out, so that a key which is not there is younger than the plan. It means what was
/// done before there was one, and not what it means in a file where nobody wrote it.
fn as_it_was(mut scenario: Scenario, tree: &Item) -> Scenario {
    let ItemValue::Table(tables) = &tree.value else { return scenario };
    let Some(ItemValue::List(clients)) = tables.get("clients").map(|clients| &clients.value) else {
        return scenario;
    };
    for (client, table) in scenario.clients.iter_mut().zip(clients) {
        if matches!(&table.value, ItemValue::Table(table) if !table.contains_key("on_lost_lock")) {
            client.on_lost_lock = OnLostLock::GoOn;
        }
    }
    scenario
}

/// A plan of somebody's own lock can be replayed where that lock is, and nowhere else.
fn refuse_unknown_lock(file: &str, scenario: &Field<'_>, locks: &[Descriptor]) -> Result<(), ScenarioError> {
    let ItemValue::Table(scenario) = &scenario.node().value else { return Ok(()) };
    let Some(ItemValue::Table(lock)) = scenario.get("lock").map(|lock| &lock.value) else { return Ok(()) };
    let Some(node) = lock.get("algorithm") else { return Ok(()) };
    let ItemValue::Text(name) = &node.value else { return Ok(()) };
    if locks.iter().any(|known| known.name == name.as_str()) {
        return Ok(());
    }
    let cause = format!("the plan is of the lock `{}`, which is not known here", shorten(name));
    let hint = "replay it in the crate that has the lock: with `doublehold::check::replay`, or from its seed";
    Err(refuse_plan(file, Problem::new(node.origin, cause, hint)))
}

fn parse(plan: &Section<'_>, scenario: Scenario) -> Result<Plan, Problem> {
    let rules = |field: Field<'_>| field.number(1, u64::from(u32::MAX)).map(|rules| rules as u32);
    let text = |key, example| plan.require(key, example)?.text();
    let sets = plan.get("sets").map_or(Ok(Vec::new()), |sets| sets.items("a list of changes"))?;
    let sets = sets.iter().map(|set| set.text().map(str::to_owned)).collect::<Result<_, _>>()?;
    Ok(Plan {
        seed: seed(&plan.require("seed", "\"1\"")?, "use the plan as it was written")?,
        hash_rules: plan.get("hash_rules").map_or(Ok(HASH_RULES_OF_FORMAT_1), rules)?,
        trace_hash: text("trace_hash", "\"00ff00ff00ff00ff\"")?.to_owned(),
        verdicts: verdicts(plan)?,
        program: plan.get("program").map_or(Ok(""), |program| program.text())?.to_owned(),
        engine: plan.get("engine").map_or(Ok(KERNEL), |engine| engine.text())?.to_owned(),
        scenario: Scenario { sets, ..scenario },
    })
}

fn verdicts(plan: &Section<'_>) -> Result<BTreeMap<Predicate, &'static str>, Problem> {
    let words = Predicate::ALL.map(Predicate::as_str);
    let verdicts = plan.section("verdicts", &words)?;
    let given = Predicate::ALL.into_iter().filter_map(|it| Some((it, verdicts.get(it.as_str())?)));
    given.map(|(predicate, field)| Ok((predicate, field.choice(&VERDICTS)?))).collect()
}

/// A plan of a later format may hold anything, so its version is looked at before all else.
fn refuse_later_format(file: &str, tree: &Item) -> Result<(), ScenarioError> {
    let refused = |problem| refuse_plan(file, problem);
    let plan = Field::from_value("", tree).section(&[]).map_err(refused)?;
    let format = plan.require("plan", &FORMAT.to_string()).map_err(refused)?;
    let format = format.number(1, i64::MAX as u64).map_err(refused)?;
    if format <= FORMAT {
        return Ok(());
    }
    let text = |key: &str| plan.get(key).and_then(|field| field.text().ok().map(shorten));
    let program = text("program").map_or("a later doublehold".to_owned(), |it| format!("doublehold {it}"));
    Err(ScenarioError::LaterPlan {
        file: shorten(file),
        written_by: program,
        format,
        reads: FORMAT,
        again: again(&plan, text),
    })
}

/// The command that makes a plan's run again.
fn again(plan: &Section<'_>, text: impl Fn(&str) -> Option<String>) -> String {
    let sets = plan.get("sets").map_or(Vec::new(), |sets| sets.one_or_many());
    let sets: Vec<String> = sets.iter().filter_map(|set| set.text().ok().map(shorten)).collect();
    let (name, seed) = (text("name").unwrap_or("NAME".to_owned()), text("seed").unwrap_or("N".to_owned()));
    let command = ["doublehold", "run", &name, "--seed", &seed].into_iter();
    let command = command.chain(sets.iter().flat_map(|set| ["--set", set]));
    shell::line(command)
}

fn refuse_plan(file: &str, problem: Problem) -> ScenarioError {
    // What is no plan at all is told what a plan is; what is wrong with one value has its own way out.
    let no_plan = problem.hint == syntax::HINT || problem.hint.starts_with("add `");
    let hint = if no_plan { HINT.to_owned() } else { problem.hint };
    Source { file: shorten(file), in_plan: true, ..Source::default() }.refusal(Problem { hint, ..problem })
}
