//! Whether a scenario is 1-minimal, found out from its file: each thing that the format can say is left out of the text
//! in turn, and the rest is read and run. Shares no code with the shrinker.

use std::time::Duration;

use doublehold_history::{RunOutcome, Verdict};
use doublehold_scenarios::fault::{Effect, Fault};
use doublehold_scenarios::format::Source;
use doublehold_scenarios::report::Summary;
use doublehold_scenarios::when::When;
use doublehold_scenarios::{Engine, LeanEngine, Prepared, Scenario, Seed};
use doublehold_search::shrink::{Shrunk, Target};
use toml::{Table, Value};

/// Everything that could be left out and would leave a run that violates as well; and every fault that could last for
/// the next shorter round time and would violate at the seed and at those that follow, as it does.
pub(crate) fn superfluous(shrunk: &Shrunk, keep_nodes: bool) -> Vec<String> {
    let Shrunk { scenario, seed, target, .. } = shrunk;
    let end = outcome(scenario, *seed);
    let file: Table = scenario.to_toml().parse().expect("it is TOML");
    let mut less = Vec::new();
    faults(&file, &mut less);
    clients(&file, &mut less);
    if !keep_nodes {
        nodes(&file, &mut less);
    }
    less.retain(|(_, file)| read(file, scenario).is_some_and(|less| violates(&less, *seed, *target, end)));
    let mut shorter = shorter(&file);
    let seeds = || (seed.0..seed.0 + 9).map(Seed);
    if seeds().all(|seed| violates(scenario, seed, *target, end)) {
        let is_enough = |less: &Scenario| seeds().all(|seed| violates(less, seed, *target, end));
        shorter.retain(|(_, file)| read(file, scenario).is_some_and(|less| is_enough(&less)));
        less.extend(shorter);
    }
    less.into_iter().map(|(what, _)| what).collect()
}

/// Every end of a window at which the run does not violate, or violates as well right beyond it.
pub(crate) fn wrong_ends(shrunk: &Shrunk) -> Vec<String> {
    let end = outcome(&shrunk.scenario, shrunk.seed);
    let mut wrong = Vec::new();
    for window in &shrunk.windows {
        let (_, key) = window.key.split_once('.').expect("`faults.0.for`");
        let (fault, key) = key.split_once('.').expect("`0.for`");
        let with = |size: Duration| {
            let mut scenario = shrunk.scenario.clone();
            set(&mut scenario.faults[fault.parse::<usize>().expect("a number")], key, size);
            violates(&scenario, shrunk.seed, shrunk.target, end)
        };
        let finest = |end: Duration| Duration::from_millis(1).max(end / 990);
        let below = window.from.saturating_sub(finest(window.from));
        let above = window.to + finest(window.to);
        if !with(window.from) || !with(window.to) {
            wrong.push(format!("{window}: an end does not violate"));
        }
        if (window.loses_below && with(below)) || (window.loses_above && with(above)) {
            wrong.push(format!("{window}: {below:?} or {above:?} violates as well"));
        }
    }
    wrong
}

fn set(fault: &mut Fault, key: &str, size: Duration) {
    match (key, &mut fault.at, &mut fault.effect) {
        ("for", ..) => fault.lasting = Some(size),
        ("at", When::At(at), _) => *at = size,
        ("at", When::On { after, .. }, _) => *after = size,
        (_, _, Effect::ClockStep { by_ns, .. }) => *by_ns = by_ns.signum() * size.as_nanos() as i64,
        (_, _, Effect::Slow { by, .. } | Effect::PacketDelay { by, .. }) => *by = size,
        ("after", _, Effect::Duplicate { after, .. }) => *after = size,
        (key, ..) => panic!("{key} of {fault}"),
    }
}

/// With the next shorter of 1, 2, 5, 10 … milliseconds in the place of one `for`, `by` or `after` of a fault.
fn shorter(file: &Table) -> Vec<Less> {
    let mut less = Vec::new();
    for fault in 0..count(file, "faults") {
        for key in ["for", "by", "after"] {
            let text = file["faults"][fault].get(key).and_then(Value::as_str).unwrap_or_default();
            let (sign, size) = text.split_at(text.find(|letter: char| letter.is_ascii_digit()).unwrap_or(0));
            let mut steps = (0..8).flat_map(|zeros| [1, 2, 5].map(|digit: u64| digit * 10_u64.pow(zeros)));
            let Some(next) = milliseconds(size).and_then(|now| steps.rfind(|it| (*it as f64) < now)) else {
                continue;
            };
            let mut file = file.clone();
            table(&mut list(&mut file, "faults")[fault])
                .insert(key.to_owned(), format!("{sign}{next}ms").into());
            less.push((format!("fault {fault}: {key} {next}ms"), file));
        }
    }
    less
}

fn milliseconds(text: &str) -> Option<f64> {
    let (scale, number) = [("ms", 1.0), ("us", 0.001), ("ns", 0.000_001), ("s", 1_000.0)]
        .into_iter()
        .find_map(|(unit, scale)| Some((scale, text.strip_suffix(unit)?)))?;
    Some(number.parse::<f64>().ok()? * scale)
}

/// How the run of a scenario ends.
pub(crate) fn outcome(scenario: &Scenario, seed: Seed) -> RunOutcome {
    LeanEngine.prepare(scenario).expect("it can be run").judge(seed).outcome
}

/// Whether the run of a scenario shows it and comes to its end, or ends as is said.
pub(crate) fn violates(scenario: &Scenario, seed: Seed, target: Target, end: RunOutcome) -> bool {
    LeanEngine.prepare(scenario).is_ok_and(|prepared| shows(&prepared.judge(seed), target, end))
}

