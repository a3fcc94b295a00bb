//! How a lock reads its switches. It names each one once, in its [`LockConfig::read`], with its default and its
//! meaning: the same few lines give the list of switches, the defaults, and the configuration of a lock that is
//! built. There is nothing to be kept in step.
//!
//! Knows nothing of files, nor of how many nodes there are.

use std::borrow::Cow;
use std::time::Duration;

use super::choice::Choice;
use super::discovery::MasterDiscovery;
use super::drivers::{DRIVER, DRIVERS, DriverDefaults};
use super::facts::Facts;
use super::switch::{Kind, Most, NONE, Ratio, Switch, SwitchError, Switches, Unfit, Value};

/// The configuration of a lock as its own type, read from switches. The `Default` of such a type is
/// [`defaults`](LockConfig::defaults).
///
/// ```
/// use doublehold_lockimpl::{Facts, Form, LockConfig, Switches};
///
/// struct Eager { naps: bool }
///
/// impl LockConfig for Eager {
///     fn read(form: &mut Form<'_>) -> Eager {
///         Eager { naps: form.flag("naps", false, "sleep between two attempts") }
///     }
/// }
///
/// assert!(!Eager::defaults().naps);
/// assert!(Eager::from_switches(&Switches::new().with("naps", true)).unwrap().naps);
/// let error = Eager::from_switches(&Switches::new().with("nap", true)).err().unwrap();
/// assert_eq!(error.to_string(), "there is no switch `nap`: the lock takes `naps`");
/// ```
pub trait LockConfig: Sized {
    /// Asks for each switch, always in the same order. The only place that names them.
    fn read(form: &mut Form<'_>) -> Self;

    /// What is known of a lock with these switches. Nothing, if the lock does not say.
    fn facts(&self) -> Facts {
        Facts::default()
    }

    /// Why a lock with these switches and such a lease makes no sense, and the way out.
    fn unfit(&self, ttl: Duration) -> Option<Unfit> {
        let _ = ttl;
        None
    }

    /// Every switch at its default.
    fn defaults() -> Self {
        Self::read(&mut Form::new(&Switches::new()))
    }

    /// Reads the switches that were chosen; the others are at their defaults.
    ///
    /// # Errors
    ///
    /// If a switch is named that there is not, or has a value that it does not take. The number of nodes is not known
    /// here.
    fn from_switches(switches: &Switches) -> Result<Self, SwitchError> {
        let mut form = Form::new(switches);
        let config = Self::read(&mut form);
        form.finish().map(|()| config)
    }

    /// The list of its switches.
    fn switches() -> Vec<Switch> {
        let nothing = Switches::new();
        let mut form = Form { described: Some(Vec::new()), ..Form::new(&nothing) };
        Self::read(&mut form);
        form.described.unwrap_or_default()
    }
}

/// Room for the names of most locks' switches.
const NAMES_USUAL: usize = 40;

/// The meaning of the switch `fencing` of every lock that has it.
pub(crate) const FENCING: &str =
    "hand out a number with each grant, higher than all before: a count on the node, or the service's own";

/// A lock without switches.
impl LockConfig for () {
    fn read(_: &mut Form<'_>) -> Self {}
}

/// The time between two renewals of a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RenewEvery {
    /// Always as often.
    Fixed(Duration),
    /// So much of the ttl: most libraries take a third, a half or two thirds.
    Share(Ratio),
}

impl RenewEvery {
    /// The time between two renewals of a lease of `ttl`.
    pub fn interval(self, ttl: Duration) -> Duration {
        match self {
            Self::Fixed(interval) => interval,
            Self::Share(Ratio { numerator, denominator }) => {
                let nanos = ttl.as_nanos() * u128::from(numerator) / u128::from(denominator.get());
                Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
            }
        }
    }
}

/// Reads a lock's switches. It remembers what it was asked for: that is the list of switches.
#[derive(Debug)]
pub struct Form<'a> {
    chosen: &'a Switches,
    /// The driver that was chosen, whose defaults come before those of the lock.
    driver: Option<&'static DriverDefaults>,
    names: Vec<&'static str>,
    /// The list, where somebody wants it. Each process of each run reads switches, and none of them lists any.
    described: Option<Vec<Switch>>,
    refused: Option<SwitchError>,
}

