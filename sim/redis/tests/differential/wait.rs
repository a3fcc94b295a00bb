//! WAIT, FAILOVER, and a replica that says what it has when the test tells it to: on both servers.
//!
//! The replica is the test's own, since ours and a real one do not say it at the same time. What is expected was seen
//! on a real Redis, and is compared with one where there is one.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use super::ours;
use super::real::RealRedis;
use super::resp::reply_length;
use super::script::{Bytes, encoded, split_args};

/// Nothing is said: the client is blocked.
const BLOCKED: &str = "";

/// How long it says nothing if it is. Nothing that follows by itself takes as long.
const SILENCE: Duration = Duration::from_millis(300);

/// How long anything may take that is sure to come.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is done, and what comes of it. `a`, `b` and `c` are clients; a client by itself hears the reply it waited for.
/// `r` is the replica, and `moved` is by how much the master's offset moved since it was last asked for.
type Story = &'static [(&'static str, &'static str)];

const STORIES: &[Story] = &[
    // Who wrote nothing, or nothing that a replica could have missed, waits for replicas and for no offset.
    &[
        ("a SET before 1", "+OK"),
        ("a WAIT 1 20", ":0"),
        ("r starts over", ""),
        ("a WAIT 1 0", ":1"),
        ("b WAIT 1 0", ":1"),
        ("a SET k v", "+OK"),
        ("a WAIT 1 20", ":0"),
        ("b WAIT 1 0", ":1"),
        ("b WAIT 1 20", ":0"), // it has been answered since
        ("c GET k", "$1|v"),
        ("c WAIT 1 20", ":0"), // a read counts like a write
        ("r has all", ""),
        ("a WAIT 1 0", ":1"),
        ("c WAIT 1 0", ":1"),
        ("r has nothing", ""),
        ("a WAIT 1 0", ":1"), // what was acknowledged stays so
        ("a SET k w", "+OK"),
        ("a WAIT 1 20", ":0"),
    ],
    // A replica counts from where it is online, whether or not it has said anything.
    &[
        ("a WAIT 1 0", BLOCKED),
        ("r starts over", ""),
        ("a", ":1"),
        ("r leaves", ""),
        ("b SET k v", "+OK"),
        ("a WAIT 1 0", BLOCKED),
        ("c WAIT 1 0", BLOCKED),
        ("b WAIT 1 0", BLOCKED),
        ("r goes on", ""),
        ("c", ":1"),
        ("r has all", ""),
        ("a", ":1"),
        ("b", ":1"),
    ],
    // While the data set is on its way to a replica it does not count, whatever it says.
    &[
        ("a SETRANGE big 40000000 x", ":40000001"),
        ("r begins to start over", ""),
        ("a WAIT 1 20", ":0"),
        ("b WAIT 1 0", BLOCKED),
        ("c SET k v", "+OK"),
        ("c WAIT 1 20", ":0"),
        ("r has more than all", ""),
        ("c WAIT 1 20", ":0"),
        ("b", BLOCKED),
        ("r takes the rest", ""),
        ("b", ":1"),
        ("c WAIT 1 0", ":1"),
    ],
    // In a transaction the client's last command is MULTI.
    &[
        ("r starts over", ""),
        ("a SET k v", "+OK"),
        ("r has all", ""),
        ("a MULTI", "+OK"),
        ("b SET other 1", "+OK"),
        ("a SET k w", "+QUEUED"),
        ("a WAIT 1 0", "+QUEUED"),
        ("a EXEC", "*2|+OK|:1"),
        ("a WAIT 1 20", ":0"),
        ("r has all", ""),
        ("a WAIT 1 0", ":1"),
        ("b SET other 2", "+OK"),
        ("a MULTI", "+OK"),
        ("a WAIT 1 0", "+QUEUED"),
        ("a EXEC", "*1|:0"),
    ],
    // A request that is refused is no command of the client's; one that fails is.
    &[
        ("r starts over", ""),
        ("a SET k v", "+OK"),
        ("r has all", ""),
        ("b SET other 1", "+OK"),
        ("a NONSENSE", "-ERR unknown command 'NONSENSE', with args beginning with: "),
        ("a GET", "-ERR wrong number of arguments for 'get' command"),
        ("a WAIT 1 0", ":1"),
        ("r has all", ""),
        ("a GET k", "$1|v"),
        ("b SET other 2", "+OK"),
        ("a HGET k f", "-WRONGTYPE Operation against a key holding the wrong kind of value"),
        ("a WAIT 1 20", ":0"),
    ],
    // What replicas are asked is part of the history as soon as there is one, also if nobody follows it now.
    &[
        ("a WAIT 1 20", ":0"),
        ("moved", "0"),
        ("r starts over", ""),
        ("a SET k v", "+OK"),
        ("moved", "50"),
        ("a WAIT 1 20", ":0"),
        ("moved", "37"),
        ("r leaves", ""),
        ("a WAIT 1 20", ":0"),
        ("moved", "37"),
        ("r goes on", ""),
        ("moved", "0"),
    ],
];

