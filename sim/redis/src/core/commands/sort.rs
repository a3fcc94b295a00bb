//! SORT and SORT_RO: the elements of a list, set or sorted set in an order.
//!
//! Texts are compared by their bytes, as Redis does in the locale C. Not modelled: the order in which Redis leaves
//! elements that its comparison holds equal, which are those with the same text behind `BY … ALPHA`; here they stay as
//! they were. That of a set's members where nobody asks for an order, which is that of a hash table, is the node's own.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;

use super::integer_or_reply;
use crate::core::context::{Context, LOOK_BYTES, c_string};
use crate::core::keyspace::Value;
use crate::core::state::Class;
use crate::core::values::{End, List};
use crate::core::{Next, errors};
use crate::resp::{Args, double, reply};

/// What is asked for.
#[derive(Default)]
struct Wish<'a> {
    is_descending: bool,
    is_alpha: bool,
    /// The pattern of the keys whose values are compared.
    by: Option<&'a [u8]>,
    /// No pattern but a word: nothing is compared.
    is_unsorted: bool,
    /// Patterns of what is shown in place of each element.
    get: Vec<&'a [u8]>,
    limit: Option<(i64, i64)>,
    store: Option<&'a [u8]>,
}

/// SORT key [BY pattern] [LIMIT offset count] [GET pattern …] [ASC|DESC] [ALPHA] [STORE destination].
pub(crate) fn sort(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    sort_elements(ctx, args, true, out)
}

/// SORT_RO: the same without STORE.
pub(crate) fn sort_ro(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    sort_elements(ctx, args, false, out)
}

fn sort_elements(ctx: &mut Context<'_>, args: &Args<'_>, may_store: bool, out: &mut Vec<u8>) -> Next {
    let Some(mut wish) = wish_or_reply(args, may_store, out) else { return Next::Reply };
    let Some((mut elements, is_set)) = elements_or_reply(ctx, args.at(1), out) else { return Next::Reply };
    if wish.is_unsorted && is_set && (wish.store.is_some() || ctx.is_in_script()) {
        // Replicas must come to the same, and scripts too.
        (wish.is_unsorted, wish.is_alpha, wish.by) = (false, true, None);
    }
    ctx.charge_work(elements.len() as u64 * LOOK_BYTES);
    let range = range_of(wish.limit, elements.len());
    if wish.is_unsorted {
        // A set has no order that could be turned.
        if wish.is_descending && !is_set {
            elements.reverse();
        }
    } else {
        match put_in_order(ctx, &wish, elements) {
            Some(sorted) => elements = sorted,
            None => {
                reply::error(out, b"ERR One or more scores can't be converted into double");
                return Next::Reply;
            }
        }
    }
    let shown = &elements[range];
    match wish.store {
        Some(destination) => store(ctx, args, (shown, &wish.get), destination, out),
        None => show(ctx, shown, &wish.get, out),
    }
    Next::Reply
}

fn wish_or_reply<'a>(args: &Args<'a>, may_store: bool, out: &mut Vec<u8>) -> Option<Wish<'a>> {
    let mut wish = Wish::default();
    let mut index = 2;
    while let Some(word) = args.get(index) {
        let value = args.get(index + 1);
        match (word.to_ascii_uppercase().as_slice(), value) {
            (b"ASC", _) => wish.is_descending = false,
            (b"DESC", _) => wish.is_descending = true,
            (b"ALPHA", _) => wish.is_alpha = true,
            (b"LIMIT", Some(offset)) if args.len() > index + 2 => {
                let offset = integer_or_reply(offset, out)?;
                wish.limit = Some((offset, integer_or_reply(args.at(index + 2), out)?));
                index += 2;
            }
            (b"STORE", Some(destination)) if may_store => {
                wish.store = Some(destination);
                index += 1;
            }
            (b"BY", Some(pattern)) => {
                wish.by = Some(pattern);
                // Once it is said that nothing is compared, it is so.
                wish.is_unsorted |= !c_string(pattern).contains(&b'*');
                index += 1;
            }
            (b"GET", Some(pattern)) => {
                wish.get.push(pattern);
                index += 1;
            }
            _ => {
                reply::error(out, errors::SYNTAX);
                return None;
            }
        }
        index += 1;
    }
    Some(wish)
}

/// What is to be put in order, and whether it is a set's.
fn elements_or_reply(ctx: &mut Context<'_>, key: &[u8], out: &mut Vec<u8>) -> Option<(Vec<Vec<u8>>, bool)> {
    let found = match ctx.lookup_to_read(key) {
        None => (Vec::new(), false),
        Some(Value::List(list)) => (list.iter().map(<[u8]>::to_vec).collect(), false),
        Some(Value::Set(set)) => (set.iter().map(Cow::into_owned).collect(), true),
        Some(Value::SortedSet(set)) => (set.iter().map(|(member, _)| member.to_vec()).collect(), false),
        Some(_) => {
            reply::error(out, errors::WRONG_TYPE);
            return None;
        }
    };
    // Redis turns a sorted set that it has sorted into a skip list.
    let value = ctx.core.databases[ctx.session.db].value_mut(key);
    if let Some(Value::SortedSet(set)) = value {
        set.unpack();
    }
    Some(found)
}

/// The elements that are shown, of so many.
fn range_of(limit: Option<(i64, i64)>, len: usize) -> Range<usize> {
    let (offset, count) = limit.unwrap_or((0, -1));
    let start = usize::try_from(offset).unwrap_or(0).min(len);
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    start..start.saturating_add(count).min(len)
}

/// An element and what it is compared by.
struct Keyed {
    number: f64,
    /// Equal texts are one: every element of a list may ask for the same long one.
    text: Option<Rc<[u8]>>,
    element: Vec<u8>,
}

