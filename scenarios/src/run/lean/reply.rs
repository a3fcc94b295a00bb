//! Reads RESP2 replies as redis-rs does, into its own values: what it would not take, this does not take either.
//!
//! Assumes that replies arrive nearly whole: a reply of which bytes are missing is read again from its start when there
//! are more. Does not read RESP3, which a lean connection never asks for.

use std::cell::RefCell;
use std::task::{Poll, ready};

use redis::{ErrorKind, RedisError, RedisResult, Value};

/// As deep as redis-rs reads arrays in arrays.
const DEPTH_MAX: usize = 100;

std::thread_local! {
    /// The bytes of the last error on this thread, and the error.
    static LAST_ERROR: RefCell<Option<(Vec<u8>, Value)>> = const { RefCell::new(None) };
}

/// Takes the first reply off `bytes`; takes nothing while some of its bytes are missing. An error if they are no reply.
///
/// This is how a request's future gives its reply out: a value that is handed on in other wrappings is copied each
/// time, which takes longer than reading it.
pub(in crate::run) fn take(bytes: &mut &[u8]) -> Poll<RedisResult<Value>> {
    let mut rest = *bytes;
    let reply = value(&mut rest, 1);
    if reply.is_ready() {
        *bytes = rest;
    }
    reply
}

fn value(rest: &mut &[u8], depth: usize) -> Poll<RedisResult<Value>> {
    let whole = *rest;
    let (kind, line) = ready!(line(rest));
    Poll::Ready(Ok(match kind {
        b'+' if line == b"OK" => Value::Okay,
        b'+' => Value::SimpleString(text(line)?.to_owned()),
        // Only redis-rs can make an error of its own from a node's.
        b'-' => parse_error(&whole[..whole.len() - rest.len()])?,
        b':' => Value::Int(number(line)?),
        b'$' => match length(line)? {
            None => Value::Nil,
            Some(length) => Value::BulkString(ready!(bulk(rest, length))?.to_vec()),
        },
        b'*' => match length(line)? {
            None => Value::Nil,
            Some(_) if depth == DEPTH_MAX => {
                return Poll::Ready(Err(malformed_reply("arrays in arrays too deep")));
            }
            Some(length) => {
                // Not as much room as it says there will be: it may say anything.
                let mut items = Vec::with_capacity(length.min(16));
                for _ in 0..length {
                    items.push(ready!(value(rest, depth + 1))?);
                }
                Value::Array(items)
            }
        },
        _ => return Poll::Ready(Err(malformed_reply("a reply of a kind that RESP2 does not have"))),
    }))
}

/// Returns the error that redis-rs makes of these bytes, and keeps the last one: its parser clears 8 kB for each, and
/// nearly always the next error is the same, of a script that the node does not have.
fn parse_error(bytes: &[u8]) -> RedisResult<Value> {
    LAST_ERROR.with_borrow_mut(|last| match last {
        Some((known, error)) if known == bytes => Ok(error.clone()),
        _ => {
            let error = redis::parse_redis_value(bytes)?;
            *last = Some((bytes.to_vec(), error.clone()));
            Ok(error)
        }
    })
}

/// Takes one line off the front: its first byte and the others, without the line end.
fn line<'a>(rest: &mut &'a [u8]) -> Poll<(u8, &'a [u8])> {
    let Some(end) = rest.windows(2).position(|pair| pair == b"\r\n") else { return Poll::Pending };
    let (line, after) = (&rest[..end], &rest[end + 2..]);
    *rest = after;
    // A line without a first byte is of no kind.
    Poll::Ready(line.split_first().map_or((b'\r', line), |(kind, line)| (*kind, line)))
}

fn bulk<'a>(rest: &mut &'a [u8], length: usize) -> Poll<RedisResult<&'a [u8]>> {
    let Some((bytes, after)) = rest.split_at_checked(length) else { return Poll::Pending };
    let Some((end, after)) = after.split_at_checked(2) else { return Poll::Pending };
    if end != b"\r\n" {
        return Poll::Ready(Err(malformed_reply("a string that is longer than it says")));
    }
    *rest = after;
    Poll::Ready(Ok(bytes))
}

/// `None` for a length below zero, which says that there is nothing.
fn length(line: &[u8]) -> RedisResult<Option<usize>> {
    number(line).map(|length| usize::try_from(length).ok())
}

