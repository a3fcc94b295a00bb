//! From request to handler: queueing, and what happens after a command. Also what a node does while a script is
//! overrunning.

use super::command::{
    ADMIN, CommandSpec, DENY_OOM, LookupError, NO_SCRIPT, NOT_QUEUED, PUBSUB, STALE_OK, WRITE,
};
use super::commands::{self, scripting};
use super::context::{Context, LOOK_BYTES, arity_error, unknown_command};
use super::keyspace::{Entry, Watch};
use super::observer::Stored;
use super::session::{Queued, SessionKind};
use super::state::{Class, Overrun, OverrunState};
use super::{Answered, Core, KeyChange, Next, Origin, Session, StreamError, Version, WallMicros};
use crate::resp::{Args, OwnedArgs, reply};

/// What a watched key takes besides its name, about.
const WATCH_BYTES: usize = 128;

impl Core {
    pub(crate) fn dispatch(
        &mut self,
        session: &mut Session,
        now: WallMicros,
        args: &Args<'_>,
        out: &mut Vec<u8>,
    ) -> Next {
        let start = out.len();
        let was_answered = session.is_answered();
        self.tracking.current = (session.kind == SessionKind::Client).then_some(session.id);
        let next = self.process(session, now, args, out);
        if !matches!(next, Next::Held | Next::Paused) {
            session.request_done();
            if session.kind == SessionKind::Master || !was_answered && !session.is_answered() {
                out.truncate(start);
            }
            session.step_replies();
            self.note_client(session, now, &next);
        }
        if std::mem::take(&mut self.has_pushed)
            && session.kind == SessionKind::Client
            && !matches!(next, Next::Held | Next::Paused | Next::Close)
        {
            // Replies that are switched off are gone by now. An event of what the command found out comes before its
            // reply; all others are in `out` already.
            let mut pushed = Vec::new();
            self.take_own_pushes(session.id, &mut pushed);
            out.splice(start..start, pushed);
        }
        self.tracking.current = None;
        if self.tracking.has_pending() {
            self.send_pending_invalidations(session.id);
            self.take_own_pushes(session.id, out);
        }
        next
    }

    fn process(
        &mut self,
        session: &mut Session,
        now: WallMicros,
        args: &Args<'_>,
        out: &mut Vec<u8>,
    ) -> Next {
        if self.overrun.is_some()
            && let Some(next) = self.process_while_overrunning(session, now, out)
        {
            return next;
        }
        if self.is_answered_by_program(session, now, args, out) {
            return Next::Reply;
        }
        let found = commands::lookup(args, self.config.version);
        session.last_command = found.as_ref().ok().copied();
        let spec = match found {
            Ok(spec) => spec,
            Err(_) if is_http(args.at(0)) => {
                // A browser was talked into sending requests here. What waits to be sent goes with the connection.
                out.clear();
                return Next::Close;
            }
            Err(why) => {
                session.abort_transaction();
                let start = out.len();
                unknown_command(&why, args, out);
                self.stats.counts.count_error(&out[start..]);
                return Next::Reply;
            }
        };
        if !spec.accepts(args.len()) {
            self.refuse(session, spec, &arity_error(spec), out);
            return Next::Reply;
        }
        if session.kind == SessionKind::Master && !is_propagated(spec) {
            self.stream_error = Some(StreamError::NotPropagated(spec.full_name));
            return Next::Reply;
        }
        if let Some(refusal) = self.refusal(session, spec, args) {
            self.refuse(session, spec, &refusal, out);
            return Next::Reply;
        }
        if self.postpones(session, spec, args, now) {
            return Next::Paused;
        }
        if session.multi.is_some() && !spec.has(NOT_QUEUED) {
            return self.queue(session, spec, args, out);
        }
        let start = out.len();
        let next = (spec.run)(&mut Context { core: self, session, now, spec }, args, out);
        let end = out.len();
        self.count(spec, &next, out.get(start..).unwrap_or_default());
        self.show_executed(session, now, spec, args, out);
        self.track_reads(session, spec, args);
        self.forget_caching(session, spec);
        if next == Next::Close {
            // Nothing follows the last reply.
            out.truncate(end);
        }
        self.finish_command(session.origin, spec, &next);
        self.note_offset(session, &next);
        if next != Next::Held {
            self.serve_blocked(now);
        }
        next
    }

    /// True if the program that answers in place of the data has replied, if there is one.
    fn is_answered_by_program(
        &self,
        session: &Session,
        now: WallMicros,
        args: &Args<'_>,
        out: &mut Vec<u8>,
    ) -> bool {
        let Some(program) = &self.config.program else { return false };
        match program.answer(now, args, session.protocol, out) {
            Answered::ByProgram => true,
            Answered::ByServer => false,
            Answered::ByNobody => {
                unknown_command(&LookupError::UnknownCommand, args, out);
                true
            }
        }
    }

