//! A database: sessions that hold locks until they end, transactions, and a table that sessions read and write.
//!
//! A lock has no lease. It is its session's until it is given back or the session ends, and nothing ends a session but
//! its client, a timeout that somebody has set, or TCP. Waiters are in line, and the end of the holder's session grants
//! the lock to the next at once. A waiter whose client is gone is granted it as well.
//!
//! A row is locked within a transaction: what is written in it counts when it is committed, and is gone with it. An
//! advisory lock is locked outside: what is written then counts at once.
//!
//! A restart ends all sessions and all locks. A standby has neither. It is another database, which replays what its
//! primary has committed; whoever runs it keeps clients away until it is promoted. What it has not received by then is
//! lost.
//!
//! Not modelled: deadlocks, savepoints, isolation levels, prepared transactions, and a crash of one backend. Timers
//! count on the monotonic clock: PostgreSQL looks at the wall clock as well, and may be late by what that was set back.
//!
//! Sources: PostgreSQL 15, `backend/tcop/postgres.c`, `backend/storage/lmgr`; its documentation, 13.3 and 20.11.

mod messages;
mod replication;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::time::Duration;

pub use messages::{Answer, DatabaseError, LockMode, Request};
pub use replication::Commit;
use replication::CommitLog;

use crate::service::{
    EVENT, Keepalive, Outbox, OwnerChange, SESSION_ENDED, Service, ServiceConnection, ServiceKind,
};

/// The settings of the service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DatabaseRules {
    /// For how long a session may be idle in a transaction (`idle_in_transaction_session_timeout`); `None`: for ever.
    pub idle_in_transaction: Option<Duration>,
    /// For how long a session may be idle outside of one (`idle_session_timeout`); `None`: for ever.
    pub idle_session: Option<Duration>,
    /// The probes of idle connections; `None`: those of Linux, which take more than two hours.
    pub keepalive: Option<Keepalive>,
}

/// The table that sessions read and write. The database knows nothing of the content of requests and answers.
pub trait DataTable: Send {
    /// Reads or writes, as the request says.
    fn execute(&mut self, request: &[u8]) -> Vec<u8>;

    /// Takes over the row that another table made of a request to write.
    fn replay(&mut self, request: &[u8], row: &[u8]);
}

/// The service.
pub struct Database {
    rules: DatabaseRules,
    table: Box<dyn DataTable>,
    sessions: BTreeMap<ServiceConnection, Session>,
    /// The connections whose session the database has ended, and that are not closed yet.
    ended: BTreeSet<ServiceConnection>,
    locks: BTreeMap<String, Lock>,
    /// The commits, if there are standbys to send them to.
    log: Option<CommitLog>,
    /// The number of commits that it has replayed.
    replayed: u64,
}

#[derive(Debug)]
struct Session {
    in_transaction: bool,
    /// Since when it has nothing to do; `None` while it waits for a lock.
    idle_since: Option<Duration>,
    /// The writes of its transaction.
    uncommitted: Vec<Vec<u8>>,
}

#[derive(Debug)]
struct Lock {
    owner: ServiceConnection,
    /// The name that its owner gave it.
    token: Vec<u8>,
    mode: LockMode,
    waiting: VecDeque<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    session: ServiceConnection,
    number: u32,
    token: Vec<u8>,
    mode: LockMode,
}

impl Database {
    /// A database around a table.
    pub fn new(rules: DatabaseRules, table: Box<dyn DataTable>) -> Database {
        let (sessions, ended, locks) = (BTreeMap::new(), BTreeSet::new(), BTreeMap::new());
        Database { rules, table, sessions, ended, locks, log: None, replayed: 0 }
    }

    /// The same as a primary, which sends each commit to its standbys so long after it.
    pub fn with_standby_lag(self, lag: Duration) -> Database {
        Database { log: Some(CommitLog::new(lag)), ..self }
    }

    /// Replays the next commit of the primary.
    pub fn replay(&mut self, commit: &Commit) {
        self.replayed += 1;
        commit.0.iter().for_each(|(request, row)| self.table.replay(request, row));
    }

    /// Returns how many commits of the primary it has replayed.
    pub fn replayed(&self) -> u64 {
        self.replayed
    }

    /// Returns the locks that sessions hold, each with its session.
    pub fn locks(&self) -> impl Iterator<Item = (&str, ServiceConnection)> {
        self.locks.iter().map(|(name, lock)| (name.as_str(), lock.owner))
    }

