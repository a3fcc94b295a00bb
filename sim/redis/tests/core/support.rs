//! What the core's tests share: a node whose clock the test sets, and sessions that are asked in one line.

use doublehold_sim_redis::core::{
    Core, CoreConfig, KeyChange, LinkState, Next, Peer, ReplicationId, Role, Session, Stored, StoredValue,
    WallMicros,
};
use doublehold_sim_redis::resp::OwnedArgs;

/// A node and its wall clock in milliseconds.
pub(crate) struct Node {
    pub(crate) core: Core,
    pub(crate) now_ms: i64,
    sessions: u64,
}

impl Node {
    pub(crate) fn new() -> Node {
        Node::with(CoreConfig::default())
    }

    /// A node that records what it propagates.
    pub(crate) fn with(config: CoreConfig) -> Node {
        let config = CoreConfig { append_only: true, ..config };
        Node { core: Core::new(config, [1; 20], ReplicationId([2; 20])), now_ms: 1_000_000, sessions: 0 }
    }

    pub(crate) fn client(&mut self) -> Session {
        self.sessions += 1;
        let session = Session::new(
            self.sessions,
            Peer { host: self.sessions as u32, connection: self.sessions },
            "10.0.0.1:5".into(),
            self.now(),
        );
        self.core.note_connected(&session);
        session
    }

    pub(crate) fn now(&self) -> WallMicros {
        WallMicros(self.now_ms * 1000)
    }

    /// Executes one command and returns its reply, line ends as `|`.
    pub(crate) fn ask(&mut self, session: &mut Session, command: &[&str]) -> String {
        self.execute(session, command).1
    }

    /// The same, with what the connection has to do next.
    pub(crate) fn execute(&mut self, session: &mut Session, command: &[&str]) -> (Next, String) {
        let args: OwnedArgs = command.iter().collect();
        let mut out = Vec::new();
        let next = self.core.execute(session, self.now(), &args.args(), &mut out);
        (next, String::from_utf8_lossy(&out).replace("\r\n", "|"))
    }

    /// Applies one command of a master's stream.
    pub(crate) fn apply(&mut self, link: &mut Session, command: &[&str]) {
        let args: OwnedArgs = command.iter().collect();
        assert_eq!(self.core.apply(link, self.now(), &args.args()), Ok(Next::Reply));
    }

    /// The commands propagated since the last call, one a line.
    pub(crate) fn propagated(&mut self) -> Vec<String> {
        let mut bytes = Vec::new();
        self.core.take_propagated(&mut bytes);
        let mut buffer = doublehold_sim_redis::resp::RequestBuffer::new();
        buffer.tail().extend_from_slice(&bytes);
        let mut commands = Vec::new();
        while let Some(args) = buffer.next_request().expect("what is propagated is RESP") {
            let words: Vec<_> = args.iter().map(String::from_utf8_lossy).collect();
            commands.push(words.join(" "));
        }
        commands
    }

    pub(crate) fn become_replica(&mut self) {
        self.core.replication_mut().role =
            Role::Replica { host: "10.0.0.9".into(), port: 6379, link: LinkState::Connected };
    }
}

/// A change as a line: `SET k - -> a until 1000005`.
pub(crate) fn change_text(change: &KeyChange<'_>) -> String {
    let KeyChange { key, before, after, command, .. } = change;
    let key = String::from_utf8_lossy(key);
    let text = |stored: Option<Stored<'_>>| match stored.map(|stored| stored.value) {
        None => "-".to_owned(),
        Some(StoredValue::String(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
        Some(StoredValue::Hash(fields)) => format!("{fields:?}"),
        Some(StoredValue::List(elements)) => format!("{elements:?}"),
        Some(StoredValue::Set(members)) => format!("{members:?}"),
        Some(StoredValue::SortedSet(scores)) => format!("{scores:?}"),
        Some(StoredValue::Stream(entries)) => format!("{entries:?}"),
    };
    let until = after.and_then(|after| after.expires_at_ms);
    let until = until.map_or("ever".to_owned(), |ms| ms.to_string());
    format!("{command} {key} {} -> {} until {until}", text(*before), text(*after))
}

/// Splits a line of words, as a test writes a command.
pub(crate) fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

/// Runs `command → reply` lines on one session.
pub(crate) fn check(node: &mut Node, session: &mut Session, table: &[(&str, &str)]) {
    for (command, expected) in table {
        assert_eq!(&node.ask(session, &words(command)), expected, "{command}");
    }
}
