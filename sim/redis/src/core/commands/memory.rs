//! MEMORY, as far as a node counts memory: what `maxmemory` is compared with, not what an allocator gives out.

use crate::core::context::Context;
use crate::core::keyspace::ENTRY_BYTES;
use crate::core::{Next, errors};
use crate::resp::{Args, integer, reply};

/// MEMORY USAGE key [SAMPLES count]: what the key counts for. Every element counts, whatever the samples.
pub(crate) fn memory_usage(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    for index in (3..args.len()).step_by(2) {
        match args
            .get(index + 1)
            .filter(|_| args.at(index).eq_ignore_ascii_case(b"SAMPLES"))
            .map(integer::parse)
        {
            Some(Some(0..)) => {}
            Some(None) => {
                reply::error(out, errors::NOT_INTEGER);
                return Next::Reply;
            }
            Some(Some(_)) | None => {
                reply::error(out, errors::SYNTAX);
                return Next::Reply;
            }
        }
    }
    let key = args.at(2);
    // Expired or not: Redis looks past its lifetime.
    match ctx.core.databases[ctx.session.db].get(key) {
        Some(entry) => reply::integer(out, (key.len() + ENTRY_BYTES) as i64 + entry.value.size() as i64),
        None => reply::null(out, ctx.protocol()),
    }
    Next::Reply
}
