//! `doublehold check`: a lock or a scenario under random faults, from many seeds, and the least counterexample to
//! whatever is violated.
//!
//! What it prints is the same on any number of threads and any machine, but for how many runs fit into a time.

mod beside;
mod destination;
mod junit;
mod part;
mod search;
mod sum;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use doublehold::findings::{Conclusion, Findings, ReplayHints, StatedBy, WaitBound};
use doublehold::nondeterminism::Watched;
use doublehold_diagnosis::counterexample::{Counterexample, counterexample};
use doublehold_history::Predicate;
use doublehold_lockimpl::Descriptor;
use doublehold_render::layout::to_ascii;
use doublehold_render::style::Style;
use doublehold_render::text;
use doublehold_scenarios::build::World;
use doublehold_scenarios::report::white_box::Rule;
use doublehold_scenarios::scenario::Expected;
use doublehold_scenarios::weather::Climate;
use doublehold_scenarios::{Engine, PreparedSim, Scenario, ScenarioError, Searchable, Seed, weather};
use doublehold_search::many::Tally;
use doublehold_search::shrink::{Effort, Target};
use doublehold_sweeps::sweep::Shard;
use doublehold_text::several;
use doublehold_text::shell;
use doublehold_text::suggest;
use doublehold_text::{clean, list, shorten};

use self::beside::BesideOptions;
use self::destination::Destination;
use self::part::{PartOptions, Runs};
use self::search::Counted;
use super::kind_hints;
use super::node_options::NodeOptions;
use super::shared::Search;
use crate::engine::EngineChoice;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output;
use crate::output_options::{Format, OutputOptions};
use crate::stopping;
use crate::warnings::Warnings;

/// The weather of a lock, and of a scenario that has none.
const WEATHER: &str = "cloud";
/// What reports call the weather of a scenario that has one.
const OWN_WEATHER: &str = "its own weather";
/// The help of `--predicate`: here a scenario may say what is looked for.
const PREDICATES: &str = "What to look for, and what the exit status is about [default: what the scenario expects to hold, or all]";
/// The last of all seeds.
const LAST: u64 = u64::MAX;

/// As typed.
#[derive(Debug, Args)]
#[command(mut_arg("predicate", |it| it.help(PREDICATES)), mut_arg("seed", |it| it.help("The first seed")))]
pub(crate) struct Arguments {
    /// A lock (see `locks`), which is tried in the usual world of its kind, or a scenario or its file
    #[arg(value_name = "LOCK|NAME|FILE")]
    subject: String,
    #[command(flatten)]
    reference: BesideOptions,
    /// Random faults: a preset (see `weather`) or a file [default: the scenario's own, or cloud]
    #[arg(long, value_name = "WEATHER|FILE")]
    weather: Option<String>,
    /// How long to search; what is found is made small after that [default: 60s]
    #[arg(long = "for", value_name = "TIME", conflicts_with = "runs", value_parser = time)]
    lasting: Option<Duration>,
    /// How many runs to make instead
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000_000))]
    runs: Option<u64>,
    #[command(flatten)]
    part: PartOptions,
    #[command(flatten)]
    engine: EngineChoice,
    #[command(flatten)]
    search: Search,
    /// White-box rules to look for as well, which the exit status is then about: margin, left-key, late-command
    #[arg(long, value_name = "RULE,…", value_delimiter = ',', value_parser = parse_rule)]
    rule: Vec<Rule>,
    /// LV: how long a wait may be after the last fault [default: the scenario's own bound, if it has one]
    #[arg(long, value_name = "TIME", value_parser = parse_bound)]
    obtain_within: Option<Duration>,
    /// Go on after everything that is looked for was found, so that rates can be told
    #[arg(long)]
    keep_going: bool,
    #[command(flatten)]
    nodes: NodeOptions,
    /// Where counterexamples go
    #[arg(long, value_name = "DIR", default_value = "doublehold-check")]
    out: String,
    /// Write the result for CI as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<String>,
    /// Write the result for CI as Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<String>,
    #[command(flatten)]
    show: OutputOptions,
}

