//! Faults that wait for a request: it is held, executed without a reply, or executed once more.
//!
//! Each strikes once, at the first request that fits: of its client, at its node, with its text.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use doublehold_sim_redis::resp::Args;

use super::ledger::{Ledger, Needs, Ticket};
use super::requests::is_of_driver;

/// What befalls a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blow {
    /// It arrives so much later, and what its connection brings behind it.
    Hold(Duration),
    /// It is executed, and the connection ends before its reply has left.
    Drop,
    /// It is executed, and once more so much later, over a connection of its own.
    Repeat(Duration),
}

/// A fault, and the request that it waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Strike {
    pub(crate) blow: Blow,
    /// Whose request; `None`: any client's.
    pub(crate) client: Option<String>,
    /// The node that it is sent to, by name.
    pub(crate) node: String,
    /// A part of it, in any case; its words stand one space apart.
    pub(crate) text: Option<String>,
}

/// As it was typed.
impl fmt::Display for Strike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, ms) = match self.blow {
            Blow::Hold(by) => ("HOLD", Some(by.as_millis())),
            Blow::Drop => ("DROP", None),
            Blow::Repeat(after) => ("REPEAT", Some(after.as_millis())),
        };
        write!(f, "{word} {} {}", self.client.as_deref().unwrap_or("*"), self.node)?;
        ms.map_or(Ok(()), |ms| write!(f, " {ms}"))?;
        self.text.as_ref().map_or(Ok(()), |text| write!(f, " {text}"))
    }
}

/// All that wait.
#[derive(Default)]
pub(crate) struct Strikes {
    waiting: Mutex<Vec<(Strike, Ticket)>>,
    /// Most requests look at no more than this.
    is_any_waiting: AtomicBool,
}

impl Strikes {
    fn waiting(&self) -> MutexGuard<'_, Vec<(Strike, Ticket)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a fault wait for its request, from now on.
    pub(crate) fn arm(&self, strike: Strike, ledger: &Arc<Ledger>) {
        let who = strike.client.as_ref().map_or("clients have".to_owned(), |client| format!("{client} has"));
        let needs = match strike.blow {
            Blow::Hold(_) | Blow::Repeat(_) => Needs::End,
            // Nothing is to come of it later.
            Blow::Drop => Needs::Strike,
        };
        let ticket = ledger.enter(strike.to_string(), Some(format!("{who} sent {}", strike.node)), needs);
        self.waiting().push((strike, ticket));
        self.is_any_waiting.store(true, Ordering::Release);
    }

    /// Gives up all that wait.
    pub(crate) fn clear(&self) {
        self.waiting().clear();
        self.is_any_waiting.store(false, Ordering::Release);
    }

    pub(crate) fn is_any_waiting(&self) -> bool {
        self.is_any_waiting.load(Ordering::Acquire)
    }

    /// The fault that strikes this request, if one does.
    pub(crate) fn strike(
        &self,
        client: Option<&str>,
        node: &str,
        request: &Args<'_>,
    ) -> Option<(Blow, Ticket)> {
        let mut waiting = self.waiting();
        let is_for = |strike: &Strike| {
            strike.node == node && strike.client.as_deref().is_none_or(|wanted| Some(wanted) == client)
        };
        let text = text_of(request);
        let is_of_driver = is_of_driver(request.at(0));
        let place = waiting.iter().position(|(strike, ticket)| {
            let fits = match &strike.text {
                Some(wanted) => text.contains(&wanted.to_ascii_lowercase()),
                // A client that names its connection has not begun.
                None => !is_of_driver,
            };
            let strikes = is_for(strike) && fits;
            if is_for(strike) && !strikes {
                ticket.let_pass(|| String::from_utf8_lossy(request.at(0)).to_ascii_uppercase());
            }
            strikes
        })?;
        let (strike, ticket) = waiting.remove(place);
        self.is_any_waiting.store(!waiting.is_empty(), Ordering::Release);
        ticket.strike();
        Some((strike.blow, ticket))
    }
}

/// A request's words, one space apart, in lower case.
fn text_of(request: &Args<'_>) -> String {
    let words: Vec<_> =
        request.iter().map(|word| String::from_utf8_lossy(word).to_ascii_lowercase()).collect();
    words.join(" ")
}
