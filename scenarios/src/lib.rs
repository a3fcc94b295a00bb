//! Scenarios: what is to be run, and what came of it.
//!
//! A scenario is a TOML file: a claim of the debate about Redis locks, hosts and their clocks, a lock with its
//! switches, a program for each client, faults that wait for events, and what is expected of each predicate. It is
//! read once *as typed* and turned into a [`Scenario`] *as meant*; an [`Engine`] prepares it once and runs it from a
//! seed, which gives a [`Report`].
//!
//! # Map, in reading order
//!
//! - [`scenario`]: a scenario as meant, with its [`fault`]s and what they wait for ([`when`]) as data. Everything else
//!   produces or consumes it. [`cast`]: which of its hosts is which number in a world and in a history.
//! - [`catalog`]: the scenarios that come with the program, and files by path.
//! - [`mod@format`]: from text to meaning, with one clear message for everything that can be wrong, and back to text.
//! - [`locks`]: locks by the names that people type.
//! - [`Engine`] and [`Prepared`]: what executes runs. [`SimEngine`]: a scenario as a world of the simulation kernel.
//!   Client programs, resource and recorder are beside it, and know no engine. [`LeanEngine`]: the same for many
//!   runs, through a connection of ours in place of redis-rs'.
//! - [`weather`]: random faults, drawn from a run's seed.
//! - [`report`]: what a run came to; [`detail`]: what a picture shows besides. [`plan`]: a run that can be sent to
//!   somebody else.
//! - [`topics`]: what the debate is about, part by part.
//! - [`pool`]: threads that run worlds, and those that do not come back.
//!
//! What searches is the crate `doublehold-search`, what sweeps `doublehold-sweeps`.
//!
//! ```
//! use doublehold_history::Predicate;
//! use doublehold_scenarios::{Engine, SimEngine, catalog};
//!
//! let scenario = catalog::load("clock-jump", &[])?;
//! let report = SimEngine.run(&scenario, 7);
//! assert_eq!(report.verdicts.get(Predicate::P2).as_str(), "violated");
//! # Ok::<(), doublehold_scenarios::ScenarioError>(())
//! ```
//!
//! Nothing here prints.

pub mod build;
pub mod catalog;
pub mod detail;
pub mod error;
pub mod format;
pub mod locks;
pub mod model;
pub mod plan;
pub mod pool;
pub mod report;
mod run;
pub mod topics;
pub mod weather;

pub use doublehold_sim::Seed;
pub use error::ScenarioError;
pub use model::scenario::Scenario;
pub use model::{cast, fault, scenario, when};
pub use report::Report;
pub use run::{
    Connection, Detailed, Engine, Futures, LeanConnection, LeanEngine, Limit, Limited, OwnLocks,
    PrepareError, Prepared, PreparedSim, Searchable, SimEngine, SimEnv, Stepped, TakesLocks, WorldEngine,
    builtin_locks, wants_runtime,
};
