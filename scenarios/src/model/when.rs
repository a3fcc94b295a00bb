//! Moments of a run as data: when a fault strikes or a client starts.
//!
//! A moment is a time since the beginning, or a chain of events with a delay after the last. Hosts have names here;
//! whether a scenario has such hosts, and whether such an event can happen in it, is checked when the scenario is
//! read. [`When`] prints as scenario files write it, and [`When::words`] as reports say it.

use std::fmt;
use std::time::Duration;

use doublehold_text::exact_duration;
use doublehold_text::{every, file_duration, ordinal};
use serde::{Serialize, Serializer};

/// A moment of a run.
///
/// ```
/// use std::time::Duration;
/// use doublehold_scenarios::when::{Event, Mark, When};
///
/// let when = When::from(Event::mark("c2", Mark::Grant))
///     .then(Event::executed("SET").by("c1"), 3)
///     .delay_by(Duration::from_secs(1));
/// assert_eq!(when.to_string(), "1s after the 3rd SET executed for c1 after c2's grant");
/// assert_eq!(when.words(), "1 s after the 3rd SET executed for c1 after c2's grant");
/// assert_eq!(When::event("c1", Mark::Check).words(), "at c1's check");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum When {
    /// This long after the beginning, in true time.
    At(Duration),
    /// At an event.
    On {
        /// What must happen, in this order; each is counted from the one before it.
        events: Vec<Nth>,
        /// How long after the last.
        after: Duration,
    },
}

/// The n-th event of a kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Nth {
    /// What happens.
    pub event: Event,
    /// Which one, counted from 1.
    pub nth: u32,
}

/// Something that happens in a run, and that a fault or a start can wait for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    /// A node has executed a command that was sent to it.
    Executed {
        /// The command's name in capitals.
        command: String,
        /// The client that sent it; `None`: anyone.
        client: Option<String>,
        /// The node; `None`: any.
        node: Option<String>,
    },
    /// A client's program gets to a mark.
    Mark {
        /// The client.
        client: String,
        /// The mark.
        mark: Mark,
    },
    /// Code on the host read one of its clocks.
    ClockRead {
        /// The host.
        host: String,
    },
    /// A sleep or timeout of the client's code came due.
    Timer {
        /// The client.
        client: String,
    },
    /// The host's process started.
    Boot {
        /// The host.
        host: String,
    },
    /// Bytes were handed to the network.
    Sent {
        /// The sender.
        from: String,
        /// The receiver.
        to: String,
    },
    /// Bytes arrived.
    Received {
        /// The receiver.
        by: String,
        /// The sender.
        from: String,
    },
}

/// What a client's program notes as it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// It is about to ask for the lock.
    Acquire,
    /// It was granted the lock.
    Grant,
    /// It was not granted the lock.
    Refusal,
    /// It has read the object.
    Read,
    /// It has looked at its clock, and its lease was good.
    Check,
    /// It is about to write the object.
    Write,
    /// It is about to ask for an extension of its lease.
    Extending,
    /// It has asked to extend its lease.
    Extend,
    /// It is about to release the lock.
    Release,
    /// It has looked at its clock, and its lease was over.
    Expiry,
}

impl Mark {
    /// All of them, in the order in which a program comes by them.
    pub const ALL: [Mark; 10] =
        every!(Mark: Acquire, Grant, Refusal, Read, Check, Write, Extending, Extend, Release, Expiry);

    /// The word scenario files and traces use.
    pub fn as_str(self) -> &'static str {
        match self {
            Mark::Acquire => "acquire",
            Mark::Grant => "grant",
            Mark::Refusal => "refusal",
            Mark::Read => "read",
            Mark::Check => "check",
            Mark::Write => "write",
            Mark::Extending => "extending",
            Mark::Extend => "extend",
            Mark::Release => "release",
            Mark::Expiry => "expiry",
        }
    }
}