    /// Takes a lock, or a place in its line. The answer, unless it has to wait.
    fn lock(
        &mut self,
        name: String,
        waiting: Waiting,
        waits: bool,
        out: &mut Outbox<Answer>,
    ) -> Option<Answer> {
        let Some(lock) = self.locks.get_mut(&name) else {
            let Waiting { session, token, mode, .. } = waiting;
            out.changes.push(change(&name, None, Some(token.clone()), mode.word()));
            self.locks.insert(name, Lock { owner: session, token, mode, waiting: VecDeque::new() });
            return Some(Answer::Locked);
        };
        if lock.owner == waiting.session {
            return Some(Answer::Locked);
        }
        if !waits {
            return Some(Answer::Taken);
        }
        lock.waiting.push_back(waiting);
        None
    }

    /// Gives a lock to the next in line.
    fn pass_on(&mut self, name: &str, cause: &'static str, now: Duration, out: &mut Outbox<Answer>) {
        let Some(mut lock) = self.locks.remove(name) else { return };
        let before = Some(std::mem::take(&mut lock.token));
        let Some(next) = lock.waiting.pop_front() else {
            return out.changes.push(change(name, before, None, cause));
        };
        out.changes.push(change(name, before, Some(next.token.clone()), cause));
        if let Some(session) = self.sessions.get_mut(&next.session) {
            session.idle_since = Some(now);
        }
        out.answer(next.session, next.number, Answer::Locked);
        let Waiting { session, token, mode, .. } = next;
        self.locks.insert(name.to_owned(), Lock { owner: session, token, mode, waiting: lock.waiting });
    }

    /// Passes on what a session holds in a mode.
    fn release_all(
        &mut self,
        session: ServiceConnection,
        which: impl Fn(LockMode) -> bool,
        cause: &'static str,
        now: Duration,
        out: &mut Outbox<Answer>,
    ) {
        let held = self.locks.iter().filter(|(_, lock)| lock.owner == session && which(lock.mode));
        let names: Vec<String> = held.map(|(name, _)| name.clone()).collect();
        names.iter().for_each(|name| self.pass_on(name, cause, now, out));
    }

    /// Ends a session: its transaction is rolled back, its locks go to the next in line.
    fn end_session(
        &mut self,
        session: ServiceConnection,
        cause: &'static str,
        now: Duration,
        out: &mut Outbox<Answer>,
    ) {
        self.sessions.remove(&session);
        self.locks.values_mut().for_each(|lock| lock.waiting.retain(|waiting| waiting.session != session));
        self.release_all(session, |_| true, cause, now, out);
    }

    fn end_transaction(
        &mut self,
        session: ServiceConnection,
        word: &'static str,
        now: Duration,
        out: &mut Outbox<Answer>,
    ) {
        if let Some(session) = self.sessions.get_mut(&session) {
            session.in_transaction = false;
            let writes = std::mem::take(&mut session.uncommitted);
            if word == "COMMIT" {
                self.commit(writes, now);
            }
        }
        self.release_all(session, |mode| mode == LockMode::Row, word, now, out);
    }

    /// Lets writes count, all at once. Returns the last row.
    fn commit(&mut self, writes: Vec<Vec<u8>>, now: Duration) -> Vec<u8> {
        let mut commit = Commit::default();
        for request in writes {
            let row = self.table.execute(&request);
            commit.0.push((request, row));
        }
        let row = commit.0.last().map(|(_, row)| row.clone()).unwrap_or_default();
        if let Some(log) = self.log.as_mut().filter(|_| !commit.0.is_empty()) {
            log.append(commit, now);
        }
        row
    }

    fn send_commits(&mut self, now: Duration, out: &mut Outbox<Answer>) {
        let due = self.log.as_mut().map(|log| log.take_due(now)).unwrap_or_default();
        due.into_iter().for_each(|(standby, commit)| out.answer(standby, EVENT, Answer::Commit(commit)));
    }

