//! A node that runs well-known scripts without Lua, and one that does not: nobody can tell them apart.
//!
//! Both get the same random commands; replies, what is propagated, what the observer and a client that monitors are
//! told, and the data must be equal.

use std::sync::{Arc, Mutex};

use doublehold_sim::{Seed, Stream};
use doublehold_sim_redis::core::{
    CoreConfig, KeyChange, Limits, Observer, Origin, ScriptLimit, Session, StoppedScript,
};

use crate::support::Node;

const SCRIPTS: [&str; 4] = [
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0",
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0",
    "local value = redis.call('GET', KEYS[1]) \
     if value == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end \
     if value then return 0 end \
     redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) \
     return 1",
    "if redis.call('EXISTS', KEYS[1]) == 1 then return false end \
     local number = redis.call('INCR', KEYS[2]) \
     redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) \
     return number",
];

#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Observer for Notes {
    fn executed(&self, origin: Origin, command: &'static str) {
        self.0.lock().unwrap().push(format!("{origin:?} {command}"));
    }

    fn changed(&self, origin: Origin, change: &KeyChange<'_>) {
        self.0.lock().unwrap().push(format!("{origin:?} {change:?}"));
    }

    fn script_stopped(&self, origin: Origin, script: &StoppedScript) {
        self.0.lock().unwrap().push(format!("{origin:?} {script:?}"));
    }
}

/// One of the two nodes, with its clients.
struct Side {
    node: Node,
    notes: Arc<Notes>,
    clients: Vec<Session>,
    monitor: Session,
}

impl Side {
    fn new(config: &CoreConfig, native_scripts: bool) -> Side {
        let notes = Arc::new(Notes::default());
        let observer = Some(Arc::clone(&notes) as _);
        let mut node = Node::with(CoreConfig { native_scripts, observer, ..config.clone() });
        let clients = (0..2).map(|_| node.client()).collect();
        let mut monitor = node.client();
        node.ask(&mut monitor, &["MONITOR"]);
        Side { node, notes, clients, monitor }
    }

    /// The reply, what is propagated, what observer and monitor heard, and all data.
    fn seen(&mut self, client: usize, command: &[&str]) -> String {
        let reply = self.node.execute(&mut self.clients[client], command);
        let mut data = Vec::new();
        self.node.core.dump(&mut data);
        let notes = std::mem::take(&mut *self.notes.0.lock().unwrap());
        let propagated = self.node.propagated();
        let mut shown = Vec::new();
        self.node.core.take_pushed(self.monitor.id(), &mut shown);
        let [data, shown] = [data, shown].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        format!("{reply:?} {propagated:?} {notes:#?} {shown} {data}")
    }
}

/// A command of one of a few kinds, now and then cut short.
fn command(random: &mut Stream, shas: &[String]) -> Vec<String> {
    let mut pick = |words: &[&str]| words[random.below(words.len() as u64) as usize].to_owned();
    let long = "x".repeat(5_000);
    let (key, other) = (pick(&["k", "k", "k", "c", "l"]), pick(&["c", "c", "c", "k", "l"]));
    let token = pick(&["mine", "mine", "mine", "yours", "", "9007199254740992", &long]);
    let ttl = pick(&["5", "50", "100000", "100000", "0", "-1", "x", "9223372036854775807"]);
    let kind = pick(&["set", "lasting", "hash", "del", "number", "multi", "script", "script", "script"]);
    let words = match kind.as_str() {
        "set" => vec!["SET".to_owned(), key, token],
        "lasting" => vec!["SET".to_owned(), key, token, "PX".to_owned(), pick(&["5", "100000"])],
        "hash" => vec!["HSET".to_owned(), key, "f".to_owned(), token],
        "del" => vec!["DEL".to_owned(), key, other],
        "number" => {
            vec!["SET".to_owned(), other, pick(&["9007199254740992", "9223372036854775807", "-5"])]
        }
        "multi" => vec![pick(&["MULTI", "EXEC", "EXEC", "WATCH", "HELLO"]), pick(&["k", "3", "2"])],
        _ => {
            let which: usize = pick(&["0", "1", "2", "3"]).parse().unwrap();
            let verb = pick(&["EVALSHA", "EVALSHA", "EVAL", "EVAL_RO"]);
            let script = if verb == "EVALSHA" { shas[which].clone() } else { SCRIPTS[which].to_owned() };
            let keys = pick(&["1", "2", "2", "2", "0", "3"]);
            vec![verb, script, keys, key, other, token, ttl, "more".to_owned()]
        }
    };
    let kept = match words[0].as_str() {
        "MULTI" | "EXEC" => 1,
        _ if random.below(10) == 0 => words.len() - 1,
        _ => words.len(),
    };
    words[..kept].to_vec()
}

/// Compares the two for two hundred commands.
fn compare(seed: u64, config: &CoreConfig, is_replica: bool) {
    let mut random = Stream::new(Seed(seed), "twins");
    let mut sides = [Side::new(config, true), Side::new(config, false)];
    let mut shas = Vec::new();
    for script in SCRIPTS {
        let replies =
            sides.each_mut().map(|side| side.node.ask(&mut side.clients[0], &["SCRIPT", "LOAD", script]));
        shas.push(replies[0].trim_matches('|').trim_start_matches("$40|").to_owned());
    }
    for _ in 0..200 {
        let words = command(&mut random, &shas);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (client, pause) = (random.below(2) as usize, random.below(4) as i64);
        let [native, lua] = sides.each_mut().map(|side| {
            side.node.now_ms += pause;
            if is_replica {
                side.node.become_replica();
            }
            side.seen(client, &words)
        });
        assert_eq!(native, lua, "seed {seed}, {words:?}");
    }
}

#[test]
fn with_or_without_lua_a_script_does_the_same() {
    (0..150).for_each(|seed| compare(seed, &CoreConfig::default(), false));
}

#[test]
fn also_where_writing_is_refused() {
    let full = CoreConfig { limits: Limits { max_memory: 1, ..Limits::default() }, ..CoreConfig::default() };
    let alone = CoreConfig { min_replicas_to_write: 1, ..CoreConfig::default() };
    for seed in 0..50 {
        compare(seed, &full, false);
        compare(seed, &alone, false);
        compare(seed, &CoreConfig::default(), true);
    }
}

#[test]
fn also_where_the_scripts_limits_are_met() {
    for instructions in [1, 60, 300] {
        let config =
            CoreConfig { script_limit: ScriptLimit::Instructions(instructions), ..CoreConfig::default() };
        (0..10).for_each(|seed| compare(seed, &config, false));
    }
    let config = CoreConfig { script_memory_limit: 1 << 10, ..CoreConfig::default() };
    (0..10).for_each(|seed| compare(seed, &config, false));
}
