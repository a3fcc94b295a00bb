//! What commands about lists, sets and sorted sets have in common.

use crate::core::context::{Context, LOOK_BYTES};
use crate::core::values::Container;
use crate::core::{Next, errors};
use crate::resp::reply;

/// Answers with what is at `key`, or that it is of another type.
pub(crate) fn reply_with<T: Container>(
    ctx: &mut Context<'_>,
    key: &[u8],
    out: &mut Vec<u8>,
    answer: impl FnOnce(Option<&T>, &mut Vec<u8>),
) -> Next {
    match ctx.read(key) {
        Ok(found) => answer(found, out),
        Err(()) => reply::error(out, errors::WRONG_TYPE),
    }
    Next::Reply
}

/// The same for an answer that looks at every element.
pub(crate) fn reply_with_whole<T: Container>(
    ctx: &mut Context<'_>,
    key: &[u8],
    out: &mut Vec<u8>,
    answer: impl FnOnce(Option<&T>, &mut Vec<u8>),
) -> Next {
    let mut len = 0;
    let next = reply_with(ctx, key, out, |found: Option<&T>, out| {
        len = found.map_or(0, T::len);
        answer(found, out);
    });
    ctx.charge_work(len as u64 * LOOK_BYTES);
    next
}

/// How many elements are at `key`: 0 where nothing is. `None`: it is of another type, and the error is in `out`.
pub(crate) fn len_or_reply<T: Container>(
    ctx: &mut Context<'_>,
    key: &[u8],
    out: &mut Vec<u8>,
) -> Option<usize> {
    let len = ctx.read(key).map(|found| found.map_or(0, T::len));
    if len.is_err() {
        reply::error(out, errors::WRONG_TYPE);
    }
    len.ok()
}

/// Changes what is at `key`, which must be of this type. `change` returns how many changes it made; so does this.
pub(crate) fn change<T: Container>(
    ctx: &mut Context<'_>,
    key: &[u8],
    change: impl FnOnce(&mut T) -> usize,
) -> usize {
    // Of another type it would not be changed at all.
    ctx.change(key, change).unwrap_or(0)
}
