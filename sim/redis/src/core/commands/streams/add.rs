//! XADD. It reaches replicas and files with the id that the entry got.

use super::ids::NewId;
use super::trim::Options;
use crate::core::commands::containers::change;
use crate::core::context::{Context, LOOK_BYTES};
use crate::core::state::Class;
use crate::core::values::{EntryId, Pairs, Stream};
use crate::core::{Next, errors};
use crate::resp::{Args, reply};

const TOO_LOW: &[u8] = b"ERR The ID specified in XADD is equal or smaller than the target stream top item";

/// XADD key [NOMKSTREAM] [MAXLEN|MINID [=|~] threshold [LIMIT count]] *|id field value [field value …].
pub(crate) fn xadd(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let key = args.at(1);
    let Some(options) = Options::read_or_reply(ctx, args, true, out) else { return Next::Reply };
    let fields = options.id.map_or(0, |(_, place)| args.len() - place - 1);
    let Some((wanted, place)) = options.id.filter(|_| fields >= 2 && fields % 2 == 0) else {
        ctx.arity_error(out);
        return Next::Reply;
    };
    let Some(id) = id_or_reply(ctx, key, wanted, options.needs_stream, out) else { return Next::Reply };
    let pair = |at: usize| (args.at(at).to_vec(), args.at(at + 1).to_vec());
    let pairs: Pairs = (place + 1..args.len()).step_by(2).map(pair).collect();
    let trim = options.trim(ctx);
    let mut removed = 0;
    change(ctx, key, |stream: &mut Stream| {
        stream.append(id, pairs);
        removed = trim.map_or(0, |trim| stream.trim(&trim));
        1
    });
    ctx.charge_work(removed as u64 * LOOK_BYTES);
    // Not only a key that is new: who waits for a stream waits for an entry.
    ctx.core.key_appeared(ctx.session.db, key);
    reply::bulk(out, &id.text());
    ctx.notify(Class::STREAM, "xadd", key, out);
    if removed > 0 {
        ctx.notify(Class::STREAM, "xtrim", key, out);
    }
    let mut words: Vec<Vec<u8>> = args.iter().map(<[u8]>::to_vec).collect();
    words[place] = id.text();
    options.make_exact(ctx, key, &mut words);
    let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    ctx.propagate_as(&words);
    Next::Reply
}

/// The id that the entry gets, or the answer to who asks for one that it cannot have.
fn id_or_reply(
    ctx: &mut Context<'_>,
    key: &[u8],
    wanted: NewId,
    needs_stream: bool,
    out: &mut Vec<u8>,
) -> Option<EntryId> {
    if matches!(wanted, NewId::Exactly(EntryId::ZERO)) {
        reply::error(out, b"ERR The ID specified in XADD must be greater than 0-0");
        return None;
    }
    let (now_ms, protocol) = (u64::try_from(ctx.now_ms()).unwrap_or(0), ctx.protocol());
    let last = match ctx.read(key) {
        Ok(None) if needs_stream => {
            reply::null(out, protocol);
            return None;
        }
        Ok(stream) => stream.map_or(EntryId::ZERO, Stream::last_id),
        Err(()) => {
            reply::error(out, errors::WRONG_TYPE);
            return None;
        }
    };
    if last == EntryId::MAX {
        let text = b"ERR The stream has exhausted the last possible ID, unable to add more items";
        reply::error(out, text);
        return None;
    }
    let id = match wanted {
        NewId::Exactly(id) => Some(id),
        NewId::In(ms) if ms == last.ms => last.next().filter(|id| id.ms == ms),
        NewId::In(ms) => Some(EntryId { ms, sequence: 0 }),
        NewId::Any if now_ms > last.ms => Some(EntryId { ms: now_ms, sequence: 0 }),
        NewId::Any => last.next(),
    };
    let id = id.filter(|id| *id > last);
    if id.is_none() {
        reply::error(out, TOO_LOW);
    }
    id
}