    /// What the client's next WAIT is about. Requests that are queued or refused do not count, as in Redis.
    fn note_offset(&self, session: &mut Session, next: &Next) {
        if *next != Next::Held {
            session.offset = self.replication.offset;
        }
    }

    /// A script's own client waits for it; so does everybody else until the threshold, then they are told BUSY.
    fn process_while_overrunning(
        &mut self,
        session: &mut Session,
        now: WallMicros,
        out: &mut Vec<u8>,
    ) -> Option<Next> {
        let overrun = self.overrun.as_ref()?;
        match overrun.state {
            OverrunState::Killed if overrun.session == session.id => {
                let overrun = self.overrun.take()?;
                let next = self.finish_killed(session, now, overrun, out);
                self.note_offset(session, &next);
                self.serve_blocked(now);
                Some(next)
            }
            OverrunState::Killed => None,
            OverrunState::Running => {
                let held = overrun.session == session.id
                    || session.kind == SessionKind::Master
                    || now < overrun.busy_from;
                held.then_some(Next::Held)
            }
        }
    }

    /// Answers the client of a killed script, and goes on with the transaction it was part of.
    fn finish_killed(
        &mut self,
        session: &mut Session,
        now: WallMicros,
        overrun: Overrun,
        out: &mut Vec<u8>,
    ) -> Next {
        let Some(transaction) = overrun.transaction else {
            reply::error(out, &overrun.kill_error);
            return Next::Reply;
        };
        out.extend_from_slice(&transaction.replies);
        reply::error(out, &overrun.kill_error);
        self.run_transaction(session, now, transaction.rest, out)
    }

    fn refuse(
        &mut self,
        session: &mut Session,
        spec: &'static CommandSpec,
        refusal: &[u8],
        out: &mut Vec<u8>,
    ) {
        self.stats.counts.count_rejection(spec.full_name, refusal);
        if spec.name != "EXEC" {
            session.abort_transaction();
            return reply::error(out, refusal);
        }
        self.discard_transaction(session);
        let refusal = refusal.strip_prefix(b"ERR ").unwrap_or(refusal);
        reply::error(out, &[b"EXECABORT Transaction discarded because of: ", refusal].concat());
    }

    /// Counts a call with this reply, unless its script is still running.
    pub(crate) fn count(&mut self, spec: &'static CommandSpec, next: &Next, reply: &[u8]) {
        match spec.name {
            _ if *next == Next::Held => {}
            "EVAL" | "EVALSHA" | "EVAL_RO" | "EVALSHA_RO" => {
                self.stats.counts.count_script_call(spec.full_name, reply)
            }
            _ => self.stats.counts.count_call(spec.full_name, reply),
        }
    }

    /// What happens after each request, unless its script is still running.
    pub(crate) fn finish_command(&mut self, origin: Origin, spec: &CommandSpec, next: &Next) {
        if *next == Next::Held {
            return;
        }
        // The writes of a script that still counts as running are not out yet.
        if !self.script_is_overrunning() {
            self.finish_unit();
        }
        self.stats.commands += 1;
        if let Some(observer) = &self.config.observer {
            observer.executed(origin, spec.family);
        }
    }

    pub(crate) fn finish_unit(&mut self) {
        let bytes = self.propagation.finish_unit();
        // As of 7.2 the offset is also what the file is measured by.
        let measures_file = self.config.append_only && Version::WITH_WAITAOF.contains(&self.config.version);
        if self.replication.counting || measures_file {
            self.replication.offset += bytes as u64;
        }
    }

    /// Deletes a key that has expired: a DEL goes to replicas and AOF, whatever the command was.
    pub(crate) fn delete_expired(&mut self, db: usize, key: &[u8]) {
        let Some(entry) = self.databases[db].remove(key) else { return };
        self.stats.expired += 1;
        self.propagation.command(db, [b"DEL".as_slice(), key].into_iter());
        self.notify(db, Class::EXPIRED, "expired", key);
        self.invalidate(key, false);
        self.spoil(db, key);
        self.tell_expired(db, key, Some(&entry));
    }

    /// Tells the observer that a key is gone because its time was up.
    pub(crate) fn tell_expired(&self, database: usize, key: &[u8], before: Option<&Entry>) {
        if let Some(observer) = &self.config.observer {
            let before = before.map(Stored::from);
            let change = KeyChange { database, key, before, after: None, command: "EXPIRED" };
            observer.changed(Origin::Node, &change);
        }
    }

    /// A command has changed `key`: whoever watches it or has cached it is concerned.
    pub(crate) fn touch(&mut self, db: usize, key: &[u8]) {
        self.invalidate(key, true);
        self.spoil(db, key);
    }

    /// Makes the transactions of everybody who watches `key` fail.
    pub(crate) fn spoil(&mut self, db: usize, key: &[u8]) {
        let database = &mut self.databases[db];
        if database.watches.is_empty() {
            return;
        }
        let exists = database.get(key).is_some();
        let Some(watches) = database.watches.get_mut(key) else { return };
        self.work = self.work.saturating_add(watches.len() as u64 * LOOK_BYTES);
        for watch in watches {
            if !watch.was_expired {
                self.dirty_sessions.insert(watch.session);
            } else if !exists {
                // It was as good as gone when WATCH was called, and now it is: nothing has changed. From here on it is
                // watched as an absent key.
                watch.was_expired = false;
            }
        }
    }