impl When {
    /// The first time a client's program gets to a mark.
    pub fn event(client: impl Into<String>, mark: Mark) -> When {
        Event::mark(client, mark).into()
    }

    /// The `nth` such event after this moment's last one.
    #[must_use]
    pub fn then(self, event: Event, nth: u32) -> When {
        let (mut events, after) = match self {
            // Whatever happens happens after the beginning.
            When::At(_) => (Vec::new(), Duration::ZERO),
            When::On { events, after } => (events, after),
        };
        events.push(Nth { event, nth });
        When::On { events, after }
    }

    /// This much later.
    #[must_use]
    pub fn delay_by(self, by: Duration) -> When {
        match self {
            When::At(at) => When::At(at + by),
            When::On { events, after } => When::On { events, after: after + by },
        }
    }

    /// The moment as a report says it: `at c1's check`, `2 s after c1's grant`.
    pub fn words(&self) -> String {
        match self {
            When::At(Duration::ZERO) => "at the beginning".to_owned(),
            When::At(at) => format!("at {}", exact_duration(*at)),
            When::On { events, after } if after.is_zero() => format!("at {}", chain(events)),
            When::On { events, after } => format!("{} after {}", exact_duration(*after), chain(events)),
        }
    }

    /// Every such moment, as a report says it: `at every 3rd SET executed for c1`, `at c1's check, every time`.
    pub(crate) fn words_of_each(&self) -> String {
        let (event, after) = match self {
            // A chain counts each of its events from the one before: `the 1st SET after c1's grant` is not every SET.
            When::On { events, after } if events.len() == 1 => (events[0].every(), *after),
            _ => (None, Duration::ZERO),
        };
        match event {
            Some(event) if after.is_zero() => format!("at {event}"),
            Some(event) => format!("{} after {event}", exact_duration(after)),
            None => format!("{}, every time", self.words()),
        }
    }
}

impl Default for When {
    /// The beginning.
    fn default() -> When {
        When::At(Duration::ZERO)
    }
}

impl From<Duration> for When {
    fn from(at: Duration) -> When {
        When::At(at)
    }
}

impl From<Event> for When {
    fn from(event: Event) -> When {
        When::On { events: vec![Nth { event, nth: 1 }], after: Duration::ZERO }
    }
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            When::At(at) => f.write_str(&file_duration(*at)),
            When::On { events, after } if after.is_zero() => f.write_str(&chain(events)),
            When::On { events, after } => write!(f, "{} after {}", file_duration(*after), chain(events)),
        }
    }
}

impl Serialize for When {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The latest event first, as files and reports write a chain.
fn chain(events: &[Nth]) -> String {
    events.iter().rev().map(Nth::to_string).collect::<Vec<_>>().join(" after ")
}

impl Nth {
    /// `every 3rd SET executed for c1`, where it can be said so.
    fn every(&self) -> Option<String> {
        let Nth { event, nth } = self;
        let (whose, what) = event.parts();
        match (event, nth) {
            (Event::Executed { .. }, 1) => Some(format!("every {event}")),
            (Event::Executed { .. }, _) => Some(format!("every {} {event}", ordinal(*nth))),
            (_, 1) => None,
            _ => Some(format!("{whose}'s every {} {what}", ordinal(*nth))),
        }
    }
}

impl fmt::Display for Nth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Nth { event, nth } = self;
        match (event, nth) {
            (Event::Executed { .. }, _) => write!(f, "the {} {event}", ordinal(*nth)),
            (_, 1) => write!(f, "{event}"),
            _ => {
                let (whose, what) = event.parts();
                write!(f, "{whose}'s {} {what}", ordinal(*nth))
            }
        }
    }
}

impl Event {
    /// A client's program gets to a mark.
    pub fn mark(client: impl Into<String>, mark: Mark) -> Event {
        Event::Mark { client: client.into(), mark }
    }

