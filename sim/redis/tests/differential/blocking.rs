//! Clients that wait for a key, on both servers: who is woken, with what, and who is not.
//!
//! Conversations of several connections, some written, most from a seed. Compared are all bytes that each connection
//! got. A command that may wait is given some milliseconds to be answered; a connection that waits says nothing until
//! it is served.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpStream};
use std::time::Duration;

use super::ours;
use super::random::Random;
use super::real::RealRedis;
use super::resp::reply_length;
use super::run::rest;
use super::script::{Bytes, encoded, split_args};

/// How long a connection may take to say what it has to say.
const MOMENT: Duration = Duration::from_millis(3);
const CONNECTIONS: usize = 5;
/// Conversations from the seed, and commands in each.
const CONVERSATIONS: u64 = 30;
const LENGTH: usize = 28;

/// Commands by connection, `a` to `e`; `{a}` and its like is a connection's id.
const WRITTEN: &[&[&str]] = &[
    &["a BLPOP q 0", "b BLPOP q 0", "c RPUSH q 1", "c RPUSH q 2", "c RPUSH q 3", "c LRANGE q 0 -1"],
    &["a BLPOP q 0", "b BLPOP q 0", "d BLPOP q 0", "c RPUSH q 1 2", "c EXISTS q", "c RPUSH q 3"],
    &[
        "a BLPOP q r 0",
        "b MULTI",
        "b RPUSH r 1",
        "b RPUSH q 2",
        "b EXEC",
        "b LRANGE q 0 -1",
        "b LRANGE r 0 -1",
    ],
    &["a BLPOP q 0", "b MULTI", "b RPUSH q 1", "b DEL q", "b EXEC", "b RPUSH q 2"],
    &["a BLPOP q 0", "b EVAL \"redis.call('rpush', 'q', 1) return redis.call('llen', 'q')\" 0"],
    &["a BLPOP q 0", "b RPUSH r 1", "b RENAME r q", "b EXISTS q"],
    &["a BLPOP q 0", "b RPUSH r 1", "b COPY r q", "b EXISTS q"],
    &["a BLPOP q 0", "b SELECT 1", "b RPUSH q 1", "b MOVE q 0", "b EXISTS q"],
    &["a BLPOP q 0", "b SET q v", "b DEL q", "b SADD q m", "b DEL q", "b RPUSH q 1"],
    &["a BLPOP q 0", "b ZADD q 1 m", "b BZPOPMIN q 0", "b BZPOPMIN q 0", "c RPUSH q 1", "c ZADD q 2 n"],
    &["a BRPOPLPUSH q r 0", "b BLPOP r 0", "c RPUSH q 1 2", "c LRANGE q 0 -1", "c EXISTS r"],
    &["a BLMOVE q q LEFT RIGHT 0", "b BLPOP q 0", "c RPUSH q 1", "c EXISTS q"],
    &["a BLMOVE q s LEFT RIGHT 0", "b BLPOP q 0", "c SET s v", "c RPUSH q 1 2", "c LRANGE q 0 -1"],
    &["a BLMPOP 0 2 q r LEFT COUNT 2", "b BLMPOP 0 1 q RIGHT", "c RPUSH q 1 2 3 4", "c LRANGE q 0 -1"],
    &["a HELLO 3", "a BZPOPMAX z 0", "b BZMPOP 0 1 z MIN COUNT 5", "c ZADD z 1 a 2 b 3 c", "c EXISTS z"],
    &["a HELLO 3", "a BLPOP q 0.02", "a BLMOVE q r LEFT LEFT 0.02", "a BZMPOP 0.02 1 z MIN", "a PING"],
    &[
        "a BLPOP q 0.02",
        "a BLMOVE q r LEFT LEFT 0.02",
        "a BRPOPLPUSH q r 0.02",
        "a BZPOPMIN z 0.02",
        "a PING",
    ],
    &[
        "a MULTI",
        "a BLPOP q 0",
        "a BLMOVE q r LEFT LEFT 0",
        "a BLMPOP 0 1 q LEFT",
        "a BZPOPMIN z 0",
        "a EXEC",
    ],
    &[
        "a EVAL \"return redis.call('blmpop', 0, 1, 'q', 'LEFT')\" 0",
        "a EVAL \"return redis.call('blpop', 'q', 0)\" 0",
    ],
    &[
        "a BLPOP q -1",
        "a BLPOP q x",
        "a BLPOP q inf",
        "a BLPOP q nan",
        "a BLPOP q 1e30",
        "a BLMPOP x 1 q LEFT",
    ],
    &[
        "a BLMPOP x 0 q LEFT",
        "a BLMPOP 0 2 q LEFT",
        "a BLMOVE q r UP LEFT x",
        "a BZMPOP 0 1 z UP",
        "a BLPOP q",
    ],
    &["a SET s v", "a BLPOP s 0", "a BLPOP none s 0", "a BZPOPMIN s 0", "a BLMOVE s q LEFT LEFT 0"],
    &["a BLPOP q 0", "b CLIENT UNBLOCK {a}", "b CLIENT UNBLOCK {a}", "a PING", "b RPUSH q 1", "b LLEN q"],
    &[
        "a BLPOP q 0",
        "b CLIENT UNBLOCK {a} ERROR",
        "a PING",
        "b CLIENT UNBLOCK {c} TIMEOUT",
        "b CLIENT UNBLOCK 0",
    ],
    &[
        "a BLPOP q 0",
        "b CLIENT UNBLOCK x",
        "b CLIENT UNBLOCK {a} NOSUCH",
        "b CLIENT UNBLOCK {a} ERROR x",
        "b RPUSH q 1",
    ],
    &["a WAIT 1 0", "b CLIENT UNBLOCK {a}", "a PING", "a WAIT 1 0", "b CLIENT UNBLOCK {a} ERROR", "a PING"],
    &["a BLPOP q 0", "b CLIENT KILL ID {a}", "c RPUSH q 1", "c LRANGE q 0 -1"],
    &["a BLPOP q 0", "b BLPOP q 0", "c CLIENT KILL ID {a}", "c RPUSH q 1", "c EXISTS q"],
    &["a CLIENT REPLY SKIP", "a BLPOP q 0", "b RPUSH q 1", "a PING", "b EXISTS q"],
    &["a WATCH q", "b BLPOP q 0", "c RPUSH q 1", "a MULTI", "a PING", "a EXEC"],
    &[
        "a BLPOP q 0",
        "b BLPOP q 0",
        "c REPLICAOF 127.0.0.1 1",
        "c RPUSH q 1",
        "c REPLICAOF NO ONE",
        "c RPUSH q 1",
    ],
    &["a BLPOP q q q 0", "b RPUSH q 1 2", "b LRANGE q 0 -1"],
    &["a SUBSCRIBE news", "a BLPOP q 0", "a UNSUBSCRIBE", "a BLPOP q 0", "b PUBLISH news x", "b RPUSH q 1"],
    &[
        "a BZPOPMIN z 0",
        "b SET z v",
        "b SADD s m",
        "b ZUNIONSTORE z 1 s",
        "b TYPE z",
        "b DEL z",
        "b ZADD z 1 m",
    ],
    &[
        "a BLPOP q 0",
        "b RPUSH q 1",
        "a BLPOP q 0",
        "b INFO clients",
        "b CLIENT LIST TYPE normal",
        "b RPUSH q 2",
    ],
    &[
        "a BLPOP q r 0",
        "b BLPOP r q 0",
        "c MULTI",
        "c RPUSH q 1 2",
        "c RPUSH r 3 4",
        "c EXEC",
        "c LRANGE q 0 -1",
        "c LRANGE r 0 -1",
    ],
    &[
        "a XREAD BLOCK 0 STREAMS s $",
        "b XREAD BLOCK 0 STREAMS s 0",
        "c XADD s 1 a 1",
        "c XADD s 2 a 2",
        "a PING",
    ],
    &[
        "a HELLO 3",
        "a XREAD BLOCK 0 COUNT 1 STREAMS t s 0 0",
        "b MULTI",
        "b XADD s 1 a 1",
        "b XADD s 2 a 1",
        "b EXEC",
    ],
    &[
        "a XREAD BLOCK 20 STREAMS s $",
        "a XREAD BLOCK 20 STREAMS s t 0 0",
        "a HELLO 3",
        "a XREAD BLOCK 20 STREAMS s 0",
    ],
    &[
        "a XREAD BLOCK 0 STREAMS s $",
        "b XADD s MAXLEN 0 1 a 1",
        "b XLEN s",
        "a XREAD BLOCK 20 STREAMS s 0",
        "a PING",
    ],
    &["a XREAD BLOCK 0 STREAMS s $", "b MULTI", "b XADD s 1 a 1", "b XDEL s 1", "b EXEC", "a PING"],
    &[
        "a XREAD BLOCK 0 STREAMS s $",
        "b MULTI",
        "b XADD s 1 a 1",
        "b DEL s",
        "b EXEC",
        "b XADD s 5 a 1",
        "a PING",
    ],
    &["a XREAD BLOCK 0 STREAMS s 7", "b XADD s 7 a 1", "b XADD s 8 a 1", "a PING"],
    &["a XREAD BLOCK 0 STREAMS s 7", "b XADD s 7 a 1", "b XSETID s 9", "b XADD s 10 a 1", "a PING"],
    &[
        "a XREAD BLOCK 0 STREAMS s 0",
        "b XADD t 1 a 1",
        "b RENAME t s",
        "a XREAD BLOCK 0 STREAMS u 0",
        "b COPY s u",
    ],
    &[
        "a XREAD BLOCK 0 STREAMS s 0",
        "b SET s v",
        "b DEL s",
        "b RPUSH s x",
        "b DEL s",
        "b XADD s 1 a 1",
        "a PING",
    ],
    &["a XREAD BLOCK 0 STREAMS s s 5 0", "b XADD s 1 a 1", "b XADD s 6 a 1", "a PING"],
    &[
        "a XREAD BLOCK 0 STREAMS s $",
        "b CLIENT UNBLOCK {a}",
        "a XREAD BLOCK 0 STREAMS s $",
        "b CLIENT UNBLOCK {a} ERROR",
    ],
    &["a BLPOP s 0", "b XREAD BLOCK 0 STREAMS s 0", "c XADD s 1 a 1", "c DEL s", "c RPUSH s x", "c EXISTS s"],
    &[
        "a XREAD BLOCK 0 STREAMS s $",
        "b EVAL \"redis.call('xadd', 's', '1-1', 'a', 1) return redis.call('xadd', 's', '1-2', 'a', 2)\" 0",
    ],
    &["a XREAD BLOCK 0 STREAMS s $", "c REPLICAOF 127.0.0.1 1", "a PING", "c REPLICAOF NO ONE"],
];

