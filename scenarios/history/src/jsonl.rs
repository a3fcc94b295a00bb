//! Histories as files: one JSON object a line, the header first, then one event a line in order.
//!
//! Reading refuses what the checks could misread: another version, ids the header does not name, grants that
//! were never started or change hands, events out of order, a version written twice. A file that simply stops
//! before `run_ended` is read: the checks call it inconclusive. Lines and events are bounded, so no file can
//! use up memory without limit.
//!
//! Decision: "The history crate depends on `serde_json`" (docs/decisions/locks.md).

use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead, Read, Write};

use serde::Deserialize;
use thiserror::Error;

use crate::event::{CallId, ClientId, Event, EventKind, LockId, ObjectId, TrueNs};
use crate::history::{Header, History};

impl History {
    /// The longest line that is read, in bytes.
    pub const MAX_LINE: usize = 1 << 20;

    /// How many events are read at most: more than any run makes, and about a gigabyte of memory.
    pub const MAX_EVENTS: usize = 8_000_000;

    /// Reads a history written by [`History::write_jsonl`].
    ///
    /// # Errors
    ///
    /// The first thing wrong with the input, with its line number.
    ///
    /// ```
    /// use doublehold_history::History;
    ///
    /// let file = r#"{"version":3,"scenario":"quiet","seed":7,"clients":["c1"],"nodes":[],"locks":["stock"],"objects":[],"bounds":{"obtain_within_ns":null,"obtain_free_within_ns":null}}
    /// {"at":5,"type":"acquire_started","client":0,"call":1,"lock":0}
    /// {"at":9,"type":"run_ended","outcome":"completed"}
    /// "#;
    /// let history = History::read_jsonl(file.as_bytes())?;
    /// assert_eq!(history.events().len(), 2);
    /// let mut written = Vec::new();
    /// history.write_jsonl(&mut written)?;
    /// assert_eq!(written, file.as_bytes());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_jsonl(input: impl BufRead) -> Result<History, HistoryError> {
        let mut lines = Lines { input, number: 0, buffer: Vec::new() };
        let (_, first) = lines.next()?.ok_or(HistoryError::Empty)?;
        let header = header(first)?;
        let mut known = SeenIds::default();
        let mut history = History::new(header);
        while let Some((number, line)) = lines.next()? {
            if history.events().len() == Self::MAX_EVENTS {
                return Err(HistoryError::TooManyEvents { line: number });
            }
            let event: Event = parse(line, number)?;
            known
                .check(&event, history.header())
                .map_err(|cause| HistoryError::Impossible { line: number, cause })?;
            history.push(event.at, event.what);
        }
        Ok(history)
    }

    /// Writes the history so that [`History::read_jsonl`] reads the same one.
    ///
    /// # Errors
    ///
    /// What writing to `output` fails with. Nothing is flushed.
    pub fn write_jsonl(&self, mut output: impl Write) -> io::Result<()> {
        serde_json::to_writer(&mut output, self.header())?;
        writeln!(output)?;
        for event in self.events() {
            serde_json::to_writer(&mut output, event)?;
            writeln!(output)?;
        }
        Ok(())
    }
}

/// Why a file is no history.
#[derive(Debug, Error)]
pub enum HistoryError {
    /// There is not even a header.
    #[error("the history is empty: its first line must be a header")]
    Empty,
    /// The input cannot be read.
    #[error("line {line}: cannot read: {source}")]
    Io {
        /// The line that could not be read.
        line: usize,
        /// Why.
        source: io::Error,
    },
    /// A line is not text.
    #[error("line {line}: not UTF-8: a history is JSON text, one object a line")]
    NotUtf8 {
        /// Which.
        line: usize,
    },
    /// A line is too long to be one of ours.
    #[error("line {line}: longer than {} bytes: a history has one object a line", History::MAX_LINE)]
    LineTooLong {
        /// Which.
        line: usize,
    },
    /// The history is longer than any run's.
    #[error("line {line}: more than {} events: shorten the run", History::MAX_EVENTS)]
    TooManyEvents {
        /// The first line too many.
        line: usize,
    },
    /// The header is of another version.
    #[error(
        "line 1: the history has version {found}, this program reads version {}: record it again",
        Header::VERSION
    )]
    Version {
        /// The version it says it has.
        found: u64,
    },
    /// A line is not what it should be.
    #[error("line {line}, column {column}: not {expected}: {cause}")]
    Malformed {
        /// Which line.
        line: usize,
        /// Where in it, in bytes from 1.
        column: usize,
        /// What it should be.
        expected: &'static str,
        /// What is wrong with it.
        cause: String,
    },
    /// An event cannot have happened after those before it.
    #[error("line {line}: {cause}")]
    Impossible {
        /// Which.
        line: usize,
        /// Why not.
        cause: String,
    },
}

/// Lines of bounded length.
struct Lines<R> {
    input: R,
    /// The number of the line read last; the first is 1.
    number: usize,
    buffer: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    /// The next line's number and text without its end, or `None` at the end of the input.
    fn next(&mut self) -> Result<Option<(usize, &str)>, HistoryError> {
        self.number += 1;
        self.buffer.clear();
        let line = self.number;
        // One byte more than a line may have, plus its end: enough to see that it is too long.
        let mut bounded = self.input.by_ref().take(History::MAX_LINE as u64 + 2);
        bounded.read_until(b'\n', &mut self.buffer).map_err(|source| HistoryError::Io { line, source })?;
        if self.buffer.is_empty() {
            return Ok(None);
        }
        let text = self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer);
        if text.len() > History::MAX_LINE {
            return Err(HistoryError::LineTooLong { line });
        }
        let text = std::str::from_utf8(text).map_err(|_| HistoryError::NotUtf8 { line })?;
        Ok(Some((line, text)))
    }
}