pub(crate) fn execute(arguments: &Arguments) -> Result<Exit, CliError> {
    if let Some(reference) = &arguments.reference.beside {
        return beside::execute(arguments, reference);
    }
    refuse_more_than_seeds(arguments)?;
    let runs = arguments.own_runs()?;
    let Subject { scenario, weather, bound } = subject(arguments)?;
    let asked = asked_predicates(arguments, &scenario, bound.is_some())?;
    let prepared = Arc::new(Watched::new(arguments.engine.many().prepare(&scenario)?, runs.first));
    refuse_nothing_to_strike(prepared.inner())?;
    // From here on a signal ends the search, and what it has found is written.
    let stopping = stopping::listen();
    let place = Destination::open(arguments)?;
    let part = arguments
        .shard()
        .map(|(shard, runs)| part::part(&scenario, prepared.inner(), (arguments.search.seed, runs), shard));
    let Counted { tally, nondeterminism } = match (&arguments.part.sum[..], &part) {
        (files @ [_, ..], Some(whole)) => sum::sum(files, &arguments.question(), whole)?,
        _ => search::search((arguments, runs), &prepared, &asked, &stopping)?,
    };
    let rules = search::ask_rules(arguments, &prepared, (runs.first, tally.runs))?;
    let mut warnings = Warnings::default();
    let found = counterexamples(arguments, (&scenario, targets(&tally, &asked)), &place, &mut warnings);
    let pictured =
        found.first().map(|(example, shown)| picture(example, &shown.replay, &arguments.show.style()));
    let climate = prepared.inner().climate();
    // Of what nobody asked for by name, only what was seen counts.
    let is_skipped = |it: &Predicate| {
        arguments.search.predicate.is_empty()
            && scenario.expect.get(it) != Some(&Expected::Holds)
            && tally.grants > 0
            && tally.never_seen(*it).is_some()
    };
    let (skipped, asked) = asked.into_iter().partition(is_skipped);
    let findings = Findings {
        title: title(arguments, &scenario, weather),
        first: runs.first,
        part: part.filter(|_| arguments.part.shard.is_some()),
        nondeterminism,
        rules,
        tally,
        asked,
        skipped,
        bound,
        kinds: climate.map_or(Vec::new(), |climate| climate.kinds()),
        idle: climate.map_or(Vec::new(), |climate| climate.idle().to_vec()),
        found,
        command: arguments.question(),
    };
    warnings.note(place.keep(&findings));
    warnings.note(output::print(&render_findings(&findings, pictured, arguments.show)?));
    if let Some(status) = stopping.signal_status() {
        warnings.print();
        output::inform(&arguments.stopped(findings.tally.runs));
        std::process::exit(i32::from(status));
    }
    warnings.into_result()?;
    Ok(match findings.outcome() {
        Conclusion::Nothing => Exit::AsExpected,
        Conclusion::Violated => Exit::Contradicted,
        Conclusion::Inconclusive => Exit::Inconclusive,
    })
}

/// Makes a counterexample to each target, and writes it.
fn counterexamples(
    arguments: &Arguments,
    (scenario, targets): (&Scenario, Vec<(Target, Seed)>),
    place: &Destination,
    warnings: &mut Warnings,
) -> Vec<(Counterexample, ReplayHints)> {
    let mut found = Vec::new();
    for (target, seed) in targets {
        let Some(example) = warnings.note(example(arguments, (scenario, seed, target))) else { continue };
        let (mut shown, written) = place.write(&example, |replay| picture(&example, replay, &Style::UNICODE));
        warnings.note(written);
        if shown.replay.is_empty() {
            shown.replay = format!("{} --seed {seed} --runs 1", arguments.question());
        }
        found.push((example, shown));
    }
    found
}

