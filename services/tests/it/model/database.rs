//! A naive database: a list of sessions, and one list of all who have a lock or want it, in the order in
//! which they asked. The first who asked for a lock has it.
//!
//! Not modelled: a request of a session that waits or was ended, a session that asks for its own lock, a row
//! that is locked outside of a transaction or given back as an advisory lock, and one name for a row and an
//! advisory lock, and standbys, which `replication.rs` has.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use doublehold_services::database::{
    Answer, DataTable, Database, DatabaseError, DatabaseRules, LockMode, Request,
};
use doublehold_services::{EVENT, Outbox, Outgoing, OwnerChange, Service, ServiceConnection};
use proptest::prelude::*;

use super::{Model, Pair, QUANTUM, cases, say, sequences};

type Out = Outbox<Answer>;

/// A table of all that was written, in one string.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    pub(crate) fn written(&self) -> Vec<u8> {
        self.0.lock().expect("nothing panics with it").clone()
    }
}

impl DataTable for Log {
    /// Appends what is asked, if anything is, and returns all.
    fn execute(&mut self, request: &[u8]) -> Vec<u8> {
        self.0.lock().expect("nothing panics with it").extend_from_slice(request);
        self.written()
    }

    fn replay(&mut self, request: &[u8], _: &[u8]) {
        self.execute(request);
    }
}

#[derive(Debug)]
struct Session {
    connection: ServiceConnection,
    in_transaction: bool,
    active: Duration,
    writes: Vec<u8>,
}

/// Somebody who has a lock, or wants it.
#[derive(Debug)]
struct Claim {
    name: String,
    session: ServiceConnection,
    number: u32,
    token: Vec<u8>,
    mode: LockMode,
}

#[derive(Debug)]
struct Naive {
    rules: DatabaseRules,
    sessions: Vec<Session>,
    ended: Vec<ServiceConnection>,
    claims: Vec<Claim>,
    written: Vec<u8>,
    /// The service's own table, to compare with.
    log: Log,
}

impl Naive {
    fn first(&self, name: &str) -> Option<&Claim> {
        self.claims.iter().find(|claim| claim.name == name)
    }

    fn waits(&self, session: ServiceConnection) -> bool {
        let mut own = self.claims.iter().filter(|claim| claim.session == session);
        own.any(|claim| self.first(&claim.name).is_some_and(|first| first.session != session))
    }

    fn session(&mut self, of: ServiceConnection) -> Option<&mut Session> {
        self.sessions.iter_mut().find(|session| session.connection == of)
    }

    /// Gives back a lock that somebody has.
    fn release(&mut self, name: &str, cause: &'static str, now: Duration, out: &mut Out) {
        let place = self.claims.iter().position(|claim| claim.name == name).expect("somebody has it");
        let before = Some(self.claims.remove(place).token);
        let next = self.first(name).map(|next| (next.session, next.number, next.token.clone()));
        let after = next.as_ref().map(|(.., token)| token.clone());
        out.changes.push(OwnerChange { lock: name.to_owned(), before, after, cause });
        if let Some((session, number, _)) = next {
            say(out, session, number, Answer::Locked);
            self.session(session).expect("it waited").active = now;
        }
    }

    fn release_all(
        &mut self,
        session: ServiceConnection,
        mode: Option<LockMode>,
        cause: &'static str,
        now: Duration,
        out: &mut Out,
    ) {
        let own = |claim: &&Claim| claim.session == session && mode.is_none_or(|mode| claim.mode == mode);
        let names: Vec<String> = self.claims.iter().filter(own).map(|claim| claim.name.clone()).collect();
        names.iter().for_each(|name| self.release(name, cause, now, out));
    }

    fn end(&mut self, session: ServiceConnection, cause: &'static str, now: Duration, out: &mut Out) {
        let heads: Vec<(String, u32)> = self.holders().map(|it| (it.name.clone(), it.number)).collect();
        let holds = |claim: &Claim| heads.contains(&(claim.name.clone(), claim.number));
        self.claims.retain(|claim| claim.session != session || holds(claim));
        self.sessions.retain(|it| it.connection != session);
        self.release_all(session, None, cause, now, out);
    }

    /// Returns who has each lock.
    fn holders(&self) -> impl Iterator<Item = &Claim> {
        let is_first = |claim: &&Claim| self.first(&claim.name).is_some_and(|it| it.number == claim.number);
        self.claims.iter().filter(is_first)
    }

    fn lock(&mut self, claim: Claim, waits: bool, out: &mut Out) -> Option<Answer> {
        if self.first(&claim.name).is_none() {
            let cause = if claim.mode == LockMode::Row { "FORUPDATE" } else { "ADVISORYLOCK" };
            let (lock, after) = (claim.name.clone(), Some(claim.token.clone()));
            out.changes.push(OwnerChange { lock, before: None, after, cause });
            self.claims.push(claim);
            Some(Answer::Locked)
        } else if waits {
            self.claims.push(claim);
            None
        } else {
            Some(Answer::Taken)
        }
    }
}