/// Where a Redis would begin a failover is left out: a node says that it has none.
const FAILOVERS: &[Story] = &[
    &[
        ("a FAILOVER", "-ERR FAILOVER requires connected replicas."),
        ("a FAILOVER TO 127.0.0.1 9999", "-ERR FAILOVER requires connected replicas."),
        ("r starts over", ""),
        ("a FAILOVER ABORT", "-ERR No failover in progress."),
        ("a FAILOVER ABORT NOW", "-ERR syntax error"),
        ("a FAILOVER TO 127.0.0.1 9998", "-ERR FAILOVER target HOST and PORT is not a replica."),
        ("a FAILOVER TO localhost 9999 TIMEOUT 5", "-ERR FAILOVER target HOST and PORT is not a replica."),
        ("a FAILOVER TIMEOUT 0", "-ERR FAILOVER timeout must be greater than 0"),
        ("a FAILOVER TO 127.0.0.1 x", "-ERR value is not an integer or out of range"),
        (
            "a FAILOVER FORCE TIMEOUT 10",
            "-ERR FAILOVER with force option requires both a timeout and target HOST and IP.",
        ),
        (
            "a FAILOVER TO 127.0.0.1 9999 FORCE",
            "-ERR FAILOVER with force option requires both a timeout and target HOST and IP.",
        ),
        ("r leaves", ""),
        ("a FAILOVER", "-ERR FAILOVER requires connected replicas."),
    ],
    &[
        ("a SETRANGE big 40000000 x", ":40000001"),
        ("r begins to start over", ""),
        ("a FAILOVER TO 127.0.0.1 9999", "-ERR FAILOVER target replica is not online."),
        ("r takes the rest", ""),
    ],
];

#[test]
fn failovers_that_cannot_begin_are_refused_as_a_real_redis_does() {
    compare(FAILOVERS);
}

#[test]
fn wait_counts_replicas_as_a_real_redis_does() {
    compare(STORIES);
}

