//! Tables and values on their way from typed to meant: each question asked of a value has one message when the answer
//! is no.

use std::ops::RangeInclusive;
use std::time::Duration;

use doublehold_sim::{DelayLaw, Probability, RatePpb};
use doublehold_text as words;
use doublehold_text::shorten;
use doublehold_text::suggest;

use super::key::{Choices, Key};
use super::problem::{ItemOrigin, Problem, Result};
use super::tree::{Item, ItemValue, Table};
use super::units;
use crate::locks;

const LOG_NORMAL_KEYS: &[&str] = &["median", "sigma"];

/// What a delay law that is a table takes.
pub(super) fn vocabulary() -> Vec<Key> {
    Key::all("law", LOG_NORMAL_KEYS)
}

/// A story is a paragraph or two.
const WORDS_MAX: usize = 4_000;
/// Longer than any key that a lock library builds.
const NAME_MAX: usize = 200;

/// A table, its keys known to be among those it may have.
pub struct Section<'a> {
    /// Its path as `--set` would name it; empty for the file itself.
    path: String,
    table: &'a Table,
    pub(crate) origin: ItemOrigin,
}

/// A value, with the path under which messages name it.
#[derive(Clone)]
pub struct Field<'a> {
    /// The path of its table, as `lock`.
    pub path: String,
    node: &'a Item,
}

impl<'a> Section<'a> {
    /// The file itself.
    ///
    /// # Errors
    ///
    /// If it has a key that is not known.
    pub fn root(node: &'a Item, known: &[&str]) -> Result<Section<'a>> {
        Field { path: String::new(), node }.section(known)
    }

    /// The value of a key, if there is one.
    pub fn get(&self, key: &str) -> Option<Field<'a>> {
        let path = if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) };
        self.table.get(key).map(|node| Field { path, node })
    }

    /// The value of a key that has to be there.
    ///
    /// # Errors
    ///
    /// If it is not there.
    pub fn require(&self, key: &str, example: &str) -> Result<Field<'a>> {
        self.get(key).ok_or_else(|| {
            let place = if self.path.is_empty() { "the file".to_owned() } else { format!("`{}`", self.path) };
            Problem::new(self.origin, format!("{place} has no `{key}`"), format!("add `{key} = {example}`"))
        })
    }

    /// The table under a key: an empty one if there is none.
    ///
    /// # Errors
    ///
    /// If it is no table, or has a key that is not known.
    pub fn section(&self, key: &str, known: &[&str]) -> Result<Section<'a>> {
        static NOTHING: Table = Table::new();
        match self.get(key) {
            Some(field) => field.section(known),
            None => Ok(Section { path: key.to_owned(), table: &NOTHING, origin: self.origin }),
        }
    }

    /// The tables of a `[[list]]`; none if there is no such list.
    ///
    /// # Errors
    ///
    /// If it is no list, or has more items than the limit.
    pub fn list(&self, key: &str, limit: usize) -> Result<Vec<Field<'a>>> {
        let Some(field) = self.get(key) else { return Ok(Vec::new()) };
        let items = field.items(&format!("a list of tables, each headed `[[{}]]`", field.path))?;
        if items.len() > limit {
            let cause = format!("there are {} `{}`, and the limit is {limit}", items.len(), field.path);
            return Err(field.problem(cause, "split the scenario"));
        }
        Ok(items)
    }

    /// Every key with its value, in alphabetical order.
    pub fn fields(&self) -> Vec<(&'a str, Field<'a>)> {
        let named = |(key, node): (&'a String, &'a Item)| {
            let shown = shorten(key);
            let path = if self.path.is_empty() { shown } else { format!("{}.{shown}", self.path) };
            (key.as_str(), Field { path, node })
        };
        self.table.iter().map(named).collect()
    }

    pub(crate) fn duration_or(&self, key: &str, default: Duration) -> Result<Duration> {
        self.get(key).map_or(Ok(default), |field| field.duration())
    }

    pub(crate) fn law_or(&self, key: &str, default: DelayLaw) -> Result<DelayLaw> {
        self.get(key).map_or(Ok(default), |field| field.law())
    }

    pub(crate) fn flag_or(&self, key: &str, default: bool) -> Result<bool> {
        self.get(key).map_or(Ok(default), |field| field.flag())
    }

    pub(crate) fn choice_or<T: Copy>(&self, key: &str, choices: Choices<T>, default: T) -> Result<T> {
        self.get(key).map_or(Ok(default), |field| field.choice(choices))
    }

    /// A problem with it.
    pub fn problem(&self, cause: impl Into<String>, hint: impl Into<String>) -> Problem {
        Problem::new(self.origin, cause, hint)
    }
}

