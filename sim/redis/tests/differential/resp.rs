//! Replies as a client sees them: where one ends, and what it is made of. Knows every RESP2 and RESP3 type.

use super::script::Bytes;

/// One reply, or part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// The type's character and the line after it: statuses, errors, numbers, nulls.
    Line(u8, Bytes),
    /// A text with its length: `$`, `=` or `!`.
    Text(u8, Bytes),
    /// Several values: `*`, `%`, `~`, `>` or `|`. A map's keys and values in turn.
    Many(u8, Vec<Value>),
}

/// How far the first reply in `bytes` reaches; `None` if it is not there yet.
pub(crate) fn reply_length(bytes: &[u8]) -> Option<usize> {
    parse(bytes).map(|(_, length)| length)
}

/// The first reply in `bytes` and its length; `None` if it is incomplete. What is no RESP at all counts as a line.
pub(crate) fn parse(bytes: &[u8]) -> Option<(Value, usize)> {
    let kind = *bytes.first()?;
    let end = bytes.windows(2).position(|pair| pair == b"\r\n")?;
    let (line, mut at) = (&bytes[1..end], end + 2);
    let length: Option<usize> = std::str::from_utf8(line).ok().and_then(|digits| digits.parse().ok());
    match (kind, length) {
        (b'$' | b'=' | b'!', Some(length)) => {
            let text = bytes.get(at..at + length)?.to_vec();
            bytes.get(at + length..at + length + 2)?;
            Some((Value::Text(kind, text), at + length + 2))
        }
        (b'*' | b'%' | b'~' | b'>' | b'|', Some(length)) => {
            let count = if matches!(kind, b'%' | b'|') { length * 2 } else { length };
            let mut items = Vec::new();
            for _ in 0..count {
                let (item, length) = parse(&bytes[at..])?;
                items.push(item);
                at += length;
            }
            Some((Value::Many(kind, items), at))
        }
        _ => Some((Value::Line(kind, line.to_vec()), at)),
    }
}

impl Value {
    /// The number, if it is one.
    pub(crate) fn integer(&self) -> Option<i64> {
        match self {
            Value::Line(b':', digits) => std::str::from_utf8(digits).ok()?.parse().ok(),
            _ => None,
        }
    }

    /// The text, if it is one.
    pub(crate) fn text(&self) -> Option<&[u8]> {
        match self {
            Value::Text(_, text) => Some(text),
            _ => None,
        }
    }

    /// The items, if it has some.
    pub(crate) fn items(&self) -> &[Value] {
        match self {
            Value::Many(_, items) => items,
            _ => &[],
        }
    }

    /// The character its encoding begins with.
    pub(crate) fn kind(&self) -> u8 {
        match self {
            Value::Line(kind, _) | Value::Text(kind, _) | Value::Many(kind, _) => *kind,
        }
    }
}