/// The text to print: all findings as JSON, or a picture of the gravest one and the rest as text.
fn render_findings(
    findings: &Findings,
    picture: Option<String>,
    show: OutputOptions,
) -> Result<String, CliError> {
    if show.format == Format::Json {
        return Ok(findings.json()?);
    }
    let style = show.style();
    let text = picture.map_or(String::new(), |picture| picture + "\n") + &findings.text(style.width);
    Ok(if style.unicode { text } else { to_ascii(&text) })
}

/// The subject of a check: a scenario, and the bound on its waits.
struct Subject {
    /// A lock's usual world or a file, with the weather that was asked for.
    scenario: Scenario,
    /// The weather's name in the title if `--weather` names none.
    weather: &'static str,
    /// By what waits are judged, and who says so.
    bound: Option<WaitBound>,
}

fn subject(arguments: &Arguments) -> Result<Subject, CliError> {
    let sets = arguments.search.changes.pairs()?;
    let locks = doublehold_lockimpl::descriptors();
    let lock = locks.iter().find(|lock| lock.name == arguments.subject);
    let mut scenario = match lock {
        Some(lock) => {
            let usual = World::usual(lock).scenario(lock.name, locks.clone())?;
            apply_changes(&usual, sets)?
        }
        None => super::scenario(&arguments.subject, &sets, arguments.engine)
            .map_err(|error| neither(error, &locks))?,
    };
    let named = if scenario.weather.is_some() { OWN_WEATHER } else { WEATHER };
    if let Some(typed) = &arguments.weather {
        scenario.weather = Some(weather::load(typed).map_err(|error| no_folder(typed, error))?);
    } else if scenario.weather.is_none() {
        scenario.weather = Some(weather::load(WEATHER)?);
    }
    let mut stated_by = if lock.is_some() { StatedBy::UsualWorld } else { StatedBy::Scenario };
    if let Some(bound) = arguments.obtain_within {
        let limits = &mut scenario.limits;
        // Nobody has a lock while the nodes are cut off: a bound from the first call on would judge the weather.
        (limits.obtain_within, limits.after_faults) = (Some(bound), true);
        stated_by = StatedBy::Command;
    }
    let scenario = scenario.validate()?;
    let bound = WaitBound::from_scenario(&scenario, stated_by);
    Ok(Subject { scenario, weather: named, bound })
}

/// A folder is no weather, and says so better than the lack of a name.
fn no_folder(typed: &str, error: ScenarioError) -> CliError {
    if !Path::new(typed).is_dir() {
        return kind_hints::other_kind(typed, kind_hints::InputKind::Weather).unwrap_or(error.into());
    }
    CliError::Usage {
        problem: format!("`--weather {}` is a folder", shorten(typed)),
        hint: "name a file in it, or one of the weathers that `doublehold weather` lists".to_owned(),
    }
}

/// What is no scenario may be a lock that was mistyped.
fn neither(error: CliError, locks: &[Descriptor]) -> CliError {
    let CliError::Scenario(ScenarioError::Unknown { name, hint }) = error else { return error };
    let of_locks = doublehold_scenarios::locks::hint(locks, &name);
    let hint = if of_locks.starts_with("did you mean") {
        of_locks
    } else if hint.starts_with("did you mean") {
        hint
    } else {
        format!("{hint}; the locks: `doublehold locks`")
    };
    CliError::Usage { problem: format!("`{name}` is neither a lock nor a scenario"), hint }
}

/// A scenario that was made in Rust, with changes as a file takes them.
pub(super) fn apply_changes(scenario: &Scenario, sets: Vec<(String, String)>) -> Result<Scenario, CliError> {
    use doublehold_scenarios::format::Source;
    let (name, file) = (scenario.name.clone(), scenario.name.clone());
    Ok(Source { name, file, text: scenario.to_toml(), sets, ..Source::default() }.read()?)
}

