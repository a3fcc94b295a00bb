//! A contended Redlock round: the catalogue's `quiet/redlock`, three clients on five nodes taking turns.

use std::sync::LazyLock;
use std::time::Duration;

use doublehold_scenarios::{Engine, Scenario, SimEngine, catalog};

use crate::Done;

static SCENARIO: LazyLock<Scenario> =
    LazyLock::new(|| catalog::load("quiet/redlock", &[]).expect("the catalogue has it"));

pub(crate) fn run(seed: u64) -> Done {
    let report = SimEngine.run(&SCENARIO, seed);
    Done { simulated: Duration::from_nanos(report.ended.0), messages: report.messages }
}
