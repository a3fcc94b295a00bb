//! What a search came to, in words and as JSON. How long it took is no part of it.

use std::cell::RefCell;
use std::collections::BTreeMap;

use doublehold::findings::{name_of, with_way_out};
use doublehold_history::Predicate;
use doublehold_render::layout::{to_ascii, wrap};
use doublehold_render::style::{Paint, Style};
use doublehold_scenarios::fault::Fault;
use doublehold_scenarios::scenario::{Limits, Scenario};
use doublehold_search::explore::{
    Exploration, Explored, Group, MinimalPlacements, Place, UndecidedRuns, Violations,
};
use doublehold_search::shrink::Target;
use doublehold_text::shell;
use doublehold_text::{clean, exact_duration, list};
use doublehold_text::{group_digits, several};
use serde::Serialize;

use super::checkpoint::Scenarios;
use super::world::world;
use crate::engine::EngineChoice;
use crate::error::CliError;
use crate::exit::Exit;
use crate::scenario_file;
use crate::warnings::Warnings;

/// How many groups of minimal placements are printed for one predicate.
const MAX_GROUPS: usize = 12;

/// The scenario that was searched, as `run` is to be told of it.
pub(super) struct Source {
    pub(super) name: String,
    /// Its changes, as options.
    pub(super) sets: Vec<String>,
    /// Whether it says itself that waits count from the end of the last fault, as a search does.
    pub(super) counts_after_faults: bool,
}

/// A search that is over or was stopped.
#[derive(Serialize)]
pub(super) struct ExploreOutput {
    scenario: String,
    lock: String,
    /// What was searched, in words: hosts, turns, the lock's ttl and switches, delays.
    world: String,
    seed: String,
    /// The simulator.
    engine: &'static str,
    /// Whether the scenario draws delays or the like, of which only one draw was tried.
    random: bool,
    /// At most how many faults were placed together.
    faults: usize,
    /// With their magnitudes.
    kinds: Vec<String>,
    #[serde(skip)]
    kind_words: Vec<&'static str>,
    /// How LV judges waits, if it was asked for and a bound is stated.
    #[serde(skip)]
    waits: Option<String>,
    /// The steps of the run without faults, by their kind.
    steps: BTreeMap<&'static str, u64>,
    /// Whether every placement was tried.
    complete: bool,
    /// How many placements of one fault were tried, of two, and so on.
    placements: Vec<u64>,
    /// How many different runs those were, with the one without faults.
    runs: u64,
    /// What was looked for, the gravest first.
    looked_for: Vec<LookedFor>,
}

#[derive(Serialize)]
struct LookedFor {
    /// A predicate, or `panic`.
    what: String,
    #[serde(skip)]
    target: Target,
    /// In how many different runs it happened.
    violated: u64,
    /// In how many nobody can say.
    undecided: u64,
    /// Why one of those did not decide it.
    why_undecided: Option<String>,
    /// The placements of which no proper subset is enough, by their kinds of faults and steps.
    minimal: Vec<Sort>,
}

#[derive(Serialize)]
struct Sort {
    /// Kind of fault and kind of step, in the order in which they strike; none for the run without faults.
    faults: Vec<[&'static str; 2]>,
    /// How many different runs.
    count: u64,
    /// One of them: the first that does the same through redis-rs, if one of the first few does.
    example: Vec<Fault>,
    /// The same in words.
    words: Vec<String>,
    /// Whether the example does the same through redis-rs.
    through_redis_rs: bool,
    /// The scenario that was written.
    file: Option<String>,
    /// The command that shows it, where there is something to name.
    replay: Option<String>,
}

impl ExploreOutput {
    /// Looks at the examples through redis-rs, and writes their scenarios. What cannot be written is noted.
    pub(super) fn gather(
        exploration: &Exploration,
        found: &Explored,
        (engine, asked, source): (EngineChoice, &[Target], Option<Source>),
        (folder, warnings): (Option<&Scenarios>, &RefCell<Warnings>),
    ) -> Result<ExploreOutput, CliError> {
        let mut steps = BTreeMap::new();
        for step in exploration.steps() {
            *steps.entry(step.event.step().as_str()).or_default() += 1;
        }
        let examples = Examples { exploration, engine, source, folder, warnings };
        let looked_for = asked.iter().map(|target| examples.looked_for(found, *target));
        Ok(ExploreOutput {
            scenario: exploration.scenario().name.clone(),
            lock: exploration.scenario().lock.algorithm.clone(),
            world: world(exploration.scenario()),
            seed: exploration.seed().to_string(),
            engine: engine.name(),
            random: exploration.is_drawn(),
            faults: exploration.faults(),
            kinds: exploration.kinds().descriptions(),
            kind_words: exploration.kinds().chosen_words(),
            waits: waits(exploration.scenario(), asked),
            steps,
            complete: found.complete,
            placements: found.tried.clone(),
            runs: found.distinct_traces(),
            looked_for: looked_for.collect::<Result<_, _>>()?,
        })
    }

