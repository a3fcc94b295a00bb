//! The words of `doublehold serve --faults` that strike nodes and links: for each, the smallest conversation in which
//! nothing but it changes what comes out.
#![cfg(unix)]

use std::time::{Duration, Instant};

use crate::kit::{Ask, shell};
use crate::serve::{Client, Server, free_ports};

/// Longer than any answer takes that nothing holds up, and shorter than what holds one up here.
const SHORT: Duration = Duration::from_millis(150);

/// Independent nodes, with a port for words behind theirs.
struct Weather {
    server: Server,
    nodes: u16,
}

impl Weather {
    fn over(nodes: u16, options: &[&str]) -> Weather {
        let count = nodes.to_string();
        let all = [&["--nodes", count.as_str(), "--faults"], options].concat();
        Weather { server: Server::start_at(free_ports(nodes + 1), &all), nodes }
    }

    /// A master and its replicas.
    fn over_replicas(replicas: u16) -> Weather {
        let count = replicas.to_string();
        let options = ["--replicas", count.as_str(), "--faults"];
        Weather { server: Server::start_at(free_ports(replicas + 2), &options), nodes: replicas + 1 }
    }

    fn control(&self) -> Client {
        self.server.client(self.nodes)
    }

    fn word(&self, word: &str) -> String {
        self.control().say(&format!("DOUBLEHOLD {word}"))
    }

    /// A connection of this client to a node.
    fn named(&self, client: &str, node: u16) -> Client {
        let mut connection = self.server.client(node);
        assert_eq!(connection.say(&format!("CLIENT SETNAME {client}")), "OK");
        connection
    }
}

fn time_us(client: &mut Client) -> i64 {
    let time = client.say("TIME");
    let (seconds, micros) = time.split_once('\n').expect("two numbers");
    seconds.parse::<i64>().expect("seconds") * 1_000_000 + micros.parse::<i64>().expect("microseconds")
}

#[test]
fn without_faults_no_word_is_known() {
    let server = Server::start(1, &[]);
    let said = server.client(0).say("DOUBLEHOLD HELP");
    assert!(said.starts_with("-ERR unknown command 'DOUBLEHOLD'"), "{said}");
}

#[test]
fn a_clock_that_is_set_ahead_ends_leases_of_its_node_only() {
    let weather = Weather::over(2, &[]);
    let mut nodes = [weather.server.client(0), weather.server.client(1)];
    assert_eq!(nodes.each_mut().map(|node| node.say("SET lock c1 NX PX 60000")), ["OK", "OK"]);
    assert_eq!(weather.word("CLOCK A 59s"), "OK");
    assert_eq!(nodes[0].say("GET lock"), "c1", "a second is left");
    assert_eq!(weather.word("CLOCK A 1001"), "OK", "without a unit they are milliseconds, and steps add up");
    assert_eq!(nodes.each_mut().map(|node| node.say("GET lock")), ["nil", "c1"]);
    assert_eq!(weather.word("CLOCK A -60001ms"), "OK");
    let apart = time_us(&mut nodes[0]) - time_us(&mut nodes[1]);
    assert!(apart.abs() < 1_000_000, "{apart}");
}

#[test]
fn clocks_that_run_fast_gain() {
    let weather = Weather::over(2, &[]);
    let mut nodes = [weather.server.client(0), weather.server.client(1)];
    assert_eq!(weather.word("DRIFT A 1000000"), "OK");
    std::thread::sleep(Duration::from_millis(400));
    assert_eq!(weather.word("DRIFT A 0"), "OK");
    let gained = time_us(&mut nodes[0]) - time_us(&mut nodes[1]);
    assert!((390_000..5_000_000).contains(&gained), "{gained}");
}

#[test]
fn a_paused_node_answers_nothing_but_words_until_its_pause_is_over() {
    let weather = Weather::over(2, &[]);
    let mut node = weather.server.client(0);
    assert_eq!(weather.word("PAUSE A 10m"), "OK");
    node.send(b"SET lock c1 NX PX 1\r\n");
    assert!(node.is_silent_for(SHORT));
    assert_eq!(weather.server.client(1).say("PING"), "PONG", "the other one runs");
    let status = weather.server.client(0).say("DOUBLEHOLD STATUS");
    assert!(status.contains("paused for 599"), "{status}");
    assert_eq!(weather.word("PAUSE A 0"), "OK");
    assert_eq!(node.reply(), "OK", "what was sent meanwhile is executed");
    let began = Instant::now();
    assert_eq!(weather.word("PAUSE A 300ms"), "OK");
    assert_eq!(node.say("PING"), "PONG");
    assert!(began.elapsed() >= Duration::from_millis(300), "{:?}", began.elapsed());
}

