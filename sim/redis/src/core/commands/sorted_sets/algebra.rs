//! What is made of several sorted sets, or of sets, whose members all have the score 1: unions, intersections and
//! differences, answered with, counted or stored.

use std::collections::BTreeMap;

use super::{looked_at, reply_members};
use crate::core::commands::integer_or_reply;
use crate::core::commands::numbers::{bounded_or_reply, double_or_reply};
use crate::core::context::Context;
use crate::core::keyspace::Value;
use crate::core::state::Class;
use crate::core::values::SortedSet;
use crate::core::{Next, errors};
use crate::resp::{Args, reply};

/// How they are put together. A key that is not there is empty.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operation {
    Union,
    Intersection,
    /// The first without the others.
    Difference,
}

/// What is made of the scores of a member that several have.
#[derive(Clone, Copy)]
enum Aggregate {
    Sum,
    Min,
    Max,
}

impl Aggregate {
    fn combine(self, score: f64, other: f64) -> f64 {
        match self {
            Aggregate::Sum => number(score + other),
            Aggregate::Min => {
                if other < score {
                    other
                } else {
                    score
                }
            }
            Aggregate::Max => {
                if other > score {
                    other
                } else {
                    score
                }
            }
        }
    }
}

/// Redis takes what is no number for 0.
fn number(score: f64) -> f64 {
    if score.is_nan() { 0.0 } else { score }
}

/// One of the keys.
struct Source {
    members: BTreeMap<Vec<u8>, f64>,
    weight: f64,
}

/// What a command asks for.
struct Request {
    sources: Vec<Source>,
    aggregate: Aggregate,
    with_scores: bool,
    /// 0 means all.
    limit: usize,
}

/// What a command may be told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Answer,
    Count,
    Store,
}

/// ZUNION numkeys key … [WEIGHTS weight …] [AGGREGATE SUM|MIN|MAX] [WITHSCORES].
pub(crate) fn zunion(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    answer(ctx, args, Operation::Union, out)
}

/// ZINTER numkeys key … [WEIGHTS weight …] [AGGREGATE SUM|MIN|MAX] [WITHSCORES].
pub(crate) fn zinter(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    answer(ctx, args, Operation::Intersection, out)
}

/// ZDIFF numkeys key … [WITHSCORES].
pub(crate) fn zdiff(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    answer(ctx, args, Operation::Difference, out)
}

fn answer(ctx: &mut Context<'_>, args: &Args<'_>, operation: Operation, out: &mut Vec<u8>) -> Next {
    let start = out.len();
    if let Some(request) = read_or_reply(ctx, args, operation, Purpose::Answer, out) {
        let with_scores = request.with_scores;
        let result = request.result(operation);
        reply_members(result.iter(), with_scores, ctx.protocol(), out);
        ctx.is_too_long(out, start);
    }
    Next::Reply
}

/// ZINTERCARD numkeys key … [LIMIT limit].
pub(crate) fn zintercard(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    if let Some(request) = read_or_reply(ctx, args, Operation::Intersection, Purpose::Count, out) {
        let limit = if request.limit == 0 { usize::MAX } else { request.limit };
        let count = request.result(Operation::Intersection).len();
        reply::integer(out, count.min(limit) as i64);
    }
    Next::Reply
}

/// ZUNIONSTORE destination numkeys key … [WEIGHTS weight …] [AGGREGATE SUM|MIN|MAX].
pub(crate) fn zunionstore(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    store(ctx, args, Operation::Union, out)
}

/// ZINTERSTORE destination numkeys key … [WEIGHTS weight …] [AGGREGATE SUM|MIN|MAX].
pub(crate) fn zinterstore(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    store(ctx, args, Operation::Intersection, out)
}

/// ZDIFFSTORE destination numkeys key …
pub(crate) fn zdiffstore(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    store(ctx, args, Operation::Difference, out)
}

fn store(ctx: &mut Context<'_>, args: &Args<'_>, operation: Operation, out: &mut Vec<u8>) -> Next {
    if let Some(request) = read_or_reply(ctx, args, operation, Purpose::Store, out) {
        let result = request.result(operation).into_packed();
        let len = result.len();
        let has_changed = ctx.store(args.at(1), result);
        reply::integer(out, len as i64);
        if has_changed {
            ctx.propagate(args);
            ctx.notify_stored(Class::SORTED_SET, args.at(1), len == 0, out);
        }
    }
    Next::Reply
}

impl Request {
    fn result(mut self, operation: Operation) -> SortedSet {
        if operation != Operation::Difference {
            // Sums depend on their order, and this is Redis'.
            self.sources.sort_by_key(|source| source.members.len());
        }
        let mut result = SortedSet::new_unpacked();
        for (member, score) in self.scores(operation) {
            result.insert(&member, score);
        }
        result
    }

