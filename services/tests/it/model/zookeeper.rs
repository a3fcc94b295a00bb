//! A naive ZooKeeper: lists of sessions, nodes and watches.
//!
//! Not modelled: nodes below ephemeral ones, nodes in sequence at the top, a second CONNECT on one
//! connection, and the numbers of transactions, of which it only checks that they grow.

use std::time::Duration;

use doublehold_services::zookeeper::{
    Answer, Request, SessionId, WatchKind, ZooKeeper, ZooKeeperError, ZooKeeperRules,
};
use doublehold_services::{EVENT, Outbox, Outgoing, Service, ServiceConnection};
use proptest::prelude::*;

use super::{Model, Pair, QUANTUM, cases, say, sequences, tell_owners};

type Out = Outbox<Answer>;

#[derive(Debug)]
struct Session {
    id: SessionId,
    timeout: Duration,
    heard: Duration,
    connection: Option<ServiceConnection>,
}

#[derive(Debug)]
struct Node {
    path: String,
    data: Vec<u8>,
    session: Option<SessionId>,
    children_so_far: u32,
}

#[derive(Debug)]
struct Naive {
    rules: ZooKeeperRules,
    begun: u64,
    sessions: Vec<Session>,
    /// The sessions that are over and whose nodes are still there, with the end of that.
    late: Vec<(SessionId, Duration)>,
    nodes: Vec<Node>,
    watches: Vec<(ServiceConnection, WatchKind, String)>,
    owners: Vec<(String, Vec<u8>)>,
    zxid: u64,
}

impl Naive {
    fn new(rules: ZooKeeperRules) -> Naive {
        let (sessions, late, nodes) = (Vec::new(), Vec::new(), Vec::new());
        Naive { rules, begun: 0, sessions, late, nodes, watches: Vec::new(), owners: Vec::new(), zxid: 0 }
    }

    /// The first tick after the timeout.
    fn end_of(&self, session: &Session) -> Duration {
        let mut tick = Duration::ZERO;
        while tick <= session.heard + session.timeout {
            tick += self.rules.tick;
        }
        tick
    }

    fn node(&mut self, path: &str) -> Option<&mut Node> {
        self.nodes.iter_mut().find(|node| node.path == path)
    }

    fn children(&self, parent: &str) -> Vec<String> {
        let of = self.nodes.iter().filter_map(|node| node.path.rsplit_once('/'));
        let mut names: Vec<String> =
            of.filter(|(above, _)| *above == parent).map(|(_, name)| name.to_owned()).collect();
        names.sort();
        names
    }

    fn fire(&mut self, path: &str, out: &mut Out) {
        let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
        for (kind, path) in
            [(WatchKind::Node, path), (WatchKind::Children, path), (WatchKind::Children, parent)]
        {
            let fires = |watch: &(ServiceConnection, WatchKind, String)| watch.1 == kind && watch.2 == path;
            for (to, ..) in self.watches.iter().filter(|watch| fires(watch)) {
                say(out, *to, EVENT, Answer::Fired { kind, path: path.to_owned() });
            }
            self.watches.retain(|watch| !fires(watch));
        }
    }

