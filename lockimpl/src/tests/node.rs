//! A fake Redis node: string keys that expire, the lock scripts by their hash, transactions of one client, ROLE, WAIT,
//! and channels.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use redis::{PushInfo, PushKind, RedisResult, Value};
use tokio::sync::mpsc::UnboundedSender;

use super::fake::{WALL_START, ms};
use crate::connection::extension_scripts::{EXTEND_MORE, EXTEND_UNTIL};
use crate::connection::scripts::{CLAIM_FENCED, COMPARE_AND_DELETE, EXTEND, EXTEND_OR_SET};
use crate::locks::list;
use crate::parts::waiting::Signals;

/// A lease that outlasts every test, in milliseconds.
const FOR_EVER: &str = "1000000000";

/// What becomes of the next reply.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Replies {
    Arrive,
    /// They get lost, and the connection stays.
    Vanish,
    /// The connection breaks instead.
    Break,
}

pub(super) struct Node {
    pub(super) request_delay: Duration,
    pub(super) reply_delay: Duration,
    pub(super) replies: Replies,
    pub(super) refuses_connections: bool,
    /// What asks for a connection never arrives.
    pub(super) loses_connections: bool,
    /// Requests vanish before they are executed.
    pub(super) unreachable: bool,
    pub(super) replica: bool,
    pub(super) acknowledging: i64,
    pub(super) keys: BTreeMap<String, Key>,
    pub(super) counters: BTreeMap<String, i64>,
    pub(super) scripts: BTreeSet<String>,
    /// The replies to what was executed since MULTI.
    transaction: Option<Vec<Value>>,
    /// Who listens; none where a connection has ended.
    listeners: Vec<Option<Listener>>,
    /// What was published, and has yet to be sent.
    published: Vec<[Vec<u8>; 2]>,
    /// Every command executed: when, and its words (tokens as their first byte).
    pub(super) log: Vec<(Duration, String)>,
}

/// A connection on which the node may push, and the channels it has subscribed to.
struct Listener {
    pushes: UnboundedSender<PushInfo>,
    channels: Vec<Vec<u8>>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Key {
    pub(super) value: Vec<u8>,
    pub(super) expires_at: u64,
}

impl Default for Node {
    fn default() -> Self {
        Self {
            request_delay: ms(1),
            reply_delay: ms(1),
            replies: Replies::Arrive,
            refuses_connections: false,
            loses_connections: false,
            unreachable: false,
            replica: false,
            acknowledging: 0,
            keys: BTreeMap::new(),
            counters: BTreeMap::new(),
            scripts: BTreeSet::new(),
            transaction: None,
            listeners: Vec::new(),
            published: Vec::new(),
            log: Vec::new(),
        }
    }
}

impl Node {
    /// Executes a request and says when the reply arrives; nothing if none ever does.
    pub(super) fn serve(&mut self, args: &[Vec<u8>], now: u64) -> Option<(RedisResult<Value>, Duration)> {
        if self.unreachable {
            return None;
        }
        self.keys.retain(|_, key| key.expires_at >= now);
        let words: Vec<String> = args.iter().map(|arg| readable(arg)).collect();
        self.log.push((Duration::from_nanos(now), words.join(" ")));
        let served = if words[0] == "WAIT" { ms(words[2].parse().expect("a timeout")) } else { ms(0) };
        // Executed as they come: nobody else's command comes in between.
        let executed = self.execute(args, &words, now);
        let reply = match (&mut self.transaction, words[0].as_str()) {
            (Some(replies), word) if word != "MULTI" => {
                replies.push(executed);
                Value::SimpleString("QUEUED".into())
            }
            _ => executed,
        };
        match self.replies {
            Replies::Arrive => Some((Ok(reply), self.reply_delay + served)),
            Replies::Vanish => None,
            Replies::Break => {
                let broken = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
                Some((Err(broken.into()), self.reply_delay))
            }
        }
    }