#[test]
fn a_slow_node_takes_longer_for_each_command() {
    let weather = Weather::over(2, &[]);
    assert_eq!(weather.word("SLOW A 200ms"), "OK");
    let began = Instant::now();
    assert_eq!(weather.server.client(1).say("PING"), "PONG");
    assert!(began.elapsed() < SHORT, "{:?}", began.elapsed());
    let mut slow = weather.server.client(0);
    assert_eq!((slow.say("PING").as_str(), slow.say("PING").as_str()), ("PONG", "PONG"));
    assert!(began.elapsed() >= Duration::from_millis(400), "{:?}", began.elapsed());
    assert_eq!(weather.word("SLOW A 0"), "OK");
    let began = Instant::now();
    assert_eq!(slow.say("PING"), "PONG");
    assert!(began.elapsed() < SHORT, "{:?}", began.elapsed());
}

#[test]
fn a_held_request_is_late_with_what_is_behind_it_and_no_other() {
    let weather = Weather::over(2, &[]);
    let (mut c1, mut c2) = (weather.named("c1", 0), weather.named("c2", 0));
    assert_eq!(weather.word("HOLD c1 A 400ms set lock"), "OK");
    assert_eq!(c2.say("SET lock c2"), "OK", "another's passes");
    assert_eq!(weather.named("c1", 1).say("SET lock c1"), "OK", "at another node it passes");
    assert_eq!(c1.say("GET lock"), "c2", "another request of its own passes");
    c1.send(b"SET lock c1\r\nGET lock\r\n");
    assert_eq!(weather.word("AWAIT"), "OK");
    assert_eq!(c2.say("GET lock"), "c2");
    assert!(c1.is_silent_for(SHORT));
    assert_eq!(weather.word("AWAIT OVER"), "OK");
    assert_eq!(
        (c1.reply().as_str(), c1.reply().as_str()),
        ("OK", "c1"),
        "in the order in which they were sent"
    );
    assert_eq!(c1.say("SET lock c1"), "OK", "it strikes once");
}

#[test]
fn a_held_request_arrives_though_its_client_has_given_up() {
    let weather = Weather::over(1, &[]);
    let mut c1 = weather.named("c1", 0);
    assert_eq!(weather.word("HOLD c1 A 300ms"), "OK");
    c1.send(b"SET late c1\r\n");
    assert_eq!(weather.word("AWAIT"), "OK");
    drop(c1);
    let mut other = weather.server.client(0);
    assert_eq!(other.say("GET late"), "nil");
    assert_eq!(weather.word("AWAIT OVER"), "OK");
    assert_eq!(other.say("GET late"), "c1");
}

#[test]
fn a_dropped_reply_is_of_a_request_that_was_executed() {
    let weather = Weather::over(1, &[]);
    let mut c1 = weather.named("c1", 0);
    assert_eq!(weather.word("DROP c1 A"), "OK");
    assert_eq!(c1.say("SET lock c1"), "", "its connection ends");
    assert_eq!(weather.server.client(0).say("GET lock"), "c1");
}

#[test]
fn a_repeated_request_is_executed_twice_and_answered_once() {
    let weather = Weather::over(1, &[]);
    let mut c1 = weather.server.client(0);
    assert_eq!(weather.word("REPEAT * A 100ms INCR"), "OK");
    assert_eq!(c1.say("INCR n"), "1");
    assert_eq!(c1.say("GET n"), "1");
    assert_eq!(weather.word("AWAIT OVER"), "OK");
    assert_eq!(c1.say("GET n"), "2");
}

#[test]
fn a_cut_holds_what_either_sends_until_it_is_healed() {
    let weather = Weather::over(2, &[]);
    let (mut c1, mut c2) = (weather.named("c1", 0), weather.named("c2", 0));
    assert_eq!(weather.word("CUT c1 A"), "OK");
    c1.send(b"SET lock c1\r\n");
    assert!(c1.is_silent_for(SHORT));
    assert_eq!(c2.say("GET lock"), "nil");
    let mut anew = weather.server.client(0);
    anew.send(b"HELLO 2 SETNAME c1\r\n");
    assert!(anew.is_silent_for(SHORT), "a new connection is cut as soon as it is c1's");
    assert_eq!(weather.named("c1", 1).say("PING"), "PONG", "its way to B is not");
    assert_eq!(weather.word("CUT c1 B"), "OK");
    assert!(weather.word("STATUS").contains("cut between A and c1\ncut between B and c1"));
    assert_eq!(weather.word("HEAL A c1"), "OK", "either end may come first");
    assert_eq!(c1.reply(), "OK");
    assert_eq!(c2.say("GET lock"), "c1");
    assert_eq!(weather.word("HEAL c1 A"), "-ERR there is no such cut: `DOUBLEHOLD STATUS` lists them");
}

