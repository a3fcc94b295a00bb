//! Runs that end before they decide, swept and reported: they leave a rate open, and a precision too.

use crate::kit::{Ask, Folder, json};

/// Two clients, one of them cut off from the lock for seconds at a time, in runs that end too early for most to decide.
const CUT_SHORT: &str = r#"
claim = "what goes wrong takes longer than a run"
lock = { algorithm = "single", ttl = "2s", request_timeout = "none" }
nodes = { names = ["A"] }
network = { delay = "1ms" }
[[clients]]
name = "c1"
program = ["acquire", "work 1s", "release"]
[[clients]]
name = "c2"
program = ["acquire", "work 1s", "release"]
retry = "100ms"
[limits]
time = "6s"
obtain_within = "5500ms"
[weather]
for = "5s"
swarm = false
at_steps = "0/1"
[[weather.faults]]
kind = "cut"
from = "c1"
to = "A"
every = "400ms"
for = { median = "2s", sigma = "1/1" }
source = "made up"
"#;

/// Those that decide tell a rate to a tenth soon enough. But about half do not, which leaves it as open as before.
#[test]
fn a_precision_is_not_reached_while_runs_are_undecided() {
    let folder = Folder::new();
    folder.write("world.toml", CUT_SHORT);
    let study = "question = \"?\"\nruns = 2100\nprecision = { predicate = \"LV\", width = \"1/10\" }\n[[designs]]\n\
                 name = \"w\"\nscenario = \"world.toml\"\n";
    folder.write("study.toml", study);
    folder.doublehold(&["sweep", "study.toml", "--out", "."]).ends(0);
    let records = folder.read("runs.jsonl");
    assert_eq!(records.lines().count(), 1 + 5, "a header, and a batch in the second round too");
    folder.page();
    let cells = json(&folder.read("cells.json"));
    let rate = &cells["studies"][0]["cells"][0]["rates"]["LV"];
    assert!(rate["rate"].is_null() && rate["undecided"].as_u64() > Some(500), "{rate}");
    assert!(rate["high"].as_f64() > rate["low"].as_f64().map(|low| low + 0.2), "{rate}");
    assert!(rate["why"].as_str().is_some_and(|why| why.contains("too many runs are undecided")), "{rate}");
}
