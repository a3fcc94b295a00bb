//! Plans: a text is refused with a message or read; and the plan of any scenario that can be read, under any seed, is
//! read back as it was written.

#![no_main]

use std::collections::BTreeMap;

use doublehold_scenarios::format::Source;
use doublehold_scenarios::plan::Plan;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u64, &str)| {
    let (seed, text) = input;
    // Most texts are no plan; the message must still be one.
    if let Err(refusal) = Plan::parse("fuzz.plan", text) {
        assert!(!refusal.to_string().is_empty());
    }
    let source =
        Source { name: "fuzz".into(), file: "fuzz.toml".into(), text: text.into(), ..Source::default() };
    let Ok(scenario) = source.read() else { return };
    let plan = Plan {
        scenario,
        seed: seed.into(),
        hash_rules: 1,
        trace_hash: format!("{seed:016x}"),
        verdicts: BTreeMap::new(),
        program: String::new(),
        engine: "sim".to_owned(),
    };
    let written = plan.to_toml().expect("what was read can be written");
    let again = Plan::parse("fuzz.plan", &written).expect("what was written can be read");
    assert_eq!(again, plan);
});
