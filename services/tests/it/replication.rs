//! A standby beside its primary: which commits it has, and when. The model is the list of all commits with their times,
//! and the number of those that have reached the standby.

use std::collections::BTreeMap;
use std::time::Duration;

use doublehold_services::database::{Answer, Database, DatabaseRules, LockMode, Request};
use doublehold_services::{EVENT, Outgoing, Service, ServiceConnection};
use proptest::prelude::*;

use crate::carrier::{Carrier, ms};
use crate::model::database::Log;
use crate::model::{QUANTUM, cases};

#[derive(Clone, Debug)]
enum Step {
    /// A statement of one of three sessions.
    Say(u64, Statement),
    Wait(u32),
    /// The standby connects, and goes on where it was.
    Connect,
    Disconnect,
    /// The primary starts again; its clock may begin anew.
    Restart {
        anew: bool,
    },
}

#[derive(Clone, Debug)]
enum Statement {
    Begin,
    Lock,
    Write(u8),
    Commit,
    Rollback,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let statement = prop_oneof![
        3 => Just(Statement::Begin),
        1 => Just(Statement::Lock),
        5 => any::<u8>().prop_map(Statement::Write),
        3 => Just(Statement::Commit),
        1 => Just(Statement::Rollback),
    ];
    let step = prop_oneof![
        20 => (1..4_u64, statement).prop_map(|(session, statement)| Step::Say(session, statement)),
        8 => (1..8_u32).prop_map(Step::Wait),
        3 => Just(Step::Connect),
        1 => Just(Step::Disconnect),
        1 => any::<bool>().prop_map(|anew| Step::Restart { anew }),
    ];
    prop::collection::vec(step, 1..120)
}

/// A primary and its standby, beside what should be on them.
struct Replicated {
    primary: Carrier<Database>,
    standby: Database,
    copy: Log,
    connection: Option<ServiceConnection>,
    opened: u64,
    /// The messages of the primary that were looked at.
    seen: usize,
    lag: Duration,
    commits: Vec<(Duration, Vec<u8>)>,
    received: usize,
    /// The transactions that are open.
    open: BTreeMap<u64, Vec<u8>>,
}

impl Replicated {
    fn new(lag: Duration) -> Replicated {
        let rules = DatabaseRules::default();
        let copy = Log::default();
        Replicated {
            primary: Carrier::new(Database::new(rules, Box::new(Log::default())).with_standby_lag(lag)),
            standby: Database::new(rules, Box::new(copy.clone())),
            copy,
            connection: None,
            opened: 100,
            seen: 0,
            lag,
            commits: Vec::new(),
            received: 0,
            open: BTreeMap::new(),
        }
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Say(session, statement) => self.say(session, statement),
            Step::Wait(quanta) => self.primary.wait_until(self.primary.now + QUANTUM * quanta),
            Step::Connect => {
                self.disconnect();
                self.opened += 1;
                let connection = ServiceConnection(self.opened);
                let request = Request::Replicate { received: self.standby.replayed() };
                assert_eq!(self.primary.ask(connection, request), None);
                self.connection = Some(connection);
            }
            Step::Disconnect => self.disconnect(),
            Step::Restart { anew } => {
                (self.connection, self.open) = (None, BTreeMap::new());
                let now = if anew { Duration::ZERO } else { self.primary.now };
                self.primary.restart(now);
                self.commits.iter_mut().for_each(|(at, _)| *at = now.min(*at));
            }
        }
        self.compare();
    }

    fn say(&mut self, session: u64, statement: Statement) {
        let request = match statement {
            Statement::Begin => {
                self.open.entry(session).or_default();
                Request::Begin
            }
            Statement::Lock if !self.open.contains_key(&session) => return,
            Statement::Lock => {
                let (name, mode, token) = ("row".to_owned(), LockMode::Row, vec![session as u8]);
                Request::Lock { name, mode, token, waits: false }
            }
            Statement::Write(byte) => {
                match self.open.get_mut(&session) {
                    Some(writes) => writes.push(byte),
                    None => self.commits.push((self.primary.now, vec![byte])),
                }
                Request::Write { request: vec![byte] }
            }
            Statement::Commit => {
                let writes = self.open.remove(&session).unwrap_or_default();
                if !writes.is_empty() {
                    self.commits.push((self.primary.now, writes));
                }
                Request::Commit
            }
            Statement::Rollback => {
                self.open.remove(&session);
                Request::Rollback
            }
        };
        self.primary.ask(ServiceConnection(session), request);
    }

    fn disconnect(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.primary.disconnect(connection);
        }
    }

    fn compare(&mut self) {
        // What is due at once is sent with the next look.
        self.primary.look();
        for (_, to, message) in &self.primary.said[self.seen..] {
            if let (true, Outgoing::Say(EVENT, Answer::Commit(commit))) =
                (self.connection == Some(*to), message)
            {
                self.standby.replay(commit);
            }
        }
        self.seen = self.primary.said.len();
        let (now, lag) = (self.primary.now, self.lag);
        if self.connection.is_some() {
            let due = self.commits[self.received..].iter().take_while(|(at, _)| *at + lag <= now);
            self.received += due.count();
        }
        let expected: Vec<u8> =
            self.commits[..self.received].iter().flat_map(|(_, writes)| writes.clone()).collect();
        assert_eq!(self.copy.written(), expected, "on the standby at {now:?}");
        assert_eq!(self.standby.replayed(), self.received as u64);
        assert_eq!(self.standby.locks().count(), 0, "a lock on the standby");
    }
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn a_standby_has_each_commit_in_order_once_its_lag_is_over_and_nothing_else(
        lag in (0..12_u32).prop_map(|quanta| QUANTUM * quanta),
        steps in steps(),
    ) {
        let mut replicated = Replicated::new(lag);
        steps.into_iter().for_each(|step| replicated.take(step));
    }
}

#[test]
fn no_limit_of_sessions_ends_the_connection_of_a_standby() {
    let rules = DatabaseRules { idle_session: Some(ms(1000)), ..DatabaseRules::default() };
    let standby = ServiceConnection(9);
    let database = Database::new(rules, Box::new(Log::default())).with_standby_lag(ms(10));
    let mut primary = Carrier::new(database);
    primary.ask(standby, Request::Replicate { received: 0 });
    primary.wait_until(ms(60_000));
    primary.ask(standby, Request::Received);
    primary.wait_until(ms(120_000));
    assert_eq!(primary.closed_at(standby), None);
    primary.ask(ServiceConnection(1), Request::Write { request: vec![7] });
    primary.wait_until(ms(120_009));
    assert_eq!(primary.events(standby).len(), 0);
    primary.wait_until(ms(120_010));
    assert_eq!(primary.events(standby).len(), 1);
    assert_eq!(primary.service.next_due(), Some(ms(121_000)), "the writer's session");
}
