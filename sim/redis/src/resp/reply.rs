//! Replies into bytes. Each function appends one RESP value, or the head of one, to `out`.

use super::integer as decimal;

/// More than a header and the end of a string take.
const HEADER_BYTES: usize = 32;

/// A RESP dialect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protocol {
    /// RESP2, what a connection starts with.
    #[default]
    Two,
    /// RESP3, after `HELLO 3`: maps, null, doubles.
    Three,
}

/// `+text`.
pub fn status(out: &mut Vec<u8>, text: &[u8]) {
    line(out, b'+', text);
}

/// `+OK`.
pub fn ok(out: &mut Vec<u8>) {
    out.extend_from_slice(b"+OK\r\n");
}

/// `-text`, where `text` starts with its code (`ERR …`).
pub fn error(out: &mut Vec<u8>, text: &[u8]) {
    line(out, b'-', text);
}

/// `:value`.
pub fn integer(out: &mut Vec<u8>, value: i64) {
    header(out, b':', value);
}

/// `$len` and the bytes.
pub fn bulk(out: &mut Vec<u8>, bytes: &[u8]) {
    out.reserve(bytes.len() + HEADER_BYTES);
    header(out, b'$', bytes.len() as i64);
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}

/// A number that may have a fraction: `,0.5`, or its text in RESP2.
pub fn double(out: &mut Vec<u8>, protocol: Protocol, value: f64) {
    let text = super::double::text(value);
    match protocol {
        Protocol::Two => bulk(out, &text),
        Protocol::Three => line(out, b',', &text),
    }
}

/// No value: `$-1`, or `_` in RESP3.
pub fn null(out: &mut Vec<u8>, protocol: Protocol) {
    out.extend_from_slice(if protocol == Protocol::Two { b"$-1\r\n" } else { b"_\r\n" });
}

/// No array: `*-1`, or `_` in RESP3.
pub fn null_array(out: &mut Vec<u8>, protocol: Protocol) {
    out.extend_from_slice(if protocol == Protocol::Two { b"*-1\r\n" } else { b"_\r\n" });
}

/// The head of an array; its `len` values follow.
pub fn array(out: &mut Vec<u8>, len: usize) {
    header(out, b'*', len as i64);
}

/// The head of a map; its `pairs` keys and values follow. RESP2 has no maps and gets a flat array.
pub fn map(out: &mut Vec<u8>, protocol: Protocol, pairs: usize) {
    match protocol {
        Protocol::Two => header(out, b'*', 2 * pairs as i64),
        Protocol::Three => header(out, b'%', pairs as i64),
    }
}

/// The head of a set; its `len` values follow. An array in RESP2.
pub fn set(out: &mut Vec<u8>, protocol: Protocol, len: usize) {
    header(out, if protocol == Protocol::Two { b'*' } else { b'~' }, len as i64);
}

/// The head of what was not asked for; its `len` values follow. An array in RESP2.
pub fn push(out: &mut Vec<u8>, protocol: Protocol, len: usize) {
    header(out, if protocol == Protocol::Two { b'*' } else { b'>' }, len as i64);
}

/// A request: an array of bulk strings.
pub fn command<'a>(out: &mut Vec<u8>, args: impl ExactSizeIterator<Item = &'a [u8]>) {
    array(out, args.len());
    args.for_each(|argument| bulk(out, argument));
}

/// A line of text is one line: breaks inside it become spaces, as in Redis.
fn line(out: &mut Vec<u8>, kind: u8, text: &[u8]) {
    out.push(kind);
    out.extend(text.iter().map(|&byte| if matches!(byte, b'\r' | b'\n') { b' ' } else { byte }));
    out.extend_from_slice(b"\r\n");
}

fn header(out: &mut Vec<u8>, kind: u8, value: i64) {
    // Nearly all are this short, and one piece takes a third of what three take.
    if let 0..=9 = value {
        return out.extend_from_slice(&[kind, b'0' + value as u8, b'\r', b'\n']);
    }
    if let 10..=99 = value {
        let (tens, ones) = (value as u8 / 10, value as u8 % 10);
        return out.extend_from_slice(&[kind, b'0' + tens, b'0' + ones, b'\r', b'\n']);
    }
    out.push(kind);
    decimal::write(out, value);
    out.extend_from_slice(b"\r\n");
}