/// The predicates to look for: those typed, or those that the scenario says should hold, or all that have a verdict.
fn asked_predicates(
    arguments: &Arguments,
    scenario: &Scenario,
    is_bounded: bool,
) -> Result<Vec<Predicate>, CliError> {
    let typed = &arguments.search.predicate;
    if !is_bounded && typed.contains(&Predicate::LV) {
        return Err(CliError::Usage {
            problem: "`--predicate LV` asks about waits, and no bound is stated: no wait is too long"
                .to_owned(),
            hint: "state one with `--obtain-within 60s`, or as `limits.obtain_within` in the scenario"
                .to_owned(),
        });
    }
    let holds = |predicate: &Predicate| scenario.expect.get(predicate) == Some(&Expected::Holds);
    let stated: Vec<Predicate> = Predicate::ALL.into_iter().filter(holds).collect();
    let mut asked = match (&typed[..], stated) {
        ([], stated) if stated.is_empty() => {
            Predicate::ALL.into_iter().filter(|it| is_bounded || *it != Predicate::LV).collect()
        }
        ([], stated) => stated,
        (typed, _) => typed.to_vec(),
    };
    asked.sort_unstable();
    asked.dedup();
    Ok(asked)
}

/// Refuses a weather all of whose lines strike nobody: without a single fault a search shows what a quiet run shows.
fn refuse_nothing_to_strike(prepared: &PreparedSim) -> Result<(), CliError> {
    let strikes_nobody = |climate: &&Climate| climate.kinds().is_empty() && !climate.idle().is_empty();
    let Some(climate) = prepared.climate().filter(strikes_nobody) else { return Ok(()) };
    Err(CliError::Usage {
        problem: format!(
            "the weather strikes nobody here: there is no host for its {}",
            list(climate.idle())
        ),
        hint: "let a line name hosts that there are, such as `clients`; `--weather calm` asks for no faults"
            .to_owned(),
    })
}

/// Refuses more runs than there are seeds from the first on.
fn refuse_more_than_seeds(arguments: &Arguments) -> Result<(), CliError> {
    let (first, Some(runs)) = (arguments.search.seed.0, arguments.runs) else { return Ok(()) };
    let left = LAST - first;
    if runs - 1 <= left {
        return Ok(());
    }
    Err(CliError::Usage {
        problem: format!(
            "`--runs {runs}` from seed {first}: there are only {} from there on",
            several(left + 1, "seed")
        ),
        hint: format!("name a first `--seed` of at most {}", LAST - (runs - 1)),
    })
}

/// What was found of what was asked, the gravest first, each with its first seed.
fn targets(tally: &Tally, asked: &[Predicate]) -> Vec<(Target, Seed)> {
    let first = |target: Target| match target {
        Target::Panics => tally.panicked.map(|(seed, _)| seed),
        Target::Violates(predicate) if asked.contains(&predicate) => tally.count(predicate).first,
        Target::Violates(_) => None,
    };
    Target::ALL.into_iter().filter_map(|target| Some((target, first(target)?))).collect()
}

fn example(arguments: &Arguments, found: (&Scenario, Seed, Target)) -> Result<Counterexample, CliError> {
    let effort = Effort { nodes: arguments.nodes.choice(), ..Effort::default() };
    Ok(counterexample(&arguments.engine.many(), &arguments.engine.one(), found, &effort)?)
}

fn picture(example: &Counterexample, replay: &str, style: &Style) -> String {
    text::render_run(&example.run, replay, style)
}

/// `redlock under cloud: 5 nodes, 3 clients, 2 rounds each`.
fn title(arguments: &Arguments, scenario: &Scenario, weather: &str) -> String {
    let weather = arguments.weather.as_deref().unwrap_or(weather);
    let sets =
        if scenario.sets.is_empty() { String::new() } else { format!(" with {}", scenario.sets.join(", ")) };
    let shard = arguments.part.shard;
    let part = shard.map_or(String::new(), |it| format!(", part {} of {}", it.number(), it.total()));
    clean(&format!("{}{sets} under {weather}: {}{part}", scenario.name, super::size_of(scenario)))
}

