//! What a server sends without being asked, and connections it ends: MONITOR, messages and CLIENT KILL, on both
//! servers.
//!
//! Compared are all bytes that each connection got, with the times and port numbers in them made the same.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpStream};
use std::time::Duration;

use super::events::EVENTS;
use super::ours;
use super::real::RealRedis;
use super::script::{Bytes, encoded, split_args};

/// Commands by connection: `m` monitors or listens, the others are `a` and `b`. `{a}` is the address of `a`, `{port}`
/// the server's. Each command but the monitor's is sent when the reply to the one before is there.
const CONVERSATIONS: &[&[&str]] = &[
    &[
        "m MONITOR",
        "a PING",
        r#"a SET k "a b\"\\\n\r\t\x07\x08\x00\xff\x7f""#,
        "a get k",
        "a SELECT 3",
        "a GET k",
        "a CLIENT GETNAME",
        "a CLIENT SETNAME me",
        "a CONFIG RESETSTAT",
        "a COMMAND GETKEYS GET k",
        "a EXISTS",
        "a NONSENSE",
        "a HSET h f v",
        "a HINCRBY h f 1",
        "b SET other 1 PX 100000",
        "a FLUSHALL",
        "a ECHO \"\"",
        "a WAIT 0 0",
        "a CLIENT NO-EVICT on",
        "a CLIENT REPLY ON",
        "a RESET",
        "a QUIT",
    ],
    &[
        "m MONITOR",
        "a AUTH x y",
        "a AUTH x",
        "a AUTH a b c",
        "a HELLO 3 AUTH default p",
        "a HELLO 2 SETNAME me AUTH nobody p",
        "a HELLO 9 AUTH u p",
        "a HELLO x AUTH u p",
        "a HELLO 2 AUTH u",
        "a HELLO 2 NONSENSE AUTH u p",
    ],
    &[
        "m MONITOR",
        "a MULTI",
        "a SET k 1",
        "a INCR k",
        "a SELECT 5",
        "a EVAL \"return redis.call('GET', KEYS[1])\" 1 k",
        "a MONITOR",
        "a WAIT 0 0",
        "a EXEC",
        "a MULTI",
        "a SET k",
        "a EXEC",
        "a WATCH k",
        "a MULTI",
        "b SELECT 5",
        "b SET k other",
        "a GET k",
        "a EXEC",
        "a MULTI",
        "a DISCARD",
        "a EXEC",
    ],
    &[
        "m MONITOR",
        "a EVAL \"redis.call('set', KEYS[1], 5) redis.pcall('nonsense') redis.pcall('get') redis.pcall('hset', KEYS[1], 1, 2) return redis.call('INCRBY', KEYS[1], 10)\" 1 z",
        "a EVALSHA ffffffffffffffffffffffffffffffffffffffff 0",
        "a EVALSHA nonsense 0",
        "a EVAL bad( 0",
        "a EVAL \"return 1\" 5",
        "a EVAL \"return 1\" x",
        "a EVAL \"#!foo\nreturn 1\" 0",
        "a EVAL_RO \"redis.pcall('SET', 'a', 'b') redis.pcall('CONFIG', 'GET', 'x') return redis.call('GET', KEYS[1])\" 1 z",
        "a SCRIPT LOAD \"if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0\"",
        "a SET lock mine",
        "a EVALSHA 6fbe84d1140fd2047394924af9d845b83c070bec 1 lock other",
        "a EVALSHA 6fbe84d1140fd2047394924af9d845b83c070bec 1 lock mine",
        "a EVAL \"if redis.call('EXISTS', KEYS[1]) == 1 then return false end local number = redis.call('INCR', KEYS[2]) redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) return number\" 2 lock count mine 100000",
    ],
    &[
        "m MONITOR",
        "m PING",
        "m ECHO x",
        "m GET k",
        "m SET k v",
        "m EVAL 'return 1' 0",
        "m EVALSHA_RO x 0",
        "m DBSIZE",
        "m SELECT 1",
        "m SCRIPT LOAD \"return 1\"",
        "m MULTI",
        "m PING",
        "m GET x",
        "m EXEC",
        "m MULTI",
        "m PING",
        "m ECHO y",
        "m EXEC",
        "a PING",
        "m HELLO 3",
        "a PING again",
        "m RESET",
        "a PING unseen",
        "m GET k",
    ],
    &["m MONITOR", "m CLIENT REPLY OFF", "a PING unseen", "m CLIENT REPLY ON", "a PING seen", "m QUIT"],
    &[
        "a PING",
        "b PING",
        "b CLIENT KILL {a}",
        "b CLIENT KILL {a}",
        "b CLIENT KILL ADDR {a}",
        "b PING",
        "b CLIENT KILL {b}",
    ],
    &[
        "m MONITOR",
        "a PING",
        "b CLIENT KILL TYPE normal LADDR 127.0.0.1:{port} USER default SKIPME yes",
        "b PING",
    ],
    &["m MONITOR", "a PING", "b CLIENT KILL TYPE normal SKIPME no"],
    &["a PING", "b CLIENT KILL ADDR {b}", "b CLIENT KILL ADDR {b} SKIPME no"],
    &[
        "a MULTI",
        "b CLIENT KILL ADDR {a} ID 1",
        "b CLIENT KILL ADDR {a} LADDR {a}",
        "b CLIENT KILL ADDR {a} TYPE replica",
        "b CLIENT KILL ADDR {a} TYPE normal",
    ],
    &[
        "m MONITOR",
        "a MULTI",
        "a PING",
        "a CLIENT KILL {a}",
        "a ECHO unheard",
        "a SET done 1",
        "a EXEC",
        "b GET done",
    ],
    &[
        "m SUBSCRIBE news more",
        "a PUBLISH news hello",
        "a PUBLISH more \"two\\r\\nlines\"",
        "a PUBLISH news \"\"",
        "a PUBLISH other unheard",
        "m PING",
        "a PUBLISH news again",
        "m UNSUBSCRIBE news",
        "a PUBLISH news unheard",
        "a PUBLISH more heard",
        "m RESET",
        "a PUBLISH more unheard",
        "m GET k",
    ],
    &[
        "m SUBSCRIBE news",
        "m PSUBSCRIBE n*",
        "b SUBSCRIBE news",
        "a HELLO 3",
        "a PUBLISH news both",
        "a PUBLISH nothing pattern",
        "a PSUBSCRIBE ne?s",
        "a PUBLISH nets me",
        "a SUBSCRIBE news",
        "b PUNSUBSCRIBE",
        "a PUNSUBSCRIBE",
        "a PUBLISH news everybody",
        "a MULTI",
        "a PUBLISH news one",
        "a INCR k",
        "a PUBLISH news two",
        "a EXEC",
        "a UNSUBSCRIBE",
        "a EVAL \"redis.call('PUBLISH', 'news', 'from a script') redis.call('PUBLISH', 'news', 'again') return redis.call('INCR', 'k')\" 0",
        "b QUIT",
        "a PUBLISH news one",
    ],
    &[
        "m SSUBSCRIBE news",
        "m SUBSCRIBE news",
        "a PUBLISH news plain",
        "a SPUBLISH news sharded",
        "m UNSUBSCRIBE",
        "a PUBLISH news plain",
        "a SPUBLISH news sharded",
        "m SUNSUBSCRIBE",
        "a SPUBLISH news sharded",
    ],
    &[
        "m SUBSCRIBE news",
        "a PUBLISH news heard",
        "b CLIENT KILL TYPE normal SKIPME no",
        "a PUBLISH news gone",
    ],
    &[
        "m SUBSCRIBE news",
        "b PSUBSCRIBE *",
        "a CLIENT KILL TYPE pubsub",
        "a PUBLISH news unheard",
        "a PUBSUB NUMPAT",
        "a PUBSUB CHANNELS",
    ],
    &[
        "m HELLO 3",
        "m SUBSCRIBE news",
        "m CLIENT REPLY OFF",
        "a PUBLISH news heard",
        "a PUBLISH news again",
        "m CLIENT REPLY ON",
        "m HELLO 2",
        "a PUBLISH news \"in RESP2\"",
        "m PING",
        "m GET k",
    ],
    &[
        "m MONITOR",
        "a SUBSCRIBE news",
        "m SUBSCRIBE news",
        "b PUBLISH news hello",
        "b EVAL \"return redis.call('PUBLISH', 'news', 'x')\" 0",
        "b PUBSUB NUMSUB news",
        "a UNSUBSCRIBE",
        "m PING",
        "m UNSUBSCRIBE news",
        "b PUBLISH news hello",
    ],
    &[
        "m SUBSCRIBE news",
        "a SELECT 3",
        "a PUBLISH news \"from another database\"",
        "a MULTI",
        "a PUBLISH news unsent",
        "a DISCARD",
        "a WATCH k",
        "b SET k v",
        "a MULTI",
        "a PUBLISH news sent",
        "a EXEC",
    ],
];