/// What conversations from a seed are made of, by weight; `$k` is a key.
const TEMPLATES: &[(usize, &str)] = &[
    (16, "BLPOP $k 0"),
    (8, "BRPOP $k $k 0"),
    (5, "BLPOP $k $k $k 0"),
    (6, "BLMOVE $k $k LEFT RIGHT 0"),
    (5, "BRPOPLPUSH $k $k 0"),
    (5, "BLMPOP 0 2 $k $k RIGHT COUNT 2"),
    (6, "BZPOPMIN $k 0"),
    (4, "BZPOPMAX $k $k 0"),
    (4, "BZMPOP 0 2 $k $k MAX COUNT 2"),
    (12, "RPUSH $k 1"),
    (10, "LPUSH $k 1 2"),
    (5, "RPUSH $k 1 2 3 4"),
    (8, "ZADD $k 1 a"),
    (5, "ZADD $k 2 b 3 c"),
    (4, "LMOVE $k $k LEFT LEFT"),
    (4, "LPOP $k"),
    (3, "ZPOPMIN $k"),
    (5, "DEL $k"),
    (4, "RENAME $k $k"),
    (3, "COPY $k $k REPLACE"),
    (2, "SET $k v"),
    (1, "SADD $k m"),
    (2, "ZUNIONSTORE $k 2 $k $k"),
    (2, "LTRIM $k 1 0"),
    (8, "MULTI"),
    (10, "EXEC"),
    (
        3,
        "EVAL \"redis.call('rpush', KEYS[1], 8) redis.call('lpop', KEYS[1]) return redis.call('rpush', KEYS[2], 9, 10)\" 2 $k $k",
    ),
    (2, "HELLO 3"),
    (3, "EXISTS $k"),
    (8, "XREAD BLOCK 0 STREAMS $k $"),
    (4, "XREAD COUNT 1 BLOCK 0 STREAMS $k $k $ 0"),
    (4, "XREAD BLOCK 0 STREAMS $k 5"),
    (6, "XADD $k 1-* a 1"),
    (6, "XADD $k MAXLEN 1 5-* a 1"),
    (2, "XDEL $k 1-1 5-1"),
    (1, "XTRIM $k MAXLEN 0"),
];

