//! A scenario as typed: a tree of texts, whole numbers, flags, lists and tables that know where they were written.
//!
//! Variants and `--set` are laid over the tree before anything in it is given a meaning, so a value is checked once,
//! whoever wrote it, and a message can say who did. Serde is not used for this: it would lose the place of a value at
//! the first change, and its messages do not say what would have been right.
//!
//! Floats and dates are refused: no float decides an event, and no scenario knows what day it is.

use std::collections::BTreeMap;

use doublehold_text::shorten;
use toml::de::{DeTable, DeValue};

use super::problem::{ItemOrigin, Problem, Result};
use super::syntax;

/// A value and where it was written.
#[derive(Clone, Debug)]
pub struct Item {
    /// The value.
    pub value: ItemValue,
    /// The place of it.
    pub origin: ItemOrigin,
}

#[derive(Clone, Debug)]
/// A value of TOML.
pub enum ItemValue {
    /// A text.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// True or false.
    Flag(bool),
    /// A list.
    List(Vec<Item>),
    /// A table.
    Table(Table),
}

/// The values of a table by their keys.
pub type Table = BTreeMap<String, Item>;

impl Item {
    /// Reads a whole TOML document.
    ///
    /// # Errors
    ///
    /// If it is no TOML.
    pub fn parse(text: &str) -> Result<Item> {
        let lines = Lines::from_text(text);
        let document = DeTable::parse(text).map_err(|error| syntax::refusal(text, &error))?;
        let value = ItemValue::Table(table(document.into_inner(), &lines, 0)?);
        Ok(Item { value, origin: ItemOrigin::Line(1) })
    }

