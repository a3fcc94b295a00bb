//! What a sweep's records begin with: the study in words, so that whoever reads them needs neither its file nor the
//! program, and what two files must have in common to be of one sweep.

use std::collections::BTreeMap;

use doublehold_history::Predicate;
use doublehold_lockimpl::descriptors;
use doublehold_scenarios::weather::RandomFault;
use doublehold_scenarios::{Engine, LeanEngine, Prepared};
use doublehold_scenarios::{Scenario, format};
use serde::{Deserialize, Serialize};

use super::SweepError;
use super::batch::is_zero;
use super::order::BATCH;
use super::shard::Shard;
use crate::grid::Grid;
use crate::study::{Axis, CellId, RUNS_MAX, Strata, Study, UsageText};

/// The version of the records' format. In the first, shards were dealt out in turn, and nothing else was different.
pub const FORMAT: u32 = 2;
/// The oldest version that is read.
pub const FIRST_FORMAT: u32 = 1;

/// The first line of a sweep's records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StudyHeader {
    /// The version of this format.
    pub sweep: u32,
    /// The version of the program that wrote it.
    pub program: String,
    /// The engine that executes the runs; the kernel with its lean connections where nothing is said.
    #[serde(default = "usual_engine", skip_serializing_if = "is_usual_engine")]
    pub engine: String,
    /// The study's name.
    pub study: String,
    /// What it asks.
    pub question: String,
    /// What has to be known to read the answer.
    pub assumptions: Vec<String>,
    /// The use that a report speaks of.
    #[serde(flatten)]
    pub usage: UsageText,
    /// What is compared, in order.
    pub designs: Vec<DesignHeader>,
    /// What is varied, in order.
    pub axes: Vec<AxisHeader>,
    /// How the runs of a cell are divided, by how many faults of each line of the weather they have, or of each kind;
    /// one part if they are not. Which lines a key means is for
    /// [`LineName::is_meant_by`](doublehold_scenarios::weather::LineName::is_meant_by) to say.
    pub strata: Vec<BTreeMap<String, u32>>,
    /// Whether it is taken for granted that nothing goes wrong without a fault.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub quiet_holds: bool,
    /// How many runs each of them gets: at least, where more are shared out, and else at most.
    pub runs: u64,
    /// How many runs more each cell gets, shared out among its strata by weight.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub by_weight: u64,
    /// How many of them a batch has.
    pub batch: u64,
    /// When a cell has had enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<PrecisionHeader>,
    /// The first seed.
    pub seed: u64,
    /// Which part of the study this is, from 1, and of how many.
    pub shard: [u64; 2],
    /// Of merged records: of which shards they are, where batches may be missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<PartialHeader>,
    /// Hashes of some runs: of other programs, or of files that the study names and that changed, they are others.
    pub fingerprint: Vec<String>,
    /// The study's file.
    pub text: String,
}

/// A design.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DesignHeader {
    /// Its name.
    pub name: String,
    /// What it is.
    pub about: String,
    /// Its faults at the first point of the grid.
    pub weather: Vec<WeatherLine>,
    /// For how long from the beginning of a run they strike, as `20s`; empty without weather.
    pub strikes_for: String,
    /// Its scenario's file at the first point of the grid.
    pub world: String,
    /// True if its grants have no deadline that a holder could look at, so that P2 is P1. Older records do not say.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_no_deadline: bool,
}

/// A line of a weather, in the words of its file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WeatherLine {
    /// The kind of fault.
    pub kind: String,
    /// The mean time between two on one host or way.
    pub every: String,
    /// What else the line says: whom it strikes, for how long, how strongly.
    pub rest: Vec<(String, String)>,
    /// Where its numbers come from.
    pub source: String,
}

/// An axis of the grid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AxisHeader {
    /// The parameter.
    pub key: String,
    /// Its values.
    pub values: Vec<String>,
}

/// When a cell has had enough.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrecisionHeader {
    /// The predicate whose rate is told.
    pub predicate: Predicate,
    /// How wide its 95 % interval may be, as a ratio.
    pub width: String,
}

/// The shards of a study that a merge had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartialHeader {
    /// The shards that there were; some of them may not have been finished.
    pub shards: Vec<u64>,
    /// Of how many.
    pub of: u64,
}