#[test]
fn a_cut_of_one_way_holds_the_reply_of_what_was_executed() {
    let weather = Weather::over(1, &[]);
    let (mut c1, mut c2) = (weather.named("c1", 0), weather.named("c2", 0));
    assert_eq!(weather.word("CUT A c1 ONE-WAY"), "OK");
    assert!(weather.word("STATUS").contains("cut from A to c1"));
    c1.send(b"SET lock c1\r\n");
    assert!(c1.is_silent_for(SHORT));
    assert_eq!(c2.say("GET lock"), "c1");
    assert_eq!(weather.word("HEAL"), "OK");
    assert_eq!(c1.reply(), "OK");
}

#[test]
fn what_a_node_waits_for_does_not_come_while_it_is_paused() {
    let weather = Weather::over(1, &[]);
    let mut client = weather.server.client(0);
    client.send(b"BLPOP list 0.1\r\n");
    assert_eq!(weather.word("PAUSE A 10m"), "OK");
    assert!(client.is_silent_for(Duration::from_millis(500)));
    assert_eq!(weather.word("PAUSE A 0"), "OK");
    assert_eq!(client.reply(), "nil");
}

#[test]
fn an_address_that_others_reach_needs_faults() {
    // What is not refused would serve for ever.
    let refused = shell("timeout 20 \"$0\" serve --listen 0.0.0.0", &[]).ends(2);
    assert_eq!(
        refused.stderr,
        "error: `--listen 0.0.0.0` lets whoever reaches it do anything to the nodes\n\
         hint: say that this is meant, by `--faults`, or leave `--listen` out\n"
    );
    let weather = Weather::over(1, &["--listen", "0.0.0.0"]);
    assert_eq!(weather.server.client(0).say("PING"), "PONG");
}