/// The elements in the order asked for; `None`: what should be a number is none.
fn put_in_order(ctx: &mut Context<'_>, wish: &Wish<'_>, elements: Vec<Vec<u8>>) -> Option<Vec<Vec<u8>>> {
    let mut texts: BTreeSet<Rc<[u8]>> = BTreeSet::new();
    let mut keyed = Vec::with_capacity(elements.len());
    for element in elements {
        let found = wish.by.map(|pattern| value_of(ctx, pattern, &element));
        let (mut number, mut text) = (0.0, None);
        match (wish.is_alpha, found) {
            // Compared by itself.
            (true, None) => {}
            (true, Some(found)) => text = found.map(|found| shared(&mut texts, &found)),
            (false, None) => number = number_of(&element)?,
            (false, Some(found)) => number = found.map_or(Some(0.0), |found| number_of(&found))?,
        }
        keyed.push(Keyed { number, text, element });
    }
    // Where the result is stored, replicas must come to the same whatever their locale, so what follows a NUL counts.
    let seen =
        |text: &[u8]| -> usize { if wish.store.is_some() { text.len() } else { c_string(text).len() } };
    let compare = |one: &[u8], other: &[u8]| one[..seen(one)].cmp(&other[..seen(other)]);
    keyed.sort_by(|one, other| {
        let order = match (wish.is_alpha, wish.by, &one.text, &other.text) {
            (false, ..) => compare_numbers(one, other),
            (true, None, ..) => compare(&one.element, &other.element),
            (true, Some(_), Some(one), Some(other)) => compare(one, other),
            (true, Some(_), one, other) => one.is_some().cmp(&other.is_some()),
        };
        if wish.is_descending { order.reverse() } else { order }
    });
    Some(keyed.into_iter().map(|keyed| keyed.element).collect())
}

/// By numbers, and those of the same one by their bytes.
fn compare_numbers(one: &Keyed, other: &Keyed) -> Ordering {
    let order = one.number.partial_cmp(&other.number).unwrap_or(Ordering::Equal);
    order.then_with(|| one.element.cmp(&other.element))
}

fn shared(texts: &mut BTreeSet<Rc<[u8]>>, text: &[u8]) -> Rc<[u8]> {
    if let Some(known) = texts.get(text) {
        return Rc::clone(known);
    }
    let text: Rc<[u8]> = Rc::from(text);
    texts.insert(Rc::clone(&text));
    text
}

/// A number as C's `strtod` reads it, with nothing behind it.
fn number_of(text: &[u8]) -> Option<f64> {
    let text = c_string(text);
    let start = text.iter().position(|byte| !matches!(byte, b' ' | b'\t'..=b'\r'));
    match start {
        // Nothing at all is 0.
        None if text.is_empty() => Some(0.0),
        start => double::parse(&text[start?..]),
    }
}

/// What a pattern stands for: the element itself (`#`), or the value of the key in whose name the element is put for
/// the `*`; of a hash, the field behind `->`.
fn value_of(ctx: &mut Context<'_>, pattern: &[u8], element: &[u8]) -> Option<Vec<u8>> {
    if pattern == b"#" {
        return Some(element.to_vec());
    }
    let star = c_string(pattern).iter().position(|byte| *byte == b'*')?;
    let (before, after) = (&pattern[..star], &pattern[star + 1..]);
    let arrow = c_string(after).windows(2).position(|pair| pair == b"->");
    let arrow = arrow.filter(|arrow| c_string(&after[arrow + 2..]) != b"");
    let key = [before, element, &after[..arrow.unwrap_or(after.len())]].concat();
    ctx.charge_work(key.len() as u64 + LOOK_BYTES);
    let found = match (ctx.lookup_to_read(&key)?, arrow) {
        (Value::Hash(hash), Some(arrow)) => hash.get(&after[arrow + 2..]).map(<[u8]>::to_vec),
        (Value::String(bytes), None) => Some(bytes.clone()),
        _ => None,
    };
    ctx.charge_work(found.as_ref().map_or(0, Vec::len) as u64);
    found
}

fn show(ctx: &mut Context<'_>, elements: &[Vec<u8>], get: &[&[u8]], out: &mut Vec<u8>) {
    let (start, protocol) = (out.len(), ctx.protocol());
    reply::array(out, elements.len() * get.len().max(1));
    for element in elements {
        if get.is_empty() {
            reply::bulk(out, element);
        }
        for pattern in get {
            match value_of(ctx, pattern, element) {
                Some(value) => reply::bulk(out, &value),
                None => reply::null(out, protocol),
            }
        }
        if ctx.is_too_long(out, start) {
            break;
        }
    }
}

fn store(
    ctx: &mut Context<'_>,
    args: &Args<'_>,
    (elements, get): (&[Vec<u8>], &[&[u8]]),
    destination: &[u8],
    out: &mut Vec<u8>,
) {
    let mut list = List::default();
    for element in elements {
        // A few elements can ask for the same long value again and again.
        if list.size() > ctx.reply_limit() as u64 {
            return reply::error(out, errors::TOO_LONG);
        }
        if get.is_empty() {
            list.push(End::Right, element);
        }
        for pattern in get {
            list.push(End::Right, &value_of(ctx, pattern, element).unwrap_or_default());
        }
    }
    ctx.charge_work(list.size());
    let len = list.len();
    if ctx.store(destination, list) {
        ctx.propagate(args);
        match len {
            0 => ctx.notify(Class::GENERIC, "del", destination, out),
            _ => ctx.notify(Class::LIST, "sortstore", destination, out),
        }
    }
    reply::integer(out, len as i64);
}
