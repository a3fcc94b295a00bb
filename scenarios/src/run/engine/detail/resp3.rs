//! Replies of RESP3, which only a connection gets on which a node may push, and what is pushed on any.
//!
//! Assumes that what is too deep, or of no kind that RESP3 has, is nothing that can be read.

use std::task::{Poll, ready};

use redis::{PushKind, Value};

/// As deep as redis-rs reads values in values.
const DEPTH_MAX: usize = 100;

/// The first value, and its length in bytes; `None` if these are no value. Waits while some of its bytes are missing.
pub(super) fn first(bytes: &[u8]) -> Poll<Option<(Value, usize)>> {
    let Some(length) = ready!(length(bytes, 1)) else { return Poll::Ready(None) };
    let value = redis::parse_redis_value(&bytes[..length]).ok();
    Poll::Ready(value.map(|value| (value, length)))
}

/// True of what a node says without having been asked. That a channel is listened to is pushed as well, and an answer.
pub(super) fn is_unasked(value: &Value) -> bool {
    use PushKind::{PSubscribe, PUnsubscribe, SSubscribe, SUnsubscribe, Subscribe, Unsubscribe};
    let answers = |kind: &PushKind| {
        matches!(kind, Subscribe | PSubscribe | SSubscribe | Unsubscribe | PUnsubscribe | SUnsubscribe)
    };
    // In RESP2 a message is an array like any other: no command here answers with such a one.
    let is_message = |items: &[Value]| {
        let [Value::BulkString(word), _, _] = items else { return false };
        word == b"message"
    };
    match value {
        Value::Push { kind, .. } => !answers(kind),
        Value::Array(items) => is_message(items),
        _ => false,
    }
}

/// The length of the first value.
fn length(bytes: &[u8], depth: usize) -> Poll<Option<usize>> {
    let Some(end) = bytes.windows(2).position(|pair| pair == b"\r\n") else { return Poll::Pending };
    let (line, head) = (&bytes[..end], end + 2);
    let number = || std::str::from_utf8(&line[1..]).ok().and_then(|text| text.parse::<usize>().ok());
    let values = match line.first() {
        Some(b'+' | b'-' | b':' | b'_' | b'#' | b',' | b'(') => 0,
        Some(b'$' | b'=' | b'!') => {
            // A length below zero is the nothing of RESP2.
            let whole = number().map_or(head, |length| head + length + 2);
            return if bytes.len() < whole { Poll::Pending } else { Poll::Ready(Some(whole)) };
        }
        Some(b'*' | b'~' | b'>') => number().unwrap_or(0),
        Some(b'%') => number().unwrap_or(0).saturating_mul(2),
        _ => return Poll::Ready(None),
    };
    if depth == DEPTH_MAX {
        return Poll::Ready(None);
    }
    let mut whole = head;
    for _ in 0..values {
        let Some(inner) = ready!(length(&bytes[whole..], depth + 1)) else { return Poll::Ready(None) };
        whole += inner;
    }
    Poll::Ready(Some(whole))
}