#[test]
fn who_waits_for_a_key_is_served_as_a_real_redis_serves() {
    let Some(real) = RealRedis::start_if_there() else { return };
    let ours = ours::start_with_timers();
    for conversation in WRITTEN {
        let lines: Vec<String> = conversation.iter().map(|line| (*line).to_owned()).collect();
        compare(real.port, ours, &lines);
    }
    for index in 0..CONVERSATIONS {
        compare(real.port, ours, &from_seed(real.port, index));
    }
}

fn compare(real: u16, ours: u16, conversation: &[String]) {
    let [theirs, our] = [real, ours].map(|port| Talk::new(port).hold(conversation));
    assert_eq!(our, theirs, "ours and theirs, after {conversation:#?}");
}

/// A conversation in which no connection speaks while it waits: whether it does, the real server shows.
fn from_seed(real: u16, index: u64) -> Vec<String> {
    let mut random = Random::of_script(5, index);
    let mut talk = Talk::new(real);
    let mut lines = Vec::new();
    // Where all wait, nobody can go on.
    while lines.len() < LENGTH && (0..CONNECTIONS).any(|connection| !talk.waits(connection)) {
        let connection = random.below(CONNECTIONS);
        if talk.waits(connection) {
            continue;
        }
        let template = *random.weighted(TEMPLATES);
        let words: Vec<&str> = template
            .split(' ')
            .map(|word| if word == "$k" { random.pick(&["k1", "k2", "k3"]) } else { word })
            .collect();
        let line = format!("{} {}", name(connection), words.join(" "));
        talk.say(&line);
        lines.push(line);
    }
    lines
}

