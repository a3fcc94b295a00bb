//! How a stream is to be trimmed, as XADD and XTRIM are told; and XTRIM.
//!
//! Trimming that may be inexact reaches replicas and files as what it came to: what a node holds depends on what was
//! removed from it before, and a node that has been loaded anew does not know that.

use super::ids::{NewId, id_or_reply, new_id_or_reply};
use crate::core::commands::containers::{change, len_or_reply};
use crate::core::commands::integer_or_reply;
use crate::core::context::{Context, LOOK_BYTES};
use crate::core::session::SessionKind;
use crate::core::state::Class;
use crate::core::values::{EntryId, Kept, Stream, Trim};
use crate::core::{Next, errors};
use crate::resp::{Args, reply};

/// How many entries inexact trimming takes away at most, if it is not told: a hundred nodes of a hundred.
const DEFAULT_LIMIT: usize = 10_000;

/// What stands between the key and the entry, or behind the key.
#[derive(Default)]
pub(super) struct Options {
    kept: Option<Kept>,
    /// The argument that says how much is kept.
    place: usize,
    is_inexact: bool,
    limit: Option<i64>,
    /// NOMKSTREAM: nothing is added where no stream is.
    pub(super) needs_stream: bool,
    /// XADD: the new entry's id, and which argument it is.
    pub(super) id: Option<(NewId, usize)>,
}

impl Options {
    /// Reads the options, or answers what is wrong with them. XADD's end with an id.
    pub(super) fn read_or_reply(
        ctx: &Context<'_>,
        args: &Args<'_>,
        is_xadd: bool,
        out: &mut Vec<u8>,
    ) -> Option<Options> {
        let mut options = Options::default();
        let mut index = 2;
        while let Some(word) = args.get(index) {
            let value = args.get(index + 1);
            match (word.to_ascii_uppercase().as_slice(), value) {
                (b"*", _) if is_xadd => {
                    options.id = Some((NewId::Any, index));
                    break;
                }
                (strategy @ (b"MAXLEN" | b"MINID"), Some(_)) => {
                    index = options.read_strategy(strategy, args, index + 1, out)?;
                }
                (b"LIMIT", Some(limit)) => {
                    options.limit = Some(at_least_0_or_reply(limit, "LIMIT", out)?);
                    index += 1;
                }
                (b"NOMKSTREAM", _) if is_xadd => options.needs_stream = true,
                _ if is_xadd => {
                    options.id = Some((new_id_or_reply(word, out)?, index));
                    break;
                }
                _ => {
                    reply::error(out, errors::SYNTAX);
                    return None;
                }
            }
            index += 1;
        }
        options.check_or_reply(ctx, is_xadd, out)?;
        Some(options)
    }

    /// Reads `[=|~] threshold` from this argument on; which one the threshold is.
    fn read_strategy(
        &mut self,
        strategy: &[u8],
        args: &Args<'_>,
        first: usize,
        out: &mut Vec<u8>,
    ) -> Option<usize> {
        if self.kept.is_some() {
            let text = "MAXLEN and MINID options at the same time are not compatible";
            reply::error(out, format!("ERR syntax error, {text}").as_bytes());
            return None;
        }
        let has_operator = args.len() > first + 1 && matches!(args.at(first), b"~" | b"=");
        self.is_inexact = has_operator && args.at(first) == b"~";
        self.place = first + usize::from(has_operator);
        let threshold = args.at(self.place);
        self.kept = Some(match strategy {
            b"MAXLEN" => Kept::Last(at_least_0_or_reply(threshold, "MAXLEN", out)?.unsigned_abs()),
            _ => Kept::From(id_or_reply(threshold, 0, out)?),
        });
        Some(self.place)
    }

    fn check_or_reply(&self, ctx: &Context<'_>, is_xadd: bool, out: &mut Vec<u8>) -> Option<()> {
        let wrong = match (self.kept, self.limit) {
            (None, Some(1..)) => "LIMIT cannot be used without specifying a trimming strategy",
            (None, _) if !is_xadd => "XTRIM must be called with a trimming strategy",
            // A master has made it exact, and left the limit where it was.
            (_, Some(_)) if !self.is_inexact && ctx.session.kind != SessionKind::Master => {
                "LIMIT cannot be used without the special ~ option"
            }
            _ => return Some(()),
        };
        reply::error(out, format!("ERR syntax error, {wrong}").as_bytes());
        None
    }

    /// What is to be done to the stream, if anything.
    pub(super) fn trim(&self, ctx: &Context<'_>) -> Option<Trim> {
        let limit = match self.limit {
            _ if ctx.session.kind == SessionKind::Master => None,
            Some(limit) => usize::try_from(limit).ok().filter(|limit| *limit > 0),
            None => self.is_inexact.then_some(DEFAULT_LIMIT),
        };
        Some(Trim { kept: self.kept?, is_inexact: self.is_inexact, limit })
    }

    /// Makes the options say what inexact trimming came to, now that it is done.
    pub(super) fn make_exact(&self, ctx: &mut Context<'_>, key: &[u8], args: &mut [Vec<u8>]) {
        let Some(kept) = self.kept.filter(|_| self.is_inexact) else { return };
        let Ok(Some(stream)) = ctx.peek::<Stream>(key) else { return };
        args[self.place - 1] = b"=".to_vec();
        args[self.place] = match kept {
            Kept::Last(_) => stream.len().to_string().into_bytes(),
            Kept::From(_) => stream.first_place().unwrap_or(EntryId::MAX).text(),
        };
    }
}

fn at_least_0_or_reply(text: &[u8], option: &str, out: &mut Vec<u8>) -> Option<i64> {
    let value = integer_or_reply(text, out)?;
    if value < 0 {
        reply::error(out, format!("ERR The {option} argument must be >= 0.").as_bytes());
        return None;
    }
    Some(value)
}

/// XTRIM key MAXLEN|MINID [=|~] threshold [LIMIT count].
pub(crate) fn xtrim(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let Some(options) = Options::read_or_reply(ctx, args, false, out) else { return Next::Reply };
    let Some(len) = len_or_reply::<Stream>(ctx, args.at(1), out) else { return Next::Reply };
    let removed = match options.trim(ctx) {
        // A stream that is not there must not be made.
        Some(trim) if len > 0 => change(ctx, args.at(1), |stream: &mut Stream| stream.trim(&trim)),
        _ => 0,
    };
    if removed > 0 {
        ctx.charge_work(removed as u64 * LOOK_BYTES);
        ctx.notify(Class::STREAM, "xtrim", args.at(1), out);
        let mut words: Vec<Vec<u8>> = args.iter().map(<[u8]>::to_vec).collect();
        options.make_exact(ctx, args.at(1), &mut words);
        let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
        ctx.propagate_as(&words);
    }
    reply::integer(out, removed as i64);
    Next::Reply
}