impl<'a> Field<'a> {
    /// A problem with it.
    pub fn problem(&self, cause: impl Into<String>, hint: impl Into<String>) -> Problem {
        Problem::new(self.node.origin, cause, hint)
    }

    /// A value outside a file, which messages call `path`.
    pub fn from_value(path: &str, node: &'a Item) -> Field<'a> {
        Field { path: path.to_owned(), node }
    }

    /// The value as typed.
    pub fn node(&self) -> &'a Item {
        self.node
    }

    /// The table this value is, with none but known keys. An empty list of known keys allows every key.
    ///
    /// # Errors
    ///
    /// If it is no table, or has a key that is not known.
    pub fn section(&self, known: &[&str]) -> Result<Section<'a>> {
        let ItemValue::Table(table) = &self.node.value else {
            return Err(self.must_be(
                "a table",
                &format!("write it as `[{}]` with one `key = value` a line", self.path),
            ));
        };
        let unknown = table.iter().find(|(key, _)| !known.is_empty() && !known.contains(&key.as_str()));
        if let Some((key, node)) = unknown {
            let within = if self.path.is_empty() { String::new() } else { format!(" in `{}`", self.path) };
            let hint = if self.path == "lock" { locks::hint_at_key } else { suggest::hint };
            let cause = format!("unknown key `{}`{within}", shorten(key));
            return Err(Problem::new(node.origin, cause, hint(key, known)));
        }
        Ok(Section { path: self.path.clone(), table, origin: self.node.origin })
    }

    pub(crate) fn text(&self) -> Result<&'a str> {
        match &self.node.value {
            ItemValue::Text(text) => Ok(text),
            _ => Err(self.must_be("a text", "put it in quotes")),
        }
    }

    /// The text that names something; a refusal says what is to be named rather than how a text is written.
    ///
    /// # Errors
    ///
    /// If it is no text.
    pub fn naming(&self, what: &str, hint: &str) -> Result<&'a str> {
        self.text().map_err(|_| self.must_be(what, hint))
    }

    /// The text, and it says something.
    ///
    /// # Errors
    ///
    /// If it is no text, or an empty one.
    pub fn words(&self) -> Result<String> {
        self.text_up_to(WORDS_MAX)
    }

    /// The text, short enough for a name: every event about a thing carries it.
    ///
    /// # Errors
    ///
    /// If it is no text, an empty one, or too long.
    pub fn name(&self) -> Result<String> {
        self.text_up_to(NAME_MAX)
    }

    /// A table's key as a name of something.
    pub(crate) fn name_from(&self, key: &str) -> Result<String> {
        self.check_length(key, NAME_MAX)
    }

    fn text_up_to(&self, limit: usize) -> Result<String> {
        self.check_length(self.text()?, limit)
    }

    fn check_length(&self, text: &str, limit: usize) -> Result<String> {
        let text = text.trim();
        if text.is_empty() {
            return Err(self.problem(format!("`{}` is empty", self.path), "say it in words"));
        }
        let length = text.chars().count();
        if length > limit {
            let cause = format!("`{}` has {length} characters, and the limit is {limit}", self.path);
            return Err(self.problem(cause, "say it in fewer"));
        }
        Ok(text.to_owned())
    }

    pub(crate) fn flag(&self) -> Result<bool> {
        match self.node.value {
            ItemValue::Flag(flag) => Ok(flag),
            _ => Err(self.must_be("`true` or `false`", "write it without quotes")),
        }
    }

    /// A whole number between two others, both included.
    ///
    /// # Errors
    ///
    /// If it is another value.
    pub fn number(&self, min: u64, max: u64) -> Result<u64> {
        let number = match self.node.value {
            ItemValue::Integer(number) => {
                u64::try_from(number).ok().filter(|number| (min..=max).contains(number))
            }
            _ => None,
        };
        number.ok_or_else(|| match self.quoted_number() {
            Some(number) if (min..=max).contains(&number) => {
                let key = self.path.rsplit('.').next().unwrap_or(&self.path);
                self.must_be("a whole number", &format!("write it without quotes: `{key} = {number}`"))
            }
            Some(_) => {
                self.must_be("a whole number", &format!("write it without quotes, and use {min} to {max}"))
            }
            None => self.must_be("a whole number within bounds", &format!("use {min} to {max}")),
        })
    }

    /// The number a text spells.
    fn quoted_number(&self) -> Option<u64> {
        self.text().ok()?.trim().parse().ok()
    }

    /// The value that its word stands for.
    ///
    /// # Errors
    ///
    /// If it is none of the words.
    pub fn choice<T: Copy>(&self, choices: &[(&str, T)]) -> Result<T> {
        self.choice_with(choices, suggest::hint)
    }

    /// The same, with a way out of its own after an unknown word.
    pub(crate) fn choice_with<T: Copy>(
        &self,
        choices: &[(&str, T)],
        hint: impl Fn(&str, &[&str]) -> String,
    ) -> Result<T> {
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        let text = self
            .text()
            .map_err(|_| self.must_be(&format!("one of {}", suggest::list(&words)), "put it in quotes"))?;
        match choices.iter().find(|(word, _)| *word == text) {
            Some((_, meant)) => Ok(*meant),
            None => Err(self.must_be(&format!("one of {}", suggest::list(&words)), &hint(text, &words))),
        }
    }

    /// Each item of a list.
    ///
    /// # Errors
    ///
    /// If it is no list.
    pub fn items(&self, what: &str) -> Result<Vec<Field<'a>>> {
        match &self.node.value {
            ItemValue::List(items) => Ok(self.number_items(items)),
            _ => Err(self.must_be(what, "write it so even for a single one")),
        }
    }

    /// A list's items, or the one value that stands for a list of one.
    pub fn one_or_many(&self) -> Vec<Field<'a>> {
        match &self.node.value {
            ItemValue::List(items) => self.number_items(items),
            _ => vec![self.clone()],
        }
    }

    fn number_items(&self, items: &'a [Item]) -> Vec<Field<'a>> {
        let item = |(index, node)| Field { path: format!("{}.{index}", self.path), node };
        items.iter().enumerate().map(item).collect()
    }

    pub(crate) fn duration(&self) -> Result<Duration> {
        let text =
            self.text().map_err(|_| self.no_duration("a duration such as \"2.5s\"", units::UNITS_HINT))?;
        units::duration(text).map_err(|refusal| self.not_a_duration(&refusal, text))
    }

    /// A size in bytes within bounds.
    pub(crate) fn bytes(&self, bounds: RangeInclusive<u64>) -> Result<u64> {
        let number = self.text().ok().and_then(units::bytes);
        let number = number.ok_or_else(|| self.must_be("a size such as \"1GiB\"", units::BYTES_HINT))?;
        if bounds.contains(&number) {
            return Ok(number);
        }
        let [least, most] = [bounds.start(), bounds.end()].map(|bound| words::bytes(*bound));
        Err(self.must_be("a size within bounds", &format!("use {least} to {most}")))
    }

    /// A duration that is not zero.
    ///
    /// # Errors
    ///
    /// If it is no duration, or zero.
    pub fn positive_duration(&self) -> Result<Duration> {
        match self.duration()? {
            Duration::ZERO => {
                Err(self
                    .problem(format!("`{}` is zero", self.path), "use a longer duration, such as \"10s\""))
            }
            duration => Ok(duration),
        }
    }

    /// A duration with a sign, in nanoseconds.
    pub(crate) fn signed_duration_ns(&self) -> Result<i64> {
        let text =
            self.text().map_err(|_| self.no_duration("a duration such as \"-3h\"", units::UNITS_HINT))?;
        units::signed_duration_ns(text).map_err(|refusal| self.not_a_duration(&refusal, text))
    }

    pub(crate) fn law(&self) -> Result<DelayLaw> {
        match &self.node.value {
            ItemValue::Text(text) => units::law(text).map_err(|refusal| self.not_a_duration(&refusal, text)),
            ItemValue::Table(_) => self.log_normal(),
            ItemValue::List(_) => self.quantiles(),
            _ => Err(self.no_duration("a duration or a law such as \"1ms..5ms\"", units::LAW_HINT)),
        }
    }

    /// Whether it is a table, and none that says what only a law says.
    pub(crate) fn is_no_law(&self) -> bool {
        matches!(&self.node.value, ItemValue::Table(it) if LOG_NORMAL_KEYS.iter().all(|key| !it.contains_key(*key)))
    }

    fn log_normal(&self) -> Result<DelayLaw> {
        let law = self.section(LOG_NORMAL_KEYS)?;
        let sigma = law.require("sigma", "\"1/2\"")?;
        let sigma_milli = units::sigma_milli(sigma.text()?);
        let refused = || {
            sigma.must_be("a ratio from \"0/1\" to \"2/1\"", "it is the standard deviation of the logarithm")
        };
        Ok(DelayLaw::LogNormal {
            median: law.require("median", "\"2ms\"")?.duration()?,
            sigma_milli: sigma_milli.ok_or_else(refused)?,
        })
    }

    fn quantiles(&self) -> Result<DelayLaw> {
        let quantiles: Vec<Duration> =
            self.one_or_many().iter().map(Field::duration).collect::<Result<_>>()?;
        if quantiles.is_empty() || quantiles.len() > 1000 || !quantiles.is_sorted() {
            let hint = "list the smallest first, at equal steps of probability: [\"1ms\", \"2ms\", \"9ms\"]";
            return Err(self.must_be("1 to 1000 quantiles in rising order", hint));
        }
        Ok(DelayLaw::Quantiles(quantiles.into()))
    }

    /// A chance, as `1/100`.
    ///
    /// # Errors
    ///
    /// If it is no ratio, or more than one.
    pub fn probability(&self) -> Result<Probability> {
        let hint = "write a ratio from \"0/1\" to \"1/1\"";
        let text = self.text().map_err(|_| self.must_be("a probability such as \"1/200\"", hint))?;
        text.parse().map_err(|error: doublehold_sim::ProbabilityError| {
            // The error quotes the whole text.
            let error = error.to_string();
            let cause = error.split(": write").next().unwrap_or(&error);
            let cause = cause.replacen(text, &shorten(text), 1);
            self.problem(format!("`{}`: {cause}", self.path), hint)
        })
    }

    pub(crate) fn rate(&self) -> Result<RatePpb> {
        let text =
            self.text().map_err(|_| self.must_be("a rate error such as \"1/100\"", units::RATE_HINT))?;
        units::rate(text)
            .ok_or_else(|| self.must_be("a rate error from \"-1/2\" to \"9/1\"", units::RATE_HINT))
    }

    fn not_a_duration(&self, refusal: &units::Refusal, text: &str) -> Problem {
        let hint =
            units::with_unit(text).map_or(refusal.hint.to_owned(), |it| format!("did you mean \"{it}\"?"));
        self.problem(format!("`{}` {} `{}`", self.path, refusal.cause, shorten(text)), hint)
    }

    /// A number where a duration is wanted lacks quotes and unit.
    fn no_duration(&self, what: &str, hint: &str) -> Problem {
        let typed = match &self.node.value {
            ItemValue::Integer(number) => units::with_unit(&number.to_string()),
            _ => None,
        };
        self.must_be(what, &typed.map_or(hint.to_owned(), |it| format!("did you mean \"{it}\"?")))
    }

    /// The problem that its value is not of that kind.
    pub fn must_be(&self, what: &str, hint: &str) -> Problem {
        self.problem(format!("`{}` must be {what}, not {}", self.path, self.node.value.message_text()), hint)
    }
}

impl ItemValue {
    /// The value as messages show it.
    fn message_text(&self) -> String {
        match self {
            // In a message a text is not told from the number or the flag that it spells.
            ItemValue::Text(text) if text.parse::<i64>().is_ok() || text.parse::<bool>().is_ok() => {
                format!("the text `{}`", shorten(text))
            }
            ItemValue::Text(text) => format!("`{}`", shorten(text)),
            ItemValue::Integer(number) => format!("`{number}`"),
            ItemValue::Flag(flag) => format!("`{flag}`"),
            ItemValue::List(_) => "a list".to_owned(),
            ItemValue::Table(_) => "a table".to_owned(),
        }
    }
}