    /// A text.
    pub fn text(text: &str, origin: ItemOrigin) -> Item {
        Item { value: ItemValue::Text(text.to_owned()), origin }
    }

    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match &self.value {
            ItemValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// What is at a path of keys and numbers.
    pub fn find(&self, path: &[&str]) -> Option<&Item> {
        let Some((name, rest)) = path.split_first() else { return Some(self) };
        match &self.value {
            ItemValue::Table(table) => table.get(*name)?.find(rest),
            ItemValue::List(items) => items.get(name.parse::<usize>().ok()?)?.find(rest),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub fn find_mut(&mut self, path: &[&str]) -> Option<&mut Item> {
        let Some((name, rest)) = path.split_first() else { return Some(self) };
        match &mut self.value {
            ItemValue::Table(table) => table.get_mut(*name)?.find_mut(rest),
            ItemValue::List(items) => items.get_mut(name.parse::<usize>().ok()?)?.find_mut(rest),
            _ => None,
        }
    }

    /// Takes out what is at a path, if anything is.
    pub fn remove(&mut self, path: &str) {
        let parts: Vec<&str> = path.split('.').collect();
        let Some((key, above)) = parts.split_last() else { return };
        if let Some(Item { value: ItemValue::Table(table), .. }) = self.find_mut(above) {
            table.remove(*key);
        }
    }

    /// The value as a reader would say it, a text without quotes: `2s`, `{ median = "1s", sigma = "3/2" }`.
    pub fn plain_text(&self) -> String {
        self.as_text().map_or_else(|| self.toml(), str::to_owned)
    }

    /// The value as it is typed: `"2s"`, `{ median = "1s", sigma = "3/2" }`.
    pub fn toml(&self) -> String {
        let joined = |parts: Vec<String>| parts.join(", ");
        match &self.value {
            ItemValue::Text(text) => toml::Value::from(text.as_str()).to_string(),
            ItemValue::Integer(number) => number.to_string(),
            ItemValue::Flag(flag) => flag.to_string(),
            ItemValue::List(items) => format!("[{}]", joined(items.iter().map(Item::toml).collect())),
            ItemValue::Table(table) => {
                let pair = |(key, node): (&String, &Item)| format!("{key} = {}", node.toml());
                format!("{{ {} }}", joined(table.iter().map(pair).collect()))
            }
        }
    }

    /// Reads the value of a `--set`: TOML if it is, otherwise a text, so that `3s` needs no quotes.
    pub(crate) fn parse_value(text: &str, origin: ItemOrigin) -> Result<Item> {
        let as_text = || Ok(Item::text(text, origin));
        let document = format!("value = {text}");
        let parsed = match DeTable::parse(&document) {
            Ok(parsed) => parsed,
            Err(error) if syntax::is_too_deep(&error) => return Err(syntax::too_deep(origin)),
            Err(_) => return as_text(),
        };
        // A line break in the text could smuggle in a second key.
        let Ok([(_, value)]) = <[_; 1]>::try_from(parsed.into_inner().into_iter().collect::<Vec<_>>()) else {
            return as_text();
        };
        let mut node = node(value.into_inner(), ItemOrigin::Line(1), &Lines::from_text(text), 1)
            .map_err(|problem| problem.at(origin))?;
        node.set_origin(origin);
        Ok(node)
    }

    /// Lays `patch` over the value at `path`: tables are merged, everything else is replaced.
    ///
    /// # Errors
    ///
    /// If the path leads through something else than tables and lists.
    pub fn overlay(&mut self, path: &str, patch: Item) -> Result<()> {
        if path.split('.').count() > syntax::DEPTH_MAX {
            return Err(syntax::too_deep(patch.origin));
        }
        let mut target = self;
        let mut walked = String::new();
        for name in path.split('.') {
            let origin = patch.origin;
            target = match &mut target.value {
                ItemValue::Table(table) => table
                    .entry(name.to_owned())
                    .or_insert_with(|| Item { value: ItemValue::Table(Table::new()), origin }),
                ItemValue::List(items) => {
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

    fn merge(&mut self, patch: Item) -> Result<()> {
        match (&mut self.value, patch) {
            (ItemValue::Table(_) | ItemValue::List(_), Item { value: ItemValue::Table(patch), .. }) => {
                for (name, node) in patch {
                    self.overlay(&name, node)?;
                }
            }
            (_, patch) => *self = patch,
        }
        Ok(())
    }

    /// Says of it and of everything in it that it was written there.
    pub fn set_origin(&mut self, origin: ItemOrigin) {
        self.origin = origin;
        match &mut self.value {
            ItemValue::List(items) => items.iter_mut().for_each(|item| item.set_origin(origin)),
            ItemValue::Table(table) => table.values_mut().for_each(|node| node.set_origin(origin)),
            ItemValue::Text(_) | ItemValue::Integer(_) | ItemValue::Flag(_) => {}
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

fn no_such_item(origin: ItemOrigin, list: &str, name: &str, count: usize) -> Problem {
    let hint = match count {
        0 => "the list is empty".to_owned(),
        1 => format!("its only item is `{list}.0`"),
        _ => format!("its items are `{list}.0` to `{list}.{}`", count - 1),
    };
    Problem::new(origin, format!("`{list}` has no item `{}`", shorten(name)), hint)
}

fn table(table: DeTable<'_>, lines: &Lines, depth: usize) -> Result<Table> {
    let entry = |(key, value): (toml::Spanned<_>, toml::Spanned<DeValue<'_>>)| {
        let origin = ItemOrigin::Line(lines.at(key.span().start));
        let key: std::borrow::Cow<'_, str> = key.into_inner();
        Ok((key.into_owned(), node(value.into_inner(), origin, lines, depth + 1)?))
    };
    table.into_iter().map(entry).collect()
}

fn node(value: DeValue<'_>, origin: ItemOrigin, lines: &Lines, depth: usize) -> Result<Item> {
    if depth > syntax::DEPTH_MAX {
        return Err(syntax::too_deep(origin));
    }
    let value = match value {
        DeValue::String(text) => ItemValue::Text(text.into_owned()),
        DeValue::Boolean(flag) => ItemValue::Flag(flag),
        DeValue::Integer(number) => {
            let parsed = i64::from_str_radix(number.as_str(), number.radix());
            let refused = |_| {
                let cause = format!("`{}` is too large a number", shorten(&number.to_string()));
                Problem::new(origin, cause, "use a smaller one")
            };
            ItemValue::Integer(parsed.map_err(refused)?)
        }
        DeValue::Array(items) => ItemValue::List(
            items
                .into_iter()
                .map(|item| {
                    let origin = ItemOrigin::Line(lines.at(item.span().start));
                    node(item.into_inner(), origin, lines, depth + 1)
                })
                .collect::<Result<_>>()?,
        ),
        DeValue::Table(inner) => ItemValue::Table(table(inner, lines, depth)?),
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
    Ok(Item { value, origin })
}

/// Where each line of a text begins: a file of a million values needs a million line numbers.
struct Lines(Vec<usize>);

impl Lines {
    fn from_text(text: &str) -> Lines {
        Lines(text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect())
    }

    fn at(&self, offset: usize) -> usize {
        self.0.partition_point(|&end| end < offset) + 1
    }
}
