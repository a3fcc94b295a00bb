//! A comparison as text, for terminals and for pages of CI systems.

use std::fmt::Write as _;

use doublehold_beside::{BesideComparison, BesideOutcome, ComparedRule, FUTURES, NeedsGroup, RuleFound};
use doublehold_render::layout::{to_ascii, wrap};
use doublehold_render::style::Style;
use doublehold_render::text;
use doublehold_scenarios::report::white_box::Rule;
use doublehold_statistics::{Interval, Scale, bound_words};
use doublehold_text::{clean, group_digits, list, several};

use super::{BesideFindings, ShownExample};
use crate::findings::causes;
use crate::findings::table::{Markdown, Plain, Table};

const WRITES: &str = "a string takes everything";

impl BesideFindings {
    /// Everything: the picture first, then the table, and what it came to last.
    pub fn text(&self, style: &Style) -> String {
        let width = style.width;
        let mut text = String::new();
        if let Some(first) = self.examples.first() {
            text += &first.picture(&self.theirs, style);
            text.push('\n');
        }
        text += &wrap(&self.title(), "", "  ", width);
        text += &wrap(&self.pairs(), "  ", "  ", width);
        text.push('\n');
        text += &self.table(&Plain { width });
        text.push('\n');
        self.remarks().iter().for_each(|remark| text += &wrap(remark, "  ", "    ", width));
        for example in &self.examples {
            text.push('\n');
            text += &self.example_words(example, width);
        }
        text.push('\n');
        text += &wrap(&self.answer(), "", "  ", width);
        if style.unicode { text } else { to_ascii(&text) }
    }

    /// The same as Markdown, for the summary page of a CI job.
    pub fn markdown(&self) -> String {
        let mut text = format!("### {}\n\n{}\n\n{}", self.title(), self.pairs(), self.table(&Markdown));
        self.remarks().iter().for_each(|remark| write!(text, "\n- {remark}").expect(WRITES));
        text.push('\n');
        if let Some(first) = self.examples.first() {
            write!(text, "\n```\n{}```\n", first.picture(&self.theirs, &Style::UNICODE)).expect(WRITES);
        }
        for example in &self.examples {
            let words = self.example_words(example, Style::DEFAULT_WIDTH);
            write!(text, "\n```\n{words}```\n").expect(WRITES);
        }
        write!(text, "\n{}\n", self.answer()).expect(WRITES);
        text
    }

    fn title(&self) -> String {
        format!("{}, beside {}", clean(&self.mine), clean(&self.theirs))
    }

    fn pairs(&self) -> String {
        let pairs = several(self.comparison.pairs, "pair");
        format!("{pairs} of runs in {}: the same seeds, worlds and faults for both", clean(&self.worlds))
    }

    fn table(&self, table: &impl Table) -> String {
        let heading = ["rule", "found", "only mine", "only theirs", "both", "neither", "more often (95 %)"];
        let row = |row: &ComparedRule| {
            let counts = row.kept.decided;
            let numbers =
                [counts.only_first, counts.only_second, counts.both, counts.neither].map(group_digits);
            let mut cells = vec![format!("{} {}", row.predicate, row.predicate.name()), found_words(row)];
            cells.extend(numbers);
            cells.push(row.interval().map_or("-".to_owned(), difference));
            cells
        };
        let rows: Vec<Vec<String>> = self.comparison.rows.iter().map(row).collect();
        table.lay_out(&heading, &rows)
    }