impl StudyHeader {
    /// The name of the engine, where it is not the usual one.
    pub fn other_engine(&self) -> Option<&str> {
        Some(self.engine.as_str()).filter(|name| !is_usual_engine(name))
    }

    /// Its cells by their numbers.
    pub fn grid(&self) -> Grid {
        Grid::new(self.designs.len(), self.axes.iter().map(|axis| axis.values.len()))
    }

    /// The first seed of a batch of a stratum; `None` if there is no such seed.
    pub fn first_seed(&self, stratum: u64, batch: u64) -> Option<u64> {
        let before = stratum.checked_mul(RUNS_MAX)?.checked_add(batch.checked_mul(BATCH)?)?;
        self.seed.checked_add(before)
    }

    /// The last seed that a run can have; `None` if there is no such seed.
    pub fn last_seed(&self) -> Option<u64> {
        let runs = self.runs.checked_add(self.by_weight)?;
        self.first_seed((self.strata.len() as u64).saturating_sub(1), 0)?.checked_add(runs)
    }

    /// The header of a study's records.
    ///
    /// # Errors
    ///
    /// If its first or its last cell cannot be run.
    pub fn new(engine: &impl Engine, study: &Study, shard: Shard) -> Result<StudyHeader, SweepError> {
        let designs = study.designs.iter().zip(0..).map(|(design, cell)| {
            let scenario = study.scenario(CellId(cell))?;
            Ok(DesignHeader {
                name: design.name.clone(),
                about: design.about.clone(),
                weather: scenario.weather.iter().flat_map(|weather| &weather.faults).map(line).collect(),
                strikes_for: scenario
                    .weather
                    .as_ref()
                    .map_or(String::new(), |it| format::duration_text(it.window)),
                world: scenario.to_toml(),
                has_no_deadline: has_no_deadline(&scenario),
            })
        });
        let axis = |axis: &Axis| AxisHeader { key: axis.key.clone(), values: axis.values.clone() };
        Ok(StudyHeader {
            sweep: FORMAT,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            engine: engine.name().to_owned(),
            study: study.name.clone(),
            question: study.question.clone(),
            assumptions: study.assumptions.clone(),
            usage: study.usage.clone(),
            designs: designs.collect::<Result<_, SweepError>>()?,
            axes: study.axes.iter().map(axis).collect(),
            strata: study.strata.as_ref().map_or_else(|| vec![BTreeMap::new()], Strata::all),
            quiet_holds: study.strata.as_ref().is_some_and(|strata| strata.quiet_holds),
            runs: study.runs,
            by_weight: study.strata.as_ref().map_or(0, |strata| strata.by_weight),
            batch: BATCH,
            precision: study
                .precision
                .map(|it| PrecisionHeader { predicate: it.predicate, width: it.width.to_string() }),
            seed: study.seed.0,
            shard: [shard.number(), shard.total()],
            partial: None,
            fingerprint: fingerprint(engine, study)?,
            text: study.text.clone(),
        })
    }
}

fn has_no_deadline(scenario: &Scenario) -> bool {
    let known = descriptors();
    let lock = known.iter().find(|lock| lock.name == scenario.lock.algorithm);
    lock.is_some_and(|lock| !lock.facts(&scenario.lock.switches).deadline)
}

/// The engine of most sweeps, and of all that are older than the second one.
fn usual_engine() -> String {
    LeanEngine.name().to_owned()
}

fn is_usual_engine(name: &str) -> bool {
    name == LeanEngine.name()
}

fn line(fault: &RandomFault) -> WeatherLine {
    let mut words: Vec<(String, String)> = format::weather_line(fault);
    let mut take = |key: &str| {
        let at = words.iter().position(|(known, _)| known == key);
        at.map_or(String::new(), |at| words.remove(at).1)
    };
    WeatherLine { kind: take("kind"), every: take("every"), source: take("source"), rest: words }
}

/// The hashes of each design's first runs at both ends of the grid.
fn fingerprint(engine: &impl Engine, study: &Study) -> Result<Vec<String>, SweepError> {
    let (designs, cells) = (study.designs.len() as u64, study.grid().cells());
    let ends = [0..designs, cells.saturating_sub(designs).max(designs)..cells];
    let hash = |cell| {
        let scenario: Scenario = study.scenario(CellId(cell))?;
        Ok(engine.prepare(&scenario)?.judge(study.seed).trace_hash.to_string())
    };
    ends.into_iter().flatten().map(hash).collect()
}
