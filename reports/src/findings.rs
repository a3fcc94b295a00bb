//! What a search came to, for people and for CI: counts, coverage, counterexamples. Pure: text out of data, and no word
//! of how long it took, so that the same search prints the same on any machine.

mod table;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use doublehold_history::Predicate;
use doublehold_history::words::{clean, list};
use doublehold_scenarios::Seed;
use doublehold_scenarios::coverage::{Coverage, Place};
use doublehold_scenarios::fault::Fault;
use doublehold_scenarios::many::{Count, Tally};
use doublehold_scenarios::shrink::{Size, Target};

use self::table::{Markdown, Plain, Table};
use crate::found::Counterexample;
use crate::statistics::{Confidence, Proportion};

/// A search that is over.
#[derive(Debug)]
pub struct Findings {
    /// What was searched, in words: `redlock under cloud: 5 nodes, 3 clients, 2 rounds each`.
    pub title: String,
    /// The first seed.
    pub first: Seed,
    /// What all runs came to.
    pub tally: Tally,
    /// The predicates that were asked about.
    pub asked: Vec<Predicate>,
    /// The kinds of faults that the weather has for this world.
    pub kinds: Vec<&'static str>,
    /// The kinds that strike nobody in it.
    pub idle: Vec<&'static str>,
    /// What was found, the gravest first.
    pub found: Vec<(Counterexample, Shown)>,
    /// The command of the search without its seeds: with `--seed N --runs 1` it makes one of its runs again.
    pub command: String,
}

/// Where a counterexample can be seen again.
#[derive(Debug, Default)]
pub struct Shown {
    /// The files written, by their paths.
    pub files: Vec<String>,
    /// The command that runs its scenario from its seed; empty where no file has it.
    pub run: String,
    /// The command that shows it again.
    pub replay: String,
}

/// How a search came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// Nothing that was asked about is violated, and everything was tried.
    Nothing,
    /// Something that was asked about is violated, or the lock panicked.
    Violated,
    /// Nothing is violated, and not everything was tried.
    Inconclusive,
}

impl Findings {
    /// How it came out.
    pub fn outcome(&self) -> Conclusion {
        let violated = |predicate: &Predicate| self.tally.of(*predicate).violated > 0;
        if self.tally.panicked.is_some() || self.asked.iter().any(violated) {
            Conclusion::Violated
        } else if self.gaps().is_empty() {
            Conclusion::Nothing
        } else {
            Conclusion::Inconclusive
        }
    }

    /// Why nothing found would not mean that nothing is there.
    pub fn gaps(&self) -> Vec<String> {
        let mut gaps = self.common_gaps();
        gaps.extend(self.asked.iter().filter_map(|predicate| self.never_decided(*predicate)));
        gaps
    }

    /// The same of one thing that was looked for.
    pub fn gaps_of(&self, target: Target) -> Vec<String> {
        let mut gaps = self.common_gaps();
        if let Target::Violates(predicate) = target {
            gaps.extend(self.never_decided(predicate));
        }
        gaps
    }

    /// What says nothing about any predicate.
    fn common_gaps(&self) -> Vec<String> {
        let mut gaps = Vec::new();
        if self.tally.runs == 0 {
            return vec!["not a single run was made".to_owned()];
        }
        if self.tally.grants == 0 {
            let why = self
                .tally
                .refused
                .as_ref()
                .map(|(seed, why)| format!("; the last refusal, from seed {seed}: {}", clean(why)));
            gaps.push(format!("no call was ever granted the lock{}", why.unwrap_or_default()));
        }
        let silent = |kind: &&&'static str| self.tally.coverage.of(kind).struck == 0;
        let silent: Vec<&str> = self.kinds.iter().filter(silent).copied().collect();
        if !silent.is_empty() {
            gaps.push(format!("of the weather's faults, {} never struck: make more runs", list(&silent)));
        }
        gaps
    }

