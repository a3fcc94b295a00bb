//! Replies into bytes. Each function appends one RESP value to `out`.

use std::io::Write as _;

/// A RESP dialect: 2, or 3 after `HELLO 3`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protocol {
    /// RESP2, what a connection starts with.
    #[default]
    Two,
    /// RESP3: maps, null, doubles.
    Three,
}

/// `+text`.
pub fn status(out: &mut Vec<u8>, text: &str) {
    out.push(b'+');
    out.extend_from_slice(text.as_bytes());
    out.extend_from_slice(b"\r\n");
}

/// `-text`, where `text` starts with its code (`ERR …`). Line breaks become spaces, as in Redis.
pub fn error(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'-');
    out.extend(text.iter().map(|&byte| if matches!(byte, b'\r' | b'\n') { b' ' } else { byte }));
    out.extend_from_slice(b"\r\n");
}

/// `:value`.
pub fn integer(out: &mut Vec<u8>, value: i64) {
    header(out, b':', value);
}

/// `$len` and the bytes.
pub fn bulk(out: &mut Vec<u8>, bytes: &[u8]) {
    header(out, b'$', bytes.len() as i64);
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}

/// `$-1`, or `_` in RESP3.
pub fn null(out: &mut Vec<u8>, protocol: Protocol) {
    out.extend_from_slice(if protocol == Protocol::Two { b"$-1\r\n" } else { b"_\r\n" });
}

/// `*-1`, or `_` in RESP3.
pub fn null_array(out: &mut Vec<u8>, protocol: Protocol) {
    out.extend_from_slice(if protocol == Protocol::Two { b"*-1\r\n" } else { b"_\r\n" });
}

/// The head of an array; its `len` values follow.
pub fn array(out: &mut Vec<u8>, len: usize) {
    header(out, b'*', len as i64);
}

/// The head of a map of `len` pairs; RESP2 has no maps and gets a flat array.
pub fn map(out: &mut Vec<u8>, protocol: Protocol, len: usize) {
    match protocol {
        Protocol::Two => header(out, b'*', 2 * len as i64),
        Protocol::Three => header(out, b'%', len as i64),
    }
}

fn header(out: &mut Vec<u8>, kind: u8, value: i64) {
    out.push(kind);
    match value {
        0..=9 => out.push(b'0' + value as u8),
        _ => write!(out, "{value}").expect("a Vec takes every byte"),
    }
    out.extend_from_slice(b"\r\n");
}
