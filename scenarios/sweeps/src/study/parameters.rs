//! What a study may change in a world, and how.
//!
//! A parameter is a key of a scenario's file by its path, `lock.ttl`. What lies in lists has short names that mean all
//! items alike, since a grid that varies one client's retry is seldom meant:
//!
//! | parameter | means |
//! |---|---|
//! | `weather` | all random faults: a preset, a file, or `none` |
//! | `weather.pause.for` | `for` of every line of the weather about pauses |
//! | `weather.pause[clients].for` | `for` of the line about pauses of clients |
//! | `weather.pause`, `weather.pause[clients]` | `false` takes these lines out, or this line |
//! | `clients.count`, `clients.work` | how many clients, and the length of their work |
//! | `clients.rounds` | this key of all clients |
//! | `nodes.count` | how many nodes |
//! | `clocks.nodes.drift`, `clocks.clients.drift` | the clocks of all nodes, or of all clients |
//!
//! The value `none` leaves a key out, where that says something that no value says.
//!
//! The last part of the path is not looked at here: the reader of scenarios refuses what it does not know, in its own
//! words. What is checked is that the first parts name something, since a mistyped name would be a table of its own
//! that says nothing.

use std::fmt;
use std::path::Path;

use doublehold_scenarios::format::problem::{Problem, Result};
use doublehold_scenarios::format::section::Field;
use doublehold_scenarios::format::tree::{Item, ItemValue, Table};
use doublehold_scenarios::format::vocabulary;
use doublehold_text::shorten;
use doublehold_text::suggest;

use super::{lines, weather_node};

/// The value that leaves a key out.
const NONE: &str = "none";

/// Something that a study can vary.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Parameter {
    /// Its name.
    pub name: String,
    /// What its value is: `a duration`.
    pub takes: &'static str,
    /// The value that it has where nothing is said, as it is typed.
    pub default: String,
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}, {}", self.name, self.takes, self.default)
    }
}

/// Changes a world. Files of weathers are named from `folder`.
pub(super) fn apply(tree: &mut Item, key: &str, value: &Item, folder: &Path) -> Result<()> {
    let parts: Vec<&str> = key.split('.').collect();
    match parts[..] {
        ["weather"] => {
            if let ItemValue::Table(file) = &mut tree.value {
                file.remove("weather");
                file.extend(weather_node(value, folder)?.map(|weather| ("weather".to_owned(), weather)));
            }
            Ok(())
        }
        ["weather", line] if lines::is_line(tree, line) => lines::keep(tree, line, value),
        ["clients", "count"] => clients(tree, number(key, value, 1..=100)?),
        ["clients", "work"] => work(tree, value),
        ["nodes", "count"] => nodes(tree, number(key, value, 1..=100)?),
        _ if is_left_out(tree, key, value) => {
            paths(tree, key).iter().for_each(|path| tree.remove(path));
            Ok(())
        }
        _ => paths(tree, key).iter().try_for_each(|path| tree.overlay(path, value.clone())),
    }
}

/// Whether a value says that the key is to be left out: `none`, where that is no word of the key's own.
pub(super) fn is_left_out(tree: &Item, key: &str, value: &Item) -> bool {
    let is_word = || {
        let path = format_key(tree, key);
        vocabulary().iter().any(|known| known.path == path && known.word.as_deref() == Some(NONE))
    };
    value.as_text() == Some(NONE) && !["weather", "clients.work"].contains(&key) && !is_word()
}

/// Refuses to leave out what then has a default: `none` would be another word for it. `written` is the scenario's file.
pub(super) fn refuse_default(tree: &Item, written: &Item, key: &str, value: &Item) -> Result<()> {
    fn at<'a>(node: &'a Item, path: &str) -> Option<&'a Item> {
        node.find(&path.split('.').collect::<Vec<_>>())
    }
    let paths = paths(tree, key);
    let default = paths.iter().find_map(|path| at(written, path).filter(|_| at(tree, path).is_none()));
    let Some(default) = default else { return Ok(()) };
    let cause = format!("`{key}` cannot be `{NONE}`: where nothing is said it is `{}`", default.plain_text());
    Err(Problem::new(value.origin, cause, "name the value that is meant"))
}

/// The key of the format that a parameter is: without the numbers and names of items.
fn format_key(tree: &Item, key: &str) -> String {
    let parts: Vec<&str> = key.split('.').collect();
    match &parts[..] {
        ["weather", line, rest @ ..] if lines::is_line(tree, line) => {
            format!("weather.faults.{}", rest.join("."))
        }
        ["clocks", _, rest @ ..] => format!("clocks.{}", rest.join(".")),
        parts => {
            let names = parts.iter().copied().filter(|part| part.parse::<usize>().is_err());
            names.collect::<Vec<_>>().join(".")
        }
    }
}

