//! What the bytes of one direction of a connection say: Redis commands and replies, or the resource's frames.
//!
//! Bytes that are neither (of another protocol, or after a data set that cannot be read) have no words: the message is
//! shown with its length.

use std::task::Poll;

use doublehold_services::database::Database;
use doublehold_services::etcd::Etcd;
use doublehold_services::zookeeper::ZooKeeper;
use doublehold_services::{EVENT, FrameBuffer, Service, ServiceKind};
use redis::Value;

use super::resp3;
use super::scripts::HeardScripts;
use crate::detail::{Phrase, PhraseKind};
use crate::run::client::resource;
use crate::run::lean::reply;

fn words_of<S: Service>(frames: &mut FrameBuffer, asks: bool) -> Option<(u32, String)> {
    match asks {
        true => {
            frames.next_frame::<S::Request>().ok()?.map(|(number, request)| (number, request.to_string()))
        }
        false => frames.next_frame::<S::Answer>().ok()?.map(|(number, answer)| (number, answer.to_string())),
    }
}

/// Longer arguments are left out of the short form: tokens, digests and scripts are, names of keys mostly not.
const SHORT: usize = 18;
/// No more of an argument is shown at all.
const LONG: usize = 200;

/// Reads one direction.
#[derive(Default)]
pub(super) struct Listener {
    kind: Option<Speech>,
    /// What has arrived of a phrase that is not whole.
    begun: Vec<u8>,
    number: u64,
    /// How much of a data set is still to come.
    raw: usize,
}

/// What is spoken in a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Speech {
    Requests,
    Replies,
    /// A master's stream: it began with replies.
    Stream,
    Asks,
    Answers,
    /// To a service other than Redis, or from one.
    ToService(ServiceKind),
    FromService(ServiceKind),
    /// Nothing that can be read.
    Noise,
}

impl Listener {
    /// Of the side that opened the connection, or of the other; with the resource, or with a node.
    pub(super) fn new(opener: bool, with_resource: bool) -> Listener {
        let kind = match (opener, with_resource) {
            (true, false) => Speech::Requests,
            (false, false) => Speech::Replies,
            (true, true) => Speech::Asks,
            (false, true) => Speech::Answers,
        };
        Listener { kind: Some(kind), ..Listener::default() }
    }

    /// The same, with a service.
    pub(super) fn with_service(opener: bool, service: ServiceKind) -> Listener {
        let kind = if opener { Speech::ToService(service) } else { Speech::FromService(service) };
        Listener { kind: Some(kind), ..Listener::default() }
    }

    /// The phrases that end in these bytes. `objects` are the names of what the resource holds, `scripts` those that
    /// were heard before.
    pub(super) fn hear(&mut self, bytes: &[u8], objects: &[&str], scripts: &mut HeardScripts) -> Vec<Phrase> {
        self.begun.extend_from_slice(bytes);
        let mut phrases = Vec::new();
        while let Some(phrase) = self.next(objects, scripts) {
            phrases.extend(phrase);
        }
        phrases
    }

    /// The next whole piece; `None` once there is none.
    fn next(&mut self, objects: &[&str], scripts: &mut HeardScripts) -> Option<Option<Phrase>> {
        if self.raw > 0 {
            let skipped = self.raw.min(self.begun.len());
            self.begun.drain(..skipped);
            self.raw -= skipped;
        }
        if self.begun.is_empty() {
            return None;
        }
        match self.kind? {
            Speech::Noise => {
                self.begun.clear();
                None
            }
            Speech::Asks => {
                let words = resource::request_text(&self.take_frame(resource::ASK_BYTES)?, objects);
                Some(Some(self.phrase(PhraseKind::Request, words.clone(), words)))
            }
            Speech::Answers => {
                let words = resource::answer_text(&self.take_frame(resource::ANSWER_BYTES)?);
                Some(Some(self.phrase(PhraseKind::Reply, words.clone(), words)))
            }
            Speech::ToService(service) => self.next_of_service(service, true),
            Speech::FromService(service) => self.next_of_service(service, false),
            Speech::Requests | Speech::Replies | Speech::Stream => self.next_of_redis(scripts),
        }
    }

    /// A message to or from a service: its number says what it answers.
    fn next_of_service(&mut self, service: ServiceKind, asks: bool) -> Option<Option<Phrase>> {
        let mut frames = FrameBuffer::default();
        frames.tail().append(&mut self.begun);
        let read = match service {
            ServiceKind::ZooKeeper => words_of::<ZooKeeper>(&mut frames, asks),
            ServiceKind::Etcd => words_of::<Etcd>(&mut frames, asks),
            ServiceKind::Database => words_of::<Database>(&mut frames, asks),
        };
        self.begun.append(frames.tail());
        let (number, words) = read?;
        let kind = match (asks, number) {
            (true, _) => PhraseKind::Request,
            (false, EVENT) => PhraseKind::Push,
            (false, _) => PhraseKind::Reply,
        };
        Some(Some(Phrase { kind, number: number.into(), words: words.clone(), short: words, meaning: None }))
    }

    fn take_frame(&mut self, bytes: usize) -> Option<Vec<u8>> {
        (self.begun.len() >= bytes).then(|| self.begun.drain(..bytes).collect())
    }

