//! What INFO counts of commands and of error replies.
//!
//! Every call counts, of a client, of a transaction and of a script. One that is refused before it runs is rejected,
//! one that replies with an error has failed. An error counts once, however far it is handed on: what a script throws
//! because a command of its own threw it is that command's.
//!
//! Not modelled: the time that commands take. In the core they take none.

use std::collections::BTreeMap;

use crate::core::WallMicros;

/// Redis looks so far for the end of an error's code.
const CODE_BYTES: usize = 32;
/// Redis counts no more kinds of errors than this, lest a script fills its memory with them.
const KINDS: usize = 128;

/// Counters that INFO shows.
#[derive(Debug, Default)]
pub(crate) struct Stats {
    pub(crate) started_at: Option<WallMicros>,
    pub(crate) commands: u64,
    pub(crate) expired: u64,
    /// Keys that were looked up to be read, and there …
    pub(crate) hits: u64,
    /// … or not.
    pub(crate) misses: u64,
    pub(crate) evicted: u64,
    pub(crate) connections: u64,
    pub(crate) connected: u64,
    pub(crate) rejected: u64,
    pub(crate) counts: Counts,
}

/// How often one command was called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Calls {
    pub(crate) calls: u64,
    pub(crate) rejected: u64,
    pub(crate) failed: u64,
}

/// All counts since the node started, or since CONFIG RESETSTAT.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// Of each command and subcommand that was sent so far.
    commands: Vec<(&'static str, Calls)>,
    errors: BTreeMap<Vec<u8>, u64>,
    /// The last error that counted.
    last_error: Vec<u8>,
}

impl Counts {
    /// A command was executed, and this is its reply.
    pub(crate) fn count_call(&mut self, command: &'static str, reply: &[u8]) {
        let has_failed = reply.first() == Some(&b'-');
        let calls = self.calls_mut(command);
        calls.calls += 1;
        calls.failed += u64::from(has_failed);
        if has_failed {
            self.count_error(reply);
        }
    }

    /// The same for a script: an error that one of its commands has counted for does not count again.
    pub(crate) fn count_script_call(&mut self, command: &'static str, reply: &[u8]) {
        let end = self.last_error.len();
        let is_known = end > 0 && reply.len() >= end && reply[..end] == self.last_error;
        if is_known {
            let calls = self.calls_mut(command);
            calls.calls += 1;
            calls.failed += 1;
        } else {
            self.count_call(command, reply);
        }
        self.last_error.clear();
    }

    /// A command was refused, with this error.
    pub(crate) fn count_rejection(&mut self, command: &'static str, error: &[u8]) {
        self.calls_mut(command).rejected += 1;
        self.count_error(error);
    }

    /// An error reply, with its `-` or without.
    pub(crate) fn count_error(&mut self, error: &[u8]) {
        let error = error.strip_suffix(b"\r\n").unwrap_or(error);
        let text = error.strip_prefix(b"-").unwrap_or(error);
        let code = text.iter().take(CODE_BYTES - 1).position(|byte| *byte == b' ').map(|end| &text[..end]);
        let code = code.unwrap_or(b"ERR");
        if let Some(count) = self.errors.get_mut(code) {
            *count += 1;
        } else if self.errors.len() < KINDS {
            self.errors.insert(code.to_vec(), 1);
        }
        self.last_error.clear();
        self.last_error.push(b'-');
        self.last_error.extend_from_slice(text);
    }

    /// No script has had an error so far.
    pub(crate) fn begin_script(&mut self) {
        self.last_error.clear();
    }

    fn calls_mut(&mut self, command: &'static str) -> &mut Calls {
        // Looked up by every command. A run has a handful of them, so this is a few addresses, and no name is compared.
        let known = self.commands.iter().position(|(known, _)| std::ptr::eq(*known, command));
        let place = known.unwrap_or_else(|| {
            self.commands.push((command, Calls::default()));
            self.commands.len() - 1
        });
        &mut self.commands[place].1
    }

    /// The commands that were called or refused, by name.
    pub(crate) fn commands(&self) -> BTreeMap<&'static str, Calls> {
        self.commands.iter().copied().collect()
    }

    /// Codes of error replies, by name, and how often there was one.
    pub(crate) fn errors(&self) -> &BTreeMap<Vec<u8>, u64> {
        &self.errors
    }

    pub(crate) fn all_errors(&self) -> u64 {
        self.errors.values().sum()
    }
}
