//! What goes to replicas and to the AOF: the effects of writes, in order; and to replicas alone: messages.
//!
//! The writes of one request are a unit; if it has more than one, it is wrapped in MULTI/EXEC so that a replica or an
//! AOF applies all of it or nothing.

use std::ops::Range;

use crate::resp::{integer, reply};

#[derive(Debug, Default)]
pub(crate) struct Propagation {
    /// Nobody listens (no AOF, no replica so far): nothing is written.
    pub(crate) enabled: bool,
    /// Commands of the request under way.
    unit: Vec<u8>,
    commands: usize,
    /// The ranges of the unit that the AOF is not to have.
    for_replicas_only: Vec<Range<usize>>,
    /// Finished units, until the node takes them.
    ready: Vec<u8>,
    /// The same in them.
    ready_for_replicas_only: Vec<Range<usize>>,
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
        self.select(db);
        reply::command(&mut self.unit, args);
        self.commands += 1;
    }

    /// The same, for replicas alone. The SELECT before it goes to both, so that they stay in one database.
    pub(crate) fn write_for_replicas<'a>(
        &mut self,
        db: usize,
        args: impl ExactSizeIterator<Item = &'a [u8]>,
    ) {
        if self.enabled {
            self.select(db);
            let start = self.unit.len();
            self.command(db, args);
            self.for_replicas_only.push(start..self.unit.len());
        }
    }

    fn select(&mut self, db: usize) {
        if self.selected != Some(db) {
            let mut number = Vec::new();
            integer::write(&mut number, db as i64);
            reply::command(&mut self.unit, [b"SELECT".as_slice(), &number].into_iter());
            self.selected = Some(db);
        }
    }

    /// Ends the unit; returns how many bytes it added to the stream.
    pub(crate) fn finish_unit(&mut self) -> usize {
        if self.unit.is_empty() {
            return 0;
        }
        let before = self.ready.len();
        if self.commands > 1 {
            self.ready.extend_from_slice(b"*1\r\n$5\r\nMULTI\r\n");
            self.note_for_replicas_only();
            self.ready.append(&mut self.unit);
            self.ready.extend_from_slice(b"*1\r\n$4\r\nEXEC\r\n");
        } else {
            self.note_for_replicas_only();
            self.ready.append(&mut self.unit);
        }
        self.commands = 0;
        self.ready.len() - before
    }

    /// The unit is about to lie behind what is ready.
    fn note_for_replicas_only(&mut self) {
        let at = self.ready.len();
        let places = self.for_replicas_only.drain(..).map(|place| place.start + at..place.end + at);
        self.ready_for_replicas_only.extend(places);
    }

    pub(crate) fn take_for_replicas_only(&mut self) -> Vec<Range<usize>> {
        std::mem::take(&mut self.ready_for_replicas_only)
    }

    pub(crate) fn take(&mut self, into: &mut Vec<u8>) -> bool {
        self.ready_for_replicas_only.clear();
        into.extend_from_slice(&self.ready);
        let any = !self.ready.is_empty();
        self.ready.clear();
        any
    }

    pub(crate) fn select_again(&mut self) {
        self.selected = None;
    }
}