impl Arguments {
    /// The runs of this process.
    fn own_runs(&self) -> Result<Runs, CliError> {
        match (self.part.shard, self.runs) {
            (Some(shard), Some(runs)) => Runs::of_shard(self.search.seed, runs, shard),
            (_, count) => Ok(Runs { first: self.search.seed, count }),
        }
    }

    /// The part that this process makes, or the whole that it adds up, and the number of runs of the whole.
    fn shard(&self) -> Option<(Shard, u64)> {
        let is_sum = !self.part.sum.is_empty();
        Some((self.part.shard.or(is_sum.then_some(Shard::WHOLE))?, self.runs?))
    }

    /// What is searched, and for what: the command without its seeds and its files.
    fn question(&self) -> String {
        let search = self.search.question();
        let mut line = vec!["doublehold", "check", &self.subject];
        line.extend(self.reference.typed());
        line.extend(self.weather.iter().flat_map(|weather| ["--weather", weather]));
        line.extend(search.iter().map(String::as_str));
        line.extend(self.engine.options());
        let bound = self.obtain_within.map(doublehold_scenarios::format::duration_text);
        line.extend(bound.iter().flat_map(|bound| ["--obtain-within", bound]));
        line.extend(self.rule.iter().flat_map(|rule| ["--rule", rule.as_str()]));
        shell::line(line)
    }

    /// The words about a search that was stopped after so many runs.
    fn stopped(&self, runs: u64) -> String {
        match self.again(runs) {
            _ if self.part.shard.is_some() => "stopped; a part counts when it has all its runs".to_owned(),
            // Its parts have made all runs.
            _ if !self.part.sum.is_empty() => "stopped; the same command adds the parts up again".to_owned(),
            Some(again) => format!("stopped; to go on: {again}"),
            None => "stopped; there are no seeds left to go on with".to_owned(),
        }
    }

    /// The command that goes on after so many runs, if there are seeds left.
    fn again(&self, runs: u64) -> Option<String> {
        let seed = self.search.seed.0.checked_add(runs)?.to_string();
        let mut line = vec!["--seed", &seed, "--out", &self.out];
        line.extend(self.junit.iter().flat_map(|file| ["--junit", file]));
        line.extend(self.markdown.iter().flat_map(|file| ["--markdown", file]));
        line.extend(self.keep_going.then_some("--keep-going"));
        line.extend(self.nodes.option());
        Some(format!("{} {}", self.question(), shell::line(line)))
    }
}

/// A time as scenario files write it, longer than nothing and shorter than a month.
fn time(typed: &str) -> Result<Duration, String> {
    let longest = Duration::from_secs(30 * 24 * 3600);
    match doublehold_scenarios::format::duration(typed) {
        Ok(Duration::ZERO) => Err("a search of no time makes no run: use something such as `60s`".to_owned()),
        Ok(time) if time > longest => {
            Err("use at most `720h`, which is 30 days: `--seed` goes on where a search has ended".to_owned())
        }
        Ok(time) => Ok(time),
        Err(why) => Err(why),
    }
}

/// A bound on waits, as scenario files write it.
fn parse_bound(typed: &str) -> Result<Duration, String> {
    match doublehold_scenarios::format::duration(typed) {
        Ok(Duration::ZERO) => Err("every wait is longer than that: use something such as `60s`".to_owned()),
        bound => bound,
    }
}

/// A white-box rule by its word.
fn parse_rule(typed: &str) -> Result<Rule, String> {
    let names = Rule::ALL.map(Rule::as_str);
    let rule = Rule::ALL.into_iter().find(|rule| rule.as_str() == typed.trim());
    rule.ok_or_else(|| format!("there is no rule of that name: {}", suggest::hint(typed, &names)))
}