impl Model<Database> for Naive {
    fn prepare(&self, from: ServiceConnection, request: Request) -> Option<Request> {
        let in_transaction = self.sessions.iter().any(|it| it.connection == from && it.in_transaction);
        let left_out = match &request {
            Request::Lock { name, mode, .. } => {
                let has = self.first(name).is_some_and(|claim| claim.session == from);
                has || (*mode == LockMode::Row && !in_transaction)
            }
            _ => false,
        };
        (!left_out && !self.ended.contains(&from) && !self.waits(from)).then_some(request)
    }

    fn receive(
        &mut self,
        from: ServiceConnection,
        number: u32,
        request: Request,
        now: Duration,
        out: &mut Out,
    ) {
        if self.session(from).is_none() {
            let (in_transaction, writes) = (false, Vec::new());
            self.sessions.push(Session { connection: from, in_transaction, active: now, writes });
        }
        let session = self.session(from).expect("it was made");
        session.active = now;
        let answer = match request {
            Request::Begin => {
                session.in_transaction = true;
                Some(Answer::Done)
            }
            Request::Commit | Request::Rollback => {
                session.in_transaction = false;
                let writes = std::mem::take(&mut session.writes);
                let word = Database::word(&request);
                if word == "COMMIT" {
                    self.written.extend(writes);
                }
                self.release_all(from, Some(LockMode::Row), word, now, out);
                Some(Answer::Done)
            }
            Request::Write { request } if session.in_transaction => {
                session.writes.extend(request);
                Some(Answer::Done)
            }
            Request::Write { request } | Request::Read { request } => {
                self.written.extend(request);
                Some(Answer::Row(self.written.clone()))
            }
            Request::Lock { name, mode, token, waits } => {
                self.lock(Claim { name, session: from, number, token, mode }, waits, out)
            }
            Request::Unlock { name } => {
                let has = self.first(&name).is_some_and(|claim| claim.session == from);
                if has {
                    self.release(&name, "ADVISORYUNLOCK", now, out);
                }
                Some(Answer::Unlocked(has))
            }
            Request::Replicate { .. } | Request::Received => None,
        };
        if let Some(answer) = answer {
            say(out, from, number, answer);
        }
    }

    fn disconnect(&mut self, connection: ServiceConnection, now: Duration, out: &mut Out) {
        self.end(connection, "SESSION ENDED", now, out);
    }

    fn look(&mut self, now: Duration, out: &mut Out) {
        let mut over = Vec::new();
        for session in self.sessions.iter().filter(|session| !self.waits(session.connection)) {
            let (limit, why) = if session.in_transaction {
                (self.rules.idle_in_transaction, DatabaseError::IdleInTransaction)
            } else {
                (self.rules.idle_session, DatabaseError::IdleSession)
            };
            if limit.is_some_and(|limit| now - session.active >= limit) {
                over.push((session.connection, why));
            }
        }
        over.sort_by_key(|(session, _)| *session);
        for (session, why) in over {
            say(out, session, EVENT, Answer::Ended(why));
            out.sent.push((session, Outgoing::Close));
            self.ended.push(session);
            self.end(session, "SESSION ENDED", now, out);
        }
    }

    fn restart(&mut self, _: Duration, out: &mut Out) {
        let changes: Vec<OwnerChange> = self.holders().map(restarted).collect();
        out.changes.extend(changes);
        self.sessions.clear();
        self.claims.clear();
    }

    fn agrees(&self, service: &Database) {
        let mut held: Vec<_> = self.holders().map(|claim| (claim.name.as_str(), claim.session)).collect();
        held.sort();
        assert_eq!(service.locks().collect::<Vec<_>>(), held);
        assert_eq!(self.log.written(), self.written, "what was written");
    }
}

fn restarted(claim: &Claim) -> OwnerChange {
    let (lock, before) = (claim.name.clone(), Some(claim.token.clone()));
    OwnerChange { lock, before, after: None, cause: "RESTART" }
}

fn requests() -> impl Strategy<Value = Request> {
    let lock = |name: &'static str, mode| {
        (name, any::<u8>(), prop::bool::weighted(0.8)).prop_map(move |(name, token, waits)| {
            let token = vec![token];
            Request::Lock { name, mode, token, waits }
        })
    };
    prop_oneof![
        4 => Just(Request::Begin),
        2 => Just(Request::Commit),
        1 => Just(Request::Rollback),
        6 => lock("row-[ab]", LockMode::Row),
        5 => lock("advisory-[ab]", LockMode::Advisory),
        3 => "advisory-[ab]".prop_map(|name| Request::Unlock { name }),
        1 => Just(Request::Read { request: Vec::new() }),
        4 => any::<u8>().prop_map(|byte| Request::Write { request: vec![byte] }),
    ]
}

/// A limit in quanta, or none.
fn limit() -> impl Strategy<Value = Option<Duration>> {
    prop::option::of((1..50_u32).prop_map(|quanta| QUANTUM * quanta))
}

proptest! {
    #![proptest_config(cases(250))]

    #[test]
    fn a_database_says_what_a_naive_model_says(
        steps in sequences(90, Just(None), requests()),
        (idle_in_transaction, idle_session) in (limit(), limit()),
    ) {
        let rules = DatabaseRules { idle_in_transaction, idle_session, keepalive: None };
        let log = Log::default();
        let (sessions, ended, claims, written) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let model = Naive { rules, sessions, ended, claims, written, log: log.clone() };
        Pair::new(Database::new(rules, Box::new(log)), model).run(steps);
    }
}