    fn execute(
        &mut self,
        from: ServiceConnection,
        number: u32,
        request: Request,
        now: Duration,
        out: &mut Outbox<Answer>,
    ) {
        let word = request.word();
        let answer = match request {
            Request::Begin => {
                self.sessions.entry(from).and_modify(|session| session.in_transaction = true);
                Answer::Done
            }
            Request::Commit | Request::Rollback => {
                self.end_transaction(from, word, now, out);
                Answer::Done
            }
            Request::Lock { name, mode, token, waits } => {
                let waiting = Waiting { session: from, number, token, mode };
                match self.lock(name, waiting, waits, out) {
                    Some(answer) => answer,
                    None => {
                        self.sessions.entry(from).and_modify(|session| session.idle_since = None);
                        return;
                    }
                }
            }
            Request::Unlock { name } => {
                let is_owner = self.locks.get(&name).is_some_and(|lock| lock.owner == from);
                if is_owner {
                    self.pass_on(&name, word, now, out);
                }
                Answer::Unlocked(is_owner)
            }
            Request::Read { request } => Answer::Row(self.table.execute(&request)),
            Request::Write { request } => match self.sessions.get_mut(&from) {
                Some(session) if session.in_transaction => {
                    session.uncommitted.push(request);
                    Answer::Done
                }
                _ => Answer::Row(self.commit(vec![request], now)),
            },
            Request::Replicate { .. } | Request::Received => return,
        };
        out.answer(from, number, answer);
    }

    /// Returns the time at which a session is ended for doing nothing.
    fn idle_end(&self, session: &Session) -> Option<Duration> {
        let limit =
            if session.in_transaction { self.rules.idle_in_transaction } else { self.rules.idle_session };
        Some(session.idle_since? + limit?)
    }
}

fn change(name: &str, before: Option<Vec<u8>>, after: Option<Vec<u8>>, cause: &'static str) -> OwnerChange {
    OwnerChange { lock: name.to_owned(), before, after, cause }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database").field("sessions", &self.sessions).field("locks", &self.locks).finish()
    }
}

impl Service for Database {
    const KIND: ServiceKind = ServiceKind::Database;

    type Request = Request;
    type Answer = Answer;

    fn word(request: &Request) -> &'static str {
        request.word()
    }

    fn receive(
        &mut self,
        from: ServiceConnection,
        number: u32,
        request: Request,
        now: Duration,
        out: &mut Outbox<Answer>,
    ) {
        if self.ended.contains(&from) {
            return; // what the client has sent before it knew comes to nothing
        }
        if let Request::Replicate { received } = request {
            // Its connection is no session: no limit of those ends it.
            self.log.iter_mut().for_each(|log| log.follow(from, received));
        }
        if matches!(request, Request::Replicate { .. } | Request::Received) {
            return self.send_commits(now, out);
        }
        let session = Session { in_transaction: false, idle_since: None, uncommitted: Vec::new() };
        self.sessions.entry(from).or_insert(session).idle_since = Some(now);
        self.execute(from, number, request, now, out);
    }

    fn disconnect(&mut self, connection: ServiceConnection, now: Duration, out: &mut Outbox<Answer>) {
        self.ended.remove(&connection);
        self.log.iter_mut().for_each(|log| log.leave(connection));
        self.end_session(connection, SESSION_ENDED, now, out);
    }

    fn advance(&mut self, now: Duration, out: &mut Outbox<Answer>) {
        let idle = |(id, session): (&ServiceConnection, &Session)| {
            self.idle_end(session).is_some_and(|end| end <= now).then_some((*id, session.in_transaction))
        };
        let idle: Vec<(ServiceConnection, bool)> = self.sessions.iter().filter_map(idle).collect();
        for (session, in_transaction) in idle {
            let why =
                if in_transaction { DatabaseError::IdleInTransaction } else { DatabaseError::IdleSession };
            out.answer(session, EVENT, Answer::Ended(why));
            out.close(session);
            self.ended.insert(session);
            self.end_session(session, SESSION_ENDED, now, out);
        }
        self.send_commits(now, out);
    }

    fn next_due(&self) -> Option<Duration> {
        let idle = self.sessions.values().filter_map(|session| self.idle_end(session));
        idle.chain(self.log.as_ref().and_then(CommitLog::next_due)).min()
    }

    fn probe() -> Option<Answer> {
        Some(Answer::Probe)
    }

    fn keepalive(&self) -> Option<Keepalive> {
        self.rules.keepalive
    }

    fn restart(&mut self, now: Duration, out: &mut Outbox<Answer>) {
        self.sessions.clear();
        self.ended.clear();
        self.log.iter_mut().for_each(|log| log.restart(now));
        for (name, lock) in std::mem::take(&mut self.locks) {
            out.changes.push(change(&name, Some(lock.token), None, "RESTART"));
        }
    }
}