#[test]
fn what_nobody_asked_for_is_what_a_real_redis_sends() {
    let Some(real) = RealRedis::start_if_there() else { return };
    let ours = ours::start();
    for conversation in CONVERSATIONS.iter().chain(EVENTS) {
        let [theirs, our] = [real.port, ours].map(|port| Talk::new(port).hold(conversation));
        assert_eq!(our, theirs, "ours and theirs, after {conversation:#?}");
    }
}

/// Three connections to one server.
struct Talk {
    port: u16,
    connections: [TcpStream; 3],
    /// What each got so far.
    got: [Bytes; 3],
    /// The numbers that the server gave them.
    ids: [String; 3],
}

impl Talk {
    fn new(port: u16) -> Talk {
        let connect = |_| {
            let stream =
                TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("the server takes connections");
            stream.set_nodelay(true).expect("it is open");
            stream
        };
        // In an order that both servers learn of.
        let mut talk = Talk {
            port,
            connections: [0, 1, 2].map(connect),
            got: Default::default(),
            ids: Default::default(),
        };
        for connection in 0..3 {
            talk.send(connection, &["FLUSHALL".into()]);
            talk.hear(connection, |bytes| bytes.ends_with(b"\r\n"));
        }
        talk.got = Default::default();
        for connection in 0..3 {
            talk.send(connection, &["CLIENT".into(), "ID".into()]);
            talk.hear(connection, |bytes| bytes.ends_with(b"\r\n"));
            let reply = String::from_utf8_lossy(&std::mem::take(&mut talk.got[connection])).into_owned();
            talk.ids[connection] = reply.trim_matches([':', '\r', '\n']).to_owned();
        }
        talk
    }