    /// The scenarios that were written.
    pub(super) fn files(&self) -> Vec<&str> {
        let sorts = self.looked_for.iter().flat_map(|it| &it.minimal);
        sorts.filter_map(|sort| sort.file.as_deref()).collect()
    }

    pub(super) fn exit(&self) -> Exit {
        let is_undecided = |it: &LookedFor| it.undecided > 0 && !it.was_never_asked();
        let is_decided = |it: &LookedFor| it.target != Target::Panics && it.undecided < self.runs;
        if self.looked_for.iter().any(|it| it.violated > 0) {
            Exit::Contradicted
        } else if !self.complete
            || self.looked_for.iter().any(is_undecided)
            || !self.looked_for.iter().any(is_decided)
        {
            Exit::Inconclusive
        } else {
            Exit::AsExpected
        }
    }

    pub(super) fn text(&self, style: &Style) -> String {
        let mut text = self.heading(style);
        for it in self.looked_for.iter().filter(|it| it.violated > 0) {
            text.push('\n');
            text += &it.text(style);
        }
        text.push('\n');
        for sentence in self.conclusions() {
            text += &wrap(&sentence, "", "  ", style.width);
        }
        if style.unicode { text } else { to_ascii(&text) }
    }

    fn heading(&self, style: &Style) -> String {
        let name = style.paint(&clean(&self.scenario), Paint::Strong);
        let engine = match self.engine {
            "sim" => String::new(),
            other => format!(", engine {other}"),
        };
        let title =
            format!("{name}: every placement of {}, seed {}{engine}", fault_limit(self.faults), self.seed);
        let steps: Vec<String> =
            self.steps.iter().map(|(kind, count)| format!("{} {kind}", group_digits(*count))).collect();
        let all = group_digits(self.steps.values().sum());
        let mut lines = vec![
            format!("world: {}", clean(&self.world)),
            format!("kinds: {}", self.kinds.join(", ")),
            format!("steps of the run without faults: {all} ({})", steps.join(", ")),
            self.tried_words(),
        ];
        lines.extend(self.waits.clone());
        if self.random {
            let draw = "delays or the like are random here, and each placement is one draw of them: another \
                        `--seed` may show more";
            lines.push(draw.to_owned());
        }
        let lines = lines.iter().map(|line| wrap(line, "  ", "    ", style.width));
        [wrap(&title, "", "  ", style.width)].into_iter().chain(lines).collect()
    }

    fn tried_words(&self) -> String {
        let all = self.placements.iter().sum();
        let of = |(size, count): (usize, &u64)| match size {
            1 => format!("{} of 1 fault", group_digits(*count)),
            _ => format!("{} of {size} faults", group_digits(*count)),
        };
        let sizes: Vec<String> = (1..).zip(&self.placements).map(of).collect();
        let sizes = if sizes.len() > 1 { format!(" ({})", sizes.join(", ")) } else { String::new() };
        let runs = group_digits(self.runs);
        format!(
            "placements tried: {}{sizes}; different traces (a fault is in its own, so that not each does anything), with \
             the one without faults: {runs}",
            group_digits(all)
        )
    }