    fn next_of_redis(&mut self, scripts: &mut HeardScripts) -> Option<Option<Phrase>> {
        if let Some(length) = self.data_set() {
            self.raw = length;
            return Some(None);
        }
        if self.kind == Some(Speech::Requests) && self.begun.first() != Some(&b'*') {
            return self.take_inline();
        }
        let (value, read) = match value(&self.begun) {
            Poll::Pending => return None,
            Poll::Ready(None) => {
                self.kind = Some(Speech::Noise);
                return Some(None);
            }
            Poll::Ready(Some(read)) => read,
        };
        self.begun.drain(..read);
        let (words, short) = (words(&value, LONG), words(&value, SHORT));
        match self.kind {
            Some(Speech::Requests) => {
                // What a replica says once it follows is no request: nobody answers it.
                let is_ack = words.starts_with("REPLCONF ACK");
                let kind = if is_ack { PhraseKind::Replication } else { PhraseKind::Request };
                let meaning = meaning(&value, scripts);
                Some(Some(Phrase { meaning, ..self.phrase(kind, words, short) }))
            }
            Some(Speech::Stream) => Some(Some(self.phrase(PhraseKind::Replication, words, short))),
            _ if resp3::is_unasked(&value) => Some(Some(self.phrase(PhraseKind::Push, words, short))),
            _ => {
                if words.starts_with("FULLRESYNC") || words.starts_with("CONTINUE") {
                    self.kind = Some(Speech::Stream);
                }
                Some(Some(self.phrase(PhraseKind::Reply, words, short)))
            }
        }
    }

    /// A request as somebody types it: an operator does.
    fn take_inline(&mut self) -> Option<Option<Phrase>> {
        let end = self.begun.iter().position(|byte| *byte == b'\n')?;
        let line: Vec<u8> = self.begun.drain(..=end).collect();
        let words = argument(line.trim_ascii(), LONG);
        Some(Some(self.phrase(PhraseKind::Request, words.clone(), words)))
    }

    /// The length of the data set that begins here: it follows a master's answer, has no end of line behind it, and is
    /// not shown.
    fn data_set(&mut self) -> Option<usize> {
        if self.kind != Some(Speech::Stream) || self.begun.first() != Some(&b'$') {
            return None;
        }
        let end = self.begun.windows(2).position(|pair| pair == b"\r\n")?;
        let length = std::str::from_utf8(&self.begun[1..end]).ok()?.parse().ok()?;
        self.begun.drain(..end + 2);
        Some(length)
    }

    fn phrase(&mut self, kind: PhraseKind, words: String, short: String) -> Phrase {
        let number = self.number;
        self.number += u64::from(!matches!(kind, PhraseKind::Replication | PhraseKind::Push));
        Phrase { kind, number, words, short, meaning: None }
    }
}

/// The first value of either protocol, and its length; `None` if these bytes are none.
fn value(bytes: &[u8]) -> Poll<Option<(Value, usize)>> {
    let mut rest = bytes;
    match reply::take(&mut rest) {
        Poll::Ready(Ok(value)) => Poll::Ready(Some((value, bytes.len() - rest.len()))),
        Poll::Ready(Err(_)) => resp3::first(bytes),
        Poll::Pending => Poll::Pending,
    }
}

/// A command as it is typed, or a reply as `redis-cli` would show it on one line.
fn words(value: &Value, longest: usize) -> String {
    match value {
        Value::Nil => "(nil)".to_owned(),
        Value::Okay => "OK".to_owned(),
        Value::Int(number) => number.to_string(),
        Value::SimpleString(text) => text.clone(),
        Value::BulkString(bytes) => argument(bytes, longest),
        Value::Array(items) => items.iter().map(|item| words(item, longest)).collect::<Vec<_>>().join(" "),
        Value::Push { data: items, .. } | Value::Set(items) => {
            items.iter().map(|item| words(item, longest)).collect::<Vec<_>>().join(" ")
        }
        Value::Map(pairs) => {
            let pair =
                |(key, value): &(Value, Value)| format!("{} {}", words(key, longest), words(value, longest));
            pairs.iter().map(pair).collect::<Vec<_>>().join(" ")
        }
        Value::ServerError(error) => {
            format!("error {} {}", error.code(), error.details().unwrap_or_default())
        }
        other => format!("{other:?}"),
    }
}

/// The meaning of a request that runs a known script.
fn meaning(request: &Value, scripts: &mut HeardScripts) -> Option<String> {
    fn bytes(item: &Value) -> Option<&[u8]> {
        if let Value::BulkString(bytes) = item { Some(bytes) } else { None }
    }
    let Value::Array(items) = request else { return None };
    let words: Option<Vec<&[u8]>> = items.iter().map(bytes).collect();
    scripts.meaning(&words?, |key| argument(key, SHORT))
}

fn argument(bytes: &[u8], longest: usize) -> String {
    let text = bytes.escape_ascii().to_string();
    match std::str::from_utf8(bytes) {
        Ok(text)
            if !text.is_empty() && text.chars().count() <= longest && !text.chars().any(char::is_control) =>
        {
            text.to_owned()
        }
        _ if text.is_empty() => "\"\"".to_owned(),
        _ if text.len() <= longest => text,
        _ if longest == SHORT => "…".to_owned(),
        _ => text[..longest].to_owned() + "…",
    }
}