/// True if a run shows it and came to its end, or ended as is said.
pub(crate) fn shows(run: &Summary, target: Target, end: RunOutcome) -> bool {
    let ended = [RunOutcome::Completed, RunOutcome::Stalled, end].contains(&run.outcome);
    match target {
        Target::Violates(predicate) => {
            ended
                && matches!(run.verdicts.get(predicate), Verdict::Violated(evidence) if !evidence.is_empty())
        }
        Target::Panics => run.panicked.is_some(),
    }
}

fn read(file: &Table, like: &Scenario) -> Option<Scenario> {
    Source { name: like.name.clone(), text: file.to_string(), ..Source::default() }.read().ok()
}

type Less = (String, Table);

fn list<'a>(table: &'a mut Table, key: &str) -> &'a mut Vec<Value> {
    table.get_mut(key).and_then(Value::as_array_mut).expect("a list")
}

fn count(table: &Table, key: &str) -> usize {
    table.get(key).and_then(Value::as_array).map_or(0, Vec::len)
}

fn table(value: &mut Value) -> &mut Table {
    value.as_table_mut().expect("a table")
}

fn faults(file: &Table, less: &mut Vec<Less>) {
    for fault in 0..count(file, "faults") {
        let mut push = |what: &str, change: &dyn Fn(&mut Table)| {
            let mut file = file.clone();
            change(table(&mut list(&mut file, "faults")[fault]));
            less.push((format!("fault {fault}: {what}"), file));
        };
        let this = &file["faults"][fault];
        for key in ["host", "from", "to", "tell"] {
            let several = this.get(key).and_then(Value::as_array).map_or(0, Vec::len);
            for name in 0..several {
                push(&format!("{key} {name}"), &|fault| {
                    list(fault, key).remove(name);
                });
            }
        }
        if this.get("both_ways") == Some(&Value::Boolean(true)) {
            push("back", &|fault| {
                fault.insert("both_ways".to_owned(), false.into());
            });
            push("there", &|fault| {
                fault.insert("both_ways".to_owned(), false.into());
                let (from, to) = (fault["from"].clone(), fault["to"].clone());
                fault.insert("from".to_owned(), to);
                fault.insert("to".to_owned(), from);
            });
        }
        if this.get("each") == Some(&Value::Boolean(true)) {
            push("each", &|fault| {
                fault.insert("each".to_owned(), false.into());
            });
        }
        let mut without = file.clone();
        list(&mut without, "faults").remove(fault);
        less.push((format!("fault {fault}"), without));
    }
}

fn clients(file: &Table, less: &mut Vec<Less>) {
    for client in 0..count(file, "clients") {
        let this = &file["clients"][client];
        let name = this["name"].as_str().expect("a name");
        let mut without = without_host(file, name);
        list(&mut without, "clients").remove(client);
        less.push((format!("client {name}"), without));
        let change = |what: String, change: &dyn Fn(&mut Table)| {
            let mut file = file.clone();
            change(table(&mut list(&mut file, "clients")[client]));
            (format!("client {name}: {what}"), file)
        };
        let rounds = this["rounds"].as_integer().expect("a number");
        if rounds > 1 {
            less.push(change("a round".to_owned(), &|client| {
                client.insert("rounds".to_owned(), (rounds - 1).into());
            }));
        }
        let steps = this["program"].as_array().expect("steps");
        for (place, step) in steps.iter().enumerate() {
            let step = step.as_str().expect("a text");
            // What is never released is claimed for ever, which is another program's violation.
            if !step.starts_with("release")
                || steps.iter().filter(|other| other.as_str() == Some(step)).count() > 1
            {
                less.push(change(format!("`{step}`"), &|client| {
                    list(client, "program").remove(place);
                }));
            }
        }
    }
}

fn nodes(file: &Table, less: &mut Vec<Less>) {
    let names = file["nodes"]["names"].as_array().expect("names");
    for (place, name) in names.iter().enumerate() {
        let name = name.as_str().expect("a name");
        let mut without = without_host(file, name);
        list(table(without.get_mut("nodes").expect("nodes")), "names").remove(place);
        less.push((format!("node {name}"), without));
    }
}

/// Without all that is said of a host elsewhere.
fn without_host(file: &Table, name: &str) -> Table {
    let mut file = file.clone();
    let waits = |value: Option<&Value>| {
        let mut words = value.and_then(Value::as_str).unwrap_or_default().split_whitespace();
        words.any(|word| word.trim_end_matches("'s") == name)
    };
    if file.contains_key("faults") {
        list(&mut file, "faults").retain_mut(|fault| {
            let fault = table(fault);
            let gone = waits(fault.get("at")) || fault.get("master").and_then(Value::as_str) == Some(name);
            !gone && ["host", "from", "to"].into_iter().all(|key| is_left(fault, key, name))
        });
    }
    if let Some(links) = file.get_mut("network").and_then(|network| network.get_mut("links")) {
        let links = links.as_array_mut().expect("a list");
        links.retain_mut(|link| ["from", "to"].into_iter().all(|key| is_left(table(link), key, name)));
    }
    for client in list(&mut file, "clients") {
        if waits(client.get("start")) {
            table(client).remove("start");
        }
    }
    if let Some(Value::Table(times)) = file.get_mut("nodes").and_then(|nodes| nodes.get_mut("command_time")) {
        times.remove(name);
    }
    if let Some(clocks) = file.get_mut("clocks") {
        table(clocks).remove(name);
    }
    file
}

/// Takes a name out of a key's one or many, and says whether any is left.
fn is_left(table: &mut Table, key: &str, name: &str) -> bool {
    match table.get_mut(key) {
        Some(Value::String(only)) => only != name,
        Some(Value::Array(names)) => {
            names.retain(|other| other.as_str() != Some(name));
            !names.is_empty()
        }
        _ => true,
    }
}
