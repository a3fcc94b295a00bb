//! A scenario with something to shrink in every place, and changes of its text: what the passes propose is compared
//! with these by the tests beside each.

use std::collections::BTreeSet;

use doublehold_scenarios::format::Source;
use doublehold_scenarios::model::scenario::Scenario;
use toml::{Table, Value};

use super::search::Candidate;

/// Two locks, of which nobody takes the second; laws of every sort; links, clocks, starts and faults of their own.
const RICH: &str = r#"
claim = "there is much to shrink"
lock = { algorithm = "redlock", ttl = "2s", name = ["orders", "spare", "stock"] }
nodes = { names = ["A", "B", "C"], fsync_time = "1ms..4ms", command_time = { B = "4ms", others = "3us" } }
resource = { object = { acorns = "stock", books = "stock", cars = "orders", dolls = "spare" } }
clocks = { c1 = { offset = "-37ms", drift = "1/1000" }, B = { offset = "2s" } }
faults = [
    { kind = "pause", host = ["c1", "A"], at = "c1's grant", for = "7s", each = true },
    { kind = "loss", from = "c1", to = "B", probability = "1/3", at = "1300ms after c2's check", for = "9s" },
    { kind = "clock-step", host = "B", by = "-36ms", at = "1s" },
    { kind = "clock-drift", host = "A", by = "1/300", at = "0s", for = "3s" },
    { kind = "loss", from = "c2", to = "B", probability = "1/2", at = "0s" },
    { kind = "crash", host = "C", at = "4s", for = "2500ms", optional = true },
    { kind = "slow", from = "c1", to = "A", by = "90ms", at = "0s", for = "8s" },
]

[network]
delay = { median = "1234us", sigma = "1/2" }
loss = "1/100"
links = [
    { from = "A", to = "c1", delay = "5ms", loss = "0/1" },
    { from = "c1", to = "A", delay = "10ms..20ms", loss = "1/7" },
    { from = "c2", to = "B", delay = "6ms", loss = "0/1" },
]

[[clients]]
name = "c1"
program = ["acquire stock", "read books", "work 50ms..1500ms", "write books", "release stock"]
retry = "100ms..333ms"
rounds = 7

[[clients]]
name = "c2"
start = "2s after c1's grant"
ttl = "3s"
program = ["acquire orders", "acquire stock", "check stock", "extend stock", "work 2s", "write cars", "release stock",
    "release orders"]
"#;

pub(super) fn rich() -> Scenario {
    parse_scenario(&RICH.parse().expect("it is TOML"))
}

fn parse_scenario(file: &Table) -> Scenario {
    let source = Source { name: "rich".into(), text: file.to_string(), ..Source::default() };
    source.read().unwrap_or_else(|error| panic!("{error}"))
}

/// The rich scenario with one value of its text changed, or taken out: `clients.0.retry`, `faults.1.for`.
pub(super) fn edit(path: &str, value: Option<Value>) -> Scenario {
    edit_all([(path, value)])
}

/// With several changes, one after the other.
pub(super) fn edit_all<const N: usize>(changes: [(&str, Option<Value>); N]) -> Scenario {
    let mut file = Value::Table(rich().to_toml().parse().expect("it is TOML"));
    changes.into_iter().for_each(|(path, value)| change(&mut file, path, value));
    let Value::Table(file) = file else { unreachable!("it was one") };
    parse_scenario(&file)
}

fn change(file: &mut Value, path: &str, value: Option<Value>) {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    match (file, rest, value) {
        (Value::Table(table), None, Some(value)) => drop(table.insert(first.to_owned(), value)),
        (Value::Table(table), None, None) => drop(table.remove(first).expect(path)),
        (Value::Table(table), Some(rest), value) => change(table.get_mut(first).expect(path), rest, value),
        (Value::Array(list), rest, value) => {
            let place: usize = first.parse().expect("a number");
            match (rest, value) {
                (None, Some(value)) => list[place] = value,
                (None, None) => drop(list.remove(place)),
                (Some(rest), value) => change(&mut list[place], rest, value),
            }
        }
        (other, ..) => panic!("{path} in {other:?}"),
    }
}

/// That these are the candidates, in any order, each once.
pub(super) fn assert_same(candidates: Vec<Candidate>, expected: impl IntoIterator<Item = Scenario>) {
    let of = |candidate| match candidate {
        Candidate::Faults(faults) => Scenario { faults, ..rich() },
        Candidate::Whole(scenario) => *scenario,
    };
    let count = candidates.len();
    let candidates: BTreeSet<String> =
        candidates.into_iter().map(|candidate| of(candidate).to_toml()).collect();
    assert_eq!(candidates.len(), count, "none comes twice");
    let expected: BTreeSet<String> = expected.into_iter().map(|scenario| scenario.to_toml()).collect();
    let (more, fewer): (Vec<&String>, Vec<&String>) =
        (candidates.difference(&expected).collect(), expected.difference(&candidates).collect());
    let rich = rich().to_toml();
    let changes = |text: &&String| -> Vec<String> {
        let gone = rich.lines().filter(|line| !text.lines().any(|other| other == *line));
        let new = text.lines().filter(|line| !rich.lines().any(|other| other == *line));
        gone.map(|line| format!("- {line}")).chain(new.map(|line| format!("+ {line}"))).collect()
    };
    let [more, fewer]: [Vec<_>; 2] = [more, fewer].map(|texts| texts.iter().map(changes).collect());
    assert!(more.is_empty() && fewer.is_empty(), "more: {more:#?}\nfewer: {fewer:#?}");
}
