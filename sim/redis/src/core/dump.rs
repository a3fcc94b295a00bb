//! A value as the command that makes it: for a full resynchronisation and for an append-only file that is rewritten.
//!
//! Decision: "A full resync sends commands, and the append-only file is one file" (docs/decisions/redis.md).

use super::keyspace::Value;
use crate::resp::{double, reply};

impl Value {
    /// Appends the command that makes this value at `key`.
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
        }
    }
}
