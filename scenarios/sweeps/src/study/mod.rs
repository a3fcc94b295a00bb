//! Studies: which designs are compared, over which grid of parameters, under which faults, and how many runs that is
//! worth.
//!
//! A study is a TOML file. Each of its *designs* is a world with a lock: the usual world of that lock's kind, or a
//! scenario. Each point of its *grid* changes all designs alike, and a design at a point is a *cell*. Cells are run
//! from the same seeds, so that designs meet the same faults as far as they have the same hosts.
//!
//! # Map, in reading order
//!
//! - [`Study`], [`Design`], [`Axis`]: a study as meant; which scenario each cell is
//! - `read`, `grid`: from text to meaning, and what can be wrong
//! - `parameters`, `lines`: what a grid may vary, and the short names for what lies in lists
//! - `provenance`: where a number comes from that a study sets in a weather
//! - `check`: in which cells mistakes are looked for before the first run
//! - [`Usage`]: grants an hour, for rates per month
//! - [`Strata`]: how the runs of a cell are divided where what is asked is rare
//! - `bundled`: the studies that come with the program
//! - [`NewStudy`]: the text of a study for what somebody knows of a service
//! - `time`: about how long a sweep takes
//!
//! Nothing is run here: that is [`sweep`](mod@crate::sweep).
//!
//! Decision: "In a study, faults strike at random times, and every line of the weather is active in every run"
//! (docs/decisions/sweeps.md).

mod bundled;
mod check;
mod grid;
mod lines;
mod new;
mod parameters;
mod provenance;
mod read;
mod strata;
mod time;
mod usage;

use std::path::{Path, PathBuf};
use std::time::Duration;

pub use bundled::{BundledStudy, bundled_studies};
use doublehold_history::Predicate;
use doublehold_scenarios::Seed;
use doublehold_scenarios::error::{FileKind, FilePlace, ScenarioError};
use doublehold_scenarios::format::Source;
use doublehold_scenarios::format::problem::{ItemOrigin, Problem};
use doublehold_scenarios::format::tree::{Item, ItemValue};
use doublehold_scenarios::model::scenario::Scenario;
use doublehold_scenarios::weather::{self, Climate, Weather};
use doublehold_sim::Probability;
pub use new::{NewStudy, NewStudyError, RefusedDuration};
use serde::{Deserialize, Serialize};
pub use strata::Strata;
pub use time::RUNS_A_SECOND;
pub use usage::{HOURS_OF_MONTH, Usage, UsageError};

use crate::grid::Grid;

/// Seeds of one stratum stay below those of the next.
pub(crate) const RUNS_MAX: u64 = 1_000_000_000;

/// What is to be compared.
#[derive(Clone, Debug)]
pub struct Study {
    /// Its name, as folders and reports use it.
    pub name: String,
    /// What it asks, in a sentence.
    pub question: String,
    /// What has to be known to read its answer, in sentences.
    pub assumptions: Vec<String>,
    /// What is compared.
    pub designs: Vec<Design>,
    /// What is varied, for all designs alike.
    pub axes: Vec<Axis>,
    /// How many runs each stratum of a cell gets; at most, where there is a precision.
    pub runs: u64,
    /// When a cell has had enough.
    pub precision: Option<Precision>,
    /// How runs are divided by their faults, where what is asked is rare.
    pub strata: Option<Strata>,
    /// For how long it is run, in real time.
    pub budget: Option<Duration>,
    /// The first seed.
    pub seed: Seed,
    /// The use that its report speaks of, as typed.
    pub usage: UsageText,
    /// The file's text.
    pub text: String,
    /// What messages call the file.
    file: String,
    /// Where the file is: paths in it count from there.
    folder: PathBuf,
    /// What the study changes in every design.
    changes: Vec<Change>,
}

/// The use of a lock as a study says it; see [`Usage`]. Empty where nothing is said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageText {
    /// `200 grants an hour`.
    #[serde(rename = "use", default, skip_serializing_if = "String::is_empty")]
    pub grants: String,
    /// `one in ten`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub busy: String,
}