fn name(connection: usize) -> &'static str {
    ["a", "b", "c", "d", "e"][connection]
}

/// Several connections to one server.
struct Talk {
    connections: Vec<TcpStream>,
    ids: Vec<String>,
    sent: Vec<usize>,
    /// What each got so far.
    got: Vec<Bytes>,
}

impl Talk {
    fn new(port: u16) -> Talk {
        let connect = |_| {
            let stream =
                TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("the server takes connections");
            stream.set_nodelay(true).expect("it is open");
            stream
        };
        let mut talk = Talk {
            connections: (0..CONNECTIONS).map(connect).collect(),
            ids: Vec::new(),
            sent: vec![0; CONNECTIONS],
            got: vec![Bytes::new(); CONNECTIONS],
        };
        for connection in 0..CONNECTIONS {
            talk.say(&format!("{} CLIENT ID", name(connection)));
            talk.hear(connection, |bytes| bytes.ends_with(b"\r\n"));
            let id =
                String::from_utf8_lossy(&talk.got[connection]).trim_matches([':', '\r', '\n']).to_owned();
            talk.ids.push(id);
        }
        talk.say("a FLUSHALL");
        talk.hear(0, |bytes| bytes.ends_with(b"OK\r\n"));
        talk.got = vec![Bytes::new(); CONNECTIONS];
        talk.sent = vec![0; CONNECTIONS];
        talk
    }