    /// That no run decided a predicate, and why the first did not.
    fn never_decided(&self, predicate: Predicate) -> Option<String> {
        let Count { holds: 0, violated: 0, unsaid: Some((seed, why)), .. } = self.tally.of(predicate) else {
            return None;
        };
        Some(format!(
            "{predicate} was never decided; from seed {seed}: {}; that run again: {}",
            with_way_out(&clean(&why)),
            self.one_run(seed)
        ))
    }

    /// The command that makes the run from one seed again.
    pub fn one_run(&self, seed: Seed) -> String {
        format!("{} --seed {seed} --runs 1", clean(&self.command))
    }

    /// The first seed that showed something, if one did.
    pub fn first_of(&self, target: Target) -> Option<Seed> {
        match target {
            Target::Panics => self.tally.panicked.map(|(seed, _)| seed),
            Target::Violates(predicate) => self.tally.of(predicate).first,
        }
    }

    /// Everything, as text.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n{}\n\n", self.title, self.runs());
        text += &self.verdicts(&Plain);
        text += &self.about_rates().map_or(String::new(), |line| format!("\n  {line}\n"));
        text += &self.unsaid();
        for (example, shown) in &self.found {
            text.push('\n');
            text += &words_of(example, shown);
        }
        match self.coverage(&Plain) {
            Some(coverage) => {
                write!(text, "\nwhere faults struck (how often; -: never)\n\n{coverage}").expect(WRITES);
            }
            None => text += "\nno fault struck: there is none in the scenario and none in the weather\n",
        }
        if !self.idle.is_empty() {
            writeln!(text, "\nof the weather strike nobody here: {}", list(&self.idle)).expect(WRITES);
        }
        write!(text, "\n{}", self.conclusion()).expect(WRITES);
        text
    }

    /// The same as Markdown, for the summary page of a CI job.
    pub fn markdown(&self) -> String {
        let mut text = format!("### {}\n\n{}\n\n", self.title, self.runs());
        text += &self.verdicts(&Markdown);
        text += &self.about_rates().map_or(String::new(), |line| format!("\n{line}\n"));
        for (example, shown) in &self.found {
            write!(text, "\n```\n{}```\n", words_of(example, shown)).expect(WRITES);
        }
        if let Some(coverage) = self.coverage(&Markdown) {
            write!(text, "\nWhere faults struck, and how often (-: never):\n\n{coverage}").expect(WRITES);
        }
        write!(text, "\n{}", self.conclusion()).expect(WRITES);
        text
    }

    fn runs(&self) -> String {
        let Tally { runs, grants, .. } = self.tally;
        let last = self.first.0.saturating_add(runs.saturating_sub(1));
        let seeds = match runs {
            0 | 1 => format!("seed {}", self.first),
            _ => format!("seeds {} to {last}", self.first),
        };
        format!("{}, {seeds}, {}", several(runs, "run"), several(grants, "grant"))
    }

    /// Why runs said nothing about what was asked, each reason once, with the first seed.
    fn unsaid(&self) -> String {
        let unsaid = self.asked.iter().filter_map(|predicate| self.tally.of(*predicate).unsaid);
        let reasons: BTreeSet<(Seed, String)> = unsaid.collect();
        let line = |(seed, why): (Seed, String)| {
            format!("\n  inconclusive, first from seed {seed}: {}\n", with_way_out(&clean(&why)))
        };
        reasons.into_iter().map(line).collect()
    }

    /// The last lines: what it came to, in a sentence, and what else is violated.
    pub fn conclusion(&self) -> String {
        let others =
            |predicate: &Predicate| !self.asked.contains(predicate) && self.tally.of(*predicate).violated > 0;
        let others: Vec<&str> = Predicate::ALL.iter().filter(|it| others(it)).map(|it| it.as_str()).collect();
        match &others[..] {
            [] => self.answer(),
            others => format!("{}not asked about, and violated: {}\n", self.answer(), list(others)),
        }
    }

    /// What it came to, of what was asked.
    fn answer(&self) -> String {
        let violated: Vec<&str> = self
            .asked
            .iter()
            .filter(|predicate| self.tally.of(**predicate).violated > 0)
            .map(|predicate| predicate.as_str())
            .collect();
        match self.outcome() {
            Conclusion::Violated if violated.is_empty() => "PANICKED: the lock's own code\n".to_owned(),
            Conclusion::Violated => format!("VIOLATED: {}\n", list(&violated)),
            Conclusion::Nothing => self.nothing(),
            Conclusion::Inconclusive => {
                let mut text = "INCONCLUSIVE: nothing was found, and not everything was tried\n".to_owned();
                for gap in self.gaps() {
                    writeln!(text, "  {gap}").expect(WRITES);
                }
                text
            }
        }
    }

    /// That nothing was found, and whether every run said so.
    fn nothing(&self) -> String {
        let names: Vec<&str> = self.asked.iter().map(|predicate| predicate.as_str()).collect();
        let (names, runs) = (list(&names), several(self.tally.runs, "run"));
        let unsaid =
            self.asked.iter().map(|predicate| self.tally.of(*predicate).inconclusive).max().unwrap_or(0);
        let (holds, is) = if self.asked.len() == 1 { ("holds", "is") } else { ("hold", "are") };
        if unsaid == 0 {
            let all = if self.tally.runs == 1 { "the" } else { "all" };
            let runs = runs.trim_start_matches("1 ");
            return format!("nothing found: {names} {holds} in {all} {runs}\n");
        }
        let unsaid = grouped(unsaid);
        format!("nothing found: {names} {is} never violated in {runs}, and not decided in {unsaid} of them\n")
    }

    fn verdicts(&self, table: &impl Table) -> String {
        let heading = ["rule", "holds", "violated", "inconclusive", "first seed", "rate (95 %)"];
        let row = |predicate: Predicate| {
            let count = self.tally.of(predicate);
            let asked = if self.asked.contains(&predicate) { "" } else { ", not asked" };
            [
                format!("{predicate} {}{asked}", predicate.name()),
                grouped(count.holds),
                grouped(count.violated),
                grouped(count.inconclusive),
                count.first.map_or("-".to_owned(), |seed| seed.to_string()),
                rate(&count),
            ]
        };
        table.lay_out(&heading, &Predicate::ALL.map(row).map(Vec::from))
    }

    /// What a missing rate means, if one is missing.
    fn about_rates(&self) -> Option<&'static str> {
        let is_missing = |predicate: &Predicate| rate(&self.tally.of(*predicate)) == NO_RATE;
        let words = "rate -: violated in fewer than ten runs, which says little beyond that it happens, or never decided";
        Predicate::ALL.iter().any(is_missing).then_some(words)
    }

    fn coverage(&self, table: &impl Table) -> Option<String> {
        let mut kinds = self.kinds.clone();
        let others = self.tally.coverage.kinds().map(|(kind, _)| kind);
        kinds.extend(others.filter(|kind| !self.kinds.contains(kind)));
        if kinds.is_empty() {
            return None;
        }
        let places: Vec<Place> = places(&self.tally.coverage).into_iter().collect();
        let mut heading = vec!["kind", "drawn", "struck"];
        heading.extend(places.iter().map(|place| place.as_str()));
        let row = |kind: &&'static str| {
            let of_kind = self.tally.coverage.of(kind);
            let mut row = vec![(*kind).to_owned(), grouped(of_kind.drawn), grouped(of_kind.struck)];
            let at = |place| of_kind.at.get(place).map_or("-".to_owned(), |count| grouped(*count));
            row.extend(places.iter().map(at));
            row
        };
        Some(table.lay_out(&heading, &kinds.iter().map(row).collect::<Vec<_>>()))
    }
}