    fn create(
        &mut self,
        path: &str,
        data: Vec<u8>,
        session: Option<SessionId>,
        sequential: bool,
        out: &mut Out,
    ) -> Answer {
        let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent).to_owned();
        if !parent.is_empty() && self.node(&parent).is_none() {
            self.create(&parent, Vec::new(), None, false, out);
        }
        let mut path = path.to_owned();
        if sequential {
            let parent = self.node(&parent).expect("it was made");
            path += &format!("{:010}", parent.children_so_far);
            parent.children_so_far += 1;
        }
        if self.node(&path).is_some() {
            return Answer::Refused(ZooKeeperError::NodeExists);
        }
        self.nodes.push(Node { path: path.clone(), data, session, children_so_far: 0 });
        self.fire(&path, out);
        Answer::Created { path, zxid: 0 }
    }

    fn delete(&mut self, path: &str, out: &mut Out) -> Answer {
        if self.node(path).is_none() {
            return Answer::Refused(ZooKeeperError::NoNode);
        }
        if !self.children(path).is_empty() {
            return Answer::Refused(ZooKeeperError::NotEmpty);
        }
        self.nodes.retain(|node| node.path != path);
        self.fire(path, out);
        Answer::Deleted
    }

    fn delete_of(&mut self, session: SessionId, out: &mut Out) {
        let of = self.nodes.iter().filter(|node| node.session == Some(session));
        let mut paths: Vec<String> = of.map(|node| node.path.clone()).collect();
        paths.sort();
        for path in paths {
            self.delete(&path, out);
        }
    }

    fn forget(&mut self, connection: ServiceConnection) {
        self.watches.retain(|(watcher, ..)| *watcher != connection);
    }

    fn watch(&mut self, from: ServiceConnection, kind: WatchKind, path: &str, wanted: bool) {
        let watch = (from, kind, path.to_owned());
        if wanted && !self.watches.contains(&watch) {
            self.watches.push(watch);
        }
    }

    fn connect(
        &mut self,
        from: ServiceConnection,
        session: Option<SessionId>,
        timeout: Duration,
        out: &mut Out,
    ) -> Answer {
        let id = session.unwrap_or_else(|| {
            self.begun += 1;
            let timeout = timeout.max(self.rules.tick * 2).min(self.rules.tick * 20);
            let (id, heard) = (SessionId(self.begun), Duration::ZERO);
            self.sessions.push(Session { id, timeout, heard, connection: None });
            id
        });
        let Some(session) = self.sessions.iter_mut().find(|session| session.id == id) else {
            return Answer::Expired;
        };
        let timeout = session.timeout;
        if let Some(before) = session.connection.replace(from) {
            self.forget(before);
            out.sent.push((before, Outgoing::Close));
        }
        Answer::Connected { session: id, timeout }
    }

    fn tell_owners(&mut self, cause: &'static str, out: &mut Out) {
        let mut owners: Vec<(String, Vec<u8>)> = Vec::new();
        for lock in self.nodes.iter().map(|node| node.path.clone()).collect::<Vec<_>>() {
            let last_ten = |name: &String| name[name.len().saturating_sub(10)..].to_owned();
            let Some(first) = self.children(&lock).into_iter().min_by_key(last_ten) else { continue };
            let owner = self.node(&format!("{lock}/{first}")).expect("it is a child").data.clone();
            owners.push((lock.trim_start_matches('/').to_owned(), owner));
        }
        tell_owners(&self.owners, &owners, cause, out);
        self.owners = owners;
    }

    /// Answers a request of a session that is there.
    fn answer(&mut self, id: SessionId, from: ServiceConnection, request: Request, out: &mut Out) -> Answer {
        match request {
            Request::Connect { .. } => unreachable!("it is the first on each connection"),
            Request::Ping => Answer::Pong,
            Request::Create { path, data, ephemeral, sequential } => {
                self.create(&path, data, ephemeral.then_some(id), sequential, out)
            }
            Request::Delete { path } => self.delete(&path, out),
            Request::Children { path, .. } | Request::Data { path, .. } if self.node(&path).is_none() => {
                Answer::Refused(ZooKeeperError::NoNode)
            }
            Request::Children { path, watch } => {
                self.watch(from, WatchKind::Children, &path, watch);
                Answer::Children(self.children(&path))
            }
            Request::Data { path, watch } => {
                self.watch(from, WatchKind::Node, &path, watch);
                Answer::Data(self.node(&path).expect("it is there").data.clone())
            }
            Request::Exists { path, watch } => {
                self.watch(from, WatchKind::Node, &path, watch);
                Answer::Exists(self.node(&path).is_some())
            }
            Request::CloseSession => {
                self.delete_of(id, out);
                self.sessions.retain(|session| session.id != id);
                self.forget(from);
                Answer::Closed
            }
        }
    }
}

impl Model<ZooKeeper> for Naive {
    fn receive(
        &mut self,
        from: ServiceConnection,
        number: u32,
        request: Request,
        now: Duration,
        out: &mut Out,
    ) {
        if let Request::Connect { session, timeout } = request {
            let answer = self.connect(from, session, timeout, out);
            let refused = answer == Answer::Expired;
            say(out, from, number, answer);
            if refused {
                out.sent.push((from, Outgoing::Close));
            }
        }
        let Some(session) = self.sessions.iter_mut().find(|it| it.connection == Some(from)) else { return };
        session.heard = now;
        if !matches!(request, Request::Connect { .. }) {
            let (id, word) = (session.id, ZooKeeper::word(&request));
            let answer = self.answer(id, from, request, out);
            say(out, from, number, answer);
            self.tell_owners(word, out);
        }
    }