/// Where in a world a parameter is: at one path, or where a short name means several items at each of theirs.
fn paths(tree: &Item, key: &str) -> Vec<String> {
    let parts: Vec<&str> = key.split('.').collect();
    let rest = || parts[2..].iter().map(|part| format!(".{part}")).collect::<String>();
    match parts[..] {
        ["weather", line, ..] if lines::is_line(tree, line) => {
            let lines = lines::meant_by(tree, line).into_iter();
            lines.map(|line| format!("weather.faults.{line}{}", rest())).collect()
        }
        ["clients", "work"] => work_paths(tree),
        ["clients", first, ..] if first.parse::<usize>().is_err() => {
            let count = list(tree, "clients").len();
            (0..count).map(|client| format!("clients.{client}.{first}{}", rest())).collect()
        }
        ["clocks", group @ ("clients" | "nodes"), ..] if !hosts(tree, "").contains(&group.to_owned()) => {
            hosts(tree, group).iter().map(|host| format!("clocks.{host}{}", rest())).collect()
        }
        _ => vec![key.to_owned()],
    }
}

/// The lines of the weather that a parameter is of, each by its path, with the key that it sets there: none for other
/// parameters.
pub(super) fn weather_keys(tree: &Item, key: &str) -> Vec<(String, String)> {
    let parts: Vec<&str> = key.split('.').collect();
    let ["weather", kind, rest, ..] = parts[..] else { return Vec::new() };
    let lines = lines::meant_by(tree, kind).into_iter();
    lines.map(|line| (format!("weather.faults.{line}"), rest.to_owned())).collect()
}

/// Text of a message, with the parameter in place of the paths that it means, and of the tables that they are in.
pub(super) fn replace_paths(tree: &Item, key: &str, mut words: String) -> String {
    let mut replace = |path: &str, typed: &str| {
        for end in ['`', '.'] {
            words = words.replace(&format!("`{path}{end}"), &format!("`{typed}{end}"));
        }
    };
    for path in paths(tree, key).iter().filter(|path| *path != key) {
        replace(path, key);
        if let (Some((table, last)), Some((typed, same))) = (path.rsplit_once('.'), key.rsplit_once('.'))
            && last == same
        {
            replace(table, typed);
        }
    }
    words
}

/// Refuses what names nothing in a world, and lists what does.
pub(super) fn check(tree: &Item, key: &str, field: &Field<'_>, design: &str) -> Result<()> {
    if matches!(field.node().value, ItemValue::Table(_)) && !key.contains('.') {
        let cause = format!("`{}` is a table", shorten(key));
        return Err(field.problem(cause, "write the whole name in quotes, such as `\"lock.ttl\" = \"10s\"`"));
    }
    if is_known(tree, key) {
        return Ok(());
    }
    let known = all_parameters(tree);
    let names: Vec<&str> = known.iter().map(|parameter| parameter.name.as_str()).collect();
    let meant =
        suggest::closest(key, &names).map_or(String::new(), |name| format!("did you mean `{name}`? "));
    let all: Vec<String> = known.iter().map(|parameter| format!("  {parameter}")).collect();
    let cause = format!("unknown parameter `{}` of design `{design}`", shorten(key));
    Err(field.problem(cause, format!("{meant}Known are:\n{}", all.join("\n"))))
}

/// Whether the name means something: it is in the world, or a key of the format that has no default.
fn is_known(tree: &Item, key: &str) -> bool {
    let is_listed = all_parameters(tree).iter().any(|parameter| parameter.name == key);
    let parts: Vec<&str> = key.split('.').collect();
    let has = |path: String| vocabulary().iter().any(|known| known.path == path);
    let is_number = |part: &&str| part.parse::<usize>().is_ok();
    is_listed
        || match &parts[..] {
            ["variants" | "expect" | "claim" | "source" | "story" | "id" | "seed", ..] => false,
            ["weather", line] => lines::is_line(tree, line),
            ["weather", line, rest, ..] if lines::is_line(tree, line) => {
                has(format!("weather.faults.{rest}"))
            }
            ["clocks", host, rest] => {
                let known = [hosts(tree, ""), vec!["clients".to_owned(), "nodes".to_owned()]].concat();
                known.iter().any(|known| known == host) && has(format!("clocks.{rest}"))
            }
            ["faults", number, ..] => tree.find(&["faults", number]).is_some(),
            parts => {
                let bare: Vec<&str> = parts.iter().copied().filter(|part| !is_number(part)).collect();
                parts.len() > 1 && (has(bare.join(".")) || tree.find(parts).is_some())
            }
        }
}

