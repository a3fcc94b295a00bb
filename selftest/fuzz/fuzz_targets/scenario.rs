//! Scenario files: a text is refused with a message or read. What was read is written and read again as the same
//! scenario, and runs: the same way twice, and to an end.
//!
//! Not searched: long runs. A run is cut short after some thousand events.

#![no_main]

use std::time::Duration;

use doublehold_scenarios::format::Source;
use doublehold_scenarios::{Engine, Scenario, SimEngine};
use libfuzzer_sys::fuzz_target;

/// Enough for a few rounds of any lock, and a few milliseconds at most.
const EVENTS: u64 = 3_000;

fuzz_target!(|text: &str| {
    let Ok(mut scenario) = read(text) else { return };
    let again = read(&scenario.to_toml()).expect("what was read can be written and read again");
    assert_eq!(scenario, again, "what is written reads as itself");

    scenario.limits.events = scenario.limits.events.min(EVENTS);
    scenario.limits.time = scenario.limits.time.min(Duration::from_secs(3600));
    let run = || SimEngine.run(&scenario, 1).trace_hash;
    assert_eq!(run(), run(), "the same plan shows the same run");
});

fn read(text: &str) -> Result<Scenario, String> {
    let source =
        Source { name: "fuzz".into(), file: "fuzz.toml".into(), text: text.into(), ..Source::default() };
    source.read().map_err(|refusal| refusal.to_string())
}