    /// What can be said in a sentence.
    fn conclusions(&self) -> Vec<String> {
        let all: u64 = self.placements.iter().sum();
        let kinds = format!(
            "of kind{} {}",
            if self.kind_words.len() == 1 { "" } else { "s" },
            self.kind_words.join(", ")
        );
        let names = |wanted: &dyn Fn(&LookedFor) -> bool| -> Vec<&str> {
            let predicates = self.looked_for.iter().filter(|it| it.target != Target::Panics);
            predicates.filter(|it| wanted(it)).map(|it| it.what.as_str()).collect()
        };
        let mut sentences = Vec::new();
        let violated = names(&|it| it.violated > 0);
        if self.looked_for.iter().any(|it| it.target == Target::Panics && it.violated > 0) {
            sentences.push("PANICKED: the lock's own code".to_owned());
        }
        if !violated.is_empty() {
            sentences.push(format!("VIOLATED: {}", list(&violated)));
        }
        let undecided = self.looked_for.iter().filter(|it| it.violated == 0 && it.undecided > 0);
        sentences.extend(undecided.map(|it| it.is_undecided(self.runs)));
        let hold = names(&|it| it.violated == 0 && it.undecided == 0);
        if !self.complete {
            let not_seen =
                if hold.is_empty() { String::new() } else { format!("; not seen yet: {}", list(&hold)) };
            let what = if violated.is_empty() { "INCONCLUSIVE: stopped" } else { "STOPPED" };
            sentences.push(format!("{what} after {}{not_seen}", several(all, "placement")));
        } else if !hold.is_empty() {
            let verb = if hold.len() == 1 { "holds" } else { "hold" };
            sentences.push(format!(
                "all {} of {} {kinds} tried: {} {verb}",
                several(all, "placement"),
                fault_limit(self.faults),
                list(&hold)
            ));
            sentences.push(
                "not tried: other worlds, seeds, kinds or magnitudes, and moments between two steps"
                    .to_owned(),
            );
        }
        sentences
    }
}

/// `LV: a wait counts from the end of the last fault, and is too long after 60 s`.
fn waits(scenario: &Scenario, asked: &[Target]) -> Option<String> {
    let Limits { obtain_within, obtain_free_within, .. } = scenario.limits;
    let within = obtain_within.map(exact_duration);
    let free = obtain_free_within.map(|bound| format!("{} if nobody claims the lock", exact_duration(bound)));
    let bounds: Vec<String> = within.into_iter().chain(free).collect();
    let is_asked = asked.contains(&Target::Violates(Predicate::LV)) && !bounds.is_empty();
    is_asked.then(|| {
        format!(
            "LV: a wait counts from the end of the last fault, and is too long after {}",
            bounds.join(", and after ")
        )
    })
}

fn fault_limit(faults: usize) -> String {
    if faults == 1 { "at most 1 fault".to_owned() } else { format!("at most {faults} faults") }
}

impl LookedFor {
    /// LV where the scenario states no bound: nobody asked.
    fn was_never_asked(&self) -> bool {
        self.target == Target::Violates(Predicate::LV)
            && self.why_undecided.as_deref() == Some("no bound stated")
    }

    /// That some of so many runs did not decide it, and why.
    fn is_undecided(&self, runs: u64) -> String {
        let why = self.why_undecided.as_deref().unwrap_or("nobody can say");
        let why = with_way_out(&clean(why));
        if self.was_never_asked() {
            return format!("{} was not asked about: {why}", self.what);
        }
        let decided = runs.saturating_sub(self.undecided);
        let holds =
            if decided == 0 { String::new() } else { format!("holds in {}, and ", several(decided, "run")) };
        format!(
            "INCONCLUSIVE: {} {holds}is not decided in {}: {why}",
            self.what,
            several(self.undecided, "run")
        )
    }

    fn text(&self, style: &Style) -> String {
        let runs = if self.violated == 1 { "run" } else { "runs" };
        let minimal: u64 = self.minimal.iter().map(|sort| sort.count).sum();
        let what = style.paint(&self.what, Paint::Bad);
        let mut text = format!("{what}  in {} {runs} of different traces, ", group_digits(self.violated));
        text += &match &self.minimal[..] {
            [only] if only.faults.is_empty() => "without any fault\n".to_owned(),
            _ => format!("minimal placements: {}\n", group_digits(minimal)),
        };
        for sort in self.minimal.iter().take(MAX_GROUPS) {
            text += &sort.text(style);
        }
        if let Some(more) = self.minimal.len().checked_sub(MAX_GROUPS + 1) {
            let more = group_digits(more as u64 + 1);
            text += &format!(
                "    and {more} more kinds of placements: `--format json` and `--out DIR` have all\n"
            );
        }
        text
    }
}

impl Sort {
    fn text(&self, style: &Style) -> String {
        let words: Vec<String> = self.words.iter().map(|words| clean(words)).collect();
        let mut text = if self.faults.is_empty() {
            String::new()
        } else {
            let sorts: Vec<String> =
                self.faults.iter().map(|[kind, step]| format!("{kind} at {step}")).collect();
            let head = format!("{} ({}): ", sorts.join(", then "), group_digits(self.count));
            wrap(&format!("{head}{}", words.join("; ")), "    ", "      ", style.width)
        };
        if !self.through_redis_rs {
            text += &wrap("not so through redis-rs' own connection", "      ", "      ", style.width);
        }
        // Not wrapped: it is to be pasted.
        text += &self.replay.iter().map(|replay| format!("      {}\n", clean(replay))).collect::<String>();
        text
    }
}

/// How examples are made.
struct Examples<'a> {
    exploration: &'a Exploration,
    engine: EngineChoice,
    source: Option<Source>,
    folder: Option<&'a Scenarios>,
    warnings: &'a RefCell<Warnings>,
}

