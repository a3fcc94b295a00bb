//! What an observer is told.

use std::sync::{Arc, Mutex};

use doublehold_sim_redis::core::{
    CoreConfig, KeyChange, Observer, Origin, Peer, ScriptLimit, Session, StoppedScript,
};

use crate::support::{Node, change_text};

#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Observer for Notes {
    fn executed(&self, origin: Origin, command: &'static str) {
        self.0.lock().unwrap().push(format!("{}: {command}", name(origin)));
    }

    fn changed(&self, origin: Origin, change: &KeyChange<'_>) {
        let note = format!("{}: {}", name(origin), change_text(change));
        self.0.lock().unwrap().push(note);
    }

    fn script_stopped(&self, origin: Origin, script: &StoppedScript) {
        self.0.lock().unwrap().push(format!("{}: {script}", name(origin)));
    }
}

fn name(origin: Origin) -> String {
    match origin {
        Origin::Client { peer: Peer { host, .. }, request: _ } => host.to_string(),
        Origin::Master => "master".to_owned(),
        Origin::File => "file".to_owned(),
        Origin::Node => "node".to_owned(),
    }
}

fn watched(config: CoreConfig) -> (Node, Arc<Notes>) {
    let notes = Arc::new(Notes::default());
    (Node::with(CoreConfig { observer: Some(Arc::clone(&notes) as _), ..config }), notes)
}

#[test]
fn an_observer_sees_each_change_with_its_cause_also_inside_scripts_and_transactions() {
    let (mut node, notes) = watched(CoreConfig::default());
    let mut client = node.client();
    node.ask(&mut client, &["set", "k", "a", "PX", "5"]);
    node.ask(&mut client, &["EVAL", "redis.call('pexpire', KEYS[1], 9)", "1", "k"]);
    node.ask(&mut client, &["MULTI"]);
    node.ask(&mut client, &["INCR", "n"]);
    node.ask(&mut client, &["EXEC"]);
    node.now_ms += 10;
    node.ask(&mut client, &["GET", "k"]);
    node.ask(&mut client, &["FLUSHALL"]);
    let expected = [
        "1: SET k - -> a until 1000005",
        "1: SET",
        "1: PEXPIRE k a -> a until 1000009",
        "1: EVAL",
        "1: MULTI",
        "1: INCR n - -> 1 until ever",
        "1: INCR",
        "1: EXEC",
        "node: EXPIRED k a -> - until ever",
        "1: GET",
        "1: FLUSHALL n 1 -> - until ever",
        "1: FLUSHALL",
    ];
    assert_eq!(*notes.0.lock().unwrap(), expected);
}

#[test]
fn an_observer_can_tell_a_clients_command_from_replication_and_from_loading() {
    let (mut node, notes) = watched(CoreConfig::default());
    node.apply(&mut Session::loading(), &["SET", "k", "a"]);
    node.become_replica();
    node.apply(&mut Session::master_link(0), &["DEL", "k"]);
    let mut client = node.client();
    node.ask(&mut client, &["GET", "k"]);
    let expected = [
        "file: SET k - -> a until ever",
        "file: SET",
        "master: DEL k a -> - until ever",
        "master: DEL",
        "1: GET",
    ];
    assert_eq!(*notes.0.lock().unwrap(), expected);
}

/// The number of each request that executed something, in the order of execution.
#[derive(Default)]
struct Requests(Mutex<Vec<u64>>);

impl Observer for Requests {
    fn executed(&self, origin: Origin, _: &'static str) {
        if let Origin::Client { request, .. } = origin {
            self.0.lock().unwrap().push(request);
        }
    }
}

#[test]
fn requests_are_counted_by_connection_also_those_that_are_refused_queued_or_held() {
    let requests = Arc::new(Requests::default());
    let config = CoreConfig { observer: Some(Arc::clone(&requests) as _), ..CoreConfig::default() };
    let mut node = Node::with(CoreConfig { script_limit: ScriptLimit::Instructions(10_000), ..config });
    let (mut one, mut other) = (node.client(), node.client());
    node.ask(&mut one, &["PING"]);
    node.ask(&mut other, &["PING"]);
    node.ask(&mut one, &["NONSENSE"]);
    node.ask(&mut one, &["MULTI"]);
    node.ask(&mut one, &["SET", "k", "a"]);
    node.ask(&mut one, &["EXEC"]);
    // Held twice by its own script, and still one request.
    node.execute(&mut one, &["EVAL", "while true do end", "0"]);
    node.execute(&mut one, &["EVAL", "while true do end", "0"]);
    node.now_ms += 60_000;
    node.ask(&mut other, &["SCRIPT", "KILL"]);
    node.execute(&mut one, &["EVAL", "while true do end", "0"]);
    node.ask(&mut one, &["PING"]);
    assert_eq!(*requests.0.lock().unwrap(), [0, 0, 2, 4, 4, 1, 6]);
}

#[test]
fn an_overrunning_script_is_reported_once() {
    let (mut node, notes) =
        watched(CoreConfig { script_limit: ScriptLimit::Instructions(10_000), ..CoreConfig::default() });
    let mut client = node.client();
    node.execute(&mut client, &["EVAL", "while true do end", "0"]);
    node.execute(&mut client, &["EVAL", "while true do end", "0"]);
    let sha = "694a5fe1ddb97a4c6a1bf299d9537c7d3d0f84e7";
    assert_eq!(*notes.0.lock().unwrap(), [format!("1: script {sha} met the limit of 10000 instructions")]);
}
