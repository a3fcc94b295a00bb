//! A scenario as typed: a tree of texts, whole numbers, flags, lists and tables that know where they were written.
//!
//! Variants and `--set` are laid over the tree before anything in it is given a meaning, so a value is checked once,
//! whoever wrote it, and a message can say who did. Serde is not used for this: it would lose the place of a value at
//! the first change, and its messages do not say what would have been right.
//!
//! Floats and dates are refused: no float decides an event, and no scenario knows what day it is.

use std::collections::BTreeMap;

use doublehold_words::shorten;
use toml::de::{DeTable, DeValue};

use super::problem::{Origin, Problem, Result};
use super::syntax;

/// A value and where it was written.
#[derive(Clone, Debug)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// The place of it.
    pub origin: Origin,
}

#[derive(Clone, Debug)]
/// A value of TOML.
pub enum Value {
    /// A text.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// True or false.
    Flag(bool),
    /// A list.
    List(Vec<Node>),
    /// A table.
    Table(Table),
}

/// The values of a table by their keys.
pub type Table = BTreeMap<String, Node>;

impl Node {
    /// Reads a whole TOML document.
    pub fn parse(text: &str) -> Result<Node> {
        let lines = Lines::of(text);
        let document = DeTable::parse(text).map_err(|error| syntax::refusal(text, &error))?;
        let value = Value::Table(table(document.into_inner(), &lines, 0)?);
        Ok(Node { value, origin: Origin::Line(1) })
    }