impl Examples<'_> {
    fn looked_for(&self, found: &Explored, target: Target) -> Result<LookedFor, CliError> {
        let unsaid = match target {
            Target::Violates(predicate) => found.unsaid.get(&predicate).map(|it| (predicate, it)),
            Target::Panics => None,
        };
        let why = |(predicate, it): (Predicate, &UndecidedRuns)| {
            self.exploration.why_undecided(predicate, &it.example)
        };
        let minimal = found.findings.get(&target).map(Violations::ranked).unwrap_or_default();
        Ok(LookedFor {
            what: name_of(target),
            target,
            violated: found.runs_with(target),
            undecided: unsaid.map_or(0, |(_, it)| it.runs),
            why_undecided: unsaid.and_then(why),
            minimal: minimal
                .into_iter()
                .map(|(group, it)| self.sort(target, group, it))
                .collect::<Result<_, _>>()?,
        })
    }

    fn sort(&self, target: Target, group: &Group, minimal: &MinimalPlacements) -> Result<Sort, CliError> {
        let is_so =
            |places: &&Vec<Place>| self.exploration.is_reproduced_on(&self.engine.one(), target, places);
        let confirmed =
            minimal.examples.iter().map(|it| Ok((it, is_so(&it)?))).collect::<Result<Vec<_>, CliError>>()?;
        let first_so = confirmed.iter().find(|(_, is_so)| *is_so).or(confirmed.first());
        let (places, through_redis_rs) = *first_so.expect("a group has an example");
        let example = self.exploration.faults_of(places);
        let scenario = self.exploration.scenario_of(&file_name(target, group), target, places);
        // What `run` would contradict is no scenario to keep.
        let folder = self.folder.filter(|_| through_redis_rs);
        let seed = self.exploration.seed();
        let written = folder.map(|folder| folder.write(&scenario.validate()?, seed, self.engine));
        let file = written.and_then(|written| self.warnings.borrow_mut().note(written));
        let replay = self.replay(file.as_deref(), target, places).filter(|_| through_redis_rs);
        Ok(Sort {
            faults: group.iter().map(|(kind, step)| [*kind, *step]).collect(),
            count: minimal.count,
            words: example.iter().map(Fault::to_string).collect(),
            through_redis_rs,
            replay,
            example,
            file,
        })
    }

    /// `run` of the file that was written, or of what was searched with these faults in it.
    fn replay(&self, file: Option<&str>, target: Target, places: &[Place]) -> Option<String> {
        let seed = self.exploration.seed();
        let faults = format!("faults={}", self.exploration.as_set(places));
        if let Some(file) = file {
            return Some(scenario_file::command(file, seed, self.engine));
        }
        let Source { name, sets, counts_after_faults } = self.source.as_ref()?;
        let seed = seed.to_string();
        let mut line = vec!["doublehold", "run", name, "--seed", &seed];
        line.extend(self.engine.options());
        line.extend(sets.iter().map(String::as_str));
        let is_of_waits = target == Target::Violates(Predicate::LV);
        let counted = (is_of_waits && !counts_after_faults).then_some(["--set", "limits.after_faults=true"]);
        line.extend(counted.into_iter().flatten());
        line.extend(["--set", &faults]);
        Some(shell::line(line))
    }
}

/// `P2-pause-at-clock-read-and-crash-at-send`.
fn file_name(target: Target, group: &Group) -> String {
    let sorts: Vec<String> = group.iter().map(|(kind, step)| format!("{kind}-at-{step}")).collect();
    let name = format!(
        "{}-{}",
        name_of(target),
        if sorts.is_empty() { "no-fault".to_owned() } else { sorts.join("-and-") }
    );
    name.replace(' ', "-")
}
