//! The switches of a lock as data: what each may be, its default, and what was chosen.
//!
//! Knows nothing of files: how a duration is written there is their reader's business.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU32;
use std::time::Duration;

/// What a switch may be set to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// On or off.
    Flag(bool),
    /// A whole number.
    Number(u64),
    /// A length of time.
    Duration(Duration),
    /// A fraction.
    Ratio(Ratio),
    /// One of the switch's words.
    Word(String),
}

impl fmt::Display for Value {
    /// As scenario files write it, without quotes: `true`, `3`, `200ms`, `1/100`, `wall`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Duration(duration) => {
                let units = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)];
                let nanos = duration.as_nanos();
                let (unit, scale) =
                    units.into_iter().find(|(_, scale)| nanos.is_multiple_of(*scale)).unwrap_or(("ns", 1));
                write!(f, "{}{unit}", nanos / scale)
            }
            Self::Ratio(Ratio { numerator, denominator }) => write!(f, "{numerator}/{denominator}"),
            Self::Word(word) => f.write_str(word),
        }
    }
}

/// An exact fraction: no float decides whether a lock is granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio {
    /// The part.
    pub numerator: u32,
    /// The whole.
    pub denominator: NonZeroU32,
}

macro_rules! from {
    ($($from:ty => $variant:ident),*) => {$(
        impl From<$from> for Value {
            fn from(value: $from) -> Self {
                Self::$variant(value.into())
            }
        }
    )*};
}
from!(bool => Flag, u32 => Number, u64 => Number, Duration => Duration, Ratio => Ratio, &str => Word);

/// What was chosen for switches, by name. A switch that is not named is at its default.
///
/// ```
/// use doublehold_lockimpl::Switches;
/// use std::time::Duration;
///
/// let chosen = Switches::new().with("clock", "wall").with("request_timeout", Duration::from_millis(50));
/// assert_eq!(chosen.get("request_timeout").unwrap().to_string(), "50ms");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Switches(BTreeMap<String, Value>);

impl Switches {
    /// Nothing chosen.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with one more choice, or another one.
    #[must_use]
    pub fn with(mut self, switch: &str, value: impl Into<Value>) -> Self {
        self.set(switch, value);
        self
    }

    /// Chooses.
    pub fn set(&mut self, switch: &str, value: impl Into<Value>) {
        self.0.insert(switch.to_owned(), value.into());
    }

    /// What was chosen, if anything.
    pub fn get(&self, switch: &str) -> Option<&Value> {
        self.0.get(switch)
    }

    /// These, with `others` in the place of those that both name.
    #[must_use]
    pub fn overlaid(mut self, others: &Switches) -> Self {
        self.0.extend(others.0.iter().map(|(switch, value)| (switch.clone(), value.clone())));
        self
    }

    /// All choices, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(switch, value)| (switch.as_str(), value))
    }
}

/// One switch of a lock, as data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// Its name, as files and `--set lock.NAME` use it.
    pub name: &'static str,
    /// What it does, in a line.
    pub meaning: &'static str,
    /// What it may be besides one of `words`; `None`: nothing.
    pub kind: Option<Kind>,
    /// The words it may be.
    pub words: Vec<&'static str>,
    /// What it is if nobody says; `None`: then there is no such thing.
    pub default: Option<Value>,
    /// The switch without which this one does nothing.
    pub needs: Option<&'static str>,
}

impl Switch {
    /// True if the switch that it needs is off among these: nowhere set, `none` or 0.
    pub fn is_idle(&self, chosen: &Switches) -> bool {
        let is_off = |needs| match chosen.get(needs) {
            None | Some(Value::Number(0)) => true,
            Some(Value::Word(word)) => word == NONE,
            Some(_) => false,
        };
        self.needs.is_some_and(is_off)
    }

    /// What it may be, in words: `true or false`, `a duration or none`, `reconnect or keep`.
    pub fn takes(&self) -> String {
        let mut choices: Vec<String> = self.words.iter().map(|word| (*word).to_owned()).collect();
        if let Some(kind) = self.kind {
            // A list of words ends with what is no word; `none` ends a list.
            let at = if self.words == [NONE] { 0 } else { choices.len() };
            choices.insert(at, kind.to_string());
        }
        match choices.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
            _ => choices.concat(),
        }
    }
}

/// What a switch may be that is no word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// On or off.
    Flag,
    /// A length of time.
    Duration,
    /// A length of time that is not zero.
    PositiveDuration,
    /// A length of time that is not zero, or a share of the ttl.
    Interval,
    /// A fraction below one.
    Ratio,
    /// A whole number.
    Number {
        /// The smallest.
        least: u64,
        /// The largest.
        most: Most,
    },
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("true or false"),
            Self::Duration => f.write_str("a duration"),
            Self::PositiveDuration => f.write_str("a duration above zero"),
            Self::Interval => f.write_str("a duration above zero, a share of the ttl"),
            Self::Ratio => f.write_str("a ratio below 1"),
            Self::Number { least, most: Most::Fixed(most) } => write!(f, "{least} to {most}"),
            Self::Number { least, most: Most::Nodes } => write!(f, "{least} to the number of nodes"),
            Self::Number { least, most: Most::Replicas } => write!(f, "{least} to the number of replicas"),
        }
    }
}

/// The largest number that makes sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Most {
    /// This one.
    Fixed(u64),
    /// As many as there are nodes.
    Nodes,
    /// As many as there are nodes besides the master, and one where there are none.
    Replicas,
}

impl Most {
    /// The number, where there are so many nodes.
    pub fn resolve(self, nodes: usize) -> u64 {
        let nodes = u64::try_from(nodes).unwrap_or(u64::MAX);
        match self {
            Self::Fixed(most) => most,
            Self::Nodes => nodes,
            Self::Replicas => nodes.saturating_sub(1).max(1),
        }
    }
}

/// What stands for a timeout that never comes.
pub(crate) const NONE: &str = "none";

/// Two things about a lock that do not go together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit {
    /// What does not fit, such as "no lock is ever granted".
    pub cause: String,
    /// The way out.
    pub hint: String,
}

/// A choice that a lock does not know.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SwitchError {
    /// There is no such switch.
    #[error("there is no switch `{switch}`: the lock takes {known}")]
    Unknown {
        /// The name that was given.
        switch: String,
        /// Those there are.
        known: String,
    },
    /// A library has it one way only.
    #[error("`{profile}` is the library as it is, and fixes `{switch}`: use `{engine}`, which has it open")]
    Fixed {
        /// The switch.
        switch: String,
        /// The library's name.
        profile: &'static str,
        /// The lock of which it is a setting.
        engine: &'static str,
    },
    /// The switch takes something else.
    #[error("the switch `{switch}` cannot be `{value}`: use {takes}")]
    Value {
        /// The switch.
        switch: &'static str,
        /// What was chosen.
        value: String,
        /// What it takes.
        takes: String,
    },
}