/// Every parameter of a world that has a value.
fn all_parameters(tree: &Item) -> Vec<Parameter> {
    let mut known = vec![
        Parameter {
            name: "weather".to_owned(),
            takes: "a weather, a file of one, or \"none\"",
            default: if lines::items(tree).is_empty() { "\"none\"" } else { "as the study says" }.to_owned(),
        },
        Parameter {
            name: "clients.count".to_owned(),
            takes: "a whole number",
            default: list(tree, "clients").len().to_string(),
        },
        Parameter {
            name: "nodes.count".to_owned(),
            takes: "a whole number",
            default: hosts(tree, "nodes").len().to_string(),
        },
    ];
    known.extend(current_work(tree).map(|default| Parameter {
        name: "clients.work".to_owned(),
        takes: "a duration or a law",
        default,
    }));
    for group in ["clients", "nodes"] {
        let clock = |key, takes, default: &str| Parameter {
            name: format!("clocks.{group}.{key}"),
            takes,
            default: default.to_owned(),
        };
        known.extend([clock("drift", "a ratio", "\"0/1\""), clock("offset", "a duration", "\"0s\"")]);
    }
    gather(tree, &mut Vec::new(), &mut known);
    known.retain(|parameter| {
        let first = parameter.name.split('.').next().unwrap_or_default();
        !["claim", "source", "story", "id", "seed", "expect"].contains(&first)
            && !parameter.name.ends_with(".source")
            && !parameter.name.ends_with(".kind")
            && !["nodes.names", "clients.name", "clients.program", "lock.algorithm", "lock.name"]
                .contains(&parameter.name.as_str())
    });
    // In the order of the file where several lines have one name: the first of them says what it is.
    known.sort_by(|a, b| a.name.cmp(&b.name));
    known.dedup_by(|later, first| {
        let is_same = later.name == first.name;
        if is_same && later.default != first.default && !first.default.ends_with(OTHERS) {
            first.default.push_str(OTHERS);
        }
        is_same
    });
    known
}

/// What is said of a parameter that several lines of a world have with other values.
const OTHERS: &str = " and others";

/// Adds what a value says, under the short name of its path.
fn gather(node: &Item, path: &mut Vec<String>, known: &mut Vec<Parameter>) {
    match &node.value {
        ItemValue::Table(table) if !is_law(table) => {
            for (key, node) in table {
                path.push(key.clone());
                gather(node, path, known);
                path.pop();
            }
        }
        ItemValue::List(items) if path[..] == ["weather", "faults"] => {
            for (item, words) in items.iter().zip(lines::words(items)) {
                words.into_iter().for_each(|word| gather(item, &mut vec!["weather".to_owned(), word], known));
            }
        }
        ItemValue::List(items) if items.iter().any(|item| matches!(item.value, ItemValue::Table(_))) => {
            for (number, item) in items.iter().enumerate() {
                // All clients alike.
                let number = path.last().filter(|last| *last != "clients").map(|_| number.to_string());
                let depth = path.len();
                path.extend(number);
                gather(item, path, known);
                path.truncate(depth);
            }
        }
        value => {
            known.push(Parameter { name: path.join("."), takes: describe_kind(value), default: node.toml() })
        }
    }
}

fn is_law(table: &Table) -> bool {
    table.contains_key("median")
}

/// Words for what a value of this look is.
fn describe_kind(value: &ItemValue) -> &'static str {
    match value {
        ItemValue::Flag(_) => "true or false",
        ItemValue::Integer(_) => "a whole number",
        ItemValue::List(_) => "a list",
        ItemValue::Table(_) => "a duration or a law",
        ItemValue::Text(text) if text.contains('/') => "a ratio",
        ItemValue::Text(text) if text.contains("..") => "a duration or a law",
        ItemValue::Text(text) if doublehold_scenarios::format::duration(text).is_ok() => "a duration",
        ItemValue::Text(text) if text.ends_with('B') => "a size",
        ItemValue::Text(_) => "a word",
    }
}

fn list<'a>(tree: &'a Item, key: &str) -> &'a [Item] {
    match tree.find(&[key]).map(|node| &node.value) {
        Some(ItemValue::List(items)) => items,
        _ => &[],
    }
}