    /// Where each rule is asked, what the reference breaks as well, and what neither lock met.
    fn remarks(&self) -> Vec<String> {
        let mut remarks = self.notes.clone();
        remarks.push(
            "\"worse\" and \"better\" are said by chance in one of 1,000 comparisons at most, and with \"(below)\" of \
             the other conditions; \"no worse\" means that mine breaks the rule in at most 1 % of runs more"
                .to_owned(),
        );
        remarks.push(
            "each rule is asked in the conditions (a world and its weather) in which the reference kept it:"
                .to_owned(),
        );
        for (predicate, kept, all, kinds) in &self.kept {
            let without = match &kinds.taken_away[..] {
                [] => String::new(),
                kinds => format!("; never under {}", list(kinds)),
            };
            remarks.push(format!("{predicate}: in {kept} of {all}{without}"));
        }
        remarks.extend(self.shared());
        if matches!(
            self.outcome(),
            BesideOutcome::NeverReached | BesideOutcome::NotToldApart | BesideOutcome::NoWorse
        ) && self.comparison.pairs > 0
            && !self.inside.unmet().is_empty()
        {
            remarks.push(format!("neither lock met {}", self.inside.unmet().join(", or ")));
        }
        remarks.extend(self.comparison.broken.iter().map(|rule| self.rule_words(*rule)));
        remarks
    }

    /// `margin is broken by mine alone in 38 of 160 pairs: c1 believed …`.
    fn rule_words(&self, rule: Rule) -> String {
        let pairs = self.inside.rules.get(&rule).copied().unwrap_or_default();
        let example = self.inside.breaches.get(&rule).map_or(String::new(), |words| format!("; {words}"));
        format!(
            "{rule} ({}) is broken by mine alone in {} of {}{example}",
            rule.meaning(),
            group_digits(pairs.only_first),
            several(pairs.pairs(), "pair")
        )
    }

    /// What both do where the reference breaks a rule, in one line.
    fn shared(&self) -> Option<String> {
        let both = |row: &ComparedRule| {
            let counts = row.rest.decided;
            let (both, mine, theirs) = (counts.both, counts.only_first, counts.only_second);
            (both + mine + theirs > 0).then(|| {
                let numbers = [both, mine, theirs].map(group_digits);
                format!(
                    "{} ({} both, {} only mine, {} only theirs)",
                    row.predicate, numbers[0], numbers[1], numbers[2]
                )
            })
        };
        let shared: Vec<String> = self.comparison.rows.iter().filter_map(both).collect();
        (!shared.is_empty()).then(|| {
            format!("in all other conditions, where the reference breaks them as well: {}", list(&shared))
        })
    }

    fn example_words(&self, shown: &ShownExample, width: usize) -> String {
        let line = |text: &str, first: &str| wrap(text, first, "    ", width);
        let example = &shown.example;
        let predicate = example.wanted.predicate;
        let mut text =
            wrap(&format!("{predicate} is violated by mine, and kept by the reference"), "", "    ", width);
        for cause in causes(&example.shrunk.scenario.faults) {
            text += &line(&cause, "  - ");
        }
        let futures = format!(
            "{} {} of {FUTURES} other futures: other seeds, half of them with other delays",
            if example.convinces() { "the same in" } else { "a weak example, which takes luck: the same in" },
            example.separates
        );
        text += &line(&futures, "  ");
        text += &line(&groups(&example.groups), "  ");
        for file in &shown.hints.files {
            writeln!(text, "  file: {}", clean(file)).expect(WRITES);
        }
        if !shown.hints.replay.is_empty() {
            writeln!(text, "  replay: {}", clean(&shown.hints.replay)).expect(WRITES);
        }
        text
    }

    /// What it came to, in a sentence.
    pub fn answer(&self) -> String {
        let better =
            || format!("the reference breaks {} more often than mine", self.named(RuleFound::Better));
        match self.outcome() {
            BesideOutcome::Worse => format!("WORSE: {}", self.worse_words()),
            BesideOutcome::Mixed => format!("MIXED: {}; {}", self.worse_words(), better()),
            BesideOutcome::Better => format!("better: {}", better()),
            BesideOutcome::NoWorse => format!("no worse: {}", self.bound()),
            BesideOutcome::NotToldApart => {
                "NOT TOLD APART: too few pairs to say more; give it more time".to_owned()
            }
            BesideOutcome::NeverReached => format!(
                "NEVER REACHED: both runs of all {} were the same; if the locks differ, no world here exercises it",
                several(self.comparison.pairs, "pair")
            ),
        }
    }

