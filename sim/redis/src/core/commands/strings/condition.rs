//! Comparing a string before it is replaced or deleted, as of Redis 8.4: SET's conditions, DELEX and DIGEST.

use xxhash_rust::xxh3::xxh3_64;

use crate::core::commands::keys;
use crate::core::context::Context;
use crate::core::state::Class;
use crate::core::{Next, Version, errors};
use crate::resp::{Args, reply};

/// Digits of a digest.
const DIGITS: usize = 16;
const NO_DIGEST: &[u8] = b"ERR must be exactly 16 hexadecimal characters";

/// How a string is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Comparison {
    /// By its digest, and not as it is.
    by_digest: bool,
    /// Whether it has to be equal.
    pub(super) equal: bool,
}

impl Comparison {
    /// The one that an option names.
    pub(super) fn from_word(option: &[u8]) -> Option<Comparison> {
        match option.to_ascii_uppercase().as_slice() {
            b"IFEQ" => Some(Comparison { by_digest: false, equal: true }),
            b"IFNE" => Some(Comparison { by_digest: false, equal: false }),
            b"IFDEQ" => Some(Comparison { by_digest: true, equal: true }),
            b"IFDNE" => Some(Comparison { by_digest: true, equal: false }),
            _ => None,
        }
    }

    /// True if SET has it on such a node.
    pub(super) fn is_known_to(self, version: Version) -> bool {
        match version {
            Version::V7_0 => false,
            Version::V8_4 => true,
            Version::Valkey9 => self.equal && !self.by_digest,
        }
    }

    /// Whether the string is as it was asked for. `Err`: the error reply, since `wanted` is no digest.
    pub(super) fn holds(self, value: &[u8], wanted: &[u8]) -> Result<bool, &'static [u8]> {
        if !self.by_digest {
            return Ok((value == wanted) == self.equal);
        }
        // What has as many characters and is no number is equal to no digest.
        if wanted.len() != DIGITS {
            return Err(NO_DIGEST);
        }
        Ok(digest_of(value).as_bytes().eq_ignore_ascii_case(wanted) == self.equal)
    }
}

fn digest_of(value: &[u8]) -> String {
    format!("{:016x}", xxh3_64(value))
}

/// DIGEST key: the XXH3 hash of a string.
pub(crate) fn digest(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let protocol = ctx.protocol();
    let found = ctx.string(args.at(1)).map(|value| value.map(|value| (digest_of(value), value.len())));
    match found {
        Ok(Some((digest, read))) => {
            ctx.charge_work(read as u64);
            reply::bulk(out, digest.as_bytes());
        }
        Ok(None) => reply::null(out, protocol),
        Err(()) => reply::error(out, errors::WRONG_TYPE),
    }
    Next::Reply
}

/// DELIFEQ key value: Valkey's own.
pub(crate) fn delifeq(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let key = args.at(1);
    match ctx.string(key).map(|value| value == Some(args.at(2))) {
        Err(()) => reply::error(out, errors::WRONG_TYPE),
        Ok(holds) => delete_if(ctx, key, holds, out),
    }
    Next::Reply
}

fn delete_if(ctx: &mut Context<'_>, key: &[u8], holds: bool, out: &mut Vec<u8>) {
    let deleted = holds && ctx.remove(key);
    if deleted {
        ctx.notify(Class::GENERIC, "del", key, out);
        ctx.propagate_as(&[b"DEL", key]);
    }
    reply::integer(out, i64::from(deleted));
}

/// DELEX key [IFEQ value|IFNE value|IFDEQ digest|IFDNE digest]: a key that is not there meets no condition.
pub(crate) fn delex(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    match args.len() {
        2 => return keys::del(ctx, args, out),
        4 => {}
        _ => {
            ctx.arity_error(out);
            return Next::Reply;
        }
    }
    let (key, option, wanted) = (args.at(1), args.at(2), args.at(3));
    let comparison = Comparison::from_word(option);
    let holds = match ctx.string(key) {
        Ok(None) => Ok(false),
        Err(()) => Err(b"ERR Key should be of string type if conditions are specified".as_slice()),
        Ok(Some(value)) => match comparison {
            None => Err(b"ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE".as_slice()),
            Some(comparison) => comparison.holds(value, wanted),
        },
    };
    match holds {
        Err(why) => reply::error(out, why),
        Ok(holds) => delete_if(ctx, key, holds, out),
    }
    Next::Reply
}