impl Form<'_> {
    fn new(chosen: &Switches) -> Form<'_> {
        let driver = DriverDefaults::named(chosen.get(DRIVER));
        Form { chosen, driver, names: Vec::with_capacity(NAMES_USUAL), described: None, refused: None }
    }

    /// On or off.
    pub fn flag(&mut self, name: &'static str, default: bool, meaning: &'static str) -> bool {
        let flag = |value: &Value| if let Value::Flag(flag) = value { Some(*flag) } else { None };
        let asked = || switch(name, meaning, Some(Kind::Flag), Some(default.into()));
        self.ask(name, asked, flag).unwrap_or(default)
    }

    /// A length of time, which may be zero.
    pub fn duration(&mut self, name: &'static str, default: Duration, meaning: &'static str) -> Duration {
        let asked = || switch(name, meaning, Some(Kind::Duration), Some(default.into()));
        self.ask(name, asked, span).unwrap_or(default)
    }

    /// A length of time that is not zero.
    pub fn positive_duration(
        &mut self,
        name: &'static str,
        default: Duration,
        meaning: &'static str,
    ) -> Duration {
        let asked = || switch(name, meaning, Some(Kind::PositiveDuration), Some(default.into()));
        self.ask(name, asked, positive_span).unwrap_or(default)
    }

    /// Asks for the driver: by its name, or none, which is the default. It is asked for before the switches that
    /// have another default with it.
    pub(crate) fn driver(&mut self) {
        let asked = || Switch {
            words: DRIVERS.iter().map(|driver| driver.name).collect(),
            ..switch(DRIVER, "the driver of the connections, whose defaults the lock takes", None, None)
        };
        self.ask(DRIVER, asked, |value| DriverDefaults::named(Some(value)));
    }

    /// The way in which the driver that was chosen finds a master.
    pub(crate) fn discovery(&self) -> MasterDiscovery {
        self.driver.and_then(DriverDefaults::discovery).unwrap_or_default()
    }

    /// A timeout of which there is none if nobody names one, or for the word `none`.
    pub(crate) fn optional_timeout(&mut self, name: &'static str, meaning: &'static str) -> Option<Duration> {
        let asked =
            || Switch { words: vec![NONE], ..switch(name, meaning, Some(Kind::PositiveDuration), None) };
        self.ask(name, asked, timeout).flatten()
    }

    /// A timeout, or the word `none`: wait for ever.
    pub fn timeout(
        &mut self,
        name: &'static str,
        default: Option<Duration>,
        meaning: &'static str,
    ) -> Option<Duration> {
        let asked = || {
            let value = default.map_or(NONE.into(), Value::from);
            let asked = switch(name, meaning, Some(Kind::PositiveDuration), Some(value));
            Switch { words: vec![NONE], ..asked }
        };
        self.ask(name, asked, timeout).unwrap_or(default)
    }

    /// Asks for the time between two of something: a fixed one, after so much of the ttl, or the word `none`, which
    /// is the default: never.
    pub(crate) fn interval(&mut self, name: &'static str, meaning: &'static str) -> Option<RenewEvery> {
        let asked =
            || Switch { words: vec![NONE], ..switch(name, meaning, Some(Kind::Interval), Some(NONE.into())) };
        let interval = |value: &Value| match value {
            Value::Word(word) if word == NONE => Some(None),
            Value::Ratio(ratio) if (1..ratio.denominator.get()).contains(&ratio.numerator) => {
                Some(Some(RenewEvery::Share(*ratio)))
            }
            value => positive_span(value).map(|every| Some(RenewEvery::Fixed(every))),
        };
        self.ask(name, asked, interval).flatten()
    }

    /// A fraction below one.
    pub fn ratio(&mut self, name: &'static str, default: Ratio, meaning: &'static str) -> Ratio {
        let ratio = |value: &Value| match value {
            Value::Ratio(ratio) if ratio.numerator < ratio.denominator.get() => Some(*ratio),
            _ => None,
        };
        let asked = || switch(name, meaning, Some(Kind::Ratio), Some(default.into()));
        self.ask(name, asked, ratio).unwrap_or(default)
    }

    /// A whole number from `least` to `most`.
    pub fn number(
        &mut self,
        name: &'static str,
        (least, most): (u64, u64),
        default: u64,
        meaning: &'static str,
    ) -> u64 {
        let kind = Kind::Number { least, most: Most::Fixed(most) };
        let within = |value: &Value| number(value).filter(|number| (least..=most).contains(number));
        let asked = || switch(name, meaning, Some(kind), Some(default.into()));
        self.ask(name, asked, within).unwrap_or(default)
    }

    /// A whole number of which there is none if nobody names one.
    pub fn optional_number(
        &mut self,
        name: &'static str,
        (least, most): (u64, Most),
        meaning: &'static str,
    ) -> Option<u64> {
        let asked = || switch(name, meaning, Some(Kind::Number { least, most }), None);
        self.ask(name, asked, |value| number(value).filter(|number| *number >= least))
    }

    /// One of several words.
    pub fn choice<T: Choice>(&mut self, name: &'static str, default: T, meaning: &'static str) -> T {
        let asked =
            || Switch { words: words::<T>(), ..switch(name, meaning, None, Some(word_of(default).into())) };
        self.ask(name, asked, parse_word).unwrap_or(default)
    }

    /// One of several words, or a number from 1 up to as many as there are nodes.
    pub fn choice_or_votes<T: Choice>(
        &mut self,
        name: &'static str,
        default: T,
        votes: impl Fn(usize) -> T,
        meaning: &'static str,
    ) -> T {
        let kind = Kind::Number { least: 1, most: Most::Nodes };
        let asked = || Switch {
            words: words::<T>(),
            ..switch(name, meaning, Some(kind), Some(word_of(default).into()))
        };
        let read = |value: &Value| match number(value) {
            Some(number) => usize::try_from(number).ok().filter(|number| *number > 0).map(&votes),
            None => parse_word(value),
        };
        self.ask(name, asked, read).unwrap_or(default)
    }

    /// The switch that was asked for last does nothing without this one.
    pub fn needs(&mut self, other: &'static str) {
        if let Some(last) = self.described.as_mut().and_then(|described| described.last_mut()) {
            last.needs = Some(other);
        }
    }

    fn ask<T>(
        &mut self,
        name: &'static str,
        describe: impl Fn() -> Switch,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Option<T> {
        let by_driver = |driver: &DriverDefaults| driver.default(name).flatten();
        let by_driver = || self.driver.and_then(by_driver).map(Cow::Owned);
        let chosen = self.chosen.get(name).map(Cow::Borrowed).or_else(by_driver);
        let read = chosen.as_deref().and_then(read);
        if let Some(value) = chosen.filter(|_| read.is_none()) {
            let refused =
                SwitchError::Value { switch: name, value: value.to_string(), takes: describe().takes() };
            self.refused.get_or_insert(refused);
        }
        self.names.push(name);
        if let Some(described) = &mut self.described {
            described.push(describe());
        }
        read
    }

    fn finish(self) -> Result<(), SwitchError> {
        if let Some(refused) = self.refused {
            return Err(refused);
        }
        let known = |name: &str| self.names.contains(&name);
        match self.chosen.iter().find(|(name, _)| !known(name)) {
            None => Ok(()),
            Some((unknown, _)) => {
                let names: Vec<String> = self.names.iter().map(|name| format!("`{name}`")).collect();
                let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                Err(SwitchError::Unknown { switch: unknown.to_owned(), known })
            }
        }
    }
}