    /// `mine breaks P2 where the reference does not`: predicates, or else panics, or else white-box rules.
    fn worse_words(&self) -> String {
        let BesideComparison { pairs, only_mine_panicked, broken, .. } = &self.comparison;
        let rules: Vec<&str> = broken.iter().map(|rule| rule.as_str()).collect();
        let names = match self.named(RuleFound::Worse) {
            names if names.is_empty() && *only_mine_panicked > 0 => {
                let panicked = group_digits(*only_mine_panicked);
                return format!("only mine panics, in {panicked} of {}", several(*pairs, "pair"));
            }
            names if names.is_empty() => list(&rules),
            names => names,
        };
        format!("mine breaks {names} where the reference does not")
    }

    /// The predicates that came to this.
    fn named(&self, found: RuleFound) -> String {
        let rows = self.comparison.rows.iter().filter(|row| row.found == found);
        let names: Vec<&str> = rows.map(|row| row.predicate.as_str()).collect();
        if names.is_empty() { String::new() } else { list(&names) }
    }

    /// `mine breaks no rule in more than 0.05 % of runs more`.
    fn bound(&self) -> String {
        let bounds = self.comparison.rows.iter().filter_map(|row| match row.found {
            RuleFound::NoWorse(at_most) => Some(at_most),
            _ => None,
        });
        let largest = bounds.fold(0.0, f64::max);
        format!("a difference of {} of runs is left for any rule", bound_words(largest, Scale::Share))
    }
}

impl ShownExample {
    /// The run with the first lock, and the same plan with the reference.
    pub fn picture(&self, theirs: &str, style: &Style) -> String {
        self.picture_with(&self.hints.replay, theirs, style)
    }

    /// The same with another line to see it again.
    pub fn picture_with(&self, replay: &str, theirs: &str, style: &Style) -> String {
        let predicate = self.example.wanted.predicate;
        let mut text = text::render_run(&self.mine, replay, style);
        text.push('\n');
        text +=
            &wrap(&format!("the same plan with {}: {predicate} holds", clean(theirs)), "", "  ", style.width);
        text += &text::render_lanes(&self.theirs, style);
        text
    }
}

/// `worse`, or `worse (below)` where the numbers of its row do not say so.
fn found_words(row: &ComparedRule) -> String {
    let is_told = matches!(row.found, RuleFound::Worse | RuleFound::Better);
    let word = row.found.as_str();
    if is_told && row.kept.decided.p_value() > 0.05 { format!("{word} (below)") } else { word.to_owned() }
}

/// `of 20 pairs that only mine breaks, 12 need pause; 3 need cut and loss; 5 need other things`.
fn groups(groups: &[NeedsGroup]) -> String {
    let all: usize = groups.iter().map(|group| group.pairs).sum();
    let of = |group: &NeedsGroup| {
        let needs = if group.pairs == 1 { "needs" } else { "need" };
        match &group.needs[..] {
            [] if group.pairs == 1 => "1 is still there without any one kind of fault".to_owned(),
            [] => format!("{} are still there without any one kind of fault", group.pairs),
            kinds => format!("{} {needs} {}", group.pairs, list(kinds)),
        }
    };
    let (shown, rest) = groups.split_at(groups.len().min(4));
    let mut parts: Vec<String> = shown.iter().map(of).collect();
    let others: usize = rest.iter().map(|group| group.pairs).sum();
    if others > 0 {
        parts.push(format!("{others} {} something else", if others == 1 { "needs" } else { "need" }));
    }
    format!("of the first {} that only mine breaks, {}", several(all as u64, "pair"), parts.join("; "))
}

/// `0.2 to 0.6 %`, or `at most 0.04 %`.
fn difference(interval: Interval) -> String {
    if interval.low > 0.0 {
        doublehold_statistics::range_words(interval, interval, Scale::Share)
            .split(" (")
            .next()
            .unwrap_or_default()
            .to_owned()
    } else {
        bound_words(interval.high.max(0.0), Scale::Share)
    }
}
