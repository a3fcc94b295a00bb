//! The requests that named clients send, while somebody wants to know.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use doublehold_sim_redis::resp::Args;

/// More than any calm run sends that says anything.
const MOST: usize = 100_000;

/// A request, as far as a fault can wait for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) client: String,
    pub(crate) node: String,
    /// Its first word, in capitals.
    pub(crate) command: String,
}

/// True of a command that says nothing of a lock, since drivers send it as they connect.
pub(crate) fn is_of_driver(command: &[u8]) -> bool {
    let of_drivers = [
        "AUTH", "CLIENT", "CLUSTER", "COMMAND", "ECHO", "HELLO", "INFO", "PING", "QUIT", "ROLE", "SCRIPT",
        "SELECT",
    ];
    of_drivers.iter().any(|name| command.eq_ignore_ascii_case(name.as_bytes()))
}

/// All requests since somebody began to look.
#[derive(Default)]
pub(crate) struct Requests {
    is_noted: AtomicBool,
    seen: Mutex<Vec<Request>>,
}

impl Requests {
    fn seen(&self) -> MutexGuard<'_, Vec<Request>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes requests from now on.
    pub(crate) fn begin(&self) {
        self.seen().clear();
        self.is_noted.store(true, Ordering::Release);
    }

    /// Returns those that were noted, and notes no more.
    pub(crate) fn take(&self) -> Vec<Request> {
        self.is_noted.store(false, Ordering::Release);
        std::mem::take(&mut *self.seen())
    }

    pub(crate) fn is_noted(&self) -> bool {
        self.is_noted.load(Ordering::Acquire)
    }

    pub(crate) fn note(&self, client: &str, node: &str, request: &Args<'_>) {
        let mut seen = self.seen();
        if seen.len() < MOST {
            let command = String::from_utf8_lossy(request.at(0)).to_ascii_uppercase();
            seen.push(Request { client: client.to_owned(), node: node.to_owned(), command });
        }
    }
}
