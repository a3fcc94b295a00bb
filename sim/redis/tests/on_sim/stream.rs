//! The order of replies and the stream to replicas, seen where it counts: the master stops right after any reply, and
//! a replica that was online is asked for each write that was acknowledged.
//!
//! Links have no faults here, so that nothing but the master's own order can make a write miss.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use doublehold_sim::{
    Budget, DelayLaw, Fault, Host, HostId, HostSpec, LinkSpec, Occurrence, Pattern, PlannedFault, Seed,
    SimStream, Trigger, World,
};
use doublehold_sim_redis::{NodeConfig, Operator, Persistence, SimMachine};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

const PORT: u16 = 6379;
const REPLICAS: u32 = 2;

/// When replicas have attached for sure, and clients begin.
const ATTACHED: Duration = Duration::from_secs(3);

/// When everything sent has arrived, and the replicas are asked.
const SETTLED: Duration = Duration::from_secs(8);

/// A master with two replicas, and clients that write to it.
struct Case {
    seed: u64,
    clients: u32,
    /// Writes that a client sends together.
    batch: usize,
    persistence: Persistence,
    command_time: DelayLaw,
    /// What stops the master, right after so many replies to one client.
    fault: fn(HostId) -> Fault,
    replies: u32,
}

/// The keys of the writes that were acknowledged.
type Acknowledged = Arc<Mutex<Vec<String>>>;

impl Case {
    /// The acknowledged writes that are missing at some replica, and how many were acknowledged.
    fn missing(&self) -> (Vec<String>, usize) {
        let delay = DelayLaw::Uniform { min: Duration::from_micros(100), max: Duration::from_millis(2) };
        let mut world = World::new(Seed(self.seed), LinkSpec::lossless(delay));
        let names: Arc<BTreeMap<String, HostId>> = Arc::new(BTreeMap::from([("A".to_owned(), HostId(1))]));
        let master = self.add_node(&mut world, "A", &names, None);
        let replicas: Vec<HostId> = (0..REPLICAS)
            .map(|number| self.add_node(&mut world, &format!("R{number}"), &names, Some("A")))
            .collect();
        let acknowledged = Acknowledged::default();
        let clients: Vec<HostId> = (0..self.clients)
            .map(|number| {
                let (acknowledged, batch) = (acknowledged.clone(), self.batch);
                world.add_host(HostSpec::new(format!("c{number}")), move |host| {
                    write(host, master, batch, acknowledged.clone())
                })
            })
            .collect();
        let missing = Acknowledged::default();
        let (asked, found) = (acknowledged.clone(), missing.clone());
        world.add_host(HostSpec::new("judge").essential(), move |host| {
            ask(host, replicas.clone(), asked.clone(), found.clone())
        });
        let pattern = Pattern::Sent { host: master, to: Some(clients[0]) };
        world.plan(PlannedFault {
            trigger: Trigger::On {
                occurrences: vec![Occurrence { pattern, nth: self.replies }],
                offset: Duration::ZERO,
                each: false,
            },
            faults: vec![(self.fault)(master)],
            lasting: None,
        });
        world.run(Budget { time: SETTLED + Duration::from_secs(2), ..Budget::default() });
        let (missing, acknowledged) = (missing.lock().expect("whole"), acknowledged.lock().expect("whole"));
        (missing.clone(), acknowledged.len())
    }

    fn add_node(
        &self,
        world: &mut World,
        name: &str,
        names: &Arc<BTreeMap<String, HostId>>,
        master: Option<&str>,
    ) -> HostId {
        let (names, command_time) = (names.clone(), self.command_time.clone());
        let config = NodeConfig {
            persistence: self.persistence,
            replica_of: master.map(|name| (name.to_owned(), PORT)),
            ..NodeConfig::default()
        };
        let operator = Operator::default();
        world.add_host(HostSpec::new(name), move |host| {
            let machine = SimMachine::new(host, names.clone(), command_time.clone());
            let ended = machine.run(PORT, config.clone(), operator.clone());
            async move { ended.await.expect("it boots") }
        })
    }
}

/// Writes keys of its own until the master is gone.
async fn write(host: Host, master: HostId, batch: usize, acknowledged: Acknowledged) {
    host.sleep(ATTACHED).await;
    let mut node = BufReader::new(host.connect(master, PORT).await.expect("the master listens"));
    for round in 0.. {
        let keys: Vec<String> = (0..batch).map(|index| format!("{}-{round}-{index}", host.name())).collect();
        let request: String = keys.iter().map(|key| format!("SET {key} 1 NX PX 600000\r\n")).collect();
        if node.write_all(request.as_bytes()).await.is_err() {
            return;
        }
        for key in keys {
            let mut reply = String::new();
            if !matches!(node.read_line(&mut reply).await, Ok(1..)) {
                return;
            }
            assert_eq!(reply, "+OK\r\n");
            acknowledged.lock().expect("nobody panics").push(key);
        }
        if round == 30 {
            return;
        }
    }
}

/// Asks each replica for each write that was acknowledged.
async fn ask(host: Host, replicas: Vec<HostId>, acknowledged: Acknowledged, missing: Acknowledged) {
    host.sleep(SETTLED).await;
    let keys = acknowledged.lock().expect("nobody panics").clone();
    for replica in replicas {
        let mut node: BufReader<SimStream> =
            BufReader::new(host.connect(replica, PORT).await.expect("the replica listens"));
        for key in &keys {
            node.write_all(format!("EXISTS {key}\r\n").as_bytes()).await.expect("it is sent");
            let mut reply = String::new();
            node.read_line(&mut reply).await.expect("it answers");
            if reply != ":1\r\n" {
                missing.lock().expect("nobody panics").push(format!("{key} at {replica:?}"));
            }
        }
    }
}

#[test]
fn no_acknowledged_write_is_missing_at_a_replica_that_was_online_when_the_master_stops_after_any_reply() {
    let faults: [fn(HostId) -> Fault; 3] = [
        |host| Fault::Crash { host },
        |host| Fault::LosePower { host, torn_tail: false },
        |host| Fault::Pause { host },
    ];
    let persistence = [Persistence::None, Persistence::AofEverysec, Persistence::AofAlways];
    let times = [DelayLaw::Fixed(Duration::ZERO), DelayLaw::Fixed(Duration::from_micros(300))];
    let mut acknowledged = 0;
    for seed in 0..90_u64 {
        let case = Case {
            seed,
            clients: 1 + (seed % 4) as u32,
            batch: 1 + (seed % 3) as usize,
            persistence: persistence[seed as usize / 3 % 3],
            command_time: times[seed as usize / 2 % 2].clone(),
            fault: faults[seed as usize / 5 % 3],
            replies: 1 + (seed % 13) as u32,
        };
        let (missing, some) = case.missing();
        assert!(missing.is_empty(), "seed {seed}: acknowledged, and missing: {missing:?}");
        acknowledged += some;
    }
    assert!(acknowledged > 500, "{acknowledged} writes were acknowledged");
}