const WRITES: &str = "a string takes everything";

/// Where any fault struck.
fn places(coverage: &Coverage) -> BTreeSet<Place> {
    coverage.kinds().flat_map(|(_, of_kind)| of_kind.at.keys().copied()).collect()
}

/// What stands for a rate that nobody can tell.
const NO_RATE: &str = "-";

/// How often it is violated: exact bounds where it never was, a share otherwise. A share says nothing where the search
/// stopped at the first violation, so there is none for fewer than ten.
fn rate(count: &Count) -> String {
    let decided = count.holds + count.violated;
    match count.violated {
        0 => {
            let bound = Proportion::new(0, decided).at_most(Confidence::P95);
            bound.map_or(NO_RATE.to_owned(), |bound| format!("at most {}", share(bound)))
        }
        1..10 => NO_RATE.to_owned(),
        violated => format!("about {}", share(violated as f64 / decided as f64)),
    }
}

/// Two digits, as one in so many where it is small.
fn share(share: f64) -> String {
    if share >= 0.01 { format!("{:.0} %", share * 100.0) } else { format!("{share:.1e}") }
}

/// Why a run decided nothing, and where it met a limit, which one to raise.
pub(crate) fn with_way_out(why: &str) -> String {
    let key = BUDGETS.iter().find(|(words, _)| why.ends_with(words));
    key.map_or(why.to_owned(), |(_, key)| format!("{why} (raise `{key}`, or let less happen)"))
}

