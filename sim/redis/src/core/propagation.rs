//! What goes to replicas and to the AOF: the effects of writes, in order.
//!
//! The writes of one request are a unit; if it has more than one, it is wrapped in MULTI/EXEC so that a replica or an
//! AOF applies all of it or nothing.

use crate::resp::{integer, reply};

#[derive(Debug, Default)]
pub(crate) struct Propagation {
    /// Nobody listens (no AOF, no replica so far): nothing is written.
    pub(crate) enabled: bool,
    /// Commands of the request under way.
    unit: Vec<u8>,
    commands: usize,
    /// Finished units, until the node takes them.
    ready: Vec<u8>,
    /// The database the stream has selected so far.
    selected: Option<usize>,
}

impl Propagation {
    pub(crate) fn new(enabled: bool) -> Propagation {
        Propagation { enabled, ..Propagation::default() }
    }

    /// Adds one command to the unit under way, after a SELECT if the stream is elsewhere.
    pub(crate) fn command<'a>(&mut self, db: usize, args: impl ExactSizeIterator<Item = &'a [u8]>) {
        if !self.enabled {
            return;
        }
        if self.selected != Some(db) {
            let mut number = Vec::new();
            integer::write(&mut number, db as i64);
            reply::command(&mut self.unit, [b"SELECT".as_slice(), &number].into_iter());
            self.selected = Some(db);
        }
        reply::command(&mut self.unit, args);
        self.commands += 1;
    }

    /// Ends the unit; returns how many bytes it added to the stream.
    pub(crate) fn finish_unit(&mut self) -> usize {
        if self.unit.is_empty() {
            return 0;
        }
        let before = self.ready.len();
        if self.commands > 1 {
            self.ready.extend_from_slice(b"*1\r\n$5\r\nMULTI\r\n");
            self.ready.append(&mut self.unit);
            self.ready.extend_from_slice(b"*1\r\n$4\r\nEXEC\r\n");
        } else {
            self.ready.append(&mut self.unit);
        }
        self.commands = 0;
        self.ready.len() - before
    }

    pub(crate) fn take(&mut self, into: &mut Vec<u8>) -> bool {
        into.extend_from_slice(&self.ready);
        let any = !self.ready.is_empty();
        self.ready.clear();
        any
    }

    pub(crate) fn select_again(&mut self) {
        self.selected = None;
    }
}