/// The kinds of faults that a world's weather has.
pub(super) fn kinds(tree: &Item) -> Vec<String> {
    lines::names(lines::items(tree)).iter().map(|name| name.kind().to_owned()).collect()
}

/// Takes out of a world's own weather what helps a search to find something: see [`super::weather_node`].
pub(super) fn strip_search_aids(tree: &mut Item) {
    let origin = tree.origin;
    if let Some(Item { value: ItemValue::Table(weather), .. }) = tree.find_mut(&["weather"]) {
        weather.insert("swarm".to_owned(), Item { value: ItemValue::Flag(false), origin });
        weather.insert("at_steps".to_owned(), Item::text("0/1", origin));
    }
}

/// The names of the hosts of a group: `clients`, `nodes`, or all of them.
fn hosts(tree: &Item, group: &str) -> Vec<String> {
    let text = |node: &Item| node.as_text().map(str::to_owned);
    let nodes = || match tree.find(&["nodes", "names"]).map(|node| &node.value) {
        Some(ItemValue::List(names)) => names.iter().filter_map(text).collect(),
        _ => Vec::new(),
    };
    let clients =
        || list(tree, "clients").iter().filter_map(|client| client.find(&["name"]).and_then(text)).collect();
    match group {
        "nodes" => nodes(),
        "clients" => clients(),
        _ => [nodes(), clients()].concat(),
    }
}

fn number(key: &str, value: &Item, bounds: std::ops::RangeInclusive<u64>) -> Result<usize> {
    Field::from_value(key, value).number(*bounds.start(), *bounds.end()).map(|number| number as usize)
}

/// As many clients as wanted, each like the first.
fn clients(tree: &mut Item, count: usize) -> Result<()> {
    let Some(Item { value: ItemValue::List(clients), .. }) = tree.find_mut(&["clients"]) else {
        return Ok(());
    };
    let Some(first) = clients.first().cloned() else { return Ok(()) };
    clients.truncate(count);
    while clients.len() < count {
        let mut client = first.clone();
        client.overlay("name", Item::text(&format!("c{}", clients.len() + 1), first.origin))?;
        clients.push(client);
    }
    Ok(())
}

/// As many nodes as wanted: a master and replicas, or nodes that stand alone.
fn nodes(tree: &mut Item, count: usize) -> Result<()> {
    let origin = tree.origin;
    let master = tree.find(&["nodes", "master"]).and_then(Item::as_text).map(str::to_owned);
    let name = |number: usize| match (&master, number) {
        (Some(master), 0) => master.clone(),
        (Some(_), number) => format!("R{number}"),
        // A to Z, and then N27.
        (None, number) => match u8::try_from(number).ok().filter(|number| *number < 26) {
            Some(letter) => char::from(b'A' + letter).to_string(),
            None => format!("N{}", number + 1),
        },
    };
    let names = (0..count).map(|number| Item::text(&name(number), origin)).collect();
    tree.overlay("nodes.names", Item { value: ItemValue::List(names), origin })
}

/// Paths of the `work` steps of all clients.
fn work_paths(tree: &Item) -> Vec<String> {
    let of_client = |(client, node): (usize, &Item)| match node.find(&["program"]).map(|node| &node.value) {
        Some(ItemValue::List(steps)) => {
            let is_work = |step: &Item| step.as_text().is_some_and(|step| step.starts_with("work "));
            let works = steps.iter().enumerate().filter(|(_, step)| is_work(step));
            works.map(|(step, _)| format!("clients.{client}.program.{step}")).collect()
        }
        _ => Vec::new(),
    };
    list(tree, "clients").iter().enumerate().flat_map(of_client).collect()
}

/// The length of the first `work` of a program, as it is typed.
fn current_work(tree: &Item) -> Option<String> {
    let first = work_paths(tree).into_iter().next()?;
    let step = tree.find(&first.split('.').collect::<Vec<_>>())?.as_text()?;
    step.strip_prefix("work ").map(|length| format!("\"{length}\""))
}

fn work(tree: &mut Item, value: &Item) -> Result<()> {
    let Some(length) = value.as_text() else {
        let cause = "`clients.work` must be a duration or a range such as `1s..3s`";
        return Err(Problem::new(value.origin, cause, "put it in quotes"));
    };
    let step = Item::text(&format!("work {length}"), value.origin);
    work_paths(tree).iter().try_for_each(|path| tree.overlay(path, step.clone()))
}
