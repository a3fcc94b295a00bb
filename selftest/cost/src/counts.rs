//! The costs that are known (`counts.toml`), how they are compared with new ones, and their table in a document.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

use doublehold_text::group_digits;
use serde::{Deserialize, Serialize};

use crate::CostError;

/// The compiler that built this program.
const COMPILER: &str = env!("COMPILER");
/// Difference that is accepted, in percent: twenty times the noise, and less than most regressions that were worth
/// taking back.
const BOUND_PERCENT: u64 = 2;
/// Between these lines stands the table of a document.
const MARKS: [&str; 2] = ["<!-- counts: selftest/cost/run --write -->", "<!-- end of counts -->"];

/// The cost of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cost {
    pub(crate) messages: u64,
    pub(crate) instructions: u64,
    pub(crate) allocations: u64,
}

/// The costs of all workloads, by name, and the compiler of the program that was counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counts {
    compiler: String,
    workloads: BTreeMap<String, Cost>,
}

impl Counts {
    /// Costs of this program.
    pub(crate) fn new(workloads: BTreeMap<String, Cost>) -> Counts {
        Counts { compiler: COMPILER.to_owned(), workloads }
    }

    /// Reads the costs that are known.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or another compiler built what was counted.
    pub(crate) fn read(path: &Path) -> Result<Counts, CostError> {
        let text = fs::read_to_string(path).map_err(|error| file_error(path, &error))?;
        let counts: Counts = toml::from_str(&text).map_err(|error| file_error(path, &error))?;
        if counts.compiler == COMPILER {
            Ok(counts)
        } else {
            Err(CostError::OtherCompiler(counts.compiler, COMPILER))
        }
    }

    /// Writes the costs.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub(crate) fn write(&self, path: &Path) -> Result<(), CostError> {
        let text = toml::to_string(self).map_err(|error| file_error(path, &error))?;
        let head = "# The cost of one run, counted by `selftest/cost/run --write`. Compared in CI.\n\n";
        fs::write(path, format!("{head}{text}")).map_err(|error| file_error(path, &error))
    }

    /// Puts the table into its place in a document.
    ///
    /// # Errors
    ///
    /// If the document cannot be read or written, or has no place for the table.
    pub(crate) fn write_table(&self, path: &Path) -> Result<(), CostError> {
        let text = fs::read_to_string(path).map_err(|error| file_error(path, &error))?;
        let replaced = replace_table(&text, &self.table());
        let replaced = replaced.ok_or_else(|| file_error(path, &"it has no place for the table"))?;
        fs::write(path, replaced).map_err(|error| file_error(path, &error))
    }

    /// The costs as a table in Markdown.
    pub(crate) fn table(&self) -> String {
        let mut table = String::from(
            "| workload | messages a run | instructions a run | allocations a run |\n|---|--:|--:|--:|\n",
        );
        for (name, cost) in &self.workloads {
            let [messages, instructions, allocations] =
                [cost.messages, cost.instructions, cost.allocations].map(group_digits);
            table += &format!("| `{name}` | {messages} | {instructions} | {allocations} |\n");
        }
        table
    }
}

/// New costs beside those that are known.
pub(crate) struct Comparison(Vec<Row>);

struct Row {
    name: String,
    what: &'static str,
    known: u64,
    counted: u64,
}

impl Row {
    fn percent(&self) -> f64 {
        (self.counted as f64 / self.known.max(1) as f64 - 1.0) * 100.0
    }

    fn is_within_bound(&self) -> bool {
        self.counted.abs_diff(self.known) * 100 <= self.known * BOUND_PERCENT
    }
}

impl Comparison {
    /// A workload that only one of them has differs from nothing, and so by more than the bound.
    pub(crate) fn new(known: &Counts, counted: &Counts) -> Comparison {
        let none = Cost { messages: 0, instructions: 0, allocations: 0 };
        let mut names: Vec<&String> = known.workloads.keys().chain(counted.workloads.keys()).collect();
        names.sort();
        names.dedup();
        let rows = names.into_iter().flat_map(|name| {
            let [then, now] =
                [known, counted].map(|counts| counts.workloads.get(name).copied().unwrap_or(none));
            [
                ("messages", then.messages, now.messages),
                ("instructions", then.instructions, now.instructions),
                ("allocations", then.allocations, now.allocations),
            ]
            .map(|(what, known, counted)| Row { name: name.clone(), what, known, counted })
        });
        Comparison(rows.collect())
    }

    pub(crate) fn is_within_bound(&self) -> bool {
        self.0.iter().all(Row::is_within_bound)
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in &self.0 {
            let (known, counted) = (group_digits(row.known), group_digits(row.counted));
            let mark = if row.is_within_bound() { "" } else { "  <- too far" };
            let (name, what, percent) = (&row.name, row.what, row.percent());
            writeln!(f, "{name:<15} {what:<13} {known:>10} -> {counted:>10}  {percent:+.1} %{mark}")?;
        }
        if self.is_within_bound() {
            write!(f, "every count is within {BOUND_PERCENT} % of selftest/cost/counts.toml")
        } else {
            write!(
                f,
                "a count differs by more than {BOUND_PERCENT} % from selftest/cost/counts.toml\nhint: if a run may cost \
                 that, `selftest/cost/run --write`, and say in the commit what it is paid for"
            )
        }
    }
}

/// The document with this table between its marks; nothing if it has no marks.
fn replace_table(text: &str, table: &str) -> Option<String> {
    let [begin, end] = MARKS;
    let (before, rest) = text.split_once(begin)?;
    let (_, after) = rest.split_once(end)?;
    Some(format!("{before}{begin}\n\n{table}\n{end}{after}"))
}

fn file_error(path: &Path, error: &dyn fmt::Display) -> CostError {
    CostError::File(path.display().to_string(), error.to_string())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use super::{Comparison, Cost, Counts, replace_table};

    fn counts(instructions: u64) -> Counts {
        let cost = Cost { messages: 300, instructions, allocations: 50 };
        Counts::new(BTreeMap::from([("w".to_owned(), cost)]))
    }

    #[test]
    fn a_count_may_differ_by_two_percent_either_way() {
        for (counted, is_within) in [(1000, true), (1020, true), (1021, false), (980, true), (979, false)] {
            let comparison = Comparison::new(&counts(1000), &counts(counted));
            assert_eq!(comparison.is_within_bound(), is_within, "{comparison}");
        }
    }

    #[test]
    fn a_workload_that_is_missing_is_too_far() {
        let none = Counts::new(BTreeMap::new());
        assert!(!Comparison::new(&counts(1000), &none).is_within_bound());
        assert!(!Comparison::new(&none, &counts(1000)).is_within_bound());
    }

    #[test]
    fn a_table_takes_the_place_of_the_old_one() {
        let page = "a\n<!-- counts: selftest/cost/run --write -->\nold\n<!-- end of counts -->\nb\n";
        let replaced = replace_table(page, "new\n").expect("it has a place");
        assert!(replaced.contains("-->\n\nnew\n\n<!--") && !replaced.contains("old"), "{replaced}");
        assert_eq!(replace_table("a page without marks", "new\n"), None);
    }

    #[test]
    fn the_page_has_the_table_of_the_counts() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let counts = std::fs::read_to_string(root.join("counts.toml")).expect("counts");
        let counts: Counts = toml::from_str(&counts).expect("TOML");
        let page = std::fs::read_to_string(root.join("../../docs/performance.md")).expect("a page");
        assert!(page.contains(&counts.table()), "write it anew: `selftest/cost/run --write`");
    }
}