fn header(line: &str) -> Result<Header, HistoryError> {
    /// All that every version of the header has in common.
    #[derive(Deserialize)]
    struct Versioned {
        version: u64,
    }
    let what = "a history's header";
    let Versioned { version } =
        serde_json::from_str(line).map_err(|error| malformed_line(1, what, &error))?;
    if version != u64::from(Header::VERSION) {
        return Err(HistoryError::Version { found: version });
    }
    serde_json::from_str(line).map_err(|error| malformed_line(1, what, &error))
}

fn parse(line: &str, number: usize) -> Result<Event, HistoryError> {
    serde_json::from_str(line).map_err(|error| malformed_line(number, "an event", &error))
}

fn malformed_line(line: usize, expected: &'static str, error: &serde_json::Error) -> HistoryError {
    let text = error.to_string();
    // serde_json counts lines itself, from the one line it was given.
    let cause = text.split(" at line ").next().unwrap_or_default().to_owned();
    HistoryError::Malformed { line, column: error.column(), expected, cause }
}

/// What earlier lines said, as far as later lines depend on it.
#[derive(Default)]
struct SeenIds {
    last: TrueNs,
    ended: bool,
    grants: HashMap<CallId, (ClientId, LockId)>,
    granted: HashSet<CallId>,
    versions: HashSet<(ObjectId, u64)>,
}

impl SeenIds {
    fn check(&mut self, event: &Event, header: &Header) -> Result<(), String> {
        if self.ended {
            return Err("an event after `run_ended`: it must be the last line".to_owned());
        }
        if event.at < self.last {
            let (at, last) = (event.at.0, self.last.0);
            return Err(format!("`at` is {at}, but the line before has {last}: sort the events by `at`"));
        }
        self.last = event.at;
        check_names(&event.what, header)?;
        self.grant(&event.what)?;
        self.version(&event.what, header)?;
        self.ended = matches!(event.what, EventKind::RunEnded { .. });
        Ok(())
    }

    /// A grant starts once, is granted once, and stays with its client and its lock.
    fn grant(&mut self, what: &EventKind) -> Result<(), String> {
        let Some(grant) = what.call() else { return Ok(()) };
        let id = grant.0;
        let unknown = |id: u64| format!("grant {id} was never started: record `acquire_started` first");
        let Some(client) = what.client() else {
            return self.grants.get(&grant).map(|_| ()).ok_or_else(|| unknown(id));
        };
        if let EventKind::AcquireStarted { lock, .. } = *what {
            return match self.grants.insert(grant, (client, lock)) {
                None => Ok(()),
                Some(_) => Err(format!("grant {id} is started twice: every acquire call has its own id")),
            };
        }
        let &(owner, asked) = self.grants.get(&grant).ok_or_else(|| unknown(id))?;
        if owner != client {
            return Err(format!("grant {id} was started by client {}, not by client {}", owner.0, client.0));
        }
        match *what {
            EventKind::Granted { lock, .. } if lock != asked => {
                Err(format!("grant {id} was started for lock {}, not for lock {}", asked.0, lock.0))
            }
            EventKind::Granted { .. } if !self.granted.insert(grant) => {
                Err(format!("grant {id} is granted twice"))
            }
            EventKind::KeyTouched { held, .. } if !self.grants.contains_key(&held) => Err(unknown(held.0)),
            _ => Ok(()),
        }
    }

    fn version(&mut self, what: &EventKind, header: &Header) -> Result<(), String> {
        match *what {
            EventKind::WriteApplied { object, version, .. } if !self.versions.insert((object, version)) => {
                Err(format!("object `{}` gets version {version} twice", header.object(object)))
            }
            _ => Ok(()),
        }
    }
}

/// Whether the header names every id in the event.
fn check_names(what: &EventKind, header: &Header) -> Result<(), String> {
    let known = |kind: &str, id: u32, names: &[String]| match usize::try_from(id) {
        Ok(index) if index < names.len() => Ok(()),
        _ => Err(format!("unknown {kind} {id}: the header names {} of them, counted from 0", names.len())),
    };
    if let Some(client) = what.client() {
        known("client", client.0, &header.clients)?;
    }
    match *what {
        EventKind::AcquireStarted { lock, .. } | EventKind::Granted { lock, .. } => {
            known("lock", lock.0, &header.locks)
        }
        EventKind::ReadDone { object, .. }
        | EventKind::WriteSent { object, .. }
        | EventKind::WriteApplied { object, .. }
        | EventKind::WriteRefused { object, .. }
        | EventKind::WriteLost { object, .. } => known("object", object.0, &header.objects),
        EventKind::KeyTouched { node, lock, .. } => {
            known("node", node.0, &header.nodes)?;
            known("lock", lock.0, &header.locks)
        }
        EventKind::KeySet { node, lock, .. } | EventKind::KeyGone { node, lock, .. } => {
            known("node", node.0, &header.nodes)?;
            known("lock", lock.0, &header.locks)
        }
        EventKind::Struck { node: Some(node), .. } => known("node", node.0, &header.nodes),
        EventKind::Unattributed { node, lock, .. } => {
            node.map_or(Ok(()), |node| known("node", node.0, &header.nodes))?;
            known("lock", lock.0, &header.locks)
        }
        _ => Ok(()),
    }
}