    /// A text.
    pub fn text(text: &str, origin: Origin) -> Node {
        Node { value: Value::Text(text.to_owned()), origin }
    }

    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// What is at a path of keys and numbers.
    pub fn find(&self, path: &[&str]) -> Option<&Node> {
        let Some((name, rest)) = path.split_first() else { return Some(self) };
        match &self.value {
            Value::Table(table) => table.get(*name)?.find(rest),
            Value::List(items) => items.get(name.parse::<usize>().ok()?)?.find(rest),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub fn find_mut(&mut self, path: &[&str]) -> Option<&mut Node> {
        let Some((name, rest)) = path.split_first() else { return Some(self) };
        match &mut self.value {
            Value::Table(table) => table.get_mut(*name)?.find_mut(rest),
            Value::List(items) => items.get_mut(name.parse::<usize>().ok()?)?.find_mut(rest),
            _ => None,
        }
    }

    /// Takes out what is at a path, if anything is.
    pub fn remove(&mut self, path: &str) {
        let parts: Vec<&str> = path.split('.').collect();
        let Some((key, above)) = parts.split_last() else { return };
        if let Some(Node { value: Value::Table(table), .. }) = self.find_mut(above) {
            table.remove(*key);
        }
    }

    /// The value as a reader would say it, a text without quotes: `2s`, `{ median = "1s", sigma = "3/2" }`.
    pub fn shown(&self) -> String {
        self.as_text().map_or_else(|| self.toml(), str::to_owned)
    }

    /// The value as it is typed: `"2s"`, `{ median = "1s", sigma = "3/2" }`.
    pub fn toml(&self) -> String {
        let joined = |parts: Vec<String>| parts.join(", ");
        match &self.value {
            Value::Text(text) => toml::Value::from(text.as_str()).to_string(),
            Value::Integer(number) => number.to_string(),
            Value::Flag(flag) => flag.to_string(),
            Value::List(items) => format!("[{}]", joined(items.iter().map(Node::toml).collect())),
            Value::Table(table) => {
                let pair = |(key, node): (&String, &Node)| format!("{key} = {}", node.toml());
                format!("{{ {} }}", joined(table.iter().map(pair).collect()))
            }
        }
    }

    /// Reads the value of a `--set`: TOML if it is, otherwise a text, so that `3s` needs no quotes.
    pub(crate) fn parse_value(text: &str, origin: Origin) -> Result<Node> {
        let as_text = || Ok(Node::text(text, origin));
        let document = format!("value = {text}");
        let parsed = match DeTable::parse(&document) {
            Ok(parsed) => parsed,
            Err(error) if syntax::recursed(&error) => return Err(syntax::too_deep(origin)),
            Err(_) => return as_text(),
        };
        // A line break in the text could smuggle in a second key.
        let Ok([(_, value)]) = <[_; 1]>::try_from(parsed.into_inner().into_iter().collect::<Vec<_>>()) else {
            return as_text();
        };
        let mut node = node(value.into_inner(), Origin::Line(1), &Lines::of(text), 1)
            .map_err(|problem| problem.at(origin))?;
        node.set_origin(origin);
        Ok(node)
    }

    /// Lays `patch` over the value at `path`: tables are merged, everything else is replaced.
    pub fn put(&mut self, path: &str, patch: Node) -> Result<()> {
        if path.split('.').count() > syntax::DEPTH_MAX {
            return Err(syntax::too_deep(patch.origin));
        }
        let mut target = self;
        let mut walked = String::new();
        for name in path.split('.') {
            let origin = patch.origin;
            target = match &mut target.value {
                Value::Table(table) => table
                    .entry(name.to_owned())
                    .or_insert_with(|| Node { value: Value::Table(Table::new()), origin }),
                Value::List(items) => {
                    let (count, index) = (items.len(), name.parse::<usize>().ok());
                    index
                        .and_then(|index| items.get_mut(index))
                        .ok_or_else(|| no_such_item(origin, &walked, name, count))?
                }
                _ => {
                    let cause = format!("`{walked}` is a value, so it has no `{}`", shorten(name));
                    return Err(Problem::new(origin, cause, format!("set `{walked}` itself")));
                }
            };
            if !walked.is_empty() {
                walked.push('.');
            }
            walked.push_str(&shorten(name));
        }
        target.merge(patch)
    }

    fn merge(&mut self, patch: Node) -> Result<()> {
        match (&mut self.value, patch) {
            (Value::Table(_) | Value::List(_), Node { value: Value::Table(patch), .. }) => {
                for (name, node) in patch {
                    self.put(&name, node)?;
                }
            }
            (_, patch) => *self = patch,
        }
        Ok(())
    }

    /// Says of it and of everything in it that it was written there.
    pub fn set_origin(&mut self, origin: Origin) {
        self.origin = origin;
        match &mut self.value {
            Value::List(items) => items.iter_mut().for_each(|item| item.set_origin(origin)),
            Value::Table(table) => table.values_mut().for_each(|node| node.set_origin(origin)),
            Value::Text(_) | Value::Integer(_) | Value::Flag(_) => {}
        }
    }
}

/// The keys of a table of a document in the order in which they were typed; a tree has them in that of the alphabet.
pub fn keys_as_typed(text: &str, table: &str) -> Vec<String> {
    let document = DeTable::parse(text).ok().map(toml::Spanned::into_inner);
    let value = document.and_then(|mut document| document.remove(table)).map(toml::Spanned::into_inner);
    let Some(DeValue::Table(table)) = value else { return Vec::new() };
    let mut keys: Vec<_> = table.into_iter().map(|(key, _)| (key.span().start, key.into_inner())).collect();
    keys.sort();
    keys.into_iter().map(|(_, key)| key.into_owned()).collect()
}

fn no_such_item(origin: Origin, list: &str, name: &str, count: usize) -> Problem {
    let hint = match count {
        0 => "the list is empty".to_owned(),
        1 => format!("its only item is `{list}.0`"),
        _ => format!("its items are `{list}.0` to `{list}.{}`", count - 1),
    };
    Problem::new(origin, format!("`{list}` has no item `{}`", shorten(name)), hint)
}

fn table(table: DeTable<'_>, lines: &Lines, depth: usize) -> Result<Table> {
    let entry = |(key, value): (toml::Spanned<_>, toml::Spanned<DeValue<'_>>)| {
        let origin = Origin::Line(lines.at(key.span().start));
        let key: std::borrow::Cow<'_, str> = key.into_inner();
        Ok((key.into_owned(), node(value.into_inner(), origin, lines, depth + 1)?))
    };
    table.into_iter().map(entry).collect()
}

fn node(value: DeValue<'_>, origin: Origin, lines: &Lines, depth: usize) -> Result<Node> {
    if depth > syntax::DEPTH_MAX {
        return Err(syntax::too_deep(origin));
    }
    let value = match value {
        DeValue::String(text) => Value::Text(text.into_owned()),
        DeValue::Boolean(flag) => Value::Flag(flag),
        DeValue::Integer(number) => {
            let parsed = i64::from_str_radix(number.as_str(), number.radix());
            let refused = |_| {
                let cause = format!("`{}` is too large a number", shorten(&number.to_string()));
                Problem::new(origin, cause, "use a smaller one")
            };
            Value::Integer(parsed.map_err(refused)?)
        }
        DeValue::Array(items) => Value::List(
            items
                .into_iter()
                .map(|item| {
                    let origin = Origin::Line(lines.at(item.span().start));
                    node(item.into_inner(), origin, lines, depth + 1)
                })
                .collect::<Result<_>>()?,
        ),
        DeValue::Table(inner) => Value::Table(table(inner, lines, depth)?),
        DeValue::Float(number) => {
            let hint = "write durations as \"1.5s\" and shares as ratios such as \"1/200\"";
            let number = shorten(&number.to_string());
            return Err(Problem::new(
                origin,
                format!("`{number}` has a fraction, and no key takes one"),
                hint,
            ));
        }
        DeValue::Datetime(date) => {
            let hint = "write durations since the start of the run, such as \"2.5s\"";
            return Err(Problem::new(origin, format!("`{date}` is a date, and no key takes one"), hint));
        }
    };
    Ok(Node { value, origin })
}

/// Where each line of a text begins: a file of a million values needs a million line numbers.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Lines {
        Lines(text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect())
    }

    fn at(&self, offset: usize) -> usize {
        self.0.partition_point(|&end| end < offset) + 1
    }
}