    fn hold(mut self, conversation: &[&str]) -> [String; 3] {
        for line in conversation {
            let (name, command) = line.split_once(' ').expect("a connection and a command");
            let connection = "abm".find(name).expect("a connection");
            let words = split_args(&self.filled(command)).expect("a command");
            self.send(connection, &words);
            let known = self.got[connection].len();
            // A reply, or the end of the connection; of what is pushed nobody knows when it is complete.
            let is_silent = command == "CLIENT REPLY OFF";
            if !is_silent {
                self.hear(connection, |bytes| bytes.len() > known);
            }
            self.rest();
        }
        // What is closed ends; what is not is closed for writing, and the server then closes it.
        for connection in 0..3 {
            let _gone_already = self.connections[connection].shutdown(Shutdown::Write);
            self.hear(connection, |_| false);
        }
        [0, 1, 2].map(|connection| self.masked(connection))
    }

    fn send(&mut self, connection: usize, words: &[Bytes]) {
        // A connection that was ended refuses it.
        let _refused = self.connections[connection].write_all(&encoded(words));
    }

    /// Reads until enough is there, or the end.
    fn hear(&mut self, connection: usize, enough: impl Fn(&[u8]) -> bool) {
        let stream = &mut self.connections[connection];
        stream.set_read_timeout(Some(Duration::from_secs(3))).expect("it is open");
        let mut buffer = [0; 4096];
        while !enough(&self.got[connection]) {
            match stream.read(&mut buffer) {
                Ok(read @ 1..) => self.got[connection].extend_from_slice(&buffer[..read]),
                _ => break,
            }
        }
    }

    /// Lets pushes arrive: those of the next command are to come behind them.
    fn rest(&mut self) {
        super::run::rest(Duration::from_millis(5));
        for connection in 0..3 {
            let stream = &mut self.connections[connection];
            stream.set_nonblocking(true).expect("it is open");
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = stream.read(&mut buffer) {
                self.got[connection].extend_from_slice(&buffer[..read]);
            }
            stream.set_nonblocking(false).expect("it is open");
        }
    }

    fn addresses(&self) -> [String; 3] {
        self.connections.each_ref().map(|stream| stream.local_addr().expect("it is open").to_string())
    }

    fn filled(&self, command: &str) -> String {
        let [a, b, _] = self.addresses();
        command
            .replace("{a}", &a)
            .replace("{b}", &b)
            .replace("{port}", &self.port.to_string())
            .replace("{id of m}", &self.ids[2])
    }

    /// What a connection got, with names for addresses and without times and ids.
    fn masked(&self, connection: usize) -> String {
        let mut text = self.got[connection].escape_ascii().to_string();
        for (name, address) in ["A", "B", "M"].iter().zip(self.addresses()) {
            text = text.replace(&address, name);
        }
        let lines = text.split("\\r\\n").map(|line| match line.split_once(' ') {
            Some((time, rest)) if is_time(time) => format!("+TIME {rest}"),
            _ => line.to_owned(),
        });
        let mut lines: Vec<String> = lines.collect();
        // HELLO tells it.
        let ids = (1..lines.len()).filter(|at| lines[at - 1] == "id").collect::<Vec<_>>();
        ids.into_iter().for_each(|at| lines[at] = ":ID".to_owned());
        let id_of_m = format!(":{}", self.ids[2]);
        lines.iter_mut().filter(|line| **line == id_of_m).for_each(|line| *line = ":ID of M".to_owned());
        lines.join("\n")
    }
}

/// `+1339518083.107412`.
fn is_time(word: &str) -> bool {
    let parts = word.strip_prefix('+').and_then(|word| word.split_once('.'));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    parts.is_some_and(|(seconds, micros)| digits(seconds) && digits(micros) && micros.len() == 6)
}