    fn disconnect(&mut self, connection: ServiceConnection, _: Duration, _: &mut Out) {
        self.forget(connection);
        for session in self.sessions.iter_mut().filter(|it| it.connection == Some(connection)) {
            session.connection = None;
        }
    }

    /// Ends all sessions first whose time is up: none of them hears of the others' nodes.
    fn look(&mut self, now: Duration, out: &mut Out) {
        let mut over = Vec::new();
        for session in std::mem::take(&mut self.sessions) {
            if self.end_of(&session) > now {
                self.sessions.push(session);
                continue;
            }
            over.push(session.id);
            if let Some(connection) = session.connection {
                self.forget(connection);
                out.sent.push((connection, Outgoing::Close));
            }
        }
        self.late.extend(over.into_iter().map(|id| (id, now + self.rules.lock_delay)));
        for (id, until) in std::mem::take(&mut self.late) {
            if until <= now {
                self.delete_of(id, out);
            } else {
                self.late.push((id, until));
            }
        }
        self.tell_owners("SESSION ENDED", out);
    }

    fn restart(&mut self, now: Duration, _: &mut Out) {
        self.watches.clear();
        for session in &mut self.sessions {
            (session.connection, session.heard) = (None, now);
        }
        for (_, until) in &mut self.late {
            *until = now + self.rules.lock_delay;
        }
    }

    fn inspect(&mut self, said: &mut Out) {
        for (_, message) in &mut said.sent {
            if let Outgoing::Say(_, Answer::Created { zxid, .. }) = message {
                assert!(*zxid > self.zxid, "transaction {zxid} after {}", self.zxid);
                self.zxid = std::mem::take(zxid);
            }
        }
    }

    fn agrees(&self, service: &ZooKeeper) {
        let sessions: Vec<SessionId> = self.sessions.iter().map(|session| session.id).collect();
        assert_eq!(service.sessions().collect::<Vec<_>>(), sessions);
        let mut nodes: Vec<_> = self.nodes.iter().map(|node| (node.path.as_str(), node.session)).collect();
        nodes.sort();
        assert_eq!(service.nodes().collect::<Vec<_>>(), nodes);
    }
}

fn first() -> impl Strategy<Value = Option<Request>> {
    let session = prop_oneof![Just(None), (1..6_u64).prop_map(|id| Some(SessionId(id)))];
    let timeout = (0..100_u32).prop_map(|quanta| QUANTUM * quanta);
    (session, timeout).prop_map(|(session, timeout)| Some(Request::Connect { session, timeout }))
}

fn requests() -> impl Strategy<Value = Request> {
    let paths = ["/locks", "/locks/a", "/locks/b", "/up", "/up/leader", "/config"].map(str::to_owned);
    let in_line = ("[ab]/[mn]-", 0..4_u32).prop_map(|(name, number)| format!("/locks/{name}{number:010}"));
    let path = prop_oneof![prop::sample::select(paths.to_vec()), in_line.clone()].boxed();
    let data = any::<bool>().prop_map(|which| vec![u8::from(which)]).boxed();
    let create = |path: BoxedStrategy<String>, ephemeral, sequential| {
        (path, data.clone()).prop_map(move |(path, data)| Request::Create {
            path,
            data,
            ephemeral,
            sequential,
        })
    };
    let reads = (path.clone(), any::<bool>(), 0..3_u8).prop_map(|(path, watch, kind)| match kind {
        0 => Request::Children { path, watch },
        1 => Request::Data { path, watch },
        _ => Request::Exists { path, watch },
    });
    prop_oneof![
        8 => create("/locks/[ab]/[mn]-".boxed(), true, true),
        1 => create(Just("/up/leader".to_owned()).boxed(), true, false),
        1 => create("/up|/locks/a".boxed(), false, false),
        6 => (prop_oneof![path, in_line]).prop_map(|path| Request::Delete { path }),
        12 => reads,
        5 => Just(Request::Ping),
        1 => Just(Request::CloseSession),
    ]
}

proptest! {
    #![proptest_config(cases(250))]

    #[test]
    fn zookeeper_says_what_a_naive_model_says(
        steps in sequences(90, first(), requests()),
        tick in prop::sample::select(vec![1, 3, 4_u32]),
        lock_delay in prop_oneof![Just(0), 1..30_u32],
    ) {
        let rules = ZooKeeperRules { tick: QUANTUM * tick, lock_delay: QUANTUM * lock_delay };
        Pair::new(ZooKeeper::new(rules), Naive::new(rules)).run(steps);
    }
}
