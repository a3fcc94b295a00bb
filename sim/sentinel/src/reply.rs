//! Reads replies of RESP2: those that a Sentinel gets to what it asks, and the messages of a channel.

use doublehold_sim_redis::resp::integer;

/// A reply.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reply<'a> {
    Status(&'a [u8]),
    Error(&'a [u8]),
    Integer(i64),
    Bulk(&'a [u8]),
    Null,
    Array(Vec<Reply<'a>>),
}

/// Bytes that are no reply.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NoReply;

/// An array in an array in an array is more than anybody sends.
const DEPTH: u32 = 4;

/// Takes the first reply off `bytes`; `None` if it is not whole yet.
pub(crate) fn take<'a>(bytes: &mut &'a [u8]) -> Result<Option<Reply<'a>>, NoReply> {
    take_nested(bytes, DEPTH)
}

fn take_nested<'a>(bytes: &mut &'a [u8], depth: u32) -> Result<Option<Reply<'a>>, NoReply> {
    let mut rest = *bytes;
    let Some(line) = take_line(&mut rest) else { return Ok(None) };
    let (kind, text) = line.split_first().ok_or(NoReply)?;
    let number = || integer::parse(text).ok_or(NoReply);
    let reply = match kind {
        b'+' => Reply::Status(text),
        b'-' => Reply::Error(text),
        b':' => Reply::Integer(number()?),
        b'$' | b'*' if number()? == -1 => Reply::Null,
        b'$' => {
            let len = usize::try_from(number()?).map_err(|_| NoReply)?;
            let Some(text) = rest.get(..len) else { return Ok(None) };
            let Some(after) = rest.get(len + 2..) else { return Ok(None) };
            rest = after;
            Reply::Bulk(text)
        }
        b'*' if depth > 0 => {
            let mut items = Vec::new();
            for _ in 0..number()?.max(0) {
                let Some(item) = take_nested(&mut rest, depth - 1)? else { return Ok(None) };
                items.push(item);
            }
            Reply::Array(items)
        }
        _ => return Err(NoReply),
    };
    *bytes = rest;
    Ok(Some(reply))
}

fn take_line<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let end = bytes.windows(2).position(|pair| pair == b"\r\n")?;
    let (line, rest) = bytes.split_at(end);
    *bytes = rest.get(2..)?;
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_taken_one_by_one_and_never_in_part() {
        let all = b"+PONG\r\n*3\r\n:1\r\n$1\r\n*\r\n:0\r\n$-1\r\n";
        for cut in 0..all.len() {
            let mut bytes = &all[..cut];
            while let Some(reply) = take(&mut bytes).expect("it is the beginning of replies") {
                assert!(matches!(reply, Reply::Status(b"PONG") | Reply::Array(_)), "{reply:?}");
            }
        }
        let mut bytes = &all[..];
        let mut replies = Vec::new();
        while let Ok(Some(reply)) = take(&mut bytes) {
            replies.push(reply);
        }
        let verdict = Reply::Array(vec![Reply::Integer(1), Reply::Bulk(b"*"), Reply::Integer(0)]);
        assert_eq!(replies, [Reply::Status(b"PONG"), verdict, Reply::Null]);
        assert_eq!(take(&mut &b"HTTP/1.1\r\n"[..]), Err(NoReply));
    }
}
