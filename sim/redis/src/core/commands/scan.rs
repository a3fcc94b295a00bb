//! SCAN and HSCAN: rounds through all there is, some of it a call.

use super::{integer_or_reply, pattern};
use crate::core::Next;
use crate::core::context::{Context, c_string, errors};
use crate::core::keyspace::Hash;
use crate::core::scan_order::ScanOrder;
use crate::resp::{Args, reply};

/// How many names a call looks at if it does not say.
const DEFAULT_COUNT: usize = 10;

/// What a round is to show.
struct ScanOptions<'a> {
    count: usize,
    pattern: Option<&'a [u8]>,
    type_name: Option<&'a [u8]>,
}

impl ScanOptions<'_> {
    fn wants(&self, name: &[u8]) -> bool {
        // `*` alone is no pattern to Redis but the wish for everything.
        self.pattern.is_none_or(|pattern| pattern == b"*" || pattern::matches(pattern, name))
    }

    fn wants_type(&self, name: &str) -> bool {
        self.type_name.is_none_or(|wanted| wanted.eq_ignore_ascii_case(name.as_bytes()))
    }
}

/// SCAN cursor [MATCH pattern] [COUNT count] [TYPE type]. Expired keys on the way go, as if they had been asked for.
pub(crate) fn scan(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let Some(cursor) = cursor_or_reply(args.at(1), out) else { return Next::Reply };
    let Some(options) = options_or_reply(args, 2, true, out) else { return Next::Reply };
    let (page, next) = ctx.core.databases[ctx.session.db].page(cursor, options.count);
    let wanted: Vec<Vec<u8>> =
        page.into_iter().filter(|key| options.wants(key)).map(<[u8]>::to_vec).collect();
    let is_shown = |key: &Vec<u8>| ctx.lookup(key).is_some_and(|value| options.wants_type(value.type_name()));
    let shown: Vec<Vec<u8>> = wanted.into_iter().filter(is_shown).collect();
    reply_page(next, shown.iter().map(Vec::as_slice).collect(), out);
    Next::Reply
}

/// HSCAN key cursor [MATCH pattern] [COUNT count]: a small hash comes whole, as in Redis. A large one is put in order anew for
/// each call: locks have none.
pub(crate) fn hscan(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let Some(cursor) = cursor_or_reply(args.at(2), out) else { return Next::Reply };
    let hash = match ctx.hash(args.at(1)) {
        Ok(Some(hash)) => hash,
        // Options of a call that has nothing to show are not looked at.
        Ok(None) => {
            reply_page(0, Vec::new(), out);
            return Next::Reply;
        }
        Err(()) => {
            reply::error(out, errors::WRONG_TYPE);
            return Next::Reply;
        }
    };
    let Some(options) = options_or_reply(args, 3, false, out) else { return Next::Reply };
    let order;
    let (fields, next) = match hash {
        Hash::List(fields) => (fields.iter().map(|(field, _)| field.as_slice()).collect(), 0),
        Hash::Table(_) => {
            order = ScanOrder::of(hash.iter().map(|(field, _)| field));
            order.page(cursor, options.count)
        }
    };
    let shown = fields.into_iter().filter(|field| options.wants(field));
    let pairs = shown.flat_map(|field| [field, hash.get(field).unwrap_or_default()]).collect();
    reply_page(next, pairs, out);
    Next::Reply
}

fn reply_page(next: u64, items: Vec<&[u8]>, out: &mut Vec<u8>) {
    reply::array(out, 2);
    reply::bulk(out, next.to_string().as_bytes());
    reply::array(out, items.len());
    items.iter().for_each(|item| reply::bulk(out, item));
}

/// Read as C's `strtoul` does: a sign is fine, and a negative number counts from the upper end.
fn cursor_or_reply(text: &[u8], out: &mut Vec<u8>) -> Option<u64> {
    let text = c_string(text);
    let (is_negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    let number = std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()));
    let cursor = match number {
        // Nothing at all reads as 0.
        Some("") if text.is_empty() => Some(0),
        Some(digits) => digits.parse().ok(),
        None => None,
    };
    if cursor.is_none() {
        reply::error(out, b"ERR invalid cursor");
    }
    cursor.map(|cursor: u64| if is_negative { cursor.wrapping_neg() } else { cursor })
}

fn options_or_reply<'a>(
    args: &Args<'a>,
    first: usize,
    of_keys: bool,
    out: &mut Vec<u8>,
) -> Option<ScanOptions<'a>> {
    let mut options = ScanOptions { count: DEFAULT_COUNT, pattern: None, type_name: None };
    for index in (first..args.len()).step_by(2) {
        let value = args.get(index + 1);
        match (args.at(index).to_ascii_uppercase().as_slice(), value) {
            (b"COUNT", Some(count)) => {
                let count = integer_or_reply(count, out)?;
                options.count = usize::try_from(count).unwrap_or(0);
                if options.count == 0 {
                    reply::error(out, errors::SYNTAX);
                    return None;
                }
            }
            (b"MATCH", Some(pattern)) => options.pattern = Some(pattern),
            (b"TYPE", Some(name)) if of_keys => options.type_name = Some(name),
            _ => {
                reply::error(out, errors::SYNTAX);
                return None;
            }
        }
    }
    Some(options)
}