/// How reasons end that name a limit, and its key.
const BUDGETS: [(&str, &str); 3] = [
    ("budget of true time", "limits.time"),
    ("budget of events", "limits.events"),
    ("budget of memory", "limits.memory"),
];

/// `1 run`, `2,000 runs`.
pub(crate) fn several(count: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// What was found, from which seed, how small it became, and where it is.
pub(crate) fn words_of(example: &Counterexample, shown: &Shown) -> String {
    let Counterexample { target, first, shrunk, is_real, .. } = example;
    let mut text = format!("{target}, first from seed {first}\n");
    let (before, after) = (size(shrunk.before), size(shrunk.after));
    writeln!(text, "  shrunk from {before}\n      to     {after}, in {}", several(shrunk.replays, "run"))
        .expect(WRITES);
    if !shrunk.is_minimal {
        text += "  not minimal: there were not enough runs to try every change\n";
    }
    for cause in causes(&shrunk.scenario.faults) {
        writeln!(text, "  - {cause}").expect(WRITES);
    }
    for window in &shrunk.windows {
        writeln!(text, "  the same happens with {window}").expect(WRITES);
    }
    let (same, of) = shrunk.others;
    writeln!(text, "  the same happens from {same} of {of} other seeds").expect(WRITES);
    if !is_real {
        text += "  seen through lean connections only, and not through redis-rs: the difference is worth a look\n";
    }
    for file in &shown.files {
        writeln!(text, "  file: {}", clean(file)).expect(WRITES);
    }
    if same < of / 2 {
        writeln!(text, "  mostly luck of seed {}: from another its scenario may show nothing", shrunk.seed)
            .expect(WRITES);
    }
    if !shown.run.is_empty() {
        writeln!(text, "  run it: {}", clean(&shown.run)).expect(WRITES);
    }
    if !shown.replay.is_empty() {
        writeln!(text, "  replay: {}", clean(&shown.replay)).expect(WRITES);
    }
    text
}

/// `1 fault, 2 clients, 6 steps, 1 node`.
fn size(size: Size) -> String {
    let Size { faults, clients, steps, nodes } = size;
    let parts = [(faults, "fault"), (clients, "client"), (steps, "step"), (nodes, "node")];
    parts.map(|(count, what)| several(count as u64, what)).join(", ")
}

/// What it takes: each fault in words, or that it takes none.
pub(crate) fn causes(faults: &[Fault]) -> Vec<String> {
    match faults {
        [] => vec!["no fault at all: delays and interleavings are enough".to_owned()],
        faults => faults.iter().map(|fault| clean(&fault.to_string())).collect(),
    }
}

/// The name of a target in files and test names.
#[cfg(any(feature = "cli", feature = "proptest"))]
pub(crate) fn name_of(target: Target) -> String {
    match target {
        Target::Violates(predicate) => predicate.as_str().to_owned(),
        Target::Panics => "panic".to_owned(),
    }
}