/// A lock in a world.
#[derive(Clone, Debug)]
pub struct Design {
    /// Its name in reports.
    pub name: String,
    /// What it is, in a sentence.
    pub about: String,
    /// Its world before anything is changed.
    base: Item,
    /// What it changes in that world.
    changes: Vec<Change>,
    /// Its line in the study.
    line: usize,
}

/// A parameter, and the values it takes.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The parameter.
    pub key: String,
    /// Its values as typed, such as `2s`.
    pub values: Vec<String>,
    nodes: Vec<Item>,
}

/// When a cell has had enough runs: once the 95 % interval of the rate of one predicate is this narrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Precision {
    /// The predicate.
    pub predicate: Predicate,
    /// How wide the interval may be, from end to end, as a share of runs.
    pub width: Probability,
}

/// A parameter and its value.
#[derive(Clone, Debug)]
struct Change {
    key: String,
    value: Item,
}

/// A design at a point of the grid, by its number among all cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellId(pub u64);

impl Study {
    /// Reads a study by the name of a ready one, or by its file's path.
    ///
    /// # Errors
    ///
    /// If there is no such study, the file cannot be read, or anything in it is refused.
    pub fn load(name_or_path: &str) -> Result<Study, ScenarioError> {
        bundled::load(name_or_path)
    }

    /// Reads a study's text. Paths in it count from the folder of `file`.
    ///
    /// # Errors
    ///
    /// If anything in it is refused.
    pub fn parse(name: &str, file: &str, text: &str) -> Result<Study, ScenarioError> {
        read::parse_study(name, file, text)
    }

    /// Its cells by their numbers.
    pub fn grid(&self) -> Grid {
        Grid::new(self.designs.len(), self.axes.iter().map(|axis| axis.values.len()))
    }

    /// How many parts the runs of each cell are divided into.
    pub fn parts(&self) -> u64 {
        self.strata.as_ref().map_or(1, Strata::count)
    }

    /// How many runs a cell gets, at most.
    pub fn runs_of_a_cell(&self) -> u64 {
        let more = self.strata.as_ref().map_or(0, |strata| strata.by_weight);
        self.parts().saturating_mul(self.runs).saturating_add(more)
    }

    /// How many runs each stratum of a cell gets.
    pub(crate) fn runs_by_stratum(&self, cell: CellId) -> Result<Vec<u64>, ScenarioError> {
        let Some(strata) = &self.strata else { return Ok(vec![self.runs]) };
        let scenario = self.scenario(cell)?;
        // Steps mean nothing to weights.
        let climate = scenario.weather.as_ref().map(|weather| Climate::new(weather, &scenario, &[]));
        Ok(strata.runs(climate.as_ref(), self.runs))
    }

    /// The scenario of a cell.
    ///
    /// # Errors
    ///
    /// If the values of this cell make no scenario, each alone or together.
    pub fn scenario(&self, cell: CellId) -> Result<Scenario, ScenarioError> {
        let (design, values) = self.grid().place(cell.0);
        self.at(design, &values)
    }

    /// The scenario of a design with these values of the axes, by their numbers.
    fn at(&self, design: usize, values: &[usize]) -> Result<Scenario, ScenarioError> {
        let change = |(axis, value): (&Axis, &usize)| Change {
            key: axis.key.clone(),
            value: axis.nodes[*value].clone(),
        };
        let point: Vec<Change> = self.axes.iter().zip(values).map(change).collect();
        self.build(&self.designs[design], &point)
    }

