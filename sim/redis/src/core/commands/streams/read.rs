//! XREAD: what came to streams since the reader looked last, or a wait for it.
//!
//! Decision: "The core serves waiting clients as soon as the command that created their key is done"
//! (docs/decisions/redis.md).

use super::ids::id_or_reply;
use super::reply_entries;
use crate::core::commands::integer_or_reply;
use crate::core::context::{Context, c_string};
use crate::core::state::BlockedRequest;
use crate::core::values::{EntryId, Stream};
use crate::core::{Next, errors};
use crate::resp::{Args, Protocol, reply};

/// How many entries one who has waited gets, if it does not say.
const COUNT_AFTER_WAIT: usize = 1_000;

const UNBALANCED: &[u8] =
    b"ERR Unbalanced XREAD list of streams: for each stream key an ID or '$' must be specified.";

/// What stands before the streams.
#[derive(Default)]
struct Options {
    /// 0 means all.
    count: usize,
    timeout_ms: Option<i64>,
    /// Where the keys begin.
    first: usize,
}

/// XREAD [COUNT count] [BLOCK milliseconds] STREAMS key … id ….
pub(crate) fn xread(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let Some(options) = options_or_reply(ctx, args, out) else { return Next::Reply };
    let streams = (args.len() - options.first) / 2;
    let keys = (0..streams).map(|index| args.at(options.first + index));
    let ids = (0..streams).map(|index| args.at(options.first + streams + index));
    let mut after: Vec<(&[u8], EntryId)> = Vec::new();
    for (key, id) in keys.zip(ids) {
        let Some(id) = last_seen_or_reply(ctx, key, id, out) else { return Next::Reply };
        after.push((key, id));
    }
    if reply_news(ctx, &after, options.count, out) {
        return Next::Reply;
    }
    let Some(timeout_ms) = options.timeout_ms.filter(|_| ctx.may_block()) else {
        reply::null_array(out, ctx.protocol());
        return Next::Reply;
    };
    let keys: Vec<&[u8]> = after.iter().map(|(key, _)| *key).collect();
    let count = if options.count == 0 { COUNT_AFTER_WAIT } else { options.count };
    let after = after.iter().map(|(key, id)| (key.to_vec(), *id)).collect();
    ctx.block(&keys, BlockedRequest::Entries { after, count });
    let deadline_ms = (timeout_ms > 0).then(|| ctx.now_ms().saturating_add(timeout_ms));
    Next::Blocked { deadline_ms }
}

fn options_or_reply(ctx: &Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Option<Options> {
    let mut options = Options::default();
    let mut index = 1;
    while let Some(word) = args.get(index) {
        let value = args.get(index + 1);
        match (word.to_ascii_uppercase().as_slice(), value) {
            (b"BLOCK", Some(_)) if ctx.is_in_script() => {
                let name = String::from_utf8_lossy(args.at(0));
                let text = format!("ERR {name} command is not allowed with BLOCK option from scripts");
                reply::error(out, text.as_bytes());
                return None;
            }
            (b"BLOCK", Some(timeout)) => options.timeout_ms = Some(timeout_or_reply(timeout, out)?),
            (b"COUNT", Some(count)) => {
                options.count = usize::try_from(integer_or_reply(count, out)?).unwrap_or(0);
            }
            (b"STREAMS", Some(_)) => {
                options.first = index + 1;
                if !(args.len() - options.first).is_multiple_of(2) {
                    reply::error(out, UNBALANCED);
                    return None;
                }
                return Some(options);
            }
            (option @ (b"GROUP" | b"NOACK"), _) if option == b"NOACK" || args.len() > index + 2 => {
                let option = String::from_utf8_lossy(option);
                let text = format!(
                    "ERR The {option} option is only supported by XREADGROUP. You called XREAD instead."
                );
                reply::error(out, text.as_bytes());
                return None;
            }
            _ => break,
        }
        index += 2;
    }
    reply::error(out, errors::SYNTAX);
    None
}

fn timeout_or_reply(text: &[u8], out: &mut Vec<u8>) -> Option<i64> {
    match crate::resp::integer::parse(text) {
        None => reply::error(out, b"ERR timeout is not an integer or out of range"),
        Some(..0) => reply::error(out, b"ERR timeout is negative"),
        timeout => return timeout,
    }
    None
}

/// The id behind which this reader goes on: `$` is the stream's last.
fn last_seen_or_reply(ctx: &mut Context<'_>, key: &[u8], id: &[u8], out: &mut Vec<u8>) -> Option<EntryId> {
    let last = match ctx.read(key) {
        Ok(stream) => stream.map_or(EntryId::ZERO, Stream::last_id),
        Err(()) => {
            reply::error(out, errors::WRONG_TYPE);
            return None;
        }
    };
    match c_string(id) {
        b"$" => Some(last),
        b">" => {
            let text = b"ERR The > ID can be specified only when calling XREADGROUP using the GROUP <group> \
                <consumer> option.";
            reply::error(out, text);
            None
        }
        _ => id_or_reply(id, 0, out),
    }
}

/// Answers with what is new, stream by stream; false if nothing is.
fn reply_news(ctx: &mut Context<'_>, after: &[(&[u8], EntryId)], count: usize, out: &mut Vec<u8>) -> bool {
    let (protocol, limit, start) = (ctx.protocol(), ctx.reply_limit(), out.len());
    let (mut news, mut streams, mut entries) = (Vec::new(), 0, 0);
    for (key, id) in after {
        let Ok(Some(stream)) = ctx.read::<Stream>(key) else { continue };
        if stream.top().is_some_and(|top| top > *id) {
            streams += 1;
            entries += reply_stream(stream, key, *id, (count, limit), protocol, &mut news);
        }
        if news.len() > limit {
            break;
        }
    }
    if streams == 0 {
        return false;
    }
    reply_head(streams, protocol, out);
    out.append(&mut news);
    super::charge_entries(ctx, entries);
    ctx.is_too_long(out, start);
    true
}

/// The head of so many streams' news.
fn reply_head(streams: usize, protocol: Protocol, out: &mut Vec<u8>) {
    match protocol {
        Protocol::Two => reply::array(out, streams),
        Protocol::Three => reply::map(out, protocol, streams),
    }
}

/// One stream's name and its entries behind an id; how many.
fn reply_stream(
    stream: &Stream,
    key: &[u8],
    after: EntryId,
    limits: (usize, usize),
    protocol: Protocol,
    out: &mut Vec<u8>,
) -> usize {
    if protocol == Protocol::Two {
        reply::array(out, 2);
    }
    reply::bulk(out, key);
    // Redis begins anew behind the last id there can be.
    let first = after.next().unwrap_or(EntryId::ZERO);
    reply_entries(stream.range(first, EntryId::MAX), limits, out)
}

/// Answers one who has waited with what came to this stream.
pub(crate) fn serve_reader(
    ctx: &mut Context<'_>,
    key: &[u8],
    (after, count): (EntryId, usize),
    out: &mut Vec<u8>,
) {
    let (protocol, limit) = (ctx.protocol(), ctx.reply_limit());
    let Ok(Some(stream)) = ctx.peek::<Stream>(key) else { return };
    reply_head(1, protocol, out);
    reply_stream(stream, key, after, (count, limit), protocol, out);
}
