//! Scenarios of the catalogue twice: simulated, and in real time on served nodes, with the same locks on tokio.
//!
//! All six verdicts have to be the same. Of a served run only the faults come from the scenario's code: its clients are
//! written anew here, and its judge hears what they tell. In both runs networks are fast and no seed matters.
//!
//! Left out: scenarios of a slow network, of threads, of locks that are hashes (of whose keys a served node says
//! nothing), of clients whose clocks run fast or slow, and of more than half a minute.
#![cfg(unix)]

mod client;
mod machine;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use client::{Client, Marks};
use doublehold_lockimpl::{NodeName, Registry, TokioEnv};
use doublehold_scenarios::catalog;
use doublehold_scenarios::scenario::{Role, Scenario};
use machine::Machine;
use redis::aio::MultiplexedConnection;
use tokio::task::JoinSet;

use crate::kit::doublehold;
use crate::serve::{Server, free_ports};

/// The scenarios that run twice: clocks, crashes, cuts, lost and repeated and late messages, failovers, and calm.
const SCENARIOS: [&str; 25] = [
    "attempt-not-taken-back",
    "bsm-redislock",
    "clock-jump",
    "clock-moves-while-down",
    "clocks-years-apart",
    "crash-restart",
    "duplicate-set",
    "eviction",
    "failover-before-replication",
    "late-clean-up",
    "late-expire",
    "lost-keys",
    "lost-yes",
    "master-back-empty",
    "node-clock-step",
    "node-dies",
    "plain-delete",
    "promotion-brings-back",
    "quiet",
    "redis-mutex-clocks",
    "replica-clock-ahead",
    "set-without-nx",
    "setnx-getset-clocks",
    "snapshots",
    "stackexchange-redis",
];

/// Longer than the longest of them.
const PATIENCE: Duration = Duration::from_secs(100);

const PREDICATES: [&str; 6] = ["P1", "P2", "P3", "P4", "WR", "LV"];

/// By predicate.
type Verdicts = BTreeMap<&'static str, String>;

#[test]
#[ignore = "half a minute of real time: .ci/deep"]
fn served_nodes_give_the_verdicts_of_the_simulator() {
    let runtime = tokio::runtime::Runtime::new().expect("there is room for threads");
    let served = runtime.block_on(async {
        let runs: Vec<_> = SCENARIOS.iter().map(|name| tokio::spawn(serve(name))).collect();
        let mut verdicts = Vec::new();
        for run in runs {
            verdicts.push(run.await.expect("its clients come to their end"));
        }
        verdicts
    });
    for (name, served) in SCENARIOS.into_iter().zip(served) {
        assert_eq!(served, simulate(name), "{name}: served, and simulated");
    }
}

fn simulate(name: &str) -> Verdicts {
    let run = doublehold(&["run", name, "--format", "json"]).output().expect("the binary starts");
    let report: serde_json::Value = serde_json::from_slice(&run.stdout).expect("JSON");
    let verdict = |predicate| report["verdicts"][predicate].as_str().expect("a verdict").to_owned();
    PREDICATES.map(|predicate| (predicate, verdict(predicate))).into()
}

/// Serves the scenario's nodes with its faults, and runs its clients here.
async fn serve(name: &str) -> Verdicts {
    let scenario = Arc::new(catalog::load(name, &[]).expect("it is in the catalogue"));
    let nodes = scenario.hosts.iter().filter(|host| host.role == Role::Node).count();
    let nodes = u16::try_from(nodes).expect("a few");
    let server = Server::start_at(free_ports(nodes + 1), &["--scenario", name]);
    let control_port = server.port + nodes;
    let marks = Arc::new(Marks::new(Vec::new()));
    let mut clients = Vec::new();
    for setup in &scenario.clients {
        let host = &scenario.hosts[setup.host.0];
        let machine = Machine::new(&host.name, host.wall_offset_ns);
        let addresses = (server.port..control_port).map(|port| NodeName::new(&address(port))).collect();
        let lock = Registry::builtin()
            .build(&scenario.lock.algorithm, machine.clone(), addresses, &scenario.lock.switches)
            .expect("it is built in the simulator, too");
        let mut control = connect(control_port).await;
        machine.name(&mut control).await.expect("the control port answers");
        let (scenario, setup, marks) = (scenario.clone(), setup.clone(), marks.clone());
        clients.push(Client { scenario, setup, machine, lock, control, marks });
    }
    let mut control = connect(control_port).await;
    // The scenario's times count from here, and its clients begin.
    let () = redis::cmd("DOUBLEHOLD").arg("RESET").query_async(&mut control).await.expect("it begins anew");
    let clients: JoinSet<()> = clients.into_iter().map(Client::run).collect();
    tokio::time::timeout(PATIENCE, clients.join_all()).await.expect("all clients come to their end");
    let mut verdicts = Verdicts::new();
    for predicate in PREDICATES {
        let mut asked = redis::cmd("DOUBLEHOLD");
        let verdict = asked.arg("VERDICT").arg(predicate).query_async(&mut control).await;
        verdicts.insert(predicate, verdict.expect("the control port answers"));
    }
    verdicts
}

fn address(port: u16) -> String {
    format!("redis://127.0.0.1:{port}")
}

async fn connect(port: u16) -> MultiplexedConnection {
    let client = redis::Client::open(address(port)).expect("an address");
    // Many servers that start at once are slow to accept.
    let config =
        redis::AsyncConnectionConfig::new().set_response_timeout(None).set_connection_timeout(Some(PATIENCE));
    client.get_multiplexed_async_connection_with_config(&config).await.expect("somebody listens")
}

/// True if the scenario's lock waits by itself for a lock that is taken.
fn waits(scenario: &Scenario) -> bool {
    let kinds = Registry::<TokioEnv>::builtin();
    let kind = kinds.get(&scenario.lock.algorithm).expect("it is one of ours");
    kind.descriptor().facts(&scenario.lock.switches).waits
}