    fn build(&self, design: &Design, point: &[Change]) -> Result<Scenario, ScenarioError> {
        let mut tree = design.base.clone();
        // Whatever the order of axes, `weather` comes before `weather.pause.every`, which it would undo.
        let mut in_order: Vec<&Change> = point.iter().collect();
        in_order.sort_by_key(|change| &change.key);
        let changes: Vec<&Change> = self.changes.iter().chain(&design.changes).chain(in_order).collect();
        let refused = |tree: &Item, mut problem: Problem| {
            for change in &changes {
                problem.cause = parameters::replace_paths(tree, &change.key, problem.cause);
            }
            self.cell_error(design, point, problem)
        };
        for change in &changes {
            parameters::apply(&mut tree, &change.key, &change.value, &self.folder)
                .map_err(|problem| refused(&tree, problem))?;
        }
        provenance::tell(&mut tree, &changes);
        let source = Source { name: design.name.clone(), file: self.file.clone(), ..Source::default() };
        let scenario = source.read_tree(&tree).map_err(|error| match error {
            ScenarioError::Refused { place: FilePlace::Line(line), cause, hint, .. } => {
                refused(&tree, Problem::new(ItemOrigin::Line(line), cause, hint))
            }
            other => other,
        })?;
        let left_out = |change: &&&Change| parameters::is_left_out(&tree, &change.key, &change.value);
        for change in changes.iter().filter(left_out) {
            let written = Item::parse(&scenario.to_toml()).map_err(|problem| refused(&tree, problem))?;
            parameters::refuse_default(&tree, &written, &change.key, &change.value)
                .map_err(|problem| refused(&tree, problem))?;
        }
        let divided = self.strata.as_ref().zip(scenario.weather.as_ref());
        match divided.and_then(|(strata, weather)| strata.refusal(weather)) {
            None => Ok(scenario),
            Some((cause, hint)) => {
                Err(self.cell_error(design, point, Problem::new(ItemOrigin::Line(design.line), cause, hint)))
            }
        }
    }

    /// Says in which cell something is wrong. What was typed in the study has a line there; what a world says by
    /// itself has none, so the design's is named.
    fn cell_error(&self, design: &Design, point: &[Change], problem: Problem) -> ScenarioError {
        let line = match problem.origin {
            ItemOrigin::Line(line) if line > 0 => line,
            _ => design.line,
        };
        let at: Vec<String> =
            point.iter().map(|change| format!("`{} = {}`", change.key, change.value.plain_text())).collect();
        let at = if at.is_empty() { String::new() } else { format!(" with {}", at.join(", ")) };
        ScenarioError::Refused {
            what: FileKind::Study,
            file: self.file.clone(),
            place: FilePlace::Line(line),
            cause: format!("design `{}`{at}: {}", design.name, problem.cause),
            hint: problem.hint,
        }
    }
}

/// A weather as the table that a scenario has of it: named, or written out. The path of a file counts from `folder`.
///
/// What helps a search to find something is no fleet's: in a study rates are as they are typed, and faults strike at
/// times. A study can still set both.
fn weather_node(value: &Item, folder: &Path) -> Result<Option<Item>, Problem> {
    let read = match (&value.value, value.as_text()) {
        (_, Some("none")) => return Ok(None),
        (_, Some(name)) => weather::read_from(folder, name).map_err(|error| {
            let text = error.to_string();
            let (cause, hint) = text.split_once("\nhint: ").unwrap_or((&text, "name another weather"));
            Problem::new(value.origin, cause, hint)
        })?,
        (ItemValue::Table(_), None) => {
            doublehold_scenarios::format::weather::weather_from_item("weather", value)?
        }
        _ => {
            let cause = "`weather` must be the name of a weather or of its file, a table, or `none`";
            return Err(Problem::new(value.origin, cause, "`doublehold weather` lists those that there are"));
        }
    };
    let typed = |key| value.find(&[key]).is_some();
    let weather = Weather {
        swarm: read.swarm && typed("swarm"),
        at_steps: if typed("at_steps") { read.at_steps } else { Probability::NEVER },
        ..read
    };
    let mut node = Item::parse(&doublehold_scenarios::format::weather_table(&weather).to_string())?;
    node.set_origin(ItemOrigin::Line(0));
    Ok(Some(node))
}