    fn execute(&mut self, args: &[Vec<u8>], words: &[String], now: u64) -> Value {
        match words[0].as_str() {
            "SET" if self.replica => error("-READONLY You can't write against a read only replica.\r\n"),
            "MULTI" => {
                self.transaction = Some(Vec::new());
                Value::Okay
            }
            "EXEC" => Value::Array(self.transaction.take().expect("EXEC ends what MULTI began")),
            "SET" => self.set_as_asked(args, words, now),
            "EXISTS" => Value::Int(i64::from(self.keys.contains_key(&words[1]))),
            "DELEX" => {
                let ours = self.holds(&words[1], &args[3]);
                Value::Int(i64::from(ours && self.keys.remove(&words[1]).is_some()))
            }
            "PEXPIRE" => match self.keys.get(&words[1]).map(|key| key.value.clone()) {
                Some(value) => {
                    self.set(&words[1], &value, &words[2], now);
                    Value::Int(1)
                }
                None => Value::Int(0),
            },
            "SETNX" if self.keys.contains_key(&words[1]) => Value::Int(0),
            "SETNX" => {
                self.keys.insert(words[1].clone(), Key { value: args[2].clone(), expires_at: u64::MAX });
                Value::Int(1)
            }
            "EXPIRE" => match self.keys.get(&words[1]).map(|key| key.value.clone()) {
                Some(value) => {
                    self.set(&words[1], &value, &format!("{}000", words[2]), now);
                    Value::Int(1)
                }
                None => Value::Int(0),
            },
            "GETSET" => {
                let new = Key { value: args[2].clone(), expires_at: u64::MAX };
                let old = self.keys.insert(words[1].clone(), new);
                old.map_or(Value::Nil, |key| Value::BulkString(key.value))
            }
            "GET" => self.keys.get(&words[1]).map_or(Value::Nil, |key| Value::BulkString(key.value.clone())),
            "DEL" => Value::Int(i64::from(self.keys.remove(&words[1]).is_some())),
            "SCRIPT" => {
                let hash = redis::Script::new(&words[2]).get_hash().to_owned();
                self.scripts.insert(hash.clone());
                Value::BulkString(hash.into())
            }
            "EVALSHA" if !self.scripts.contains(&words[1]) => error("-NOSCRIPT No matching script.\r\n"),
            "EVALSHA" => self.run_script(args, words, now),
            "ROLE" => {
                let role = if self.replica { "slave" } else { "master" };
                Value::Array(vec![Value::BulkString(role.into()), Value::Int(0)])
            }
            "WAIT" => Value::Int(self.acknowledging),
            // Nobody comes between what is watched and the transaction.
            "SUBSCRIBE" | "CLIENT" | "WATCH" | "UNWATCH" => Value::Okay,
            // As if it had waited: whoever asks is to ask again.
            "BLPOP" => Value::Nil,
            "PTTL" => self.keys.get(&words[1]).map_or(Value::Int(-2), |key| {
                Value::Int(i64::try_from(key.expires_at.saturating_sub(now) / 1_000_000).unwrap_or(i64::MAX))
            }),
            "PUBLISH" => {
                self.published.push([args[1].clone(), args[2].clone()]);
                Value::Int(0)
            }
            other => panic!("no lock sends {other}"),
        }
    }

    /// What `SET` does, with whatever it was given.
    fn set_as_asked(&mut self, args: &[Vec<u8>], words: &[String], now: u64) -> Value {
        match words[3].as_str() {
            "NX" if self.keys.contains_key(&words[1]) => Value::Nil,
            "EX" => self.set(&words[1], &args[2], &format!("{}000", words[4]), now),
            "PX" => self.set(&words[1], &args[2], &words[4], now),
            "XX" if !self.keys.contains_key(&words[1]) => Value::Nil,
            "IFEQ" => {
                if !self.holds(&words[1], &args[4]) {
                    return Value::Nil;
                }
                self.set(&words[1], &args[2], &words[6], now)
            }
            _ if words.len() == 4 => self.set(&words[1], &args[2], FOR_EVER, now),
            _ if words[4] == "EX" => self.set(&words[1], &args[2], &format!("{}000", words[5]), now),
            _ if words[4] == "PXAT" => self.set_until(&words[1], &args[2], &words[5]),
            _ => self.set(&words[1], &args[2], &words[5], now),
        }
    }