    /// A node has executed a command, for anyone; see [`Event::by`] and [`Event::on`].
    pub fn executed(command: impl Into<String>) -> Event {
        Event::Executed { command: command.into().to_ascii_uppercase(), client: None, node: None }
    }

    /// Of executed commands: that of this client. Other events have their client already and stay as they are.
    #[must_use]
    pub fn by(self, name: impl Into<String>) -> Event {
        match self {
            Event::Executed { command, node, .. } => {
                Event::Executed { command, client: Some(name.into()), node }
            }
            other => other,
        }
    }

    /// Of executed commands: the one on this node. Other events stay as they are.
    #[must_use]
    pub fn on(self, name: impl Into<String>) -> Event {
        match self {
            Event::Executed { command, client, .. } => {
                Event::Executed { command, client, node: Some(name.into()) }
            }
            other => other,
        }
    }

    /// Whose event it is, and what happens; nobody's for an executed command.
    fn parts(&self) -> (&str, String) {
        match self {
            Event::Executed { command, client, node } => {
                let client = client.as_ref().map_or(String::new(), |client| format!(" for {client}"));
                let node = node.as_ref().map_or(String::new(), |node| format!(" on {node}"));
                ("", format!("{command} executed{client}{node}"))
            }
            Event::Mark { client, mark } => (client, mark.as_str().to_owned()),
            Event::ClockRead { host } => (host, "clock read".to_owned()),
            Event::Timer { client } => (client, "timer".to_owned()),
            Event::Boot { host } => (host, "boot".to_owned()),
            Event::Sent { from, to } => (from, format!("message to {to}")),
            Event::Received { by, from } => (by, format!("message from {from}")),
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parts() {
            ("", what) => f.write_str(&what),
            (whose, what) => write!(f, "{whose}'s {what}"),
        }
    }
}

/// What sort of step it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StepKind {
    /// Bytes were handed to the network.
    Send,
    /// Bytes arrived.
    Arrival,
    /// A node executed a command.
    Command,
    /// A client read a clock.
    ClockRead,
    /// A sleep or timeout of a client came due.
    Timer,
    /// A process started.
    Boot,
    /// A client's program got to a mark.
    Mark(Mark),
}

impl StepKind {
    /// All of them.
    pub fn all() -> impl Iterator<Item = StepKind> {
        let marks = Mark::ALL.into_iter().map(StepKind::Mark);
        [
            StepKind::Send,
            StepKind::Arrival,
            StepKind::Command,
            StepKind::ClockRead,
            StepKind::Timer,
            StepKind::Boot,
        ]
        .into_iter()
        .chain(marks)
    }

    /// What the heading of a table calls it.
    pub fn as_str(self) -> &'static str {
        match self {
            StepKind::Send => "send",
            StepKind::Arrival => "arrival",
            StepKind::Command => "command",
            StepKind::ClockRead => "clock read",
            StepKind::Timer => "timer",
            StepKind::Boot => "boot",
            StepKind::Mark(mark) => mark.as_str(),
        }
    }
}

impl Event {
    /// What sort of step it is.
    pub fn step(&self) -> StepKind {
        match self {
            Event::Executed { .. } => StepKind::Command,
            Event::Mark { mark, .. } => StepKind::Mark(*mark),
            Event::ClockRead { .. } => StepKind::ClockRead,
            Event::Timer { .. } => StepKind::Timer,
            Event::Boot { .. } => StepKind::Boot,
            Event::Sent { .. } => StepKind::Send,
            Event::Received { .. } => StepKind::Arrival,
        }
    }

    /// The host at which it happens; `None` for a command on whichever node.
    pub fn host(&self) -> Option<&str> {
        match self {
            Event::Executed { node, .. } => node.as_deref(),
            Event::Mark { client, .. } | Event::Timer { client } => Some(client),
            Event::ClockRead { host } | Event::Boot { host } => Some(host),
            Event::Sent { from, .. } => Some(from),
            Event::Received { by, .. } => Some(by),
        }
    }
}
