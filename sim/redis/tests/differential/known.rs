//! Where a reply of ours may differ from the real server's, and in what: the rules of `known_differences.toml`.
//!
//! Errors and statuses are compared byte for byte whatever the rule says; so is everything no rule names.

use super::client::{Answer, End};
use super::resp::{Value, parse};
use super::script::Bytes;

const FILE: &str = include_str!("../known_differences.toml");

/// A moment or a rest of a lifetime may be this much later at one of the servers: milliseconds, or seconds.
const NEAR: u64 = 2_000;

/// One entry of the file.
#[derive(Debug)]
struct Rule {
    /// The command, and its subcommand where that matters, in capitals.
    command: Vec<String>,
    /// Only replies whose first item is this text.
    first: Option<String>,
    /// Only commands one of whose arguments contains this text.
    containing: Option<String>,
    compare: Compare,
}

/// What is compared all the same.
#[derive(Debug)]
enum Compare {
    /// The type of the reply.
    Type,
    /// Numbers up to [`NEAR`].
    Near,
    /// Items, in whatever order.
    AnyOrder,
    /// Every item but those at these places.
    Except(Vec<usize>),
    /// These fields of a text of `name:value` lines.
    Fields(Vec<String>),
    /// These fields of each line of `name=value` words.
    Lines(Vec<String>),
    /// Everything but what follows these names in maps, however deep.
    Without(Vec<String>),
}

/// The known differences.
#[derive(Debug)]
pub(crate) struct Known {
    rules: Vec<Rule>,
}

impl Known {
    /// Reads the file.
    ///
    /// # Errors
    /// When an entry lacks its command, its rule or its reason.
    pub(crate) fn read() -> Result<Known, String> {
        let file: toml::Table = FILE.parse().map_err(|error| format!("known_differences.toml: {error}"))?;
        let entries = file.get("difference").and_then(toml::Value::as_array).cloned().unwrap_or_default();
        let rules: Result<Vec<Rule>, String> = entries.iter().map(rule).collect();
        Ok(Known { rules: rules? })
    }

    /// Whether the answers to `command` are equal but for known differences. `queue` is what EXEC executed.
    pub(crate) fn agree(
        &self,
        command: &[Bytes],
        queue: &[Vec<Bytes>],
        real: &Answer,
        ours: &Answer,
    ) -> bool {
        if real == ours {
            return true;
        }
        if (real.end, ours.end) != (End::Reply, End::Reply) {
            return false;
        }
        let (Some((real, _)), Some((ours, _))) = (parse(&real.bytes), parse(&ours.bytes)) else {
            return false;
        };
        if command.first().is_some_and(|name| name.eq_ignore_ascii_case(b"EXEC")) {
            let (real, ours) = (real.items(), ours.items());
            return real.len() == queue.len()
                && ours.len() == queue.len()
                && queue
                    .iter()
                    .zip(real)
                    .zip(ours)
                    .all(|((command, real), ours)| self.same(command, real, ours));
        }
        self.same(command, &real, &ours)
    }

    fn same(&self, command: &[Bytes], real: &Value, ours: &Value) -> bool {
        // The rule that names most of the command is the one meant for it.
        let applying = self.rules.iter().filter(|rule| rule.applies_to(command, real));
        real == ours
            || applying
                .max_by_key(|rule| (rule.command.len(), rule.first.is_some()))
                .is_some_and(|rule| rule.compare.same(real, ours))
    }
}

impl Rule {
    fn applies_to(&self, command: &[Bytes], reply: &Value) -> bool {
        let named = command.len() >= self.command.len()
            && self.command.iter().zip(command).all(|(name, arg)| arg.eq_ignore_ascii_case(name.as_bytes()));
        let first = reply.items().first().and_then(Value::text);
        let contains = |wanted: &String| {
            let found = |arg: &Bytes| arg.windows(wanted.len()).any(|part| part == wanted.as_bytes());
            command.iter().any(found)
        };
        named
            && self.containing.as_ref().is_none_or(contains)
            && self.first.as_ref().is_none_or(|wanted| first == Some(wanted.as_bytes()))
    }
}

impl Compare {
    fn same(&self, real: &Value, ours: &Value) -> bool {
        if real.kind() != ours.kind() || matches!(real.kind(), b'-' | b'+') {
            return false;
        }
        match self {
            Compare::Type => true,
            Compare::Near => match (real.integer(), ours.integer()) {
                (Some(real), Some(ours)) => real > 0 && ours > 0 && real.abs_diff(ours) <= NEAR,
                _ => false,
            },
            Compare::AnyOrder => sorted(real) == sorted(ours),
            Compare::Except(places) => {
                let (real, ours) = (real.items(), ours.items());
                let equal = |place: usize| places.contains(&place) || real[place] == ours[place];
                real.len() == ours.len() && (0..real.len()).all(equal)
            }
            Compare::Fields(names) => names
                .iter()
                .all(|name| field(real, name).is_none_or(|value| field(ours, name) == Some(value))),
            Compare::Lines(names) => lines(real, names) == lines(ours, names),
            Compare::Without(names) => without(real, names) == without(ours, names),
        }
    }
}

/// A reply without the pairs of these names. Maps lose their length with it: RESP2 has none anyway.
fn without(value: &Value, names: &[String]) -> Value {
    let Value::Many(kind, items) = value else { return value.clone() };
    let is_name =
        |item: &Value| item.text().is_some_and(|text| names.iter().any(|name| text == name.as_bytes()));
    let mut kept = Vec::new();
    let mut items = items.iter();
    while let Some(item) = items.next() {
        if is_name(item) {
            items.next();
        } else {
            kept.push(without(item, names));
        }
    }
    Value::Many(*kind, kept)
}

