//! What a search came to, for people and for CI: counts, coverage, counterexamples. Pure: text out of data, and no word
//! of how long it took, so that the same search prints the same on any machine.

mod bound;
mod example;
mod json;
mod part;
mod rates;
mod rules;
pub(crate) mod table;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

use doublehold_diagnosis::counterexample::Counterexample;
use doublehold_history::Predicate;
use doublehold_scenarios::Seed;
use doublehold_scenarios::report::StruckAt;
use doublehold_scenarios::report::white_box::Rule;
use doublehold_search::coverage::Coverage;
use doublehold_search::many::{Count, Tally};
use doublehold_search::shrink::Target;
use doublehold_statistics::PartlyDecided;
use doublehold_text::{clean, list};
use doublehold_text::{group_digits, several};

use self::bound::UNBOUNDED;
pub use self::bound::{StatedBy, WaitBound};
pub use self::example::causes;
pub use self::example::name_of;
pub use self::example::words_of;
pub use self::part::SearchPart;
pub(crate) use self::rates::partly_decided;
use self::rates::{NO_RATE, rate};
pub use self::rules::RuleFindings;
use self::table::{Markdown, Plain, Table};
use crate::nondeterminism::Nondeterminism;
use doublehold_render::layout::wrap;
use doublehold_render::style::Style;

/// A search that is over.
#[derive(Debug)]
pub struct Findings {
    /// What was searched, in words: `redlock under cloud: 5 nodes, 3 clients, 2 rounds each`.
    pub title: String,
    /// The first seed.
    pub first: Seed,
    /// The part of a larger search that this is, if it is one.
    pub part: Option<SearchPart>,
    /// What all runs came to.
    pub tally: Tally,
    /// The predicates that were asked about.
    pub asked: Vec<Predicate>,
    /// Those that nobody asked for by name, and of which no run showed anything.
    pub skipped: Vec<Predicate>,
    /// The bound by which LV judges waits, if one is stated.
    pub bound: Option<WaitBound>,
    /// The kinds of faults that the weather has for this world.
    pub kinds: Vec<&'static str>,
    /// The kinds that strike nobody in it.
    pub idle: Vec<&'static str>,
    /// What was found, the gravest first.
    pub found: Vec<(Counterexample, ReplayHints)>,
    /// The sign that something from outside the simulation reached into runs, if one was seen.
    pub nondeterminism: Option<Nondeterminism>,
    /// The results of white-box rules.
    pub rules: RuleFindings,
    /// The command of the search without its seeds: with `--seed N --runs 1` it makes one of its runs again.
    pub command: String,
}

/// Where a counterexample can be seen again.
#[derive(Debug, Default)]
pub struct ReplayHints {
    /// The files written, by their paths.
    pub files: Vec<String>,
    /// The command that runs its scenario from its seed; empty where no file has it.
    pub run: String,
    /// The command that shows it again.
    pub replay: String,
}

/// A reason why finding nothing would not mean that nothing is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// In words.
    pub why: String,
    /// The command that makes a run again which shows it, where one does.
    pub again: Option<String>,
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)?;
        self.again.iter().try_for_each(|again| write!(f, "; that run again: {again}"))
    }
}

