//! Faults that wait for a moment, as scenarios name them: a time since the record began, or a chain of events.
//!
//! Known of events: commands that nodes execute, requests that arrive, what clients tell of their locks, and starts of
//! nodes. Not known: what a client's clock or timer does.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use doublehold_scenarios::when::{Event, Mark, When};

use super::ledger::{Ledger, Needs, Ticket};

/// Stands for every client in a mark: `*'s grant`.
const ANYBODY: &str = "*";

/// A fault, and the moment that it waits for. `W` is a word that strikes it.
#[derive(Clone)]
pub(crate) struct Timed<W> {
    /// As it was typed, or as its scenario has it.
    pub(crate) typed: String,
    pub(crate) when: When,
    /// What is done, and how long after the moment each.
    pub(crate) words: Vec<(Duration, W)>,
    /// Whether it strikes every time that its event comes.
    pub(crate) each: bool,
    pub(crate) is_optional: bool,
}

/// Something that happened.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Happened<'a> {
    /// A node executed a command that a client had sent; its name in capitals.
    Executed { command: &'a str, client: Option<&'a str>, node: &'a str },
    /// A client told of its lock, or read or wrote the resource.
    Marked { client: &'a str, mark: Mark },
    /// A request of a client arrived at a node.
    Arrived { client: &'a str, node: &'a str },
    /// A host's process began.
    Booted { host: &'a str },
}

impl Happened<'_> {
    fn is(&self, event: &Event) -> bool {
        let fits = |wanted: &Option<String>, it: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| it == Some(wanted))
        };
        match (*self, event) {
            (
                Happened::Executed { command, client, node },
                Event::Executed { command: wanted, client: of, node: on },
            ) => command == wanted && fits(of, client) && fits(on, Some(node)),
            (Happened::Marked { client, mark }, Event::Mark { client: of, mark: wanted }) => {
                (client == of || of == ANYBODY) && mark == *wanted
            }
            (
                Happened::Arrived { client, node },
                Event::Sent { from, to } | Event::Received { by: to, from },
            ) => client == from && node == to,
            (Happened::Booted { host }, Event::Boot { host: wanted }) => host == wanted,
            _ => false,
        }
    }
}

/// A fault on its way through its chain of events.
struct Waiting<W> {
    timed: Timed<W>,
    ticket: Ticket,
    /// How many events of the chain have come, and how often the next one.
    come: usize,
    count: u32,
}

/// A fault whose moment has come.
pub(crate) struct Due<W> {
    pub(crate) words: Vec<(Duration, W)>,
    /// How long after the event.
    pub(crate) after: Duration,
    ticket: Ticket,
}

/// All that wait.
pub(crate) struct Moments<W> {
    waiting: Mutex<Vec<Waiting<W>>>,
    /// Most events look at no more than this.
    is_any_waiting: AtomicBool,
}

impl<W> Default for Moments<W> {
    fn default() -> Moments<W> {
        Moments { waiting: Mutex::default(), is_any_waiting: AtomicBool::new(false) }
    }
}

impl<W: Clone> Moments<W> {
    fn waiting(&self) -> MutexGuard<'_, Vec<Waiting<W>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a fault wait for its moment, from now on. One that waits for a time is due at once, and then waits.
    #[must_use]
    pub(crate) fn arm(&self, timed: Timed<W>, ledger: &Arc<Ledger>) -> Option<Due<W>> {
        let needs = if timed.is_optional { Needs::Nothing } else { Needs::Strike };
        let ticket = ledger.enter(timed.typed.clone(), None, needs);
        if let When::At(after) = timed.when {
            return Some(Due { words: timed.words, after, ticket });
        }
        self.waiting().push(Waiting { timed, ticket, come: 0, count: 0 });
        self.is_any_waiting.store(true, Ordering::Release);
        None
    }

    /// Gives up all that wait.
    pub(crate) fn clear(&self) {
        self.waiting().clear();
        self.is_any_waiting.store(false, Ordering::Release);
    }

    pub(crate) fn is_any_waiting(&self) -> bool {
        self.is_any_waiting.load(Ordering::Acquire)
    }

    /// The faults whose moment comes with this.
    pub(crate) fn happened(&self, happened: Happened<'_>, ledger: &Arc<Ledger>) -> Vec<Due<W>> {
        let mut waiting = self.waiting();
        let mut due = Vec::new();
        let mut place = 0;
        while let Some(it) = waiting.get_mut(place) {
            if !it.comes_with(happened) {
                place += 1;
                continue;
            }
            let Waiting { timed, ticket, .. } = waiting.remove(place);
            let When::On { after, .. } = timed.when else { continue };
            due.push(Due { words: timed.words.clone(), after, ticket });
            if timed.each {
                let ticket = ledger.enter(timed.typed.clone(), None, Needs::Nothing);
                waiting.insert(place, Waiting { timed, ticket, come: 0, count: 0 });
                place += 1;
            }
        }
        self.is_any_waiting.store(!waiting.is_empty(), Ordering::Release);
        due
    }
}

impl<W> Waiting<W> {
    /// Whether this completes its chain.
    fn comes_with(&mut self, happened: Happened<'_>) -> bool {
        let When::On { events, .. } = &self.timed.when else { return false };
        let Some(next) = events.get(self.come) else { return false };
        if !happened.is(&next.event) {
            return false;
        }
        self.count += 1;
        self.ticket.let_pass(|| next.event.to_string());
        if self.count < next.nth {
            return false;
        }
        (self.come, self.count) = (self.come + 1, 0);
        self.come == events.len()
    }
}

impl<W> Due<W> {
    /// What is to be done, and the ticket that is struck by it.
    pub(crate) fn strike(self) -> (Vec<(Duration, W)>, Struck) {
        self.ticket.strike();
        (self.words, Struck(self.ticket))
    }

    /// Waits for the time after the event; false if all faults were given up meanwhile.
    pub(crate) async fn comes(&self) -> bool {
        crate::serve::either::first(tokio::time::sleep(self.after), self.ticket.given_up()).await.is_left()
    }
}

/// A fault that has struck; it is over when this is dropped.
pub(crate) struct Struck(Ticket);

impl Struck {
    /// Waits for so long; false if all faults were given up meanwhile.
    pub(crate) async fn lasts(&self, time: Duration) -> bool {
        crate::serve::either::first(tokio::time::sleep(time), self.0.given_up()).await.is_left()
    }
}
