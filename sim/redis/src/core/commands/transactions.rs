//! MULTI, EXEC, DISCARD, WATCH, UNWATCH.

use crate::core::command::DENY_OOM;
use crate::core::context::Context;
use crate::core::session::{Queued, SessionKind, Transaction};
use crate::core::state::SuspendedTransaction;
use crate::core::{Core, Next, Session, WallMicros, errors, reply_files};
use crate::resp::{Args, reply};

/// MULTI.
pub(crate) fn multi(ctx: &mut Context<'_>, _args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    if ctx.session.multi.is_some() {
        reply::error(out, b"ERR MULTI calls can not be nested");
    } else {
        ctx.session.multi = Some(Transaction::default());
        reply::ok(out);
    }
    Next::Reply
}

/// DISCARD.
pub(crate) fn discard(ctx: &mut Context<'_>, _args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    if ctx.session.multi.is_some() {
        ctx.core.discard_transaction(ctx.session);
        reply::ok(out);
    } else {
        reply::error(out, b"ERR DISCARD without MULTI");
    }
    Next::Reply
}

/// WATCH key …
pub(crate) fn watch(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    if ctx.session.multi.is_some() {
        reply::error(out, b"ERR WATCH inside MULTI is not allowed");
        return Next::Reply;
    }
    // A transaction that already cannot succeed needs no more keys.
    if !ctx.core.dirty_sessions.contains(&ctx.session.id) {
        let now_ms = ctx.now_ms();
        args.iter().skip(1).for_each(|key| ctx.core.watch(ctx.session, key, now_ms));
    }
    reply::ok(out);
    Next::Reply
}

/// UNWATCH.
pub(crate) fn unwatch(ctx: &mut Context<'_>, _args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    ctx.core.unwatch_all(ctx.session);
    reply::ok(out);
    Next::Reply
}

/// EXEC: nothing if a watched key has changed or expired since.
pub(crate) fn exec(ctx: &mut Context<'_>, _args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let Some(transaction) = ctx.session.multi.take() else {
        reply::error(out, b"ERR EXEC without MULTI");
        return Next::Reply;
    };
    let lost = ctx.core.dirty_sessions.contains(&ctx.session.id)
        || ctx.core.watched_key_expired(ctx.session, ctx.now_ms());
    ctx.core.unwatch_all(ctx.session);
    if transaction.aborted {
        reply::error(out, errors::EXEC_ABORT);
        return Next::Reply;
    }
    if lost {
        reply::null_array(out, ctx.protocol());
        return Next::Reply;
    }
    if ctx.session.is_answered() {
        reply::array(out, transaction.queue.len());
    }
    ctx.core.run_transaction(ctx.session, ctx.now, transaction.queue, out)
}

impl Core {
    /// Runs queued commands, all at one time, appending their replies. What one of them asks of the connection (a new
    /// role, say) is asked at the end.
    pub(crate) fn run_transaction(
        &mut self,
        session: &mut Session,
        now: WallMicros,
        queue: Vec<Queued>,
        out: &mut Vec<u8>,
    ) -> Next {
        let denied = std::mem::replace(&mut session.denies_blocking, true);
        let asked = self.run_commands(session, now, queue, out);
        session.denies_blocking = denied;
        asked
    }

    fn run_commands(
        &mut self,
        session: &mut Session,
        now: WallMicros,
        queue: Vec<Queued>,
        out: &mut Vec<u8>,
    ) -> Next {
        let mut asked = Next::Reply;
        let mut rest = queue.into_iter();
        while let Some(Queued { spec, args }) = rest.next() {
            // The link ends after this.
            if session.kind == SessionKind::Master && self.is_full_of(session.origin) {
                break;
            }
            let (start, was_answered) = (out.len(), session.is_answered());
            let next = run_queued(&mut Context { core: self, session, now, spec }, &args.args(), out);
            self.track_reads(session, spec, &args.args());
            self.count(spec, &next, out.get(start..).unwrap_or_default());
            self.show_executed(session, now, spec, &args.args(), out);
            if asked == Next::Close {
                // It has killed itself: nothing follows the reply to that.
                out.truncate(start);
            }
            match next {
                Next::Reply => {}
                Next::Held => {
                    let transaction =
                        SuspendedTransaction { replies: std::mem::take(out), rest: rest.collect() };
                    if let Some(overrun) = &mut self.overrun {
                        overrun.transaction = Some(transaction);
                    }
                    return Next::Held;
                }
                // A transaction never waits: WAIT answers with what it has.
                Next::Wait { offset, file: None, .. } => {
                    let acked = self.replication.replicas_at(offset);
                    reply::integer(out, acked as i64);
                }
                Next::Wait { offset, file: Some(_), .. } => {
                    let replication = &self.replication;
                    reply_files(out, replication.is_in_file(offset), replication.files_at(offset));
                }
                other => asked = other,
            }
            // The client will be closed; what it asked for is done nevertheless, as Redis does.
            if self.config.limits.output_of(session.is_subscribed).is_exceeded_by(out.len() as u64) {
                // A master is not answered.
                self.output_overflowed |= session.kind == SessionKind::Client;
                out.clear();
                continue;
            }
            // CLIENT REPLY is obeyed from where it stands.
            if !was_answered && !session.is_answered() {
                out.truncate(start);
            }
            if let Some(observer) = &self.config.observer {
                observer.executed(session.origin, spec.family);
            }
        }
        asked
    }
}

/// Redis looks for memory when commands are queued and at EXEC, never between them: a few bytes of queue can take
/// gigabytes there. Here each is refused by itself.
fn run_queued(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    if ctx.spec.has(DENY_OOM) && ctx.core.is_full_of(ctx.session.origin) {
        reply::error(out, errors::OUT_OF_MEMORY);
        return Next::Reply;
    }
    let refusal: Option<&[u8]> = match ctx.spec.name {
        "MONITOR" => Some(b"ERR MONITOR isn't allowed for DENY BLOCKING client"),
        "SSUBSCRIBE" => Some(b"ERR SSUBSCRIBE isn't allowed for a DENY BLOCKING client"),
        _ => None,
    };
    if let Some(refusal) = refusal {
        reply::error(out, refusal);
        return Next::Reply;
    }
    (ctx.spec.run)(ctx, args, out)
}