impl Gap {
    fn new(why: impl Into<String>) -> Gap {
        Gap { why: why.into(), again: None }
    }
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
        let violated = |predicate: &Predicate| self.tally.count(*predicate).violated > 0;
        let broken = self.rules.broken().next().is_some();
        if broken || self.tally.panicked.is_some() || self.asked.iter().any(violated) {
            Conclusion::Violated
        } else if self.gaps().is_empty() {
            Conclusion::Nothing
        } else {
            Conclusion::Inconclusive
        }
    }

    /// The reasons why finding nothing would not mean that nothing is there.
    pub fn gaps(&self) -> Vec<Gap> {
        let mut gaps = self.common_gaps();
        gaps.extend(self.asked.iter().filter_map(|predicate| self.undecided_gap(*predicate)));
        let never = self.rules.never_judged();
        gaps.extend(never.map(|(rule, why)| Gap::new(format!("{rule} was never judged: {why}"))));
        gaps
    }

    /// The same of one thing that was looked for.
    pub fn gaps_of(&self, target: Target) -> Vec<Gap> {
        let mut gaps = self.common_gaps();
        if let Target::Violates(predicate) = target {
            gaps.extend(self.undecided_gap(predicate));
        }
        gaps
    }

    /// Gaps that are the same for every predicate.
    fn common_gaps(&self) -> Vec<Gap> {
        let mut gaps = Vec::new();
        if self.tally.runs == 0 {
            return vec![Gap::new("not a single run was made")];
        }
        gaps.extend(self.nondeterminism.as_ref().map(|outside| Gap::new(outside.to_string())));
        if self.tally.grants == 0 {
            let why = self
                .tally
                .refused
                .as_ref()
                .map(|(seed, why)| format!("; the last refusal, from seed {seed}: {}", clean(why)));
            gaps.push(Gap::new(format!("no call was ever granted the lock{}", why.unwrap_or_default())));
        }
        let silent = |kind: &&&'static str| self.tally.coverage.kind(kind).struck == 0;
        let silent: Vec<&str> = self.kinds.iter().filter(silent).copied().collect();
        if !silent.is_empty() {
            let silent = list(&silent);
            gaps.push(Gap::new(format!("of the weather's faults, {silent} never struck: make more runs")));
        }
        gaps
    }

    /// That too many runs did not decide a predicate, and why the first did not; or that none showed anything of it.
    fn undecided_gap(&self, predicate: Predicate) -> Option<Gap> {
        if let Some(why) = self.tally.never_seen(predicate) {
            return Some(Gap::new(format!("{predicate} was never seen: {why}")));
        }
        let count = self.tally.count(predicate);
        let (runs, seed_and_why) = (partly_decided(&count), count.unsaid?);
        if runs.is_nearly_all() {
            return None;
        }
        let most = PartlyDecided::RUNS_PER_UNDECIDED;
        let so_often = match count.holds + count.violated {
            0 => format!("{predicate} was never decided"),
            _ => format!(
                "{predicate} was not decided in {} of {}, and a pass leaves at most 1 in {most} undecided",
                group_digits(count.inconclusive),
                several(self.tally.runs, "run"),
            ),
        };
        let (seed, why) = seed_and_why;
        let why = format!("{so_often}; from seed {seed}: {}", with_way_out(&clean(&why)));
        Some(Gap { why, again: Some(self.one_run(seed)) })
    }

    /// The command that makes the run from one seed again.
    pub fn one_run(&self, seed: Seed) -> String {
        format!("{} --seed {seed} --runs 1", clean(&self.command))
    }

    /// The first seed that showed something, if one did.
    pub fn first_of(&self, target: Target) -> Option<Seed> {
        match target {
            Target::Panics => self.tally.panicked.map(|(seed, _)| seed),
            Target::Violates(predicate) => self.tally.count(predicate).first,
        }
    }

    /// Everything, as text of lines of this width, but for commands, which are to be pasted.
    pub fn text(&self, width: usize) -> String {
        let (plain, line) = (Plain { width }, |text: &str| wrap(text, "  ", "  ", width));
        let mut text = wrap(&self.title, "", "  ", width);
        text += &format!("{}\n\n{}", self.runs(), self.verdicts(&plain));
        self.remarks().iter().for_each(|remark| text += &format!("\n{}", line(remark)));
        self.unsaid().iter().for_each(|unsaid| text += &format!("\n{}", line(unsaid)));
        self.rules.lines(self.tally.runs).iter().for_each(|rule| text += &format!("\n{}", line(rule)));
        for (example, shown) in &self.found {
            text.push('\n');
            text += &words_of(example, shown, width);
        }
        match self.coverage(&plain) {
            Some(coverage) => {
                write!(text, "\nwhere faults struck (how often; -: never)\n\n{coverage}").expect(WRITES);
            }
            None => text += "\nno fault struck: there is none in the scenario and none in the weather\n",
        }
        if !self.idle.is_empty() {
            let idle = format!("of the weather strike nobody here: {}", list(&self.idle));
            text += &format!("\n{}", wrap(&idle, "", "  ", width));
        }
        text + "\n" + &self.conclusion(width)
    }

    /// The same as Markdown, for the summary page of a CI job.
    pub fn markdown(&self) -> String {
        let mut text = format!("### {}\n\n{}\n\n", self.title, self.runs());
        text += &self.verdicts(&Markdown);
        let lines = self.remarks().into_iter().chain(self.rules.lines(self.tally.runs));
        lines.for_each(|line| text += &format!("\n{line}\n"));
        for (example, shown) in &self.found {
            write!(text, "\n```\n{}```\n", words_of(example, shown, Style::DEFAULT_WIDTH)).expect(WRITES);
        }
        if let Some(coverage) = self.coverage(&Markdown) {
            write!(text, "\nWhere faults struck, and how often (-: never):\n\n{coverage}").expect(WRITES);
        }
        // A paragraph each: lines alone would run together.
        let lines = [self.answer()].into_iter().chain(self.gap_lines()).chain(self.not_asked());
        lines.for_each(|line| text += &format!("\n{line}\n"));
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

    /// Remarks on the table of verdicts: the bound on waits, and the meaning of a missing rate.
    fn remarks(&self) -> Vec<String> {
        let bound = self.bound.as_ref().map_or(UNBOUNDED.to_owned(), WaitBound::words);
        let skipped = self.skipped.iter().filter_map(|it| self.skipped_words(*it));
        [bound].into_iter().chain(self.rates_remark().map(str::to_owned)).chain(skipped).collect()
    }

    /// `P3 is skipped: nothing was read or written under the lock`.
    pub fn skipped_words(&self, predicate: Predicate) -> Option<String> {
        self.tally.never_seen(predicate).map(|why| format!("{predicate} is skipped: {why}"))
    }

    /// The reasons why runs said nothing about what was asked, each once, with the first seed.
    fn unsaid(&self) -> Vec<String> {
        let unsaid = self.asked.iter().filter_map(|predicate| self.tally.count(*predicate).unsaid);
        let reasons: BTreeSet<(Seed, String)> = unsaid.collect();
        let line = |(seed, why): (Seed, String)| {
            format!("inconclusive, first from seed {seed}: {}", with_way_out(&clean(&why)))
        };
        reasons.into_iter().map(line).collect()
    }

    /// The last lines: what it came to, in a sentence, and what else is violated.
    pub fn conclusion(&self, width: usize) -> String {
        let mut text = wrap(&self.answer(), "", "  ", width);
        for gap in self.gaps_of_outcome() {
            text += &wrap(&gap.why, "  ", "    ", width);
            gap.again.iter().for_each(|again| text += &format!("    that run again: {again}\n"));
        }
        text + &self.not_asked().map_or(String::new(), |line| wrap(&line, "", "  ", width))
    }

    /// The reasons to doubt the outcome.
    fn gaps_of_outcome(&self) -> Vec<Gap> {
        match self.outcome() {
            Conclusion::Inconclusive => self.gaps(),
            // The violation may come from outside.
            Conclusion::Violated => {
                self.nondeterminism.iter().map(|outside| Gap::new(outside.to_string())).collect()
            }
            Conclusion::Nothing => Vec::new(),
        }
    }

    fn gap_lines(&self) -> Vec<String> {
        self.gaps_of_outcome().iter().map(|gap| format!("- {gap}")).collect()
    }

    /// The predicates that are violated and were not asked about, with their counts: a pass says nothing about them.
    pub fn not_asked(&self) -> Option<String> {
        let others = |predicate: &Predicate| {
            !self.asked.contains(predicate) && self.tally.count(*predicate).violated > 0
        };
        let others: Vec<String> =
            Predicate::ALL.into_iter().filter(others).map(|it| self.so_often(it)).collect();
        let others: Vec<&str> = others.iter().map(String::as_str).collect();
        let runs = several(self.tally.runs, "run");
        (!others.is_empty()).then(|| format!("not asked about, and violated in {runs}: {}", list(&others)))
    }

    /// `P4 (340 times, first from seed 7)`.
    fn so_often(&self, predicate: Predicate) -> String {
        let Count { violated, first, .. } = self.tally.count(predicate);
        let times =
            if violated == 1 { "once".to_owned() } else { format!("{} times", group_digits(violated)) };
        let first = first.map_or(String::new(), |seed| format!(", first from seed {seed}"));
        format!("{predicate} ({times}{first})")
    }

    /// What it came to, of what was asked.
    fn answer(&self) -> String {
        let is_violated = |predicate: &&Predicate| self.tally.count(**predicate).violated > 0;
        let violated = self.asked.iter().filter(is_violated).map(|it| it.as_str());
        let violated: Vec<&str> = violated.chain(self.rules.broken().map(Rule::as_str)).collect();
        match self.outcome() {
            Conclusion::Violated if violated.is_empty() => "PANICKED: the lock's own code".to_owned(),
            Conclusion::Violated => format!("VIOLATED: {}", list(&violated)),
            Conclusion::Nothing => self.nothing(),
            Conclusion::Inconclusive => {
                "INCONCLUSIVE: nothing was found, and not everything was tried".to_owned()
            }
        }
    }

    /// That nothing was found, and whether every run said so.
    fn nothing(&self) -> String {
        let names: Vec<&str> = self.asked.iter().map(|predicate| predicate.as_str()).collect();
        let (names, runs) = (list(&names), several(self.tally.runs, "run"));
        let undecided = |predicate: &Predicate| self.tally.count(*predicate).inconclusive;
        let unsaid = self.asked.iter().map(undecided).max().unwrap_or(0);
        let (holds, is) = if self.asked.len() == 1 { ("holds", "is") } else { ("hold", "are") };
        if unsaid == 0 {
            let all = if self.tally.runs == 1 { "the" } else { "all" };
            let runs = runs.trim_start_matches("1 ");
            return format!("nothing found: {names} {holds} in {all} {runs}");
        }
        let unsaid = group_digits(unsaid);
        format!("nothing found: {names} {is} never violated in {runs}, and not decided in {unsaid} of them")
    }

    fn verdicts(&self, table: &impl Table) -> String {
        let heading = ["rule", "holds", "violated", "inconclusive", "first seed", "rate (95 %)"];
        let row = |predicate: Predicate| {
            let count = self.tally.count(predicate);
            let is_stated = predicate != Predicate::LV || self.bound.is_some();
            let is_seen = self.tally.never_seen(predicate).is_none();
            let asked = match self.asked.contains(&predicate) {
                _ if !is_seen => ", not seen",
                true => "",
                false if is_stated => ", not asked",
                false => ", no bound",
            };
            [
                format!("{predicate} {}{asked}", predicate.name()),
                if is_seen { group_digits(count.holds) } else { NO_RATE.to_owned() },
                group_digits(count.violated),
                group_digits(count.inconclusive),
                count.first.map_or("-".to_owned(), |seed| seed.to_string()),
                if is_seen { rate(&count) } else { NO_RATE.to_owned() },
            ]
        };
        table.lay_out(&heading, &Predicate::ALL.map(row).map(Vec::from))
    }

    /// What a missing rate means, if one is missing.
    fn rates_remark(&self) -> Option<&'static str> {
        let is_missing = |predicate: &Predicate| rate(&self.tally.count(*predicate)) == NO_RATE;
        let words = "rate -: violated in fewer than ten runs, which says little beyond that it happens, or never decided";
        Predicate::ALL.iter().any(is_missing).then_some(words)
    }

    /// The kinds of the weather, and then those of the scenario's own faults.
    fn all_kinds(&self) -> Vec<&'static str> {
        let others = self.tally.coverage.kinds().map(|(kind, _)| kind);
        self.kinds.iter().copied().chain(others.filter(|kind| !self.kinds.contains(kind))).collect()
    }

    fn coverage(&self, table: &impl Table) -> Option<String> {
        let kinds = self.all_kinds();
        if kinds.is_empty() {
            return None;
        }
        let places: Vec<StruckAt> = places(&self.tally.coverage).into_iter().collect();
        let mut heading = vec!["kind", "drawn", "struck"];
        heading.extend(places.iter().map(|place| place.as_str()));
        let row = |kind: &&'static str| {
            let of_kind = self.tally.coverage.kind(kind);
            let mut row = vec![(*kind).to_owned(), group_digits(of_kind.drawn), group_digits(of_kind.struck)];
            let at = |place| of_kind.at.get(place).map_or("-".to_owned(), |count| group_digits(*count));
            row.extend(places.iter().map(at));
            row
        };
        Some(table.lay_out(&heading, &kinds.iter().map(row).collect::<Vec<_>>()))
    }
}

const WRITES: &str = "a string takes everything";

/// Where any fault struck.
fn places(coverage: &Coverage) -> BTreeSet<StruckAt> {
    coverage.kinds().flat_map(|(_, of_kind)| of_kind.at.keys().copied()).collect()
}

/// Why a run decided nothing, and where it met a limit, which one to raise.
pub fn with_way_out(why: &str) -> String {
    let key = BUDGETS.iter().find(|(words, _)| why.ends_with(words));
    key.map_or(why.to_owned(), |(_, key)| format!("{why} (raise `{key}`, or let less happen)"))
}

/// How reasons end that name a limit, and its key.
const BUDGETS: [(&str, &str); 3] = [
    ("budget of true time", "limits.time"),
    ("budget of events", "limits.events"),
    ("budget of memory", "limits.memory"),
];
