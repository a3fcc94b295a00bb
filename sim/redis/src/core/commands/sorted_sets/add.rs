//! ZADD and ZINCRBY.

use super::moving;
use crate::core::commands::containers::{change, len_or_reply};
use crate::core::commands::numbers::double_or_reply;
use crate::core::context::Context;
use crate::core::state::Class;
use crate::core::values::SortedSet;
use crate::core::{Next, errors};
use crate::resp::{Args, reply};

/// Under which conditions a score is set, and what is answered.
#[derive(Clone, Copy, Default)]
struct Options {
    /// Only members that are not there.
    new_only: bool,
    /// Only members that are there.
    old_only: bool,
    /// Only if the score grows.
    greater: bool,
    /// Only if the score shrinks.
    less: bool,
    /// Those whose score changed count too.
    counts_changed: bool,
    /// The score is added to the one that is there.
    increments: bool,
}

/// What became of one member.
#[derive(Clone, Copy, PartialEq)]
enum Outcome {
    Added(f64),
    Changed(f64),
    /// It had this score already.
    Same(f64),
    /// The conditions did not hold.
    Left,
    /// Infinity and its opposite have no sum.
    NotANumber,
}

/// ZADD key [NX|XX] [GT|LT] [CH] [INCR] score member …
pub(crate) fn zadd(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    add(ctx, args, Options::default(), out)
}

/// ZINCRBY key increment member.
pub(crate) fn zincrby(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    add(ctx, args, Options { increments: true, ..Options::default() }, out)
}

fn add(ctx: &mut Context<'_>, args: &Args<'_>, options: Options, out: &mut Vec<u8>) -> Next {
    let Some((options, pairs)) = read_or_reply(args, options, out) else { return Next::Reply };
    let Some(len) = len_or_reply::<SortedSet>(ctx, args.at(1), out) else { return Next::Reply };
    ctx.charge_work(moving(len) * pairs.len() as u64);
    let mut outcomes = Vec::new();
    let changes = change(ctx, args.at(1), |set: &mut SortedSet| {
        outcomes.extend(pairs.iter().map(|(score, member)| options.apply(set, *score, member)));
        outcomes.iter().filter(|outcome| matches!(outcome, Outcome::Added(_) | Outcome::Changed(_))).count()
    });
    if changes > 0 {
        ctx.propagate(args);
    }
    match outcomes.last() {
        Some(Outcome::NotANumber) => reply::error(out, b"ERR resulting score is not a number (NaN)"),
        Some(Outcome::Added(score) | Outcome::Changed(score) | Outcome::Same(score))
            if options.increments =>
        {
            reply::double(out, ctx.protocol(), *score);
        }
        _ if options.increments => reply::null(out, ctx.protocol()),
        _ if options.counts_changed => reply::integer(out, changes as i64),
        _ => {
            let added = outcomes.iter().filter(|outcome| matches!(outcome, Outcome::Added(_))).count();
            reply::integer(out, added as i64);
        }
    }
    if changes > 0 {
        let event = if options.increments { "zincr" } else { "zadd" };
        ctx.notify(Class::SORTED_SET, event, args.at(1), out);
    }
    Next::Reply
}

/// Scores and their members.
type Pairs<'a> = Vec<(f64, &'a [u8])>;

fn read_or_reply<'a>(
    args: &Args<'a>,
    mut options: Options,
    out: &mut Vec<u8>,
) -> Option<(Options, Pairs<'a>)> {
    let mut first = 2;
    while let Some(word) = args.get(first) {
        match word.to_ascii_uppercase().as_slice() {
            b"NX" => options.new_only = true,
            b"XX" => options.old_only = true,
            b"GT" => options.greater = true,
            b"LT" => options.less = true,
            b"CH" => options.counts_changed = true,
            b"INCR" => options.increments = true,
            _ => break,
        }
        first += 1;
    }
    let rest = args.len() - first;
    let Options { new_only, old_only, greater, less, increments, .. } = options;
    let mistake: Option<&[u8]> = if rest == 0 || rest % 2 == 1 {
        Some(errors::SYNTAX)
    } else if new_only && old_only {
        Some(b"ERR XX and NX options at the same time are not compatible")
    } else if (greater || less) && new_only || greater && less {
        Some(b"ERR GT, LT, and/or NX options at the same time are not compatible")
    } else if increments && rest > 2 {
        Some(b"ERR INCR option supports a single increment-element pair")
    } else {
        None
    };
    if let Some(mistake) = mistake {
        reply::error(out, mistake);
        return None;
    }
    let mut pairs = Vec::with_capacity(rest / 2);
    for index in (first..args.len()).step_by(2) {
        let score = double_or_reply(args.at(index), b"ERR value is not a valid float", out)?;
        pairs.push((score, args.at(index + 1)));
    }
    Some((options, pairs))
}

impl Options {
    fn apply(self, set: &mut SortedSet, score: f64, member: &[u8]) -> Outcome {
        let Some(old) = set.score(member) else {
            if self.old_only {
                return Outcome::Left;
            }
            set.insert(member, score);
            return Outcome::Added(score);
        };
        if self.new_only {
            return Outcome::Left;
        }
        let score = if self.increments { old + score } else { score };
        if score.is_nan() {
            return Outcome::NotANumber;
        }
        if self.less && score >= old || self.greater && score <= old {
            return Outcome::Left;
        }
        if score == old {
            return Outcome::Same(score);
        }
        set.insert(member, score);
        Outcome::Changed(score)
    }
}
