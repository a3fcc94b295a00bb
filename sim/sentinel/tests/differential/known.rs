//! Where a reply of ours may differ from the real Sentinel's, and in what: the rules of `known_differences.toml`.

use crate::client::Reply;

const FILE: &str = include_str!("../known_differences.toml");

/// One entry of the file.
#[derive(Debug)]
struct Rule {
    /// The command, and what follows it where that matters.
    command: Vec<String>,
    compare: Compare,
}

/// The rest of an answer, which is compared all the same.
#[derive(Debug)]
enum Compare {
    /// The type of the reply.
    Type,
    /// That ours does not know it.
    Unknown,
    /// That the real one refuses it.
    Refused,
    /// These fields of a text of `name:value` lines.
    Fields(Vec<String>),
    /// These fields of each line of `name=value` words.
    Lines(Vec<String>),
    /// Everything but what follows these names.
    Without(Vec<String>),
}

/// The known differences.
#[derive(Debug)]
pub(crate) struct Known(Vec<Rule>);

impl Known {
    /// Reads the file.
    pub(crate) fn read() -> Known {
        let file: toml::Table = FILE.parse().expect("known_differences.toml is TOML");
        let entries = file["difference"].as_array().expect("a list").iter();
        Known(entries.map(|entry| rule(entry).unwrap_or_else(|| panic!("no rule: {entry}"))).collect())
    }

    /// True if the replies to a command are equal but for known differences.
    pub(crate) fn agree(&self, command: &str, real: &Reply, ours: &Reply) -> bool {
        let words: Vec<&str> = command.split(' ').collect();
        let applies = |rule: &&Rule| {
            let mut named = rule.command.iter().zip(&words);
            rule.command.len() <= words.len() && named.all(|(name, word)| name.eq_ignore_ascii_case(word))
        };
        let rule = self.0.iter().filter(applies).max_by_key(|rule| rule.command.len());
        real == ours || rule.is_some_and(|rule| rule.compare.same(real, ours))
    }
}

fn rule(entry: &toml::Value) -> Option<Rule> {
    let text = |key: &str| entry.get(key)?.as_str();
    let fields = || {
        let names = entry.get("fields")?.as_array()?.iter();
        names.map(|name| Some(name.as_str()?.to_owned())).collect::<Option<Vec<String>>>()
    };
    text("reason")?;
    let compare = match text("compare")? {
        "type" => Compare::Type,
        "unknown" => Compare::Unknown,
        "refused" => Compare::Refused,
        "fields" => Compare::Fields(fields()?),
        "lines" => Compare::Lines(fields()?),
        "without" => Compare::Without(fields()?),
        _ => return None,
    };
    Some(Rule { command: text("command")?.split(' ').map(str::to_owned).collect(), compare })
}

impl Compare {
    fn same(&self, real: &Reply, ours: &Reply) -> bool {
        match self {
            Compare::Type => kind(real) == kind(ours),
            Compare::Unknown => matches!(ours, Reply::Line(line) if line.starts_with("-ERR unknown ")),
            Compare::Refused => kind(real) == Some('-') && kind(ours) != Some('-'),
            Compare::Fields(fields) => named(fields, real, &['\n'], ':') == named(fields, ours, &['\n'], ':'),
            Compare::Lines(fields) => {
                let split = [' ', '\n'];
                named(fields, real, &split, '=') == named(fields, ours, &split, '=')
            }
            Compare::Without(fields) => without(fields, real) == without(fields, ours),
        }
    }
}

fn kind(reply: &Reply) -> Option<char> {
    match reply {
        Reply::Line(line) => line.chars().next(),
        Reply::Text(_) => Some('$'),
        Reply::Many(kind, _) => Some(*kind),
        Reply::End => None,
    }
}

/// The pairs of a text whose names are among the fields, in their order.
fn named<'a>(fields: &[String], reply: &'a Reply, split: &[char], between: char) -> Vec<(&'a str, &'a str)> {
    let pairs = reply.text().split(split).filter_map(|pair| pair.trim().split_once(between));
    pairs.filter(|(name, _)| fields.iter().any(|field| field == name)).collect()
}

/// The reply, with the values of these fields left out.
fn without(fields: &[String], reply: &Reply) -> Reply {
    let Reply::Many(kind, items) = reply else { return reply.clone() };
    let mut is_value = false;
    let rest = items.iter().map(|item| match std::mem::take(&mut is_value) {
        true => Reply::Line("left out".to_owned()),
        false => {
            is_value = fields.iter().any(|field| field == item.text());
            without(fields, item)
        }
    });
    Reply::Many(*kind, rest.collect())
}