fn sorted(value: &Value) -> Vec<String> {
    let mut items: Vec<String> = value.items().iter().map(|item| format!("{item:?}")).collect();
    items.sort();
    items
}

/// These words of each line.
fn lines(text: &Value, names: &[String]) -> Vec<Vec<String>> {
    let text = String::from_utf8_lossy(text.text().unwrap_or_default()).into_owned();
    let is_named =
        |word: &&str| word.split_once('=').is_some_and(|(name, _)| names.iter().any(|n| n == name));
    text.lines().map(|line| line.split(' ').filter(is_named).map(str::to_owned).collect()).collect()
}

fn field<'a>(text: &'a Value, name: &str) -> Option<&'a [u8]> {
    let mut lines = text.text()?.split(|&byte| byte == b'\n');
    lines.find_map(|line| line.strip_prefix(name.as_bytes())?.strip_prefix(b":"))
}

fn rule(entry: &toml::Value) -> Result<Rule, String> {
    let text = |name: &str| entry.get(name).and_then(toml::Value::as_str).map(str::to_owned);
    let lacks = |what: &str| format!("known_differences.toml: an entry lacks `{what}`: {entry}");
    let command = text("command").ok_or_else(|| lacks("command"))?;
    text("reason").filter(|reason| !reason.is_empty()).ok_or_else(|| lacks("reason"))?;
    let list = |name: &str| entry.get(name).and_then(toml::Value::as_array).cloned().unwrap_or_default();
    let texts = |name: &str| -> Vec<String> {
        list(name).iter().filter_map(|text| Some(text.as_str()?.to_owned())).collect()
    };
    let compare = match text("compare").as_deref() {
        Some("type") => Compare::Type,
        Some("near") => Compare::Near,
        Some("any-order") => Compare::AnyOrder,
        Some("except") => Compare::Except(
            list("places").iter().filter_map(|place| Some(place.as_integer()? as usize)).collect(),
        ),
        Some("fields") => Compare::Fields(texts("fields")),
        Some("lines") => Compare::Lines(texts("fields")),
        Some("without") => Compare::Without(texts("fields")),
        _ => return Err(lacks("compare")),
    };
    let command = command.split(' ').map(str::to_owned).collect();
    Ok(Rule { command, first: text("first"), containing: text("containing"), compare })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agree(command: &str, real: &str, ours: &str) -> bool {
        let known = Known::read().expect("the list is well-formed");
        let command: Vec<Bytes> = command.split(' ').map(|word| word.as_bytes().to_vec()).collect();
        let answer = |text: &str| Answer { bytes: text.replace('|', "\r\n").into_bytes(), end: End::Reply };
        known.agree(&command, std::slice::from_ref(&command), &answer(real), &answer(ours))
    }

    #[test]
    fn a_known_difference_excuses_what_it_names_and_nothing_else() {
        let cases = [
            ("PTTL k", ":100|", ":90|", true),
            ("PTTL k", ":9000|", ":90|", false),
            ("PTTL k", ":-1|", ":-2|", false),
            ("TTL k", ":100|", ":99|", false),
            ("KEYS *", "*2|$1|a|$1|b|", "*2|$1|b|$1|a|", true),
            ("KEYS *", "*2|$1|a|$1|b|", "*2|$1|b|$1|b|", false),
            ("INFO", "$18|role:master|x:1||", "$18|role:master|x:2||", true),
            ("INFO", "$18|role:master|x:1||", "$18|role:slave|x:22||", false),
            ("INFO", "-ERR a|", "-ERR b|", false),
            ("ROLE", "*3|$6|master|:1|*0|", "*3|$6|master|:2|*0|", true),
            ("ROLE", "*3|$6|master|:1|*0|", "*3|$5|slave|:1|*0|", false),
            (
                "COMMAND DOCS a",
                "*2|$1|a|*4|$7|summary|$1|x|$1|b|$1|c|",
                "*2|$1|a|*4|$7|summary|$1|y|$1|b|$1|c|",
                true,
            ),
            (
                "COMMAND DOCS a",
                "*2|$1|a|*4|$7|summary|$1|x|$1|b|$1|c|",
                "*2|$1|a|*4|$7|summary|$1|y|$1|b|$1|d|",
                false,
            ),
            ("EVAL call('pttl',k) 0", ":100|", ":90|", true),
            ("EVAL call('ttl',k) 0", ":100|", ":90|", false),
            ("CLIENT LIST", "$22|id=1 cmd=get\nid=2 db=3|", "$22|id=7 cmd=get\nid=8 db=3|", true),
            ("CLIENT LIST", "$22|id=1 cmd=get\nid=2 db=3|", "$22|id=7 cmd=get\nid=8 db=4|", false),
            ("CLIENT LIST", "$22|id=1 cmd=get\nid=2 db=3|", "$12|id=1 cmd=get|", false),
            ("COMMAND LIST", "*1|$1|a|", "*1|$1|b|", true),
            ("COMMAND LIST FILTERBY", "*1|$1|a|", "*1|$1|b|", false),
            ("EXEC", "*1|:1|", "*1|:2|", false),
            ("GET k", "$1|a|", "$1|b|", false),
        ];
        for (command, real, ours, expected) in cases {
            assert_eq!(agree(command, real, ours), expected, "{command}: {real} and {ours}");
        }
    }
}