    /// Removes every key of a database. Watchers of absent keys are not concerned.
    ///
    /// A key that had expired by `now_ms` and was there still is told as one whose time was up: whoever flushes takes
    /// nothing from anybody by that.
    pub(crate) fn clear_database(
        &mut self,
        db: usize,
        (origin, command): (Origin, &'static str),
        now_ms: i64,
    ) {
        let database = &mut self.databases[db];
        self.work = self.work.saturating_add(database.watches.len() as u64 * LOOK_BYTES);
        let present: Vec<Vec<u8>> =
            database.watches.keys().filter(|key| database.get(key).is_some()).cloned().collect();
        let removed = database.clear();
        present.iter().for_each(|key| self.spoil(db, key));
        let Some(observer) = &self.config.observer else { return };
        for (key, entry) in &removed {
            if entry.is_expired(now_ms) {
                self.tell_expired(db, key, Some(entry));
                continue;
            }
            let before = Some(Stored::from(entry));
            let change = KeyChange { database: db, key, before, after: None, command };
            observer.changed(origin, &change);
        }
    }

    pub(crate) fn watch(&mut self, session: &mut Session, key: &[u8], now_ms: i64) {
        let watched = (session.db, key.to_vec());
        if session.watching.contains(&watched) {
            return;
        }
        let database = &mut self.databases[session.db];
        let was_expired = database.get(key).is_some_and(|entry| entry.is_expired(now_ms));
        let watch = Watch { session: session.id, was_expired };
        database.watches.entry(key.to_vec()).or_default().push(watch);
        session.watched_bytes += 2 * key.len() + WATCH_BYTES;
        session.watching.insert(watched);
    }

    pub(crate) fn unwatch_all(&mut self, session: &mut Session) {
        self.dirty_sessions.remove(&session.id);
        session.watched_bytes = 0;
        for (db, key) in std::mem::take(&mut session.watching) {
            let watches = &mut self.databases[db].watches;
            let Some(watchers) = watches.get_mut(&key) else { continue };
            watchers.retain(|watch| watch.session != session.id);
            if watchers.is_empty() {
                watches.remove(&key);
            }
        }
    }

    /// Whether a key expired after this session began to watch it.
    pub(crate) fn watched_key_expired(&self, session: &Session, now_ms: i64) -> bool {
        session.watching.iter().any(|(db, key)| {
            let database = &self.databases[*db];
            let was_expired = database.watches.get(key).is_some_and(|watches| {
                watches.iter().any(|watch| watch.session == session.id && watch.was_expired)
            });
            !was_expired && database.get(key).is_some_and(|entry| entry.is_expired(now_ms))
        })
    }

    /// Queues a command of a transaction. A queue beyond the connection's memory limit closes it, as in Redis.
    fn queue(
        &self,
        session: &mut Session,
        spec: &'static CommandSpec,
        args: &Args<'_>,
        out: &mut Vec<u8>,
    ) -> Next {
        let cannot_succeed = self.dirty_sessions.contains(&session.id);
        let Some(multi) = &mut session.multi else { return Next::Reply };
        // Redis does not keep what it will not execute.
        if !multi.aborted && !cannot_succeed {
            let declared = scripting::declared_flags(self, spec, args);
            multi.writes |= declared.map_or(spec.has(WRITE), |script| script.writes);
            multi.may_replicate |= self.may_replicate_when_queued(spec, args);
            multi.grows |= declared.map_or(spec.has(DENY_OOM), |script| script.grows);
            multi.needs_fresh |= !declared.map_or(spec.has(STALE_OK), |script| script.allows_stale);
            let args = OwnedArgs::from(args);
            multi.size += args.size() + size_of::<Queued>();
            multi.queue.push(Queued { spec, args });
        }
        if multi.size as u64 > self.config.limits.query_buffer {
            return Next::Close;
        }
        reply::status(out, b"QUEUED");
        Next::Reply
    }

    /// Ends the transaction without executing it.
    pub(crate) fn discard_transaction(&mut self, session: &mut Session) {
        session.multi = None;
        self.unwatch_all(session);
    }
}

/// Whether a master or a file can have been told this by a Redis. Settings and roles are the node's own, what is
/// watched for a link would stay when it ends, and a link hears no messages. Reading is of no use there, but does no
/// harm.
fn is_propagated(spec: &CommandSpec) -> bool {
    let subscribes = spec.has(PUBSUB) && spec.has(NO_SCRIPT);
    !spec.has(ADMIN) && spec.name != "WATCH" && !subscribes
}

/// A request's first word that can only come from HTTP.
fn is_http(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"POST") || name.eq_ignore_ascii_case(b"Host:")
}