fn switch(name: &'static str, meaning: &'static str, kind: Option<Kind>, default: Option<Value>) -> Switch {
    Switch { name, meaning, kind, words: Vec::new(), default, needs: None }
}

fn span(value: &Value) -> Option<Duration> {
    if let Value::Duration(duration) = value { Some(*duration) } else { None }
}

fn timeout(value: &Value) -> Option<Option<Duration>> {
    match value {
        Value::Word(word) if word == NONE => Some(None),
        value => positive_span(value).map(Some),
    }
}

fn positive_span(value: &Value) -> Option<Duration> {
    span(value).filter(|duration| !duration.is_zero())
}

fn number(value: &Value) -> Option<u64> {
    if let Value::Number(number) = value { Some(*number) } else { None }
}

fn words<T: Choice>() -> Vec<&'static str> {
    T::WORDS.iter().map(|(word, _)| *word).collect()
}

/// The word for one of the choices.
pub(crate) fn word_of<T: Choice>(meant: T) -> &'static str {
    T::WORDS.iter().find(|(_, it)| *it == meant).map_or("", |(word, _)| *word)
}

fn parse_word<T: Choice>(value: &Value) -> Option<T> {
    let Value::Word(word) = value else { return None };
    T::WORDS.iter().find(|(known, _)| known == word).map(|(_, meant)| *meant)
}
