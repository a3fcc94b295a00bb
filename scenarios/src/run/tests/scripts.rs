//! A script that meets a limit of ours ends the run, with its name: a Redis would have gone on, and what our node
//! would do from there on is no evidence.

use std::sync::Arc;
use std::time::Duration;

use doublehold_history::{Bounds, EventKind, Header, NodeId};
use doublehold_sim::{Budget, DelayLaw, Host, HostSpec, LinkSpec, Outcome, Seed, World};
use doublehold_sim_redis::core::{CoreConfig, ScriptLimit};
use doublehold_sim_redis::{NodeConfig, Operator, SimMachine};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::model::cast::Cast;
use crate::model::scenario::Role;
use crate::run::engine::env::REDIS_PORT;
use crate::run::engine::sim_stage::{NodeObserver, SimWitness};
use crate::run::recorder::Recorder;

/// Runs one node, and one client that sends this; how the run ended, and what its history doubts.
fn ended_by(script: &'static str) -> (Outcome, Vec<String>) {
    let mut world = World::new(Seed(1), LinkSpec::lossless(DelayLaw::Fixed(Duration::from_millis(1))));
    let header = Header {
        version: Header::VERSION,
        scenario: "scripts".into(),
        seed: 1,
        clients: vec![],
        nodes: vec!["A".into()],
        locks: vec!["stock".into()],
        objects: vec![],
        bounds: Bounds::default(),
        keys_watched: true,
        error_ns: 0,
    };
    let witness = Arc::new(SimWitness::new(world.observer(), cast()));
    let recorder = Recorder::new(witness, header, cast());
    let for_node = recorder.clone();
    let node = world.add_host(HostSpec::new("A"), move |host| serve(host, for_node.clone()));
    world.add_host(HostSpec::new("c1").essential(), move |host| async move {
        let mut stream = host.connect(node, REDIS_PORT).await.expect("the node listens");
        let request = format!("*3\r\n$4\r\nEVAL\r\n${}\r\n{script}\r\n$1\r\n0\r\n", script.len());
        stream.write_all(request.as_bytes()).await.expect("it is sent");
        stream.read_u8().await.expect("a reply");
    });
    let run = world.run(Budget::default());
    let history = recorder.close().history;
    let doubts = history.events().iter().filter_map(|event| match &event.what {
        EventKind::Inconclusive { why } => Some(why.clone()),
        _ => None,
    });
    (run.outcome, doubts.collect())
}

fn cast() -> Arc<Cast> {
    Arc::new(Cast::new([("A", Role::Node), ("c1", Role::Client)]))
}

async fn serve(host: Host, recorder: Recorder) {
    let machine = SimMachine::new(host.clone(), Arc::default(), DelayLaw::Fixed(Duration::ZERO));
    let core = CoreConfig {
        script_limit: ScriptLimit::Instructions(100_000),
        script_memory_limit: 8 << 20,
        observer: Some(Arc::new(NodeObserver::new(host, NodeId(0), cast(), recorder))),
        ..CoreConfig::default()
    };
    let config = NodeConfig { core, ..NodeConfig::default() };
    machine.run(REDIS_PORT, config, Operator::default()).await.expect("it starts");
}

#[test]
fn a_script_that_does_not_end_in_time_ends_the_run_with_its_name() {
    let why = "script 694a5fe1ddb97a4c6a1bf299d9537c7d3d0f84e7 met the limit of 100000 instructions on A";
    assert_eq!(ended_by("while true do end"), (Outcome::Halted, vec![why.to_owned()]));
}

#[test]
fn a_script_that_needs_too_much_memory_ends_the_run_with_its_name() {
    let (outcome, doubts) = ended_by("return pcall(string.rep, 'x', 1e9)");
    assert_eq!((outcome, doubts.len()), (Outcome::Halted, 1));
    assert!(doubts[0].ends_with(" met the limit of 8388608 bytes of memory on A"), "{doubts:?}");
}

#[test]
fn a_script_that_ends_is_no_reason_to_doubt() {
    assert_eq!(ended_by("return redis.call('get', 'k')"), (Outcome::Completed, vec![]));
}
