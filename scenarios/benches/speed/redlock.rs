//! Contention, a failover, and many runs: catalogue scenarios, prepared once and judged from seed after seed.

use std::sync::LazyLock;
use std::time::Duration;

use doublehold_scenarios::{Engine, LeanEngine, Prepared, PreparedSim, Scenario, SimEngine, catalog};

use crate::Done;

static CONTENDED: LazyLock<PreparedSim> = LazyLock::new(|| prepare(&SimEngine, &contention()));
static CONTENDED_LEAN: LazyLock<PreparedSim> = LazyLock::new(|| prepare(&LeanEngine, &contention()));
/// Three clients, three nodes, three Sentinels, and a master that is killed.
static FAILOVER_LEAN: LazyLock<PreparedSim> =
    LazyLock::new(|| prepare(&LeanEngine, &load("sentinel-kill", &[])));
/// Two clients, five nodes and a fault: what a search runs very often.
static SHORT: LazyLock<PreparedSim> = LazyLock::new(|| prepare(&LeanEngine, &load("clock-jump", &[])));

/// Three clients take turns with a Redlock on five nodes, and ask as often as they did when this was measured first:
/// nine of ten attempts are refused.
fn contention() -> Scenario {
    let often = |client| (format!("clients.{client}.retry"), "250ms..750ms".to_owned());
    let sets = [vec![("lock.tries".to_owned(), "3".to_owned())], (0..3).map(often).collect()].concat();
    load("quiet/redlock", &sets)
}

fn load(name: &str, sets: &[(String, String)]) -> Scenario {
    catalog::load(name, sets).expect("the catalogue has it")
}

fn prepare(engine: &impl Engine<Prepared = PreparedSim>, scenario: &Scenario) -> PreparedSim {
    engine.prepare(scenario).expect("it was read from a file")
}

pub(crate) fn contended(seed: u64) -> Done {
    judge(&CONTENDED, seed)
}

pub(crate) fn contended_lean(seed: u64) -> Done {
    judge(&CONTENDED_LEAN, seed)
}

pub(crate) fn failover_lean(seed: u64) -> Done {
    judge(&FAILOVER_LEAN, seed)
}

pub(crate) fn short(seed: u64) -> Done {
    judge(&SHORT, seed)
}

fn judge(prepared: &PreparedSim, seed: u64) -> Done {
    let summary = prepared.judge(seed);
    Done { simulated: Duration::from_nanos(summary.ended.0), messages: summary.messages }
}