fn compare(stories: &[Story]) {
    let mut wrong = Vec::new();
    for story in stories {
        wrong.extend(Talk::new(ours::start()).differs_from(story, "our node"));
    }
    if RealRedis::start_if_there().is_some() {
        for story in stories {
            let real = RealRedis::start().expect("it started a moment ago");
            wrong.extend(Talk::new(real.port).differs_from(story, &format!("Redis {}", real.version)));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Clients of one master, and a replica of it.
struct Talk {
    port: u16,
    clients: [Wire; 3],
    /// Asks what nobody in the story asks.
    aside: Wire,
    replica: Option<Wire>,
    /// The history that the replica knows, and what it has not read yet of the data set.
    history: String,
    missing: usize,
    offset: u64,
}

impl Talk {
    fn new(port: u16) -> Talk {
        let clients = [0, 1, 2].map(|_| Wire::to(port));
        let mut aside = Wire::to(port);
        // A real one is to send the data as large as it is. Ours knows no such setting, and says so.
        aside.ask("CONFIG SET rdbcompression no");
        Talk { port, clients, aside, replica: None, history: String::new(), missing: 0, offset: 0 }
    }

    /// Where the story goes otherwise.
    fn differs_from(mut self, story: Story, server: &str) -> Vec<String> {
        let wrong = story.iter().enumerate().filter_map(|(at, (line, expected))| {
            let patience = if *expected == BLOCKED { SILENCE } else { PATIENCE };
            let got = self.tell(line, patience);
            (got != *expected).then(|| format!("{server}, `{line}` ({at}): `{got}` and not `{expected}`"))
        });
        wrong.collect()
    }

    fn tell(&mut self, line: &str, patience: Duration) -> String {
        let (who, what) = line.split_once(' ').unwrap_or((line, ""));
        match who {
            "r" => self.replica_does(what),
            "moved" => {
                let offset = self.info("master_repl_offset").parse().expect("an offset");
                return (offset - std::mem::replace(&mut self.offset, offset)).to_string();
            }
            _ => {
                let client = &mut self.clients["abc".find(who).expect("a client")];
                if !what.is_empty() {
                    client.send(what);
                }
                return client.hear(patience);
            }
        }
        String::new()
    }

    fn replica_does(&mut self, what: &str) {
        match what {
            "starts over" => {
                self.begin("PSYNC ? -1");
                self.take_data();
            }
            "begins to start over" => self.begin("PSYNC ? -1"),
            "takes the rest" => self.take_data(),
            "goes on" => {
                let first_missing = self.info("master_repl_offset").parse::<u64>().expect("an offset") + 1;
                self.begin(&format!("PSYNC {} {first_missing}", self.history));
                self.until("slave0", "state=online");
            }
            "has all" => {
                let offset = self.info("master_repl_offset");
                self.acknowledge(&offset);
                self.until("slave0", &format!("offset={offset},"));
            }
            "has more than all" => {
                self.acknowledge("1000000000");
                self.until("slave0", "offset=1000000000,");
            }
            "has nothing" => {
                self.acknowledge("0");
                super::run::rest(Duration::from_millis(20)); // nothing shows that it was heard
            }
            "leaves" => {
                self.replica = None;
                self.until("connected_slaves", "0");
            }
            _ => panic!("what a replica does: {what}"),
        }
    }

    /// Introduces a replica, and reads what the master answers to its PSYNC up to the data set.
    fn begin(&mut self, psync: &str) {
        let mut replica = Wire::to(self.port);
        // A real one passes over the capability that it does not know.
        assert_eq!(replica.ask("REPLCONF listening-port 9999 capa doublehold-commands"), "+OK");
        replica.send(psync);
        let answer = replica.line();
        if let Some(history) = answer.strip_prefix("+FULLRESYNC ") {
            self.history = history.split(' ').next().expect("an id").to_owned();
            let length = replica.line();
            self.missing = length.strip_prefix('$').and_then(|length| length.parse().ok()).expect("a length");
        }
        self.replica = Some(replica);
    }

    fn take_data(&mut self) {
        let replica = self.replica.as_mut().expect("it has begun");
        while replica.got.len() < self.missing {
            assert!(replica.more(PATIENCE), "the master sends all of it");
        }
        replica.got.drain(..self.missing);
        self.until("slave0", "state=online");
    }

    fn acknowledge(&mut self, offset: &str) {
        self.replica.as_mut().expect("it is there").send(&format!("REPLCONF ACK {offset}"));
    }

    /// Waits until the master says so of itself.
    fn until(&mut self, field: &str, part: &str) {
        for _ in 0..1_000 {
            if self.info(field).contains(part) {
                return;
            }
            super::run::rest(Duration::from_millis(5));
        }
        panic!("`{field}` never became `{part}`: {}", self.aside.ask("INFO replication"));
    }

    fn info(&mut self, field: &str) -> String {
        let text = self.aside.ask("INFO replication");
        let value = text.split('|').find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
        value.unwrap_or_default().to_owned()
    }
}

/// One connection, and what came on it and was not asked for yet.
struct Wire {
    stream: TcpStream,
    got: Bytes,
}

impl Wire {
    fn to(port: u16) -> Wire {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("the server takes connections");
        stream.set_nodelay(true).expect("it is open");
        Wire { stream, got: Bytes::new() }
    }

    fn ask(&mut self, command: &str) -> String {
        self.send(command);
        self.hear(PATIENCE)
    }

    fn send(&mut self, command: &str) {
        self.stream.write_all(&encoded(&split_args(command).expect("a command"))).expect("it is open");
    }

    /// The next reply with `|` between its lines; nothing if there is none for so long.
    fn hear(&mut self, patience: Duration) -> String {
        loop {
            if let Some(length) = reply_length(&self.got) {
                let reply: Bytes = self.got.drain(..length).collect();
                let text = String::from_utf8_lossy(&reply).trim_end_matches("\r\n").replace("\r\n", "|");
                return text;
            }
            if !self.more(patience) {
                return BLOCKED.to_owned();
            }
        }
    }

    /// The next line. A master sends empty ones while it has nothing to say.
    fn line(&mut self) -> String {
        loop {
            let empty = self.got.iter().take_while(|&&byte| byte == b'\n').count();
            self.got.drain(..empty);
            if let Some(end) = self.got.windows(2).position(|pair| pair == b"\r\n") {
                let line: Bytes = self.got.drain(..end + 2).collect();
                return String::from_utf8_lossy(&line[..end]).into_owned();
            }
            assert!(self.more(PATIENCE), "a master that is asked answers");
        }
    }

    /// Reads what is there; false if nothing comes for so long.
    fn more(&mut self, patience: Duration) -> bool {
        self.stream.set_read_timeout(Some(patience)).expect("it is open");
        let mut buffer = [0; 64 << 10];
        match self.stream.read(&mut buffer) {
            Ok(0) => panic!("the server has closed"),
            Ok(read) => self.got.extend_from_slice(&buffer[..read]),
            Err(_) => return false,
        }
        true
    }
}