fn number(line: &[u8]) -> RedisResult<i64> {
    // Lengths are short, and nearly all numbers are.
    if let 1..=9 = line.len()
        && line.iter().all(u8::is_ascii_digit)
    {
        return Ok(line.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0')));
    }
    text(line)?.trim().parse().map_err(|_| malformed_reply("a number that is none"))
}

fn text(line: &[u8]) -> RedisResult<&str> {
    std::str::from_utf8(line).map_err(|_| malformed_reply("a line that is not UTF-8"))
}

fn malformed_reply(what: &'static str) -> RedisError {
    RedisError::from((ErrorKind::Parse, "the node sent no RESP2", what.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::tests::random::Dice;

    /// The first reply and how many bytes it takes.
    fn first(bytes: &[u8]) -> RedisResult<Option<(Value, usize)>> {
        let mut rest = bytes;
        match take(&mut rest)? {
            Poll::Ready(value) => Ok(Some((value, bytes.len() - rest.len()))),
            Poll::Pending => Ok(None),
        }
    }

    #[test]
    fn a_reply_is_what_redis_rs_makes_of_it_wherever_the_bytes_are_cut() {
        let replies: [&[u8]; 16] = [
            b"+OK\r\n",
            b"+PONG\r\n",
            b"+\r\n",
            b"+a\rb\nc\r\n",
            b":0\r\n",
            b":-9223372036854775808\r\n",
            b":1234567890\r\n",
            b"$-1\r\n",
            b"$0\r\n\r\n",
            b"$4\r\n\r\n\xff\0\r\n",
            b"*-1\r\n",
            b"*0\r\n",
            b"*3\r\n:1\r\n$2\r\nhi\r\n*2\r\n$-1\r\n+OK\r\n",
            b"-ERR unknown command 'X'\r\n",
            b"-NOSCRIPT No matching script. Please use EVAL.\r\n",
            b"*2\r\n-READONLY You can't write against a read only replica.\r\n:1\r\n",
        ];
        for reply in replies {
            let theirs = redis::parse_redis_value(reply).expect("redis-rs reads it");
            let with_more = [reply, b":7\r\n"].concat();
            assert_eq!(first(&with_more), Ok(Some((theirs, reply.len()))), "{}", reply.escape_ascii());
            for cut in 0..reply.len() {
                assert_eq!(first(&reply[..cut]), Ok(None), "{} cut at {cut}", reply.escape_ascii());
            }
        }
    }

    #[test]
    fn what_redis_rs_does_not_take_is_not_taken() {
        let deep = |depth: usize| [b"*1\r\n".repeat(depth), b":1\r\n".to_vec()].concat();
        let bad: [&[u8]; 9] = [
            b"\r\n",
            b"hello\r\n",
            b":\r\n",
            b":1x\r\n",
            b"$x\r\n",
            b"$2\r\nabcd\r\n",
            b"+\xff\r\n",
            b":99999999999999999999\r\n",
            &deep(101),
        ];
        for reply in bad {
            assert!(redis::parse_redis_value(reply).is_err(), "redis-rs reads {}", reply.escape_ascii());
            let error = first(reply).expect_err("no reply");
            assert_eq!(error.kind(), ErrorKind::Parse, "{}", reply.escape_ascii());
        }
        assert!(redis::parse_redis_value(&deep(99)).is_ok() && first(&deep(99)).is_ok());
    }

    #[test]
    fn what_is_put_together_at_random_is_read_as_redis_rs_reads_it() {
        let lines = "* $ + - : 0 1 2 3 -1 OK a +5 12345678901 -2 00".split(' ').map(str::as_bytes);
        let others: [&[u8]; 14] = [
            b"\r\n",
            b"\r\n",
            b"\r\n",
            b"\r\n",
            b"\r",
            b"\n",
            b" ",
            b"\xff",
            b"ERR x",
            b"NOSCRIPT y",
            b"$1\r\na\r\n",
            b":1\r\n",
            b"*2\r\n",
            b"-MOVED 1 h:1",
        ];
        let parts: Vec<&[u8]> = lines.chain(others).collect();
        let mut dice = Dice(7);
        for _ in 0..30_000 {
            let bytes =
                (0..=dice.roll(9)).map(|_| parts[dice.roll(parts.len())]).collect::<Vec<_>>().concat();
            // Of several replies redis-rs reads one at a time as well.
            let (ours, read) = match first(&bytes) {
                Ok(Some((value, read))) => (Some(value), read),
                Ok(None) | Err(_) => (None, bytes.len()),
            };
            assert_eq!(redis::parse_redis_value(&bytes[..read]).ok(), ours, "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn an_array_that_says_it_is_huge_gets_no_room_for_what_is_not_there() {
        assert_eq!(first(b"*4611686018427387904\r\n"), Ok(None));
    }
}
