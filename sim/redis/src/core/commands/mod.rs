//! The commands, by subject. Each handler is one command: it parses what is its own, changes the data, propagates,
//! replies.

pub(crate) mod blocking;
mod client_table;
pub(crate) mod clients;
mod cluster;
pub(crate) mod connection;
mod container_table;
mod containers;
pub(crate) mod expiry;
mod failover;
pub(crate) mod functions;
pub(crate) mod hashes;
pub(crate) mod help;
pub(crate) mod info;
pub(crate) mod introspection;
pub(crate) mod keys;
pub(crate) mod lists;
mod lookup;
pub(crate) mod memory;
pub(crate) mod monitor;
mod numbers;
pub(crate) mod object;
pub(crate) mod pattern;
pub(crate) mod pause;
pub(crate) mod pubsub;
mod random_fields;
pub(crate) mod rename;
pub(crate) mod replication;
pub(crate) mod scan;
pub(crate) mod scripting;
pub(crate) mod server;
pub(crate) mod sets;
pub(crate) mod sort;
pub(crate) mod sorted_sets;
pub(crate) mod streams;
pub(crate) mod strings;
pub(crate) mod swap;
mod table;
pub(crate) mod tracking;
pub(crate) mod transactions;

pub(crate) use lookup::{all, lookup, lookup_full_name, lookup_words};
#[cfg(test)]
pub(crate) use table::COMMANDS;

use super::errors;
use super::long_double::LongDouble;
use crate::resp::{integer, reply};

/// The integer in `text`, or the error reply for it.
fn integer_or_reply(text: &[u8], out: &mut Vec<u8>) -> Option<i64> {
    let value = integer::parse(text);
    if value.is_none() {
        reply::error(out, errors::NOT_INTEGER);
    }
    value
}

/// The number with a fraction in `text`, or the error reply for it.
fn float_or_reply(text: &[u8], out: &mut Vec<u8>) -> Option<LongDouble> {
    let value = LongDouble::parse(text);
    if value.is_none() {
        reply::error(out, errors::NOT_FLOAT);
    }
    value
}
