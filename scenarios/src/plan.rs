//! Plans: one run as a file, so that it can be replayed. A plan carries its scenario whole, with variant and changes
//! applied, and what the run came to; nothing in it refers to the catalogue. What was set is kept beside it, since the
//! story in the scenario was written without.
//!
//! A replay is only exact with the version of the program that wrote the plan, so a plan of another is refused.

use serde::{Deserialize, Serialize};

use crate::catalog::read_text;
use crate::error::{FileKind, Place, ScenarioError};
use crate::format::Source;
use crate::scenario::Scenario;

/// The version of the plan format.
const FORMAT: u32 = 1;
/// The version of the program, which a trace hash depends on.
const PROGRAM: &str = env!("CARGO_PKG_VERSION");

/// One run, ready to be replayed.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What was run.
    pub scenario: Scenario,
    /// The seed of the run.
    pub seed: u64,
    /// The digest of its trace, in hexadecimal: what a replay has to show again.
    pub trace_hash: String,
}

/// A plan as typed. Seed and hash are texts: TOML's numbers have a sign.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Typed {
    plan: u32,
    program: String,
    name: String,
    seed: String,
    trace_hash: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sets: Vec<String>,
    scenario: String,
}

/// What every version of the format has, to tell a plan of another version from a broken one.
#[derive(Deserialize)]
struct Versions {
    plan: toml::Spanned<i64>,
    program: Option<String>,
    name: Option<String>,
    #[serde(default)]
    seed: Option<toml::Value>,
}

impl Plan {
    /// The plan as the text of a file.
    ///
    /// # Errors
    ///
    /// If it cannot be written as TOML, which no scenario that was read can bring about.
    ///
    /// ```
    /// use doublehold_scenarios::{catalog, plan::Plan};
    ///
    /// let scenario = catalog::load("lease-pause", &[])?;
    /// let plan = Plan { scenario, seed: 7, trace_hash: "00000000000000ff".into() };
    /// let again = Plan::parse("lease-pause.plan", &plan.to_toml().unwrap())?;
    /// assert_eq!((again.seed, again.scenario.name.as_str()), (7, "lease-pause"));
    /// # Ok::<(), doublehold_scenarios::error::ScenarioError>(())
    /// ```
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(&Typed {
            plan: FORMAT,
            program: PROGRAM.to_owned(),
            name: self.scenario.name.clone(),
            seed: self.seed.to_string(),
            trace_hash: self.trace_hash.clone(),
            sets: self.scenario.sets.clone(),
            scenario: self.scenario.to_toml(),
        })
    }

    /// Reads a plan's file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, is no plan, is one of another version, or holds a scenario that is refused.
    pub fn read(path: &str) -> Result<Plan, ScenarioError> {
        Plan::parse(path, &read_text(path, FileKind::Plan)?)
    }

    /// Reads a plan from its text; messages call it `file`.
    ///
    /// # Errors
    ///
    /// As [`Plan::read`].
    pub fn parse(file: &str, text: &str) -> Result<Plan, ScenarioError> {
        refuse_other_version(file, text)?;
        let typed: Typed = toml::from_str(text).map_err(|error| refused(file, text, &error))?;
        let seed = typed.seed.parse().map_err(|_| ScenarioError::Refused {
            what: FileKind::Plan,
            file: crate::format::printable(file),
            place: Place::Line(line_of_key(text, "seed")),
            cause: format!("`seed` must be a whole number, not `{}`", crate::format::printable(&typed.seed)),
            hint: "use the plan as it was written".to_owned(),
        })?;
        let source = Source {
            name: typed.name,
            file: format!("{}: scenario", crate::format::printable(file)),
            in_plan: true,
            text: typed.scenario,
            ..Source::default()
        };
        let scenario = Scenario { sets: typed.sets, ..source.read()? };
        Ok(Plan { scenario, seed, trace_hash: typed.trace_hash })
    }
}

fn refuse_other_version(file: &str, text: &str) -> Result<(), ScenarioError> {
    let versions: Versions = toml::from_str(text).map_err(|error| refused(file, text, &error))?;
    let format = *versions.plan.get_ref();
    let program = versions.program.unwrap_or_default();
    if format == i64::from(FORMAT) && program == PROGRAM {
        return Ok(());
    }
    let named = |program: &str, format: i64| format!("doublehold {program} (plan format {format})");
    let seed = versions.seed.map_or("?".to_owned(), |seed| match seed {
        toml::Value::String(text) => text,
        other => other.to_string(),
    });
    Err(ScenarioError::OtherVersion {
        file: crate::format::printable(file),
        written_by: named(&crate::format::printable(&program), format),
        this: named(PROGRAM, i64::from(FORMAT)),
        scenario: crate::format::printable(&versions.name.unwrap_or("the scenario".to_owned())),
        seed: crate::format::printable(&seed),
    })
}

fn refused(file: &str, text: &str, error: &toml::de::Error) -> ScenarioError {
    let (line, cause) = crate::format::syntax::place_and_cause(text, error);
    ScenarioError::Refused {
        what: FileKind::Plan,
        file: crate::format::printable(file),
        place: Place::Line(line),
        cause,
        hint:
            "a plan is the file that `run --plan` writes: use it as it was written, or `run` a scenario file"
                .to_owned(),
    }
}

fn line_of_key(text: &str, key: &str) -> usize {
    text.lines().position(|line| line.starts_with(key)).map_or(1, |index| index + 1)
}