#[test]
fn a_cut_between_nodes_holds_what_is_replicated() {
    let weather = Weather::over_replicas(1);
    let mut master = weather.server.client(0);
    assert_eq!(master.say("SET k 1"), "OK");
    assert_eq!(master.say("WAIT 1 10000"), "1");
    let mut replica = weather.server.client(1);
    while replica.say("GET k") != "1" {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(weather.word("CUT A B"), "OK");
    assert_eq!(master.say("SET k 2"), "OK");
    assert_eq!(master.say("WAIT 1 200"), "0");
    assert_eq!(replica.say("GET k"), "1");
    assert_eq!(weather.word("HEAL"), "OK");
    assert_eq!(master.say("WAIT 1 10000"), "1");
    assert_eq!(weather.server.client(1).say("GET k"), "2");
}

#[test]
fn a_crashed_node_is_gone_until_it_is_started_with_what_its_files_have() {
    for (persistence, left) in [("none", "nil"), ("always", "c1")] {
        let weather = Weather::over(1, &["--persistence", persistence]);
        let mut client = weather.server.client(0);
        assert_eq!(client.say("SET lock c1"), "OK");
        assert_eq!(weather.word("CRASH A"), "OK");
        assert_eq!(client.line(), "", "its connections end");
        assert!(weather.server.try_client(0).is_none(), "and its port");
        assert_eq!(weather.word("FLUSH A"), "-ERR A: it is down: `DOUBLEHOLD RESTART` it first");
        assert!(weather.word("STATUS").contains(": down"));
        assert_eq!(weather.word("RESTART A"), "OK");
        assert_eq!(weather.server.client(0).say("GET lock"), left, "{persistence}");
        assert!(weather.word("RESTART A").starts_with("-ERR A: it is up"));
    }
}

#[test]
fn a_node_that_was_told_to_shut_down_comes_back() {
    let weather = Weather::over(1, &["--persistence", "rdb"]);
    let mut client = weather.server.client(0);
    assert_eq!(client.say("SET lock c1"), "OK");
    assert_eq!(client.say("SHUTDOWN"), "");
    // The port closes after the connection.
    while weather.server.try_client(0).is_some() {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(weather.word("RESTART A"), "OK");
    assert_eq!(weather.server.client(0).say("GET lock"), "c1", "it saved first");
}

#[test]
fn a_promoted_replica_is_master_and_the_others_follow_it() {
    let weather = Weather::over_replicas(2);
    let mut master = weather.server.client(0);
    assert_eq!(master.say("SET lock c1"), "OK");
    assert_eq!(master.say("WAIT 2 10000"), "2");
    assert_eq!(weather.word("PROMOTE B"), "OK");
    let mut promoted = weather.server.client(1);
    assert_eq!(promoted.say("SET lock c2"), "OK");
    assert_eq!(promoted.say("WAIT 2 10000"), "2");
    assert_eq!(master.say("GET lock"), "c2");
    assert_eq!(weather.word("RESET"), "OK");
    assert_eq!(master.say("SET lock c3"), "OK", "roles are as they were");
    assert_eq!(master.say("WAIT 2 10000"), "2");
}

#[test]
fn a_node_refuses_writes_at_once_until_it_is_told_or_reset() {
    let weather = Weather::over(1, &[]);
    let mut client = weather.server.client(0);
    for end in ["REFUSE-WRITES A OFF", "RESET"] {
        assert_eq!(weather.word("REFUSE-WRITES A"), "OK");
        assert!(client.say("SET k v").starts_with("-NOREPLICAS"));
        assert!(weather.word("STATUS").contains("refuses writes"));
        assert_eq!(weather.word(end), "OK");
        assert!(!weather.word("STATUS").contains("refuses writes"), "{end}");
        assert_eq!(client.say("SET k v"), "OK", "{end}");
    }
}

#[test]
fn keys_are_flushed_or_evicted() {
    let weather = Weather::over(1, &[]);
    let mut client = weather.server.client(0);
    assert_eq!(client.say("MSET lock c1 count 3"), "OK");
    assert_eq!(client.say("PEXPIRE lock 60000"), "1");
    assert_eq!(weather.word("EVICT A VOLATILE"), "OK");
    assert_eq!(client.say("MGET lock count"), "nil\n3");
    assert_eq!(weather.word("EVICT A"), "OK");
    assert_eq!(client.say("DBSIZE"), "0");
    assert_eq!(client.say("SET count 4"), "OK");
    assert_eq!(weather.word("FLUSH A"), "OK");
    assert_eq!(client.say("DBSIZE"), "0");
}

#[test]
fn a_fault_that_has_not_struck_is_named_with_what_it_let_pass() {
    let weather = Weather::over(1, &[]);
    let mut c1 = weather.named("c1", 0);
    assert_eq!(weather.word("HOLD c1 A 3s EVAL"), "OK");
    assert_eq!(c1.say("GET lock"), "nil");
    assert_eq!(
        weather.word("AWAIT 50ms"),
        "-ERR `HOLD c1 A 3000 EVAL` has not struck: c1 has sent A GET since"
    );
    assert_eq!(weather.word("AWAIT OVER 50ms"), weather.word("AWAIT 50ms"));
}

#[test]
fn a_fault_strikes_at_its_moment_and_no_other() {
    let weather = Weather::over(2, &[]);
    let (mut c1, mut c2) = (weather.named("c1", 0), weather.named("c2", 0));
    let mut elsewhere = weather.named("c1", 1);
    assert_eq!(weather.word("AT the 2nd SET executed for c1 on A DO FLUSH A"), "OK");
    assert_eq!([c2.say("SET k 2"), c1.say("SET k 1"), elsewhere.say("SET k 1")], ["OK"; 3]);
    assert_eq!(
        weather.word("AWAIT 50ms"),
        "-ERR `AT the 2nd SET executed for c1 on A DO FLUSH A` has not struck: of what it waits for, SET executed \
         for c1 on A has happened"
    );
    assert_eq!(c1.say("GET k"), "1");
    assert_eq!(c1.say("SET l 1"), "OK");
    assert_eq!(weather.word("AWAIT OVER"), "OK");
    assert_eq!(c1.say("MGET k l"), "nil\nnil");
    assert_eq!(c1.say("SET k 1"), "OK");
    assert_eq!(c1.say("GET k"), "1", "it strikes once");
}

#[test]
fn a_clock_that_jumps_at_a_command_has_jumped_before_its_reply() {
    let weather = Weather::over(1, &[]);
    let mut c1 = weather.named("c1", 0);
    assert_eq!(weather.word("AT c1's grant after SET executed for c1 DO CLOCK A 10s"), "OK");
    assert_eq!(c1.say("SET lock c1 NX PX 5000"), "OK");
    assert_eq!(c1.say("GET lock"), "c1");
    assert_eq!([weather.word("ASKS c1"), weather.word("GRANTED c1 5s")], ["OK", "OK"]);
    assert_eq!(c1.say("GET lock"), "nil");
}

#[test]
fn what_waits_for_a_time_strikes_then() {
    let weather = Weather::over(1, &[]);
    let mut client = weather.server.client(0);
    assert_eq!(weather.word("AT 200ms DO CRASH A"), "OK");
    assert_eq!(client.say("PING"), "PONG");
    assert_eq!(weather.word("AWAIT OVER"), "OK");
    assert_eq!(client.line(), "");
    assert_eq!(weather.word("AT A's boot DO HOLD * A 10m SET"), "OK");
    assert_eq!(weather.word("RESTART A"), "OK");
    let mut client = weather.server.client(0);
    client.send(b"SET k v\r\n");
    assert_eq!(weather.word("AWAIT"), "OK");
    assert!(client.is_silent_for(SHORT));
}

#[test]
fn a_reset_brings_everything_back() {
    let weather = Weather::over(2, &[]);
    let mut c1 = weather.named("c1", 1);
    assert_eq!(c1.say("SET lock c1"), "OK");
    let well = weather.word("STATUS");
    for word in ["CLOCK B 1h", "DRIFT B 5", "SLOW B 1s", "PAUSE B 1h", "CUT c1 B", "HOLD c1 B 1h", "CRASH A"]
    {
        assert_eq!(weather.word(word), "OK", "{word}");
    }
    c1.send(b"GET lock\r\n");
    assert!(c1.is_silent_for(SHORT));
    assert_eq!(weather.word("RESET"), "OK");
    c1.reply();
    assert_eq!(weather.word("STATUS"), well);
    assert_eq!(c1.say("GET lock"), "nil", "data are gone as well");
    assert_eq!(weather.server.client(0).say("PING"), "PONG");
}

#[test]
fn what_is_held_back_is_answered_when_the_program_is_asked_to_stop() {
    let mut weather = Weather::over(1, &[]);
    let mut c1 = weather.named("c1", 0);
    assert_eq!(weather.word("HOLD c1 A 1h"), "OK");
    c1.send(b"SET lock c1\r\n");
    assert_eq!(weather.word("AWAIT"), "OK");
    weather.server.signal("TERM");
    assert_eq!(c1.reply(), "OK");
    assert_eq!(weather.server.end().code(), Some(0));
}

#[test]
fn what_is_no_word_is_refused_with_the_way_out() {
    let weather = Weather::over(2, &[]);
    let mut control = weather.control();
    let port = weather.server.port;
    let ports = format!("{port} and {}", port + 1);
    for (word, refusal) in [
        ("", "say what: `DOUBLEHOLD HELP` lists the words"),
        ("CLOK A 1s", "no word `CLOK`: did you mean `CLOCK`?"),
        ("SUSPEND A", "SUSPEND needs a simulated machine, and this one is real: `PAUSE` stops a node"),
        ("CLOCK F 1s", &format!("no node `F`: there are `A` and `B`, on ports {ports}")),
        ("CLOCK A", "CLOCK needs a time, such as 10s or -500ms: `DOUBLEHOLD CLOCK NODE TIME`"),
        ("CLOCK A soon", "`soon` is not a time"),
        ("CLOCK A 1s 2s", "CLOCK takes no more than that: `DOUBLEHOLD CLOCK NODE TIME`"),
        ("DRIFT A 2000000", "`2000000` is beyond 1000000 parts of a million"),
        ("HOLD A B 1s", &format!("`A` is a node, on port {port}: give your client another name")),
        ("CUT c1 c2", "neither `c1` nor `c2` is a node"),
        ("CUT A A", "A has no link to itself: name two"),
        ("PROMOTE B", "PROMOTE needs replicas: `doublehold serve --faults --replicas 2`"),
        ("AT c1's clock read DO FLUSH A", "`c1's clock read` needs a simulated client"),
        ("AT c1's check DO FLUSH A", "nobody tells of `check`"),
        ("AT SET executed on F DO FLUSH A", "`SET executed on F`: no node `F`"),
        ("AT c1's grant DO GRANTED c1", "AT strikes faults only"),
        ("AT c1's grant", "AT needs a moment, DO, and what is done then"),
        ("AT soon DO FLUSH A", "`the moment` "),
        ("READ k", "this connection is nobody's: first `DOUBLEHOLD IAM c1`, or CLIENT SETNAME"),
        ("VERDICT P9", "unknown predicate `P9`"),
    ] {
        let said = control.say(format!("DOUBLEHOLD {word}").trim_end());
        assert!(said.starts_with(&format!("-ERR {refusal}")), "{word}: {said}");
    }
}