    fn run_script(&mut self, args: &[Vec<u8>], words: &[String], now: u64) -> Value {
        let (hash, key) = (words[1].as_str(), words[3].as_str());
        let owner = self.keys.get(key).map(|key| key.value.clone());
        if hash == CLAIM_FENCED.hash() {
            if owner.is_some() {
                return Value::Nil;
            }
            self.set(key, &args[5], &words[6], now);
            let counter = self.counters.entry(words[4].clone()).or_default();
            *counter += 1;
            return Value::Int(*counter);
        }
        let signals = Signals::new();
        if [signals.hashes(), [list::RELEASE.hash(); 2]].concat().contains(&hash) {
            let ours = owner.as_ref() == Some(&args[5]) && self.keys.remove(key).is_some();
            if ours && hash == signals.hashes()[0] {
                self.published.push([args[4].clone(), b"released".to_vec()]);
            }
            return Value::Int(i64::from(ours));
        }
        if hash == list::EXTEND.hash() {
            let ours = owner.as_ref() == Some(&args[5]);
            if ours {
                self.set(key, &args[5], &format!("{}000", words[6]), now);
            }
            return Value::Int(i64::from(ours));
        }
        let ours = owner.as_ref() == Some(&args[4]);
        if hash == COMPARE_AND_DELETE.hash() {
            Value::Int(i64::from(ours && self.keys.remove(key).is_some()))
        } else if hash == EXTEND_UNTIL.hash() {
            if ours {
                self.set_until(key, &args[4], &words[5]);
            }
            Value::Int(i64::from(ours))
        } else if hash == EXTEND_MORE.hash() {
            if ours && let Some(key) = self.keys.get_mut(key) {
                let more: u64 = words[5].parse().expect("a lease in milliseconds");
                key.expires_at = key.expires_at.saturating_add(more * 1_000_000);
            }
            Value::Int(i64::from(ours))
        } else if hash == EXTEND.hash() || (hash == EXTEND_OR_SET.hash() && owner.is_some()) {
            if ours {
                self.set(key, &args[4], &words[5], now);
            }
            Value::Int(i64::from(ours))
        } else if hash == EXTEND_OR_SET.hash() {
            self.set(key, &args[4], &words[5], now);
            Value::Int(1)
        } else {
            super::hash::run_script(self, args, words, now)
                .or_else(|| super::local_remote::run_script(self, args, words, now))
                .or_else(|| super::job::run_script(self, args, words, now))
                .unwrap_or_else(|| panic!("no lock has the script {hash}"))
        }
    }

    /// Sets a key until a moment by a wall clock. This node's is as its time.
    fn set_until(&mut self, key: &str, value: &[u8], at: &str) -> Value {
        let millis: i64 = at.parse().expect("a moment in milliseconds");
        let expires_at = u64::try_from(millis.saturating_mul(1_000_000) - WALL_START).unwrap_or(0);
        self.keys.insert(key.to_owned(), Key { value: value.to_vec(), expires_at });
        Value::Okay
    }

    fn holds(&self, key: &str, value: &[u8]) -> bool {
        self.keys.get(key).is_some_and(|key| key.value == value)
    }

    pub(super) fn set(&mut self, key: &str, value: &[u8], millis: &str, now: u64) -> Value {
        let lease: u64 = millis.parse().expect("a lease in milliseconds");
        let expires_at = now.saturating_add(lease.saturating_mul(1_000_000));
        self.keys.insert(key.to_owned(), Key { value: value.to_vec(), expires_at });
        Value::Okay
    }

    pub(super) fn publish(&mut self, channel: &[u8], payload: &[u8]) {
        self.published.push([channel, payload].map(<[u8]>::to_vec));
    }

    /// A connection on which the node may push; the number that it is known by.
    pub(super) fn listen(&mut self, pushes: UnboundedSender<PushInfo>) -> usize {
        self.listeners.push(Some(Listener { pushes, channels: Vec::new() }));
        self.listeners.len() - 1
    }

    pub(super) fn subscribe(&mut self, listener: usize, channel: &[u8]) {
        if let Some(listener) = &mut self.listeners[listener] {
            listener.channels.push(channel.to_vec());
        }
    }

    /// Ends the connections of all who listen.
    pub(super) fn hang_up(&mut self) {
        self.listeners.fill_with(|| None);
    }

    /// What is to be pushed, and to whom.
    pub(super) fn said(&mut self) -> Vec<(UnboundedSender<PushInfo>, PushInfo)> {
        let published = std::mem::take(&mut self.published);
        let mut said = Vec::new();
        for [channel, payload] in published {
            for listener in self.listeners.iter().flatten() {
                if listener.channels.contains(&channel) {
                    let data = [&channel, &payload].map(|part| Value::BulkString(part.clone())).into();
                    said.push((listener.pushes.clone(), PushInfo { kind: PushKind::Message, data }));
                }
            }
        }
        said
    }

    /// Makes the node know every script, so that running one takes a single command.
    pub(super) fn learn_scripts(&mut self) {
        let scripts =
            [&CLAIM_FENCED, &COMPARE_AND_DELETE, &EXTEND, &EXTEND_OR_SET, &EXTEND_UNTIL, &EXTEND_MORE];
        self.scripts.extend(scripts.map(|script| script.hash().to_owned()));
    }

    /// How often a command was executed.
    pub(super) fn count(&self, command: &str) -> usize {
        self.log.iter().filter(|(_, words)| words.starts_with(command)).count()
    }
}

fn error(reply: &str) -> Value {
    redis::parse_redis_value(reply.as_bytes()).expect("an error reply parses")
}

fn readable(arg: &[u8]) -> String {
    let token = arg.len() == 20 && arg.iter().all(|byte| *byte == arg[0]);
    if token { format!("#{}", arg[0]) } else { String::from_utf8_lossy(arg).into_owned() }
}
