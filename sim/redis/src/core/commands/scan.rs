//! SCAN and its like for hashes, sets and sorted sets: rounds through all there is, some of it a call.
//!
//! What is so small that Redis keeps it as a list comes whole, and in the order of that list.

use super::{integer_or_reply, pattern};
use crate::core::context::{Context, LOOK_BYTES, c_string};
use crate::core::keyspace::Hash;
use crate::core::scan_order::ScanOrder;
use crate::core::values::{Container, Set, SortedSet};
use crate::core::{Next, errors};
use crate::resp::{Args, double, reply};

/// How many names a call looks at if it does not say.
const DEFAULT_COUNT: usize = 10;

/// What a round is to show.
struct ScanOptions<'a> {
    count: usize,
    pattern: Option<&'a [u8]>,
    type_name: Option<&'a [u8]>,
}

impl ScanOptions<'_> {
    /// Adds to `work` what it costs to find out, in bytes that could be copied meanwhile.
    fn wants(&self, name: &[u8], work: &mut u64) -> bool {
        let mut steps = 0;
        // `*` alone is no pattern to Redis but the wish for everything.
        let wants = self
            .pattern
            .is_none_or(|pattern| pattern == b"*" || pattern::matches_in_steps(pattern, name, &mut steps));
        *work += looking_at(name) + steps * pattern::STEP_BYTES;
        wants
    }

    fn wants_type(&self, name: &str) -> bool {
        self.type_name.is_none_or(|wanted| wanted.eq_ignore_ascii_case(name.as_bytes()))
    }
}

/// SCAN cursor [MATCH pattern] [COUNT count] [TYPE type]. Expired keys on the way go, as if they had been asked for.
pub(crate) fn scan(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let Some(cursor) = cursor_or_reply(args.at(1), out) else { return Next::Reply };
    let Some(options) = options_or_reply(args, 2, true, out) else { return Next::Reply };
    let database = &mut ctx.core.databases[ctx.session.db];
    let is_put_in_order = !database.has_scan_order();
    let mut work = if is_put_in_order { database.iter().map(|(key, _)| looking_at(key)).sum() } else { 0 };
    let (page, next) = database.page(cursor, options.count);
    let wanted: Vec<Vec<u8>> =
        page.into_iter().filter(|key| options.wants(key, &mut work)).map(<[u8]>::to_vec).collect();
    ctx.charge_work(work);
    let is_shown = |key: &Vec<u8>| ctx.lookup(key).is_some_and(|value| options.wants_type(value.type_name()));
    let shown: Vec<Vec<u8>> = wanted.into_iter().filter(is_shown).collect();
    reply_page(next, shown.iter().map(Vec::as_slice).collect(), out);
    Next::Reply
}

/// HSCAN key cursor [MATCH pattern] [COUNT count]: a small hash comes whole, as in Redis. A large one is put in order
/// anew for each call: locks have none.
pub(crate) fn hscan(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let Some(cursor) = cursor_or_reply(args.at(2), out) else { return Next::Reply };
    let hash = match ctx.hash(args) {
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
    let (order, mut work);
    let (pairs, next): (Vec<_>, _) = match hash {
        Hash::List(_) => {
            work = 0;
            (hash.iter().collect(), 0)
        }
        Hash::Table(_) => {
            work = hash.iter().map(|(field, _)| looking_at(field)).sum();
            order = ScanOrder::from_names(hash.iter().map(|(field, _)| field));
            let (fields, next) = order.page(cursor, options.count);
            (fields.into_iter().map(|field| (field, hash.get(field).unwrap_or_default())).collect(), next)
        }
    };
    let shown = pairs.into_iter().filter(|(field, _)| options.wants(field, &mut work));
    reply_page(next, shown.flat_map(|(field, value)| [field, value]).collect(), out);
    ctx.charge_work(work);
    Next::Reply
}

/// SSCAN key cursor [MATCH pattern] [COUNT count]: a set of numbers comes whole, lowest first.
pub(crate) fn sscan(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let whole = |set: &Set| match set {
        Set::Integers(_) => true,
        Set::Table(_) => false,
    };
    scan_names(ctx, args, out, |set: &Set| {
        (set.iter().map(|member| (member.into_owned(), None)).collect(), whole(set))
    })
}

/// ZSCAN key cursor [MATCH pattern] [COUNT count]: a small sorted set comes whole, lowest score first.
pub(crate) fn zscan(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    scan_names(ctx, args, out, |set: &SortedSet| {
        let members = set.iter().map(|(member, score)| (member.to_vec(), Some(double::text(score))));
        (members.collect(), set.encoding() == "listpack")
    })
}

/// Names with what is shown behind each, and whether they come in one call.
type Shown = (Vec<(Vec<u8>, Option<Vec<u8>>)>, bool);

fn scan_names<T: Container>(
    ctx: &mut Context<'_>,
    args: &Args<'_>,
    out: &mut Vec<u8>,
    shown: impl FnOnce(&T) -> Shown,
) -> Next {
    let Some(cursor) = cursor_or_reply(args.at(2), out) else { return Next::Reply };
    let (names, is_whole) = match ctx.read::<T>(args.at(1)) {
        Ok(Some(found)) => shown(found),
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
    let mut work = names.iter().map(|(name, _)| looking_at(name)).sum();
    let (order, mut by_name);
    let (page, next): (Vec<_>, _) = if is_whole {
        (names.iter().collect(), 0)
    } else {
        by_name = names;
        by_name.sort_unstable();
        order = ScanOrder::from_names(by_name.iter().map(|(name, _)| name.as_slice()));
        let (page, next) = order.page(cursor, options.count);
        let find = |name| by_name.binary_search_by(|(other, _)| other.as_slice().cmp(name)).ok();
        (page.into_iter().filter_map(find).map(|place| &by_name[place]).collect(), next)
    };
    let mut items: Vec<&[u8]> = Vec::new();
    for (name, value) in page.into_iter().filter(|(name, _)| options.wants(name, &mut work)) {
        items.push(name);
        items.extend(value.as_deref());
    }
    reply_page(next, items, out);
    ctx.charge_work(work);
    Next::Reply
}

/// What looking at a name costs, in bytes that could be copied meanwhile.
fn looking_at(name: &[u8]) -> u64 {
    name.len() as u64 + LOOK_BYTES
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