    fn scores(&self, operation: Operation) -> BTreeMap<Vec<u8>, f64> {
        let mut all = BTreeMap::new();
        match operation {
            Operation::Union => {
                for source in &self.sources {
                    for (member, score) in source.weighted_scores() {
                        all.entry(member.clone())
                            .and_modify(|sum| *sum = self.aggregate.combine(*sum, score))
                            .or_insert(score);
                    }
                }
            }
            Operation::Intersection => {
                let Some((first, others)) = self.sources.split_first() else { return all };
                for (member, score) in first.weighted_scores() {
                    let more: Option<Vec<f64>> = others.iter().map(|other| other.score(member)).collect();
                    let sum = |more: Vec<f64>| {
                        more.into_iter().fold(score, |sum, more| self.aggregate.combine(sum, more))
                    };
                    all.extend(more.map(|more| (member.clone(), sum(more))));
                }
            }
            Operation::Difference => {
                let Some((first, others)) = self.sources.split_first() else { return all };
                let is_left =
                    |member: &Vec<u8>| others.iter().all(|other| !other.members.contains_key(member));
                let left = first.members.iter().filter(|(member, _)| is_left(member));
                all.extend(left.map(|(member, score)| (member.clone(), *score)));
            }
        }
        all
    }
}

impl Source {
    fn weighted_scores(&self) -> impl Iterator<Item = (&Vec<u8>, f64)> {
        self.members.iter().map(|(member, score)| (member, number(score * self.weight)))
    }

    /// As Redis, it is not looked at here whether the product is a number: the aggregate will see.
    fn score(&self, member: &[u8]) -> Option<f64> {
        self.members.get(member).map(|score| score * self.weight)
    }
}

/// Reads sources and options; types are looked at before the options are.
fn read_or_reply(
    ctx: &mut Context<'_>,
    args: &Args<'_>,
    operation: Operation,
    purpose: Purpose,
    out: &mut Vec<u8>,
) -> Option<Request> {
    let first = if purpose == Purpose::Store { 2 } else { 1 };
    let number = integer_or_reply(args.at(first), out)?;
    if number < 1 {
        let text = format!("ERR at least 1 input key is needed for '{}' command", ctx.spec.full_name);
        reply::error(out, text.as_bytes());
        return None;
    }
    let count = usize::try_from(number).ok().filter(|count| *count < args.len() - first);
    let Some(count) = count else {
        reply::error(out, errors::SYNTAX);
        return None;
    };
    let mut sources = Vec::with_capacity(count);
    for index in first + 1..=first + count {
        sources.push(Source { members: members_or_reply(ctx, args.at(index), out)?, weight: 1.0 });
    }
    looked_at(ctx, sources.iter().map(|source| source.members.len()).sum());
    let request = Request { sources, aggregate: Aggregate::Sum, with_scores: false, limit: 0 };
    options_or_reply(args, first + 1 + count, request, (operation, purpose), out)
}

fn members_or_reply(ctx: &mut Context<'_>, key: &[u8], out: &mut Vec<u8>) -> Option<BTreeMap<Vec<u8>, f64>> {
    match ctx.lookup(key) {
        None => Some(BTreeMap::new()),
        Some(Value::SortedSet(set)) => {
            Some(set.iter().map(|(member, score)| (member.to_vec(), score)).collect())
        }
        Some(Value::Set(set)) => Some(set.iter().map(|member| (member.into_owned(), 1.0)).collect()),
        Some(_) => {
            reply::error(out, errors::WRONG_TYPE);
            None
        }
    }
}

fn options_or_reply(
    args: &Args<'_>,
    mut index: usize,
    mut request: Request,
    (operation, purpose): (Operation, Purpose),
    out: &mut Vec<u8>,
) -> Option<Request> {
    let is_weighed = operation != Operation::Difference && purpose != Purpose::Count;
    let sources = request.sources.len();
    while let Some(word) = args.get(index) {
        let rest = args.len() - index - 1;
        match word.to_ascii_uppercase().as_slice() {
            b"WEIGHTS" if is_weighed && rest >= sources => {
                for source in &mut request.sources {
                    index += 1;
                    source.weight = double_or_reply(args.at(index), b"ERR weight value is not a float", out)?;
                }
            }
            b"AGGREGATE" if is_weighed && rest >= 1 => {
                index += 1;
                request.aggregate = match args.at(index).to_ascii_uppercase().as_slice() {
                    b"SUM" => Aggregate::Sum,
                    b"MIN" => Aggregate::Min,
                    b"MAX" => Aggregate::Max,
                    _ => {
                        reply::error(out, errors::SYNTAX);
                        return None;
                    }
                };
            }
            b"WITHSCORES" if purpose == Purpose::Answer => request.with_scores = true,
            b"LIMIT" if purpose == Purpose::Count && rest >= 1 => {
                index += 1;
                request.limit = bounded_or_reply(args.at(index), 0, b"ERR LIMIT can't be negative", out)?;
            }
            _ => {
                reply::error(out, errors::SYNTAX);
                return None;
            }
        }
        index += 1;
    }
    Some(request)
}