    fn hold(mut self, conversation: &[String]) -> Vec<String> {
        conversation.iter().for_each(|line| self.say(line));
        // Time limits of 20 ms each; an idle Redis looks at them every 100 ms.
        if conversation.iter().any(|line| line.contains("0.02")) {
            rest(Duration::from_millis(700));
        }
        for connection in 0..CONNECTIONS {
            let _gone_already = self.connections[connection].shutdown(Shutdown::Write);
        }
        for connection in 0..CONNECTIONS {
            self.hear(connection, |_| false);
        }
        self.got.iter().map(|bytes| masked(bytes)).collect()
    }

    /// Sends a command, and lets everybody who has something to hear hear it.
    fn say(&mut self, line: &str) {
        let (name, command) = line.split_once(' ').expect("a connection and a command");
        let connection = "abcde".find(name).expect("a connection");
        let mut command = command.to_owned();
        for (name, id) in ["{a}", "{b}", "{c}"].iter().zip(&self.ids) {
            command = command.replace(name, id);
        }
        // A connection that was ended refuses it.
        let _refused =
            self.connections[connection].write_all(&encoded(&split_args(&command).expect("a command")));
        self.sent[connection] += 1;
        let may_wait = ["B", "WAIT"].iter().any(|start| command.starts_with(start));
        if !may_wait && !command.starts_with("CLIENT REPLY") && !self.is_behind(connection) {
            let known = self.got[connection].len();
            self.hear(connection, |bytes| bytes.len() > known);
        }
        rest(MOMENT);
        for connection in 0..CONNECTIONS {
            self.hear_what_is_there(connection);
        }
    }

    /// Whether a command that was sent before the last one has not been answered yet.
    fn is_behind(&self, connection: usize) -> bool {
        self.replies(connection) + 1 < self.sent[connection]
    }

    fn waits(&self, connection: usize) -> bool {
        self.replies(connection) < self.sent[connection]
    }

    fn replies(&self, connection: usize) -> usize {
        let (mut rest, mut count) = (self.got[connection].as_slice(), 0);
        while let Some(length) = reply_length(rest) {
            rest = &rest[length..];
            count += 1;
        }
        count
    }

    /// Reads until enough is there, or the end.
    fn hear(&mut self, connection: usize, enough: impl Fn(&[u8]) -> bool) {
        let stream = &mut self.connections[connection];
        stream.set_read_timeout(Some(Duration::from_millis(500))).expect("it is open");
        let mut buffer = [0; 4096];
        while !enough(&self.got[connection]) {
            match stream.read(&mut buffer) {
                Ok(read @ 1..) => self.got[connection].extend_from_slice(&buffer[..read]),
                _ => break,
            }
        }
    }

    fn hear_what_is_there(&mut self, connection: usize) {
        let stream = &mut self.connections[connection];
        stream.set_nonblocking(true).expect("it is open");
        let mut buffer = [0; 4096];
        while let Ok(read @ 1..) = stream.read(&mut buffer) {
            self.got[connection].extend_from_slice(&buffer[..read]);
        }
        stream.set_nonblocking(false).expect("it is open");
    }
}

/// What a connection got, without what belongs to one process.
fn masked(bytes: &[u8]) -> String {
    let text = bytes.escape_ascii().to_string().replace("\\r\\n", "\n").replace("\\n", "\n");
    let mut lines: Vec<String> = text.lines().filter_map(known_words).collect();
    let ids: Vec<usize> = (1..lines.len()).filter(|at| lines[at - 1] == "id").collect();
    ids.into_iter().for_each(|at| lines[at] = ":ID".to_owned());
    lines.join("\n")
}

/// A line, if it is one both servers must say. Of CLIENT LIST and INFO it is what tells who waits.
fn known_words(line: &str) -> Option<String> {
    let is_known = |word: &&str| ["flags=", "cmd=", "db="].iter().any(|name| word.starts_with(name));
    if line.starts_with("id=") {
        return Some(line.split(' ').filter(is_known).collect::<Vec<_>>().join(" "));
    }
    let is_long = line.starts_with('$') && line.len() > 2;
    let is_field = line.find(':').is_some_and(|end| end > 3) && !line.starts_with("blocked_clients");
    (!is_long && !is_field).then(|| line.to_owned())
}
