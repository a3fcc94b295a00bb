//! A value as the commands that make it: for a full resynchronisation and for an append-only file that is rewritten.
//!
//! Decision: "A full resync sends commands, and the append-only file is one file" (docs/decisions/redis.md).

use super::keyspace::Value;
use super::values::{EntryId, Stream};
use crate::resp::{double, reply};

impl Value {
    /// Appends the commands that make this value at `key`: one, but for a stream.
    pub(crate) fn write_command(&self, key: &[u8], into: &mut Vec<u8>) {
        let mut begin = |name: &[u8], arguments: usize| {
            reply::array(into, 2 + arguments);
            reply::bulk(into, name);
            reply::bulk(into, key);
        };
        match self {
            Value::String(bytes) => {
                begin(b"SET", 1);
                reply::bulk(into, bytes);
            }
            Value::Hash(hash) => {
                begin(b"HSET", 2 * hash.len());
                for (field, value) in hash.iter() {
                    reply::bulk(into, field);
                    reply::bulk(into, value);
                }
            }
            Value::List(list) => {
                begin(b"RPUSH", list.len());
                list.iter().for_each(|element| reply::bulk(into, element));
            }
            Value::Set(set) => {
                begin(b"SADD", set.len());
                set.iter().for_each(|member| reply::bulk(into, &member));
            }
            Value::SortedSet(set) => {
                begin(b"ZADD", 2 * set.len());
                for (member, score) in set.iter() {
                    reply::bulk(into, &double::text(score));
                    reply::bulk(into, member);
                }
            }
            Value::Stream(stream) => write_stream(stream, key, into),
        }
    }
}

/// Appends an XADD for each entry, and the highest id that the stream ever had. One without entries is made by an entry
/// that goes at once, as Redis does it.
fn write_stream(stream: &Stream, key: &[u8], into: &mut Vec<u8>) {
    for (id, pairs) in stream.range(EntryId::ZERO, EntryId::MAX) {
        reply::array(into, 3 + 2 * pairs.len());
        for word in [b"XADD", key, &id.text()] {
            reply::bulk(into, word);
        }
        for (name, value) in pairs {
            reply::bulk(into, name);
            reply::bulk(into, value);
        }
    }
    if stream.len() == 0 {
        let words: [&[u8]; 7] = [b"XADD", key, b"MAXLEN", b"0", b"0-1", b"x", b"y"];
        reply::command(into, words.into_iter());
    }
    let last: [&[u8]; 3] = [b"XSETID", key, &stream.last_id().text()];
    reply::command(into, last.into_iter());
}
