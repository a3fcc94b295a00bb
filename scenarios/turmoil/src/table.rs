//! The table of engines: for each kind of fault, each quality of a link and each moment, what both can do.
//!
//! Asked of the engines themselves. `doublehold engines` prints it, and two pages have it.

use doublehold_scenarios::fault::Effect;
use doublehold_scenarios::{Engine, Limited, SimEngine};

use crate::TurmoilEngine;

/// The engines, in the order of a row's answers.
pub fn engines() -> [(&'static str, &'static str); 2] {
    [
        (SimEngine.name(), "doublehold's own kernel and network: the default"),
        (TurmoilEngine.name(), "turmoil's network and tokio's tasks: a second opinion"),
    ]
}

/// A word of the format, and what each engine makes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its sort: a fault, a link, a moment.
    pub sort: &'static str,
    /// As scenario files have it.
    pub word: &'static str,
    /// Of each engine the reason why it cannot do it; `None` where it can.
    pub limits: [Option<&'static str>; 2],
}

/// The moments at which a fault can strike, as files write them. That each is the instant it says, on both engines, is
/// tried by the rows of `scenarios/tests/it/keyword_effects/when.rs`.
const MOMENTS: [&str; 8] = [
    "2s",
    "SET executed for c1 on A",
    "c1's grant",
    "c1's clock read",
    "c1's timer",
    "A's boot",
    "c1's message to A",
    "A's message from c1",
];

/// Every row, in the order of FORMAT.md.
///
/// ```
/// let rows = doublehold_turmoil_engine::table::rows();
/// let loss = rows.iter().find(|row| row.word == "loss").expect("a kind of fault");
/// assert!(loss.limits[0].is_none() && loss.limits[1].is_some());
/// ```
pub fn rows() -> Vec<Row> {
    let fault = |effect: Effect| {
        let limits = [SimEngine.limit_of(&effect), TurmoilEngine.limit_of(&effect)];
        Row { sort: "fault", word: effect.kind().word, limits }
    };
    let can = |sort, word| Row { sort, word, limits: [None; 2] };
    let mut rows: Vec<Row> = Effect::prototypes().into_iter().map(fault).collect();
    rows.push(can("link", "delay"));
    let of_loss = [SimEngine.limit_of_loss(), TurmoilEngine.limit_of_loss()];
    rows.push(Row { limits: of_loss, ..can("link", "loss") });
    rows.extend(MOMENTS.map(|moment| can("moment", moment)));
    rows
}
