//! A row: one word of the format, the scenario in which it matters, and what it changes there.

use std::fmt::Write as _;
use std::panic::catch_unwind;

use doublehold_history::Predicate;
use doublehold_scenarios::format::Source;
use doublehold_scenarios::scenario::Scenario;
use doublehold_scenarios::{Engine, PrepareError, Prepared};

use crate::keyword_effects::seen::Seen;
use crate::subject::{REFUSED, engine};

/// A change to a scenario, as `--set` takes it.
pub(crate) type Sets = &'static [(&'static str, &'static str)];
/// A predicate, what it comes to without the word, and with it.
pub(crate) type Turn = (Predicate, &'static str, &'static str);

/// Two, so that a row that rests on luck has a chance to fail; the catalogue has its many.
const SEEDS: [u64; 2] = [1, 2];

/// See the module.
pub(crate) struct Row {
    /// As `format::vocabulary` prints it.
    pub(crate) word: &'static str,
    /// What `shows` checks, in words.
    pub(crate) claim: &'static str,
    /// The scenario's text.
    pub(crate) base: &'static str,
    /// What is changed in both runs.
    pub(crate) both: Sets,
    /// What is changed in the run that has the word, after `both`.
    pub(crate) with: Sets,
    /// The verdicts that the word turns.
    pub(crate) turns: &'static [Turn],
    /// Whether the two runs, without and with the word, show the claim.
    pub(crate) shows: fn(&Seen, &Seen) -> bool,
}

impl Row {
    /// A row on a base, to be filled in: as it is, it fails.
    pub(crate) fn on(base: &'static str) -> Row {
        Row { word: "", claim: "", base, both: &[], with: &[], turns: &[], shows: |_, _| false }
    }

    fn failures(&self) -> Vec<String> {
        SEEDS.into_iter().filter_map(|seed| self.failure(seed)).collect()
    }

    /// True if the engine says that it cannot express this.
    fn is_refused(&self) -> bool {
        let scenario =
            read(self.base, &[self.both, self.with].concat()).unwrap_or_else(|error| panic!("{error}"));
        matches!(engine().prepare(&scenario), Err(PrepareError::CannotExpress { .. }))
    }

    fn failure(&self, seed: u64) -> Option<String> {
        // A row that looks for something that is not there panics; the other rows are still worth hearing of.
        let wrong =
            catch_unwind(|| self.wrong(seed)).unwrap_or_else(|_| " it panicked, see above;".to_owned());
        (!wrong.is_empty()).then(|| format!("`{}`: {} (seed {seed}):{wrong}", self.word, self.claim))
    }

    fn wrong(&self, seed: u64) -> String {
        let without = run(self.base, self.both, seed);
        let with = run(self.base, &[self.both, self.with].concat(), seed);
        let mut wrong = String::new();
        if without.report.trace_hash == with.report.trace_hash {
            wrong += " the two runs are the same;";
        }
        if !(self.shows)(&without, &with) {
            wrong += " the claim is not true;";
        }
        for &(predicate, expected_without, expected_with) in self.turns {
            let came_to = (without.verdict(predicate), with.verdict(predicate));
            if came_to != (expected_without, expected_with) {
                let expected = (expected_without, expected_with);
                let _ = write!(wrong, " {predicate} came to {came_to:?}, not {expected:?};");
            }
        }
        wrong
    }
}

/// Runs every row and reports all that failed, and those that should have.
pub(crate) fn check(rows: &[Row]) {
    let failures = |row: &Row| match (REFUSED.iter().any(|word| row.word.starts_with(word)), row.is_refused())
    {
        (false, false) => row.failures(),
        (true, true) => Vec::new(),
        (_, is) => vec![format!("`{}` is {}refused", row.word, if is { "" } else { "not " })],
    };
    let failures: Vec<String> = rows.iter().flat_map(failures).collect();
    assert!(failures.is_empty(), "{} of {} rows:\n{}", failures.len(), rows.len(), failures.join("\n"));
}

/// Reads a scenario with changes.
pub(crate) fn read(text: &str, sets: &[(&str, &str)]) -> Result<Scenario, String> {
    let sets = sets.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let source =
        Source { name: "wiring".into(), file: "wiring".into(), text: text.into(), sets, ..Source::default() };
    source.read().map_err(|error| error.to_string())
}

/// Runs a scenario with changes, and keeps everything of it.
pub(crate) fn run(text: &str, sets: &[(&str, &str)], seed: u64) -> Seen {
    let scenario = read(text, sets).unwrap_or_else(|error| panic!("{sets:?}: {error}"));
    // A plan that lost anything would be another run.
    let written = scenario.validate().unwrap_or_else(|error| panic!("{sets:?}, written: {error}"));
    assert!(written == scenario, "{sets:?} reads as another scenario once it is written");
    Seen::new(engine().prepare(&scenario).expect("it was read from a file").run_traced(seed))
}

/// One client, one node, nothing left to chance.
pub(crate) const ONE: &str = r#"
    claim = "one client takes a lock on one node and gives it back"
    lock = { algorithm = "single", ttl = "10s", elapsed_check = true }
    nodes = { names = ["A"] }
    network = { delay = "1ms" }
    clients = [{ name = "c1", program = ["acquire", "read", "work 1s", "check", "write", "release"] }]
"#;

/// Two clients on one node; the second asks once the first holds.
pub(crate) const TWO: &str = r#"
    claim = "two clients take turns on one node"
    lock = { algorithm = "single", ttl = "10s", elapsed_check = true }
    nodes = { names = ["A"] }
    network = { delay = "1ms" }
    [[clients]]
    name = "c1"
    program = ["acquire", "read", "work 1s", "check", "write", "release"]
    [[clients]]
    name = "c2"
    program = ["acquire", "read", "work 1s", "check", "write", "release"]
    retry = "100ms"
    start = "c1's grant"
"#;

/// Two clients on three nodes; the second asks once the first holds.
pub(crate) const REDLOCK: &str = r#"
    claim = "two clients take turns on three nodes"
    lock = { algorithm = "redlock", ttl = "10s", tries = 1 }
    nodes = { names = ["A", "B", "C"] }
    network = { delay = "1ms" }
    [[clients]]
    name = "c1"
    program = ["acquire", "read", "work 1s", "check", "write", "release"]
    [[clients]]
    name = "c2"
    program = ["acquire", "read", "work 1s", "check", "write", "release"]
    retry = "100ms"
    start = "c1's grant"
"#;

/// Two clients on a master with two replicas; the second asks once the first holds.
pub(crate) const REPLICATED: &str = r#"
    claim = "two clients take turns on a master that two replicas follow"
    lock = { algorithm = "replicated", ttl = "10s", elapsed_check = true }
    nodes = { names = ["M", "R1", "R2"], master = "M" }
    network = { delay = "1ms" }
    [[clients]]
    name = "c1"
    program = ["acquire", "read", "work 1s", "check", "write", "release"]
    start = "2s"
    [[clients]]
    name = "c2"
    program = ["acquire", "read", "work 1s", "check", "write", "release"]
    retry = "100ms"
    start = "c1's grant"
"#;
