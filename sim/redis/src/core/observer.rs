//! What a checker or a fault trigger learns about a node, as it happens.
//!
//! Decision: "The observer gets a copy of a list, set or sorted set before each change" (docs/decisions/redis.md).

use std::fmt;

use super::StoppedScript;
use super::keyspace::{Entry, Hash, Value};
use super::stored::{Elements, Entries, Members, Scores};

/// Who is at the other end, as the world names it (0: unknown). Opaque to the node, handed to the observer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Peer {
    /// Its host.
    pub host: u32,
    /// The connection, by a number that means the same at both ends.
    pub connection: u64,
}

/// On whose behalf a node did something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A client's: its command is being executed.
    Client {
        /// Who sent it, and over which connection.
        peer: Peer,
        /// Which request of the connection it is, counted from 0 in the order sent.
        request: u64,
    },
    /// Its master's: the replication stream or a full resynchronisation is being applied.
    Master,
    /// That of the process before it: the append-only file is being loaded.
    File,
    /// Its own: a key's time was up, or the node needed the memory.
    Node,
}

impl Default for Origin {
    fn default() -> Origin {
        Origin::Client { peer: Peer::default(), request: 0 }
    }
}

/// Told of everything a node does that a checker or fault trigger may care about.
///
/// The core calls it in the middle of a command: an observer notes things down, it never calls back into a node.
pub trait Observer: Send + Sync {
    /// A top-level command was executed; its name in capitals. Called for every PING and ECHO: must be cheap.
    fn executed(&self, origin: Origin, command: &'static str) {
        let _ = (origin, command);
    }

    /// A key changed its value or lifetime, came or went away, also inside a script or a transaction. A key that gets
    /// another name or database goes away there and comes here.
    fn changed(&self, origin: Origin, change: &KeyChange<'_>) {
        let _ = (origin, change);
    }

    /// A script met one of our limits: what follows on the node is not what a Redis would do.
    fn script_stopped(&self, origin: Origin, script: &StoppedScript) {
        let _ = (origin, script);
    }
}

/// One change of one key: its value, its lifetime, or whether it is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyChange<'a> {
    /// The number of its database.
    pub database: usize,
    /// The key.
    pub key: &'a [u8],
    /// What was there, `None` if nothing.
    pub before: Option<Stored<'a>>,
    /// What is there now, `None` if it is gone.
    pub after: Option<Stored<'a>>,
    /// What changed it: a command's name in capitals, `EXPIRED` or `EVICTED`.
    pub command: &'static str,
}

/// What a key holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored<'a> {
    /// Its value.
    pub value: StoredValue<'a>,
    /// When it expires: milliseconds since the epoch on the node's wall clock. `None`: never.
    pub expires_at_ms: Option<i64>,
}

/// A key's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredValue<'a> {
    /// A string, or a number as its digits.
    String(&'a [u8]),
    /// A hash.
    Hash(Fields<'a>),
    /// A list.
    List(Elements<'a>),
    /// A set.
    Set(Members<'a>),
    /// A sorted set.
    SortedSet(Scores<'a>),
    /// A stream.
    Stream(Entries<'a>),
}

/// A field's name and value.
pub(crate) type Field = (Vec<u8>, Option<Vec<u8>>);

/// A hash's fields and their values, equal to another's in any order.
///
/// A change of a few fields of a large hash copies those fields only: what the others were, they still are.
#[derive(Clone, Copy)]
pub struct Fields<'a> {
    hash: &'a Hash,
    /// Fields that were different: `None` where there was no such field.
    instead: &'a [Field],
}

impl<'a> Stored<'a> {
    /// The bytes of a string.
    pub fn as_string(&self) -> Option<&'a [u8]> {
        match self.value {
            StoredValue::String(bytes) => Some(bytes),
            _ => None,
        }
    }

    pub(crate) fn new(value: &'a Value, expires_at_ms: Option<i64>) -> Stored<'a> {
        let value = match value {
            Value::String(bytes) => StoredValue::String(bytes),
            Value::Hash(hash) => StoredValue::Hash(Fields { hash, instead: &[] }),
            Value::List(list) => StoredValue::List(Elements(list)),
            Value::Set(set) => StoredValue::Set(Members(set)),
            Value::SortedSet(set) => StoredValue::SortedSet(Scores(set)),
            Value::Stream(stream) => StoredValue::Stream(Entries(stream)),
        };
        Stored { value, expires_at_ms }
    }

    pub(crate) fn string(bytes: &'a [u8], expires_at_ms: Option<i64>) -> Stored<'a> {
        Stored { value: StoredValue::String(bytes), expires_at_ms }
    }

    /// A hash as it was before some of its fields changed.
    pub(crate) fn hash_before(
        hash: &'a Hash,
        instead: &'a [Field],
        expires_at_ms: Option<i64>,
    ) -> Stored<'a> {
        Stored { value: StoredValue::Hash(Fields { hash, instead }), expires_at_ms }
    }
}

impl<'a> From<&'a Entry> for Stored<'a> {
    fn from(entry: &'a Entry) -> Stored<'a> {
        Stored::new(&entry.value, entry.expires_at)
    }
}

impl<'a> Fields<'a> {
    /// The value of a field.
    pub fn get(&self, name: &[u8]) -> Option<&'a [u8]> {
        match self.replaced_field(name) {
            Some((_, value)) => value.as_deref(),
            None => self.hash.get(name),
        }
    }

    /// All fields, in no order that means anything.
    pub fn iter(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        let fields = *self;
        let same = fields.hash.iter().filter(move |(name, _)| fields.replaced_field(name).is_none());
        let others = fields.instead.iter().enumerate();
        // A field that a command names twice was what it was the first time.
        let others =
            others.filter(move |(at, (name, _))| fields.instead[..*at].iter().all(|(n, _)| n != name));
        let others = others.filter_map(|(_, (name, value))| Some((name.as_slice(), value.as_deref()?)));
        same.chain(others)
    }

    /// How many fields there are.
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Whether there are none. No hash that a key holds is empty.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    fn replaced_field(&self, name: &[u8]) -> Option<&'a Field> {
        self.instead.iter().find(|(replaced, _)| replaced == name)
    }
}

impl PartialEq for Fields<'_> {
    fn eq(&self, other: &Fields<'_>) -> bool {
        self.len() == other.len() && self.iter().all(|(name, value)| other.get(name) == Some(value))
    }
}

impl Eq for Fields<'_> {}

impl fmt::Debug for Fields<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |bytes| String::from_utf8_lossy(bytes);
        f.debug_map().entries(self.iter().map(|(name, value)| (text(name), text(value)))).finish()
    }
}
